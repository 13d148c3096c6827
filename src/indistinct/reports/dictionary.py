"""The data dictionary of a published table: each column in words, and how its labels are read.

Public: made from the published table and the policy alone, as ``public`` is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import UnsupportedError
from indistinct.plain import shown
from indistinct.releases.lacking import range_names
from indistinct.releases.manifest import stage_document
from indistinct.releases.published import missing_text
from indistinct.reports.catalogue import catalogue
from indistinct.reports.markdown import table
from indistinct.reports.public import public_columns
from indistinct.reports.report import check_target
from indistinct.reports.sections import done_text

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.releases.anonymize import Release
    from indistinct.tables.write import Staged

SUFFIXES = (".md", ".json")


def dictionary(release: Release, path: str | Path, *, language: str = "en", force: bool = False) -> Path:
    """Write the data dictionary of a release as Markdown or JSON, by the suffix; return its path.

    Raises UnsupportedError for another suffix, PolicyError for another language, DataError when the file exists (unless
    ``force``) or cannot be written.
    """
    target = Path(path)
    check_dictionary(target, language, force=force)
    return stage_dictionary(release, target, language=language).publish()


def stage_dictionary(release: Release, path: Path, *, language: str = "en") -> Staged:
    """Write a data dictionary to a hidden file beside ``path``, to be named with the release."""
    entries = described(release)
    if path.suffix.lower() == ".json":
        text = json.dumps({"columns": entries}, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _markdown(shown(entries), release.policy, language)
    return stage_document(path, text.encode(), "data dictionary")


def check_dictionary(path: Path, language: str, *, force: bool) -> None:
    """Refuse a dictionary that could not be written, before anything runs."""
    catalogue(language)
    if path.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f'a data dictionary is written as {" or ".join(SUFFIXES)}, and "{path.name}" is neither', file=path.name
        )
    check_target(path, force=force)


def described(release: Release) -> list[dict[str, Any]]:
    """Return what is to be said of each published column: type, role, what was done, tokens, number of labels."""
    policy, published = release.policy, {column.name for column in release.decision.published.columns}
    found = []
    for entry in public_columns(release.decision):
        if entry["name"] not in published:
            continue
        attribute = policy.attributes.get(entry["name"])
        own = {
            "name": entry["name"],
            "role": entry["role"],
            "type": "text" if attribute is None else attribute.type,
            "done": entry["done"],
            "labels": entry["labels"],
            "missing": missing_text(policy),
            **({"transformed": entry["transformed"]} if "transformed" in entry else {}),
        }
        if entry["done"] == "generalized":
            own |= {"hierarchy": entry["hierarchy"], "suppressed": policy.output.suppressed_token}
        found.append(own)
        found += _ends(entry["name"], own, release)
    return found


def _ends(name: str, entry: dict[str, Any], release: Release) -> list[dict[str, Any]]:
    """Describe the columns that ``[output] ranges`` adds to one, each with ``of``, the column of the labels."""
    return [
        {
            "name": column.name,
            "role": entry["role"],
            "type": entry["type"],
            "done": f"end_{column.name.removeprefix(f'{name}_')}",
            "of": name,
            "labels": len(column.values),
            "missing": entry["missing"],
        }
        for column in release.decision.published.columns
        if column.name in range_names(release.policy).get(name, ())
    ]


def _markdown(entries: list[dict[str, Any]], policy: Policy, language: str) -> str:
    t = catalogue(language)
    rows = []
    for entry in entries:
        reading = f"read.{entry.get('hierarchy')}"
        rows.append(
            [
                entry["name"],
                t(f"type.{entry['type']}"),
                t(f"role.{entry['role']}"),
                done_text(entry, t),
                t(reading) if t.has(reading) else "",
                t.number(entry["labels"]),
            ]
        )
    head = [t(f"head.{name}") for name in ("column", "type", "role", "done", "reading", "labels")]
    lines = [f"# {t('dictionary.title')}", "", *table(t("caption.columns"), head, rows), ""]
    lines.append(
        t("dictionary.tokens", suppressed=f"`{policy.output.suppressed_token}`", missing=f"`{missing_text(policy)}`")
    )
    if policy.transforms:
        methods = ", ".join(dict.fromkeys(one.method for one in policy.transforms))
        lines += ["", t("dictionary.transformed", methods=methods)]
    return "\n".join(lines) + "\n"
