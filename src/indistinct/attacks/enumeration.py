"""Enumeration: the program is run over every table that a small release allows, and those that give it remain.

Unknown is how many rows of each group of equal quasi-identifiers have each value (``margins``). What remains, by
weight, is all that somebody can believe who knows the program and the groups: belief in (person of g, v) is the
weighted mean of ``c_gv / n_g``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from indistinct.attacks.margins import allowed, number, weight
from indistinct.attacks.matching import matches
from indistinct.attacks.rerun import decided, prepared_for, tuples_of, unrepeatable
from indistinct.formats.registry import open_source
from indistinct.policy.recoding import option
from indistinct.session.prepare import modelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.margins import Column
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive
    from indistinct.session.prepare import Prepared

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

MOST_RUNS = 1_024
MOST_LISTED = 20_000
MOST_ROWS = 200


@dataclass(frozen=True)
class Believed:
    """What remains to be believed: ``belief`` and ``shown`` float64[p, m] for the distinct persons and the values.

    ``shown``: the largest share of the value in a class that covers the person, what the file says without the program.
    ``tables`` have the margins, of ``feasible`` that the classes allow ``run`` were run and ``left`` give the file.
    """

    people: Tabulated
    sensitive: Sensitive
    belief: Float64 = field(repr=False)
    shown: Float64 = field(repr=False)
    tables: int
    feasible: int
    run: int
    left: int

    @property
    def certain(self) -> NDArray[np.bool_]:
        """bool[p, m]: beliefs that are 1, where no class says 0.95 or more."""
        found: NDArray[np.bool_] = (self.belief > 1 - 1e-12) & (self.shown < 0.95)
        return found


def enumerated(context: AttackContext, table: Tabulated) -> Believed | str:
    """Run the program over all tables that a release allows; a sentence where that is not done."""
    why, view = next(_obstacles(context, table), None), context.view
    if why is not None:
        return why
    people = table.select(view.quasi)
    sensitive = view.sensitive[modelled(context.policy)[0]]
    prepared = _prepared(context, table, sensitive)
    if isinstance(prepared, str):
        return prepared
    counts = np.bincount(sensitive.histogram.value, weights=sensitive.histogram.count).astype(np.int64)
    present = np.flatnonzero(counts)
    frequencies = prepared.counted.frequencies
    sizes = frequencies.tuple_rows.tolist()
    total = number(sizes, counts[present].tolist())
    if total is None:
        return "more tables have these margins than can be counted"
    covers: list[list[int]] = [[] for _ in sizes]
    of = tuples_of(frequencies, people)
    for block in matches(context, view, people, unknown=False):
        for person, place in zip(block.of.tolist(), block.tuples.tolist(), strict=True):
            covers[of[person]].append(place)
    shown = np.zeros((len(present), len(view.rows)), np.int64)
    value_of = np.full(len(counts), -1, np.int64)
    value_of[present] = np.arange(len(present))
    shown[value_of[sensitive.histogram.value], sensitive.owner] = sensitive.histogram.count
    tables = list(islice(allowed(sizes, counts[present].tolist(), covers, shown.tolist()), MOST_LISTED + 1))
    if len(tables) > MOST_LISTED:
        return f"the classes allow more than {MOST_LISTED} tables"
    weights = [weight(sizes, one) for one in tables]
    chosen = _chosen(weights)
    left = [one for one in chosen if _gives(context, prepared, sensitive, present, tables[one])]
    if not left:
        return f"none of the {len(chosen)} tables that were run gives this file"
    share = np.array([weights[one] for one in left], object)
    beliefs = np.array([np.column_stack(tables[one]) for one in left], object)
    belief = ((beliefs * share[:, None, None]).sum(axis=0) / share.sum() / np.array(sizes)[:, None]).astype(np.float64)
    largest = np.array([
        (shown[:, own] / view.rows[own]).max(axis=1) if own else np.zeros(len(present)) for own in covers
    ])  # fmt: skip
    wide = np.zeros((2, len(people.rows), len(sensitive.texts)))
    wide[0][:, present], wide[1][:, present] = belief[of], largest[of]
    return Believed(people, sensitive, wide[0], wide[1], total, len(tables), len(chosen), len(left))


def _obstacles(context: AttackContext, table: Tabulated) -> Iterator[str]:
    policy, names = context.policy, modelled(context.policy)
    if not context.knows_program:
        yield "the attacker does not know the program"
    if why := unrepeatable(policy):
        yield why
    if option(policy.recoding, "target") is not None or len(names) != 1 or names[0] not in context.view.sensitive:
        yield "enumeration looks at one modelled sensitive column"
    if policy.person is not None:
        yield "persons may have several rows"
    if getattr(policy.recoding, "key_file", None) or getattr(policy.recoding, "key_env", None):
        yield "the recoding takes its coins from a key that the attacker lacks"
    if table.total != context.view.total:
        yield f"the values of {table.total - context.view.total} rows are not published"
    if table.total > MOST_ROWS:
        yield f"more than {MOST_ROWS} rows"


def _prepared(context: AttackContext, table: Tabulated, sensitive: Sensitive) -> Prepared | str:
    """Count everybody's quasi-identifiers with the published values in any order."""
    batches = list(table.source.batches(context.view.quasi))
    texts = np.repeat(sensitive.histogram.value, sensitive.histogram.count).tolist()
    column = pa.array([sensitive.texts[value] for value in texts], pa.string())
    given = pa.Table.from_batches(batches).append_column(sensitive.attribute, column)
    return prepared_for(open_source(given), context.policy)


def _chosen(weights: Sequence[int]) -> list[int]:
    """Choose the tables that are run: all, or as many as are allowed, drawn by weight (the same ones every time)."""
    if len(weights) <= MOST_RUNS:
        return list(range(len(weights)))
    shares = np.array(weights, object) / sum(weights)
    drawn = np.random.default_rng(0).choice(len(weights), MOST_RUNS, p=shares.astype(np.float64))
    return list(map(int, np.unique(drawn)))


def _gives(
    context: AttackContext, prepared: Prepared, sensitive: Sensitive, present: Int64, table: Sequence[Column]
) -> bool:
    """Whether the program gives the release from a table."""
    frequencies = prepared.counted.frequencies
    code = frequencies.sensitive[0].codes()
    values = np.array([code[sensitive.texts[value]] for value in present.tolist()], np.int32)
    cells = np.column_stack(table)
    order = np.argsort(values)
    tuple_of, place = np.nonzero(cells[:, order])
    codes = np.column_stack([frequencies.tuples[tuple_of], values[order][place]])
    start = np.searchsorted(tuple_of, np.arange(len(cells) + 1)).astype(np.int64)
    rows = cells[:, order][tuple_of, place].astype(np.int64)
    changed = replace(frequencies, codes=np.ascontiguousarray(codes, np.int32), rows=rows, start=start)
    found = decided(replace(prepared, counted=replace(prepared.counted, frequencies=changed)))
    return not isinstance(found, str) and found.gives(context.view)
