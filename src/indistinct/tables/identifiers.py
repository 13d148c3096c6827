"""What may be kept of an identifying column: a mask, or a keyed pseudonym."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import os
from base64 import b32encode
from typing import TYPE_CHECKING

from indistinct.errors import PolicyError
from indistinct.outputs import Output, stage_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.outputs import Staged

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


def mapping_output(path: Path) -> Output:
    """Name the file of a mapping: readable by its owner only, and never overwritten, since nothing else tells it."""
    return Output(path, "mapping", precious=True, private=True)


def stage_mapping(path: Path, pseudonym_of: Mapping[str, str]) -> Staged:
    """Write which value got which pseudonym to a hidden file beside ``path``.

    Raises DataError when the file system refuses; then nothing is left.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["value", "pseudonym"])
    writer.writerows(pseudonym_of.items())
    return stage_bytes(mapping_output(path), text.getvalue().encode())
