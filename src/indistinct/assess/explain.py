"""Why a release looks as it does, what blocks the target, and what would help: counts and sentences.

Everything is read off the frequency table and the decision that ``anonymize`` would make; nothing is written. The
document shows values of quasi-identifiers, since that is what is asked, and never a sensitive value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import markup
from indistinct.algorithms import form_of
from indistinct.assess.explain_classes import largest, one_level_less, stretching, suppressed
from indistinct.assess.explain_groups import left_over, most_frequent, sizes
from indistinct.assess.explain_reach import reachable
from indistinct.decision.aggregates import aggregated
from indistinct.decision.decide import as_read, decide, stars_rows, suppressed_rows
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.losses import lm
from indistinct.models import record_of
from indistinct.policy import given as given_policy
from indistinct.policy.parameters import exact
from indistinct.publish.ready import ready
from indistinct.sentences.results import counted, explanation_text, person_shares_text
from indistinct.session.item_sets import with_item_levels
from indistinct.session.person_shares import person_shares
from indistinct.session.verdicts import refuse_sequences
from indistinct.tables.classes import alone, classes_of, recoding_of
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.policy import GivenPolicy
    from indistinct.policy.parameters import Number
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

SHOWN = 5


@dataclass(frozen=True)
class Explanation:
    """The answer of ``explain``; ``document`` is the JSON document (internal: it shows quasi-identifiers)."""

    document: dict[str, Any]

    @property
    def feasible(self) -> bool:
        """Whether the target of the policy can be met."""
        found: bool = self.document["feasible"]
        return found

    def __repr__(self) -> str:
        """Write the sentences."""
        return explanation_text(self.document)

    def _repr_html_(self) -> str:
        rows = [(s["about"], s["text"]) for s in self.document["sentences"]]
        return markup.table("Why", ("question", "answer"), rows)


def explain(
    table: Any,
    policy: GivenPolicy,
    *,
    loss: Number | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Explanation:
    """Explain what ``anonymize`` does to a table under a policy, and what would help.

    ``loss`` (LM, 0 to 1): also search the largest k and l and the smallest t that are reached with at most that loss,
    one parameter at a time, the others as in the policy, by searches of quality ``fast``: what they find can be had;
    that no more can be had is not proved.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    loss
        The most LM (0 to 1) that searches for better parameters may cost.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Explanation
        What is done and why, and what would help. A target that cannot be met is an answer, not an error.

    Raises
    ------
    PolicyError, SchemaError, DataError, HierarchyError
        What reading and counting raise.
    UnsupportedError
        For m-invariance, which the ledger of earlier releases decides.
    """
    policy, limit = given_policy(policy), None if loss is None else _share(loss)
    policy.require_models()
    refuse_sequences(policy)
    prepared = ready(table, policy, query=query, sql_table=sql_table, progress=progress).prepared
    sentences: list[dict[str, str]] = []
    document: dict[str, Any] = {
        "feasible": True,
        "rows": prepared.counted.frequencies.total,
        "reason": None,
        "nearest": None,
        "sentences": sentences,
    }

    def say(about: str, text: str) -> None:
        sentences.append({"about": about, "text": text})

    try:
        prepared = with_item_levels(prepared)
        assignment = decide(prepared, progress)
        recoding = recoding_of(prepared.counted.frequencies, assignment)
        starred = stars_rows(prepared, assignment, recoding)
    except InfeasibleError as error:
        document.update(feasible=False, reason=error.public_message, nearest=error.nearest)
        say("target", f"the target cannot be met: {error.public_message}")
        if error.nearest:
            say("target", f"what can be had: {error.nearest}")
    frequencies = prepared.counted.frequencies
    in_groups = form_of(policy) != "one_table"
    # in groups only models of quasi-identifiers ask for rows that are alike
    alike = tuple(model for model in policy.privacy if not (in_groups and model.attributes_used))
    document["rare_values"] = _rare_values(frequencies, alike, say)
    if in_groups:
        document["most_frequent"] = most_frequent(frequencies, policy, say)
    document["person_shares"] = []
    if document["feasible"]:
        if frequencies.weighs_persons:
            document["person_shares"] = person_shares(classes_of(frequencies, assignment))
            for line in person_shares_text(document["person_shares"]):
                say("persons", line)
        mean, by_attribute = lm(frequencies, assignment, recoding)
        shown = aggregated(prepared, assignment, recoding)
        document["lm"] = float(mean)
        document["classes"] = as_read(prepared, assignment, shown, starred=starred).classes
        document["suppressed_rows"] = suppressed_rows(assignment)
        # km makes no classes: rows are equal where their generalized items are
        formed = not policy.item_columns
        if in_groups:
            left_over(document["suppressed_rows"], assignment, say)
            document["groups"] = sizes(frequencies, assignment, policy, mean, say)
        else:
            document["suppressed"] = suppressed(prepared, assignment, say)
            document["largest_classes"] = largest(prepared, assignment, recoding, say) if formed else []
            document["one_level_less"] = one_level_less(prepared, assignment, say)
        # a level is that of all rows, whoever is in the class
        stretched = formed and assignment.levels is None
        document["stretching_rows"] = stretching(frequencies, assignment, say) if stretched else []
    else:
        by_attribute = {}
    document["attributes"] = _attributes(frequencies, by_attribute, say)
    document["reachable"] = [] if limit is None else reachable(prepared, limit, say)
    document["warnings"] = [notice.document() for notice in prepared.notices]
    return Explanation(document)


def _share(loss: Number) -> Fraction:
    try:
        found = exact(loss)
    except ValueError:
        found = Fraction(-1)
    if not 0 <= found <= 1:
        raise PolicyError(f"--loss takes a number from 0 to 1, not {loss}", key="--loss")
    return found


def _size_wanted(privacy: tuple[Privacy, ...]) -> int:
    """Rows or persons that every class has for sure."""
    return max((record_of(model).promises(model).rows for model in privacy), default=1)


def _rare_values(
    frequencies: Frequencies, privacy: tuple[Privacy, ...], say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Values of fewer rows than a class needs: they can only be published as part of something larger.

    Values below a floor are one.
    """
    need, found = _size_wanted(privacy), []
    for position, hierarchy in enumerate(frequencies.quasi):
        node_of = hierarchy.levels[0].node_of
        rows = np.zeros(int(node_of.max(initial=-1)) + 1, np.int64)
        np.add.at(rows, node_of[frequencies.codes[:, position]], frequencies.rows)
        rare = np.flatnonzero((rows > 0) & (rows < need))
        rarest = rare[np.argsort(rows[rare], kind="stable")][:SHOWN]
        found.append(
            {
                "column": hierarchy.attribute,
                "values": len(rare),
                "rows": int(rows[rare].sum()),
                "rarest": [
                    {"value": hierarchy.node_label(0, node), "rows": int(rows[node])} for node in rarest.tolist()
                ],
            }
        )
        if len(rare):
            many, own = len(rare) > 1, counted(int(rows[rare].sum()), "rows")
            say(
                "rare values",
                f'{len(rare)} values of "{hierarchy.attribute}" have fewer than {need} rows each ({own} in all), so '
                "none of them can be published as it is"
                if many
                else f'1 value of "{hierarchy.attribute}" has fewer than {need} rows ({own}), so it cannot be '
                "published as it is",
            )
    return found


