"""Things a person should know that are no errors, in sentences that can be said in other languages.

A sentence is an English template and its facts from the start, as in gettext: the template is the key under which a
language has its own. In documents, in JSON and in a terminal it is the English text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Sentence(str):
    """An English text that keeps the ``template`` and the ``facts`` it was made of.

    ``template`` holds ``{names}`` of facts, with formats where they need one (``{share:.0f}``); ``one`` is what stands
    for it where the fact ``n`` is 1. Facts are texts, numbers, sentences of their own, and tuples of these, which are
    listed. A fact is never read as a template, whatever braces it holds.

    >>> print(Sentence("{n} rows of {name}", "{n} row of {name}", n=1, name="{age}"))
    1 row of {age}
    """

    __slots__ = ("facts", "one", "template")

    template: str
    one: str | None
    facts: dict[str, Any]

    def __new__(cls, template: str, one: str | None = None, /, **facts: Any) -> Self:
        """Fill the template."""
        chosen = template if one is None or facts["n"] != 1 else one
        made = super().__new__(cls, filled(chosen, facts, str, ", "))
        made.template, made.one, made.facts = template, one, facts
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str | None], dict[str, Any]]:
        """Copies and pickles are made of the template and the facts too."""
        return (self.template, self.one), self.facts

    def with_facts(self, change: Callable[[Any], Any]) -> Sentence:
        """Return the sentence with every fact changed."""
        return type(self)(self.template, self.one, **{name: change(fact) for name, fact in self.facts.items()})


def filled(template: str, facts: dict[str, Any], say: Callable[[Sentence], str], between: str) -> str:
    """Fill a template: ``say`` writes the sentences among the facts, ``between`` stands between what is listed.

    >>> filled("{all}: {n:,}", {"all": ("a", Sentence("b")), "n": 1000}, str.upper, "; ")
    'a; B: 1,000'
    """

    def written(fact: Any) -> Any:
        if isinstance(fact, tuple):
            return between.join(str(written(item)) for item in fact)
        return say(fact) if isinstance(fact, Sentence) else fact

    return template.format(**{name: written(fact) for name, fact in facts.items()})


def both(texts: Iterable[str]) -> str:
    """Write texts with "and" between them.

    >>> print(both(["a", "b"]))
    a and b
    """
    return reduce(lambda one, other: Sentence("{one} and {other}", one=one, other=other), texts)


def either(texts: Iterable[str]) -> str:
    """Write texts with "or" between them.

    >>> print(either(["a", "b"]))
    a or b
    """
    return reduce(lambda one, other: Sentence("{one} or {other}", one=one, other=other), texts)


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning: ``kind`` is a stable word, ``column`` the place or None, ``message`` one sentence.

    >>> Notice("rows", None, Sentence("{n} rows are blank", n=3)).document()
    {'kind': 'rows', 'column': None, 'message': '3 rows are blank'}
    """

    kind: str
    column: str | None
    message: Sentence

    def document(self) -> dict[str, str | None]:
        """Return the warning as it stands in JSON documents; its message stays a sentence."""
        return {"kind": self.kind, "column": self.column, "message": self.message}
