"""Finished runs of a comparison on disk, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.outputs import Output, check_outputs, write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from indistinct.outputs import Origin
    from indistinct.tables.records import Frequencies

FORM = "2"  # of the runs: others are not taken up


def fingerprint(frequencies: Frequencies) -> str:
    """SHA-256 of what a run depends on beside the policy: counts, values, hierarchies, persons, version."""
    digest = hashlib.sha256(f"{version('indistinct')} {FORM}".encode())
    for array in _arrays(frequencies):
        digest.update(str((array.shape, array.dtype)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    for hierarchy in (*frequencies.quasi, *frequencies.sensitive):
        digest.update(repr((hierarchy.attribute, hierarchy.kind, hierarchy.texts)).encode())
    return digest.hexdigest()


def _arrays(frequencies: Frequencies) -> Iterable[np.ndarray[Any, Any]]:
    yield frequencies.codes
    yield frequencies.rows
    if frequencies.persons is not None:
        persons = frequencies.persons
        yield from (persons.single, persons.start, persons.ids, persons.cell, persons.person, persons.rows)
    if frequencies.population is not None:
        yield from (frequencies.population.tuples, frequencies.population.rows)
    for hierarchy in (*frequencies.quasi, *frequencies.sensitive):
        yield from (level.node_of for level in hierarchy.levels)
        yield from (level.float_costs() for level in hierarchy.levels)
        if hierarchy.lower is not None and hierarchy.upper is not None:
            yield from (hierarchy.lower, hierarchy.upper)
        if hierarchy.sets is not None:
            yield np.array([float(cost) for cost in hierarchy.sets.costs])


class Store:
    """Finished runs in ``compare.jsonl``, one JSON document a line; a line cut off by an interruption is left out."""

    def __init__(self, folder: Path, origins: Sequence[Origin] = ()) -> None:
        self.file = folder / "compare.jsonl"
        self.table = folder / "compare.csv"
        self._origins = origins
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _refused(folder, error) from None
        # its own files go on; a table without runs beside it is somebody else's
        check_outputs(self._outputs, origins, force=self.file.exists())
        self._known: dict[str, dict[str, Any]] = {}
        text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        whole = list(_documents(text))
        for document in whole:
            self._known[_name(document["key"])] = document["run"]
        if text and (not text.endswith("\n") or len(whole) < text.count("\n")):
            lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in whole)
            write_bytes(self._outputs[0], lines.encode(), origins, force=True)

    def get(self, key: dict[str, str]) -> dict[str, Any] | None:
        """Return the run of a key, if it was finished before."""
        return self._known.get(_name(key))

    def of_table(self, table: str) -> list[dict[str, Any]]:
        """Return all runs on a table, whatever their policy."""
        return [run for key, run in self._known.items() if key.split(" ")[1] == table]

    def add(self, key: dict[str, str], run: dict[str, Any]) -> None:
        """Append a run; it is on disk when this returns."""
        try:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "run": run}, ensure_ascii=False, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _refused(self.file, error) from None
        self._known[_name(key)] = run

    def write_table(self, text: str) -> None:
        """Write the table of the runs."""
        write_bytes(self._outputs[1], text.encode(), self._origins, force=True)

    @property
    def _outputs(self) -> tuple[Output, Output]:
        return Output(self.file, "file of runs"), Output(self.table, "table of runs")


def _name(key: dict[str, str]) -> str:
    return f"{key['policy']} {key['table']}"


def _documents(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        with suppress(json.JSONDecodeError):
            document = json.loads(line)
            if isinstance(document, dict) and {"key", "run"} <= document.keys():
                yield document


def _refused(path: Path, error: OSError) -> DataError:
    message = (
        f"{path.name} cannot be written: {error.strerror}; choose another folder, or make room: finished runs stay"
    )
    return DataError(message, file=path.name)
