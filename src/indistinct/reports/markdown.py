"""Sections as Markdown: the same words and numbers, charts as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.reports.page_one import page_one, title
from indistinct.reports.sections import sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from indistinct.reports.catalogue import Catalogue


def markdown(summary: dict[str, Any], t: Catalogue) -> str:
    """Render a summary as Markdown in the language of ``t``."""
    lines = [f"# {_plain(title(summary, t))}", "", f"**{t('banner.' + summary['kind'])}**", ""]
    for block in page_one(summary, t):
        lines += _block(block, t)
    for section in sections(summary, t):
        lines += [f"## {section['title']}", ""]
        for block in section["blocks"]:
            lines += _block(block, t)
    return "\n".join(lines)


def _block(block: tuple[Any, ...], t: Catalogue) -> list[str]:
    kind, *content = block
    write = _WRITERS.get(kind)
    return [*(_chart(content, t) if write is None else write(*content)), ""]


def _listed(items: Iterable[str]) -> list[str]:
    return [f"- {_plain(item)}" for item in items]


def _pairs(pairs: Iterable[Sequence[str]]) -> list[str]:
    return [f"- **{_plain(one)}** {_plain(other)}" for one, other in pairs]


def _shares(caption: str, head: Sequence[str], rows: Iterable[tuple[str, Any, Sequence[str]]]) -> list[str]:
    return table(caption, [head[0], *head[2:]], [[name, *texts] for name, _, texts in rows])


def _sign(labels: Iterable[str], marks: Iterable[tuple[str, str]]) -> list[str]:
    lines = [f"- {_plain(label)}: {BLANK}" for label in labels]
    return [*lines, *(f"- {_plain(name)} `{mark}`" for name, mark in marks)]


def _chart(content: Sequence[Any], t: Catalogue) -> list[str]:
    _, caption, _, labels, series = content
    rows = [[label, *(texts[row] for _, texts, _ in series)] for row, label in enumerate(labels)]
    return table(caption, [t("head.what"), *(name or t("head.value") for name, _, _ in series)], rows)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Write a table with its caption, as lines."""
    lines = [f"{_plain(caption)}:", "", f"| {' | '.join(map(_cell, head))} |", f"|{' --- |' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)]


def _cell(text: str) -> str:
    return _plain(str(text)).replace("|", "\\|")


def _plain(text: str) -> str:
    """Keep a text from being read as markup."""
    for sign in "\\`*_<[":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


BLANK = "\\_" * 12  # a line to write on
_WRITERS: dict[str, Callable[..., list[str]]] = {
    "text": lambda text: [_plain(text)],
    "open": lambda text: [_plain(text)],
    "list": _listed,
    "quoted": _listed,
    "code": lambda text: ["```", text.rstrip(), "```"],
    "table": table,
    "cards": table,
    "facts": _pairs,
    "figures": _pairs,
    "verdict": lambda holds, title, said: [f"## {'✓' if holds else '✕'} {_plain(title)}", "", _plain(said)],
    "look": lambda title, items: [f"## ! {_plain(title)}", "", *_listed(items)],
    "shares": _shares,
    "sign": _sign,
}
