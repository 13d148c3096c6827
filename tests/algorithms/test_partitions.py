"""Partitions and clusterings against their slow twins, and what each of them owes on its own."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_curves
import naive_partition as naive
from indistinct.algorithms import algorithm
from indistinct.algorithms import clusters as clusters_module
from indistinct.algorithms.curve import curve_keys, curve_order
from indistinct.algorithms.sabre import buckets
from indistinct.algorithms.t_closeness_first import buckets_of, least_size, rank_bound
from indistinct.errors import Cancelled
from indistinct.hierarchies import suppression, taxonomy
from indistinct.releases.prepare import prepare
from indistinct.tables.count import silent
from indistinct.tables.records import SUPPRESSED, Reference

AREA = {"11": ("11", "1", "*"), "12": ("12", "1", "*"), "21": ("21", "2", "*"), "22": ("22", "2", "*")}
SEX = {"f": ("f", "*"), "m": ("m", "*")}
COLUMNS = (None, AREA, SEX)
NEW = [
    "mondrian", "merge", "hilbert", "mdav", "k_member", "k_similar", "univariate_microaggregation",
    "t_closeness_first", "sabre",
]  # fmt: skip

row = st.tuples(st.sampled_from([None, *range(12)]), st.sampled_from([None, *AREA]), st.sampled_from([*SEX]))
tables = st.lists(row, min_size=2, max_size=16)
with_sensitive = st.lists(st.tuples(*[st.sampled_from(range(9)), st.sampled_from([*AREA]), st.sampled_from([*SEX]),
                                      st.sampled_from("xyz")]), min_size=2, max_size=20)  # fmt: skip


@pytest.fixture(scope="module")
def area_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hierarchies") / "area.csv"
    path.write_text("".join(";".join(labels) + "\n" for labels in AREA.values()), encoding="utf-8")
    return {"file": str(path)}


def policy_of(area_file, name, privacy, limit=0, **recoding):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
            "area": {"role": "qi", "hierarchy": area_file},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        privacy=privacy,
        suppression={"limit": limit},
        recoding={"algorithm": name, **recoding},
    )


def classes(rows, policy):
    """Classes that an algorithm forms, each a list of rows; None where the models cannot be met."""
    names = ("age", "area", "sex", "ill")
    columns = {name: [row[at] if at < len(row) else "-" for row in rows] for at, name in enumerate(names)}
    types = (pa.int64(), *[pa.string()] * 3)
    table = pa.table({name: pa.array(columns[name], type=kind) for name, kind in zip(names, types, strict=True)})
    prepared = prepare(table, policy)
    frequencies = prepared.counted.frequencies
    try:
        found = algorithm(policy.recoding.algorithm)(frequencies, policy, silent)
    except ind.InfeasibleError:
        return None
    own = [*frequencies.quasi, *frequencies.sensitive]
    groups = [[] for _ in range(found.classes)]
    for cell, count, where in zip(found.cell, found.count, found.class_of, strict=True):
        assert where != SUPPRESSED
        texts = [h.texts[code] for h, code in zip(own, frequencies.codes[cell], strict=True)]
        value = (None if texts[0] is None else int(texts[0]), *texts[1:])
        groups[where] += [value] * int(count)
    return groups


def as_sets(groups):
    return Counter(tuple(sorted(map(str, group))) for group in groups)


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


@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, l=st.sampled_from([2, 3]))
def test_mondrian_tests_models_at_every_cut(area_file, rows, l):  # noqa: E741  # the model's name
    found = classes(rows, policy_of(area_file, "mondrian", [ind.DistinctL("ill", l)]))

    def holds(part):
        return len({row[-1] for row in part}) >= l

    if not holds(rows):
        assert found is None
        return
    assert as_sets(found) == as_sets(naive.mondrian(rows, COLUMNS, holds))


@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, t=st.sampled_from(["1/10", "1/3", "1/2"]))
def test_merging_is_its_loop(area_file, rows, t):
    models = [ind.KAnonymity(2), ind.TCloseness("ill", t, distance="equal")]
    found = classes(rows, policy_of(area_file, "merge", models))
    start = naive.mondrian(rows, COLUMNS, lambda part: len(part) >= 2)
    order = naive.canonical(rows, COLUMNS)
    start.sort(key=lambda part: min(order.index(row) for row in part))
    assert as_sets(found) == as_sets(naive.merge(start, rows, Fraction(t)))


def test_merging_as_the_specification_shows_it(area_file):
    # {a, a}, {a, b}, {b, b}, {a, b, b, a} at t = 0.1: the first and the third merge
    values = ["aa", "ab", "bb", "abba"]
    rows = [(age, "11", "f", value) for age, group in enumerate(values) for value in group]
    models = [ind.KAnonymity(2), ind.TCloseness("ill", "0.1", distance="equal")]
    found = classes(rows, policy_of(area_file, "merge", models))
    assert sorted(sorted({row[0] for row in group}) for group in found) == [[0, 2], [1], [3]]


@settings(max_examples=60, deadline=None)
@given(rows=tables, k=st.sampled_from([2, 3, 4]))
@pytest.mark.parametrize("name", ["k_member", "k_similar", "mdav"])
def test_clusterings_are_their_loops(name, area_file, rows, k):
    found = classes(rows, policy_of(area_file, name, [ind.KAnonymity(k)]))
    if len(rows) < k:
        assert found is None
        return
    assert as_sets(found) == as_sets(getattr(naive, name)(rows, COLUMNS, k))


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
            algorithm("univariate_microaggregation")(frequencies, policy, silent)
        return
    found = algorithm("univariate_microaggregation")(frequencies, policy, silent)
    groups = {}
    for cell, count, where in zip(found.cell, found.count, found.class_of, strict=True):
        text = frequencies.quasi[0].texts[frequencies.codes[cell, 0]]
        groups.setdefault(where, []).extend([int(text)] * int(count))
    assert min(map(len, groups.values())) >= k
    assert sum(map(naive.squares, groups.values())) == naive.least_squares(values, k)


# --- the Hilbert curve -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "bits"), [(1, 3), (2, 3), (3, 2), (4, 2)])
def test_the_curve_visits_every_point_by_steps_of_one(d, bits):
    points = np.array(list(product(range(2**bits), repeat=d)))
    order = np.lexsort(curve_keys(points, bits)[::-1])
    assert (np.abs(np.diff(points[order], axis=0)).sum(axis=1) == 1).all()


@settings(max_examples=60, deadline=None)
@given(rows=tables, k=st.sampled_from([1, 2, 3]))
def test_hilbert_cuts_the_curve_at_least_loss(area_file, rows, k):
    two = [(age, area) for age, area, _ in rows]  # on more columns curves of equal worth differ
    found = classes([(*row, "f") for row in two], policy_of(area_file, "hilbert", [ind.KAnonymity(k)]))
    if len(rows) < k:
        assert found is None
        return
    groups = [[row[:2] for row in group] for group in found]
    assert min(map(len, groups)) >= k
    along = naive_curves.curve(two, COLUMNS[:2])
    places = [sorted(along.index(row) for row in group) for group in groups]
    assert [place for group in sorted(places) for place in group] == [along.index(row) for row in along]
    assert sum(len(group) * naive_curves.lm(group, two, COLUMNS[:2]) for group in groups) == naive_curves.hilbert(
        two, COLUMNS[:2], k
    )


def test_long_keys_are_split_into_words():
    points = np.array(list(product(range(2), repeat=3)))
    wide = np.repeat(points, 30, axis=1)  # 90 columns of one bit
    words = curve_keys(wide, 1)
    assert len(words) == 2
    assert len({tuple(word[i] for word in words) for i in range(len(wide))}) == 8


def test_columns_of_one_value_do_not_matter():
    codes = np.array([[0, 0], [2, 0], [1, 0]], np.int32)
    assert curve_order(codes, [3, 1]).tolist() == [0, 2, 1]
    assert curve_order(codes[:, 1:], [1]).tolist() == [0, 1, 2]


# --- t-closeness first, SABRE ----------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, k=st.sampled_from([1, 2, 3]), t=st.sampled_from(["1/10", "1/4", "1/2"]))
def test_t_closeness_first_is_its_loop(area_file, rows, k, t):
    models = [ind.KAnonymity(k), ind.TCloseness("ill", t, distance="equal")]
    found = classes(rows, policy_of(area_file, "t_closeness_first", models))
    if len(rows) < k:
        assert found is None
        return

    def holds(part):
        return len(part) >= k and naive.equal_distance(part, rows) <= Fraction(t)

    assert as_sets(found) == as_sets(naive_curves.t_closeness_first(rows, COLUMNS, t, k, holds))


@pytest.mark.parametrize(
    ("n", "k", "bound"), [(12, 3, "3/22"), (12, 4, "1/11"), (10, 2, "2/9"), (15, 3, "1/7"), (9, 3, "1/8")]
)
def test_the_bound_of_buckets_is_attained(n, k, bound):
    bucket = buckets_of(n, k)
    choices = [np.flatnonzero(bucket == b).tolist() for b in range(k)]
    worst = max(rank_distance(chosen, n) for chosen in product(*choices))
    assert worst == rank_bound(n, k) == Fraction(bound)


def rank_distance(chosen, n):
    """Ordered distance of some ranks from all ranks, by its definition."""
    total, below = Fraction(0), Fraction(0)
    for rank in range(n - 1):
        below += Fraction(chosen.count(rank), len(chosen)) - Fraction(1, n)
        total += abs(below)
    return total / (n - 1)


def test_the_size_for_t_leaves_few_rows_over():
    for n, k in product(range(2, 60), range(1, 8)):
        size = least_size(n, Fraction(1, 10), min(k, n))
        assert rank_bound(n, size) <= Fraction(1, 10) or size == n
        assert n % size <= n // size


def test_buckets_of_the_specification():
    # shares 1/2, 1/4, 1/6, 1/12: {a}, {b, c, d} may be wrong about 1/2 - 1/12 = 5/12
    values = suppression.build("s", ["a", "b", "c", "d"])
    counts = np.array([6, 3, 2, 1])
    assert buckets(Reference(values, counts, 12), "equal", Fraction(5, 12)) == [(0, 0), (1, 3)]
    assert buckets(Reference(values, counts, 12), "equal", Fraction(1)) == [(0, 3)]
    assert buckets(Reference(values, counts, 12), "equal", Fraction(0)) == [(0, 0), (1, 1), (2, 2), (3, 3)]


@given(
    counts=st.lists(st.integers(1, 9), min_size=2, max_size=7),
    t=st.sampled_from([Fraction(0), Fraction(1, 9), Fraction(1, 4), Fraction(1, 2)]),
    distance=st.sampled_from(["equal", "ordered"]),
)
def test_classes_in_proportion_to_buckets_stay_within_t(counts, t, distance):
    values = suppression.build("s", [str(at) for at in range(len(counts))])
    found = buckets(Reference(values, np.array(counts), sum(counts)), distance, t)
    assert [code for lo, hi in found for code in range(lo, hi + 1)] == list(range(len(counts)))
    shares = [Fraction(count, sum(counts)) for count in counts]
    for chosen in product(*[range(lo, hi + 1) for lo, hi in found]):
        taken = [Fraction(0)] * len(counts)
        for code, (lo, hi) in zip(chosen, found, strict=True):  # the whole mass of a bucket on one value
            taken[code] += sum(shares[lo : hi + 1])
        gaps = [ours - theirs for ours, theirs in zip(taken, shares, strict=True)]
        if distance == "equal":
            assert sum(gap for gap in gaps if gap > 0) <= t
        else:
            assert sum(abs(sum(gaps[: at + 1])) for at in range(len(gaps) - 1)) / (len(gaps) - 1) <= t


def test_buckets_follow_a_tree():
    tree = taxonomy.build(
        "s", ["a", "b", "c", "d"], [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
    )
    reference = Reference(tree, np.array([1, 1, 1, 1]), 4)
    assert buckets(reference, "hierarchical", Fraction(1, 2)) == [(0, 1), (2, 3)]
    assert buckets(reference, "hierarchical", Fraction(1, 4)) == [(0, 0), (1, 1), (2, 3)]


# --- relaxed cuts, persons, work, cancelling --------------------------------------------------------------


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
        algorithm(name)(frequencies, policy, stop)


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
