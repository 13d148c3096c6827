"""Tokens of missing values that a policy names: whether columns hold them, as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import DataError
from indistinct.formats.columnar import is_text
from indistinct.hierarchies.values import parse_number, quoted
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.formats.source import Source
    from indistinct.policy import Policy


def check_tokens(policy: Policy, source: Source, name: str, texts: Sequence[str | None]) -> list[Notice]:
    """Compare the values of a column, cells that are missing being None, with the tokens of missing values.

    A warning for a token of the whole table that stands there as a value, since frames and databases bring their own
    missing values; and where no cell is missing, so that no token of the column was found. Raises DataError for a
    number that is one of these in another spelling: nobody wants 999.00 for a value where 999 is none.
    """
    attribute, notices = policy.attributes.get(name), _retained(policy, name, texts)
    if attribute is None or not attribute.missing_values:
        return notices
    tokens, decimal = attribute.missing_values, policy.table.decimal if is_text(source.types[name]) else "."
    if attribute.type in ("integer", "decimal"):
        numbers = {parse_number(token, decimal) for token in tokens} - {None}
        found = [text for text in texts if text is not None and parse_number(text, decimal) in numbers]
        if found:
            raise DataError(
                f'"{name}" holds {quoted(found)}, a missing value of the policy in another spelling: name it in '
                f"missing_values under [attributes.{name}] as it is written",
                column=name,
            ).showing(quoted(found))
    if None in texts:
        return notices
    message = Sentence(
        'no cell of "{name}" holds {tokens}, which the policy names as missing', name=name, tokens=quoted(tokens)
    )
    return [*notices, Notice("missing-values", name, message)]


def _retained(policy: Policy, name: str, texts: Sequence[str | None]) -> list[Notice]:
    """Name tokens of the whole table that are values here."""
    held = [token for token in policy.table.missing if token and token in texts]
    message = Sentence(
        '"{name}" holds {tokens}, a missing value of the whole table; but this kind of table brings missing values of '
        "its own, and so it counts as a value: name it in missing_values of the column",
        name=name,
        tokens=quoted(held),
    )
    return [Notice("missing-values", name, message)] if held else []
