"""Delivery into a database: filled, counted again and judged in one transaction, and only then named."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.formats.source import is_url
from indistinct.outputs import Output, check_outputs, publish
from indistinct.proof.files import Part
from indistinct.proof.public_document import PublicPolicy
from indistinct.proof.release import verify_written
from indistinct.publish.deliver import Clock, counts_of, refuse_failed
from indistinct.publish.document import qualify
from indistinct.publish.manifest import stage_manifest_of
from indistinct.session.prepare import options_of
from indistinct.tables.count import silent
from indistinct.tables.in_postgresql import Target
from indistinct.tables.recount import as_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from indistinct.decision.decide import Decision
    from indistinct.outputs import Origin, Staged
    from indistinct.tables.count import Progress
    from indistinct.tables.in_postgresql import PostgreSQL


def target_of(output: object, table: str | None, manifest: str | Path | None) -> Target | None:
    """Take an output that is the URL of a database, with the table and the manifest that it needs; None for a file.

    Raises PolicyError where one of the three is missing, or is given with a file; UnsupportedError for a database that
    is not written.
    """
    if not is_url(output):
        if table is not None or manifest is not None:
            given = "the name of a table" if table is not None else "a place for the manifest"
            raise PolicyError(f"{given} goes with the URL of a database as output; a file has its manifest beside it")
        return None
    url = str(output)
    if not url.startswith(("postgresql:", "postgresql+")):
        raise UnsupportedError(f"tables are written to PostgreSQL only, not to {url.partition(':')[0]}; name a file")
    if table is None or manifest is None:
        raise PolicyError(
            "a release in a database needs the name of its table (--output-table, output_table) and a file for its "
            "manifest (--manifest, manifest)"
        )
    return Target(url, table, Path(manifest))


def deliver_into(
    decision: Decision,
    document: dict[str, Any],
    engine: PostgreSQL,
    target: Target,
    *,
    origins: Sequence[Origin],
    force: bool,
    beside: Callable[[dict[str, Any]], Iterable[Staged]],
    clock: Clock,
    progress: Progress = silent,
) -> None:
    """Fill a new table, verify what stands in it, rename it with the commit; the files follow, the manifest last."""
    published, table = decision.published, target.table
    check_outputs([Output(target.manifest, "manifest")], origins, force=force)
    engine.check(table, force=force)
    progress("write", 0, published.rows)
    written = engine.put(published, table)
    progress("write", published.rows, published.rows)
    clock.lap("write")
    document.update(verify_written(decision, None, written=written, progress=progress))
    refuse_failed(document)
    qualify(document)
    clock.lap("verify")
    delivered = {**document, "outputs": [target.shown], "manifest": str(target.manifest), "sha256": {}}
    counted = [column.name for column in published.columns]
    part = Part(as_source(engine.recount(written, counted, options_of(decision.policy)), table))
    public, counts, by = PublicPolicy.of(decision.policy), counts_of(document), document.get("accepted_draft")
    with ExitStack() as stack:
        manifest = stack.enter_context(
            stage_manifest_of([part], [table], {}, target.manifest, public, counts, accepted=by)
        )
        others = [stack.enter_context(file) for file in beside(delivered)]
        check_outputs([file.output for file in (*others, manifest)], origins, force=force)
        engine.rename(table, force=force)
        publish([*others, manifest], origins, force=force)
    document.update(delivered)
