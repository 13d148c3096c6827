"""Append from its definition, with dicts and fractions: intervals, k-anonymity and distinct values."""

from collections import Counter
from fractions import Fraction


def ends(label):
    """Ends of "[20, 30)", or of a value that stands for itself; None for everything."""
    if label == "*":
        return None
    if not label.startswith("["):
        return int(label), int(label)
    low, high = label[1:-1].split(",")
    return int(low), int(high) - (label[-1] == ")")


def covers(label, value):
    found = ends(label)
    return found is None or found[0] <= value <= found[1]


def tightest(row, classes, whole):
    """The class that covers a row and has the least sum of covered shares of the values that occur; else None."""
    domains = [sorted({other[at] for other in whole}) for at in range(len(row))]

    def cost(labels):
        pairs = zip(labels, domains, strict=True)
        return sum(Fraction(sum(covers(own, value) for value in domain), len(domain)) for own, domain in pairs)

    fitting = [own for own in classes if all(covers(label, value) for label, value in zip(own, row, strict=True))]
    return min(fitting, key=lambda own: (cost(own), own), default=None)


def satisfies(values, k, least):
    return len(values) >= k and len(set(values)) >= least


def joining(arrivals, classes, whole, k, least):
    """The newcomers of each earlier class: those of whom it is the tightest, if they satisfy the models by themselves.

    ``arrivals``: (quasi-identifiers, value) of each new row.
    """
    found = {}
    for row, value in arrivals:
        own = tightest(row, classes, whole)
        if own is not None:
            found.setdefault(own, []).append(value)
    return {own: Counter(values) for own, values in found.items() if satisfies(values, k, least)}


def difference(before, after):
    """The rows of one release that the other lacks, by their labels: what whoever has both sees."""
    rest = Counter(after)
    rest.subtract(Counter(before))
    assert min(rest.values()) >= 0, "a row of the earlier release is gone"
    found = {}
    for (labels, value), count in rest.items():
        found.setdefault(labels, Counter())[value] += count
    return {labels: +values for labels, values in found.items() if +values}
