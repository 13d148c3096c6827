"""The parts of a published release as they are given: one table, both of two, or a workbook that holds both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from indistinct.errors import IndistinctError
from indistinct.formats.source import path_of
from indistinct.proof.groups import SHEETS, holds_sheets
from indistinct.proof.published_file import count_published
from indistinct.tables.two_tables import GROUP, TOTALS, TwoTables

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from indistinct.formats.source import Source
    from indistinct.policy import Policy
    from indistinct.tables.recount import Recount


class Part(NamedTuple):
    """A table, and the sheet of it if it is a workbook with several."""

    table: Any
    sheet: str | None = None


def tables_of(published: Any, st: Any = None) -> tuple[Part, ...]:
    """Say which tables a release is given as; of two, first that of the quasi-identifiers."""
    if isinstance(published, TwoTables):
        published, st = published
    if st is not None:
        return Part(published), Part(st)
    path = path_of(published)
    if path is not None and holds_sheets(path):
        from indistinct.formats.spreadsheets import sheet_names

        try:
            if set(SHEETS) <= set(sheet_names(path)):
                return tuple(Part(published, sheet) for sheet in SHEETS)
        except IndistinctError:  # no readable workbook: reading it says so
            pass
    return (Part(published),)


def read_tables(
    tables: Sequence[Part], policy: Policy, original: Source, hidden: Collection[str], *, in_groups: bool
) -> list[tuple[Source, Recount]]:
    """Read each part as ``count_published``; ``in_groups`` allows the columns that such a release adds."""
    added = {GROUP, *TOTALS} if in_groups else set[str]()
    return [count_published(part.table, policy, original, hidden, added=added, sheet=part.sheet) for part in tables]
