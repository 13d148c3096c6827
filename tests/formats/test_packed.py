"""Packed tables, standard input, many files as one, sheets: the same rows as the plain table, or a plain word."""

import gzip
import io
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from cli_bench import POLICY, TABLE, run
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions, origins_of

ROWS = [("30", "f"), ("41", None)]
CSV = b"age,sex\n30,f\n41,\n"


def rows_of(source):
    return [tuple(row.values()) for batch in source.batches() for row in batch.to_pylist()]


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def parquet():
    sink = io.BytesIO()
    pq.write_table(pa.table({"age": ["30", "41"], "sex": ["f", None]}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [("p.csv.gz", gzip.compress(CSV, mtime=0)), ("p.CSV.GZ", gzip.compress(CSV, mtime=0)), ("p.csv.zst", zstd(CSV)),
     ("p.parquet.gz", gzip.compress(parquet(), mtime=0)),
     ("p.tsv.gz", gzip.compress(CSV.replace(b",", b"\t"), mtime=0))],
)  # fmt: skip
def test_packed_files_hold_the_same_rows(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    source = open_source(tmp_path / name)
    assert rows_of(source) == ROWS
    assert rows_of(source) == ROWS  # again and again
    assert [one.place.name for one in source.origins] == [name]


@pytest.mark.parametrize("member", ["p.csv", "deep/in/p.csv", "../../p.csv", "/etc/p.csv", "c:\\windows\\p.csv"])
def test_an_archive_of_one_table_is_read_wherever_it_says_that_it_lies(tmp_path, member):
    other = {"readme": "about", "__MACOSX/._p.csv": "x", ".hidden.csv": "y"}
    path = zipped(tmp_path / "p.zip", {member: CSV, **other})
    before = sorted(tmp_path.rglob("*"))
    assert rows_of(open_source(path)) == ROWS
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/etc/p.csv").exists()


@pytest.mark.parametrize(
    ("members", "sentence"),
    [({"a.csv": CSV, "b.csv": CSV}, "p.zip holds 2 tables \\(a.csv, b.csv\\)"),
     ({"a.doc": "x"}, "p.zip holds no table"), ({}, "p.zip holds no table"),
     ({f"{i}.txt": "" for i in range(1001)}, "holds 1001 files")],
)  # fmt: skip
def test_an_archive_that_is_not_one_table_is_refused(tmp_path, members, sentence):
    with pytest.raises(ind.DataError, match=sentence):
        open_source(zipped(tmp_path / "p.zip", members))


@pytest.mark.parametrize("name", ["p.csv.gz", "p.csv.zst", "p.zip"])
@pytest.mark.parametrize(
    "content", [b"not packed at all", gzip.compress(CSV * 1000, mtime=0)[:60], b"PK\x03\x04 broken"]
)
def test_broken_archives_are_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ind.DataError, match=name):
        rows_of(open_source(tmp_path / name))


def test_an_archive_that_holds_more_than_it_states_is_refused(tmp_path):
    path = zipped(tmp_path / "p.zip", {"p.csv": CSV * 10_000})
    raw = bytearray(path.read_bytes())
    size = len(CSV) * 10_000
    assert raw.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(bytes(raw).replace(size.to_bytes(4, "little"), (50).to_bytes(4, "little")))
    with pytest.raises(ind.DataError, match=r"p\.zip"):
        rows_of(open_source(path))


def test_a_copy_is_private_and_goes_with_its_source(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(CSV, mtime=0))
    source = open_source(tmp_path / "p.csv.gz")
    (copy,) = (tmp_path / "copies").iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    del source
    assert list((tmp_path / "copies").iterdir()) == []


# --- standard input ---------------------------------------------------------------------------------------------


def given(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("content", [CSV, gzip.compress(CSV, mtime=0), zstd(CSV), parquet()])
def test_standard_input_is_known_by_how_it_begins_and_read_once(monkeypatch, content):
    given(monkeypatch, content)
    assert rows_of(open_source("-")) == ROWS
    assert rows_of(open_source("-")) == ROWS
    assert origins_of("-") == ()


def test_nothing_over_standard_input_is_said(monkeypatch):
    given(monkeypatch, b"")
    with pytest.raises(ind.DataError, match="nothing came over standard input"):
        open_source("-")


def test_a_file_called_dash_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(CSV)
    with pytest.raises(ind.UnsupportedError, match="a name without a suffix"):
        open_source("./-")


@pytest.mark.slow
def test_commands_read_standard_input(tmp_path, monkeypatch):
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "t.csv").write_text(TABLE)
    plain = run("anonymize", "t.csv", "--policy", "p.toml", "-o", "a.csv", cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    given(monkeypatch, TABLE.encode())
    piped = run("anonymize", "-", "--policy", "p.toml", "-o", "b.csv", cwd=tmp_path)
    assert piped.returncode == 0, piped.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    given(monkeypatch, TABLE.encode())
    assert run("audit", "-", "--qi", "age,ward", "--k", "2", cwd=tmp_path).returncode in (0, 1)


# --- many files ---------------------------------------------------------------------------------------------------


def test_a_pattern_is_one_table_of_its_files_by_name(tmp_path):
    (tmp_path / "b.csv").write_text("sex,age\nm,50\n")
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "c.txt").write_text("other\n1\n")
    source = open_source(str(tmp_path / "*.csv"))
    assert source.columns == ("age", "sex")
    assert rows_of(source) == [*ROWS, ("50", "m")]
    assert [one.place.name for one in source.origins] == ["a.csv", "b.csv"]
    with pytest.raises(ind.DataError, match=r"no file is called x\*.csv"):
        open_source(str(tmp_path / "x*.csv"))


def test_a_file_whose_name_holds_a_star_is_a_file(tmp_path):
    (tmp_path / "a[1].csv").write_bytes(CSV)
    assert rows_of(open_source(tmp_path / "a[1].csv")) == ROWS


@pytest.mark.parametrize("other", ["age,town\n1,Kiel\n", "age\n1\n", "age,sex,town\n1,f,Kiel\n"])
def test_files_with_other_columns_are_refused_by_name(tmp_path, other):
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "b.csv").write_text(other)
    with pytest.raises(ind.SchemaError, match=r"b.csv (has|lacks) the column"):
        open_source(str(tmp_path / "*.csv"))


