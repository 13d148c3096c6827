"""The items of a set-valued cell."""

from __future__ import annotations


def items_of(text: str | None, separator: str) -> list[str]:
    """Items of one text, each once, in code-point order; blanks around an item are cut off, empty items left out.

    >>> items_of("b; a;b;", ";"), items_of(None, ";")
    (['a', 'b'], [])
    """
    return sorted({item.strip() for item in (text or "").split(separator)} - {""})