def _attributes(
    frequencies: Frequencies, by_attribute: dict[str, Fraction], say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """What each quasi-identifier costs, and how many rows are alone only because of it."""
    weights = {hierarchy.attribute: hierarchy.weight for hierarchy in frequencies.quasi}
    whole = sum((weights[name] * loss for name, loss in by_attribute.items()), Fraction(0))
    lonely = alone(frequencies)
    found: list[dict[str, Any]] = []
    for position, hierarchy in enumerate(frequencies.quasi):
        others = np.delete(frequencies.tuples, position, axis=1)
        name = hierarchy.attribute
        loss = by_attribute.get(name)
        found.append(
            {
                "column": name,
                "lm": None if loss is None else float(loss),
                "share_of_loss": float(weights[name] * loss / whole) if loss is not None and whole else None,
                "distinct_tuples_without": len(np.unique(others, axis=0)),
                "rows_alone_without": alone(frequencies, position),
            }
        )
    say("columns", f"{lonely} of {frequencies.total} rows are alone with their quasi-identifiers")
    if whole:
        dearest = max(found, key=lambda entry: entry["share_of_loss"] or 0.0)
        say(
            "columns",
            f'"{dearest["column"]}" costs most: {100 * dearest["lm"]:.1f} % of its detail, '
            f"{100 * dearest['share_of_loss']:.0f} % of the whole loss",
        )
    helps = min(found, key=lambda entry: entry["rows_alone_without"])
    if helps["rows_alone_without"] < lonely:
        say(
            "columns",
            f'without "{helps["column"]}" {helps["rows_alone_without"]} rows would be alone instead of {lonely}',
        )
    return found
