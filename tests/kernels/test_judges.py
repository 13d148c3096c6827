"""Judges against the criteria they repeat, and their bounds against every way to remove rows."""

from __future__ import annotations

from itertools import product
from math import log
from random import Random

import numpy as np
import pytest

from indistinct.algorithms.full_domain.dense import dense_test
from indistinct.algorithms.full_domain.tables import Table
from indistinct.kernels import judges
from indistinct.kernels.caps import cap_ratios
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
    "recursive 4": criterion(contract.RECURSIVE, 3, 4),
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


# --- by hand -------------------------------------------------------------------------------------------------


def decided(test, *histograms, k=1, least=None):
    """What a judge says of each class: "lost", "undecided" or "holds"; and its bound of the rows to remove."""
    classes = table(histograms)
    lost, undecided = np.zeros(len(histograms), np.int64), np.zeros(len(histograms), np.int8)
    bound = lost.copy() if least is None else np.array(least)
    doubtful = dense_test(test, (1, 5), k)(classes, lost, bound, undecided)
    assert doubtful == undecided.sum()
    assert all(lost[i] in {0, classes.rows[i]} for i in range(len(lost)))
    words = ["lost" if gone else "undecided" if open_ else "holds" for gone, open_ in zip(lost, undecided, strict=True)]
    return words, bound.tolist()


def test_entropy_of_equal_counts_is_decided_next_to_the_threshold_and_others_are_left():
    for length, word in ((2.0, "holds"), (2.0 + 1e-10, "lost"), (2.0 - 1e-10, "holds")):
        even, bound = decided(criterion(contract.ENTROPY, length), (3, 3, 0, 0), (0, 5000, 5000, 0))
        assert even == [word, word]
        assert bound == ([0, 0] if word == "holds" else [6, 10000])  # two values never reach more than two
    # counts 4, 2, 2 have effective l = 2 sqrt 2, which no double is
    odd, bound = decided(criterion(contract.ENTROPY, 8**0.5), (4, 2, 2, 0), (6000, 3000, 3000, 0))
    assert (odd, bound) == (["undecided", "undecided"], [0, 0])


def test_entropy_bounds_by_hand():
    # l = 2: two values hold only if equally frequent
    words, bound = decided(criterion(contract.ENTROPY, 2), (9, 2, 0, 0), (9, 0, 0, 0), (5000, 4999, 0, 0), (7, 1, 1, 1))
    assert words == ["lost", "lost", "lost", "holds"]
    assert bound[:2] == [7, 9]
    assert bound[2] == 1
    # what remains of (9, 2) are 4 rows: too few for k = 5
    assert decided(criterion(contract.ENTROPY, 2), (9, 2, 0, 0), k=4)[1] == [7]
    assert decided(criterion(contract.ENTROPY, 2), (9, 2, 0, 0), k=5)[1] == [11]


def ratios_of(length, values):
    ratios = np.empty(values + 1)
    cap_ratios(length, ratios)
    return ratios


