"""The local engine with a memory: what was counted once is grouped, not counted again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indistinct.tables.apply import load_columns
from indistinct.tables.count import counted, silent, tally
from indistinct.tables.local import Local

if TYPE_CHECKING:
    from indistinct.formats.source import Source
    from indistinct.tables.count import Counted, Progress, Tally
    from indistinct.tables.engine import Request

MOST_TALLIES = 4


class Remembering(Local):
    """The engine of a session: a set of columns that was counted is not counted again, nor is a part of it.

    Its sources are told apart by name: it is for those of one table, read in one way.
    """

    def __init__(self) -> None:
        self._tallies: list[tuple[str, Tally]] = []

    def count(self, source: Source, request: Request, progress: Progress = silent) -> Counted:
        """Group what was counted, or count all columns that are asked for."""
        names = [*request.quasi, *request.sensitive]
        keep = request.keep_rows or request.person is not None
        fitting = [
            own
            for name, own in self._tallies
            if name == source.name
            and own.person == request.person
            and own.texts.keys() >= set(names)
            and (own.cell_of_row is not None or not keep)
        ]
        found = min(fitting, key=lambda own: len(own.counts), default=None)
        if found is None:
            found = tally(source, names, person=request.person, keep_rows=request.keep_rows, progress=progress)
            self._tallies = [(source.name, found), *self._tallies][:MOST_TALLIES]
        answer = counted(
            found.of(names), len(request.quasi), request.bind, leave_out=request.leave_out, name=source.name
        )
        return replace(answer, carried=load_columns(source, request.carried)) if request.carried else answer
