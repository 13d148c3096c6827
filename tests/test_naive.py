"""The slow twins against values worked out by hand: they are what everything else is compared with."""

from collections import Counter
from fractions import Fraction

import pytest

import naive

pytestmark = pytest.mark.small

TREE = {
    "flu": ("flu", "lung", "any"),
    "cough": ("cough", "lung", "any"),
    "ulcer": ("ulcer", "gut", "any"),
    "colitis": ("colitis", "gut", "any"),
}
ZIPS = {text: (text, text[0] + "*", "**") for text in ("11", "12", "21")}


def table(*lines):
    names, *rows = (line.split() for line in lines)
    return [{n: None if v == "-" else v for n, v in zip(names, row, strict=True)} for row in rows]


def test_missing_values_equal_only_each_other():
    rows = table("a b", "N x", "N x", "N x", "S y", "S y", "S -", "- y")
    assert sorted(map(len, naive.classes(rows, ["a", "b"]).values())) == [1, 1, 2, 3]
    assert min(naive.matches_anything(rows, ["a", "b"])) == 3


def test_size_counts_each_person_once():
    rows = table("p g", "1 N", "1 N", "1 N", "2 S", "3 S")
    sizes = {key[0]: naive.size(members, "p") for key, members in naive.classes(rows, ["g"]).items()}
    assert sizes == {"N": 1, "S": 2}


@pytest.mark.parametrize(
    ("counts", "threshold", "holds"),
    [
        ((1, 1, 1), 3, True),  # doubles put this entropy below ln 3
        ((1, 1, 1), "3.01", False),
        ((2, 1, 1), "2.8", True),  # exp(H) = 2 sqrt 2 = 2.828...
        ((2, 1, 1), "2.83", False),
        ((4, 1), 2, False),
        ((7, 1, 1, 1), 2, True),
        ((5,), 1, True),
    ],
)
def test_entropy(counts, threshold, holds):
    histogram = Counter(dict(enumerate(counts)))
    assert naive.entropy_holds(histogram, threshold) is holds


def test_recursive_is_strict_and_sorts_from_the_most_frequent():
    histogram = Counter(a=4, b=3, c=2, d=1)
    assert [naive.recursive_infimum(histogram, rank) for rank in (1, 2, 3, 4, 5)] == [
        Fraction(2, 5), Fraction(2, 3), Fraction(4, 3), 4, None,
    ]  # fmt: skip
    assert not naive.recursive_holds(histogram, Fraction(4, 3), 3)
    assert naive.recursive_holds(histogram, "1.5", 3)


def test_distances():
    p = Counter({1: 1, 2: 3, 3: 4, 4: 2})
    q = Counter({1: 3, 2: 4, 3: 2, 4: 1})
    assert naive.emd_ordered(p, q, [1, 2, 3, 4]) == Fraction(1, 5)
    assert naive.emd_equal(p, q) == Fraction(3, 10)
    everything = Counter(flu=1, cough=1, ulcer=1, colitis=1)
    assert naive.emd_hierarchical(Counter(flu=1, cough=1), everything, TREE) == Fraction(1, 2)
    assert naive.emd_hierarchical(Counter(flu=1, ulcer=1), everything, TREE) == Fraction(1, 4)
    assert naive.ground_distance("flu", "cough", TREE) == Fraction(1, 2)
    assert naive.ground_distance("flu", "ulcer", TREE) == 1
    assert naive.emd_ordered(Counter(x=2), Counter(x=4), ["x"]) == 0


def test_joint_diversity_makes_the_others_known():
    rows = table("g s u", "A a x", "A a y", "A b x", "A b y")
    model = {"model": "joint_l", "attributes": ["s", "u"], "kind": "distinct_l", "l": 2}
    assert naive.satisfied(rows, ["g"], [model])
    assert not naive.satisfied([*rows, {"g": "A", "s": "a", "u": "z"}], ["g"], [model])


def test_the_reference_is_the_input_not_what_is_left():
    rows = table("g s", "A x", "A x", "B y", "B y")
    model = {"model": "t_closeness", "attribute": "s", "t": "0.2", "distance": "equal"}
    assert naive.satisfied(rows[:2], ["g"], [model])
    assert not naive.satisfied(rows[:2], ["g"], [model], rows)


def test_an_empty_table_satisfies_nothing():
    assert not naive.satisfied([], ["g"], [{"model": "k_anonymity", "k": 1}])


def test_loss_of_a_published_table():
    rows = table("zip", "1*", "21")
    assert naive.loss(rows, ["zip"], {"zip": ZIPS}) == Fraction(1, 4)
    assert naive.loss(rows, ["zip"], {"zip": ZIPS}, suppressed=2) == Fraction(5, 8)
    assert naive.cell_loss("**", ZIPS) == 1


def test_the_best_node_of_a_small_lattice():
    rows = table("zip s", "11 a", "11 b", "12 a", "21 b", "21 a")
    k2 = [{"model": "k_anonymity", "k": 2}]
    # level 0 suppresses the only row of 12; level 1 keeps 1* (3 rows, loss 1/2 each) and 2* (2 rows, loss 0)
    assert naive.full_domain(rows, ["zip"], {"zip": ZIPS}, k2) == (Fraction(3, 10), (1,), 0)
    assert naive.full_domain(rows, ["zip"], {"zip": ZIPS}, k2, limit="0.2") == (Fraction(1, 5), (0,), 1)
    assert naive.full_domain(rows, ["zip"], {"zip": ZIPS}, [{"model": "k_anonymity", "k": 6}]) is None


def test_a_missing_value_is_a_leaf_under_the_root():
    hierarchy = naive.with_missing(ZIPS)
    assert hierarchy[None] == [None, None, "**"]
    assert naive.cell_loss("1*", hierarchy) == Fraction(1, 3)
    assert naive.with_missing({"a": ("a", "low"), "b": ("b", "high")})[None] == [None, None]
