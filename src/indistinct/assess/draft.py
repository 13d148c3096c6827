"""A policy draft from a table: every column is measured, nothing is decided."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions, path_of
from indistinct.policy import draft as draft_text
from indistinct.policy import suggest
from indistinct.policy.recipients import start_of
from indistinct.session.column_counts import measured
from indistinct.session.related import related_columns
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.formats.source import Source
    from indistinct.notices import Notice
    from indistinct.policy import ColumnFacts
    from indistinct.tables.count import Progress


def draft(
    table: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    recipient: str | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    beside: Path | None = None,
    progress: Progress = silent,
) -> str:
    """Measure the columns of a table and write a policy draft as TOML for a person to complete.

    ``beside`` is where the draft will stand: the path of the table is written relative to it. ``recipient`` chooses
    the starting values: public, partners, researchers or internal. ``missing`` lists the tokens of missing values.

    Raises PolicyError for another recipient.
    """
    start_of(recipient)  # before anything is read
    options = TableOptions(delimiter=delimiter, encoding=encoding or "utf-8", query=query, table=sql_table)
    if missing is not None:
        options = replace(options, missing=tuple(missing))
    source = open_source(table, options)
    found = measured(source, keep=True, progress=progress)
    relations = related_columns(found, [suggest(facts) for facts in found.facts])
    return written(
        table, source, found.facts, relations, encoding=encoding, missing=missing, recipient=recipient, beside=beside
    )


def written(
    table: Any,
    source: Source,
    facts: Sequence[ColumnFacts],
    relations: Sequence[Notice] = (),
    *,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    recipient: str | None = None,
    beside: Path | None = None,
) -> str:
    """Write the draft from measured facts; the path of the table is given relative to where the draft will stand."""
    place = None
    if (path := path_of(table)) is not None:
        folder = Path() if beside is None else beside.parent
        place = Path(os.path.relpath(path, folder)).as_posix()
    related = [notice.message for notice in relations]
    return draft_text(
        list(facts), source=place, delimiter=source.dialect, encoding=encoding, missing=missing, related=related,
        recipient=recipient,
    )  # fmt: skip
