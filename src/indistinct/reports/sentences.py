"""Sentences that the program says in English, in another language: the English sentence is the key, as in gettext.

A key is the sentence with ``{names}`` in place of what changes. What stands there is found by matching and goes to the
same names of the translation.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files


def translated(sentence: str, language: str) -> str | None:
    """Return a sentence in a language, None where there is no translation.

    >>> translated("the table has 7 rows; so few", "en"), translated("nobody said this", "zh-CN")
    ('the table has 7 rows; so few', None)
    """
    if language == "en":
        return sentence
    for pattern, template in _patterns(language):
        if found := pattern.fullmatch(sentence):
            return template.format(**found.groupdict())
    return None


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compile the sentences of a language; a name stands for any text, taken as short as the rest allows."""
    text = (files("indistinct.reports") / "messages" / f"sentences.{language}.json").read_text(encoding="utf-8")
    return tuple((_pattern(sentence), template) for sentence, template in json.loads(text).items())


def _pattern(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"{(\w+)}", sentence)
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile(fixed[0] + "".join(
        f"(?P<{name}>.*?){after}" for name, after in zip(parts[1::2], fixed[1:], strict=True)
    ), re.DOTALL)  # fmt: skip
