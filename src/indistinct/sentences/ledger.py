"""The answers of the ledger as short readable text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.plain import for_people
from indistinct.sentences.results import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@for_people
def check_text(document: Mapping[str, Any]) -> str:
    """Write what someone learns who has the new release and all earlier ones."""
    earlier = document["earlier_releases"]
    if not earlier:
        first = "no earlier release is known; there is nothing to compare with"
    else:
        first = f"compared with {counted(len(document['compared']), 'earlier release')}: {', '.join(earlier)}"
    lines = [first]
    if document["persons"] is not None:
        persons = document["persons"]
        since = (
            f"; {persons['in_earlier_too']} of them in an earlier release, {persons['new']} new, {persons['gone']} gone"
        )
        lines.append(f"{counted(persons['in_release'], 'persons')}{since if earlier else ''}")
        if persons["with_changed_value"]:
            lines.append(f"{persons['with_changed_value']} persons show another sensitive value than before")
    lines += document["reasons"]
    lines += [f"not judged: {question}" for question in document["not_judged"]]
    unbroken = "no guarantee is broken" if earlier else "no guarantee can be broken yet"
    verdicts = {True: unbroken, False: "NOT safe beside the earlier releases", None: "not proven"}
    lines.append(verdicts[document["satisfied"]])
    return "\n".join(lines)


@for_people
def list_text(releases: Sequence[Mapping[str, Any]]) -> str:
    """Write the releases of a ledger, one line each."""
    lines = [counted(len(releases), "release")]
    for release in releases:
        persons = "" if release["persons"] is None else f", {counted(release['persons'], 'persons')}"
        lines.append(
            f"{release['added'][:16].replace('T', ' ')}  {release['name']}: {counted(release['rows'], 'rows')} in "
            f"{counted(release['classes'], 'class')}{persons}"
        )
    return "\n".join(lines)
