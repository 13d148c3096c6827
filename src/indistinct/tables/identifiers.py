"""What may be kept of an identifying column: a mask, or a keyed pseudonym."""

from __future__ import annotations

import hashlib
import hmac
import os
from base64 import b32encode
from typing import TYPE_CHECKING

from indistinct.errors import DataError, PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MASK = "*"
SHORTEST_KEY = 16
CHARACTERS = 20


def mask(texts: Sequence[str | None]) -> list[str | None]:
    """Replace every value by ``*``: neither its characters nor its length remain; missing stays missing."""
    return [None if text is None else MASK for text in texts]


def pseudonyms(texts: Sequence[str | None], key: bytes) -> list[str | None]:
    """Replace every value by the first 100 bits of its HMAC-SHA256 under ``key``, in base 32.

    The same value and key give the same pseudonym in every table and run, so that joins survive. Without the key the
    pseudonym cannot be worked out by trying values.

    >>> pseudonyms(["p1", None], b"sixteen bytes or") == pseudonyms(["p1", None], b"sixteen bytes or")
    True
    """
    return [
        None if text is None else b32encode(hmac.digest(key, text.encode(), hashlib.sha256)).decode()[:CHARACTERS]
        for text in texts
    ]


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


def write_mapping(path: Path, texts: Sequence[str | None], replaced: Sequence[str | None]) -> None:
    """Write which value got which pseudonym, readable by the owner only. An existing file is not overwritten."""
    import csv

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise DataError(
            f'the mapping "{path.name}" cannot be written: {error.strerror}; remove it, or name another mapping_file',
            file=path.name,
        ) from error
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["value", "pseudonym"])
        writer.writerows((text, pseudonym) for text, pseudonym in zip(texts, replaced, strict=True) if text is not None)
