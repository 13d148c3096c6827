"""Slow twin of m-invariance: from the definition, with persons, groups and dicts. Nothing is imported from the package.

A release is a dict: ``people`` person -> (age, value), those of the table; ``place`` person -> group, those published;
``groups`` group -> list of (label, value, number of counterfeits), the published rows, label [low, high] of the age.
"""


def is_m_unique(release, m):
    values = [[value for _, value, _ in rows] for rows in release["groups"].values()]
    return bool(values) and all(len(own) >= m and len(set(own)) == len(own) for own in values)


def signature(release, person):
    return {value for _, value, _ in release["groups"][release["place"][person]]}


def signatures_kept(releases):
    found = {}
    for release in releases:
        for person in release["place"]:
            found.setdefault(person, []).append(signature(release, person))
    return all(own == first for first, *others in found.values() for own in others)


def is_m_invariant(releases, m):
    return all(is_m_unique(release, m) for release in releases) and signatures_kept(releases)


def is_true(release):
    """Whether rows and counterfeits are what they are said to be.

    Everybody stands in a group with their value, covered by its label; no two persons share a row; the rows that nobody
    has are the counterfeits of the group.
    """
    for group, rows in release["groups"].items():
        members = [release["people"][person] for person, own in release["place"].items() if own == group]
        held = [value for _, value in members]
        if len(set(held)) != len(held) or not set(held) <= {value for _, value, _ in rows}:
            return False
        if any(not low <= age <= high for age, _ in members for (low, high), _, _ in rows):
            return False
        if {number for _, _, number in rows} != {len(rows) - len(members)}:
            return False
    return set(release["place"].values()) == set(release["groups"])


def confidence(releases, person, value):
    """How likely a value of a person is for somebody who knows the groups of the person in all releases.

    Of all worlds in which the row of the person is one of those of their group, and the same value everywhere.
    """
    possible = set.intersection(*(signature(release, person) for release in releases if person in release["place"]))
    return 0 if value not in possible else 1 / len(possible)


def can_wait(counts, m):
    """Fewest rows that fit in no group of m or more different values, by trying every number of groups."""
    counts = list(counts)
    return min(
        sum(max(0, c - g) for c in counts)
        for g in range(sum(counts) // m + 1)
        if sum(min(c, g) for c in counts) >= m * g
    )
