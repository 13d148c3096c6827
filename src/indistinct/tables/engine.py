"""What keeps rows: four verbs, behind which arrays with an entry for each row stay.

``tables.local`` is the engine of this process and the executable specification of any other: an engine gives the same
frequencies, the same multiset of published rows and the same recount for any order of its rows. Nothing asks it for the
number or the place of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import Source, TableOptions
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.outputs import Staged
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.published import Published
    from indistinct.tables.records import Assignment, Recoding
    from indistinct.tables.recount import Recount


@dataclass(frozen=True)
class Request:
    """What is to be counted, as ``tables.count.count`` says; ``carried``: columns that are published as they are."""

    quasi: Sequence[str]
    sensitive: Sequence[str]
    bind: Callable[[str, Sequence[str | None]], Hierarchy]
    person: str | None = None
    leave_out: Collection[str] = ()
    keep_rows: bool = False
    carried: Sequence[str] = ()


@dataclass(frozen=True)
class Form:
    """What tables a release consists of; by default of one, without its suppressed rows.

    ``grouped``: the sensitive attribute, where an assignment has groups or counterfeits; ``permuted``: its values stay
    in the one table, and with ``summed`` their sums too; ``starred``: suppressed rows are published with the token in
    every quasi-identifier.
    """

    grouped: str | None = None
    permuted: bool = False
    summed: bool = False
    starred: bool = False


ONE_TABLE = Form()


class Engine(Protocol):
    """The verbs of an engine, and its ``name`` in a policy."""

    name: str

    def count(self, source: Source, request: Request, progress: Progress = ...) -> Counted:
        """Count the rows of each cell, and look at the columns that are carried."""

    def apply(
        self,
        source: Source,
        counted: Counted,
        assignment: Assignment,
        recoding: Recoding,
        layout: Layout,
        form: Form = ...,
    ) -> tuple[Published, Published | None]:
        """Publish the rows of a source under an assignment; of a release of two tables also the second."""

    def write(
        self,
        output: Path,
        tables: Mapping[str, Published],
        *,
        delimiter: str = ",",
        missing: str = "",
        spreadsheet_safe: bool = False,
        labels: Mapping[str, Mapping[Any, str]] | None = None,
        column_labels: Mapping[str, str] | None = None,
    ) -> Staged:
        """Write tables beside their place, as ``formats.write.stage`` says: one, or the sheets of a workbook."""

    def recount(
        self,
        place: Any,
        columns: Sequence[str],
        options: TableOptions,
        *,
        temp_dir: Path | None = None,
        memory_bytes: int | None = None,
    ) -> Recount:
        """Count the distinct rows of a written table, by another reader than its writer (``tables.recount``)."""
