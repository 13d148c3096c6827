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


def is_generalized(before, after, paths):
    """Whether each set holds exactly one label above (or equal to) each of its items, and no other."""
    chosen = {}
    for old, new in zip(before, after, strict=True):
        labels = {item: [label for label in dict.fromkeys(paths[item]) if label in new] for item in old}
        if any(len(found) != 1 for found in labels.values()) or {f[0] for f in labels.values()} != set(new):
            return False
        for item, (label,) in labels.items():
            if chosen.setdefault(item, label) != label:
                return False
    return True


def covers(labels, items, paths):
    """Whether each item has a label above it, and each label an item below it."""
    above = {item: set(paths.get(item, (item,))) for item in items}
    return all(above[item] & labels for item in items) and all(
        any(label in above[item] for item in items) for label in labels
    )
