"""Work, counted in evaluations and compared pairs, that grows about as the rows do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.algorithms.literature import top_down_specialization as top_down
from indistinct.proof import coverage as proof
from indistinct.proof.coverage import Side, coverage

STEEP = Path(__file__).parent / "b10-top-down-specialization-grows-steeply"


def seeded(seed):
    return Random(seed)  # noqa: S311  # the same instances every time


def evaluations(rows, monkeypatch):
    random = seeded(4)
    table = [
        {
            "age": str(random.randint(0, 99)),
            "zip": str(random.randint(10000, 99999)),
            "sex": random.choice("mf"),
            "ill": random.choice("abcde"),
        }
        for _ in range(rows)
    ]
    quasi = {"role": "quasi_identifying"}
    policy = ind.Policy(
        attributes={
            "age": {**quasi, "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}},
            "zip": {**quasi, "hierarchy": {"kind": "masking"}},
            "sex": {**quasi, "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[{"model": "k_anonymity", "k": 5}],
        suppression={"limit": "0.05"},
        recoding={"algorithm": "top_down_specialization", "target": "ill"},
    )
    count = 0
    judge = top_down.Partition.effect

    def counted(self, step):
        nonlocal count
        count += 1
        return judge(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(top_down.Partition, "effect", counted)
        ind.anonymize(pa.Table.from_pylist(table), policy)
    return count


def work(table, policy, monkeypatch):
    """Evaluations of specializations, and the rows of the counted table that they look at."""
    looked = []
    judge = top_down.Partition.effect

    def counted(self, step):
        looked.append(len(step.tuples))
        return judge(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(top_down.Partition, "effect", counted)
        ind.anonymize(table, policy)
    return len(looked), sum(looked)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [5000, 10_000, 20_000])
def test_twice_the_rows_are_at_most_three_times_the_work(tmp_path, monkeypatch, rows):
    ratio = json.loads((STEEP / "expected.json").read_text())["expect"]["ratio_40000_to_20000_at_most"]
    found = []
    for size in (rows, 2 * rows):
        made = subprocess.run([sys.executable, STEEP / "make.py", str(size)], capture_output=True, check=True)
        (tmp_path / "input.csv").write_bytes(made.stdout)
        found.append(work(tmp_path / "input.csv", STEEP / "policy.toml", monkeypatch))
        assert found[-1][0] <= size / 20
    assert found[1][1] <= ratio * found[0][1]


@pytest.mark.slow
def test_specializations_are_judged_about_as_often_as_there_are_rows(monkeypatch):
    assert evaluations(4000, monkeypatch) <= 3000
    assert evaluations(8000, monkeypatch) <= 6000


def pairs(rows, monkeypatch):
    draw = np.random.default_rng(1)
    codes = np.stack([draw.permutation(rows), draw.integers(0, 100, rows)], axis=1).astype(np.int32)
    labels = codes // np.array([20, 10], np.int32)  # 20 codes of the first column, 10 of the second
    covers = [
        np.arange(rows // 20)[:, None] == np.arange(rows)[None] // 20,
        np.arange(10)[:, None] == np.arange(100)[None] // 10,
    ]
    one, ones = np.zeros(rows, np.int64), np.ones(rows, np.int64)
    count = 0
    compare = proof._compared

    def counted(left, right, tables):
        nonlocal count
        count += len(left) * len(right)
        return compare(left, right, tables)

    with monkeypatch.context() as patch:
        patch.setattr(proof, "_compared", counted)
        answer = coverage(Side(one, labels, ones), Side(one, codes, ones), covers, ["zip", "age"])
    assert answer.status == "proven"
    return count


def test_verification_compares_rows_that_can_agree(monkeypatch):
    # each label of the first column is on 20 rows and covers 20: 400 pairs for 20 rows
    assert pairs(1000, monkeypatch) == 20 * 1000
    assert pairs(4000, monkeypatch) == 20 * 4000
