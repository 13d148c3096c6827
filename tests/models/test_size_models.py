"""k-anonymity, (alpha,k)-anonymity and p-sensitive k-anonymity."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from indistinct.errors import DataError
from indistinct.models import MODELS, achieved, criteria, evaluate
from indistinct.models.p_sensitive_k import most_classes
from indistinct.policy.privacy import AlphaK, KAnonymity, PSensitiveK

PYTHON_ARTICLE = (
    ["20-29"] * 2 + ["30-39"] * 3 + ["40-49"],
    ["HIV", "HIV", "Diabetes", "Cancer", "Flu", "HIV"],
)


@pytest.mark.parametrize(
    ("sizes", "k", "satisfied", "violating_rows"),
    [
        ([2, 1], 2, False, 1),  # the three rows of the k-anonymity article
        ([2, 3, 1], 3, False, 3),  # the six rows of the Python article
        ([3, 3], 3, True, 0),  # the same after suppressing the age
        ([4, 4, 4], 4, True, 0),
        ([2, 2, 3], 2, True, 0),  # a class of exactly k is fine
        ([2, 2, 3], 3, False, 4),
    ],
)
def test_k_anonymity(tables, sizes, k, satisfied, violating_rows):
    classes, context = tables.of_counts(*[[size] for size in sizes])
    answer = evaluate(KAnonymity(k), classes, context)
    assert answer.satisfied.all() == satisfied
    assert classes.rows[~answer.satisfied].sum() == violating_rows
    assert answer.achieved == {"k": min(sizes)}
    assert answer.measure.tolist() == sizes


def test_reason_of_k_has_the_counts(tables):
    classes, context = tables.judged(PYTHON_ARTICLE[0], {"s": PYTHON_ARTICLE[1]})
    answer = evaluate(KAnonymity(3), classes, context)
    assert answer.reason == "2 of 3 classes have fewer than 3 rows; the smallest has 1"
    assert evaluate(KAnonymity(1), classes, context).reason == "every class has at least 1 row; the smallest has 1"
    one, context = tables.of_counts([2])
    assert evaluate(KAnonymity(3), one, context).reason == "the only class has fewer than 3 rows; the smallest has 2"


def test_sizes_are_persons_where_there_is_a_person_key(tables):
    classes, context = tables.of_counts([3], [3])
    classes = replace(classes, persons=np.array([1, 3]))  # three rows of one person, and three persons
    answer = evaluate(KAnonymity(3), classes, context)
    assert answer.satisfied.tolist() == [False, True]
    assert answer.achieved == {"k": 1}
    assert answer.reason == "1 of 2 classes has fewer than 3 persons; the smallest has 1"


A01 = (["A"] * 4 + ["B"] * 4, list("xxyzxyyz"))


def test_alpha_equal_to_the_largest_share_passes(tables):
    classes, context = tables.judged(A01[0], {"s": A01[1]})
    answer = evaluate(AlphaK("s", "0.5", 4), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"alpha": {"fraction": "1/2", "decimal": 0.5}, "k": 4}
    assert not evaluate(AlphaK("s", "0.499999999999999999", 4), classes, context).satisfied.any()
    assert not evaluate(AlphaK("s", "0.5", 5), classes, context).satisfied.any()


def test_alpha_of_one_value(tables):
    classes, context = tables.judged(A01[0], {"s": A01[1]})
    answer = evaluate(AlphaK("s", "0.25", 4, values=("z",)), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved["alpha"]["fraction"] == "1/4"
    assert achieved("alpha_k", "s", classes, context, values=["x"])["alpha"]["fraction"] == "1/2"
    nowhere = evaluate(AlphaK("s", "0.25", 4, values=("absent",)), classes, context)
    assert nowhere.satisfied.all()
    assert nowhere.achieved["alpha"]["fraction"] == "0/1"
    assert [c.kind for c in criteria([AlphaK("s", "0.25", 4, values=("absent",))], context)] == [0]


def test_reason_of_alpha(tables):
    classes, context = tables.of_counts([3, 1], [2, 2])
    answer = evaluate(AlphaK("s", "0.5", 2), classes, context)
    assert answer.reason == (
        "every class has at least 2 rows; the smallest has 4; "
        "1 of 2 classes has a value with more than 1/2 of the rows; the largest share is 3/4"
    )


@pytest.mark.parametrize("alpha", ["1/3", "0.3333333333333333", "0.33333333333333333333", "0.3333333333333334"])
def test_alpha_is_read_exactly(tables, alpha):
    classes, context = tables.of_counts([1, 1, 1], [2, 2, 2])
    assert evaluate(AlphaK("s", alpha, 3), classes, context).satisfied.all() == (Fraction(alpha) >= Fraction(1, 3))


def test_p_sensitive(tables):
    classes, context = tables.judged("AAABBBBCCC", {"s": list("aabaabcaab")})
    answer = evaluate(PSensitiveK("s", 2, 3), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"p": 2, "k": 3}
    assert not evaluate(PSensitiveK("s", 3, 3), classes, context).satisfied[0]
    assert not evaluate(PSensitiveK("s", 2, 4), classes, context).satisfied[2]


def test_most_classes_with_p_values(tables):
    _, context = tables.of_counts([6, 3, 1])
    assert most_classes(context.references["s"], 2) == 4  # 10 - 6
    assert most_classes(context.references["s"], 3) == 1  # min(10 - 9, (10 - 6) // 2)
    assert most_classes(context.references["s"], 1) is None


@pytest.mark.parametrize("name", MODELS)
def test_an_empty_release_is_an_error(tables, name):
    classes, context = tables.of_counts([2])
    nothing = replace(classes, rows=np.zeros(0, np.int64))
    with pytest.raises(DataError, match="no rows"):
        achieved(name, "s", nothing, context)
    with pytest.raises(DataError, match="no rows"):
        evaluate(KAnonymity(2), nothing, context)


def test_criteria_keep_the_largest_size_condition(tables):
    _, context = tables.of_counts([2, 2])
    found = criteria([KAnonymity(3), AlphaK("s", "0.5", 5), PSensitiveK("s", 2, 4)], context)
    assert [(c.kind, c.attribute) for c in found] == [(0, None), (1, "s"), (2, "s")]
    assert [c.parameters.tolist() for c in found] == [[5], [0.5], [2]]
    assert [(c.merge_closed, c.absorbing) for c in found] == [(True, True), (True, False), (True, True)]
    assert criteria([KAnonymity(1), AlphaK("s", 1, 1)], context) == ()
