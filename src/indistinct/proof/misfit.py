"""Why no original of its own can stand behind a published row: what of it does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.tables.recount import Recount

    Bool = NDArray[np.bool_]


def misfit(
    row: int,
    found: Recount,
    before: Recount,
    covers: Mapping[str, Bool],
    same: Sequence[str],
    *,
    grouped: bool = False,
) -> str:
    """Say of a distinct published row how many originals its labels cover, and which other value none of these has.

    ``covers`` has for each generalized column bool[labels, values], as ``coverage`` takes it; ``same`` are the columns
    whose values have to be equal. Counts are of rows. ``grouped``: what fits also needs a value of the row's group.
    """
    fits = np.ones(len(before.rows), np.bool_)
    for name, table in covers.items():
        own = table[found.column(name)[1][row]][before.column(name)[1]]
        if not own.any():
            return f"what stands in {name} covers no original"
        fits &= own
    if not fits.any():
        return f"what stands in {_listed(list(covers), 'and')} covers no original together"
    agrees = {name: _has_value(name, row, found, before) for name in same}
    uncovered = [name for name, own in agrees.items() if not (fits & own).any()]
    both = fits & np.logical_and.reduce([fits, *agrees.values()])
    covered, left = (int(before.rows[some].sum()) for some in (fits, both))
    begin = f"its quasi-identifiers cover {_originals(covered)}, " if covers else f"of {_originals(covered)} "
    if uncovered:
        return begin + f"none with this {_listed(uncovered, 'and none with this')}"
    if not left:
        return begin + f"none with these values of {_listed(list(agrees), 'and')} together"
    if agrees:
        begin += f"{left} with the same {_listed(list(agrees), 'and')}, "
    needed = f"but other published rows need {'it' if left == 1 else 'them'} too"
    return begin + needed + (", or no value of its group is theirs" if grouped else "")


def _has_value(name: str, row: int, found: Recount, before: Recount) -> Bool:
    """Which originals have the value of a published row in a column."""
    texts, codes = found.column(name)
    known, own = before.column(name)
    text = texts[codes[row]]
    if text not in known:
        return np.zeros(len(own), np.bool_)
    agrees: Bool = own == known.index(text)
    return agrees


def _listed(names: Sequence[str], word: str) -> str:
    """Names with a comma between them, and a word before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _originals(number: int) -> str:
    return f"{number} original{'' if number == 1 else 's'}"
