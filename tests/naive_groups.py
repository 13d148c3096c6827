"""Slow twins of the algorithms that form groups, row by row, with fractions; nothing is imported from the package."""

from __future__ import annotations

from fractions import Fraction


def anatomy(values, length):
    """Return groups and residue of Anatomy: the largest buckets first, ties to the lesser value, first fitting group.

    None where a value has more than n / l rows.
    """
    if any(values.count(value) * length > len(values) for value in values):
        return None
    buckets = {value: values.count(value) for value in sorted(set(values))}
    groups = []
    while len([value for value in buckets if buckets[value]]) >= length:
        largest = sorted((value for value in buckets if buckets[value]), key=lambda value: (-buckets[value], value))
        groups.append(largest[:length])
        for value in largest[:length]:
            buckets[value] -= 1
    residue = [value for value in buckets for _ in range(buckets[value])]
    for value in residue:
        next(group for group in groups if value not in group).append(value)
    return groups, residue


def buckets(values, interval_of, epsilon_of):
    """Return the bucket of each different value as (interval, number), from the definition."""
    found = {}
    for value in set(values):
        own = [other for other in set(values) if interval_of[other] == interval_of[value]]
        low, high, eps = min(own), max(own), epsilon_of[interval_of[value]]
        if eps == 0:
            found[value] = (interval_of[value], 0)
            continue
        number = int((value - low) / eps)
        last = max(1, -int(-((high - low) / eps) // 1)) - 1
        found[value] = (interval_of[value], min(number, last))
    return found


def separated(one, other, interval_of, epsilon_of, reading):
    """Whether two values are far enough apart to be among the k."""
    first, second = epsilon_of[interval_of[one]], epsilon_of[interval_of[other]]
    if reading == "disjoint":
        return abs(one - other) > first + second
    return interval_of[one] != interval_of[other] or abs(one - other) > first


def risks(group, interval_of, epsilon_of, *, same_interval_only=False):
    """Return the risk of each row of a group, itself excluded."""
    found = []
    for at, value in enumerate(group):
        near = [
            other
            for place, other in enumerate(group)
            if place != at
            and abs(other - value) <= epsilon_of[interval_of[value]]
            and (not same_interval_only or interval_of[other] == interval_of[value])
        ]
        found.append(Fraction(len(near), len(group)))
    return found


def most_separated(group, interval_of, epsilon_of, reading):
    """Return the size of the largest set of pairwise separated rows, by trying all sets."""
    best = 0
    for mask in range(1 << len(group)):
        chosen = [value for at, value in enumerate(group) if mask >> at & 1]
        if len(chosen) > best and all(
            separated(a, b, interval_of, epsilon_of, reading) for i, a in enumerate(chosen) for b in chosen[:i]
        ):
            best = len(chosen)
    return best


def largest_bucket_first(values, k, interval_of, epsilon_of, reading, column=None):
    """Return the groups in order of creation, and the suppressed values; buckets are those of a whole ``column``."""
    bucket_of = buckets(column or values, interval_of, epsilon_of)
    rows = {}
    for value in sorted(values):
        rows.setdefault(bucket_of[value], []).append(value)
    groups = []
    while True:
        live = sorted((bucket for bucket in rows if rows[bucket]), key=lambda b: (-len(rows[b]), rows[b][0]))
        chosen = []
        for bucket in live:
            for value in rows[bucket]:
                if all(separated(value, other, interval_of, epsilon_of, reading) for _, other in chosen):
                    chosen.append((bucket, value))
                    break
            if len(chosen) == k:
                break
        if len(chosen) < k:
            break
        for bucket, value in chosen:
            rows[bucket].remove(value)
        groups.append([value for _, value in chosen])
    suppressed = []
    for value in sorted(value for bucket in rows.values() for value in bucket):
        for group in groups:
            fits = len(group) < 2 * k and (
                reading != "disjoint" or max(risks([*group, value], interval_of, epsilon_of)) <= Fraction(1, 2)
            )
            if fits:
                group.append(value)
                break
        else:
            suppressed.append(value)
    return groups, suppressed
