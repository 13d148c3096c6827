"""Uniqueness on few attributes: what somebody learns who knows m quasi-identifiers of the victim, whichever they are.

*Attacker.* Knows that the victim is in the release, and the published labels of m of his quasi-identifiers
(``known``, 3 by default; all of them if there are fewer). He may know those m that serve him best. *Claim*: this row is
his. *Prior* 1/n, *posterior* 1/c, c the fewest rows that are equal to his in m quasi-identifiers. *Learnt*: c = 1, the
row is unique on some m of them, hence on some subset of at most m. This is what mu-Argus looks at: rare combinations of
few variables. ``details`` counts the unique rows of every subset of at most m columns, the worst ones first.

Labels are compared as published: with overlapping ranges of local recoding the attacker knows less than this supposes.
The number of subsets is C(d, m), each a pass over the distinct tuples; more than 10^9 steps are refused.

Rows (m, 10115), (f, 10115), (f, 10117), (f, 10117), m = 1: sex singles out row 1, the postcode nobody; share 1/4.
With m = 2 rows 1 and 2 are unique: 1/2.

With the original and persons held out (``control``) the labels that single out a row become predicates, and the gain is
the risk that a row's predicate singles out a person of the original beyond that it does one of as many held out; a row
that is not unique has no predicate.

*Bounds.* k-anonymity: a class on fewer columns is not smaller, so c >= k. mu-Argus bounds it for up to as many columns
as it was told. *Source.* A. Hundepool, L. Willenborg, mu- and tau-ARGUS: software for statistical disclosure control,
3rd international seminar on statistical confidentiality, Bled 1996; L. Sweeney, IJUFKS 10(5):571-588, 2002, section 4.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Contrast, Idle, Outcome
from indistinct.attacks.predicates import contrasts_of, drawn
from indistinct.attacks.tabulate import grouped
from indistinct.policy.privacy import KAnonymity
from indistinct.policy.recoding import MuArgus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext

    Int64 = NDArray[np.int64]

MOST_STEPS = 10**9
SUBSETS_SHOWN = 10
MOST_PERSONS = 5_000


def uniqueness(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Count the rows that few quasi-identifiers single out."""
    view = context.view
    known = min(context.known, len(view.quasi))
    subsets = sum(comb(len(view.quasi), size) for size in range(1, known + 1))
    if subsets * len(view.rows) > MOST_STEPS:
        yield Idle(None, f"{len(view.quasi)} quasi-identifiers have {subsets} subsets of up to {known}, too "
            "many to look at; name a smaller number with --known",
        )  # fmt: skip
        return
    ones = np.arange(1, len(view.rows) + 1)
    sizes = [len(texts) for texts in view.labels]
    fewest = np.full(len(view.rows), view.total, np.int64)
    found: list[dict[str, Any]] = []
    by_size: list[int] = []
    unique = np.zeros(len(view.rows), np.bool_)
    telling = np.full(view.tuples.shape, -1, np.int32)  # the labels that single a row out, as a predicate
    for size in range(1, known + 1):
        for chosen in combinations(range(len(view.quasi)), size):
            codes = np.ascontiguousarray(view.tuples[:, chosen])
            _, rows, _, owner = grouped(codes, view.rows, ones, [sizes[column] for column in chosen])
            equal = rows[owner]
            fewest = np.minimum(fewest, equal)
            new = (equal == 1) & ~unique
            telling[np.ix_(new, chosen)] = view.tuples[np.ix_(new, chosen)]
            unique |= new
            found.append({"columns": [view.quasi[c] for c in chosen], "unique_rows": int((rows == 1).sum())})
        by_size.append(int(unique.sum()))
    worst = sorted((one for one in found if one["unique_rows"]), key=lambda one: -one["unique_rows"])[:SUBSETS_SHOWN]
    alone = fewest == 1
    count = int(view.rows[alone].sum())
    weakest = f"; {worst[0]['unique_rows']} by {', '.join(worst[0]['columns'])}" if worst else ""
    yield Outcome(
        None, view.rows, np.full(len(view.rows), 1 / max(1, view.total)), 1 / np.maximum(1, fewest),
        alone, view.first[view.class_of], "published",
        f"{count} of {view.total} rows are unique on some {known} of {len(view.quasi)} quasi-identifiers{weakest}",
        {"known": known, "subsets": subsets, "unique_rows_by_size": by_size, "worst_subsets": worst,
         "fewest_equal_rows": int(fewest.min(initial=view.total))},
        lambda kind: f"row {view.first[view.class_of[kind]]}: {fewest[kind]} rows are equal on some {known} columns",
        contrast=_contrast(context, telling, alone),
    )  # fmt: skip


def _contrast(context: AttackContext, telling: NDArray[np.int32], unique: NDArray[np.bool_]) -> Contrast | None:
    """Ask what singles out a row about the persons of the original, and about as many held out."""
    original, control, view = context.original, context.control, context.view
    if original is None or control is None:
        return None
    if any(name not in table.columns for table in (original, control) for name in view.quasi):
        return None
    rng, size = np.random.default_rng(0), min(original.total, control.total, MOST_PERSONS)
    groups = [drawn(table.select(view.quasi), size, rng) for table in (original, control)]
    return contrasts_of(
        context, view, telling[unique], view.rows[unique], groups, rest=int(view.rows[~unique].sum())
    )  # fmt: skip


ATTACK = Attack(
    uniqueness,
    supposes="knows the published labels of a few quasi-identifiers of a person, those that serve him best",
    bounded_by=(KAnonymity, MuArgus),
    of_the_file=True,
    needs={},
    options=("known", "control"),
)
