"""Labels that are read at once say what the reader of single labels says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.hierarchies import ranges, suppression, taxonomy
from indistinct.hierarchies.labels import Reader
from indistinct.tables.records import Recoding

numbers = st.one_of(
    st.integers(-30, 30).map(str),
    st.tuples(st.integers(-30, 30), st.integers(0, 99)).map(lambda pair: f"{pair[0]}.{pair[1]:02}"),
    st.sampled_from(["-0.5", "0.5", "-0", "00012", "1e1", "123456789012345678", "1.2345678901"]),
)
days = st.dates().map(str) | st.sampled_from(["2024-02-29", "2024-02-30", "2024-03", "1970-01-01 12:00:00"])


def labels_of(ends):
    brackets = st.tuples(st.sampled_from("[("), ends, st.sampled_from([", ", ",", " - "]), ends, st.sampled_from("])"))
    return st.one_of(brackets.map("".join), ends, st.sampled_from([None, "*", "5+", "<= 3", "{1, 2}", "2024", "x"]))


def agree_one_by_one(reader, labels, texts):
    # what ``find`` lists of one label, which never cuts
    covered = [reader.covers(label) for label in labels]
    return [[bool(covered[i][j]) for j in range(len(texts))] for i in range(len(labels))]


def agree(reader, labels, texts):
    label, value = np.divmod(np.arange(len(labels) * len(texts)), len(texts))
    return reader.agrees(labels, label, value).reshape(len(labels), len(texts)).tolist()


def is_read(kind):
    def known(text):
        try:
            Reader([text], kind)._ordered()
        except Exception:  # noqa: BLE001  # texts that are no value of the type
            return False
        return True

    return known


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize(("kind", "ends"), [("integer", numbers), ("decimal", numbers), ("date", days)])
def test_labels_read_at_once_agree_with_the_reader_of_single_ones(kind, ends, data):
    texts = data.draw(st.lists(ends.filter(is_read(kind)) | st.none(), min_size=1, max_size=8, unique=True))
    labels = data.draw(st.lists(labels_of(ends), min_size=1, max_size=8))
    token = data.draw(st.sampled_from(["*", "[0, 5]"]))
    whole = Reader(texts, kind, token=token)
    assert agree(whole, labels, texts) == agree_one_by_one(Reader(texts, kind, token=token), labels, texts)


@pytest.mark.parametrize(
    ("kind", "label", "texts", "expected"),
    [
        ("integer", "[20, 30)", ["19", "20", "29", "30"], [False, True, True, False]),
        ("integer", "(20, 30]", ["19", "20", "29", "30"], [False, False, True, True]),
        ("integer", "[-3, -1]", ["-4", "-3", "-1", "0"], [False, True, True, False]),
        ("decimal", "[-0.5, 0.25)", ["-0.50", "-0.51", "0.249", "0.25"], [True, False, True, False]),
        ("date", "[2024-02-28, 2024-03-01]", ["2024-02-27", "2024-02-29", "2024-03-01"], [False, True, True]),
        ("date", "[2024-02-28, 2024-03-01]", ["2024-03-01 23:59:59", "2024-03-02 00:00:01"], [True, False]),
        ("date", "[2024-02-28, 2024-03-01)", ["2024-02-29", "2024-03-01", "2024-03-01 10:00:00"], [True, False, False]),
    ],
)
def test_ends_of_labels(kind, label, texts, expected):
    reader = Reader([*texts, None], kind)
    assert agree(reader, [label, "*"], [*texts, None]) == [[*expected, False], [True] * (len(texts) + 1)]


def test_a_name_that_looks_like_a_range_is_a_name():
    rows = [["1", "[0, 5]"], ["7", "[0, 5]"], ["3", "rest"]]
    assert agree(Reader(["1", "3", "7"], "integer", rows=rows), ["[0, 5]"], ["1", "3", "7"]) == [[True, False, True]]


HIERARCHIES = [
    suppression.build("sex", ["f", "m", None]),
    taxonomy.build("ill", [*"abcd"], [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]),
    ranges.build("age", ["1", "3", None], bounds="snapped", step=2),
]


@pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=lambda own: own.attribute)
def test_labels_of_many_boxes_are_those_of_each(hierarchy):
    boxes = [(lo, hi) for lo in range(hierarchy.size) for hi in range(lo, hierarchy.size)]
    lo, hi = (np.array([[box[end]] for box in boxes], np.int32) for end in (0, 1))
    recoding = Recoding((hierarchy,), lo, hi)
    texts, which = recoding.labels(0)
    assert [texts[number] for number in which] == [hierarchy.label(*box) for box in boxes]
    assert len(set(texts)) == len(texts)
