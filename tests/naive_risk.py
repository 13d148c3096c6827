"""Slow twins of the measures of risk, from the definitions, with rows as dicts and fractions.

Nothing is imported from the package.
"""

from fractions import Fraction
from itertools import combinations
from math import exp, fsum, lgamma, log, log1p, prod


def size(rows, row, quasi, person=None):
    """Rows, or persons, that look like a row."""
    alike = [other for other in rows if all(other[name] == row[name] for name in quasi)]
    return len(alike) if person is None else len({other[person] for other in alike})


def prosecutor(rows, quasi, threshold, person=None):
    risks = [Fraction(1, size(rows, row, quasi, person)) for row in rows]
    return {
        "highest": max(risks),
        "lowest": min(risks),
        "average": sum(risks) / len(rows),
        "rows_at_risk": sum(risk > threshold for risk in risks),
    }


def journalist(rows, population, quasi, threshold):
    found = [sum(all(one[name] == row[name] for name in quasi) for one in population) for row in rows]
    classes = {tuple(row[name] for name in quasi): count for row, count in zip(rows, found, strict=True)}
    return {
        "highest": Fraction(1, min(found)),
        "average": max(
            Fraction(len(classes), sum(classes.values())), sum(Fraction(1, count) for count in found) / len(rows)
        ),
        "rows_at_risk": sum(Fraction(1, count) > threshold for count in found),
    }


def individual(frequency, weight):
    """E[1/F | f] by the series of the negative binomial, term by term in logarithms."""
    p = frequency / weight
    if p == 1:
        return 1 / frequency
    return fsum(
        exp(
            lgamma(h) - lgamma(frequency) - lgamma(h - frequency + 1) + frequency * log(p) + (h - frequency) * log1p(-p)
        )
        / h
        for h in range(frequency, int(frequency + 40 * weight) + 100)
    )


def household(risks, members):
    return {
        name: 1 - prod(1 - risk for risk, other in zip(risks, members, strict=True) if other == name)
        for name in set(members)
    }


def is_unique(rows, row, names):
    return sum(all(other[name] == row[name] for name in names) for other in rows) == 1


def minimal_sample_uniques(rows, row, quasi, largest):
    """All sets of up to so many columns on which the row is unique, but on no proper subset."""
    unique = [
        chosen
        for level in range(1, largest + 1)
        for chosen in combinations(quasi, level)
        if is_unique(rows, row, chosen)
    ]
    return [chosen for chosen in unique if not any(set(other) < set(chosen) for other in unique)]


def suda_score(rows, row, quasi, largest):
    return sum(
        prod(len(quasi) - i for i in range(len(chosen), min(largest, len(quasi) - 1) + 1))
        for chosen in minimal_sample_uniques(rows, row, quasi, largest)
    )


def dis_suda(scores, sizes, columns, fraction):
    """DIS-SUDA of each row, from its score and the size of its class."""
    alone, pairs = sizes.count(1), sizes.count(2)
    if alone == 0:
        return [0.0] * len(scores)
    dis = Fraction(alone * fraction, alone * fraction + pairs * (1 - fraction))
    power = 1 + (8 - columns) / 20
    total = sum(score**-power for score in scores if score > 0)
    odds = float(alone / dis - alone)
    return [1 / (1 + odds / (score**power * total)) if score > 0 else 0.0 for score in scores]


def star_sizes(rows, star="*"):
    """Rows that match each row with stars as any value, those that cover it, and those that are equal."""

    def matches(row, other):
        return all(a == b or star in (a, b) for a, b in zip(row, other, strict=True))

    def covers(other, row):
        return all(b in (star, a) for a, b in zip(row, other, strict=True))

    return {
        "wildcard": [sum(matches(row, other) for other in rows) for row in rows],
        "sure": [sum(covers(other, row) for other in rows) for row in rows],
        "value": [rows.count(row) for row in rows],
    }


def distinction(rows, names):
    return Fraction(len({tuple(row[name] for name in names) for row in rows}), len(rows))


def separation(rows, names):
    pairs = list(combinations(rows, 2))
    different = sum(any(one[name] != other[name] for name in names) for one, other in pairs)
    return Fraction(different, len(pairs)) if pairs else Fraction(1)


def unique_sets(rows, names, largest):
    keys = [
        chosen
        for level in range(1, largest + 1)
        for chosen in combinations(names, level)
        if len({tuple(row[name] for name in chosen) for row in rows}) == len(rows)
    ]
    return [chosen for chosen in keys if not any(set(other) < set(chosen) for other in keys)]
