"""Writing: whole or not at all, the same bytes for the same rows, and nothing that the rows do not say."""

import csv
import datetime as dt
import errno
import io
import os
import subprocess
import sys
import textwrap
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import Cancelled, DataError, PolicyError, UnsupportedError
from indistinct.formats import columnar_output, delimited_output, spreadsheet_output, statistical_output
from indistinct.formats.formulas import safe_text
from indistinct.formats.registry import OUTPUTS, open_source
from indistinct.formats.source import TableOptions, origins_of
from indistinct.formats.write import stage, table_output
from indistinct.outputs import check_outputs
from indistinct.publish.formulas import formula_notices
from indistinct.tables.published import typed_column

EXAMPLE = pa.table(
    {
        "zip": pa.DictionaryArray.from_arrays([2, None, 0, 2], ["10115", "UNPUBLISHED", "02138"]),
        "age": pa.array([30, None, 41, 30], pa.int64()),
        "born": pa.array([dt.date(2000, 3, 1), None, dt.date(1850, 1, 1), dt.date(1999, 12, 31)]),
        "seen": pa.array(
            [
                dt.datetime.fromisoformat("2024-03-01T10:30"),
                None,
                dt.datetime.fromisoformat("2024-03-01"),
                dt.datetime.fromisoformat("1950-01-01"),
            ]
        ),
        "cost": [1.5, None, 0.1, 1e6],
        "smoker": [True, None, False, True],
        "note": ["=1+1", "a, b", 'said "x"\nand left', "-5"],
    }
)


def put(path, table=EXAMPLE, **settings):
    return stage(path, table.to_batches(), table.schema, **settings).publish()


def read(path, **options):
    return pa.Table.from_batches(list(open_source(path, TableOptions(**options)).batches())).to_pydict()


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_round_trip(tmp_path, suffix):
    found = read(put(tmp_path / f"x.{suffix}"))
    as_text = {
        "zip": ["02138", None, "10115", "02138"],
        "age": ["30", None, "41", "30"],
        "born": ["2000-03-01", None, "1850-01-01", "1999-12-31"],
        "seen": ["2024-03-01 10:30:00", None, "2024-03-01", "1950-01-01"],
        "cost": ["1.5", None, "0.1", "1000000"],
        "smoker": ["true", None, "false", "true"],
        "note": ["=1+1", "a, b", 'said "x"\nand left', "-5"],
    }
    if suffix in ("csv", "tsv", "xlsx"):
        assert found == as_text
    elif suffix in ("sav", "dta"):
        assert found == EXAMPLE.to_pydict() | {"smoker": [1, None, 0, 1]}
    else:
        assert found == EXAMPLE.to_pydict()


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_the_time_is_erased_only_where_a_time_stands(tmp_path, suffix):
    """What pyreadstat writes is what is expected; of a file in another form nothing is changed, and none goes out."""
    path = put(tmp_path / f"x.{suffix}")
    whole = path.read_bytes()
    start = 92 if suffix == "sav" else whole.index(b"<timestamp>") + 12
    earlier = b"24 Mar 9923:59:07" if suffix == "sav" else b"24 Mar 1999 23:59"
    path.write_bytes(whole[:start] + earlier + whole[start + 17 :])
    statistical_output.erase_time(path, is_spss=suffix == "sav")
    assert path.read_bytes() == whole
    for other in (whole[:start] + b"x" * 17 + whole[start + 17 :], b"x" + whole, whole[:60], b""):
        path.write_bytes(other)
        with pytest.raises(UnsupportedError, match="time of writing"):
            statistical_output.erase_time(path, is_spss=suffix == "sav")
        assert path.read_bytes() == other


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_no_file_with_the_time_of_writing_goes_out(tmp_path, suffix, monkeypatch):
    library = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta

    def elsewhere(frame, path, **settings):
        library(frame, path, **settings)
        whole = Path(path).read_bytes()
        Path(path).write_bytes(b"#" + whole)

    monkeypatch.setattr(pyreadstat, f"write_{suffix}", elsewhere)
    with pytest.raises(UnsupportedError, match="write csv or parquet"):
        put(tmp_path / f"x.{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_same_bytes_however_cut_and_encoded(tmp_path, suffix):
    whole = put(tmp_path / f"x.{suffix}").read_bytes()
    parts = [batch for i in range(4) for batch in EXAMPLE.slice(i, 1).to_batches()]
    plain = [batch.set_column(0, "zip", batch.column(0).dictionary_decode()) for batch in parts]
    for batches in (parts, plain):
        staged = stage(tmp_path / f"x.{suffix}", batches, EXAMPLE.schema)
        assert staged.path.read_bytes() == whole
        staged.discard()


def test_no_time_of_writing_is_kept(tmp_path):
    assert put(tmp_path / "x.sav").read_bytes()[92:109] == b"01 Jan 8000:00:00"
    assert b"<timestamp>\x1101 Jan 1980 00:00</timestamp>" in put(tmp_path / "x.dta").read_bytes()
    with zipfile.ZipFile(put(tmp_path / "x.xlsx")) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.read("docProps/core.xml").count(b"1980-01-01T00:00:00Z") == 2


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_nothing_unpublished_in_the_file(tmp_path, suffix):
    # a dictionary entry, a value under a null, a label and metadata that no published row has
    hidden = np.array([77_770_777, 5, 6, 7])
    table = pa.table(
        {
            "zip": EXAMPLE["zip"],
            "number": pa.array(hidden, mask=np.array([True, False, False, False])),
            "code": pa.DictionaryArray.from_arrays(
                pa.array(np.array([1, 0, 0, 0]), mask=np.array([True, False, False, False])), ["ok", "SECRET-CODE"]
            ),
        },
        metadata={"note": "SECRET-META"},
    )
    assert hidden.tobytes()[:8] in table["number"].chunk(0).buffers()[1].to_pybytes()
    path = put(tmp_path / f"x.{suffix}", table, labels={"number": {5: "five", 9: "SECRET-LABEL"}})
    content = path.read_bytes()
    if suffix == "xlsx":
        with zipfile.ZipFile(path) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (b"UNPUBLISHED", b"SECRET", b"77770777", hidden[:1].tobytes(), np.float64(hidden[0]).tobytes()):
        assert secret not in content


def test_parquet_is_plain(tmp_path):
    meta = pq.ParquetFile(put(tmp_path / "x.parquet")).metadata
    assert meta.metadata is None
    assert not meta.row_group(0).column(0).is_stats_set
    assert meta.row_group(0).column(0).compression == "ZSTD"
    assert str(meta.schema.to_arrow_schema().field("zip").type) == "string"


def test_parquet_row_groups_and_unique_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar_output, "ROW_GROUP", 3)
    table = pa.table({"id": list("abcdefgh"), "sex": list("ffffffmm")})
    path = put(tmp_path / "x.parquet", table)
    assert pq.ParquetFile(path).metadata.num_row_groups == 3
    assert read(path) == table.to_pydict()


