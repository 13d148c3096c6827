"""Top-down specialization: from the most general labels down, the step first that tells most about a class attribute.

    cut = the most general label of every attribute (a range attribute: one interval)
    while a specialization v -> children(v) of the cut is valid and has a score above 0:
        apply the one of the best score

A *cut* holds, for each attribute, labels that cover every value once; all rows with a value publish the same label, so
values are recoded globally, but not on one level. The children of a label of a tree are the labels below it; an
interval of a range attribute is split in two where the information gain is greatest (the first such place); a missing
value comes after all others. A specialization is *valid* if at most ``floor(limit n)`` rows, and not all, are then in
classes that violate a model.

    InfoGain(v) = H(T_v) - sum over children c of |T_c| / |T_v| H(T_c)   bits of the class attribute, rows with value v
    AnonyLoss(v) = A - A_v        smallest class before and after, at least 0
    Score(v) = InfoGain(v) / AnonyLoss(v), or InfoGain(v) where AnonyLoss(v) is 0

A is taken over the classes of at least k members, the largest k that the models ask for: smaller ones are suppressed.
Ties of the score, to twelve digits, go to the earlier attribute, then to the lower value in the canonical order.

Once a specialization makes too many classes too small it does so for good, and it is dropped. Invalid by the other
models it is dropped for good only where every model is absorbing, or merge-closed with nothing suppressed; else it is
tried again after the next step. ``min_level`` is a floor; ``max_level`` is refused.

Example: 6/6 rows split into 5/1 and 1/5 gain 0.349978 bits; the smallest class falls from 12 to 6; the score is
0.058330.

Source: B. Fung, K. Wang, P. Yu, Top-down specialization for information and privacy preservation, ICDE 2005, 205-216,
doi:10.1109/ICDE.2005.143 (details of the score were not checked against it).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.members import members
from indistinct.algorithms.obstacles import obstacle, percent, reached, without_values
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.models import Context, criteria, evaluate, infeasible_reason, is_absorbing, is_merge_closed, satisfied
from indistinct.models.contract import K
from indistinct.notices import Sentence
from indistinct.policy.privacy import KAnonymity
from indistinct.policy.recoding import TopDownSpecialization, option
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Bools = NDArray[np.bool_]
    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Span = tuple[int, int]

NOTHING = 1e-12  # bits: no more than rounding
NOBODY = int(np.iinfo(np.int64).max)  # size of the smallest of no classes


def top_down_specialization(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Specialize labels while all models hold, the step of the best score for ``recoding.target`` first.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises PolicyError when the target was not counted, InfeasibleError when the most general labels do not hold;
    whatever ``progress`` raises.
    """
    target = option(policy.recoding, "target")
    if target is None or target not in frequencies.references:
        raise PolicyError(
            'top_down_specialization needs the column that the data are to tell about: set target = "COLUMN" under '
            "[recoding], a column that is neither identifying nor quasi-identifying",
            key="recoding.target",
        )
    partition = Partition(frequencies, policy)
    if partition.lost_rows > partition.limit:
        raise _refusal(partition, policy)
    margins = _margins(frequencies, target)
    everyone = np.arange(len(frequencies.tuples))
    cut = [_most_general(hierarchy) for hierarchy in frequencies.quasi]
    open_steps = [
        step
        for a, spans in enumerate(cut)
        for span in spans
        if (step := _step_of(partition, margins[a], a, span, everyone)) is not None
    ]
    heapify(open_steps)
    taken = 0
    while True:
        progress("search", taken, 0)
        chosen = _choose(partition, open_steps)
        if chosen is None:
            note = Sentence("{n} specializations were made", n=taken)
            return _checked(partition, partition.assignment(cut, note))
        taken += 1
        spans = cut[chosen.attribute]
        at = spans.index(chosen.span)
        spans[at : at + 1] = chosen.children
        for span in chosen.children:
            below = _step_of(partition, margins[chosen.attribute], chosen.attribute, span, chosen.tuples)
            if below is not None:
                heappush(open_steps, below)


def _checked(partition: Partition, found: Assignment) -> Assignment:
    """Judge what is published once more where models look at the published labels, which are wider than the members."""
    frequencies = partition.frequencies
    if frequencies.population is None and not frequencies.detailed:
        return found
    classes = classes_of(frequencies, found)
    if satisfied(partition.privacy, classes, partition.context).all():
        return found
    raise InfeasibleError(
        "top_down_specialization found no recoding whose published labels satisfy the policy",
        'algorithm = "optimal" or "local" may find one',
    )


