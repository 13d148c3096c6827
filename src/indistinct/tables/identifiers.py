"""What may be kept of an identifying column: a mask, or a keyed pseudonym."""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
import secrets
from base64 import b32encode
from typing import TYPE_CHECKING

from indistinct.errors import DataError, PolicyError
from indistinct.tables.write import Staged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MASK = "*"
SHORTEST_KEY = 16
CHARACTERS = 20


def mask(texts: Sequence[str | None]) -> list[str | None]:
    """Replace every value by ``*``: neither its characters nor its length remain; missing stays missing."""
    return [None if text is None else MASK for text in texts]


def pseudonym(text: str, key: bytes) -> str:
    """Return the first 100 bits of the HMAC-SHA256 of a value under ``key``, in base 32.

    The same value and key give the same pseudonym in every table and run, so that joins survive. Without the key the
    pseudonym cannot be worked out by trying values.

    >>> pseudonym("p1", b"sixteen bytes or") == pseudonym("p1", b"sixteen bytes or")
    True
    """
    return b32encode(hmac.digest(key, text.encode(), hashlib.sha256)).decode()[:CHARACTERS]


def read_key(column: str, file: Path | None, variable: str | None) -> bytes:
    """Read the key of a pseudonym from a file or an environment variable; it is never in the policy.

    Raises PolicyError when it is absent or shorter than 16 bytes.
    """
    if file is not None:
        try:
            key = file.read_bytes().strip()
        except OSError as error:
            raise PolicyError(f'the key file of "{column}" cannot be read: {error.strerror}', column=column) from error
    else:
        key = os.environ.get(variable or "", "").encode().strip()
        if not key:
            raise PolicyError(f'the variable {variable} that holds the key of "{column}" is not set', column=column)
    if len(key) < SHORTEST_KEY:
        raise PolicyError(
            f'the key of "{column}" has {len(key)} bytes; it needs at least {SHORTEST_KEY}', column=column
        )
    return key


def check_mapping(path: Path) -> None:
    """Refuse a mapping that exists, because a mapping is never overwritten, or that has no folder to stand in."""
    if path.exists():
        message = f'the mapping "{path.name}" exists; move it, or name another mapping_file'
        raise DataError(message, file=path.name)
    if not path.parent.is_dir():
        message = f'the folder of the mapping "{path.name}" does not exist; make it, or name another mapping_file'
        raise DataError(message, file=path.name)


def stage_mapping(path: Path, pseudonym_of: Mapping[str, str]) -> Staged:
    """Write which value got which pseudonym, readable by the owner only, to a hidden file beside ``path``.

    Raises DataError when the file system refuses; then nothing is left.
    """
    staged = Staged(path.with_name(f".{path.name}.{secrets.token_hex(8)}"), path)
    try:
        handle = os.open(staged.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["value", "pseudonym"])
            writer.writerows(pseudonym_of.items())
        return staged  # noqa: TRY300  # an interruption on the way out must find the handler too
    except OSError as error:
        staged.discard()
        message = f'the mapping "{path.name}" cannot be written: {error.strerror}; name another mapping_file'
        raise DataError(message, file=path.name) from error
    except BaseException:
        staged.discard()
        raise