def test_arrow_dictionaries_of_many_batches(tmp_path):
    parts = [
        pa.record_batch({"c": pa.DictionaryArray.from_arrays([0, 1], ["b", "a"])}),
        pa.record_batch({"c": pa.DictionaryArray.from_arrays([0, None], ["c", "gone"])}),
    ]
    path = stage(tmp_path / "x.arrow", parts, parts[0].schema).publish()
    with pa.ipc.open_file(path) as file:
        table = file.read_all()
    assert table["c"].to_pylist() == ["b", "a", "c", None]
    assert table["c"].chunk(0).dictionary.to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", None, ""], b'x,y\na,\n,\n"",\n'),
        (["a,b", 'c"d', "e\rf"], b'x,y\n"a,b",\n"c""d",\n"e\rf",\n'),
        (["a;b", " c ", "'d"], b"x,y\na;b,\n c ,\n'd,\n"),
    ],
)
def test_minimal_quoting(tmp_path, texts, expected):
    path = put(tmp_path / "x.csv", pa.table({"x": texts, "y": pa.nulls(3, pa.string())}))
    assert path.read_bytes() == expected


def test_missing_token_and_delimiter(tmp_path):
    table = pa.table({"x;1": ["NA", None, "a;b"], "y": [1, None, 3]})
    path = put(tmp_path / "x.csv", table, delimiter=";", missing="NA")
    assert path.read_bytes() == b'"x;1";y\n"NA";1\nNA;NA\n"a;b";3\n'
    assert put(tmp_path / "x.tsv", table, delimiter=";").read_bytes() == b'"x;1"\ty\nNA\t1\n\t\na;b\t3\n'


def test_one_column_with_missing_values_has_no_blank_lines(tmp_path):
    path = put(tmp_path / "x.csv", pa.table({"x": ["a", None, "b"]}))
    assert path.read_bytes() == b'x\na\n""\nb\n'
    assert read(path) == {"x": ["a", None, "b"]}


