"""Null tests: neither group is in the release, so nothing can be learnt of one beyond the other.

The release is made of one sample of a population, ``original`` and ``control`` are two others. Then the gain of every
attack that compares with persons held out is 0, and its 95 % intervals should hold 0 in 95 of 100 draws; the number of
hits is asked to lie within the central 99.9 % of the binomial. ``make nulls`` draws 1,000 times (200 for attacks that
train), ``make test`` 20 times.

Not here: attacks without a control group, whose prior is a bound or a share of the table; and ``definetti``, whose
attacked persons are the rows of the release.
"""

from math import comb

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.attacks import inference

ATTACKS = ("skewness", "proximity", "uniqueness", "singling_out", "linkability", "membership_inference", "inference")
TRAINED = ("inference",)
FEW, MANY, MANY_TRAINED = 20, 1_000, 200
PEOPLE = {"release": 300, "original": 150, "control": 200}


def people(number, rng):
    """Age says something of illness, and illness of pay: what holds for everybody is there to be learnt."""
    age = rng.integers(20, 60, number)
    ill = np.where(rng.random(number) < age / 80, "b", rng.choice(["a", "c"], number))
    pay = rng.integers(0, 50, number) + 10 * (ill == "b") + age
    return pa.table({
        "age": age.astype(str), "sex": rng.choice(["f", "m"], number), "ill": ill, "pay": pay.astype(str),
    })  # fmt: skip


def recoded(table):
    low = [int(age) // 10 * 10 for age in table["age"].to_pylist()]
    return table.set_column(0, "age", pa.array([f"[{one}, {one + 9}]" for one in low]))


def hits(attack, seeds):
    """Count the intervals that hold 0, over all sensitive columns of one draw only the first."""
    found = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, 7])
        tables = {name: people(number, rng) for name, number in PEOPLE.items()}
        fine = attack == "uniqueness"  # where nothing is unique nothing is compared
        released = tables.pop("release")
        entry = ind.attack(
            released if fine else recoded(released), qi=["age", "sex", "pay"] if fine else ["age", "sex"],
            sensitive=["pay"] if attack == "proximity" else ["ill"] if fine else ["ill", "pay"],
            types={"age": "integer", "pay": "integer"}, attacks=[attack], **tables,
            **({"repeats": 1 if len(seeds) == FEW else 2} if attack in TRAINED else {}),
        )[attack]  # fmt: skip
        assert entry["contrast"] is not None
        found += entry["gain_interval"]["low"] <= 0 <= entry["gain_interval"]["high"]
    return found


def within(found, seeds, level=0.95, tail=0.0005):
    """Whether a number of hits lies in the central 99.9 % of the binomial."""
    chances = [comb(seeds, k) * level**k * (1 - level) ** (seeds - k) for k in range(seeds + 1)]
    return sum(chances[: found + 1]) > tail and sum(chances[found:]) > tail


def test_the_range_of_the_binomial():
    assert not within(14, 20)  # P(X <= 14) = 0.0003
    assert within(15, 20)  # 0.0026
    assert within(20, 20)
    assert within(950, 1000)
    assert not within(925, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_learnt_of_who_is_not_there(attack, monkeypatch):
    monkeypatch.setattr(inference, "TREES", 3)
    found = hits(attack, range(FEW))
    assert sum(comb(FEW, k) * 0.95**k * 0.05 ** (FEW - k) for k in range(found + 1)) > 0.0005


@pytest.mark.nulls
@pytest.mark.parametrize("attack", ATTACKS)
def test_intervals_hold_zero_as_often_as_they_say(attack):
    number = MANY_TRAINED if attack in TRAINED else MANY
    found = hits(attack, range(1_000, 1_000 + number))
    assert within(found, number), f"{found} of {number}"
