"""Whether the group totals of a table with permuted values are those of its values, from the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from indistinct.hierarchies.values import number_key
from indistinct.tables.two_tables import COUNT, GROUP, TOTALS

if TYPE_CHECKING:
    from indistinct.tables.recount import Recount


def false_totals(found: Recount, attribute: str, decimal: str) -> list[str]:
    """Return a sentence for each column of totals (least, greatest, sum, count) that is not that of the values.

    Shares nothing with how they are made: exact, on the texts of the re-read table.
    """
    texts, codes = found.column(attribute)
    keys = [None if text is None else number_key(text, decimal) for text in texts]
    own = found.column(GROUP)[1]
    groups: dict[int, list[tuple[int, int]]] = {}
    for group, code, rows in zip(own.tolist(), codes.tolist(), found.rows.tolist(), strict=True):
        groups.setdefault(group, []).append((code, rows))
    faults = []
    for name in TOTALS:
        if name not in found.columns:
            continue
        said_texts, said = found.column(name)
        wrong = set()
        for group, code in set(zip(own.tolist(), said.tolist(), strict=True)):
            text = said_texts[code]
            if name == COUNT:
                right = text is not None and number_key(text) == number_key(str(sum(n for _, n in groups[group])))
            elif None in keys:  # dates or texts: the ends must be values of the group
                right = name == "sum" or text in {texts[value] for value, _ in groups[group]}
            else:
                numbers = [(_fraction(keys[value]), rows) for value, rows in groups[group]]
                ends = {"min": min, "max": max}
                wanted = ends[name](n for n, _ in numbers) if name in ends else sum(n * rows for n, rows in numbers)
                key = None if text is None else number_key(text, decimal) or number_key(text)
                right = key is not None and _fraction(key) == wanted
            if not right:
                wrong.add(group)
        if wrong:
            faults.append(f'the column "{name}" is not that of the values in {len(wrong)} groups')
    return faults


def _fraction(key: tuple[int, int] | None) -> Fraction:
    digits, scale = key or (0, 0)
    return Fraction(digits) * Fraction(10) ** -scale
