"""Frames of other libraries: one meaning inside, the caller's kind outside."""

import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from indistinct.errors import DataError, SchemaError
from indistinct.formats.frames import give_back, kind_of
from indistinct.formats.registry import open_source

ROWS = {"region": ["N", "S", None, ""], "score": [1, 2, 3, 4]}

KINDS = {
    "pandas": lambda: pd.DataFrame(ROWS, index=[7, 8, 9, 7]),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars-lazy": lambda: pl.LazyFrame(ROWS),
    "pyarrow": lambda: pa.table(ROWS),
    "duckdb": lambda: duckdb.from_arrow(pa.table(ROWS)),
}


def read(frame):
    return pa.Table.from_batches(list(open_source(frame).batches()))


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind):
    frame = KINDS[kind]()
    assert kind_of(frame) == kind
    source = open_source(frame)
    assert source.columns == ("region", "score")
    assert source.types == {"region": pa.string(), "score": pa.int64()}
    for _ in range(2):
        assert pa.Table.from_batches(list(source.batches())).to_pydict() == ROWS
    back = give_back(read(frame), kind)
    assert type(back) is type(frame)
    assert read(back).to_pydict() == ROWS


def test_a_table_read_from_a_path_comes_back_as_arrow(tmp_path):
    assert kind_of(tmp_path) == kind_of("x.csv") == "path"
    assert give_back(pa.table(ROWS), "path").equals(pa.table(ROWS))


def test_anything_with_an_arrow_stream():
    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), [pa.record_batch({"a": [1, 2]})])
    assert kind_of(reader) == "pyarrow"
    assert read(reader).to_pydict() == {"a": [1, 2]}


def test_missing_values_of_pandas():
    frame = pd.DataFrame(
        {
            "number": [1.5, np.nan],
            "text": ["x", np.nan],
            "object": pd.Series(["x", pd.NA], dtype=object),
            "nullable": pd.array([1, pd.NA], dtype="Int64"),
            "category": pd.Categorical(["x", None], categories=["unused", "x"]),
            "nothing": pd.Series([None, None], dtype=object),
        }
    )
    assert read(frame).slice(1).to_pylist() == [dict.fromkeys(frame.columns)]


def test_the_nan_of_others_is_a_value():
    values = read(pl.DataFrame({"x": [float("nan"), None]}))["x"].to_pylist()
    assert values[0] != values[0]
    assert values[1] is None


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"band": pd.Categorical(["b", "b", "c"], categories=["a", "b", "c", "d"])}),
        pl.DataFrame({"band": pl.Series(["b", "b", "c"], dtype=pl.Enum(["a", "b", "c", "d"]))}),
        pl.DataFrame({"band": pl.Series(["b", "b", "c"], dtype=pl.Categorical)}),
        pa.table({"band": pa.DictionaryArray.from_arrays([1, 1, 2], ["a", "b", "c", "d"])}),
    ],
)
def test_unused_categories_are_not_there(frame):
    (batch,) = open_source(frame).batches()
    assert batch.column(0).dictionary.to_pylist() == ["b", "c"]
    assert batch.column(0).to_pylist() == ["b", "b", "c"]


def test_bins_of_pandas_are_their_text():
    frame = pd.DataFrame({"band": pd.cut([1, 30], [0, 20, 40, 60])})
    assert read(frame).to_pydict() == {"band": ["(0, 20]", "(20, 40]"]}
    intervals = pd.DataFrame({"band": pd.arrays.IntervalArray.from_breaks([0, 20, 40])})
    assert read(intervals).to_pydict() == {"band": ["(0, 20]", "(20, 40]"]}


def test_what_goes_back_has_no_trace_of_what_is_gone():
    table = pa.table({"c": pa.DictionaryArray.from_arrays([1, 1], ["secret", "x"])}, metadata={"note": "secret"})
    back = give_back(table, "pandas")
    assert list(back["c"].cat.categories) == ["x"]
    assert give_back(table, "polars").to_arrow()["c"].chunk(0).dictionary.to_pylist() == ["x"]
    back = give_back(table, "pyarrow")
    assert back["c"].chunk(0).dictionary.to_pylist() == ["x"]
    assert back.schema.metadata is None


def test_numbers_with_nulls_stay_whole_numbers_in_pandas():
    back = give_back(pa.table({"n": [1, None], "ok": [True, None], "m": [1, 2]}), "pandas")
    assert [str(kind) for kind in back.dtypes] == ["Int64", "boolean", "int64"]


def test_refusals():
    with pytest.raises(DataError, match="no rows"):
        open_source(pd.DataFrame({"a": []}))
    with pytest.raises(DataError, match='"a" mixes'):
        open_source(pd.DataFrame({"a": [1, "x"]}))
    with pytest.raises(SchemaError, match='"a" more than once'):
        open_source(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(SchemaError, match='"a" 2 times'):
        open_source(pa.table([[1], [2]], names=["a", "a"]))


def test_names_that_are_numbers():
    assert read(pd.DataFrame({0: ["x"], 1: ["y"]})).column_names == ["0", "1"]


@pytest.mark.slow
def test_no_library_is_imported_without_need(tmp_path):
    code = (
        "import sys, pyarrow as pa; from indistinct.formats.arrow import text_array;"
        "from indistinct.formats.registry import open_source; from indistinct.formats.write import stage;"
        "table = pa.Table.from_arrays([text_array(['a', None])], names=['x']);"
        "batches = list(open_source(table).batches());"
        "[stage(sys.argv[1] + suffix, batches, table.schema).publish() for suffix in ('.csv', '.parquet')];"
        "list(open_source(sys.argv[1] + '.csv').batches());"
        "print({'pandas', 'polars', 'duckdb', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
