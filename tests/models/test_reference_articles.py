"""What well-known introductions to these models get wrong, with the right values; one test per claim."""

from fractions import Fraction
from math import log

import pytest

from indistinct.models import achieved, evaluate
from indistinct.policy.privacy import AlphaK, DistinctL, EntropyL, KAnonymity, RecursiveCL, TCloseness

# age classes of the six-row table of the article on k, l and t in Python, before and after its "improvement"
AGES = ["20-29", "20-29", "30-39", "30-39", "30-39", "40-49"]
BEFORE = ["HIV", "HIV", "Diabetes", "Cancer", "Flu", "HIV"]
AFTER = ["HIV", "Flu", "Diabetes", "Cancer", "Flu", "HIV"]


def distance(classes, context, kind="equal"):
    return Fraction(achieved("t_closeness", "s", classes, context, distance=kind)["t"]["fraction"])


def test_the_emd_of_the_example_is_one_fifth_and_passes(tables):
    """Printed: 0.167, and "not satisfied" at t = 0.2 because doubles give 0.20000000000000004."""
    classes, context = tables.of_counts([1, 3, 4, 2], [5, 5, 0, 0], order=list("abcd"))
    # the reference (6, 8, 4, 2) / 20 is (0.3, 0.4, 0.2, 0.1)
    first = evaluate(TCloseness("s", "0.2", "ordered"), classes, context)
    assert first.satisfied[0]
    assert first.measure[0] == pytest.approx(0.2)
    assert evaluate(TCloseness("s", "0.3", "equal"), classes, context).satisfied[0]


def test_t_allows_sixteen_percent_not_one(tables):
    """Claimed: with t = 0.15 a value of 1 % rises to 1.15 % at most."""
    classes, context = tables.of_counts([84, 16], [9816, 84])
    assert context.references["s"].counts.tolist() == [9900, 100]
    assert evaluate(TCloseness("s", "0.15", "equal"), classes, context).satisfied[0]
    assert not evaluate(TCloseness("s", "0.1499", "equal"), classes, context).satisfied[0]


def test_merging_can_spoil_a_class_that_was_fine(tables):
    """Claimed: merging never breaks a satisfied class. Right: the largest distance never grows."""
    apart, context = tables.of_counts([1, 1], [2, 0], [0, 2])
    assert evaluate(TCloseness("s", "0.2", "equal"), apart, context).satisfied.tolist() == [
        True,
        False,
        False,
    ]
    merged, _ = tables.of_counts([3, 1], [0, 2])
    answer = evaluate(TCloseness("s", "0.2", "equal"), merged, context)
    assert not answer.satisfied[0]
    assert answer.measure[0] == 0.25


def test_equal_distance_over_protects(tables):
    """Claimed: equal distance, for lack of a tree, under-estimates. It is the strictest of the three."""
    paths = {"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*"), "d": ("y", "*")}
    classes, context = tables.of_counts([2, 0, 1, 0], [0, 1, 0, 2], order=list("abcd"), paths=paths)
    assert distance(classes, context, "hierarchical") <= distance(classes, context, "equal")
    assert distance(classes, context, "ordered") <= distance(classes, context, "equal")


def test_one_value_only_is_distance_zero(tables):
    """The printed code divides by zero."""
    classes, context = tables.of_counts([2], [1])
    assert distance(classes, context, "ordered") == 0


def test_a_class_of_one_row_is_far_from_the_table(tables):
    """Claimed: one person may match the distribution exactly. The distance is 1 - q."""
    classes, context = tables.of_counts([1, 0], [7, 2])
    assert evaluate(TCloseness("s", "0.2", "equal"), classes, context).satisfied[0]  # q = 8/10
    assert evaluate(TCloseness("s", "0.2", "equal"), classes, context).measure[0] == pytest.approx(0.2)
    assert not evaluate(TCloseness("s", "0.199", "equal"), classes, context).satisfied[0]


def test_the_python_articles_table_is_one_anonymous(tables):
    """Claimed twice: 3-anonymous."""
    classes, context = tables.judged(AGES, {"s": BEFORE})
    assert evaluate(KAnonymity(3), classes, context).achieved == {"k": 1}
    repaired, context = tables.judged(["1", "2", "1", "2", "1", "2"], {"s": BEFORE})
    assert evaluate(KAnonymity(3), repaired, context).achieved == {"k": 3}


