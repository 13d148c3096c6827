"""Which classes are at risk: one over their size, against a threshold, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray


def above(threshold: Fraction, sizes: NDArray[Any]) -> NDArray[Any]:
    """Say for which sizes ``1 / size > threshold``, in integers.

    With threshold a/b this is ``size * a < b``, hence ``size <= ceil(b/a) - 1``; sizes are at least 1. A threshold of 0
    is passed by every size.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> above(Fraction(1, 5), np.array([1, 4, 5, 6])).tolist()
    [True, True, False, False]
    """
    if threshold == 0:
        return sizes > 0
    largest = -(-threshold.denominator // threshold.numerator) - 1
    found: NDArray[Any] = sizes <= min(largest, 2**62)
    return found
