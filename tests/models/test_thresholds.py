"""Single models exactly at their thresholds, where a verdict hangs on one comparison."""

from fractions import Fraction
from math import comb

import pytest

import naive_models
from indistinct.models import achieved, evaluate, grassberger
from indistinct.models.safepub import Mechanism, least_k, mechanism
from indistinct.policy.privacy import (
    DistinctL,
    EntropyL,
    JointL,
    KAnonymity,
    NpdRecursive,
    PdRecursive,
    PSensitiveK,
)

HAIR = Fraction(1, 10**30)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 20])
def test_safepub_tail_at_its_bound(n):
    """beta = 1/2, gamma = 3/4: P[Bin(n, 1/2) > 3 n / 4] is a fraction, and equal is not more."""
    found = mechanism("ln 2")
    tail = Fraction(sum(comb(n, j) for j in range(n + 1) if 4 * j > 3 * n), 2**n)
    assert found.tail(n) == tail
    assert not found.exceeds(n, tail)
    assert found.exceeds(n, tail - HAIR**2)
    assert not found.exceeds(n, tail + HAIR**2)


def test_safepub_in_doubt_a_tail_exceeds():
    """Where gamma is known only between two numbers the tail is a decimal, and what it cannot tell counts as more."""
    half = Fraction(1, 2)
    known = Mechanism(half, Fraction(3, 4), Fraction(3, 4))
    enclosed = Mechanism(half, Fraction(3, 4), Fraction(3, 4) + HAIR)
    for n in (3, 5, 9):
        tail = known.tail(n)
        assert abs(Fraction(enclosed.tail(n)) - tail) < HAIR
        assert enclosed.exceeds(n, tail)
        assert enclosed.exceeds(n, tail - HAIR)
        assert not enclosed.exceeds(n, tail + HAIR)


