"""Slow twins of the models for numeric values, from the definitions with lists and fractions; nothing is imported."""

from fractions import Fraction
from itertools import combinations, pairwise


def near_absolute(x, y, epsilon):
    return x - epsilon <= y <= x + epsilon


def near_relative(x, y, epsilon):
    ends = sorted([x * (1 - epsilon), x * (1 + epsilon)])
    return ends[0] <= y <= ends[1]


def em_risk(values, epsilon, kind):
    """Return the largest share of a group around one of its values."""
    near = {"absolute": near_absolute, "relative": near_relative}[kind]
    return max(Fraction(sum(near(x, y, epsilon) for y in values), len(values)) for x in values)


def em_one_sided(values, epsilon, kind):
    near = {"absolute": near_absolute, "relative": near_relative}[kind]
    return max(sum(near(x, y, epsilon) and y <= x for y in values) for x in values)


def level(x, low, high, levels):
    """Return the level 1.. of a value by going up from the lowest level."""
    if low == high:
        return 1
    width = Fraction(high - low, levels)
    found = 1
    while found < levels and x >= low + found * width:
        found += 1
    return found


def distance(one, other):
    return Fraction(0) if one == other else abs(Fraction(other) - one) / (Fraction(one) + other)


def distances(values, points):
    ordered = sorted(set(values)) if points == "distinct" else sorted(values)
    return ordered, [distance(a, b) for a, b in pairwise(ordered)]


def mean_of(values, points):
    _, between = distances(values, points)
    return sum(between) / len(between) if between else Fraction(0)


def intervals(values, w=1, points="distinct"):
    """Return the intervals as lists; with ``distinct`` every record of a value goes where the value goes."""
    ordered, between = distances(values, points)
    limit = Fraction(w) * mean_of(values, points)
    found = [[ordered[0]]]
    for d, value in zip(between, ordered[1:], strict=True):
        if d > 0 and d >= limit:
            found.append([value])
        else:
            found[-1].append(value)
    if points == "distinct":
        return [[value for value in sorted(values) if value in part] for part in found]
    return found


def separated(one, other, separation):
    """Decide for rows (value, interval, eps)."""
    (v, i, eps), (u, j, eps_other) = one, other
    if separation == "disjoint":
        return abs(v - u) > eps + eps_other
    return i != j or abs(v - u) > eps


def most_separated(group, separation):
    """Return the size of the largest set of pairwise separated rows, by trying all."""
    for size in range(len(group), 0, -1):
        for chosen in combinations(group, size):
            if all(separated(a, b, separation) for a, b in combinations(chosen, 2)):
                return size
    return 0


def neighbours(group, at, *, same_interval_only):
    """Count the other rows of a group in the neighbourhood of one."""
    v, i, eps = group[at]
    return sum(
        abs(u - v) <= eps and (j == i or not same_interval_only) for other, (u, j, _) in enumerate(group) if other != at
    )


def risk(group, *, same_interval_only=False, including=False):
    """Return the largest risk of a row of a group."""
    most = max(neighbours(group, at, same_interval_only=same_interval_only) for at in range(len(group)))
    return Fraction(most + including, len(group))


def epsilons(parts, beta):
    return [beta * (max(part) - min(part)) for part in parts]
