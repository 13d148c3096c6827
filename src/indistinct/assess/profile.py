"""What is in a table: columns, types, suggested roles and why, what tells rows apart, and a policy to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indistinct import markup
from indistinct.assess.draft import written
from indistinct.errors import PolicyError
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions
from indistinct.plain import for_people
from indistinct.policy import suggest
from indistinct.risk.distinction import distinction, separation
from indistinct.risk.figure import plain, share
from indistinct.risk.safe_harbor import check_column
from indistinct.risk.unique_columns import unique_columns
from indistinct.sentences.columns import aligned
from indistinct.sentences.results import as_html, counted, warnings_text
from indistinct.session.column_counts import measured
from indistinct.session.related import related_columns
from indistinct.tables.count import silent
from indistinct.tables.keys import KeyTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from indistinct.policy import ColumnFacts, Suggestion
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]

HEAD = ("column", "type", "distinct", "missing", "distinction", "separation", "suggested role")
SETS_SHOWN = 10


@dataclass(frozen=True)
class Profile:
    """The answer of ``profile``: ``document`` is the JSON document of the contract. It holds no value of the table.

    But for the policy draft, which shows frequent values of suggested quasi-identifiers.
    """

    document: dict[str, Any]

    @property
    def policy(self) -> str:
        """The policy draft."""
        text: str = self.document["policy"]
        return text

    @property
    def roles(self) -> dict[str, str]:
        """Suggested role of each column."""
        return {column["column"]: column["suggested_role"] for column in self.document["columns"]}

    def __repr__(self) -> str:
        """Write a short readable account."""
        return profile_text(self.document)

    def _repr_html_(self) -> str:
        return markup.table("Columns", HEAD, _rows(self.document)) + as_html(profile_text(self.document))


def profile(
    table: Any,
    *,
    max_size: int = 3,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    beside: Path | None = None,
    progress: Progress = silent,
) -> Profile:
    """Look at every column, suggest roles with reasons, and find what tells rows apart. Nothing is decided.

    Distinction is the share of distinct values among the rows, separation the share of the pairs of rows that differ
    (``risk.distinction``), for each column and for the suggested quasi-identifiers together. ``max_size``: all minimal
    sets of up to so many columns on which no two rows are equal (``risk.unique_columns``; 0 leaves the search out).
    Columns that tell a suggested quasi-identifier, if they are published as they are, are named. Identifiers are
    recognised by name, form and check digits (``policy.identifiers``), locally.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    max_size
        Columns of a set that tells all rows apart, at most; 0 leaves the search out.
    delimiter, encoding, missing
        How a text file is read, where the first lines do not say.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    beside
        The folder that relative paths start from.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Profile
        Columns, suggested roles and sets of columns that tell rows apart.

    Raises
    ------
    SchemaError, DataError
        For a table that cannot be read.
    PolicyError
        For a negative size.

    Examples
    --------
    >>> import pyarrow as pa
    >>> answer = profile(pa.table({"age": ["30", "30", "41"], "sex": ["f", "m", "m"]}))
    >>> answer.roles, answer.document["unique_sets"]["sets"]
    ({'age': 'quasi_identifying', 'sex': 'quasi_identifying'}, [['age', 'sex']])
    """
    if max_size < 0:
        raise PolicyError(f"column sets of up to {max_size} columns do not exist; give a whole number from 0 on")
    options = TableOptions(delimiter=delimiter, encoding=encoding or "utf-8", query=query, table=sql_table)
    if missing is not None:
        options = TableOptions(options.delimiter, options.encoding, tuple(missing), query=query, table=sql_table)
    source = open_source(table, options)
    found = measured(source, keep=True, progress=progress)
    suggestions = [suggest(facts) for facts in found.facts]
    names = list(source.columns)
    quasi = [i for i, suggestion in enumerate(suggestions) if suggestion.role == "quasi_identifying"]
    related = related_columns(found, suggestions)
    document = {
        "rows": len(found.codes[0]),
        "columns": [
            _column(facts, suggestion, counts)
            for facts, suggestion, counts in zip(found.facts, suggestions, found.counts, strict=True)
        ],
        "quasi_identifiers": _together([names[i] for i in quasi], [found.codes[i] for i in quasi]),
        "unique_sets": _unique_sets(names, found.codes, max_size, progress),
        "safe_harbor": [check_column(facts).document() for facts in found.facts],
        "policy": written(table, source, found.facts, related, encoding=encoding, missing=missing, beside=beside),
        "warnings": [notice.document() for notice in (*source.warnings, *related)],
    }
    return Profile(document)


def _column(facts: ColumnFacts, suggestion: Suggestion, counts: NDArray[np.int64]) -> dict[str, Any]:
    seen = facts.identifier
    return {
        "column": facts.name,
        "type": facts.looks_like,
        "distinct": facts.distinct,
        "missing": facts.missing,
        "unique_rows": facts.singletons,
        "suggested_role": suggestion.role,
        "reason": suggestion.reason,
        "person_key": suggestion.is_person,
        "identifier": None
        if seen is None
        else {
            "kind": seen.identifier.name,
            "area": seen.identifier.area or None,
            "matched": seen.matched,
            "looked_at": seen.looked_at,
        },
        "distinction": plain(distinction(counts[counts > 0])),
        "separation": plain(separation(counts[counts > 0])),
    }


def _together(names: list[str], codes: list[Int32]) -> dict[str, Any]:
    """Distinction and separation of the suggested quasi-identifiers together."""
    if not names:
        return {"columns": [], "distinction": None, "separation": None, "sentence": "no column looks quasi-identifying"}
    keys = KeyTable(len(names))
    keys.add(codes, keep=False)
    counts = keys.counts
    unique, rows = int((counts == 1).sum()), len(codes[0])
    return {
        "columns": names,
        "distinction": plain(distinction(counts)),
        "separation": plain(separation(counts)),
        "unique_rows": unique,
        "sentence": f"{unique} of {rows} rows ({share(unique, rows)}) are alone with their values in these "
        f"{counted(len(names), 'column')}; two rows taken by chance differ in "
        f"{share(separation(counts), 1)} of all cases",
    }


def _unique_sets(names: list[str], codes: list[Int32], size: int, progress: Progress) -> dict[str, Any]:
    if size == 0:
        return {"size": 0, "sets": [], "checked": 0, "sentence": "column sets were not looked at"}
    found = unique_columns(codes, size, lambda done, total: progress("search", done, total))
    sets = [[names[column] for column in chosen] for chosen in found.sets]
    if found.copies is not None:
        sentence = "two rows are equal in every column: no set of columns tells all rows apart"
    elif sets:
        number = counted(len(sets), "set")
        sentence = f"{number} of columns identify every row; who knows one of them knows whose row it is"
    else:
        sentence = f"no set of up to {counted(found.size, 'column')} tells all rows apart"
    return {"size": found.size, "sets": sets, "checked": found.checked, "sentence": sentence}


def _rows(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """One line for each column, under ``HEAD``."""
    rows = []
    for column in document["columns"]:
        shares = (f"{column[key]['decimal']:.4f}" for key in ("distinction", "separation"))
        role = column["suggested_role"] + (" (person key)" if column["person_key"] else "")
        rows.append((column["column"], column["type"], str(column["distinct"]), str(column["missing"]), *shares, role))
    return rows


@for_people
def profile_text(document: Mapping[str, Any]) -> str:
    """Write the profile for a terminal."""
    lines = [f"{counted(document['rows'], 'rows')}, {counted(len(document['columns']), 'column')}", ""]
    head, *rows = aligned([HEAD, *_rows(document)])
    lines.append(head)
    for column, line in zip(document["columns"], rows, strict=True):
        lines += [line, f"    {column['reason']}"]
    quasi, unique = document["quasi_identifiers"], document["unique_sets"]
    lines += ["", f"suggested quasi-identifiers: {', '.join(quasi['columns']) or 'none'}", f"    {quasi['sentence']}"]
    lines.append(f"unique column sets: {unique['sentence']}")
    lines += [f"    {', '.join(chosen)}" for chosen in unique["sets"][:SETS_SHOWN]]
    if len(unique["sets"]) > SETS_SHOWN:
        lines.append(f"    and {len(unique['sets']) - SETS_SHOWN} more")
    flagged = [item for item in document["safe_harbor"] if item["verdict"] != "keep"]
    if flagged:
        lines += ["", "HIPAA Safe Harbor list (a checklist by name and form, no verdict on the table):"]
        lines += [f"    {item['verdict']} {item['column']}: {item['reason']}" for item in flagged]
    return "\n".join([*lines, *warnings_text(document["warnings"])])
