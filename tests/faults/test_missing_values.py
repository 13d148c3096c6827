"""Missing values have owners: the file that declares them, the column they belong to, the formula never computed."""

import csv
import json
import re
import runpy
import shutil
import zipfile
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

import indistinct as ind
from indistinct.cli.app import run
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions

HERE = Path(__file__).parent
OF_ONE_COLUMN = HERE / "13-missing-code-of-one-column"


def cells(table, name, **options):
    source = open_source(table, TableOptions(**options))
    return [value for batch in source.batches([name]) for value in batch.column(0).to_pylist()]


def made(case, folder, monkeypatch):
    monkeypatch.chdir(folder)
    runpy.run_path(str(HERE / case / "make_input.py"))


def test_codes_that_spss_declares_are_missing(tmp_path, monkeypatch):
    made("11-spss-user-missing", tmp_path, monkeypatch)
    assert cells(tmp_path / "input.sav", "age") == [20, 21, 20, 21, None, None, 60, 61, 60, 61]
    source = open_source(tmp_path / "input.sav")
    [notice] = [one for one in source.warnings if one.kind == "declared-missing"]
    assert notice.column == "age"
    assert "98, 99" in notice.message
    assert "2 cells" in notice.message


@pytest.mark.parametrize(
    ("ranges", "values", "expected"),
    [
        ({"x": [-9, {"lo": 90, "hi": 99}]}, [1.0, -9, 89.5, 95], [1, None, 89.5, None]),
        ({"x": [{"lo": -1e300, "hi": 0}]}, [0.0, -3, 2, 1], [None, None, 2, 1]),
        ({"x": ["NA", "DK"]}, ["NA", "a", "DK", "b"], [None, "a", None, "b"]),
    ],
)
def test_ranges_single_codes_and_texts_that_spss_declares(tmp_path, ranges, values, expected):
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"x": values}), path, missing_ranges=ranges)
    assert cells(path, "x") == expected


