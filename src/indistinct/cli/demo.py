"""``indistinct demo``: the main job on the bundled example."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import print_json, tell
from indistinct.cli.options import Answer, grouped
from indistinct.errors import DataError


def example_folder() -> Path:
    """Return the folder of the hospital example: inside an installed package, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_examples" / "hospital", package.parents[1] / "examples" / "hospital"):
        if (folder / "policy.toml").is_file():
            return folder
    raise DataError("the bundled example is not installed; it is in the project's folder examples/hospital")


@grouped
def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results; made when absent.")] = Path(
        "demo-output"
    ),
    *,
    answering: Answer,
) -> int:
    """Anonymize an invented table of 20,000 hospital discharges and say what was asked, reached and lost."""
    from indistinct.assess.audit import audit
    from indistinct.policy import Policy
    from indistinct.proof.manifest import hash_status
    from indistinct.publish.anonymize import anonymize
    from indistinct.sentences.results import release_text

    example = example_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f'the folder "{folder}" cannot be made: {error.strerror}') from error
    policy = Policy.load(example / "policy.toml")
    source, output = example / "discharges.csv", folder / "published.csv"
    own = hash_status(output) == "match"  # what an earlier demo wrote is replaced, and nothing else
    if not (answering.quiet or answering.json):
        tell("The very first run compiles a few functions for up to a minute; all later runs start at once.")
    with answering.progress() as report:
        before = audit(source, policy, progress=report)
        release = anonymize(source, policy, output=output, force=own, progress=report)
    if answering.json:
        print_json({"before": before.document, "release": release.document})
        return 0
    if not answering.quiet:
        failing = [entry for entry in before.models if not entry["satisfied"]]
        tell(f"\nThe table as it stands: {before.document['rows']} rows of {before.document['persons']} patients.")
        tell("\n".join(f"  not safe: {entry['reason']}" for entry in failing))
        tell(f"\nWhat was published:\n\n{release_text(release.document)}")
        tell(f"\nThe policy that asked for it: {example / 'policy.toml'}")
        tell(f"Check it yourself:\n  indistinct verify {source} {output} --policy {example / 'policy.toml'}")
    return 0
