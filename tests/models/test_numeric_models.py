"""Models for numeric values: against the slow twins, at thresholds, and with values of every kind."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_numeric as naive
from indistinct.models import eps_m_anonymity as eps_m
from indistinct.models.eps_i_k_anonymity import neighbourhoods_of
from indistinct.models.intervals import intervals_of, mean_distance
from indistinct.models.numbers import Numbers
from indistinct.risk.proximity import proximity
from indistinct.session.prepare import prepare
from indistinct.tables.classes import classes_of, whole_tuples

pytestmark = pytest.mark.small

# few values, so that ties at thresholds are common; halves, zero, negative and large ones
numbers = st.sampled_from(["0", "0.5", "1", "1.5", "2", "3", "5", "8", "100", "150", "200", "4500", "4800", "5200"])
signed = st.one_of(numbers, st.sampled_from(["-3", "-2.5", "-100", "1000000000000000000000.5"]))


def rows_of(values):
    return st.lists(st.fixed_dictionaries({"p": st.sampled_from("12345"), "q": st.sampled_from("ab"), "s": values}),
                    min_size=1, max_size=14)  # fmt: skip


def policy_of(models, *, person=False, kind="decimal", **extra):
    attributes = {"q": {"role": "qi"}, "s": {"role": "sensitive", "type": kind, **extra}}
    document = {"person": {"key": "p"}} if person else {"table": {"unlisted": "insensitive"}}
    return ind.Policy(attributes=attributes, privacy=models, **document)


def audit(rows, models, **how):
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
    return ind.audit(table, policy_of(models, **how)).models


def groups_of(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["q"], []).append(row)
    return [groups[key] for key in sorted(groups)]


def values_of(members):
    return [Fraction(row["s"]) for row in members]


def same(found, expected):
    return Fraction(found["fraction"]) == expected


@pytest.mark.slow
@pytest.mark.parametrize("person", [False, True], ids=["rows", "persons"])
@settings(max_examples=60)
@given(rows=rows_of(signed), k=st.integers(1, 4), e=st.sampled_from(["0", "1/2", "1", "3", "99.5", "5200"]))
def test_ke(person, rows, k, e):
    groups = groups_of(rows)
    spans = [max(values_of(group)) - min(values_of(group)) for group in groups]
    persons = [len({row["p"] for row in group}) if person else 99 for group in groups]
    for count in ("distinct", "rows"):
        sizes = [len(group) if count == "rows" else len(set(values_of(group))) for group in groups]
        sizes = list(map(min, sizes, persons))
        held = [size >= k and span >= Fraction(e) for size, span in zip(sizes, spans, strict=True)]
        (entry,) = audit(rows, [ind.KeAnonymity("s", k, e, count)], person=person)
        assert entry["satisfied"] is all(held)
        assert entry["violating_classes"] == held.count(False)
        assert entry["achieved"]["k"] == min(sizes)
        assert same(entry["achieved"]["e"], min(spans))


@pytest.mark.slow
@settings(max_examples=80)
@given(
    rows=rows_of(signed),
    epsilon=st.sampled_from(["0", "1/2", "1/3", "0.1", "0.5", "2", "50"]),
    m=st.integers(1, 4),
    kind=st.sampled_from(["absolute", "relative"]),
)
def test_eps_m(rows, epsilon, m, kind):
    if kind == "relative" and Fraction(epsilon) >= 1:
        epsilon = "1/5"
    risks = [naive.em_risk(values_of(group), Fraction(epsilon), kind) for group in groups_of(rows)]
    (entry,) = audit(rows, [ind.EpsMAnonymity("s", epsilon, m, kind)])
    assert entry["satisfied"] is all(m * risk <= 1 for risk in risks)
    assert entry["violating_classes"] == sum(m * risk > 1 for risk in risks)
    assert same(entry["achieved"]["risk"], max(risks))
    assert entry["achieved"]["m"] == int(1 / max(risks))


def judged(rows, models, **how):
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
    counted = prepare(table, policy_of(models, **how), for_audit=True).counted.frequencies
    return classes_of(counted, whole_tuples(counted)), ind_context(counted)


def ind_context(counted):
    from indistinct.models import Context

    return Context(counted.references)


@pytest.mark.slow
@settings(max_examples=60)
@given(rows=rows_of(numbers), epsilon=st.sampled_from(["0", "1/2", "1", "50"]))
def test_the_one_sided_condition_is_merge_closed_and_gives_the_split(rows, epsilon):
    epsilon = Fraction(epsilon)
    classes, context = judged(rows, [ind.EpsMAnonymity("s", epsilon, 2)])
    column = eps_m.numbers_of(context.references["s"])
    found = eps_m.one_sided(classes, column, "s", epsilon, "absolute").tolist()
    groups = [sorted(values_of(group)) for group in groups_of(rows)]
    assert found == [naive.em_one_sided(group, epsilon, "absolute") for group in groups]
    assert naive.em_one_sided([value for group in groups for value in group], epsilon, "absolute") <= sum(found)
    for group, parts in zip(groups, found, strict=True):  # dealt in turn, each part has a risk of one row
        for first in range(parts):
            part = group[first::parts]
            assert naive.em_risk(part, epsilon, "absolute") == Fraction(1, len(part))


@pytest.mark.slow
@pytest.mark.parametrize("person", [False, True], ids=["rows", "persons"])
@settings(max_examples=60)
@given(rows=rows_of(signed), levels=st.integers(1, 6), length=st.integers(1, 6))
def test_graded_l(person, rows, levels, length):
    length = min(length, levels)
    (entry,) = audit(rows, [ind.GradedL("s", length, levels)], person=person)
    low, high = min(values_of(rows)), max(values_of(rows))
    found = [len({naive.level(x, low, high, levels) for x in values_of(group)}) for group in groups_of(rows)]
    if person:
        found = [min(n, len({row["p"] for row in group})) for n, group in zip(found, groups_of(rows), strict=True)]
    assert entry["achieved"] == {"l": min(found)}
    assert entry["satisfied"] is (min(found) >= length)


def test_graded_l_with_cut_points_and_a_domain():
    rows = [{"q": "a", "s": value} for value in ("1", "24", "26")]
    (entry,) = audit(rows, [ind.GradedL("s", 2, [25, "99.5"])])
    assert entry["achieved"] == {"l": 2}
    (entry,) = audit(rows, [ind.GradedL("s", 2, [24, 26])])  # a cut point begins a level
    assert entry["achieved"] == {"l": 3}
    with pytest.raises(ind.DataError, match='1 rows have a value of "s" outside the domain'):
        audit(rows, [ind.GradedL("s", 2, 4, [0, 25])])


@pytest.mark.slow
@settings(max_examples=100)
@given(
    values=st.lists(numbers, min_size=1, max_size=9),
    w=st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(7, 10)]),
    points=st.sampled_from(["distinct", "records"]),
)
@example(values=["1", "2", "4", "8"], w=Fraction(1), points="distinct")
@example(values=["10", "15", "22.5", "33.75"], w=Fraction(1), points="distinct")
def test_intervals(values, w, points):
    exact = [Fraction(value) for value in values]
    column = column_of(exact)
    assert mean_distance(column, points) == naive.mean_of(exact, points)
    of = dict(zip(sorted(set(exact)), intervals_of(column, w, points).tolist(), strict=True))
    found = [[value for value in sorted(exact) if of[value] == number] for number in range(max(of.values()) + 1)]
    assert found == naive.intervals(exact, w, points)


def column_of(values):
    counts = Counter(values)
    ordered = sorted(counts)
    unit = np.lcm.reduce([value.denominator for value in ordered])
    places = np.array([int(value * int(unit)) for value in ordered], object)
    if abs(places).max() < 2**60:
        places = places.astype(np.int64)
    return Numbers("s", places, int(unit), np.array([counts[v] for v in ordered]), np.arange(len(ordered)))


@pytest.mark.slow
def test_intervals_of_many_values_with_ties():
    values = [Fraction(3) ** i for i in range(200)]  # every distance is 1/2, and so is the mean
    assert intervals_of(column_of(values), Fraction(1)).tolist() == list(range(200))
    even = [Fraction(i) for i in range(1, 2001)]
    naive_cut = [0]
    limit = naive.mean_of(even, "distinct")
    for d in naive.distances(even, "distinct")[1]:
        naive_cut.append(naive_cut[-1] + (d >= limit))
    assert intervals_of(column_of(even), Fraction(1)).tolist() == naive_cut


@pytest.mark.slow
@settings(max_examples=80)
@given(
    rows=rows_of(numbers),
    k=st.integers(1, 3),
    beta=st.sampled_from(["1/4", "1/2", "1", "0.1"]),
    separation=st.sampled_from(["disjoint", "step7"]),
    same_interval_only=st.booleans(),
    floor=st.sampled_from([None, "1", "60"]),
)
def test_eps_i_k(rows, k, beta, separation, same_interval_only, floor):
    model = ind.EpsIKAnonymity(
        "s", k, beta=beta, separation=separation, same_interval_only=same_interval_only, eps_floor=floor
    )
    (entry,) = audit(rows, [model])
    parts = naive.intervals(values_of(rows))
    widths = [max(width, Fraction(floor or 0)) for width in naive.epsilons(parts, Fraction(beta))]
    of = {value: (value, number, widths[number]) for number, part in enumerate(parts) for value in part}
    groups = [[of[value] for value in values_of(group)] for group in groups_of(rows)]
    apart = [naive.most_separated(group, separation) for group in groups]
    risks = [naive.risk(group, same_interval_only=same_interval_only) for group in groups]
    held = [n >= k and (separation == "step7" or risk <= Fraction(1, 2)) for n, risk in zip(apart, risks, strict=True)]
    assert entry["satisfied"] is all(held)
    assert entry["violating_classes"] == held.count(False)
    assert entry["achieved"]["k"] == min(apart)
    assert same(entry["achieved"]["risk"], max(risks))
    including = [naive.risk(group, same_interval_only=same_interval_only, including=True) for group in groups]
    assert same(entry["achieved"]["risk_including_self"], max(including))

    classes, context = judged(rows, [model])
    answer = proximity(model, classes, context)
    assert (answer.risk, answer.including_self) == (max(risks), max(including))
    bad = [len(group) for group, risk in zip(groups, risks, strict=True) if risk > Fraction(1, 2)]
    assert answer.rows_above_half == sum(bad)
    assert f"{sum(bad)} of {len(rows)} rows" in answer.sentence


@pytest.mark.slow
@given(
    values=st.sets(st.integers(-40, 40), min_size=1, max_size=12).map(sorted),
    cuts=st.sets(st.integers(1, 11), max_size=4),
    widths=st.lists(st.sampled_from(["0", "1/2", "1", "2.5", "9"]), min_size=5, max_size=5),
    separation=st.sampled_from(["disjoint", "step7"]),
    factor=st.sampled_from([1, 10**30]),
)
def test_stretches_meet_where_rows_are_not_separated(values, cuts, widths, separation, factor):
    """In integers of 64 bits and, for numbers that need it, in Python's."""
    interval = np.cumsum([at in cuts for at in range(len(values))])
    epsilons = [factor * Fraction(width) for width in widths[: interval[-1] + 1]]
    column = np.array([factor * value for value in values], np.int64 if factor == 1 else object)
    numbers = Numbers("s", column, 1, np.ones(len(values), np.int64), np.arange(len(values)))
    around = neighbourhoods_of(numbers, interval, epsilons, separation=separation)
    rows = [(factor * value, part, epsilons[part]) for value, part in zip(values, interval.tolist(), strict=True)]
    for a, one in enumerate(rows):
        near = [b for b, other in enumerate(rows) if abs(other[0] - one[0]) <= one[2]]
        assert near == list(range(around.low[a], around.high[a] + 1))
        for b, other in enumerate(rows[:a]):
            meet = around.left[a] <= around.right[b] and around.left[b] <= around.right[a]
            assert bool(meet) is not naive.separated(one, other, separation)


