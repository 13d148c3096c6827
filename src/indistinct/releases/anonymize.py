"""The main job: decide on counts, apply once, verify the written file, and only then deliver it."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from indistinct import losses, markup
from indistinct.algorithms import declared, form_of
from indistinct.errors import DataError, PolicyError, SchemaError, VerificationError
from indistinct.models.safepub import budget
from indistinct.notices import Notice
from indistinct.policy import given as given_policy
from indistinct.policy.privacy import Safepub
from indistinct.releases.consult import consult, open_ledger
from indistinct.releases.decision import apply, decide, layout_of, pseudonyms_given
from indistinct.releases.groups import (
    PROTECTS,
    SHEETS,
    pair_of,
    verify_groups_written,
    weakness,
)
from indistinct.releases.history import with_history
from indistinct.releases.invariance import NO_CLAIM, verify_invariance_written
from indistinct.releases.item_sets import with_item_levels
from indistinct.releases.judge import persons_spread, unit_of, weaknesses
from indistinct.releases.lacking import range_names
from indistinct.releases.manifest import earlier_releases, hashes, manifest_path, publish_with, stage_manifest
from indistinct.releases.prepare import near_unique, prepare
from indistinct.releases.proof import verify_written
from indistinct.releases.published import delimiter_of, missing_text, published_options
from indistinct.releases.ranges import check_ranges, false_ranges, with_ranges
from indistinct.releases.texts import as_html, release_text
from indistinct.releases.transform import Transformed, transformed
from indistinct.releases.transformed import qualify
from indistinct.releases.withheld import withheld
from indistinct.tables.count import silent
from indistinct.tables.frames import give_back, kind_of
from indistinct.tables.identifiers import check_mapping, stage_mapping
from indistinct.tables.two_tables import TwoTables
from indistinct.tables.write import DELIMITED_OUTPUTS, check_output, formula_notices, stage, stage_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from indistinct.policy import GivenPolicy, Policy
    from indistinct.releases.decision import Decision
    from indistinct.releases.ledger import Ledger
    from indistinct.releases.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.frames import Kind
    from indistinct.tables.published import Published
    from indistinct.tables.records import Recoding
    from indistinct.tables.write import Staged

NEARLY_LOST = 0.9


@dataclass(frozen=True)
class Release:
    """A published table with what is known about it.

    ``document`` is the internal JSON document of the contract (for the steward, not for publication).
    """

    document: dict[str, Any]
    decision: Decision = field(repr=False)
    kind: Kind = "pyarrow"

    @property
    def table(self) -> Any:
        """The published table in the kind of the caller's table (an Arrow table for files).

        A release of two tables gives both, ``qit, st = release.table`` (``TwoTables``).
        """
        published = give_back(self.decision.published.table(), self.kind)
        if self.decision.values is None:
            return published
        return TwoTables(published, give_back(self.decision.values.table(), self.kind))

    @property
    def policy(self) -> Policy:
        """The policy that the table satisfies."""
        return self.decision.policy

    @property
    def recoding(self) -> Recoding:
        """How the classes are published."""
        return self.decision.recoding

    @property
    def verification(self) -> dict[str, Any]:
        """``rows_match`` and ``coverage`` of the verification."""
        found: dict[str, Any] = self.document["verification"]
        return found

    @property
    def loss(self) -> dict[str, Any]:
        """The information losses."""
        found: dict[str, Any] = self.document["loss"]
        return found

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the table and its manifest, verified from the written file; return the path.

        A release of two tables becomes ``stem.qit.suffix`` and ``stem.st.suffix``, or the sheets QIT and ST; the path
        of the first is returned.

        Raises VerificationError when the written file is not what was decided; then nothing is left behind.
        """
        output = Path(path)
        deliver(self.decision, self.document, output, force=force)
        return outputs_of(self.policy, output)[0]

    def __repr__(self) -> str:
        """Write a short readable account."""
        return release_text(self.document)

    def _repr_html_(self) -> str:
        lost = self.document["loss"]["lm_by_attribute"]
        texts = [f"{100 * share:.1f} %" for share in lost.values()]
        described = "; ".join(f"{name}: {text}" for name, text in zip(lost, texts, strict=True))
        unique = f"lost-{secrets.token_hex(4)}"  # a notebook shows several releases on one page
        chart = markup.bars(unique, "Detail lost", described, [*lost], [("", texts, [*lost.values()])])
        return chart + as_html(release_text(self.document), self.document["models"])


