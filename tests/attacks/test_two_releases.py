"""Unsorted matching, complementary release and uniqueness on few attributes against their slow twins."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_two_releases as naive
from indistinct.attacks.tabulate import tabulated
from indistinct.attacks.unsorted_matching import strata_of
from indistinct.formats.registry import open_source

AGES = ["7", "[0, 10)", "[5, 20]", "(7, 30[", "[20, 30[", "*"]
ZIPS = ["0213", "021*", "02**", "*"]
# every intersection of two labels that is not empty holds one of these
VALUES = {"age": [str(age) for age in range(31)], "zip": ["0213", "0214", "0299", "9999"]}
ILL = ["cancer", "flu", "hiv"]
row = st.fixed_dictionaries({"age": st.sampled_from(AGES), "zip": st.sampled_from(ZIPS), "ill": st.sampled_from(ILL)})
persons = st.lists(
    st.fixed_dictionaries({"age": st.sampled_from(["7", "3", "20", "25"]), "zip": st.sampled_from(VALUES["zip"])}),
    min_size=1,
    max_size=8,
)


def table(rows):
    return pa.table(
        {name: pa.array([one[name] for one in rows], pa.string()) for name in ("age", "zip", "ill") if name in rows[0]}
    )


def run(first, second, attack, **how):
    how = {"qi": ["age", "zip"], "sensitive": ["ill"], "types": {"age": "integer"}, "other": table(second), **how}
    return ind.attack(table(first), attacks=[attack], **how)[attack]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(row, row), min_size=1, max_size=14), st.booleans())
def test_order_is_compared_as_the_definition_says(pairs, ordered):
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    if ordered:
        first.sort(key=lambda one: (one["age"], one["zip"]))
    entry = run(first, second, "unsorted_matching")
    hits, mean, variance = naive.order(first, second, ("age", "zip"), VALUES, ("ill",), ("age", "zip", "ill"))
    details = entry["details"]
    assert details["agreeing_rows"] == hits
    assert details["by_chance"] == pytest.approx(float(mean), abs=1e-5)
    assert details["deviation"] ** 2 == pytest.approx(float(variance), abs=1e-4)
    if not hits - mean > 5 * float(variance) ** 0.5:
        assert (entry["gain"], entry["learnt"]) == (0, 0)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(row, min_size=1, max_size=12), st.lists(row, min_size=1, max_size=12), persons)
def test_the_join_leaves_the_rows_of_the_definition(first, second, people):
    entry = run(first, second, "complementary_release", identified=table(people))
    found = [naive.joined(person, (first, second), ("age", "zip"), ("ill",)) for person in people]
    met = [(before, left) for before, left in found if min(left)]
    if not entry["ran"]:
        assert not any(min(before) for before, _ in found)
        return
    assert entry["persons"] == len(met)
    assert entry["details"]["in_neither_or_one"] == sum(min(b) > 0 for b, _ in found) - len(met)
    if met:
        assert entry["details"]["k_on_join"] == min(min(left) for _, left in met)
        assert entry["details"]["k_of_either"] == min(min(before) for before, _ in met)
        assert entry["learnt"] == sum(min(left) == 1 < min(before) for before, left in met)
        assert entry["posterior"] == pytest.approx(sum(1 / min(left) for _, left in met) / len(met))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(row, min_size=1, max_size=15), st.integers(1, 4))
def test_unique_rows_are_those_of_all_subsets(rows, known):
    names = ["age", "zip", "ill"]
    entry = ind.attack(table(rows), qi=names, known=known, attacks=["uniqueness"])["uniqueness"]
    most = min(known, 3)
    assert entry["learnt"] == naive.unique_rows(rows, names, most)
    assert entry["details"]["unique_rows_by_size"] == [naive.unique_rows(rows, names, m) for m in range(1, most + 1)]


def test_uniqueness_of_the_docstring_and_its_bound():
    rows = pa.table({"sex": ["m", "f", "f", "f"], "zip": ["10115", "10115", "10117", "10117"]})
    for known, share in ((1, 1 / 4), (2, 1 / 2)):
        assert ind.attack(rows, qi=["sex", "zip"], known=known)["uniqueness"]["learnt_share"] == share
    with pytest.raises(ind.PolicyError, match="--known 0"):
        ind.attack(rows, qi=["sex", "zip"], known=0)


def test_the_same_order_is_found_and_no_order_is_not():
    rng = np.random.default_rng(1)
    age, ill = rng.integers(0, 90, 400), rng.choice(ILL, 400)
    first = pa.table({"age": [f"[{a // 10 * 10}, {a // 10 * 10 + 9}]" for a in age], "ill": ill})
    second = pa.table({"age": [f"[{a // 15 * 15}, {a // 15 * 15 + 14}]" for a in age], "ill": ill})
    how = {"qi": ["age"], "sensitive": ["ill"], "types": {"age": "integer"}, "attacks": ["unsorted_matching"]}
    found = ind.attack(first, other=second, **how)["unsorted_matching"]
    assert (found["details"]["agreeing_rows"], found["learnt"]) == (400, 400)
    assert found["gain"] > 0.8
    shuffled = second.take(rng.permutation(400))
    assert ind.attack(first, other=shuffled, **how)["unsorted_matching"]["gain"] == 0
    in_order = [one.sort_by([("age", "ascending"), ("ill", "ascending")]) for one in (first, second)]
    both = ind.attack(in_order[0], other=in_order[1], **how)["unsorted_matching"]
    assert both["gain"] == 0, "two sorted releases agree, and their order tells nothing"
    assert "rows at the same place" in ind.attack(first, other=second.slice(1), **how)["unsorted_matching"]["reason"]


def test_orders_that_content_explains():
    def strata(**columns):
        return strata_of(open_source(pa.table(columns))).tolist()

    assert strata(a=["9", "10", "10"], b=["x", "z", "y"]) == [0, 1, 1], "ascending as numbers"
    assert strata(a=["10", "9", "9"], b=["x", "y", "y"]) == [0, 1, 1], "ascending as texts"
    assert strata(a=[None, "1", "1"], b=["x", "x", "x"]) == [0, 1, 1], "missing first"
    assert strata(a=["1", "1", None], b=["x", "x", "x"]) == [0, 0, 1], "missing last"
    assert strata(a=["2", "1", "2"], b=["x", "x", "x"]) == [0, 0, 0]
    kinds, of_row = tabulated(open_source(pa.table({"a": ["2", "1", "2"]})), ["a"])
    assert (kinds.rows.tolist(), of_row.tolist()) == ([1, 2], [1, 0, 1])


def test_the_join_of_the_docstring():
    first = pa.table({"age": ["[20, 39]"] * 3, "ill": ["flu", "flu", "ulcer"]})
    second = pa.table({"age": ["[30, 49]"] * 3, "ill": ["ulcer", "cancer", "cancer"]})
    how = {"qi": ["age"], "sensitive": ["ill"], "types": {"age": "integer"}, "attacks": ["complementary_release"]}
    entry = ind.attack(first, other=second, identified=pa.table({"age": ["35"]}), **how)["complementary_release"]
    assert (entry["details"]["k_of_either"], entry["details"]["k_on_join"], entry["learnt"]) == (3, 1, 1)
    bare = ind.attack(first, other=second.select(["age"]), **how)["complementary_release"]
    assert "no column in common but" in bare["reason"]
