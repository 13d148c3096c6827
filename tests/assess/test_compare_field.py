"""Groups, samples and classes side by side: figures that compare, and a budget that is never overdrawn."""

from __future__ import annotations

import errno
import json
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.policy.epsilon import Epsilon

AGES = {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "origin": 0}}
SEX = {"role": "qi", "hierarchy": {"kind": "suppress"}}


def people(rows=240):
    random = Random(3)  # noqa: S311  # the same rows every time
    return pa.table(
        {
            "age": [random.randrange(20, 60) for _ in range(rows)],
            "sex": [random.choice("fm") for _ in range(rows)],
            "ill": [random.choice("aabbcde") for _ in range(rows)],
            "income": [100 * random.randrange(10, 90) for _ in range(rows)],
        }
    )


def policy_of(*privacy, **document):
    attributes = {
        "age": AGES, "sex": SEX, "ill": {"role": "sensitive"}, "income": {"role": "sensitive", "type": "integer"},
    }  # fmt: skip
    return ind.Policy(
        **{"attributes": attributes, "privacy": list(privacy), "suppression": {"limit": "0.2"}, **document}
    )


GROUPED = {
    "anatomy": ind.DistinctL("ill", 3),
    "largest_bucket_first": ind.EpsIKAnonymity("income", 2, beta="1/10", eps_floor=200),
    "ke_partition": ind.KeAnonymity("income", 3, 500),
}


@pytest.mark.parametrize("name", GROUPED)
def test_groups_stand_beside_classes(name):
    table, policy = people(), policy_of(GROUPED[name])
    (run,) = ind.compare(table, policy, algorithms=[name]).runs
    document = ind.anonymize(table, policy_of(GROUPED[name], recoding={"algorithm": name})).document
    assert run["status"] == "done"
    for key in ("form", "suppressed_rows", "classes"):
        assert run[key] == document[key]
    assert run["groups"] == document["groups"]
    assert [(entry["model"], entry["on"]) for entry in run["models"]] == [(GROUPED[name].model, "groups")]
    assert run["models"][0]["required"] == document["models"][0]["required"]
    assert run["loss"]["lm"] == document["loss"]["lm"]
    assert run["query_error"]["mean"] > 0
    share = Fraction(run["largest_share"]["fraction"])
    assert 0 < share <= Fraction(1, 2)
    assert run["smallest_group"] >= 2


def test_groups_are_neither_undominated_nor_beaten():
    found = ind.compare(people(), policy_of(ind.DistinctL("ill", 3)), algorithms=["anatomy", "local", "optimal"])
    anatomy, local, optimal = found.runs
    assert anatomy["undominated"] is None
    assert {local["undominated"], optimal["undominated"]} <= {True, False}
    assert all(run["form"] == "one_table" for run in found.frontier)
    assert found.frontier
    lines = repr(found).splitlines()
    assert any(line.startswith("~  a anatomy") and f"{anatomy['groups']} groups" in line for line in lines)
    assert any("compare guess and queries, not k, risk and LM" in line for line in lines)
    assert ">anatomy<" not in found.svg()


@pytest.mark.parametrize(
    ("name", "model"),
    [("eps_m_partition", ind.EpsMAnonymity("income", 200, 3)), ("graded_local", ind.GradedL("income", 2, 4))],
)
def test_algorithms_of_numbers_make_classes(name, model):
    (run,) = ind.compare(people(), policy_of(model), algorithms=[name]).runs
    assert (run["status"], run["form"], run["groups"]) == ("done", "one_table", None)
    assert run["undominated"] is True


def test_the_surest_guess_is_the_largest_share():
    table = pa.table({"age": [20, 20, 20, 40, 40], "sex": list("fffmm"), "ill": list("aabab")})
    policy = policy_of(ind.DistinctL("ill", 2), attributes={"age": AGES, "sex": SEX, "ill": {"role": "sensitive"}})
    (run,) = ind.compare(table, policy, algorithms=["local"]).runs
    assert run["largest_share"] == {"fraction": "2/3", "decimal": pytest.approx(2 / 3)}
    (run,) = ind.compare(table, policy_of(ind.KAnonymity(2), attributes={"age": AGES, "sex": SEX, "ill": SEX | {
        "role": "sensitive"}}), algorithms=["local"]).runs  # fmt: skip
    assert run["largest_share"] is None  # no model looks at a sensitive attribute


# --- budgets ---------------------------------------------------------------------------------------------


def sampled(epsilon=1, **more):
    model = {"model": "safepub", "epsilon": epsilon, "delta": "1e-5", "levels": {"age": 3, "sex": 1}, **more}
    return ind.Policy(
        attributes={"age": AGES, "sex": SEX}, privacy=[model], suppression={"limit": 1},
        table={"unlisted": "identifying"},
    )  # fmt: skip


