"""What page one of a report is made of beside the summary: prices, guesses, example rows, the steward's account.

Everything that ``guesses`` and ``published_rows`` tell follows from the published table alone, so it may stand in
public; prices, fingerprint and originals may not.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indistinct.assess.price import deciding, priced_by_steps, prices
from indistinct.errors import DataError
from indistinct.history.key import read_ledger_key
from indistinct.tables.classes import groups_of
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy

    Int64 = NDArray[np.int64]

NOTABLE = 0.1  # as the attack skewness counts: something is learnt where belief in a value rises by more
EXAMPLES = (0.25, 0.5, 0.75)  # shares of the rows, by size of their group
PATIENCE = 10.0  # seconds that prices may take where the release itself took less


def today() -> str:
    """Return the date of the report."""
    return datetime.now(UTC).date().isoformat()


def internal_front(decision: Decision, document: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what page one of the internal report shows beside the summary."""
    return {
        "date": today(),
        "account": decision.policy.release.shown(),
        "accepted_draft": document.get("accepted_draft"),
        "source": _source(decision),
        "prices": _prices(decision, max(PATIENCE, float(document["seconds"]))),
        "guesses": guesses(_guesses(decision)),
        "examples": _examples(decision, originals=True),
    }


def public_front(decision: Decision) -> dict[str, Any]:
    """Collect what page one of the public report shows beside the summary: nothing that tells of the original."""
    return {
        "date": today(),
        "account": decision.policy.release.shown_in_public(),
        "guesses": guesses(_guesses(decision)),
        "examples": _examples(decision, originals=False),
    }


def check_fingerprint(policy: Policy) -> None:
    """Read the key of the fingerprint of the source, if there is one; raises PolicyError and DataError as it does."""
    if policy.release.key_file is not None:
        read_ledger_key(policy.locate(policy.release.key_file))


def _source(decision: Decision) -> dict[str, Any]:
    """Name the source file; its fingerprint is keyed, so that nobody without the key can test a guess."""
    source, key_file = decision.prepared.source, decision.policy.release.key_file
    files = [one.place for one in source.origins if one.place.is_file()]
    if len(files) != 1 or key_file is None:
        return {"file": source.name if files else None, "fingerprint": None}
    key = read_ledger_key(decision.policy.locate(key_file))
    try:
        return {"file": source.name, "fingerprint": key.of_file(files[0])}
    except OSError as error:
        raise DataError(f"{source.name} cannot be read: {error.strerror}", file=source.name) from error


def _prices(decision: Decision, seconds: float) -> dict[str, Any] | None:
    """Price the promises one after another; None where they have no such price."""
    if not priced_by_steps(decision.policy) or not decision.policy.privacy:
        return None
    found = prices(decision.prepared, seconds=seconds)
    most = deciding(found)
    return {
        "steps": found,
        "complete": len(found) == len(decision.policy.privacy),
        "decides": None if most is None else most["place"],
    }


class Guess(NamedTuple):
    """Sensitive values: ``rows`` rows of group ``owner`` have ``value``, ascending; ``sizes`` of the groups."""

    column: str
    owner: Int64
    value: Int64
    rows: Int64
    sizes: Int64


