"""What a hierarchy does to a column on its own: classes and smallest class of each level."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from indistinct.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class LevelPreview:
    """One level: ``classes`` different labels occur, the rarest in ``smallest``, the most frequent in ``largest`` rows.

    ``loss`` is the LM of the level, exactly; ``examples`` are the first labels with their rows (None is
    missing).
    """

    level: int
    classes: int
    smallest: int
    largest: int
    loss: Fraction
    examples: tuple[tuple[str | None, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a missing label is null."""
        loss = {"fraction": f"{self.loss.numerator}/{self.loss.denominator}", "decimal": float(self.loss)}
        return {
            "level": self.level,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "largest_class": self.largest,
            "lm": loss,
            "labels": [{"label": label, "rows": rows} for label, rows in self.examples],
        }


def preview(hierarchy: Hierarchy, counts: ArrayLike, examples: int = 5) -> tuple[LevelPreview, ...]:
    """Classes, smallest and largest class and loss of each level, given the rows of each code (int64[size]).

    Values without rows are no class. The k that this attribute alone allows at a level is its smallest class.

    >>> from indistinct.hierarchies import masking
    >>> [(p.level, p.classes, p.smallest) for p in preview(masking.build("zip", ["101", "102", "201"]), [3, 1, 2])]
    [(0, 3, 1), (1, 2, 2), (2, 2, 2), (3, 1, 6)]
    """
    rows = np.asarray(counts, dtype=np.int64)
    total = int(rows.sum())
    found = []
    for number, level in enumerate(hierarchy.levels):
        per_node = np.zeros(len(level.labels), np.int64)
        np.add.at(per_node, level.node_of, rows)
        used = np.flatnonzero(per_node)
        sizes = per_node[used].tolist()
        loss = sum((level.costs[node] * size for node, size in zip(used.tolist(), sizes, strict=True)), Fraction(0))
        shown = tuple((hierarchy.node_label(number, node), int(per_node[node])) for node in used[:examples].tolist())
        smallest, largest = min(sizes, default=0), max(sizes, default=0)
        found.append(LevelPreview(number, len(used), smallest, largest, loss / max(total, 1), shown))
    return tuple(found)
