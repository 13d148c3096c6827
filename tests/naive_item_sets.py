"""Naive twin of k^m-anonymity: every set of at most m items, held against every row."""

from itertools import combinations


def supports(rows, m):
    """For each row the rows that hold its rarest set of at most m items; the empty set is held by all."""
    return [
        min(
            sum(set(subset) <= other for other in rows)
            for size in range(m + 1)
            for subset in combinations(sorted(row), size)
        )
        for row in rows
    ]
