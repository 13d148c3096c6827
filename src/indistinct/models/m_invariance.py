"""m-invariance: the checks over successive releases. The model itself, with its history, is not built yet.

Definition: a release in groups is *m-unique* if every group has at least m rows and all its sensitive values are
different. A sequence of releases is *m-invariant* if every release is m-unique and every person who is in several of
them has the same *signature*, the set of sensitive values of the person's group, in all of them; also after an absence
(our decision, the paper has consecutive releases). Counterfeit rows, of nobody, count as rows.

Guarantee: over the whole sequence nobody's value is known with a confidence above 1 / m.

A release is a sequence of groups, a group a sequence of rows (person, value); person None is a counterfeit.

Closure: none; two groups that hold may share a value.

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556.

>>> first = [[("Bob", "dyspepsia"), ("Ann", "bronchitis")]]
>>> second = [[("Bob", "dyspepsia"), (None, "bronchitis")]]
>>> is_m_invariant([first, second], 2), sorted(candidates([first, second])["Bob"])
(True, ['bronchitis', 'dyspepsia'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    Row = tuple[Hashable | None, Hashable]
    Release = Sequence[Sequence[Row]]
    Signature = frozenset[Hashable]


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
