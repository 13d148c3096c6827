from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from indistinct.errors import PolicyError
from indistinct.hierarchies import build_hierarchy, masking, preview, taxonomy
from indistinct.hierarchies.hierarchy import Fractions, runs

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("spec", "type_", "kind", "height"),
    [
        (None, "text", "identity", 0),
        ({"kind": "suppress"}, "text", "suppress", 1),
        ({"kind": "masking", "from": "left", "character": "#"}, "text", "masking", 3),
        ({"kind": "masking", "from_": "right", "character": None}, "text", "masking", 3),
        ({"kind": "intervals", "widths": [5, 10], "breaks": None}, "integer", "intervals", 3),
        ({"kind": "range"}, "integer", "range", 1),
        ({"kind": "range", "bounds": "region"}, "decimal", "range", 1),
        ({"rows": [("100", "a", "*"), ("200", "b", "*")]}, "text", "taxonomy", 2),
    ],
)
def test_a_specification_names_its_kind(spec, type_, kind, height):
    found = build_hierarchy("x", ["200", "100"], spec=spec, type=type_)
    assert (found.kind, found.height, found.texts) == (kind, height, ("100", "200"))


def test_typed_kinds():
    days = build_hierarchy("d", ["2024-03-31"], spec={"kind": "dates", "levels": ["month"]}, type="date")
    assert days.levels[1].labels == ("2024-03",)
    sizes = build_hierarchy("s", ["S"], spec={"kind": "ordinal", "sizes": [2]}, type="ordinal", order=["S", "M"])
    assert sizes.levels[1].labels == ("[S, M]",)


@pytest.mark.parametrize(
    ("spec", "type_", "message"),
    [
        ({"kind": "interval"}, "integer", 'no kind "interval"; choose intervals, masking, dates'),
        ({}, "text", 'no kind "None"'),
        ({"kind": "masking", "width": 5}, "text", 'kind "masking" has no key "width"; it takes from, character'),
        ({"kind": "suppress", "character": "x"}, "text", "takes no other key"),
        ({"kind": "intervals", "widths": [5]}, "text", 'kind "intervals" needs type integer or decimal, not text'),
        ({"kind": "masking"}, "integer", "needs type text"),
        ({"kind": "dates", "levels": ["month"]}, "text", "needs type date"),
        ({"kind": "dates"}, "date", 'needs "levels"'),
        ({"kind": "file"}, "text", 'needs "file"'),
        ({"kind": "ordinal", "sizes": [2]}, "text", "needs type ordinal"),
        ({"kind": "range"}, "text", "needs type integer or decimal or date or ordinal"),
    ],
)
def test_mistakes_in_a_specification(spec, type_, message):
    with pytest.raises(PolicyError, match=message):
        build_hierarchy("x", ["1"], spec=spec, type=type_)


def test_level_bounds_and_weight():
    found = build_hierarchy("z", ["12"], spec={"kind": "masking"}, weight="0.5", min_level=1, max_level=2)
    assert (found.weight, found.min_level, found.max_level) == (Fraction(1, 2), 1, 2)
    for low, high in ((0, 3), (2, 1), (-1, None), (3, None)):
        with pytest.raises(PolicyError, match="run from 0 to 2"):
            build_hierarchy("z", ["12"], spec={"kind": "masking"}, min_level=low, max_level=high)


def test_fractions_are_a_sequence_of_exact_numbers():
    costs = Fractions(np.array([0, 1, 2]), 6)
    assert costs == (0, Fraction(1, 6), Fraction(1, 3))
    assert (len(costs), costs[-1], costs[:2]) == (3, Fraction(1, 3), (0, Fraction(1, 6)))
    assert costs != [0, 1]
    assert (costs == 5) is False
    assert hash(costs) == hash(tuple(costs))
    assert costs.floats().tolist() == [0.0, 1 / 6, 1 / 3]
    huge = Fractions(np.array([10**30], dtype=object), 2 * 10**30)
    assert (huge[0], huge.floats().tolist()) == (Fraction(1, 2), [0.5])
    assert repr(Fractions(np.array([1]), 2)) == "Fractions(array([1]), 2)"


def test_costs_as_doubles():
    found = masking.build("z", ["11", "12", "21"])
    assert found.levels[1].float_costs().tolist() == [0.5, 0.0]
    assert found.levels[2].float_costs().tolist() == [1.0]


def test_runs():
    assert [part.tolist() for part in runs(np.zeros(0))] == [[], []]
    assert runs(np.array([2**70, 2**70, 1], dtype=object))[0].tolist() == [0, 0, 1]


def test_preview_counts_classes_and_the_smallest():
    found = masking.build("zip", ["101", "102", "201", None])
    levels = preview(found, [3, 1, 2, 4])
    assert [(level.classes, level.smallest, level.largest) for level in levels] == [
        (4, 1, 4),
        (3, 2, 4),
        (3, 2, 4),
        (1, 10, 10),
    ]
    # level 1 joins two of four values: (2 - 1) / (4 - 1) for 4 of 10 rows
    assert levels[1].loss == Fraction(1, 3) * Fraction(4, 10)
    assert levels[1].examples == (("10*", 4), ("20*", 2), (None, 4))
    assert json.loads(json.dumps(levels[1].to_dict()))["labels"][2] == {"label": None, "rows": 4}


def test_preview_of_rows_and_of_nothing():
    found = taxonomy.build("c", ["r", "b", "w"], [("r", "r", "*"), ("b", "Other", "*"), ("w", "Other", "*")])
    assert preview(found, [4, 2, 1])[1].smallest == 3  # "Other" of three is no class of four
    assert preview(found, [0, 0, 0])[0].classes == 0


@pytest.mark.slow
def test_a_hundred_thousand_values_build_at_once():  # about 1.2 s; a quadratic step would take minutes
    whole = [str(number) for number in range(0, 700_000, 7)]
    parts = [f"{number / 100:.2f}" for number in range(100_000)]
    zips = [f"{number:06}" for number in range(100_000)]
    for texts, type_, spec in [
        (whole, "integer", {"kind": "range"}),
        (parts, "decimal", {"kind": "range"}),
        (parts, "decimal", {"kind": "range", "bounds": "region"}),
        (whole, "integer", {"kind": "intervals", "widths": [5, 50, 500], "top": 600_000}),
        (parts, "decimal", {"kind": "intervals", "widths": ["0.05", 10]}),
        (zips, "text", {"kind": "masking"}),
    ]:
        assert build_hierarchy("x", texts[::-1], spec=spec, type=type_).size == 100_000
