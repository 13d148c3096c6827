"""Counting: cells, canonical order, persons, against a dictionary of Python tuples."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError
from indistinct.formats.registry import open_source
from indistinct.hierarchies import build_hierarchy
from indistinct.tables.classes import classes_of, recoding_of, whole_tuples
from indistinct.tables.count import count
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import lexicographic_order
from indistinct.tables.records import Assignment

cell = st.sampled_from(["", "a", "b", "10", "9", None])
rows = st.lists(
    st.tuples(cell, cell, st.sampled_from(["x", "y", None]), st.sampled_from("pqrs")), min_size=1, max_size=40
)


def counted(table, person=None):
    columns = list(zip(*table, strict=True))
    source = open_source(pa.table(dict(zip(["a", "b", "s", "p"], columns, strict=True))))
    return count(
        source,
        ["a", "b"],
        ["s"],
        lambda name, texts: build_hierarchy(name, texts, spec=None),
        person=person,
        keep_rows=True,
    )


@pytest.mark.slow
@pytest.mark.small
@settings(max_examples=60, deadline=None)
@given(rows)
def test_cells_are_the_distinct_rows_with_their_counts(table):
    result = counted(table)
    frequencies = result.frequencies
    texts = [hierarchy.texts for hierarchy in (*frequencies.quasi, *frequencies.sensitive)]
    cells = [tuple(t[c] for t, c in zip(texts, row, strict=True)) for row in frequencies.codes.tolist()]
    assert dict(zip(cells, frequencies.rows.tolist(), strict=True)) == Counter(row[:3] for row in table)
    assert frequencies.codes.tolist() == sorted(frequencies.codes.tolist())
    assert [cells[number] for number in result.cell_of_row.tolist()] == [row[:3] for row in table]


@pytest.mark.slow
@pytest.mark.small
@settings(max_examples=60, deadline=None)
@given(rows, st.randoms())
def test_order_of_rows_does_not_matter(table, random):
    shuffled = list(table)
    random.shuffle(shuffled)
    left, right = counted(table, "p").frequencies, counted(shuffled, "p").frequencies
    assert left.codes.tolist() == right.codes.tolist()
    assert left.rows.tolist() == right.rows.tolist()
    assert left.persons.single.tolist() == right.persons.single.tolist()


@pytest.mark.slow
@pytest.mark.small
@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 3))
def test_classes_count_distinct_persons(table, modulus):
    frequencies = counted(table, "p").frequencies
    class_of = (np.arange(len(frequencies.start) - 1) % modulus).astype(np.int32)
    assignment = Assignment.of_tuples(frequencies, class_of)
    classes = classes_of(frequencies, assignment)
    texts = [hierarchy.texts for hierarchy in frequencies.quasi]
    number = {
        tuple(t[c] for t, c in zip(texts, codes, strict=True)): int(assignment.class_of[frequencies.start[i]])
        for i, codes in enumerate(frequencies.tuples.tolist())
    }
    persons = [set() for _ in range(assignment.classes)]
    for a, b, _, person in table:
        persons[number[a, b]].add(person)
    assert classes.persons.tolist() == [len(found) for found in persons]


def test_a_missing_person_key_is_an_error_that_counts_them():
    with pytest.raises(DataError, match='2 of 3 rows have no value in the person key "p"'):
        counted([("a", "b", "x", None), ("a", "b", "x", None), ("a", "b", "x", "q")], "p")


def test_a_tuple_split_between_classes_is_refused_with_persons():
    frequencies = counted([("a", "b", "x", "p"), ("a", "b", "x", "q")], "p").frequencies
    halves = Assignment(np.array([0, 0], np.int32), np.array([1, 1]), np.array([0, 1], np.int32), 2)
    with pytest.raises(ValueError, match="split between classes"):
        classes_of(frequencies, halves)


@pytest.mark.small
@settings(max_examples=50, deadline=None)
@given(st.integers(1, 9), st.sampled_from([2, 1000, 10**6, 2**30]), st.integers(0, 2**32 - 1))
def test_keys_grow_fold_and_rehash(columns, largest, seed):
    generator = np.random.default_rng(seed)
    table = KeyTable(columns)
    batches = [
        [generator.integers(0, largest // (4 - part) + 1, 300).astype(np.int32) for _ in range(columns)]
        for part in range(3)
    ]
    numbers = np.concatenate([table.add(batch) for batch in batches])
    everything = np.concatenate([np.column_stack(batch) for batch in batches])
    assert (table.codes()[numbers] == everything).all()
    assert Counter(map(tuple, everything.tolist())) == dict(
        zip(map(tuple, table.codes().tolist()), table.counts.tolist(), strict=True)
    )


def test_lexicographic_order_of_more_bits_than_one_key_holds():
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2**30, (500, 5)).astype(np.int32)
    order = lexicographic_order(codes, [2**30] * 5)
    assert codes[order].tolist() == sorted(codes.tolist())


def test_recoding_is_the_box_of_each_class():
    frequencies = counted([("a", "b", "x", "p"), ("b", "a", "x", "p"), ("b", "b", "y", "p")]).frequencies
    recoding = recoding_of(frequencies, Assignment.of_tuples(frequencies, np.zeros(3, np.int32)))
    assert recoding.lo.tolist() == [[0, 0]]
    assert recoding.hi.tolist() == [[1, 1]]
    assert recoding_of(frequencies, whole_tuples(frequencies)).lo.tolist() == frequencies.tuples.tolist()
