"""Prove or refute a published file, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import declared, form_of
from indistinct.decision.decide import apply, decide, grouped_attribute, layout_of
from indistinct.errors import IndistinctError, PolicyError, SchemaError, UnsupportedError
from indistinct.formats.columnar import is_text
from indistinct.formats.source import path_of
from indistinct.models import Context
from indistinct.notices import Notice, Sentence
from indistinct.policy.recoding import option
from indistinct.proof.claims import false_claims, missing_rows
from indistinct.proof.coverage import Coverage, Side, coverage
from indistinct.proof.files import read_tables, tables_of
from indistinct.proof.groups import PROTECTS, place_of_manifest
from indistinct.proof.manifest import hash_status, manifest_notices, read_manifest
from indistinct.proof.misfit import misfit
from indistinct.proof.published_file import count_published, distinct_rows, published_options
from indistinct.proof.ranges import false_ranges
from indistinct.proof.recount import matches, numbered_alike, respelled, restored
from indistinct.proof.release import Behind, judge_reread, label_reader, persons_of_labels, reread_namer, starred
from indistinct.proof.spelling import guard_of, spellers
from indistinct.proof.transformed import verifiable
from indistinct.proof.verify_groups import prove_groups
from indistinct.proof.verify_invariance import verify_invariance
from indistinct.sentences.results import as_html, verification_text
from indistinct.session.absent_columns import range_names
from indistinct.session.blanks import blank_notices
from indistinct.session.prepare import prepare, published_identifying
from indistinct.session.verdicts import invariant_model, refuse_mechanisms, unit_of
from indistinct.tables.count import silent
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.local import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indistinct.formats.source import Source
    from indistinct.policy import Policy
    from indistinct.proof.files import Part
    from indistinct.proof.verify_invariance import History
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.engine import Engine
    from indistinct.tables.recount import Recount

VIOLATIONS_SHOWN = 20


@dataclass(frozen=True)
class Verification:
    """The answer of ``verify``; ``document`` is the JSON document of the contract."""

    document: dict[str, Any]

    @property
    def satisfied(self) -> bool:
        """Whether every model holds, no row is uncovered and no hash differs."""
        verdict: bool = self.document["satisfied"]
        return verdict

    def __repr__(self) -> str:
        """Write a short readable account."""
        return verification_text(self.document)

    def _repr_html_(self) -> str:
        return as_html(verification_text(self.document), self.document["models"])


def prove(
    original: Any,
    published: Any,
    policy: Policy,
    st: Any = None,
    *,
    history: History,
    query: str | None = None,
    sql_table: str | None = None,
    engine: Engine = LOCAL,
    progress: Progress = silent,
) -> Verification:
    """Prove or refute that a published table is a truthful release of the original, as ``indistinct.verify`` says.

    ``engine`` counts the original. ``history`` tells what earlier releases stated of the persons of a table
    (``history.signatures``).

    Raises SchemaError when the published table has columns that the original lacks.
    """
    if invariant_model(policy) is not None:
        return Verification(
            verify_invariance(original, published, policy, history, query=query, sql_table=sql_table, progress=progress)
        )
    refuse_mechanisms(policy)
    original, done, applied = verifiable(original, policy, query=query, sql_table=sql_table, progress=progress)
    tables = tables_of(published, st)
    if len(tables) == 2 or form_of(policy) == "permuted":
        groups = _verify_groups(original, done, tables, policy, query=query, sql_table=sql_table, progress=progress)
        groups.document["warnings"] += [notice.document() for notice in applied]
        return groups
    # other columns are read only to decide again, which tells whose a row is
    carry = policy.person is not None
    prepared = prepare(
        original, policy, carry=carry, query=query, sql_table=sql_table, engine=engine, progress=progress
    )
    path = path_of(published)
    progress("read", 0, 1)
    roles = prepared.roles
    hidden = {*roles.identifying, *([] if roles.person is None else [roles.person])}
    source, found = count_published(published, policy, prepared.source, hidden)
    quasi = [name for name in roles.quasi if name in source.columns]
    if not quasi:
        raise SchemaError("the published table has none of the quasi-identifiers of the policy")
    leaked = [name for name in source.columns if name in hidden and name not in published_identifying(roles)]
    untouched = [name for name in found.columns if name not in quasi]
    lost = [h.attribute for h in prepared.counted.frequencies.sensitive if h.attribute not in untouched]
    if lost:
        raise SchemaError(
            f'the published table lacks the sensitive column "{lost[0]}" that a model looks at',
            column=lost[0],
        )
    columns = found.columns
    before = distinct_rows(engine, prepared.source, columns)
    guard = guard_of(policy, path)
    typed = [name for name in columns if not is_text(prepared.source.types[name])]
    spellings = spellers({name: before.column(name)[0] for name in columns}, typed, policy)
    found, before = restored(found, spellings, guard), restored(before, spellings)
    progress("read", 1, 1)
    progress("verify", 0, 2)
    answer = _coverage(prepared, found, before, quasi, untouched)
    answer = _with_ranges(answer, tables[0], source, prepared)
    progress("verify", 1, 2)
    notices = [*source.warnings, *applied]
    frequencies = prepared.counted.frequencies
    persons = None if frequencies.persons is None else _persons(prepared, found, notices)
    # rows with the token everywhere are a class if they can be one, else they are suppressed rows
    models, classes, exempt = judge_reread(
        found, frequencies, persons, policy, may_exempt=policy.suppression.rows != "test", prepared=prepared
    )
    rows, stars = int(found.rows.sum()), int(found.rows[starred(found, frequencies, policy)].sum())
    missed, faults, more = missing_rows(prepared, rows, stars)
    named = reread_namer(found, frequencies, policy, starred_is_class=not exempt)
    notices += [*more, *blank_notices(policy, classes, Context(frequencies.references), named)]
    status, manifest = ("absent", None) if path is None else (hash_status(path), read_manifest(path))
    notices += [] if path is None else manifest_notices([path], path)
    counts = _counts(prepared, rows, missed["missing_rows"], stars)
    claims, stated = false_claims(manifest, policy, models, counts, tables, done)
    notices += stated
    holds = all(entry["satisfied"] for entry in models)
    progress("verify", 2, 2)
    document = {
        "satisfied": holds and answer.status != "refuted" and status != "differs" and not (leaked or faults or claims),
        "coverage": _described(answer, source, found, lambda texts: respelled(texts, spellings, guard)),
        "hash": "differs" if claims else status,
        "false_claims": claims,
        "faults": faults,
        **missed,
        "leaked_columns": leaked,
        "models": models,
        "rows": rows,
        "starred_rows": exempt,
        "original_rows": prepared.rows,
        **unit_of(frequencies),
        "classes": len(classes),
        "reference": "original",
        "warnings": [notice.document() for notice in notices],
    }
    return Verification(document)


def _verify_groups(
    original: Any,
    done: Mapping[str, Any],
    tables: Sequence[Part],
    policy: Policy,
    *,
    query: str | None,
    sql_table: str | None,
    progress: Progress,
) -> Verification:
    """Verify a release in groups: two tables, two sheets of one workbook, or (no second) one with permuted values."""
    used = sorted({name for model in policy.privacy for name in model.attributes_used})
    if len(used) != 1:
        about = ", ".join(used) or "no sensitive attribute"
        raise PolicyError(
            f"a release in groups holds one sensitive attribute, and the models of the policy are about {about}; "
            "verify it with a policy whose models are about one",
            key="privacy",
        )
    if policy.person is not None:
        raise UnsupportedError(
            "a release in groups does not say whose a row is, so groups cannot be judged by persons; verify it with a "
            "policy without [person], in which the key is identifying",
            key="person",
        )
    prepared = prepare(original, policy, carry=False, query=query, sql_table=sql_table, progress=progress)
    attribute, roles = grouped_attribute(policy), prepared.roles
    hidden = {*roles.identifying, *([] if roles.person is None else [roles.person])}
    progress("read", 0, 1)
    found = read_tables(tables, policy, prepared.source, hidden, in_groups=True)
    source, qit = found[0]
    if len(found) == 2 and attribute in qit.columns:
        raise SchemaError(
            f'the table of quasi-identifiers holds the sensitive column "{attribute}"; give it and the table of '
            "values in this order",
            column=attribute,
        )
    if not any(name in qit.columns for name in roles.quasi):
        raise SchemaError("the published table has none of the quasi-identifiers of the policy")
    progress("read", 1, 1)
    progress("verify", 0, 1)
    paths = [path for part in tables if (path := path_of(part.table)) is not None]
    proof = prove_groups(
        prepared, qit, found[1][1] if len(found) == 2 else None, paths[0] if paths else None, attribute=attribute
    )
    answer = _with_ranges(proof.coverage, tables[0], source, prepared)
    leaked = sorted(
        {name for own, _ in found for name in own.columns if name in hidden} - {*published_identifying(roles)}
    )
    status, manifest, beside = "absent", None, list[Notice]()
    if paths:
        place = place_of_manifest(paths[0]) if len(set(paths)) == 2 else paths[0]
        status = hash_status(*dict.fromkeys(paths), place=place)
        manifest, beside = read_manifest(place), manifest_notices(list(dict.fromkeys(paths)), place)
    progress("verify", 1, 1)
    missed, faults, notices = missing_rows(prepared, proof.rows)
    notices = [*source.warnings, *notices, *proof.notices, *beside]
    counts = _counts(prepared, proof.rows, missed["missing_rows"], 0) | {"groups": (proof.groups, proof.groups)}
    claims, stated = false_claims(manifest, policy, proof.models, counts, tables, done)
    notices += stated
    document = {
        "satisfied": all(entry["satisfied"] for entry in proof.models)
        and answer.status != "refuted"
        and status != "differs"
        and not (leaked or faults or claims),
        "coverage": _described(answer, source, proof.pair.qit, proof.restore),
        "hash": "differs" if claims else status,
        "false_claims": claims,
        "faults": faults,
        **missed,
        "leaked_columns": leaked,
        "models": proof.models,
        "rows": proof.rows,
        "starred_rows": 0,
        "original_rows": prepared.rows,
        **unit_of(prepared.counted.frequencies),
        "classes": proof.classes,
        "groups": proof.groups,
        "protects": PROTECTS,
        "reference": "original",
        "warnings": [notice.document() for notice in notices],
    }
    return Verification(document)


def _with_ranges(answer: Coverage, part: Part, source: Source, prepared: Prepared) -> Coverage:
    """Refute a table whose ends of ranges are not those of its labels."""
    if not range_names(prepared.policy):
        return answer
    options = published_options(prepared.policy, path_of(part.table), source.dialect)
    faults = false_ranges(part.table, replace(options, sheet=part.sheet), prepared)
    if not faults:
        return answer
    return replace(answer, status="refuted", reason="; ".join([answer.reason, *faults] if answer.reason else faults))


def _counts(prepared: Prepared, rows: int, missing: int, stars: int) -> dict[str, tuple[int, int]]:
    """The least and the largest true number under each key of a manifest; starred rows may be suppressed ones."""
    return {
        "rows": (prepared.rows, prepared.rows),
        "published_rows": (rows, rows),
        "left_out_rows": (prepared.counted.left_out, prepared.counted.left_out),
        "suppressed_rows": (missing, missing + stars),
    }


def _coverage(
    prepared: Prepared, found: Recount, before: Recount, quasi: Sequence[str], untouched: Sequence[str]
) -> Coverage:
    if declared(prepared.policy) == "perturbing":
        how = option(prepared.policy.recoding, "aggregate")
        return Coverage("not proven", [], f"the policy publishes the {how} of each class, which covers no original")
    tables, labels, values = [], [], []
    for name in quasi:
        texts, codes = found.column(name)
        originals, original_codes = before.column(name)
        reader = label_reader(name, originals, prepared)
        table = np.stack([reader.covers(text) for text in texts])
        tables.append(table)
        labels.append(codes)
        values.append(original_codes)
    left, right = numbered_alike(found, before, untouched)
    answer = coverage(
        Side(left, np.column_stack(labels), found.rows),
        Side(right, np.column_stack(values), before.rows),
        tables,
        quasi,
    )
    covers = dict(zip(quasi, tables, strict=True))
    return replace(answer, why=lambda row: misfit(row, found, before, covers, untouched))


def _persons(prepared: Prepared, found: Recount, notices: list[Notice]) -> Behind:
    """Say how many persons stand behind each published label tuple.

    The file does not tell. Deciding again gives the same table when the file is ours; then the persons are known.
    Otherwise the least number that could fill the rows counts: whole rows of those who have most of them. Shares of
    persons are not known then, and models of shares are not satisfied.
    """
    known = _persons_decided_again(prepared, found)
    if known is not None:
        return known
    most = np.cumsum(np.sort(prepared.counted.rows_of_persons)[::-1])
    message = Sentence(
        "the file does not say whose a row is, and deciding again does not give this file: a class counts the least "
        "number of persons who could have its rows"
    )
    if prepared.counted.frequencies.weighs_persons:
        message = Sentence(
            "{what}, and models of shares, which ask for the shares of persons, are not proven", what=message
        )
    notices.append(Notice("persons", None, message))
    quasi = [h.attribute for h in prepared.counted.frequencies.quasi if h.attribute in found.columns]
    rows: dict[tuple[str | None, ...], int] = {}
    columns = [found.column(name) for name in quasi]
    for position, number in enumerate(found.rows.tolist()):
        label = tuple(texts[codes[position]] for texts, codes in columns)
        rows[label] = rows.get(label, 0) + number
    sizes = np.searchsorted(most, list(rows.values())) + 1
    number_of = {label: number for number, label in enumerate(rows)}
    several = prepared.counted.frequencies.weighs_persons
    return Behind(number_of, sizes.astype(np.int64), most_rows=most.astype(np.int64) if several else None)


def _persons_decided_again(prepared: Prepared, found: Recount) -> Behind | None:
    """Decide as ``anonymize`` would: the persons behind each label tuple if that gives the rows found, else None."""
    try:
        layout = layout_of(prepared)
        decision = apply(prepared, decide(prepared), layout)
    except IndistinctError:  # the target is out of reach, or the key of a pseudonym is not at hand
        return None
    if set(layout.columns) != set(found.columns) or not matches(decision.published, found):
        return None
    return persons_of_labels(decision)


def _described(
    answer: Coverage, source: Source, found: Recount, restore: Callable[[Dictionary], list[str | None]]
) -> dict[str, Any]:
    """Name the first published data rows that are violated, 1-based, and what does not fit.

    With the column where one is to blame.
    """
    document: dict[str, Any] = {"status": answer.status, "violations": []}
    if answer.reason:
        document["reason"] = answer.reason
    if not answer.violations:
        return document
    blamed: dict[tuple[str | None, ...], tuple[int, str | None]] = {}
    for place, column in answer.violations:
        key = tuple(texts[code] for texts, code in zip(found.texts, found.codes[place].tolist(), strict=True))
        blamed.setdefault(key, (place, column))
    number = 0
    for batch in source.batches(list(found.columns)):
        texts = [Dictionary(name) for name in found.columns]
        codes = np.column_stack([d.encode(batch.column(batch.schema.get_field_index(d.column))) for d in texts])
        lists = [restore(d) for d in texts]
        for row in codes.tolist():
            number += 1
            key = tuple(values[code] for values, code in zip(lists, row, strict=True))
            if key in blamed:
                place, column = blamed[key]
                document["violations"].append({"row": number, "column": column, "reason": answer.why(place)})
                if len(document["violations"]) == VIOLATIONS_SHOWN:
                    return document
    return document
