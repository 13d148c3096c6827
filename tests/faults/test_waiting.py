"""Small tables in which rows of heavy tuples have to join light ones.

What a folder holds is said in its ``expected.json``. The other optima are calculated by hand.
"""

from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind

FAULTS = Path(__file__).resolve().parent
MIXED = FAULTS / "r02-one-class-where-two-hold"
AGE = {"role": "quasi_identifying", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}


def lost(ages, illnesses, privacy):
    policy = ind.Policy(attributes={"age": AGE, "illness": {"role": "sensitive"}}, privacy=privacy)
    return ind.anonymize(pa.table({"age": ages, "illness": list(illnesses)}), policy).loss["lm"]


def test_local_finds_classes_of_mixed_rows():
    release = ind.anonymize(str(MIXED / "input.csv"), str(MIXED / "policy.toml"))
    assert release.loss["lm"] <= 0.21  # the optimum over all partitions is 0.2058


def test_light_rows_take_rows_of_heavy_tuples():
    # 1 and 9 are alone: together they lose 2 * 8/9, with one row of 2 and one of 10 each pair loses 2 * 1/9
    assert lost([1, 2, 2, 2, 9, 10, 10, 10], "abcdefgh", [ind.KAnonymity(2)]) == pytest.approx(4 * (1 / 9) / 8)


def test_a_heavy_tuple_lends_the_value_that_others_lack():
    # 1 has a, a and 9 has c, c: each needs another value, and 2 can spare two b; 1 and 9 together would lose 4 rows
    ages, illnesses = [1, 1, 9, 9, 2, 2, 2, 2, 2, 2], "aaccbbbbbd"
    found = lost(ages, illnesses, [ind.KAnonymity(2), ind.DistinctL("illness", 2)])
    assert found == pytest.approx((3 * (1 / 8) + 3 * (7 / 8)) / 10)
