"""Attacks that run: what somebody learns from a release, beyond what the distribution of the whole table tells.

One attack per file, named as the literature names it; each is a function of the same name that takes an
``AttackContext`` and yields an ``Outcome`` for each attribute, or says why it cannot run (``Idle``), and a record
(``contract``) that says what bounds it and what it needs. The docstring has the attacker, the claim, prior and
posterior, and the source.
``matching`` joins persons and published labels, ``overlap`` two releases; ``run`` runs them all.
"""
