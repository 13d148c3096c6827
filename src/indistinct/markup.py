"""HTML for reports and notebooks: texts, tables, and charts as inline SVG; everything that is given is escaped."""

from __future__ import annotations

from html import escape as escaped
from typing import TYPE_CHECKING

from indistinct.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, LABEL, NUMBER, BAR, GAP = 720, 230, 90, 14, 6
LONGEST = 34  # characters of a label
FIRST, SECOND, INK = "#8a8a8a", "#1f5fa8", "#1a1a1a"
FONT = 'font-family="system-ui, Noto Sans, Noto Sans CJK SC, sans-serif" font-size="11"'


def escape(text: str) -> str:
    """Show a text as it is: neither markup nor control characters act."""
    return escaped(visible(text))


def preformatted(text: str) -> str:
    """Show a text as it is in a terminal."""
    return f"<pre>{escaped(visible(text, lines=True))}</pre>"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; the first cell of a row names it."""
    left = 'style="text-align:left"'
    heads = "".join(f'<th scope="col" {left}>{escape(str(cell))}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row" {left}>{escape(str(first))}</th>'
        + "".join(f"<td {left}>{escape(str(cell))}</td>" for cell in others)
        + "</tr>"
        for first, *others in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def drawing(name: str, title: str, description: str, size: tuple[int, int], elements: Iterable[str]) -> str:
    """Frame the parts of a drawing, which stands in a page or in a file of its own.

    ``title`` and ``description`` are for screen readers; ``name`` is unique on the page. The parts are SVG already.
    """
    width, height = size
    seen = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" {FONT} fill="{INK}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{name}-t {name}-d" {seen}>',
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>',
        *elements,
        "</svg>",
    ])  # fmt: skip


def bars(
    name: str,
    title: str,
    description: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[str], Sequence[float]]],
) -> str:
    """Draw horizontal bars: one group for each label, one bar for each series (name, texts, values).

    Numbers are written beside the bars; title and description are for screen readers, ``name`` is unique on the page.
    """
    most = max((value for _, _, values in series for value in values), default=0.0) or 1.0
    height = len(labels) * (len(series) * BAR + GAP) + (20 if len(series) > 1 else 0) + GAP
    room = WIDTH - LABEL - NUMBER
    colours = (FIRST, SECOND) if len(series) > 1 else (SECOND,)
    elements = []
    y = GAP
    if len(series) > 1:
        x = LABEL
        for (what, _, _), colour in zip(series, colours, strict=False):
            elements.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>')
            elements.append(f'<text x="{x + 18}" y="{y + 11}">{escape(what)}</text>')
            x += 30 + 14 * len(what)
        y += 20
    for row, label in enumerate(labels):
        shown = label if len(label) <= LONGEST else label[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
        middle = y + len(series) * BAR / 2 + 4
        elements.append(f'<text x="{LABEL - 8}" y="{middle:g}" text-anchor="end">{escape(shown)}</text>')
        for (_, texts, values), colour in zip(series, colours, strict=False):
            length = max(0.0, values[row] / most * room)
            elements.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            elements.append(f'<text x="{LABEL + length + 5:.1f}" y="{y + 11}">{escape(texts[row])}</text>')
            y += BAR
        y += GAP
    return drawing(name, title, description, (WIDTH, height), elements)