def test_shifted_and_refused_negative_values():
    rows = [{"q": "a", "s": value} for value in ("-3", "-1", "5", "6")]
    with pytest.raises(ind.DataError, match="2 rows have a negative value"):
        audit(rows, [ind.EpsIKAnonymity("s", 2, beta="1/2")])
    # shifted to 0, 2, 8, 9: distances 1, 3/5, 1/17, mean 94/255: {-3}, {-1}, {5, 6}
    (entry,) = audit(rows, [ind.EpsIKAnonymity("s", 3, beta="1/2", negative_values="shift")])
    assert entry["achieved"]["k"] == 3
    assert entry["satisfied"]
    assert "2 of 4 rows lie in intervals with eps = 0" in entry["reason"]


def test_listed_epsilons_must_be_as_many_as_intervals():
    rows = [{"q": "a", "s": value} for value in ("100", "150", "4500")]
    with pytest.raises(ind.DataError, match="falls into 2 intervals, and epsilons lists 3"):
        audit(rows, [ind.EpsIKAnonymity("s", 1, epsilons=[1, 2, 3])])
    (entry,) = audit(rows, [ind.EpsIKAnonymity("s", 1, epsilons=[50, 7])])
    assert same(entry["achieved"]["risk"], Fraction(1, 3))


def test_equal_at_the_end_of_a_closed_neighbourhood():
    rows = [{"q": "a", "s": value} for value in ("0.1", "0.2", "0.3", "5")]  # doubles put 0.3 - 0.2 below 0.1
    (entry,) = audit(rows, [ind.EpsMAnonymity("s", "0.1", 1)])
    assert same(entry["achieved"]["risk"], Fraction(3, 4))


