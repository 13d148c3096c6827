"""Ends of published ranges beside their labels, where ``[output] ranges`` asks for them: for SQL and for models.

``columns``: ``X_from`` and ``X_to`` after each generalized quasi-identifier X of numbers or dates; ``struct``: one
column ``X_range`` with the fields ``from`` and ``to``. They are what ``bounds`` reads from the label, nothing more, so
they tell nothing that the label does not; null where a label is no range (suppressed, missing, open, a name).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.errors import PolicyError, SchemaError
from indistinct.hierarchies.labels import Interval, parse
from indistinct.hierarchies.values import number_key
from indistinct.releases.bounds import array_of, ends_of
from indistinct.releases.lacking import range_names
from indistinct.releases.prepare import reading_of
from indistinct.releases.proof import label_reader
from indistinct.releases.spelling import guard_of
from indistinct.tables.apply import Published, PublishedColumn, typed_column
from indistinct.tables.dictionary import Dictionary, as_text
from indistinct.tables.source import open_source, path_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    from indistinct.policy import Policy
    from indistinct.releases.prepare import Prepared
    from indistinct.tables.source import TableOptions

    Ends = tuple[Fraction | int | None, Fraction | int | None]
    Texts = tuple[str | None, str | None]

NESTED = (".parquet", ".arrow")
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
    if policy.output.ranges == "struct" and output is not None and output.suffix.lower() not in NESTED:
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
            columns += [typed_column(new, array, column.codes) for new, array in zip(names, arrays, strict=True)]
        else:
            whole = pa.StructArray.from_arrays([array[:-1] for array in arrays], FIELDS)
            columns.append(PublishedColumn(names[0], whole, column.codes))
    return replace(published, columns=tuple(columns)) if added else published


def label_ends(name: str, labels: Sequence[str | None], prepared: Prepared) -> list[Ends]:
    """Inclusive ends of the labels of a column; none where a label is no range of the original values it stands for."""
    reading, token = reading_of(prepared.policy, prepared.source, name), prepared.policy.output.suppressed_token
    (hierarchy,) = (own for own in prepared.counted.frequencies.quasi if own.attribute == name)
    reader = label_reader(name, hierarchy.texts, prepared)
    place = [found.low if text is not None and isinstance(found := parse(text, **reading), Interval) else None
             for text in hierarchy.texts]  # fmt: skip
    ends: list[Ends] = []
    for label in labels:
        low, high = ends_of(label, reading, token)
        members = [place[code] for code in reader.find(label).tolist()] if (low, high) != (None, None) else []
        # the names of a hierarchy file may look like ranges and stand for something else
        inside = all(at is not None and (low is None or low <= at) and (high is None or at <= high) for at in members)
        ends.append((low, high) if inside else (None, None))
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
        numbers = [Dictionary(column) for column in (name, *names)]
        rows: set[tuple[int, ...]] = set()
        for batch in source.batches([name, *names]):
            codes = (own.encode(batch.column(at)).tolist() for at, own in enumerate(numbers))
            rows |= set(zip(*codes, strict=True))
        labels, lows, highs = (own.texts for own in numbers)
        guard = guard_of(prepared.policy, path_of(place))
        wanted = _texts(name, [None if text is None else guard(text) for text in labels], prepared)
        wrong = sum(not _same(wanted[at], (lows[low], highs[high])) for at, low, high in rows)
        if wrong:
            faults.append(f'the ends of "{name}" are not those of its labels ({wrong} of {len(rows)} combinations)')
    return faults


def _flat(place: Any, name: str, nested: str) -> pa.Table | None:
    """Take a column and its struct from a table, the fields as columns; None where there is no such struct."""
    path = path_of(place)
    if path is None:
        table = place if isinstance(place, pa.Table) else pa.table(place)
    elif not path.is_file() or path.suffix.lower() not in NESTED:
        return None
    elif path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        table = pq.ParquetFile(path).read()
    else:
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all()
    if nested not in table.column_names or not pa.types.is_struct(table.schema.field(nested).type):
        return None
    return table.select([name, nested]).flatten()


def _texts(name: str, labels: Sequence[str | None], prepared: Prepared) -> list[Texts]:
    ends, kind = label_ends(name, labels, prepared), prepared.policy.attributes[name].type
    columns = (as_text(array_of(name, [end[at] for end in ends], kind)).to_pylist() for at in (0, 1))
    return list(zip(*columns, strict=True))


def _same(one: Texts, other: Texts) -> bool:
    return all(
        a == b or (a is not None and b is not None and number_key(a) is not None and number_key(a) == number_key(b))
        for a, b in zip(one, other, strict=True)
    )
