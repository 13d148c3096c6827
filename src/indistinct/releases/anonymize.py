"""The main job: decide on counts, apply once, verify the written file, and only then deliver it."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct import markup
from indistinct.algorithms import require_fit
from indistinct.errors import PolicyError, SchemaError
from indistinct.policy import given as given_policy
from indistinct.releases.consult import open_ledger
from indistinct.releases.decision import apply, decide, layout_of, pseudonyms_given
from indistinct.releases.deliver import Clock, ask_ledger, deliver, outputs_of, refuse_failed, verified
from indistinct.releases.history import with_history
from indistinct.releases.item_sets import with_item_levels
from indistinct.releases.prepare import near_unique, prepare
from indistinct.releases.ranges import check_ranges, with_ranges
from indistinct.releases.release_document import document_of
from indistinct.releases.texts import as_html, release_text
from indistinct.releases.transform import Transformed, transformed
from indistinct.releases.transformed import qualify
from indistinct.tables.count import silent
from indistinct.tables.frames import give_back, kind_of
from indistinct.tables.identifiers import check_mapping, stage_mapping
from indistinct.tables.two_tables import TwoTables
from indistinct.tables.write import check_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from indistinct.policy import GivenPolicy, Policy
    from indistinct.releases.decision import Decision
    from indistinct.releases.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.frames import Kind
    from indistinct.tables.records import Recoding
    from indistinct.tables.write import Staged


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
    require_fit(policy)
    path = None if output is None else Path(output)
    if path is not None:
        for file in dict.fromkeys((path, *outputs_of(policy, path))):  # the manifest is named after the first
            check_output(file, table, force=force)
    check_ranges(policy, (), path)
    mappings = _mapping_files(policy, path)
    clock = Clock()
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
    document = document_of(decision, path) | before
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
            document.update(verified(decision, None, progress))
            refuse_failed(document)
            qualify(document)
            ask_ledger(ledger, decision, None, document)
            clock.lap("verify")
            for mapping in staged:
                mapping.publish()
        else:
            deliver(decision, document, path, force=force, beside=companions, clock=clock, progress=progress)
    document["phases"] = clock.laps
    document["seconds"] = round(sum(clock.laps.values()), 3)
    return Release(document, decision, table.kind if isinstance(table, Transformed) else kind_of(table))


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
