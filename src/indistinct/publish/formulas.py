"""Warnings of cells that a spreadsheet would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from indistinct.formats.arrow import whole_numbers
from indistinct.formats.columnar import is_text
from indistinct.formats.formulas import FORMULA, risky, safe_text
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from indistinct.tables.published import PublishedColumn


def formula_notices(
    columns: Iterable[PublishedColumn], repeat: NDArray[np.int64], secret: Collection[str] = ()
) -> list[Notice]:
    """Name the text columns with cells (or a name) that a spreadsheet would run as a formula.

    ``repeat`` int64[units] says how often each unit of the columns is written. An example (the first in code-point
    order) is given of columns that are not ``secret``: warnings are kept, and what they hold is no longer protected.
    Concerns delimited files only.
    """
    notices = []
    for column in columns:
        name = column.name
        if safe_text(name) != name:
            message = Sentence(
                'a spreadsheet would run the column name "{name}" as a formula; rename the column', name=name
            )
            notices.append(Notice("formula", name, message))
        if not is_text(column.type):
            continue
        runs = whole_numbers(risky(column.values, FORMULA).cast(pa.uint8())) == 1
        if not runs.any():
            continue
        # the last flag is that of a missing value, code -1
        cells = int(repeat[np.append(runs, np.False_)[column.codes]].sum())
        count: int | Sentence = cells
        if name not in secret:
            example = column.values[int(runs.argmax())].as_py()
            count = Sentence('{n}, such as "{example}"', n=cells, example=example)
        message = Sentence(
            'the column "{name}" has cells that a spreadsheet would run as a formula ({count}); spreadsheet_safe = '
            "true writes them as text",
            name=name,
            count=count,
        )
        notices.append(Notice("formula", name, message))
    return notices
