"""A page as PDF: the same page as in the browser, laid out for paper, by WeasyPrint (extra ``pdf``)."""

from __future__ import annotations

import logging
from typing import Any

from indistinct.errors import UnsupportedError


def pdf(page: str) -> bytes:
    """Lay out an HTML page on paper, with its headings as bookmarks and tags for screen readers (PDF/UA-1).

    Nothing is fetched. Raises UnsupportedError as ``check_pdf`` does.
    """
    weasyprint = check_pdf()
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=())
    logger = logging.getLogger("weasyprint")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it tells on standard error which rules for browsers it leaves out
    try:
        found: bytes = weasyprint.HTML(string=page, url_fetcher=fetcher).write_pdf(pdf_variant="pdf/ua-1")
    finally:
        logger.setLevel(level)
    return found


def check_pdf() -> Any:
    """Return the package that writes PDF; raises UnsupportedError where it or a library of the system is missing."""
    try:
        import weasyprint
    except ImportError:
        raise UnsupportedError(
            "a PDF needs weasyprint; install it with: pip install 'indistinct[pdf]', or print the HTML report to a file"
        ) from None
    except OSError:  # the package is there; a library that it loads is not
        raise UnsupportedError(
            "a PDF needs the library Pango of the system, which is not installed (on Debian and Ubuntu: apt-get "
            "install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0); or print the HTML report to a file"
        ) from None
    return weasyprint
