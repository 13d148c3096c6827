"""beta-likeness, delta-disclosure, pd- and npd-recursive diversity, and Grassberger's estimate."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_models as naive
from indistinct.models import achieved, evaluate, is_absorbing, is_merge_closed
from indistinct.models.exact import at_most, log_sign
from indistinct.policy.privacy import BetaLikeness, DeltaDisclosure, EntropyL, NpdRecursive, PdRecursive, RecursiveCL

LETTERS = "abcde"
CLASS = st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any)
MODELS = [
    BetaLikeness("s", "1/2"),
    BetaLikeness("s", 1, "enhanced"),
    BetaLikeness("s", "1/3", "enhanced"),
    DeltaDisclosure("s", 1),
    DeltaDisclosure("s", 1, "lenient"),
    DeltaDisclosure("s", "1/2", "strict", "e"),
    DeltaDisclosure("s", "7/10", "lenient", "e"),
    PdRecursive("s", 1, 1, ["a"]),
    PdRecursive("s", 2, 2, ["a", "d"]),
    PdRecursive("s", "3/2", 3, ["a"]),
    PdRecursive("s", 3, 4, ["a", "b"]),
    NpdRecursive("s", 2, 3, ["a"], 25, ["b"]),
    NpdRecursive("s", 3, 2, ["a"], "100/3", ["b", "z"]),
    EntropyL("s", 2, "grassberger"),
    EntropyL("s", "3/2", "grassberger"),
]


def document(privacy):
    return {name: getattr(privacy, name) for name in type(privacy).model_fields}


def histogram(counts):
    return {value: count for value, count in zip(LETTERS, counts, strict=False) if count}


@pytest.mark.slow
@pytest.mark.parametrize("privacy", MODELS, ids=str)
@settings(deadline=None, max_examples=60)
@given(classes=st.lists(CLASS, min_size=1, max_size=5))
def test_verdicts_are_those_of_the_definition(tables, privacy, classes):
    found, context = tables.of_counts(*classes)
    reference = histogram(np.sum(classes, axis=0).tolist())
    expected = [naive.holds(document(privacy), histogram(counts), reference) for counts in classes]
    assert evaluate(privacy, found, context).satisfied.tolist() == expected


SMALL = [counts for counts in product(range(4), repeat=3) if any(counts)]


@pytest.mark.parametrize("privacy", [privacy for privacy in MODELS if is_merge_closed(privacy)], ids=str)
@pytest.mark.parametrize("reference", [(3, 2, 1), (4, 4, 4), (5, 1, 2)])
def test_the_union_of_two_classes_that_hold_holds(privacy, reference):
    whole = histogram(reference)
    good = [counts for counts in SMALL if naive.holds(document(privacy), histogram(counts), whole)]
    for one, other in product(good, repeat=2):
        union = histogram([a + b for a, b in zip(one, other, strict=True)])
        assert naive.holds(document(privacy), union, whole)


@pytest.mark.parametrize("privacy", MODELS, ids=str)
def test_no_model_here_is_absorbing(privacy):
    assert not is_absorbing(privacy)


def test_grassberger_and_lenient_delta_are_not_merge_closed(tables):
    assert not is_merge_closed(EntropyL("s", 2, "grassberger"))
    assert is_merge_closed(EntropyL("s", 2))
    parts, context = tables.of_counts([1, 1], [1, 1])
    whole, _ = tables.of_counts([2, 2])
    assert evaluate(EntropyL("s", 2, "grassberger"), parts, context).satisfied.all()
    assert not evaluate(EntropyL("s", 2, "grassberger"), whole, context).satisfied.any()

    lenient = DeltaDisclosure("s", 1, "lenient")
    assert not is_merge_closed(lenient)
    reference = {"a": 1, "b": 3}
    assert naive.holds(document(lenient), {"b": 7}, reference)
    assert naive.holds(document(lenient), {"a": 1, "b": 2}, reference)
    assert not naive.holds(document(lenient), {"a": 1, "b": 9}, reference)


def test_beta_says_the_gain_and_the_largest(tables):
    classes, context = tables.of_counts([4, 1], [1, 4])
    answer = evaluate(BetaLikeness("s", "0.6"), classes, context)
    assert answer.satisfied.all()  # as doubles the gain is 0.6000000000000001
    assert answer.achieved == {"beta": {"fraction": "3/5", "decimal": 0.6}}
    answer = evaluate(BetaLikeness("s", "0.5"), classes, context)
    assert answer.reason == "2 of 2 classes have a value that gains more than 1/2; the largest gain is 3/5"


def test_enhanced_beta_without_a_solution(tables):
    classes, context = tables.of_counts([4, 0], [2, 2])
    answer = evaluate(BetaLikeness("s", 9, "enhanced"), classes, context)
    assert answer.satisfied.tolist() == [False, True]
    assert answer.achieved == {"beta": None}
    assert achieved("beta_likeness", "s", classes, context, kind="basic")["beta"]["fraction"] == "1/1"


def test_delta_is_strict_at_a_power_of_two(tables):
    # shares of the table are 1/4 each
    classes, context = tables.of_counts([2, 1, 1, 0], [0, 1, 1, 2])
    lenient = DeltaDisclosure("s", 1, "lenient")
    assert evaluate(lenient, classes, context).achieved == {"delta": {"fraction": "1/1", "decimal": 1.0}}
    assert not evaluate(lenient, classes, context).satisfied.any()
    assert evaluate(DeltaDisclosure("s", "1.0000000000000000001", "lenient"), classes, context).satisfied.all()
    strict = evaluate(DeltaDisclosure("s", 5), classes, context)
    assert not strict.satisfied.any()
    assert strict.achieved == {"delta": None}
    assert "2 of 2 classes lack a value" in strict.reason


def test_a_constant_column_is_no_protection(tables):
    classes, context = tables.of_counts([2], [3])
    for privacy in (BetaLikeness("s", 1), DeltaDisclosure("s", 1)):
        answer = evaluate(privacy, classes, context)
        assert answer.satisfied.all()
        assert answer.reason == "no protection: the column is constant"


@pytest.mark.slow
@settings(deadline=None)
@given(classes=st.lists(CLASS, min_size=1, max_size=4), c=st.sampled_from(["1/2", 1, 2, 3]), length=st.integers(1, 5))
def test_without_harmless_values_pd_is_recursive(tables, classes, c, length):
    found, context = tables.of_counts(*classes)
    pd, plain = PdRecursive("s", c, length, ["not there"]), RecursiveCL("s", c, length)
    assert evaluate(pd, found, context).satisfied.tolist() == evaluate(plain, found, context).satisfied.tolist()
    assert evaluate(pd, found, context).achieved == evaluate(plain, found, context).achieved


def test_npd_says_what_is_reached(tables):
    classes, context = tables.of_counts([6, 2, 1, 1])
    answer = evaluate(NpdRecursive("s", 2, 3, ["a"], 10, ["d"]), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {
        "l": 3, "c": {"fraction": "1/1", "decimal": 1.0}, "c2": {"fraction": "10/1", "decimal": 10.0}
    }  # fmt: skip
    answer = evaluate(NpdRecursive("s", 2, 3, ["a"], 11, ["d"]), classes, context)
    assert "the only class has less than 11 percent of a value of W (the least is 10)" in answer.reason
    assert evaluate(PdRecursive("s", 1, 5, ["b"]), *tables.of_counts([0, 4])).satisfied.all()


@pytest.mark.slow
@given(st.fractions(min_value="1/1000", max_value=1000), st.fractions(min_value=-9, max_value=9))
def test_sign_of_a_logarithm(ratio, bound):
    from math import log

    exact = log(ratio) / log(2) - float(bound)
    if abs(exact) > 1e-9:
        assert log_sign(ratio, bound, 2) == (exact > 0) - (exact < 0)
    assert log_sign(Fraction(2) ** 7, Fraction(7), 2) == 0


def test_ratios_near_a_bound_are_exact():
    big = 10**18
    numerators, denominators = np.array([big, big + 1, big - 1], object), np.array([3 * big] * 3, object)
    assert at_most(numerators, denominators, Fraction(1, 3)).tolist() == [True, False, True]
