"""Diversity that rests on blanks, and what frames hold that a table of people cannot."""

import datetime as dt
import runpy
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import indistinct as ind

HERE = Path(__file__).parent
SUPPRESS = {"kind": "suppress"}


def policy_of(model, **more):
    return ind.Policy(
        attributes={"q": {"role": "qi", "hierarchy": SUPPRESS}, "s": {"role": "sensitive"}, "r": {"role": "sensitive"}},
        privacy=[model],
        **more,
    )


# of class a two rows of four have no value: one value is left; class b has two
BLANK = pa.table({"q": list("aaaabbbb"), "s": ["x", "x", None, None, "x", "y", "x", "y"], "r": list("uvuvuvuv")})
MODELS = [
    {"model": "distinct_l", "attribute": "s", "l": 2},
    {"model": "entropy_l", "attribute": "s", "l": 2},
    {"model": "recursive_cl", "attribute": "s", "l": 2, "c": 2},
    {"model": "p_sensitive_k", "attribute": "s", "p": 2, "k": 4},
]


def named(document):
    return [one["message"] for one in document["warnings"] if one["kind"] == "diverse-by-missing"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["model"])
def test_classes_that_are_diverse_only_by_blanks_are_named(model):
    policy = policy_of(model)
    audit = ind.audit(BLANK, policy).document
    release = ind.anonymize(BLANK, policy)
    verification = ind.verify(BLANK, release.table, policy).document
    for document in (audit, release.document):
        [message] = named(document)
        assert message.startswith("1 class holds")
        assert "{q a}" in message
    [message] = named(verification)
    assert "{q a}" in message


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: model["model"])
def test_groups_that_are_diverse_only_by_blanks_are_named(tmp_path, model):
    table = pa.table({"q": list("abcdef"), "s": ["x", None, "x", "y", "x", "y"], "r": list("uvuvuv")})
    policy = policy_of(model, recoding={"algorithm": "anatomy"})
    release = ind.anonymize(table, policy, output=tmp_path / "out.csv")
    values = pd.read_csv(tmp_path / "out.st.csv")
    blank = values[values["s"].isna()].iloc[:, 0].unique()
    assert len(blank) == 1  # the group of the row without a value: x and nothing
    [message] = named(release.document)
    assert message.startswith("1 group holds")
    found = ind.verify(table, tmp_path / "out.qit.csv", policy, tmp_path / "out.st.csv")
    [message] = named(found.document)
    assert f"number {blank[0]}" in message


def test_classes_that_are_joint_diverse_only_by_blanks_are_named():
    table = pa.table({"q": ["a"] * 4, "s": ["x", None, "x", None], "r": list("uuvv")})
    policy = policy_of({"model": "joint_l", "attributes": ["s", "r"], "kind": "distinct_l", "l": 2})
    assert len(named(ind.audit(table, policy).document)) == 1


@pytest.mark.parametrize("values", [["x", "y", "x", "y"] * 2, ["x", "y", None, None, "x", "y", "x", "y"]])
def test_nothing_is_said_where_the_values_suffice(values):
    table = BLANK.set_column(1, "s", pa.array(values))
    assert named(ind.audit(table, policy_of(MODELS[0])).document) == []


JOINT = {"model": "joint_l", "attributes": ["s", "r"]}


@pytest.mark.parametrize(
    "model",
    [
        MODELS[0] | {"l": 4},
        MODELS[1] | {"l": 4},
        MODELS[1] | {"l": "2.9"},  # three values, but too unevenly: the effective l is 2.85
        MODELS[2] | {"l": 3, "c": 1},
        MODELS[3] | {"p": 4},
        JOINT | {"kind": "distinct_l", "l": 4},
        JOINT | {"kind": "entropy_l", "l": 3},
        JOINT | {"kind": "recursive_cl", "l": 2, "c": "0.5"},
    ],
    ids=lambda model: f"{model['model']} {model.get('kind', '')} {model.get('l', '')}",
)
@pytest.mark.parametrize("algorithm", ["local", "optimal", "datafly"])
def test_a_refusal_says_that_one_of_the_values_is_missing(model, algorithm):
    policy = policy_of(model, recoding={"algorithm": algorithm})
    with pytest.raises(ind.InfeasibleError, match="one of the values of s is the missing value, in 2 rows"):
        ind.anonymize(BLANK, policy)
    filled = BLANK.set_column(1, "s", pa.array(["x", "x", "z", "z", "x", "y", "x", "y"]))
    with pytest.raises(ind.InfeasibleError) as told:
        ind.anonymize(filled, policy)
    assert "missing" not in str(told.value)


