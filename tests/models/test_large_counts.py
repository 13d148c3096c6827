"""Verdicts do not depend on how large the numbers are: a tie stays a tie, whatever integers decide it.

Every case stands exactly at its threshold. Counts are multiplied up to where products leave 64 bits; the shares, and so
the definitions, stay the same.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import naive
import naive_models
import naive_numeric
from indistinct.models import evaluate
from indistinct.models.exact import SAFE, at_most, bounds, largest_ratio, log_sign, wide
from indistinct.policy.privacy import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctL,
    EntropyL,
    EpsMAnonymity,
    RecursiveCL,
    TCloseness,
)

FACTORS = (1, 2**20, 2**33)
HAIR = Fraction(1, 10**30)
TREE = {"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*"), "d": ("y", "*")}


def times(tables, factor, *histograms, paths=None):
    """Classes of the given counts, all times ``factor``; the reference too."""
    classes, context = tables.of_counts(*histograms, paths=paths)
    grown = {name: replace(histogram, count=histogram.count * factor) for name, histogram in classes.histograms.items()}
    reference = context.references["s"]
    references = {"s": replace(reference, counts=reference.counts * factor, total=reference.total * factor)}
    larger = replace(classes, rows=classes.rows * factor, histograms=grown, cell_rows=classes.cell_rows * factor)
    return larger, replace(context, references=references)


def counted(histogram):
    return {value: count for value, count in zip("abcd", histogram, strict=False) if count}


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("first", [(3, 1, 1, 1), (0, 4, 1, 2), (5, 0, 0, 1)])
def test_t_closeness_at_the_threshold(tables, factor, distance, first):
    rest = (1, 2, 3, 4)
    whole = counted([a + b for a, b in zip(first, rest, strict=True)])
    paths = {value: (value, *above) for value, above in TREE.items()}
    far = {
        "equal": naive.emd_equal,
        "ordered": lambda p, q: naive.emd_ordered(p, q, "abcd"),
        "hierarchical": lambda p, q: naive.emd_hierarchical(p, q, paths),
    }[distance]
    t = [far(counted(histogram), whole) for histogram in (first, rest)]
    classes, context = times(tables, factor, first, rest, paths=TREE)
    for limit in (*t, *(one - HAIR for one in t)):
        answer = evaluate(TCloseness("s", limit, distance), classes, context)
        assert answer.satisfied.tolist() == [one <= limit for one in t]
        assert Fraction(answer.achieved["t"]["fraction"]) == max(t)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(
    ("model", "verdicts"),
    [
        # at most alpha: a half is not too much, and what is a hair below is
        (AlphaK("s", "1/2", k=1), [True, True, False]),
        (AlphaK("s", Fraction(1, 2) - HAIR, k=1), [False, True, False]),
        (AlphaK("s", "1/2", values=["b"], k=1), [True, True, True]),
        (AlphaK("s", Fraction(3, 4), k=1), [True, True, True]),
        (AlphaK("s", Fraction(3, 4) - HAIR, k=1), [True, True, False]),
        # r_1 < c (r_2 + ...), strict: 2 < 2 c, 1 < 2 c, 3 < c
        (RecursiveCL("s", 1, 2), [False, True, False]),
        (RecursiveCL("s", 1 + HAIR, 2), [True, True, False]),
        (RecursiveCL("s", 3, 2), [True, True, False]),
        (RecursiveCL("s", 3 + HAIR, 2), [True, True, True]),
        (RecursiveCL("s", Fraction(1, 2), 2), [False, False, False]),
        (RecursiveCL("s", Fraction(1, 2) + HAIR, 2), [False, True, False]),
        (RecursiveCL("s", 10**9, 3), [True, True, False]),  # the third class has two values
        # entropies: (2, 1, 1) has effective l = 2 sqrt 2, (1, 1, 1) 3
        (EntropyL("s", 3), [False, True, False]),
        (EntropyL("s", 3 + HAIR), [False, False, False]),
        (EntropyL("s", 3 - HAIR), [False, True, False]),
        (EntropyL("s", "2.8284271247461900976"), [True, True, False]),  # a hair above is below
        (EntropyL("s", "2.8284271247461900977"), [False, True, False]),
        (DistinctL("s", 3), [True, True, False]),
    ],
    ids=str,
)
def test_models_of_shares_at_the_threshold(tables, factor, model, verdicts):
    classes, context = times(tables, factor, (2, 1, 1), (1, 1, 1), (3, 1))
    assert evaluate(model, classes, context).satisfied.tolist() == verdicts


@pytest.mark.parametrize("factor", [1, 2**20])
@pytest.mark.parametrize(("limit", "holds"), [(4, True), (4 + HAIR, False), (4 - HAIR, True)])
def test_an_uneven_class_whose_entropy_is_exactly_that_of_four_values(tables, factor, limit, holds):
    # counts 4, 1, 1, 1, 1: 8^8 = 4^8 4^4, so H = ln 4 exactly
    assert naive.entropy_holds({"a": 4, "b": 1, "c": 1, "d": 1, "e": 1}, limit) is holds
    classes, context = times(tables, factor, (4, 1, 1, 1, 1))
    assert evaluate(EntropyL("s", limit), classes, context).satisfied.tolist() == [holds]


@pytest.mark.parametrize("factor", FACTORS)
def test_beta_likeness_at_the_threshold(tables, factor):
    # q = (1/2, 1/2); p = (3/4, 1/4): the gain of a is 1/2, p = (1/4, 3/4) likewise
    classes, context = times(tables, factor, (3, 1), (1, 3), (2, 2))
    for beta in (Fraction(1, 2), Fraction(1, 2) - HAIR, Fraction(1, 2) + HAIR):
        wanted = [
            naive_models.beta_likeness({"beta": beta}, counted(one), {"a": 6, "b": 6})
            for one in ((3, 1), (1, 3), (2, 2))
        ]
        assert wanted == [beta >= Fraction(1, 2)] * 2 + [True]
        assert evaluate(BetaLikeness("s", beta), classes, context).satisfied.tolist() == wanted


@pytest.mark.parametrize("factor", FACTORS)
def test_delta_disclosure_at_the_threshold(tables, factor):
    # q = (1/2, 1/2): 1/4 is half as frequent, its logarithm to base 2 is -1
    classes, context = times(tables, factor, (3, 1), (1, 3), (2, 2))
    for delta, holds in ((1, False), (1 + HAIR, True), (1 - HAIR, False)):
        answer = evaluate(DeltaDisclosure("s", delta, base=2), classes, context)
        assert answer.satisfied.tolist() == [holds, holds, True]


@pytest.mark.parametrize("scale", [1, 10**6, 2**40, 10**17, 4 * 10**17])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 10) - HAIR, Fraction(1, 11), Fraction(1, 11) - HAIR])
def test_relative_neighbourhoods_of_large_numbers(tables, scale, epsilon):
    numbers = [10 * scale, 11 * scale, 20 * scale, 20 * scale]
    risk = naive_numeric.em_risk(numbers, epsilon, "relative")
    # the positions of the taxonomy of the other tests are no numbers: these are
    classes, context = tables.judged("AAAA", {"s": [str(number) for number in numbers]})
    reference = context.references["s"]
    positions = tuple(Fraction(text) for text in reference.hierarchy.texts)
    numeric = replace(reference, hierarchy=replace(reference.hierarchy, positions=positions))
    context = replace(context, references={"s": numeric})
    for m in (2, 3, 4):
        answer = evaluate(EpsMAnonymity("s", epsilon, m, kind="relative"), classes, context)
        assert answer.satisfied.tolist() == [risk <= Fraction(1, m)]
        assert Fraction(answer.achieved["risk"]["fraction"]) == risk


# --- the arithmetic below them -------------------------------------------------------------------------------


def test_ratios_that_doubles_cannot_tell_apart():
    near = 10**17
    numerators, denominators = np.array([near, near - 1]), np.array([near + 1, near])  # the first is larger
    assert float(numerators[0] / denominators[0]) == float(numerators[1] / denominators[1])
    assert largest_ratio(numerators, denominators) == Fraction(near, near + 1)
    bound = Fraction(near, near + 1)
    assert at_most(numerators, denominators, bound).tolist() == [True, True]
    assert at_most(numerators, denominators, bound - HAIR**2).tolist() == [False, True]
    assert at_most(numerators.astype(object), denominators.astype(object), bound).tolist() == [True, True]


def test_bounds_are_exact_in_both_ways_of_looking_up():
    for arguments in (np.array([4, 9, 4, 0]), np.array([4, 9, 2**40, 4])):
        assert bounds(arguments, lambda n: n * 2 // 3).tolist() == [n * 2 // 3 for n in arguments.tolist()]
    assert bounds(np.array([1, 2]), lambda n: (-1) ** n * 2**80).tolist() == [-SAFE, SAFE]
    assert bounds(np.array([2**40, 2**40 + 1]), lambda n: (-1) ** n * 2**80).tolist() == [SAFE, -SAFE]


def test_wide_integers_begin_where_a_sum_of_two_could_overflow():
    assert wide(2**62 - 1) is np.int64
    assert wide(2**62) is object


def test_the_sign_of_a_logarithm_next_to_its_bound():
    assert [log_sign(Fraction(1), bound) for bound in (Fraction(-1), Fraction(0), Fraction(1))] == [1, 0, -1]
    for power in (-3, 1, 7):
        ratio = Fraction(2) ** power
        assert [log_sign(ratio, power + step * HAIR, 2) for step in (-1, 0, 1)] == [1, 0, -1]
    # ln 2 to 40 digits, from its series 2 sum 1 / (2 i + 1) 3^(2 i + 1)
    ln2 = 2 * sum(Fraction(1, (2 * i + 1) * 3 ** (2 * i + 1)) for i in range(60))
    assert [log_sign(Fraction(2), ln2 + step * HAIR) for step in (-1, 1)] == [1, -1]
