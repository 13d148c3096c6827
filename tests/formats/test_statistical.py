"""SPSS, Stata and SAS: values as stored, labels and missing codes kept."""

import datetime as dt
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats import statistical
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions

FRAME = pl.DataFrame(
    {
        "code": ["01", "2", "2"],
        "age": pl.Series([30, None, 99], dtype=pl.Int64),
        "cost": [1.5, 2.0, None],
        "born": [dt.date(2000, 3, 1), None, dt.date(1850, 1, 1)],
        "seen": [dt.datetime.fromisoformat("2024-03-01T10:30"), None, dt.datetime.fromisoformat("1950-01-01")],
    }
)


def read(path, **options):
    source = open_source(path, TableOptions(**options))
    return pa.Table.from_batches(list(source.batches())).to_pydict(), source


@pytest.fixture(params=["sav", "zsav", "dta", "xpt"])
def saved(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    if request.param.endswith("sav"):
        pyreadstat.write_sav(
            FRAME,
            path,
            compress=request.param == "zsav",
            column_labels={"age": "age in years"},
            variable_value_labels={"age": {99: "refused"}, "code": {"2": "two"}},
            missing_ranges={"age": [99]},
        )
    elif request.param == "dta":
        labels = {"age": {99: "refused"}}
        pyreadstat.write_dta(FRAME, path, column_labels={"age": "age in years"}, variable_value_labels=labels)
    else:
        pyreadstat.write_xport(FRAME, path)
    return path


def test_values_and_types(saved):
    found, source = read(saved)
    expected = FRAME.to_dict(as_series=False)
    if saved.suffix.endswith("sav"):  # declares 99 of age to be missing
        expected["age"] = [30, None, None]
    assert found == expected
    kinds = [str(source.types[name]) for name in source.columns]
    assert kinds == ["string", "int64", "double", "date32[day]", "timestamp[us]"]
    assert not source.is_text


def test_labels(saved):
    _, source = read(saved)
    if saved.suffix != ".xpt":
        assert source.labels["age"] == {99: "refused"}
        assert source.column_labels == {"age": "age in years"}
    if saved.suffix.endswith("sav"):
        assert source.labels["code"] == {"2": "two"}


def test_codes_are_missing_only_when_listed(saved):
    assert read(saved)[0]["age"] == [30, None, None if saved.suffix.endswith("sav") else 99]
    assert read(saved, missing=("99", "01"))[0]["age"] == [30, None, None]
    assert read(saved, missing=("99", "01"))[0]["code"] == [None, "2", "2"]


def test_reading_in_parts_gives_the_same(saved, monkeypatch):
    whole = read(saved)[0]
    monkeypatch.setattr(statistical, "CELLS_PER_READ", 1)
    frame = pl.concat([FRAME] * 500)
    if saved.suffix == ".sav":
        pyreadstat.write_sav(frame, saved, missing_ranges={"age": [99]})
        assert read(saved)[0] == {name: values * 500 for name, values in whole.items()}


def test_lettered_missing_codes(tmp_path):
    path = tmp_path / "x.dta"
    frame = pd.DataFrame({"x": pd.Series([3.0, "a", None], dtype=object), "sex": ["a", "f", "m"]})
    pyreadstat.write_dta(frame, path, missing_user_values={"x": ["a"]})
    found, source = read(path)
    assert [notice.column for notice in source.warnings] == ["x"]
    assert ".a" in source.warnings[0].message
    assert found == {"x": [3, None, None], "sex": ["a", "f", "m"]}
    assert source.types["x"] == pa.int64()


def test_no_rows(tmp_path):
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(FRAME.clear(), path)
    with pytest.raises(DataError, match="no rows"):
        open_source(path)


def test_neither_pandas_nor_polars_is_needed_to_read(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert read(saved)[0]["code"] == ["01", "2", "2"]


def test_without_the_package(tmp_path, monkeypatch):
    (tmp_path / "x.sav").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(UnsupportedError, match=r"indistinct\[io\]"):
        open_source(tmp_path / "x.sav")
