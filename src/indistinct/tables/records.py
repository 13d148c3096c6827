"""The records that move through the house: what was counted, how it was grouped, what is published.

Symbols: n rows; ``c`` cells; ``u`` distinct quasi-identifier tuples; ``d`` quasi-identifiers; ``g`` classes; a
*cell* is one distinct combination of quasi-identifier codes and of the codes of all modelled sensitive attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.tables.order import numbered, numbered_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.notices import Sentence

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

SUPPRESSED = -1


@dataclass(frozen=True, slots=True)
class Reference:
    """Distribution of one sensitive attribute over the whole input, before any suppression.

    ``counts`` is int64[m] over the codes of the attribute (all of them occur unless the reference was taken from
    another table); ``total`` is the number of rows. ``missing_at`` says where a missing value stands in the order
    of the ordered distance: ``first``, ``last`` or "" (that distance refuses it). With a person key the shares of
    persons are ``person_counts`` (int64[m], or Python integers) of ``person_total``; None where they are those of the
    rows.
    """

    hierarchy: Hierarchy
    counts: Int64
    total: int
    missing_at: str = ""
    person_counts: NDArray[Any] | None = None
    person_total: int = 0

    def of_persons(self) -> Reference:
        """Return the distribution in which each person weighs 1, spread over the values of their rows."""
        if self.person_counts is None:
            return self
        return replace(self, counts=self.person_counts, total=self.person_total, person_counts=None)


@dataclass(frozen=True)
class Persons:
    """Who stands behind the rows.

    ``single`` int64[u]: persons all of whose rows lie in this tuple. ``start`` int64[u + 1] and ``ids`` int32[.]:
    for each tuple the persons who also have rows in other tuples, as numbers 0..``spanning``-1. ``total`` persons.
    ``cell`` int32[e], ``person`` int32[e] and ``rows`` int64[e]: who has how many rows of which cell, each pair once,
    by cell. ``several``: whether somebody in the whole input has more than one row.
    """

    single: Int64
    start: Int64
    ids: Int32
    spanning: int
    total: int
    cell: Int32
    person: Int32
    rows: Int64
    several: bool


@dataclass(frozen=True)
class Population:
    """A table that contains the table, counted over the same codes: ``tuples`` int32[p, d] and ``rows`` int64[p]."""

    tuples: Int32
    rows: Int64


@dataclass(frozen=True)
class CoveredPopulation:
    """What the labels of classes cover of a population.

    ``rows`` int64[g]: its rows by class; ``outside``: its rows that no class covers; ``total``: all of them. Where
    classes overlap a row counts for each of them, and the sum is above the total.
    """

    rows: Int64
    outside: int
    total: int


@dataclass(frozen=True)
class Detail:
    """How much of each domain the cells of classes cover: ``covered`` int64[g, d] >= 1 of ``sizes`` int64[d] values."""

    covered: Int64
    sizes: Int64


@dataclass(frozen=True)
class Signatures:
    """What earlier releases told of the persons: the *signature* of a person, the sensitive values of their group.

    ``of_cell`` int32[c]: the signature of the persons of each cell, -1 for newcomers. Signature i is
    ``value[start[i]:start[i + 1]]``, codes in ascending order: ``start`` int64[s + 1], ``value`` int32[.]. ``releases``
    names those that were looked at.
    """

    of_cell: Int32
    start: Int64
    value: Int32
    releases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frequencies:
    """A table, counted: all that an algorithm may look at.

    ``codes`` int32[c, d + s]: quasi-identifiers first (policy order), then the modelled sensitive attributes; rows
    are sorted lexicographically, so the cells of one tuple are neighbours. ``rows`` int64[c] >= 1. ``start``
    int64[u + 1]: cells of tuple i are ``start[i]:start[i + 1]``. ``quasi`` and ``sensitive`` name the columns of
    ``codes`` in order. With ``persons``, sizes count distinct persons and a tuple must go to one class whole.
    ``population`` is there where a model asks for one; ``detailed``: a model asks what the cells of classes cover;
    ``nested``: a model asks for the levels of the classes. ``signatures`` is there where a model asks what earlier
    releases told; then cells of equal codes and different signatures stand side by side.
    """

    quasi: tuple[Hierarchy, ...]
    sensitive: tuple[Hierarchy, ...]
    codes: Int32
    rows: Int64
    start: Int64
    references: Mapping[str, Reference]
    persons: Persons | None = None
    population: Population | None = None
    detailed: bool = False
    nested: bool = False
    signatures: Signatures | None = None

    @property
    def total(self) -> int:
        """Number of rows of the table."""
        return int(self.rows.sum())

    @property
    def is_spread(self) -> bool:
        """Whether somebody has rows in several tuples: then classes may share persons."""
        return self.persons is not None and self.persons.spanning > 0

    @property
    def weighs_persons(self) -> bool:
        """Whether shares of persons may differ from those of rows."""
        return self.persons is not None and (
            self.persons.several or any(own.person_counts is not None for own in self.references.values())
        )

    @cached_property
    def tuples(self) -> Int32:
        """int32[u, d]: the distinct quasi-identifier tuples, sorted."""
        return np.ascontiguousarray(self.codes[self.start[:-1], : len(self.quasi)])

    @cached_property
    def tuple_rows(self) -> Int64:
        """int64[u]: number of rows of each tuple."""
        return np.add.reduceat(self.rows, self.start[:-1]) if len(self.rows) else np.zeros(0, np.int64)

    @cached_property
    def tuple_of(self) -> Int32:
        """int32[c]: the tuple of each cell."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))

    def sensitive_codes(self, attribute: str) -> Int32:
        """int32[c]: code of a sensitive attribute in each cell."""
        names = [hierarchy.attribute for hierarchy in self.sensitive]
        return np.ascontiguousarray(self.codes[:, len(self.quasi) + names.index(attribute)])