def anonymize(
    table: Any,
    policy: GivenPolicy,
    *,
    output: str | Path | None = None,
    force: bool = False,
    query: str | None = None,
    sql_table: str | None = None,
    beside: Callable[[Release], Iterable[Staged]] | None = None,
    progress: Progress = silent,
) -> Release:
    """Publish a table that satisfies every model of the policy, and verify it.

    The reference distribution is that of the whole input. With ``output`` the file is written beside its place, read
    back, verified and only then renamed; the manifest comes last. The ``[[transforms]]`` of the policy are applied
    first, unless ``table`` is what ``transform`` returned or wrote: the release is one of the transformed table. Equal
    tables (in any order of rows) and policies give equal results, except where ``output.order = "shuffled"`` or a
    transform draws at random. ``beside`` is called with the finished release and yields files that stand beside the
    output, such as reports (``stage_report``): they are written before anything has its name, and then all files get
    theirs, or none.

    Raises PolicyError, SchemaError, DataError, HierarchyError for wrong input, InfeasibleError (with ``reason`` and
    ``nearest``) when the target cannot be met, VerificationError when a written file is not right, or a release breaks
    a guarantee of an earlier one in the ledger of ``[releases]``. In every case nothing is left behind.

    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> anonymize(pa.table({"age": [20, 22, 40, 41]}), policy).table.to_pydict()
    {'age': ['[20, 22]', '[20, 22]', '[40, 41]', '[40, 41]']}
    """
    policy = given_policy(policy)
    policy.require_models()
    path = None if output is None else Path(output)
    if path is not None:
        for file in dict.fromkeys((path, *outputs_of(policy, path))):  # the manifest is named after the first
            check_output(file, table, force=force)
    check_ranges(policy, (), path)
    mappings = _mapping_files(policy, path)
    clock = _Clock()
    ledger = open_ledger(policy)
    given, before, notices = transformed(table, policy, query=query, sql_table=sql_table, progress=progress)
    if before:
        clock.lap("transform")
    prepared = prepare(given, policy, keep_rows=ledger is not None, query=query, sql_table=sql_table, progress=progress)
    prepared = with_history(prepared, ledger)
    _refuse_near_unique(prepared)
    layout = layout_of(prepared)
    check_ranges(policy, prepared.source.columns, path)
    clock.lap("count")
    clock.move("count", "read", prepared.counted.reading)
    prepared = with_item_levels(prepared)
    assignment = decide(prepared, progress)
    clock.lap("decide")
    decision = apply(prepared, assignment, layout)
    decision = replace(decision, published=with_ranges(decision.published, prepared))
    clock.lap("apply")
    document = _document(decision, path) | before
    document["warnings"] += [notice.document() for notice in notices]
    clock.lap("measure")
    with ExitStack() as stack:
        given = pseudonyms_given(layout)
        # written beside its place now, so that a full disk is met in time; named when the release is delivered
        staged = [stack.enter_context(stage_mapping(file, given[name])) for name, file in mappings.items()]

        def companions(delivered: dict[str, Any]) -> Iterator[Staged]:
            yield from staged
            if beside is not None:
                yield from beside(Release(delivered, decision, kind_of(table)))

        if path is None:
            document.update(_verified(decision, None, progress))
            _refuse_failed(document)
            qualify(document)
            _ask(ledger, decision, None, document)
            clock.lap("verify")
            for mapping in staged:
                mapping.publish()
        else:
            deliver(decision, document, path, force=force, beside=companions, clock=clock, progress=progress)
    document["phases"] = clock.laps
    document["seconds"] = round(sum(clock.laps.values()), 3)
    return Release(document, decision, table.kind if isinstance(table, Transformed) else kind_of(table))


def outputs_of(policy: Policy, output: Path) -> tuple[Path, ...]:
    """Return the files that a release writes when it is asked for this output."""
    return pair_of(output) if form_of(policy) == "two_tables" else (output,)


