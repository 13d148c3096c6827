"""The ledger: which releases went out before, and what they told about whom.

A ledger with a key holds pseudonymous personal data (who was in which class, under a keyed pseudonym): protect it
as such, forget a release when its purpose is over, and keep the key elsewhere. One SQLite file, readable by its owner
only; every change is one transaction, so that an interruption or a second user leaves it sound.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.history.key import OTHERS
from indistinct.history.record import Snapshot, unpacked_persons, unpacked_signatures
from indistinct.history.succession import succession
from indistinct.outputs import Output, check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from indistinct.history.key import LedgerKey
    from indistinct.outputs import Origin

FORMAT = "1"
WAIT = 30.0
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)  # in the low byte of the codes of SQLite
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE release (
    name TEXT PRIMARY KEY,
    added TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    policy_sha256 TEXT NOT NULL,
    rows INTEGER NOT NULL,
    classes INTEGER NOT NULL,
    persons INTEGER,
    document TEXT NOT NULL,
    signatures BLOB NOT NULL,
    who BLOB
) STRICT;
"""


@dataclass(frozen=True)
class Ledger:
    """A ledger file, with the key if there is one. Nothing is kept open between calls."""

    path: Path
    key: LedgerKey | None = None

    def releases(self) -> list[dict[str, Any]]:
        """List the releases in the order in which they were added; needs no key.

        Raises DataError when there is no ledger.
        """
        with self._open() as connection:
            rows = connection.execute(
                "SELECT name, added, sha256, rows, classes, persons, document FROM release ORDER BY added, name"
            ).fetchall()
        return [
            {
                "name": name,
                "added": added,
                "sha256": sha256,
                "rows": count,
                "classes": classes,
                "persons": persons,
                "promises": json.loads(document)["promises"],
            }
            for name, added, sha256, count, classes, persons, document in rows
        ]

    def check(self, new: Snapshot) -> dict[str, Any]:
        """Attack a release together with all earlier ones in the ledger (``succession``); the ledger is not changed."""
        with self._open() as connection:
            return succession(new, self._snapshots(connection, leave_out=new.sha256))

    def snapshots(self) -> dict[str, Snapshot]:
        """Return the releases by name, oldest first, as far as the key opens them.

        Raises DataError when there is no ledger.
        """
        with self._open() as connection:
            return self._snapshots(connection)

    def add(self, name: str, new: Snapshot, *, despite: bool = False, origins: Sequence[Origin] = ()) -> dict[str, Any]:
        """Check a release and enter it, in one transaction; begin the ledger if there is none.

        ``origins`` are the files that the release was read from: none of them becomes a ledger.

        Returns the document of ``check``. Raises VerificationError when the check says no, unless ``despite``: what has
        gone out already must be known. PolicyError when the name or file is entered already, or the key is missing,
        and what ``check_outputs`` raises.
        """
        own = [read for read in origins if read.what != "the ledger"]
        check_outputs([Output(self.path, "ledger", private=True)], own, force=True)
        self._begin()
        with self._open(write=True) as connection:
            keyed = self._meta(connection, "mark") is not None
            if keyed and self.key is None:
                raise PolicyError("this ledger knows persons; give its key, or nothing can be compared later")
            for column, value, what in (("name", name, f'a release "{name}"'), ("sha256", new.sha256, "this file")):
                query = f"SELECT 1 FROM release WHERE {column} = ?"  # noqa: S608  # one of two fixed names
                if connection.execute(query, (value,)).fetchone():
                    raise PolicyError(f"{what} is in the ledger already; forget it first, or choose another name")
            answer = succession(new, self._snapshots(connection))
            if answer["satisfied"] is False and not despite:
                raise VerificationError(
                    f"the release was not entered: {'; '.join(answer['reasons'])}; publish one that keeps the classes "
                    "of the earlier ones, or enter it with --despite if it has gone out already"
                )
            self._insert(connection, name, new)
        return answer

    def forget(self, name: str) -> None:
        """Remove a release with all that it told, and overwrite the place where it stood.

        Raises PolicyError when there is no such release.
        """
        with self._open(write=True) as connection:
            if connection.execute("DELETE FROM release WHERE name = ?", (name,)).rowcount == 0:
                known = ", ".join(row[0] for row in connection.execute("SELECT name FROM release ORDER BY name"))
                raise PolicyError(f'there is no release "{name}" in the ledger; there are: {known or "none"}')
        with self._open() as connection:
            connection.execute("VACUUM")

    # --- the file ------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Make an empty file that only its owner can read, if there is none."""
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            message = f"the ledger {self.path.name} cannot be made: {error.strerror}"
            raise DataError(message, file=self.path.name) from None

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file; with ``write`` inside one transaction that other writers wait for."""
        name = self.path.name
        if not self.path.is_file():
            raise DataError(f"there is no ledger {name}; adding a release begins one", file=name)
        if os.name == "posix" and self.path.stat().st_mode & OTHERS:
            message = f"others than its owner can read the ledger {name}; make it private: chmod 600"
            raise PolicyError(message, file=name)
        connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            self._prepare(connection, write=write)
            if not write:
                connection.execute("COMMIT")
            yield connection
            if connection.in_transaction:
                connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in BUSY
            what = "is in use by somebody else; try again" if busy else "cannot be read or written"
            raise DataError(f"the ledger {name} {what}", file=name) from None
        except sqlite3.DatabaseError:
            raise DataError(f"{name} is no ledger, or it is damaged; take the last copy", file=name) from None
        finally:
            connection.close()  # what is not committed is rolled back

    def _prepare(self, connection: sqlite3.Connection, *, write: bool) -> None:
        """Make the tables in a new file; refuse another format or another key."""
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"meta", "release"} <= tables:
            message = f"{self.path.name} is the database of something else, not a ledger; name another file"
            raise PolicyError(message, file=self.path.name)
        if not tables:
            if not write:
                message = f"the ledger {self.path.name} is empty; adding a release begins it"
                raise DataError(message, file=self.path.name)
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            meta = {"format": FORMAT.encode(), "salt": secrets.token_bytes(32)}
            if self.key is not None:
                meta["mark"] = self.key.mark.encode()
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            return
        if self._meta(connection, "format") != FORMAT.encode():
            raise DataError(f"the ledger {self.path.name} was made by another version of this program")
        mark = self._meta(connection, "mark")
        if self.key is not None and mark != self.key.mark.encode():
            reason = "was begun without a key" if mark is None else "belongs to another key"
            raise PolicyError(f"the ledger {self.path.name} {reason}; give the right one")

    @staticmethod
    def _meta(connection: sqlite3.Connection, name: str) -> bytes | None:
        row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def _insert(self, connection: sqlite3.Connection, name: str, new: Snapshot) -> None:
        salt = self._meta(connection, "salt") or b""
        signatures, who = new.packed_signatures(), None
        if self.key is not None:
            signatures = self.key.seal(signatures, salt, f"signatures:{name}".encode())
            who = self.key.seal(new.packed_persons(), salt, f"persons:{name}".encode())
        document = {
            "quasi": new.quasi,
            "sensitive": new.sensitive,
            "labels": new.labels,
            "sizes": new.sizes,
            "promises": new.promises,
        }
        persons = None if new.persons is None else len(new.persons)
        added = datetime.now(UTC).isoformat(timespec="microseconds")
        text = json.dumps(document, ensure_ascii=False)
        values = (name, added, new.sha256, new.policy_sha256, new.rows, len(new.labels), persons, text, signatures, who)
        connection.execute("INSERT INTO release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def _snapshots(self, connection: sqlite3.Connection, leave_out: str = "") -> dict[str, Snapshot]:
        """All releases by name; signatures and persons only where the key, or none, opens them."""
        salt, keyed = self._meta(connection, "salt") or b"", self._meta(connection, "mark") is not None
        found = {}
        rows = connection.execute(
            "SELECT name, sha256, policy_sha256, document, signatures, who FROM release ORDER BY added, name"
        )
        for name, sha256, policy_sha256, text, sealed, who in rows:
            if sha256 == leave_out:
                continue
            signatures: list[dict[tuple[str | None, ...], int]] = []
            persons = None
            if self.key is not None:
                signatures = unpacked_signatures(self.key.open(sealed, salt, f"signatures:{name}".encode()))
                persons = unpacked_persons(self.key.open(who, salt, f"persons:{name}".encode()))
            elif not keyed:
                signatures = unpacked_signatures(sealed)
            document = json.loads(text)
            found[name] = Snapshot(
                tuple(document["quasi"]),
                tuple(document["sensitive"]),
                [tuple(label) for label in document["labels"]],
                document["sizes"],
                signatures,
                document["promises"],
                sha256,
                policy_sha256,
                persons,
            )
        return found