@pytest.mark.parametrize("length", [1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("values", [2, 3, 4])
def test_cap_ratios_are_the_most_of_one_value_beside_equal_others(length, values):
    """The entropy of counts (r, 1/(v - 1), ...) is ln l at the ratio, above it less."""

    def entropy(ratio):
        shares = [ratio / (1 + ratio), *[1 / (1 + ratio) / (values - 1)] * (values - 1)]
        return -sum(p * log(p) for p in shares)

    ratios = ratios_of(length, 4)
    if values < length:
        assert ratios[values] == -1
    else:
        assert entropy(ratios[values]) == pytest.approx(log(length), abs=1e-8)
        assert entropy(ratios[values] * 1.001) < log(length)
        assert ratios[values] >= 1 / (values - 1) - 1e-9
    assert ratios[0] == -1
    assert ratios_of(1.0, 3)[1] == np.inf


def test_recursive_ties_and_bounds_by_hand():
    test = criterion(contract.RECURSIVE, 1, 2)
    words, bound = decided(test, (4, 2, 2, 0), (3, 2, 2, 0), (9, 2, 1, 0), (4, 0, 0, 0))
    assert words == ["lost", "holds", "lost", "lost"]  # strict: 4 < 4 fails
    assert bound[0] == 1
    assert 6 <= bound[2] <= 7  # 2 < 3; rounding errs to the small side
    assert bound[3] == 4
    large = 10**9
    near, _ = decided(test, (large, large // 2, large // 2, 0), (large + 1, large // 2, large // 2, 0))
    assert near == ["lost", "undecided"]
    # 5 rows remain of (9, 2, 1): too few for k = 7
    assert 6 <= decided(test, (9, 2, 1, 0), k=5)[1][0] <= 7
    assert decided(test, (9, 2, 1, 0), k=7)[1] == [12]
    # l = 3: 9, 9 must stay below 2 (2 + 1) = 6
    words, bound = decided(criterion(contract.RECURSIVE, 2, 3), (9, 9, 2, 1), (5, 5, 2, 1), (6, 1, 2, 1))
    assert (words, bound[1]) == (["lost", "holds", "lost"], 0)
    assert 6 <= bound[0] <= 8
    assert 2 <= bound[2] <= 3
    # l = 1: less than half of all rows; 5 are below 5.5
    words, bound = decided(criterion(contract.RECURSIVE, 0.5, 1), (6, 3, 2, 0), (5, 5, 0, 0), (4, 3, 2, 0))
    assert words == ["lost", "lost", "holds"]
    assert bound[0] == 1


def test_shares_and_values_by_hand():
    words, bound = decided(criterion(contract.ALPHA, 0.5), (4, 2, 2, 0), (9, 2, 1, 0), (4, 0, 0, 0), (2, 1, 0, 0))
    assert (words, bound) == (["holds", "lost", "lost", "lost"], [0, 6, 4, 1])
    assert decided(criterion(contract.ALPHA, 0.5), (9, 2, 1, 0), k=6)[1] == [6]
    assert decided(criterion(contract.ALPHA, 0.5), (9, 2, 1, 0), k=7)[1] == [12]
    words, bound = decided(criterion(contract.DISTINCT, 3), (4, 2, 2, 0), (9, 2, 0, 0), (1, 1, 1, 1))
    assert (words, bound) == (["holds", "lost", "holds"], [0, 11, 0])


def test_distances_by_hand():
    # reference 4, 3, 2, 1 of 10; t = 1/10: one row of (4, 3, 2, 1) too many or too few is 1/11 or more
    equal = criterion(contract.T_EQUAL, 0.1)
    words, bound = decided(equal, (4, 3, 2, 1), (8, 6, 4, 2), (5, 3, 2, 1), (0, 0, 0, 10), (7, 3, 0, 0))
    assert words == ["holds", "holds", "holds", "lost", "lost"]
    assert bound[:3] == [0, 0, 0]
    assert bound[3] == 10
    # a value that stands at 0 costs its share: 3 of 10 are missing in (7, 3, 0, 0)
    assert bound[4] == 10
    # the tie is left to the exact test: distance of (5, 3, 2, 0) is 1/10
    assert decided(equal, (5, 3, 2, 0), (5, 3, 1, 1))[0] == ["undecided", "undecided"]
    # ordered: moving all to the other end is 1 - the mean of what is below: (0.4 + 0.7 + 0.9) / 3 = 2/3
    tie = criterion(contract.T_ORDERED, 2 / 3)
    assert decided(tie, (0, 0, 0, 10))[0] == ["undecided"]
    assert decided(criterion(contract.T_ORDERED, 0.66), (0, 0, 0, 10))[0] == ["lost"]
    assert decided(criterion(contract.T_ORDERED, 0.67), (0, 0, 0, 10))[0] == ["holds"]
    # the last value first: order d, a, b, c, cumulated 0.1, 0.5, 0.8; all in d is (0.9 + 0.5 + 0.2) / 3 away
    first = 1.6 / 3
    assert decided(criterion(contract.T_ORDERED, first - 1e-6, 1), (0, 0, 0, 10))[0] == ["lost"]
    assert decided(criterion(contract.T_ORDERED, first + 1e-6, 1), (0, 0, 0, 10))[0] == ["holds"]
    # tree {a, b}, {c, d}: all in d: 0.2 one edge of height 1/2, 0.7 across
    far = 0.2 / 2 + 0.7
    assert decided(criterion(contract.T_HIERARCHICAL, far - 1e-6, tree=TREE), (0, 0, 0, 10))[0] == ["lost"]
    assert decided(criterion(contract.T_HIERARCHICAL, far + 1e-6, tree=TREE), (0, 0, 0, 10))[0] == ["holds"]


@pytest.mark.parametrize("name", ["t equal", "t ordered", "t ordered, last first", "t hierarchical"])
@pytest.mark.parametrize("factor", [1, 1000, 50_000])
def test_bounds_of_distances_are_sound_and_of_use_at_every_size(name, factor):
    """A part of a class that satisfies is a part of the larger class as well, ``factor`` times."""
    test = CRITERIA[name]
    histograms = [h for h in product(range(4), repeat=4) if sum(h) >= K]
    satisfying = np.array([h for h in histograms if measure(test, h) < BAND])
    large = [tuple(factor * count for count in h) for h in histograms]
    words, least = decided(test, *large, k=1)
    total = most = 0
    for histogram, word, bound in zip(histograms, words, least, strict=True):
        if word != "lost":
            assert bound == 0
            continue
        inside = satisfying[(satisfying <= np.array(histogram)).all(axis=1)]
        gone = factor * (sum(histogram) - (int(inside.sum(axis=1).max()) if len(inside) else 0))
        assert 1 <= bound <= gone
        total, most = total + bound, most + gone
    assert total >= 0.3 * most


def test_a_bound_that_another_model_found_is_kept():
    for name in ("alpha", "entropy", "recursive", "t equal"):
        test = CRITERIA[name]
        (word,), (alone,) = decided(test, (3, 0, 0, 1) if name != "alpha" else (4, 1, 1, 0))
        assert word == "lost"
        rows = 4 if name != "alpha" else 6
        histogram = (3, 0, 0, 1) if name != "alpha" else (4, 1, 1, 0)
        if alone < rows - 1:
            assert decided(test, histogram, least=[rows - 1])[1] == [rows - 1]
        # a class that goes whole already is passed over
        assert decided(test, histogram, least=[rows]) == (["holds"], [rows])


def test_sizes_and_sums():
    rows, sizes, lost = np.array([3, 2, 5]), np.array([3, 2, 1]), np.zeros(3, np.int64)
    assert judges.too_small(sizes, rows, 3, lost) == 7  # the last has five rows of one person
    assert lost.tolist() == [0, 2, 5]
    assert judges.sums(np.array([1, 2]), np.array([3, 5])) == (3, 8)


@pytest.mark.parametrize("histogram", [(10, 6, 6, 6), (6, 7, 6, 9), (9, 7, 5, 1), (3, 12, 3, 2), (8, 8, 1, 1)])
@pytest.mark.parametrize("length", [1.9, 2.2, 2.9, 3.3, 3.9])
def test_entropy_bound_is_what_capping_the_largest_count_gives(histogram, length):
    """The bound is sound for every part, and exact where the other counts are equal, as they would best be."""

    def diverse(part):
        return sum(part) and -sum(c / sum(part) * log(c / sum(part)) for c in part if c) >= log(length) - 1e-12

    test = criterion(contract.ENTROPY, length)
    (word,), (bound,) = decided(test, histogram)
    assert word == ("holds" if diverse(histogram) else "lost")
    if word == "lost":
        kept = max((sum(part) for part in product(*(range(c + 1) for c in histogram)) if diverse(part)), default=0)
        assert 1 <= bound <= sum(histogram) - kept
        largest, others = max(histogram), sum(histogram) - max(histogram)
        stay = [top for top in range(largest + 1) if diverse((top, *[others / 3] * 3))]
        assert bound == max(1, largest - max(stay, default=0))
