"""The gate: which end is judged, the correction for several attacks, what must run, and linkage by 1/k."""

import json
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.attacks.outcome import Contrast, bootstrap
from indistinct.cli.app import run

RELEASED = pa.table({"zip": list("aaaabbbb"), "ill": ["x", "x", "y", "y", "x", "y", "y", "y"]})
POLICY = ind.Policy(
    attributes={"zip": {"role": "qi", "hierarchy": {"kind": "suppress"}}, "ill": {"role": "sensitive"}},
    privacy=[ind.KAnonymity(3)],
)


def test_linkage_is_judged_by_the_k_that_was_asked():
    answer = ind.attack(RELEASED, POLICY, attacks=["linkage", "uniqueness"], fail_above="0.05", fail_on="worst")
    assert answer.satisfied, "1/4 is within the 1/3 that k = 3 grants, though it gains more than 0.05"
    verdict = answer["linkage"]["gate"]
    assert (verdict["compared"], verdict["value"]) == ("belief", 0.25)
    assert verdict["limit"] == pytest.approx(1 / 3)
    assert "k = 3" in verdict["why"]
    wanted = POLICY.plain() | {"privacy": [ind.KAnonymity(5)]}
    strict = ind.attack(RELEASED, ind.Policy(**wanted), attacks=["linkage"], fail_above="0.5", fail_on="worst")
    assert strict.satisfied is False, "1/4 is more than the 1/5 that k = 5 grants"
    assert "1/5, since the policy asks for k = 5" in repr(strict)


@pytest.mark.parametrize("k", [3, 6, 7])
def test_a_class_of_just_k_is_within_one_over_k(k):
    wanted = ind.Policy(**POLICY.plain() | {"privacy": [ind.KAnonymity(k)]})
    released = pa.table({"zip": ["a"] * k, "ill": ["x"] * k})
    assert ind.attack(released, wanted, attacks=["linkage"], fail_above="0.01", fail_on="worst").satisfied


def test_each_end_of_the_interval_is_judged_as_asked():
    how = {"qi": ["zip"], "sensitive": ["ill"], "attacks": ["skewness"]}
    entry = ind.attack(RELEASED, **how)["skewness"]
    low, high = entry["gain_interval"]["low"], entry["gain_interval"]["high"]
    assert low <= entry["gain"] <= high
    between = (entry["gain"] + high) / 2 if high > entry["gain"] else entry["gain"]
    assert ind.attack(RELEASED, **how, fail_above=str(between), fail_at="lower").satisfied
    assert ind.attack(RELEASED, **how, fail_above=str(between)).satisfied
    upper = ind.attack(RELEASED, **how, fail_above=str(between), fail_at="upper")
    assert upper.satisfied is (high <= between)


def test_the_interval_is_corrected_for_the_number_of_outcomes():
    values, weight = np.array([0.0, 1.0]), np.array([60, 40])
    low, high, method = bootstrap(values, weight, 1 - 0.05 / 10)
    half = NormalDist().inv_cdf(1 - 0.05 / 20) * (0.24 / 100) ** 0.5
    assert (low, high, method) == (pytest.approx(0.4 - half), pytest.approx(0.4 + half), "normal")
    two = pa.table({"zip": list("aaaabbbb"), "ill": list("xxyyxyyy"), "job": list("pppqpqpq")})
    how = {"qi": ["zip"], "sensitive": ["ill", "job"], "attacks": ["skewness", "homogeneity"]}
    answer = ind.attack(two, **how, fail_above="0.5", fail_at="upper")
    assert answer.document["judged"] == 4
    levels = {entry["gate"]["level"] for entry in answer.document["attacks"]}
    assert levels == {1 - 0.05 / 4}


def test_a_contrast_is_what_members_have_beyond_others():
    told = Contrast(np.array([1.0, 0.0]), np.array([60, 40]), np.array([1.0, 0.0]), np.array([20, 80]), 0.1)
    assert told.risk == pytest.approx((0.6 - 0.2) / 0.8)
    low, high, _ = told.interval()
    assert low < told.risk < high
    always = Contrast(np.ones(1), np.array([5]), np.ones(1), np.array([5]))
    assert always.risk == 0.0, "what is always right about others as well is no leak"


def test_an_attack_that_must_run(tmp_path, capfd):
    how = {"qi": ["zip"], "sensitive": ["ill"]}
    answer = ind.attack(RELEASED, **how, require=["skewness", "composition"])
    assert answer.satisfied is False
    assert answer.document["not_run"] == ["composition"]
    assert "required, but not run: composition" in repr(answer)
    assert ind.attack(RELEASED, **how, require=["skewness"]).satisfied
    assert ind.attack(RELEASED, **how).satisfied is None
    file = tmp_path / "out.csv"
    file.write_text("zip,ill\na,x\na,y\n", encoding="utf-8")
    words = ["attack", str(file), "--qi", "zip", "--sensitive", "ill", "--json"]
    assert run([*words, "--require", "skewness,inference"]) == 1
    assert json.loads(capfd.readouterr().out)["not_run"] == ["inference"]
    assert run([*words, "--require", "skewness"]) == 0
    capfd.readouterr()


@pytest.mark.parametrize(("how", "word"), [
    ({"fail_at": "middle", "fail_above": "0.1"}, "estimate, lower or upper"),
    ({"fail_at": "lower"}, "give it too"),
    ({"fail_at": "lower", "fail_above": "0.1", "fail_on": "worst"}, "no interval"),
    ({"require": ["linkige"]}, "there is no attack"),
    ({"require": ["linkage"], "attacks": ["skewness"]}, "leaves it out"),
])  # fmt: skip
def test_wrong_words_are_refused(how, word):
    with pytest.raises(ind.PolicyError, match=word):
        ind.attack(RELEASED, qi=["zip"], sensitive=["ill"], **how)


def test_each_attack_names_the_attacker_it_supposes():
    answer = ind.attack(RELEASED, qi=["zip"], sensitive=["ill"])
    assert all(entry["supposes"] for entry in answer.document["attacks"])
    assert "somebody who knows the class of a person: 0 of 2 classes hold one ill" in repr(answer)
