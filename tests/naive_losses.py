"""Slow twins of the losses: from the definitions, with dicts and fractions, on explicit sets of values.

A release is a list of (original row, cell) pairs: the row a tuple of values, the cell a tuple of sets of values, or
None for a suppressed row.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import log, prod


def iloss(rows, cells, domains):
    total = Fraction(0)
    for _row, cell in zip(rows, cells, strict=True):
        for a, domain in enumerate(domains):
            covered = domain if cell is None else cell[a]
            total += Fraction(len(covered) - 1, len(domain))
    return total / (len(rows) * len(domains))


def ambiguity(cells, domains):
    total = sum(prod(len(domain) for domain in domains) if cell is None else prod(map(len, cell)) for cell in cells)
    return Fraction(total, len(cells))


def precision(levels, heights):
    """``levels``: one tuple for each row, None for a suppressed one."""
    lost = Fraction(0)
    for row in levels:
        for a, height in enumerate(heights):
            lost += 1 if row is None else Fraction(row[a], max(height, 1))
    return 1 - lost / (len(levels) * len(heights))


def kl(rows, secrets, groups, cells, domains, secret_domain):
    """``groups``: class of each row, None for a suppressed one; every combination of the domain is looked at."""
    n = len(rows)
    joint = Counter(zip(rows, secrets, strict=True))
    boxes = {group: cell for group, cell in zip(groups, cells, strict=True) if group is not None}
    counts = Counter((group, secret) for group, secret in zip(groups, secrets, strict=True) if group is not None)
    suppressed = groups.count(None)
    everything = prod(len(domain) for domain in domains) * len(secret_domain)
    total = 0.0
    for point in product(*domains):
        for secret in secret_domain:
            p = Fraction(joint[point, secret], n)
            if not p:
                continue
            spread = Fraction(suppressed, n * everything)
            for group, box in boxes.items():
                if all(value in values for value, values in zip(point, box, strict=True)):
                    spread += Fraction(counts[group, secret], n * prod(map(len, box)))
            total += float(p) * log(p / spread)
    return total


def classification(groups, labels):
    penalty = groups.count(None)
    for group in set(groups) - {None}:
        counts = Counter(label for own, label in zip(groups, labels, strict=True) if own == group)
        penalty += sum(counts.values()) - max(counts.values())
    return Fraction(penalty, len(groups))
