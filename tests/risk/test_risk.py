"""Measures of re-identification risk against their slow twins, and what is refused."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_risk as naive
from indistinct.assess.risk import is_above
from indistinct.errors import DataError, PolicyError, SchemaError, UnsupportedError
from indistinct.risk import suda2 as module
from indistinct.risk.individual import individual_risk
from indistinct.risk.suda2 import weight
from text_tables import as_table

QUASI = ["a", "b", "c"]


def tables(most=14):
    value = st.sampled_from(["x", "y", "z", None])
    row = st.fixed_dictionaries({**dict.fromkeys(QUASI, value), "who": st.sampled_from("pqrst")})
    return st.lists(row, min_size=1, max_size=most)


thresholds = st.fractions(0, 1, max_denominator=12)


def exact(entry):
    return Fraction(entry["fraction"])


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(tables(), thresholds)
def test_prosecutor_marketer_and_uniques(rows, threshold):
    answer = ind.risk(as_table(rows), qi=QUASI, threshold=threshold)
    expected = naive.prosecutor(rows, QUASI, threshold)
    found = answer.measures["prosecutor"]
    assert {key: exact(found[key]) for key in ("highest", "lowest", "average")} == {
        key: expected[key] for key in ("highest", "lowest", "average")
    }
    assert found["rows_at_risk"] == expected["rows_at_risk"]
    assert exact(answer.measures["marketer"]["share"]) == expected["average"]
    unique = sum(naive.is_unique(rows, row, QUASI) for row in rows)
    assert answer.measures["sample_uniqueness"]["rows"] == unique
    bands = answer.document["class_sizes"]
    assert sum(band["rows"] for band in bands) == bands[-1]["rows_up_to"] == len(rows)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(tables(), thresholds)
def test_with_a_person_key_sizes_count_persons(rows, threshold):
    answer = ind.risk(as_table(rows), qi=QUASI, person="who", threshold=threshold)
    expected = naive.prosecutor(rows, QUASI, threshold, "who")
    found = answer.measures["prosecutor"]
    assert exact(found["highest"]) == expected["highest"]
    assert found["rows_at_risk"] == expected["rows_at_risk"]
    average = found["average"]
    assert average["decimal"] == pytest.approx(float(expected["average"]), rel=1e-12)
    assert answer.document["unit"] == "persons"
    side = ind.risk(as_table(rows), qi=QUASI, person="who", published=as_table(rows).drop(["who"])).document
    assert (side["unit"], side["published"]["unit"]) == ("persons", "rows")


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(tables(), tables(), thresholds)
def test_journalist_counts_the_population(rows, others, threshold):
    everybody = [*rows, *others]
    answer = ind.risk(as_table(rows), qi=QUASI, population=as_table(everybody), threshold=threshold)
    expected = naive.journalist(rows, everybody, QUASI, threshold)
    found = answer.measures["journalist"]
    assert exact(found["highest"]) == expected["highest"]
    assert found["rows_at_risk"] == expected["rows_at_risk"]
    assert found["average"]["decimal"] == pytest.approx(float(expected["average"]), rel=1e-12)


def test_a_population_without_the_table_is_refused():
    table = pa.table({"a": ["x", "y"]})
    with pytest.raises(DataError, match="1 row of the table have fewer look-alikes"):
        ind.risk(table, qi=["a"], population=pa.table({"a": ["x", "z"]}))


@pytest.mark.slow
@pytest.mark.parametrize("frequency", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("factor", [1.0, 1.0000001, 1.5, 10.0, 300.0])
def test_individual_risk_is_the_series(frequency, factor):
    found = individual_risk(np.array([frequency]), np.array([frequency * factor]))[0]
    assert found == pytest.approx(naive.individual(frequency, frequency * factor), rel=1e-9)


def test_individual_risk_of_the_published_closed_forms():
    p = 1 / 15
    q = 1 - p
    found = individual_risk(np.array([1, 2, 10**6]), np.array([15.0, 30.0, 10**9]))
    assert found[0] == pytest.approx(p / q * np.log(1 / p), rel=1e-12)
    assert found[1] == pytest.approx(p / q - (p / q) ** 2 * np.log(1 / p), rel=1e-12)
    assert found[2] == pytest.approx(1e-9, rel=1e-5)


def test_weights_and_households():
    rows = [
        {"a": "x", "w": "10,5", "home": "1"},
        {"a": "x", "w": "20", "home": "2"},
        {"a": "y", "w": "4", "home": "1"},
    ]
    policy = ind.Policy(attributes={"a": {"role": "qi"}}, table={"unlisted": "insensitive", "decimal": ","})
    answer = ind.risk(as_table(rows), policy, weights="w", household="home", rows=True)
    two, one = naive.individual(2, 30.5), naive.individual(1, 4.0)
    assert answer.rows.column("individual").to_pylist() == pytest.approx([two, two, one])
    homes = naive.household([two, two, one], ["1", "2", "1"])
    assert answer.rows.column("household").to_pylist() == pytest.approx([homes["1"], homes["2"], homes["1"]])
    found = answer.measures["household"]
    assert (found["households"], found["basis"]) == (2, "individual")
    assert found["expected_households"]["decimal"] == pytest.approx(sum(homes.values()))
    assert answer.measures["individual"]["expected_matches"]["decimal"] == pytest.approx(2 * two + one)


def test_one_weight_for_all_is_the_size_of_the_population():
    table = pa.table({"a": ["x", "x", "y"]})
    answer = ind.risk(table, qi=["a"], population_size=30)
    expected = 2 * naive.individual(2, 20.0) + naive.individual(1, 10.0)
    assert answer.measures["individual"]["expected_matches"]["decimal"] == pytest.approx(expected)
    estimators = [m["estimator"] for m in answer.document["measures"] if m["measure"] == "population_uniqueness"]
    assert estimators == ["pitman", "zayatz", "snb", "dankar"]


def test_an_estimate_that_rises_with_the_population_says_so():
    # SNB: 6.294 % of 20 times as many people as rows, 6.314 % of 40 times; a true share can only fall
    sizes = [1] * 50 + [2] * 20 + [3] * 10 + [5] * 5 + [20]
    column = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    answer = ind.risk(pa.table({"a": column}), qi=["a"], population_size=20 * len(column))
    told = {m["estimator"]: m["sentence"] for m in answer.document["measures"] if "estimator" in m}
    assert "it would rise to 6.31 % in a population twice as large" in told["snb"]
    assert not any("it would rise" in told[name] for name in ("pitman", "zayatz", "dankar"))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(tables(10), st.integers(1, 4))
def test_special_uniques_are_those_of_the_definition(rows, largest):
    answer = ind.risk(as_table(rows), qi=QUASI, suda=largest, rows=True)
    scores = [naive.suda_score(rows, row, QUASI, largest) for row in rows]
    assert answer.rows.column("suda_score").to_pylist() == scores
    found = answer.measures["suda2"]
    every = [naive.minimal_sample_uniques(rows, row, QUASI, largest) for row in rows]
    assert found["rows"] == sum(map(bool, every))
    for level, count in found["minimal_sample_uniques"].items():
        assert count == sum(len(chosen) == int(level) for sets in every for chosen in sets)
    total = sum(scores)
    for entry in found["contributions"]:
        own = sum(
            weight(len(chosen), len(QUASI), min(largest, len(QUASI)))
            for sets in every
            for chosen in sets
            if entry["column"] in chosen
        )
        assert entry["contribution"] == pytest.approx(own / total if total else 0.0)
        assert sum(value["contribution"] for value in entry["values"]) == pytest.approx(entry["contribution"])


def test_the_worked_example_of_special_uniques():
    # the table of docs/risk.md: four columns, sets of up to three
    rows = [
        dict(zip("abcd", row, strict=True))
        for row in ("umen", "umen", "umep", "umep", "ufep", "ufep", "ufen", "ufen", "rmun", "umun")
    ]
    answer = ind.risk(as_table(rows), qi=list("abcd"), suda=3, rows=True)
    # the last row is alone with (u, u); the one before with r alone
    assert answer.rows.column("suda_score").to_pylist() == [0] * 8 + [6, 2]
    assert naive.minimal_sample_uniques(rows, rows[9], "abcd", 3) == [("a", "c")]


def test_suppressed_rows_are_left_out():
    table = pa.table({"a": ["x", "x", "*"], "b": ["1", "1", "*"]})
    answer = ind.risk(table, qi=["a", "b"], rows=True, suda=2)
    assert answer.document["suppressed_rows"] == 1
    assert answer.measures["prosecutor"]["highest"]["fraction"] == "1/2"
    assert answer.measures["suda2"]["rows"] == 0
    assert answer.rows.column("prosecutor").to_pylist() == [0.5, 0.5, None]
    with pytest.raises(DataError, match="no risk to measure"):
        ind.risk(table.slice(2), qi=["a", "b"])


def test_before_and_after_stand_side_by_side():
    before = pa.table({"a": ["1", "2", "3", "4"], "w": ["1", "1", "1", "1"]})
    after = pa.table({"a": ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]})
    answer = ind.risk(before, qi=["a"], published=after, weights="w")
    assert answer.measures["prosecutor"]["highest"]["fraction"] == "1/1"
    assert answer.published["prosecutor"]["highest"]["fraction"] == "1/2"
    assert "individual" not in answer.published
    assert 'the published table has no column "w"' in answer.document["warnings"][-1]["message"]
    assert "published: highest 0.5" in repr(answer)
    assert (is_above(answer, "0.4"), is_above(answer, "1/2")) == (True, False)


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(3)
    table = pa.table({name: rng.integers(0, 9, 300).astype(str) for name in QUASI})
    turned = table.take(pa.array(np.arange(300)[::-1]))
    ways = [ind.risk(one, qi=QUASI, suda=2, population_size=1000).document for one in (table, turned)]
    assert ways[0] == ways[1]


def test_wrong_use_is_refused():
    table = pa.table({"a": ["x", "y"], "w": ["0.1", "oops"]})
    for how, error, match in (
        ({"threshold": 2}, PolicyError, "is no risk"),
        ({"threshold": "much"}, PolicyError, "is no risk"),
        ({"region": "atlantis"}, PolicyError, "no listed region"),
        ({"region": "germany", "population_size": 3}, PolicyError, "not both"),
        ({"population_size": 1}, PolicyError, "population"),
        ({"weights": "w"}, DataError, "1 of 2 rows have no number"),
        ({"weights": "v"}, SchemaError, 'no column "v"'),
        ({"household": "v"}, SchemaError, 'no column "v"'),
        ({"suda": 0}, PolicyError, "up to 0 columns"),
    ):
        with pytest.raises(error, match=match):
            ind.risk(table, qi=["a"], **how)
    light = pa.table({"a": ["x", "y"], "w": ["0.1", "1"]})
    with pytest.raises(DataError, match="is at least 1"):
        ind.risk(light, qi=["a"], weights="w")


def test_too_many_special_uniques_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_CHECKS", 10)
    with pytest.raises(UnsupportedError, match="too many"):
        ind.risk(pa.table({name: ["x", "y"] for name in "abcdef"}), qi=list("abcdef"), suda=3)
