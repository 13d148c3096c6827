"""Opening anything: the suffix decides, and what is no table is refused with a reason."""

import pyarrow as pa
import pytest

from indistinct.errors import DataError, PolicyError, SchemaError, UnsupportedError
from indistinct.formats.registry import open_source
from indistinct.formats.source import Notice, Source, TableOptions


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("x.csv", None, DataError, "there is no file x.csv"),
        ("x.csv", b"", DataError, "x.csv is empty"),
        ("x.docx", b"abc", UnsupportedError, "csv, tsv"),
        ("table", b"a\n1\n", UnsupportedError, "without a suffix"),
        ("x.parquet", b"PAR1 no", DataError, "no readable Parquet"),
        ("x.arrow", b"ARROW1 no", DataError, "no readable Arrow"),
        ("x.feather", b"FEA1 no", DataError, "no readable Arrow"),
        ("x.xlsx", b"PK no", DataError, "workbook"),
        ("x.sav", b"no" * 200, DataError, "no readable sav"),
        ("x.dta", b"no" * 200, DataError, "no readable dta"),
    ],
)
def test_no_table(tmp_path, name, content, error, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=words) as caught:
        open_source(str(path))
    assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize("url", ["https://h/people.csv?token=secret", "S3://bucket/x.parquet", "ftp://h/x.csv"])
def test_nothing_is_fetched_from_the_network(url):
    with pytest.raises(UnsupportedError, match="nothing is fetched from the network; download the file") as caught:
        open_source(url)
    assert "secret" not in caught.value.message


def test_a_file_url_is_a_path():
    with pytest.raises(UnsupportedError, match="give the path"):
        open_source("file:///people.csv")


def test_a_directory_is_no_table(tmp_path):
    with pytest.raises(DataError, match="directory"):
        open_source(tmp_path)


def test_query_belongs_to_a_database(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(PolicyError, match="URL"):
        open_source(tmp_path / "x.csv", TableOptions(query="select 1"))


def test_suffix_in_capitals(tmp_path):
    (tmp_path / "X.CSV").write_text("a\n1\n")
    assert open_source(tmp_path / "X.CSV").name == "X.CSV"


def test_what_is_no_frame():
    with pytest.raises(UnsupportedError, match="type list"):
        open_source([1, 2])


@pytest.mark.parametrize(
    ("values", "words"),
    [([[1]], "lists or records"), ([{"x": 1}], "lists or records"), ([b"x"], "raw bytes")],
)
def test_types_without_one_value_per_cell_are_refused_when_asked_for(values, words):
    source = open_source(pa.table({"odd": values, "age": [1]}))
    assert [batch.num_rows for batch in source.batches(["age"])] == [1]
    with pytest.raises(UnsupportedError, match=words) as caught:
        next(source.batches())
    assert caught.value.where == {"column": "odd"}


def test_a_source_without_rows_or_columns_is_refused():
    source = Source("x", ("a",), {"a": pa.string()}, is_text=True, read=lambda _: iter(()))
    with pytest.raises(DataError, match="no rows"):
        list(source.batches())
    with pytest.raises(SchemaError, match="at least one"):
        list(source.batches([]))


def test_notices_are_equal_by_value():
    assert Notice("a", None, "b") == Notice("a", None, "b")
