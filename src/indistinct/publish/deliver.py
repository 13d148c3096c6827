"""Delivery of a release: written beside its place, verified from what was written, and only then named."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from time import perf_counter
from typing import TYPE_CHECKING, Any

from indistinct.algorithms import declared, form_of
from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.formats.registry import is_delimited
from indistinct.formats.source import STDIN
from indistinct.formats.write import table_output
from indistinct.history.consult import consult, open_ledger
from indistinct.outputs import Output, check_outputs, publish
from indistinct.proof.as_published import Counts
from indistinct.proof.groups import SHEETS, pair_of, verify_groups_written
from indistinct.proof.invariance import verify_invariance_written
from indistinct.proof.manifest import SUFFIX, manifest_path
from indistinct.proof.public_document import PublicPolicy
from indistinct.proof.published_file import (
    delimiter_of,
    duration_notices,
    missing_text,
    published_options,
    refuse_unwritable,
)
from indistinct.proof.ranges import check_ranges, false_ranges
from indistinct.proof.release import verify_written
from indistinct.publish.document import qualify
from indistinct.publish.formulas import formula_notices
from indistinct.publish.manifest import hashes, stage_manifest
from indistinct.session.absent_columns import range_names
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO

    from indistinct.decision.decide import Decision
    from indistinct.history.ledger import Ledger
    from indistinct.outputs import Origin, Staged
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published


def deliver(
    decision: Decision,
    document: dict[str, Any],
    output: Path,
    *,
    origins: Sequence[Origin],
    force: bool,
    beside: Callable[[dict[str, Any]], Iterable[Staged]] = lambda _: (),
    stream: IO[bytes] | None = None,
    clock: Clock | None = None,
    progress: Progress = silent,
) -> None:
    """Write beside the output, verify what was written, and give all files their names, that of the manifest last.

    ``beside`` yields further files, made from the finished document; they get their names with the output or never.
    ``origins`` are never overwritten, other files with ``force`` only. With a ``stream`` the table goes there in place
    of the output, when it is verified; the other files get their names when all of it has been taken.
    """
    clock = clock or Clock()
    prepared, policy, published = decision.prepared, decision.policy, decision.published
    targets = outputs_of(policy, output)
    check_outputs(files_of(policy, output, streamed=stream is not None), origins, force=force)
    check_ranges(policy, (), output)
    refuse_unwritable(prepared, output)
    progress("write", 0, published.rows)
    for table in _tables(decision):
        document["warnings"] += [notice.document() for notice in duration_notices(table.columns, output)]
    if not policy.output.spreadsheet_safe and is_delimited(output):
        for table in _tables(decision):
            notices = formula_notices(table.columns, table.repeat, secret=prepared.roles.sensitive)
            document["warnings"] += [notice.document() for notice in notices]
    with ExitStack() as stack:
        staged = [stack.enter_context(file) for file in _staged(decision, targets)]
        progress("write", published.rows, published.rows)
        clock.lap("write")
        document.update(verified(decision, [file.path for file in staged], progress))
        refuse_failed(document)
        qualify(document)
        ask_ledger(open_ledger(policy), decision, staged[0].path, document)
        clock.lap("verify")
        delivered = {
            **document,
            "outputs": [str(target) for target in targets] if stream is None else [STDIN],
            "manifest": str(manifest_path(output)),
            "sha256": hashes(staged),
        }
        try:
            public, counts = PublicPolicy.of(policy), counts_of(document)
            by = document.get("accepted_draft")
            manifest = stack.enter_context(stage_manifest(staged, public, counts, output, accepted=by))
            others = [stack.enter_context(file) for file in beside(delivered)]
        except DataError as error:
            raise DataError(f"{error.message}; nothing was delivered", **error.where) from error
        if stream is not None:
            pour(staged[0].path, stream)
        named = staged if stream is None else []
        publish([*named, *others, manifest], origins, force=force)
    document.update(delivered)


def counts_of(document: dict[str, Any]) -> Counts:
    """Return what the public document of a release is told beside the files."""
    before = {} if "transformed" not in document else {key: document[key] for key in ("transformed", "declares")}
    return Counts(document["rows"], document["left_out_rows"], document["suppressed_rows"], before)


def outputs_of(policy: Policy, output: Path) -> tuple[Path, ...]:
    """Return the files that a release writes when it is asked for this output."""
    return pair_of(output) if form_of(policy) == "two_tables" else (output,)


def files_of(policy: Policy, output: Path | None, *, streamed: bool = False) -> list[Output]:
    """Return all files that a release writes when it is asked for this output: the tables, and its manifest.

    Of a pair the output itself is among them, though nothing is written there: the manifest bears its name. A table
    that is ``streamed`` leaves only its manifest.
    """
    if output is None:
        return []
    targets = {} if streamed else dict.fromkeys((output, *outputs_of(policy, output)))
    return [*map(table_output, targets), Output(manifest_path(output), "manifest")]


def streamed_as(policy: Policy, manifest: str | Path | None) -> Path:
    """Return the name of a table that goes to standard output: the one that its manifest bears.

    >>> from indistinct.policy import KAnonymity, Policy
    >>> policy = Policy(attributes={"age": {"role": "qi"}}, privacy=[KAnonymity(2)])
    >>> streamed_as(policy, "out.csv.manifest.json").name
    'out.csv'

    Raises PolicyError without a manifest, and for releases of two tables.
    """
    place = None if manifest is None else Path(manifest)
    if place is None or not place.name.endswith(SUFFIX) or place.name == SUFFIX:
        raise PolicyError(
            "a table on standard output needs a file for its manifest that says what it is called and of which format "
            f"it is, such as --manifest published.csv{SUFFIX}"
        )
    if form_of(policy) == "two_tables":
        raise PolicyError("a release of two tables does not go to standard output; name a file", key="output")
    return place.with_name(place.name.removesuffix(SUFFIX))


def pour(file: Path, stream: IO[bytes]) -> None:
    """Copy a verified file to standard output.

    Raises DataError where not all of it is taken.
    """
    try:
        with file.open("rb") as source:
            copyfileobj(source, stream)
        stream.flush()
    except OSError as error:
        reason = "whoever reads it went away" if isinstance(error, BrokenPipeError) else str(error.strerror)
        raise DataError(
            f"standard output did not take the whole table ({reason}); no other file was written"
        ) from error


def ask_ledger(ledger: Ledger | None, decision: Decision, place: Path | None, document: dict[str, Any]) -> None:
    """Ask the ledger that the policy names, if it does, whether the release may go out."""
    if ledger is None:
        return
    document["ledger"], notices = consult(ledger, decision, place)
    document["warnings"] += [notice.document() for notice in notices]


def _tables(decision: Decision) -> list[Published]:
    return [decision.published, *([] if decision.values is None else [decision.values])]


def _staged(decision: Decision, targets: Sequence[Path]) -> Iterator[Staged]:
    """Let the engine write every table beside its place, or all to one file."""
    prepared, policy = decision.prepared, decision.policy
    tables, source = dict(zip(SHEETS, _tables(decision), strict=False)), prepared.source
    contents = [{name: table} for name, table in tables.items()] if len(targets) == len(tables) else [tables]
    for target, part in zip(targets, contents, strict=True):
        yield prepared.engine.write(
            target,
            part,
            delimiter=delimiter_of(target, source.dialect),
            missing=missing_text(policy),
            spreadsheet_safe=policy.output.spreadsheet_safe,
            labels={name: source.labels[name] for name in source.labels if _keeps_values(prepared, name)},
            column_labels=source.column_labels,
        )


def _keeps_values(prepared: Prepared, name: str) -> bool:
    """Whether a value that stands in the published column is an original one, so that its label fits."""
    roles = prepared.roles
    carried = (*roles.sensitive, *roles.insensitive)
    return name in (carried if declared(prepared.policy) == "perturbing" else (*carried, *roles.quasi))


def verified(decision: Decision, places: Sequence[Path] | None, progress: Progress) -> dict[str, Any]:
    """Verify what was written, or the tables in memory."""
    if decision.assignment.group_of is not None:
        proof = verify_groups_written(decision, places, progress=progress)
    elif decision.assignment.counterfeits is not None:
        proof = verify_invariance_written(decision, None if places is None else places[0], progress=progress)
    else:
        proof = verify_written(decision, None if places is None else places[0], progress=progress)
    if not range_names(decision.policy):
        return proof
    first = None if places is None else places[0]
    options = published_options(decision.policy, first, decision.prepared.source.dialect)
    if first is not None and len(places or ()) < len(_tables(decision)):
        options = replace(options, sheet=SHEETS[0])
    table = decision.published.table() if first is None else first
    faults = [*proof["verification"].get("faults", ()), *false_ranges(table, options, decision.prepared)]
    if faults:
        proof["verification"]["faults"] = faults
    return proof | {"satisfied": proof["satisfied"] and not faults}


def refuse_failed(document: dict[str, Any]) -> None:
    """Raise VerificationError for the first thing that the verification found wrong."""
    verification = document["verification"]
    if not verification["rows_match"]:
        columns = verification.get("altered_columns", [])
        raise VerificationError(
            f"{_named(columns)} cannot be read back from the written file as decided, so nothing was delivered; the "
            "format may not keep empty texts, missing tokens as texts, control characters or all digits: write parquet"
            if columns
            else "the rows read back from the written file are not those that were decided; nothing was delivered",
            **({"column": columns[0]} if columns else {}),
        )
    if verification.get("faults"):
        raise VerificationError(
            f"the published table contradicts itself: {'; '.join(verification['faults'])}; nothing was delivered; "
            "please report this"
        )
    if not verification.get("aggregates_match", True):
        columns = verification["deviating_columns"]
        raise VerificationError(
            f"a published cell of {_named(columns)} is not the declared aggregate of its class; nothing was delivered; "
            "please report this",
            column=columns[0],
        )
    if columns := verification.get("uncovered_columns", []):
        raise VerificationError(
            f"a published cell of {_named(columns)} does not cover its original; nothing was delivered; "
            "please report this",
            column=columns[0],
        )
    if not document["satisfied"]:
        failed = [entry for entry in document["models"] if not entry["satisfied"]]
        raise VerificationError(
            f"the published file does not satisfy {failed[0]['model']}: {failed[0]['reason']}; nothing was delivered"
        )


def _named(columns: Sequence[str]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f"the column{'s' if len(columns) > 1 else ''} {names}"


class Clock:
    """Measures how long each phase took, in seconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def move(self, phase: str, other: str, seconds: float) -> None:
        """Book a part of a phase under another name."""
        self.laps = {other: round(seconds, 4), **self.laps, phase: round(self.laps[phase] - seconds, 4)}

    def lap(self, phase: str) -> None:
        """Book the time since the last lap under a phase."""
        now = perf_counter()
        self.laps[phase] = round(self.laps.get(phase, 0.0) + now - self._last, 4)
        self._last = now
