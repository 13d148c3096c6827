"""One column of a table: its values, and what a hierarchy does to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions, origins_of
from indistinct.hierarchies import draft, known
from indistinct.hierarchies.countries import countries
from indistinct.hierarchies.preview import preview
from indistinct.hierarchies.taxonomy import build as build_taxonomy
from indistinct.hierarchies.taxonomy import read_taxonomy, write_taxonomy
from indistinct.outputs import Output, check_outputs
from indistinct.policy import Policy
from indistinct.policy.looks import look
from indistinct.policy.systems import MADE_BY, system_of
from indistinct.session.prepare import binder, source_options
from indistinct.tables.count import translation
from indistinct.tables.dictionary import Dictionary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.preview import LevelPreview

ISO, COMPACT = "%Y-%m-%d", "%Y%m%d"  # read without a word, and as likely a code
# what is made of the form of the values alone, and by which look of a column it is chosen
KNOWN = {
    "icd10": known.icd10,
    "atc": known.atc,
    "zip3": known.zip3,
    "times": known.times,
    "bands": known.bands,
    "countries": countries,
}
KINDS = ("auto", "quantiles", "prefixes", "calendar", "rare", "frequent", *KNOWN)
RARE = 5


def column_counts(
    table: Any, column: str, options: TableOptions | None = None
) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct values of a column and how many rows have each."""
    source = open_source(table, options)
    if column not in source.columns:
        raise SchemaError.unknown_column(column, source.columns, file=source.name)
    numbers = Dictionary(column)
    codes = [numbers.encode(batch.column(0)) for batch in source.batches([column])]
    return numbers.texts, np.bincount(np.concatenate(codes), minlength=len(numbers.texts)).astype(np.int64)


def show(
    table: Any,
    column: str,
    *,
    policy: Path | None = None,
    file: Path | None = None,
    query: str | None = None,
    sql_table: str | None = None,
) -> Sequence[LevelPreview]:
    """Say what every level of a hierarchy does to a column: classes, smallest class, loss."""
    if policy is not None:
        given = Policy.load(policy)
        if column not in given.attributes:
            raise PolicyError(f'the policy has no attribute "{column}"', column=column)
        options = source_options(given, query=query, table=sql_table)
        texts, counts = column_counts(table, column, options)
        hierarchy = binder(given, open_source(table, options), [])(column, texts)
    else:
        texts, counts = column_counts(table, column, TableOptions(query=query, table=sql_table))
        path = Path(file or "")
        hierarchy = build_taxonomy(column, texts, read_taxonomy(path), path.name)
    rows = np.zeros(hierarchy.size, np.int64)
    np.add.at(rows, translation(texts, hierarchy), counts)
    return preview(hierarchy, rows)


def build(
    table: Any,
    column: str,
    output: Path,
    *,
    kind: str = "auto",
    type: str = "text",
    format: str | None = None,
    decimal: str = ".",
    keep: int = 10,
    query: str | None = None,
    sql_table: str | None = None,
    force: bool = False,
) -> list[tuple[str, ...]]:
    """Make a hierarchy from the values of a column and write it as a file that can be edited and read back.

    ``kind``: ``quantiles`` (numbers: intervals of about equally many rows with round ends), ``prefixes`` (codes),
    ``calendar`` (dates), ``rare`` (categories of fewer than 5 rows become "other"), ``frequent`` (the ``keep`` most
    frequent values and "other"), ``icd10``, ``atc``, ``zip3``, ``times``, ``bands`` (``hierarchies.known``),
    ``countries``, or ``auto``, which chooses by type and form.

    Raises PolicyError for an unknown kind, for an output that exists (unless ``force``) or is the source, and for dates
    whose format is not said, DataError for values that are none of the type.
    """
    origins = origins_of(table)
    check_outputs([Output(output, "hierarchy file")], origins, force=force)
    if kind not in KINDS:
        raise PolicyError(f'there is no kind "{kind}" of hierarchy to build; there are {", ".join(KINDS)}')
    if keep < 1:
        raise PolicyError(f"the number of values to keep must be 1 or more, not {keep}", key="--keep")
    if format is not None and kind != "calendar" and type != "date":
        raise PolicyError("--format says how dates are written: give --type date or --kind calendar", key="--format")
    if decimal != "." and kind != "quantiles" and type not in ("integer", "decimal"):
        raise PolicyError("--decimal is the mark of numbers: give --type integer or decimal too", key="--decimal")
    texts, counts = column_counts(table, column, TableOptions(query=query, table=sql_table))
    present = {text: int(rows) for text, rows in zip(texts, counts, strict=True) if text is not None}
    if not present:
        raise SchemaError(f'"{column}" has no values, only missing ones', column=column)
    if format is None and kind in ("auto", "calendar") and type in ("text", "date"):
        _ask_for_format(column, list(present), kind, type)
    if kind == "auto" and type == "text":
        kind = _known_by_form(present)
    if kind in KNOWN:
        rows = KNOWN[kind](present)
    elif kind == "frequent":
        rows = known.frequent(present, keep)
    else:
        rows = _measured(column, present, kind, type=type, decimal=decimal, format=format)
    write_taxonomy(output, rows, origins, force=force)
    return [tuple(row) for row in rows]


def _measured(
    column: str, present: Mapping[str, int], kind: str, *, type: str, decimal: str, format: str | None
) -> list[tuple[str, ...]]:
    """Make a hierarchy from the values and their rows."""
    if kind == "quantiles":
        number = type if type in ("integer", "decimal") else "decimal"
        return draft.quantiles(column, present, type=number, decimal=decimal)
    if kind == "prefixes":
        return draft.prefixes(present)
    if kind == "calendar":
        return draft.calendar(column, present, format=format)
    if kind == "rare":
        return draft.lump(present, RARE)
    counts: dict[str | None, int] = {text: rows for text, rows in present.items()}  # noqa: C416  # other keys
    return draft.draft(column, counts, type=type, minimum=RARE, decimal=decimal, format=format)


def _known_by_form(present: Mapping[str, int]) -> str:
    """Choose a hierarchy that is known by the form of the values; auto where none is."""
    system = system_of(list(present))
    seen = look(list(present.items()))
    if system or seen.strays:
        return MADE_BY[system][0] if system else "auto"
    return {"time": "times", "bands": "bands"}.get(seen.kind, "auto")


def _ask_for_format(column: str, texts: list[str], kind: str, type: str) -> None:
    """Raise PolicyError where values are dates, but not written as 2024-03-31: how to read them is the user's word."""
    seen = look([(text, 1) for text in texts])
    form = seen.detail if seen.kind == "date" else None
    if form in (None, ISO, COMPACT):
        return
    wanted = f"--format {form}" if kind == "calendar" or type == "date" else f"--type date --format {form}"
    other = "" if type == "date" or kind == "calendar" else ", or --kind prefixes to take them for codes"
    raise PolicyError(
        f'the values of "{column}" look like dates, such as {texts[0]}; say how they are written: {wanted}{other}',
        column=column,
    )
