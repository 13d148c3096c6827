"""Proximity breach: most of a class lies in a short stretch of a numeric attribute.

*Attacker.* Knows the class of a person. *Claim*: the value lies in the closed window [x, x + W], x a value of the
class, that holds most rows of the class (ties: the lowest). *Prior* the share of everybody in that window,
*posterior* the share of the class. *Learnt*: posterior above 1/2, and above the prior by more than 0.1. W is given
(``--width``) or 1/20 of the range of everybody.

With the original and persons held out (``control``) the gain is the risk beyond these, as for ``skewness``.

*Bounds.* (eps,m)-anonymity with eps >= W: the rows of a window lie within eps of its lowest row, so the share is at
most 1/m. (eps_i,k)-anonymity bounds the row-centred form. {1000, 1005, 1010, 9000} has four values over a range of
8000, and 3/4 of them in [1000, 1010]. *Source.* Li, Tao, Xiao, SIGMOD 2008, 473-486.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.candidates import contrasted
from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import NOTABLE, Contrast, Idle, Outcome
from indistinct.hierarchies.values import positions
from indistinct.policy.privacy import EpsIKAnonymity, EpsMAnonymity, KeAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import Sensitive

WIDTHS_IN_RANGE = 20


@dataclass(frozen=True)
class Windows:
    """The fullest window of each class: ``rows`` int64[g], ``prior`` float64[g], and its lowest and highest value."""

    rows: NDArray[np.int64]
    prior: NDArray[np.float64]
    ends: list[tuple[str, str]] = field(repr=False)

    def shown(self, kind: int) -> str:
        """Write the window of a class, for the console."""
        return " to ".join(self.ends[kind])


def proximity(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Look for the fullest window of every class."""
    view = context.view
    for name, sensitive in view.sensitive.items():
        if not context.is_numeric(name):
            yield Idle(name, f"{name} has no numeric type (--type {name}=integer): its values have no distance")
            continue
        width = window_of(context, sensitive)
        if width is None:
            yield Idle(name, f"{name} has fewer than two different values")
            continue
        found = windows(context, sensitive, width)
        after = found.rows / view.sizes
        learnt = (after > 1 / 2) & (after - found.prior > NOTABLE)
        people = int(view.sizes[learnt].sum())
        worst = max(map(Fraction, found.rows.tolist(), view.sizes.tolist()))

        def show(kind: int, name: str = name, found: Windows = found) -> str:
            share = f"{found.rows[kind]} of {view.sizes[kind]}"
            return f"{view.label(kind)}: {share} rows have {name} from {found.shown(kind)}"

        yield Outcome(
            name, view.sizes, found.prior, after, learnt, view.first, "published",
            f"for {people} of {view.total} persons more than half of the class lies within a width of {float(width):g} "
            f"of {name}; at worst a share of {float(worst):.4g}",
            {"width": str(width), "largest_share": {"fraction": f"{worst.numerator}/{worst.denominator}",
                                                    "decimal": float(worst)}},
            show,
            contrast=_contrast(context, name, found),
        )  # fmt: skip


def _contrast(context: AttackContext, name: str, found: Windows) -> Contrast | None:
    how = context.reading(name, context.view.typed)

    def place(texts: Sequence[str | None]) -> NDArray[np.float64]:
        present = [number for number, text in enumerate(texts) if text is not None]
        numbers, unit = positions(name, [texts[number] or "" for number in present], **how)
        marks = np.full(len(texts), np.nan)
        marks[present] = numbers / unit
        return marks

    low, high = (place([ends[side] for ends in found.ends]) for side in (0, 1))
    return contrasted(
        context, name, place, lambda marks, classes: (marks >= low[classes]) & (marks <= high[classes])
    )  # fmt: skip


def window_of(context: AttackContext, sensitive: Sensitive) -> Fraction | None:
    """Return the width for an attribute, in its own units (dates: days); None where all values are equal."""
    places, unit, _ = _places(context, sensitive)
    if len(places) < 2 or places.max() == places.min():
        return None
    given = context.widths.get(sensitive.attribute)
    return given if given is not None else Fraction(int(places.max() - places.min()), unit * WIDTHS_IN_RANGE)


def windows(context: AttackContext, sensitive: Sensitive, width: Fraction) -> Windows:
    """Find the fullest window of the given width in each class.

    Two pointers on the sorted values: for each entry of a class the last value within reach is found once among the m
    values, then once in the class. Missing values lie in no window.
    """
    places, unit, present = _places(context, sensitive)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    m = len(sensitive.texts) + 1
    rank = np.full(len(sensitive.texts), m - 1, np.int64)
    rank[present[order]] = np.arange(len(order))
    reach = np.searchsorted(ordered, ordered + int(width * unit // 1), "right")
    histogram, owner = sensitive.histogram, sensitive.owner.astype(np.int64)
    entry = np.argsort(owner * m + rank[histogram.value], kind="stable")
    key = (owner * m + rank[histogram.value])[entry]
    rows = np.concatenate([[0], np.cumsum(histogram.count[entry])])
    placed = key % m < m - 1
    last = np.append(reach, 0)[np.minimum(key % m, len(reach))]
    stop = np.searchsorted(key, key // m * m + last, "left")
    held = np.where(placed, rows[stop] - rows[:-1], 0)
    best = np.lexsort((key, -held, key // m))
    best = best[np.searchsorted((key // m)[best], np.arange(len(context.view.sizes)))]
    everybody = np.concatenate([[0], np.cumsum(sensitive.prior[present[order]])])
    low = np.minimum(key[best] % m, len(reach) - 1)
    prior = (everybody[reach[low]] - everybody[low]) / sensitive.prior.sum()
    prior = np.where(held[best] > 0, prior, 0.0)
    texts = [str(sensitive.texts[number]) for number in present[order].tolist()]
    high = key[np.maximum(stop[best] - 1, 0)] % m
    ends = [(texts[a], texts[min(b, len(texts) - 1)]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return Windows(held[best].astype(np.int64), prior, ends)


def _places(context: AttackContext, sensitive: Sensitive) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """Positions of the values that are there, the unit of a position, and which values these are."""
    present = np.array([number for number, text in enumerate(sensitive.texts) if text is not None], np.int64)
    how = context.reading(sensitive.attribute, context.view.typed)
    texts = [text for text in sensitive.texts if text is not None]
    places, unit = positions(sensitive.attribute, texts, **how)
    return places, unit, present


ATTACK = Attack(
    proximity,
    supposes="knows the class of a person, and how numbers are distributed over everybody",
    bounded_by=(EpsMAnonymity, EpsIKAnonymity, KeAnonymity),
    of_the_file=True,
    needs={},
    options=("widths", "control"),
)
