"""A transformed table, read back and compared; and the one that a release is made of, or verified against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct import transforms
from indistinct.errors import VerificationError
from indistinct.notices import Notice, Sentence
from indistinct.proof.published_file import published_options
from indistinct.proof.recount import altered, matches
from indistinct.proof.release import as_spelled
from indistinct.session.transform_record import done_before, entries_of, require_same_transforms
from indistinct.session.transformed import TransformedTable, apply_transforms
from indistinct.tables.count import silent
from indistinct.tables.local import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress


def transformed(
    table: Any, policy: Policy, *, query: str | None = None, sql_table: str | None = None, progress: Progress = silent
) -> tuple[Any, dict[str, Any], list[Notice]]:
    """Return the table that a release under a policy is made of: its transforms are applied, here if not before.

    With it come the entries ``transformed`` and ``transforms`` of the document of the release, and warnings. A table
    that was transformed before is a file with its record, or what ``transform`` returned.

    Raises PolicyError for a table to which other transforms were applied, or that was made with a seed; what
    ``transform`` raises.
    """
    if isinstance(table, TransformedTable):
        require_same_transforms(table.document, policy)
        found = table
    elif (record := done_before(table, policy)) is not None:
        entries = entries_of(record)
        return table, entries, [_applied(entries["transformed"])]
    elif policy.transforms:
        found = apply_transforms(table, policy, query=query, sql_table=sql_table, progress=progress)
    else:
        return table, {}, []
    entries = entries_of(found.document)
    relevant = [
        Notice(**one) for one in found.document["warnings"] if one["kind"] in ("perturbing", "sampling", "persons")
    ]
    notices = [_applied(entries["transformed"], in_this_run=found is not table), *relevant]
    drawn = transforms.RANDOM.intersection(entries["transformed"])
    if drawn and found is not table:
        message = Sentence(
            "the table was changed at random ({methods}), which cannot be done again: to verify this release later, "
            "transform first, with 'indistinct transform', and keep the transformed table",
            methods=tuple(sorted(drawn)),
        )
        notices.append(Notice("not-kept", None, message))
    return found.as_source, {**entries, "transforms": found.document["transforms"]}, notices


def verifiable(
    table: Any, policy: Policy, *, query: str | None = None, sql_table: str | None = None, progress: Progress = silent
) -> tuple[Any, dict[str, Any], list[Notice]]:
    """Return the table that a release of a policy is verified against, as ``transformed`` does.

    With it comes what is known of the transforms before, and warnings.

    Transforms that draw at random cannot be done again: then ``table`` is taken as it is, with a warning.
    """
    random = transforms.RANDOM.intersection(one.method for one in policy.transforms)
    if random and not isinstance(table, TransformedTable) and done_before(table, policy) is None:
        message = Sentence(
            "the policy transforms the table at random first ({methods}), which cannot be done again: the release is "
            "verified against the table as given, which has to be the transformed one, as indistinct transform keeps "
            "it",
            methods=tuple(sorted(random)),
        )
        return table, {}, [Notice("not-applied", None, message)]
    return transformed(table, policy, query=query, sql_table=sql_table, progress=progress)


def _applied(methods: Sequence[str], *, in_this_run: bool = False) -> Notice:
    message = Sentence(
        "the table was transformed {when} ({methods}), which gives no k and no other guarantee: the models hold for "
        "the transformed table, and the release is verified against that table, not against the original",
        when=Sentence("in this run") if in_this_run else Sentence("before"),
        methods=tuple(methods),
    )
    return Notice("transformed", None, message)


def verify_transformed(found: TransformedTable, path: Path | None) -> None:
    """Read the result back by another reader and compare its rows.

    Raises VerificationError when they are not those that were to be written, or a cell is neither true nor blank.
    """
    proof = found.document["verification"]
    names = [column.name for column in found.published.columns]
    options = published_options(found.policy, path, found.source.dialect)
    read = LOCAL.recount(found.published.table() if path is None else path, names, options)
    again = as_spelled(read, found.published, found.policy, path)
    proof["rows_match"] = matches(found.published, again)
    if not proof["rows_match"]:
        columns = ", ".join(altered(found.published, again)) or "several columns together"
        raise VerificationError(f"the written rows are not those that were decided ({columns}); nothing was delivered")
    if refuted := [name for name, word in proof["coverage"].items() if word == "refuted"]:
        message = f'cells of "{refuted[0]}" are neither their originals nor blank; nothing was delivered'
        raise VerificationError(message, column=refuted[0])
