"""What holds for every hierarchy of every kind, whatever the values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import HierarchyError
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.labels import Reader

pytestmark = pytest.mark.small

ORDER = [f"o{number}" for number in range(9)]
GIVEN = {"ordinal": {"order": ORDER}}

integers = st.integers(-60, 160).map(str) | st.sampled_from(["007", "7.0", "+8"])
decimals = st.integers(-5000, 5000).map(lambda n: f"{n / 100:.2f}") | st.sampled_from(["0.5", "1e2", "3"])
dates = st.dates().map(str) | st.datetimes().map(lambda moment: moment.isoformat(sep=" "))
codes = st.text("01ab", max_size=4)
VALUES = {"integer": integers, "decimal": decimals, "date": dates, "ordinal": st.sampled_from(ORDER), "text": codes}

SPECS = {
    "integer": [
        {"kind": "intervals", "widths": [5, 10, 20], "bottom": 0, "top": 90},
        {"kind": "intervals", "widths": [1, 3], "origin": 2},
        {"kind": "intervals", "breaks": [[-60, 0, 17, 18, 90, 200], [-60, 18, 200]]},
        {"kind": "range"},
        {"kind": "range", "bounds": "snapped", "step": 7},
        {"kind": "range", "bounds": "region"},
    ],
    "decimal": [
        {"kind": "intervals", "widths": ["0.25", 1, 10], "top": "12.5"},
        {"kind": "range"},
        {"kind": "range", "bounds": "members"},
        {"kind": "range", "bounds": "region"},
    ],
    "date": [
        {"kind": "dates", "levels": ["day", "month", "quarter", "half", "year", "decade", "century"]},
        {"kind": "dates", "levels": ["day", "week"]},
        {"kind": "range"},
        {"kind": "range", "bounds": "members"},
        {"kind": "range", "bounds": "region"},
    ],
    "ordinal": [
        {"kind": "ordinal", "sizes": [2, 4]},
        {"kind": "ordinal", "groups": [[ORDER[:3], ORDER[3:5], ORDER[5:]]]},
        {"kind": "range"},
        {"kind": "range", "bounds": "region"},
        {"kind": "range", "bounds": "snapped", "step": 4},
    ],
    "text": [
        {"kind": "masking", "character": "#"},
        {"kind": "masking", "from": "left", "character": "#"},
        {"kind": "suppress"},
    ],
}
CASES = [(type_, spec) for type_, specs in SPECS.items() for spec in specs]


@st.composite
def columns(draw):
    type_, spec = draw(st.sampled_from(CASES))
    texts = draw(st.lists(VALUES[type_], unique=True, max_size=12))
    if draw(st.booleans()):
        texts.append(None)
    return type_, spec, texts, draw(st.permutations(texts))


@st.composite
def trees(draw):
    """Rows of a random hierarchy in random order, and some of its leaves as values."""
    height, leaves = draw(st.integers(0, 3)), draw(st.integers(1, 9))
    groups = list(range(leaves))
    columns = [[f"v{number}" for number in groups]]
    for level in range(height):
        number = {group: draw(st.integers(0, leaves)) for group in dict.fromkeys(groups)}
        groups = [number[group] for group in groups]
        columns.append([f"level {level} group {group}" for group in groups])
    if draw(st.booleans()):
        columns.append(["*"] * leaves)
    rows = draw(st.permutations(list(zip(*columns, strict=True))))
    texts = draw(st.lists(st.sampled_from(columns[0]), unique=True))
    return rows, texts + [None] * draw(st.integers(0, 1))


def check_levels(found, *, floors=False):
    missing = found.missing
    if not floors:
        assert found.levels[0].node_of.tolist() == list(range(found.size))
    before = None
    for level in found.levels:
        nodes = level.node_of.tolist()
        assert level.node_of.dtype == np.int32
        # numbered in value order, so that every node is a run
        assert nodes == sorted(nodes)
        assert sorted(set(nodes)) == list(range(len(set(nodes))))
        assert len(level.labels) == len(level.costs) >= len(set(nodes))
        assert all(isinstance(cost, Fraction) and 0 <= cost <= 1 for cost in level.costs)
        if before is not None:
            parent = {}
            for fine, coarse in zip(before.node_of.tolist(), nodes, strict=True):
                assert parent.setdefault(fine, coarse) == coarse  # nested
                assert before.costs[fine] <= level.costs[coarse]  # monotone
        before = level
    if missing >= 0:
        assert found.texts[-1] is None
        for level in found.levels:
            if level.labels != (found.root,):
                assert (level.node_of == level.node_of[missing]).sum() == 1  # joins only at the root


def check_labels(found, reader):
    for number, level in enumerate(found.levels):
        for node in range(int(level.node_of.max(initial=-1)) + 1):
            members = np.flatnonzero(level.node_of == node)
            covered = reader.find(found.node_label(number, node))
            assert set(members) <= set(covered.tolist())
            assert set(covered.tolist()) == set(members)  # and nothing else that occurs


@pytest.mark.slow
@given(columns())
@settings(max_examples=250, deadline=None)
def test_levels_nest_costs_grow_and_labels_cover(column):
    type_, spec, texts, shuffled = column
    given_ = GIVEN.get(type_, {})
    found = build_hierarchy("x", texts, spec=spec, type=type_, **given_)
    check_levels(found, floors=bool({"top", "bottom", "levels"} & spec.keys()))
    told = build_hierarchy("x", texts, spec=spec, type=type_, floors=False, **given_)
    check_levels(told)
    assert [level.labels for level in told.levels[1:]] == [level.labels for level in found.levels[1:]]
    assert set(found.codes()) == set(texts)
    reader = Reader(found.texts, type_, character=spec.get("character", "*"), **given_)
    check_labels(found, reader)
    again = build_hierarchy("x", shuffled, spec=spec, type=type_, **given_)
    assert again.texts == found.texts
    assert [level.labels for level in again.levels] == [level.labels for level in found.levels]
    if found.is_range:
        check_range(found, reader)
    else:
        check_boxes(found, reader)


def check_range(found, reader):
    present = found.size - (found.missing >= 0)
    for lo in range(present):
        for hi in range(lo, present):
            label, cost = found.label(lo, hi), found.cost(lo, hi)
            assert set(range(lo, hi + 1)) <= set(reader.find(label).tolist())
            assert 0 <= cost <= 1
            assert abs(found.upper[hi] - found.lower[lo] - cost) < 1e-12
            assert lo == hi or cost >= max(found.cost(lo, hi - 1), found.cost(lo + 1, hi))
    if found.missing > 0:
        assert found.cost(0, found.missing) == 1
        assert found.label(0, found.missing) == "*"
        assert found.lower[found.missing] == found.upper[found.missing] == 0


def check_boxes(found, reader):
    for lo in range(found.size):
        for hi in range(lo, found.size):
            assert set(range(lo, hi + 1)) <= set(reader.find(found.label(lo, hi)).tolist())


@pytest.mark.slow
@given(trees())
@settings(max_examples=150, deadline=None)
def test_taxonomies(tree):
    rows, texts = tree
    found = build_hierarchy("x", texts, spec={"rows": rows})
    check_levels(found)
    check_labels(found, Reader(found.texts, rows=rows, token="-"))  # noqa: S106
    leaves = {row[0] for row in rows}
    tops = {row[-1] for row in rows}
    total = len(leaves) + (None in texts)
    for number, level in enumerate(found.levels):
        for node, label in enumerate(level.labels):
            under = sum(row[number] == label for row in rows) + (number > 0 and {label} == tops and None in texts)
            if label:
                assert level.costs[node] == (Fraction(max(under, 1) - 1, total - 1) if total > 1 else 0)


def test_the_cases_of_this_file_cover_all_kinds():
    assert {spec["kind"] for _, spec in CASES} == {"intervals", "masking", "dates", "ordinal", "range", "suppress"}
    with pytest.raises(HierarchyError):
        build_hierarchy("x", ["v"], spec={"rows": [("w", "*")]})
