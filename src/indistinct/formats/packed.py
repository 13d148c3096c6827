"""Tables that come packed (``.gz``, ``.zst``, ``.zip`` with one table) or over standard input.

They are unpacked into a file of its own, readable by its owner only, which goes when the source does: a table is read
more than once. What an archive calls its members never becomes a path, and unpacking ends before the disk is full.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from indistinct.errors import DataError, UnsupportedError

if TYPE_CHECKING:
    import io
    from collections.abc import Collection
    from typing import IO

PACKED = ("gz", "zst", "zip")
PIECE = 1 << 20
LEFT_FREE = 1 << 26  # bytes of the disk that unpacking leaves alone
MOST_MEMBERS = 1000  # of an archive that is looked through
_CODECS = {"gz": "gzip", "zst": "zstd"}
# how files begin; text has no such sign
_SIGNS = (
    (b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\x1f\x8b", "gz"), (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PK\x03\x04", "zip"),
)  # fmt: skip


class Unpacked:
    """An unpacked table: ``path`` of the copy, whose folder goes with this object."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="indistinct-"))  # mode 700
        self.path = self._folder
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def name(self, name: str) -> Path:
        """Give the copy a name in the folder, whatever an archive calls it."""
        self.path = self._folder / (PurePosixPath(name.replace("\\", "/")).name or "table")
        return self.path


def packing_of(path: Path) -> str | None:
    """Return how a file is packed by its suffix, None for others.

    >>> packing_of(Path("people.csv.GZ")), packing_of(Path("people.csv"))
    ('gz', None)
    """
    suffix = path.suffix.lower().removeprefix(".")
    return suffix if suffix in PACKED else None


_standard: list[tuple[object, Unpacked]] = []  # standard input can be read once: the copy of it, kept


def unpack(path: Path, known: Collection[str]) -> Unpacked:
    """Unpack a file into a copy; ``known`` are the suffixes of tables.

    Raises DataError for a broken, encrypted or empty archive, one with several tables or none, and when the disk would
    be full.
    """
    packing, found = packing_of(path), Unpacked()
    if packing == "zip":
        _unzip(path, found, known)
        return found
    target = found.name(path.stem)
    try:
        with pa.input_stream(str(path), compression=_CODECS[packing or "gz"]) as stream, target.open("wb") as file:
            _copy(stream, file, path.name)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} cannot be unpacked: {_reason(error)}", file=path.name) from None
    return found


def standard_input(known: Collection[str]) -> Unpacked:
    """Read all of standard input into a copy, once; its kind is told by how it begins, else it is delimited text.

    Raises DataError when nothing comes, or what comes cannot be unpacked.
    """
    stream = sys.stdin.buffer
    for own, copy in _standard:
        if own is stream:
            return copy
    found = Unpacked()
    raw = found.name("standard input")
    with raw.open("wb") as file:
        _copy(stream, file, "standard input")
    with raw.open("rb") as file:
        begin = file.read(8)
    if not begin:
        raise DataError("nothing came over standard input; a table needs a header and rows")
    kind = next((kind for sign, kind in _SIGNS if begin.startswith(sign)), "csv")
    if kind == "zip" and _is_workbook(raw):
        kind = "xlsx"
    packed = raw.rename(raw.with_name(f"standard input.{'csv.' if kind in _CODECS else ''}{kind}"))
    found.path = packed
    if kind in PACKED:
        found = unpack(packed, known)
    _standard[:] = [(stream, found)]
    return found


def _is_workbook(path: Path) -> bool:
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        return "[Content_Types].xml" in archive.namelist()
    return False


def _unzip(path: Path, found: Unpacked, known: Collection[str]) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise DataError(f"{path.name} holds {len(members)} files; give an archive of one table", file=path.name)
            tables = [one for one in members if _is_table(one.filename, known)]
            if len(tables) != 1:
                names = ", ".join(PurePosixPath(one.filename).name for one in tables[:5])
                what = f"{len(tables)} tables ({names})" if tables else "no table"
                message = f"{path.name} holds {what}; give an archive of one, or unpack it and name the file"
                raise DataError(message, file=path.name)
            if tables[0].flag_bits & 1:
                raise UnsupportedError(f"{path.name} is encrypted; unpack it first and name the file", file=path.name)
            with archive.open(tables[0]) as stream, found.name(tables[0].filename).open("wb") as file:
                _copy(stream, file, path.name, most=tables[0].file_size)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
        raise DataError(f"{path.name} cannot be unpacked: {_reason(error)}", file=path.name) from None


def _is_table(name: str, known: Collection[str]) -> bool:
    place = PurePosixPath(name.replace("\\", "/"))
    odd = name.endswith("/") or place.name.startswith(".") or "__MACOSX" in place.parts
    return not odd and place.suffix.lower().removeprefix(".") in known


def _copy(stream: io.RawIOBase | IO[bytes], file: BinaryIO, name: str, *, most: int | None = None) -> None:
    """Copy by pieces; ``most`` is the size that an archive states, which bombs exceed."""
    written, free = 0, shutil.disk_usage(tempfile.gettempdir()).free - LEFT_FREE
    while piece := stream.read(PIECE):
        written += len(piece)
        if written > free:
            message = f"{name} needs more room than there is for temporary files; unpack it where there is, and name it"
            raise DataError(message, file=name)
        if most is not None and written > most:
            raise DataError(f"{name} cannot be unpacked: it holds more than it states", file=name)
        file.write(piece)


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"it is broken or of another kind ({text[:80]})"
