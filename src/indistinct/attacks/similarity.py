"""Similarity: the values of a class are different, and mean the same.

*Attacker.* Knows the class of a person. *Claim*, with a tree over the values: the person's value lies under one
proper inner node (not a value, not the root); of the nodes that hold the whole class the smallest share of everybody.
With numbers or dates: it lies in a window of the width W (default 1/20 of the range of everybody) that holds the
whole class. *Prior* the share of everybody under that node or in that window, *posterior* 1; elsewhere the attacker
claims nothing. *Learnt*: the claim is made.

*Bounds.* t-closeness with hierarchical or ordered distance (a class wholly under a node with prior q is at least ``(1
- q)`` times the height of the node's siblings away). {gastric ulcer, gastritis, stomach cancer} is 3-diverse, and
wholly under "stomach". *Source.* Li, Li, Venkatasubramanian, ICDE 2007, section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.proximity import window_of, windows
from indistinct.policy.privacy import EpsMAnonymity, KeAnonymity, TCloseness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import Sensitive


def similarity(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Look for classes whose values lie under one node, or close together."""
    for name, sensitive in context.view.sensitive.items():
        tree = context.tree(name)
        if tree is not None and tree.height > 1:
            yield _by_tree(context, sensitive)
        elif context.is_numeric(name):
            yield _by_distance(context, sensitive)
        else:
            yield Idle(name, f"{name} has neither a tree (--hierarchy {name}=FILE) nor a numeric type: nothing "
                "says which of its values are alike",
            )  # fmt: skip


def _by_tree(context: AttackContext, sensitive: Sensitive) -> Outcome:
    view, tree = context.view, context.tree(sensitive.attribute)
    assert tree is not None  # noqa: S101  # asked before
    codes = {text: code for code, text in enumerate(tree.texts)}
    code_of = np.array([codes[tree.spellings.get(text or "", text or "") if text is not None else None]
                        for text in sensitive.texts])  # fmt: skip
    prior, claim = np.ones(len(view.sizes)), np.full(len(view.sizes), -1)
    owner, value = sensitive.owner, sensitive.histogram.value
    for number, level in enumerate(tree.levels[1:], 1):
        if len(level.labels) == 1:
            continue
        node = level.node_of[code_of]
        share = np.bincount(node, weights=sensitive.prior, minlength=len(level.labels)) / sensitive.prior.sum()
        begin = sensitive.histogram.start[:-1]
        low, high = np.minimum.reduceat(node[value], begin), np.maximum.reduceat(node[value], begin)
        better = (low == high) & (share[low] < prior)
        prior[better], claim[better] = share[low][better], number
    alike = claim >= 0
    several = alike & (sensitive.distinct > 1)
    people = int(view.sizes[alike].sum())

    def show(kind: int) -> str:
        level = tree.levels[claim[kind]]
        node = level.node_of[code_of[value[sensitive.histogram.start[kind]]]]
        return f"{view.label(kind)}: {sensitive.attribute} is of the kind {level.labels[node]}"

    del owner
    return _outcome(
        context, sensitive, prior, alike,
        f"{int(alike.sum())} of {len(alike)} classes lie wholly under one node of the tree of {sensitive.attribute} "
        f"({int(several.sum())} of them with several values): the kind is certain for {people} of {view.total} persons",
        {"classes": int(alike.sum()), "classes_with_several_values": int(several.sum()), "by": "tree"}, show,
    )  # fmt: skip


def _by_distance(context: AttackContext, sensitive: Sensitive) -> Outcome | Idle:
    view = context.view
    width = window_of(context, sensitive)
    if width is None:
        return Idle(sensitive.attribute, f"{sensitive.attribute} has fewer than two different values")
    found = windows(context, sensitive, width)
    alike = found.rows == view.sizes
    several = alike & (sensitive.distinct > 1)
    people = int(view.sizes[alike].sum())
    return _outcome(
        context, sensitive, found.prior, alike,
        f"{int(alike.sum())} of {len(alike)} classes lie wholly within a width of {float(width):g} of "
        f"{sensitive.attribute} ({int(several.sum())} of them with several values): {people} of {view.total} persons",
        {"classes": int(alike.sum()), "classes_with_several_values": int(several.sum()), "by": "distance",
         "width": str(width)},
        lambda kind: f"{view.label(kind)}: {sensitive.attribute} from {found.shown(kind)}",
    )  # fmt: skip


def _outcome(
    context: AttackContext,
    sensitive: Sensitive,
    prior: NDArray[np.float64],
    alike: NDArray[np.bool_],
    reason: str,
    details: dict[str, object],
    show: Callable[[int], str],
) -> Outcome:
    view = context.view
    return Outcome(
        sensitive.attribute, view.sizes, np.where(alike, prior, 0.0), np.where(alike, 1.0, 0.0), alike,
        view.first, "published", reason, details, show,
    )  # fmt: skip


ATTACK = Attack(
    similarity,
    supposes="knows the class of a person, and what values mean",
    bounded_by=(TCloseness, EpsMAnonymity, KeAnonymity),
    of_the_file=True,
    needs={},
)