def test_dates_are_measured_in_days():
    rows = [{"q": "a", "s": value} for value in ("2024-02-28", "2024-03-01", "2024-03-31")]
    (entry,) = audit(rows, [ind.KeAnonymity("s", 3, 32)], kind="date")
    assert entry["satisfied"]
    assert same(entry["achieved"]["e"], 32)
    (entry,) = audit(rows, [ind.EpsMAnonymity("s", 2, 1)], kind="date")
    assert same(entry["achieved"]["risk"], Fraction(2, 3))
    for model in (ind.EpsMAnonymity("s", "0.1", 2, "relative"), ind.EpsIKAnonymity("s", 2, beta="0.5")):
        with pytest.raises(ind.PolicyError, match="dates, which have no zero"):
            policy_of([model], kind="date")


def test_codes_in_the_order_of_a_hierarchy_file(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("9;high;*\n1;low;*\n5;low;*\n7;high;*\n", encoding="utf-8")
    rows = [{"q": "a", "s": value} for value in ("9", "1", "5", "7")]
    entries = audit(
        rows, [ind.KeAnonymity("s", 4, 8), ind.EpsMAnonymity("s", 2, 2)], kind="integer", hierarchy={"file": str(file)}
    )
    assert same(entries[0]["achieved"]["e"], 8)
    assert same(entries[1]["achieved"]["risk"], Fraction(3, 4))  # 5, 7, 9 around 7


MODELS = [
    ind.KeAnonymity("s", 1, 0),
    ind.EpsMAnonymity("s", 1, 1),
    ind.GradedL("s", 1, 2),
    ind.EpsIKAnonymity("s", 1, beta=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model)
def test_missing_values_are_refused_or_dropped(model):
    rows = [{"q": "a", "s": "1"}, {"q": "a", "s": None}, {"q": "a", "s": "3"}]
    with pytest.raises(ind.DataError, match='say missing = "drop" under'):
        audit(rows, [model])
    assert audit(rows, [model], missing="drop")[0]["satisfied"]
    with pytest.raises(ind.PolicyError, match='set missing = "drop"'):
        policy_of([model], missing="last")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model)
def test_text_has_no_distances(model):
    with pytest.raises(ind.PolicyError, match="needs numbers"):
        policy_of([model], kind="text")
    assert policy_of([model]).notices()[0].kind == "no-protection"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model)
