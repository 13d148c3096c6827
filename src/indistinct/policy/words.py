"""Words in the headers of columns, in several languages, and what they suggest (``header_words.toml``)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@cache
def header_words() -> dict[str, tuple[str, ...]]:
    """Read the words of headers by what they suggest, those of all languages together."""
    text = (files("indistinct.policy") / "header_words.toml").read_text(encoding="utf-8")
    found = {kind: tuple(" ".join(lists.values()).split()) for kind, lists in tomllib.loads(text).items()}
    return {**found, "missing": tuple(word.casefold().replace("_", " ") for word in found["missing"])}


def words_of(name: str) -> set[str]:
    """Split a column name at case changes, digits and signs.

    >>> sorted(words_of("patientNr_2"))
    ['nr', 'patient']
    """
    spaced = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", name)
    return {word for word in re.split(r"[\W\d_]+", spaced.casefold()) if word}


def match(words: Iterable[str], known: Sequence[str]) -> str:
    """Return the first known word in a name, "" for none.

    Words are looked for as a whole; those written with a hyphen, ``-nummer``, at the end of a longer one, and Chinese
    ones inside.

    >>> match({"fallnummer"}, ("id", "-nummer")), match({"患者编号"}, ("编号",)), match({"image"}, ("age",))
    ('nummer', '编号', '')
    """
    tokens = set(words)
    for word in known:
        end = word.removeprefix("-")
        if (
            word in tokens
            or (word != end and any(part.endswith(end) for part in tokens))
            or (_is_chinese(word) and any(word in part for part in tokens))
        ):
            return end
    return ""


def has_word(name: str, known: Sequence[str]) -> bool:
    """Whether one of the words stands in the name of a column."""
    return bool(match(words_of(name), known))


def _is_chinese(word: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in word)
