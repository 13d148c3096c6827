"""Transforming single cells and rows as a policy says: before anonymizing, in one run or as a step of its own."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import transforms
from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.formats.columnar import is_text
from indistinct.formats.frames import give_back, kind_of
from indistinct.formats.source import open_source, origins_of
from indistinct.formats.write import DELIMITED_OUTPUTS, formula_notices, stage, table_output
from indistinct.notices import Notice, Sentence
from indistinct.outputs import Output, check_outputs, publish, stage_bytes
from indistinct.policy import given as given_policy
from indistinct.policy import resolve
from indistinct.policy.public import public_transforms
from indistinct.policy.transforms import Km
from indistinct.proof.published_file import delimiter_of, missing_text, published_options
from indistinct.proof.recount import altered, matches, recount
from indistinct.proof.release import as_spelled
from indistinct.publish.manifest import manifest_path, sha256
from indistinct.publish.transform_record import done_before, entries_of, record_path, require_same_transforms
from indistinct.sentences.results import as_html, transform_text
from indistinct.session.prepare import kept_identifying, options_of, reading_of
from indistinct.tables.apply import load_columns, sorted_units
from indistinct.tables.count import silent
from indistinct.tables.dictionary import from_text, texts_of
from indistinct.tables.published import text_column, typed_column
from indistinct.transforms.chance import Chance
from indistinct.transforms.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.formats.frames import Kind
    from indistinct.formats.source import Source
    from indistinct.outputs import Origin, Staged
    from indistinct.policy import GivenPolicy, Policy, Roles
    from indistinct.policy.transforms import Transform
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published, PublishedColumn

INTERNAL = ("seconds", "warnings")


@dataclass(frozen=True)
class Transformed:
    """A transformed table with what is known about it; ``document`` is the internal JSON document.

    ``origins`` are the files that it was made from; nothing that is made of it overwrites one.
    """

    document: dict[str, Any]
    policy: Policy = field(repr=False)
    published: Published = field(repr=False)
    source: Source = field(repr=False)
    kind: Kind = "pyarrow"
    origins: tuple[Origin, ...] = field(default=(), repr=False)

    @property
    def table(self) -> Any:
        """The transformed table in the kind of the caller's table (an Arrow table for files)."""
        return give_back(self.published.table(), self.kind)

    @property
    def as_source(self) -> Source:
        """The transformed table, to be read as the file or frame that it was made of is read."""
        given, own = self.source, open_source(self.published.table())
        return replace(
            own,
            name=given.name,
            dialect=given.dialect,
            column_labels=given.column_labels,
            warnings=list(given.warnings),
            origins=self.origins,
        )

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
    origins = (*origins_of(table), *policy.origins)
    if output is not None:
        check_outputs(_files_of(Path(output)), origins, force=force)
    begin = perf_counter()
    source = open_source(table, options_of(policy, query=query, table=sql_table))
    roles = resolve(policy, source.columns)
    names = _columns(policy, roles, source)
    progress("count", 0, 1)
    given = load_columns(source, names)
    progress("count", 1, 1)
    before = {name: _column(policy, roles, source, given[name]) for name in names}
    chance = Chance(seed)
    progress("transform", 0, len(policy.transforms))
    after, kept, entries = dict(before), np.arange(len(next(iter(before.values())).codes)), []
    for position, one in enumerate(policy.transforms, 1):
        outcome = transforms.transform(one.method)(_located(policy, one), after, chance)
        after |= outcome.columns
        if outcome.rows is not None:
            kept = kept[outcome.rows]
            after = {name: column.kept(outcome.rows) for name, column in after.items()}
        touched = list(outcome.columns) or list(one.names)
        entries.append({"method": one.method, "columns": touched, "loss": dict(outcome.loss), "says": outcome.sentence})
        progress("transform", position, len(policy.transforms))
    ones = np.ones(len(kept), np.int64)
    columns = [_published(source, given[name], before[name], after[name]) for name in names]
    published = sorted_units(columns, ones, merge=False, order=policy.output.order)
    notices = [*source.warnings, *roles.notices, *_notices(policy, chance)]
    document = {
        "rows": len(next(iter(before.values())).codes),
        "published_rows": len(kept),
        "declares": transforms.declared(one.method for one in policy.transforms),
        "k": None,
        "for_publication": not policy.privacy and not chance.is_seeded,
        "seeded": chance.is_seeded,
        "transforms": entries,
        "asked": public_transforms(policy),
        "verification": {"rows_match": False, "coverage": _coverage(policy, before, after, kept)},
        "seconds": 0.0,
        "outputs": [],
        "manifest": None,
        "warnings": [notice.document() for notice in notices],
    }
    found = Transformed(document, policy, published, source, kind_of(table), origins)
    if output is None:
        _verify(found, None)
    else:
        _deliver(found, Path(output), force=force)
    document["seconds"] = round(perf_counter() - begin, 3)
    return found


