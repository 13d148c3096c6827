"""Ends of published ranges beside their labels, where ``[output] ranges`` asks for them: for SQL and for models.

``columns``: ``X_from`` and ``X_to`` after each generalized quasi-identifier X of numbers or dates; ``struct``: one
column ``X_range`` with the fields ``from`` and ``to``. They are what ``bounds`` reads from the label, nothing more, so
they tell nothing that the label does not; null where a label is no range (suppressed, missing, open, a name).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import path_of
from indistinct.formats.texts import as_text
from indistinct.hierarchies.values import number_key
from indistinct.proof.bounds import array_of, ends_of
from indistinct.proof.release import label_reader
from indistinct.proof.spelling import guard_of
from indistinct.session.absent_columns import range_names
from indistinct.session.prepare import reading_of
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.published import PublishedColumn, typed_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

    from indistinct.formats.source import Source, TableOptions
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.published import Published

    Int64 = NDArray[np.int64]
    Ends = tuple[Fraction | int | None, Fraction | int | None]
    Texts = tuple[str | None, str | None]

FIELDS = ("from", "to")


def check_ranges(policy: Policy, columns: Sequence[str], output: Path | None = None) -> None:
    """Refuse range columns whose names are taken, and structs in a format that has none.

    Raises SchemaError for the names, PolicyError for the format.
    """
    for name, added in range_names(policy).items():
        for new in added:
            if new in columns:
                raise SchemaError(
                    f'the ends of "{name}" go to a column "{new}", and the table has one already; rename it, or set '
                    'ranges = "label" under [output]',
                    column=new,
                )
    if policy.output.ranges == "struct" and output is not None and _nested_of(output) is None:
        raise PolicyError(
            f'ranges = "struct" needs a format with nested values, and "{output.name}" is none: write parquet, or set '
            'ranges = "columns"',
            key="output.ranges",
        )


def with_ranges(published: Published, prepared: Prepared) -> Published:
    """Add the ends of ranges to a table that is to be written, each after its column."""
    added, columns = range_names(prepared.policy), list[PublishedColumn]()
    for column in published.columns:
        columns.append(column)
        if column.name not in added:
            continue
        ends = label_ends(column.name, [*column.values.to_pylist(), None], prepared)
        kind = prepared.policy.attributes[column.name].type
        arrays = [array_of(column.name, [end[at] for end in ends], kind) for at in (0, 1)]
        names = added[column.name]
        if len(names) == 2:
            ends_of_units = (typed_column(new, own, column.own) for new, own in zip(names, arrays, strict=True))
            columns += [replace(own, of=column.of) for own in ends_of_units]
        else:
            whole = pa.StructArray.from_arrays([array[:-1] for array in arrays], FIELDS)
            columns.append(PublishedColumn(names[0], whole, column.own, column.of))
    return replace(published, columns=tuple(columns)) if added else published


def label_ends(name: str, labels: Sequence[str | None], prepared: Prepared) -> list[Ends]:
    """Inclusive ends of the labels of a column; none where a label is no range of the original values it stands for."""
    reading, token = reading_of(prepared.policy, prepared.source, name), prepared.policy.output.suppressed_token
    ends = [ends_of(label, reading, token) for label in labels]
    if "file" not in (prepared.policy.attributes[name].spec or {}):
        return ends
    # the names of a hierarchy file may look like ranges and stand for something else
    (hierarchy,) = (own for own in prepared.counted.frequencies.quasi if own.attribute == name)
    reader = label_reader(name, hierarchy.texts, prepared)
    place = [ends_of(text, reading, token)[0] for text in hierarchy.texts]
    for number, (label, (low, high)) in enumerate(zip(labels, ends, strict=True)):
        members = [place[code] for code in reader.find(label).tolist()]
        if not all(at is not None and (low is None or low <= at) and (high is None or at <= high) for at in members):
            ends[number] = (None, None)
    return ends


def false_ranges(place: Any, options: TableOptions, prepared: Prepared) -> list[str]:
    """Return a sentence for each column whose ends, as they stand in a published table, are not those of its labels.

    ``place`` is a path or a frame; columns of ends that it lacks are not missed.
    """
    faults = []
    for name, added in range_names(prepared.policy).items():
        table = place if len(added) == 2 else _flat(place, name, added[0])
        names = added if len(added) == 2 else tuple(f"{added[0]}.{field}" for field in FIELDS)
        source = None if table is None else open_source(table, options)
        if source is None or not {name, *names} & set(source.columns) > {name}:
            continue
        if not set(names) <= set(source.columns):
            faults.append(f'of the ends of "{name}" one column is lacking')
            continue
        wrong = _wrong_rows(source, name, names, prepared, guard_of(prepared.policy, path_of(place)))
        if wrong:
            faults.append(f'the ends of "{name}" are not those of its labels in {wrong} rows')
    return faults


def _wrong_rows(
    source: Source, name: str, names: Sequence[str], prepared: Prepared, guard: Callable[[str], str]
) -> int:
    numbers: dict[object, int] = {}

    def numbered(texts: Iterable[str | None]) -> Int64:
        keys = (None if text is None else number_key(text) or text for text in texts)
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)

    columns = [Dictionary(column) for column in (name, *names)]
    nothing, wrong = np.zeros(0, np.int64), 0
    wanted, read = [nothing, nothing], [nothing, nothing]
    for batch in source.batches([name, *names]):
        label, *ends = (own.encode(batch.column(at)) for at, own in enumerate(columns))
        new = [None if text is None else guard(text) for text in columns[0].texts[len(wanted[0]) :]]
        printed = label_texts(name, new, prepared)
        wanted = [np.append(wanted[at], numbered(own[at] for own in printed)) for at in (0, 1)]
        read = [np.append(read[at], numbered(columns[at + 1].texts[len(read[at]) :])) for at in (0, 1)]
        differ = [wanted[at][label] != read[at][ends[at]] for at in (0, 1)]
        wrong += int((differ[0] | differ[1]).sum())
    return wrong


def _nested_of(path: Path) -> Callable[[Path], pa.Table] | None:
    """What reads a file with the records in its cells; None where its format holds none."""
    chosen = format_of(path)
    return None if chosen is None else chosen.nested


def _flat(place: Any, name: str, nested: str) -> pa.Table | None:
    """Take a column and its struct from a table, the fields as columns; None where there is no such struct."""
    path = path_of(place)
    if path is None:
        table = place if isinstance(place, pa.Table) else pa.table(place)
    elif not path.is_file() or (read := _nested_of(path)) is None:
        return None
    else:
        table = read(path)
    if nested not in table.column_names or not pa.types.is_struct(table.schema.field(nested).type):
        return None
    return table.select([name, nested]).flatten()


def label_texts(name: str, labels: Sequence[str | None], prepared: Prepared) -> list[Texts]:
    """Write the ends of labels as they stand in a text file."""
    ends, kind = label_ends(name, labels, prepared), prepared.policy.attributes[name].type
    columns = (as_text(array_of(name, [end[at] for end in ends], kind)).to_pylist() for at in (0, 1))
    return list(zip(*columns, strict=True))
