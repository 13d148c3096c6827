"""What the steward is told of merges, and the public is not."""

import json

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.attacks.told_by_merging import told_by_merging
from indistinct.cli.app import run

AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}
FIXED = "may learn from what was merged, and what was not, more than the models bound"


def policy_of(*models, **recoding):
    return ind.Policy(
        version=2,
        attributes={"age": AGE, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(3), *models],
        recoding=recoding,
    )


@pytest.fixture(scope="module")
def table():
    """Ages of three to five equal rows: most of 20 to 29 are ill alike, the others never."""
    ages = [age for age in range(20, 60) for _ in range(3 + age % 3)]
    ills = [("a" if age < 30 else "ab"[number % 2]) for number, age in enumerate(ages)]
    return pa.table({"age": [str(age) for age in ages], "ill": ills})


def by_hand(table, released, fails=lambda ills: len(set(ills)) == 1):
    """Groups of three and more equal ages; which are published as they are; which fail (have one value only)."""
    groups, published = {}, {}
    for row in table.to_pylist():
        groups.setdefault(row["age"], []).append(row["ill"])
    for row in released.to_pylist():
        published.setdefault(row["age"], []).append(row["ill"])
    missing = [age for age, ills in groups.items() if len(published.get(age, ())) != len(ills)]
    persons = sum(len(groups[age]) for age in missing)
    failing = sum(len(groups[age]) for age in missing if fails(groups[age]))
    base = sum(len(ills) for ills in groups.values() if fails(ills)) / table.num_rows
    return {"groups": len(missing), "persons": persons, "failing_persons": failing, "base_share": base}


def test_figures_are_those_of_counting_by_hand(table):
    release = ind.anonymize(table, policy_of(ind.DistinctL("ill", 2)))
    found = told_by_merging(release.decision)
    wanted = by_hand(table, release.table)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)
    assert found["failing_persons"] >= 10 * 3
    assert found["lm"] == pytest.approx(release.loss["lm"])
    assert found["lm_if_robust"] > found["lm"]
    assert f"{found['groups']} groups of equal rows missing ({found['persons']} persons)" in found["says"]
    assert "it needs a key for its coins" in found["says"]


def test_shares_are_judged_by_the_model_itself(table):
    release = ind.anonymize(table, policy_of(ind.AlphaK("ill", "0.65", 3)))
    found = told_by_merging(release.decision)
    wanted = by_hand(table, release.table, lambda ills: max(map(ills.count, "ab")) > 0.65 * len(ills))
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)
    assert 0.25 < found["base_share"] < 1.0
    assert "under alpha_k it costs much" in found["says"]


def test_nothing_is_counted_where_nothing_is_told(table):
    assert told_by_merging(ind.anonymize(table, policy_of()).decision) is None
    optimal = policy_of(ind.DistinctL("ill", 2), algorithm="optimal")
    assert told_by_merging(ind.anonymize(table, optimal).decision) is None
    best = told_by_merging(
        ind.anonymize(table, policy_of(ind.DistinctL("ill", 2), quality="best", time_budget=1)).decision
    )
    assert "ends by the clock" in best["why_not"]
    assert best["why_not"] in best["says"]


def test_robust_recoding_says_that_it_is_on(table, tmp_path):
    key = tmp_path / "key"
    key.write_text("5c" * 32)
    key.chmod(0o600)
    found = told_by_merging(ind.anonymize(table, policy_of(ind.DistinctL("ill", 2), key_file=str(key))).decision)
    assert found["robust"] is True
    assert found["why_not_robust"] is None
    assert found["lm_if_robust"] is None
    assert "merges are decoys too" in found["says"]


def test_the_steward_reads_figures_and_the_public_one_sentence(table, tmp_path):
    policy = policy_of(ind.DistinctL("ill", 2))
    release = ind.anonymize(table, policy)
    inside, outside, chinese = tmp_path / "in.md", tmp_path / "out.md", tmp_path / "zh.md"
    ind.report(release, inside)
    ind.report(release, outside, public=True)
    ind.report(release, chinese, language="zh-CN")
    assert "groups of equal rows missing" in inside.read_text()
    assert "个相同行的组" in chinese.read_text(encoding="utf-8")
    assert FIXED in outside.read_text()
    assert "groups of equal rows missing" not in outside.read_text()
    harmless = ind.anonymize(table, policy_of())
    ind.report(harmless, tmp_path / "k.md", public=True)
    assert FIXED not in (tmp_path / "k.md").read_text()


def test_the_answer_has_them_when_it_is_asked_for_and_the_manifest_never(table, tmp_path, capfd):
    source, policy, out = tmp_path / "in.csv", tmp_path / "policy.toml", tmp_path / "out.csv"
    source.write_text("age,ill\n" + "".join(f"{row['age']},{row['ill']}\n" for row in table.to_pylist()))
    policy.write_text(policy_of(ind.DistinctL("ill", 2)).dumps())
    assert run(["anonymize", str(source), "-p", str(policy), "-o", str(out), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["told_by_merging"]["groups"] >= 10
    manifest = next(path for path in tmp_path.iterdir() if "manifest" in path.name).read_text()
    assert "told_by_merging" not in manifest
    assert "missing (" not in manifest
    assert run(["anonymize", str(source), "-p", str(policy), "-o", str(tmp_path / "other.csv")]) == 0
    assert "groups of equal rows" not in capfd.readouterr().out


def test_scaled_figures_of_larger_tables_stay_whole_numbers():
    """Rows that are not grouped at all: nothing is missing, and the share of none is none."""
    draw = np.random.default_rng(5)
    ages = draw.permutation(np.arange(100))
    table = pa.table({"age": ages.astype(str).tolist(), "ill": draw.choice(["a", "b"], 100).tolist()})
    found = told_by_merging(ind.anonymize(table, policy_of(ind.DistinctL("ill", 2))).decision)
    assert (found["groups"], found["persons"], found["failing_persons"], found["base_share"]) == (0, 0, 0, 0.0)
