"""deFinetti: groups that promise 1/l together tell more, and what they tell is measured against a baseline."""

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
import naive_attacks as naive
from indistinct.attacks.definetti import beliefs


def people(number, seed):
    """Smokers have lung or throat, others knee or none, nine of ten times; the job says nothing."""
    rng = np.random.default_rng(seed)
    smokes = rng.random(number) < 0.5
    usual = smokes ^ (rng.random(number) < 0.1)
    ill = np.where(usual, rng.choice(["lung", "throat"], number), rng.choice(["knee", "none"], number))
    return pa.table({
        "id": [f"{at:04}" for at in range(number)], "smokes": np.where(smokes, "y", "n"),
        "job": rng.choice(list("abc"), number), "ill": ill,
    })  # fmt: skip


def policy_of(form="two_tables"):
    return ind.Policy(
        attributes={
            "id": {"role": "identifying"}, "smokes": {"role": "qi"}, "job": {"role": "qi"},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.DistinctL("ill", 2)], recoding={"algorithm": "anatomy", "form": form},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(5), 3)
    features = np.column_stack([rng.integers(0, 2, 15), rng.integers(0, 3, 15)])
    value = np.concatenate([rng.permutation(3) if rng.random() < 0.7 else np.array([0, 0, 1]) for _ in range(5)])
    counts = np.zeros((5, 3))
    np.add.at(counts, (group, value), 1)
    found, _ = beliefs(features, [2, 3], np.ones(15, np.int64), group, counts)
    kept = sorted({int(x) for x in features[:, 0]}), sorted({int(x) for x in features[:, 1]})
    if (len(kept[0]), len(kept[1])) != (2, 3):
        return
    by_group = {g: {v: counts[g, v] for v in range(3) if counts[g, v]} for g in range(5)}
    rows = [((int(a), int(b)), int(g)) for (a, b), g in zip(features, group, strict=True)]
    expected = naive.definetti(rows, by_group, range(3))
    for own, row in zip(found, expected, strict=True):
        assert own.tolist() == pytest.approx([row[v] for v in range(3)], abs=1e-9)


@pytest.mark.parametrize("form", ["two_tables", "permuted"])
def test_groups_tell_more_than_they_promise(form):
    original, policy = people(400, 1), policy_of(form)
    released = ind.anonymize(original, policy).table
    table, second = released if form == "two_tables" else (released, None)
    how = {"second": second, "attacks": ["definetti"]}
    entry = ind.attack(table, policy, original=original, **how)["definetti"]
    assert entry["ran"]
    assert entry["prior"] == pytest.approx(0.5, abs=0.02), "each group of two promises 1/2"
    assert entry["posterior"] > 0.6
    # that smokers are ill holds for everybody: a classifier of the true table knows it as well
    assert entry["contrast"]["control"]["right"] > 0.4
    held_out = ind.attack(table, policy, original=original, control=people(400, 2), **how)["definetti"]
    assert held_out["contrast"]["control"]["persons"] == 400
    assert held_out["gain"] > 0.3, "knowing the group as well as what smokers have tells more than either"
    computed = ind.attack(table, policy, **how)["definetti"]
    assert (computed["details"]["how"], computed["contrast"], computed["learnt"]) == ("computed", None, 0)
    assert "lung" not in str(entry)


def test_classes_are_no_groups():
    released = pa.table({"q": ["a", "a"], "s": ["x", "y"]})
    entry = ind.attack(released, qi=["q"], sensitive=["s"], attacks=["definetti"])["definetti"]
    assert "release in groups" in entry["reason"]


def test_values_that_are_permuted_belong_to_the_group_not_to_the_row():
    """Two rows, one group: that the file shows x beside a says nothing of a."""
    original, policy = people(60, 3), policy_of("permuted")
    released = ind.anonymize(original, policy).table
    entry = ind.attack(released, policy, attacks=["homogeneity"])["homogeneity"]
    assert (entry["learnt"], entry["persons"]) == (0, 60)
