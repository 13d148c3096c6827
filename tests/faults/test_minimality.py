"""Minimality against somebody who runs the program: a small table that gives itself away, and its kin."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
import naive_attacks as naive
from indistinct.cli.app import run

MINIMAL = Path(__file__).resolve().parent / "r01-minimality-in-a-small-table"


@pytest.mark.slow
def test_minimality_finds_the_one_table_that_gives_this_file(tmp_path, capfd):
    published, policy = tmp_path / "out.csv", str(MINIMAL / "policy.toml")
    assert run(["anonymize", str(MINIMAL / "input.csv"), "-p", policy, "-o", str(published)]) == 0
    capfd.readouterr()
    words = ["attack", str(published), "-p", policy, "--identified", str(MINIMAL / "input.csv"), "--json"]
    assert run([*words, "--attacks", "minimality"]) == 0
    answer = json.loads(capfd.readouterr().out)
    (found,) = (entry for entry in answer["attacks"] if entry["attack"] == "minimality")
    assert found["ran"]
    assert found["details"]["tables"] == 46
    assert found["details"]["tables_that_give_this_file"] == 1
    assert found["details"]["certain"] == 4  # the rows of 50, whose classes say 1/4 and 1/2
    assert found["details"]["certain_of_the_most_frequent"] == 6  # those of 20 and of 30, who all have "no"
    assert "HIV" not in json.dumps(answer)


POLICY = ind.Policy(
    attributes={
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
        "ill": {"role": "sensitive"},
    },
    privacy=[ind.KAnonymity(2), ind.DistinctL("ill", 2)],
)


def table(groups):
    rows = [(age, ill) for age, ills in groups.items() for ill in ills]
    return pa.table({"age": [age for age, _ in rows], "ill": [ill for _, ill in rows]})


def attacked(released, policy, original, **how):
    known = original.drop_columns(["ill"])
    return ind.attack(released, policy, identified=known, attacks=["minimality"], **how)["minimality"]


@pytest.mark.slow
@pytest.mark.parametrize("groups", [
    {"20": "aab", "30": "abb", "40": "bbb"},
    {"20": "ab", "30": "ac", "40": "aa"},
    {"20": "aaa", "50": "bb"},
])  # fmt: skip
def test_beliefs_are_those_of_running_the_program_on_every_table(groups):
    """The slow twin assigns values to rows one by one and anonymizes each table by the public function."""
    original = table(groups)
    released = ind.anonymize(original, POLICY).table
    file = Counter(map(tuple, zip(*released.to_pydict().values(), strict=True)))
    values, ages = "".join(groups.values()), original["age"].to_pylist()
    kinds = {}
    for row in product(sorted(set(values)), repeat=len(ages)):
        if sorted(row) == sorted(values):
            kinds.setdefault(tuple(sorted(zip(ages, row, strict=True))), 0)
            kinds[tuple(sorted(zip(ages, row, strict=True)))] += 1
    left = {}
    for kind, times in kinds.items():
        given = ind.anonymize(pa.table({"age": [a for a, _ in kind], "ill": [i for _, i in kind]}), POLICY).table
        if Counter(map(tuple, zip(*given.to_pydict().values(), strict=True))) == file:
            left[kind] = times
    entry = attacked(released, POLICY, original)
    assert entry["details"]["tables"] == len(kinds)
    assert entry["details"]["tables_that_give_this_file"] == len(left)
    gain = 0
    for age, size in Counter(ages).items():
        rises = []
        for ill in set(values):
            belief = sum(Fraction(times * kind.count((age, ill)), size) for kind, times in left.items())
            shown = max(
                Fraction(file[label, ill], sum(n for (other, _), n in file.items() if other == label))
                for label in {label for label, _ in file}
                if naive.covers(label, age)
            )
            rises.append(belief / sum(left.values()) - shown)
        gain += size * max(0, *rises)
    assert entry["gain"] == pytest.approx(float(gain / len(ages)))


def test_the_model_is_judged_on_each_group():
    """Two persons who both have "no" fail distinct 2-diversity as two who both have HIV do: 1/7 and 3/7."""
    released = pa.table({"age": ["[1, 2]"] * 6, "ill": ["hiv", "hiv", "no", "no", "no", "no"]})
    known = pa.table({"age": ["1"] * 2 + ["2"] * 4, "ill": ["-"] * 6})
    found = attacked(released, POLICY, known)["details"]["by_class"]
    assert found["merged_classes"] == 1
    assert found["largest_rise"] == pytest.approx(6 / 7 - 4 / 6)  # that the two have "no"; HIV for the four: 3/7 - 1/3
    bound = attacked(released, POLICY, known, bound="1/2")
    assert bound["worst"][0]["posterior"] == 1.0, "a bound on each value is another condition"


def test_beliefs_in_a_merged_class():
    from indistinct.attacks.merged_groups import beliefs

    def fails(_sizes, _counts, tables):
        return [any(0 in (column[g] for column in table) for g in range(2)) for table in tables]

    assert beliefs([2, 4], [2, 4], fails) == [[Fraction(1, 7), Fraction(6, 7)], [Fraction(3, 7), Fraction(4, 7)]]


def test_what_a_search_did_not_choose_narrows_a_class():
    """Groups of 2, 2 and 3 with two a: no division into two parts of two rows holds.

    Both a are in one group then, as else a division would hold: weights 1, 1 and 3. Belief in a of the three:
    3/5 * 2/3 = 2/5, where the class says 2/7.
    """
    released = pa.table({"age": ["[1, 3]"] * 7, "ill": list("aabbbbb")})
    known = pa.table({"age": ["1"] * 2 + ["2"] * 2 + ["3"] * 3, "ill": ["-"] * 7})
    found = attacked(released, POLICY, known)["details"]["by_class"]
    assert found["largest_rise"] == pytest.approx(2 / 5 - 2 / 7)
    assert found["persons"] == 3


def suppressing(*models):
    return ind.Policy(
        attributes={
            "zip": {"role": "qi", "hierarchy": {"kind": "masking", "from": "right"}}, "ill": {"role": "sensitive"},
        },
        privacy=list(models), suppression={"limit": "0.3"}, recoding={"algorithm": "optimal"},
    )  # fmt: skip


def test_a_group_that_only_the_models_of_values_suppress():
    """Three groups of equal rows; only that with one value is gone, and k-anonymity alone would have kept it."""
    rows = [("11", "a"), ("11", "a"), ("22", "a"), ("22", "b"), ("33", "b"), ("33", "a"), ("33", "c")]
    original = pa.table({"zip": [z for z, _ in rows], "ill": [i for _, i in rows]})
    policy = suppressing(ind.KAnonymity(2), ind.DistinctL("ill", 2))
    released = ind.anonymize(original, policy).table
    assert set(released["zip"].to_pylist()) == {"22", "33"}
    found = ind.attack(released, policy, original=original, attacks=["minimality"])["minimality"]
    linear = found["details"]["linear"]
    assert (linear["persons"], linear["failing_persons"]) == (2, 2)
    assert found["prior"] == pytest.approx(2 / 7)
    assert found["posterior"] == 1.0
    known = ind.attack(released, policy, identified=original.select(["zip"]), attacks=["minimality"])["minimality"]
    assert known["details"]["at_most_betrayed"] == known["learnt"] == 2


def test_without_models_of_values_nothing_is_told():
    original = pa.table({"zip": ["11"] * 3 + ["22"] * 3, "ill": list("aaabbb")})
    policy = suppressing(ind.KAnonymity(3))
    released = ind.anonymize(original, policy).table
    found = ind.attack(released, policy, original=original, attacks=["minimality"])["minimality"]
    assert not found["ran"]
    assert "no model of the policy looks at a sensitive column" in found["reason"]


def test_a_file_that_the_program_does_not_give_is_not_explained():
    original = table({"20": "ab", "30": "cd"})  # four values: every group holds alone
    released = pa.table({"age": ["[20, 30]"] * 4, "ill": ["a", "b", "c", "d"]})
    found = attacked(released, POLICY, original)
    assert "gives this file" in found["details"]["enumeration"]