def test_safepub_least_k_at_a_tail_that_equals_delta():
    """The worst n of some k has a_n = delta exactly: that k is allowed."""
    found = mechanism("ln 2")
    for k in (5, 8, 12):
        # n >= k / gamma - 1, and the largest of the tails from there on
        first = -(-4 * k // 3) - 1
        tails = [
            Fraction(sum(comb(n, j) for j in range(n + 1) if 4 * j > 3 * n), 2**n) for n in range(first, first + 80)
        ]
        delta = max(tails)
        assert least_k(found, delta) <= k
        assert least_k(found, delta - HAIR) > least_k(found, delta) or least_k(found, delta - HAIR) == k + 1


@pytest.mark.parametrize("counts", [(3,), (1, 1), (2, 2), (3, 3), (4, 2), (5, 1, 1), (9, 9, 9), (2, 1, 1, 1)])
@pytest.mark.parametrize("length", ["1", "3/2", "2", "2.5", "3"])
def test_grassberger_verdict_of_one_class(tables, counts, length):
    histogram = dict(zip("abcd", counts, strict=False))
    wanted = naive_models.entropy_grassberger({"l": length}, histogram, None)
    length = Fraction(length)
    if len(counts) >= length:
        assert grassberger.holds(list(counts), length) is wanted
    classes, context = tables.of_counts(counts, (1, 1, 1, 1))
    assert evaluate(EntropyL("s", length, estimator="grassberger"), classes, context).satisfied.tolist()[0] is wanted


def test_grassberger_at_l_1_asks_nothing():
    # H_G >= 0 for every class, and is 0 for one value
    assert grassberger.holds([1], Fraction(1))
    assert grassberger.holds([7], Fraction(1))
    assert not grassberger.holds([7], 1 + HAIR)


@pytest.mark.parametrize(
    ("model", "verdicts"),
    [
        (KAnonymity(3), [True, False, True, True]),
        (KAnonymity(4), [True, False, False, True]),
        (DistinctL("s", 2), [True, True, False, True]),
        (DistinctL("s", 3), [True, False, False, True]),
        (PSensitiveK("s", k=3, p=2), [True, False, False, True]),
        (PSensitiveK("s", k=4, p=3), [True, False, False, True]),
        (PSensitiveK("s", k=5, p=3), [False, False, False, True]),
    ],
    ids=str,
)
def test_counts_of_rows_and_values_at_the_threshold(tables, model, verdicts):
    classes, context = tables.of_counts((2, 1, 1), (1, 1), (3,), (2, 2, 1))
    assert evaluate(model, classes, context).satisfied.tolist() == verdicts


@pytest.mark.parametrize("kind", ["entropy_l", "recursive_cl", "distinct_l"])
def test_joint_diversity_at_the_threshold(tables, kind):
    """Beside each r stand two values of s and beside each s two of r, equally often: exactly 2, in every sense."""
    classes, context = tables.judged("AAAA", {"s": "aabb", "r": "xyxy"})
    more = {"c": 1} if kind == "recursive_cl" else {}
    equal = JointL(attributes=["s", "r"], kind=kind, l=2, **more)
    wanted = kind != "recursive_cl"  # 1 < 1 is false
    assert evaluate(equal, classes, context).satisfied.tolist() == [wanted]
    if kind == "entropy_l":
        above = JointL(attributes=["s", "r"], kind=kind, l=2 + HAIR)
        assert evaluate(above, classes, context).satisfied.tolist() == [False]
    if kind == "recursive_cl":
        above = JointL(attributes=["s", "r"], kind=kind, l=2, c=1 + HAIR)
        assert evaluate(above, classes, context).satisfied.tolist() == [True]


@pytest.mark.parametrize("length", [2, 3])
@pytest.mark.parametrize(
    "c", [Fraction(1, 2), Fraction(1), 1 + HAIR, Fraction(3, 2), Fraction(2), 2 + HAIR, Fraction(4)]
)
@pytest.mark.parametrize("histogram", [(2, 1, 1), (2, 2, 1), (1, 1, 1, 1), (4, 2), (3, 1, 1, 1), (5,)])
def test_diversity_with_disclosed_values_at_the_threshold(tables, length, c, histogram):
    counted = dict(zip("abcd", histogram, strict=False))
    classes, context = tables.of_counts(histogram, (1, 1, 1, 1))
    for harmless in ("a", "d"):
        wanted = naive_models.pd_recursive({"c": str(c), "l": length, "Y": [harmless]}, counted, None)
        found = evaluate(PdRecursive("s", c, length, [harmless]), classes, context)
        assert found.satisfied.tolist()[0] is wanted
        share = Fraction(100 * counted["a"], sum(counted.values()))  # in percent: exactly enough
        for least, present in ((share, True), (share + HAIR, False), (share - HAIR, True)):
            if 0 <= least <= 100:
                found = evaluate(NpdRecursive("s", c, length, [harmless], least, ["a"]), classes, context)
                assert found.satisfied.tolist()[0] is (wanted and present)


def test_the_least_c_of_diversity_with_disclosed_values(tables):
    """Counts 3, 2, 1: beside the 3 rows stand 3 others at l = 2 (the default), and 1 at l = 3."""
    classes, context = tables.of_counts((3, 2, 1))
    assert achieved("pd_recursive", "s", classes, context) == {"l": 2, "c": {"fraction": "1/1", "decimal": 1.0}}
    assert achieved("pd_recursive", "s", classes, context, l=3)["c"]["fraction"] == "3/1"
    assert achieved("pd_recursive", "s", classes, context, l=4)["c"] is None
    # a may be disclosed: b counts, its 2 rows beside 4 others at l = 2, 1 without the most frequent of them at l = 3
    assert achieved("pd_recursive", "s", classes, context, l=2, Y=["a"])["c"]["fraction"] == "1/2"
    assert achieved("pd_recursive", "s", classes, context, l=3, Y=["a"])["c"]["fraction"] == "2/1"
    nothing = {"l": 2, "c": {"fraction": "0/1", "decimal": 0.0}}
    assert achieved("pd_recursive", "s", classes, context, l=2, Y=["a", "b", "c"]) == nothing
