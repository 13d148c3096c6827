"""A published table whose rows lie in an engine: what was decided about them is here, the other columns are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.formats.columnar import is_text
from indistinct.tables.published import BATCH_ROWS, Published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class StoredColumn:
    """A column that is published as it is and lies in an engine: its Arrow type, rows, and values that occur once."""

    name: str
    type: Any
    rows: int
    once: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.rows


@dataclass(frozen=True)
class Stored(Published):
    """A table as it will be written: ``columns`` are those that were counted, over units.

    ``order``: all columns as they are written; ``carried``: the types of those that lie in the engine; ``read(size)``
    yields the rows in their order, so many at a time, as often as it is called. ``differing``, where the engine wrote
    the table too, compares it there, and says which columns differ (None: the rows do).
    """

    order: tuple[str, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[int], Iterator[Any]] = field(default=lambda _: iter(()), repr=False)
    differing: Callable[[], list[str] | None] | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, as they are written."""
        return self.order

    @property
    def schema(self) -> Any:
        """Arrow schema: texts as dictionaries, other types as they were."""
        own = {field.name: field.type for field in super().schema}
        texts = pa.dictionary(pa.int32(), pa.string())
        own |= {name: texts if is_text(kind) else kind for name, kind in self.carried.items()}
        return pa.schema([(name, own[name]) for name in self.order])

    def batches(self, size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows in order, ``size`` at a time, as Arrow record batches."""
        return self.read(size)

    def table(self) -> Any:
        """Return the rows as one Arrow table with plain types."""
        table = pa.Table.from_batches(list(self.batches()), self.schema)
        plain = [pa.string() if is_text(column.type) else column.type for column in self.schema]
        return table.cast(pa.schema(list(zip(self.order, plain, strict=True))))
