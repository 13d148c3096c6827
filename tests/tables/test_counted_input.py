"""A source that brings cells with their rows gives the same frequencies, to the byte, as the rows themselves."""

from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError
from indistinct.formats.registry import open_source
from indistinct.formats.source import counted_by
from indistinct.hierarchies import build_hierarchy
from indistinct.tables.count import count

TYPES = {"age": "integer", "zip": "text", "ill": "text"}


def bind(name, texts):
    return build_hierarchy(name, texts, spec=None, type=TYPES.get(name, "text"))


def grouped(source, order):
    """The source with its rows counted by a plain Counter; groups come in any order, some of them in two parts."""

    def read(columns, weight):
        rows = [row for batch in source.batches(columns) for row in zip(*batch.to_pydict().values(), strict=True)]
        groups = [(*row, 1) for row in rows[:2]] + [(*row, times) for row, times in Counter(rows[2:]).items()]
        groups = [groups[place] for place in order(len(groups))]
        for at in range(0, len(groups), 3):
            values = [list(part) for part in zip(*groups[at : at + 3], strict=True)]
            arrays = [pa.array(part, source.types[name]) for name, part in zip(columns, values, strict=False)]
            yield pa.record_batch([*arrays, pa.array(values[-1], pa.int64())], names=[*columns, weight])

    return counted_by(source, read)


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return one == other


def both(table, **options):
    source = open_source(table)
    rows = count(source, ["age", "zip"], ["ill"], bind, **options)
    weighed = count(grouped(source, lambda number: range(number)[::-1]), ["age", "zip"], ["ill"], bind, **options)
    return rows, weighed


rows = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 10, None]),
        st.sampled_from(["01", "1", "", None]),
        st.sampled_from(["flu", "a", None]),
        st.sampled_from(["p1", "p2", "p10", "q"]),
    ),
    min_size=1,
    max_size=40,
)


def table_of(drawn):
    age, zips, ill, who = zip(*drawn, strict=True)
    types = (pa.int64(), pa.string(), pa.string(), pa.string())
    columns = (pa.array(list(part), kind) for part, kind in zip((age, zips, ill, who), types, strict=True))
    return pa.table(list(columns), names=["age", "zip", "ill", "who"])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows, st.booleans())
def test_cells_with_rows_are_counted_as_rows(drawn, persons):
    by_rows, weighed = both(table_of(drawn), person="who" if persons else None)
    assert same(by_rows.frequencies, weighed.frequencies)
    assert sorted(by_rows.rows_of_persons) == sorted(weighed.rows_of_persons)
    assert weighed.cell_of_row is None
    assert weighed.frequencies.total == len(drawn)


@settings(max_examples=20, deadline=None)
@given(rows, st.randoms())
def test_the_order_of_rows_tells_nothing_of_persons(drawn, random):
    shuffled = random.sample(drawn, len(drawn))
    one, other = (count(open_source(table_of(own)), ["age"], ["ill"], bind, person="who") for own in (drawn, shuffled))
    assert same(one.frequencies, other.frequencies)


def test_rows_left_out_are_counted_by_their_weight():
    table = table_of([(1, "a", None, "p")] * 3 + [(1, "a", "flu", "p"), (2, None, "flu", "q")])
    by_rows, weighed = both(table, leave_out=["ill"])
    assert by_rows.left_out == weighed.left_out == 3
    assert same(by_rows.frequencies, weighed.frequencies)
    assert weighed.frequencies.rows.tolist() == [1, 1]


@pytest.mark.parametrize("weigh", [False, True])
def test_rows_without_a_person_are_counted_by_their_weight(weigh):
    source = open_source(table_of([(1, "a", "flu", None)] * 3 + [(1, "a", "flu", "p")]))
    source = grouped(source, range) if weigh else source
    with pytest.raises(DataError, match="3 of 4 rows have no value in the person key"):
        count(source, ["age", "zip"], ["ill"], bind, person="who")


def test_spellings_of_one_number_join():
    texts = pa.table({"age": ["5", "05", "7", "5"], "zip": ["1"] * 4, "ill": ["a"] * 4})
    by_rows, weighed = both(texts)
    assert same(by_rows.frequencies, weighed.frequencies)
    assert weighed.frequencies.rows.tolist() == [3, 1]
