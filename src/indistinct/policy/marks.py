"""What of a draft is not decided: comments of a policy file that begin with CONFIRM."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = re.compile(r"#+ *CONFIRM\b")
# texts of TOML, in which a # begins no comment; the long forms first
_TEXT = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')
_SECTION = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?")
_KEY = re.compile(r"\s*([^=#\s]+)\s*=")


@dataclass(frozen=True, slots=True)
class Mark:
    """A suggestion that nobody has confirmed: its ``line``, from 1, and the ``place`` of its key in the policy.

    ``entry``: of sections that stand several times, such as ``[[privacy]]``, the number of the one it is in, from 0.
    """

    line: int
    place: str
    entry: int = field(default=0, repr=False)

    @property
    def path(self) -> tuple[str, ...]:
        """The place as keys.

        >>> Mark(2, 'attributes."a b".role').path
        ('attributes', 'a b', 'role')
        """
        keys, found = [], tomllib.loads(f"[{self.place}]") if self.place else {}
        while found:
            ((key, found),) = found.items()
            keys.append(key)
        return tuple(keys)


def open_marks(text: str) -> tuple[Mark, ...]:
    r"""Return the marks in the comments of a TOML text; what stands in quotes is none.

    >>> open_marks('[attributes."a b"]\nrole = "qi"  # CONFIRM: the name contains "b"\ntype = "CONFIRM"\n')
    (Mark(line=2, place='attributes."a b".role'),)
    """
    comments = {text.count("\n", 0, found.start()) + 1 for found in _TEXT.finditer(text) if MARK.match(found[0])}
    marks, section, seen = [], "", Counter[str]()
    for number, line in enumerate(text.split("\n"), 1):
        named = _SECTION.match(line)
        if named:
            section = named[1]
            seen[section] += 1
        if number in comments:
            key = _KEY.match(line)
            place = ".".join(filter(None, (section, key[1] if key else "")))
            marks.append(Mark(number, place, max(0, seen[section] - 1)))
    return tuple(marks)


def settled(text: str, decides: Callable[[Mark], bool]) -> str:
    r"""Take those marks out of a text that somebody decides; what stands in the lines stays.

    >>> settled('k = 5  # CONFIRM: usual\nl = 3  # CONFIRM: usual\n', lambda mark: mark.place == "k")
    'k = 5\nl = 3  # CONFIRM: usual\n'
    """
    lines = text.split("\n")
    for mark in open_marks(text):
        if decides(mark):
            line = lines[mark.line - 1]
            starts = [found.start() for found in _TEXT.finditer(line) if MARK.match(found[0])]
            lines[mark.line - 1] = line[: starts[0]].rstrip() if starts else line
    return "\n".join(lines)
