"""``indistinct anonymize``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Force,
    Json,
    PolicyFile,
    Query,
    Quiet,
    SqlTable,
    place,
    print_json,
    progress,
    tell,
)


def anonymize(
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Published file: csv, tsv, parquet, arrow, xlsx, sav or dta."),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", help="Internal report for the steward: html, md or json.")
    ] = None,
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Report that may be published: html, md or json.")
    ] = None,
    language: Annotated[str, typer.Option("--language", help="Language of the reports: en or zh-CN.")] = "en",
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Publish a table that satisfies the policy, verified from the written file.

    Beside the output stands its manifest. Exit code 0: done, 1: the target cannot be met or a check failed (nothing is
    written), 2: wrong use or bad input.
    """
    from indistinct.policy import Policy
    from indistinct.releases.anonymize import anonymize as run

    given = Policy.load(policy)
    written = given.table.source
    if table is None and written is None:
        message = "say which table: as the argument, or as [table] source in the policy"
        raise typer.BadParameter(message)
    source = place(table) if table is not None else place(str(written), given.base)
    reports = [(file, public) for file, public in ((report_file, False), (public_report, True)) if file is not None]
    _check_reports(source, output, [file for file, _ in reports], language, force)
    with progress(quiet=quiet or json) as report:
        release = run(source, given, output=output, force=force, query=query, sql_table=sql_table, progress=report)
    if reports:
        from indistinct.reports.report import report as write

        for file, public in reports:
            write(release, file, language=language, public=public, force=force)
    if report_file is not None:
        release.document["report"] = str(report_file)
    if public_report is not None:
        release.document["public_report"] = str(public_report)
    if json:
        print_json(release.document)
    elif not quiet:
        tell(repr(release))
    return 0


def _check_reports(source: str | Path, output: Path, files: list[Path], language: str, force: bool) -> None:
    """Refuse reports that could not be written, or that are another file of this run, before anything runs."""
    if not files:
        return
    from indistinct.releases.manifest import manifest_path
    from indistinct.reports.report import check_report

    taken = {output.resolve(), manifest_path(output).resolve()}
    if isinstance(source, Path):
        taken.add(source.resolve())
    for file in files:
        check_report(file, language, force=force)
        if file.resolve() in taken:
            message = f"{file.name} is also another file of this run; name the report differently"
            raise typer.BadParameter(message)
        taken.add(file.resolve())
