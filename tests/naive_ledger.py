"""Slow twin of the attack on successive releases: from persons and values, without classes or counts.

A release is a dict: person -> (class, value). Nothing is imported from the package.
"""


def values_of(release, number):
    return [value for group, value in release.values() if group == number]


def support(release, person):
    return set(values_of(release, release[person][0]))


def possible(releases, person):
    """Values that are in the class of the person in every release that has them."""
    return set.intersection(*(support(release, person) for release in releases if person in release))


def disclosed(releases, new):
    """Persons of whom one value stays possible although every class alone shows more."""
    return {
        person
        for person in new
        if any(person in old for old in releases)
        and len(possible([*releases, new], person)) == 1
        and min(len(support(r, person)) for r in [*releases, new] if person in r) > 1
    }


def below(releases, new, l):  # noqa: E741
    """Persons of whom fewer than l values stay possible (none: a value changed)."""
    return {
        person
        for person in new
        if any(person in old for old in releases) and 0 < len(possible([*releases, new], person)) < l
    }


def candidates(releases, new, person):
    """Return the fewest rows, over the releases, that can be the person's."""
    left = possible([*releases, new], person)
    return min(
        sum(value in left for value in values_of(release, release[person][0]))
        for release in [*releases, new]
        if person in release
    )


def signature_differs(releases, new):
    return {
        person
        for person in new
        if any(person in old and support(old, person) != support(new, person) for old in releases)
    }
