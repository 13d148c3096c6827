"""``Session``: a table read and counted once, and looked at under one policy after the other."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from indistinct import markup
from indistinct.algorithms import require_fit
from indistinct.assess.picture import picture_of, picture_without
from indistinct.decision.decide import decide, refuse_form
from indistinct.errors import InfeasibleError, UnsupportedError
from indistinct.formats.registry import open_source, with_missing
from indistinct.formats.source import origins_of, refuse_type
from indistinct.policy import given as given_policy
from indistinct.policy.recoding import option
from indistinct.publish.ready import ready
from indistinct.sentences.results import counted as told
from indistinct.session.item_sets import with_item_levels
from indistinct.session.prepare import options_of
from indistinct.session.verdicts import refuse_sequences
from indistinct.tables.count import silent
from indistinct.tables.kept import Remembering
from indistinct.tables.local import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from indistinct.answers import Verdict
    from indistinct.formats.source import Source, TableOptions
    from indistinct.policy import GivenPolicy, Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

# what may change without another reading, another hierarchy or another count: how much a model asks for
STRENGTHS = frozenset({"k", "l", "t", "c"})
MOST_PREPARED = 4


@dataclass(frozen=True)
class Picture:
    """What a release under a policy would look like, on counts; nothing was written, so nothing is verified.

    ``document`` is plain data, internal: it shows values of quasi-identifiers and what was lost.
    """

    document: dict[str, Any] = field(repr=False)

    @property
    def satisfied(self) -> bool:
        """Whether a release exists that every model holds for; publishing verifies it."""
        return bool(self.document["satisfied"])

    @property
    def models(self) -> list[Verdict]:
        """One entry for each model: required, achieved, satisfied, reason."""
        from indistinct.answers import Verdict

        return [Verdict(entry) for entry in self.document["models"]]

    def __repr__(self) -> str:
        """Write the picture in a few lines."""
        found = self.document
        if not found["feasible"]:
            nearest = f"\nwhat can be had: {found['nearest']}" if found["nearest"] else ""
            return f"no release (not verified): {found['reason']}{nearest}"
        lines = [
            f"{'holds' if found['satisfied'] else 'does not hold'} (not verified: nothing was written)",
            f"{told(found['classes'], 'class')}, the smallest of {found['smallest_class']} {found['unit']}",
            f"{100 * found['loss']['lm']:.1f} % of the detail lost, {found['suppressed_rows']} rows left out",
            *(f"  {entry['column']}: {100 * entry['lm']:.1f} %" for entry in found["columns"]),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return markup.preformatted(repr(self))


class Session:
    """A table, read and counted once, for looking at it under many policies.

    What was read stays in memory, packed; what was counted is kept by the set of columns. A policy that uses fewer
    columns is a group-by over counted cells. The table is read again only where the policy reads it in another way
    (separator, encoding, missing tokens of all columns, transforms), or where its file has changed.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    query, sql_table
        A query to a database, or a table of one, in place of a file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> session = Session(pa.table({"age": ["20", "22", "40", "41"]}))
    >>> age = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}
    >>> for k in (2, 3):
    ...     policy = Policy(attributes={"age": age}, privacy=[{"model": "k_anonymity", "k": k}])
    ...     picture = session.look(policy)
    ...     print(picture.document["classes"], picture.satisfied, picture.document["verified"])
    2 True False
    1 True False
    """

    def __init__(self, table: Any, *, query: str | None = None, sql_table: str | None = None) -> None:
        self.table, self._query, self._sql_table = table, query, sql_table
        self._sources: dict[str, Source] = {}
        self._engines: dict[str, Remembering] = {}
        self._prepared: dict[str, Prepared] = {}

    def look(self, policy: GivenPolicy, *, progress: Progress = silent) -> Picture:
        """Say what a release under a policy would look like; nothing is written, and nothing is verified.

        The decision is the one that ``anonymize`` makes of the same table and policy. A target that cannot be met is a
        picture too, with the reason and the nearest target.

        Parameters
        ----------
        policy
            The policy, a file of one, or its text.
        progress
            Called with what is being done, and how far it is; what it raises ends the look.

        Returns
        -------
        Picture
            Groups and their sizes, losses, rows left out, risk, and whether every model holds.

        Raises
        ------
        PolicyError, SchemaError, DataError, HierarchyError
            For what cannot be published, as ``anonymize`` raises them.
        UnsupportedError
            For m-invariance, which the ledger of earlier releases decides.
        """
        policy = given_policy(policy)
        policy.require_models()
        refuse_sequences(policy)
        prepared = with_item_levels(self.prepared(policy, progress=progress))
        try:
            assignment = decide(prepared, progress)
            return Picture(picture_of(prepared, assignment))
        except InfeasibleError as error:
            return Picture(picture_without(prepared, error))

    def source(self, policy: Policy) -> Source:
        """Return the table as the policy reads it, kept in memory after the first reading."""
        tokens = {name: own.missing_values for name, own in policy.attributes.items() if own.missing_values}
        return with_missing(self.opened(options_of(policy)), tokens)

    def opened(self, options: TableOptions) -> Source:
        """Return the table as it is read with these options, but for tokens of single columns; kept in memory."""
        options = replace(options, query=self._query, table=self._sql_table, missing_values={})
        key = _key(options, _stamps(origins_of(self.table)))
        if key not in self._sources:
            self._sources.clear()  # one way of reading at a time is kept: memory is that of one table
            self._engines.clear()
            self._prepared.clear()
            self._sources[key] = remembered(open_source(self.table, options))
        return self._sources[key]

    def prepared(self, policy: Policy, *, progress: Progress = silent) -> Prepared:
        """Count the table as a policy says, or take what was counted: only how much its models ask may differ."""
        source = self.source(policy)
        key = _key(_meaning(policy), _stamps(policy.origins))
        known = self._prepared.pop(key, None) if policy.releases is None else None
        if known is None:
            tokens = _key({name: own.missing_values for name, own in policy.attributes.items() if own.missing_values})
            # what transforms make is another table, at random another one each time
            engine = LOCAL if policy.transforms else self._engines.setdefault(tokens, Remembering())
            known = ready(
                self.table,
                policy,
                query=self._query,
                sql_table=self._sql_table,
                source=source,
                engine=engine,
                progress=progress,
            ).prepared
        self._prepared[key] = known
        while len(self._prepared) > MOST_PREPARED:
            del self._prepared[next(iter(self._prepared))]
        found = replace(known, policy=policy)
        require_fit(policy)
        refuse_form(found)
        return found


def remembered(source: Source) -> Source:
    """Return a source that reads its columns once, all together, and keeps them in memory as they came."""
    window: list[pa.RecordBatch] = []
    alone = Lock()  # columns that are carried are read by a thread of their own

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        with alone:
            if not window:  # whole or not at all: a broken line may end the reading
                window[:] = source.batches([name for name in source.columns if _is_readable(source, name)])
        return (batch.select(list(wanted)) for batch in window)

    return replace(source, read=read)


def _is_readable(source: Source, name: str) -> bool:
    """Whether a column has one value in each cell; others are refused when they are asked for."""
    with suppress(UnsupportedError):
        refuse_type(name, source.types[name])
        return True
    return False


def _meaning(policy: Policy) -> dict[str, Any]:
    """What a table is counted by: a policy without how much it asks, how it searches, and how many rows may go."""
    plain = policy.plain()
    for name in ("suppression", "release"):
        plain.pop(name, None)
    plain["recoding"] = [policy.recoding.algorithm, option(policy.recoding, "target")]
    plain["privacy"] = [
        {name: value for name, value in model.items() if name not in STRENGTHS} for model in plain.get("privacy", [])
    ]
    return {"base": str(policy.base), **plain}


def _stamps(files: Sequence[Any]) -> list[tuple[str, int, int]]:
    """Say in which state files are, so that one that changed is read again."""
    found = []
    for file in files:
        with suppress(OSError):
            state = file.place.stat()
            found.append((str(file.place), state.st_mtime_ns, state.st_size))
    return found


def _key(*facts: Any) -> str:
    return json.dumps(facts, default=str, sort_keys=True)
