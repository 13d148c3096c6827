"""Queries on decisions: answers of a reader by hand and by the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.hierarchies import build_hierarchy
from indistinct.tables.classes import recoding_of, whole_tuples
from indistinct.tables.count import frequencies_of
from indistinct.tables.records import Assignment
from indistinct.utility.code_queries import CodeQuery, code_queries, estimates, query_error

pytestmark = pytest.mark.small


def counted(quasi, values):
    """Count rows of one column, whose values go to a root or stay, and a sensitive one."""
    columns = [sorted(set(quasi)), sorted(set(values))]
    rows = [(columns[0].index(one), columns[1].index(other)) for one, other in zip(quasi, values, strict=True)]
    cells, number = np.unique(np.array(rows, np.int32), axis=0, return_counts=True)
    one, other = (build_hierarchy(name, columns[at], spec={"kind": "suppress"}) for at, name in enumerate("qs"))
    return frequencies_of((one,), (other,), np.ascontiguousarray(cells), number.astype(np.int64))


def answers(frequencies, assignment, *ranges):
    asked = [CodeQuery(own, 1) for own in ranges]
    return estimates(frequencies, assignment, recoding_of(frequencies, assignment), asked)


def classes(frequencies, *numbers, group_of=None):
    class_of = np.array(numbers, np.int32)
    cells = np.arange(len(frequencies.rows), dtype=np.int32)
    groups = None if group_of is None else np.array(group_of, np.int32)
    return Assignment(
        cells, frequencies.rows, class_of, int(class_of.max()) + 1, group_of=groups,
        groups=0 if groups is None else int(groups.max()) + 1,
    )  # fmt: skip


def test_classes_by_hand():
    # rows A x, B y, B y, C x; one class holds A and B, whose root covers all three values; C stays
    frequencies = counted("ABBC", "xyyx")
    found = classes(frequencies, 0, 0, 1)
    told = answers(frequencies, found, ((0, 0, 0),), ((0, 0, 0), (1, 0, 0)), ((0, 2, 2), (1, 0, 0)))
    # a third of 3 rows; a third of the one row with x; the same and the row of C
    assert told == pytest.approx([1.0, 1 / 3, 1 / 3 + 1])
    asked = [CodeQuery(((0, 0, 0), (1, 0, 0)), 1)]
    half = query_error(frequencies, found, recoding_of(frequencies, found), asked, sampled=0.5)
    assert half == {"mean": pytest.approx(1 / 3), "median": pytest.approx(1 / 3), "queries": 1}  # 2/3 instead of 1
    assert query_error(frequencies, found, recoding_of(frequencies, found), []) is None


def test_groups_by_hand():
    frequencies = counted("ABBC", "xyyx")
    found = classes(frequencies, 0, 1, 2, group_of=[0, 0, 1])  # group 0: A, B, B with x, y, y
    told = answers(
        frequencies, found, ((0, 0, 0), (1, 0, 0)), ((0, 1, 1), (1, 1, 1)), ((0, 0, 2), (1, 0, 0)), ((0, 2, 2),)
    )
    assert told == pytest.approx([1 * 1 / 3, 2 * 2 / 3, 1 + 1, 1.0])


def test_suppressed_rows_count_nothing():
    frequencies = counted("ABBC", "xyyx")
    cells = np.arange(3, dtype=np.int32)
    found = Assignment(cells, frequencies.rows, np.array([0, 1, -1], np.int32), 2)
    assert answers(frequencies, found, ((0, 0, 2),)) == [3.0]


ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("xyz")), min_size=1, max_size=20)


@pytest.mark.slow
@settings(deadline=None)
@given(rows=ROWS)
def test_nothing_lost_is_no_error(rows):
    frequencies = counted(*zip(*rows, strict=True))
    whole = whole_tuples(frequencies)
    asked = code_queries(frequencies, "s", 20)
    assert asked == code_queries(frequencies, "s", 20)
    found = query_error(frequencies, whole, recoding_of(frequencies, whole), asked)
    assert found == {"mean": 0.0, "median": 0.0, "queries": len(asked)}
    texts = [[h.texts for h in side] for side in (frequencies.quasi, frequencies.sensitive)]
    for query in asked:  # the exact answer, row by row
        (_, low, high), (place, first, last) = query.ranges
        assert place == 1
        inside = sum(q in texts[0][0][low : high + 1] and s in texts[1][0][first : last + 1] for q, s in rows)
        assert query.actual == inside > 0


@pytest.mark.slow
@settings(deadline=None)
@given(rows=ROWS, data=st.data())
def test_groups_by_the_definition(rows, data):
    frequencies = counted(*zip(*rows, strict=True))
    cells = len(frequencies.rows)
    group = data.draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    group = np.unique(group, return_inverse=True)[1].tolist()
    found = classes(frequencies, *frequencies.tuple_of.tolist(), group_of=group)
    for query in code_queries(frequencies, "s", 5):
        (_, low, high), (_, first, last) = query.ranges
        expected = 0.0
        for own in set(group):
            inside = [place for place in range(cells) if group[place] == own]
            size = sum(frequencies.rows[place] for place in inside)
            share = sum(frequencies.rows[p] for p in inside if first <= frequencies.codes[p, 1] <= last) / size
            expected += share * sum(frequencies.rows[p] for p in inside if low <= frequencies.codes[p, 0] <= high)
        assert answers(frequencies, found, query.ranges) == [pytest.approx(expected)]
