"""Numbering the distinct values of one column, batch by batch, in order of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import UnsupportedError
from indistinct.formats.arrow import text_array, whole_numbers
from indistinct.formats.texts import as_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]


def texts_of(array: Any, column: str) -> list[str | None]:
    """Write each value of an Arrow array as its canonical text (``as_text``); nulls and NaN become None.

    Raises UnsupportedError for nested and binary values.
    """
    kind = array.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise UnsupportedError(
            f'column "{column}" holds values of type {kind}, which cannot be compared or published; '
            "turn it into text or leave it out",
            column=column,
        )
    return list(as_text(array).to_pylist())


class Dictionary:
    """Gives every distinct value of a column the next number 0, 1, ...; a missing value is numbered like the others.

    >>> import pyarrow as pa
    >>> numbers = Dictionary("ward")
    >>> numbers.encode(pa.array(["A", None, "A"])).tolist(), numbers.texts
    ([0, 1, 0], ['A', None])
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self.numbers: dict[str | None, int] = {}
        self._last: Any = None
        self._translation: Int32 = np.zeros(0, np.int32)

    @property
    def texts(self) -> list[str | None]:
        """The distinct values in order of arrival."""
        return list(self.numbers)

    def encode(self, array: Any) -> Int32:
        """Return the number of each value: int32[len(array)]."""
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        if self._last is None or not array.dictionary.equals(self._last):
            self._translation = np.array(
                [self.number(text) for text in texts_of(array.dictionary, self.column)], np.int32
            )
            self._last = array.dictionary
        indices = array.indices
        if indices.null_count:
            # the last entry stands for index -1
            codes: Int32 = np.append(self._translation, np.int32(self.number(None)))[whole_numbers(indices)]
            return codes
        if not len(indices):
            return np.zeros(0, np.int32)
        return np.ascontiguousarray(self._translation[whole_numbers(indices)], dtype=np.int32)

    def ranks(self) -> Int32:
        """int32[values]: the place of each value in code-point order, a missing one last; arrival tells nothing."""
        rank = np.empty(len(self.numbers), np.int32)
        rank[whole_numbers(pc.sort_indices(text_array(self.texts)))] = np.arange(len(rank), dtype=np.int32)
        return rank

    def number(self, text: str | None) -> int:
        """Return the number of a value, a new one if need be."""
        return self.numbers.setdefault(text, len(self.numbers))
