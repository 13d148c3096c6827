"""Databases: NULL and the empty text are two things."""

import datetime as dt
import sqlite3
import sys
from contextlib import closing

import pyarrow as pa
import pytest

from indistinct.errors import DataError, PolicyError, SchemaError, UnsupportedError
from indistinct.formats import database
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "hospital.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript(
            """
            CREATE TABLE people(region TEXT, score INTEGER);
            INSERT INTO people VALUES ('N',1),('N',2),(NULL,1),(NULL,2),('',3);
            CREATE TABLE "odd table"(a, b, c);
            INSERT INTO "odd table" VALUES (1, 'x', NULL), ('z', NULL, NULL), (2.5, 'y', NULL);
            CREATE TABLE empty(a);
            """
        )
        base.commit()
    return f"sqlite:///{path}"


def read(url, **options):
    source = open_source(url, TableOptions(**options))
    return pa.Table.from_batches(list(source.batches())).to_pydict(), source


def test_null_and_empty_stay_apart(url):
    found, source = read(url, table="people")
    assert found == {"region": ["N", "N", None, None, ""], "score": [1, 2, 1, 2, 3]}
    # the missing tokens of a policy concern text files
    assert read(url, table="people", missing=("", "N"))[0]["region"] == ["N", "N", None, None, ""]
    assert source.types == {"region": pa.string(), "score": pa.int64()}
    assert source.rows == 5


def test_queries(url):
    query = "SELECT region, score / 2.0 AS half FROM people WHERE region LIKE 'N%' OR region = ':x' ORDER BY score"
    assert read(url, query=query)[0] == {"region": ["N", "N"], "half": [0.5, 1.0]}


def test_mixed_columns_become_text_and_all_null_ones_too(url):
    assert read(url, table="odd table")[0] == {"a": ["1", "z", "2.5"], "b": ["x", None, "y"], "c": [None] * 3}


def test_batches_of_other_types_are_joined(url, monkeypatch):
    whole = read(url, table="odd table")[0], read(url, table="people")[0]
    monkeypatch.setattr(database, "FETCH_ROWS", 1)
    assert (read(url, table="odd table")[0], read(url, table="people")[0]) == whole


def test_a_second_reading_does_not_ask_again(url, tmp_path):
    source = open_source(url, TableOptions(table="people"))
    (tmp_path / "hospital.db").unlink()
    assert sum(batch.num_rows for batch in source.batches(["score"])) == 5


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, PolicyError, "either a query or"),
        ({"query": "SELECT 1", "table": "people"}, PolicyError, "either a query or"),
        ({"table": "peple"}, DataError, "no such table"),
        ({"query": "SELEC 1"}, DataError, "syntax error"),
        ({"query": "UPDATE people SET score = 1"}, DataError, "write a SELECT"),
        ({"table": "empty"}, DataError, "no rows"),
        ({"query": "SELECT 1 AS a, 2 AS a"}, SchemaError, '"a" 2 times'),
    ],
)
def test_refusals(url, options, error, words):
    with pytest.raises(error, match=words):
        open_source(url, TableOptions(**options))


def test_an_update_changes_nothing(url):
    with pytest.raises(DataError):
        open_source(url, TableOptions(query="UPDATE people SET score = 7"))
    assert read(url, table="people")[0]["score"] == [1, 2, 1, 2, 3]


def test_no_file_is_made_of_a_wrong_url(tmp_path):
    with pytest.raises(DataError, match=r"no file gone\.db"):
        open_source(f"sqlite:///{tmp_path}/gone.db", TableOptions(table="t"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "error"),
    [("nosuch://x", UnsupportedError), ("://", PolicyError), ("postgresql+nodriver://u:secret@h/d", UnsupportedError)],
)
def test_urls(url, error):
    with pytest.raises(error) as caught:
        open_source(url, TableOptions(table="t"))
    assert "secret" not in caught.value.message


def test_dates_of_a_driver():
    assert database.sql_array([dt.date(2024, 3, 1), None]).type == pa.date32()


def test_without_the_package(url, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(UnsupportedError, match=r"indistinct\[io\]"):
        open_source(url, TableOptions(table="people"))
