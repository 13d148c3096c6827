"""Between numpy and Arrow without a detour: Arrow's own conversions import pandas where it is installed (0.4 s)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def whole_numbers(array: Any, absent: int = -1) -> NDArray[Any]:
    """Take over the whole numbers of an Arrow array, nulls as ``absent``; without nulls nothing is copied.

    >>> whole_numbers(number_array(np.array([3, -1], np.int32))).tolist()
    [3, -1]
    """
    return _values(array, np.dtype(str(array.type)), absent)


def real_numbers(array: Any) -> NDArray[np.float64]:
    """Take over an Arrow array of numbers as float64, nulls as NaN; floats without nulls are not copied.

    >>> real_numbers(number_array(np.array([3, -1], np.int32))).tolist()
    [3.0, nan]
    """
    return _values(array.cast(pa.float64(), safe=False), np.dtype(np.float64), np.nan)


def _values(array: Any, kind: np.dtype[Any], absent: float) -> NDArray[Any]:
    if not len(array):
        return np.zeros(0, kind)
    view: NDArray[Any] = np.frombuffer(array.buffers()[1], kind, array.offset + len(array))[array.offset :]
    if array.null_count:
        valid = whole_numbers(array.is_valid().cast(pa.uint8()))
        view = np.where(valid == 1, view, kind.type(absent))
    return view


def number_array(numbers: NDArray[Any]) -> Any:
    """Make an Arrow array of int32 or int64 numbers; negative ones become null.

    >>> number_array(np.array([3, -1], np.int32)).to_pylist()
    [3, None]
    """
    numbers = np.ascontiguousarray(numbers)
    absent = numbers < 0
    bitmap = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [bitmap, pa.py_buffer(numbers)])


def text_array(texts: Sequence[str | None]) -> Any:
    """Make an Arrow array of texts; None becomes null.

    >>> text_array(["Łódź", None, ""]).to_pylist()
    ['Łódź', None, '']
    """
    encoded = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(part) for part in encoded], out=ends[1:])
    present = np.array([text is not None for text in texts], np.bool_)
    bitmap = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    if ends[-1] < 2**31:
        buffers = [bitmap, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
        return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
    buffers = [bitmap, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def text_scalar(text: str) -> Any:
    """Make an Arrow scalar of a text, for functions that would make one of their own.

    >>> text_scalar("a").as_py()
    'a'
    """
    return text_array([text])[0]
