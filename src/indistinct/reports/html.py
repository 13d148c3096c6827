"""Sections as one self-contained HTML page: no script, nothing fetched, readable on screen and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.markup import bars
from indistinct.reports.sections import lead, sections

if TYPE_CHECKING:
    from indistinct.reports.catalogue import Catalogue

LONGEST_WORD = 32  # characters that stay on one line; longer words, such as hashes, break anywhere


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
    environment.filters["chart"] = lambda block: Markup(bars(*block[1:]))  # noqa: S704  # bars escapes what it is given
    environment.tests["long"] = lambda text: max(map(len, text.split()), default=0) > LONGEST_WORD
    template = environment.get_template("report.html.j2")
    return template.render(
        t=t,
        summary=summary,
        sections=sections(summary, t),
        lead=lead(summary, t),
        internal=summary["kind"] == "internal",
    )
