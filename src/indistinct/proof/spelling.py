"""What file formats and other programs do to the spelling of a value, undone.

Typed columns keep a value, not its spelling: ``1.50`` comes back from a workbook as ``1.5``, ``true`` from a Stata file
as ``1``. Delimited files for spreadsheets guard formulas by a quote.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from indistinct.formats.formulas import unsafe_text
from indistinct.formats.registry import is_delimited
from indistinct.hierarchies.values import number_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from indistinct.policy import Policy


def guard_of(policy: Policy, path: Path | None) -> Callable[[str], str]:
    """Return what gives the texts of a published file back as they were before they were guarded for spreadsheets."""
    guarded = policy.output.spreadsheet_safe and is_delimited(path)
    return unsafe_text if guarded else str


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)")


def speller(texts: Iterable[str | None], decimal: str = ".") -> Callable[[str], str]:
    """Return the function that gives a value of a typed column the spelling it has first in ``texts``.

    >>> speller(["1.50", "true", "a"])("1.5"), speller(["true"])("1"), speller(["2"])("3")
    ('1.50', 'true', '3')
    >>> speller(["2024-04-01 00:30:00+02:00"])("2024-03-31 22:30:00Z")
    '2024-04-01 00:30:00+02:00'
    """
    known: dict[object, str] = {}
    for text in texts:
        if text is not None:
            known.setdefault(_value(text, decimal), text)
    return lambda text: known.get(_value(text, decimal), text)


def spellers(
    texts: Mapping[str, Iterable[str | None]], typed: Iterable[str], policy: Policy
) -> dict[str, Callable[[str], str]]:
    """Return a ``speller`` for each column that is ``typed`` in its source, or a number by the policy."""
    typed = set(typed)
    found = {}
    for name, own in texts.items():
        attribute = policy.attributes.get(name)
        if name in typed:
            found[name] = speller(own)
        elif attribute is not None and attribute.type in ("integer", "decimal"):
            found[name] = speller(own, policy.table.decimal)
    return found


def _value(text: str, decimal: str) -> object:
    if (moment := _MOMENT.fullmatch(text)) is not None:  # readers give it on the clock of their session, or in UTC
        when = datetime.fromisoformat(moment[1] + moment[3])
        since = when.replace(tzinfo=UTC) - datetime.min.replace(tzinfo=UTC) - (when.utcoffset() or timedelta())
        return since, (moment[2] or "").rstrip("0").rstrip(".")
    if text in ("true", "false"):
        text = "1" if text == "true" else "0"
    return number_key(text, decimal) or text
