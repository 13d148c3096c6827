"""Text for people: control characters of cells are shown as escapes, and never act on a terminal or a page.

A cell may hold anything: a sequence that sets the title of a window, a mark that turns the direction of writing, a line
of its own that looks like a verdict. Every answer for people passes through here; JSON and written tables do not.
"""

from __future__ import annotations

import re
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from indistinct.notices import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")

# Controls, line and paragraph separators, lone surrogates, tags, and marks that are not seen but change what is seen.
# Not the joiners U+200C and U+200D, which words of several languages are written with.
COMMANDS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, lines: bool = False) -> str:
    r"""Show control characters as escapes; with ``lines`` line feeds stay, for a text that has lines of its own.

    >>> print(visible("\x1b[31mred\u202e\nno"))
    \x1b[31mred\u202e\nno
    """
    return COMMANDS.sub(lambda found: "\n" if lines and found[0] == "\n" else _escape(found[0]), text)


def _escape(sign: str) -> str:
    code = ord(sign)
    form = "\\x{:02x}" if code < 0x80 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"
    return SHORT.get(sign, form.format(code))


def shown(document: Any) -> Any:
    r"""Show control characters in all texts of a document, names included.

    >>> shown({"a\n": ["x", 1, ("\t",)]})
    {'a\\n': ['x', 1, ('\\t',)]}
    """
    if isinstance(document, Sentence):
        return document.with_facts(shown)
    if isinstance(document, str):
        return visible(document)
    if isinstance(document, dict):
        return {shown(key): shown(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return type(document)(shown(item) for item in document)
    return document


def for_people(write: Callable[P, str]) -> Callable[P, str]:
    """Let a function that writes a document for people see what it is given with control characters shown."""

    @wraps(write)
    def written(*given: P.args, **named: P.kwargs) -> str:
        return write(*(shown(item) for item in given), **{key: shown(item) for key, item in named.items()})

    return written
