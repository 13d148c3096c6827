"""Texts that a spreadsheet would run as a formula, guarded and given back."""

from __future__ import annotations

import re
from typing import Any

import pyarrow.compute as pc

# what a spreadsheet takes for the start of a formula, and the numbers that may start so
FORMULA = r"^[=+\-@\t\r]"
GUARDED = r"^'*[=+\-@\t\r]"  # a text that looks guarded is guarded once more, so that no two texts become one
NUMBER = r"^[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?%?$"


def safe_text(text: str) -> str:
    """Text that a spreadsheet shows and does not run: ``'`` before what starts a formula and is no number.

    Different texts stay different: ``unsafe_text`` gives each back.

    >>> [safe_text(text) for text in ("=1+1", "@x", "-5", "+3", "a-b")]
    ["'=1+1", "'@x", '-5', '+3', 'a-b']
    """
    return f"'{text}" if re.match(GUARDED, text) and not re.match(NUMBER, text) else text


def unsafe_text(text: str) -> str:
    """Text from which ``safe_text`` made this one.

    >>> [unsafe_text(safe_text(text)) for text in ("=1+1", "'=1+1", "'a", "-5")]
    ['=1+1', "'=1+1", "'a", '-5']
    """
    return text[1:] if text.startswith("'") and safe_text(text[1:]) == text else text


def risky(texts: Any, pattern: str) -> Any:
    """Say which texts of an Arrow array match a pattern of formulas and are no numbers."""
    formula = pc.match_substring_regex(texts, pattern)
    return pc.and_not(formula, pc.match_substring_regex(texts, NUMBER))