@dataclass(frozen=True)
class Effect:
    """What a step does to the classes that it splits: rows in those that are too small, before and after.

    ``least`` and ``leasts``: members of the smallest that is large enough before, and how many are as small; ``left``:
    of the smallest that is large enough after.
    """

    before: int
    after: int
    least: int
    leasts: int
    left: int


@dataclass(eq=False)
class Step:
    """A specialization: the codes ``span`` of an attribute fall apart into ``children``.

    ``gain`` is the information gain in bits; ``tuples`` int64[.] have a value of the span, ``child`` int64[.] says
    which child each falls to. ``effect``: what ``Partition.effect`` found, until a step of another attribute is taken:
    those of one attribute are about different classes; ``stamp`` says how many of others were taken by then.

    Steps are ordered by their gain, to twelve digits, then by attribute and value.
    """

    attribute: int
    span: Span
    children: list[Span]
    gain: float
    tuples: Int64
    child: Int64
    effect: Effect | None = None
    stamp: int = -1

    def __post_init__(self) -> None:
        """Note the place in the order of steps."""
        self.place = (-_rounded(self.gain), self.attribute, self.span[0])

    def __lt__(self, other: Step) -> bool:
        """Whether this step is looked at first."""
        return self.place < other.place


def _choose(partition: Partition, steps: list[Step]) -> Step | None:
    """Find the valid step of the best score, split the classes by it, and drop steps that can never be valid.

    ``steps`` is a heap. No score is above the gain, so steps are judged only while their gain reaches the best score.
    """
    judged: list[tuple[tuple[float, int, int], Step]] = []
    remaining: list[Step] = []
    before = partition.smallest
    chosen = None
    while chosen is None and (steps or judged):
        if judged and (not steps or judged[0][0] < steps[0].place):
            _, step = heappop(judged)
            if partition.split(step):
                chosen = step
            elif not partition.is_final:
                remaining.append(step)
            continue
        step = heappop(steps)
        after = partition.smallest_after(step)
        if after is not None:
            # two gains that are equal by definition may differ in rounding
            heappush(judged, ((-_rounded(score(step.gain, before - after)), *step.place[1:]), step))
    for step in (*remaining, *(step for _, step in judged)):
        heappush(steps, step)
    return chosen


def _rounded(number: float) -> float:
    return float(f"{number:.12g}")


def score(gain: float, anonymity_loss: int) -> float:
    """Information gained for each member that the smallest class loses.

    >>> round(score(0.3499775783516459, 6), 6), score(0.25, 0)
    (0.05833, 0.25)
    """
    return gain / anonymity_loss if anonymity_loss > 0 else gain


def info_gain(children: Int64) -> float:
    """Information gain in bits; int64[children, classes] counts the rows of each child by class.

    >>> round(info_gain(np.array([[5, 1], [1, 5]])), 6)
    0.349978
    """
    totals = children.sum(axis=1)
    inside = float((totals * _entropy(children)).sum()) / float(totals.sum())
    return float(_entropy(children.sum(axis=0)[None])[0]) - inside


