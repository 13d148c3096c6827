"""Words of the reports by language: JSON files of messages, with plurals and the way numbers are written.

A message is a text with ``{names}``, or ``{"one": ..., "other": ...}`` chosen by the number ``n``. Chinese has no
plural: its messages have ``other`` alone. ``<language>.json`` holds the report's own words under keys of their own,
``studio.<language>.json`` those of the studio,
``sentences.<language>.json`` what the rest of the program says (``Sentence``), under the English template. Every
language has the same keys, and every template of the program (a test holds that).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.notices import Sentence, filled

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh-CN")


@dataclass(frozen=True)
class Catalogue:
    """The messages of one language."""

    language: str
    messages: dict[str, Any]
    sentences: dict[str, Any]

    def __call__(self, key: str, **facts: Any) -> str:
        """Write a message with its facts; numbers are grouped, the plural follows ``n``."""
        message = _chosen(self.messages[key], facts)
        return message.format(**{name: self.number(fact) for name, fact in facts.items()})

    def has(self, key: str) -> bool:
        """Whether there is such a message."""
        return key in self.messages

    def sentence(self, english: str) -> str | None:
        """Write a sentence of the program in this language, None where it is not translated.

        A text that came without its template, out of a file, is known where it is one that has no facts.
        """
        if self.language == "en":
            return str(english)
        template = english.template if isinstance(english, Sentence) else english
        facts = english.facts if isinstance(english, Sentence) else {}
        if template not in self.sentences:
            return None
        return filled(
            _chosen(self.sentences[template], facts), facts, lambda fact: self.sentence(fact) or fact, self("list")
        )

    def number(self, value: Any) -> str:
        """Write whole numbers with their thousands apart, others with up to four digits; texts as they are."""
        if isinstance(value, bool | str) or value is None:
            return str(value)
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, float):
            return (
                f"{int(value):,}" if value == int(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
            )
        return str(value)

    def percent(self, share: float, digits: int = 1) -> str:
        r"""Write a share of 1 in percent, as the language does; what is not 0 or 1 is never written as if it were.

        >>> [catalogue("en").percent(share) for share in (0, 0.0001, 0.051, 0.99999)]
        ['0\xa0%', '< 0.1\xa0%', '5.1\xa0%', '> 99.9\xa0%']
        """
        text, least = f"{100 * share:.{digits}f}", f"{10**-digits:.{digits}f}"
        if share == 0:
            return self("percent", value="0")
        if share > 0 and float(text) == 0:
            return self("number.below", value=self("percent", value=least))
        if share < 1 and float(text) == 100:  # all of them
            return self("number.above", value=self("percent", value=f"{100 - float(least):.{digits}f}"))
        return self("percent", value=text)

    def model(self, entry: Mapping[str, Any]) -> str:
        """Name a model with what tells it apart."""
        key = f"model.{entry['model']}"
        title = self(key) if self.has(key) else str(entry["model"])
        details = [str(entry[name]) for name in ("distance", "kind", "estimator") if entry.get(name)]
        details = [self(f"word.{word}") if self.has(f"word.{word}") else word for word in details if word != "shannon"]
        attribute = entry.get("attribute") or ", ".join(entry.get("attributes") or ())
        title = self("details", what=title, details=self("list").join(details)) if details else title
        return self("of", what=title, column=attribute) if attribute else title

    def promise(self, entry: Mapping[str, Any], unit: str) -> str:
        """Say in a sentence what a model promises; ``unit`` is what sizes count."""
        key = f"promise.{entry['model']}"
        required = entry.get("required") or {}
        if not self.has(key):
            return ""
        from indistinct.sentences.results import number as parameter_text

        facts = {name: parameter_text(value) for name, value in required.items()}
        facts["unit"] = unit
        facts["column"] = entry.get("attribute") or ", ".join(entry.get("attributes") or ())
        try:
            return str(self.messages[key]).format(**facts)
        except KeyError:  # a parameter that this entry has not
            return ""

    def parameters(self, values: Any) -> str:
        """Write parameters as ``k = 5, l = 3``."""
        if not values:
            return ""
        if isinstance(values, list | tuple):
            return "; ".join(self.parameters(item) for item in values[:2] if None not in item.values())
        from indistinct.sentences.results import number as parameter_text

        return ", ".join(f"{key} = {parameter_text(values[key])}" for key in values)


def _chosen(message: str | dict[str, str], facts: dict[str, Any]) -> str:
    """Return the form of a message that its number ``n`` asks for."""
    if isinstance(message, str):
        return message
    return message["one"] if facts.get("n") == 1 and "one" in message else message["other"]


@cache
def catalogue(language: str) -> Catalogue:
    """Return the messages of a language; raises PolicyError naming those that exist."""
    if language not in LANGUAGES:
        raise PolicyError(f'there is no report in the language "{language}"; there are {", ".join(LANGUAGES)}')
    messages = _read(f"{language}.json") | _read(f"studio.{language}.json")
    return Catalogue(language, messages, {} if language == "en" else _read(f"sentences.{language}.json"))


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("indistinct.reports") / "messages" / name).read_text(encoding="utf-8"))
    return found