def rows_by_class(decision: Decision) -> tuple[Int64, Int64, Int64]:
    """Group the published rows as anyone can who has the file: their numbers, their classes, how often each stands.

    Rows with the token in every quasi-identifier are no class where the policy exempts them and some are suppressed.
    """
    published, policy = decision.published, decision.policy
    quasi = [hierarchy.attribute for hierarchy in decision.frequencies.quasi]
    columns = [column for column in published.columns if column.name in quasi]
    codes = np.column_stack([column.codes for column in columns])
    rows = np.arange(len(codes))
    if policy.suppression.rows == "exempt" and decision.suppressed:
        token = policy.output.suppressed_token
        stars = [np.array([text == token for text in (*c.values.to_pylist(), None)], np.bool_) for c in columns]
        rows = rows[~np.logical_and.reduce([star[c.codes] for star, c in zip(stars, columns, strict=True)])]
    number = np.unique(codes[rows], axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return rows, number, published.repeat[rows].astype(np.int64)


def _guesses(decision: Decision) -> Iterator[Guess]:
    """What the published files tell of sensitive columns, by class, or by group."""
    if decision.assignment.counterfeits is not None:
        return
    if decision.assignment.group_of is not None:
        classes = groups_of(decision.frequencies, decision.assignment)
        for name, histogram in classes.histograms.items():
            owner = np.repeat(np.arange(len(classes.rows)), np.diff(histogram.start))
            yield Guess(name, owner, histogram.value.astype(np.int64), histogram.count, classes.rows)
        return
    rows, number, repeat = rows_by_class(decision)
    sizes = np.bincount(number, repeat).astype(np.int64)
    for column in decision.published.columns:
        if column.name in decision.prepared.roles.sensitive and len(rows):
            span = len(column.values) + 1
            keys, place = np.unique(number * span + column.codes[rows] + 1, return_inverse=True)
            count = np.bincount(place.reshape(-1), repeat).astype(np.int64)
            yield Guess(column.name, keys // span, keys % span, count, sizes)


def guesses(guessed: Iterable[Guess]) -> list[dict[str, Any]]:
    """Say how much better a sensitive value is guessed by who knows the group of a person, by rows.

    For each group the value whose share rises most above that in all published rows, as the attack skewness takes it:
    ``before`` and ``after`` are means over the rows, ``rows`` those of groups where it rises by more than 0.1,
    ``worst`` the largest rise; ``sure_rows`` are rows of groups in which all have one value.
    """
    found = []
    for name, owner, value, count, sizes in guessed:
        usual = np.bincount(value, count)
        before, after = usual[value] / usual.sum(), count / sizes[owner]
        order = np.lexsort((value, -np.round(after - before, 12), owner))
        best = order[np.searchsorted(owner[order], np.arange(len(sizes)))]
        rises = after[best] - before[best] > NOTABLE
        worst = int(best[np.argmax(np.round(after[best] - before[best], 12))])
        sure = np.bincount(owner, minlength=len(sizes)) == 1
        found.append(
            {
                "column": name,
                "before": float(np.average(before[best], weights=sizes)),
                "after": float(np.average(after[best], weights=sizes)),
                "rows": int(sizes[rises].sum()),
                "worst": [float(before[worst]), float(after[worst])],
                "sure_rows": int(sizes[sure].sum()) if (usual > 0).sum() > 1 else 0,
            }
        )
    return found


def _examples(decision: Decision, *, originals: bool) -> dict[str, Any] | None:
    """Pick three groups, small, middle and large; how their rows are published, and one row behind each."""
    assignment, frequencies = decision.assignment, decision.frequencies
    if assignment.group_of is not None or assignment.counterfeits is not None or not assignment.classes:
        return None
    published = assignment.class_of != SUPPRESSED
    rows = np.bincount(assignment.class_of[published], assignment.count[published], assignment.classes).astype(np.int64)
    order = np.lexsort((np.arange(len(rows)), rows))
    reached = np.cumsum(rows[order])
    chosen = [int(order[np.searchsorted(reached, share * reached[-1])]) for share in EXAMPLES]
    labels = [decision.recoding.labels(position) for position in range(len(frequencies.quasi))]
    found = []
    for number in dict.fromkeys(chosen):
        entry: dict[str, Any] = {
            "after": [texts[at[number]] for texts, at in labels],
            "rows": int(rows[number]),
        }
        if originals:
            cell = int(assignment.cell[np.flatnonzero(assignment.class_of == number)[0]])
            entry["before"] = [h.texts[frequencies.codes[cell, place]] for place, h in enumerate(frequencies.quasi)]
        found.append(entry)
    return {"columns": [hierarchy.attribute for hierarchy in frequencies.quasi], "rows": found}
