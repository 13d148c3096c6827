"""What does a table satisfy? Exact verdicts, the best parameters reached, and where it hurts most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from indistinct.answers import Verdict
from indistinct.errors import DataError, PolicyError
from indistinct.models import Context
from indistinct.notices import Notice, Sentence
from indistinct.policy import Flags, given_or_flags
from indistinct.proof.release import label_reader
from indistinct.sentences.results import as_html, audit_text
from indistinct.session.blanks import blank_notices, namer
from indistinct.session.engines import opened_for
from indistinct.session.item_sets import sets_of_assignment
from indistinct.session.person_shares import person_shares
from indistinct.session.population import population_of_labels
from indistinct.session.prepare import near_unique, prepare
from indistinct.session.verdicts import best_of_each, judge, persons_spread, refuse_mechanisms, unit_of, weaknesses
from indistinct.tables.classes import classes_of, recoding_of, whole_tuples
from indistinct.tables.count import silent
from indistinct.tables.order import distinct
from indistinct.tables.records import SUPPRESSED, Assignment, Frequencies, Population
from indistinct.tables.remote import Remote
from indistinct.tables.row_questions import sizes_if_known
from indistinct.tables.wildcards import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.models import Evaluation
    from indistinct.policy import GivenPolicy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Classes

WORST_SHOWN = 5


@dataclass(frozen=True)
class Audit:
    """The answer of an audit. ``document`` is the JSON document of the contract; ``satisfied`` its verdict.

    ``satisfied`` is None when nothing was required.
    """

    document: dict[str, Any]

    @property
    def satisfied(self) -> bool | None:
        """Whether every required model holds."""
        verdict: bool | None = self.document["satisfied"]
        return verdict

    @property
    def models(self) -> list[Verdict]:
        """One entry for each model: required, achieved, satisfied, reason."""
        return [Verdict(entry) for entry in self.document["models"]]

    def __repr__(self) -> str:
        """Write the answer as a short readable table."""
        return audit_text(self.document)

    def _repr_html_(self) -> str:
        return as_html(audit_text(self.document), self.document["models"])


def audit(
    table: Any,
    policy: GivenPolicy | None = None,
    *,
    reference: Any = None,
    suppressed_rows: str | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    engine: str | None = None,
    progress: Progress = silent,
    **flags: Unpack[Flags],
) -> Audit:
    """Say what a table satisfies, without changing anything.

    Every class (rows with equal quasi-identifiers, as they stand) is judged by the models of the policy, or of flags in
    its place (``qi``, ``sensitive``, ``k``, ``l``, ``t`` ...; see ``policy.from_flags``). Without thresholds the best
    parameters of each model are reported. The reference distribution is that of ``reference`` when given, else of the
    table itself, starred rows included.

    ``suppressed_rows``: rows that hold the suppression token in every quasi-identifier are left out of the classes
    (``exempt``, the default) or judged as a class (``class``, the default under a policy that publishes them as one,
    ``rows = "test"``).

    Not checked: whether the labels of a published table are true (``verify`` does that).

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, or flags in its place.
    reference
        A table whose distribution is the reference; else the table itself.
    suppressed_rows
        ``exempt`` or ``class``: what becomes of rows of tokens.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    engine
        What counts the table: ``"local"``, ``"duckdb"``, ``"postgresql"`` or ``"spark"``. Columns that no model looks
        at stay unseen in another engine than the local one, which a notice says.
    progress
        Called with what is being done, and how far it is.
    **flags
        Columns and thresholds, as in ``policy.from_flags``.

    Returns
    -------
    Audit
        What each model says of the table, with its best parameters.

    Raises
    ------
    PolicyError, SchemaError, DataError
        For what cannot be judged; PolicyError for flags beside a policy.
    TypeError
        For unknown flags.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"zip": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "a"]})
    >>> answer = audit(table, qi=["zip"], sensitive=["ill"])
    >>> answer.document["models"][0]["achieved"]
    {'k': 2}
    """
    policy = given_or_flags(policy, flags, Flags)
    if suppressed_rows not in (None, "exempt", "class"):
        raise PolicyError(f'--suppressed-rows takes exempt or class, not "{suppressed_rows}"', key="--suppressed-rows")
    refuse_mechanisms(policy)
    refused = {"a reference": reference is not None}
    with opened_for(table, policy, engine, refused, query=query, sql_table=sql_table) as (opened, given):
        prepared = prepare(
            given, policy, for_audit=True, reference=reference, query=query, sql_table=sql_table,
            carry=not isinstance(opened, Remote), engine=opened, progress=progress,
        )  # fmt: skip
    frequencies = prepared.counted.frequencies
    suppressed_rows = suppressed_rows or ("class" if policy.suppression.rows == "test" else "exempt")
    starred = starred_tuples(frequencies, policy.output.suppressed_token) if suppressed_rows == "exempt" else None
    assignment = whole_tuples(frequencies, starred)
    classes = _with_population(prepared, classes_of(frequencies, assignment), assignment)
    classes = replace(classes, sets=sets_of_assignment(prepared.policy, frequencies, assignment))
    context = Context(frequencies.references)
    progress("judge", 0, 1)
    if not len(classes):
        raise DataError(
            "every row is fully suppressed: there is no class to judge; to judge these rows as one class, give "
            '--suppressed-rows class (suppressed_rows="class")'
        )
    entries, evaluations = (
        judge(policy, classes, context) if policy.privacy else (best_of_each(policy, classes, context), [])
    )
    worst = _worst(frequencies, assignment, classes, evaluations)
    progress("judge", 1, 1)
    notices = [*prepared.notices, *near_unique(prepared), *weaknesses(prepared), *_unseen(prepared)]
    notices += blank_notices(policy, classes, context, namer(frequencies, assignment))
    return Audit(
        {
            "rows": prepared.rows,
            **unit_of(frequencies),
            "classes": len(classes),
            "suppressed_rows": int(assignment.count[assignment.class_of == SUPPRESSED].sum()),
            "satisfied": all(entry["satisfied"] for entry in entries) if policy.privacy else None,
            "smallest_class": int(classes.sizes.min()),
            "largest_class": int(classes.sizes.max()),
            "reference": "table" if reference is None else "given",
            "models": entries,
            "worst": worst,
            "missing": {"rule": "own", "k_if_missing_matches_anything": wildcard_k(frequencies, assignment, classes)},
            "k_if_untouched_columns_are_known": k_if_known(prepared, starred),
            "persons_in_several_classes": persons_spread(frequencies, assignment),
            "person_shares": person_shares(classes),
            "engine": prepared.engine.name,
            "warnings": [notice.document() for notice in notices],
        }
    )


def _unseen(prepared: Prepared) -> list[Notice]:
    """Name the columns that another engine holds and nobody looked at."""
    names = [name for name in prepared.roles.insensitive if name in prepared.source.columns]
    if not names or not isinstance(prepared.engine, Remote):
        return []
    message = Sentence(
        "the values of {names} stay in the engine {engine}: whether they are nearly unique, and what k is if they are "
        "known, was not looked at",
        names=tuple(names),
        engine=prepared.engine.name,
    )
    return [Notice("not-looked-at", names[0], message)]


def _with_population(prepared: Prepared, classes: Classes, assignment: Assignment) -> Classes:
    """Count what the labels of the table, as they stand, cover of the population that models ask for."""
    population = prepared.population
    if population is None or not len(classes):
        return classes
    recoding = recoding_of(prepared.counted.frequencies, assignment)
    columns = [recoding.labels(position) for position in range(len(recoding.quasi))]
    readers = [
        label_reader(hierarchy.attribute, texts, prepared)
        for hierarchy, texts in zip(recoding.quasi, population.texts, strict=True)
    ]
    covered = population_of_labels(Population(population.codes, population.rows), columns, readers)
    return replace(classes, population=covered)


def starred_tuples(frequencies: Frequencies, token: str) -> NDArray[np.bool_] | None:
    """Return the tuples that hold the suppression token in every quasi-identifier (at most one)."""
    codes = []
    for hierarchy in frequencies.quasi:
        if token not in hierarchy.texts:
            return None
        codes.append(hierarchy.texts.index(token))
    found: NDArray[np.bool_] = (frequencies.tuples == np.array(codes, np.int32)).all(axis=1)
    return found if found.any() else None


def _worst(
    frequencies: Frequencies,
    assignment: Assignment,
    classes: Classes,
    evaluations: list[tuple[str, Evaluation]],
) -> list[dict[str, Any]]:
    """Describe the smallest violating classes (all are candidates when nothing is required).

    Each comes with the attribute whose generalization would help most.
    """
    required = [~evaluation.satisfied for _, evaluation in evaluations]
    chosen = np.flatnonzero(np.logical_or.reduce(required)) if required else np.arange(len(classes))
    chosen = chosen[np.argsort(classes.sizes[chosen], kind="stable")][:WORST_SHOWN]
    tuple_of_class = np.zeros(len(classes), np.int64)
    tuple_of_class[assignment.class_of[assignment.class_of >= 0]] = frequencies.tuple_of[
        assignment.cell[assignment.class_of >= 0]
    ]
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    found = []
    for number in chosen.tolist():
        codes = frequencies.tuples[tuple_of_class[number]]
        others = _alike_but_one(frequencies, codes)
        helper = int(np.argmax(others))
        found.append(
            {
                "class": {
                    hierarchy.attribute: hierarchy.texts[code]
                    for hierarchy, code in zip(frequencies.quasi, codes.tolist(), strict=True)
                },
                "size": int(classes.sizes[number]),
                "measure": {name: _finite(evaluation.measure[number]) for name, evaluation in evaluations},
                "suggestion": (
                    f"{others[helper]} other rows agree in everything but {names[helper]}: a coarser "
                    f"{names[helper]} would join them"
                    if others[helper]
                    else "no other row agrees in all but one column: several must become coarser, or the row must go"
                ),
            }
        )
    return found


def _alike_but_one(frequencies: Frequencies, codes: NDArray[np.int32]) -> list[int]:
    """Count for each attribute the rows that differ from a tuple in that attribute alone."""
    unlike = np.zeros(len(frequencies.tuples), np.int32)
    for position, code in enumerate(codes):
        unlike += frequencies.tuples[:, position] != code
    near = np.flatnonzero(unlike == 1)
    rows = np.zeros(len(codes), np.int64)
    np.add.at(rows, (frequencies.tuples[near] != codes).argmax(axis=1), frequencies.tuple_rows[near])
    return rows.tolist()


def _finite(measure: float) -> float | None:
    """Round for display; JSON has no infinity."""
    return round(float(measure), 6) if isfinite(measure) else None


def wildcard_k(frequencies: Frequencies, assignment: Assignment, classes: Classes) -> int | None:
    """Return the smallest candidate count of a row when a missing value may be anything (report only).

    Rows are compatible when they agree wherever both have a value. The relation gives no partition, so no model is
    judged on it. None when more than 64 patterns of missing columns occur, or with a person key and missing values
    (the count is then not attempted: rows that are compatible may be those of one person).
    """
    if not len(classes):
        return 0
    missing = np.array([hierarchy.missing for hierarchy in frequencies.quasi])
    if (missing < 0).all():
        return int(classes.sizes.min())
    whole = frequencies.tuple_of[assignment.cell[assignment.class_of != SUPPRESSED]]
    published = distinct(whole, len(frequencies.start) - 1)
    tuples, rows = frequencies.tuples[published], frequencies.tuple_rows[published]
    absent = (tuples == missing) & (missing >= 0)
    if not absent.any():
        return int(classes.sizes.min())
    if frequencies.persons is not None:
        return None
    found = candidates(tuples, absent, rows)
    return None if found is None else int(found.min())


def k_if_known(prepared: Prepared, starred: NDArray[np.bool_] | None) -> int | None:
    """Return the k that results if every published untouched column were known to an attacker; None: not looked at."""
    frequencies = prepared.counted.frequencies
    if isinstance(prepared.engine, Remote) and (_unseen(prepared) or frequencies.persons is not None):
        return None
    hidden = np.zeros(len(frequencies.rows), np.bool_) if starred is None else starred[frequencies.tuple_of]
    sizes = sizes_if_known(prepared.counted, prepared.carried, hidden)
    return int(sizes.min(initial=frequencies.total))
