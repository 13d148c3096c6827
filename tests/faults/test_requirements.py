"""What a caller requires is judged or refused, and never dropped."""

import inspect
import typing

import pyarrow as pa
import pytest
from pyarrow import csv

import indistinct as ind
from indistinct.cli.app import run

TABLE = pa.table({"age": [31, 31, 33, 33], "ill": ["a", "b", "a", "b"]})
POLICY = ind.Policy(attributes={"age": {"role": "qi"}, "ill": {"role": "sensitive"}}, privacy=[ind.KAnonymity(2)])
FUNCTIONS = [ind.audit, ind.risk, ind.attack]


def test_an_audit_takes_thresholds_or_a_policy_and_no_unknown_word():
    assert ind.audit(TABLE, POLICY).satisfied
    with pytest.raises(TypeError, match='"nonsense"'):
        ind.audit(TABLE, POLICY, k=50, t="0.01", nonsense=1)
    with pytest.raises(ind.PolicyError, match=r"either a policy or .*; given are k, t"):
        ind.audit(TABLE, POLICY, k=50, t="0.01")
    assert ind.audit(TABLE, qi=["age"], k=50).satisfied is False


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("flags", [{"qi": ["age"]}, {"sensitive": ["ill"]}, {"missing": ["-9"]}, {"person": "ill"}])
def test_nothing_stands_beside_a_policy(function, flags):
    with pytest.raises(ind.PolicyError, match=f"given are {next(iter(flags))}"):
        function(TABLE, POLICY, **flags)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unknown_words_are_errors_and_the_near_one_is_shown(function):
    for policy in (POLICY, None):
        with pytest.raises(TypeError, match=r'"sensitiv".*sensitive'):
            function(TABLE, policy, sensitiv=["ill"])


@pytest.mark.parametrize("function", [ind.risk, ind.attack])
def test_thresholds_are_for_an_audit(function):
    with pytest.raises(TypeError, match='"k"'):
        function(TABLE, qi=["age"], k=50)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_neither_a_policy_nor_columns_is_a_sentence(function):
    with pytest.raises(ind.PolicyError, match="name the quasi-identifiers"):
        function(TABLE)


@pytest.mark.parametrize(
    ("flags", "word"),
    [({"l_kind": "entropy"}, "--l-kind"), ({"t_distance": "equal"}, "--t-distance"), ({"c": 2}, "--c")],
)
def test_half_a_requirement_is_none(flags, word):
    with pytest.raises(ind.PolicyError, match=word):
        ind.audit(TABLE, qi=["age"], sensitive=["ill"], **flags)


def test_a_query_of_a_frame_is_refused():
    with pytest.raises(ind.PolicyError, match="belong to a database"):
        ind.audit(TABLE, POLICY, query="select * from people where age > 32")


@pytest.mark.parametrize("name", [name for name in ind.__all__ if inspect.isfunction(getattr(ind, name))])
def test_public_signatures_take_no_words_of_any_kind(name):
    for parameter in inspect.signature(getattr(ind, name)).parameters.values():
        assert parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            assert typing.get_origin(parameter.annotation) is typing.Unpack or "Unpack" in str(parameter.annotation)


@pytest.mark.parametrize(
    ("function", "options", "word"),
    [
        (ind.attack, {"bound": "1/3", "attacks": ["linkage"]}, "--bound has no effect here: it is for minimality"),
        (ind.attack, {"rule_out": 2, "attacks": ["linkage"]}, "--rule-out"),
        (ind.attack, {"known": 2, "attacks": ["linkage"]}, "--known"),
        (ind.attack, {"tight": True, "attacks": ["linkage"]}, "--tight"),
        (ind.attack, {"repeats": 3, "attacks": ["linkage"]}, "--repeats"),
        (ind.attack, {"other": TABLE, "attacks": ["linkage"]}, "--with has no effect"),
        (ind.attack, {"control": TABLE, "attacks": ["linkage"]}, "--control"),
        (ind.attack, {"widths": {"ill": 2}}, '--width is for numbers and dates, and "ill" is text'),
        (ind.attack, {"widths": {"age": 2}}, 'no column "age"'),  # not a sensitive one
        (ind.attack, {"other_second": TABLE}, "--with-st"),
        (ind.attack, {"fail_on": "worst"}, "--fail-on"),
        (ind.audit, {"suppressed_rows": "no"}, "--suppressed-rows takes exempt or class"),
        (ind.explain, {"loss": 7}, "--loss takes a number from 0 to 1"),
        (ind.explain, {"loss": "much"}, "--loss takes a number from 0 to 1"),
    ],
)
def test_an_option_without_effect_is_refused(function, options, word):
    with pytest.raises(ind.IndistinctError, match=word):
        function(TABLE, POLICY, **options)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"estimator": "sklearn.tree:DecisionTreeClassifier"}, "--estimator needs --target"),
        ({"holdout": TABLE}, "--holdout belongs to"),
        ({"holdout": TABLE, "target": "ill"}, "--holdout belongs to"),
        ({"encoding": "bounds"}, "--encoding belongs to"),
    ],
)
def test_half_a_task_is_refused(options, word):
    with pytest.raises(ind.PolicyError, match=word):
        ind.utility(TABLE, TABLE, POLICY, **options)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hierarchy", "build", "t.csv", "-c", "age", "-o", "h.csv", "--format", "%d.%m.%Y"], "--type date"),
        (["hierarchy", "build", "t.csv", "-c", "age", "-o", "h.csv", "--decimal", ","], "--type integer or decimal"),
        (["anonymize", "t.csv", "-p", "p.toml", "-o", "o.csv", "--language", "zh-CN"], "--language is for reports"),
    ],
)
def test_an_option_of_the_command_line_without_effect_is_refused(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(TABLE, "t.csv")
    POLICY.save("p.toml")
    assert run(words) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.toml", "t.csv"]
