"""Formats are records: an incomplete one fails, suffixes are told apart, and each record says what its files do."""

import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pytest

from indistinct.errors import UnsupportedError
from indistinct.formats.contract import Format
from indistinct.formats.registry import CSV, FORMATS, OUTPUTS, SUFFIXES, format_of, needing, open_source
from indistinct.formats.source import TableOptions
from indistinct.formats.write import stage

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = [one for one in FORMATS if one.write is not None]


def test_a_record_that_leaves_something_out_fails():
    known = {one.name: getattr(CSV, one.name) for one in fields(Format)}
    for name in known:
        with pytest.raises(TypeError, match=name):
            Format(**{key: value for key, value in known.items() if key != name})


@pytest.mark.parametrize("suffixes", [(), (".csv",), ("CSV",)])
def test_suffixes_are_those_of_paths(suffixes):
    with pytest.raises(TypeError, match="small letters"):
        replace(CSV, suffixes=suffixes)


def test_every_suffix_is_that_of_one_format():
    assert len(SUFFIXES) == sum(len(one.suffixes) for one in FORMATS)
    assert len({one.name for one in FORMATS}) == len(FORMATS)
    assert set(OUTPUTS) <= set(SUFFIXES)
    assert format_of(None) is None
    assert format_of(Path("x.CSV")) is CSV


@pytest.mark.parametrize("chosen", WRITTEN, ids=lambda one: one.name)
def test_an_empty_text_is_told_from_a_missing_cell_where_the_record_says_so(tmp_path, chosen):
    table = pa.table({"a": ["", None, "x"], "b": ["1", "2", "3"]})
    path = tmp_path / f"x.{chosen.suffixes[0]}"
    with stage(path, table.to_batches(), table.schema, missing="NA") as staged:
        staged.path.rename(path)
    options = TableOptions(missing=("NA",) if chosen.is_text else ("",))
    read = [text for batch in open_source(path, options).batches(["a"]) for text in batch[0].to_pylist()]
    assert read == ["" if chosen.keeps_empty else None, None, "x"]


@pytest.mark.parametrize("chosen", [one for one in FORMATS if one.nested], ids=lambda one: one.name)
def test_records_in_cells_come_back_where_the_record_says_so(tmp_path, chosen):
    table = pa.table({"a": [1, 2], "range": pa.array([{"from": 1, "to": 2}, None])})
    path = tmp_path / f"x.{chosen.suffixes[0]}"
    with stage(path, table.to_batches(), table.schema) as staged:
        assert chosen.nested(staged.path).column("range").to_pylist() == [{"from": 1, "to": 2}, None]


def test_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {one.extra for one in FORMATS} - {None} <= set(project["optional-dependencies"])


def test_a_package_that_lacks_is_named_with_its_extra():
    chosen = next(one for one in FORMATS if one.extra is not None)
    sentence = r"needs nowhere; install it with: pip install 'indistinct\[io\]'"
    with pytest.raises(UnsupportedError, match=sentence), needing(chosen):
        raise ModuleNotFoundError(name="nowhere")
    with pytest.raises(ModuleNotFoundError), needing(CSV):
        raise ModuleNotFoundError(name="nowhere")


def test_no_suffix_stands_outside_the_formats():
    source = ROOT / "src" / "indistinct"
    word = re.compile(rf"""["']\.?(?:{"|".join(SUFFIXES)})["']""")
    examples = {"cli/demo.py", "assess/run_store.py"}  # files of their own
    found = [
        f"{file.relative_to(source)}:{number}"
        for file in sorted(source.rglob("*.py"))
        if file.parent.name != "formats" and file.relative_to(source).as_posix() not in examples
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line) and not line.lstrip().startswith((">>>", "(", "#"))
    ]
    assert found == []
