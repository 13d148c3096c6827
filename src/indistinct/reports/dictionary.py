"""The data dictionary of a published table: each column in words, and how its labels are read.

It may be published with the table: it is made from that and the public form of the policy alone, as ``public`` is, and
holds no order, domain or value that the policy lists.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.outputs import Output, check_outputs, stage_bytes
from indistinct.plain import shown
from indistinct.proof.published_file import missing_text
from indistinct.reports.catalogue import catalogue
from indistinct.reports.markdown import table
from indistinct.reports.public import public_columns
from indistinct.reports.report import files_of_release
from indistinct.reports.sections import done_text
from indistinct.session.absent_columns import range_names

if TYPE_CHECKING:
    from indistinct.outputs import Staged
    from indistinct.policy import Policy
    from indistinct.publish.anonymize import Release

SUFFIXES = (".md", ".json")


def dictionary(release: Release, path: str | Path, *, language: str = "en", force: bool = False) -> Path:
    """Write the data dictionary of a release as Markdown or JSON, by the suffix; return its path.

    Parameters
    ----------
    release
        What ``anonymize`` returned.
    path
        The file to write; its suffix says Markdown or JSON.
    language
        ``en`` or ``zh-CN``.
    force
        Replace files that exist.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    UnsupportedError
        For another suffix.
    PolicyError
        For another language and for a file that exists (unless ``force``), that the release was made from or that
        belongs to it.
    DataError
        When it cannot be written.
    """
    output, origins = dictionary_output(Path(path), language), (*release.origins, *files_of_release(release))
    check_outputs([output], origins, force=force)
    return stage_dictionary(release, output.path, language=language).publish(origins, force=force)


def stage_dictionary(release: Release, path: Path, *, language: str = "en") -> Staged:
    """Write a data dictionary to a hidden file beside ``path``, to be named with the release."""
    entries = described(release)
    if path.suffix.lower() == ".json":
        text = json.dumps({"columns": entries}, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _markdown(shown(entries), release.policy, language)
    return stage_bytes(Output(path, "data dictionary"), text.encode())


def dictionary_output(path: Path, language: str) -> Output:
    """Name the file of a dictionary; raises UnsupportedError and PolicyError where none can be made for it."""
    catalogue(language)
    if path.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f'a data dictionary is written as {" or ".join(SUFFIXES)}, and "{path.name}" is neither', file=path.name
        )
    return Output(path, "data dictionary")


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
            "labels": len(np.unique(column.codes[column.codes >= 0])),
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