@dataclass(frozen=True)
class Assignment:
    """Which class the rows of each cell go to: ``count[i]`` rows of ``cell[i]`` go to ``class_of[i]``.

    Classes are 0..``classes``-1, each non-empty; ``SUPPRESSED`` (-1) means dropped. Every cell's counts add up to its
    rows. ``levels`` (one per quasi-identifier) is set by full-domain algorithms: then a class is published by its
    nodes at these levels instead of by its smallest box. ``boxes`` int32[g, d, 2] is set by algorithms that publish
    wider boxes than that: smallest and largest code of each class and quasi-identifier. ``notes`` are sentences about
    the search for people; ``proven`` is False for a best-effort search that stopped early.

    An algorithm that cuts the link between quasi-identifiers and sensitive values also sets ``group_of``: those rows
    of the cell go to a group 0..``groups``-1 (-1 where the class is -1), which is published beside the class, and the
    sensitive values are published by group. ``reasons`` counts the suppressed rows by a word that tells no value.
    ``counterfeits`` int32[., 2]: class and sensitive code of the rows of nobody that an algorithm adds.
    """

    cell: Int32
    count: Int64
    class_of: Int32
    classes: int
    levels: tuple[int, ...] | None = None
    notes: tuple[Sentence, ...] = ()
    proven: bool | None = None
    boxes: Int32 | None = None
    group_of: Int32 | None = None
    groups: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    counterfeits: Int32 | None = None

    @classmethod
    def of_tuples(
        cls,
        frequencies: Frequencies,
        class_of_tuple: Int32,
        levels: tuple[int, ...] | None = None,
        notes: tuple[Sentence, ...] = (),
        *,
        proven: bool | None = None,
    ) -> Assignment:
        """Send every tuple whole to the class given for it (-1 suppresses); classes are renumbered by first tuple."""
        classes, first, inverse = np.unique(class_of_tuple, return_index=True, return_inverse=True)
        rank = np.empty(len(classes), np.int32)
        order = np.argsort(first, kind="stable")
        order = order[classes[order] != SUPPRESSED]
        rank[classes == SUPPRESSED] = SUPPRESSED
        rank[order] = np.arange(len(order), dtype=np.int32)
        class_of = rank[inverse.reshape(-1)][frequencies.tuple_of]
        cells = np.arange(len(frequencies.rows), dtype=np.int32)
        return cls(cells, frequencies.rows, class_of.astype(np.int32), len(order), levels, notes, proven)


