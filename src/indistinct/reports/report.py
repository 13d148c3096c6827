"""``report``: write the report of a release to a file, by its suffix as HTML, PDF, Markdown or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import UnsupportedError
from indistinct.outputs import Origin, Output, check_outputs, origin, stage_bytes
from indistinct.plain import shown, visible
from indistinct.reports.catalogue import catalogue
from indistinct.reports.html import html
from indistinct.reports.markdown import markdown
from indistinct.reports.pdf import check_pdf, pdf
from indistinct.reports.public import public as public_summary
from indistinct.reports.summary import summary as internal_summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.outputs import Staged
    from indistinct.publish.anonymize import Release

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

    Parameters
    ----------
    release
        What ``anonymize`` returned.
    path
        The file to write, in the format of its suffix.
    language
        ``en`` or ``zh-CN``.
    public
        Leave out all from which a suppressed value could be worked out.
    force
        Replace files that exist.
    risk, attacks
        Documents of those commands about this release.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    UnsupportedError
        For another suffix or a missing extra.
    PolicyError
        For another language, for a file that exists (unless ``force``), that the release was made from or that
        belongs to it.
    DataError
        When the file cannot be written, or a document is about another table.
    """
    output, origins = report_output(Path(path), language), (*release.origins, *files_of_release(release))
    check_outputs([output], origins, force=force)
    staged = stage_report(release, output.path, language=language, public=public, risk=risk, attacks=attacks)
    return staged.publish(origins, force=force)


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
        printed = {**shown(found), "policy": visible(found["policy"], lines=True)}
        page = (markdown if suffix == ".md" else html)(printed, words)
        content = pdf(page) if suffix == ".pdf" else page.encode()
    return stage_bytes(Output(path, "report"), content)


def report_output(path: Path, language: str) -> Output:
    """Name the file of a report; raises UnsupportedError and PolicyError where none can be made for it."""
    catalogue(language)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnsupportedError(
            f'a report is written as {", ".join(SUFFIXES)}, and "{path.name}" is none of these', file=path.name
        )
    if suffix == ".pdf":
        check_pdf()
    return Output(path, "report")


def files_of_release(release: Release) -> list[Origin]:
    """Return the files of a release that was written: a document of it takes the place of none."""
    files = [*release.document["outputs"], *filter(None, [release.document["manifest"]])]
    return [origin(file, "a file of this release") for file in files]
