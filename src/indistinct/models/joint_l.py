"""Joint diversity of several sensitive attributes: each is diverse where the others are known.

Definition: for each attribute S of a list in turn, the quasi-identifiers and all other attributes of the
list form the classes, and S must be (distinct, entropy or recursive) l-diverse in each of them. A class of
the quasi-identifiers alone satisfies the model iff all its parts do, for every S. With a person key the inner model
judges each part by rows and by the persons who have rows in it, as it judges classes.

Closure. Merge-closed: the parts of a union are unions of parts of the same other values, and the inner
model is merge-closed. Not absorbing, whatever the inner model: {(a,x),(a,y),(b,x),(b,y)} holds for l = 2,
adding {(a,z)} breaks it, because z occurs with a alone. Suppressing another class leaves E alone. No
compiled form.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1):3, 2007, multiple sensitive
attributes, doi:10.1145/1217299.1217302.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import distinct_l, entropy_l, recursive_cl, shares
from indistinct.models.contract import Context, Criterion, Evaluation, Model, always, no_number, reason_of
from indistinct.policy.privacy import DistinctL, EntropyL, JointL, Privacy, RecursiveCL
from indistinct.tables.records import Classes, Histogram, Holdings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

_INNER = {model.name: model for model in (distinct_l.MODEL, entropy_l.MODEL, recursive_cl.MODEL)}
_DISTINCT, _ENTROPY, _RECURSIVE = _INNER


def combinations(classes: Classes, attributes: Sequence[str], attribute: str) -> tuple[Classes, Int64]:
    """Split the classes by all listed attributes but one; with the first part of each class (int64[g])."""
    columns = [classes.sensitive.index(name) for name in attributes if name != attribute]
    own = classes.cell_codes[:, classes.sensitive.index(attribute)]
    others = classes.cell_codes[:, columns]
    order = np.lexsort((own, *others.T[::-1], classes.cell_class))
    owner, others, own, rows = classes.cell_class[order], others[order], own[order], classes.cell_rows[order]
    new_part = np.ones(len(order), np.bool_)
    new_part[1:] = (owner[1:] != owner[:-1]) | (others[1:] != others[:-1]).any(axis=1)
    new_value = new_part.copy()
    new_value[1:] |= own[1:] != own[:-1]
    part, value = np.flatnonzero(new_part), np.flatnonzero(new_value)
    start = np.append(np.searchsorted(value, part), len(value)).astype(np.int64)
    histogram = Histogram(start, own[value], np.add.reduceat(rows, value))
    inner = Classes(
        np.add.reduceat(rows, part),
        None,
        (attribute,),
        {attribute: histogram},
        np.zeros(0, np.int32),
        np.zeros((0, 1), np.int32),
        np.zeros(0, np.int64),
        holdings=_held(classes.holdings, columns, owner[part], others[part], classes.sensitive.index(attribute)),
        most_rows=classes.most_rows,
    )
    return inner, np.searchsorted(owner[part], np.arange(len(classes)))


def _held(held: Holdings | None, columns: list[int], owner: Int32, others: Int32, own: int) -> Holdings | None:
    """Say who has which rows of the parts: of class ``owner[i]`` with the ``others[i]`` values in ``columns``."""
    if held is None:
        return None
    combinations = np.column_stack([owner, others]).astype(np.int64)
    rows = np.column_stack([held.owner, held.codes[:, columns]]).astype(np.int64)
    _, number = np.unique(np.concatenate([combinations, rows]), axis=0, return_inverse=True)
    number = number.reshape(-1)
    part_of = np.zeros(int(number.max()) + 1, np.int64)
    part_of[number[: len(combinations)]] = np.arange(len(combinations))
    return Holdings.sort(part_of[number[len(combinations) :]], held.person, held.codes[:, [own]], held.rows)


def _inner(privacy: JointL, attribute: str) -> Privacy:
    """Build the model that one attribute must satisfy in the parts."""
    if privacy.kind == _DISTINCT:
        return DistinctL(attribute=attribute, l=int(privacy.l))
    if privacy.kind == _ENTROPY:
        return EntropyL(attribute=attribute, l=privacy.l)
    return RecursiveCL.model_validate({"attribute": attribute, "c": privacy.c, "l": int(privacy.l)})


def evaluate(privacy: JointL, classes: Classes, context: Context) -> Evaluation:
    """Judge every part of every class with the inner model, exactly."""
    model, more = _INNER[privacy.kind], privacy.kind != _RECURSIVE
    worst: np.ufunc = np.minimum if more else np.maximum
    satisfied = np.ones(len(classes), np.bool_)
    if privacy.kind == _DISTINCT:
        satisfied &= classes.sizes >= int(privacy.l)
    measures, sentences, best = [], [], []
    for attribute in privacy.attributes:
        inner, first = combinations(classes, privacy.attributes, attribute)
        answer = shares.evaluate(model, _inner(privacy, attribute), inner, context)
        satisfied &= np.logical_and.reduceat(answer.satisfied, first)
        measures.append(worst.reduceat(answer.measure, first))
        best.append(answer.achieved)
        others = " and ".join(name for name in privacy.attributes if name != attribute)
        sentences.append(f"{attribute}, with {others} joined to the quasi-identifiers: {answer.reason}")
    return Evaluation(satisfied, worst.reduce(measures), _worst(best), "; ".join(sentences), more_is_better=more)


def _worst(best: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Take the parameters that every attribute satisfies."""
    if "c" in best[0]:
        needed = [entry["c"] for entry in best]
        c = None if None in needed else max(needed, key=lambda entry: Fraction(entry["fraction"]))
        return {"l": best[0]["l"], "c": c}
    return min(best, key=lambda entry: entry["l"]["decimal"] if isinstance(entry["l"], dict) else entry["l"])


def achieved(
    classes: Classes,
    context: Context,
    attribute: str | None = None,  # noqa: ARG001  # the contract's
    *,
    attributes: Sequence[str],
    kind: str = _DISTINCT,
    l: int | None = None,  # noqa: E741  # the letter of the literature
) -> dict[str, Any] | list[dict[str, Any]]:
    """Best parameters of the inner model that every attribute satisfies; without l a list if recursive."""
    fixed = {} if l is None else {"l": l}
    best = []
    for name in attributes:
        inner, _ = combinations(classes, attributes, name)
        best.append(shares.achieved(_INNER[kind], inner, context, name, **fixed))
    if kind != _RECURSIVE or l is not None:
        return _worst(best)
    longest: list[dict[str, Any]] = max(best, key=len)
    nothing = {"c": None}
    return [
        _worst([longest[i], *(each[i] if i < len(each) else {**longest[i], **nothing} for each in best)])
        for i in range(len(longest))
    ]


def criteria(privacy: JointL, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """No compiled form: the parts need joint counts."""
    return None


MODEL = Model(
    JointL,
    title="joint l-diversity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=no_number,
    blank_counts=True,
    counts_values=True,
    is_joint=True,
    by_persons=always,
    merges_persons=lambda privacy: privacy.kind == _DISTINCT,
)
