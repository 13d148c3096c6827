"""One way to read every kind of table: named columns, arriving as Arrow batches as often as they are asked for."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from indistinct.errors import DataError, SchemaError, UnsupportedError
from indistinct.formats.patterns import is_pattern, matching
from indistinct.formats.plans import files_of_plan
from indistinct.notices import Notice, Sentence, both
from indistinct.outputs import Origin, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

STDIN = "-"  # the text that stands for standard input, and output; a file of this name is ./-
BATCH_ROWS = 1_000_000
BATCH_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table; what does not apply to its kind is ignored.

    ``delimiter`` None is sniffed among comma, semicolon, tab and bar. ``missing`` lists the tokens that mean a
    missing value in text, spreadsheet and statistical files; a database and a frame bring their own nulls.
    ``missing_values`` lists those of one column, whatever the kind of the table.
    ``trim``: blanks around header names, around all cells too, or nothing. ``max_line_bytes`` bounds one record.
    ``decimal`` is carried along for whoever casts: reading leaves a decimal comma as it is. ``query`` or
    ``table`` say what to read from a database, ``sheet`` what to read from a workbook, whose names stand in the row
    ``header_row`` (from 1).
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ("",)
    missing_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    decimal: str = "."
    trim: Literal["names", "cells", "none"] = "names"
    max_line_bytes: int = 16_777_216
    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    header_row: int = 1


@dataclass
class Source:
    """A table that can be read, again and again, in the same order.

    ``name`` is for messages: a file name, never a path. ``types`` are the Arrow types of the columns
    (``pa.string()`` throughout where ``is_text``); ``rows`` their number where it is known without reading.
    ``labels`` are the value labels and ``column_labels`` the variable labels of a statistical file. ``dialect`` is
    the delimiter of a delimited text file. ``origins`` are the files that it is read from. ``weight`` is a column of
    its batches, beside ``columns``, that says for how many rows each stands, where somebody counted before.
    ``native`` is what an engine may read itself: the path of a Parquet file, or a relation.
    """

    name: str
    columns: tuple[str, ...]
    types: Mapping[str, pa.DataType]
    is_text: bool
    read: Callable[[tuple[str, ...]], Iterator[pa.RecordBatch]] = field(repr=False)
    rows: int | None = None
    labels: Mapping[str, Mapping[object, str]] = field(default_factory=dict)
    column_labels: Mapping[str, str] = field(default_factory=dict)
    dialect: str | None = None
    warnings: list[Notice] = field(default_factory=list)
    origins: tuple[Origin, ...] = ()
    weight: str | None = None
    native: object | None = field(default=None, repr=False)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read ``columns`` (all by default) in that order, from the first row on; every call starts anew.

        Batches have at most about a million rows and 256 MiB. A text column arrives as ``string`` or as
        ``dictionary<int32, string>`` whose entries all occur in the batch; missing values are null.

        Raises SchemaError for an unknown column, UnsupportedError for a type that has no single value per cell,
        DataError for a broken file or a table without rows. A broken line raises when the reading gets there, so
        nothing read counts before the iterator is exhausted.

        >>> import pyarrow as pa
        >>> from indistinct.formats.registry import open_source
        >>> source = open_source(pa.table({"age": [30, 41], "sex": ["f", None]}))
        >>> [batch.to_pydict() for batch in source.batches(["sex"])]
        [{'sex': ['f', None]}]
        """
        wanted = self.columns if columns is None else tuple(columns)
        for column in wanted:
            if column not in self.types:
                raise SchemaError.unknown_column(column, self.columns)
            refuse_type(column, self.types[column])
        if not wanted:
            raise SchemaError(f"no column of {self.name} is asked for; name at least one")
        rows = 0
        for batch in self.read(wanted):
            if batch.num_rows:
                rows += batch.num_rows
                yield batch
        if rows == 0:
            raise DataError(f"{self.name} has no rows; a table needs at least one", file=self.name)


