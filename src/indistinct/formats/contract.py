"""What a file format is to the rest of the system: a record, of which nothing may be left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from indistinct.formats.source import Source, TableOptions

    Sheet = tuple[Iterable[pa.RecordBatch], pa.Schema]
    Open = Callable[[Path, TableOptions], Source]
    Write = Callable[[BinaryIO, Mapping[str, Sheet], "Writing"], None]


# the delimiters that are tried; where fields and rows are alike, the rarer character in running text wins
DELIMITERS = ("\t", "|", ";", ",")


@dataclass(frozen=True, slots=True)
class Writing:
    """How a table is written: ``place`` is the hidden file, ``name`` that of the file it will be.

    What does not apply to a format is ignored by it; ``stage`` says what each means.
    """

    place: Path
    name: str
    delimiter: str = ","
    missing: str = ""
    spreadsheet_safe: bool = False
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    column_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of file.

    ``suffixes``: of its files, without the dot; a table is written under the first. ``open`` reads a path, ``write``
    writes sheets to a file (None: it is only read). ``is_text``: every cell is a text, and tokens stand for missing
    ones. ``delimiter``: what parts cells, where the suffix says so. ``sheets``: it holds several tables. ``nested``
    reads a table as it was written, with the records in its cells (None: cells hold single values). ``keeps_empty``:
    an empty text can be told from a missing cell. ``duckdb``: which reader of DuckDB counts a written file again (None:
    the reader here). ``extra``: the extra with which the packages come that it needs (None: none is needed).
    ``media``: its media type.
    """

    name: str
    suffixes: tuple[str, ...]
    open: Open
    write: Write | None
    is_text: bool
    delimiter: str | None
    sheets: bool
    nested: Callable[[Path], pa.Table] | None
    keeps_empty: bool
    duckdb: Literal["text", "columns"] | None
    extra: str | None
    media: str

    def __post_init__(self) -> None:
        """Refuse a record without suffixes, or whose suffixes no path can have."""
        if not self.suffixes or any(not suffix.isalnum() or suffix != suffix.lower() for suffix in self.suffixes):
            raise TypeError(f"the format {self.name} has the suffixes {self.suffixes}; name them in small letters")
