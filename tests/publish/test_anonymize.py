"""The main job through the Python API: kinds of frames, suppressed rows, identifiers, refusals, leaks."""

import json
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from indistinct.publish import deliver as module

AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10, 50]}}


def policy(**changes):
    given = {
        "attributes": {"age": AGE, "ill": {"role": "sensitive"}},
        "privacy": [ind.KAnonymity(2)],
        "recoding": {"algorithm": "optimal"},
        **changes,
    }
    return ind.Policy(**given)


TABLE = {"age": [21, 24, 33, 38, 99], "ill": ["a", "b", "a", "b", "c"]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_the_result_is_of_the_callers_kind(make):
    release = ind.anonymize(make(TABLE), policy(suppression={"limit": 0.2}))
    assert isinstance(release.table, make if make is not pa.table else pa.Table)
    table = release.table.collect() if make is pl.LazyFrame else release.table
    assert list(table["age"].to_pylist() if make is pa.table else table["age"]) == [
        "[20, 30)", "[20, 30)", "[30, 40)", "[30, 40)"
    ]  # fmt: skip


@pytest.mark.slow
def test_duckdb_relations_and_sql(tmp_path):
    import duckdb

    frame = pl.DataFrame(TABLE).to_arrow()
    assert frame.num_rows == 5
    relation = duckdb.sql("SELECT * FROM frame")
    assert ind.anonymize(relation, policy(suppression={"limit": 0.2})).table.fetchall()[0] == ("[20, 30)", "a")
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, ill TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", list(zip(*TABLE.values(), strict=True)))
    connection.close()
    release = ind.anonymize(
        f"sqlite:///{tmp_path / 'people.db'}", policy(suppression={"limit": 0.2}), sql_table="people"
    )
    assert release.document["published_rows"] == 4


@pytest.mark.slow
def test_permuted_rows_give_the_same_bytes(tmp_path):
    generator = np.random.default_rng(5)
    ages, ills = generator.integers(0, 90, 500), generator.integers(0, 4, 500)
    written = []
    for number, order in enumerate([np.arange(500), generator.permutation(500)]):
        table = pa.table({"age": ages[order], "ill": ills[order].astype(str), "cost": (ages[order] % 7).astype(float)})
        given = policy(
            attributes={"age": AGE, "ill": {"role": "sensitive"}, "cost": {"role": "insensitive"}},
            suppression={"limit": 0.1},
        )
        for suffix in ("csv", "parquet"):
            ind.anonymize(table, given, output=tmp_path / f"{number}.{suffix}")
        written.append([(tmp_path / f"{number}.{suffix}").read_bytes() for suffix in ("csv", "parquet")])
    assert written[0] == written[1]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta"])
def test_every_format_is_written_read_back_and_leaks_nothing(tmp_path, suffix):
    table = {
        "age": [21, 24, 33, 38, 97],
        "town": ["Kiel", "Bonn", "Kiel", "Bonn", "Secretville"],
        "ill": ["a", "b", "a", "b", "a"],
    }
    given = policy(
        attributes={
            "age": AGE,
            "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        suppression={"limit": 0.2},
    )
    output = tmp_path / f"out.{suffix}"
    release = ind.anonymize(pd.DataFrame(table).astype({"town": "category"}), given, output=output)
    assert release.verification == {"rows_match": True, "coverage": "proven"}
    assert release.document["suppressed_rows"] == 1
    content = output.read_bytes()
    for hidden in (b"Secretville", "Secretville".encode("utf-16-le")):
        assert hidden not in content
    if suffix == "parquet":
        metadata = pq.read_metadata(output)
        assert metadata.metadata is None or b"pandas" not in metadata.metadata
    assert ind.verify(pd.DataFrame(table), output, given).satisfied


def test_suppressed_rows_by_the_three_rules():
    rules = {"drop": 4, "exempt": 5, "test": 4}
    for rule, rows in rules.items():
        release = ind.anonymize(pa.table(TABLE), policy(suppression={"limit": 0.2, "rows": rule}))
        assert release.document["published_rows"] == rows, rule
    both = pa.table({"age": [21, 24, 97, 55], "ill": ["a", "b", "a", "b"]})
    tested = ind.anonymize(both, policy(suppression={"limit": 0.5, "rows": "test"}, attributes={
        "age": {**AGE, "hierarchy": {"kind": "intervals", "widths": [10]}, "max_level": 1}, "ill": {"role": "sensitive"}
    }))  # fmt: skip
    assert tested.document["published_rows"] == 4
    assert tested.table["age"].to_pylist() == ["*", "*", "[20, 30)", "[20, 30)"]


def test_missing_values_stay_and_mix_only_at_the_root():
    table = pa.table({"age": [21, 24, None, None, 33], "ill": ["a", None, "b", "b", "a"]})
    release = ind.anonymize(table, policy(suppression={"limit": 0.2}))
    assert release.table.to_pydict() == {
        "age": [None, None, "[20, 30)", "[20, 30)"], "ill": ["b", "b", None, "a"]
    }  # fmt: skip
    mixed = ind.anonymize(pa.table({"age": [21, None], "ill": ["a", "b"]}), policy())
    assert mixed.table["age"].to_pylist() == ["*", "*"]


def test_leading_zeros_and_types_of_other_columns_stay():
    table = pa.table({
        "age": [21, 24], "ill": ["a", "b"], "zip": ["02138", "02138"],
        "when": pa.array([0, 1], pa.timestamp("s")), "n": [1.5, None],
    })  # fmt: skip
    given = policy(table={"unlisted": "insensitive"})
    published = ind.anonymize(table, given).table
    assert published.schema.field("when").type == pa.timestamp("s")
    assert published["zip"].to_pylist() == ["02138", "02138"]
    assert sorted(published["n"].to_pylist(), key=str) == [1.5, None]
    assert published.column_names == table.column_names


def test_near_unique_insensitive_columns_need_a_confirmation():
    rows = 200
    table = pa.table({"age": [30] * rows, "ill": ["a", "b"] * 100, "fare": [f"{i}.5" for i in range(rows)]})
    attributes = {"age": AGE, "ill": {"role": "sensitive"}}
    with pytest.raises(ind.SchemaError, match="200 of 200 rows"):
        ind.anonymize(table, policy(attributes={**attributes, "fare": {"role": "insensitive"}}))
    confirmed = policy(attributes={**attributes, "fare": {"role": "insensitive", "confirmed": True}})
    assert ind.anonymize(table, confirmed).document["published_rows"] == rows


def test_identifiers_go_or_are_masked_or_become_stable_pseudonyms(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef-long enough")
    table = pa.table({"name": ["Ann", "Bob"], "age": [21, 24], "ill": ["a", "b"]})

    def names(**settings):
        given = policy(attributes={"name": {"role": "id", **settings}, "age": AGE, "ill": {"role": "sensitive"}})
        return ind.anonymize(table, given).table

    assert "name" not in names().column_names
    assert names(action="mask")["name"].to_pylist() == ["*", "*"]
    mapping = tmp_path / "mapping.csv"
    first = names(action="pseudonym", key_file=str(key), mapping_file=str(mapping))["name"].to_pylist()
    again = names(action="pseudonym", key_file=str(key))["name"].to_pylist()
    assert first == again
    assert len(set(first)) == 2
    assert not {"Ann", "Bob"} & set(first)
    assert mapping.stat().st_mode & 0o777 == 0o600
    assert "Ann" in mapping.read_text()
    key.write_bytes(b"another key of sixteen bytes")
    assert names(action="pseudonym", key_file=str(key))["name"].to_pylist() != first
    key.write_bytes(b"short")
    with pytest.raises(ind.PolicyError, match="at least 16"):
        names(action="pseudonym", key_file=str(key))


@pytest.mark.parametrize("to_file", [True, False])
def test_the_mapping_is_written_when_the_release_is_delivered(tmp_path, monkeypatch, to_file):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    settings = {"action": "pseudonym", "key_file": str(key), "mapping_file": str(tmp_path / "mapping.csv")}
    attributes = {"name": {"role": "id", **settings}, "age": AGE, "ill": {"role": "sensitive"}}
    table = pa.table({"name": ["Ann", "Bob"], "age": [21, 24], "ill": ["a", "b"]})
    output = tmp_path / "out.csv" if to_file else None
    failed = {"verification": {"rows_match": False, "coverage": "proven"}, "satisfied": False, "models": []}
    with monkeypatch.context() as patch:
        patch.setattr(module, "verify_written", lambda *_, **__: failed)
        with pytest.raises(ind.VerificationError):
            ind.anonymize(table, policy(attributes=attributes), output=output)
    assert list(tmp_path.iterdir()) == [key]
    ind.anonymize(table, policy(attributes=attributes), output=output)
    assert "Ann" in (tmp_path / "mapping.csv").read_text()
    with pytest.raises(ind.PolicyError, match="exists"):
        ind.anonymize(table, policy(attributes=attributes), output=output, force=True)
    settings["mapping_file"] = str(tmp_path / "new.csv")
    attributes["name"] = {"role": "id", **settings}
    with pytest.raises(ind.PolicyError, match="another output"):
        ind.anonymize(table, policy(attributes=attributes), output=tmp_path / "new.csv")


def test_rows_left_out_do_not_hide_a_person_with_several_rows(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    # two rows of Ann stay, the row of Bob is left out: two different names, as many as rows that stay
    table = pa.table({"name": ["Ann", "Ann", "Bob"], "age": [21, 24, 22], "pay": [1, 2, None]})
    settings = {"action": "pseudonym", "key_file": str(key)}
    given = policy(
        attributes={
            "name": {"role": "id", **settings},
            "age": AGE,
            "pay": {"role": "sensitive", "type": "integer", "missing": "drop"},
        },
        privacy=[ind.TCloseness("pay", 1, distance="ordered")],
    )
    with pytest.raises(ind.PolicyError, match="2 different values in 3 rows"):
        ind.anonymize(table, given)


def test_warnings_hold_no_sensitive_value(tmp_path):
    table = pa.table({"age": [21, 22, 23, 24], "ill": ["=1", "=1 ", "Flu", "flu"], "pay": ["05", "5", "7", "7"]})
    given = policy(
        attributes={"age": AGE, "ill": {"role": "sensitive"}, "pay": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.DistinctL("ill", 2), ind.TCloseness("pay", 1, distance="ordered")],
    )
    warnings = ind.anonymize(table, given, output=tmp_path / "out.csv").document["warnings"]
    found = {(warning["kind"], warning["column"]): warning["message"] for warning in warnings}
    assert "(4 of them)" in found["look-alike", "ill"]
    assert "(2)" in found["formula", "ill"]
    assert "published: 1)" in found["spelling", "pay"]
    assert not any(value in warning["message"] for warning in warnings for value in ("=1", "flu", "Flu", "05"))


def test_a_pseudonym_of_a_person_with_several_rows_is_refused(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    table = pa.table({"p": ["1", "1", "2"], "age": [21, 24, 22], "ill": ["a", "b", "a"]})
    given = policy(
        person={"key": "p"},
        attributes={
            "p": {"role": "id", "action": "pseudonym", "key_file": str(key)}, "age": AGE, "ill": {"role": "sensitive"}
        },
    )  # fmt: skip
    with pytest.raises(ind.PolicyError, match="tie the rows of one person"):
        ind.anonymize(table, given)


def test_persons_are_counted_not_rows():
    table = pa.table({"p": ["1", "1", "1", "2", "3"], "age": [21, 22, 23, 31, 32], "ill": list("abcab")})
    given = policy(person={"key": "p"})
    release = ind.anonymize(table, given)
    assert release.document["unit"] == "persons"
    assert release.table["age"].to_pylist() == ["[0, 50)"] * 5
    assert release.document["models"][0]["achieved"] == {"k": 3}


def test_ordered_distance_and_missing_values():
    table = pa.table({"age": [21, 22, 23, 24], "pay": ["10", "9", None, "100"]})
    model = [ind.KAnonymity(2), ind.TCloseness("pay", "0.9", distance="ordered")]

    def given(**settings):
        return policy(
            attributes={"age": AGE, "pay": {"role": "sensitive", "type": "integer", **settings}}, privacy=model
        )

    with pytest.raises(ind.DataError, match="missing"):
        ind.anonymize(table, given())
    dropped = ind.anonymize(table, given(missing="drop")).document
    assert (dropped["rows"], dropped["published_rows"], dropped["left_out_rows"]) == (4, 3, 1)
    assert ind.anonymize(table, given(missing="last")).document["published_rows"] == 4


def test_a_failing_verification_delivers_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "verify_written", lambda *_, **__: {
        "verification": {"rows_match": False, "coverage": "proven"}, "models": [], "classes": 0, "satisfied": False
    })  # fmt: skip
    with pytest.raises(ind.VerificationError):
        ind.anonymize(pa.table(TABLE), policy(suppression={"limit": 0.2}), output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_callers_interruption_delivers_nothing(tmp_path):
    def stop(phase, _done, _total):
        if phase == "verify":
            raise ind.Cancelled("stop")

    with pytest.raises(ind.Cancelled):
        ind.anonymize(pa.table(TABLE), policy(suppression={"limit": 0.2}), output=tmp_path / "out.csv", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_formula_cells_are_named_or_made_safe(tmp_path):
    table = pa.table({"age": [21, 22, 23, 24], "ill": ["=1+1", "-5", "+3", "@x"]})
    plain = ind.anonymize(table, policy(), output=tmp_path / "plain.csv")
    assert [w["column"] for w in plain.document["warnings"] if w["kind"].startswith("formula")] == ["ill"]
    assert "=1+1" in (tmp_path / "plain.csv").read_text()
    safe = policy(output={"spreadsheet_safe": True})
    assert ind.anonymize(table, safe, output=tmp_path / "safe.csv").verification["rows_match"]
    lines = (tmp_path / "safe.csv").read_text().splitlines()[1:]
    assert sorted(line.rsplit(",", 1)[-1] for line in lines) == ["'=1+1", "'@x", "+3", "-5"]


def test_the_manifest_holds_no_path_and_no_input(tmp_path):
    ind.anonymize(pa.table(TABLE), policy(suppression={"limit": 0.2}), output=tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert str(tmp_path) not in text
    manifest = json.loads(text)
    assert manifest["outputs"] == ["out.csv"]
    assert manifest["versions"]["indistinct"]


def test_the_manifest_tells_nothing_of_a_suppressed_row(tmp_path):
    texts, losses, closest = set(), set(), set()
    for age, ill in [(70, "a"), (104, "b"), (104, "z")]:
        table = pa.table({"age": [21, 22, 23, 24, 25, age], "ill": ["a", "b", "a", "b", "a", ill]})
        given = policy(
            attributes={
                "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}},
                "ill": {"role": "sensitive"},
            },
            privacy=[ind.KAnonymity(2), ind.TCloseness("ill", "1/2", "equal")],
            suppression={"limit": 0.2},
        )
        release = ind.anonymize(table, given, output=tmp_path / "x.csv", force=True)
        assert release.document["suppressed_rows"] == 1
        losses.add(release.loss["lm"])
        closest.add(str(release.document["models"][1]["achieved"]))
        texts.add((tmp_path / "x.csv.manifest.json").read_text() + (tmp_path / "x.csv").read_text())
    assert len(losses) > 1
    assert len(closest) > 1
    assert len(texts) == 1


def test_a_declared_domain_that_is_not_public_keeps_the_loss_internal(tmp_path):
    ind.anonymize(pa.table(TABLE), policy(), output=tmp_path / "out.csv")
    assert "lm" not in json.loads((tmp_path / "out.csv.manifest.json").read_text())["loss"]


def test_release_write_and_repr(tmp_path):
    release = ind.anonymize(pa.table(TABLE), policy(suppression={"limit": 0.2}))
    assert release.write(tmp_path / "later.parquet").exists()
    assert (tmp_path / "later.parquet.manifest.json").exists()
    assert "k-anonymity" in repr(release)
    assert "<pre>" in release._repr_html_()


def test_no_model_is_no_release():
    with pytest.raises(ind.PolicyError, match="no privacy model"):
        ind.anonymize(pa.table(TABLE), policy(privacy=[]))


def test_one_policy_serves_a_german_file_and_the_frame_made_from_it(tmp_path):
    (tmp_path / "t.csv").write_text("seen;fee;ill\n31.12.1980;1,5;a\n01.01.1981;2,5;b\n")
    given = policy(
        table={"decimal": ",", "delimiter": ";"},
        attributes={
            "seen": {
                "role": "qi",
                "type": "date",
                "format": "%d.%m.%Y",
                "hierarchy": {"kind": "dates", "levels": ["decade"]},
            },
            "fee": {"role": "qi", "type": "decimal", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
    )
    frame = pd.DataFrame({"seen": pd.to_datetime(["1980-12-31", "1981-01-01"]), "fee": [1.5, 2.5], "ill": ["a", "b"]})
    written, typed = ind.anonymize(tmp_path / "t.csv", given), ind.anonymize(frame, given)
    assert written.table.to_pylist() == [
        {"seen": "1980s", "fee": "*", "ill": "a"}, {"seen": "1980s", "fee": "*", "ill": "b"}
    ]  # fmt: skip
    assert typed.table.to_dict("records") == written.table.to_pylist()
    assert [w["column"] for w in written.document["warnings"] if w["kind"] == "lost-column"] == ["seen", "fee"]


@pytest.mark.parametrize("given", ["sav", "dta"])
@pytest.mark.parametrize("written", ["sav", "dta"])
def test_value_labels_of_statistical_files_are_kept_for_published_values(tmp_path, given, written):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pytest.importorskip("polars").DataFrame(
        {"sex": [1, 2] * 20, "region": [*[1, 2] * 19, 1, 3], "ill": [1, 1, 2, 2] * 10, "fine": [7, 8] * 20}
    )
    labels = {
        "sex": {1: "female", 2: "male", 9: "refused"},
        "region": {1: "north", 2: "south", 3: "SECRET-EAST"},
        "ill": {1: "flu", 2: "asthma"},
        "fine": {7: "no", 8: "yes"},
    }
    write = pyreadstat.write_sav if given == "sav" else pyreadstat.write_dta
    write(frame, tmp_path / f"in.{given}", variable_value_labels=labels, column_labels={"sex": "sex at birth"})
    policy = ind.Policy(
        attributes={
            "sex": {"role": "qi"},
            "region": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
            "fine": {"role": "insensitive"},
        },
        privacy=[ind.KAnonymity(4)],
        recoding={"algorithm": "local"},
        suppression={"limit": 0},
    )
    out = tmp_path / f"out.{written}"
    ind.anonymize(tmp_path / f"in.{given}", policy, output=out)
    read = pyreadstat.read_sav if written == "sav" else pyreadstat.read_dta
    table, meta = read(str(out), output_format="polars")
    assert meta.column_names_to_labels["sex"] == "sex at birth"
    # code 9 has no row, region 3 has one and is suppressed with its class: their labels are not told
    assert meta.variable_value_labels["sex"] == {1: "female", 2: "male"}
    assert meta.variable_value_labels["ill"] == {1: "flu", 2: "asthma"}
    assert meta.variable_value_labels["fine"] == {7: "no", 8: "yes"}
    regions = {text for text in table["region"] if text != "*"}
    assert "3" not in regions
    # a column with "*" is text, and Stata has no labels of texts
    named = {"1": "north", "2": "south"}
    assert meta.variable_value_labels.get("region", {}) == ({r: named[r] for r in regions} if written == "sav" else {})
    assert b"SECRET-EAST" not in out.read_bytes()
    assert ind.verify(tmp_path / f"in.{given}", out, policy).satisfied


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize(
    "change",
    [
        lambda notes: [notes[3], *notes[1:3], notes[0], *notes[4:]],  # two rows exchange their notes
        lambda notes: ["new", *notes[1:]],
        lambda notes: [None, *notes[1:]],
    ],
)
def test_other_columns_are_verified_row_by_row(tmp_path, monkeypatch, suffix, change):
    """Each column alone may hold what it should; what stands beside what counts too."""
    from indistinct.formats.registry import open_source as opened
    from indistinct.proof import release as proof

    table = pa.table({"age": [20, 21, 22, 40, 41, 42], "note": ["a", "b", "c", "d", "e", "f"]})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
            "note": {"role": "insensitive"},
        },
        privacy=[ind.KAnonymity(3)],
    )
    output = tmp_path / f"out.{suffix}"
    assert ind.anonymize(table, policy, output=output).verification["rows_match"]

    def tampered(place, options):
        read = pa.Table.from_batches(list(opened(place, options).batches()))
        notes = pa.array(change(read["note"].to_pylist()))
        return opened(read.set_column(read.schema.get_field_index("note"), "note", notes))

    monkeypatch.setattr(proof, "open_source", tampered)
    with pytest.raises(ind.VerificationError) as caught:
        ind.anonymize(table, policy, output=tmp_path / f"again.{suffix}")
    assert caught.value.where["column"] == "note"
    assert not (tmp_path / f"again.{suffix}").exists()


def test_the_suppression_limit_that_is_named_would_do():
    """Twenty values of one row each that are never changed: all twenty rows have to go, and then it can be met."""
    table = pa.table({"ward": [*map(str, range(20)), *["x"] * 6], "age": list(range(26))})
    attributes = {
        "ward": {"role": "qi"},
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
    }
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(5)])
    with pytest.raises(ind.InfeasibleError, match=r"76\.9231% \(20 of 26 rows\) would do"):
        ind.anonymize(table, policy)
    limited = policy.model_copy(update={"suppression": policy.suppression.model_copy(update={"limit": 0.769231})})
    assert ind.anonymize(table, limited).document["suppressed_rows"] == 20
