"""Average risk, uniqueness in sample and population, profitability, and several models together."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_models as naive
from indistinct.errors import PolicyError, UnsupportedError
from indistinct.models import criteria, evaluate, infeasible_reason, is_merge_closed, is_of_classes, satisfied
from indistinct.models.estimators import estimate, size_counts
from indistinct.models.histograms import only
from indistinct.models.profitability import payoffs
from indistinct.policy.privacy import (
    AverageRisk,
    DistinctL,
    KAnonymity,
    PopulationUniqueness,
    Profitability,
    SampleUniqueness,
)
from indistinct.tables.records import CoveredPopulation, Detail

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=10)
SHARES = st.fractions(min_value=0, max_value=1, max_denominator=12)


def of_sizes(tables, sizes):
    return tables.of_counts(*[[size] for size in sizes])


@settings(deadline=None, max_examples=40)
@given(sizes=SIZES, threshold=SHARES)
def test_average_risk(tables, sizes, threshold):
    classes, context = of_sizes(tables, sizes)
    answer = evaluate(AverageRisk(threshold), classes, context)
    assert Fraction(answer.achieved["threshold"]["fraction"]) == naive.mean_risk(sizes)
    assert answer.satisfied.all() == (naive.mean_risk(sizes) <= threshold)
    left = naive.fewest_smallest(sizes, threshold, naive.mean_risk)
    assert sorted(classes.sizes[answer.satisfied].tolist()) == left


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(sizes=SIZES, threshold=SHARES, highest=SHARES, share=SHARES, above=SHARES, asked=st.sampled_from(range(1, 8)))
def test_average_risk_in_three_parts(tables, sizes, threshold, highest, share, above, asked):
    classes, context = of_sizes(tables, sizes)
    highest, above = max(highest, Fraction(1, 12)), max(above, Fraction(1, 12))
    parts = {"threshold": threshold} if asked & 1 else {}
    parts |= {"highest": highest} if asked & 2 else {}
    parts |= {"share": share, "above": above} if asked & 4 else {}
    answer = evaluate(AverageRisk(**parts), classes, context)
    left = sorted(sizes)
    while left and not naive.three_risks_hold(left, **parts):
        left = left[1:]
    assert sorted(classes.sizes[answer.satisfied].tolist()) == left
    measured = naive.three_risks(sizes, parts.get("above"))
    for part, value in answer.achieved.items():
        assert Fraction(value["fraction"]) == measured[part]


def test_the_example_of_three_parts(tables):
    classes, context = of_sizes(tables, [2, 3, 5, 10])  # the mean is 4/20, the highest 1/2, and 5 of 20 are above 1/4
    holds = AverageRisk("1/5", highest="1/2", share="1/4", above="1/4")
    assert evaluate(holds, classes, context).satisfied.all()
    for less in ({"threshold": "0.19"}, {"highest": "0.49"}, {"share": "0.24", "above": "1/4"}):
        assert evaluate(AverageRisk(**less), classes, context).satisfied.tolist() == [False, True, True, True]
    assert "a share of 0.25 has a risk above 1/4, more than 6/25" in (
        evaluate(AverageRisk(share="0.24", above="1/4"), classes, context).reason
    )


@pytest.mark.parametrize("wrong", [{}, {"share": "0.1"}, {"above": "0.1"}, {"threshold": "0.1", "above": "0.2"}])
def test_parts_that_say_nothing_are_refused(wrong):
    with pytest.raises(PolicyError, match="is missing"):
        AverageRisk(**wrong)


@settings(deadline=None, max_examples=40)
@given(sizes=SIZES, threshold=SHARES)
def test_sample_uniqueness(tables, sizes, threshold):
    classes, context = of_sizes(tables, sizes)
    answer = evaluate(SampleUniqueness(threshold), classes, context)
    assert Fraction(answer.achieved["threshold"]["fraction"]) == naive.unique_share(sizes)
    left = naive.fewest_smallest(sizes, threshold, naive.unique_share)
    assert sorted(classes.sizes[answer.satisfied].tolist()) == left


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    sizes=SIZES,
    name=st.sampled_from(["pitman", "zayatz", "snb", "dankar"]),
    times=st.sampled_from([4, 20]),  # Dankar's rule takes Pitman's estimate for 20
    threshold=SHARES,
)
def test_population_uniqueness(tables, sizes, name, times, threshold):
    classes, context = of_sizes(tables, sizes)
    population = times * sum(sizes)
    answer = evaluate(PopulationUniqueness(threshold, name, population_size=population), classes, context)
    found = estimate(name, *size_counts(np.array(sizes)), population)

    def share_of(some):
        one = estimate(name, *size_counts(np.array(some)), population)
        return None if one is None else one.share

    left = naive.without_fewest_uniques(sizes, share_of, threshold)
    assert sorted(classes.sizes[answer.satisfied].tolist()) == left
    if found is None:
        assert answer.achieved == {"threshold": None}
        assert "no solution" in answer.reason


def test_a_population_smaller_than_the_table_is_refused(tables):
    with pytest.raises(PolicyError, match="population_size is 3, but the table has 4 rows"):
        evaluate(PopulationUniqueness(0, population_size=3), *of_sizes(tables, [1, 3]))


def test_reasons_have_the_counts(tables):
    classes, context = of_sizes(tables, [1, 2, 5])
    assert evaluate(AverageRisk("1/3"), classes, context).reason == (
        "3 classes of 8 rows: the average risk is 0.375, more than 1/3; "
        "the 1 smallest classes (1 rows) would have to go"
    )
    assert evaluate(SampleUniqueness("1/10"), classes, context).reason == (
        "1 of 8 rows are alone in their class, a share of more than 1/10; 1 of them would have to go"
    )


def test_models_of_the_release_judge_what_the_others_leave(tables):
    classes, context = of_sizes(tables, [1, 2, 2, 8])
    assert satisfied([AverageRisk("1/4")], classes, context).tolist() == [False, True, True, True]  # 3 of 12
    together = [AverageRisk("1/5"), KAnonymity(2)]
    assert satisfied(together, classes, context).tolist() == [False, False, True, True]  # 2 of 10
    assert not is_of_classes(AverageRisk(1))
    # what no class alone decides says nothing about feasibility
    assert infeasible_reason([AverageRisk("1/100")], tables.frequencies("AAB", {"s": "xyz"})) is None


def test_nothing_may_be_left(tables):
    classes, context = of_sizes(tables, [1, 1])
    assert not satisfied([SampleUniqueness("1/2")], classes, context).any()
    assert not satisfied([KAnonymity(2), AverageRisk("1/2")], classes, context).any()


def test_only_keeps_histograms_population_and_detail(tables):
    classes, _ = tables.of_counts([1, 2], [3, 0], [0, 4])
    classes = replace(
        classes,
        population=CoveredPopulation(np.array([4, 5, 6]), 1, 16),
        detail=Detail(np.array([[1], [2], [3]]), np.array([9])),
    )
    kept = only(classes, np.array([True, False, True]))
    expected, _ = tables.of_counts([1, 2], [0, 4])
    assert kept.rows.tolist() == [3, 4]
    for name in ("start", "value", "count"):
        assert getattr(kept.histograms["s"], name).tolist() == getattr(expected.histograms["s"], name).tolist()
    assert kept.cell_class.tolist() == expected.cell_class.tolist()
    assert kept.population.outside == 6
    assert kept.detail.covered.tolist() == [[1], [3]]


# --- profitability ---------------------------------------------------------------------------------------


AMOUNTS = st.integers(0, 12)


@settings(deadline=None, max_examples=40)
@given(sizes=SIZES, gain=AMOUNTS, cost=AMOUNTS)
def test_no_attack_is_a_size(tables, sizes, gain, cost):
    classes, context = of_sizes(tables, sizes)
    privacy = Profitability(attack=False, gain=gain, cost=cost)
    expected = [gain == 0 or Fraction(gain, size) < cost for size in sizes]
    assert evaluate(privacy, classes, context).satisfied.tolist() == expected
    least = [test.parameters[0] for test in criteria([privacy], context)]
    assert [all(size >= k for k in least) for size in sizes] == expected
    assert is_merge_closed(privacy)
    sampled = replace(classes, population=CoveredPopulation(2 * classes.rows, 0, 2 * int(classes.rows.sum())))
    journalist = Profitability("journalist", attack=False, gain=gain, cost=cost, population="p.csv")
    twice = [gain == 0 or Fraction(gain, 2 * size) < cost for size in sizes]
    assert evaluate(journalist, sampled, context).satisfied.tolist() == twice


@settings(deadline=None, max_examples=40)
@given(sizes=SIZES, gain=AMOUNTS, cost=AMOUNTS, loss=AMOUNTS, benefit=AMOUNTS, covered=st.sampled_from([1, 4, 16]))
def test_payoffs(tables, sizes, gain, cost, loss, benefit, covered):
    """Of 16 values a cell covers 1, 4 or all: IL is 0, 1/2 or 1, and every payoff is a fraction."""
    classes, context = of_sizes(tables, sizes)
    lost = {1: Fraction(0), 4: Fraction(1, 2), 16: Fraction(1)}[covered]
    classes = replace(classes, detail=Detail(np.full((len(sizes), 1), covered), np.array([16])))
    privacy = Profitability(gain=gain, cost=cost, loss=loss, benefit=benefit)
    amounts = {"gain": gain, "cost": cost, "loss": loss, "benefit": benefit}
    expected = [naive.payoffs(amounts, size, lost)[1] > 0 for size in sizes]
    assert evaluate(privacy, classes, context).satisfied.tolist() == expected
    assert not is_merge_closed(privacy)
    assert payoffs(privacy, sizes[0], lost) == naive.payoffs(amounts, sizes[0], lost)


def test_payoffs_need_the_cells(tables):
    privacy = Profitability(gain=1, cost=1, loss=1, benefit=1)
    with pytest.raises(UnsupportedError, match="needs to know what the cells cover"):
        evaluate(privacy, *of_sizes(tables, [1]))
    with pytest.raises(PolicyError, match="loss"):
        Profitability(gain=1, cost=1)
    with pytest.raises(PolicyError, match="population"):
        Profitability("journalist", attack=False, gain=1, cost=1)


def test_pays_with_models_of_classes(tables):
    classes, context = tables.of_counts([1, 1], [2, 0])
    assert satisfied([DistinctL("s", 2), SampleUniqueness(0)], classes, context).tolist() == [True, False]
