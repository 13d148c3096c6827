"""``indistinct anonymize``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from collections.abc import Iterator

    from indistinct.cli.common import Report
    from indistinct.policy import Policy
    from indistinct.releases.anonymize import Release
    from indistinct.tables.write import Staged


def anonymize(
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Published file: csv, tsv, parquet, arrow, xlsx, sav or dta."),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", help="Internal report for the steward: html, pdf, md or json.")
    ] = None,
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Report that may be published: html, pdf, md or json.")
    ] = None,
    dictionary_file: Annotated[
        Path | None, typer.Option("--dictionary", help="Data dictionary that may be published: md or json.")
    ] = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Attack the published table and say in the reports what was learnt.")
    ] = False,
    risk_file: Annotated[
        Path | None, typer.Option("--risk-document", help="Answer of risk --json, shown in the internal report.")
    ] = None,
    attack_file: Annotated[
        Path | None, typer.Option("--attack-document", help="Answer of attack --json, shown in the internal report.")
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

    Beside the output stands its manifest. Exit code 0: done, 1: the target cannot be met or a check failed, 2: wrong
    use, bad input or a document that cannot be written. Unless it is 0 nothing is written, no report either.
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
    _check_documents(source, given, output, wanted, language, force)
    if (attacks or risk_file or attack_file) and not (report_file or public_report):
        message = "--attacks, --risk-document and --attack-document are for reports: name one with --report"
        raise typer.BadParameter(message)
    if attacks and attack_file:
        message = "give either --attacks or --attack-document, not both"
        raise typer.BadParameter(message)
    found = {
        word: None if file is None else _read(file) for word, file in (("risk", risk_file), ("attacks", attack_file))
    }
    with progress(quiet=quiet or json) as report:

        def beside(release: Release) -> Iterator[Staged]:
            if attacks:
                found["attacks"] = _attacked(release, report)
            return _staged(release, wanted, language, found)

        release = run(
            source, given, output=output, force=force, query=query, sql_table=sql_table, beside=beside, progress=report
        )
    release.document.update({kind: str(file) for kind, file in wanted.items()})
    if json:
        print_json(release.document)
    elif not quiet:
        tell(repr(release))
    return 0


def _check_documents(
    source: str | Path, policy: Policy, output: Path, wanted: dict[str, Path], language: str, force: bool
) -> None:
    """Refuse documents that could not be written, or that are another file of this run, before anything runs."""
    if not wanted:
        return
    from indistinct.releases.manifest import manifest_path
    from indistinct.reports.dictionary import check_dictionary
    from indistinct.reports.public import check_public
    from indistinct.reports.report import check_report

    if "public_report" in wanted:
        check_public(policy)
    taken = {output.resolve(), manifest_path(output).resolve()}
    if isinstance(source, Path):
        taken.add(source.resolve())
    for kind, file in wanted.items():
        (check_dictionary if kind == "dictionary" else check_report)(file, language, force=force)
        if file.resolve() in taken:
            message = f"{file.name} is also another file of this run; name the {kind.replace('_', ' ')} differently"
            raise typer.BadParameter(message)
        taken.add(file.resolve())


def _read(file: Path) -> dict[str, Any]:
    """Read an answer that an earlier command printed."""
    from json import loads

    from indistinct.errors import DataError

    try:
        found = loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{file.name} cannot be read: {error.strerror}", file=file.name) from error
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise DataError(f"{file.name} is no JSON document; write it with --json", file=file.name)
    return found


def _attacked(release: Release, report: Report) -> dict[str, Any]:
    """Run the attacks that need nothing but the published table."""
    from indistinct.attacks import attack

    table = release.decision.published.table()
    second = None if release.decision.values is None else release.decision.values.table()
    return attack(table, release.policy, second=second, progress=report).document


def _staged(
    release: Release, wanted: dict[str, Path], language: str, found: dict[str, dict[str, Any] | None]
) -> Iterator[Staged]:
    """Write the documents beside their places, to be named with the release."""
    from indistinct.reports.dictionary import stage_dictionary
    from indistinct.reports.report import stage_report

    for kind, file in wanted.items():
        if kind == "dictionary":
            yield stage_dictionary(release, file, language=language)
        else:
            yield stage_report(release, file, language=language, public=kind == "public_report", **found)
