"""Composition: the same person in two releases that were made apart.

*Attacker.* Knows that the victim is in both, and, where he can run the program (``rerun``; the default, with
``other_policy`` for the second), his class in each; the *weaker* attacker, shown beside it, has what labels cover. His
candidate rows in each give two distributions p1, p2 over the values; only values that both allow remain, with
*posterior* ``P(v) ~ p1_v p2_v / q_v`` (q the share among everybody), which is right when the two recodings chose the
others of the groups independently. *Claim*: the likeliest value. *Prior*: the larger of p1_v and p2_v of that value,
what either release alone gives; the gain is what the second adds. *Learnt*: one value remains and neither release
alone told it.

The persons are those of the identified table or the original; without one, the classes of the second release stand
for their members. Candidates by containment, so that the releases may be recoded differently.

*Bounds.* m-invariance for releases of one publisher; none for two that do not talk to each other. {aids, flu, cancer,
aids} and {aids, asthma, ulcer}: aids remains. *Source.* Ganta, Kasiviswanathan, Smith, KDD 2008, 265-273.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.candidates import shares
from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.overlap import candidates_in_both, runs_of
from indistinct.policy.privacy import MInvariance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.overlap import InBoth
    from indistinct.attacks.view import View

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

CELLS = 20_000_000


def composition(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Intersect what two releases allow for the persons in both."""
    other = context.other
    assert other is not None  # noqa: S101  # the record says that it is needed
    names = [name for name in context.view.sensitive if name in other.sensitive]
    if not names:
        yield Idle(None, "the two releases have no sensitive column in common")
        return
    runs = runs_of(context, other)
    by_labels = candidates_in_both(context, other, (None, None))
    if not len(by_labels.weight):
        yield Idle(None, "no person has candidate rows in both releases")
        return
    for name in names:
        weaker = _composed(context, other, name, by_labels, {"knows_program": False, "why_not": runs.why})
        if runs.mine is None and runs.theirs is None:
            yield weaker
            continue
        figures = weaker.document("composition", ())
        by_labels_alone = {key: figures[key] for key in ("persons", "learnt", "prior", "posterior", "gain")}
        known = candidates_in_both(context, other, (runs.mine, runs.theirs))
        yield _composed(
            context, other, name, known, {"knows_program": True, "why_not": runs.why, "weaker": by_labels_alone}
        )


def _composed(context: AttackContext, other: View, name: str, both: InBoth, more: Mapping[str, Any]) -> Outcome:
    mine, theirs, weight, row, table = both
    sensitive = (context.view.sensitive[name], other.sensitive[name])
    texts = list(dict.fromkeys([*sensitive[0].texts, *sensitive[1].texts]))
    number = {text: place for place, text in enumerate(texts)}
    everybody = np.zeros(len(texts))
    everybody[: len(sensitive[0].prior)] = sensitive[0].prior
    # values that only the second release has
    new = everybody == 0
    second = np.zeros(len(texts))
    second[[number[text] for text in sensitive[1].texts]] = sensitive[1].prior
    everybody = np.where(new, second, everybody)
    everybody /= everybody.sum()
    people = len(weight)
    prior, after, left, value = (
        np.zeros(people),
        np.zeros(people),
        np.zeros(people, np.int64),
        np.zeros(people, np.int64),
    )
    before = np.zeros(people, np.int64)
    ordered = [mine.by_kind(), theirs.by_kind()]
    step = max(1, CELLS // len(texts))
    for begin in range(0, people, step):
        stop = min(people, begin + step)
        both_shares = [
            shares(view, own, texts, pairs, begin, stop)
            for view, own, pairs in zip((context.view, other), sensitive, ordered, strict=True)
        ]
        joint = both_shares[0] * both_shares[1] / everybody
        total = joint.sum(axis=1)
        best = joint.argmax(axis=1)
        at = np.arange(stop - begin)
        value[begin:stop] = best
        after[begin:stop] = np.where(total > 0, joint[at, best] / np.where(total > 0, total, 1), 0)
        prior[begin:stop] = np.maximum(both_shares[0][at, best], both_shares[1][at, best]) * (total > 0)
        left[begin:stop] = (joint > 0).sum(axis=1)
        before[begin:stop] = np.minimum((both_shares[0] > 0).sum(axis=1), (both_shares[1] > 0).sum(axis=1))
    met = left > 0  # an empty intersection: the person is not in both
    learnt = (left == 1) & (before > 1)
    disclosed = int(weight[learnt].sum())
    kinds = np.flatnonzero(met)
    total_weight = int(weight[met].sum())
    mean = [float(weight[met] @ numbers[met]) / max(1, total_weight) for numbers in (before, left)]
    return Outcome(
        name, weight[met], prior[met], np.maximum(after, prior)[met], learnt[met], row[met], table,
        f"for {disclosed} of {total_weight} persons the two releases together leave one {name} although each alone "
        f"left several; on average {mean[0]:.4g} values before and {mean[1]:.4g} after",
        {"one_value_left": disclosed, "mean_values_before": round(mean[0], 6), "mean_values_after": round(mean[1], 6),
         "in_neither_or_one": int(weight[~met].sum()), **more},
        lambda kind: f"row {row[kinds[kind]]} of {table}: {name} = {texts[int(value[kinds[kind]])]}",
    )  # fmt: skip


ATTACK = Attack(
    composition,
    supposes="has two releases, and knows the program, both policies and everybody's quasi-identifiers",
    bounded_by=(MInvariance,),
    of_the_file=False,
    needs={"other": "needs a second release of some of the same people: --with OTHER"},
    options=("other_policy", "knows_program"),
)
