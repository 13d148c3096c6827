"""The key of a ledger: 256 bits in a file of their own, away from the ledger, readable by its owner only.

Persons are known to the ledger by HMAC-SHA-256 of their key value (RFC 2104) under this key; what a class shows about
them is encrypted with AES-256-GCM (NIST SP 800-38D) under a key derived from it (HKDF with SHA-256, RFC 5869).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, PolicyError, UnsupportedError
from indistinct.outputs import Output, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

BYTES = 32
NONCE = 12
OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class LedgerKey:
    """A key that has been read; it prints as nothing."""

    secret: bytes = field(repr=False)

    @property
    def mark(self) -> str:
        """Name the key without telling it, so that a wrong one is noticed."""
        return hmac.digest(self.secret, b"indistinct ledger: mark", hashlib.sha256).hex()[:32]

    def person(self, text: str) -> bytes:
        """Return the 32 bytes by which the ledger knows a person."""
        return hmac.digest(self.secret, b"person:" + text.encode(), hashlib.sha256)

    def of_file(self, path: Path) -> str:
        """Return the fingerprint of a file (hexadecimal): only who has the key can test a guess of its content."""
        found = hmac.new(self.secret, b"source:", hashlib.sha256)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
        return found.hexdigest()

    def seal(self, data: bytes, salt: bytes, about: bytes) -> bytes:
        """Encrypt under the derived key, with a fresh nonce; ``about`` is authenticated with it."""
        nonce = secrets.token_bytes(NONCE)
        sealed: bytes = _cipher(self.secret, salt).encrypt(nonce, data, about)
        return nonce + sealed

    def open(self, sealed: bytes, salt: bytes, about: bytes) -> bytes:
        """Decrypt what ``seal`` made.

        Raises DataError when it was changed, or sealed under another key.
        """
        cipher = _cipher(self.secret, salt)
        from cryptography.exceptions import InvalidTag

        try:
            data: bytes = cipher.decrypt(sealed[:NONCE], sealed[NONCE:], about)
        except InvalidTag:
            message = "an entry of the ledger cannot be opened: it was changed, or another key made it"
            raise DataError(message) from None
        return data


def _cipher(secret: bytes, salt: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError:
        message = "a ledger with persons needs cryptography; install it with: pip install 'indistinct[ledger]'"
        raise UnsupportedError(message) from None
    return AESGCM(HKDF(hashes.SHA256(), BYTES, salt, b"indistinct ledger: entries").derive(secret))


def make_key(path: Path, ledger: Path | None = None) -> None:
    """Write a new key as hexadecimal text to a new file that only its owner can read.

    Raises PolicyError when the file exists or would stand in the folder of the ledger, DataError when it cannot be
    written.
    """
    _refuse_beside(path, ledger)
    output = Output(path, "key", precious=True, private=True)  # what it sealed would be lost with it
    write_bytes(output, f"{secrets.token_hex(BYTES)}\n".encode())


def read_ledger_key(path: Path, ledger: Path | None = None) -> LedgerKey:
    """Read a key: 64 hexadecimal digits, or 32 bytes; without ``ledger`` it is one of fingerprints alone.

    Raises PolicyError when it stands in the folder of the ledger (or below), when others than its owner can read it, or
    when it has another length; DataError when it cannot be read.
    """
    _refuse_beside(path, ledger)
    try:
        if os.name == "posix" and path.stat().st_mode & OTHERS:
            message = f"others than its owner can read the key {path.name}; make it private first: chmod 600"
            raise PolicyError(message, file=path.name)
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"the key {path.name} cannot be read: {error.strerror}", file=path.name) from None
    return _key(raw, path.name)


def ledger_key_of(variable: str) -> LedgerKey:
    """Read a key from an environment variable: 64 hexadecimal digits.

    Raises PolicyError when the variable is not set, or holds something else; its text is never shown.
    """
    text = os.environ.get(variable)
    if text is None:
        message = f'the environment variable "{variable}" with the key of the ledger is not set'
        raise PolicyError(message, key=variable)
    return _key(text.encode(), f'the environment variable "{variable}"')


def _key(raw: bytes, name: str) -> LedgerKey:
    try:
        secret = raw if len(raw) == BYTES else bytes.fromhex(raw.decode("ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) != BYTES:
        message = f"{name} is no key; a key is 64 hexadecimal digits: indistinct releases key FILE makes one"
        raise PolicyError(message, file=name)
    return LedgerKey(secret)


def _refuse_beside(path: Path, ledger: Path | None) -> None:
    if ledger is not None and path.resolve().is_relative_to(ledger.resolve().parent):
        message = f"the key {path.name} stands in the folder of the ledger: who copies one has both; keep it elsewhere"
        raise PolicyError(message, file=path.name)
