"""Charts as inline SVG: bars with their numbers written beside them, a title and a description for screen readers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, LABEL, NUMBER, BAR, GAP = 720, 230, 90, 14, 6
LONGEST = 34  # characters of a label
FIRST, SECOND = "#8a8a8a", "#1f5fa8"


def bars(
    name: str,
    title: str,
    description: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[str], Sequence[float]]],
) -> str:
    """Draw horizontal bars: one group for each label, one bar for each series (name, texts, values)."""
    most = max((value for _, _, values in series for value in values), default=0.0) or 1.0
    height = len(labels) * (len(series) * BAR + GAP) + (20 if len(series) > 1 else 0) + GAP
    room = WIDTH - LABEL - NUMBER
    colours = (FIRST, SECOND) if len(series) > 1 else (SECOND,)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg role="img" aria-labelledby="{name}-t {name}-d" {size}>',
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>',
    ]
    y = GAP
    if len(series) > 1:
        x = LABEL
        for (what, _, _), colour in zip(series, colours, strict=False):
            parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>')
            parts.append(f'<text x="{x + 18}" y="{y + 11}">{escape(what)}</text>')
            x += 30 + 14 * len(what)
        y += 20
    for row, label in enumerate(labels):
        shown = label if len(label) <= LONGEST else label[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
        middle = y + len(series) * BAR / 2 + 4
        parts.append(f'<text x="{LABEL - 8}" y="{middle:g}" text-anchor="end">{escape(shown)}</text>')
        for (_, texts, values), colour in zip(series, colours, strict=False):
            length = max(0.0, values[row] / most * room)
            parts.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            parts.append(f'<text x="{LABEL + length + 5:.1f}" y="{y + 11}">{escape(texts[row])}</text>')
            y += BAR
        y += GAP
    return "".join([*parts, "</svg>"])