def test_one_class_of_the_python_article_has_entropy_zero(tables):
    """Claimed: all entropies are at least 1 bit. They are 1, log2 3 and 0 (printed -0.00)."""
    classes, context = tables.judged(AGES, {"s": AFTER})
    answer = evaluate(EntropyL("s", 2), classes, context)
    assert answer.measure.tolist() == [2, 3, 1]
    assert str(log(answer.measure[2])) == "0.0"
    assert evaluate(DistinctL("s", 2), classes, context).achieved == {"l": 1}


def test_equal_distances_of_the_python_article(tables):
    """Printed 1/6, 1/12, 1/3 (distances between sorted probabilities), so that two classes pass t = 0.3."""
    classes, context = tables.judged(AGES, {"s": AFTER})
    answer = evaluate(TCloseness("s", "0.3", "equal"), classes, context)
    assert answer.measure.tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert not answer.satisfied.any()


def test_two_age_classes_do_not_suffice_for_t(tables):
    """Claimed: generalising to 20-39 may suffice. 20-39: 2/15; 40-49 stays at 2/3."""
    classes, context = tables.judged(["20-39"] * 5 + ["40-49"], {"s": AFTER})
    answer = evaluate(TCloseness("s", "0.3", "equal"), classes, context)
    assert answer.satisfied.tolist() == [True, False]
    assert answer.measure.tolist() == pytest.approx([2 / 15, 2 / 3])


def test_recursive_sums_from_the_lth_value_on(tables):
    """Claimed: most frequent < c times all other values. With l = 3, counts 4,3,2,1 give 3, not 6."""
    classes, context = tables.of_counts([4, 3, 2, 1])
    assert not evaluate(RecursiveCL("s", 1, 3), classes, context).satisfied[0]  # 4 < 6 would hold
    assert not evaluate(RecursiveCL("s", "4/3", 3), classes, context).satisfied[0]  # strict
    assert evaluate(RecursiveCL("s", "1.5", 3), classes, context).satisfied[0]


def test_recursive_uses_the_most_frequent_value(tables):
    """A peer sorts upward and finds c = 1 for counts 2,1,1 and l = 3; c must exceed 2."""
    classes, context = tables.of_counts([2, 1, 1])
    assert achieved("recursive_cl", "s", classes, context, l=3)["c"]["fraction"] == "2/1"


def test_recursive_and_entropy_are_not_ordered_by_strength(tables):
    """Claimed: distinct, entropy, recursive are increasingly strong."""
    classes, context = tables.of_counts([9, 1], [5, 5])
    assert evaluate(RecursiveCL("s", 10, 2), classes, context).satisfied.tolist() == [True, True]
    assert evaluate(EntropyL("s", 2), classes, context).satisfied.tolist() == [False, True]
    assert evaluate(RecursiveCL("s", "0.5", 2), classes, context).satisfied.tolist() == [False, False]


def test_entropy_does_not_bound_the_best_guess(tables):
    """Claimed: entropy 2-diversity keeps the best guess at 1/2. Counts 7,1,1,1: 7/10."""
    classes, context = tables.of_counts([7, 1, 1, 1])
    assert evaluate(EntropyL("s", 2), classes, context).satisfied.all()
    assert evaluate(AlphaK("s", "0.5", 1), classes, context).achieved["alpha"]["fraction"] == "7/10"


def test_four_healthy_and_one_ill_have_two_values(tables):
    """Written: "five diseases, four of them healthy"."""
    classes, context = tables.of_counts([4, 1])
    assert evaluate(DistinctL("s", 2), classes, context).achieved == {"l": 2}
    assert achieved("entropy_l", "s", classes, context)["l"]["decimal"] == pytest.approx(1.6493848884661177, rel=1e-12)


@pytest.mark.parametrize("values", [3, 6, 7, 10, 21])
def test_an_even_class_passes_at_its_number_of_values(tables, values):
    """``entropy >= math.log(l)`` in doubles fails for these; 3 is the article's default."""
    classes, context = tables.of_counts([1] * values)
    assert evaluate(EntropyL("s", values), classes, context).satisfied.all()


def test_three_rows_of_the_k_anonymity_article(tables):
    classes, context = tables.judged(["Black 1965 m 0214*"] * 2 + ["White 1967 m 0213*"], {})
    assert evaluate(KAnonymity(2), classes, context).achieved == {"k": 1}


def test_twenty_people_with_one_disease_leak(tables):
    """k = 20 does not help: everybody in the class has it."""
    classes, context = tables.of_counts([20, 0], [0, 20])
    assert evaluate(KAnonymity(20), classes, context).satisfied.all()
    assert achieved("alpha_k", "s", classes, context)["alpha"]["fraction"] == "1/1"
