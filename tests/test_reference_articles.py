"""One test for each claim of the articles this field is often learned from, with the right values.

Some widely read introductions print figures that do not hold; whoever compares them with this program finds
the difference here.
"""

from fractions import Fraction

import pyarrow as pa
import pytest

import indistinct as ind

pytestmark = pytest.mark.small

PYTHON_ARTICLE = pa.table(
    {
        "zip": ["981**"] * 6,
        "age": ["20-29", "20-29", "30-39", "30-39", "30-39", "40-49"],
        "disease": ["HIV", "HIV", "Diabetes", "Cancer", "Flu", "HIV"],
    }
)
ENHANCED = pa.table(
    {
        "age": ["20-29", "20-29", "30-39", "30-39", "30-39", "40-49"],
        "disease": ["HIV", "Flu", "Diabetes", "Cancer", "Flu", "HIV"],
    }
)


def judge(table, quasi, *models, sensitive="disease", extra=None, reference=None):
    attributes = {name: {"role": "quasi_identifying"} for name in quasi}
    if sensitive:
        attributes[sensitive] = {"role": "sensitive", **(extra or {})}
    policy = ind.Policy(attributes=attributes, privacy=list(models), table={"unlisted": "insensitive"})
    return ind.audit(table, policy, reference=reference).models


def distance(entry):
    return Fraction(entry["achieved"]["t"]["fraction"])


def rows(*values, **fixed):
    columns = {name: [value] * len(values) for name, value in fixed.items()}
    return pa.table({**columns, "disease": list(values)})


def test_a_distance_of_exactly_one_fifth_passes():
    # doubles make 0.20000000000000004 of it and answer no
    order = ["a", "b", "c", "d"]
    part = rows(*"abbbccccdd", zip="1")
    whole = rows(*"aaabbbbccd", zip="1")
    (entry,) = judge(
        part, ["zip"], ind.TCloseness("disease", "0.2", "ordered"),
        extra={"type": "ordinal", "order": order}, reference=whole,
    )  # fmt: skip
    assert distance(entry) == Fraction(1, 5)
    assert entry["satisfied"]


def test_the_table_called_3_anonymous_is_1_anonymous():
    (entry,) = judge(PYTHON_ARTICLE, ["zip", "age"], ind.KAnonymity(3))
    assert entry["achieved"] == {"k": 1}
    assert not entry["satisfied"]
    assert (entry["violating_classes"], entry["violating_rows"]) == (2, 3)


def test_one_class_of_that_table_has_no_diversity():
    (entry,) = judge(PYTHON_ARTICLE.slice(0, 2), ["zip", "age"], ind.EntropyL("disease", 2))
    assert entry["achieved"]["l"] == {"decimal": 1.0}  # entropy 0


def test_equal_distances_of_the_enhanced_table():
    model = ind.TCloseness("disease", "0.3", "equal")
    for start, length, expected in ((0, 2, "1/3"), (2, 3, "1/3"), (5, 1, "2/3")):
        (entry,) = judge(ENHANCED.slice(start, length), ["age"], model, reference=ENHANCED)
        assert distance(entry) == Fraction(expected)
        assert not entry["satisfied"]


def test_merging_can_spoil_a_satisfied_class():
    whole = rows(*"xyxxyy", zip="1")
    found = [
        judge(rows(*values, zip="1"), ["zip"], ind.TCloseness("disease", "0.2", "equal"), reference=whole)[0]
        for values in ("xy", "xx", "xyxx")
    ]
    assert [distance(entry) for entry in found] == [0, Fraction(1, 2), Fraction(1, 4)]
    assert [entry["satisfied"] for entry in found] == [True, False, False]


def test_three_equally_frequent_values_are_3_diverse():
    # doubles put the entropy of (1, 1, 1) below ln 3
    (entry,) = judge(rows(*"xyz", zip="1"), ["zip"], ind.EntropyL("disease", 3))
    assert entry["satisfied"]


def test_recursive_diversity_counts_from_the_lth_value_on():
    four = rows(*"aaaabbbccd", zip="1")
    at_limit, above = judge(four, ["zip"], ind.RecursiveCL("disease", "4/3", 3), ind.RecursiveCL("disease", "1.5", 3))
    assert Fraction(at_limit["achieved"]["c"]["fraction"]) == Fraction(4, 3)
    assert not at_limit["satisfied"]  # strict
    assert above["satisfied"]


def test_the_three_kinds_of_diversity_are_not_increasingly_strong():
    recursive, entropy = ind.RecursiveCL("disease", 10, 2), ind.EntropyL("disease", 2)
    nine_to_one = judge(rows(*"aaaaaaaaab", zip="1"), ["zip"], recursive, entropy)
    assert [entry["satisfied"] for entry in nine_to_one] == [True, False]
    even = judge(rows(*"aaaaabbbbb", zip="1"), ["zip"], ind.RecursiveCL("disease", "0.5", 2), entropy)
    assert [entry["satisfied"] for entry in even] == [False, True]


def test_entropy_diversity_does_not_bound_the_best_guess():
    entropy, guess = judge(
        rows(*"aaaaaaabcd", zip="1"), ["zip"], ind.EntropyL("disease", 2), ind.AlphaK("disease", "1/2", 1)
    )
    assert entropy["satisfied"]
    assert guess["achieved"]["alpha"]["fraction"] == "7/10"


def test_equal_distance_is_the_strictest():
    table = pa.table({"zip": list("AABB"), "disease": ["flu", "cough", "ulcer", "colitis"]})
    order = ["flu", "cough", "ulcer", "colitis"]
    equal, ordered = (
        judge(table, ["zip"], ind.TCloseness("disease", 1, kind), extra={"type": "ordinal", "order": order})[0]
        for kind in ("equal", "ordered")
    )
    assert distance(ordered) <= distance(equal)
