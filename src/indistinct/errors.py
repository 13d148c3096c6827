"""What can go wrong, split by what the caller can do about it: one plain sentence with fact, place and remedy."""

from __future__ import annotations

from difflib import get_close_matches
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Self

from indistinct.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LISTED = "\n  "  # between the lines of a message that lists several


class IndistinctError(Exception):
    """Base of all errors of this package.

    ``kind`` is the word in JSON documents, ``exit_code`` that of the process, ``where`` the place: any of ``file``,
    ``column``, ``line``, ``key``. ``shown`` are the texts of the message that tell values of the table. ``str`` of an
    error is for people: control characters of values are escaped, and every line is one of the program's own.
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, **where: str | int) -> None:
        super().__init__(message)
        self.message, self.where = message, where
        self.lines: tuple[str, ...] = (message,)
        self.shown: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write the message for people."""
        return LISTED.join(map(visible, self.lines))

    def listing(self, *lines: str) -> Self:
        """Add lines to the message, one for each thing that is wrong."""
        self.lines = (*self.lines, *lines)
        self.message = LISTED.join(self.lines)
        return self

    def showing(self, *texts: str) -> Self:
        """Say which parts of the message tell values of the table."""
        self.shown = texts
        return self

    @property
    def public_message(self) -> str:
        """The message without values of the table, for documents that are kept."""
        return reduce(lambda text, part: text.replace(part, "some values"), self.shown, self.message)


class PolicyError(IndistinctError):
    """The policy says something impossible or out of range: mend the policy."""

    kind = "policy"


class SchemaError(IndistinctError):
    """Table and policy do not fit each other: a column is missing, extra or named twice."""

    kind = "schema"

    @classmethod
    def unknown_column(cls, name: str, available: Iterable[str], **where: str | int) -> SchemaError:
        """Build the error for a column that the table lacks, naming the nearest one it has."""
        near = get_close_matches(name, names := list(available), n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else f"it has {', '.join(names)}"
        return cls(f'the table has no column "{name}"; {hint}', column=name, **where)


class DataError(IndistinctError):
    """The table itself cannot be read or holds values that its declared type forbids."""

    kind = "data"


class HierarchyError(IndistinctError):
    """A hierarchy is not one: values missing, levels not nested, rows of unequal length."""

    kind = "hierarchy"


class InfeasibleError(IndistinctError):
    """No release meets the target; ``reason`` says why, ``nearest`` which target could be met."""

    kind = "infeasible"
    exit_code = 1

    def __init__(self, reason: str, nearest: str = "", **where: str | int) -> None:
        super().__init__(f"{reason}; {nearest}" if nearest else reason, **where)
        self.reason = reason
        self.nearest = nearest


class VerificationError(IndistinctError):
    """A written file is not what it should be; it was not delivered."""

    kind = "verification"
    exit_code = 1


class UnsupportedError(IndistinctError):
    """The request makes sense but this program does not do it; the message names what does."""

    kind = "unsupported"


class Cancelled(IndistinctError):  # noqa: N818  # an interruption by the user, not an error of theirs
    """The user stopped the run; nothing was written."""

    kind = "cancelled"
    exit_code = 130


def together(errors: Sequence[IndistinctError], head: str) -> IndistinctError:
    """Return one error that lists several, of the kind and with the place of the first; a single one stays itself.

    >>> print(together([DataError("a is wrong"), DataError("b is wrong")], "2 columns cannot be read:"))
    2 columns cannot be read:
      a is wrong
      b is wrong
    """
    first = errors[0]
    if len(errors) == 1:
        return first
    several = type(first)(head, **first.where).listing(*(error.message for error in errors))
    return several.showing(*(part for error in errors for part in error.shown))