def test_anatomy_says_that_the_most_frequent_value_is_the_missing_one():
    table = pa.table({"q": list("abcd"), "s": ["x", None, None, None], "r": list("uvuv")})
    with pytest.raises(ind.InfeasibleError, match='value of "s", the missing one, has 3 of 4 rows'):
        ind.anonymize(table, policy_of(MODELS[0], recoding={"algorithm": "anatomy"}))


def test_a_type_that_arrow_lacks_is_named():
    frame = pl.DataFrame({"age": pl.Series([2**100, 2**100, 1, 1], dtype=pl.Int128), "sex": list("ffmm")})
    for table in (frame, frame.lazy()):
        with pytest.raises(ind.UnsupportedError, match=r'"age".*Int128'):
            ind.audit(table, ind.Policy(attributes={"age": {"role": "qi"}, "sex": {"role": "qi"}}))


STAYS = {
    "pandas": pd.DataFrame({"stay": pd.to_timedelta([1, 2, 5, 6], unit="D")}),
    "polars": pl.DataFrame({"stay": [dt.timedelta(days=days) for days in (1, 2, 5, 6)]}),
    "pyarrow": pa.table({"stay": pa.array([1, 2, 5, 6], pa.duration("s"))}),
}


@pytest.mark.parametrize("kind", STAYS)
def test_durations_are_no_numbers(kind):
    policy = ind.Policy.load(HERE / "24-frame-types-misread" / "policy.toml")
    with pytest.raises(ind.UnsupportedError, match=r'"stay" is declared integer, but holds durations in \w*seconds'):
        ind.anonymize(STAYS[kind], policy)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (pa.array([1, 2, 3, 4], pa.time32("s")), "times of day"),
        (pa.array([[1], [2], [3], [4]]), "lists or records"),
        (pa.array([{"a": 1}] * 4), "lists or records"),
    ],
)
def test_other_types_that_are_no_numbers_are_named(array, said):
    policy = ind.Policy.load(HERE / "24-frame-types-misread" / "policy.toml")
    with pytest.raises(ind.UnsupportedError, match=said):
        ind.anonymize(pa.table({"stay": array}), policy)


def test_long_decimals_are_read_exactly():
    values = pa.array(["12345678901234567890123456789012345678901", "7"]).cast(pa.decimal256(60, 0))
    policy = ind.Policy(
        attributes={"n": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
        privacy=[ind.KAnonymity(2)],
    )
    found = ind.anonymize(pa.table({"n": values}), policy).table["n"].to_pylist()
    assert found == ["[7, 12345678901234567890123456789012345678901]"] * 2


def test_empty_texts_of_a_frame_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ind.DataError, match=r'"note" holds empty texts \(2 rows\).*\[table\] missing = \[\]'):
        runpy.run_path(str(HERE / "b05-frame-with-empty-texts" / "run.py"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "sav"])
@pytest.mark.parametrize("column", ["q", "s", "note"])
def test_empty_texts_are_named_before_anything_is_computed(tmp_path, suffix, column, monkeypatch):
    table = pa.table({"q": ["1"] * 4, "s": ["x", "y", "x", "y"], "note": list("abab")})
    table = table.set_column(table.column_names.index(column), column, pa.array(["", "a", "", "a"]))
    roles = {"q": {"role": "qi", "hierarchy": SUPPRESS}, "s": {"role": "sensitive"}, "note": {"role": "insensitive"}}
    policy = ind.Policy(attributes=roles, privacy=[ind.KAnonymity(2)])

    def never(*_):
        raise AssertionError

    monkeypatch.setattr("indistinct.publish.anonymize.decide", never)
    with pytest.raises(ind.DataError, match=f'"{column}" holds empty texts'):
        ind.anonymize(table, policy, output=tmp_path / f"out.{suffix}")


