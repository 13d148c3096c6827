"""(n,t)-closeness: the values of every class are distributed nearly as in a larger group around it.

Definition: every class E has a *natural superset* F of at least n published rows with D(P_E, P_F) <= t (not strict), D
the earth mover's distance of ``t_closeness`` (ordered, equal or hierarchical, over the values of the whole table).
Natural supersets of E are E itself and the classes of the more general level vectors of the same hierarchies, as the
published rows fill them. With n the number of published rows it is t-closeness against these rows.

Needs the levels of a full-domain recoding. Where a table does not show them (labels that are no nodes of one level of
the hierarchies) the model is unsupported. Costs level vectors times groups; more than 100,000 vectors are refused.

Scope release: a class that is suppressed is missing in the supersets of the others. A violating class is one without a
superset that serves; when it goes, others may fail.

Closure. **Not merge-closed**: classes (4,0), (2,0), (2,1), (3,3) in a row with n = 6, t = 1/20 all hold; after merging
the second and third, 1/15 > 1/20. Nothing is pruned on it.

Source: N. Li, T. Li, S. Venkatasubramanian, IEEE TKDE 22(7):943-956, 2010, doi:10.1109/TKDE.2009.139.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.models import t_closeness
from indistinct.models.contract import LEVELS, Context, Evaluation, Model, always, needing, no_criteria, no_number
from indistinct.models.exact import rational, subject
from indistinct.models.histograms import only
from indistinct.policy.privacy import NTCloseness
from indistinct.tables.records import Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.policy.parameters import Distance
    from indistinct.tables.records import Classes, Recoding

    Int64 = NDArray[np.int64]

_MOST_VECTORS = 100_000


def groupings(recoding: Recoding) -> Iterator[Int64]:
    """Yield int64[g], the group of each class at every level vector from the published one on, finest first.

    Raises UnsupportedError without levels, PolicyError when there are too many vectors.
    """
    if recoding.levels is None:
        raise UnsupportedError("n_t_closeness needs one level for each column, which this recoding does not have")
    ranges = [range(level, h.height + 1) for h, level in zip(recoding.quasi, recoding.levels, strict=True)]
    if prod(map(len, ranges)) > _MOST_VECTORS:
        raise PolicyError(
            f"n_t_closeness would have to look at {prod(map(len, ranges)):,} combinations of levels, at most"
            f" {_MOST_VECTORS:,}; leave fewer levels with min_level and max_level"
        )
    for levels in sorted(product(*ranges), key=lambda vector: (sum(vector), vector)):
        nodes = [
            h.levels[level].node_of[recoding.lo[:, a]]
            for a, (h, level) in enumerate(zip(recoding.quasi, levels, strict=True))
        ]
        yield np.unique(np.column_stack(nodes), axis=0, return_inverse=True)[1].reshape(-1)


def distances(
    classes: Classes, reference: Reference, attribute: str, distance: Distance, groups: Int64, chosen: Int64
) -> list[Fraction]:
    """Distance of each ``chosen`` class from the rows of its group."""
    found: dict[int, Fraction] = {}
    histogram = classes.histograms[attribute]
    owner = np.repeat(np.arange(len(classes)), np.diff(histogram.start))
    for group in np.unique(groups[chosen]).tolist():
        inside = groups == group
        entries = inside[owner]
        counts = np.zeros(len(reference.counts), np.int64)
        np.add.at(counts, histogram.value[entries], histogram.count[entries])
        around = Reference(reference.hierarchy, counts, int(counts.sum()), reference.missing_at)
        members = np.zeros(len(classes), np.bool_)
        members[chosen[inside[chosen]]] = True
        numerators, rows, scale = t_closeness.measure(only(classes, members), around, attribute, distance)
        pairs = zip(np.flatnonzero(members).tolist(), numerators.tolist(), rows.tolist(), strict=True)
        found |= {number: Fraction(int(a), int(b) * scale) for number, a, b in pairs}
    return [found[number] for number in chosen.tolist()]


def measure(classes: Classes, context: Context, attribute: str, n: int, distance: Distance) -> list[Fraction | None]:
    """Least distance of each class from a natural superset of at least n rows; None where none is that large.

    Raises UnsupportedError where the levels of the classes are not known.
    """
    if classes.recoding is None:
        raise UnsupportedError(
            "n_t_closeness needs the levels at which the table was recoded, which this table does not show"
        )
    reference = context.references[attribute]
    best: list[Fraction | None] = [Fraction(0) if rows >= n else None for rows in classes.rows.tolist()]
    for groups in groupings(classes.recoding):
        large = np.bincount(groups, weights=classes.rows)[groups] >= n
        chosen = np.array([i for i in np.flatnonzero(large).tolist() if best[i] != 0], np.int64)
        if not len(chosen):
            continue
        found = distances(classes, reference, attribute, distance, groups, chosen)
        for number, value in zip(chosen.tolist(), found, strict=True):
            known = best[number]
            best[number] = value if known is None else min(known, value)
    return best


def evaluate(privacy: NTCloseness, classes: Classes, context: Context) -> Evaluation:
    """Compare the distance of every class from its best natural superset with t, exactly."""
    best = measure(classes, context, privacy.attribute, privacy.n, privacy.distance)
    satisfied = np.array([value is not None and value <= privacy.t for value in best], np.bool_)
    uncovered = sum(value is None for value in best)
    largest = _largest(best)
    if uncovered:
        sentence = f"{uncovered} of {len(best)} classes have no superset of {privacy.n} rows"
    elif satisfied.all():
        sentence = (
            f"every class is within {privacy.t} of a superset of {privacy.n} rows; the largest distance is {largest}"
        )
    else:
        far = subject(satisfied, "is", "are")
        sentence = (
            f"{far} more than {privacy.t} from every superset of {privacy.n} rows; the largest distance is {largest}"
        )
    shown = np.array([inf if value is None else float(value) for value in best])
    return Evaluation(satisfied, shown, _best(privacy.n, largest), sentence, more_is_better=False)


def _largest(best: list[Fraction | None]) -> Fraction | None:
    known = [value for value in best if value is not None]
    return max(known) if len(known) == len(best) else None


def _best(n: int, largest: Fraction | None) -> dict[str, Any]:
    return {"n": n, "t": None if largest is None else rational(largest)}


def achieved(
    classes: Classes, context: Context, attribute: str, n: int, distance: Distance = "equal"
) -> dict[str, Any]:
    """Smallest t that the classes satisfy at n; None where a class has no superset of n rows."""
    return _best(n, _largest(measure(classes, context, attribute, n, distance)))


def shortfall(privacy: NTCloseness, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say that the table has fewer rows than n."""
    return f"the table has {int(root.rows[0])} rows, fewer than n = {privacy.n}"


MODEL = Model(
    NTCloseness,
    title="(n,t)-closeness",
    scope="release",
    looks_at="input",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=no_criteria,
    shortfall=shortfall,
    promises=no_number,
    nested=always,
    needs=needing(LEVELS),
)
