"""The main job: decide on counts, apply once, verify the written file, and only then deliver it."""

from __future__ import annotations

import secrets
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack

from indistinct import markup
from indistinct.answers import Losses, Verdict
from indistinct.decision.decide import apply, decide, pseudonyms_given
from indistinct.formats.frames import give_back, kind_of
from indistinct.formats.source import is_standard_stream, origins_of
from indistinct.outputs import check_outputs, origin, publish
from indistinct.proof.ranges import check_ranges, with_ranges
from indistinct.publish.by_roles import ByRole, policy_or_roles
from indistinct.publish.deliver import (
    Clock,
    ask_ledger,
    deliver,
    files_of,
    outputs_of,
    refuse_failed,
    streamed_as,
    verified,
)
from indistinct.publish.document import document_of, qualify, record_acceptance
from indistinct.publish.in_database import deliver_into, target_of
from indistinct.publish.ready import ready
from indistinct.sentences.results import as_html, release_text
from indistinct.session.engines import engine_for
from indistinct.session.item_sets import with_item_levels
from indistinct.session.restates import restated
from indistinct.session.transformed import TransformedTable
from indistinct.tables.count import silent
from indistinct.tables.identifiers import mapping_output, stage_mapping
from indistinct.tables.in_postgresql import PostgreSQL
from indistinct.tables.two_tables import TwoTables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from indistinct.decision.decide import Decision
    from indistinct.formats.frames import Kind
    from indistinct.notices import Notice
    from indistinct.outputs import Origin, Staged
    from indistinct.policy import GivenPolicy, Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.engine import Engine
    from indistinct.tables.in_postgresql import Target
    from indistinct.tables.records import Recoding