@dataclass(frozen=True)
class Histogram:
    """Sparse counts of one attribute: ``count[i]`` rows of class j have ``value[i]``, i in ``start[j]:start[j + 1]``.

    ``start`` int64[g + 1], ``value`` int32[.] ascending within a class, ``count`` int64[.] >= 1.
    """

    start: Int64
    value: Int32
    count: Int64


@dataclass(frozen=True)
class ItemSets:
    """Sets of items of classes: those of class j are ``item[start[j]:start[j + 1]]``, ascending, of ``items`` in all.

    ``start`` int64[g + 1], ``item`` int32[.].
    """

    start: Int64
    item: Int32
    items: int


@dataclass(frozen=True)
class Holdings:
    """Who has which rows of classes.

    ``rows[i]`` >= 1 rows of ``person[i]`` in class ``owner[i]`` have the sensitive values ``codes[i]``: ``owner``
    int64[h], ``person`` int64[h], ``codes`` int32[h, s], ``rows`` int64[h], sorted by class and person.
    """

    owner: Int64
    person: Int64
    codes: Int32
    rows: Int64

    @classmethod
    def sort(cls, owner: Int64, person: Int64, codes: Int32, rows: Int64) -> Holdings:
        """Bring entries in any order into that of the record."""
        order = np.argsort(owner * (int(person.max(initial=0)) + 1) + person, kind="stable")
        return cls(owner[order], person[order], codes[order], rows[order])


@dataclass(frozen=True)
class Classes:
    """A partition of the released rows: what the models look at.

    ``rows`` int64[g] >= 1; ``persons`` int64[g] or None: distinct persons; ``histograms`` by sensitive attribute.
    ``cell_class`` int32[.], ``cell_codes`` int32[., s] and ``cell_rows`` int64[.]: the joint counts of all sensitive
    attributes by class (columns in the order of ``sensitive``), sorted by class; joint models read them. ``sets`` by
    set-valued column, where an audit asks for them. ``holdings`` are there where shares of persons may differ from
    those of rows. ``most_rows`` int64[p] is there instead where a file does not say whose a row is: the rows of the
    first 1, 2, ... persons, those with most rows first. ``unit`` is what the histograms count.
    """

    rows: Int64
    persons: Int64 | None
    sensitive: tuple[str, ...]
    histograms: Mapping[str, Histogram]
    cell_class: Int32
    cell_codes: Int32
    cell_rows: Int64
    population: CoveredPopulation | None = None
    detail: Detail | None = None
    recoding: Recoding | None = None
    sets: Mapping[str, ItemSets] = field(default_factory=dict)
    holdings: Holdings | None = field(default=None, repr=False)
    most_rows: Int64 | None = None
    unit: str = "rows"
    weighed: dict[str, Classes] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def sizes(self) -> Int64:
        """int64[g]: what size conditions count, persons when there is a person key, else rows."""
        return self.rows if self.persons is None else self.persons

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.rows)


