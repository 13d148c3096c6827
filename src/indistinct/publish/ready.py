"""A table made ready for a release: all that ``anonymize`` reads and refuses before it decides anything.

``explain``, ``compare`` and ``policy check`` go the same way, so that no command calls good what another one refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from indistinct.algorithms import require_fit
from indistinct.decision.decide import layout_of, refuse_form
from indistinct.formats.source import path_of
from indistinct.history.consult import open_ledger
from indistinct.history.signatures import with_history
from indistinct.notices import Notice, Sentence
from indistinct.proof.published_file import refuse_unwritable
from indistinct.proof.ranges import check_ranges
from indistinct.proof.transformed import transformed
from indistinct.session.engines import require_able, source_for, unseen
from indistinct.session.prepare import prepare, refuse_near_unique
from indistinct.session.restates import restated
from indistinct.session.transformed import refuse_floors
from indistinct.tables.count import silent
from indistinct.tables.in_postgresql import PostgreSQL
from indistinct.tables.local import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from indistinct.formats.source import Source
    from indistinct.history.ledger import Ledger
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Progress
    from indistinct.tables.engine import Engine
    from indistinct.tables.in_postgresql import Target


@dataclass(frozen=True)
class Ready:
    """What a release is decided on: the counted table, the columns to publish, the ledger of earlier releases.

    ``before`` are the entries of the document about transforms; what there is to warn of is in ``prepared``.
    """

    prepared: Prepared
    layout: Layout
    ledger: Ledger | None
    before: dict[str, Any]


def ready(
    table: Any,
    policy: Policy,
    *,
    output: Path | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    any_algorithm: bool = False,
    source: Source | None = None,
    engine: Engine = LOCAL,
    target: Target | None = None,
    force: bool = False,
    lap: Callable[[str], object] = lambda _: None,
    progress: Progress = silent,
) -> Ready:
    """Read, transform and count a table for a release, and refuse what cannot be published.

    ``lap`` is told when the transforms are done. ``any_algorithm``: another than that of the policy will decide, so
    nothing is refused that the policy's own could not hold. ``source``: the table, opened by somebody who keeps it; it
    is read in its place, unless transforms make another one. ``engine`` keeps the rows, and may write them to a
    ``target`` in its database, with ``force`` in place of another table.

    Raises UnsupportedError for what the engine cannot do; PolicyError, SchemaError, DataError, HierarchyError with the
    place.
    """
    if not any_algorithm:
        require_fit(policy)
    ledger = open_ledger(policy)
    given, before, notices = transformed(table, policy, query=query, sql_table=sql_table, progress=progress)
    if before:
        lap("transform")
    given = source if source is not None and given is table else given
    keep = ledger is not None
    opened = source_for(engine, given, policy, query=query, sql_table=sql_table)
    require_able(engine, policy, opened, output, target)
    if target is not None and isinstance(engine, PostgreSQL):
        engine.check(target.table, force=force)
    prepared = prepare(opened, policy, keep_rows=keep, engine=engine, progress=progress)
    prepared = with_history(prepared, ledger)
    notices += [*refuse_near_unique(prepared), *unseen(prepared.counted, engine)]
    refuse_unwritable(prepared, output)
    if not any_algorithm:
        refuse_form(prepared)
    layout = layout_of(prepared)
    check_ranges(policy, prepared.source.columns, output)
    return Ready(replace(prepared, notices=(*prepared.notices, *notices)), layout, ledger, before)


def check(policy: Policy, table: Any = None, *, progress: Progress = silent) -> dict[str, Any]:
    """Check a valid policy against the table it is for; return the document of ``policy check``.

    The table is read, transformed and counted as ``anonymize`` would, but nothing is decided: whether the target can be
    met is what ``explain`` says. Without a table or models, or where the file is not there, only the policy is judged.

    Raises what ``ready`` raises.
    """
    marks = [{"line": mark.line, "place": mark.place} for mark in policy.open_marks]
    found: dict[str, Any] = {"valid": True, "open": marks, "table": None}
    if policy.privacy:
        require_fit(policy)
    refuse_floors(policy)
    notices = policy.notices()
    path = path_of(table)
    if path is not None and not path.exists():
        message = Sentence(
            "{file}, which the policy names as its source, is not here: only the policy was checked", file=path.name
        )
        notices = (*notices, Notice("not-read", None, message))
    elif table is not None and policy.privacy:
        prepared = ready(table, policy, progress=progress).prepared
        notices = (*prepared.notices, *restated(prepared))
        found["table"] = {"rows": prepared.rows, "columns": len(prepared.source.columns)}
    return {**found, "warnings": [notice.document() for notice in notices]}
