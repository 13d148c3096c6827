"""``indistinct anonymize``: the main job."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indistinct.cli.common import AcceptDraft, Force, PolicyFile
from indistinct.cli.options import Answer, Database, Where, grouped, source_of
from indistinct.formats.source import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.cli.common import Report
    from indistinct.outputs import Staged
    from indistinct.policy import Policy
    from indistinct.publish.anonymize import Release


LANGUAGE = "INDISTINCT_LANGUAGE"


@dataclass(frozen=True)
class Documents:
    """What is written about a release for people, and in which language."""

    report: Annotated[
        Path | None, typer.Option("--report", help="Internal report for the steward: html, pdf, md or json.")
    ] = None
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Report that may be published: html, pdf, md or json.")
    ] = None
    dictionary: Annotated[
        Path | None, typer.Option("--dictionary", help="Data dictionary that may be published: md or json.")
    ] = None
    dataset: Annotated[
        Path | None, typer.Option("--dataset", help="Metadata that may be published (schema.org): jsonld or json.")
    ] = None
    language: Annotated[
        str,
        typer.Option(
            "--language",
            help="Language of reports, dictionary and metadata: en or zh-CN.",
            envvar=LANGUAGE,
        ),
    ] = "en"

    @property
    def wanted(self) -> dict[str, Path]:
        """The documents that are asked for, by their kind."""
        named = ((one.name, getattr(self, one.name)) for one in fields(self) if one.name != "language")
        return {kind: file for kind, file in named if file is not None}

    @property
    def unused(self) -> str:
        """The language where it is asked for in vain; a variable speaks of many runs."""
        return "en" if self.wanted or self.language == os.environ.get(LANGUAGE) else self.language


@grouped
def anonymize(
    policy: PolicyFile,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Published file: csv, tsv, parquet, arrow, xlsx, sav, dta; a database URL; or - with --manifest.",
        ),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Attack the published table and say in the reports what was learnt.")
    ] = False,
    risk_file: Annotated[
        Path | None, typer.Option("--risk-document", help="Answer of risk --json, shown in the internal report.")
    ] = None,
    attack_file: Annotated[
        Path | None, typer.Option("--attack-document", help="Answer of attack --json, shown in the internal report.")
    ] = None,
    accept_draft: AcceptDraft = None,
    *,
    documents: Documents,
    database: Database,
    where: Where,
    force: Force = False,
    answering: Answer,
) -> int:
    """Publish a table that satisfies the policy, verified from the written file.

    Beside the output stands its manifest. Exit code 0: done, 1: the target cannot be met or a check failed, 2: wrong
    use, bad input or a document that cannot be written. Unless it is 0 nothing is written, no report either.
    """
    from indistinct.policy import Policy
    from indistinct.publish.anonymize import anonymize as run

    streamed = output == STDIN
    if streamed and answering.json:
        message = "standard output takes either the table or the JSON document: name a file with --output"
        raise typer.BadParameter(message)
    given = Policy.load(policy)
    given.require_decided(accept_draft)
    source = source_of(table, given)
    wanted, language = documents.wanted, documents.language
    _check_documents(source, given, output, where.manifest, wanted, language, [risk_file, attack_file], force=force)
    in_report = bool(documents.report or documents.public_report)
    _check_shown(attacks=attacks, given=[risk_file, attack_file], in_report=in_report, unused=documents.unused)
    found = {"risk": _read(risk_file), "attacks": _read(attack_file)}
    with answering.progress() as report:

        def beside(release: Release) -> Iterator[Staged]:
            if answering.json or documents.report:
                _tell_steward(release)
            if attacks:
                found["attacks"] = _attacked(release, report)
            return _staged(release, wanted, language, found)

        release = run(
            source, given, output=output, force=force, **vars(database), **vars(where), accept_draft=accept_draft,
            beside=beside, progress=report,
        )  # fmt: skip
    release.document.update({kind: str(file) for kind, file in wanted.items()})
    with redirect_stdout(sys.stderr) if streamed else nullcontext():
        answering.give(release.document, release)
    return 0


def _tell_steward(release: Release) -> None:
    """Put into the answer and the internal report what merges tell; it costs a run or two."""
    from indistinct.attacks.told_by_merging import told_by_merging

    release.document["told_by_merging"] = told_by_merging(release.decision)


def _check_shown(*, attacks: bool, given: list[Path | None], in_report: bool, unused: str) -> None:
    """Refuse what is for reports where there is none, and two answers to one question."""
    if (attacks or any(given)) and not in_report:
        message = "--attacks, --risk-document and --attack-document are for reports: name one with --report"
        raise typer.BadParameter(message)
    if unused != "en":
        message = "--language is for reports, data dictionaries and metadata: name one"
        raise typer.BadParameter(message)
    if attacks and given[-1]:
        message = "give either --attacks or --attack-document, not both"
        raise typer.BadParameter(message)


def _check_documents(
    source: str | Path,
    policy: Policy,
    output: str,
    manifest: Path | None,
    wanted: dict[str, Path],
    language: str,
    read: list[Path | None],
    *,
    force: bool,
) -> None:
    """Refuse documents that could not be written, or that are another file of this run, before anything runs."""
    if not wanted:
        return
    from indistinct.formats.source import is_url, origins_of
    from indistinct.outputs import check_outputs, origin
    from indistinct.publish.anonymize import mappings_of
    from indistinct.publish.deliver import files_of, streamed_as
    from indistinct.reports.dataset import dataset_output
    from indistinct.reports.dictionary import dictionary_output
    from indistinct.reports.front import check_fingerprint
    from indistinct.reports.public import check_public
    from indistinct.reports.report import report_output
    from indistinct.tables.identifiers import mapping_output

    if wanted.keys() & {"public_report", "dataset"}:
        check_public(policy)
    if "report" in wanted:
        check_fingerprint(policy)
    naming = {"dictionary": dictionary_output, "dataset": dataset_output}
    documents = [naming.get(kind, report_output)(file, language) for kind, file in wanted.items()]
    mappings = map(mapping_output, mappings_of(policy).values())
    given = [origin(file, "a document of this report") for file in read if file is not None]
    origins = (*origins_of(source), *policy.origins, *given)
    streamed = output == STDIN
    path = streamed_as(policy, manifest) if streamed else None if is_url(output) else Path(output)
    check_outputs([*files_of(policy, path, streamed=streamed), *mappings, *documents], origins, force=force)


def _read(file: Path | None) -> dict[str, Any] | None:
    """Read an answer that an earlier command printed, if one is given."""
    if file is None:
        return None
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
    from indistinct.attacks.run import attack

    table = release.decision.published.table()
    second = None if release.decision.values is None else release.decision.values.table()
    return attack(table, release.policy, second=second, progress=report).document


def _staged(
    release: Release, wanted: dict[str, Path], language: str, found: dict[str, dict[str, Any] | None]
) -> Iterator[Staged]:
    """Write the documents beside their places, to be named with the release."""
    for kind, file in wanted.items():
        if kind == "dictionary":
            from indistinct.reports.dictionary import stage_dictionary

            yield stage_dictionary(release, file, language=language)
        elif kind == "dataset":
            from indistinct.reports.dataset import stage_dataset

            yield stage_dataset(release, file, language=language)
        else:
            from indistinct.reports.report import stage_report

            yield stage_report(release, file, language=language, public=kind == "public_report", **found)
