"""Partitions and clusterings against their slow twins, and what each of them owes on its own."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_partition as naive
from indistinct.algorithms import clusters as clusters_module
from indistinct.algorithms import named
from indistinct.errors import Cancelled
from indistinct.session.prepare import prepare
from indistinct.tables.count import silent
from partition_tables import AREA, COLUMNS, SEX, as_sets, classes, policy_of, tables, with_sensitive

NEW = [
    "mondrian", "merge", "hilbert", "mdav", "k_member", "k_similar", "univariate_microaggregation",
    "t_closeness_first", "sabre",
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=tables, k=st.sampled_from([1, 2, 3]))
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_mondrian_is_its_recursion(mode, area_file, rows, k):
    found = classes(rows, policy_of(area_file, "mondrian", [ind.KAnonymity(k)], mode=mode))
    if len(rows) < k:
        assert found is None
        return
    expected = naive.mondrian(rows, COLUMNS, lambda part: len(part) >= k, relaxed=mode == "relaxed")
    assert as_sets(found) == as_sets(expected)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, l=st.sampled_from([2, 3]))
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_mondrian_tests_models_at_every_cut(mode, area_file, rows, l):  # noqa: E741  # the model's name
    found = classes(rows, policy_of(area_file, "mondrian", [ind.DistinctL("ill", l)], mode=mode))

    def holds(part):
        return len({row[-1] for row in part}) >= l

    if not holds(rows):
        assert found is None
        return
    assert as_sets(found) == as_sets(naive.mondrian(rows, COLUMNS, holds, relaxed=mode == "relaxed"))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, t=st.sampled_from(["1/10", "1/3", "1/2"]))
@pytest.mark.parametrize("partner", ["distance", "loss"])
def test_merging_is_its_loop(partner, area_file, rows, t):
    models = [ind.KAnonymity(2), ind.TCloseness("ill", t, distance="equal")]
    found = classes(rows, policy_of(area_file, "merge", models, partner=partner))
    start = naive.mondrian(rows, COLUMNS, lambda part: len(part) >= 2)
    order = naive.canonical(rows, COLUMNS)
    start.sort(key=lambda part: min(order.index(row) for row in part))
    assert as_sets(found) == as_sets(naive.merge(start, rows, Fraction(t), COLUMNS if partner == "loss" else None))


def test_merging_as_the_specification_shows_it(area_file):
    # {a, a}, {a, b}, {b, b}, {a, b, b, a} at t = 0.1: the first and the third merge
    values = ["aa", "ab", "bb", "abba"]
    rows = [(age, "11", "f", value) for age, group in enumerate(values) for value in group]
    models = [ind.KAnonymity(2), ind.TCloseness("ill", "0.1", distance="equal")]
    found = classes(rows, policy_of(area_file, "merge", models))
    assert sorted(sorted({row[0] for row in group}) for group in found) == [[0, 2], [1], [3]]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=tables, k=st.sampled_from([2, 3, 4]))
@pytest.mark.parametrize("name", ["k_member", "k_similar", "mdav"])
def test_clusterings_are_their_loops(name, area_file, rows, k):
    found = classes(rows, policy_of(area_file, name, [ind.KAnonymity(k)]))
    if len(rows) < k:
        assert found is None
        return
    assert as_sets(found) == as_sets(getattr(naive, name)(rows, COLUMNS, k))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-50, 50), min_size=2, max_size=20), k=st.sampled_from([2, 3, 4]))
def test_microaggregation_of_one_column_is_optimal(values, k):
    policy = ind.Policy(
        attributes={"a": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}},
        privacy=[ind.KAnonymity(k)],
        recoding={"algorithm": "univariate_microaggregation"},
    )
    frequencies = prepare(pa.table({"a": values}), policy).counted.frequencies
    if len(values) < k:
        with pytest.raises(ind.InfeasibleError):
            named("univariate_microaggregation").decide(frequencies, policy, silent)
        return
    found = named("univariate_microaggregation").decide(frequencies, policy, silent)
    groups = {}
    for cell, count, where in zip(found.cell, found.count, found.class_of, strict=True):
        text = frequencies.quasi[0].texts[frequencies.codes[cell, 0]]
        groups.setdefault(where, []).extend([int(text)] * int(count))
    assert min(map(len, groups.values())) >= k
    assert sum(map(naive.squares, groups.values())) == naive.least_squares(values, k)


# --- relaxed cuts, persons, work, cancelling --------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows=tables, k=st.sampled_from([2, 3]))
def test_relaxed_cuts_leave_less_than_twice_k(area_file, rows, k):
    found = classes(rows, policy_of(area_file, "mondrian", [ind.KAnonymity(k)], mode="relaxed"))
    if len(rows) < k:
        assert found is None
        return
    assert sum(map(len, found)) == len(rows)
    for group in found:
        assert len(group) >= k
        ages = {row[0] for row in group}
        assert len(group) < 2 * k or None in ages or len(ages) == 1  # numbers can always be halved


def test_relaxed_refuses_persons(area_file):
    policy = policy_of(area_file, "mondrian", [ind.KAnonymity(2)], mode="relaxed")
    policy = policy.model_copy(update={"person": ind.policy.document.Person(key="who")})
    table = pa.table({"age": [1, 2], "area": ["11", "12"], "sex": ["f", "f"], "ill": ["x", "y"], "who": ["p", "q"]})
    with pytest.raises(ind.PolicyError, match="must stay together"):
        ind.anonymize(table, policy)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), min_size=4, max_size=24),
    bounds=st.sampled_from(["members", "region"]),
)
def test_models_that_are_not_merge_closed(rows, bounds):
    def policy(**recoding):
        hierarchy = {"kind": "range", "bounds": recoding.pop("bounds", bounds)}
        return ind.Policy(
            attributes={
                "age": {"role": "qi", "type": "integer", "hierarchy": hierarchy},
                "cost": {"role": "sensitive", "type": "integer"},
            },
            privacy=[{"model": "eps_m_anonymity", "attribute": "cost", "epsilon": 1, "m": 2}],
            recoding={"algorithm": "mondrian", **recoding},
        )

    table = pa.table({"age": [age for age, _ in rows], "cost": [cost for _, cost in rows]})
    try:
        release = ind.anonymize(table, policy())
    except ind.InfeasibleError as error:
        assert "another algorithm" in error.message  # noqa: PT017  # nothing is raised where it holds
    else:
        groups = {}
        for row in release.table.to_pylist():
            groups.setdefault(row["age"], []).append(int(row["cost"]))
        for costs in groups.values():  # at most half of a class within 1 of any of its numbers
            assert all(2 * sum(abs(a - b) <= 1 for b in costs) <= len(costs) for a in costs)
    with pytest.raises(ind.PolicyError, match="publish two classes alike"):
        ind.anonymize(table, policy(mode="relaxed"))


def test_snapped_bounds_may_publish_two_classes_alike():
    hierarchy = {"kind": "range", "bounds": "snapped", "step": 10}
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": hierarchy},
            "cost": {"role": "sensitive", "type": "integer"},
        },
        privacy=[{"model": "eps_m_anonymity", "attribute": "cost", "epsilon": 1, "m": 2}],
        recoding={"algorithm": "mondrian"},
    )
    with pytest.raises(ind.PolicyError, match='snapped bounds of "age" may publish two classes alike'):
        ind.anonymize(pa.table({"age": [1, 2, 8, 9], "cost": [1, 5, 1, 5]}), policy)


@pytest.mark.parametrize("name", ["mdav", "k_member", "k_similar"])
def test_quadratic_work_is_announced_and_can_be_divided(name, area_file, monkeypatch):
    rows = [(age % 10, area, sex) for age, area, sex in product(range(20), AREA, SEX)]
    monkeypatch.setattr(clusters_module, "MOST_WORK", 1000)
    with pytest.raises(ind.PolicyError, match=r"160 rows.*recoding.partition"):
        classes(rows, policy_of(area_file, name, [ind.KAnonymity(5)]))
    for partition in (12, 40, 160):
        found = classes(rows, policy_of(area_file, name, [ind.KAnonymity(5)], partition=partition))
        assert min(map(len, found)) >= 5
        assert Counter(row for group in found for row in group) == Counter(rows)


@pytest.mark.parametrize("name", NEW)
def test_cancel(name):
    def stop(*_):
        raise Cancelled("stop")

    rows = list(combinations(range(12), 2))
    table = pa.table({"age": [a for a, _ in rows], "ill": [str(b % 3) for _, b in rows]})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(3), ind.TCloseness("ill", "1/2", distance="equal")],
        recoding={"algorithm": name},
    )
    frequencies = prepare(table, policy).counted.frequencies
    with pytest.raises(Cancelled):
        named(name).decide(frequencies, policy, stop)


@pytest.mark.parametrize("name", NEW)
def test_columns_without_hierarchy_are_never_mixed(name):
    ages = [age for age in range(10) for _ in range(2)]
    table = pa.table({"age": [1] * 20, "kind": ["a", "b"] * 10, "ill": ["x", "x", "y", "y"] * 5, "size": ages})
    quasi = {"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}}
    if name != "univariate_microaggregation":
        quasi |= {"kind": {"role": "qi"}, "size": quasi["age"]}
    policy = ind.Policy(
        attributes={**quasi, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(3), ind.TCloseness("ill", "1/2", distance="equal")],
        table={"unlisted": "insensitive"},
        recoding={"algorithm": name},
    )
    published = ind.anonymize(table, policy).table.to_pylist()
    assert Counter(row["kind"] for row in published) == {"a": 10, "b": 10}
