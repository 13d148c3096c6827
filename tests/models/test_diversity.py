"""Distinct, entropy, recursive and joint diversity."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.kernels.criteria import BAND, violation
from indistinct.models import achieved, criteria, evaluate
from indistinct.models.exact import bounds, entropy_sign
from indistinct.policy.privacy import DistinctL, EntropyL, JointL, RecursiveCL

counts_of_a_class = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any)


def test_distinct(tables):
    classes, context = tables.of_counts([2, 1, 1], [2, 2, 0], [4, 0, 0])
    answer = evaluate(DistinctL("s", 3), classes, context)
    assert answer.satisfied.tolist() == [True, False, False]
    assert answer.achieved == {"l": 1}
    assert answer.reason == "2 of 3 classes have fewer than 3 distinct values; the poorest has 1"


def test_missing_is_one_value_whatever_the_size_of_the_table(tables):
    for times in (1, 1000):
        classes, context = tables.judged(["A"] * 2 + ["B"] * 3 * times, {"s": ["5", "6"] + [None] * 3 * times})
        assert evaluate(DistinctL("s", 2), classes, context).measure.tolist() == [2, 1]


def test_distinct_needs_as_many_persons(tables):
    classes, context = tables.of_counts([1, 1, 1], [1, 1, 1])
    answer = evaluate(DistinctL("s", 3), replace(classes, persons=np.array([3, 2])), context)
    assert answer.satisfied.tolist() == [True, False]
    assert answer.achieved == {"l": 2}
    assert answer.reason == "1 of 2 classes has fewer than 3 distinct values of different persons; the poorest has 2"


def test_a_constant_column_protects_nobody(tables):
    classes, context = tables.of_counts([2], [2])
    for privacy, best in [
        (DistinctL("s", 2), {"l": 1}),
        (EntropyL("s", 2), {"l": {"decimal": 1.0}}),
        (RecursiveCL("s", 9, 2), {"l": 2, "c": None}),
    ]:
        answer = evaluate(privacy, classes, context)
        assert not answer.satisfied.any()
        assert answer.achieved == best
        assert answer.reason == "no protection: the column is constant"


@pytest.mark.parametrize(
    ("counts", "effective"),
    [
        ((2, 1, 1), 2 * 2**0.5),  # the 3-diverse inpatient table
        ((4, 1), 1.6493848884661177),  # four healthy, one HIV
        ((4, 3, 2, 1), 3.5961154666243216),
        ((9, 1), 1.384145488461686),
        ((7, 1, 1, 1), 2.5611),  # best guess 7/10 all the same
    ],
)
def test_effective_l(tables, counts, effective):
    classes, context = tables.of_counts(counts)
    found = achieved("entropy_l", "s", classes, context)["l"]["decimal"]
    assert found == pytest.approx(effective, rel=1e-12 if effective != 2.5611 else 1e-4)


@pytest.mark.parametrize("values", [1, 2, 3, 6, 7, 10, 21])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_even_class_is_exactly_at_its_number_of_values(tables, values, count):
    classes, context = tables.of_counts([count] * values)
    answer = evaluate(EntropyL("s", values), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"l": {"decimal": float(values)}}
    assert str(answer.measure[0]) == f"{values}.0"
    barely = Fraction(values) + Fraction(1, 10**30)
    assert not evaluate(EntropyL("s", barely), classes, context).satisfied.any()


def test_even_values_are_not_cut_towards_zero(tables):
    """Six and six, four and four and four: 2 and 3, and l = 3.01 fails."""
    classes, context = tables.judged("A" * 12, {"s": list("xxxyyzxxyyzz"[:12]), "t": list("xxxxyyyyzzzz")})
    answer = evaluate(EntropyL("t", 3), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"l": {"decimal": 3.0}}
    assert not evaluate(EntropyL("t", "3.01"), classes, context).satisfied.any()


def test_equality_without_evenness(tables):
    """Counts 4,1,1,1,1: H = ln 2 / 2 + ln 8 / 2 = ln 4."""
    classes, context = tables.of_counts([4, 1, 1, 1, 1], [12, 3, 3, 3, 3])
    answer = evaluate(EntropyL("s", 4), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"l": {"decimal": 4.0}}
    assert not evaluate(EntropyL("s", "4.00000000000000000000000000001"), classes, context).satisfied.any()
    assert evaluate(EntropyL("s", "3.99999999999999999999999999999"), classes, context).satisfied.all()


def test_entropy_sign_of_large_counts():
    big = 2**31
    assert entropy_sign({big: 3}, Fraction(3)) == 0
    assert entropy_sign({big: 2, big + 1: 1}, Fraction(3)) == -1  # by less than any double shows
    assert entropy_sign({4 * big: 1, big: 4}, Fraction(4)) == 0


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(counts=counts_of_a_class, length=st.fractions(1, 5, max_denominator=6))
def test_entropy_against_the_definition_in_integers(tables, counts, length):
    classes, context = tables.of_counts(counts)
    rows = sum(counts)
    left = rows**rows * length.denominator**rows
    right = length.numerator**rows
    for count in counts:
        right *= count**count
    assert evaluate(EntropyL("s", length), classes, context).satisfied.tolist() == [left >= right]
    shares = [count / rows for count in counts if count]
    assert achieved("entropy_l", "s", classes, context)["l"]["decimal"] == pytest.approx(
        exp(-sum(p * log(p) for p in shares)), rel=1e-12
    )


@pytest.mark.slow
def test_an_even_class_is_decided_by_the_compiled_test(tables):
    for values, length in product([2, 3, 6, 7], ["2", "3", "3.000000000000000000001", "6.9999999999999999999", "7"]):
        classes, context = tables.of_counts([5] * values)
        (criterion,) = criteria([EntropyL("s", length)], context)
        counts = np.full(values, 5, np.int64)
        value = violation(
            criterion.kind,
            criterion.parameters,
            counts,
            5 * values,
            5 * values,
            criterion.shares,
            criterion.tree,
        )
        assert abs(value) > BAND
        assert (value < 0) == evaluate(EntropyL("s", length), classes, context).satisfied[0]


def definition_of_recursive(counts, c, length):
    falling = sorted(counts, reverse=True)
    return falling[0] < c * sum(falling[length - 1 :])


@pytest.mark.parametrize(
    ("counts", "length", "needed"),
    [
        ((4, 3, 2, 1), 1, "2/5"),
        ((4, 3, 2, 1), 2, "2/3"),
        ((4, 3, 2, 1), 3, "4/3"),
        ((4, 3, 2, 1), 4, "4/1"),
        ((4, 3, 2, 1), 5, None),
        ((2, 1, 1), 3, "2/1"),
        ((4, 1, 1), 2, "2/1"),
        ((4, 1, 1), 3, "4/1"),
        ((9, 1), 2, "9/1"),
        ((5, 5), 2, "1/1"),
        ((4, 2), 2, "2/1"),
    ],
)
def test_recursive_c_must_be_exceeded(tables, counts, length, needed):
    classes, context = tables.of_counts(counts)
    best = achieved("recursive_cl", "s", classes, context, l=length)
    assert best == {"l": length, "c": needed and {"fraction": needed, "decimal": float(Fraction(needed))}}
    if needed:
        exactly = Fraction(needed)
        assert not evaluate(RecursiveCL("s", exactly, length), classes, context).satisfied.any()
        more = exactly + Fraction(1, 10**30)
        assert evaluate(RecursiveCL("s", more, length), classes, context).satisfied.all()
    else:
        assert not evaluate(RecursiveCL("s", 10**9, length), classes, context).satisfied.any()


def test_recursive_list_without_l(tables):
    classes, context = tables.of_counts([4, 1, 1], [2, 2, 2])
    found = achieved("recursive_cl", "s", classes, context)
    assert [(entry["l"], entry["c"] and entry["c"]["fraction"]) for entry in found] == [
        (2, "2/1"),
        (3, "4/1"),
    ]
    classes, context = tables.of_counts([4, 1, 0, 0], [2, 2, 2, 1])
    found = achieved("recursive_cl", "s", classes, context)
    assert [(entry["l"], entry["c"] and entry["c"]["fraction"]) for entry in found] == [
        (2, "4/1"),
        (3, None),
        (4, None),
    ]


def test_recursive_and_entropy_are_incomparable(tables):
    skewed, context = tables.of_counts([9, 1])
    assert evaluate(RecursiveCL("s", 10, 2), skewed, context).satisfied.all()
    assert not evaluate(EntropyL("s", 2), skewed, context).satisfied.any()
    even, context = tables.of_counts([5, 5])
    assert not evaluate(RecursiveCL("s", "0.5", 2), even, context).satisfied.any()
    assert evaluate(EntropyL("s", 2), even, context).satisfied.all()


def test_reason_of_recursive(tables):
    classes, context = tables.of_counts([4, 2], [2, 2])
    answer = evaluate(RecursiveCL("s", 2, 2), classes, context)
    assert answer.satisfied.tolist() == [False, True]
    assert answer.reason == (
        "1 of 2 classes has a most frequent value that reaches 2 times the rows from value number 2 on; c must exceed 2"
    )


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    histograms=st.lists(counts_of_a_class, min_size=1, max_size=4),
    c=st.fractions("1/8", 8, max_denominator=9),
    length=st.integers(1, 6),
)
def test_recursive_and_distinct_against_their_definitions(tables, histograms, c, length):
    classes, context = tables.of_counts(*histograms)
    found = evaluate(RecursiveCL("s", c, length), classes, context).satisfied.tolist()
    assert found == [definition_of_recursive(counts, c, length) for counts in histograms]
    found = evaluate(DistinctL("s", length), classes, context).satisfied.tolist()
    assert found == [sum(count > 0 for count in counts) >= length for counts in histograms]


@pytest.mark.slow
def test_recursive_ties_are_decided_by_the_compiled_test(tables):
    for c in ["4", "1.5", "4/3", "1.33333333333333333333", "1.3333333333333333333334"]:
        for counts in product(range(1, 5), repeat=3):
            _, context = tables.of_counts(counts)
            (criterion,) = criteria([RecursiveCL("s", c, 2)], context)
            rows = sum(counts)
            value = violation(
                criterion.kind,
                criterion.parameters,
                np.array(counts),
                rows,
                rows,
                criterion.shares,
                criterion.tree,
            )
            if abs(value) > BAND:
                assert (value < 0) == definition_of_recursive(counts, Fraction(c), 2), (c, counts)


def test_counts_beyond_32_bits(tables):
    classes, context = tables.of_counts([1, 1, 1])
    huge = replace(
        classes,
        rows=classes.rows * 2**40,
        histograms={"s": replace(classes.histograms["s"], count=np.full(3, 2**40))},
    )
    assert evaluate(RecursiveCL("s", "0.5", 2), huge, context).satisfied.tolist() == [False]
    assert evaluate(RecursiveCL("s", "0.500000000000000000001", 2), huge, context).satisfied.tolist() == [True]
    assert evaluate(EntropyL("s", 3), huge, context).satisfied.tolist() == [True]


def test_bounds_of_sparse_large_arguments():
    assert bounds(np.array([2**60, 3, 2**60]), lambda n: n // 2).tolist() == [2**59, 1, 2**59]
    assert bounds(np.array([1]), lambda n: 10**30 * n).tolist() == [2**62]


# joint diversity: three diseases and two drugs per class are 2 and 1 when each is known to the attacker
JOINT = ("AAAA", {"disease": ["flu", "cold", "ulcer", "flu"], "drug": ["x", "x", "y", "x"]})


def definition_of_joint(quasi, columns, length):
    bad = set()
    for own in columns:
        groups = {}
        for i, label in enumerate(quasi):
            key = (label, *[columns[name][i] for name in columns if name != own])
            groups.setdefault(key, set()).add(columns[own][i])
        bad |= {key[0] for key, values in groups.items() if len(values) < length}
    return [label not in bad for label in sorted(set(quasi))]


def test_joint_is_stronger_than_each(tables):
    classes, context = tables.judged(*JOINT)
    assert evaluate(DistinctL("disease", 3), classes, context).satisfied.all()
    assert evaluate(DistinctL("drug", 2), classes, context).satisfied.all()
    answer = evaluate(JointL(("disease", "drug"), "distinct_l", 2), classes, context)
    assert not answer.satisfied.any()
    assert answer.achieved == {"l": 1}
    assert answer.reason.startswith("disease, with drug joined to the quasi-identifiers: 1 of 2 classes has fewer")


def test_joint_is_not_absorbing(tables):
    four = ("AAAA", {"s": list("aabb"), "t": list("xyxy")})
    classes, context = tables.judged(*four)
    assert evaluate(JointL(("s", "t"), "distinct_l", 2), classes, context).satisfied.all()
    five = ("AAAAA", {"s": list("aabba"), "t": list("xyxyz")})
    classes, context = tables.judged(*five)
    assert not evaluate(JointL(("s", "t"), "distinct_l", 2), classes, context).satisfied.any()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("AB"), st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("pq")),
        min_size=1,
        max_size=24,
    ),
    length=st.integers(1, 2),
)
def test_joint_against_the_definition(tables, rows, length):
    quasi, *columns = (list(column) for column in zip(*rows, strict=True))
    named = dict(zip("stu", columns, strict=True))
    classes, context = tables.judged(quasi, named)
    answer = evaluate(JointL(("u", "s", "t"), "distinct_l", length), classes, context)
    assert answer.satisfied.tolist() == definition_of_joint(quasi, named, length)


def test_joint_kinds(tables):
    quasi, columns = "AAAABB", {"s": list("aabbab"), "t": list("xyxyxx")}
    classes, context = tables.judged(quasi, columns)
    entropy = evaluate(JointL(("s", "t"), "entropy_l", 2), classes, context)
    assert entropy.satisfied.tolist() == [True, False]
    assert entropy.achieved == {"l": {"decimal": 1.0}}
    assert entropy.measure.tolist() == [2, 1]
    recursive = evaluate(JointL(("s", "t"), "recursive_cl", 2, "1.5"), classes, context)
    assert recursive.satisfied.tolist() == [True, False]
    assert recursive.achieved == {"l": 2, "c": None}
    assert not recursive.more_is_better
    assert achieved("joint_l", None, classes, context, attributes=["s", "t"]) == {"l": 1}
    assert achieved("joint_l", None, classes, context, attributes=["s", "t"], kind="recursive_cl") == [
        {"l": 2, "c": None}
    ]
    assert criteria([JointL(("s", "t"), "entropy_l", 2)], context) is None


def test_joint_with_persons(tables):
    classes, context = tables.judged("AAAA", {"s": list("aabb"), "t": list("xyxy")})
    one_person = replace(classes, persons=np.array([1]))
    assert not evaluate(JointL(("s", "t"), "distinct_l", 2), one_person, context).satisfied.any()
