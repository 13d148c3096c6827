"""Slow twins of the utility measures: row by row, from the definitions, with fractions."""

from fractions import Fraction
from math import sqrt


def overlap_share(cell, wanted):
    """Share of a set of values that is wanted."""
    return Fraction(len(set(cell) & set(wanted)), len(set(cell)))


def generalised_estimate(rows, query):
    """``rows``: dicts name -> set of values; ``query``: dict name -> set of values."""
    total = Fraction(0)
    for row in rows:
        weight = Fraction(1)
        for name, wanted in query.items():
            weight *= overlap_share(row[name], wanted)
        total += weight
    return total


def exact_count(rows, query):
    return sum(all(row[name] in wanted for name, wanted in query.items()) for row in rows)


def two_table_estimate(groups, quasi_query, secret_query, sensitive):
    """``groups``: lists of exact rows; the two tables forget which row has which sensitive value."""
    total = Fraction(0)
    for members in groups:
        qm = exact_count(members, quasi_query)
        sm = sum(row[sensitive] in secret_query for row in members)
        total += Fraction(qm * sm, len(members))
    return total


def total_variation(one, other):
    keys = set(one) | set(other)
    n, m = sum(one.values()), sum(other.values())
    return sum(abs(Fraction(one.get(key, 0), n) - Fraction(other.get(key, 0), m)) for key in keys) / 2


def pearson(pairs):
    n = len(pairs)
    mx, my = (sum(p[i] for p in pairs) / n for i in (0, 1))
    xy = sum((x - mx) * (y - my) for x, y in pairs)
    return xy / sqrt(sum((x - mx) ** 2 for x, _ in pairs) * sum((y - my) ** 2 for _, y in pairs))
