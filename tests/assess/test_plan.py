"""Plans: every figure is that of a release under the same change, and what no search is needed for is not searched."""

import json
import re
import xml.etree.ElementTree as ET

import pyarrow as pa
import pytest

import indistinct as ind
from cli_bench import POLICY, TABLE, run
from indistinct.assess.plan_words import runs_alike

# eight rows: decades of two, halves of four; in each decade one flu, one cold
PEOPLE = pa.table({"age": [20, 21, 30, 31, 60, 61, 70, 71], "town": ["Kiel", "Bonn"] * 4, "ill": ["flu", "cold"] * 4})


def policy(k=2, **more):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10, 50, 100]}},
            "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(k), *more.get("privacy", [])],
        recoding={"algorithm": "optimal"},
    )


@pytest.fixture(scope="module")
def plan():
    return ind.plan(PEOPLE, policy(), k=[2, 3, 4, 8, 9])


def loss_of(given):
    return ind.anonymize(PEOPLE, given).loss["lm"]


def test_a_curve_is_that_of_releases(plan):
    (curve,) = plan.document["curves"]
    points = {point["value"]: point for point in curve["points"]}
    assert list(points) == [2, 3, 4, 8, 9]
    for k in (2, 3, 4, 8):
        assert points[k]["lm"] == pytest.approx(loss_of(policy(k)))
        assert points[k]["smallest"] >= k
    assert points[9]["status"] == "infeasible"
    assert [point["value"] for point in curve["points"] if point["asked"]] == [2]


def test_what_a_column_costs_is_the_loss_of_the_others_without_it(plan):
    by_name = {column["column"]: column for column in plan.document["columns"]}
    # without towns decades of two rows are groups: age loses what decades lose, and nothing more
    only_age = ind.Policy(**policy().plain() | {"attributes": {**policy().plain()["attributes"],
                                                               "town": {"role": "identifying"}}})  # fmt: skip
    assert by_name["town"]["others_without"] == pytest.approx(loss_of(only_age))
    assert by_name["town"]["lm_without"] == pytest.approx((loss_of(only_age) + 1) / 2)
    lost = loss_of(policy())
    assert sum(column["lm"] for column in by_name.values()) / 2 == pytest.approx(lost)
    assert sum(column["share_of_loss"] for column in by_name.values()) == pytest.approx(1)


def test_a_column_left_out_is_left_out_with_persons_and_missing_values_too():
    rows = {"who": ["a", "b", "c", "d"] * 2, "age": [20, 21, 30, None] * 2, "town": ["Kiel", None] * 4,
            "ill": ["flu", "cold"] * 4}  # fmt: skip
    table = pa.table(rows)
    given = ind.Policy(**policy().plain() | {"person": {"key": "who"}})
    found = {column["column"]: column for column in ind.plan(table, given).document["columns"]}
    without = ind.Policy(**given.plain() | {"attributes": {**given.plain()["attributes"],
                                                           "town": {"role": "identifying"}}})  # fmt: skip
    assert found["town"]["others_without"] == pytest.approx(ind.anonymize(table, without).loss["lm"])


def test_promises_are_priced_and_the_best_decision_is_the_one_that_saves_most():
    given = policy(k=2, privacy=[ind.TCloseness("ill", "0.3", "equal")])
    even = PEOPLE.set_column(2, "ill", pa.array(["flu"] * 4 + ["cold"] * 4))  # by age nothing is close
    found = ind.plan(even, given, t=["0.5", "0.1"]).document
    assert [entry["place"] for entry in found["prices"]] == [0, 1]
    assert found["prices"][1]["lm"] == pytest.approx(ind.anonymize(even, given).loss["lm"])
    assert found["decides"] == 1
    best = found["decisions"][0]
    assert (best["parameter"], best["from"], best["to"]) == ("t", 0.3, 0.5)
    relaxed = policy(k=2, privacy=[ind.TCloseness("ill", "0.5", "equal")])
    assert best["after"] == pytest.approx(ind.anonymize(even, relaxed).loss["lm"])
    assert best["saves"] == pytest.approx(best["before"] - best["after"])
    texts = [sentence["text"] for sentence in found["sentences"]]
    assert any("t_closeness of ill decides" in text for text in texts)
    assert any("from 0.3 to 0.5 buys most" in text for text in texts)
    # towns of four, half flu and half cold, ages hidden: so k of 2 and 3 end in the same table, and 5 in one group
    (k_curve,) = [curve for curve in found["curves"] if curve["parameter"] == "k"]
    assert [(point["value"], point["lm"]) for point in k_curve["points"] if point["value"] <= 5] == [
        (2, 0.5), (3, 0.5), (5, 1.0),
    ]  # fmt: skip
    assert "k of 2, 3 all reach groups from 4 rows at the same loss of 50.0 %: something else decides" in texts


