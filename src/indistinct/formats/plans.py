"""Files that a lazy frame or a relation will read, as its plan names them.

A plan is text of other programs: what is found there is protected, and a file that a view or another library hides is
not found.
"""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

_LITERAL = re.compile(r"'((?:[^']|'')*)'")
# a path of a serialized plan: its key, and a text of MessagePack with its length in 5, 8 or 16 bits
_PATH = re.compile(rb"inner(?:([\xa0-\xbf])|\xd9(.)|\xda(..))", re.DOTALL)


def files_of_plan(table: object) -> list[Path]:
    """Name the files that a lazy frame of Polars or a relation of DuckDB reads; none for anything else.

    >>> files_of_plan(["people.csv"])
    []
    """
    from narwhals.stable.v2 import dependencies as known  # takes a twentieth of a second

    texts: list[str] = []
    if known.is_duckdb_relation(table):
        texts = [text.replace("''", "'") for text in _LITERAL.findall(table.sql_query())]
    elif known.is_polars_lazyframe(table):
        texts = _texts_of(table)
    return [Path(file) for text in dict.fromkeys(texts) for file in _files(text)]


def _texts_of(frame: Any) -> list[str]:
    """Take the texts out of the plan of a lazy frame that scans files; one that cannot be read has none."""
    from polars.exceptions import PolarsError

    try:
        if "SCAN [" not in frame.explain(optimized=False):
            return []
        plan = frame.serialize()
    except PolarsError:
        return []
    found = []
    for path in _PATH.finditer(plan):
        short, *longer = path.groups()
        size = short[0] & 31 if short else int.from_bytes(next(filter(None, longer)), "big")
        found.append(os.fsdecode(plan[path.end() : path.end() + size]))
    return found


def _files(text: str) -> list[str]:
    """Files that a text means: itself, or what its pattern matches."""
    try:
        return [text] if Path(text).is_file() else [file for file in _matches(text) if Path(file).is_file()]
    except (OSError, ValueError):  # a text that is no name
        return []


def _matches(text: str) -> list[str]:
    return glob.glob(text, recursive=True) if "*" in text and text.strip("*./") else []  # noqa: PTH207  # as written
