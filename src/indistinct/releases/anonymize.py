"""The main job: decide on counts, apply once, verify the written file, and only then deliver it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import losses
from indistinct.algorithms import DECLARES, algorithm
from indistinct.errors import IndistinctError, InfeasibleError, PolicyError, SchemaError, VerificationError
from indistinct.models import Context, evaluate
from indistinct.notices import Notice
from indistinct.releases.audit import persons_spread
from indistinct.releases.manifest import earlier_releases, publish_with, stage_manifest
from indistinct.releases.prepare import kept_identifying, near_unique, prepare
from indistinct.releases.published import delimiter_of, missing_text
from indistinct.releases.recount import matches
from indistinct.releases.verification import persons_of_labels, verify_written
from indistinct.risk.suitability import suitability
from indistinct.tables.apply import Layout, publish
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.count import silent
from indistinct.tables.frames import give_back, kind_of
from indistinct.tables.identifiers import mask, pseudonyms, read_key, write_mapping
from indistinct.tables.records import SUPPRESSED, Assignment
from indistinct.tables.write import check_output, formula_cells, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indistinct.policy import Policy
    from indistinct.releases.prepare import Prepared
    from indistinct.releases.recount import Recount
    from indistinct.tables.apply import Published
    from indistinct.tables.count import Progress
    from indistinct.tables.frames import Kind
    from indistinct.tables.records import Frequencies, Recoding

    Transform = Callable[[Sequence[str | None]], list[str | None]]


@dataclass(frozen=True)
class Release:
    """A published table with what is known about it.

    ``document`` is the internal JSON document of the contract (for the steward, not for publication).
    """

    document: dict[str, Any]
    policy: Policy = field(repr=False)
    recoding: Recoding = field(repr=False)
    assignment: Assignment = field(repr=False)
    prepared: Prepared = field(repr=False)
    published: Published = field(repr=False)
    kind: Kind = "pyarrow"

    @property
    def table(self) -> Any:
        """The published table in the kind of the caller's table (an Arrow table for files)."""
        return give_back(self.published.table(), self.kind)

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

        Raises VerificationError when the written file is not what was decided; then nothing is left behind.
        """
        output = Path(path)
        deliver(self.prepared, self.assignment, self.recoding, self.published, self.document, output, force=force)
        return output

    def __repr__(self) -> str:
        """Write a short readable account."""
        from indistinct.releases.texts import release_text

        return release_text(self.document)

    def _repr_html_(self) -> str:
        from indistinct.releases.texts import as_html, release_text

        return as_html(release_text(self.document))


def anonymize(
    table: Any,
    policy: Policy,
    *,
    output: str | Path | None = None,
    force: bool = False,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Publish a table that satisfies every model of the policy, and verify it.

    The reference distribution is that of the whole input. With ``output`` the file is written beside its place, read
    back, verified and only then renamed; the manifest comes last. Equal tables (in any order of rows) and policies
    give equal results, except where ``output.order = "shuffled"``.

    Raises PolicyError, SchemaError, DataError, HierarchyError for wrong input, InfeasibleError (with ``reason`` and
    ``nearest``) when the target cannot be met, VerificationError when a written file is not right. In every case
    nothing is left behind.

    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> anonymize(pa.table({"age": [20, 22, 40, 41]}), policy).table.to_pydict()
    {'age': ['[20, 22]', '[20, 22]', '[40, 41]', '[40, 41]']}
    """
    policy.require_models()
    decide = algorithm(policy.recoding.algorithm)
    path = None if output is None else Path(output)
    if path is not None:
        check_output(path, table if isinstance(table, str | Path) else None, force=force)
    clock = _Clock()
    prepared = prepare(table, policy, query=query, sql_table=sql_table, progress=progress)
    _refuse_near_unique(prepared)
    layout = _layout(prepared)
    clock.lap("count")
    clock.move("count", "read", prepared.counted.reading)
    assignment = decide(prepared.counted.frequencies, policy, progress)
    _check_limit(prepared, assignment)
    clock.lap("decide")
    recoding = recoding_of(prepared.counted.frequencies, assignment)
    starred = _starred(prepared, assignment)
    published = publish(prepared.source, prepared.counted, assignment, recoding, layout, starred=starred)
    clock.lap("apply")
    document = _document(prepared, assignment, recoding, published, path)
    clock.lap("measure")
    if path is None:
        document.update(verify_written(prepared, assignment, recoding, published, None, progress=progress))
        _refuse_failed(document)
        clock.lap("verify")
    else:
        deliver(
            prepared,
            assignment,
            recoding,
            published,
            document,
            path,
            force=force,
            clock=clock,
            progress=progress,
        )
    document["phases"] = clock.laps
    document["seconds"] = round(sum(clock.laps.values()), 3)
    return Release(document, policy, recoding, assignment, prepared, published, kind_of(table))


