"""m-invariance: nobody's value is known with a confidence above 1 / m, whichever of the releases are put together.

Definition: a release in groups is *m-unique* if every group has at least m rows and all its sensitive values are
different. A sequence of releases is *m-invariant* if every release is m-unique and every person who is in several of
them has the same *signature*, the set of sensitive values of the person's group, in all of them; also after an absence
(our decision, the paper has consecutive releases). Counterfeit rows, of nobody, count as rows.

``evaluate`` judges one release: classes are its groups, counterfeits included, and m-uniqueness is decided exactly.
Whose row is where, and what the signature was, no published file tells: ``proof.invariance`` decides that.

The functions below it take whole sequences: a release is a sequence of groups, a group a sequence of rows
(person, value); person None is a counterfeit.

Closure: none. Two groups that hold may share a value, so not merge-closed; a row added may have a value that is there,
so not absorbing. Taking a group away leaves the others as they are.

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556.

>>> first = [[("Bob", "dyspepsia"), ("Ann", "bronchitis")]]
>>> second = [[("Bob", "dyspepsia"), (None, "bronchitis")]]
>>> is_m_invariant([first, second], 2), sorted(candidates([first, second])["Bob"])
(True, ['bronchitis', 'dyspepsia'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.models.contract import HISTORY, Context, Evaluation, Model, Promise, needing, reason_of
from indistinct.models.exact import subject
from indistinct.models.histograms import distinct
from indistinct.policy.privacy import MInvariance

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from indistinct.tables.records import Classes

    Row = tuple[Hashable | None, Hashable]
    Release = Sequence[Sequence[Row]]
    Signature = frozenset[Hashable]


def evaluate(privacy: MInvariance, classes: Classes, context: Context) -> Evaluation:
    """Decide m-uniqueness of every group: at least m rows, as many different values as rows."""
    values = distinct(classes.histograms[privacy.attribute])
    satisfied = (classes.rows >= privacy.m) & (values == classes.rows)
    found = achieved(classes, context, privacy.attribute)
    if satisfied.all():
        sentence = f"every group has at least {privacy.m} rows, all with different values; the smallest: {found['m']}"
    else:
        sentence = f"{subject(satisfied, 'has', 'have')} fewer than {privacy.m} rows or a value twice"
    return Evaluation(satisfied, np.where(values == classes.rows, values, 1).astype(np.float64), found, sentence)


def achieved(classes: Classes, _context: Context, attribute: str, **_: Any) -> dict[str, Any]:
    """Largest m for which the classes as groups are m-unique; 1 where a group has a value twice."""
    values = distinct(classes.histograms[attribute])
    return {"m": int(values.min()) if bool((values == classes.rows).all()) else 1}


def criteria(privacy: MInvariance, context: Context) -> None:
    """Have no compiled form: one algorithm holds the model, by construction."""


MODEL = Model(
    MInvariance,
    title="m-invariance",
    scope="sequence",
    looks_at="history",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=lambda privacy: Promise(values=privacy.m, signature=privacy.m),
    needs=needing(HISTORY),
)


def is_m_unique(release: Release, m: int) -> bool:
    """Whether every group has at least m rows, all with different values; an empty release is not."""
    return bool(release) and all(
        len(group) >= m and len({value for _, value in group}) == len(group) for group in release
    )


def signatures(release: Release) -> dict[Hashable, Signature]:
    """Return the signature of every person in a release.

    Raises DataError when a person has two rows.
    """
    found: dict[Hashable, Signature] = {}
    for group in release:
        values = frozenset(value for _, value in group)
        for person, _ in group:
            if person is not None and person in found:
                raise DataError("a person has two rows in one release; m-invariance has one row for each person")
            if person is not None:
                found[person] = values
    return found


def same_signature(releases: Sequence[Release]) -> dict[Hashable, bool]:
    """Say for every person in several releases whether the signature is the same in all of them.

    Raises DataError when a person's own value changes: that is outside the model.
    """
    seen: dict[Hashable, list[Signature]] = {}
    values: dict[Hashable, Hashable] = {}
    for release in releases:
        for person, signature in signatures(release).items():
            seen.setdefault(person, []).append(signature)
        for group in release:
            for person, value in group:
                if person is not None and values.setdefault(person, value) != value:
                    raise DataError("the value of a person changes between releases, which m-invariance does not know")
    return {person: len(set(own)) == 1 for person, own in seen.items() if len(own) > 1}


def is_m_invariant(releases: Sequence[Release], m: int) -> bool:
    """Whether a sequence of releases is m-invariant; raises DataError as ``same_signature`` does."""
    return all(is_m_unique(release, m) for release in releases) and all(same_signature(releases).values())


def candidates(releases: Sequence[Release]) -> dict[Hashable, Signature]:
    """Return the values that stay possible for every person in several releases: the intersection of the signatures."""
    seen: dict[Hashable, list[Signature]] = {}
    for release in releases:
        for person, signature in signatures(release).items():
            seen.setdefault(person, []).append(signature)
    return {person: frozenset.intersection(*own) for person, own in seen.items() if len(own) > 1}
