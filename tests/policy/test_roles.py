"""Roles: synonyms, and the role of every column of a table."""

from __future__ import annotations

import pytest

from indistinct.errors import SchemaError
from indistinct.policy import DistinctL, Policy, normalize, resolve

SPELLINGS = {
    "identifying": [
        "identifying",
        "Identifier",
        "ID",
        "direct_identifier",
        "direct-identifier",
        "Direct Identifier",
    ],
    "quasi_identifying": [
        "quasi_identifying",
        "quasi-identifying",
        "Quasi Identifier",
        "QI",
        "key",
        "KeyVar",
    ],
    "sensitive": ["sensitive", "SENSITIVE", "sensitive attribute", "SA"],
    "insensitive": ["insensitive", "Other", "none"],
}


@pytest.mark.parametrize(("role", "word"), [(role, word) for role, words in SPELLINGS.items() for word in words])
def test_synonyms_in_any_case_and_with_any_sign(role, word):
    assert normalize(word) == role
    assert normalize(f" {word} ") == role


@pytest.mark.parametrize(
    ("word", "hint"),
    [("sensitiv", '"sensitive"'), ("quasi", "one of"), ("", "one of"), (3, "one of"), (None, "one of")],
)
def test_other_words_are_refused(word, hint):
    with pytest.raises(ValueError, match=hint):
        normalize(word)


def policy(**parts):
    roles = {"zip": "qi", "name": "id", "age": "qi", "disease": "sa", "note": "other"}
    return Policy(attributes={name: {"role": role} for name, role in roles.items()}, **parts)


def test_every_column_has_one_role():
    roles = resolve(policy(), ["note", "name", "age", "disease", "zip"])
    assert roles.identifying == ("name",)
    assert roles.quasi == ("zip", "age")  # the order of the policy
    assert roles.sensitive == ("disease",)
    assert roles.insensitive == roles.unconfirmed == ("note",)
    assert roles.unlisted == roles.notices == ()
    assert roles.person is None


# essence of case 75: age and sex are declared, nobody mentioned fare
def test_a_column_without_a_role_is_an_error_with_a_policy():
    made = Policy(attributes={"name": {"role": "id"}, "age": {"role": "qi"}, "sex": {"role": "qi"}})
    with pytest.raises(SchemaError) as caught:
        resolve(made, ["name", "age", "sex", "fare"])
    assert '"fare"' in caught.value.message
    assert '[table] unlisted = "insensitive"' in caught.value.message
    assert caught.value.where == {"column": "fare", "key": "table.unlisted"}


def test_all_columns_without_a_role_are_listed():
    with pytest.raises(SchemaError, match='columns "b", "c"'):
        resolve(Policy(attributes={"a": {"role": "qi"}}), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("role", "field"), [("insensitive", "insensitive"), ("SA", "sensitive"), ("id", "identifying")]
)
def test_a_default_role_covers_the_rest(role, field):
    made = Policy(attributes={"a": {"role": "qi"}}, table={"unlisted": role})
    roles = resolve(made, ["c", "a", "b"])
    assert getattr(roles, field) == ("c", "b")
    assert roles.unlisted == ("c", "b")
    assert roles.notices == ()
    assert roles.attributes["b"].type == "text"


def test_unlisted_quasi_identifiers_follow_the_declared_ones():
    made = Policy(attributes={"b": {"role": "qi"}}, table={"unlisted": "qi"})
    assert resolve(made, ["c", "b", "a"]).quasi == ("b", "c", "a")


def test_confirmation_of_insensitive_columns():
    made = Policy(
        attributes={"a": {"role": "qi"}, "b": {"role": "none", "confirmed": True}, "c": {"role": "none"}},
        table={"unlisted": "insensitive"},
    )
    assert resolve(made, ["a", "b", "c", "d"]).unconfirmed == ("c", "d")
    confirmed = Policy(**made.plain() | {"table": {"unlisted": "insensitive", "unlisted_confirmed": True}})
    assert resolve(confirmed, ["a", "b", "c", "d"]).unconfirmed == ("c",)


def test_a_column_that_the_table_lacks_is_named_with_the_nearest():
    with pytest.raises(SchemaError) as caught:
        resolve(policy(), ["note", "name", "age", "diseases", "zip"])
    assert 'did you mean "diseases"' in caught.value.message
    assert caught.value.where == {"column": "disease", "key": "attributes.disease"}
    with pytest.raises(SchemaError, match="lacks 2 columns"):
        resolve(policy(), ["note", "name", "age"])


def test_the_person_key_is_identifying_and_needs_no_entry():
    roles = resolve(policy(person={"key": "id"}), ["note", "id", "name", "age", "disease", "zip"])
    assert roles.identifying == ("id", "name")
    assert roles.person == "id"
    with pytest.raises(SchemaError) as caught:
        resolve(policy(person={"key": "pid"}), ["note", "id", "name", "age", "disease", "zip"])
    assert caught.value.where["key"] == "person.key"


def test_warnings_of_the_policy_come_along():
    made = policy(privacy=[DistinctL("disease", 1)])
    assert [notice.kind for notice in resolve(made, list(made.attributes)).notices] == ["no-protection"]