def test_types_that_differ_are_refused(tmp_path):
    for name, values in (("a", [1]), ("b", ["x"])):
        pq.write_table(pa.table({"age": values}), tmp_path / f"{name}.parquet")
    with pytest.raises(ind.SchemaError, match=r'"age" is string in b\.parquet and int64 in a\.parquet'):
        open_source(str(tmp_path / "*.parquet"))


def test_folders_named_column_is_value_tell_columns(tmp_path):
    for year, town, ages in (
        ("2023", "Kiel", [1, 2]),
        ("2024", "__HIVE_DEFAULT_PARTITION__", [3]),
        ("2024", "A%2FB", [4]),
    ):
        folder = tmp_path / "t" / f"year={year}" / f"town={town}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"age": ages}), folder / "part.parquet")
    (tmp_path / "t" / "_SUCCESS").touch()
    source = open_source(tmp_path / "t")
    assert source.columns == ("age", "year", "town")
    assert sorted(rows_of(source)) == [(1, "2023", "Kiel"), (2, "2023", "Kiel"), (3, "2024", None), (4, "2024", "A/B")]
    assert [row for batch in source.batches(["town"]) for row in batch.column("town").to_pylist()].count("Kiel") == 2
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t" / "stray.parquet")
    with pytest.raises(ind.DataError, match="tell different columns"):
        open_source(tmp_path / "t")


def test_a_folder_of_text_files_is_a_table_and_of_several_kinds_is_none(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.csv").write_bytes(CSV)
    (tmp_path / "t" / "b.csv").write_bytes(CSV)
    assert rows_of(open_source(tmp_path / "t")) == [*ROWS, *ROWS]
    pq.write_table(pa.table({"age": ["1"], "sex": ["f"]}), tmp_path / "t" / "c.parquet")
    with pytest.raises(ind.DataError, match="tables of several kinds"):
        open_source(tmp_path / "t")


def test_a_column_that_a_folder_tells_too_is_refused(tmp_path):
    (tmp_path / "t" / "age=3").mkdir(parents=True)
    (tmp_path / "t" / "age=3" / "a.csv").write_bytes(CSV)
    with pytest.raises(ind.SchemaError, match=r'"age" is a column of a\.csv and a folder'):
        open_source(tmp_path / "t")


# --- sheets and header rows ---------------------------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path):
    import xlsxwriter

    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Notes").write_row(0, 0, ["nothing", "here"])
        sheet = book.add_worksheet("Stays")
        sheet.write(1, 0, "Hospital of nowhere, list of stays")
        sheet.write_formula(2, 3, "=1/0", value="#DIV/0!")
        for number, row in enumerate([("age", "town"), (30, "Kiel"), (41, "Bonn")], 4):
            sheet.write_row(number, 1, row)
    return path


def test_the_names_stand_in_the_row_that_is_named(workbook):
    source = open_source(workbook, TableOptions(sheet="Stays", header_row=5))
    assert source.columns == ("age", "town")
    assert rows_of(source) == [("30", "Kiel"), ("41", "Bonn")]


@pytest.mark.parametrize("row", [2, 40])
def test_a_row_that_cannot_hold_the_names_is_said(workbook, row):
    with pytest.raises((ind.DataError, ind.SchemaError)):
        rows_of(open_source(workbook, TableOptions(sheet="Stays", header_row=row)))


def test_sheet_and_header_row_come_from_the_policy(workbook):
    given = ind.Policy.load(
        '[table]\nsheet = "Stays"\nheader_row = 5\n[attributes.age]\nrole = "qi"\ntype = "integer"\n'
        'hierarchy = { kind = "range" }\n[attributes.town]\nrole = "qi"\nhierarchy = { kind = "suppress" }\n'
        '[[privacy]]\nmodel = "k_anonymity"\nk = 2\n'
    )
    output = workbook.with_name("o.xlsx")
    found = ind.anonymize(workbook, given, output=output)
    assert found.document["published_rows"] == 2
    assert ind.verify(workbook, output, given).document["satisfied"]


def test_a_sheet_of_what_has_none_is_refused(tmp_path):
    (tmp_path / "p.csv").write_bytes(CSV)
    for option in ({"sheet": "x"}, {"header_row": 2}):
        with pytest.raises(ind.PolicyError, match="is for workbooks"):
            open_source(tmp_path / "p.csv", TableOptions(**option))


def test_no_file_is_left_open(tmp_path):
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(CSV, mtime=0))
    open_files = Path("/proc/self/fd")
    before = len([*open_files.iterdir()])
    rows_of(open_source(tmp_path / "p.csv.gz"))
    assert len([*open_files.iterdir()]) <= before
