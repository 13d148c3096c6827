"""Writing: beside the target, whole or not at all, and nothing in the container but what the rows say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.errors import PolicyError
from indistinct.formats.contract import Writing
from indistinct.formats.registry import OUTPUTS, format_of, needing
from indistinct.outputs import Output, staging

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from indistinct.formats.contract import Sheet
    from indistinct.outputs import Staged


def table_output(path: str | os.PathLike[str], *, private: bool = False) -> Output:
    """Name the file that a table is to be written to, in the format of its suffix (``OUTPUTS``); see ``check_outputs``.

    Raises PolicyError for an unknown suffix.

    >>> table_output("people.csv").what
    'output'
    """
    path = Path(path)
    if path.suffix.lower().removeprefix(".") not in OUTPUTS and not path.is_dir():  # ``check_outputs`` refuses folders
        raise _unwritable(path)
    return Output(path, private=private)


def _unwritable(path: Path) -> PolicyError:
    name = path.name or str(path)
    return PolicyError(f'the output "{name}" has no suffix to write; use one of {", ".join(OUTPUTS)}', file=name)


def stage(
    output: Output | str | os.PathLike[str],
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    *,
    delimiter: str = ",",
    missing: str = "",
    spreadsheet_safe: bool = False,
    labels: Mapping[str, Mapping[Any, str]] | None = None,
    column_labels: Mapping[str, str] | None = None,
) -> Staged:
    """Write batches to a hidden file beside ``output``, in the format of its suffix (``OUTPUTS``).

    ``schema`` names the columns and their types; a column may come as a dictionary of its type. The order of rows
    is kept, and the same rows give the same bytes however they are cut into batches. Dictionaries and value labels
    are made of what occurs; metadata of the schema is dropped.

    Text files: UTF-8, lines end in LF, cells are quoted only where they must be; ``delimiter`` (a tab for .tsv) and
    ``missing``, the token of a missing cell, apply. An empty text is written ``""`` so that it differs from a missing
    cell. With ``spreadsheet_safe``, texts that a spreadsheet would run get a ``'`` in front (``safe_text``).
    Workbooks hold numbers as numbers, texts as texts (never as formulas), and cannot tell empty from missing; nor
    can Stata and SPSS files, which get ``labels`` of values that occur and ``column_labels``.

    Raises DataError when the disk is full or refuses, or a value cannot be held by the format; UnsupportedError
    when a package is not installed or a limit of the format is passed. Whatever is raised, by ``batches`` too, the
    temporary file is gone.
    """
    output = output if isinstance(output, Output) else table_output(output)
    how = {
        "missing": missing,
        "spreadsheet_safe": spreadsheet_safe,
        "labels": labels or {},
        "column_labels": column_labels or {},
    }
    return _staged(output, {"data": (batches, schema)}, delimiter=delimiter, **how)


def stage_workbook(path: str | os.PathLike[str], sheets: Mapping[str, Sheet]) -> Staged:
    """Write several tables as the sheets of one workbook, as ``stage`` writes one; raises the same."""
    return _staged(table_output(path), sheets)


def _staged(output: Output, sheets: Mapping[str, Sheet], *, delimiter: str = ",", **how: Any) -> Staged:
    chosen = format_of(output.path)
    if chosen is None or chosen.write is None:
        raise _unwritable(output.path)
    plain = {name: (_plain(batches, schema), _fields(schema)) for name, (batches, schema) in sheets.items()}
    with staging(output) as staged, staged.path.open("r+b") as file, needing(chosen):
        writing = Writing(staged.path, output.path.name, chosen.delimiter or delimiter, **how)
        chosen.write(file, plain, writing)
    return staged


def _fields(schema: pa.Schema) -> pa.Schema:
    """Schema without metadata."""
    return pa.schema([pa.field(column.name, column.type) for column in schema])


def _plain(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    names = schema.names
    return (batch if batch.schema.names == names else batch.select(names) for batch in batches)
