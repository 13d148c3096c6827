"""The bundled example: the committed files are what the generator writes, and have the shape they claim."""

import csv
import json
import tomllib
from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import indistinct as ind
import naive
import naive_groups
from cli_bench import run
from scripts import load

HOSPITAL = Path(__file__).resolve().parents[2] / "examples" / "hospital"


@pytest.fixture(scope="module")
def generate():
    return load(HOSPITAL / "generate.py")


@pytest.fixture(scope="module")
def stays():
    with (HOSPITAL / "discharges.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def hierarchy(name):
    with (HOSPITAL / "hierarchies" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {line[0]: line for line in csv.reader(file, delimiter=";")}


@pytest.mark.slow
def test_committed_files_are_what_the_generator_writes(generate, tmp_path):
    generate.write(tmp_path)
    for name in ("discharges.csv", "hierarchies/diagnosis.csv", "hierarchies/ward.csv"):
        written, committed = (tmp_path / name).read_bytes(), (HOSPITAL / name).read_bytes()
        assert written == committed, f"{name} is old: run generate.py"


def test_size(stays):
    assert len(stays) == 20_000
    assert len({stay["patient_id"] for stay in stays}) == 15_500
    assert (HOSPITAL / "discharges.csv").stat().st_size < 2_000_000


def test_a_patient_is_one_person(stays):
    fixed = {(stay["patient_id"], stay["name"], stay["birth_date"], stay["sex"]) for stay in stays}
    assert len(fixed) == 15_500


def test_nobody_is_admitted_before_birth(stays):
    for stay in stays:
        assert date.fromisoformat(stay["birth_date"]) <= date.fromisoformat(stay["admitted"])


def test_missing_values_and_leading_zeros(stays):
    for column in ("zip", "ward", "cost"):
        assert 0.01 < sum(not stay[column] for stay in stays) / len(stays) < 0.05
    zips = {stay["zip"] for stay in stays} - {""}
    assert {len(text) for text in zips} == {5}
    assert any(text.startswith("0") for text in zips)
    assert any(not text.startswith("0") for text in zips)


def test_diagnoses_are_a_skewed_tree_of_three_levels(stays):
    tree = hierarchy("diagnosis")
    counts = Counter(stay["diagnosis"] for stay in stays)
    assert set(counts) == set(tree)
    assert {len(path) for path in tree.values()} == {4}
    assert counts.most_common()[0][1] > 10 * counts.most_common()[-1][1]
    assert {stay["ward"] for stay in stays} - {""} == set(hierarchy("ward"))


def test_columns_depend_on_each_other(stays):
    births = Counter(stay["ward"] for stay in stays if stay["diagnosis"] == "O80")
    assert births["Obstetrics"] / births.total() > 0.9
    long, short = ([], [])
    for stay in stays:
        if stay["cost"]:
            (long if int(stay["length_of_stay"]) > 10 else short).append(float(stay["cost"]))
    assert sum(long) / len(long) > 2 * sum(short) / len(short)


@pytest.mark.slow
def test_the_release_is_what_the_policy_asks(stays):
    policy = ind.Policy.load(HOSPITAL / "policy.toml")
    release = ind.anonymize(HOSPITAL / "discharges.csv", policy)
    assert release.document["satisfied"]
    assert release.document["models"][0]["achieved"]["k"] >= 5
    assert release.document["suppressed_rows"] <= 400
    assert release.loss["lm"] < 0.35
    published = release.table.to_pylist()
    assert set(published[0]) == set(stays[0]) - {"patient_id", "name"}
    assert {len(row["zip"]) for row in published if row["zip"] not in (None, "*")} <= {5}
    # diversity and closeness once more, by their definitions
    quasi = [name for name, attribute in policy.attributes.items() if attribute.role == "quasi_identifying"]
    models = [
        {"model": "k_anonymity", "k": 5},
        {"model": "distinct_l", "attribute": "diagnosis", "l": 3},
        {"model": "t_closeness", "attribute": "diagnosis", "t": "0.5", "distance": "hierarchical"},
    ]
    trees = {"diagnosis": {value: tuple(path) for value, path in hierarchy("diagnosis").items()}}
    assert naive.satisfied(published, quasi, models, stays, trees=trees)


@pytest.mark.slow
def test_costs_are_published_by_group(stays, tmp_path):
    source, policy = HOSPITAL / "discharges.csv", HOSPITAL / "cost.toml"
    done = run("anonymize", source, "--policy", policy, "--output", tmp_path / "cost.csv", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["algorithm"] == "largest_bucket_first"
    assert document["left_out_rows"] == sum(not stay["cost"] for stay in stays)
    assert document["suppressed_rows"] <= 400
    qit, values = (
        list(csv.DictReader((tmp_path / f"cost.{part}.csv").read_text(encoding="utf-8").splitlines(), delimiter=";"))
        for part in ("qit", "st")
    )
    assert set(qit[0]) == {"birth_date", "sex", "zip", "admitted", "ward", "group"}
    assert list(values[0]) == ["group", "cost", "count"]
    assert len(qit) == sum(int(row["count"]) for row in values)

    # the bound by its definition, against the whole column
    costs = [Fraction(stay["cost"]) for stay in stays if stay["cost"]]
    known = sorted(set(costs))
    distances = [(b - a) / (a + b) for a, b in pairwise(known)]
    mean = sum(map(float, distances)) / len(distances)
    assert all(abs(float(d) - mean) > 1e-9 for d in distances)  # so doubles decide as fractions would
    parts = [[known[0]]]
    for distance, cost in zip(distances, known[1:], strict=True):
        parts.append([cost]) if float(distance) >= mean else parts[-1].append(cost)
    interval_of = {cost: at for at, part in enumerate(parts) for cost in part}
    epsilons = [max((max(p) - min(p)) * Fraction(2, 100), max(p) * Fraction(1, 100)) for p in parts]
    groups = {}
    for row in values:
        groups.setdefault(row["group"], []).extend([Fraction(row["cost"])] * int(row["count"]))
    sizes = Counter(row["group"] for row in qit)
    for number, group in groups.items():
        assert sizes[number] == len(group)
        assert 5 <= len(group) <= 10
        assert max(naive_groups.risks(group, interval_of, epsilons)) <= Fraction(1, 2)

    pair = (tmp_path / "cost.qit.csv", tmp_path / "cost.st.csv")
    proof = run("verify", source, *pair, "--policy", policy, "--json")
    assert proof.returncode == 0, proof.stderr
    answer = json.loads(proof.stdout)
    assert (answer["satisfied"], answer["coverage"]["status"], answer["hash"]) == (True, "proven", "match")
    # two costs exchanged between groups: no assignment of stays gives that
    lines = pair[1].read_text(encoding="utf-8").splitlines()
    first, last = lines[1].split(";"), lines[-1].split(";")
    first[1], last[1] = last[1], first[1]
    lines[1], lines[-1] = ";".join(first), ";".join(last)
    pair[1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    refuted = run("verify", source, *pair, "--policy", policy, "--json")
    assert refuted.returncode == 1
    answer = json.loads(refuted.stdout)
    assert (answer["coverage"]["status"], answer["hash"]) == ("refuted", "differs")
    again = run("anonymize", source, "--policy", policy, "--output", tmp_path / "cost.csv", "--json")
    assert again.returncode == 2
    assert "exists" in json.loads(again.stdout)["error"]["message"]


def test_the_policy_names_every_column(stays):
    policy = tomllib.loads((HOSPITAL / "policy.toml").read_text(encoding="utf-8"))
    assert {*policy["attributes"], policy["person"]["key"]} == set(stays[0])