def test_values_that_were_not_searched_are_those_that_a_search_gives():
    given = policy(k=4)
    found = ind.plan(PEOPLE, given, k=[1, 2, 3]).document["curves"][0]["points"]
    for point in found:
        assert point["lm"] == pytest.approx(loss_of(policy(point["value"])))


def test_an_answer_of_no_is_an_answer():
    found = ind.plan(PEOPLE, policy(k=9), k=[2])
    assert not found.feasible
    assert found.document["columns"] == found.document["decisions"] == []
    assert "as it stands the policy cannot be met" in repr(found)
    assert [point["status"] for point in found.document["curves"][0]["points"]] == ["done", "infeasible"]


def test_neighbours_that_lose_the_same_are_said_together():
    done = {"status": "done", "smallest": 4}
    points = [{**done, "lm": 0.1}, {**done, "lm": 0.102}, {**done, "lm": 0.2}, {"status": "infeasible"}]
    assert [len(group) for group in runs_alike(points)] == [2, 1, 1]


def test_the_drawing_is_svg_with_its_figures_in_words(plan):
    root = ET.fromstring(plan.svg())  # noqa: S314  # our own
    space = "{http://www.w3.org/2000/svg}"
    assert root.attrib["viewBox"].split()[:2] == ["0", "0"]
    described = root.find(f"{space}desc").text
    assert re.search(r"k = 2: \d+\.\d %", described)
    assert "k = 9: cannot be met" in described
    texts = [one.text for one in root.iter(f"{space}text")]
    assert {"asked", "cannot be met", "0 %"} <= set(texts)
    # a point stands as high as what it loses
    heights = [float(one.attrib["cy"]) for one in root.iter(f"{space}circle")]
    assert heights == sorted(heights, reverse=True)
    assert min(float(one.attrib.get("font-size", 12)) for one in root.iter(f"{space}text")) >= 12


@pytest.mark.parametrize(
    ("given", "sentence"),
    [({"t": ["1.5"]}, "t"), ({"t": ["much"]}, "t"), ({"k": [0]}, "k = 0"), ({"l": [0]}, "l = 0")],
)
def test_values_that_a_threshold_cannot_have_are_refused(given, sentence):
    asked = policy(privacy=[ind.TCloseness("ill", "0.3", "equal"), ind.DistinctL("ill", 2)])
    with pytest.raises(ind.PolicyError, match=sentence):
        ind.plan(PEOPLE, asked, **given)


def test_what_has_no_such_prices_is_named():
    given = ind.Policy(**policy().plain() | {"privacy": [{"model": "distinct_l", "attribute": "ill", "l": 2}],
                                             "recoding": {"algorithm": "anatomy"}})  # fmt: skip
    with pytest.raises(ind.UnsupportedError, match="compare shows"):
        ind.plan(PEOPLE, given)


# --- the command ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


def test_the_command_takes_table_and_policy_and_draws(folder):
    answer = run("plan", "t.csv", "p.toml", "--k", "2,5", "--svg", "c.svg", "--json", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["schema"] == 1
    assert [curve["parameter"] for curve in document["curves"]] == ["k", "l"]
    assert [point["value"] for point in document["curves"][0]["points"]] == [2, 5]
    assert (folder / "c.svg").read_text().startswith("<svg")
    assert run("plan", "t.csv", "--policy", "p.toml", "--k", "2", "--l", "2", cwd=folder).returncode == 0
    again = run("plan", "t.csv", "p.toml", "--svg", "c.svg", cwd=folder)
    assert again.returncode == 2
    assert "exists" in again.stderr


@pytest.mark.parametrize(
    "words", [("t.csv",), ("t.csv", "p.toml", "--policy", "p.toml"), ("t.csv", "p.toml", "--k", "2,x")]
)
def test_wrong_use_is_named(folder, words):
    answer = run("plan", *words, cwd=folder)
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr


def test_the_policy_that_cannot_be_met_ends_with_1(folder):
    (folder / "p.toml").write_text(POLICY.replace("k = 5", "k = 500"))
    answer = run("plan", "t.csv", "p.toml", "--k", "5", "--l", "2", cwd=folder)
    assert answer.returncode == 1
    assert "cannot be met" in answer.stdout