@dataclass(frozen=True)
class Release:
    """A published table with what is known about it.

    ``document`` is the internal JSON document of the contract (for the steward, not for publication). ``origins`` are
    the files that it was made from; nothing that is made of it overwrites one.
    """

    document: dict[str, Any]
    decision: Decision = field(repr=False)
    kind: Kind = "pyarrow"
    origins: tuple[Origin, ...] = field(default=(), repr=False)

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
    def loss(self) -> Losses:
        """The information losses."""
        return Losses(self.document["loss"])

    @property
    def models(self) -> list[Verdict]:
        """One entry for each model: required, achieved, satisfied, reason."""
        return [Verdict(entry) for entry in self.document["models"]]

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the table and its manifest, verified from the written file; return the path.

        A release of two tables becomes ``stem.qit.suffix`` and ``stem.st.suffix``, or the sheets QIT and ST; the path
        of the first is returned.

        Raises PolicyError for a file that the release was made from, even with ``force``, and for one that exists
        without it; VerificationError when the written file is not what was decided; then nothing is left behind.
        """
        output = Path(path)
        deliver(self.decision, self.document, output, origins=self.origins, force=force)
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
    policy: GivenPolicy | None = None,
    *,
    output: str | Path | None = None,
    force: bool = False,
    query: str | None = None,
    sql_table: str | None = None,
    accept_draft: str | None = None,
    beside: Callable[[Release], Iterable[Staged]] | None = None,
    engine: str | None = None,
    output_table: str | None = None,
    manifest: str | Path | None = None,
    progress: Progress = silent,
    **roles: Unpack[ByRole],
) -> Release:
    """Publish a table that satisfies every model of the policy, and verify it.

    The reference distribution is that of the whole input. With ``output`` the file is written beside its place, read
    back, verified and only then renamed; the manifest comes last. The ``[[transforms]]`` of the policy are applied
    first, unless ``table`` is what ``transform`` returned or wrote: the release is one of the transformed table. Equal
    tables (in any order of rows) and policies give equal results, except where ``output.order = "shuffled"`` or a
    transform draws at random. ``beside`` is called with the finished release and yields files that stand beside the
    output, such as reports (``stage_report``): they are written before anything has its name, and then all files get
    theirs, or none.

    Whatever is raised, nothing is left behind.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, a file of one, or what ``Policy`` takes; without one the roles of all columns are named.
    output
        The file to write, in the format of its suffix, the URL of a database, or ``"-"`` for standard output, which
        gets the table when it is verified; without it nothing is written.
    force
        Replace files that exist.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    accept_draft
        Who accepts the suggestions of a draft that are still marked CONFIRM in its text; without a name such a policy
        is refused. The name stands in the manifest and the internal report.
    beside
        Yields files that belong to the output, from the finished release.
    engine
        What counts and publishes: ``"local"``, or ``"duckdb"`` for tables that do not fit into memory; by default that
        of the policy, else the one in which the table lies (a DuckDB relation), as far as it can do what is asked.
        ``"postgresql"`` counts a table in its database, and writes the release there where ``output`` is its URL.
    output_table, manifest
        With a URL as ``output``: the name of the new table (``schema.name``), and the file for its manifest. With
        ``"-"`` the manifest says what the table is called: ``published.csv.manifest.json``.
    progress
        Called with what is being done, and how far it is.
    **roles
        In place of a policy: ``quasi_identifiers``, ``sensitive``, ``identifying``, ``insensitive`` (names of columns),
        ``person``, and what must hold: ``k``, and ``l`` and ``t`` of the sensitive columns. Types and hierarchies are
        those that a draft proposes, which a notice says. A column that is not named is refused, or left out with
        ``others="drop"``.

    Returns
    -------
    Release
        The published table with its manifest; what was decided, measured and verified.

    Raises
    ------
    PolicyError, SchemaError, DataError, HierarchyError
        For wrong input.
    UnsupportedError
        For what an engine that was named cannot do.
    InfeasibleError
        When the target cannot be met, with ``reason`` and ``nearest``.
    VerificationError
        When a written file is not right, or a release breaks a guarantee of an earlier one in the ledger of
        ``[releases]``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> anonymize(pa.table({"age": [20, 22, 40, 41]}), policy).table.to_pydict()
    {'age': ['[20, 22]', '[20, 22]', '[40, 41]', '[40, 41]']}
    >>> anonymize(pa.table({"age": [20, 22, 40, 41]}), quasi_identifiers=["age"], k=2).table.to_pydict()
    {'age': ['[20, 23]', '[20, 23]', '[40, 41]', '[40, 41]']}
    """
    policy, proposed = policy_or_roles(table, policy, roles, query=query, sql_table=sql_table, progress=progress)
    policy.require_models()
    policy.require_decided(accept_draft)
    stream = sys.stdout.buffer if is_standard_stream(output) else None
    target = None if stream else target_of(output, output_table, manifest)
    path = streamed_as(policy, manifest) if stream else None if output is None or target else Path(output)
    origins = (*origins_of(table), *policy.origins)
    mappings = mappings_of(policy)
    check_outputs(
        [*files_of(policy, path, streamed=stream is not None), *map(mapping_output, mappings.values())],
        origins,
        force=force,
    )
    check_ranges(policy, (), path)
    with engine_for(table, policy, engine, path, target) as opened:
        release = _release(
            table, policy, path, target, opened, origins, stream=stream, force=force, query=query, sql_table=sql_table,
            accept_draft=accept_draft, proposed=proposed, beside=beside, progress=progress,
        )  # fmt: skip
    mapped = tuple(origin(file, f'the mapping of "{name}"') for name, file in mappings.items())
    return replace(release, origins=release.origins + mapped)


def _release(
    table: Any,
    policy: Policy,
    path: Path | None,
    target: Target | None,
    engine: Engine,
    origins: tuple[Origin, ...],
    *,
    stream: IO[bytes] | None,
    force: bool,
    query: str | None,
    sql_table: str | None,
    accept_draft: str | None,
    proposed: Sequence[Notice],
    beside: Callable[[Release], Iterable[Staged]] | None,
    progress: Progress,
) -> Release:
    """Make the release while the engine is open."""
    clock, mappings = Clock(), mappings_of(policy)
    begun = ready(
        table, policy, output=path, query=query, sql_table=sql_table, engine=engine, target=target, force=force,
        lap=clock.lap,
        progress=progress,
    )  # fmt: skip
    prepared, layout, ledger, before = begun.prepared, begun.layout, begun.ledger, begun.before
    clock.lap("count")
    clock.move("count", "read", prepared.counted.reading)
    prepared = with_item_levels(prepared)
    assignment = decide(prepared, progress)
    clock.lap("decide")
    decision = apply(prepared, assignment, layout)
    decision = replace(decision, published=with_ranges(decision.published, prepared))
    clock.lap("apply")
    document = document_of(decision, path) | before
    record_acceptance(document, policy, accept_draft)
    document["warnings"] += [notice.document() for notice in proposed]
    restating = restated(prepared, assignment, decision.recoding, starred=decision.starred)
    document["warnings"] += [notice.document() for notice in restating]
    clock.lap("measure")
    with ExitStack() as stack:
        given = pseudonyms_given(layout)
        # written beside its place now, so that a full disk is met in time; named when the release is delivered
        staged = [stack.enter_context(stage_mapping(file, given[name])) for name, file in mappings.items()]

        def companions(delivered: dict[str, Any]) -> Iterator[Staged]:
            yield from staged
            if beside is not None:
                yield from beside(Release(delivered, decision, kind_of(table), origins))

        if target is not None and isinstance(engine, PostgreSQL):
            deliver_into(
                decision, document, engine, target,
                origins=origins, force=force, beside=companions, clock=clock, progress=progress,
            )  # fmt: skip
        elif path is None:
            document.update(verified(decision, None, progress))
            refuse_failed(document)
            qualify(document)
            ask_ledger(ledger, decision, None, document)
            clock.lap("verify")
            if staged:
                publish(staged, origins)
        else:
            deliver(
                decision,
                document,
                path,
                origins=origins,
                force=force,
                beside=companions,
                stream=stream,
                clock=clock,
                progress=progress,
            )
    document["phases"] = clock.laps
    document["seconds"] = round(sum(clock.laps.values()), 3)
    return Release(document, decision, table.kind if isinstance(table, TransformedTable) else kind_of(table), origins)


def mappings_of(policy: Policy) -> dict[str, Path]:
    """Return where the mapping of each pseudonymized column goes, if it is wanted."""
    files = {name: attribute.mapping_file for name, attribute in policy.attributes.items()}
    return {name: policy.locate(file) for name, file in files.items() if file is not None}
