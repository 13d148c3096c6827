"""Sentences about risk."""

from __future__ import annotations

from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from indistinct import markup
from indistinct.plain import for_people
from indistinct.sentences.columns import aligned
from indistinct.sentences.results import counted, number, warnings_text

if TYPE_CHECKING:
    from collections.abc import Mapping

SETS_SHOWN = 5
SHOWN = ("highest", "average", "share", "rows", "rows_at_risk", "expected_matches", "households_at_risk", "checked")


@for_people
def risk_text(document: Mapping[str, Any]) -> str:
    """Write the answer: each figure with its numbers and its sentence, and the published table beside it."""
    after = document["published"]
    lines = [f"{counted(document['rows'], 'rows')} in {counted(document['classes'], 'class')}"]
    if document["suppressed_rows"]:
        lines.append(f"{document['suppressed_rows']} rows are fully suppressed and left out")
    if after is not None:
        lines.append(f"published: {counted(after['rows'], 'rows')} in {counted(after['classes'], 'class')}")
    lines += [one["stars"]["sentence"] for one in (document, after) if one is not None and one["stars"] is not None]
    beside = {_key(entry): entry for entry in after["measures"]} if after is not None else {}
    lines.append("")
    for entry in document["measures"]:
        lines.append(f"{_key(entry)}: {_numbers_of(entry)}")
        lines += [f"    {entry['sentence']}", *_sets_of(entry)]
        if after is not None and (other := beside.get(_key(entry))) is not None:
            lines.append(f"    published: {_numbers_of(other)}")
            lines += [f"    {other['sentence']}", *_sets_of(other)]
    lines.append("")
    lines += [band["sentence"] for band in (after or document)["class_sizes"]]
    return "\n".join([*lines, *warnings_text(document["warnings"])])


def risk_table(document: Mapping[str, Any]) -> str:
    """Write the figures as HTML, those of the published table beside them."""
    after = document["published"]
    columns = [
        {_key(entry): _numbers_of(entry) for entry in measured["measures"]}
        for measured in ([document] if after is None else [document, after])
    ]
    head = ("measure", "value") if after is None else ("measure", "table", "published")
    rows = [(key, *(column.get(key, "") for column in columns)) for key in columns[0]]
    return markup.table("Risk", head, rows)


def _key(entry: Mapping[str, Any]) -> str:
    estimator = entry.get("estimator")
    return f"{entry['measure']} ({estimator})" if estimator else str(entry["measure"])


def _sets_of(entry: Mapping[str, Any]) -> list[str]:
    """Write the first sets of each number of columns, with both figures."""
    rows: list[tuple[str, ...]] = []
    for _, sets in groupby(entry.get("sets", ()), lambda one: len(one["columns"])):
        rows += [
            (", ".join(one["columns"]), number(one["distinction"]), number(one["separation"]), str(one["unique_rows"]))
            for one in islice(sets, SETS_SHOWN)
        ]
    head = ("columns", "distinction", "separation", "unique rows")
    return [f"    {line}" for line in aligned([head, *rows])] if rows else []


def _numbers_of(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {number(entry[name])}" for name in SHOWN if name in entry)
