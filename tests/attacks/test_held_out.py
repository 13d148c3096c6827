"""Attacks that compare with persons held out: what holds for everybody is no leak, what names one person is."""

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind

HOW = {"qi": ["age", "zip"], "sensitive": ["ill"], "types": {"age": "integer"}}


def people(number, seed):
    rng = np.random.default_rng(seed)
    zips = [f"{n:02}" for n in rng.integers(0, 30, number)]
    age = rng.integers(20, 80, number)
    ill = np.where(rng.random(number) < age / 100, "heart", rng.choice(["flu", "cold"], number))
    return pa.table({"age": age.astype(str), "zip": zips, "ill": ill})


@pytest.fixture(scope="module")
def tables():
    return {"original": people(200, 1), "control": people(200, 2)}


def coarse(table):
    return table.set_column(0, "age", pa.array(["[20, 79]"] * table.num_rows)).set_column(
        1, "zip", pa.array(["*"] * table.num_rows)
    )


@pytest.mark.parametrize("attack", ["singling_out", "membership_inference", "skewness", "uniqueness"])
def test_the_raw_table_tells_of_its_own_people(tables, attack):
    entry = ind.attack(tables["original"], **HOW, **tables, attacks=[attack])[attack]
    assert entry["gain_interval"]["low"] > 0.03, entry["reason"]
    found = entry["contrast"]
    assert found["attack"]["right"] > found["control"]["right"]
    expected = (found["attack"]["right"] - found["control"]["right"]) / (1 - found["control"]["right"])
    assert entry["gain"] == pytest.approx(expected)


@pytest.mark.parametrize("attack", ["singling_out", "linkability", "membership_inference", "skewness"])
def test_one_class_tells_of_nobody(tables, attack):
    entry = ind.attack(coarse(tables["original"]), **HOW, **tables, attacks=[attack])[attack]
    assert abs(entry["gain"]) < 0.1


def test_a_predicate_that_fits_one_person_singles_out():
    """sex = m fits one person of three; sex = f two."""
    original = pa.table({"sex": ["f", "f", "m"]})
    control = pa.table({"sex": ["f", "f", "f"]})
    entry = ind.attack(original, qi=["sex"], original=original, control=control, attacks=["singling_out"])
    found = entry["singling_out"]
    assert found["details"]["predicates"] == 2
    assert (found["contrast"]["attack"]["right"], found["contrast"]["control"]["right"]) == (0.5, 0.0)


def test_linkability_ties_the_parts_of_a_person():
    """Two columns that are one and the same: the part of a person fits no other; held out, nobody is covered."""
    numbers = [f"{n:03}" for n in range(60)]
    original = pa.table({"a": numbers, "b": numbers})
    others = [f"{n:03}" for n in range(500, 560)]
    control = pa.table({"a": others, "b": others})
    entry = ind.attack(original, qi=["a", "b"], original=original, control=control, attacks=["linkability"])
    found = entry["linkability"]["contrast"]
    assert found["attack"]["right"] == 1.0
    assert found["control"]["right"] == pytest.approx(0.1), "no row covers them: ten choices are alike"
    assert found["naive"] == 0.1


def test_what_holds_for_everybody_is_no_leak(tables):
    """Old people have heart diseases: a class of old people says so, and it is as true of those held out."""
    table = tables["original"]
    decades = [f"[{int(age) // 20 * 20}, {int(age) // 20 * 20 + 19}]" for age in table["age"].to_pylist()]
    released = table.set_column(0, "age", pa.array(decades)).set_column(1, "zip", pa.array(["*"] * 200))
    entry = ind.attack(released, **HOW, **tables, attacks=["skewness"])["skewness"]
    assert entry["posterior"] - entry["prior"] > 0.1, "the claims rise above what everybody has"
    assert abs(entry["gain"]) < 0.15, "but are right about others too"
    assert entry["contrast"]["control"]["right"] > 0.35
    bare = ind.attack(released, **HOW, attacks=["skewness"])["skewness"]
    assert bare["contrast"] is None
    assert bare["gain"] == pytest.approx(entry["posterior"] - entry["prior"])


def test_proximity_is_compared_with_others():
    rng = np.random.default_rng(4)
    table = pa.table({"q": rng.choice(["x", "y"], 100), "pay": rng.integers(0, 100, 100).astype(str)})
    other = pa.table({"q": rng.choice(["x", "y"], 100), "pay": rng.integers(0, 100, 100).astype(str)})
    how = {"qi": ["q"], "sensitive": ["pay"], "types": {"pay": "integer"}, "attacks": ["proximity"]}
    entry = ind.attack(table, original=table, control=other, **how)["proximity"]
    # members are right by the share of their class in its window, which is the posterior
    assert entry["contrast"]["attack"]["right"] == pytest.approx(entry["posterior"])


@pytest.mark.parametrize("attack", ["singling_out", "linkability", "membership_inference", "inference"])
def test_without_persons_held_out_nothing_is_claimed(tables, attack):
    entry = ind.attack(tables["original"], **HOW, original=tables["original"], attacks=[attack])[attack]
    assert not entry["ran"]
    assert "held out" in entry["reason"]


@pytest.mark.slow
def test_the_look_up_pools_the_classes_that_cover_a_person():
    """21 fits two classes: of their five rows three have b, though the smaller class alone says a."""
    released = pa.table({"age": ["[20, 21]"] * 2 + ["[21, 30]"] * 3, "ill": list("aabbb")})
    original = pa.table({"age": ["20", "21", "22", "25", "30"], "ill": list("ababb")})
    control = pa.table({"age": ["21", "20"], "ill": list("ba")})
    entry = ind.attack(
        released, qi=["age"], sensitive=["ill"], types={"age": "integer"}, original=original, control=control,
        attacks=["inference"], repeats=1,
    )["inference"]  # fmt: skip
    found = entry["details"]["learners"]["look-up"]
    # 20: a, right; 21: b, right; 22: b, wrong; 25 and 30: b, right
    assert found["attack"]["right"] == 0.8
    assert found["control"]["right"] == 1.0


@pytest.mark.slow
def test_intervals_are_those_of_persons(tables):
    released = ind.attack(coarse(tables["original"]), **HOW, **tables, attacks=["inference"], repeats=2)
    entry = released["inference"]
    assert entry["gain_interval"]["low"] <= 0 <= entry["gain_interval"]["high"]
    assert entry["contrast"]["control"]["persons"] == 200


def test_where_nothing_is_unique_nobody_is_singled_out(tables):
    entry = ind.attack(coarse(tables["original"]), **HOW, **tables, attacks=["uniqueness"])["uniqueness"]
    assert (entry["gain"], entry["contrast"]["attack"]["right"]) == (0.0, 0.0)
