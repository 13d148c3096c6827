"""Metadata of a published file as schema.org ``Dataset`` (JSON-LD), for catalogues and search engines.

It may be published with the file: it is made of the file, its manifest, and what ``[release]`` of the policy calls
public.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import UnsupportedError
from indistinct.formats.registry import format_of
from indistinct.outputs import Output, check_outputs, stage_bytes
from indistinct.reports.catalogue import catalogue
from indistinct.reports.dictionary import described
from indistinct.reports.front import today
from indistinct.reports.public import check_public, public
from indistinct.reports.report import files_of_release

if TYPE_CHECKING:
    from indistinct.outputs import Staged
    from indistinct.publish.anonymize import Release

SUFFIXES = (".jsonld", ".json")


def dataset(release: Release, path: str | Path, *, language: str = "en", force: bool = False) -> Path:
    """Write the metadata of a release as schema.org ``Dataset`` (JSON-LD); return its path.

    Source: schema.org, types Dataset, DataDownload and PropertyValue.

    Parameters
    ----------
    release
        What ``anonymize`` returned.
    path
        The file to write, with the suffix jsonld or json.
    language
        The language of the sentences, as for reports.
    force
        Replace files that exist.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    UnsupportedError
        For another suffix, and where row counts are protected.
    PolicyError
        For another language and for a file that exists (unless ``force``), that the release was made from or that
        belongs to it.
    DataError
        When it cannot be written.
    """
    output, origins = dataset_output(Path(path), language), (*release.origins, *files_of_release(release))
    check_outputs([output], origins, force=force)
    return stage_dataset(release, output.path, language=language).publish(origins, force=force)


def stage_dataset(release: Release, path: Path, *, language: str = "en") -> Staged:
    """Write the metadata to a hidden file beside ``path``, to be named with the release."""
    text = json.dumps(metadata(release, language), indent=2, ensure_ascii=False) + "\n"
    return stage_bytes(Output(path, "metadata"), text.encode())


def dataset_output(path: Path, language: str) -> Output:
    """Name the file of the metadata; raises UnsupportedError and PolicyError where none can be made for it."""
    catalogue(language)
    if path.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f'metadata are written as {" or ".join(SUFFIXES)}, and "{path.name}" is neither', file=path.name
        )
    return Output(path, "metadata")


def metadata(release: Release, language: str = "en") -> dict[str, Any]:
    """Return the metadata of a release as JSON-LD."""
    check_public(release.policy)
    t, facts = catalogue(language), public(release)
    account, unit = facts["account"], t(f"unit.word.{'persons' if facts['person'] else 'rows'}")
    names = ", ".join(facts["outputs"])
    promises = [t.promise(entry, unit) or t.model(entry) for entry in facts["models"]]
    found: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": account.get("title") or (t("front.title", files=names) if names else t("title")),
        "description": t("semicolon").join([*filter(None, [account.get("purpose")]), *promises]),
        "inLanguage": language,
        "dateModified": today(),
        "measurementTechnique": promises,
        "variableMeasured": [_variable(entry) for entry in described(release)],
        "distribution": [
            {
                "@type": "DataDownload",
                "contentUrl": name,
                "encodingFormat": _media(Path(name)),
                "sha256": facts["sha256"][name],
            }
            for name in facts["outputs"]
        ],
        "size": t("unit.rows", n=facts["published_rows"]),
    }
    if "responsible" in account:
        found["maintainer"] = {"@type": "Person", "name": account["responsible"]}
    if "recipient" in account:
        key = f"recipient.{account['recipient']}"
        found["audience"] = {
            "@type": "Audience",
            "audienceType": t(key) if t.has(key) else account["recipient"],
        }
    if "conditions" in account:
        found["conditionsOfAccess"] = account["conditions"]
    return found


def _media(path: Path) -> str:
    found = format_of(path)
    return "application/octet-stream" if found is None else found.media


def _variable(entry: dict[str, Any]) -> dict[str, Any]:
    return {"@type": "PropertyValue", "name": entry["name"], "propertyID": entry["role"], "description": entry["done"]}
