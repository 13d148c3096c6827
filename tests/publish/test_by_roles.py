"""A release by the roles of the columns alone: what a draft proposes, said, and nothing published that nobody named."""

import pyarrow as pa
import pytest

import indistinct as ind

TABLE = pa.table(
    {
        "name": [f"n{i}" for i in range(60)],
        "age": ["999" if i == 7 else str(20 + i % 30) for i in range(60)],
        "sex": [("1", "2", "9")[i % 3] for i in range(60)],
        "ill": ["abc"[i % 3] for i in range(60)],
        "paid": [f"{100 + i},5" for i in range(60)],
    }
)
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"], "identifying": ["name"]}


def test_one_call_publishes_what_is_named():
    release = ind.anonymize(TABLE, **ROLES, k=5, l=2, t="0.5", others="drop")
    assert release.table.column_names == ["age", "sex", "ill"]
    assert {model["model"]: model["satisfied"] for model in release.models} == dict.fromkeys(
        ("k_anonymity", "distinct_l", "t_closeness"), True
    )
    policy = release.policy
    assert (policy.version, policy.attributes["age"].type, policy.attributes["age"].missing_values) == (
        2, "integer", ("999",),
    )  # fmt: skip
    assert policy.attributes["sex"].spec["kind"] == "set"
    (said,) = (warning for warning in release.document["warnings"] if warning["kind"] == "proposed")
    assert "age: integer, range, '999' missing; sex: text, set" in said["message"]
    again = ind.anonymize(TABLE, policy)
    assert again.table.equals(release.table)


def test_numbers_are_near_by_their_order():
    release = ind.anonymize(
        TABLE, quasi_identifiers=["age"], sensitive=["paid"], identifying=["name"], k=5, t="0.5", others="drop"
    )
    assert release.policy.privacy[1].distance == "ordered"
    assert release.policy.table.decimal == ","


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({**ROLES, "k": 5}, ind.PolicyError, 'columns without a role: "paid"'),
        ({**ROLES, "others": "drop"}, ind.PolicyError, "k=5"),
        ({}, ind.PolicyError, "give a policy, or name the columns"),
        ({**ROLES, "k": 5, "others": "hide"}, ind.PolicyError, 'write "drop" or "refuse"'),
        ({"quasi_identifiers": ["age"], "k": 5, "l": 2, "others": "drop"}, ind.PolicyError, "none is named"),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"], "k": 5}, ind.PolicyError, "a column has one role"),
        ({"quasi_identifiers": ["aeg"], "k": 5, "others": "drop"}, ind.SchemaError, "age"),
        ({**ROLES, "k": 5, "quasi": ["age"]}, TypeError, 'no argument "quasi"'),
    ],
)
def test_what_nobody_named_is_refused(given, error, why):
    with pytest.raises(error, match=why):
        ind.anonymize(TABLE, **given)


def test_a_policy_and_roles_are_not_given_together():
    policy = ind.Policy(attributes={"age": {"role": "qi"}}, privacy=[ind.KAnonymity(2)])
    with pytest.raises(ind.PolicyError, match="not both"):
        ind.anonymize(TABLE, policy, k=5)


def test_a_drafted_policy_is_open_until_somebody_accepts_it():
    policy = ind.Policy.draft(TABLE)
    assert policy.open_marks
    with pytest.raises(ind.PolicyError, match="not decided"):
        ind.anonymize(TABLE, policy)
    release = ind.anonymize(TABLE, policy, accept_draft="Ada Weber")
    assert release.document["accepted_draft"] == "Ada Weber"
