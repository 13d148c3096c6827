"""What of a draft is not decided: comments of a policy file that begin with CONFIRM."""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = re.compile(r"#+ *CONFIRM\b")
# texts of TOML, in which a # begins no comment; the long forms first
_TEXT = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')
_SECTION = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?")
_KEY = re.compile(r"\s*([^=#\s]+)\s*=")


@dataclass(frozen=True, slots=True)
class Mark:
    """A suggestion that nobody has confirmed: its ``line``, from 1, and the ``place`` of its key in the policy."""

    line: int
    place: str


def open_marks(text: str) -> tuple[Mark, ...]:
    r"""Return the marks in the comments of a TOML text; what stands in quotes is none.

    >>> open_marks('[attributes."a b"]\nrole = "qi"  # CONFIRM: the name contains "b"\ntype = "CONFIRM"\n')
    (Mark(line=2, place='attributes."a b".role'),)
    """
    comments = {text.count("\n", 0, found.start()) + 1 for found in _TEXT.finditer(text) if MARK.match(found[0])}
    marks, section = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        named = _SECTION.match(line)
        section = named[1] if named else section
        if number in comments:
            key = _KEY.match(line)
            marks.append(Mark(number, ".".join(filter(None, (section, key[1] if key else "")))))
    return tuple(marks)
