"""What engines have in common whose rows stay with them: what is counted comes as groups, what is published is dealt.

What only the counts decide is published from groups, as the local engine does. Where other columns are published too,
the rows stay: those of a cell that goes to several places are numbered by these columns and dealt by count, all others
join by their cell, and the result is sorted there by what is published.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats.arrow import whole_numbers
from indistinct.formats.columnar import is_text, plain_batch
from indistinct.formats.source import Source, check_names, counted_by, look_alikes
from indistinct.tables.count import silent
from indistinct.tables.dealing import dealing_of
from indistinct.tables.engine import ONE_TABLE
from indistinct.tables.local import Local
from indistinct.tables.stored import Stored, StoredColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from indistinct.formats.source import TableOptions
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.dealing import Dealing
    from indistinct.tables.engine import Form, Request
    from indistinct.tables.published import Published
    from indistinct.tables.records import Assignment, Recoding


class Remote(Local):
    """Count and apply of ``tables.engine``, by what an engine says of itself; files are written as the local one does.

    An engine is a context manager: what it holds of the rows is gone on leaving.
    """

    def groups(self, source: Source, wanted: tuple[str, ...], request: Request) -> Iterator[Any]:
        """Yield batches of the distinct rows of the ``wanted`` columns, in this order, and last how often each is."""
        raise NotImplementedError

    def look(self, source: Source, name: str, place: int) -> tuple[int, int]:
        """Count the rows of the carried column at a place, and those whose value occurs in no other row."""
        raise NotImplementedError

    def deal(self, source: Source, counted: Counted, dealing: Dealing, carried: Sequence[str]) -> None:
        """Give every row its entry of the dealing."""
        raise NotImplementedError

    def dealt(self, size: int) -> Iterator[Any]:
        """Yield the dealt rows, sorted by what is published: their runs run0, ..., their carried columns c0, ..."""
        raise NotImplementedError

    def explained(self, what: str) -> AbstractContextManager[None]:
        """Say in a sentence what the engine could not do: DataError, without values."""
        raise NotImplementedError

    def unknown_type(self, source: Source, name: str, *, carried: bool) -> str | None:
        """Name the type of a column that cannot be counted, or carried; None for one that can."""
        raise NotImplementedError

    def require_types(self, source: Source, request: Request) -> None:
        """Raise UnsupportedError for a column of a type that the engine does not count, or carry."""
        counted = (*request.quasi, *request.sensitive, *(() if request.person is None else (request.person,)))
        for name in dict.fromkeys((*counted, *request.carried)):
            kind = self.unknown_type(source, name, carried=name not in counted) if name in source.columns else None
            if kind is not None:
                raise UnsupportedError(
                    f'the engine "{self.name}" cannot do the type {kind} of "{name}"; leave the column out, or take '
                    'engine = "local"',
                    column=name,
                )

    @property
    def comparison(self) -> Callable[[], list[str] | None] | None:
        """What compares the written rows where they lie, for an engine that writes them (``Stored.differing``)."""
        return None

    def count(self, source: Source, request: Request, progress: Progress = silent) -> Counted:
        """Let the engine count the groups, and count these; the rows of the cells are not kept here."""

        def read(wanted: tuple[str, ...], weight: str) -> Iterator[Any]:
            for batch in self.groups(source, wanted, request):
                yield plain_batch(pa.record_batch(batch.columns, names=[*wanted, weight]))

        self.require_types(source, request)
        with self.explained(source.name):
            found = super().count(counted_by(source, read), replace(request, carried=(), keep_rows=False), progress)
            looked = {name: self.look(source, name, place) for place, name in enumerate(request.carried)}
        carried = {name: StoredColumn(name, source.types[name], *numbers) for name, numbers in looked.items()}
        return replace(found, carried=carried)

    def apply(
        self,
        source: Source,
        counted: Counted,
        assignment: Assignment,
        recoding: Recoding,
        layout: Layout,
        form: Form = ONE_TABLE,
    ) -> tuple[Published, Published | None]:
        """Publish from groups; with other columns, let the engine deal the rows."""
        given = (source, counted, assignment, recoding, layout)
        types = {name: own.type for name, own in counted.carried.items() if isinstance(own, StoredColumn)}
        if not types:
            return super().apply(*given, form)
        dealing = dealing_of(*given, carried=tuple(types), starred=form.starred)
        with self.explained(source.name):
            self.deal(source, counted, dealing, tuple(types))

        def read(size: int) -> Iterator[Any]:
            with self.explained(source.name):
                for batch in self.dealt(size):
                    own = dict(zip(batch.schema.names, batch.columns, strict=True))
                    columns = {name: _typed(own[f"c{place}"], kind) for place, (name, kind) in enumerate(types.items())}
                    runs = {name: whole_numbers(array) for name, array in own.items() if name.startswith("run")}
                    yield dealing.batch(runs, columns)

        columns = tuple(dealing.columns[name].compacted() for name in layout.columns if name in dealing.columns)
        return Stored(columns, dealing.rows, layout.columns, types, read, self.comparison), None

    def described(
        self, name: str, kinds: Mapping[str, Any], columns: Sequence[str], options: TableOptions, native: Any
    ) -> Source:
        """Describe a table whose rows stay where they are, its columns with their types.

        Raises UnsupportedError for tokens of missing values, and what ``check_names`` raises.
        """
        if options.missing_values:
            raise UnsupportedError(f'the engine "{self.name}" knows no missing_values: make them null in the table')

        def read(_: tuple[str, ...]) -> NoReturn:
            raise UnsupportedError(f'the rows of this table stay in the engine "{self.name}"')

        checked = check_names(columns, name)
        return Source(name, checked, kinds, is_text=False, read=read, warnings=look_alikes(checked), native=native)


@contextmanager
def explained_as(packages: Sequence[str], sentence: Callable[[str], str], **where: str) -> Iterator[None]:
    """Put the first line of what a package raises into a sentence: DataError."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in packages:
            raise
        words = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
        raise DataError(sentence(words[0]), **where) from None


def _typed(array: Any, kind: Any) -> Any:
    return array.cast(pa.string()).dictionary_encode() if is_text(kind) else array.cast(kind)
