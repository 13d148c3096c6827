"""Workbooks: the text a person reads in a cell."""

import datetime as dt
import sys

import pytest
import xlsxwriter

from indistinct.errors import DataError, SchemaError, UnsupportedError
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions

DAY, MOMENT, TIME = "yyyy-mm-dd", "dd.mm.yyyy hh:mm", "hh:mm:ss"


@pytest.fixture
def workbook(tmp_path):
    def write(*sheets):
        path = tmp_path / "x.xlsx"
        with xlsxwriter.Workbook(path) as book:
            for name, rows in sheets:
                sheet = book.add_worksheet(name)
                for i, row in enumerate(rows):
                    for j, value in enumerate(row):
                        if isinstance(value, str):
                            sheet.write_string(i, j, value)
                        elif isinstance(value, dt.date | dt.time):
                            pattern = {dt.date: DAY, dt.datetime: MOMENT, dt.time: TIME}[type(value)]
                            sheet.write_datetime(i, j, value, book.add_format({"num_format": pattern}))
                        else:
                            sheet.write(i, j, value)
        return path

    return write


def read(path, **options):
    source = open_source(path, TableOptions(**options))
    (batch,) = source.batches()
    return batch.to_pydict(), source


def test_dates_numbers_and_text_codes(workbook):
    # numbers and text codes in one column, dates, whole numbers
    rows = [
        ("zip", "visit", "count"),
        ("02138", dt.date(2024, 3, 1), 1),
        (10115, dt.date(2024, 3, 2), 2),
    ]
    found, source = read(workbook(("data", rows), ("notes", [("x",), ("y",)])))
    assert found == {"zip": ["02138", "10115"], "visit": ["2024-03-01", "2024-03-02"], "count": ["1", "2"]}
    assert source.is_text
    assert [notice.kind for notice in source.warnings] == ["other-sheets"]


def test_text_cells_that_look_like_something_else_stay(workbook):
    texts = ["2024-03-01 00:00:00", "10.0", "TRUE", "1e5", " 007 ", "NA"]
    found, _ = read(workbook(("data", [("text",), *((text,) for text in texts)])))
    assert found == {"text": texts}


def test_moments_times_and_truth(workbook):
    rows = [
        ("at", "day", "time", "ok", "share"),
        (
            dt.datetime.fromisoformat("2024-03-01T10:30"),
            dt.datetime.fromisoformat("2024-03-01"),
            dt.time(1, 2, 3),
            True,
            0.1,
        ),
        (dt.datetime.fromisoformat("2024-03-02"), dt.datetime.fromisoformat("2024-03-02"), dt.time(12), False, 2.50),
    ]
    assert read(workbook(("data", rows)))[0] == {
        "at": ["2024-03-01 10:30:00", "2024-03-02"],
        "day": ["2024-03-01", "2024-03-02"],
        "time": ["01:02:03", "12:00:00"],
        "ok": ["true", "false"],
        "share": ["0.1", "2.5"],
    }


def test_dates_among_texts(workbook):
    rows = [("when",), (dt.date(2024, 3, 1),), ("unknown",), (7,)]
    assert read(workbook(("data", rows)))[0] == {"when": ["2024-03-01", "unknown", "7"]}


def test_missing_cells_and_blank_rows(workbook):
    rows = [("a", "b", None), ("x", None, None), (None, None, None), (None, "-", None)]
    found, source = read(workbook(("data", rows)), missing=("-",))
    assert found == {"a": ["x", None], "b": [None, None]}
    assert [notice.kind for notice in source.warnings] == ["blank-rows"]


def test_sheet_by_name(workbook):
    path = workbook(("one", [("a",), ("1",)]), ("two", [("b ",), (" 2",)]))
    assert read(path, sheet="two")[0] == {"b": [" 2"]}
    assert read(path, sheet="two", trim="cells")[0] == {"b": ["2"]}
    with pytest.raises(DataError, match='no sheet "three"; it has "one", "two"'):
        read(path, sheet="three")


@pytest.mark.parametrize("rows", [[], [("a", "b")], [("a",)]])
def test_sheets_without_rows(workbook, rows):
    with pytest.raises(DataError, match="no rows"):
        read(workbook(("data", rows)))


def test_names(workbook):
    with pytest.raises(SchemaError, match='"a" 2 times'):
        read(workbook(("data", [("a", "a"), (1, 2)])))
    with pytest.raises(SchemaError, match="column 2"):
        read(workbook(("data", [("a", None, "c"), (1, 2, 3)])))
    found, source = read(workbook(("data", [("a", None, "c"), (1, None, 3)])))
    assert found == {"a": ["1"], "c": ["3"]}
    assert [notice.kind for notice in source.warnings] == ["nameless-column"]


def test_without_the_package(workbook, monkeypatch):
    path = workbook(("data", [("a",), (1,)]))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'indistinct\[io\]'"):
        open_source(path)
