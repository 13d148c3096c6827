"""The (k,e) partition in one pass against the n^2 definition."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
from indistinct.algorithms.ke_partition import contiguous_groups

pytestmark = pytest.mark.small


def is_group(part, k, e, count):
    size = len(part) if count == "rows" else len(set(part))
    return bool(part) and size >= k and part[-1] - part[0] >= e


def naive(values, k, e, count, objective):
    """Best objective by the dynamic program over all pairs; None where there is none."""
    best = [0] + [None] * len(values)
    join = {"sum": lambda total, span: total + span, "max": max}[objective]
    for j in range(1, len(values) + 1):
        found = [
            join(best[i], values[j - 1] - values[i])
            for i in range(j)
            if best[i] is not None and is_group(values[i:j], k, e, count)
        ]
        best[j] = min(found, default=None)
    return best[-1]


@pytest.mark.slow
@settings(max_examples=300)
@given(
    values=st.lists(st.integers(-5, 40), min_size=1, max_size=25).map(sorted),
    k=st.integers(1, 4),
    e=st.integers(0, 12),
    count=st.sampled_from(["distinct", "rows"]),
    objective=st.sampled_from(["sum", "max"]),
    kind=st.sampled_from([np.int64, object]),
)
def test_as_good_as_the_definition(values, k, e, count, objective, kind):
    expected = naive(values, k, e, count, objective)
    places = np.array(values, kind)
    if expected is None:
        with pytest.raises(ind.InfeasibleError):
            contiguous_groups(places, k, e, count=count, objective=objective)
        return
    cuts = contiguous_groups(places, k, e, count=count, objective=objective).tolist()
    parts = [values[a:b] for a, b in pairwise(cuts)]
    assert sum(parts, []) == values  # noqa: RUF017  # a few short lists
    assert all(is_group(part, k, e, count) for part in parts)
    spans = [part[-1] - part[0] for part in parts]
    assert (sum if objective == "sum" else max)(spans) == expected


@pytest.mark.parametrize("objective", ["sum", "max"])
def test_a_group_may_be_one_row(objective):
    cuts = contiguous_groups(np.array([5, 5, 7, 7, 7]), 1, 0, objective=objective)
    assert cuts[0] == 0
    assert cuts[-1] == 5
    assert (np.diff(cuts) > 0).all()
    parts = [[5, 5, 7, 7, 7][a:b] for a, b in pairwise(cuts.tolist())]
    assert all(part[0] == part[-1] for part in parts)  # ranges of 0 are the best sum and the best maximum


def test_worked_example():
    cuts = contiguous_groups(np.array([1, 2, 3, 10, 11, 20, 21, 22]), 2, 2)
    assert cuts.tolist() == [0, 5, 8]


@pytest.mark.slow
def test_a_million_rows():
    values = np.sort(np.random.default_rng(3).lognormal(10, 1, 1_000_000).astype(np.int64))
    cuts = contiguous_groups(values, 4, 50)
    assert cuts[-1] == len(values)
    spans = values[cuts[1:] - 1] - values[cuts[:-1]]
    assert spans.min() >= 50
    assert min(len(np.unique(values[a:b])) for a, b in pairwise(cuts)) >= 4
