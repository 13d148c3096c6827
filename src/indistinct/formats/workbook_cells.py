"""What stands in the cells of a workbook (.xlsx) before a reader turns them into a table: extent, errors, formulas.

A reader of tables asks for memory for the whole rectangle between the first and the last cell, and gives nothing for a
cell that holds an error, or a formula whose result was never stored; as blanks they would be values that nobody wrote.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from indistinct.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNSTORED = "formula"
LARGE_EXTENT = 10_000_000
LEAST_SHARE = 100
_PIECE = 1 << 20
_LARGEST_PART = 1 << 26
_CELL = re.compile(
    rb"<(?:\w+:)?(?:(row)\b([^>]*)>|c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>))",
    re.DOTALL,
)
_CELL_END = re.compile(rb"</(?:\w+:)?c>|<(?:\w+:)?c\b[^>]*/>|<(?:\w+:)?row\b[^>]*>")
_PLACE = re.compile(rb"""\br=["']([A-Z]*)(\d+)["']""")
_KIND = re.compile(rb"""\bt=["'](\w+)["']""")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>([^<]+)</")


@dataclass
class Cells:
    """The rectangle of the used cells (from 0), their number, and the cells of each column that hold no value.

    ``odd[column]`` counts cells by what stands in them: the text of an error, such as ``#N/A``, or ``UNSTORED`` for
    a formula without a stored result; ``column`` counts from the first used one. Of rows before ``begin`` only the
    first one counts, and ``left``, the first column that any row uses.
    """

    begin: int = 0

    first_row: int = 1 << 40
    last_row: int = -1
    first_column: int = 1 << 40
    last_column: int = -1
    left: int = 1 << 40
    used: int = 0
    found: dict[int, Counter[str]] = field(default_factory=dict)

    @property
    def odd(self) -> dict[int, Counter[str]]:
        """Cells without a value by column."""
        return {column - self.first_column: cells for column, cells in self.found.items()}

    def add(self, row: int, column: int, kind: bytes, inside: bytes) -> None:
        """Take a cell in."""
        value = _VALUE.search(inside)
        is_formula = re.search(rb"<(?:\w+:)?f\b", inside) is not None
        if row < self.begin:
            if value is not None or is_formula or kind in (b"e", b"inlineStr"):
                self.first_row, self.left = min(self.first_row, row), min(self.left, column)
            return
        if kind == b"e":
            error = value.group(1).decode("utf-8", "replace") if value else "#N/A"
            self.found.setdefault(column, Counter())[error] += 1
        elif is_formula and value is None and kind not in (b"str", b"inlineStr"):
            self.found.setdefault(column, Counter())[UNSTORED] += 1
        elif value is None and kind != b"inlineStr":
            return
        self.used += 1
        self.first_row, self.last_row = min(self.first_row, row), max(self.last_row, row)
        self.first_column, self.last_column = min(self.first_column, column), max(self.last_column, column)
        self.left = min(self.left, column)


def cells_of(path: Path, sheet: str, begin: int = 0) -> Cells:
    """Look at every cell of a sheet in pieces, without making a table of it; ``begin`` is the row of the names, from 0.

    Raises DataError for a workbook that cannot be read, and for one whose few cells lie so far apart that a table of
    them would hold almost nothing but blanks: it names the far cell.
    """
    cells = Cells(begin)
    try:
        with zipfile.ZipFile(path) as book, book.open(_place_of(book, sheet)) as file:
            row, column = -1, -1
            for match in _matches(iter(lambda: file.read(_PIECE), b"")):
                attributes = match.group(2) if match.group(1) else match.group(3)
                place = _PLACE.search(attributes)
                if match.group(1):
                    row, column = (int(place.group(2)) - 1 if place else row + 1), -1
                    continue
                if place:
                    row, column = int(place.group(2)) - 1, _column(place.group(1))
                else:
                    column += 1
                kind = _KIND.search(attributes)
                cells.add(row, column, kind.group(1) if kind else b"", match.group(4) or b"")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ET.ParseError, KeyError, EOFError, OSError,
            NotImplementedError, RuntimeError, ValueError):  # fmt: skip
        raise DataError(f"{path.name} cannot be read as a workbook; save it again", file=path.name) from None
    extent = (cells.last_row - cells.first_row + 1) * (cells.last_column - cells.first_column + 1)
    if cells.used and extent > LARGE_EXTENT and extent > LEAST_SHARE * cells.used:
        far = f"{column_name(cells.last_column)}{cells.last_row + 1}"
        raise DataError(
            f'the sheet "{sheet}" of {path.name} reaches to cell {far} but holds only {cells.used} cells: a table of '
            f"{extent:,} cells would be read; delete the stray cells far from the table (their rows and columns)",
            file=path.name,
        )
    return cells


def column_name(column: int) -> str:
    """Letters of a column that is counted from 0.

    >>> column_name(0), column_name(27), column_name(16383)
    ('A', 'AB', 'XFD')
    """
    name, number = "", column + 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _matches(pieces: Iterator[bytes]) -> Iterator[re.Match[bytes]]:
    """Rows and cells in their order; what a piece breaks off is joined with the next one."""
    rest = b""
    for piece in pieces:
        text = rest + piece
        end = 0
        for match in _CELL_END.finditer(text):
            end = match.end()
        yield from _CELL.finditer(text, 0, end)
        rest = text[end:]
        if len(rest) > _LARGEST_PART:
            raise ValueError
    yield from _CELL.finditer(rest)


def _place_of(book: zipfile.ZipFile, sheet: str) -> str:
    """Where in the archive a sheet stands."""
    workbook = _part(book, "xl/workbook.xml")
    relations = {one.get("Id"): one.get("Target", "") for one in _part(book, "xl/_rels/workbook.xml.rels")}
    for one in workbook.iter():
        if one.tag.endswith("}sheet") and one.get("name") == sheet:
            key = next(value for name, value in one.attrib.items() if name.endswith("}id"))
            target = relations[key]
            return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join("xl", target))
    raise KeyError(sheet)


def _part(book: zipfile.ZipFile, name: str) -> ET.Element:
    if book.getinfo(name).file_size > _LARGEST_PART:
        raise ValueError(name)
    return ET.fromstring(book.read(name))  # noqa: S314  # expat bounds the growth of entities
