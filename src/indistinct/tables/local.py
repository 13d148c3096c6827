"""The engine of this process: Arrow batches, arrays and kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from indistinct.formats.write import stage, stage_workbook
from indistinct.tables import apply, count, counterfeits, recount, two_tables
from indistinct.tables.engine import ONE_TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import Source, TableOptions
    from indistinct.outputs import Staged
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.engine import Engine, Form, Request
    from indistinct.tables.published import Published
    from indistinct.tables.records import Assignment, Recoding
    from indistinct.tables.recount import Recount


class Local:
    """The verbs of ``tables.engine``, done here."""

    name = "local"

    def count(self, source: Source, request: Request, progress: Progress = count.silent) -> Counted:
        """Read the source once and count it; columns that are not counted are read meanwhile."""
        with ThreadPoolExecutor(1) as other:
            loading = other.submit(apply.load_columns, source, request.carried) if request.carried else None
            counted = count.count(
                source, request.quasi, request.sensitive, request.bind,
                person=request.person, leave_out=request.leave_out, keep_rows=request.keep_rows, progress=progress,
            )  # fmt: skip
            return counted if loading is None else replace(counted, carried=loading.result())

    def apply(
        self,
        source: Source,
        counted: Counted,
        assignment: Assignment,
        recoding: Recoding,
        layout: Layout,
        form: Form = ONE_TABLE,
    ) -> tuple[Published, Published | None]:
        """Publish what was counted; the source is read again for columns that were not."""
        given = (source, counted, assignment, recoding, layout)
        if form.grouped is None:
            return apply.publish(*given, starred=form.starred), None
        if assignment.counterfeits is not None:
            return counterfeits.publish_with_counterfeits(*given, form.grouped), None
        if form.permuted:
            return two_tables.publish_permuted(*given, form.grouped, summed=form.summed), None
        pair = two_tables.publish_pair(*given, form.grouped)
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