@dataclass(frozen=True)
class Recoding:
    """How classes are published.

    ``lo`` and ``hi`` int32[g, d]: smallest and largest code of each class and quasi-identifier. With ``levels`` (full
    domain) the label is that of the node at the level, otherwise that of the smallest box (``Hierarchy.label``).
    ``held`` int32[g, w], by number of quasi-identifier: the values of each class of a column of sets, one bit each
    (``kernels.boxes``); without levels and given boxes only. ``aggregates`` replace the labels where a release
    publishes means, medians or modes: for each quasi-identifier the texts, and int64[g] which of them each class has.
    """

    quasi: tuple[Hierarchy, ...] = field(repr=False)  # original values must not be printed by accident
    lo: Int32 = field(repr=False)
    hi: Int32 = field(repr=False)
    levels: tuple[int, ...] | None = None
    aggregates: tuple[tuple[tuple[str | None, ...], Int64], ...] | None = field(default=None, repr=False)
    held: Mapping[int, Int32] = field(default_factory=dict, repr=False)
    _boxes: dict[int, tuple[Int64, Int64, Int64]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _labels: dict[int, tuple[list[str | None], Int64]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def boxes(self, position: int) -> tuple[Int64, Int64, Int64]:
        """Return the distinct boxes of a quasi-identifier, by ``lo`` and ``hi`` ascending, and int64[g] each class's.

        Where classes hold sets, boxes of different values are different. They are found once: losses, labels and the
        reading of published files ask for them.
        """
        if position not in self._boxes and position in self.held:
            from indistinct.kernels.boxes import BITS

            words = np.column_stack([self.lo[:, position], self.hi[:, position], self.held[position]])
            size = self.quasi[position].size
            first, number = numbered_rows(words, [size, size, *[1 << BITS] * (words.shape[1] - 2)])
            lo, hi = (ends[first, position].astype(np.int64) for ends in (self.lo, self.hi))
            self._boxes[position] = lo, hi, number.astype(np.int64)
        elif position not in self._boxes:
            size = self.quasi[position].size
            keys = self.lo[:, position].astype(np.int64) * size + self.hi[:, position]
            distinct, box_of = numbered(keys, size * size)
            self._boxes[position] = distinct // size, distinct % size, box_of
        return self._boxes[position]

    def values(self, position: int) -> NDArray[np.bool_]:
        """bool[boxes, values]: which values the classes of each box hold, for a quasi-identifier with ``held``."""
        from indistinct.kernels.boxes import BITS

        box_of = self.boxes(position)[2]
        first = np.zeros(int(box_of.max(initial=-1)) + 1, np.int64)
        first[box_of] = np.arange(len(box_of))
        code = np.arange(self.quasi[position].size)
        return (self.held[position][first][:, code // BITS] >> (code % BITS) & 1).astype(np.bool_)

    def listed(self, position: int) -> Int64:
        """int64[boxes]: how many values the published set of each box lists; 0 where a node is published."""
        lo, hi, _ = self.boxes(position)
        hierarchy = self.quasi[position]
        if position not in self.held or hierarchy.sets is None:
            return np.zeros(len(lo), np.int64)
        number = self.values(position).sum(axis=1)
        few = (number > 1) & (number <= hierarchy.sets.most) & ((hi != hierarchy.missing) | (hierarchy.missing < 0))
        return np.where(few, number, 0)

    def labels(self, position: int) -> tuple[list[str | None], Int64]:
        """Published texts in quasi-identifier number ``position``, each once, and which of them each class has.

        The second is int64[g]; None is a missing value. They are written once, because many ask.
        """
        if position not in self._labels:
            self._labels[position] = self._written(position)
        return self._labels[position]

    def _written(self, position: int) -> tuple[list[str | None], Int64]:
        if self.aggregates is not None:
            given, class_text = self.aggregates[position]
            return list(given), class_text
        hierarchy = self.quasi[position]
        level = 0 if self.levels is None else self.levels[position]
        texts: dict[str | None, int] = {}
        if level:
            nodes, place = numbered(
                hierarchy.levels[level].node_of[self.lo[:, position]].astype(np.int64), hierarchy.size
            )
            distinct = [texts.setdefault(hierarchy.node_label(level, node), len(texts)) for node in nodes.tolist()]
        else:
            low, high, place = self.boxes(position)
            if position in self.held:
                found = [np.flatnonzero(row).tolist() for row in self.values(position)]
                distinct = [texts.setdefault(hierarchy.label_of(codes), len(texts)) for codes in found]
                return list(texts), np.array(distinct, np.int64)[place]
            if hierarchy.is_range or hierarchy.range_labels is not None:
                boxes = zip(low.tolist(), high.tolist(), strict=True)
                distinct = [texts.setdefault(hierarchy.label(lo, hi), len(texts)) for lo, hi in boxes]
            else:  # a million boxes may have a few nodes
                at, node = hierarchy.smallest_nodes(low, high)
                nodes, of_box = numbered(
                    at.astype(np.int64) * hierarchy.size + node, len(hierarchy.levels) * hierarchy.size
                )
                pairs = zip(*(part.tolist() for part in np.divmod(nodes, hierarchy.size)), strict=True)
                own = [texts.setdefault(hierarchy.node_label(*pair), len(texts)) for pair in pairs]
                distinct, place = own, of_box[place]
        return list(texts), np.array(distinct, np.int64)[place]
