"""Many files read as one table: a pattern with ``*``, a folder of files of one kind, a folder in Hive's form.

In Hive's form (``year=2024/month=03/part.parquet``) the folders tell columns of their own, read as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from indistinct.errors import DataError, SchemaError
from indistinct.formats.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import TableOptions

NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """A file of many; ``named`` are the columns that its folders tell."""

    path: Path
    named: Mapping[str, str | None]


def files_of(folder: Path, known: Collection[str]) -> list[Part]:
    """List the tables of a folder with what its folders tell; empty where there is none.

    Raises DataError for folders that tell no columns, tell different ones, or hold tables of several kinds.
    """
    name = folder.resolve().name
    found = []
    for file in sorted(folder.rglob("*")):
        place = file.relative_to(folder)
        hidden = any(part.startswith((".", "_")) for part in place.parts)
        if not hidden and file.is_file() and file.suffix.lower().removeprefix(".") in known:
            found.append(Part(file, _named(place.parts[:-1], name)))
    if found and any(part.named.keys() != found[0].named.keys() for part in found):
        raise DataError(f"the folders in {name} tell different columns; make them alike", file=name)
    kinds = sorted({part.path.suffix.lower() for part in found})
    if len(kinds) > 1:
        message = (
            f"{name} holds tables of several kinds ({', '.join(kinds)}); name those that are meant: {name}/*{kinds[0]}"
        )
        raise DataError(message, file=name)
    return found


def _named(folders: Sequence[str], name: str) -> dict[str, str | None]:
    named: dict[str, str | None] = {}
    for folder in folders:
        column, equals, value = folder.partition("=")
        if not equals or not column:
            raise DataError(
                f"{name} has tables in a folder of its own ({folder}), and these would be left out: give one folder of "
                "files, folders named column=value, or a frame that holds all of them",
                file=name,
            )
        named[unquote(column)] = None if value == NULL else unquote(value)
    return named


def open_many(
    pieces: Sequence[Part], name: str, options: TableOptions, opened: Callable[[Path, TableOptions], Source]
) -> Source:
    """Open files as one table, in this order; raises what ``joined`` raises."""
    return joined([(opened(part.path, options), part.path.name, part.named) for part in pieces], name)


def joined(pieces: Sequence[tuple[Source, str, Mapping[str, str | None]]], name: str) -> Source:
    """Read sources as one table, in this order, each with its name and the columns that its place tells.

    Columns are matched by their names. Raises SchemaError where a source has other columns, or columns of other types,
    than the first.
    """
    first, first_name, first_named = pieces[0]
    named = list(first_named)
    for source, own_name, _ in pieces:
        if clash := [column for column in named if column in source.columns]:
            message = f'"{clash[0]}" is a column of {own_name} and a folder of its path; rename one of them'
            raise SchemaError(message, column=clash[0])
        if set(source.columns) != set(first.columns):
            odd = sorted({*source.columns} ^ {*first.columns})
            have = "has" if odd[0] in source.columns else "lacks"
            message = f'{own_name} {have} the column "{odd[0]}", unlike {first_name}; make them alike'
            raise SchemaError(message, file=own_name, column=odd[0])
        for column in first.columns:
            if not _same(source.types[column], first.types[column]):
                message = (
                    f'"{column}" is {source.types[column]} in {own_name} and {first.types[column]} in {first_name}; '
                    "make them alike"
                )
                raise SchemaError(message, file=own_name, column=column)
    columns = (*first.columns, *named)

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        own = tuple(column for column in wanted if column not in named)
        for source, _, in_place in pieces:
            # a source is counted by one of its columns where only folders are asked for
            for batch in source.read(own or first.columns[:1]):
                arrays = [
                    _plain(batch.column(column))
                    if column in own
                    else pa.array([in_place[column]] * batch.num_rows, pa.string())
                    for column in wanted
                ]
                yield pa.RecordBatch.from_arrays(arrays, list(wanted))

    known = all(source.rows is not None for source, _, _ in pieces)
    notices = {(one.kind, one.column, str(one.message)): one for source, _, _ in pieces for one in source.warnings}
    return Source(
        name,
        columns,
        {column: _kind(first.types.get(column, pa.string())) for column in columns},
        is_text=first.is_text,
        read=read,
        rows=sum(source.rows or 0 for source, _, _ in pieces) if known else None,
        labels=first.labels,
        column_labels=first.column_labels,
        dialect=first.dialect,
        warnings=list(notices.values()),
    )


def _kind(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _same(one: pa.DataType, other: pa.DataType) -> bool:
    return bool(_kind(one).equals(_kind(other)))


def _plain(column: pa.Array) -> pa.Array:
    """Files of one table may encode a column differently."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
