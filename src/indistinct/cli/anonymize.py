"""``indistinct anonymize``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from indistinct.releases.anonymize import Release


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
    dictionary_file: Annotated[
        Path | None, typer.Option("--dictionary", help="Data dictionary that may be published: md or json.")
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
    documents = {"report": report_file, "public_report": public_report, "dictionary": dictionary_file}
    wanted = {kind: file for kind, file in documents.items() if file is not None}
    _check_documents(source, output, wanted, language, force)
    with progress(quiet=quiet or json) as report:
        release = run(source, given, output=output, force=force, query=query, sql_table=sql_table, progress=report)
    _write_documents(release, wanted, language, force)
    if json:
        print_json(release.document)
    elif not quiet:
        tell(repr(release))
    return 0


def _check_documents(source: str | Path, output: Path, wanted: dict[str, Path], language: str, force: bool) -> None:
    """Refuse documents that could not be written, or that are another file of this run, before anything runs."""
    if not wanted:
        return
    from indistinct.releases.manifest import manifest_path
    from indistinct.reports.dictionary import check_dictionary
    from indistinct.reports.report import check_report

    taken = {output.resolve(), manifest_path(output).resolve()}
    if isinstance(source, Path):
        taken.add(source.resolve())
    for kind, file in wanted.items():
        (check_dictionary if kind == "dictionary" else check_report)(file, language, force=force)
        if file.resolve() in taken:
            message = f"{file.name} is also another file of this run; name the {kind.replace('_', ' ')} differently"
            raise typer.BadParameter(message)
        taken.add(file.resolve())


def _write_documents(release: Release, wanted: dict[str, Path], language: str, force: bool) -> None:
    """Write the documents beside the release and note their places in its answer."""
    if not wanted:
        return
    from indistinct.reports.dictionary import dictionary
    from indistinct.reports.report import report

    for kind, file in wanted.items():
        if kind == "dictionary":
            dictionary(release, file, language=language, force=force)
        else:
            report(release, file, language=language, public=kind == "public_report", force=force)
        release.document[kind] = str(file)