def _entropy(counts: Int64) -> Float64:
    """Entropy in bits of each row of counts."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    entropy: Float64 = -(shares * np.log2(np.where(counts > 0, shares, 1.0))).sum(axis=1)
    return entropy


def _margins(frequencies: Frequencies, target: str) -> list[Int64]:
    """Rows of every value of each quasi-identifier by class: int64[values, classes]."""
    label = frequencies.sensitive_codes(target)
    classes = len(frequencies.references[target].counts)
    margins = []
    for a, hierarchy in enumerate(frequencies.quasi):
        counts = np.zeros((hierarchy.size, classes), np.int64)
        np.add.at(counts, (frequencies.codes[:, a], label), frequencies.rows)
        margins.append(counts)
    return margins


def _most_general(hierarchy: Hierarchy) -> list[Span]:
    """Spans of the most general labels; a range attribute has one interval, a fixed one all its values."""
    if hierarchy.is_range:
        return [(0, hierarchy.size - 1)]
    return list(_runs(hierarchy.levels[-1].node_of, 0))


def _runs(nodes: NDArray[np.int32], first: int) -> Iterator[Span]:
    """Spans of equal nodes; the first code is ``first``."""
    edges = [0, *(np.flatnonzero(np.diff(nodes)) + 1).tolist(), len(nodes)]
    for begin, end in pairwise(edges):
        yield first + begin, first + end - 1


def _children(hierarchy: Hierarchy, span: Span, margin: Int64) -> list[Span]:
    """Spans that a span falls apart into; none for a single value."""
    low, high = span
    if low == high:
        return []
    if hierarchy.is_range:
        place = low + _best_place(margin[low : high + 1])
        return [(low, place), (place + 1, high)]
    for level in reversed(hierarchy.levels):
        spans = list(_runs(level.node_of[low : high + 1], low))
        if len(spans) > 1:
            return spans
    return []


def _best_place(margin: Int64) -> int:
    """After which value to split an interval: the greatest information gain, the first of equals."""
    left = np.cumsum(margin, axis=0)[:-1]
    right = margin.sum(axis=0) - left
    inside = left.sum(axis=1) * _entropy(left) + right.sum(axis=1) * _entropy(right)
    return int(np.argmin(inside))


def _step_of(partition: Partition, margin: Int64, attribute: int, span: Span, among: Int64) -> Step | None:
    """Prepare the specialization of a span; None when there is none, or when it tells nothing."""
    children = _children(partition.frequencies.quasi[attribute], span, margin)
    if not children:
        return None
    starts = np.array([low for low, _ in children])
    gain = info_gain(np.add.reduceat(margin[span[0] : span[1] + 1], starts - span[0], axis=0))
    if gain <= NOTHING:
        return None
    codes = partition.frequencies.tuples[among, attribute]
    inside = (codes >= span[0]) & (codes <= span[1])
    child = np.searchsorted(starts, codes[inside], side="right") - 1
    return Step(attribute, span, children, gain, among[inside], child)


class Partition:
    """The classes of the present cut, and what a specialization would make of them.

    ``class_of`` int64[u]; ``rows``, ``sizes`` (persons where there are any) int64[g]; ``lost`` bool[g]: classes that
    violate a model; ``taken`` int64[d]: steps of each attribute. ``is_final``: whether an invalid step stays so.
    """

    def __init__(self, frequencies: Frequencies, policy: Policy) -> None:
        self.frequencies = frequencies
        self.privacy = policy.privacy
        self.limit = min(floor(policy.suppression.limit * frequencies.total), frequencies.total - 1)
        self.context = Context(frequencies.references)
        merge_closed = all(is_merge_closed(privacy, spread=frequencies.is_spread) for privacy in policy.privacy)
        self.is_final = all(map(is_absorbing, policy.privacy)) or (self.limit == 0 and merge_closed)
        tests = [test for privacy in policy.privacy for test in criteria((privacy,), self.context) or ()]
        self.k = max([1, *(int(test.parameters[0]) for test in tests if test.kind == K)])
        everyone = np.arange(len(frequencies.tuples))
        tops = [hierarchy.levels[-1].node_of[frequencies.tuples[:, a]] for a, hierarchy in enumerate(frequencies.quasi)]
        for a, hierarchy in enumerate(frequencies.quasi):
            if hierarchy.is_range:
                tops[a] = np.zeros(len(everyone), np.int32)
        _, inverse = np.unique(np.stack(tops, axis=1), axis=0, return_inverse=True)
        self.class_of: Int64 = inverse.reshape(-1).astype(np.int64)
        number = int(self.class_of.max(initial=-1)) + 1
        self.rows, self.sizes = members(frequencies, everyone, self.class_of, number)
        self.lost = self._violating(everyone, self.class_of, self.rows, self.sizes)
        self.taken = np.zeros(len(frequencies.quasi), np.int64)
        self._measure()

    @property
    def lost_rows(self) -> int:
        """Rows in violating classes."""
        return int(self.rows[self.lost].sum())

    def smallest_after(self, step: Step) -> int | None:
        """Members of the smallest class that is large enough after a step; None when too many are too small then."""
        stamp = int(self.taken.sum() - self.taken[step.attribute])
        if step.effect is None or step.stamp != stamp:
            step.effect, step.stamp = self.effect(step), stamp
        effect = step.effect
        if self.small_rows - effect.before + effect.after > self.limit:
            return None
        others = self.smallest
        if effect.least == others and effect.leasts == self.smallests:  # all of the smallest are split
            untouched = self.sizes >= self.k
            untouched[self.class_of[step.tuples]] = False
            others = int(self.sizes[untouched].min(initial=NOBODY))
        return min(others, effect.left)

    def effect(self, step: Step) -> Effect:
        """Judge the classes that a step splits, by their sizes."""
        part, number = self._children(step)
        rows, sizes = members(self.frequencies, step.tuples, part, number)
        own = np.unique(self.class_of[step.tuples])
        large = self.sizes[own] >= self.k
        least = int(self.sizes[own][large].min(initial=NOBODY))
        return Effect(
            int(self.rows[own][~large].sum()),
            int(rows[sizes < self.k].sum()),
            least,
            int((self.sizes[own] == least).sum()),
            int(sizes[sizes >= self.k].min(initial=NOBODY)),
        )

    def _measure(self) -> None:
        """Note the size of the smallest class that is large enough, how many are as small, and the rows in others."""
        large = self.sizes >= self.k
        self.smallest = int(self.sizes[large].min(initial=NOBODY))
        self.smallests = int((self.sizes == self.smallest).sum())
        self.small_rows = int(self.rows[~large].sum())

    def split(self, step: Step) -> bool:
        """Split the classes by a step, if it is valid."""
        part, number = self._children(step)
        rows, sizes = members(self.frequencies, step.tuples, part, number)
        lost = self._violating(step.tuples, part, rows, sizes)
        untouched = np.ones(len(self.rows), np.bool_)
        untouched[self.class_of[step.tuples]] = False
        if int(self.rows[untouched & self.lost].sum()) + int(rows[lost].sum()) > self.limit:
            return False
        renumbered = np.cumsum(untouched) - 1
        self.class_of = renumbered[self.class_of]
        self.class_of[step.tuples] = int(untouched.sum()) + part
        self.rows = np.concatenate([self.rows[untouched], rows])
        self.sizes = np.concatenate([self.sizes[untouched], sizes])
        self.lost = np.concatenate([self.lost[untouched], lost])
        self.taken[step.attribute] += 1
        self._measure()
        return True

    def assignment(self, cut: list[list[Span]], note: Sentence) -> Assignment:
        """Send every tuple to its class, published with the labels of the cut; violating classes are suppressed."""
        frequencies = self.frequencies
        class_of = np.where(self.lost, SUPPRESSED, np.arange(len(self.lost)))[self.class_of].astype(np.int32)
        found = Assignment.of_tuples(frequencies, class_of, notes=(note,))
        own = found.class_of[frequencies.start[:-1]]
        remaining = np.flatnonzero(own != SUPPRESSED)
        first = remaining[np.unique(own[remaining], return_index=True)[1]]
        boxes = np.empty((found.classes, len(cut), 2), np.int32)
        for a, spans in enumerate(cut):
            lows = np.array([low for low, _ in spans])
            which = np.searchsorted(lows, frequencies.tuples[first, a], side="right") - 1
            boxes[:, a] = np.array(spans, np.int32)[which]
        return Assignment(found.cell, found.count, found.class_of, found.classes, notes=found.notes, boxes=boxes)

    def _children(self, step: Step) -> tuple[Int64, int]:
        """Number the (class, child) pairs of the tuples of a step."""
        width = len(step.children)
        key = self.class_of[step.tuples] * width + step.child
        present = np.zeros(len(self.rows) * width, np.bool_)
        present[key] = True
        number = np.cumsum(present) - 1
        return number[key], int(present.sum())

    def _violating(self, tuples: Int64, class_of: Int64, rows: Int64, sizes: Int64) -> Bools:
        """Which classes of some tuples violate a model, exactly."""
        if all(isinstance(model, KAnonymity) for model in self.privacy):
            return sizes < self.k
        owner = np.full(len(self.frequencies.tuples), SUPPRESSED, np.int32)
        owner[tuples] = class_of
        cells = np.flatnonzero(owner[self.frequencies.tuple_of] != SUPPRESSED).astype(np.int32)
        count = self.frequencies.rows[cells]
        part = Assignment(cells, count, owner[self.frequencies.tuple_of[cells]], len(rows))
        classes = classes_of(self.frequencies, part)
        violating = np.zeros(len(rows), np.bool_)
        for privacy in self.privacy:
            violating |= ~evaluate(privacy, classes, self.context).satisfied
        return violating


def _refusal(partition: Partition, policy: Policy) -> InfeasibleError:
    frequencies, limit, lost = partition.frequencies, partition.limit, partition.lost_rows
    total = frequencies.total
    everyone = np.zeros(len(frequencies.tuples), np.int32)
    root = classes_of(frequencies, Assignment.of_tuples(frequencies, everyone))
    reason = infeasible_reason(policy.privacy, frequencies, limit)
    if reason is not None:
        best = reached(policy.privacy, root, partition.context)
        return without_values(InfeasibleError(reason, f"one class of all rows reaches {', '.join(best)}"), frequencies)
    tops = [obstacle(hierarchy, hierarchy.height) for hierarchy in frequencies.quasi if not hierarchy.is_range]
    reason = (
        f"top_down_specialization starts from the most general labels, and these leave {lost} of {total} rows in "
        f"classes that violate the models; {limit} may be suppressed"
    )
    nearest = f"a suppression limit of {percent(lost, total)} ({lost} of {total} rows) would do" if lost < total else ""
    return InfeasibleError("; ".join([reason, *filter(None, tops)]), nearest)


ALGORITHM = Algorithm(TopDownSpecialization, top_down_specialization, "truthful")
