"""Tables, files and moments that a careful person would not expect, and what must come of them."""

import datetime as dt
import json
import os
from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from indistinct.cli.app import run
from indistinct.formats.formulas import safe_text, unsafe_text

SUPPRESS = {"role": "qi", "hierarchy": {"kind": "suppress"}}


def policy(attributes, *models, **sections):
    chosen = {"recoding": {"algorithm": "optimal"}, **sections}
    return ind.Policy(attributes=attributes, privacy=models or [{"model": "k_anonymity", "k": 2}], **chosen)


def plain(**roles):
    """Give each column a role; insensitive ones are confirmed."""
    extra = {"insensitive": {"confirmed": True}}
    return {name: {"role": role, **extra.get(role, {})} for name, role in roles.items()}


def written(tmp_path, text, name="in.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def published_and_proved(table, decided, output):
    """Publish, verify the file as anybody could, and return what it holds."""
    ind.anonymize(table, decided, output=output)
    answer = ind.verify(table, output, decided)
    assert answer.document["coverage"]["status"] == "proven"
    assert answer.satisfied
    return output


# --- names and texts ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_columns_that_differ_by_case_only(tmp_path, suffix):
    table = pa.table({"A": ["1", "1"], "a": ["x", "y"], "n": ["p", "q"], "N": ["r", "r"]})
    decided = policy(plain(A="qi", a="sensitive", n="insensitive", N="insensitive"))
    published_and_proved(table, decided, tmp_path / f"out.{suffix}")


def test_an_empty_text_in_the_only_column_is_a_row(tmp_path):
    source = written(tmp_path, 'q\n""\n""\na\na\n')
    output = published_and_proved(source, policy(plain(q="qi"), table={"missing": ["NA"]}), tmp_path / "out.csv")
    assert output.read_text() == 'q\n""\n""\na\na\n'


def test_a_byte_order_mark_in_a_cell_is_part_of_it(tmp_path):
    source = written(tmp_path, "q,s\n\ufeffa,x\n\ufeffa,y\n")
    output = published_and_proved(source, policy(plain(q="qi", s="sensitive")), tmp_path / "out.csv")
    assert output.read_text(encoding="utf-8") == "q,s\n\ufeffa,x\n\ufeffa,y\n"


def test_blanks_around_names_stay_when_they_should(tmp_path):
    source = written(tmp_path, " q,s\n1,x\n1,y\n")
    decided = policy(plain(**{" q": "qi", "s": "sensitive"}), table={"trim": "none"})
    published_and_proved(source, decided, tmp_path / "out.xlsx")


def test_what_a_format_cannot_tell_apart_is_refused_by_column(tmp_path):
    table = pa.table({"q": ["a", "a"], "s": ["", None]})
    with pytest.raises(ind.DataError, match=r'"s" holds empty texts \(1 rows\), .* write parquet'):
        ind.anonymize(table, policy(plain(q="qi", s="sensitive")), output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


# --- spreadsheets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["=1", "'=1", "''=1", "'a", "-5", "'-5", "'", ""])
def test_guarding_a_text_can_be_undone(text):
    assert unsafe_text(safe_text(text)) == text


@pytest.mark.slow
def test_guarded_sensitive_values_are_judged_as_they_are(tmp_path):
    values = ["=1", "'=1", "@2", "a"]
    table = pa.table({"q": ["x"] * 4 + ["y"] * 4, "s": [*values, "=1", "=1", "a", "a"]})
    model = {"model": "t_closeness", "attribute": "s", "t": "1/4", "distance": "equal"}
    decided = policy(plain(q="qi", s="sensitive"), model, output={"spreadsheet_safe": True})
    assert ind.audit(table, decided).document["models"][0]["achieved"]["t"]["fraction"] == "1/4"
    published_and_proved(table, decided, tmp_path / "out.csv")


# --- tokens -------------------------------------------------------------------------------------------------


def test_a_suppression_token_of_ones_own(tmp_path):
    table = pa.table({"q": ["a", "b"], "s": ["x", "y"]})
    decided = policy({"q": SUPPRESS, "s": {"role": "sensitive"}}, output={"suppressed_token": "NA"})
    published_and_proved(table, decided, tmp_path / "out.csv")


def test_a_star_may_be_a_missing_token(tmp_path):
    source = written(tmp_path, "q,r,s\na,1,*\nb,1,x\na,2,y\na,2,*\n")
    decided = policy({"q": SUPPRESS, **plain(r="qi", s="sensitive")}, table={"missing": ["*"]})
    output = published_and_proved(source, decided, tmp_path / "out.csv")
    assert output.read_text() == "q,r,s\n*,1,\n*,1,x\n*,2,\n*,2,y\n"


def test_a_table_of_one_fully_generalized_class_is_a_release(tmp_path):
    table = pa.table({"q": ["a", "b"], "s": ["x", "y"]})
    decided = policy({"q": SUPPRESS, "s": {"role": "sensitive"}}, suppression={"limit": 0.4, "rows": "exempt"})
    published_and_proved(table, decided, tmp_path / "out.csv")


# --- types --------------------------------------------------------------------------------------------------

TYPED = {
    "bool": pa.array([True, False, None, True]),
    "half": pa.array([1.5, 0.1, None, 1.5]).cast(pa.float16()),
    "single": pa.array([0.1, -0.0, None, 1e20], pa.float32()),
    "double": pa.array([0.1, -0.0, None, 1e300]),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-3.10")], pa.decimal128(10, 2)),
    "long decimal": pa.array([Decimal("1.50"), Decimal(10) ** 40, None, Decimal(2)], pa.decimal256(50, 2)),
    "zoned": pa.array([1603585800, 1603589400, None, 1577836800]).cast(pa.timestamp("s", "Europe/Berlin")),
    "moment": pa.array([1577836800, 1577847845, None, 1577836800]).cast(pa.timestamp("s")),
    "time": pa.array([dt.time(1, 2, 3), dt.time(0), None, dt.time(23, 59, 59)], pa.time32("s")),
    "fine time": pa.array([dt.time(1, 2, 3, 4), dt.time(0), None, dt.time(23, 59, 59)], pa.time64("us")),
    "duration": pa.array([dt.timedelta(1), dt.timedelta(0), None, dt.timedelta(seconds=-1)], pa.duration("us")),
}  # fmt: skip

# the format has no place for so many
FEWER_DIGITS = {("fine time", "xlsx"), ("long decimal", "sav"), ("long decimal", "dta")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "suffix"),
    [pair for pair in product(TYPED, ["csv", "parquet", "arrow", "xlsx", "sav", "dta"]) if pair not in FEWER_DIGITS],
)
def test_values_of_every_type_come_back(tmp_path, name, suffix):
    column = pa.concat_arrays([TYPED[name]] * 2)
    table = pa.table({"q": ["x"] * 8, "fixed": column, "s": column, "rest": column})
    model = {"model": "t_closeness", "attribute": "s", "t": 1, "distance": "equal"}
    decided = policy(plain(q="qi", fixed="qi", s="sensitive", rest="insensitive"), model)
    published_and_proved(table, decided, tmp_path / f"out.{suffix}")


def test_zero_has_no_sign():
    table = pa.table({"q": ["x"] * 2, "s": [0.0, -0.0]})
    answer = ind.audit(table, policy(plain(q="qi", s="sensitive"), {"model": "distinct_l", "attribute": "s", "l": 2}))
    assert not answer.satisfied


# --- files of other origin ------------------------------------------------------------------------------------


def test_the_delimiter_and_the_encoding_of_the_original_are_not_those_of_the_release(tmp_path):
    source = written(tmp_path, "q;s\nMüller;x\nMüller;y\n", encoding="cp1252")
    decided = policy(plain(q="qi", s="sensitive"), table={"delimiter": ";", "encoding": "cp1252"})
    published_and_proved(source, decided, tmp_path / "out.tsv")
    published_and_proved(source, decided, tmp_path / "out.csv")
    foreign = written(tmp_path, "q,s\nMüller,x\nMüller,y\n", "foreign.csv", encoding="cp1252")
    assert ind.verify(source, foreign, decided).satisfied


def test_one_column_named_with_a_delimiter(tmp_path):
    source = written(tmp_path, '"a\tb"\n1\n1\n')
    published_and_proved(source, policy(plain(**{"a\tb": "qi"})), tmp_path / "out.csv")


def test_sensitive_numbers_may_be_spelled_in_another_way():
    attributes = {"q": {"role": "qi"}, "s": {"role": "sensitive", "type": "decimal"}}
    decided = policy(attributes, {"model": "t_closeness", "attribute": "s", "t": 0, "distance": "ordered"})
    original = pa.table({"q": ["a", "a", "b", "b"], "s": ["1.0", "2.50", "1", "2.5"]})
    published = pa.table({"q": ["a", "a", "b", "b"], "s": ["1.00", "2.5", "1.00", "25e-1"]})
    answer = ind.verify(original, published, decided)
    assert answer.satisfied
    assert answer.document["models"][0]["achieved"]["t"]["fraction"] == "0/1"


def test_a_sensitive_value_that_the_original_lacks_is_refuted():
    decided = policy(
        plain(q="qi", s="sensitive"), {"model": "t_closeness", "attribute": "s", "t": 1, "distance": "equal"}
    )
    original = pa.table({"q": ["a"] * 3, "s": ["x", "y", "y"]})
    answer = ind.verify(original, pa.table({"q": ["a"] * 3, "s": ["x", "NEW", "y"]}), decided)
    reason = "its quasi-identifiers cover 3 originals, none with this s"
    assert answer.document["coverage"]["violations"] == [{"row": 2, "column": None, "reason": reason}]
    assert answer.document["models"][0]["achieved"]["t"]["fraction"] == "1/6"  # of x and y: |1/2 - 1/3|
    with pytest.raises(ind.DataError, match="is it the original"):
        ind.verify(original, pa.table({"q": ["a"], "s": ["NEW"]}), decided)


def test_a_hierarchy_file_may_spell_numbers_in_another_way(tmp_path):
    written(tmp_path, "1e3;high;*\n0.0;low;*\n", "h.csv")
    attributes = {"q": {"role": "qi", "type": "integer", "hierarchy": {"file": "h.csv"}}}
    decided = policy(attributes, {"model": "k_anonymity", "k": 2}).at(tmp_path)
    table = pa.table({"q": ["1000", "1000", "0", "0"]})
    assert ind.verify(table, pa.table({"q": ["high", "high", "low", "low"]}), decided).satisfied


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sha256": 3}', '{"sha256": null}', '{"sha256": []}'])
def test_a_broken_manifest_is_no_manifest(tmp_path, text):
    table, decided = pa.table({"q": ["a", "a"]}), policy(plain(q="qi"))
    output = published_and_proved(table, decided, tmp_path / "out.csv")
    Path(f"{output}.manifest.json").write_text(text, encoding="utf-8")
    assert ind.verify(table, output, decided).document["hash"] == "absent"


# --- failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_failure_at_the_manifest_leaves_nothing(tmp_path, monkeypatch, failure, moment):
    def link(path, target, own=os.link):
        if moment == "after" or not target.name.endswith(".json"):
            own(path, target)
        if target.name.endswith(".json"):
            raise failure

    monkeypatch.setattr(os, "link", link)
    with pytest.raises((KeyboardInterrupt, ind.DataError)):
        ind.anonymize(pa.table({"q": ["a", "a"]}), policy(plain(q="qi")), output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_manifest_that_does_not_fit_leaves_nothing(tmp_path, monkeypatch):
    def full(*_args, **_settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ind.DataError, match="nothing was delivered"):
        ind.anonymize(pa.table({"q": ["a", "a"]}), policy(plain(q="qi")), output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "attribute",
    [
        '{ role = "qi", type = "decimal" }',
        '{ role = "qi", type = "integer", hierarchy = { kind = "intervals", widths = [5] } }',
        '{ role = "qi", type = "ordinal", order = ["x", "y"] }',
        '{ role = "qi", type = "date" }',
        '{ role = "qi", hierarchy = { file = "h.csv" } }',
        '{ role = "qi", hierarchy = { kind = "masking" } }',
    ],
)
def test_errors_as_json_hold_no_values(tmp_path, capsys, attribute):
    source = written(tmp_path, "s\nSECRET\nx\nSECRE*\n")
    written(tmp_path, "x;*\n", "h.csv")
    text = (
        f'[attributes]\ns = {attribute}\n[[privacy]]\nmodel = "k_anonymity"\nk = 2\n[recoding]\nalgorithm = "optimal"\n'
    )
    written(tmp_path, text, "p.toml")
    arguments = ["anonymize", str(source), "--policy", str(tmp_path / "p.toml"), "-o", str(tmp_path / "o.csv")]
    assert run([*arguments, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["where"]["column"] == "s"
    assert "SECRE" not in json.dumps(error)
    assert run(arguments) == 2
    assert "SECRE" in capsys.readouterr().err


# --- size and frames --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [15, 16, 17, 18, 33, 120])
def test_more_columns_than_one_key_has_bits_for(columns):
    # each row differs from the others in one column, so that no class has two rows
    rows = [[str(int(column == row)) for column in range(columns)] for row in range(columns)]
    table = pa.table({f"c{column}": [row[column] for row in rows] for column in range(columns)})
    answer = ind.audit(table, policy({name: {"role": "qi"} for name in table.column_names}))
    assert (answer.document["classes"], answer.document["smallest_class"]) == (columns, 1)
    assert not answer.satisfied


def test_periods_of_pandas_are_read_as_they_are_written():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": ["a", "a"], "s": pandas.period_range("2024-01", periods=2, freq="M")})
    assert ind.anonymize(frame, policy(plain(q="qi", s="sensitive"))).table["s"].tolist() == ["2024-01", "2024-02"]


def test_a_single_column_is_no_table():
    polars = pytest.importorskip("polars")
    with pytest.raises(ind.UnsupportedError, match="give a frame"):
        ind.audit(polars.Series("q", ["a"]), policy(plain(q="qi")))


def test_ranges_of_numbers_far_apart():
    attributes = {"q": {"role": "qi", "type": "decimal", "hierarchy": {"kind": "range", "bounds": "members"}}}
    table = pa.table({"q": ["1e20", "1e-20", "0", "-1"]})
    release = ind.anonymize(table, policy(attributes))
    assert ind.verify(table, release.table, policy(attributes)).satisfied


@pytest.mark.slow
def test_numbers_too_large_for_a_machine_word_are_attacked_and_measured():
    ages = ["1", "20000000000000000000000", "300000000000000000000000000000", "300000000000000000000000000007"]
    table = pa.table({"q": ages, "s": list("abab")})
    attributes = {
        "q": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
        "s": {"role": "sensitive"},
    }
    decided = policy(attributes, recoding={"algorithm": "local"})
    release = ind.anonymize(table, decided)
    assert ind.verify(table, release.table, decided).satisfied
    found = ind.attack(release.table, decided, original=table, attacks=["downcoding"])
    (entry,) = found.document["attacks"]
    assert entry["posterior"] == 0.5  # every member of a range of two stands at one of its ends
    assert ind.utility(table, release.table, decided).document["published_rows"] == 4


@pytest.mark.parametrize("rows", ["exempt", "test"])
def test_persons_of_suppressed_rows_are_counted_where_these_are_published(rows):
    # a and b fail k = 2 and are starred; together they are two persons, so that as a class they hold
    table = pa.table({"who": list("1234"), "q": ["a", "b", "c", "c"]})
    decided = policy(
        {"q": SUPPRESS},
        person={"key": "who"},
        suppression={"limit": 0.5, "rows": rows},
        recoding={"algorithm": "local"},
    )
    release = ind.anonymize(table, decided)
    assert sorted(release.table["q"].to_pylist()) == ["*", "*", "c", "c"]
    assert release.document["models"][0]["achieved"] == {"k": 2}
    assert ind.verify(table, release.table, decided).satisfied


@pytest.mark.parametrize(
    "trivial",
    [
        {"model": "ke_anonymity", "attribute": "n", "k": 1, "e": 0, "count": "rows"},
        {"model": "graded_l", "attribute": "n", "l": 1, "levels": 2},
        {"model": "distinct_l", "attribute": "n", "l": 1},
    ],
)
def test_a_model_that_always_holds_beside_one_at_its_threshold(trivial):
    # both classes are at t = 1/4 exactly, which doubles do not decide
    table = pa.table({"q": list("aaaabbbb"), "s": list("xxxyxyyy"), "n": ["1"] * 8})
    attributes = {"q": SUPPRESS, "s": {"role": "sensitive"}, "n": {"role": "sensitive", "type": "integer"}}
    near = {"model": "t_closeness", "attribute": "s", "t": "1/4", "distance": "equal"}
    release = ind.anonymize(table, policy(attributes, near, trivial))
    assert release.document["classes"] == 2
    assert release.document["models"][0]["achieved"]["t"]["fraction"] == "1/4"


# --- commands ---------------------------------------------------------------------------------------------------

KEEP = """
[attributes.q]
role = "quasi_identifying"
hierarchy = { kind = "suppress" }
[[privacy]]
model = "k_anonymity"
k = 2
"""


@pytest.mark.parametrize(
    "words",
    [
        ["anonymize", "in.csv", "--policy", "p.toml", "--output", "in.csv"],
        ["profile", "in.csv", "--draft", "in.csv"],
        ["policy", "draft", "in.csv", "--output", "in.csv"],
        ["compare", "in.csv", "--policy", "p.toml", "--algorithms", "optimal", "--svg", "in.csv"],
        ["compare", "--policy", "p.toml", "--algorithms", "optimal", "--svg", "in.csv"],
        ["hierarchy", "build", "in.csv", "--column", "q", "--kind", "masking", "--output", "in.csv"],
    ],
)
def test_no_command_overwrites_its_source(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    source = written(tmp_path, "q\na\na\n")
    written(tmp_path, '[table]\nsource = "in.csv"\n' + KEEP, "p.toml")
    assert run([*words, "--force", "--json"]) == 2
    assert "is the source" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert source.read_text() == "q\na\na\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sql", "select 1 / 0 as x from data"], "not finite"),
        (["--target", "s", "--estimator", "os:getcwd"], "cannot fit and predict"),
    ],
)
def test_wrong_questions_of_use_are_sentences(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "q,s\na,x\na,y\nb,x\nb,y\n")
    written(tmp_path, '[attributes.s]\nrole = "sensitive"\n' + KEEP, "p.toml")
    assert run(["utility", "in.csv", "in.csv", "--policy", "p.toml", *words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "policy"
    assert sentence in error["message"]


def test_a_second_table_without_counts_is_told_by_its_columns():
    decided = policy(plain(q="qi", s="sensitive"))
    tables = pa.table({"q": ["a", "a"], "group": ["1", "1"]}), pa.table({"group": ["1"], "other": ["x"]})
    with pytest.raises(ind.SchemaError, match=r"it has group, other$"):
        ind.attack(tables[0], decided, second=tables[1])


@pytest.mark.parametrize("rows", ["drop", "exempt"])
def test_the_order_is_kept_without_columns_to_carry(tmp_path, rows):
    # no column but quasi-identifiers and a modelled one: the places of the rows are needed all the same
    table = pa.table({"q": ["b", "a", "c", "a", "b"], "s": ["5", "4", "3", "2", "1"]})
    model = {"model": "distinct_l", "attribute": "s", "l": 2}
    output = {"order": "kept", "confirmed": True}
    decided = policy(plain(q="qi", s="sensitive"), model, output=output, suppression={"limit": 0.2, "rows": rows})
    published = pq.read_table(published_and_proved(table, decided, tmp_path / "out.parquet")).to_pylist()
    kept = [("b", "5"), ("a", "4"), *([("*", "3")] if rows == "exempt" else []), ("a", "2"), ("b", "1")]
    assert [(row["q"], row["s"]) for row in published] == kept


def test_an_audit_of_suppressed_rows_alone_says_what_to_do():
    table = pa.table({"q": ["*", "*"], "s": ["x", "y"]})
    decided = policy({"q": SUPPRESS, "s": {"role": "sensitive"}})
    with pytest.raises(ind.DataError, match="--suppressed-rows class"):
        ind.audit(table, decided)
    assert ind.audit(table, decided, suppressed_rows="class").document["models"][0]["achieved"] == {"k": 2}


def test_a_public_report_that_cannot_be_is_refused_before_the_table_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    safepub = '[[privacy]]\nmodel = "safepub"\nepsilon = 1\ndelta = 0.00001\nlevels = {q = 0}\n'
    text = '[attributes.q]\nrole = "qi"\n' + safepub + '[recoding]\nalgorithm = "safepub"\n[suppression]\nlimit = 1\n'
    written(tmp_path, text, "p.toml")
    words = [
        "anonymize",
        "no-such.csv",
        "--policy",
        "p.toml",
        "--output",
        "o.csv",
        "--public-report",
        "q.html",
        "--json",
    ]
    assert run(words) == 2
    assert "no public report under safepub" in json.loads(capsys.readouterr().out)["error"]["message"]
