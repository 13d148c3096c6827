"""The class that holds the whole table says what no recoding can do."""

import pytest

from indistinct.models import Context, evaluate, feasible_root, infeasible_reason
from indistinct.models.feasibility import whole_table
from indistinct.policy.privacy import (
    AlphaK,
    DistinctL,
    EntropyL,
    JointL,
    KAnonymity,
    PSensitiveK,
    RecursiveCL,
    TCloseness,
)

FLU = ("A" * 50 + "B" * 50, {"disease": ["flu"] * 60 + ["cold"] * 30 + [None] * 10})


@pytest.mark.parametrize(
    ("privacy", "reason"),
    [
        (KAnonymity(101), "k_anonymity: k=101 but the table has 100 rows"),
        (
            AlphaK("disease", "0.5", 2),
            "alpha_k: the value 'flu' of disease has 60 of 100 rows, more than alpha = 1/2",
        ),
        (
            AlphaK("disease", "0.2", 2, values=("cold",)),
            "alpha_k: the value 'cold' of disease has 30 of 100 rows, more than alpha = 1/5",
        ),
        (AlphaK("disease", 1, 200), "alpha_k: k=200 but the table has 100 rows"),
        (DistinctL("disease", 4), "distinct_l: the column disease has 3 distinct values, fewer than l = 4"),
        (
            PSensitiveK("disease", 4, 5),
            "p_sensitive_k: the column disease has 3 distinct values, fewer than p = 4",
        ),
        (EntropyL("disease", 4), "entropy_l: the column disease has 3 distinct values, fewer than l = 4"),
        (
            EntropyL("disease", "2.9"),
            "entropy_l: the whole column disease has effective l = 2.455, less than l = 29/10;",
        ),
        (
            RecursiveCL("disease", "1.5", 2),
            "recursive_cl: the value 'flu' of disease has 60 of 100 rows, not fewer than c = 3/2 times the 40 rows",
        ),
    ],
)
def test_reason_names_model_value_and_count(tables, privacy, reason):
    counted = tables.frequencies(*FLU)
    assert infeasible_reason([KAnonymity(2), privacy], counted, 0).startswith(reason)
    assert not feasible_root([privacy], Context(counted.references), 100)


def test_missing_values_are_named_as_such(tables):
    counted = tables.frequencies("AAA", {"s": [None, None, "x"]})
    assert "the missing value of s has 2 of 3 rows" in infeasible_reason([AlphaK("s", "0.5", 1)], counted, 0)


def test_a_table_that_can_be_published_has_no_reason(tables):
    counted = tables.frequencies(*FLU)
    models = [
        KAnonymity(100),
        AlphaK("disease", "0.6", 2),
        DistinctL("disease", 3),
        EntropyL("disease", "2.45"),
    ]
    models += [RecursiveCL("disease", "1.51", 2), TCloseness("disease", 0, "equal")]
    assert infeasible_reason(models, counted, 0) is None
    assert infeasible_reason(models, counted) is None
    assert feasible_root(models, Context(counted.references), 100)


def test_suppression_may_help_some_models(tables):
    counted = tables.frequencies(*FLU)
    alpha = AlphaK("disease", "0.5", 2)  # 20 of the 60 must go
    assert infeasible_reason([alpha], counted) is None
    assert infeasible_reason([alpha], counted, 20) is None
    assert infeasible_reason([alpha], counted, 19) == (
        "alpha_k: the value 'flu' of disease has 60 of 100 rows, more than alpha = 1/2;"
        " at least 20 of 100 rows would have to be suppressed, and 19 may be"
    )
    assert "3 distinct values" in infeasible_reason([DistinctL("disease", 4)], counted)
    assert "k=101" in infeasible_reason([KAnonymity(101)], counted)


def test_joint_models_are_judged_on_joint_counts(tables):
    counted = tables.frequencies("AABB", {"s": list("abab"), "t": list("xyxy")})
    joint = JointL(("s", "t"), "distinct_l", 2)
    assert infeasible_reason([joint], counted, 0).startswith("joint_l: s, with t joined to the quasi-identifiers")
    assert infeasible_reason([joint], counted) is None
    assert feasible_root([joint], Context(counted.references), 4)  # says nothing about joint models


def test_whole_table_is_one_class(tables):
    counted = tables.frequencies(*FLU)
    root = whole_table(counted)
    assert root.rows.tolist() == [100]
    answer = evaluate(TCloseness("disease", 0, "equal"), root, Context(counted.references))
    assert answer.satisfied.tolist() == [True]
