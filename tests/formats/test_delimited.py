"""Delimited text: what is read, what is refused, and the line it is refused at."""

import codecs
import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError, PolicyError, SchemaError
from indistinct.formats import delimited
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions


def read(path, columns=None, **options):
    source = open_source(path, TableOptions(**options))
    rows = {}
    for batch in source.batches(columns):
        for name, values in batch.to_pydict().items():
            rows.setdefault(name, []).extend(values)
    return rows, source


@pytest.fixture
def table(tmp_path):
    def write(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "delimiter", "rows"),
    [
        ("a,b\n1,2\n", ",", {"a": ["1"], "b": ["2"]}),
        ("a;b\n1,5;2\n3,5;4\n", ";", {"a": ["1,5", "3,5"], "b": ["2", "4"]}),
        ("a\tb\n1,5\t2;\n", "\t", {"a": ["1,5"], "b": ["2;"]}),
        ("a|b\n1|2\n", "|", {"a": ["1"], "b": ["2"]}),
        # the separator inside quotes does not count
        ('a;b\n"1,2,3";"x,y"\n', ";", {"a": ["1,2,3"], "b": ["x,y"]}),
        # commas in a text column of a file with semicolons, as many in every row
        ("name;town, land\nBo;Ulm, D\n", ";", {"name": ["Bo"], "town, land": ["Ulm, D"]}),
        ("wage\n1\n2\n", ",", {"wage": ["1", "2"]}),
        # one column with a decimal comma is not two columns
        ("wage\n1,5\n2,5\n", ";", {"wage": ["1,5", "2,5"]}),
    ],
)
def test_delimiter_is_sniffed(table, content, delimiter, rows):
    found, source = read(table(content))
    assert found == rows
    assert source.dialect == delimiter


def test_tsv_and_given_delimiter(table):
    assert read(table("a,b\n1,2\n", "x.tsv"))[0] == {"a,b": ["1,2"]}
    assert read(table("a:b\n1:2\n"), delimiter=":")[0] == {"a": ["1"], "b": ["2"]}
    assert read(table("a\tb\n1\t2\n"), delimiter="\\t")[0] == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(table, end):
    assert read(table(end.join(["a,b", "1,2", "3,4", ""])))[0] == {"a": ["1", "3"], "b": ["2", "4"]}
    assert read(table(end.join(["a,b", "1,2", "3,4"])))[0] == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_byte_order_mark_decides_and_is_gone(table, encoding, bom):
    path = table(bom + "âge,town\n30,Łódź\n41,Kraków\n".encode(encoding))
    assert read(path)[0] == {"âge": ["30", "41"], "town": ["Łódź", "Kraków"]}
    assert read(path, encoding="cp1252")[0]["town"] == ["Łódź", "Kraków"]


def test_encoding_is_an_option(table):
    path = table("é,b\nü,2\n".encode("cp1252"))
    assert read(path, encoding="cp1252")[0] == {"é": ["ü"], "b": ["2"]}
    with pytest.raises(PolicyError, match="klingon"):
        read(path, encoding="klingon")
    with pytest.raises(PolicyError, match="one ASCII character"):
        read(path, delimiter=";;")


def test_only_listed_tokens_are_missing(table):
    path = table('country,x\nNA,null\n"",None\n"NA",nan\n')
    assert read(path)[0] == {"country": ["NA", None, "NA"], "x": ["null", "None", "nan"]}
    assert read(path, missing=("NA",))[0]["country"] == [None, "", None]
    assert read(path, missing=())[0]["country"] == ["NA", "", "NA"]


def test_codes_and_numbers_stay_text(table):
    assert read(table("zip,n\n02138,1.50\n2138,+7\n"))[0] == {"zip": ["02138", "2138"], "n": ["1.50", "+7"]}


def test_quotes_line_breaks_and_doubled_quotes(table):
    path = table('area,s\n"North\nEast",a\n"South, old ""port""",b\n')
    assert read(path)[0] == {"area": ["North\nEast", 'South, old "port"'], "s": ["a", "b"]}


def test_quote_in_an_unquoted_cell_is_a_character(table):
    assert read(table('pipe,n\n5" steel,1\n6" iron,2\n'))[0]["pipe"] == ['5" steel', '6" iron']


