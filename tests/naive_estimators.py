"""Slow twins of the estimators of uniqueness: sums over the definitions."""

from fractions import Fraction
from math import comb, lgamma, log


def zayatz(sizes, population):
    """Share of the population that is unique, by Bayes' rule in fractions."""
    rows, classes = sum(sizes), len(sizes)
    uniques = sizes.count(1)
    if population == rows or not uniques:
        return Fraction(uniques, rows)

    def alone(size):
        return Fraction(size * comb(population - size, rows - 1), comb(population, rows))

    below = sum(Fraction(1, classes) * alone(size) for size in sizes)
    posterior = Fraction(uniques, classes) * alone(1) / below
    return min(Fraction(1), uniques * posterior * Fraction(population, rows) / population)


def pitman_likelihood(sizes, theta, alpha):
    """Logarithm of the likelihood up to a constant."""
    return (
        sum(log(theta + i * alpha) for i in range(1, len(sizes)))
        - sum(log(theta + i) for i in range(1, sum(sizes)))
        + sum(log(i - alpha) for size in sizes for i in range(1, size))
    )


def pitman_share(theta, alpha, population):
    """Probability that the first of ``population`` rows stays alone."""
    share = 1.0
    for i in range(2, population + 1):
        share *= (theta + alpha + i - 2) / (theta + i - 1)
    return share


def snb_expected(classes, a, b, fraction, size, longest=3000):
    """Expected number of sample classes of one size: sum over the population sizes F."""
    total = 0.0
    for x in range(longest):
        whole = 1 + x
        if whole < size:
            continue
        logarithm = lgamma(x + a) - lgamma(x + 1) - lgamma(a) + a * log(b) + x * log(1 - b)
        logarithm += log(comb(whole, size)) + size * log(fraction) + (whole - size) * log(1 - fraction)
        total += 2.718281828459045**logarithm
    return classes * total


def shlosser(sizes, fraction):
    """Number of population classes, in fractions."""
    q = Fraction(fraction)
    seen = sum(j * q**2 * (1 - q**2) ** (j - 1) for j in sizes)
    both = sum((1 - q) ** j * ((1 + q) ** j - 1) for j in sizes)
    unseen = sum((1 - q) ** j for j in sizes)
    once = sum(j * q * (1 - q) ** (j - 1) for j in sizes)
    return len(sizes) + sizes.count(1) * seen / both * (unseen / once) ** 2