def deliver(
    prepared: Prepared,
    assignment: Assignment,
    recoding: Recoding,
    published: Published,
    document: dict[str, Any],
    output: Path,
    *,
    force: bool,
    clock: _Clock | None = None,
    progress: Progress = silent,
) -> None:
    """Write beside the output, verify what was written, rename, and write the manifest last."""
    clock = clock or _Clock()
    policy, source = prepared.policy, prepared.source
    check_output(output, None, force=force)
    progress("write", 0, published.rows)
    safe = policy.output.spreadsheet_safe
    if not safe and output.suffix.lower() in (".csv", ".tsv"):
        document["warnings"] += [notice.document() for notice in formula_cells(published.batches())]
    with stage(
        output,
        published.batches(),
        published.schema,
        delimiter=delimiter_of(output, source.dialect),
        missing=missing_text(policy),
        spreadsheet_safe=safe,
        labels={name: source.labels[name] for name in source.labels if _unchanged(prepared, name)},
        column_labels=source.column_labels,
    ) as staged:
        progress("write", published.rows, published.rows)
        clock.lap("write")
        document.update(verify_written(prepared, assignment, recoding, published, staged.path, progress=progress))
        _refuse_failed(document)
        clock.lap("verify")
        with stage_manifest(document, [staged], policy.hash()) as manifest:
            publish_with(manifest, staged)
    document["outputs"] = [str(output)]
    document["manifest"] = str(manifest.target)


def decided_again(
    table: Any, policy: Policy, found: Recount, *, query: str | None = None, sql_table: str | None = None
) -> dict[tuple[str | None, ...], int] | None:
    """Decide as ``anonymize`` would; the persons behind each label tuple if that gives the rows found, else None."""
    try:
        prepared = prepare(table, policy, query=query, sql_table=sql_table)
        assignment = algorithm(policy.recoding.algorithm)(prepared.counted.frequencies, policy, silent)
    except IndistinctError:
        return None
    recoding = recoding_of(prepared.counted.frequencies, assignment)
    starred = _starred(prepared, assignment)
    published = publish(prepared.source, prepared.counted, assignment, recoding, _layout(prepared), starred=starred)
    if {column.name for column in published.columns} != set(found.columns) or not matches(published, found):
        return None
    return persons_of_labels(prepared.counted.frequencies, assignment, recoding)


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


def _refuse_near_unique(prepared: Prepared) -> None:
    for name, once, rows in near_unique(prepared):
        raise SchemaError(
            f'"{name}" is insensitive, but {once} of {rows} rows hold a value that occurs once: published unchanged it '
            f"can identify people; make it identifying or quasi-identifying, or say confirmed = true under "
            f"[attributes.{name}] when nobody outside can know it",
            column=name,
        )


def _layout(prepared: Prepared) -> Layout:
    policy, roles, source = prepared.policy, prepared.roles, prepared.source
    transformed: dict[str, Transform] = {}
    for name in kept_identifying(roles):
        attribute = roles.attributes[name]
        transformed[name] = mask if attribute.action == "mask" else _pseudonymizer(prepared, name)
    dropped = {*roles.identifying, roles.person} - set(transformed)
    columns = tuple(name for name in source.columns if name not in dropped)
    return Layout(columns, prepared.carried, transformed, policy.output.suppressed_token, policy.output.order)


def _pseudonymizer(prepared: Prepared, name: str) -> Transform:
    attribute = prepared.roles.attributes[name]
    file = None if attribute.key_file is None else prepared.policy.locate(attribute.key_file)
    key = read_key(name, file, attribute.key_env)
    mapping = None if attribute.mapping_file is None else prepared.policy.locate(attribute.mapping_file)
    rows = prepared.counted.frequencies.total

    def transform(texts: Sequence[str | None]) -> list[str | None]:
        known = [text for text in texts if text is not None]
        if len(known) < rows - prepared.left_out:
            raise PolicyError(
                f'"{name}" has {len(known)} different values in {rows} rows: its pseudonym would tie the '
                "rows of one person "
                "together, and what they show jointly was not protected; keep one row for each person, or drop it",
                column=name,
            )
        replaced = pseudonyms(texts, key)
        if mapping is not None:
            write_mapping(mapping, texts, replaced)
        return replaced

    return transform


