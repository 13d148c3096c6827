"""Attacks that run: what somebody learns from a release, beyond what the distribution of the whole table tells.

One attack per file, named as the literature names it; each is a function of the same name that takes an
``AttackContext`` and yields an ``Outcome`` for each attribute, or says why it cannot run (``Idle``). Its docstring has
the attacker, the claim, prior and posterior, the models that bound it, and the source. ``matching`` joins persons and
published labels, ``overlap`` two releases; ``run`` runs them all.
"""

from __future__ import annotations

from indistinct.attacks.run import ATTACKS, Attacks, attack

__all__ = ["ATTACKS", "Attacks", "attack"]