def test_empty_texts_are_written_where_no_token_is_missing(tmp_path):
    table = pa.table({"q": ["1"] * 4, "note": ["", "a", "", "b"]})
    attributes = {"q": {"role": "qi", "hierarchy": SUPPRESS}, "note": {"role": "insensitive"}}
    for name, missing in (("out.csv", []), ("out.parquet", [""])):
        policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)], table={"missing": missing})
        assert ind.anonymize(table, policy, output=tmp_path / name).document["satisfied"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "dta"])
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_durations_that_are_written_as_numbers_are_named(tmp_path, suffix, unit):
    table = pa.table({"q": list("aabb"), "stay": pa.array([1, 2, 5, 6], pa.duration(unit))})
    roles = {"q": {"role": "qi", "hierarchy": SUPPRESS}, "stay": {"role": "insensitive", "confirmed": True}}
    release = ind.anonymize(table, ind.Policy(attributes=roles, privacy=[ind.KAnonymity(2)]))
    release.write(tmp_path / f"x.{suffix}")
    [message] = [one["message"] for one in release.document["warnings"] if one["kind"] == "durations"]
    assert f'"stay" holds durations, and .{suffix} files have none' in message
    assert ("whole numbers of seconds" if unit == "s" else "whole numbers of milliseconds") in message


def test_durations_that_stay_durations_are_not_named(tmp_path):
    table = pa.table({"q": list("aabb"), "stay": pa.array([1, 2, 5, 6], pa.duration("s"))})
    roles = {"q": {"role": "qi", "hierarchy": SUPPRESS}, "stay": {"role": "insensitive", "confirmed": True}}
    policy = ind.Policy(attributes=roles, privacy=[ind.KAnonymity(2)])
    release = ind.anonymize(table, policy, output=tmp_path / "x.parquet")
    assert not [one for one in release.document["warnings"] if one["kind"] == "durations"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "sav", "dta"])
@pytest.mark.parametrize("column", ["q", "s"])
def test_a_zero_byte_is_named_with_its_column_before_anything_is_decided(tmp_path, suffix, column):
    table = {"q": list("aabb"), "s": list("cdcd")} | {column: ["x\0y", "x", "x\0y", "x"]}
    attributes = {"q": {"role": "qi", "hierarchy": {"kind": "suppress"}}, "s": {"role": "insensitive"}}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)])
    with pytest.raises(ind.DataError, match=f'"{column}" holds a zero byte, which .{suffix} files cannot'):
        ind.anonymize(pa.table(table), policy, output=tmp_path / f"out.{suffix}")
    assert not [*tmp_path.iterdir()]
    ind.anonymize(pa.table(table), policy, output=tmp_path / "out.parquet")


@pytest.mark.parametrize("suffix", ["csv", "sav", "xlsx"])
@pytest.mark.parametrize(("cells", "what"), [(["", "a"], "empty texts"), (["x\0y", "a"], "a zero byte")])
def test_a_transformed_table_names_what_its_file_would_lose(tmp_path, suffix, cells, what):
    top = {"method": "top_coding", "attribute": "age", "limit": 5}
    attributes = {"age": {"role": "qi", "type": "integer"}, "note": {"role": "insensitive", "confirmed": True}}
    policy = ind.Policy(attributes=attributes, transforms=[top])
    made = ind.transform(pa.table({"age": [1, 9, 3, 4], "note": cells * 2}), policy)
    if (what, suffix) == ("a zero byte", "xlsx"):  # a cell holds it
        assert made.write(tmp_path / "out.xlsx")
        return
    with pytest.raises(ind.DataError, match=f'"note" holds {what}'):
        made.write(tmp_path / f"out.{suffix}")
    assert not [*tmp_path.iterdir()]


def test_a_transformed_table_says_how_durations_are_written(tmp_path):
    policy = ind.Policy(
        attributes={"age": {"role": "qi", "type": "integer"}, "stay": {"role": "insensitive", "confirmed": True}},
        transforms=[{"method": "top_coding", "attribute": "age", "limit": 5}],
    )
    table = pa.table({"age": [1, 9], "stay": pa.array([1, 2], pa.duration("s"))})
    for suffix, kinds in {"csv": ["durations"], "parquet": []}.items():
        warnings = ind.transform(table, policy, output=tmp_path / f"out.{suffix}").document["warnings"]
        assert [one["kind"] for one in warnings if one["kind"] == "durations"] == kinds