def deliver(
    decision: Decision,
    document: dict[str, Any],
    output: Path,
    *,
    force: bool,
    beside: Callable[[dict[str, Any]], Iterable[Staged]] = lambda _: (),
    clock: _Clock | None = None,
    progress: Progress = silent,
) -> None:
    """Write beside the output, verify what was written, rename, and write the manifest last.

    ``beside`` yields further files, made from the finished document; they get their names with the output or never.
    """
    clock = clock or _Clock()
    prepared, policy, published = decision.prepared, decision.policy, decision.published
    targets = outputs_of(policy, output)
    for target in dict.fromkeys((output, *targets)):
        check_output(target, None, force=force)
    check_ranges(policy, (), output)
    progress("write", 0, published.rows)
    if not policy.output.spreadsheet_safe and output.suffix.lower() in DELIMITED_OUTPUTS:
        for table in _tables(decision):
            notices = formula_notices(table.columns, table.repeat, secret=prepared.roles.sensitive)
            document["warnings"] += [notice.document() for notice in notices]
    with ExitStack() as stack:
        staged = [stack.enter_context(file) for file in _staged(decision, targets)]
        progress("write", published.rows, published.rows)
        clock.lap("write")
        document.update(_verified(decision, [file.path for file in staged], progress))
        _refuse_failed(document)
        qualify(document)
        _ask(open_ledger(policy), decision, staged[0].path, document)
        clock.lap("verify")
        delivered = {
            **document,
            "outputs": [str(target) for target in targets],
            "manifest": str(manifest_path(output)),
            "sha256": hashes(staged),
        }
        try:
            manifest = stack.enter_context(stage_manifest(withheld(delivered, decision), staged, policy.hash(), output))
            others = [stack.enter_context(file) for file in beside(delivered)]
        except DataError as error:
            raise DataError(f"{error.message}; nothing was delivered", **error.where) from error
        publish_with(manifest, *staged, *others)
    document.update(delivered)


def _ask(ledger: Ledger | None, decision: Decision, place: Path | None, document: dict[str, Any]) -> None:
    """Ask the ledger that the policy names, if it does, whether the release may go out."""
    if ledger is None:
        return
    document["ledger"], notices = consult(ledger, decision, place)
    document["warnings"] += [notice.document() for notice in notices]


def _tables(decision: Decision) -> list[Published]:
    return [decision.published, *([] if decision.values is None else [decision.values])]


def _staged(decision: Decision, targets: Sequence[Path]) -> Iterator[Staged]:
    """Write every table beside its place."""
    prepared, policy = decision.prepared, decision.policy
    tables, source = _tables(decision), prepared.source
    if len(tables) > len(targets):
        sheets = {name: (table.batches(), table.schema) for name, table in zip(SHEETS, tables, strict=True)}
        yield stage_workbook(targets[0], sheets)
        return
    for target, table in zip(targets, tables, strict=True):
        yield stage(
            target,
            table.batches(),
            table.schema,
            delimiter=delimiter_of(target, source.dialect),
            missing=missing_text(policy),
            spreadsheet_safe=policy.output.spreadsheet_safe,
            labels={name: source.labels[name] for name in source.labels if _keeps_values(prepared, name)},
            column_labels=source.column_labels,
        )


def _verified(decision: Decision, places: Sequence[Path] | None, progress: Progress) -> dict[str, Any]:
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


