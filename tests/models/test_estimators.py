"""Estimators of uniqueness in the population against their definitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_estimators as naive
from indistinct.errors import PolicyError
from indistinct.models import estimators
from indistinct.models.pitman_shares import pitman_shares

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=12)
EXAMPLE = [1] * 50 + [2] * 20 + [3] * 10 + [5] * 5 + [20]


def counted(sizes):
    return estimators.size_counts(np.array(sizes))


@pytest.mark.slow
@given(SIZES, st.integers(0, 200))
def test_zayatz_is_bayes_rule(sizes, more):
    population = sum(sizes) + more
    assert estimators.zayatz(*counted(sizes), population) == pytest.approx(
        float(naive.zayatz(sizes, population)), rel=1e-9
    )


def test_zayatz_worked_example():
    assert naive.zayatz([1, 1, 2], 8) == Fraction(7, 22)
    assert estimators.zayatz(*counted([1, 1, 2]), 8) == pytest.approx(7 / 22)


@pytest.mark.slow
@settings(deadline=None)
@given(SIZES.filter(lambda sizes: 1 < len(sizes) < sum(sizes)))
def test_pitman_parameters_have_the_greatest_likelihood(sizes):
    theta, alpha = estimators.pitman_parameters(*counted(sizes))
    best = naive.pitman_likelihood(sizes, theta, alpha)
    for other in np.linspace(0, 0.98, 15):
        for shifted in np.geomspace(1e-6, 1e6, 40):
            assert naive.pitman_likelihood(sizes, shifted - other, other) <= best + 1e-7


def test_pitman_worked_example():
    theta, alpha = estimators.pitman_parameters(*counted([1, 2, 1]))
    assert alpha == 0
    assert theta**3 - 11 * theta - 12 == pytest.approx(0, abs=1e-9)
    assert estimators.pitman(*counted([1, 2, 1]), 8) == pytest.approx(theta / (theta + 7))


def test_pitman_share_is_the_product_over_the_rows():
    theta, alpha = estimators.pitman_parameters(*counted(EXAMPLE))
    assert alpha > 0.1
    assert estimators.pitman(*counted(EXAMPLE), 3300) == pytest.approx(naive.pitman_share(theta, alpha, 3300))


@pytest.mark.slow
def test_many_samples_at_once_have_the_estimates_of_each():
    sizes, numbers = counted([*EXAMPLE, *range(6, 300, 7), *[4] * 9])
    alone = np.array([1, 2, 17, 50])
    rows = int((sizes[1:] * numbers[1:]).sum())
    for population in (3 * rows, 10_000 * rows):
        found = pitman_shares(sizes, numbers, alone, population).tolist()
        for few, share in zip(alone.tolist(), found, strict=True):
            one = estimators.pitman(sizes, np.array([few, *numbers[1:]]), population)
            assert share == pytest.approx(one, rel=1e-9) or np.isnan(share)
        assert not np.isnan(found[-1])


def test_what_this_way_does_not_know_is_left_to_the_other():
    sizes, numbers = counted([1] * 5 + [40] * 30)  # the likelihood is greatest at alpha = 0
    assert np.isnan(pitman_shares(sizes, numbers, np.array([5]), 10**6)).all()
    wanted = estimators.pitman(sizes, numbers, 10**6)
    assert estimators.least_suppressed("pitman", sizes, numbers, 10**6, Fraction(wanted)) == (0, True)


@pytest.mark.slow
def test_beyond_a_number_the_fewest_are_found_in_steps(monkeypatch):
    sizes, numbers = counted(EXAMPLE)
    wanted, none_left_out = estimators.least_suppressed("pitman", sizes, numbers, 3300, Fraction(1, 100))
    assert none_left_out
    monkeypatch.setattr(estimators, "SCANNED", 10)
    monkeypatch.setattr(estimators, "STEPS_UP", 7)
    assert estimators.least_suppressed("pitman", sizes, numbers, 3300, Fraction(1, 100)) == (wanted, False)
    left = np.array([numbers[0] - wanted, *numbers[1:]])
    assert estimators.pitman(sizes, left, 3300) <= 0.01 < estimators.pitman(sizes, left + (sizes == 1), 3300)


@pytest.mark.parametrize("sizes", [[1, 1, 1], [1]])
def test_pitman_has_no_solution_at_the_border(sizes):
    assert estimators.pitman(*counted(sizes), 100) is None


def test_snb_solves_its_equations():
    classes = estimators.shlosser(*counted(EXAMPLE), 0.5)
    assert classes == pytest.approx(float(naive.shlosser(EXAMPLE, "1/2")))
    ((a, b),) = estimators.snb_parameters(classes, 50, 20, 0.5)
    assert naive.snb_expected(classes, a, b, 0.5, 1) == pytest.approx(50)
    assert naive.snb_expected(classes, a, b, 0.5, 2) == pytest.approx(20)
    assert estimators.snb(*counted(EXAMPLE), 330) == pytest.approx(classes * b**a / 330)


@pytest.mark.parametrize("largest", [1749, 1751, 20_000])
def test_snb_of_a_large_class_does_not_overflow(largest):
    sizes = [*EXAMPLE, largest]  # (3/2)^1751 is no double any more
    assert estimators.shlosser(*counted(sizes), 0.5) == pytest.approx(float(naive.shlosser(sizes, "1/2")))
    share = estimators.snb(*counted(sizes), 2 * sum(sizes))
    assert 0 < share < 50 / sum(sizes)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(SIZES.filter(lambda sizes: 1 in sizes and 2 in sizes), st.integers(2, 20))
def test_every_snb_solution_has_the_expected_counts(sizes, times):
    fraction = 1 / times
    classes = float(naive.shlosser(sizes, Fraction(1, times)))
    assert estimators.shlosser(*counted(sizes), fraction) == pytest.approx(classes)
    for a, b in estimators.snb_parameters(classes, sizes.count(1), sizes.count(2), fraction):
        if a < 1e6 and b > 0.02:
            assert naive.snb_expected(classes, a, b, fraction, 1) == pytest.approx(sizes.count(1), rel=1e-4)
            assert naive.snb_expected(classes, a, b, fraction, 2) == pytest.approx(sizes.count(2), rel=1e-4)


@pytest.mark.slow
@given(SIZES, st.integers(1, 40))
@settings(deadline=None)
def test_shares_and_the_rule(sizes, times):
    population = sum(sizes) * times
    found = {name: estimators.estimate(name, *counted(sizes), population) for name in estimators.ESTIMATORS}
    assert all(0 <= estimate.share <= 1 for estimate in found.values() if estimate is not None)
    rule, zayatz = found["dankar"], found["zayatz"]
    assert rule == found[rule.model]
    if times >= 10:
        assert rule.model == ("zayatz" if found["pitman"] is None else "pitman")
    else:
        assert rule.share == min(zayatz.share, found["snb"].share if found["snb"] is not None else 1)
    if times == 1:
        assert rule.share == pytest.approx(sizes.count(1) / sum(sizes))


def test_no_uniques_no_risk_and_a_population_holds_its_sample():
    for name in estimators.ESTIMATORS:
        assert estimators.estimate(name, *counted([2, 3]), 1000).share == 0
    with pytest.raises(PolicyError, match="population_size is 4, but the table has 5 rows"):
        estimators.estimate("pitman", *counted([2, 3]), 4)
    with pytest.raises(ValueError, match="no estimator"):
        estimators.estimate("guess", *counted([2, 3]), 40)


@pytest.mark.slow
def test_pitman_recovers_a_simulated_population():
    # a Chinese restaurant of 20,000 guests with alpha = 0.4, theta = 50; the sample is its first 2,000
    random = np.random.default_rng(5)
    tables = []
    for guest in range(20000):
        weights = np.array([size - 0.4 for size in tables]) if tables else np.zeros(0)
        point = random.random() * (guest + 50)
        place = int(np.searchsorted(np.cumsum(weights), point)) if len(weights) else 0
        if place == len(tables):
            tables.append(1)
        else:
            tables[place] += 1
        if guest == 1999:
            sample = list(tables)
    truth = tables.count(1) / 20000
    assert estimators.pitman(*counted(sample), 20000) == pytest.approx(truth, rel=0.15)
