"""A policy from flags."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import PolicyError
from indistinct.policy import DistinctL, EntropyL, KAnonymity, RecursiveCL, TCloseness, from_flags, resolve


# essence of case 75: with flags an undeclared column is insensitive, with a warning that names it
def test_columns_not_named_are_insensitive_with_a_warning():
    policy = from_flags(["age", "sex"], identifying=["name"], k=2)
    roles = resolve(policy, ["name", "age", "sex", "fare"])
    assert roles.quasi == ("age", "sex")
    assert roles.identifying == ("name",)
    assert roles.insensitive == ("fare",)
    assert [(notice.kind, notice.column) for notice in roles.notices] == [("undeclared", "fare")]
    assert '"fare" has no role and is left unchanged' in roles.notices[0].message


def test_thresholds_apply_to_every_sensitive_column():
    policy = from_flags(["a"], ["s", "u"], k=3, l="2", t=0.3, t_distance="equal")
    assert policy.privacy == (
        KAnonymity(3),
        DistinctL("s", 2),
        DistinctL("u", 2),
        TCloseness("s", Fraction(3, 10), distance="equal"),
        TCloseness("u", Fraction(3, 10), distance="equal"),
    )
    assert from_flags(["a"], ["s"], l="2.5", l_kind="entropy").privacy == (EntropyL("s", Fraction(5, 2)),)
    assert from_flags(["a"], ["s"], l=3, l_kind="recursive", c="4").privacy == (RecursiveCL("s", 4, 3),)
    assert from_flags(["a"], ["s"]).privacy == ()


def test_types_orders_and_hierarchies():
    policy = from_flags(
        ["d", "h"],
        ["s"],
        types={"d": "date:%d.%m.%Y", "h": "decimal"},
        orders={"s": ["low", "high"]},
        hierarchies={"d": {"kind": "dates", "levels": ["year"]}, "s": "s.csv"},
        person="p",
        delimiter=";",
        missing=["", "NA"],
    )
    assert policy.attributes["d"].format == "%d.%m.%Y"
    assert policy.attributes["s"].type == "ordinal"
    assert policy.attributes["s"].spec == {"file": "s.csv"}
    assert policy.person.key == "p"
    assert (policy.table.delimiter, policy.table.missing) == (";", ("", "NA"))


@pytest.mark.parametrize(
    ("flags", "key", "words"),
    [
        ({"qi": []}, "--qi", "names no column"),
        ({"k": 0}, "k", "k >= 1"),
        ({"l": 2}, "--l", "--sensitive"),
        ({"t": 0.2, "t_distance": "equal"}, "--t", "--sensitive"),
        ({"sensitive": ["s"], "t": 0.2}, "--t-distance", "ordered, equal or hierarchical"),
        ({"sensitive": ["s"], "t": 2, "t_distance": "equal"}, "t", "0 <= t <= 1"),
        ({"sensitive": ["s"], "t": 0.2, "t_distance": "equl"}, "distance", '"equal"'),
        ({"sensitive": ["s"], "l": 2, "l_kind": "distnct"}, "--l-kind", 'did you mean "distinct"'),
        ({"sensitive": ["s"], "l": "x"}, "l", "a whole number, l >= 1"),
        ({"sensitive": ["s"], "l": 2, "l_kind": "recursive"}, "--c", "c > 0"),
        ({"sensitive": ["s"], "l": 2, "l_kind": "recursive", "c": 0}, "c", "c > 0"),
        ({"sensitive": ["s"], "l": 2, "c": 3}, "--c", "recursive"),
        ({"c": 3}, "--c", "recursive"),
        ({"types": {"b": "integer"}}, "--type", "neither in --qi"),
        ({"orders": {"b": ["x"]}}, "--order", "neither in --qi"),
        ({"hierarchies": {"b": "x.csv"}}, "--hierarchy", "neither in --qi"),
        ({"sensitive": ["s"], "t": 0.2, "t_distance": "ordered"}, "privacy[0].distance", "needs an order"),
    ],
)
def test_flags_that_do_not_fit_are_refused(flags, key, words):
    with pytest.raises(PolicyError) as caught:
        from_flags(**{"qi": ["a"]} | flags)
    assert caught.value.where["key"] == key
    assert words in caught.value.message


def test_a_column_has_one_role():
    with pytest.raises(PolicyError, match="one role"):
        from_flags(["a", "s"], ["s"])
