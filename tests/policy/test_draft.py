"""Drafts: suggestions with reasons, valid, and without values that nobody should see."""

from __future__ import annotations

import pytest

from indistinct.errors import PolicyError
from indistinct.policy import ColumnFacts, Policy, draft, facts_of, suggest


def column(name, values, missing=0):
    texts = sorted(set(values)) + ([None] if missing else [])
    return facts_of(name, texts, [values.count(text) if text is not None else missing for text in texts])


def test_facts_are_counted():
    facts = facts_of("sex", ["f", "m", "x", None], [40, 30, 1, 5])
    assert (facts.rows, facts.distinct, facts.missing, facts.singletons) == (76, 3, 5, 1)
    assert facts.unique_share == pytest.approx(1 / 76)
    assert facts.examples == ("f", "m")  # x is rare
    assert facts_of("empty", [None], [3]).looks_like == "empty"
    assert facts_of("none", [], []).unique_share == 0


@pytest.mark.parametrize(
    ("values", "look", "form"),
    [
        (["1", "-2", "30"], "integer", None),
        (["1.5", "2"], "decimal", None),
        (["1,5", "2,25"], "decimal", None),
        (["02138", "10115"], "code", None),
        (["J18", "K35.2"], "code", None),
        (["2024-01-31", "2024-12-01"], "date", "%Y-%m-%d"),
        (["31.01.2024", "01.12.2024"], "date", "%d.%m.%Y"),
        (["12/31/2024", "01/02/2024"], "date", "%m/%d/%Y"),
        (["a@b.org", "c@d.example"], "email", None),
        (["+49 30 1234567", "(030) 765 43 21"], "phone", None),
        (["north", "south"], "text", None),
        (["he came in with a cough and left", "she fell from the second step at home"], "free text", None),
        (["same"], "constant", None),
        (["1", "two"], "text", None),
    ],
)
def test_looks(values, look, form):
    facts = column("x", values)
    assert (facts.looks_like, facts.format) == (look, form)


def test_the_decimal_mark_is_found():
    assert [column("x", values).decimal for values in (["1,5", "2"], ["1.5", "2"], ["a", "b"])] == [",", ".", "."]


@pytest.mark.parametrize(
    ("facts", "role"),
    [
        (column("Last Name", ["a", "b"]), "identifying"),
        (column("E-Mail", ["a", "b"]), "identifying"),
        (column("contact", ["a@b.org", "c@d.org"]), "identifying"),
        (column("birthDate", ["a", "b"]), "quasi_identifying"),
        (column("PLZ", ["a", "b"]), "quasi_identifying"),
        (column("性别", ["a", "b"]), "quasi_identifying"),
        (column("icd_10", ["a", "b"]), "sensitive"),
        (column("Salary", ["a", "b"]), "sensitive"),
        (column("language", ["a", "b"]), "quasi_identifying"),
        (column("remark", ["he came in with a cough and left", "b c d e f g h i j k"]), "identifying"),
        (column("x", ["only"]), "insensitive"),
        (column("serial", [f"s{i}" for i in range(50)]), "identifying"),
        (column("measure", [f"{i}.5" for i in range(50)]), "quasi_identifying"),
        (column("x", ["a", "b"] * 50), "quasi_identifying"),  # in doubt, the careful role
    ],
)
def test_suggestions(facts, role):
    suggestion = suggest(facts)
    assert suggestion.role == role
    assert suggestion.reason


def test_a_word_inside_another_is_no_reason():
    # "age" stands inside "image" and "usage"
    assert "name" not in suggest(column("image usage", ["a", "b"])).reason


def test_a_person_key_is_recognised_by_name_and_repetition():
    ids = [str(i) for i in range(80)] + ["1", "2"] * 10
    assert suggest(column("patient_id", ids)).is_person
    assert not suggest(column("patient_id", [str(i) for i in range(80)])).is_person
    assert suggest(column("patient_group", ["a", "b"] * 40)).role == "quasi_identifying"


def table():
    return [
        column("patient_id", [str(i) for i in range(80)] + ["1", "2"] * 10),
        column("name", [f"Ada{i % 5}" for i in range(100)]),
        column("birth date", ["31.01.2024", "01.12.2024"] * 50),
        column("zip", ["10115", "80331"] * 50),
        column("age", ["31", "45"] * 45, missing=10),
        column("height", ["1.5", "1.75"] * 50),
        column('od"d\n', ["x\ny", "z"] * 50),
        column("diagnosis", ["secret1", "secret2"] * 50),
        column("diagnosis date", ["2024-01-31", "2024-12-01"] * 50),
        column("batch", ["7"] * 100),
    ]


def test_a_draft_is_a_valid_policy_with_marks():
    text = draft(table(), source="t.csv", delimiter=";")
    policy = Policy.load(text)
    assert policy.person.key == "patient_id"
    assert policy.quasi_identifiers == ("birth date", "zip", "age", "height", 'od"d\n')
    assert policy.sensitive_attributes == ("diagnosis", "diagnosis date")
    assert policy.attributes["birth date"].format == "%d.%m.%Y"
    assert policy.attributes["zip"].type == "text"  # a code, though all values are digits
    assert policy.attributes["age"].type == "integer"
    assert policy.attributes["height"].spec == {"kind": "range"}
    assert policy.table.source == "t.csv"
    policy.require_models()
    for line in text.splitlines():
        if line.startswith(("role", "type", "format", "hierarchy", "key", "k =", "l =", "limit")):
            assert "# CONFIRM: " in line


def test_a_draft_shows_no_value_that_identifies_or_is_sensitive():
    text = draft(table())
    assert "Ada" not in text
    assert "secret" not in text
    assert '"31", "45"' in text


def test_without_a_quasi_identifier_a_draft_asks_for_one():
    text = draft([column("name", ["a", "b"])])
    assert "# TO DO" in text
    with pytest.raises(PolicyError, match="quasi"):
        Policy.load(text)


def test_an_empty_table_has_a_draft_too():
    assert "version = 2" in draft([])
    assert ColumnFacts("x", 0, 0, 0, 0).unique_share == 0
