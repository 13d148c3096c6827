"""Naive twin of the search of SafePub: every combination of levels scored from its rows, probabilities to 80 digits."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product


def worth(size, needed):
    """Rows that a class counts for: none up to the rows it needs, all from 4/3 of them on."""
    return max(Fraction(0), min(Fraction(size), 4 * (Fraction(size) - needed)))


def scores(rows, trees, weights, needed):
    """Score of each combination of levels; ``trees[a][level]`` maps the values of column a to labels."""
    found = {}
    for levels in product(*(range(len(tree)) for tree in trees)):
        classes = Counter(tuple(trees[a][level][row[a]] for a, level in enumerate(levels)) for row in rows)
        shares = [
            weight * (1 if len(tree) == 1 else 1 - Fraction(level, len(tree) - 1))
            for tree, weight, level in zip(trees, weights, levels, strict=True)
        ]
        kept = Fraction(sum(shares)) / sum(weights)
        found[levels] = (1 + kept) / 2 * sum(worth(size, needed) for size in classes.values())
    return found


def probabilities(scored, epsilon):
    """P(g) = exp(epsilon score(g) / 4) / sum of the same over all g, as Decimals."""
    with localcontext() as context:
        context.prec = 80
        exponents = {g: epsilon * score / 4 for g, score in scored.items()}
        weights = {g: (Decimal(e.numerator) / Decimal(e.denominator)).exp() for g, e in exponents.items()}
        total = sum(weights.values())
        return {g: weight / total for g, weight in weights.items()}


def drawn(chances, number):
    """Return the first candidate at which the sum of the probabilities passes a number in [0, 1)."""
    with localcontext() as context:
        context.prec = 80
        passed = Decimal(0)
        for g, chance in chances.items():
            passed += chance
            if number < passed:
                return g
        raise AssertionError(passed)