def counted_by(source: Source, read: Callable[[tuple[str, ...], str], Iterator[pa.RecordBatch]]) -> Source:
    """Return the source as somebody else counts it: ``read(columns, weight)`` yields distinct rows and how often each.

    A row may come several times; missing values are rows like others.

    >>> import pyarrow as pa
    >>> from indistinct.formats.registry import open_source
    >>> ages = open_source(pa.table({"age": [30, 30, 41]}))
    >>> groups = pa.record_batch({"age": [41, 30], "rows": [1, 2]})
    >>> counted = counted_by(ages, lambda columns, weight: iter([groups.rename_columns([*columns, weight])]))
    >>> [batch.to_pydict() for batch in counted.batches(["age", counted.weight])]
    [{'age': [41, 30], 'rows': [1, 2]}]
    """
    import pyarrow as pa

    weight = "rows"
    while weight in source.columns:
        weight += "_"

    def read_groups(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        return read(tuple(name for name in wanted if name != weight), weight)

    return replace(source, read=read_groups, types={**source.types, weight: pa.int64()}, weight=weight)


def ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a thread reads the next one while the caller works on the last."""
    iterator = iter(batches)
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, iterator, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, iterator, None)
            yield batch


def is_url(table: object) -> bool:
    """Whether a table is given as a URL; any other text is a path.

    >>> is_url("sqlite:///clinic.db"), is_url("people.csv")
    (True, False)
    """
    return isinstance(table, str) and "://" in table


def is_standard_stream(table: object) -> bool:
    """Whether a table comes over standard input, or goes to standard output.

    >>> is_standard_stream("-"), is_standard_stream("./-")
    (True, False)
    """
    return isinstance(table, str) and table == STDIN


def path_of(table: object) -> Path | None:
    """Return the path of a table that is given as a file or folder, None for URLs, frames and standard input."""
    if not isinstance(table, str | os.PathLike) or is_url(table) or is_standard_stream(table):
        return None
    return Path(table)


def origins_of(*tables: object) -> tuple[Origin, ...]:
    """Remember the files that tables are read from: a path, the file of a database, or what a table was made from.

    Of lazy frames and relations those that their plan names.

    >>> [file.place.name for file in origins_of("people.csv", "sqlite:///people.db", None)]
    ['people.csv', 'people.db']
    """
    found: list[Origin] = []
    for table in tables:
        if is_standard_stream(table):
            continue
        if isinstance(table, str) and is_url(table):
            _, _, place = table.partition(":///")
            found += [origin(place.partition("?")[0])] if place else []
        elif (path := path_of(table)) is not None:
            found += map(origin, matching(path) if is_pattern(path) else [path])
        elif table is not None:
            found += getattr(table, "origins", None) or map(origin, files_of_plan(table))
    return tuple(found)


def check_names(names: Iterable[str], file: str) -> tuple[str, ...]:
    """Refuse columns without a name or with the same name; return the names.

    >>> check_names(["age", "sex"], "people.csv")
    ('age', 'sex')
    """
    columns = tuple(names)
    for position, name in enumerate(columns, 1):
        if not name.strip():
            raise SchemaError(f"column {position} of {file} has no name; give it one in the header", file=file)
    for name, count in Counter(columns).items():
        if count > 1:
            raise SchemaError(f'{file} names the column "{name}" {count} times; rename all but one', column=name)
    return columns


def look_alikes(names: Iterable[str]) -> list[Notice]:
    """Name the columns that differ only in case or blanks.

    >>> look_alikes(["Age", "sex", "age "])[0].message
    'the columns "Age" and "age " differ only in case or blanks'
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    return [
        Notice(
            "look-alike",
            group[0],
            Sentence("the columns {names} differ only in case or blanks", names=_quoted(group)),
        )
        for group in alike.values()
        if len(group) > 1
    ]


def trimmed(names: Sequence[str]) -> tuple[list[str], list[Notice]]:
    """Take the blanks off header names, with a notice for each name that had some.

    >>> trimmed(["age", "zip "])[0]
    ['age', 'zip']
    """
    columns = [name.strip() for name in names]
    notices = [
        Notice(
            "header-trimmed",
            new,
            Sentence('the column "{old}" is read as "{new}", without the blanks around its name', old=old, new=new),
        )
        for old, new in zip(names, columns, strict=True)
        if old != new and new
    ]
    return columns, notices


def nameless(position: int) -> Notice:
    """Say that a column without a name and values is left out; ``position`` counts from 1.

    >>> nameless(2).message
    'column 2 has no name and no value in any row; it is left out'
    """
    message = Sentence("column {position} has no name and no value in any row; it is left out", position=position)
    return Notice("nameless-column", None, message)


def extra_required(package: str, extra: str = "io") -> UnsupportedError:
    """Build the error for a kind of table whose package is not installed."""
    return UnsupportedError(f"this kind of table needs {package}; install it with: pip install 'indistinct[{extra}]'")


def _quoted(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return both([", ".join(quoted[:-1]), quoted[-1]])


def refuse_type(column: str, kind: pa.DataType) -> None:
    """Raise UnsupportedError for a column whose cells hold more than one value, or bytes."""
    import pyarrow as pa

    if pa.types.is_nested(kind):
        what, remedy = "lists or records", "take it apart into plain columns"
    elif pa.types.is_interval(kind):
        what, remedy = "intervals of months, days and nanoseconds", "turn them into numbers of days or hours"
    elif (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        what, remedy = "raw bytes", "turn them into text"
    else:
        return
    raise UnsupportedError(f'the column "{column}" holds {what}; {remedy}, or leave it out', column=column)