@pytest.mark.slow
def test_utf8_under_any_locale(tmp_path):
    path = put(tmp_path / "x.csv", pa.table({"town": ["Łódź", "Kraków"]}))
    code = (
        "import sys; from indistinct.formats.registry import open_source; from indistinct.formats.write import stage;"
        "source = open_source(sys.argv[1]); batches = list(source.batches());"
        "stage(sys.argv[2], batches, batches[0].schema).publish()"
    )
    for number, locale in enumerate(("C", "C.UTF-8")):
        copy = tmp_path / f"copy{number}.csv"
        environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        subprocess.run([sys.executable, "-c", code, path, copy], check=True, env=environment)
        assert copy.read_bytes() == path.read_bytes() == "town\nŁódź\nKraków\n".encode()


texts = st.one_of(st.none(), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=9), st.sampled_from(",;|"))
def test_any_text_is_read_back_by_us_and_by_the_csv_module(tmp_path_factory, rows, delimiter):
    table = pa.table({"a": pa.array([row[0] for row in rows], pa.string()), "b": [row[1] for row in rows]})
    table = table.cast(pa.schema([("a", pa.string()), ("b", pa.string())]))
    path = put(tmp_path_factory.mktemp("w") / "x.csv", table, delimiter=delimiter)
    wanted = [tuple(text or None for text in row) for row in rows]
    found = read(path, delimiter=delimiter)
    assert list(zip(found["a"], found["b"], strict=True)) == wanted
    lines = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), delimiter=delimiter)
    assert [tuple(text or None for text in line) for line in lines][1:] == wanted


