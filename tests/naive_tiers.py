"""Naive twin of a tier: classes with a listed value are judged, the others are not."""

from collections import Counter
from fractions import Fraction


def holds(members, model):
    """Whether the sensitive values of one class satisfy a model, by its definition."""
    counts = Counter(members)
    name = model["model"]
    if name == "k_anonymity":
        return len(members) >= model["k"]
    if name == "distinct_l":
        return len(counts) >= model["l"]
    if name == "alpha_k":
        return len(members) >= model["k"] and max(counts.values()) <= Fraction(model["alpha"]) * len(members)
    if name == "recursive_cl":
        ranked = sorted(counts.values(), reverse=True)
        return ranked[0] < Fraction(model["c"]) * sum(ranked[model["l"] - 1 :])
    raise ValueError(name)


def verdicts(classes, values, model):
    """One verdict for each class, given as its sensitive values."""
    return [not set(members) & set(values) or holds(members, model) for members in classes]
