"""The population table that some models ask for: read, counted over the codes of the table, covered by labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError, PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.hierarchies import build_hierarchy
from indistinct.tables.count import count, translation
from indistinct.tables.order import lexicographic_order, numbered_rows
from indistinct.tables.records import CoveredPopulation, Detail, Population, Recoding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import TableOptions
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.hierarchies.labels import Reader
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bind = Callable[[str, Sequence[str | None]], Hierarchy]


@dataclass(frozen=True)
class PopulationTable:
    """Distinct rows of a population: ``codes`` int32[p, d] into ``texts`` (one tuple for each column), ``rows``."""

    name: str
    texts: tuple[tuple[str | None, ...], ...] = field(repr=False)
    codes: Int32 = field(repr=False)
    rows: Int64 = field(repr=False)

    def widened(self, bind: Bind, quasi: Sequence[str]) -> Bind:
        """Let hierarchies hold the values of the population too, so that both are recoded alike."""
        own = dict(zip(quasi, self.texts, strict=True))

        def wider(name: str, texts: Sequence[str | None]) -> Hierarchy:
            return bind(name, list(dict.fromkeys([*texts, *own.get(name, ())])))

        return wider

    def coded(self, quasi: Sequence[Hierarchy]) -> Population:
        """Count the population over the codes of hierarchies that hold its values."""
        columns = [
            translation(texts, h)[self.codes[:, a]] for a, (texts, h) in enumerate(zip(self.texts, quasi, strict=True))
        ]
        codes = np.column_stack(columns).astype(np.int32)
        order = lexicographic_order(codes, [hierarchy.size for hierarchy in quasi])
        return Population(np.ascontiguousarray(codes[order]), self.rows[order])


def population_of(policy: Policy, quasi: Sequence[str], options: TableOptions) -> PopulationTable | None:
    """Read the population that the models of a policy name; None where none does.

    Raises PolicyError when they name several, SchemaError when a quasi-identifier is not in it.
    """
    files = (getattr(model, "population", None) for model in policy.privacy)
    named = sorted({str(file) for file in files if file is not None})
    if not named:
        return None
    if len(named) > 1:
        raise PolicyError(f"the models name {len(named)} populations ({', '.join(named)}); name one", key="privacy")
    source = open_source(policy.locate(named[0]), options)
    for name in quasi:
        if name not in source.columns:
            raise SchemaError.unknown_column(name, source.columns, file=source.name)
    found = count(source, list(quasi), [], lambda name, texts: build_hierarchy(name, texts, spec=None)).frequencies
    return PopulationTable(source.name, tuple(h.texts for h in found.quasi), found.tuples, found.tuple_rows)


def require_sample(frequencies: Frequencies, name: str) -> None:
    """Raise DataError unless every row of the table is in its population, as often as in the table."""
    population = frequencies.population
    if population is None:
        return
    both = np.concatenate([frequencies.tuples, population.tuples])
    first, group = numbered_rows(both, [hierarchy.size for hierarchy in frequencies.quasi])
    members = np.zeros(len(first), np.int64)
    ours = len(frequencies.tuples)
    np.add.at(members, group[ours:], population.rows)
    shortfall = np.maximum(frequencies.tuple_rows - members[group[:ours]], 0)
    if shortfall.any():
        raise DataError(
            f"{int(shortfall.sum())} of {frequencies.total} rows of the table are not in the population {name} with the"
            " same quasi-identifiers; the population must contain the table",
            file=name,
        )


def population_of_labels(
    population: Population, columns: Sequence[tuple[Sequence[str | None], NDArray[np.int64]]], readers: Sequence[Reader]
) -> CoveredPopulation:
    """Count the population that published labels cover; ``columns``: the labels, and which of them each class has.

    A column that is not published has no labels and covers everybody. Costs classes times population tuples.
    """
    tables = [
        np.stack([reader.covers(text) for text in texts]) for (texts, _), reader in zip(columns, readers, strict=True)
    ]
    first_labels, first_of = columns[0]
    near = [np.flatnonzero(tables[0][label][population.tuples[:, 0]]) for label in range(len(first_labels))]
    rows = np.zeros(len(first_of), np.int64)
    seen = np.zeros(len(population.rows), np.bool_)
    for number in range(len(rows)):
        inside = near[first_of[number]]
        for position in range(1, len(columns)):
            label = columns[position][1][number]
            inside = inside[tables[position][label][population.tuples[inside, position]]]
        rows[number] = population.rows[inside].sum()
        seen[inside] = True
    return CoveredPopulation(rows, int(population.rows[~seen].sum()), int(population.rows.sum()))


def detail_of_labels(
    columns: Sequence[tuple[Sequence[str | None], NDArray[np.int64]]], readers: Sequence[Reader]
) -> Detail:
    """Count the original values that published labels cover."""
    covered = []
    for (texts, label_of), reader in zip(columns, readers, strict=True):
        counts = np.array([max(1, int(reader.covers(text).sum())) for text in texts], np.int64)
        covered.append(counts[label_of])
    return Detail(np.column_stack(covered), np.array([len(reader.texts) for reader in readers], np.int64))


def recoding_of_labels(
    quasi: Sequence[Hierarchy],
    columns: Sequence[tuple[Sequence[str | None], NDArray[np.int64]]],
    readers: Sequence[Reader],
) -> Recoding | None:
    """Find the level of each column at which every label is a node; None where a column has no such level."""
    levels, lo, hi = [], [], []
    for hierarchy, (texts, label_of), reader in zip(quasi, columns, readers, strict=True):
        covered = [np.flatnonzero(reader.covers(texts[label])) for label in np.unique(label_of).tolist()]
        level = next((n for n in range(hierarchy.height + 1) if _are_nodes(hierarchy, n, covered)), None)
        if level is None:
            return None
        levels.append(level)
        ends = np.zeros((len(texts), 2), np.int32)
        for label, codes in zip(np.unique(label_of).tolist(), covered, strict=True):
            ends[label] = codes[0], codes[-1]
        lo.append(ends[label_of, 0])
        hi.append(ends[label_of, 1])
    return Recoding(tuple(quasi), np.column_stack(lo), np.column_stack(hi), tuple(levels))


def _are_nodes(hierarchy: Hierarchy, level: int, covered: Sequence[NDArray[np.int64]]) -> bool:
    """Whether each set of codes is exactly one node of a level."""
    node_of = hierarchy.levels[level].node_of
    sizes = np.bincount(node_of)
    return all(
        len(codes) > 0 and len(codes) == sizes[node_of[codes[0]]] and bool((node_of[codes] == node_of[codes[0]]).all())
        for codes in covered
    )
