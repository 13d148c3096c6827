"""Parquet and Arrow: types kept, values not categories, batches by size."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indistinct.errors import DataError, SchemaError
from indistinct.formats import columnar
from indistinct.formats.columnar import ENCODED, bounded_rows, compact, plain, rebuilt
from indistinct.formats.registry import open_source


def example(rows=10):
    return pa.table(
        {
            "sex": pa.array(["f", "m", None] * rows)[:rows],
            "age": pa.array(range(rows), pa.int16()),
            "born": pa.array([dt.date(2000, 1, 1)] * rows),
            "cost": pa.array([0.5] * rows),
            "id": [f"person {i}" for i in range(rows)],
        }
    )


def whole(source, columns=None):
    return pa.Table.from_batches(list(source.batches(columns)))


@pytest.fixture(params=["parquet", "arrow", "stream"])
def saved(request, tmp_path):
    def save(table):
        path = tmp_path / f"x.{'parquet' if request.param == 'parquet' else 'arrow'}"
        if request.param == "parquet":
            pq.write_table(table, path, row_group_size=4)
        else:
            new = pa.ipc.new_file if request.param == "arrow" else pa.ipc.new_stream
            with new(str(path), table.schema) as writer:
                writer.write_table(table, max_chunksize=4)
        return path

    return save


def test_types_and_values_are_kept(saved):
    source = open_source(saved(example()))
    assert source.columns == ("sex", "age", "born", "cost", "id")
    assert [str(source.types[name]) for name in source.columns] == [
        "string",
        "int16",
        "date32[day]",
        "double",
        "string",
    ]
    assert not source.is_text
    for _ in range(2):
        assert whole(source).to_pydict() == example().to_pydict()
    assert whole(source, ["cost", "sex"]).column_names == ["cost", "sex"]


def test_unused_categories_are_not_there(saved):
    bands = pa.DictionaryArray.from_arrays([1, 1, 2, None, 2], ["0-19", "20-39", "40-59", "60+"])
    for batch in open_source(saved(pa.table({"band": bands}))).batches():
        column = batch.column(0)
        if pa.types.is_dictionary(column.type):
            assert set(column.dictionary.to_pylist()) == set(column.to_pylist()) - {None}


def test_batches_are_cut_by_rows(saved, monkeypatch):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 3)
    batches = list(open_source(saved(example())).batches())
    assert max(batch.num_rows for batch in batches) <= 3
    assert sum(batch.num_rows for batch in batches) == 10


def test_batches_are_cut_by_bytes():
    assert bounded_rows(100, 1 << 20) == 1_000_000
    assert bounded_rows(1000, 1 << 38) == 1  # 256 MiB a row
    assert bounded_rows(1 << 20, 1 << 30) == 1 << 18


def test_empty_and_doubled(saved):
    with pytest.raises(DataError, match="no rows"):
        whole(open_source(saved(example(0))))
    with pytest.raises(SchemaError, match='"a" 2 times'):
        open_source(saved(pa.table([[1], [2]], names=["a", "a"])))
    with pytest.raises(SchemaError, match="no name"):
        open_source(saved(pa.table([[1], [2]], names=["a", ""])))


def test_dotted_names_and_nested_neighbours(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a.b": ["x"], "r": [{"b": 1}], "c": ["y"]}), path)
    assert whole(open_source(path), ["c", "a.b"]).to_pydict() == {"c": ["y"], "a.b": ["x"]}


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(example(4), folder / "part-1.parquet")
    pq.write_table(example(3), folder / "part-2.parquet")
    source = open_source(folder)
    assert source.rows == 7
    assert whole(source, ["age"])["age"].to_pylist() == [0, 1, 2, 3, 0, 1, 2]
    pq.write_table(pa.table({"other": [1]}), folder / "part-3.parquet")
    with pytest.raises(SchemaError, match=r"part-3\.parquet"):
        open_source(folder)


def test_damage_found_while_reading(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": np.arange(20_000) % 9_000}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[100:10_000] = b"\xff" * 9_900
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        whole(open_source(path))


def test_nearly_unique_texts_come_without_dictionary(tmp_path):
    path = tmp_path / "x.parquet"
    rows = 100_000
    pq.write_table(pa.table({"id": [f"{i * 7919:020d}" for i in range(rows)], "sex": ["f", "m"] * (rows // 2)}), path)
    batch = next(open_source(path).batches())
    assert [str(column.type) for column in batch.columns] == ["string", str(ENCODED)]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["f", None, "m"], pa.large_string()),
        pa.array(["f", None, "m"], pa.string_view()),
        pa.DictionaryArray.from_arrays(
            pa.array([2, None, 1], pa.uint8()), pa.array(["x", "m", "f"], pa.large_string())
        ),
        pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["f", None, "m"])),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["f", None, "m"])),
    ],
)
def test_all_texts_become_one(array):
    result = plain(array)
    assert result.type in (pa.string(), ENCODED)
    assert result.to_pylist() == ["f", None, "m"]
    if result.type == ENCODED:
        assert sorted(result.dictionary.to_pylist()) == ["f", "m"]


def test_other_dictionaries_become_their_values():
    assert plain(pa.DictionaryArray.from_arrays([1, None], [10, 20])).equals(pa.array([20, None]))
    assert plain(pa.nulls(2)).type == pa.string()


def test_compact_beyond_the_first_look():
    indices = np.zeros(200_000, np.int32)
    indices[-1] = 2
    array = compact(pa.DictionaryArray.from_arrays(indices, ["a", "b", "c"]))
    assert array.dictionary.to_pylist() == ["a", "c"]
    assert array[199_999].as_py() == "c"


def test_rebuilt_dictionaries_do_not_tell_where_they_came_from():
    one = pa.DictionaryArray.from_arrays([0, 2], ["b", "gone", "a"])
    two = pa.DictionaryArray.from_arrays([1, None], ["gone", "ä"])
    array = rebuilt(pa.chunked_array([one, two]))
    assert array.to_pylist() == ["b", "a", "ä", None]
    assert array.dictionary.to_pylist() == ["a", "b", "ä"]


def parts(folder, *names):
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"n": [number]}), folder / name)
    return open_source(folder)


def test_no_part_of_a_directory_is_left_out_for_its_suffix(tmp_path):
    assert parts(tmp_path, "a.parquet", "b.PARQUET", ".indistinct.0123456789abcdef.parquet").rows == 2


@pytest.mark.parametrize(
    ("names", "sentence"),
    [(["year=2024/month=1/a.parquet", "a.parquet"], "tell different columns"),
     (["more/a.parquet", "a.parquet"], "in a folder of its own \\(more\\)")],
)  # fmt: skip
def test_a_directory_of_which_some_would_be_left_out_is_refused(tmp_path, names, sentence):
    with pytest.raises(DataError, match=sentence):
        parts(tmp_path, *names)
