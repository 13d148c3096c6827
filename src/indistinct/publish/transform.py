"""Transforming single cells and rows as a policy says, as a step of its own."""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.formats.digest import sha256
from indistinct.formats.registry import is_delimited
from indistinct.formats.source import origins_of
from indistinct.formats.write import table_output
from indistinct.outputs import Output, check_outputs, publish, stage_bytes
from indistinct.policy import given as given_policy
from indistinct.proof.manifest import manifest_path
from indistinct.proof.published_file import delimiter_of, duration_notices, missing_text, refuse_lost
from indistinct.proof.transformed import verify_transformed
from indistinct.publish.ages import age_notices
from indistinct.publish.document import record_acceptance
from indistinct.publish.formulas import formula_notices
from indistinct.sentences.results import as_html, transform_text
from indistinct.session.transform_record import record_path
from indistinct.session.transformed import TransformedTable, apply_transforms
from indistinct.tables.count import silent
from indistinct.tables.local import LOCAL

if TYPE_CHECKING:
    from indistinct.outputs import Staged
    from indistinct.policy import GivenPolicy
    from indistinct.tables.count import Progress

INTERNAL = ("seconds", "warnings")


class Transformed(TransformedTable):
    """What ``transform`` returns: the transformed table, which can be written with its record."""

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the table and its record, verified from the written file; return the path.

        Raises PolicyError for a file that the table was made from, even with ``force``, and for one that exists without
        it; VerificationError when the written file is not right; then nothing is left behind.
        """
        _deliver(self, Path(path), force=force)
        return Path(path)

    def __repr__(self) -> str:
        """Write a short readable account."""
        return transform_text(self.document)

    def _repr_html_(self) -> str:
        return as_html(transform_text(self.document), [])


def transform(
    table: Any,
    policy: GivenPolicy,
    *,
    output: str | Path | None = None,
    force: bool = False,
    query: str | None = None,
    sql_table: str | None = None,
    seed: int | None = None,
    accept_draft: str | None = None,
    progress: Progress = silent,
) -> Transformed:
    """Apply the ``[[transforms]]`` of a policy to a table, in their order.

    The result satisfies no privacy model by itself: where the policy has models, it is the table to ``anonymize``, and
    holds every column of the source; without models identifying columns are left out, and nothing but the transforms
    protects. Randomness comes from the operating system; ``seed`` is for tests, and marks the result as not for
    publication.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    output
        The file to write, in the format of its suffix; without it nothing is written.
    force
        Replace files that exist.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    seed
        Makes random steps repeatable, for tests: the result is marked as not for publication.
    accept_draft
        Who accepts the suggestions of a draft that are still marked CONFIRM in its text; see ``anonymize``.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Transformed
        The table, and what each step did.

    Raises
    ------
    PolicyError
        For a policy without transforms.
    SchemaError, DataError
        For a table that does not fit.
    InfeasibleError
        Where a transform cannot be done.
    VerificationError
        When the written file is not right.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer"}},
    ...     transforms=[{"method": "top_coding", "attribute": "age", "limit": 90}],
    ... )
    >>> transform(pa.table({"age": [30, 95, 101]}), policy).table.to_pydict()
    {'age': [30, 90, 90]}
    """
    policy = given_policy(policy)
    if not policy.transforms:
        raise PolicyError("the policy has no [[transforms]]; add at least one", key="transforms")
    policy.require_decided(accept_draft)
    if output is not None:
        check_outputs(_files_of(Path(output)), (*origins_of(table), *policy.origins), force=force)
    begin = perf_counter()
    made = apply_transforms(table, policy, query=query, sql_table=sql_table, seed=seed, progress=progress)
    found = Transformed(**vars(made))
    record_acceptance(found.document, policy, accept_draft)
    if not policy.privacy:  # nothing comes after it
        found.document["warnings"] += [notice.document() for notice in age_notices(found.published, policy)]
    if output is None:
        verify_transformed(found, None)
    else:
        _deliver(found, Path(output), force=force)
    found.document["seconds"] = round(perf_counter() - begin, 3)
    return found


def _files_of(output: Path) -> list[Output]:
    """Return the files of a transformed table, itself and its record; raises PolicyError in place of a release."""
    if manifest_path(output).exists():
        message = f"{output.name} is a release with a manifest; write the transformed table to another file"
        raise PolicyError(message, file=output.name)
    return [table_output(output), Output(record_path(output), "record")]


def _deliver(found: Transformed, output: Path, *, force: bool) -> None:
    """Write beside the output, verify what was written, and give both files their names, that of the record last."""
    check_outputs(_files_of(output), found.origins, force=force)
    policy, published, source = found.policy, found.published, found.source
    refuse_lost(policy, {column.name: column for column in published.columns}, output, from_text=source.is_text)
    found.document["warnings"] += [notice.document() for notice in duration_notices(published.columns, output)]
    if not policy.output.spreadsheet_safe and is_delimited(output):
        secret = policy.sensitive_attributes
        notices = formula_notices(published.columns, published.repeat, secret=secret)
        found.document["warnings"] += [notice.document() for notice in notices]
    with ExitStack() as stack:
        staged = stack.enter_context(
            LOCAL.write(
                output,
                {"data": published},
                delimiter=delimiter_of(output, source.dialect),
                missing=missing_text(policy),
                spreadsheet_safe=policy.output.spreadsheet_safe,
                column_labels=source.column_labels,
            )
        )
        verify_transformed(found, staged.path)
        record = stack.enter_context(_staged_record(found, staged))
        publish([staged, record], found.origins, force=force)
    found.document["outputs"] = [str(output)]
    found.document["manifest"] = str(record.target)


def _staged_record(found: Transformed, staged: Staged) -> Staged:
    """Write the record of a staged file to a hidden file beside it; it may be published with the file.

    It holds what was asked for and no loss: the sum that top coding takes off can tell the one value it replaced.
    """
    path = record_path(staged.target)
    record = {key: value for key, value in found.document.items() if key not in INTERNAL}
    record |= {
        "transforms": [{key: entry[key] for key in ("method", "columns")} for entry in found.document["transforms"]],
        "outputs": [staged.target.name],
        "manifest": path.name,
        "sha256": {staged.target.name: sha256(staged.path)},
        "policy_sha256": found.policy.fingerprint(),
        "versions": {name: version(name) for name in ("indistinct", "numpy", "pyarrow", "duckdb")},
    }
    return stage_bytes(Output(path, "record"), (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode())
