"""What may be kept of an identifying column: a mask, or a keyed pseudonym."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import os
import re
from base64 import b32encode
from typing import TYPE_CHECKING

from indistinct.errors import PolicyError
from indistinct.outputs import Output, stage_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.outputs import Staged

MASK = "*"
_HEXADECIMAL = re.compile(rb"([0-9a-fA-F]{2})+")
SHORTEST_KEY, SHORTEST_OF_DOMAIN = 16, 32
CHARACTERS = 20


def mask(texts: Sequence[str | None]) -> list[str | None]:
    """Replace every value by ``*``: neither its characters nor its length remain; missing stays missing."""
    return [None if text is None else MASK for text in texts]


def pseudonym(text: str, key: bytes, column: str = "", domain: str | None = None) -> str:
    """Return the first 100 bits of the HMAC-SHA256 of a value under ``key``, in base 32.

    The same value and key give the same pseudonym in every table and run, so that joins survive. With a ``domain`` the
    message is the JSON list of domain, column and value: another recipient gets another pseudonym of the same person,
    and two columns with the same values cannot be joined. Without the key the pseudonym cannot be worked out by trying
    values.

    Source: H. Krawczyk, M. Bellare, R. Canetti, HMAC, RFC 2104, 1997; the message with a domain: this project.

    >>> pseudonym("p1", b"sixteen bytes or") == pseudonym("p1", b"sixteen bytes or")
    True
    >>> pseudonym("p1", b"32 bytes" * 4, "name", "a") == pseudonym("p1", b"32 bytes" * 4, "name", "b")
    False
    """
    message = text if domain is None else json.dumps([domain, column, text], ensure_ascii=False)
    return b32encode(hmac.digest(key, message.encode(), hashlib.sha256)).decode()[:CHARACTERS]


def read_key(column: str, file: Path | None, variable: str | None, *, of_domain: bool = False) -> bytes:
    """Read the key of a pseudonym from a file or an environment variable; it is never in the policy.

    For pseudonyms ``of_domain`` hexadecimal digits stand for half as many bytes, as in ``releases key``.

    Raises PolicyError when it is absent or shorter than 16 bytes, 32 for a domain.
    """
    if file is not None:
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise PolicyError(f'the key file of "{column}" cannot be read: {error.strerror}', column=column) from error
    else:
        raw = os.environ.get(variable or "", "").encode()
        if not raw.strip():
            raise PolicyError(f'the variable {variable} that holds the key of "{column}" is not set', column=column)
    key, shortest, maker = raw.strip(), SHORTEST_KEY, ""
    if of_domain:
        if _HEXADECIMAL.fullmatch(key):
            key = bytes.fromhex(key.decode())
        elif len(raw) == SHORTEST_OF_DOMAIN:  # random bytes may begin or end with what looks like a blank
            key = raw
        shortest, maker = SHORTEST_OF_DOMAIN, " where a domain is declared: indistinct releases key FILE makes one"
    if len(key) < shortest:
        raise PolicyError(
            f'the key of "{column}" has {len(key)} bytes; it needs at least {shortest}{maker}', column=column
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