def test_repeated_and_long_lines(tmp_path, monkeypatch):
    # neighbours that are equal are built once; columns of few texts are joined beforehand
    rows = [("x", "long " * 50, str(i // 40)) for i in range(1000)]
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate("abc")})
    expected = "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)
    for lines in (7, 1 << 17):
        monkeypatch.setattr(delimited_output, "LINES_AT_ONCE", lines)
        assert put(tmp_path / f"{lines}.csv", table).read_text() == expected


def test_lines_too_long_for_one_array_are_built_in_halves():
    class Narrow:
        def __init__(self, texts):
            self.texts = texts

        def __len__(self):
            return len(self.texts)

        def take(self, indices):
            if len(indices) > 2:
                raise pa.ArrowInvalid("offset overflow")
            return self.texts.take(indices)

    cells = [(Narrow(pa.array(["a\n", "b\n"])), np.arange(9, dtype=np.int32) % 2)]
    lines = [text for part in delimited_output._lines(cells) for text in part.to_pylist()]
    assert lines == ["a\n", "b\n"] * 4 + ["a\n"]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("-", "'-"),
        ("-5", "-5"),
        ("+3", "+3"),
        ("-1,5", "-1,5"),
        ("-1.234,56", "-1.234,56"),
        ("+1e-5", "+1e-5"),
        ("-12%", "-12%"),
        ("[-10, -5)", "[-10, -5)"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_formula_notices(tmp_path, text, safe):
    assert safe_text(text) == safe
    table = pa.table({"g": ["A", "B"], "note": pa.array([text, None]).dictionary_encode()})
    cell = put(tmp_path / "x.csv", table, spreadsheet_safe=True).read_bytes()
    rows = list(csv.reader(io.StringIO(cell.decode(), newline="")))
    assert rows[1:] == [["A", safe], ["B", ""]]
    assert [notice.column for notice in noticed(table)] == ["note"] * (text != safe)


def noticed(table, secret=()):
    columns = [typed_column(name, table[name]) for name in table.column_names]
    return formula_notices(columns, np.ones(len(table), np.int64), secret)


def test_formula_notice_names_column_count_and_example():
    table = pa.table({"note": ["x", "@x", "=1+1", "-5", "@x", None]})
    (notice,) = noticed(table)
    assert (notice.kind, notice.column) == ("formula", "note")
    assert '"note"' in notice.message
    assert '(3, such as "=1+1")' in notice.message
    assert noticed(pa.table({"n": [-5]})) == []


def test_formula_notice_of_a_sensitive_column_shows_no_value():
    (notice,) = noticed(pa.table({"note": ["=1+1", "@x"]}), secret=("note",))
    assert "(2)" in notice.message
    assert not any(text in notice.message for text in ("=1+1", "@x"))


def test_formula_in_a_column_name(tmp_path):
    table = pa.table({"=x": [1]})
    assert [notice.column for notice in noticed(table)] == ["=x"]
    with pytest.raises(DataError, match="column name"):
        put(tmp_path / "x.csv", table, spreadsheet_safe=True)


def test_other_types_as_text(tmp_path):
    table = pa.table(
        {
            "a": pa.array([Decimal("1.50"), Decimal("-2.25")]),
            "b": pa.array([dt.time(10, 30), dt.time(1, 2, 3, 500_000)]),
            "c": pa.array([dt.timedelta(days=1), None]),
            "d": pa.array([dt.datetime(2024, 3, 1, tzinfo=dt.UTC), None]),
            "e": pa.array([2.0, 0.1]),
            "f": pa.array([float("nan"), None]),
        }
    )
    first, second = put(tmp_path / "x.csv", table).read_text().splitlines()[1:]
    assert first == "1.50,10:30:00,86400000000,2024-03-01 00:00:00Z,2,"
    assert second == "-2.25,01:02:03.5,,,0.1,"


def test_workbook_cells(tmp_path):
    table = pa.table(
        {"code": ["007", "=1+1", "http://x"], "n": [0.1 + 0.2, float("nan"), 2.0], "big": [10**16 + 1, 2, None]}
    )
    path = put(tmp_path / "x.xlsx", table)
    assert read(path) == {
        "code": ["007", "=1+1", "http://x"],
        "n": ["0.30000000000000004", None, "2"],
        "big": ["10000000000000001", "2", None],
    }
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet


def test_limits_of_a_workbook(tmp_path, monkeypatch):
    with pytest.raises(DataError, match='"a" is longer'):
        put(tmp_path / "x.xlsx", pa.table({"a": ["x" * 40_000]}))
    monkeypatch.setattr(spreadsheet_output, "EXCEL_ROWS", 4)
    with pytest.raises(UnsupportedError, match="3 rows"):
        put(tmp_path / "x.xlsx")
    monkeypatch.setattr(spreadsheet_output, "EXCEL_COLUMNS", 3)
    with pytest.raises(UnsupportedError, match="3 columns, not 7"):
        put(tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_values_that_occur(tmp_path):
    table = pa.table({"sex": [1, 2, 1], "ward": ["A", "B", "A"]})
    labels = {"sex": {1: "female", 2: "male", 9: "refused"}, "ward": {"A": "north", "C": "south"}, "gone": {1: "x"}}
    found = open_source(
        put(tmp_path / "x.sav", table, labels=labels, column_labels={"sex": "sex at birth", "gone": "x"})
    )
    assert found.labels == {"sex": {1: "female", 2: "male"}, "ward": {"A": "north"}}
    assert found.column_labels == {"sex": "sex at birth"}
    found = open_source(put(tmp_path / "x.dta", table, labels=labels))
    assert found.labels == {"sex": {1: "female", 2: "male"}}
    _, meta = pyreadstat.read_sav(tmp_path / "x.sav", output_format="dict")
    assert meta.original_variable_types["sex"] == "F8.0"


@pytest.mark.parametrize("kept", [0, 5, -1])
def test_a_stata_file_that_is_cut_off_in_silence_is_not_taken_for_whole(tmp_path, monkeypatch, kept):
    whole = put(tmp_path / "x.dta", EXAMPLE).read_bytes()

    def cut(_frame, path, **_):
        Path(path).write_bytes(whole[:kept])

    monkeypatch.setattr(pyreadstat, "write_dta", cut)
    with pytest.raises(DataError, match=r"the disk is full: the output y\.dta was not written"):
        put(tmp_path / "y.dta", EXAMPLE)
    assert [path.name for path in tmp_path.iterdir()] == ["x.dta"]


def test_what_spss_and_stata_cannot_hold(tmp_path):
    with pytest.raises(UnsupportedError, match=r"2\^53"):
        put(tmp_path / "x.sav", pa.table({"n": [2**60]}))
    with pytest.raises(DataError, match="cannot be written"):
        put(tmp_path / "x.dta", pa.table({"marital-status": ["x"]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_no_rows(tmp_path, suffix):
    schema = pa.schema([("a", pa.dictionary(pa.int32(), pa.string())), ("n", pa.int64())])
    staged = stage(tmp_path / f"x.{suffix}", [], schema)
    with staged, pytest.raises(DataError, match="no rows"):
        list(open_source(staged.path).batches())


# ---- whole or not at all ---------------------------------------------------------------------------------------


def failing(error):
    yield from EXAMPLE.slice(0, 2).to_batches()
    raise error


@pytest.mark.parametrize("suffix", OUTPUTS)
@pytest.mark.parametrize("error", [Cancelled("stopped"), KeyboardInterrupt(), RuntimeError("bug")])
def test_nothing_is_left_of_an_interrupted_writing(tmp_path, suffix, error):
    (tmp_path / f"x.{suffix}").write_bytes(b"before")
    with pytest.raises(type(error)):
        stage(tmp_path / f"x.{suffix}", failing(error), EXAMPLE.schema)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"before"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk is full"), (errno.EIO, "input/output error")],
)
def test_errors_of_the_file_system_are_plain(tmp_path, number, words):
    with pytest.raises(DataError, match=words) as caught:
        stage(tmp_path / "x.csv", failing(OSError(number, "x", str(tmp_path))), EXAMPLE.schema)
    assert str(tmp_path) not in caught.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", OUTPUTS)
def test_a_file_that_may_not_grow(tmp_path, suffix):
    # the kernel refuses to write beyond 4 kB, as it does on a full disk
    code = f"""
        import resource, numpy as np, pyarrow as pa
        from indistinct.errors import DataError
        from indistinct.formats.write import stage

        table = pa.table({{"x": np.random.default_rng(1).random(20_000), "y": [str(i) for i in range(20_000)]}})
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            stage({str(tmp_path / f"x.{suffix}")!r}, table.to_batches(), table.schema)
        except DataError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "written" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_gone(tmp_path):
    with pytest.raises(DataError, match="no such file or directory"):
        stage(tmp_path / "gone" / "x.csv", EXAMPLE.to_batches(), EXAMPLE.schema)


def test_staged_is_hidden_beside_and_then_published(tmp_path):
    target = tmp_path / "x.csv"
    with stage(target, EXAMPLE.to_batches(), EXAMPLE.schema) as staged:
        assert staged.path.parent == tmp_path
        assert staged.path.name.startswith(".")
        assert staged.path.suffix == ".csv"
        assert staged.path.stat().st_mode & 0o777 == 0o600
        assert not target.exists()
        assert staged.publish() == target
    assert list(tmp_path.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()
    with stage(target, EXAMPLE.to_batches(), EXAMPLE.schema):
        pass
    assert list(tmp_path.iterdir()) == [target]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_publishing_that_fails(tmp_path):
    staged = stage(tmp_path / "x.csv", EXAMPLE.to_batches(), EXAMPLE.schema)
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(PolicyError, match="is a directory"):
        staged.publish()
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def check_output(path, source=None, *, force=False):
    output = table_output(path)
    check_outputs([output], origins_of(source), force=force)
    return output.path


# ---- refusing an output ----------------------------------------------------------------------------------------


def test_outputs_that_are_refused(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    with pytest.raises(PolicyError, match="--force"):
        check_output(other, source)
    assert check_output(other, source, force=True) == other
    assert check_output(tmp_path / "new.csv", source) == tmp_path / "new.csv"
    for name in ("in.csv", "link.csv", "hard.csv", "sub/../in.csv"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        for force in (False, True):
            with pytest.raises(PolicyError, match="is the source"):
                check_output(tmp_path / name, str(source), force=force)
    with pytest.raises(PolicyError, match="is a directory"):
        check_output(tmp_path / "sub", source)
    for name in ("x.docx", "x", "x.xpt"):
        with pytest.raises(PolicyError, match="csv, tsv, parquet, arrow, xlsx, sav, dta"):
            check_output(tmp_path / name, source)
    with pytest.raises(DataError, match="does not exist"):
        check_output(tmp_path / "gone" / "x.csv", source)


def test_an_output_inside_a_folder_that_is_the_source(tmp_path):
    with pytest.raises(PolicyError, match="is the source"):
        check_output(tmp_path / "x.parquet", tmp_path)


def test_a_directory_that_may_not_be_written(tmp_path, monkeypatch):
    # root may write anywhere, so the answer of the system is replaced
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match="may not be written"):
        check_output(tmp_path / "x.csv")


def test_frames_and_urls_are_no_files(tmp_path):
    assert check_output(tmp_path / "x.csv", pa.table({"a": [1]}))
    assert check_output(tmp_path / "x.csv", "sqlite:///x.csv")