def transformed(
    table: Any, policy: Policy, *, query: str | None = None, sql_table: str | None = None, progress: Progress = silent
) -> tuple[Any, dict[str, Any], list[Notice]]:
    """Return the table that a release under a policy is made of: its transforms are applied, here if not before.

    With it come the entries ``transformed`` and ``transforms`` of the document of the release, and warnings. A table
    that was transformed before is a file with its record, or what ``transform`` returned.

    Raises PolicyError for a table to which other transforms were applied, or that was made with a seed; what
    ``transform`` raises.
    """
    if isinstance(table, Transformed):
        require_same_transforms(table.document, policy)
        found = table
    elif (record := done_before(table, policy)) is not None:
        entries = entries_of(record)
        return table, entries, [_applied(entries["transformed"])]
    elif policy.transforms:
        found = transform(table, policy, query=query, sql_table=sql_table, progress=progress)
    else:
        return table, {}, []
    entries = entries_of(found.document)
    kept = [Notice(**one) for one in found.document["warnings"] if one["kind"] in ("perturbing", "sampling", "persons")]
    notices = [_applied(entries["transformed"], in_this_run=found is not table), *kept]
    drawn = transforms.RANDOM.intersection(entries["transformed"])
    if drawn and found is not table:
        message = Sentence(
            "the table was changed at random ({methods}), which cannot be done again: to verify this release later, "
            "transform first, with 'indistinct transform', and keep the transformed table",
            methods=tuple(sorted(drawn)),
        )
        notices.append(Notice("not-kept", None, message))
    return found.as_source, {**entries, "transforms": found.document["transforms"]}, notices


def verifiable(
    table: Any, policy: Policy, *, query: str | None = None, sql_table: str | None = None, progress: Progress = silent
) -> tuple[Any, list[Notice]]:
    """Return the table that a release of a policy is verified against, as ``transformed`` does.

    Transforms that draw at random cannot be done again: then ``table`` is taken as it is, with a warning.
    """
    random = transforms.RANDOM.intersection(one.method for one in policy.transforms)
    if random and not isinstance(table, Transformed) and done_before(table, policy) is None:
        message = Sentence(
            "the policy transforms the table at random first ({methods}), which cannot be done again: the release is "
            "verified against the table as given, which has to be the transformed one, as indistinct transform keeps "
            "it",
            methods=tuple(sorted(random)),
        )
        return table, [Notice("not-applied", None, message)]
    given, _, notices = transformed(table, policy, query=query, sql_table=sql_table, progress=progress)
    return given, notices


def _applied(methods: Sequence[str], *, in_this_run: bool = False) -> Notice:
    message = Sentence(
        "the table was transformed {when} ({methods}), which gives no k and no other guarantee: the models hold for "
        "the transformed table, and the release is verified against that table, not against the original",
        when=Sentence("in this run") if in_this_run else Sentence("before"),
        methods=tuple(methods),
    )
    return Notice("transformed", None, message)


def _located(policy: Policy, one: Transform) -> Transform:
    """Say where the file of a transform is, seen from here."""
    return one.model_copy(update={"hierarchy": str(policy.locate(one.hierarchy))}) if isinstance(one, Km) else one


def refuse_floors(policy: Policy) -> None:
    """Raise PolicyError where a policy without models says how fine a column may be published."""
    for name in policy.quasi_identifiers if policy.transforms and not policy.privacy else ():
        floor = policy.attributes[name].floor
        if floor is not None:
            raise PolicyError(
                f'{floor} of "{name}" says how fine its values may be published, and transforms alone do not '
                "generalize: add a model under [[privacy]] and anonymize, or leave it out here (the transforms "
                "top_coding and bottom_coding change numbers)",
                column=name,
                key=f"attributes.{name}.{floor if floor == 'min_level' else f'hierarchy.{floor}'}",
            )


def _columns(policy: Policy, roles: Roles, source: Source) -> list[str]:
    """Columns of the result: all of a table that is still to be anonymized, else those that may be published."""
    if policy.privacy:
        return list(source.columns)
    refuse_floors(policy)
    if kept := kept_identifying(roles):
        raise PolicyError(
            f'"{kept[0]}" has action = "{roles.attributes[kept[0]].action}", which anonymize does: add a model under '
            "[[privacy]], or drop the column",
            column=kept[0],
        )
    names = [name for name in source.columns if name not in roles.identifying]
    if not names:
        raise PolicyError("every column is identifying: nothing is left to publish")
    return names


