"""Slow twins of further models, from the definitions; counts are dicts, decisions fractions or plain logarithms.

Where a threshold may be met exactly the tests choose parameters for which a logarithm cannot tie, or ask for the
powers of the base, which are decided by whole numbers.
"""

from collections import Counter
from fractions import Fraction
from math import ceil, log


def holds(model, histogram, reference):
    """Decide one model for one class from its counts and those of the whole table."""
    return HOLDS[model["model"]](model, Counter(histogram), Counter(reference))


def shares(histogram):
    total = sum(histogram.values())
    return {value: Fraction(count, total) for value, count in histogram.items()}


def gains(histogram, reference):
    """(p - q) / q of the values that are more frequent in the class."""
    p, q = shares(histogram), shares(reference)
    return {value: (p[value] - q[value]) / q[value] for value in p if p[value] > q[value]}


def beta_likeness(model, histogram, reference):
    q, beta = shares(reference), Fraction(model["beta"])
    for value, gain in gains(histogram, reference).items():
        if gain > beta:
            return False
        if model.get("kind", "basic") == "enhanced" and float(gain) > -log(q[value]):
            return False
    return True


def within(ratio, delta, base):
    """Decide |log ratio| < delta; whole delta to base 2 by whole numbers."""
    ratio = max(ratio, 1 / ratio)
    if base == 2 and Fraction(delta).denominator == 1:
        return ratio < 2 ** int(Fraction(delta))
    return log(ratio) / (log(2) if base == 2 else 1) < float(Fraction(delta))


def delta_disclosure(model, histogram, reference):
    p, q = shares(histogram), shares(reference)
    if model.get("absent", "strict") == "strict" and set(p) != {value for value in q if q[value]}:
        return False
    return all(within(p[value] / q[value], model["delta"], model.get("base", 2)) for value in p)


def pd_recursive(model, histogram, _reference):
    """By ranks, as the paper states it."""
    harmless, length, c = set(model["Y"]), model["l"], Fraction(model["c"])
    ordered = sorted(histogram, key=lambda value: -histogram[value])
    r = [histogram[value] for value in ordered]
    ranks = [number for number, value in enumerate(ordered, 1) if value not in harmless]
    if not ranks:
        return True
    y = ranks[0]
    if length == 1:
        return r[y - 1] < c * sum(r)
    tail = sum(r[length - 1 :]) if y <= length - 1 else sum(r[length - 2 : y - 1]) + sum(r[y:])
    return r[y - 1] < c * tail


def npd_recursive(model, histogram, reference):
    rows = sum(histogram.values())
    present = all(100 * Fraction(histogram[value], rows) >= Fraction(model["c2"]) for value in model["W"])
    return present and pd_recursive(model, histogram, reference)


def grassberger_term(count):
    """G(c) without the constant G(1)."""
    return sum((Fraction(2, 2 * i - 1) for i in range(1, count // 2 + 1)), Fraction(0))


def grassberger(histogram):
    rows = sum(histogram.values())
    return grassberger_term(rows) - sum(count * grassberger_term(count) for count in histogram.values()) / Fraction(
        rows
    )


def entropy_grassberger(model, histogram, _reference):
    threshold = Fraction(model["l"])
    return len(histogram) >= ceil(threshold) and float(grassberger(histogram)) >= log(threshold)


HOLDS = {
    "beta_likeness": beta_likeness,
    "delta_disclosure": delta_disclosure,
    "pd_recursive": pd_recursive,
    "npd_recursive": npd_recursive,
    "entropy_l": entropy_grassberger,
}


def presence(sample, population):
    """Share of every population class that is in the sample."""
    return {value: Fraction(sample.count(value), population.count(value)) for value in dict.fromkeys(population)}


def payoffs(amounts, members, loss):
    """Payoffs of the attacker and of the publisher for one row."""
    attacker = Fraction(amounts["gain"]) / members - amounts["cost"]
    publisher = amounts["benefit"] * (1 - loss) - (Fraction(amounts["loss"], members) if attacker > 0 else 0)
    return attacker, publisher


def mean_risk(sizes):
    return sum(Fraction(1, size) for size in sizes for _ in range(size)) / sum(sizes)


def unique_share(sizes):
    return Fraction(sum(size == 1 for size in sizes), sum(sizes))


def fewest_smallest(sizes, threshold, risk):
    """Sizes that are left when the smallest classes go until the risk holds."""
    left = sorted(sizes)
    while left and risk(left) > threshold:
        left = left[1:]
    return left


def three_risks(sizes, above):
    """Mean, highest, and share above a bound, unit by unit."""
    units = [Fraction(1, size) for size in sizes for _ in range(size)]
    found = {"threshold": sum(units) / len(units), "highest": max(units)}
    if above is not None:
        found["share"] = Fraction(sum(risk > above for risk in units), len(units))
    return found


def three_risks_hold(sizes, threshold=None, highest=None, share=None, above=None):
    asked = {"threshold": threshold, "highest": highest, "share": share}
    found = three_risks(sizes, above)
    return all(bound is None or found[part] <= bound for part, bound in asked.items())


def without_fewest_uniques(sizes, share_of, threshold):
    """Sizes that are left when as few classes of one as possible go until the estimate holds, tried one by one."""
    left = sorted(sizes)
    while 1 in left:
        share = share_of(left)
        if share is not None and share <= threshold:
            return left
        left = left[1:]
    return left


def poisson_size(k, fraction, significance, *, truncated):
    """Least k' with P(X >= k') <= significance, by summing the probabilities."""
    from math import exp

    mean, term, below = k * float(fraction), exp(-k * float(fraction)), 0.0
    whole = 1 - term if truncated else 1.0
    for number in range(1, k):
        below += term
        term = term * mean / number
        if (1 - below) / whole <= float(significance):
            return number
    return k


def distance(histogram, other):
    """Half the sum of the absolute differences of the shares."""
    p, q = shares(histogram), shares(other)
    return sum(abs(p.get(value, 0) - q.get(value, 0)) for value in {*p, *q}) / 2


def best_distance(histogram, around, n):
    """Least distance from a superset of at least n rows; None where there is none."""
    large = [distance(histogram, other) for other in around if sum(other.values()) >= n]
    return min(large) if large else None
