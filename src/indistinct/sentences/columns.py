"""Tables of text: cells in columns, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int | None = None) -> list[str]:
    """Write rows as lines, every column as wide as its widest cell, two blanks between them.

    The first ``left`` columns (default: all) begin at the same place, the others end there, as numbers do. A row with
    fewer cells than the longest ends in a text that takes the rest of its line.

    >>> for line in aligned([("name", "rows"), ("age", "7"), ("zip", "13"), ("no result",)], left=1):
    ...     print(line)
    name  rows
    age      7
    zip     13
    no result
    """
    columns = max(map(len, rows), default=0)
    full = [row if len(row) == columns else row[:-1] for row in rows]
    widths = [max(len(row[number]) for row in full if number < len(row)) for number in range(columns)]
    return ["  ".join(_cells(row, widths, columns if left is None else left)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    cells = [
        cell.ljust(width) if number < left else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(row, widths, strict=False))
    ]
    return cells if len(row) == len(widths) else [*cells[:-1], row[-1]]
