"""Applying a recoding: rows kept, order that carries nothing, shared cells, types."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.formats.registry import open_source
from indistinct.hierarchies import build_hierarchy
from indistinct.tables.apply import Layout, load_columns, publish
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import count
from indistinct.tables.records import SUPPRESSED, Assignment


def bind(name, texts):
    spec = {"kind": "range", "bounds": "members"} if name == "age" else None
    return build_hierarchy(name, texts, spec=spec, type="integer" if name == "age" else "text")


def setting(table, *, carried=()):
    source = open_source(table)
    counted = count(source, ["age"], ["ill"], bind, keep_rows=bool(carried))
    return source, counted, load_columns(source, carried) if carried else {}


def test_groups_are_repeated_and_sorted_without_reading_rows():
    table = pa.table({"age": [40, 20, 22, 41], "ill": ["b", "a", "b", "a"]})
    source, counted, _ = setting(table)
    assignment = Assignment.of_tuples(counted.frequencies, np.array([0, 0, 1, 1], np.int32))
    published = publish(
        source, counted, assignment, recoding_of(counted.frequencies, assignment), Layout(("age", "ill"))
    )
    assert published.table().to_pydict() == {
        "age": ["[20, 22]", "[20, 22]", "[40, 41]", "[40, 41]"],
        "ill": ["a", "b", "a", "b"],
    }


def test_suppressed_rows_go_or_are_starred():
    table = pa.table({"age": [40, 20], "ill": ["b", "a"]})
    source, counted, _ = setting(table)
    assignment = Assignment.of_tuples(counted.frequencies, np.array([0, SUPPRESSED], np.int32))
    recoding = recoding_of(counted.frequencies, assignment)
    layout = Layout(("age", "ill"))
    assert publish(source, counted, assignment, recoding, layout).table().to_pydict() == {"age": ["20"], "ill": ["a"]}
    starred = publish(source, counted, assignment, recoding, layout, starred=True)
    assert starred.table().to_pydict() == {"age": ["*", "20"], "ill": ["b", "a"]}


def test_a_divided_cell_deals_out_its_rows_by_their_carried_values():
    table = pa.table({"age": [20, 20, 30], "ill": ["a", "a", "a"], "note": ["z", "m", "k"]})
    source, counted, carried = setting(table, carried=("note",))
    assignment = Assignment(np.array([0, 0, 1], np.int32), np.array([1, 1, 1]), np.array([0, 1, 1], np.int32), 2)
    recoding = recoding_of(counted.frequencies, assignment)
    published = publish(source, counted, assignment, recoding, Layout(("age", "ill", "note"), carried))
    assert published.table().to_pylist() == [
        {"age": "20", "ill": "a", "note": "m"},
        {"age": "[20, 30]", "ill": "a", "note": "k"},
        {"age": "[20, 30]", "ill": "a", "note": "z"},
    ]


def test_rows_that_an_assignment_does_not_know_are_not_published():
    table = pa.table({"age": [20, 30, 40], "ill": ["a", "a", "a"], "note": ["z", "m", "k"]})
    source, counted, carried = setting(table, carried=("note",))
    assignment = Assignment(np.array([0, 2], np.int32), np.array([1, 1]), np.array([0, 0], np.int32), 1)
    recoding = recoding_of(counted.frequencies, assignment)
    published = publish(source, counted, assignment, recoding, Layout(("age", "ill", "note"), carried))
    assert published.table()["note"].to_pylist() == ["k", "z"]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(0, 5)),
            st.sampled_from(["a", "b", None]),
            st.one_of(st.none(), st.floats(0, 1)),
        ),
        min_size=1,
        max_size=30,
    ),
    st.randoms(),
)
def test_nothing_is_lost_and_the_order_of_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    tables = []
    for order in (rows, shuffled):
        age, ill, cost = zip(*order, strict=True)
        table = pa.table({
            "age": pa.array(age, pa.int64()), "ill": pa.array(ill, pa.string()), "cost": pa.array(cost, pa.float64())
        })  # fmt: skip
        source, counted, carried = setting(table, carried=("cost",))
        distinct = len(counted.frequencies.start) - 1
        assignment = Assignment.of_tuples(counted.frequencies, (np.arange(distinct) // 2).astype(np.int32))
        recoding = recoding_of(counted.frequencies, assignment)
        published = publish(source, counted, assignment, recoding, Layout(("age", "ill", "cost"), carried)).table()
        assert published.schema.field("cost").type == pa.float64()
        tables.append(published)
    assert tables[0].equals(tables[1])
    kept = zip(tables[0]["ill"].to_pylist(), tables[0]["cost"].to_pylist(), strict=True)
    assert Counter(kept) == Counter((ill, cost) for _, ill, cost in rows)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from(["x", "y", None]), st.integers(0, 2)),
        min_size=1,
        max_size=25,
    ),
    st.data(),
)
def test_rows_with_other_columns_are_dealt_out_and_sorted_as_defined(rows, data):
    """The twin: rows of a cell in the order of their other values, entry by entry; then sorted by all columns."""
    age, ill, note, stay = zip(*rows, strict=True)
    table = pa.table({"note": pa.array(note, pa.string()), "age": age, "stay": stay, "ill": ill})
    source, counted, carried = setting(table, carried=("note", "stay"))
    cells, classes, entries = [], [], []
    for cell, number in enumerate(counted.frequencies.rows.tolist()):
        first = data.draw(st.integers(1, number))
        for taken in (first, number - first):
            if taken:
                cells.append(cell)
                entries.append(taken)
                classes.append(data.draw(st.integers(0, 1)))
    numbers = {old: new for new, old in enumerate(dict.fromkeys(classes))}
    class_of = np.array([numbers[old] for old in classes], np.int32)
    assignment = Assignment(np.array(cells, np.int32), np.array(entries), class_of, len(numbers))
    recoding = recoding_of(counted.frequencies, assignment)
    names = ("note", "age", "stay", "ill")
    published = publish(source, counted, assignment, recoding, Layout(names, carried)).table()

    def key(row):
        return tuple((value is not None, value) for value in row)

    cell_of = {pair: cell for cell, pair in enumerate(sorted({(row[0], row[1]) for row in rows}))}
    waiting = {cell: [] for cell in cell_of.values()}
    for row in sorted(rows, key=lambda row: key((row[2], row[3]))):
        waiting[cell_of[row[0], row[1]]].append(row)
    labels, _ = recoding.labels(0)
    expected = []
    for cell, taken, number in zip(cells, entries, class_of.tolist(), strict=True):
        for _ in range(taken):
            row = waiting[cell].pop(0)
            expected.append((row[2], labels[recoding.labels(0)[1][number]], row[3], row[1]))
    assert [tuple(row[name] for name in names) for row in published.to_pylist()] == sorted(expected, key=key)


def test_shuffled_rows_are_the_same_rows():
    table = pa.table({"age": list(range(50)), "ill": ["a"] * 50})
    source, counted, _ = setting(table)
    assignment = Assignment.of_tuples(counted.frequencies, np.arange(50, dtype=np.int32))
    recoding = recoding_of(counted.frequencies, assignment)
    ages = (
        publish(source, counted, assignment, recoding, Layout(("age", "ill"), order="shuffled"))
        .table()["age"]
        .to_pylist()
    )
    assert sorted(ages, key=int) == [str(age) for age in range(50)]
    assert ages != sorted(ages, key=int)


@pytest.mark.parametrize("kept", [["b", "a", "c"]])
def test_kept_order_needs_rows(kept):
    table = pa.table({"age": [3, 1, 2], "ill": kept})
    source = open_source(table)
    counted = count(source, ["age"], ["ill"], bind, keep_rows=True)
    assignment = Assignment.of_tuples(counted.frequencies, np.arange(3, dtype=np.int32))
    recoding = recoding_of(counted.frequencies, assignment)
    published = publish(source, counted, assignment, recoding, Layout(("age", "ill"), order="kept"))
    assert published.table()["ill"].to_pylist() == kept
