"""Many runs side by side: what stands in the table, which runs are beaten, what an interruption leaves."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import product
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.assess import run as module
from indistinct.policy.recoding import ALGORITHMS
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import Assignment

SEVERAL = ["local", "optimal", "datafly", "samarati"]


def patients(rows=120):
    random = Random(5)  # noqa: S311  # the same rows every time
    return pa.table(
        {
            "age": [random.randrange(20, 60) for _ in range(rows)],
            "sex": [random.choice("fm") for _ in range(rows)],
            "ill": [random.choice("abcd") for _ in range(rows)],
        }
    )


def policy_of(privacy=({"model": "k_anonymity", "k": 3},), **document):
    hierarchy = {"kind": "intervals", "widths": [5, 10, 20], "origin": 0}
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": hierarchy},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        privacy=list(privacy),
        suppression={"limit": "0.05"},
        **document,
    )


@pytest.mark.slow
def test_each_run_tells_what_its_release_would():
    table = patients()
    found = ind.compare(table, policy_of(), algorithms=SEVERAL, k=[2, 5])
    assert [(run["k_asked"], run["algorithm"]) for run in found.runs] == list(product([2, 5], SEVERAL))
    for run in found.runs:
        policy = policy_of([{"model": "k_anonymity", "k": run["k_asked"]}], recoding={"algorithm": run["algorithm"]})
        document = ind.anonymize(table, policy).document
        for name in ("lm", "gcp", "discernibility", "average_class_size", "nonuniform_entropy"):
            assert run["loss"][name] == document["loss"][name]
        for name in ("suppressed_rows", "classes", "levels", "proven_optimal", "models"):
            assert run[name] == document[name]
        assert run["status"] == "done"
        assert run["k"] == document["models"][0]["achieved"]["k"]
        assert run["largest_risk"]["fraction"] == f"1/{run['k']}"
        assert run["seconds"] >= 0


@pytest.mark.slow
def test_undominated_runs_are_those_that_no_other_beats():
    found = ind.compare(patients(), policy_of(), algorithms=SEVERAL, k=[2, 3, 5, 8, 13])
    points = [(run["k"], run["loss"]["lm"]) for run in found.runs]

    def beaten(point):
        return any(other[0] >= point[0] and other[1] <= point[1] and other != point for other in points)

    for run, point in zip(found.runs, points, strict=True):
        assert run["undominated"] == (not beaten(point))
    assert [run["k"] for run in found.frontier] == sorted((p[0] for p in points if not beaten(p)), reverse=True)


@pytest.mark.slow
def test_all_algorithms_appear_by_themselves():
    found = ind.compare(patients(), policy_of(), algorithms="all")
    assert [run["algorithm"] for run in found.runs] == list(ALGORITHMS)


def test_a_run_without_result_stands_there_with_its_reason():
    found = ind.compare(patients(), policy_of(), algorithms=["optimal", "top_down_specialization"], k=[5, 1000])
    without_target = [run for run in found.runs if run["algorithm"] == "top_down_specialization"]
    assert {run["status"] for run in without_target} == {"policy"}
    assert all("target" in run["reason"] for run in without_target)
    (hopeless,) = [run for run in found.runs if run["algorithm"] == "optimal" and run["k_asked"] == 1000]
    assert hopeless["status"] == "infeasible"
    assert "120" in hopeless["reason"]
    assert not hopeless["undominated"]
    assert "k=1000" in repr(found)


def test_reasons_show_no_sensitive_values():
    privacy = [{"model": "alpha_k", "attribute": "ill", "alpha": "1/100", "k": 2}]
    table = patients().set_column(2, "ill", pa.array(["pox"] * 100 + ["flu"] * 20))
    (run,) = ind.compare(table, policy_of(privacy), algorithms=["local"]).runs
    assert run["status"] == "infeasible"
    assert "pox" not in json.dumps(run)


def test_k_is_added_where_the_policy_has_none():
    privacy = [{"model": "distinct_l", "attribute": "ill", "l": 2}]
    (run,) = ind.compare(patients(), policy_of(privacy), algorithms=["local"], k=[4]).runs
    assert [entry["model"] for entry in run["models"]] == ["k_anonymity", "distinct_l"]
    assert run["k"] >= 4


def test_an_unknown_algorithm_or_k_is_refused():
    with pytest.raises(ind.PolicyError, match='no algorithm "optimum"'):
        ind.compare(patients(), policy_of(), algorithms=["optimum"])
    with pytest.raises(ind.PolicyError, match="whole number"):
        ind.compare(patients(), policy_of(), k=[0])
    with pytest.raises(ind.PolicyError, match="no privacy model"):
        ind.compare(patients(), policy_of([]))


@pytest.mark.slow
def test_goes_on_after_an_interruption(tmp_path, monkeypatch):
    real, seen = module.decide, []

    def interrupted(prepared, progress):
        seen.append(prepared.policy.recoding.algorithm)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return real(prepared, progress)

    monkeypatch.setattr(module, "decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ind.compare(patients(), policy_of(), algorithms=SEVERAL, output=tmp_path)
    assert seen == SEVERAL[:3]
    assert len((tmp_path / "compare.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    with (tmp_path / "compare.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": {"policy": "cut off')
    found = ind.compare(patients(), policy_of(), algorithms=SEVERAL, output=tmp_path)
    assert seen[3:] == SEVERAL[2:]
    assert [run["reused"] for run in found.runs] == [True, True, False, False]
    fresh = ind.compare(patients(), policy_of(), algorithms=SEVERAL)
    own = ("seconds", "peak_memory_bytes", "reused")
    assert [{k: v for k, v in run.items() if k not in own} for run in found.runs] == [
        {k: v for k, v in run.items() if k not in own} for run in fresh.runs
    ]
    lines = (tmp_path / "compare.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[:3] == ["algorithm", "k_asked", "status"]
    assert len(lines) == 1 + len(SEVERAL)


@pytest.mark.parametrize("change", ["table", "policy", "nothing", "order of rows"])
def test_takes_no_run_of_another_table_or_policy(tmp_path, change):
    ind.compare(patients(), policy_of(), algorithms=["datafly"], output=tmp_path)
    table = patients(121) if change == "table" else patients()
    if change == "order of rows":
        table = table.take(pa.array(range(119, -1, -1)))
    policy = policy_of([{"model": "k_anonymity", "k": 4}]) if change == "policy" else policy_of()
    (run,) = ind.compare(table, policy, algorithms=["datafly"], output=tmp_path).runs
    assert run["reused"] == (change in ("nothing", "order of rows"))


@pytest.mark.slow
def test_draws_the_frontier():
    found = ind.compare(patients(), policy_of(), algorithms=SEVERAL, k=[2, 5, 10])
    drawing = ET.fromstring(found.svg())  # noqa: S314  # our own text
    shapes = [element.tag.split("}")[1] for element in drawing.iter()]
    done = len(found.runs)
    assert shapes.count("circle") == done + len(SEVERAL)
    (line,) = [element for element in drawing.iter() if element.tag.endswith("polyline")]
    assert len(line.get("points").split()) == len(found.frontier)
    assert "LM" in repr(found)
    assert found._repr_html_().startswith("<svg")


def test_draws_nothing_where_there_is_nothing():
    found = ind.compare(patients(), policy_of(), algorithms=["optimal"], k=[1000])
    assert "no run has a result" in found.svg()
    ET.fromstring(found.svg())  # noqa: S314
    assert found.frontier == []
    assert not found.document["satisfied"]


def test_classes_that_publish_the_same_labels_are_one():
    table = pa.table({"age": [20, 30], "sex": ["f", "f"], "ill": ["a", "b"]})
    frequencies = prepare(table, policy_of()).counted.frequencies
    numbers = np.arange(2, dtype=np.int32)
    boxes = np.array([[[0, 1], [0, 0]]] * 2, np.int32)  # both are published as the whole range of ages
    given = Assignment(numbers, np.ones(2, np.int64), numbers, 2, boxes=boxes)
    found = module.merged(given, recoding_of(frequencies, given))
    assert found.classes == 1
    assert found.class_of.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("column", "own"),
    [
        ("group", {}),  # the name of a column that only a release in groups needs for its own
        ("ward", {"suppression": {"limit": "0.05", "rows": "test"}}),
        ("ward", {"output": {"order": "kept", "confirmed": True}}),
    ],
)
@pytest.mark.parametrize("algorithm", ["anatomy", "largest_bucket_first"])
def test_what_the_algorithm_of_the_policy_cannot_do_does_not_hinder_others(column, own, algorithm):
    table = patients(40).append_column(column, pa.array(["a", "b"] * 20))
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
            column: {"role": "insensitive"},
        },
        privacy=[ind.DistinctL("ill", 2)],
        recoding={"algorithm": algorithm},
        **own,
    )
    with pytest.raises(ind.IndistinctError, match=r"groups?\b") as refused:
        ind.anonymize(table, policy)
    local, asked = ind.compare(table, policy, algorithms=["local", algorithm]).runs
    assert local["status"] == "done"
    assert asked["status"] == refused.value.kind
    assert asked["reason"] == str(refused.value)
