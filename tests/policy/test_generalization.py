"""Specifications of hierarchies: all that can be refused without the table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import PolicyError
from indistinct.policy import Attribute


def attribute(kind_of_type="text", **spec):
    order = ["a", "b"] if kind_of_type == "ordinal" else None
    return Attribute(role="qi", type=kind_of_type, order=order, hierarchy=spec)


@pytest.mark.parametrize(
    ("kind_of_type", "spec"),
    [
        ("integer", {"kind": "intervals", "widths": [5, 10, 20], "origin": 0, "bottom": 0, "top": 90}),
        ("integer", {"kind": "intervals", "breaks": [[18, 25, 60, 100], [18, 60, 100]]}),
        ("text", {"kind": "masking", "from": "left", "character": "#"}),
        ("date", {"kind": "dates", "levels": ["month", "quarter", "year", "decade"]}),
        ("date", {"kind": "dates", "levels": ["day", "week"]}),
        ("ordinal", {"kind": "ordinal", "sizes": [2, 4]}),
        ("ordinal", {"kind": "ordinal", "groups": [[["a"], ["b"]]]}),
        ("decimal", {"kind": "range", "bounds": "snapped", "step": 0.5}),
        ("date", {"kind": "range", "bounds": "snapped", "step": "quarter"}),
        ("text", {"kind": "suppress"}),
        ("integer", {"file": "h.csv"}),
    ],
)
def test_valid_specifications_come_back_as_written(kind_of_type, spec):
    read = attribute(kind_of_type, **spec)
    assert Attribute(role="qi", type=kind_of_type, order=read.order, hierarchy=read.spec) == read
    # only defaults may be left out
    assert {key: value for key, value in spec.items() if key in read.spec} == read.spec


@pytest.mark.parametrize(
    ("kind_of_type", "spec", "place", "words"),
    [
        (
            "integer",
            {"kind": "intervals", "widths": [5, 12]},
            "widths[1]",
            "multiple of the width before it, 5",
        ),
        ("integer", {"kind": "intervals", "widths": [10, 5]}, "widths[1]", "multiple"),
        ("integer", {"kind": "intervals", "widths": [5, 5]}, "widths[1]", "multiple"),
        ("integer", {"kind": "intervals", "widths": [0]}, "widths[0]", "a number"),
        ("integer", {"kind": "intervals", "widths": []}, "widths", "a list of numbers"),
        ("integer", {"kind": "intervals"}, "hierarchy", "either widths"),
        ("integer", {"kind": "intervals", "widths": [5], "breaks": [[1, 2]]}, "hierarchy", "not both"),
        ("integer", {"kind": "intervals", "breaks": [[3, 2]]}, "breaks[0]", "must ascend"),
        (
            "integer",
            {"kind": "intervals", "breaks": [[1, 3, 9], [1, 4, 9]]},
            "breaks[1]",
            "only breaks of it",
        ),
        (
            "integer",
            {"kind": "intervals", "breaks": [[1, 3, 9], [1, 3]]},
            "breaks[1]",
            "the ends of the list",
        ),
        ("integer", {"kind": "intervals", "breaks": [[1, 9]], "origin": 1}, "origin", "leave it out"),
        (
            "integer",
            {"kind": "intervals", "widths": [5], "bottom": 9, "top": 9},
            "bottom",
            "below top, which is 9",
        ),
        ("text", {"kind": "intervals", "widths": [5]}, "kind", "set type to integer or decimal"),
        ("integer", {"kind": "masking"}, "kind", "set type to text"),
        ("text", {"kind": "masking", "from": "middle"}, "from", '"right", "left"'),
        ("text", {"kind": "masking", "character": "**"}, "character", "text"),
        ("text", {"kind": "dates", "levels": ["year"]}, "kind", "set type to date"),
        ("date", {"kind": "dates", "levels": ["year", "month"]}, "levels", "fine to coarse"),
        ("date", {"kind": "dates", "levels": ["week", "month"]}, "levels", "last level"),
        ("date", {"kind": "dates", "levels": ["fortnight"]}, "levels[0]", '"month"'),
        ("ordinal", {"kind": "ordinal"}, "hierarchy", "either sizes"),
        ("ordinal", {"kind": "ordinal", "sizes": [2, 3]}, "sizes[1]", "multiple of the size before it, 2"),
        ("text", {"kind": "range"}, "kind", "integer or decimal or date or ordinal"),
        ("integer", {"kind": "range", "bounds": "members", "step": 2}, "step", "snapped"),
        ("integer", {"kind": "range", "step": 2}, "step", 'bounds = "snapped"'),
        ("decimal", {"kind": "range", "step": 0}, "step", "step > 0"),
        ("decimal", {"kind": "range", "step": "month"}, "step", "a unit of dates"),
        ("date", {"kind": "range", "step": "moon"}, "step", "month, quarter"),
        ("text", {"kind": "supress"}, "kind", 'did you mean "suppress"'),
        ("text", {"kind": 3}, "kind", "text in quotes"),
        ("text", {}, "hierarchy", "needs a kind"),
        ("text", {"file": ""}, "file", "text"),
        ("text", {"kind": "suppress", "file": "x"}, "file", "unknown key"),
    ],
)
def test_impossible_specifications_are_refused(kind_of_type, spec, place, words):
    with pytest.raises(PolicyError) as caught:
        attribute(kind_of_type, **spec)
    assert caught.value.where["key"].endswith(place)
    assert words in caught.value.message


def test_numbers_of_a_specification_are_exact():
    spec = attribute("decimal", kind="intervals", widths=[0.1, 0.3])
    assert spec.hierarchy.widths == (Fraction(1, 10), Fraction(3, 10))


def test_a_hierarchy_that_is_no_table_is_refused():
    with pytest.raises(PolicyError, match="must be a table"):
        Attribute(role="qi", hierarchy="masking")