def test_one_value_and_one_row(model):
    (entry,) = audit([{"q": "a", "s": "7"}], [model])
    assert entry["satisfied"]
    (entry,) = audit([{"q": "a", "s": "7"}] * 3, [model])
    assert entry["satisfied"] is (model.model != "eps_i_k_anonymity")  # two of three rows are as near as can be


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ind.KeAnonymity("s", 0, 1), "k >= 1"),
        (lambda: ind.KeAnonymity("s", 1, -1), "e >= 0"),
        (lambda: ind.EpsMAnonymity("s", 1, 2, "relative"), "below 1"),
        (lambda: ind.EpsMAnonymity("s", "-0.1", 2), "epsilon >= 0"),
        (lambda: ind.GradedL("s", 3, 2), "at most the number of levels, which is 2"),
        (lambda: ind.GradedL("s", 1, 0), "levels >= 1"),
        (lambda: ind.GradedL("s", 1, [3, 3]), "rising cut points"),
        (lambda: ind.GradedL("s", 1, [3], [0, 1]), "cut points need none"),
        (lambda: ind.GradedL("s", 1, 3, [1, 1]), "lowest < highest"),
        (lambda: ind.EpsIKAnonymity("s", 2), "beta must be given"),
        (lambda: ind.EpsIKAnonymity("s", 2, epsilons=[1], beta=1), "not both"),
        (lambda: ind.EpsIKAnonymity("s", 2, w=0, beta=1), "0 < w <= 1"),
        (lambda: ind.EpsIKAnonymity("s", 2, beta="1.1"), "0 < beta <= 1"),
    ],
)
def test_what_is_out_of_range_is_refused(make, sentence):
    with pytest.raises(ind.PolicyError, match=sentence):
        make()


def test_small_w_brings_a_warning():
    policy = policy_of([ind.EpsIKAnonymity("s", 2, w="0.2", beta=1)])
    assert [notice.kind for notice in policy.notices()] == ["unusual"]
