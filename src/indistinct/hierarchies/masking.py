"""Masking: each level hides one more character, from the right or from the left."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import HierarchyError, PolicyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.values import already_generalized, from_source, quoted, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    side: str = "right",
    character: str = "*",
    fill: str | None = None,
) -> Hierarchy:
    """Build as many levels as the longest value has characters: level g hides g of them, the last is the root ``*``.

    A value shorter than g is hidden wholly, by as many characters as it has; where that text is the root's, as for
    a value of one character, it is in the root already. With ``fill = "longest"`` values are first filled up with the
    mask to the length of the longest, so that a code and its extension meet: 02139 and 02139-4307 in ``02139*****``;
    before they meet, a code of which nothing is hidden yet stays as it is.
    Codes are ordered by length, then by code point (from the hidden end inwards), so that every node is a run. LM cost
    of a node: ``(values(node) - 1) / (values(root) - 1)`` over the values that occur, 1 where it is published as the
    root; a missing value counts as one.

    Raises PolicyError for another side than right or left, a mask of more than one character, another fill than
    longest; HierarchyError when one label would stand for two different sets of values, as when a value holds the mask.

    >>> codes = build("zip", ["02138", "02139", "02141"])
    >>> [level.labels for level in codes.levels[1:3]], codes.height
    ([('0213*', '0214*'), ('021**',)], 5)
    """
    if side not in ("right", "left"):
        raise PolicyError(
            f'masking of column "{attribute}" goes from "right" or "left", not "{side}"', column=attribute
        )
    if fill not in (None, "longest"):
        raise PolicyError(f'masking of column "{attribute}" takes fill = "longest", not "{fill}"', column=attribute)
    if len(character) != 1:
        raise PolicyError(f'masking of column "{attribute}" needs one character, not "{character}"', column=attribute)
    found = scale(attribute, texts)
    right = side == "right"
    longest = max(map(len, found.texts), default=0) if fill == "longest" else 0
    pairs = ((text if right else text[::-1], text) for text in found.texts)
    values = sorted((max(len(seen), longest), seen.ljust(longest, character), text) for seen, text in pairs)
    lengths = np.array([length for length, _, _ in values], dtype=np.int64)
    visible = [seen for _, seen, _ in values]
    present = [text for _, _, text in values]
    shown = visible if right else [text[::-1] for text in visible]
    shared = _common_prefix(visible, lengths)
    longest = int(lengths.max(initial=0))
    leaves = len(present) + found.missing
    groupings = []
    for hidden in range(1, longest):
        # neighbours are one node when they have one length and agree on what is left to see
        node_of, first = runs(np.cumsum(np.append(0, shared < lengths[1:] - hidden) if present else []))
        sizes = np.diff(first, append=len(present))
        # while no more is hidden than was filled up, a code that meets no other stays what it is
        labels = [
            present[index]
            if size == 1 and hidden <= lengths[index] - len(present[index])
            else _mask(shown[index], hidden, character, right=right)
            for index, size in zip(first.tolist(), sizes.tolist(), strict=True)
        ]
        sizes[[label == ROOT for label in labels]] = leaves  # published as the root, so lost like the root
        groupings.append(Grouping(node_of, labels, Fractions(sizes - 1, max(leaves - 1, 1))))
    _check_labels(attribute, present, groupings, character, missing=found.missing)
    return assemble(attribute, "masking", present, groupings, missing=found.missing, wide=len(present) > 1)


def _mask(text: str, hidden: int, character: str, *, right: bool) -> str:
    hidden = min(hidden, len(text))
    shown = len(text) - hidden
    return text[:shown] + character * hidden if right else character * hidden + text[hidden:]


def _common_prefix(texts: list[str], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n - 1]: length of the common prefix of neighbours; far below 0 where their lengths differ."""
    shared = np.full(max(len(texts) - 1, 0), np.iinfo(np.int64).min, np.int64)
    starts = np.flatnonzero(np.diff(lengths, prepend=-1)).tolist()
    for start, stop in pairwise((*starts, len(texts))):
        length = int(lengths[start])
        if length == 0 or stop - start < 2:
            continue
        letters = np.array(texts[start:stop], dtype=f"U{length}").view(np.uint32).reshape(stop - start, length)
        differ = letters[1:] != letters[:-1]
        shared[start : stop - 1] = np.argmax(differ, axis=1)
    return shared


def _check_labels(
    attribute: str, present: list[str], groupings: Sequence[Grouping], character: str, *, missing: bool
) -> None:
    holders = [text for text in present if character in text]
    if (not holders and ROOT not in present) or len(present) + missing < 2:
        return  # only a value that holds the mask, or a label that is the root, can clash
    known = {ROOT: (0, len(present) + missing)}
    values = Grouping(np.arange(len(present), dtype=np.int32), present, Fractions(np.zeros(0), 1))
    for level in (values, *groupings):
        labels = level.labels
        starts = np.searchsorted(level.node_of, np.arange(len(labels) + 1)).tolist()
        for label, start, stop in zip(labels, starts, starts[1:], strict=False):
            if label == ROOT and level is not values:
                continue  # a value of one character, hidden: in the root already
            if known.setdefault(label, (start, stop)) != (start, stop):
                published = already_generalized(holders or [ROOT], character=character)
                raise HierarchyError(
                    f'masking of column "{attribute}": the label "{label}" would stand for two sets of values '
                    f"(because of {quoted(holders or [ROOT])}); choose another mask character, "
                    f"or make all values equally long{from_source(published)}",
                    column=attribute,
                ).showing(f'"{label}"', quoted(holders or [ROOT]), *filter(None, [published]))