def _check_limit(prepared: Prepared, assignment: Assignment) -> None:
    """No algorithm is trusted with the limit: count again what it suppressed."""
    total = prepared.counted.frequencies.total
    limit = prepared.policy.suppression.limit
    allowed = limit.numerator * total // limit.denominator
    suppressed = int(assignment.count[assignment.class_of == SUPPRESSED].sum())
    if suppressed == total:
        raise InfeasibleError("every row would have to be suppressed; nothing is left to publish")
    if suppressed > allowed:
        raise VerificationError(
            f"the algorithm suppressed {suppressed} rows, more than the {allowed} allowed; please report this"
        )


def _starred(prepared: Prepared, assignment: Assignment) -> bool:
    """Whether suppressed rows are published with the token in every quasi-identifier."""
    rule, frequencies = prepared.policy.suppression.rows, prepared.counted.frequencies
    suppressed = assignment.class_of == SUPPRESSED
    if rule == "drop" or not suppressed.any():
        return False
    if rule == "exempt":
        return True
    together = np.where(suppressed, 0, SUPPRESSED).astype(np.int32)
    classes = classes_of(frequencies, Assignment(assignment.cell, assignment.count, together, 1))
    context = Context(frequencies.references)
    return all(bool(evaluate(model, classes, context).satisfied.all()) for model in prepared.policy.privacy)


def _unchanged(prepared: Prepared, name: str) -> bool:
    return name in prepared.carried or name in prepared.roles.sensitive


def _refuse_failed(document: dict[str, Any]) -> None:
    verification = document["verification"]
    if not verification["rows_match"]:
        columns = verification.get("altered_columns", [])
        raise VerificationError(
            f"{_named(columns)} cannot be read back from the written file as decided, so nothing was "
            "delivered; the format "
            "may not keep empty texts, missing tokens as texts, control characters or all digits: write parquet"
            if columns
            else "the rows read back from the written file are not those that were decided; nothing was delivered",
            **({"column": columns[0]} if columns else {}),
        )
    if verification["coverage"] != "proven":
        columns = verification["uncovered_columns"]
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


def _loss(frequencies: Frequencies, assignment: Assignment, recoding: Recoding, policy: Policy) -> dict[str, Any]:
    loss = losses.summary(frequencies, assignment, recoding)
    asked = max((model.k for model in policy.privacy if hasattr(model, "k")), default=None)
    if asked is not None:  # compared with the k asked for, so that runs can be compared
        loss["normalised_class_size"] = {"k": asked, "value": float(losses.normalised_class_size(assignment, asked))}
    return loss


def _document(
    prepared: Prepared, assignment: Assignment, recoding: Recoding, published: Published, output: Path | None
) -> dict[str, Any]:
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    suppressed = int(assignment.count[assignment.class_of == SUPPRESSED].sum())
    numeric = [
        name for name, attribute in policy.attributes.items() if attribute.type in ("integer", "decimal", "date")
    ]
    person_of_row = prepared.counted.person_of_row
    notices = [
        *prepared.notices,
        *suitability(
            frequencies,
            policy.privacy,
            numeric,
            rows_per_person=1 if person_of_row is None else int(np.bincount(person_of_row).max()),
            earlier_releases=0 if output is None else earlier_releases(output),
        ),
        *(Notice("search", None, note) for note in assignment.notes),
    ]
    if prepared.left_out:
        notices.append(
            Notice(
                "left-out",
                None,
                f"{prepared.left_out} rows with a missing sensitive value were left out, as the policy says",
            )
        )
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    return {
        "satisfied": False,
        "rows": frequencies.total + prepared.left_out,
        "persons": None if frequencies.persons is None else frequencies.persons.total,
        "published_rows": published.rows,
        "suppressed_rows": suppressed,
        "suppressed": policy.suppression.rows,
        "left_out_rows": prepared.left_out,
        "classes": assignment.classes,
        "unit": "rows" if frequencies.persons is None else "persons",
        "persons_in_several_classes": persons_spread(frequencies, assignment),
        "algorithm": policy.recoding.algorithm,
        "declares": DECLARES[policy.recoding.algorithm],
        "proven_optimal": assignment.proven,
        "seconds": 0.0,
        "phases": {},
        "loss": _loss(frequencies, assignment, recoding, policy),
        "levels": None if assignment.levels is None else dict(zip(names, assignment.levels, strict=True)),
        "models": [],
        "verification": {"rows_match": False, "coverage": "not proven"},
        "outputs": [],
        "manifest": None,
        "warnings": [notice.document() for notice in notices],
    }
