"""The policy document: every rule of the contract, and errors with place, value, range and remedy."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from pydantic import ValidationError

from indistinct.errors import IndistinctError, PolicyError
from indistinct.policy import ALGORITHMS, Attribute, DistinctL, JointL, KAnonymity, Policy, TCloseness
from indistinct.policy.output import Output
from indistinct.policy.run import Run
from indistinct.policy.suppression import Suppression
from indistinct.policy.table import Table

CONTRACT_ALGORITHMS = (
    "local optimal mondrian datafly samarati incognito ola flash top_down_specialization mu_argus k_similar "
    "k_member mdav univariate_microaggregation hilbert t_closeness_first sabre merge generalize_step anatomy "
    "largest_bucket_first ke_partition eps_m_partition graded_local km m_invariance safepub"
)
DISEASE = {"role": "sensitive"}


def policy(*, attributes=None, **parts):
    return Policy(attributes={"age": {"role": "qi"}, "disease": DISEASE} | (attributes or {}), **parts)


def refused(make, kind=PolicyError):
    with pytest.raises(IndistinctError) as caught:
        make()
    assert type(caught.value) is kind
    return caught.value


def test_a_policy_is_made_in_code():
    made = Policy(
        attributes={"age": Attribute(role="qi"), "disease": {"role": "sa"}},
        privacy=[KAnonymity(5), {"model": "distinct_l", "attribute": "disease", "l": 3}],
        suppression={"limit": 0.02},
    )
    assert made.privacy == (KAnonymity(5), DistinctL("disease", 3))
    assert made.suppression.limit == Fraction(1, 50)
    assert made.quasi_identifiers == ("age",)
    assert made.sensitive_attributes == ("disease",)
    assert made.recoding.algorithm == "local"
    assert made.missing.rule == "own"


def test_a_policy_is_frozen():
    with pytest.raises(ValidationError):
        policy().version = 1


@pytest.mark.parametrize("limit", [-0.1, 1.2, "nan", "a lot", True])
def test_a_limit_outside_0_to_1_is_refused(limit):
    error = refused(lambda: policy(suppression={"limit": limit}))
    assert error.where == {"key": "suppression.limit"}
    assert "0 <= limit <= 1" in error.message


@pytest.mark.parametrize(("limit", "meant"), [(20, "0.20"), (2, "0.02"), (2.5, "0.025"), (100, "1.00")])
def test_a_limit_in_percent_brings_the_share(limit, meant):
    assert f"did you mean {meant}?" in refused(lambda: policy(suppression={"limit": limit})).message


@pytest.mark.parametrize(("limit", "rows", "allowed"), [("0.29", 100, 29), ("1/3", 10, 3), (0, 9, 0), (1, 9, 9)])
def test_the_allowed_rows_are_exact(limit, rows, allowed):
    assert Suppression(limit=limit).allowed(rows) == allowed


def test_every_problem_has_its_own_line_and_the_first_place_is_kept():
    error = refused(
        lambda: Policy(
            version=3,
            atributes={},
            attributes={"date of birth": {"role": "quasi", "typ": "date"}},
            privacy=[{"model": "k_anonymity", "k": 0}, {"model": "t_closeness", "attribute": "d", "t": 1.5}],
        )
    )
    lines = error.message.splitlines()
    assert lines[0] == "the policy has 7 problems:"
    assert "  version = 3: must be one of 1, 2" in lines
    assert "  privacy[0].k = 0 (k_anonymity): must be a whole number, k >= 1" in lines
    assert "  privacy[1].t = 1.5 (t_closeness): must be a number, 0 <= t <= 1" in lines
    assert any("privacy[1].distance is missing" in line and '"ordered"' in line for line in lines)
    assert any('atributes is an unknown key; did you mean "attributes"?' in line for line in lines)
    assert any('attributes."date of birth".typ is an unknown key; did you mean "type"?' in line for line in lines)
    assert any('attributes."date of birth".role = "quasi": must be one of identifying' in line for line in lines)
    assert error.where == {"key": "version"}


def test_cross_checks_are_collected_too():
    error = refused(lambda: policy(privacy=[DistinctL("dis", 2), TCloseness("disease", 0.2, "ordered")]))
    assert error.where == {"key": "privacy[0].attribute"}
    assert "the policy has 2 problems" in error.message


@pytest.mark.parametrize(
    ("parts", "key", "words"),
    [
        ({"privacy": {"model": "k_anonymity", "k": 2}}, "privacy", "[[privacy]]"),
        ({"privacy": [3]}, "privacy[0]", "[[privacy]]"),
        ({"privacy": [{"k": 3}]}, "privacy[0].model", "is missing; choose from: k_anonymity"),
        ({"privacy": [{"model": "k-anonymity", "k": 3}]}, "privacy[0].model", 'did you mean "k_anonymity"'),
        ({"privacy": [{"model": "zz"}]}, "privacy[0].model", "choose from: k_anonymity, p_sensitive_k"),
        ({"privacy": [{"model": 5}]}, "privacy[0].model", "text in quotes"),
        ({"missing": {"rule": "wildcard"}}, "missing.rule", '"own"'),
        ({"recoding": {"algorithm": "lokal"}}, "recoding.algorithm", 'did you mean "local"'),
        ({"recoding": {"quality": "great"}}, "recoding.quality", '"fast", "balanced", "best"'),
        ({"recoding": {"time_budget": 0}}, "recoding.time_budget", "time_budget > 0"),
        ({"recoding": {"time_budget": True}}, "recoding.time_budget", "time_budget > 0"),
        ({"output": {"order": "kept"}}, "output.order", "confirmed = true"),
        ({"output": {"suppressed_token": ""}}, "output.suppressed_token", "text"),
        ({"output": {"spreadsheet_safe": "yes"}}, "output.spreadsheet_safe", "true or false"),
        ({"run": {"memory_limit": "8 lb"}}, "run.memory_limit", '"8 GiB"'),
        ({"run": {"memory_limit": "many GiB"}}, "run.memory_limit", '"8 GiB"'),
        ({"table": {"missing": "NA"}}, "table.missing", "a list of texts"),
        ({"table": {"delimiter": ";;"}}, "table.delimiter", "text"),
        ({"table": {"delimiter": '"'}}, "table.delimiter", "not a quote"),
        ({"table": {"delimiter": ",", "decimal": ","}}, "table.delimiter", "decimal mark"),
        ({"table": {"encoding": "utf-9"}}, "table.encoding", "utf-8"),
        ({"table": {"unlisted": "harmless"}}, "table.unlisted", "insensitive"),
        ({"table": {"max_line_bytes": 0}}, "table.max_line_bytes", "max_line_bytes >= 1"),
        ({"person": {}}, "person.key", "is missing"),
        ({"person": "id"}, "person", "[person]"),
        ({"person": {"key": "age"}}, "attributes.age.role", "the person key"),
        ({"attributes": {"x": "qi"}}, "attributes.x", "[attributes.x]"),
        ({"attributes": {"x": {}}}, "attributes.x.role", "is missing"),
    ],
)
def test_what_is_wrong_is_named_with_place_and_remedy(parts, key, words):
    error = refused(lambda: policy(**parts))
    assert error.where["key"] == key
    assert words in error.message


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ({"role": "qi", "type": "text", "format": "%Y"}, "format", 'type = "date"'),
        ({"role": "qi", "type": "date", "format": "dd.mm.yyyy"}, "format", '"%d.%m.%Y"'),
        ({"role": "qi", "type": "date", "format": "%q"}, "format", '"%d.%m.%Y"'),
        ({"role": "qi", "type": "text", "order": ["a"]}, "order", 'type = "ordinal"'),
        ({"role": "qi", "type": "ordinal"}, "order", "lowest first"),
        ({"role": "qi", "type": "ordinal", "order": ["a", "b", "a"]}, "order", 'lists "a" twice'),
        ({"role": "qi", "type": "number"}, "type", '"integer"'),
        ({"role": "qi", "min_level": 3, "max_level": 2}, "min_level", "at most max_level, which is 2"),
        ({"role": "qi", "min_level": -1}, "min_level", "min_level >= 0"),
        ({"role": "qi", "weight": 0}, "weight", "weight > 0"),
        ({"role": "qi", "domain": [0, 9]}, "domain", "integer, decimal or date"),
        ({"role": "qi", "type": "integer", "domain": [9, 9]}, "domain", "lowest < highest"),
        ({"role": "qi", "type": "integer", "domain": [1, 2, 3]}, "domain", "[lowest, highest]"),
        ({"role": "qi", "type": "integer", "domain": ["a", "b"]}, "domain", "[lowest, highest]"),
        ({"role": "qi", "type": "date", "domain": [1, 2]}, "domain", "two dates"),
        ({"role": "qi", "type": "integer", "domain": ["2024-01-01", "2024-02-01"]}, "domain", "two numbers"),
        ({"role": "qi", "action": "drop"}, "action", "identifying columns"),
        ({"role": "id", "action": "pseudonym"}, "action", "key_file or key_env"),
        (
            {"role": "id", "action": "pseudonym", "key_file": "a", "key_env": "B"},
            "action",
            "either key_file or key_env",
        ),
        ({"role": "id", "action": "mask", "key_file": "a"}, "key_file", "leave it out"),
        ({"role": "id", "mapping_file": "a"}, "mapping_file", "leave it out"),
        ({"role": "id", "action": "pseudonym", "key": "secret"}, "key", "never stands in a policy"),
        ({"role": "qi", "missing": "drop"}, "missing", "sensitive columns"),
        ({"role": "sa", "missing": "first"}, "missing", "ordered type"),
        ({"role": "qi", "confirmed": "yes"}, "confirmed", "true or false"),
    ],
)
def test_settings_of_an_attribute_that_do_not_fit_are_refused(settings, key, words):
    error = refused(lambda: Attribute(**settings))
    assert error.where == {"key": key}
    assert words in error.message


def test_the_value_of_a_key_in_the_policy_is_not_shown():
    error = refused(lambda: Attribute(role="id", action="pseudonym", key="secret"))
    assert "secret" not in error.message


def test_settings_of_an_attribute_that_fit():
    assert Attribute(role="sa", type="integer", missing="first").is_ordered
    assert Attribute(role="id", action="pseudonym", key_env="KEY", mapping_file="map.csv").action == "pseudonym"
    assert Attribute(role="qi", type="integer", domain=[0, 110]).domain == (Fraction(0), Fraction(110))
    days = (date(2024, 1, 1), date(2024, 12, 31))
    assert Attribute(role="qi", type="date", domain=["2024-01-01", "2024-12-31"]).domain == days
    assert Attribute(role="qi", type="date", domain=days).domain == days
    assert Attribute(role="qi", weight="1/3").weight == Fraction(1, 3)
    assert Attribute(role="qi").spec is None


@pytest.mark.parametrize(
    ("settings", "model", "key", "words"),
    [
        ({"role": "sa"}, TCloseness("s", 0.2, "ordered"), "privacy[0].distance", "integer, decimal, date"),
        ({"role": "sa"}, TCloseness("s", 0.2, "hierarchical"), "privacy[0].distance", "is missing"),
        (
            {"role": "sa", "hierarchy": {"kind": "suppress"}},
            TCloseness("s", 0.2, "hierarchical"),
            "privacy[0].distance",
            "has kind suppress",
        ),
        (
            {"role": "sa", "type": "integer", "hierarchy": {"kind": "range"}},
            TCloseness("s", 0.2, "hierarchical"),
            "privacy[0].distance",
            "has kind range",
        ),
        ({"role": "qi"}, DistinctL("s", 2), "privacy[0].attribute", "its role is quasi_identifying"),
        ({"role": "sa"}, DistinctL("S", 2), "privacy[0].attribute", 'did you mean "s"'),
        ({"role": "sa"}, JointL(["s", "age"], "distinct_l", 2), "privacy[0].attributes", "sensitive"),
    ],
)
def test_models_must_fit_their_attributes(settings, model, key, words):
    error = refused(lambda: Policy(attributes={"age": {"role": "qi"}, "s": settings}, privacy=[model]))
    assert error.where == {"key": key}
    assert words in error.message


@pytest.mark.parametrize(
    ("settings", "distance"),
    [
        ({"type": "integer"}, "ordered"),
        ({"type": "ordinal", "order": ["low", "high"]}, "ordered"),
        ({"hierarchy": {"file": "s.csv"}}, "hierarchical"),
        ({"type": "integer"}, "equal"),  # the declared distance decides, not the type
        ({}, "equal"),
    ],
)
def test_distances_that_fit(settings, distance):
    made = policy(attributes={"disease": DISEASE | settings}, privacy=[TCloseness("disease", 0.2, distance)])
    assert made.privacy[0].distance == distance


def test_without_a_quasi_identifier_there_is_no_policy():
    error = refused(lambda: Policy(attributes={"s": DISEASE}))
    assert "quasi_identifying" in error.message
    assert Policy(table={"unlisted": "qi"}).quasi_identifiers == ()


def test_a_model_without_any_sensitive_attribute_says_how_to_declare_one():
    error = refused(lambda: Policy(attributes={"age": {"role": "qi"}}, privacy=[DistinctL("dis ease", 2)]))
    assert '[attributes."dis ease"] with role = "sensitive"' in error.message


def test_unlisted_columns_may_be_the_sensitive_ones():
    made = Policy(attributes={"a": {"role": "qi"}}, table={"unlisted": "sa"}, privacy=[DistinctL("s", 2)])
    assert made.privacy[0].attribute == "s"
    refused(lambda: Policy(attributes={"a": {"role": "qi"}}, table={"unlisted": "sa"},
                           privacy=[TCloseness("s", 0.1, "ordered")]))  # fmt: skip


def test_the_person_key_is_identifying():
    assert policy(person={"key": "id"}).person.key == "id"
    assert policy(attributes={"id": {"role": "identifier"}}, person={"key": "id"}).person.key == "id"
    error = refused(lambda: policy(person={"key": "id"}, privacy=[DistinctL("id", 2)]))
    assert "is the person key" in error.message


def test_a_release_needs_a_model_and_an_audit_does_not():
    policy(privacy=[KAnonymity(2)]).require_models()
    error = refused(policy().require_models)
    assert error.where == {"key": "privacy"}


def test_every_algorithm_of_the_contract_is_built():
    assert sorted(ALGORITHMS) == sorted(CONTRACT_ALGORITHMS.split())
    for algorithm in ALGORITHMS:
        assert policy(recoding={"algorithm": algorithm, "target": "ill"}).recoding.algorithm == algorithm


def test_an_unknown_algorithm_is_refused_and_the_sentence_names_those_that_exist():
    error = refused(lambda: policy(recoding={"algorithm": "local_search"}))
    assert error.where == {"key": "recoding.algorithm"}
    assert ", ".join(ALGORITHMS) in error.message


def test_an_unknown_quality_is_refused():
    error = refused(lambda: policy(recoding={"algorithm": "mondrian", "quality": "x"}))
    assert error.where == {"key": "recoding.quality"}


def test_warnings_name_what_is_valid_and_unlikely():
    made = policy(attributes={"disease": DISEASE | {"weight": 2}}, privacy=[KAnonymity(1)])
    kinds = [(notice.kind, notice.column) for notice in made.notices()]
    assert kinds == [("no-protection", None), ("unprotected", "disease"), ("unused", "disease")]
    assert "k_anonymity" in made.notices()[0].message
    assert policy(privacy=[KAnonymity(2), DistinctL("disease", 2)]).notices() == ()


@pytest.mark.parametrize(
    ("text", "amount"),
    [("8 GiB", 8 * 2**30), ("8GB", 8 * 10**9), ("512 MiB", 2**29), ("100 B", 100), (None, None)],
)
def test_memory_limits(text, amount):
    assert Run(memory_limit=text).memory_bytes == amount


def test_defaults_of_the_contract():
    table = Table()
    assert (table.encoding, table.missing, table.decimal, table.trim) == ("utf-8", ("",), ".", "names")
    assert (table.unlisted, table.max_line_bytes) == (None, 16777216)
    assert (Output().order, Output().suppressed_token, Output().spreadsheet_safe) == ("sorted", "*", False)
    assert (Suppression().limit, Suppression().rows) == (0, "drop")
    made = policy().recoding
    assert (made.algorithm, made.quality, made.time_budget, made.loss) == ("local", "balanced", None, "lm")
    assert policy(recoding={"time_budget": 10}).recoding.time_budget == 10.0
    assert Output(order="kept", confirmed=True).order == "kept"


def test_the_hash_is_of_what_was_decided():
    one = Policy.load('[attributes.age]\nrole = "QI"\n[suppression]\nlimit = 0.20\n')
    same = Policy(
        version=1,
        attributes={"age": {"role": "quasi_identifying", "weight": 1}},
        suppression={"limit": "1/5"},
        run={"temp_dir": "x"},
    )
    assert one.hash() == same.hash()
    assert len(one.hash()) == 64
    assert one.hash() != policy().hash()
    swapped = [Policy(attributes={name: {"role": "qi"} for name in names}).hash() for names in ("ab", "ba")]
    assert swapped[0] != swapped[1]


def test_odd_names_do_no_harm():
    odd = {"self": {"role": "qi"}, "data": {"role": "qi"}, "model": {"role": "qi"}, "": {"role": "qi"}}
    assert Policy(attributes=odd).quasi_identifiers == ("self", "data", "model", "")
    unknown = {"self": 1}
    error = refused(lambda: policy(**unknown))
    assert error.where == {"key": "self"}