def test_blank_lines(table):
    assert read(table("a,b\n1,2\n\n3,4\n\n"))[0] == {"a": ["1", "3"], "b": ["2", "4"]}
    # with one column a blank line is a row whose value is missing
    assert read(table("a\n1\n\n2\n"))[0] == {"a": ["1", None, "2"]}


def test_trimming(table):
    path = table('age," zip"\n1, x \n1,x\n"  ",y\n')
    found, source = read(path)
    assert found == {"age": ["1", "1", "  "], "zip": [" x ", "x", "y"]}
    assert [(notice.kind, notice.column) for notice in source.warnings] == [("header-trimmed", "zip")]
    assert '" zip"' in source.warnings[0].message
    assert read(path, trim="cells")[0] == {"age": ["1", "1", None], "zip": ["x", "x", "y"]}
    found, source = read(path, trim="none")
    assert list(found) == ["age", " zip"]
    assert source.warnings == []


def test_trimmed_cells_keep_a_dictionary_without_doubles(table):
    (batch,) = open_source(table("a,b\nx,1\n x,1\n"), TableOptions(trim="cells")).batches(["a"])
    assert batch.column(0).dictionary.to_pylist() == ["x"]


def test_look_alike_names_are_noticed(table):
    _, source = read(table("Age,age\n1,2\n"))
    assert [notice.kind for notice in source.warnings] == ["look-alike"]
    assert '"Age" and "age"' in source.warnings[0].message


@pytest.mark.parametrize("content", ["age,zip,\n30,1\n40,2\n", "age,zip,\n30,1,\n40,2,\n", "age,,zip\n30,,1\n40,,2\n"])
def test_nameless_empty_column_is_dropped_with_a_notice(table, content):
    found, source = read(table(content))
    assert found == {"age": ["30", "40"], "zip": ["1", "2"]}
    assert [notice.kind for notice in source.warnings] == ["nameless-column"]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("age,sex,zip\n30,f\n", 2, "2 fields, but the header has 3"),
        ("age,sex\n30,f,1\n", 2, "3 fields, but the header has 2"),
        ("age,sex\n30,f\n\n40\n", 4, "1 field, but the header has 2"),
        # embedded line breaks are lines of the file
        ('age,sex\n"3\n0",f\n40,m,1\n', 4, "3 fields"),
        # the rows part ways with the shorter reading of the header
        ("age,sex,\n30,f\n40,m,1\n", 3, "3 fields"),
        ('age,sex\n30,f\n"40,m\n50,f\n', 3, "never closed"),
        ('age,sex\n30,"f\n', 2, "never closed"),
        # two rows must not silently become one
        ('age,sex\n"30,f\n"40"x,m\n', 3, "text follows a closing quote"),
        (b"age,sex\n30,f\n40,\xff\n", 3, "not utf-8"),
        (b"age,sex\n30,\xc3", 2, "not utf-8"),
        (b"age,sex\n30,f\n40,\x00\n", 3, "zero byte"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 1, "not utf-8"),
        (codecs.BOM_UTF16_LE + "a,b\n1,2\n3,4".encode("utf-16-le") + b"\x01", 3, "not utf-16-le"),
    ],
)
def test_broken_lines_are_named(table, content, line, words):
    path = table(content)
    with pytest.raises(DataError, match=words) as caught:
        read(path)
    assert caught.value.where == {"file": "people.csv", "line": line}
    assert f"line {line}:" in caught.value.message
    assert str(path.parent) not in caught.value.message


def test_undecodable_bytes_count_in_columns_that_are_not_asked_for(table):
    with pytest.raises(DataError, match="line 2"):
        read(table(b"age,sex\n30,\xff\n"), ["age"])


def test_long_lines(table):
    def content(size, end):
        return "a,b\n1,2" + end + "1," + "x" * (size - 2) + end

    for end in ("\n", "\r\n"):
        assert len(read(table(content(100, end)), max_line_bytes=100)[0]["b"][1]) == 98
        with pytest.raises(DataError, match="more than 100 bytes") as caught:
            read(table(content(101, end)), max_line_bytes=100)
        assert caught.value.where["line"] == 3
    # the limit is in bytes
    with pytest.raises(DataError, match="line 2"):
        read(table("a,b\n1," + "é" * 50 + "\n"), max_line_bytes=100)


