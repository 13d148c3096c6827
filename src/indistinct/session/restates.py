"""Columns published unchanged that tell a generalized one all the same, named before anything is delivered.

``indistinct.session.determination`` says what counts. Compared are the columns that are published as they are
(insensitive and sensitive ones, and quasi-identifiers without a hierarchy) with every quasi-identifier that is
generalized, level by level, and the columns beside a release in groups with the sensitive column that its groups hide.
Not looked for: a value that follows from two columns other than by a sum or a difference, and a column that only
narrows another down.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.formats.arrow import real_numbers, text_array
from indistinct.formats.columnar import is_text
from indistinct.notices import Notice, Sentence, either
from indistinct.session.determination import (
    SCREENED,
    by_arithmetic,
    by_value,
    combined,
    may_be_equal,
    may_determine,
    sample,
)
from indistinct.session.prepare import reading_of
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.session.determination import Determined
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Assignment, Recoding

    Codes = NDArray[np.integer[Any]]
    Float64 = NDArray[np.float64]
    _Measured = tuple[str, str, Float64]  # name, "date" or "number", and the place of each unit

COMBINED = 300  # columns of numbers and dates that are combined in pairs
HANDFUL = 64  # units by which most pairs are ruled out
DAY = 86_400_000_000  # in microseconds
ROUNDED = 1e-9  # what sums of days and parts of days may miss


@dataclass(frozen=True)
class Column:
    """One column over all units: a code for each (from 0 on), and what the distinct values are as numbers or dates."""

    name: str
    codes: Codes
    values: Any
    reading: Mapping[str, Any]
    hierarchy: Hierarchy | None = field(default=None, repr=False)

    @cached_property
    def measure(self) -> tuple[str, Float64] | None:
        """``date`` (in days) or ``number``, and the place of each unit, NaN where it has none; None: a text."""
        found = _measured(self.values, self.reading)
        return None if found is None else (found[0], np.append(found[1], np.nan)[self.codes])


@dataclass(frozen=True)
class Weight:
    """How many rows each unit stands for, and whose it is where there is a person key."""

    rows: Codes
    person: Codes | None

    @cached_property
    def few(self) -> Codes:
        """The units by which most columns are ruled out."""
        return sample(len(self.rows))

    def once(self, value: Codes, label: Codes, column: Codes) -> tuple[Codes, Codes, Codes, Codes]:
        """Count rows of one person that agree in all of this once: they repeat each other, and confirm nothing."""
        if self.person is None:
            return value, label, column, self.rows
        columns = [np.asarray(own, np.int32) for own in (self.person, value, label, column)]
        first, _ = numbered_rows(np.column_stack(columns), [int(own.max(initial=0)) + 1 for own in columns])
        return value[first], label[first], column[first], np.ones(len(first), np.int64)


@dataclass(frozen=True)
class Hidden(Column):
    """A column that is not published as it is, with the label of each unit that is."""

    label: Codes = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def left(self) -> Codes:
        """The units whose number is not the commonest: an almost constant column is not told by one that is."""
        number = np.zeros(0) if self.measure is None else self.measure[1]
        values, place, times = np.unique(number, return_inverse=True, return_counts=True, equal_nan=True)
        commonest = np.where(np.isfinite(values), times, 0).argmax() if len(values) else 0
        return np.flatnonzero(np.isfinite(number) & (place.reshape(-1) != commonest))

    def some_left(self, most: int) -> Codes:
        """Choose a few of them."""
        return self.left[sample(len(self.left), most)]

    @cached_property
    def is_whole(self) -> bool:
        """Whether all its numbers, or days, are whole, so that a result is cut to be compared with them."""
        number = np.zeros(0) if self.measure is None else self.measure[1]
        return not (np.isfinite(number) & (number % 1 != 0)).any()

    def as_written(self, expected: Float64) -> Float64:
        """Cut a result to the day or the whole number where this column has no others."""
        return np.floor(expected + ROUNDED) if self.is_whole else expected


def restated(
    prepared: Prepared, assignment: Assignment | None = None, recoding: Recoding | None = None, *, starred: bool = False
) -> list[Notice]:
    """Name the columns that tell a generalized one, with counts; columns that the policy confirms are left out.

    Without an assignment nothing is known of the labels that will be published, but that none is below a floor: a
    column is compared with the values alone, and beside the floor. ``starred``: suppressed rows are published too.
    """
    frequencies, person_of_row = prepared.counted.frequencies, prepared.counted.person_of_row
    cells, rows = _units(prepared)
    class_of = _class_of_cells(prepared, assignment)[cells]
    if not starred and assignment is not None:
        published = class_of != SUPPRESSED
        cells, class_of, rows = cells[published], class_of[published], None if rows is None else rows[published]
    rows_of = frequencies.rows[cells] if rows is None else np.ones(len(cells), np.int64)
    weight = Weight(rows_of, None if rows is None or person_of_row is None else person_of_row[rows])
    plain, hidden = list(_unchanged(prepared, cells, rows, assignment)), []
    for position, hierarchy in enumerate(frequencies.quasi):
        if not hierarchy.is_fixed and hierarchy.attribute not in prepared.policy.item_columns:
            label_of = np.zeros(1, np.int64) if recoding is None else recoding.labels(position)[1]
            own = _column(prepared, hierarchy, frequencies.codes[cells, position])
            label = np.append(label_of, label_of.max(initial=0) + 1)[class_of]
            hidden.append(Hidden(own.name, own.codes, own.values, own.reading, hierarchy, label))
            if assignment is None and len(hierarchy.levels[0].labels) < hierarchy.size:
                hidden.append(replace(hidden[-1], label=hierarchy.levels[0].node_of[own.codes]))
    if assignment is not None and assignment.group_of is not None:
        hidden += _of_groups(prepared, cells)
    found: dict[tuple[str, ...], Notice] = {}
    for one in hidden:
        for notice, names in notices_of(one, plain, weight):
            if not _confirmed(prepared, names):
                found.setdefault(names, notice)
    return list(found.values())


def _units(prepared: Prepared) -> tuple[Codes, Codes | None]:
    """Cell and row of each unit: rows where single ones matter, else the cells themselves."""
    cell_of_row = prepared.counted.cell_of_row
    if cell_of_row is None or not prepared.carried:
        return np.arange(len(prepared.counted.frequencies.rows)), None
    rows = np.flatnonzero(cell_of_row >= 0)
    return cell_of_row[rows], rows


def _class_of_cells(prepared: Prepared, assignment: Assignment | None) -> Codes:
    """Class of each cell; of one that is divided between classes, the first."""
    found = np.zeros(len(prepared.counted.frequencies.rows), np.int64)
    if assignment is not None:
        found[assignment.cell[::-1]] = assignment.class_of[::-1]
    return found


def _column(prepared: Prepared, hierarchy: Hierarchy, codes: Codes) -> Column:
    name = hierarchy.attribute
    texts = [text for text in hierarchy.texts if text is not None]
    return Column(name, codes, text_array(texts), _reading(prepared, name))


def _reading(prepared: Prepared, name: str) -> Mapping[str, Any]:
    return reading_of(prepared.policy, prepared.source, name) if name in prepared.policy.attributes else {}


def _unchanged(prepared: Prepared, cells: Codes, rows: Codes | None, assignment: Assignment | None) -> Iterator[Column]:
    """Yield the columns that are published as they are."""
    frequencies = prepared.counted.frequencies
    for position, hierarchy in enumerate(frequencies.quasi):
        if hierarchy.is_fixed:
            yield _column(prepared, hierarchy, frequencies.codes[cells, position])
    if assignment is None or assignment.group_of is None:  # groups cut the link between these and a row
        for hierarchy in frequencies.sensitive:
            yield _column(prepared, hierarchy, frequencies.sensitive_codes(hierarchy.attribute)[cells])
    if rows is not None:
        for name, column in prepared.carried.items():
            codes = column.codes[rows]
            yield Column(name, np.where(codes < 0, len(column.values), codes), column.values, _reading(prepared, name))


def _of_groups(prepared: Prepared, cells: Codes) -> Iterator[Hidden]:
    """Yield the sensitive columns of which groups hide whose value is whose."""
    frequencies = prepared.counted.frequencies
    for hierarchy in frequencies.sensitive:
        own = _column(prepared, hierarchy, frequencies.sensitive_codes(hierarchy.attribute)[cells])
        label = np.zeros(len(cells), np.int64)
        yield Hidden(own.name, own.codes, own.values, own.reading, None, label)


def notices_of(hidden: Hidden, plain: list[Column], weight: Weight) -> Iterator[tuple[Notice, tuple[str, ...]]]:
    """Yield what is told of one column, with the columns that tell it."""
    telling = []
    for column in plain:
        found = _by_value(hidden, column, weight) or _by_offset(hidden, column, weight)
        if found is not None:
            telling.append(column.name)
            yield found, (hidden.name, column.name)
    others = [column for column in plain if column.name not in telling]
    measured = [(column.name, *own) for column in others if hidden.measure and (own := column.measure) is not None]
    if len(measured) > COMBINED:
        message = Sentence(
            "only the first {most} of {n} columns of numbers and dates were combined to see whether two of them tell "
            '"{name}"',
            most=COMBINED,
            n=len(measured),
            name=hidden.name,
        )
        yield Notice("restates", hidden.name, message), (hidden.name,)
    for one, other in _open_pairs(hidden, measured[:COMBINED]):
        notice = _by_pair(hidden, one, other, weight)
        if notice is not None:
            yield notice, (hidden.name, one[0], other[0])


def _open_pairs(hidden: Hidden, measured: Sequence[_Measured]) -> Iterator[tuple[_Measured, _Measured]]:
    """Yield the pairs of columns of which a handful of units leaves it open that they give the hidden one."""
    if hidden.measure is None or not len(hidden.left):
        return
    few, (wanted, number) = hidden.some_left(HANDFUL), hidden.measure
    for place, one in enumerate(measured):
        after = measured[place + 1 :]
        is_open = np.zeros(len(after), np.bool_)
        for kind in ("date", "number"):
            at = [there for there, other in enumerate(after) if other[1] == kind]
            numbers = np.array([after[there][2][few] for there in at])
            for _, some in combined(one[2][few], numbers, (one[1], kind), wanted) if at else ():
                is_open[at] |= may_be_equal(number[few], hidden.as_written(some))
        yield from ((one, after[there]) for there in np.flatnonzero(is_open).tolist())


def _by_value(hidden: Hidden, column: Column, weight: Weight) -> Notice | None:
    """Say that the values of a column determine another, at the finest level for which they do."""
    few = weight.few
    for number, value in _by_level(hidden):
        if not may_determine(value[few], hidden.label[few], column.codes[few], weight.rows[few]):
            continue
        if by_value(*weight.once(value, hidden.label, column.codes)).holds():
            found = by_value(value, hidden.label, column.codes, weight.rows)
            what = Sentence(
                '"{column}" is published unchanged and tells "{name}"', column=column.name, name=hidden.name
            )
            if number is not None:
                what = Sentence("{what} up to level {level} of its hierarchy", what=what, level=number)
            return _notice(hidden, (column.name,), what, found)
    return None


def _by_level(hidden: Hidden) -> Iterator[tuple[int | None, Codes]]:
    """Yield the values of each unit (None), then the nodes of each level that joins some, those below a floor too."""
    yield None, hidden.codes
    own = hidden.hierarchy
    if own is None:
        return
    for number, level in enumerate((*own.finer, *own.levels[len(own.finer) : own.height])):
        if len(level.labels) < own.size:
            yield number, level.node_of[hidden.codes]


def _by_offset(hidden: Hidden, column: Column, weight: Weight) -> Notice | None:
    """Say that a column is the other one but for a constant, or is equal to it."""
    if hidden.measure is None or column.measure is None or hidden.measure[0] != column.measure[0]:
        return None
    few = hidden.some_left(SCREENED)
    if not len(few) or not may_be_equal(hidden.measure[1][few], column.measure[1][few]):
        return None
    found = by_arithmetic(hidden.measure[1], hidden.label, column.measure[1], weight.rows)
    what = Sentence(
        '"{column}" is published unchanged and is "{name}" but for a constant', column=column.name, name=hidden.name
    )
    return None if found is None else _notice(hidden, (column.name,), what, found)


def _by_pair(hidden: Hidden, one: _Measured, other: _Measured, weight: Weight) -> Notice | None:
    """Say that two columns give the other one as a sum or a difference."""
    assert hidden.measure is not None  # noqa: S101  # asked before
    (wanted, number), few, kinds = hidden.measure, hidden.some_left(SCREENED), (one[1], other[1])
    for way, (how, some) in enumerate(combined(one[2][few], other[2][few], kinds, wanted)):
        if not may_be_equal(number[few], hidden.as_written(some)):
            continue
        _, expected = next(islice(combined(one[2], other[2], kinds, wanted), way, None))
        found = by_arithmetic(number, hidden.label, hidden.as_written(expected), weight.rows)
        if found is not None:
            names = (one[0], other[0])
            what = Sentence(
                '"{one}" and "{other}" are published unchanged, and "{name}" is their {how}',
                one=one[0],
                other=other[0],
                name=hidden.name,
                how=how,
            )
            return _notice(hidden, names, what, found)
    return None


def _notice(hidden: Hidden, names: tuple[str, ...], what: Sentence, found: Determined) -> Notice:
    message = Sentence(
        "{what}: it follows in {told} of {rows} rows, where the best guess from what stands for it is right in "
        '{guessed}; leave a column out, generalize it too, or say confirmed = ["restates"] under {places}',
        what=what,
        told=found.determined,
        rows=found.rows,
        guessed=found.guessed,
        places=either(f"[attributes.{name}]" for name in names),
    )
    return Notice("restates", hidden.name, message)


def _confirmed(prepared: Prepared, names: tuple[str, ...]) -> bool:
    attributes = prepared.roles.attributes
    return any(attributes[name].confirms("restates") for name in names if name in attributes)


def _measured(values: Any, reading: Mapping[str, Any]) -> tuple[str, Float64] | None:
    """Read distinct values as numbers or as days; None where they are neither."""
    kind = values.type
    if len(values) == 0 or reading.get("type") == "ordinal":
        return None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date", _days(values)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number", real_numbers(values)
    return next(_readings(values.cast(pa.string()), reading), None) if is_text(kind) else None


def _readings(texts: Any, reading: Mapping[str, Any]) -> Iterator[tuple[str, Float64]]:
    """Yield what texts are, all of them: numbers or dates as the policy says; where it says nothing, as either."""
    declared, written = reading.get("type", "text"), reading.get("format")
    if declared != "date":
        mark = reading.get("decimal", ".")
        numbers = texts if mark == "." else pc.replace_substring(texts, mark, ".")
        with suppress(pa.ArrowInvalid):
            yield "number", real_numbers(pc.utf8_trim_whitespace(numbers))
    if declared in ("date", "text"):
        for form in (pa.date32(), pa.timestamp("us")) if written is None else ():
            with suppress(pa.ArrowInvalid):
                yield "date", _days(texts.cast(form))
        with suppress(pa.ArrowInvalid):
            if written is not None:
                yield "date", _days(pc.strptime(texts, format=written, unit="us"))


def _days(values: Any) -> Float64:
    moments = values.cast(pa.timestamp("us", tz=getattr(values.type, "tz", None)), safe=False).cast(pa.int64())
    return real_numbers(moments) / DAY
