"""Means, medians and modes of classes: what is published, what is claimed, and that a wrong one is found."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
from indistinct.decision.aggregates import deviating
from indistinct.decision.decide import apply, decide, layout_of
from indistinct.session.prepare import prepare

RANGE = {"kind": "range"}
DAYS = ["2024-01-01", "2024-01-02", "2024-01-05"]


def policy_of(aggregate, k=3, algorithm="mdav", **quasi):
    attributes = quasi or {"age": {"role": "qi", "type": "integer", "hierarchy": RANGE}}
    return ind.Policy(
        attributes=attributes,
        privacy=[ind.KAnonymity(k)],
        recoding={"algorithm": algorithm, "aggregate": aggregate},
        table={"unlisted": "insensitive"},
    )


def published(columns, policy):
    return ind.anonymize(pa.table(columns), policy).table.to_pylist()


@pytest.mark.parametrize(
    ("aggregate", "values", "text"),
    [
        ("mean", [1, 2, 2, 9], "3.5"),
        ("median", [1, 2, 2, 9], "2"),
        ("mode", [1, 2, 2, 9], "2"),
        ("mean", [1, 2, 2], "1.67"),
        ("median", [1, 3, 5, 9], "3"),
        ("mode", [9, 9, 1, 1], "1"),
        ("mean", [4, 4, 4], "4"),
        ("mean", [1, None, 4], "2.5"),
        ("median", [None, None, 4], "4"),
        ("mode", [None, None, 4], None),
        ("range", [1, 2, 2, 9], "[1, 9]"),
    ],
)
def test_one_class_of_numbers(aggregate, values, text):
    rows = published({"age": pa.array(values, pa.int64())}, policy_of(aggregate, k=len(values)))
    assert rows == [{"age": text}] * len(values)


def test_every_type_has_its_aggregate():
    columns = {
        "size": ["1,5", "1,6", "1,8"],
        "day": DAYS,
        "grade": ["low", "high", "high"],
        "town": ["A", "B", "B"],
        "kind": ["x", "x", "x"],
    }
    quasi = {
        "size": {"role": "qi", "type": "decimal", "hierarchy": RANGE},
        "day": {"role": "qi", "type": "date", "hierarchy": RANGE},
        "grade": {"role": "qi", "type": "ordinal", "order": ["low", "middle", "high"], "hierarchy": RANGE},
        "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "kind": {"role": "qi"},
    }
    policy = ind.Policy(
        attributes=quasi,
        privacy=[ind.KAnonymity(3)],
        recoding={"algorithm": "mdav", "aggregate": "mean"},
        table={"decimal": ","},
    )
    # 4.9 / 3 = 1.6333..., the days have the mean 2024-01-02 16:00
    expected = {"size": "1,633", "day": "2024-01-03", "grade": "high", "town": "B", "kind": "x"}
    assert published(columns, policy) == [expected] * 3


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 200)), min_size=3, max_size=30),
    aggregate=st.sampled_from(["mean", "median", "mode"]),
    order=st.randoms(use_true_random=False),
)
def test_sums_stay_within_rounding_and_rows_keep_their_columns(values, aggregate, order):
    quasi = {name: {"role": "qi", "type": "integer", "hierarchy": RANGE} for name in ("a", "b")}
    policy = policy_of(aggregate, k=3, **quasi)

    def table(rows):
        return {"a": [a for a, _ in rows], "b": [b for _, b in rows], "row": [json.dumps(row) for row in rows]}

    rows = published(table(values), policy)
    assert Counter(row["row"] for row in rows) == Counter(json.dumps(row) for row in values)
    groups = Counter((row["a"], row["b"]) for row in rows)
    assert min(groups.values()) >= 3
    if aggregate == "mean":
        for at, name in enumerate(("a", "b")):
            total = sum(Fraction(row[name]) for row in rows)
            assert abs(total - sum(row[at] for row in values)) <= Fraction(len(rows), 200)
    shuffled = list(values)
    order.shuffle(shuffled)
    assert published(table(shuffled), policy) == rows


def test_no_coverage_is_claimed(tmp_path):
    policy = policy_of("mean")
    table = pa.table({"age": [1, 2, 4, 50, 51, 53]})
    release = ind.anonymize(table, policy, output=tmp_path / "out.csv")
    assert release.document["declares"] == "perturbing"
    assert release.verification == {"rows_match": True, "coverage": "not proven", "aggregates_match": True}
    assert [w["kind"] for w in release.document["warnings"]].count("perturbing") == 1
    assert release.document["satisfied"]
    found = ind.verify(table, tmp_path / "out.csv", policy).document
    assert found["satisfied"]
    assert found["coverage"]["status"] == "not proven"
    assert "mean" in found["coverage"]["reason"]


def test_a_wrong_aggregate_is_found():
    policy = policy_of("mean", a={"role": "qi", "type": "integer", "hierarchy": RANGE})
    prepared = prepare(pa.table({"a": [1, 2, 4, 50, 51, 53]}), policy)
    decision = apply(prepared, decide(prepared), layout_of(prepared))
    assert deviating(decision.prepared, decision.assignment, decision.recoding) == []
    ((texts, where),) = decision.recoding.aggregates
    assert sorted(texts) == ["2.33", "51.33"]
    for wrong in ("2.34", "2.32", "2", None):
        spoiled = tuple(wrong if text == "2.33" else text for text in texts)
        recoding = replace(decision.recoding, aggregates=((spoiled, where),))
        assert deviating(decision.prepared, decision.assignment, recoding) == ["a"]


@pytest.mark.parametrize(
    ("recoding", "key"),
    [
        ({"algorithm": "optimal", "aggregate": "mean"}, "recoding.aggregate"),
        ({"algorithm": "local", "mode": "relaxed"}, "recoding.mode"),
        ({"algorithm": "hilbert", "partition": 100}, "recoding.partition"),
    ],
)
def test_keys_are_for_some_algorithms(recoding, key):
    with pytest.raises(ind.PolicyError, match=rf"{key}.*the algorithm is"):
        ind.Policy(attributes={"a": {"role": "qi"}}, recoding=recoding)
