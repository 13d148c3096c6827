"""``report``: write the report of a release to a file, by its suffix as HTML, Markdown or JSON."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, UnsupportedError
from indistinct.reports.catalogue import catalogue
from indistinct.reports.html import html
from indistinct.reports.markdown import markdown
from indistinct.reports.public import public as public_summary
from indistinct.reports.summary import summary as internal_summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.releases.anonymize import Release

SUFFIXES = (".html", ".htm", ".md", ".json")


def report(
    release: Release,
    path: str | Path,
    *,
    language: str = "en",
    public: bool = False,
    force: bool = False,
    risk: Mapping[str, Any] | None = None,
    attacks: Mapping[str, Any] | None = None,
) -> Path:
    """Write the report of a release and return its path.

    The internal report (default) may show what was lost and is marked so; the ``public`` one holds nothing from which a
    suppressed value could be worked out. ``language`` is ``en`` or ``zh-CN``; JSON is the summary itself, in no
    language. ``risk`` and ``attacks`` are the documents of those commands, shown in the internal report.

    Raises UnsupportedError for another suffix, PolicyError for another language, DataError when the file exists (unless
    ``force``) or cannot be written.
    """
    target = Path(path)
    check_report(target, language, force=force)
    found = public_summary(release) if public else internal_summary(release, risk=risk, attacks=attacks)
    suffix = target.suffix.lower()
    if suffix == ".json":
        text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = (markdown if suffix == ".md" else html)(found, catalogue(language))
    return write_text(target, text)


def write_text(target: Path, text: str) -> Path:
    """Write a text beside its place and rename it: the whole file or none."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DataError(f'the report "{target.name}" cannot be written: {error.strerror}', file=target.name) from error
    return target


def check_report(path: Path, language: str, *, force: bool) -> None:
    """Refuse a report that could not be written, before anything runs."""
    catalogue(language)
    if path.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f'a report is written as {", ".join(SUFFIXES)}, and "{path.name}" is none of these', file=path.name
        )
    check_target(path, force=force)


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a file that exists, or that has no folder."""
    if path.exists() and not force:
        raise DataError(f'the report "{path.name}" exists; say --force to overwrite it', file=path.name)
    if not path.resolve().parent.is_dir():
        raise DataError(f'there is no folder for the report "{path.name}"; make it first', file=path.name)
