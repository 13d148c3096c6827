"""How the table is read, whose rows they are, and what a missing value equals."""

from __future__ import annotations

import codecs
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from indistinct.policy.parameters import Whole  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.problems import Section, problem, refuse
from indistinct.policy.roles import AnyRole  # noqa: TC001  # pydantic reads it at run time

# what a person can confirm of a column: rare values may be published, and so may what tells a generalized column
CONFIRMABLE: tuple[str, ...] = ("unique", "restates")


def _confirmations(value: Any) -> Any:
    """Read what a person has confirmed of a column: true (all of it), false, or a list of it."""
    if isinstance(value, bool):
        return value
    names = ", ".join(f'"{name}"' for name in CONFIRMABLE)
    if not isinstance(value, list | tuple) or any(item not in CONFIRMABLE for item in value):
        message = f"must be true or false, or a list of what is confirmed, from {names}"
        raise ValueError(message)
    return tuple(dict.fromkeys(value))


Confirmed = Annotated[
    Any,
    PlainValidator(_confirmations),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": [*CONFIRMABLE]}}]}),
]


class Table(Section):
    """How the table is read, and the role of columns that are not named."""

    source: str | None = Field(default=None, min_length=1)
    """The table, relative to the policy file; it may be given on the command line instead."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """What separates the fields of a text file; found out when left out."""
    encoding: str = "utf-8"
    """Encoding of a text file; a byte-order mark is accepted."""
    missing: tuple[str, ...] = ("",)
    """Exactly these texts are missing values in text files; "NA" and "null" are text unless listed."""
    sheet: str | None = Field(default=None, min_length=1)
    """The sheet of a workbook; the first one when left out."""
    header_row: Whole = Field(default=1, ge=1)
    """The row of a workbook's sheet that holds the names of the columns, from 1; rows above it are left out."""
    decimal: Literal[".", ","] = "."
    """The decimal mark."""
    trim: Literal["names", "cells", "none"] = "names"
    """Whether blanks are cut off around column names, around cells too, or nowhere."""
    unlisted: AnyRole | None = None
    """Role of the columns that the policy does not name; without it they are an error."""
    unlisted_confirmed: Confirmed = False
    """What a person has confirmed of columns that are not named, as ``confirmed`` of an attribute."""
    max_line_bytes: Whole = Field(default=16777216, ge=1)
    """Longest line accepted in a text file, in bytes."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        found = []
        if self.delimiter is not None and self.delimiter in '"\r\n':
            found.append(problem(("delimiter",), "must be one character, not a quote or a line break", self.delimiter))
        if self.delimiter is not None and self.delimiter == self.decimal:
            found.append(
                problem(("delimiter",), "is also the decimal mark; set decimal to the other one", self.delimiter)
            )
        try:
            codecs.lookup(self.encoding)
        except (LookupError, ValueError):
            found.append(problem(("encoding",), "is unknown; use a name such as utf-8, cp1252, latin-1", self.encoding))
        refuse(found)
        return self


class Person(Section):
    """Several rows may belong to one person; sizes count persons."""

    key: str = Field(min_length=1)
    """The column that tells persons apart; it is identifying."""


class Missing(Section):
    """What a missing quasi-identifier equals."""

    rule: Literal["own"] = "own"
    """own: a missing value equals only a missing value."""
