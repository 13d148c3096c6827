"""Losses and verdicts have typed fields and stay the parts of the document that they are."""

import json

import pytest

import indistinct as ind

TABLE = {"age": [1, 1, 2, 2, 3], "ill": ["a", "b", "a", "b", "a"]}


@pytest.fixture(scope="module")
def answer():
    import pyarrow as pa

    return ind.audit(pa.table(TABLE), qi=["age"], sensitive=["ill"], k=2, l=2)


def test_a_verdict_has_fields_and_answers_as_its_part_of_the_document(answer):
    verdict = answer.models[0]
    assert (verdict.model, verdict.required, verdict.satisfied) == ("k_anonymity", {"k": 2}, False)
    assert verdict.achieved == verdict["achieved"] == {"k": 1}
    assert verdict.reason == answer.document["models"][0]["reason"]
    assert json.dumps(answer.models) == json.dumps(answer.document["models"])
    assert type(verdict.document()) is dict
    with pytest.raises(AttributeError, match="satisfies"):
        _ = verdict.satisfies


def test_a_model_about_an_attribute_names_it(answer):
    named = {verdict.model: verdict.attributes for verdict in answer.models}
    assert named["k_anonymity"] == ()
    assert named["distinct_l"] == ("ill",)


def test_losses_have_fields_and_answer_as_their_part_of_the_document():
    import pyarrow as pa

    policy = ind.Policy(attributes={"age": {"role": "qi", "type": "integer"}}, privacy=[ind.KAnonymity(2)])
    release = ind.anonymize(pa.table({"age": [1, 1, 2, 2]}), policy)
    assert release.loss == release.document["loss"] == json.loads(json.dumps(release.loss))
    assert (release.loss.lm, release.loss.lm_by_attribute) == (0.0, {"age": 0.0})  # nothing has to be generalized
    assert [verdict.satisfied for verdict in release.models] == [True]
