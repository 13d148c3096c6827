"""Coins that only the steward can throw again: numbers that follow from a key.

Two releases of one table with the same key get the same coins. With fresh ones they would differ in the decoys alone,
and who compares the two would know which classes were merged because they had to be.

Source: HMAC, RFC 2104, with SHA-256; SHAKE256, FIPS 202, for streams.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.policy.recoding import Local

SHORTEST = 32
OTHERS = 0o077
_HEXADECIMAL = re.compile(rb"(?:[0-9a-fA-F]{2})+")


@dataclass(frozen=True, slots=True)
class Coins:
    """Numbers from a key; it prints as nothing."""

    secret: bytes = field(repr=False)

    def stream(self, purpose: str, number: int) -> NDArray[np.uint64]:
        """uint64[number]: numbers for one purpose, in a row."""
        seed = self._digest(purpose.encode())
        return np.frombuffer(hashlib.shake_256(seed).digest(8 * number), "<u8").astype(np.uint64)

    def of(self, purpose: str, messages: Iterable[bytes]) -> NDArray[np.float64]:
        """float64[.] in [0, 1): a number for each message; a message that stands twice gets two different ones."""
        met: dict[bytes, int] = {}
        found = []
        for message in messages:
            met[message] = times = met.get(message, 0) + 1
            digest = self._digest(purpose.encode() + b"\0" + message + times.to_bytes(8, "big"))
            found.append(int.from_bytes(digest[:6], "big") / (1 << 48))
        return np.array(found, np.float64)

    def _digest(self, message: bytes) -> bytes:
        return hmac.digest(self.secret, b"indistinct robust recoding: " + message, hashlib.sha256)


def coins_of(policy: Policy, recoding: Local) -> Coins:
    """Read the key that a policy names under [recoding].

    Hexadecimal digits stand for half as many bytes.

    Raises PolicyError when it cannot be read, is shorter than 32 bytes, or can be read by others than its owner.
    """
    if recoding.key_file is not None:
        name, path = f'the key file "{recoding.key_file}"', policy.locate(recoding.key_file)
        try:
            raw = path.read_bytes()
            open_to_others = os.name == "posix" and path.stat().st_mode & OTHERS
        except OSError as error:
            reason = f"{name} of robust recoding cannot be read: {error.strerror}; indistinct policy key makes one"
            raise PolicyError(reason, key="recoding.key_file") from None
        if open_to_others:
            message = f"others than its owner can read {name} of robust recoding; make it private first: chmod 600"
            raise PolicyError(message, key="recoding.key_file")
    else:
        name = f"the variable {recoding.key_env}"
        raw = os.environ.get(recoding.key_env or "", "").encode()
        if not raw.strip():
            raise PolicyError(f"{name} with the key of robust recoding is not set", key="recoding.key_env")
    key = raw if len(raw) == SHORTEST else raw.strip()  # random bytes may begin or end with what looks like a blank
    if _HEXADECIMAL.fullmatch(key):
        key = bytes.fromhex(key.decode())
    if len(key) < SHORTEST:
        message = f"the key of robust recoding in {name} has {len(key)} bytes; it needs at least {SHORTEST}"
        raise PolicyError(f"{message}: indistinct policy key FILE makes one", key="recoding")
    return Coins(key)
