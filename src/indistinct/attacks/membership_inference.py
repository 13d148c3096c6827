"""Membership inference: whether a person's row was in the input at all, by a likelihood ratio.

*Attacker.* Knows all of a person's values in the published columns, and has rows of others who are not in the release
(half of the persons held out, the *reference*). He compares how likely the row is under the release with how likely it
is among everybody: ``L = log sum over tuples that cover the row of (rows of the tuple)/n * product of 1/(values that
each label covers)``, a row of the release standing for any row under its labels; ``L0`` is the same of everybody, the
product of the shares of the single values in release and reference together. *Claim*: in the input, where ``L - L0``
exceeds what nine of ten of the reference have. *Prior*: how often that is claimed of the other half held out (about
1/10, wrongly), *posterior*: of the persons of the release (rightly); *gain*: the risk ``(attack - control)/(1 -
control)``. The interval draws persons anew. *Learnt*: persons claimed beyond what the control group leads to expect.

``membership`` asks another question: who of a known population is in the release, by classes and counts.

*Bounds.* Differential privacy; delta-presence bounds the other question. *Source.* the likelihood ratio against
held-out rows: Homer et al., PLoS Genetics 4(8):e1000167, 2008, and Carlini et al., IEEE S&P 2022 (both from memory).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Contrast, Idle, Outcome
from indistinct.attacks.predicates import NEEDS, drawn, whole_rows
from indistinct.policy.privacy import Safepub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View

    Float64 = NDArray[np.float64]

MOST_PERSONS = 20_000
FALSE_ALARMS = 0.1


def membership_inference(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Compare how likely rows are under the release with how likely they are among everybody."""
    original, control = context.original, context.control
    assert original is not None  # noqa: S101  # the record says that it is needed
    assert control is not None  # noqa: S101  # the record says that it is needed
    view = whole_rows(context, original, control)
    if view is None or control.total < 2:
        yield Idle(None, "needs one published table, quasi-identifiers that all tables have, and two persons held out")
        return
    rng = np.random.default_rng(0)
    others = drawn(control.select(view.quasi), min(control.total, MOST_PERSONS), rng)
    half = rng.multivariate_hypergeometric(others.rows, others.total // 2)
    members = drawn(original.select(view.quasi), min(original.total, MOST_PERSONS), rng)
    reference = replace(others.at(np.flatnonzero(half)), rows=half[half > 0])
    ratios = [ratio(context, view, group, reference) for group in (members, others)]
    limit = float(np.quantile(np.repeat(ratios[1], half), 1 - FALSE_ALARMS, method="higher"))
    claimed = [(own > limit).astype(np.float64) for own in ratios]
    contrast = Contrast(claimed[0], members.rows, claimed[1], others.rows - half, FALSE_ALARMS)
    persons = members.total
    beyond = max(0, round((contrast.attack - contrast.control) * persons))
    yield Outcome(
        None, np.array([beyond, persons - beyond], np.int64), np.full(2, contrast.control), np.full(2, contrast.attack),
        np.array([beyond > 0, False]), np.zeros(2, np.int64), "original",
        f"by their likelihood {contrast.attack:.4g} of {persons} persons of the original are claimed to be in the "
        f"input, and {contrast.control:.4g} of {others.total - int(half.sum())} held out",
        {"reference_persons": int(half.sum()), "columns": list(view.quasi)},
        contrast=contrast,
    )  # fmt: skip


def ratio(context: AttackContext, view: View, people: Tabulated, reference: Tabulated) -> Float64:
    """float64[p]: the logarithm of the likelihood under the release over that of everybody, by single columns."""
    spread = np.zeros(len(view.rows))
    usual = np.zeros(len(people.rows))
    for position, name in enumerate(view.quasi):
        texts, codes = people.column(name)
        values = list(dict.fromkeys([*texts, *reference.column(name)[0]]))
        reader = context.reader(name, values, people.typed)
        covered = [reader.find(label) for label in view.labels[position]]
        sizes = np.array([max(1, len(own)) for own in covered], np.float64)
        spread -= np.log(sizes)[view.tuples[:, position]]
        weight = np.bincount(view.tuples[:, position], weights=view.rows, minlength=len(covered)) / sizes
        shares = np.zeros(len(values))
        for own, times in zip(covered, weight.tolist(), strict=True):
            shares[own] += times
        number = {text: place for place, text in enumerate(values)}
        given, at = reference.column(name)
        np.add.at(shares, np.array([number[text] for text in given], np.int64)[at], reference.rows)
        shares = (shares + 1) / (shares.sum() + len(values))
        usual += np.log(shares[np.array([number[text] for text in texts], np.int64)][codes])
    likely = np.zeros(len(people.rows))
    weights = np.exp(spread) * view.rows / view.rows.sum()
    for block in matches(context, view, people, unknown=False):
        np.add.at(likely, block.of, weights[block.tuples])
    found: Float64 = np.log(np.maximum(likely, 1e-300)) - usual
    return found


ATTACK = Attack(
    membership_inference,
    supposes="knows all published columns of a person, and has rows of others who are not in the release",
    bounded_by=(Safepub,),
    of_the_file=False,
    needs={"original": NEEDS, "control": NEEDS},
)
