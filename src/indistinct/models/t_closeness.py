"""t-closeness: the sensitive values of every class are distributed nearly as in the whole table.

Definition: EMD(P_E, Q) <= t (not strict) for every class E; P_E the distribution of the class, Q that of the reference
table, both counted in rows (and, with a person key, in persons: ``shares``). The earth mover's distance depends on
what lies between two values:

- ordered: |i - j| / (m - 1) for the i-th and j-th of m values; EMD = sum_i |P(<= i) - Q(<= i)| / (m - 1);
- equal: 1; EMD = sum_v |p_v - q_v| / 2;
- hierarchical: height of the smallest common node / H in a tree of full depth H. An edge of that tree is 1
  / 2H long, so EMD = sum over the heights 0..H-1 of the total variation between the nodes of that height,
  divided by H.

One value only (m = 1, H = 0): 0. The values are those that occur. EMD lies in [0, 1]; ordered and
hierarchical are at most equal for the same P and Q, so equal is the strictest.

All three are (A / n_E - B / n) / W with integers A and B that depend on the values of the class alone
(signs are settled first, and values between two of the class are summed by prefix sums and a binary
search), so the cost is log m per value of a class, whatever m, and the comparison with t = a / b is one of
integers.

What it does not give: protection of identity (combine with k), or a bound on the ratio of posterior and
prior: with t = 0.15 a value of 1 % may reach 16 %.

Closure. Merge-closed: EMD is convex, the distance of a union is at most the larger of its parts'. Not
absorbing: distance 0 merged with 1/2 gives 1/4. Suppressing another class leaves E alone because Q is that
of the whole input.

Source: N. Li, T. Li, S. Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError, PolicyError
from indistinct.models.contract import (
    T_EQUAL,
    T_HIERARCHICAL,
    T_ORDERED,
    Column,
    Context,
    Criterion,
    Evaluation,
    Model,
    always,
    never,
    no_number,
)
from indistinct.models.exact import bounds, largest_ratio, rational, subject, wide
from indistinct.models.histograms import add_up, is_constant, owners
from indistinct.policy.privacy import TCloseness

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy.parameters import Distance
    from indistinct.tables.records import Classes, Histogram, Reference

    Integers = NDArray[Any]
    Int32 = NDArray[np.int32]

_KINDS = {"ordered": T_ORDERED, "equal": T_EQUAL, "hierarchical": T_HIERARCHICAL}


def value_tree(hierarchy: Hierarchy) -> Int32:
    """int32[H + 1, m]: the node of each value at each height; the last row is one root.

    A hierarchy that ends in several labels gets a root above them. Raises PolicyError when several values
    have no hierarchy at all.
    """
    if hierarchy.height == 0 and hierarchy.size > 1:
        raise PolicyError(
            f"hierarchical distance needs a hierarchy of {hierarchy.attribute};"
            ' give the attribute one, or use distance = "equal"',
            column=hierarchy.attribute,
        )
    rows = [level.node_of for level in hierarchy.levels]
    if len(set(rows[-1].tolist())) > 1:
        rows = [*rows, np.zeros(hierarchy.size, np.int32)]
    return np.ascontiguousarray(rows, dtype=np.int32)


def _last_first(reference: Reference) -> bool:
    """Whether the missing value, the last code, stands first in the order; DataError if it has no place."""
    hierarchy = reference.hierarchy
    if hierarchy.missing < 0 or reference.missing_at == "last":
        return False
    if reference.missing_at == "first":
        return True
    raise DataError(
        f"{hierarchy.attribute} has missing values, and ordered distance has no place for them;"
        ' set missing = "drop", "first" or "last" for the attribute',
        column=hierarchy.attribute,
    )


def measure(
    classes: Classes, reference: Reference, attribute: str, distance: Distance
) -> tuple[Integers, Integers, int]:
    """Exact distance of each class as numerator / (n_E n W): numerators [g], n_E [g] and n W.

    int64, or Python integers in object arrays where products could leave 62 bits.
    """
    histogram, total, values = classes.histograms[attribute], reference.total, len(reference.counts)
    kind = wide(max(values, total, int(classes.rows.sum())) * total)
    count, shares = histogram.count.astype(kind), reference.counts.astype(kind)
    rows = classes.rows.astype(kind)
    if distance == "ordered":
        first = _last_first(reference)
        ours, theirs = _ordered(histogram, count, shares, rows, total, last_first=first)
        width = max(values - 1, 1)
    elif distance == "equal":
        ours, theirs = _equal(histogram, count, shares, rows, total)
        width = 1
    else:
        tree = value_tree(reference.hierarchy)
        ours, theirs = _hierarchical(histogram, count, shares, rows, total, tree)
        width = max(len(tree) - 1, 1)
    most = max(int(ours.max()) * total, int(theirs.max()) * int(rows.max()), int(rows.max()) * total * width)
    kind = wide(most)
    return (
        ours.astype(kind) * total - theirs.astype(kind) * rows.astype(kind),
        rows.astype(kind),
        total * width,
    )


def _equal(
    histogram: Histogram, count: Integers, shares: Integers, rows: Integers, total: int
) -> tuple[Integers, Integers]:
    """Sum the surplus of the values that are more frequent in the class: sum max(0, c n - Q n_E)."""
    theirs = shares[histogram.value]
    surplus = count * total > theirs * rows[owners(histogram)]
    return add_up(np.where(surplus, count, 0), histogram), add_up(np.where(surplus, theirs, 0), histogram)


def _hierarchical(
    histogram: Histogram, count: Integers, shares: Integers, rows: Integers, total: int, tree: Int32
) -> tuple[Integers, Integers]:
    """Sum the surplus of the nodes at each height below the root; only nodes that the class touches."""
    owner, value = owners(histogram), histogram.value
    ours, theirs = np.zeros(len(rows), rows.dtype), np.zeros(len(rows), rows.dtype)
    for node_of in tree[:-1]:
        node = node_of[value]
        new = np.ones(len(node), np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (owner[1:] != owner[:-1])
        at = np.flatnonzero(new)
        # a node is a contiguous run of values: its entries in a class are neighbours, and stay so higher up
        owner, value, count = owner[at], value[at], np.add.reduceat(count, at)
        of_node = np.zeros(int(node_of.max()) + 1, shares.dtype)
        np.add.at(of_node, node_of, shares)
        reference = of_node[node[at]]
        surplus = count * total > reference * rows[owner]
        first = np.searchsorted(owner, np.arange(len(rows)))
        ours += np.add.reduceat(np.where(surplus, count, 0), first)
        theirs += np.add.reduceat(np.where(surplus, reference, 0), first)
    return ours, theirs


def _ordered(
    histogram: Histogram, count: Integers, shares: Integers, rows: Integers, total: int, *, last_first: bool
) -> tuple[Integers, Integers]:
    """Sum |C_i n - Q_i n_E| over the m - 1 cuts of the order, C and Q cumulated.

    C is constant from one value of the class to the next; there Q, which grows, crosses it once. A binary
    search finds the place, and prefix sums of Q give both sides.
    """
    owner, place, last = owners(histogram), histogram.value.astype(np.int64), len(shares) - 1
    if last_first:
        place = (place + 1) % (last + 1)
        order = np.lexsort((place, owner))
        place, count, shares = place[order], count[order], np.roll(shares, 1)
    cumulated = np.cumsum(shares)
    area = np.concatenate([np.zeros(1, shares.dtype), np.cumsum(cumulated)])  # sum of the first i cumulated
    first, end = histogram.start[:-1], histogram.start[1:]
    sums = np.concatenate([np.zeros(1, count.dtype), np.cumsum(count)])
    below = sums[1:] - sums[first][owner]
    until = np.append(place[1:], last)
    until[end - 1] = last  # the segment of the last value ends at the last cut
    crossing = np.searchsorted(cumulated, below * total // rows[owner], side="right")
    crossing = np.clip(crossing, place, until)
    ours = add_up((2 * crossing - place - until) * below, histogram)
    theirs = add_up(2 * area[crossing] - area[place] - area[until], histogram)
    return ours, theirs - area[place[first]]  # before the first value of the class C is 0


def evaluate(privacy: TCloseness, classes: Classes, context: Context) -> Evaluation:
    """Compare the distance of every class from the reference distribution with t, exactly."""
    t, reference = privacy.t, context.references[privacy.attribute]
    numerators, rows, scale = measure(classes, reference, privacy.attribute, privacy.distance)
    if numerators.dtype == object:
        satisfied = (numerators * t.denominator <= rows * (t.numerator * scale)).astype(np.bool_)
    else:
        satisfied = numerators <= bounds(rows, lambda n: t.numerator * scale * n // t.denominator)
    largest = _largest(numerators, rows, scale)
    if is_constant(reference) and largest == 0:
        sentence = "no protection: the column is constant"
    elif satisfied.all():
        sentence = f"no class differs from the table by more than {t}; the largest distance is {largest}"
    else:
        differ = subject(satisfied, "differs", "differ")
        sentence = f"{differ} from the table by more than {t}; the largest distance is {largest}"
    distances = (numerators / rows / scale).astype(np.float64)
    return Evaluation(satisfied, distances, {"t": rational(largest)}, sentence, more_is_better=False)


def _largest(numerators: Integers, rows: Integers, scale: int) -> Fraction:
    return largest_ratio(numerators, rows) / scale


def achieved(classes: Classes, context: Context, attribute: str, distance: Distance = "equal") -> dict[str, Any]:
    """Smallest t that the classes satisfy: the largest distance."""
    return {"t": rational(_largest(*measure(classes, context.references[attribute], attribute, distance)))}


def criteria(privacy: TCloseness, context: Context) -> tuple[Criterion, ...]:
    """Compile the model; t = 1 and a column of one value need no test."""
    reference = context.references[privacy.attribute]
    if privacy.t >= 1 or reference.hierarchy.size <= 1:
        return ()
    parameters, tree = [float(privacy.t)], np.zeros((0, 0), np.int32)
    if privacy.distance == "ordered":
        parameters.append(float(_last_first(reference)))
    if privacy.distance == "hierarchical":
        tree = value_tree(reference.hierarchy)
    return (
        Criterion(
            _KINDS[privacy.distance],
            privacy.attribute,
            np.array(parameters),
            merge_closed=True,
            absorbing=False,
            shares=reference.counts / reference.total,
            tree=tree,
        ),
    )


def shortfall(privacy: TCloseness, root: Classes, context: Context) -> str:
    """Say how far the whole table is from its reference, which is then another table."""
    reference = context.references[privacy.attribute]
    largest = _largest(*measure(root, reference, privacy.attribute, privacy.distance))
    column = f"the whole column {privacy.attribute}"
    return f"{column} differs from its reference by {largest}, more than t = {privacy.t}"


def _measured(column: Column | None) -> tuple[dict[str, Any], ...]:
    """Measure every distance that a column has."""
    if column is None:
        return ()
    distances = ["equal", *["ordered"] * column.is_ordered, *["hierarchical"] * column.has_tree]
    return tuple({"distance": distance} for distance in distances)


MODEL = Model(
    TCloseness,
    title="t-closeness",
    scope="class",
    looks_at="input",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    measured=_measured,
    of_shares=always,
    by_persons=always,
    merges_persons=never,
)