def _column(policy: Policy, roles: Roles, source: Source, given: PublishedColumn) -> Column:
    """Take a column over, with how the policy reads it; values that are written alike are one."""
    name = given.name
    texts = texts_of(given.values, name)
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    place = {text: position for position, text in enumerate(distinct)}
    code_of = np.array([-1 if text is None else place[text] for text in [*texts, None]], np.int32)
    attribute, quasi = roles.attributes[name], name in roles.quasi
    reading = reading_of(policy, source, name) if name in policy.attributes else {"type": "text"}
    separator = attribute.separator or ";"
    return Column(name, tuple(distinct), code_of[given.codes], reading, attribute.weight, quasi, separator)


def _published(source: Source, given: PublishedColumn, before: Column, after: Column) -> PublishedColumn:
    """Give a column its type in the source back."""
    kind = source.types[after.name]
    texts: list[str | None] = [*after.texts, None]
    if is_text(kind):
        return text_column(after.name, texts, after.codes)
    if after.texts is before.texts and len(after.codes) == len(given.codes):
        return given if np.array_equal(after.codes, before.codes) else _typed(after, texts, kind)
    return _typed(after, texts, kind)


def _typed(column: Column, texts: list[str | None], kind: Any) -> PublishedColumn:
    import pyarrow as pa

    try:
        return typed_column(column.name, from_text(texts, kind), column.codes)
    except pa.ArrowInvalid:
        message = f'"{column.name}" holds values now that do not fit its type {kind}; make it a wider type first'
        raise DataError(message, column=column.name) from None


def _coverage(policy: Policy, before: dict[str, Column], after: dict[str, Column], kept: Any) -> dict[str, str]:
    """Say of each column whether every cell is its original or blank; of others nothing is claimed."""
    perturbed = {
        name
        for one in policy.transforms
        for name in one.names
        if transforms.DECLARES[one.method] == "perturbing" or isinstance(one, Km)
    }  # fmt: skip
    found = {}
    for name, column in after.items():
        if column is before[name]:  # nothing touched it
            found[name] = "proven"
            continue
        old, new = before[name].spelled[kept], column.spelled
        true = bool(((new == old) | (column.codes < 0)).all())
        found[name] = "not proven" if name in perturbed else "proven" if true else "refuted"
    return found


def _notices(policy: Policy, chance: Chance) -> list[Notice]:
    found = []
    methods = [one.method for one in policy.transforms]
    if policy.privacy:
        message = Sentence("this table is not a release: anonymize it with the same policy, which names privacy models")
    else:
        message = Sentence(
            "the policy names no privacy model: the transforms give no k and no other guarantee; audit the result, or "
            "add [[privacy]] and anonymize it"
        )
    found.append(Notice("no-guarantee", None, message))
    if (word := transforms.declared(methods)) == "perturbing":
        message = Sentence(
            "published cells of the transformed columns need not be true of their rows; no coverage is claimed"
        )
        found.append(Notice(word, None, message))
    if "sampling" in methods:
        message = Sentence(
            "the rows are a random sample: an attacker does not know who is in it, but who is in it is published"
        )
        found.append(Notice("sampling", None, message))
    if policy.person is not None and "local_suppression" in methods:
        message = Sentence("local_suppression counts rows, not persons")
        found.append(Notice("persons", policy.person.key, message))
    if chance.is_seeded:
        message = Sentence(
            "the randomness came from a seed, so that anybody can repeat it: a test, not for publication"
        )
        found.append(Notice("seeded", None, message))
    return found


def _verify(found: Transformed, path: Path | None) -> None:
    """Read the result back by another reader and compare its rows.

    Raises VerificationError when they are not those that were to be written, or a cell is neither true nor blank.
    """
    proof = found.document["verification"]
    names = [column.name for column in found.published.columns]
    options = published_options(found.policy, path, found.source.dialect)
    read = recount(found.published.table() if path is None else path, names, options)
    again = as_spelled(read, found.published, found.policy, path)
    proof["rows_match"] = matches(found.published, again)
    if not proof["rows_match"]:
        columns = ", ".join(altered(found.published, again)) or "several columns together"
        raise VerificationError(f"the written rows are not those that were decided ({columns}); nothing was delivered")
    if refuted := [name for name, word in proof["coverage"].items() if word == "refuted"]:
        message = f'cells of "{refuted[0]}" are neither their originals nor blank; nothing was delivered'
        raise VerificationError(message, column=refuted[0])


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
    if not policy.output.spreadsheet_safe and output.suffix.lower() in DELIMITED_OUTPUTS:
        secret = policy.sensitive_attributes
        notices = formula_notices(published.columns, published.repeat, secret=secret)
        found.document["warnings"] += [notice.document() for notice in notices]
    with ExitStack() as stack:
        staged = stack.enter_context(
            stage(
                output,
                published.batches(),
                published.schema,
                delimiter=delimiter_of(output, source.dialect),
                missing=missing_text(policy),
                spreadsheet_safe=policy.output.spreadsheet_safe,
                column_labels=source.column_labels,
            )
        )
        _verify(found, staged.path)
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
