"""Sections as Markdown: the same words and numbers, charts as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.reports.sections import lead, sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indistinct.reports.catalogue import Catalogue


def markdown(summary: dict[str, Any], t: Catalogue) -> str:
    """Render a summary as Markdown in the language of ``t``."""
    lines = [f"# {t('title')}", ""]
    lines += [f"**{t('banner.' + summary['kind'])}**", "", t("between").join(lead(summary, t)), ""]
    for section in sections(summary, t):
        lines += [f"## {section['title']}", ""]
        for kind, *content in section["blocks"]:
            if kind == "text":
                lines += [_plain(content[0]), ""]
            elif kind in ("list", "quoted"):
                lines += [*(f"- {_plain(item)}" for item in content[0]), ""]
            elif kind == "code":
                lines += ["```", content[0].rstrip(), "```", ""]
            elif kind == "table":
                lines += [*table(content[0], content[1], content[2]), ""]
            else:
                _, title, _, labels, series = content
                rows = [[label, *(texts[row] for _, texts, _ in series)] for row, label in enumerate(labels)]
                lines += [
                    *table(title, [t("head.what"), *(name or t("head.value") for name, _, _ in series)], rows),
                    "",
                ]
    return "\n".join(lines)


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
