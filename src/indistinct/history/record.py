"""A release as the ledger keeps it: a record that can be packed."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Text = str | None
Labels = tuple[Text, ...]

DIGEST = 32


@dataclass(frozen=True)
class Snapshot:
    """A release as an attacker sees it, and, with persons, as only the steward can.

    ``labels[c]``: published quasi-identifiers of class c (rows with equal labels); ``signatures[c]``: how often it
    shows each combination of ``sensitive`` values; empty where the ledger does not tell. ``sizes[c]``: its rows.
    ``persons`` maps the 32 bytes that stand for a person to the class of their only row, or to -1 when they have
    several rows. ``promises``: what the policy guarantees, ``{"k": 5, "l": {"disease": 3}, "m": {"disease": 2}}``.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    labels: list[Labels] = field(repr=False)
    sizes: list[int] = field(repr=False)
    signatures: list[dict[Labels, int]] = field(repr=False)
    promises: Mapping[str, Any]
    sha256: str
    policy_sha256: str
    persons: dict[bytes, int] | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """Number of published rows."""
        return sum(self.sizes)

    def packed_signatures(self) -> bytes:
        """Write the signatures as compressed JSON."""
        listed = [[[list(key), count] for key, count in sorted(s.items(), key=_by_labels)] for s in self.signatures]
        return zlib.compress(json.dumps(listed, ensure_ascii=False).encode())

    def packed_persons(self) -> bytes:
        """Write the persons as bytes: all digests, sorted, then their classes."""
        persons = self.persons or {}
        order = sorted(persons)
        return zlib.compress(b"".join(order) + np.array([persons[p] for p in order], np.int32).tobytes(), 1)


def by_text(labels: Labels) -> list[tuple[bool, str]]:
    """Sort key: a missing label comes first."""
    return [(text is not None, text or "") for text in labels]


def _by_labels(item: tuple[Labels, int]) -> list[tuple[bool, str]]:
    return by_text(item[0])


def unpacked_signatures(data: bytes) -> list[dict[Labels, int]]:
    """Read what ``packed_signatures`` wrote."""
    return [{tuple(key): count for key, count in entry} for entry in json.loads(zlib.decompress(data))]


def unpacked_persons(data: bytes) -> dict[bytes, int]:
    """Read what ``packed_persons`` wrote."""
    raw = zlib.decompress(data)
    total = len(raw) // (DIGEST + 4)
    classes = np.frombuffer(raw[total * DIGEST :], np.int32).tolist()
    return {raw[i * DIGEST : (i + 1) * DIGEST]: classes[i] for i in range(total)}