class _Clock:
    """Measures how long each phase took, in seconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def move(self, phase: str, other: str, seconds: float) -> None:
        """Book a part of a phase under another name."""
        self.laps = {other: round(seconds, 4), **self.laps, phase: round(self.laps[phase] - seconds, 4)}

    def lap(self, phase: str) -> None:
        now = perf_counter()
        self.laps[phase] = round(self.laps.get(phase, 0.0) + now - self._last, 4)
        self._last = now


def _mapping_files(policy: Policy, output: Path | None) -> dict[str, Path]:
    """Where the mapping of each pseudonymized column goes, if it is wanted: to a new file of its own."""
    taken = set() if output is None else {output.resolve()}
    files = {}
    for name, attribute in policy.attributes.items():
        if attribute.mapping_file is not None:
            file = policy.locate(attribute.mapping_file)
            check_mapping(file)
            if file.resolve() in taken:
                message = f'the mapping "{file.name}" of "{name}" is also another output; name another mapping_file'
                raise PolicyError(message, column=name)
            taken.add(file.resolve())
            files[name] = file
    return files


def _refuse_near_unique(prepared: Prepared) -> None:
    for name, once, rows in near_unique(prepared):
        raise SchemaError(
            f'"{name}" is insensitive, but {once} of {rows} rows hold a value that occurs once: published unchanged it '
            f"can identify people; make it identifying or quasi-identifying, or say confirmed = true under "
            f"[attributes.{name}] when nobody outside can know it",
            column=name,
        )


def _keeps_values(prepared: Prepared, name: str) -> bool:
    """Whether a value that stands in the published column is an original one, so that its label fits."""
    roles = prepared.roles
    kept = (*roles.sensitive, *roles.insensitive)
    return name in (kept if declared(prepared.policy) == "perturbing" else (*kept, *roles.quasi))


def _refuse_failed(document: dict[str, Any]) -> None:
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


def _loss(decision: Decision) -> dict[str, Any]:
    loss = losses.summary(decision.frequencies, decision.assignment, decision.recoding)
    asked = max((model.k for model in decision.policy.privacy if hasattr(model, "k")), default=None)
    if asked is not None:  # compared with the k asked for, so that runs can be compared
        value = float(losses.normalised_class_size(decision.assignment, asked))
        loss["normalised_class_size"] = {"k": asked, "value": value}
    return loss


def _lost_columns(loss: dict[str, Any]) -> list[Notice]:
    """Name the columns that say almost nothing any more."""
    return [
        Notice(
            "lost-column",
            name,
            f'"{name}" has lost {100 * share:.0f} % of its detail: leave it out, give it finer levels or a '
            "range, or ask "
            "for less protection",
        )
        for name, share in loss["lm_by_attribute"].items()
        if share > NEARLY_LOST
    ]


def _document(decision: Decision, output: Path | None) -> dict[str, Any]:
    prepared, policy, frequencies = decision.prepared, decision.policy, decision.frequencies
    assignment = decision.assignment
    notices = [
        *prepared.notices,
        *weaknesses(prepared, earlier_releases=0 if output is None else earlier_releases(output)),
        *(Notice("search", None, note) for note in assignment.notes),
    ]
    if prepared.counted.left_out:
        message = "rows with a missing sensitive value were left out, as the policy says"
        notices.append(Notice("left-out", None, f"{prepared.counted.left_out} {message}"))
    if declared(policy) == "perturbing":
        message = (
            f"quasi-identifiers are the {policy.recoding.aggregate} of their class (median or mode where there is no "
            "mean): a published cell need not cover its original, and losses are those of the ranges of the classes"
        )
        notices.append(Notice("perturbing", None, message))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    grouped, adding = assignment.group_of is not None, assignment.counterfeits is not None
    if adding:
        added = 0 if assignment.counterfeits is None else len(assignment.counterfeits)
        message = (
            f"{added} of {decision.published.rows} published rows are counterfeits, which are nobody's: that every row "
            "stands for somebody is not claimed"
        )
        notices.append(Notice("counterfeits", None, message))
    if grouped:
        notices.append(weakness(decision.published, names))
    spending = [model for model in policy.privacy if isinstance(model, Safepub)]
    loss = _loss(decision)
    notices += _lost_columns(loss)
    return {
        "satisfied": False,
        "rows": prepared.rows,
        "published_rows": decision.published.rows,
        "suppressed_rows": decision.suppressed,
        "suppressed": policy.suppression.rows,
        "left_out_rows": prepared.counted.left_out,
        **({"suppressed_because": dict(assignment.reasons)} if grouped or adding else {}),
        "classes": assignment.classes,
        **({"groups": assignment.groups} if grouped else {}),
        **unit_of(frequencies),
        "persons_in_several_classes": persons_spread(frequencies, assignment),
        "algorithm": policy.recoding.algorithm,
        "declares": declared(policy),
        "form": form_of(policy),
        **({} if policy.output.ranges == "label" else {"ranges": policy.output.ranges}),
        **({"protects": PROTECTS} if grouped else {}),
        **({"no_claim": NO_CLAIM} if adding else {}),
        "proven_optimal": assignment.proven,
        "seconds": 0.0,
        "phases": {},
        "loss": loss,
        "levels": None if assignment.levels is None else dict(zip(names, assignment.levels, strict=True)),
        **({"budget": budget(spending[0])} if spending else {}),
        "models": [],
        "verification": {"rows_match": False, "coverage": "not proven"},
        "outputs": [],
        "manifest": None,
        "sha256": {},
        "warnings": [notice.document() for notice in notices],
    }