def test_a_token_of_one_column_is_a_value_in_others(tmp_path, capsys):
    for file in ("input.csv", "policy.toml"):
        shutil.copy(OF_ONE_COLUMN / file, tmp_path / file)
    policy = tmp_path / "policy.toml"
    text = policy.read_text().replace('type="integer"', 'type="integer"\nmissing_values=["-9"]')
    policy.write_text(text)
    assert run(["anonymize", "--policy", str(policy), "--output", str(tmp_path / "out.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["satisfied"]
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["temp"] for row in rows].count("-9") == 3
    assert [row["age"] for row in rows].count("") == 2
    assert not any("-9" in row["age"] for row in rows)


FRAMES = {
    "pandas": lambda: pd.DataFrame({"a": [-9, 3], "b": [-9, 3]}),
    "polars": lambda: pl.DataFrame({"a": [-9.0, 3.0], "b": [-9, 3]}),
    "pyarrow": lambda: pa.table({"a": pa.array(["-9", "3"]).dictionary_encode(), "b": [-9, 3]}),
    "duckdb": lambda: duckdb.sql("SELECT * FROM (VALUES (-9, -9), (3, 3)) t(a, b)"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_tokens_of_a_column_hold_in_frames(kind):
    tokens = {"a": ("-9",)}
    assert [value is None for value in cells(FRAMES[kind](), "a", missing_values=tokens)] == [True, False]
    assert cells(FRAMES[kind](), "b", missing_values=tokens) == [-9, 3]


def test_a_formula_without_a_stored_value_is_not_a_blank(tmp_path, monkeypatch, capsys):
    made("15-formula-without-stored-value", tmp_path, monkeypatch)
    assert run(["audit", "input.xlsx", "--qi", "age2,sex"]) == 2
    said = capsys.readouterr().err
    assert '8 cells of "age2" are formulas without a stored value' in said
    assert cells(tmp_path / "input.xlsx", "age")[:2] == ["20", "21"]


def workbook(path, errors):
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("data")
    sheet.write_row(1, 2, ["a", "b"])  # the table does not begin in the first cell
    for row, error in enumerate(errors, 2):
        sheet.write(row, 2, row)
        sheet.write_formula(row, 3, "=1/0", None, error)
    book.close()
    return path


def test_errors_of_a_spreadsheet_are_named_and_may_be_listed(tmp_path):
    path = workbook(tmp_path / "x.xlsx", ["#DIV/0!", "#DIV/0!", "#N/A", 5])
    with pytest.raises(ind.DataError, match='2 cells of "b" hold the error #DIV/0!'):
        cells(path, "b")
    with pytest.raises(ind.DataError, match='1 cell of "b" holds the error #N/A'):
        cells(path, "b", missing=("", "#DIV/0!"))
    assert cells(path, "b", missing_values={"b": ("#DIV/0!", "#N/A")}) == [None, None, None, "5"]
    assert cells(path, "a") == ["2", "3", "4", "5"]


def test_a_far_cell_is_named_before_memory_is_asked_for(capsys):
    assert run(["audit", str(HERE / "b04-workbook-with-one-far-cell" / "input.xlsx"), "--qi", "a"]) == 2
    said = capsys.readouterr().err
    assert "XFD1048576" in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize(("row", "column", "cell"), [(1_048_575, 20, "U1048576"), (3_000, 16_000, "WQK3001")])
def test_other_far_cells(tmp_path, row, column, cell):
    book = xlsxwriter.Workbook(tmp_path / "x.xlsx")
    sheet = book.add_worksheet("data")
    sheet.write_column(0, 0, ["a", "x", "y"])
    sheet.write(row, column, "stray")
    book.close()
    with pytest.raises(ind.DataError, match=cell):
        open_source(tmp_path / "x.xlsx")


OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"
SHOWN = "<text:p>#DIV/0!</text:p>"
FAILED = 'table:formula="of:=1/0" office:value-type="string" office:string-value=""'
ERROR = f"<table:table-cell {FAILED}>{SHOWN}</table:table-cell>"
HOLE = '<table:table-cell table:formula="of:=1+1"/>'


def open_document(path, cells_of_rows):
    """Write the least that is an .ods workbook; texts beginning with < are cells as they are."""
    rows = ""
    for row in cells_of_rows:
        rows += "<table:table-row>"
        for one in row:
            text = f"<text:p>{one}</text:p>"
            is_cell = one.startswith("<")
            rows += one if is_cell else f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
        rows += "</table:table-row>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    names = " ".join(f'xmlns:{name}="{OFFICE}{name}:1.0"' for name in ("office", "table", "text"))
    sheet = f'<table:table table:name="data">{rows}</table:table>'
    text = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", kind)
        book.writestr("content.xml", f"<office:document-content {names}>{text}</office:document-content>")
        entry = '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/>'
        book.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{OFFICE}manifest:1.0">{entry}</m:manifest>')
    return path


@pytest.mark.parametrize(("holes", "count"), [([ERROR], 1), ([HOLE], 1), ([ERROR, HOLE, ERROR], 3)])
def test_cells_of_open_document_that_may_be_errors_are_named(tmp_path, holes, count):
    path = open_document(tmp_path / "x.ods", [["a", "b"], *(["1", hole] for hole in holes), ["2", "x"]])
    [notice] = [one for one in open_source(path).warnings if one.kind == "empty-cells"]
    assert notice.message.startswith("in .ods files a cell with an error (#N/A), or with a formula")
    assert f'"b" has {count};' in notice.message


def test_nothing_is_said_of_a_full_open_document(tmp_path):
    path = open_document(tmp_path / "x.ods", [["a", "b"], ["1", "x"], ["2", "y"]])
    assert not [one for one in open_source(path).warnings if one.kind == "empty-cells"]


def tokens_policy(type, tokens):
    attributes = {"age": {"role": "qi", "type": type, "hierarchy": {"kind": "range"}, "missing_values": tokens}}
    return ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)])


@pytest.mark.parametrize(
    ("cells", "token"),
    [
        (pa.array([Decimal("20.00"), Decimal("999.00")] * 3), "999"),
        (pa.array(["20", "999.0"] * 3), "999"),
        (pa.array(["20", "0999"] * 3), "999"),
        (pa.array(["20", "-9"] * 3), "-9.0"),
    ],
)
@pytest.mark.parametrize("function", [ind.anonymize, ind.audit, ind.explain, ind.risk])
def test_a_missing_number_in_another_spelling_is_no_value(function, cells, token):
    with pytest.raises(ind.DataError, match="in another spelling: name it in missing_values"):
        function(pa.table({"age": cells}), tokens_policy("decimal", [token]))
    said = [str(cells[1].as_py()), token]
    assert ind.anonymize(pa.table({"age": cells}), tokens_policy("decimal", said)).table["age"].null_count == 3


@pytest.mark.parametrize(("cells", "warned"), [(["20", "999"], 0), (["20", "99"], 1), (["20", None], 0)])
def test_a_token_that_no_cell_holds_is_named(cells, warned):
    release = ind.anonymize(pa.table({"age": cells * 3}), tokens_policy("integer", ["999"]))
    found = [one["message"] for one in release.document["warnings"] if one["kind"] == "missing-values"]
    assert len(found) == warned
    assert all('"999"' in message for message in found)


@pytest.mark.parametrize("error", ["#NAME?", "#SPILL!", "#CALC!"])
def test_an_error_that_the_reader_does_not_know_is_named_with_its_column(tmp_path, error):
    path = tmp_path / "x.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("data")
    sheet.write_column(0, 1, ["age", 20, 21])
    sheet.write_formula(3, 1, "=1/0", None, "#N/A")
    book.close()
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, part in parts.items():
            new.writestr(name, part.replace(b"#N/A", error.encode()))
    with pytest.raises(ind.DataError, match=re.escape(f"{error} in column B (1); mend the formulas")):
        open_source(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_a_token_of_the_whole_table_that_is_a_value_is_named(tmp_path, kind):
    table = pa.table({"ward": ["a", "NA"] * 3, "ill": ["x", "y", "x", "x", "y", "x"]})
    place = tmp_path / f"in.{kind}"
    if kind == "csv":
        table.to_pandas().to_csv(place, index=False)
    elif kind == "parquet":
        pq.write_table(table, place)
    given = table if kind == "frame" else place
    for document in (
        ind.audit(given, qi=["ward"], missing=["NA"]).document,
        ind.anonymize(
            given,
            ind.Policy(
                table={"missing": ["NA"]},
                attributes={"ward": {"role": "qi"}, "ill": {"role": "sensitive"}},
                privacy=[ind.DistinctL("ill", 2)],
            ),
        ).document,
    ):
        said = [one["message"] for one in document["warnings"] if one["kind"] == "missing-values"]
        assert len(said) == (kind != "csv")
        assert all('"ward" holds "NA", a missing value of the whole table' in message for message in said)
