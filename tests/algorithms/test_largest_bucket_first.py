"""Largest bucket first against its slow twin, the bound of the risk, and how long it may take."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive
import naive_groups
import naive_numeric
from indistinct.algorithms.largest_bucket_first import buckets_of, form
from indistinct.models.eps_i_k_anonymity import neighbourhoods_of, prepared
from indistinct.models.numbers import Numbers, numbers_of
from indistinct.session.prepare import prepare

HALF = Fraction(1, 2)

values = st.lists(
    st.sampled_from([0, 1, 2, 3, 5, 8, 9, 10, 12, 40, 41, 45, 50, 100, 105, 106, 112]), min_size=2, max_size=26
)
parameters = st.fixed_dictionaries(
    {
        "k": st.integers(2, 4),
        "w": st.sampled_from(["1", "0.6"]),
        "beta": st.sampled_from(["0.1", "0.25", "1/3", "1"]),
        "eps_floor": st.sampled_from([None, "1", "7/2"]),
        "separation": st.sampled_from(["disjoint", "step7"]),
    }
)


def as_policy(*models, limit=1, **document):
    return ind.Policy(
        attributes={
            "row": {"role": "quasi_identifying"},
            "wage": {"role": "sensitive", "type": "integer"},
        },
        privacy=list(models),
        suppression={"limit": limit},
        **document,
    )


def as_table(column):
    return pa.table({"row": [f"{at:04}" for at in range(len(column))], "wage": column})


def groups_of(released):
    groups = {}
    for row in released.st.to_pylist():
        groups.setdefault(row["group"], []).extend([Fraction(row["wage"])] * row["count"])
    return list(groups.values())


def landscape(column, model):
    """Return interval of each value and eps of each interval, by the slow twin."""
    exact = [Fraction(value) for value in column]
    parts = naive_numeric.intervals(exact, model["w"])
    epsilons = naive_numeric.epsilons(parts, Fraction(model["beta"]))
    if model["eps_floor"] is not None:
        epsilons = [max(epsilon, Fraction(model["eps_floor"])) for epsilon in epsilons]
    return exact, {value: at for at, part in enumerate(parts) for value in part}, epsilons


def assert_as_defined(column, class_of, interval_of, epsilon_of, privacy):
    """Compare groups and suppressed rows with those of the slow twin, class by class."""
    groups, lost = [], 0
    for own in range(max(class_of) + 1):
        part = [value for value, at in zip(column, class_of, strict=True) if at == own]
        formed, left = naive_groups.largest_bucket_first(
            part, privacy.k, interval_of, epsilon_of, privacy.separation, column
        )
        groups, lost = groups + formed, lost + len(left)
    present = sorted(set(column))
    counts = np.array([column.count(value) for value in present], np.int64)
    numbers = Numbers("wage", np.array(present, np.int64), 1, counts, np.arange(len(present)))
    interval = np.array([interval_of[value] for value in present])
    around = neighbourhoods_of(numbers, interval, epsilon_of, separation=privacy.separation)
    slots = sorted(Counter(zip(class_of, column, strict=True)).items())
    class_start = np.searchsorted([own for (own, _), _ in slots], range(max(class_of) + 2))
    value = np.array([present.index(number) for (_, number), _ in slots], np.int32)
    rows = np.array([count for _, count in slots], np.int64)
    found = form(class_start, value, rows, buckets_of(numbers, interval, epsilon_of), around, privacy)
    formed = {}
    for slot, group in zip(found.slot.tolist(), found.group.tolist(), strict=True):
        formed.setdefault(group, []).append(present[value[slot]])
    assert [formed[at] for at in range(len(formed))] == groups
    assert sum(found.reasons.values()) == lost


@pytest.mark.slow
@pytest.mark.small
@settings(max_examples=150)
@given(values, parameters)
def test_groups_and_suppressed_rows_are_those_of_the_definition(column, model):
    exact, interval_of, epsilon_of = landscape(column, model)
    privacy = ind.EpsIKAnonymity("wage", **model)
    numbers = numbers_of(prepare(as_table(column), as_policy(privacy)).counted.frequencies.references["wage"])
    epsilons, around = prepared(privacy, numbers)
    assert epsilons == epsilon_of
    assert around.interval.tolist() == [interval_of[value] for value in sorted(set(exact))]
    assert_as_defined(column, [0] * len(column), interval_of, epsilon_of, privacy)


@pytest.mark.parametrize("seed", range(60))
def test_any_intervals_and_classes(seed):
    """Narrow intervals beside wide ones whose rows have most of a group near them, ties, and many leftovers."""
    draw = np.random.default_rng(seed)
    crowd = draw.integers(0, 300, 60)
    column = [*draw.choice(crowd, 120).tolist(), *draw.integers(0, 2000, 120).tolist()]
    present = sorted(set(column))
    cut = draw.random(len(present)) < draw.choice([0.05, 0.3, 0.7])
    interval_of = dict(zip(present, (np.cumsum(cut) - cut[0]).tolist(), strict=True))
    widths = draw.choice([0, 2, 10, 40, 150], max(interval_of.values()) + 1)
    k, reading = int(draw.integers(2, 6)), ["disjoint", "disjoint", "step7"][seed % 3]
    privacy = ind.EpsIKAnonymity("wage", k, beta="0.1", separation=reading)
    class_of = draw.integers(0, 1 + seed % 2, len(column)).tolist()
    assert_as_defined(column, class_of, interval_of, [Fraction(int(width)) for width in widths], privacy)


@pytest.mark.slow
@settings(max_examples=40)
@given(values, parameters)
def test_no_released_group_breaks_the_bound(column, model):
    _, interval_of, epsilon_of = landscape(column, model)
    try:
        found = ind.anonymize(as_table(column), as_policy(ind.EpsIKAnonymity("wage", **model)))
    except ind.InfeasibleError:
        return
    k, reading = model["k"], model["separation"]
    groups = groups_of(found.table)
    for group in groups:
        assert k <= len(group) <= 2 * k
        assert naive_groups.most_separated(group, interval_of, epsilon_of, reading) >= k
        if reading == "disjoint":
            assert max(naive_groups.risks(group, interval_of, epsilon_of)) <= HALF
    kept = Counter(value for group in groups for value in group)
    assert kept <= Counter(map(Fraction, column))
    assert kept.total() + found.document["suppressed_rows"] == len(column)
    assert found.table.qit.num_rows == kept.total()
    risk = max(max(naive_groups.risks(group, interval_of, epsilon_of)) for group in groups)
    assert Fraction(found.document["models"][0]["achieved"]["risk"]["fraction"]) == risk
    assert found.document["satisfied"]
    assert ind.verify(as_table(column), found.table, as_policy(ind.EpsIKAnonymity("wage", **model))).satisfied


def grouped(column, groups):
    """Return the pair of tables of a release with these groups of rows."""
    rows = sorted((at, number) for number, group in enumerate(groups, 1) for at in group)
    counts = Counter((number, column[at]) for at, number in rows)
    return (
        pa.table({"row": [f"{at:04}" for at, _ in rows], "group": [number for _, number in rows]}),
        pa.table(
            {
                "group": [number for number, _ in counts],
                "wage": [value for _, value in counts],
                "count": list(counts.values()),
            }
        ),
    )


def test_the_bound_fails_as_the_paper_reads_its_step_7():
    """{100, 112, 105, 106}, eps = 10, k = 2: three of four rows lie around 105, although the paper proves 1/2."""
    counts = np.ones(4, np.int64)
    numbers = Numbers("wage", np.array([100, 105, 106, 112]), 1, counts, np.arange(4))
    one, eps, rank = np.zeros(4, np.int64), [Fraction(10)], np.arange(4, dtype=np.int32)
    formed = {}
    for reading in ("step7", "disjoint"):
        privacy = ind.EpsIKAnonymity("wage", 2, epsilons=["10"], separation=reading)
        around = neighbourhoods_of(numbers, one, eps, separation=reading)
        formed[reading] = form(np.array([0, 4]), rank, counts, buckets_of(numbers, one, eps), around, privacy)
    assert sorted(formed["step7"].slot.tolist()) == [0, 1, 2, 3]
    assert set(formed["step7"].group.tolist()) == {0}
    assert len(formed["disjoint"].slot) == 0

    # two distant values make the four one interval of a whole column
    column = [100, 112, 105, 106, 1_000_000, 3_000_000]
    pair = grouped(column, [[0, 1, 2, 3], [4, 5]])
    for reading, holds in (("step7", True), ("disjoint", False)):
        model = ind.EpsIKAnonymity("wage", 2, epsilons=["10", "10", "10"], separation=reading)
        answer = ind.verify(as_table(column), pair[0], as_policy(model), pair[1]).document
        assert answer["coverage"]["status"] == "proven"
        (entry,) = answer["models"]
        assert entry["satisfied"] is answer["satisfied"] is holds
        assert entry["achieved"]["risk"]["fraction"] == "3/4"
        if holds:
            assert "step7 promises no bound of the risk" in entry["reason"]


def test_groups_of_a_wrong_size_are_refuted():
    column = [1, 2, 4, 8, 16]
    model = ind.EpsIKAnonymity("wage", 2, beta="0.5")
    qit, counts = grouped(column, [range(5)])
    answer = ind.verify(as_table(column), qit, as_policy(model), counts).document
    assert not answer["models"][0]["satisfied"]
    assert "1 of 1 groups have not 2 to 4 rows" in answer["models"][0]["reason"]


def test_suppressed_rows_have_reasons_without_values():
    model = ind.EpsIKAnonymity("wage", 2, beta="0.5")
    found = ind.anonymize(as_table([10, 10, 10, 10, 50]), as_policy(model, limit="0.2")).document
    assert found["suppressed_because"] == {"size": 1}
    assert any("1 row fits in no group" in notice["message"] for notice in found["warnings"])
    with pytest.raises(ind.InfeasibleError, match=r"limit of 0\.2 or more"):
        ind.anonymize(as_table([10, 10, 10, 10, 50]), as_policy(model, limit="0.1"))


def test_it_is_what_the_model_needs():
    model = ind.EpsIKAnonymity("wage", 2, beta="0.5")
    policy = as_policy(model)
    assert policy.recoding.algorithm == "largest_bucket_first"
    named = as_policy(model, recoding={"algorithm": "largest_bucket_first"})
    assert named.hash() == policy.hash()
    assert as_policy(ind.KAnonymity(2)).recoding.algorithm == "local"
    with pytest.raises(ind.PolicyError, match="cannot hold distinct_l"):
        ind.anonymize(as_table([1, 2, 4, 8]), as_policy(model, ind.DistinctL("wage", 2)))
    with pytest.raises(ind.PolicyError, match="stands 2 times"):
        ind.anonymize(as_table([1, 2, 4, 8]), as_policy(model, model))


@pytest.mark.slow
def test_with_k_anonymity_groups_lie_inside_classes():
    draw = np.random.default_rng(5)
    table = pa.table({"age": draw.integers(18, 60, 400), "wage": np.rint(draw.lognormal(7, 1, 400)).astype(int)})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "wage": {"role": "sensitive", "type": "integer"},
        },
        privacy=[ind.KAnonymity(8), ind.EpsIKAnonymity("wage", 3, beta="0.05")],
        suppression={"limit": "0.3"},
    )
    found = ind.anonymize(table, policy)
    qit = found.table.qit.to_pylist()
    assert naive.satisfied(qit, ["age"], [{"model": "k_anonymity", "k": 8}])
    ages = {}
    for row in qit:
        ages.setdefault(row["group"], set()).add(row["age"])
    assert all(len(own) == 1 for own in ages.values())
    assert 0 < found.loss["lm"] < 1
    assert [entry["on"] for entry in found.document["models"]] == ["classes", "groups"]
    answer = ind.verify(table, found.table, policy).document
    assert answer["satisfied"]
    assert answer["coverage"]["status"] == "proven"


@pytest.mark.parametrize("dominant", [0, 0.6])
def test_large_columns_are_grouped_without_quadratic_steps(dominant):
    """A quadratic insertion of 300,000 rows into 20,000 groups would take minutes; the bound here is generous."""
    draw = np.random.default_rng(1)
    column = np.rint(draw.lognormal(8, 1.2, 200_000)).astype(np.int64)
    column[: int(dominant * len(column))] = 3000
    present, counts = np.unique(column, return_counts=True)
    privacy = ind.EpsIKAnonymity("wage", 10, beta="0.001", eps_floor=1)
    from indistinct.hierarchies import build_hierarchy
    from indistinct.tables.records import Reference

    hierarchy = build_hierarchy("wage", [str(value) for value in present], spec=None, type="integer")
    numbers = numbers_of(Reference(hierarchy, counts.astype(np.int64), len(column)))
    epsilons, around = prepared(privacy, numbers)
    bucket = buckets_of(numbers, around.interval, epsilons)
    rank = np.arange(len(numbers), dtype=np.int32)
    found = form(np.array([0, len(rank)]), rank, numbers.counts, bucket, around, privacy)
    groups = int(found.group.max()) + 1
    lost = sum(found.reasons.values())
    assert len(found.slot) + lost == len(column)
    if dominant:
        assert groups <= 0.4 * len(column) / 9 + 1
        assert lost >= dominant * len(column) - groups - 10 * groups


@pytest.mark.slow
def test_hidden_buckets_are_not_looked_at_one_by_one():
    """Two crowds, each within one neighbourhood: asking 200,000 hidden buckets for each group would take minutes."""
    crowd = 200_000
    places = np.concatenate([np.arange(crowd), 10 * crowd + np.arange(crowd)])
    counts, own = np.ones(2 * crowd, np.int64), np.arange(2 * crowd)
    numbers = Numbers("wage", places, 1, counts, own)
    privacy = ind.EpsIKAnonymity("wage", 2, beta="0.1")
    epsilons = [Fraction(crowd)] * (2 * crowd)
    around = neighbourhoods_of(numbers, own, epsilons)
    found = form(np.array([0, 2 * crowd]), own.astype(np.int32), counts, own, around, privacy)
    assert found.slot.reshape(-1, 2).tolist() == [[at, crowd + at] for at in range(crowd)]
    assert found.group.tolist() == [at // 2 for at in range(2 * crowd)]
