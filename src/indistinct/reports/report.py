"""``report``: write the report of a release to a file, by its suffix as HTML, PDF, Markdown or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, UnsupportedError
from indistinct.plain import shown, visible
from indistinct.releases.manifest import stage_document
from indistinct.reports.catalogue import catalogue
from indistinct.reports.html import html
from indistinct.reports.markdown import markdown
from indistinct.reports.pdf import check_pdf, pdf
from indistinct.reports.public import public as public_summary
from indistinct.reports.summary import summary as internal_summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.releases.anonymize import Release
    from indistinct.tables.write import Staged

SUFFIXES = (".html", ".htm", ".pdf", ".md", ".json")


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
    language; PDF needs the extra ``pdf``. ``risk`` and ``attacks`` are documents of those commands about this release
    (``ind.risk(table, policy).document``). Without ``risk`` the internal report holds the risks of its groups. The
    public report shows of attacks those that look at the published table alone, and of ``risk`` nothing.

    Raises UnsupportedError for another suffix or a missing extra, PolicyError for another language, DataError when the
    file exists (unless ``force``), cannot be written, or a document is about another table.
    """
    target = Path(path)
    check_report(target, language, force=force)
    return stage_report(release, target, language=language, public=public, risk=risk, attacks=attacks).publish()


def stage_report(
    release: Release,
    path: Path,
    *,
    language: str = "en",
    public: bool = False,
    risk: Mapping[str, Any] | None = None,
    attacks: Mapping[str, Any] | None = None,
) -> Staged:
    """Write a report to a hidden file beside ``path``, to be named with the release; parameters of ``report``."""
    found = public_summary(release, attacks) if public else internal_summary(release, risk=risk, attacks=attacks)
    suffix, words = path.suffix.lower(), catalogue(language)
    if suffix == ".json":
        content = (json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    else:
        told = {**shown(found), "policy": visible(found["policy"], lines=True)}
        page = (markdown if suffix == ".md" else html)(told, words)
        content = pdf(page) if suffix == ".pdf" else page.encode()
    return stage_document(path, content, "report")


def check_report(path: Path, language: str, *, force: bool) -> None:
    """Refuse a report that could not be written, before anything runs."""
    catalogue(language)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnsupportedError(
            f'a report is written as {", ".join(SUFFIXES)}, and "{path.name}" is none of these', file=path.name
        )
    if suffix == ".pdf":
        check_pdf()
    check_target(path, force=force)


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a file that exists, or that has no folder."""
    if path.exists() and not force:
        raise DataError(f'the report "{path.name}" exists; say --force to overwrite it', file=path.name)
    if not path.resolve().parent.is_dir():
        raise DataError(f'there is no folder for the report "{path.name}"; make it first', file=path.name)
