"""One measured risk with the sentence that says what it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from indistinct.models.exact import rational

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Figure:
    """A measure by name, its numbers, and a sentence with the real counts.

    Numbers that are fractions of counts are ``Fraction`` (exact); floats are for display. ``per_class`` float64[g] is
    the risk of each class where there is one, for the rows on request; it is not in the document.
    """

    measure: str
    values: Mapping[str, Any]
    sentence: str
    per_class: NDArray[Any] | None = field(default=None, repr=False)

    def document(self) -> dict[str, Any]:
        """Return the figure as it stands in JSON documents."""
        values = {key: plain(value) for key, value in self.values.items()}
        return {"measure": self.measure, **values, "sentence": self.sentence}


def plain(value: Any) -> Any:
    """Write fractions exactly and floats as decimals, as the documents do.

    >>> plain(Fraction(1, 3))["fraction"], plain(0.5), plain(7)
    ('1/3', {'decimal': 0.5}, 7)
    """
    if isinstance(value, Fraction):
        return rational(value)
    return {"decimal": value} if isinstance(value, float) else value


def share(part: int | Fraction, whole: int) -> str:
    """Write a share for people.

    >>> share(3, 12), share(1, 3000), share(0, 5)
    ('25 %', '0.0333 %', '0 %')
    """
    percent = 100 * float(Fraction(part) / whole) if whole else 0.0
    return f"{percent:.3g} %" if percent < 99.95 or percent == 100 else "over 99.9 %"


def things(number: int, thing: str) -> str:
    """Write a number of things with its noun.

    >>> things(1, "rows"), things(2, "persons"), things(1, "classes")
    ('1 row', '2 persons', '1 class')
    """
    one = "class" if thing == "classes" else thing.removesuffix("s")
    return f"{number} {one if number == 1 else thing}"


def about(number: float) -> str:
    """Write an expected number: whole from 100 on, else with up to three digits.

    >>> about(19998.0), about(0.77341), about(3)
    ('19998', '0.773', '3')
    """
    return f"{number:.0f}" if number >= 100 else f"{float(number):.3g}"
