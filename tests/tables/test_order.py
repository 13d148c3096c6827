"""Sorting rows of codes and numbering keys, against Python's own sorting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.tables.order import numbered, numbered_rows, run_starts, sorted_rows


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=30), st.sampled_from([7, 1 << 61]))
def test_rows_are_sorted_as_tuples_are_whether_they_fit_into_a_number_or_not(rows, size):
    columns = [np.array([row[place] for row in rows], np.int32) for place in range(2)]
    first, second = sorted_rows(columns, [4, size])
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(rows)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=40), st.sampled_from([21, 10_000]))
def test_keys_are_numbered_in_their_order(keys, bound):
    distinct, which = numbered(np.array(keys, np.int64), bound)
    assert distinct.tolist() == sorted(set(keys))
    assert distinct[which].tolist() == keys


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=30), st.sampled_from([7, 1 << 61]))
def test_equal_rows_get_one_number_in_the_order_of_the_rows(rows, size):
    first, number = numbered_rows(np.array(rows, np.int32).reshape(-1, 2), [4, size])
    distinct = sorted(set(rows))
    assert first.tolist() == [rows.index(row) for row in distinct]
    assert number.tolist() == [distinct.index(row) for row in rows]


def test_runs_begin_where_any_column_changes():
    rows = np.array([[0, 1], [0, 1], [0, 2], [1, 2]], np.int32)
    assert run_starts(rows).tolist() == [True, False, True, True]
    assert run_starts(rows[:0]).tolist() == []
