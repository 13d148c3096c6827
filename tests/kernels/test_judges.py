"""Judges against the criteria they repeat, and their bounds against every way to remove rows."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from indistinct.algorithms.full_domain.dense import dense_test
from indistinct.algorithms.full_domain.tables import Table
from indistinct.kernels.criteria import BAND, violation
from indistinct.models import contract
from indistinct.models.contract import Criterion

pytestmark = pytest.mark.small

TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
NONE = np.zeros((0, 0), np.int32)
K = 2


def criterion(kind, *parameters, shares=SHARES, tree=NONE):
    absorbing = kind == contract.DISTINCT
    return Criterion(kind, "s", np.array(parameters, float), True, absorbing, shares, tree)  # noqa: FBT003


CRITERIA = {
    "alpha": criterion(contract.ALPHA, 0.6),
    "distinct": criterion(contract.DISTINCT, 3),
    "entropy": criterion(contract.ENTROPY, 2.2),
    "recursive": criterion(contract.RECURSIVE, 1.5, 2),
    "recursive 3": criterion(contract.RECURSIVE, 4, 3),
    "recursive 1": criterion(contract.RECURSIVE, 0.5, 1),
    "t ordered": criterion(contract.T_ORDERED, 0.15),
    "t ordered, last first": criterion(contract.T_ORDERED, 0.15, 1),
    "t equal": criterion(contract.T_EQUAL, 0.25),
    "t hierarchical": criterion(contract.T_HIERARCHICAL, 0.2, tree=TREE),
}


def table(histograms, spare=1):
    """One class for each histogram, with columns of another attribute on both sides."""
    counts = np.full((len(histograms), 4 + 2 * spare), 99, np.int32)
    counts[:, spare:-spare] = histograms
    rows = np.array([sum(histogram) for histogram in histograms], np.int64)
    return Table(np.zeros((len(rows), 1), np.int64), rows, rows, counts, None, None)


def judged(test, histograms):
    classes = table(histograms)
    lost = np.where(classes.rows < K, classes.rows, 0)
    least, undecided = lost.copy(), np.zeros(len(lost), np.int8)
    doubtful = dense_test(test, (1, 5), K)(classes, lost, least, undecided)
    assert doubtful == undecided.sum()
    return lost, least, undecided


def measure(test, histogram):
    rows = sum(histogram)
    return violation(test.kind, test.parameters, np.array(histogram, np.int64), rows, rows, test.shares, test.tree)


@pytest.mark.parametrize("name", CRITERIA)
def test_judges_agree_with_the_criteria(name):
    test = CRITERIA[name]
    random = Random(name)  # noqa: S311  # the same histograms every time
    histograms = [h for h in product(range(4), repeat=4) if sum(h)]
    histograms += [[random.randrange(9000) for _ in range(4)] for _ in range(50)]
    lost, least, undecided = judged(test, histograms)
    for i, histogram in enumerate(histograms):
        rows, value = sum(histogram), measure(test, histogram)
        if rows < K:
            assert (lost[i], least[i], undecided[i]) == (rows, rows, 0)
        elif abs(value) < BAND:
            assert (lost[i], least[i], undecided[i]) == (0, 0, 1)
        elif value < 0:
            assert (lost[i], least[i], undecided[i]) == (0, 0, 0)
        else:
            assert lost[i] == rows
            assert 1 <= least[i] <= rows
            assert undecided[i] == 0


@pytest.mark.parametrize("name", CRITERIA)
def test_no_part_of_a_class_that_satisfies_keeps_more_rows(name):
    test = CRITERIA[name]
    histograms = [h for h in product(range(4), repeat=4) if sum(h) >= K]
    _, least, _ = judged(test, histograms)
    satisfying = [h for h in histograms if measure(test, h) < BAND]
    for i, histogram in enumerate(histograms):
        kept = max(
            (sum(part) for part in satisfying if all(p <= h for p, h in zip(part, histogram, strict=True))),
            default=0,
        )
        assert least[i] <= sum(histogram) - kept


def test_a_class_without_a_part_of_k_rows_goes_whole():
    # 4 rows of one value against shares 0.4: at most 1 of them within t = 0.25 of the reference, fewer than k = 2
    _, least, _ = judged(CRITERIA["t equal"], [(0, 0, 0, 4), (3, 3, 2, 0)])
    assert least.tolist() == [4, 0]


def test_a_criterion_that_is_not_merge_closed_bounds_nothing():
    test = Criterion(contract.T_EQUAL, "s", np.array([0.25]), merge_closed=False, absorbing=False, shares=SHARES)
    lost, least, _ = judged(test, [(0, 0, 0, 4)])
    assert lost.tolist() == [4]
    assert least.tolist() == [0]
