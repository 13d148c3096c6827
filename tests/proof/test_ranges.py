"""Ends of ranges beside their labels: true of the originals, read back from every format, refuted when changed."""

import json
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind

ATTRIBUTES = {
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10], "top": 90}},
    "height": {"role": "qi", "type": "decimal", "hierarchy": {"kind": "range"}},
    "day": {"role": "qi", "type": "date", "format": "%d.%m.%Y",
            "hierarchy": {"kind": "dates", "levels": ["month", "year"]}},
    "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
    "rank": {"role": "qi", "type": "integer"},
    "ill": {"role": "sensitive"},
}  # fmt: skip
ENDS = [f"{name}_{end}" for name in ("age", "height", "day") for end in ("from", "to")]


def policy(ranges="columns", **more):
    return ind.Policy(
        attributes=ATTRIBUTES, privacy=[ind.KAnonymity(3)], output={"ranges": ranges}, suppression={"limit": 0}, **more
    )


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(4)
    days = zip(generator.integers(1, 28, 60), generator.integers(1, 13, 60), strict=True)
    return pa.table(
        {
            "age": [str(age) for age in generator.integers(0, 99, 60)],
            "height": [str(round(height, 2)) for height in generator.normal(1.7, 0.1, 60)],
            "day": [None, *(f"{day:02d}.{month:02d}.2024" for day, month in days)][:60],
            "town": ["Kiel", "Bonn"] * 30,
            "rank": ["1"] * 60,
            "ill": [f"v{at}" for at in range(60)],  # tells the rows apart
        }
    )


def values(row):
    return {
        "age": int(row["age"]),
        "height": float(row["height"]),
        "day": None if row["day"] is None else date(*(int(part) for part in reversed(row["day"].split(".")))),
    }


def hold(rows, table):
    """Whether every original value lies between its ends, and how many ends there are."""
    original = {row["ill"]: values(row) for row in table.to_pylist()}
    told = 0
    for row in rows:
        for name, value in original[row["ill"]].items():
            low, high = row[f"{name}_from"], row[f"{name}_to"]
            assert low is None or low <= value
            assert high is None or value <= high
            told += (low is not None) + (high is not None)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta"])
def test_two_columns_are_written_and_verified_in_every_format(table, tmp_path, suffix):
    out = tmp_path / f"out.{suffix}"
    release = ind.anonymize(table, policy(), output=out)
    names = release.table.column_names
    assert names == ["age", *ENDS[:2], "height", *ENDS[2:4], "day", *ENDS[4:], "town", "rank", "ill"]
    assert hold(release.table.to_pylist(), table) > 60
    answer = ind.verify(table, out, policy()).document
    assert (answer["satisfied"], answer["coverage"]["status"], answer["hash"]) == (True, "proven", "match")
    assert json.loads((tmp_path / f"out.{suffix}.manifest.json").read_text())["ranges"] == "columns"
    # what else reads a published table takes the labels and leaves the ends alone
    without = policy("label")
    ind.anonymize(table, without, output=tmp_path / f"plain.{suffix}")
    assert ind.audit(out, policy()).document["smallest_class"] >= 3
    found, plain = (
        ind.utility(table, file, own, queries=20).document
        for file, own in ((out, policy()), (tmp_path / f"plain.{suffix}", without))
    )
    assert found == plain


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_struct_holds_both_ends(table, tmp_path, suffix):
    out = tmp_path / f"out.{suffix}"
    release = ind.anonymize(table, policy("struct"), output=out)
    assert release.table.column_names[:2] == ["age", "age_range"]
    rows = [
        {**row, **{f"{name}_{end}": (row[f"{name}_range"] or {}).get(end) for name in ("age", "height", "day")
                   for end in ("from", "to")}}
        for row in release.table.to_pylist()
    ]  # fmt: skip
    assert hold(rows, table) > 60
    assert release.table.schema.field("day_range").type == pa.struct([("from", pa.date32()), ("to", pa.date32())])
    for published in (out, release.table):
        assert ind.verify(table, published, policy("struct")).document["coverage"]["status"] == "proven"
    assert ind.audit(out, policy("struct")).document["smallest_class"] >= 3


def test_the_ends_are_those_that_the_labels_say():
    table = pa.table({"age": ["20", "21", "29", "90", "95", "99", None, None, None], "ill": list("abcdefghi")})
    attributes = {"age": ATTRIBUTES["age"], "ill": {"role": "sensitive"}}
    found = ind.anonymize(
        table, ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(3)], output={"ranges": "columns"})
    ).table.to_pylist()
    told = {(row["age"], row["age_from"], row["age_to"]) for row in found}
    assert told == {("[20, 30)", 20, 29), ("90+", 90, None), (None, None, None)}


@pytest.mark.parametrize("ranges", ["columns", "struct"])
def test_changed_ends_are_refuted_whatever_the_models_say(table, ranges):
    published = ind.anonymize(table, policy(ranges)).table
    name = "day_to" if ranges == "columns" else "day_range"
    rows = published.column(name).to_pylist()
    at = next(number for number, value in enumerate(rows) if value is not None)
    rows[at] = date(2030, 1, 1) if ranges == "columns" else {**rows[at], "to": date(2030, 1, 1)}
    place = published.column_names.index(name)
    changed = published.set_column(place, name, pa.array(rows, published.schema.field(name).type))
    answer = ind.verify(table, changed, policy(ranges)).document
    assert all(entry["satisfied"] for entry in answer["models"])
    assert (answer["satisfied"], answer["coverage"]["status"]) == (False, "refuted")
    assert 'the ends of "day" are not those of its labels' in answer["coverage"]["reason"]