def test_records_longer_than_a_block(table, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    long = "x" * 300
    rows = [f"{i},y" for i in range(50)] + [f"50,{long}"] + [f"{i},z" for i in range(51, 100)]
    found, _ = read(table("a,b\n" + "\n".join(rows) + "\n"))
    assert found["a"] == [str(i) for i in range(100)]
    assert found["b"][50] == long


@pytest.mark.parametrize("quoted", [False, True])
def test_no_word_of_the_parser_decides(table, monkeypatch, quoted):
    """Long records, tables without rows and broken lines are told apart whatever language the parser speaks."""
    of_parser = delimited.pacsv.open_csv

    class Foreign:
        def __init__(self, *arguments, **settings):
            self.reader = said(of_parser, *arguments, **settings)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.reader.close()

        def __iter__(self):
            reader = iter(self.reader)
            while (batch := said(next, reader, None)) is not None:
                yield batch

    def said(call, *arguments, **settings):
        try:
            return call(*arguments, **settings)
        except pa.ArrowInvalid:
            raise pa.ArrowInvalid("etwas stimmt nicht") from None

    monkeypatch.setattr(delimited.pacsv, "open_csv", Foreign)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    long = ('"' + "x\n" * 150 + '"') if quoted else "x" * 300
    rows = [f"{i},y" for i in range(50)] + [f"50,{long}"] + [f"{i},z" for i in range(51, 100)]
    found, _ = read(table("a,b\n" + "\n".join(rows) + "\n"))
    assert found["a"] == [str(i) for i in range(100)]
    assert found["b"][50] == long.strip('"')
    assert found["b"][51] == "z"
    rows[70] += ",more"
    with pytest.raises(DataError, match="3 fields, but the header has 2") as caught:
        read(table("a,b\n" + "\n".join(rows) + "\n"))
    assert caught.value.where["line"] == 72 + 150 * quoted
    # nothing follows a header that is longer than the sample
    with pytest.raises(DataError, match="has no rows"):
        read(table(f"{'a' * 70_000},b\n"))


def test_blocks_cut_anywhere(table, monkeypatch):
    rows = [(f'n"{i}', "é\n" * (i % 3)) for i in range(40)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([("a", "b"), *rows])
    path = table(text.getvalue())
    for size in (16, 17, 23, 64):
        monkeypatch.setattr(delimited, "BLOCK_BYTES", size)
        found, _ = read(path, missing=())
        assert list(zip(found["a"], found["b"], strict=True)) == rows


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("", DataError, "is empty"),
        ("\n\n", DataError, "no header"),
        ("age,sex\n", DataError, "no rows"),
        ("age,sex\n\n\n", DataError, "no rows"),
        ("age,age\n1,2\n", SchemaError, '"age" 2 times'),
        ('age,"age "\n1,2\n', SchemaError, '"age" 2 times'),
        ("age,\n1,2\n", SchemaError, "column 2 of people.csv has no name"),
        (",\n1,2\n", SchemaError, "column 1 of people.csv has no name"),
    ],
)
def test_tables_that_are_none(table, content, error, words):
    with pytest.raises(error, match=words):
        read(table(content))


def test_reading_again_in_another_order_of_columns(table):
    source = open_source(table("a,b,c\n1,2,3\n4,5,6\n"))
    for _ in range(2):
        assert [batch.to_pydict() for batch in source.batches(["c", "a"])] == [{"c": ["3", "6"], "a": ["1", "4"]}]
    with pytest.raises(SchemaError, match='did you mean "a"'):
        next(source.batches(["aa"]))


def test_unique_texts_come_without_dictionary(table):
    rows = "".join(f"{i},{i % 3}\n" for i in range(200))
    (batch,) = open_source(table("id,band\n" + rows)).batches()
    assert [str(column.type).startswith("dictionary") for column in batch.columns] == [False, True]


cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8), st.sampled_from(",;|\t"))
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("a", "b", "c"), *rows])
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(text.getvalue().encode())
    found, _ = read(path, delimiter=delimiter, missing=())
    assert list(zip(found["a"], found["b"], found["c"], strict=True)) == rows