def test_no_run_of_safepub_without_a_budget():
    (run,) = ind.compare(people(), sampled(), algorithms=["safepub"]).runs
    assert run["status"] == "unsupported"
    assert "--epsilon-budget 1 allows one run" in run["reason"]
    (run,) = ind.compare(people(), sampled(), algorithms=["safepub"], epsilon_budget="0.99").runs
    assert run["status"] == "unsupported"
    assert "would have spent epsilon = 1 with this one, more than the budget 0.99" in run["reason"]


def test_a_run_of_safepub_is_charged_once_and_asked_no_k():
    found = ind.compare(people(), sampled(), algorithms=["safepub", "local"], k=[2, 5], epsilon_budget=1)
    assert [(run["algorithm"], run["k_asked"]) for run in found.runs] == [("safepub", None), ("local", 2), ("local", 5)]
    safepub, *others = found.runs
    assert safepub["budget"] == {"epsilon": "1", "delta": "1/100000"}
    assert [entry["model"] for run in others for entry in run["models"]] == ["k_anonymity"] * 2
    assert found.document["budget"] == {"epsilon": "1", "delta": "1/100000", "limit": "1", "runs": 1}
    assert "1 run on this table spent epsilon = 1 of the budget 1 and delta = 1/100000 in all" in repr(found)


def test_a_folder_that_takes_no_runs_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(ind.DataError, match=r"within cannot be written: .*; choose another folder"):
        ind.compare(people(), sampled(), algorithms=["local"], output=tmp_path / "file" / "within")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("indistinct.assess.run_store.os.fsync", full)
    with pytest.raises(ind.DataError, match=r"compare\.jsonl cannot be written: No space left"):
        ind.compare(people(), sampled(), algorithms=["local"], output=tmp_path / "folder")


@pytest.mark.slow
def test_runs_kept_in_the_folder_count(tmp_path):
    def compare(epsilon, budget):
        answer = ind.compare(people(), sampled(epsilon), algorithms=["safepub"], output=tmp_path, epsilon_budget=budget)
        return answer.runs[0], answer.document["budget"]

    first, spent = compare("ln 2", "ln 2")
    assert (first["status"], spent["epsilon"]) == ("done", "ln 2")
    again, spent = compare("ln 2", "ln 2")  # looking at it again costs nothing
    assert again["reused"]
    assert (spent["epsilon"], spent["runs"]) == ("ln 2", 1)
    refused, spent = compare("ln 3", "ln 5")
    assert refused["status"] == "unsupported"
    assert spent["epsilon"] == "ln 2"
    second, spent = compare("ln 3", "ln 6")
    assert second["status"] == "done"
    assert spent == {"epsilon": "ln 6", "delta": "1/50000", "limit": "ln 6", "runs": 2}
    other = ind.compare(people(239), sampled(), algorithms=["safepub"], output=tmp_path, epsilon_budget=1)
    assert other.document["budget"]["epsilon"] == "1"  # another table
    lines = (tmp_path / "compare.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["run"]["status"] for line in lines] == ["done"] * 3


def test_a_sample_without_a_large_class_is_spent_too(tmp_path):
    policy = sampled(levels={"age": 0, "sex": 0})
    found = ind.compare(people(60), policy, algorithms=["safepub"], output=tmp_path, epsilon_budget=1)
    assert found.runs[0]["status"] == "infeasible"
    assert found.document["budget"]["epsilon"] == "1"


def test_what_is_refused_before_the_draw_costs_nothing():
    policy = sampled(levels={"age": 9, "sex": 0})
    found = ind.compare(people(), policy, algorithms=["safepub"], epsilon_budget=1)
    assert found.runs[0]["status"] == "policy"
    assert found.document["budget"]["epsilon"] == "0"
    with pytest.raises(ind.PolicyError, match="the epsilon budget of a comparison must be a number above 0"):
        ind.compare(people(), policy, algorithms=["safepub"], epsilon_budget=0)


@pytest.mark.small
def test_epsilons_add_up_exactly():
    half, two, three = Epsilon.read("0.5"), Epsilon.read("ln 2"), Epsilon.read("ln 3")
    assert str(half + two + three + half) == "1 + ln 6"
    assert (two + three).is_within(Epsilon.read("ln 6"))
    assert not (two + three).is_below(Epsilon.read("ln 6"))
    assert Epsilon.read("0.6931471805599453").is_below(two)  # the double below ln 2
    assert not Epsilon.read("0.69314718055994531").is_within(two)
    assert Epsilon.read("1/3") + Epsilon.read("2/3") == Epsilon.read(1)
    for wrong in ("ln 1", 0, -1, "x", 21, "ln"):
        with pytest.raises(ValueError, match="must be"):
            Epsilon.read(wrong)