def test_a_lacking_end_is_a_fault_and_lacking_both_is_none(table):
    published = ind.anonymize(table, policy()).table
    half = ind.verify(table, published.drop_columns("age_to"), policy()).document
    assert 'of the ends of "age" one column is lacking' in half["coverage"]["reason"]
    assert half["satisfied"] is False
    assert ind.verify(table, published.drop_columns(ENDS), policy()).satisfied


def test_a_name_that_only_looks_like_a_range_has_no_ends(tmp_path):
    # the group called 20-29 holds 35 too: ends read from its name would be false
    (tmp_path / "age.csv").write_text("21;20-29;*\n25;20-29;*\n35;20-29;*\n41;40-49;*\n42;40-49;*\n43;40-49;*\n")
    attributes = {"age": {"role": "qi", "type": "integer", "hierarchy": {"file": str(tmp_path / "age.csv")}}}
    own = ind.Policy(
        attributes=attributes, privacy=[ind.KAnonymity(3)], output={"ranges": "columns"},
        recoding={"algorithm": "optimal"},
    )  # fmt: skip
    table = pa.table({"age": ["21", "25", "35", "41", "42", "43"]})
    found = ind.anonymize(table, own)
    assert {tuple(row.values()) for row in found.table.to_pylist()} == {("20-29", None, None), ("40-49", 40, 49)}
    assert ind.verify(table, found.table, own).satisfied


def test_names_that_are_taken_and_formats_without_structs_are_refused(table, tmp_path):
    taken = table.append_column("age_to", pa.array(["1"] * 60))
    own = policy(table={"unlisted": "insensitive"})
    with pytest.raises(ind.SchemaError, match='the ends of "age" go to a column "age_to"'):
        ind.anonymize(taken, own)
    for suffix in ("csv", "xlsx", "sav"):
        with pytest.raises(ind.PolicyError, match="needs a format with nested values"):
            ind.anonymize(table, policy("struct"), output=tmp_path / f"out.{suffix}")
        with pytest.raises(ind.PolicyError, match="needs a format with nested values"):
            ind.anonymize(table, policy("struct")).write(tmp_path / f"out.{suffix}")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ind.PolicyError, match="ranges"):
        policy("both")
    huge = pa.table({"age": [str(10**30 + at) for at in range(3)]})
    attributes = {"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}}
    with pytest.raises(ind.UnsupportedError, match="too large"):
        ind.anonymize(
            huge, ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(3)], output={"ranges": "columns"})
        )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_two_tables_have_ends_in_the_first(table, tmp_path, suffix):
    sick = table.set_column(5, "ill", pa.array(list("abc") * 20))
    own = ind.Policy(
        attributes=ATTRIBUTES, privacy=[ind.KAnonymity(3), ind.DistinctL("ill", 2)], output={"ranges": "columns"},
        recoding={"algorithm": "anatomy"},
    )  # fmt: skip
    release = ind.anonymize(sick, own, output=tmp_path / f"out.{suffix}")
    assert "age_from" in release.table.qit.column_names
    parts = [f"out.{suffix}"] if suffix == "xlsx" else [f"out.qit.{suffix}", f"out.st.{suffix}"]
    first, *rest = (tmp_path / part for part in parts)
    assert ind.verify(sick, first, own, *rest).document["coverage"]["status"] == "proven"
    qit, st = release.table
    place = qit.column_names.index("age_from")
    changed = qit.set_column(place, "age_from", pa.array([0] * 60, pa.int64()))
    assert not ind.verify(sick, changed, own, st).satisfied


def test_ends_that_are_written_wrong_are_not_delivered(table, tmp_path, monkeypatch):
    from indistinct.publish import anonymize as module

    def broken(published, prepared, whole=module.with_ranges):
        found = whole(published, prepared)
        columns = [
            type(own)(own.name, pa.array([7] * len(own.values), own.type), own.codes) if own.name == "age_from" else own
            for own in found.columns
        ]
        return type(found)(tuple(columns), found.repeat)

    monkeypatch.setattr(module, "with_ranges", broken)
    with pytest.raises(ind.VerificationError, match='the ends of "age"'):
        ind.anonymize(table, policy(), output=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_data_dictionary_says_what_the_ends_are(table, tmp_path, language):
    release = ind.anonymize(table, policy())
    entries = json.loads(ind.dictionary(release, tmp_path / f"{language}.json").read_text())["columns"]
    by_name = {entry["name"]: entry for entry in entries}
    assert [entry["name"] for entry in entries][:3] == ["age", "age_from", "age_to"]
    assert (by_name["age_to"]["done"], by_name["age_to"]["of"]) == ("end_to", "age")
    text = ind.dictionary(release, tmp_path / f"{language}.md", language=language).read_text()
    line = next(line for line in text.splitlines() if "age_from" in line.replace("\\", ""))
    assert ("smallest value" if language == "en" else "最小值") in line
    assert "age”" in line


def test_the_file_says_what_types_the_ends_have(table, tmp_path):
    ind.anonymize(table, policy(), output=tmp_path / "out.parquet")
    types = {column.name: column.type for column in pq.read_schema(tmp_path / "out.parquet")}
    assert [types[name] for name in ENDS] == [pa.int64()] * 2 + [pa.float64()] * 2 + [pa.date32()] * 2
