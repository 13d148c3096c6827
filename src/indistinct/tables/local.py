"""The engine of this process: Arrow batches, arrays and kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from indistinct.formats.write import stage, stage_workbook
from indistinct.tables import apply, count, counterfeits, recount, two_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import Source, TableOptions
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.outputs import Staged
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.engine import Engine
    from indistinct.tables.published import Published
    from indistinct.tables.records import Assignment, Recoding
    from indistinct.tables.recount import Recount


class Local:
    """The verbs of ``tables.engine``, done here."""

    name = "local"

    def count(
        self,
        source: Source,
        quasi: Sequence[str],
        sensitive: Sequence[str],
        bind: Callable[[str, Sequence[str | None]], Hierarchy],
        *,
        person: str | None = None,
        leave_out: Collection[str] = (),
        keep_rows: bool = False,
        carried: Sequence[str] = (),
        progress: Progress = count.silent,
    ) -> Counted:
        """Read the source once and count it; columns that are not counted are read meanwhile."""
        with ThreadPoolExecutor(1) as other:
            loading = other.submit(apply.load_columns, source, carried) if carried else None
            counted = count.count(
                source, quasi, sensitive, bind,
                person=person, leave_out=leave_out, keep_rows=keep_rows, progress=progress,
            )  # fmt: skip
            return counted if loading is None else replace(counted, carried=loading.result())

    def apply(
        self,
        source: Source,
        counted: Counted,
        assignment: Assignment,
        recoding: Recoding,
        layout: Layout,
        *,
        grouped: str | None = None,
        permuted: bool = False,
        summed: bool = False,
        starred: bool = False,
    ) -> tuple[Published, Published | None]:
        """Publish what was counted; the source is read again for columns that were not."""
        given = (source, counted, assignment, recoding, layout)
        if grouped is None:
            return apply.publish(*given, starred=starred), None
        if assignment.counterfeits is not None:
            return counterfeits.publish_with_counterfeits(*given, grouped), None
        if permuted:
            return two_tables.publish_permuted(*given, grouped, summed=summed), None
        pair = two_tables.publish_pair(*given, grouped)
        return pair.qit, pair.st

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
        """Write the batches of the tables to a hidden file."""
        if len(tables) > 1:
            return stage_workbook(output, {name: (own.batches(), own.schema) for name, own in tables.items()})
        (table,) = tables.values()
        return stage(
            output,
            table.batches(),
            table.schema,
            delimiter=delimiter,
            missing=missing,
            spreadsheet_safe=spreadsheet_safe,
            labels=labels,
            column_labels=column_labels,
        )

    def recount(
        self,
        place: Any,
        columns: Sequence[str],
        options: TableOptions,
        *,
        temp_dir: Path | None = None,
        memory_bytes: int | None = None,
    ) -> Recount:
        """Count a written file with DuckDB where it reads the format, else with the reader here."""
        return recount.recount(place, columns, options, temp_dir=temp_dir, memory_bytes=memory_bytes)


LOCAL: Engine = Local()
