"""A release as anybody sees it: labels, rows, classes and the values that classes hold.

Symbols: ``u`` distinct published label tuples, ``g`` classes (those tuples; in a two-table release the groups), ``m``
values of a sensitive attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import form_of
from indistinct.attacks.tabulate import Tabulated, grouped, options_of, tabulate
from indistinct.decision.decide import grouped_attribute
from indistinct.errors import DataError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.tables.classes import joint_counts
from indistinct.tables.records import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.policy import Policy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

GROUP, COUNT = "group", "count"


@dataclass(frozen=True)
class Sensitive:
    """One sensitive attribute of a release: ``histogram`` over the classes, ``prior`` int64[m] over everybody.

    ``texts`` are the m values. The prior is that of the original where it is known, else that of the release.
    """

    attribute: str
    texts: list[str | None] = field(repr=False)
    histogram: Histogram = field(repr=False)
    prior: Int64 = field(repr=False)

    @property
    def owner(self) -> Int32:
        """int32[.]: the class of each entry of the histogram."""
        return np.repeat(np.arange(len(self.histogram.start) - 1, dtype=np.int32), np.diff(self.histogram.start))

    @property
    def distinct(self) -> Int64:
        """int64[g]: how many values each class has."""
        return np.diff(self.histogram.start)

    def sole(self) -> Int64:
        """int64[g]: the one value of each class, -1 where it has several."""
        value = self.histogram.value[self.histogram.start[:-1]].astype(np.int64)
        return np.where(self.distinct == 1, value, -1)


@dataclass(frozen=True)
class View:
    """A release as anybody sees it.

    ``labels`` the published texts of each quasi-identifier; ``tuples`` int32[u, d] their distinct combinations (in a
    two-table release: with the group); ``rows`` int64[u]; ``class_of`` int32[u]; ``sizes`` int64[g] rows of each class;
    ``first`` int64[g] the data row (from 1) in which a class is first seen. ``source`` is the (first) table.
    ``in_groups``: quasi-identifiers and values are tied by groups only, in ``tables`` 2, or 1 that permutes values.
    """

    quasi: tuple[str, ...]
    labels: tuple[list[str | None], ...] = field(repr=False)
    tuples: Int32 = field(repr=False)
    rows: Int64 = field(repr=False)
    class_of: Int32 = field(repr=False)
    sizes: Int64 = field(repr=False)
    first: Int64 = field(repr=False)
    sensitive: Mapping[str, Sensitive] = field(repr=False)
    source: Source = field(repr=False)
    typed: frozenset[str] = frozenset()
    in_groups: bool = False
    tables: int = 1

    @property
    def total(self) -> int:
        """Number of published rows."""
        return int(self.rows.sum())

    def label(self, number: int) -> str:
        """Write the labels of the first tuple of a class, for the console."""
        codes = self.tuples[int(np.flatnonzero(self.class_of == number)[0])]
        cells = zip(self.quasi, self.labels, codes.tolist(), strict=True)
        return ", ".join(f"{name} {'missing' if texts[code] is None else texts[code]}" for name, texts, code in cells)


def view_of(table: Any, policy: Policy, *, second: Any = None, prior: Tabulated | None = None, **reading: Any) -> View:
    """Read a release of one table, or of two (quasi-identifiers with ``group``; ``group``, sensitive value, ``count``).

    Quasi-identifiers and sensitive attributes are those of the policy that the release has.

    Raises SchemaError when it has no quasi-identifier.
    """
    options = options_of(policy, **reading)
    columns = open_source(table, options).columns
    quasi = [name for name in policy.quasi_identifiers if name in columns]
    if not quasi:
        names = ", ".join(policy.quasi_identifiers)
        raise SchemaError(
            f"the published table has none of the quasi-identifiers ({names}); it has {', '.join(columns)}"
        )
    if second is not None:
        return _two_tables(table, second, policy, quasi, prior, options)
    sensitive = [name for name in policy.sensitive_attributes if name in columns]
    if GROUP in columns and form_of(policy) == "permuted":
        sensitive = [grouped_attribute(policy)]
        values = tabulate(table, [GROUP, *sensitive], options)
        return _in_groups(tabulate(table, [*quasi, GROUP], options), values, values.rows, sensitive, prior, tables=1)
    found = tabulate(table, [*quasi, *sensitive], options)
    d = len(quasi)
    sizes = [len(texts) for texts in found.texts[:d]]
    tuples, rows, first, owner = grouped(found.codes[:, :d], found.rows, found.first, sizes)
    class_of = np.arange(len(tuples), dtype=np.int32)
    attributes = {}
    for position, name in enumerate(sensitive, d):
        texts, codes = found.texts[position], np.ascontiguousarray(found.codes[:, position])
        attributes[name] = _sensitive(name, texts, owner.astype(np.int32), codes, found.rows, len(tuples), prior)
    return View(
        tuple(quasi), found.texts[:d], tuples, rows, class_of, rows, first, attributes, found.source, found.typed
    )


def _two_tables(
    table: Any, second: Any, policy: Policy, quasi: list[str], prior: Tabulated | None, options: Any
) -> View:
    found = tabulate(table, [*quasi, GROUP], options)
    columns = open_source(second, options).columns
    sensitive = [name for name in policy.sensitive_attributes if name in columns]
    if not sensitive or COUNT not in columns:
        has = ", ".join(columns)
        raise SchemaError(f'the second table needs the columns "{GROUP}", "{COUNT}" and a sensitive one; it has {has}')
    values = tabulate(second, [GROUP, *sensitive, COUNT], options)
    numbers, which = values.column(COUNT)
    if not all(number is not None and number.isascii() and number.isdigit() for number in numbers):
        raise DataError(
            f'the column "{COUNT}" of the second table holds something that is no whole number', column=COUNT
        )
    times = np.array([int(number or 0) for number in numbers], np.int64)[which] * values.rows
    return _in_groups(found, values, times, sensitive, prior, tables=2)


def _in_groups(
    found: Tabulated, values: Tabulated, times: Int64, sensitive: Sequence[str], prior: Tabulated | None, *, tables: int
) -> View:
    """Tie quasi-identifiers and values by their groups; ``times`` int64[.] counts each row of ``values``."""
    quasi = found.columns[:-1]
    groups: dict[str | None, int] = {text: number for number, text in enumerate(found.texts[-1])}
    texts, codes = values.column(GROUP)
    strange = [text for text in texts if text not in groups]
    if strange:
        raise DataError(
            f"{len(strange)} groups of the second table do not occur in the first; do they belong together?"
        )
    owner = np.array([groups[text] for text in texts], np.int32)[codes]
    sizes = np.zeros(len(groups), np.int64)
    np.add.at(sizes, owner, times)
    class_of = np.ascontiguousarray(found.codes[:, -1])
    rows = np.zeros(len(groups), np.int64)
    np.add.at(rows, class_of, found.rows)
    if not np.array_equal(rows, sizes):
        bad = int((rows != sizes).sum())
        raise DataError(f"in {bad} groups the two tables have different numbers of rows; do they belong together?")
    first = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(first, class_of, found.first)
    attributes = {
        name: _sensitive(name, values.column(name)[0], owner, values.column(name)[1], times, len(groups), prior)
        for name in sensitive
    }
    return View(
        tuple(quasi), found.texts[:-1], np.ascontiguousarray(found.codes[:, :-1]), found.rows, class_of, rows, first,
        attributes, found.source, found.typed, in_groups=True, tables=tables,
    )  # fmt: skip


def _sensitive(
    name: str,
    texts: list[str | None],
    owner: Int32,
    codes: Int32,
    rows: Int64,
    classes: int,
    prior: Tabulated | None,
) -> Sensitive:
    counts = np.zeros(len(texts), np.int64)
    np.add.at(counts, codes, rows)
    if prior is not None and name in prior.columns:
        known, which = prior.column(name)
        number = {text: place for place, text in enumerate(texts)}
        texts = [*texts, *(text for text in known if text not in number)]
        number = {text: place for place, text in enumerate(texts)}
        before = np.zeros(len(texts), np.int64)
        np.add.at(before, np.array([number[text] for text in known], np.int64)[which], prior.rows)
        # a release that holds values the original lacks is no release of it: then its own counts are the better prior
        counts = before if (before[: len(counts)] >= np.minimum(counts, 1)).all() else np.append(
            counts, np.zeros(len(texts) - len(counts), np.int64))  # fmt: skip
    own, value, count = joint_counts(owner, codes.reshape(-1, 1), rows, classes, [len(texts)])
    start = np.searchsorted(own, np.arange(classes + 1)).astype(np.int64)
    return Sensitive(name, texts, Histogram(start, np.ascontiguousarray(value[:, 0]), count), counts)
