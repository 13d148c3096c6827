"""Distinction, separation and minimal unique column sets against their slow twins; profiles of tables."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_risk as naive
from indistinct.errors import PolicyError, UnsupportedError
from indistinct.risk import unique_columns as module
from indistinct.risk.column_keys import combined
from indistinct.risk.distinction import distinction, separation
from indistinct.risk.unique_columns import unique_columns

tables = st.integers(1, 6).flatmap(
    lambda wide: st.lists(st.lists(st.integers(0, 3), min_size=wide, max_size=wide), min_size=1, max_size=20)
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(tables, st.integers(1, 6), st.sampled_from([0, 1, 2]), st.sampled_from([(), (2,), (3, 7)]))
def test_unique_sets_are_those_of_the_definition(rows, size, pairs, first):
    names = range(len(rows[0]))
    columns = [np.array([row[name] for row in rows], np.int32) for name in names]
    with pytest.MonkeyPatch.context() as patch:  # small tables reach every stage, and subsets that are given up
        patch.setattr(module, "PAIRS_PER_ROW", pairs)
        patch.setattr(module, "FIRST_ROWS", first)
        found = unique_columns(columns, size)
    assert list(found.sets) == naive.unique_sets([dict(enumerate(row)) for row in rows], names, min(size, len(rows[0])))
    copies = [(one, other) for other in range(len(rows)) for one in range(other) if rows[one] == rows[other]]
    assert (found.copies in copies) if copies else (found.copies is None)


@pytest.mark.slow
def test_many_rows_take_all_stages_of_the_search():
    rng = np.random.default_rng(5)
    n = 1 << 18
    base = rng.permutation(n).astype(np.int32)
    columns = [base // 512, base % 512, rng.integers(0, 3000, n).astype(np.int32), np.zeros(n, np.int32)]
    # the first two together are a key, each alone is not; others are not unique by the birthday bound, checked here
    found = unique_columns([np.ascontiguousarray(column) for column in columns], 3)
    for chosen in found.sets:
        assert len(np.unique(combined([columns[i] for i in chosen], [n] * len(chosen)))) == n
    assert (0, 1) in found.sets
    assert not any(3 in chosen for chosen in found.sets)
    # and none is left out
    every = [
        chosen
        for chosen in combinations(range(4), 2)
        if len(np.unique(combined([columns[i] for i in chosen], [n] * 2))) == n
    ]
    assert [chosen for chosen in found.sets if len(chosen) == 2] == every


def test_two_equal_rows_end_the_search():
    found = unique_columns([np.array([1, 0, 1], np.int32), np.array([2, 0, 2], np.int32)])
    assert (found.sets, found.copies) == ((), (0, 2))


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 5)
    with pytest.raises(UnsupportedError, match="too many to consider"):
        unique_columns([np.array([0, 1], np.int32)] * 5, 2)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_distinction_and_separation(rows):
    counts = np.array([rows.count(row) for row in sorted(set(rows))], np.int64)
    twins = [{"a": a, "b": b} for a, b in rows]
    assert distinction(counts) == naive.distinction(twins, "ab")
    assert separation(counts) == naive.separation(twins, "ab")


def test_separation_of_very_many_rows_is_exact():
    assert separation(np.array([2**31, 2**31])) == Fraction(2**31, 2**32 - 1)


def test_keys_that_do_not_fit_are_numbered():
    columns = [np.array([0, 2**30, 0, 2**30], np.int32)] * 3
    keys = combined(columns, [2**31 - 1] * 3)
    assert (keys[0] == keys[2], keys[1] == keys[3], keys[0] == keys[1]) == (True, True, False)


def test_a_profile_says_what_is_there():
    rows = 40
    table = pa.table(
        {
            "patient_id": [f"p{i // 2}" for i in range(rows)],
            "iban": ["DE89370400440532013000", "GB82WEST12345698765432"] * (rows // 2),
            "zip": ["02138", "10115"] * (rows // 2),
            "age": [str(20 + i) for i in range(rows)],
            "diagnosis": ["flu", "ulcer", None, "flu"] * (rows // 4),
        }
    )
    answer = ind.profile(table)
    columns = {column["column"]: column for column in answer.document["columns"]}
    assert answer.roles["iban"] == "identifying"
    assert columns["iban"]["identifier"] == {"kind": "IBAN", "area": "EU", "matched": 2, "looked_at": 2}
    assert columns["patient_id"]["person_key"] is True
    assert columns["diagnosis"]["missing"] == 10
    assert answer.document["unique_sets"]["sets"] == [
        ["age"],
        ["patient_id", "iban"],
        ["patient_id", "zip"],
        ["patient_id", "diagnosis"],
    ]
    verdicts = {item["column"]: (item["verdict"], item["number"]) for item in answer.document["safe_harbor"]}
    assert verdicts == {
        "patient_id": ("remove", 18),
        "iban": ("remove", 10),
        "zip": ("change", 2),
        "age": ("change", 3),
        "diagnosis": ("keep", None),
    }
    assert answer.document["quasi_identifiers"]["columns"] == ["zip", "age"]
    assert "[attributes.zip]" in answer.policy
    assert "p1" not in str({**answer.document, "policy": ""})
    assert "patient_id" in repr(answer)


def test_a_profile_without_sets_and_a_wrong_size():
    table = pa.table({"a": ["x", "x"], "b": ["y", "y"]})
    assert ind.profile(table).document["unique_sets"]["sentence"].startswith("two rows are equal in every column")
    assert ind.profile(table, max_size=0).document["unique_sets"]["sets"] == []
    with pytest.raises(PolicyError, match="up to -1 columns"):
        ind.profile(table, max_size=-1)
