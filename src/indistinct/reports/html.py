"""A report as one self-contained HTML page: no script, nothing fetched, readable on screen and on paper.

Charts are tables with a bar in each row, so that texts keep their size on a narrow screen and a screen reader reads
figures.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from indistinct.reports.page_one import page_one, title
from indistinct.reports.sections import sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.reports.catalogue import Catalogue

LONGEST_WORD = 32  # characters that stay on one line; longer words, such as hashes, break anywhere
HATCH = 2.5  # distance of the strokes of what is hidden
_FIGURE = re.compile(r"[+<>]?\s?\d[\d,.]*(\s?%)?|\w+ = [\d./]+|")
_SPACES = re.compile("[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]")


def html(summary: dict[str, Any], t: Catalogue) -> str:
    """Render a summary as a page in the language of ``t``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("indistinct.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["stacked"] = lambda shares: Markup(stacked(shares))  # noqa: S704  # numbers alone
    environment.filters["bar"] = lambda share, kind: Markup(bar(share, kind))  # noqa: S704  # numbers alone
    environment.filters["lengths"] = lengths
    environment.filters["columns"] = figure_columns
    environment.tests["long"] = lambda text: max(map(len, text.split()), default=0) > LONGEST_WORD
    template = environment.get_template("report.html.j2")
    return template.render(
        t=t,
        summary=summary,
        title=title(summary, t),
        front=page_one(summary, t),
        sections=sections(summary, t),
        internal=summary["kind"] == "internal",
    )


def figure_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Say which columns hold nothing but figures, so that they stand at the right.

    >>> figure_columns([["age", "12.0 %"], ["ward", "+ 0.1 %"]])
    [False, True]
    """
    return [all(_FIGURE.fullmatch(_SPACES.sub(" ", text)) for text in column) for column in zip(*rows, strict=True)]


def lengths(series: Sequence[tuple[str, Sequence[str], Sequence[float]]]) -> list[list[float]]:
    """Lengths of the bars of all series on one scale, in percent."""
    most = max((value for _, _, values in series for value in values), default=0.0) or 1.0
    return [[max(0.0, 100 * value / most) for value in values] for _, _, values in series]


def bar(length: float, kind: str) -> str:
    """Draw one bar; the figure stands beside it as text."""
    return f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="{kind}" x="0" y="0" width="{length:.2f}" height="8"/></svg>'  # noqa: E501


def stacked(shares: Sequence[float]) -> str:
    """Draw exact, coarser and hidden rows of a column as one bar; what is hidden is hatched, so that grey tells it."""
    exact, coarser, hidden = (100 * share for share in shares)
    start = exact + coarser
    strokes = []
    x = start
    while hidden > 0 and x < 100:  # the whole width
        end = min(x + HATCH, 100.0)
        strokes.append(f"M{x:.2f} 8L{end:.2f} {8 - 8 * (end - x) / HATCH:.2f}")
        x += HATCH
    elements = [
        f'<rect class="exact" x="0" y="0" width="{exact:.2f}" height="8"/>' if exact else "",
        f'<rect class="coarser" x="{exact:.2f}" y="0" width="{coarser:.2f}" height="8"/>' if coarser else "",
        f'<rect class="hidden" x="{start:.2f}" y="0" width="{hidden:.2f}" height="8"/>' if hidden else "",
        f'<path class="hatch" d="{"".join(strokes)}"/>' if strokes else "",
    ]
    inner = "".join(elements)
    return f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">{inner}</svg>'  # noqa: E501
