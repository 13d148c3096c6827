"""Slow twins of private answers: sensitivities by trying all neighbours, two-sided geometric noise, even spread."""

from fractions import Fraction
from itertools import product
from math import exp


def neighbours(values, domain, relation):
    """All tables that differ in one row."""
    for at in range(len(values)):
        rest = [*values[:at], *values[at + 1 :]]
        if relation == "add_remove":
            yield rest
        else:
            yield from ([*rest, other] for other in domain)
    if relation == "add_remove":
        yield from ([*values, other] for other in domain)


def sensitivity(function, domain, rows, relation):
    """Largest L1 distance between the answers of neighbouring tables, over all tables with so many rows."""
    largest = 0
    for values in product(domain, repeat=rows):
        own = function(list(values))
        for other in neighbours(list(values), domain, relation):
            largest = max(largest, sum(abs(a - b) for a, b in zip(own, function(other), strict=True)))
    return largest


def mass(number, scale):
    """P(X = number) of two-sided geometric noise: (1 - q) / (1 + q) q^|number| with q = exp(-1 / scale)."""
    q = exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** abs(number)


def tail(number, scale):
    """P(|X| >= number), added up from the mass of what is nearer."""
    return 1 - sum(mass(near, scale) for near in range(-number + 1, number))


def midpoint_mean(cells):
    """Mean of published ranges (low, high), each taken as its middle."""
    return sum(Fraction(low + high, 2) for low, high in cells) / len(cells)


def spread_count(cells, wanted):
    """Rows in a range of whole numbers, each published range spread evenly over what it covers."""
    inside = [len(set(range(low, high + 1)) & set(range(wanted[0], wanted[1] + 1))) for low, high in cells]
    return sum(Fraction(part, high - low + 1) for part, (low, high) in zip(inside, cells, strict=True))
