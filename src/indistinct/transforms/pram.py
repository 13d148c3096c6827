"""Post-randomisation: values of a column change at random, by a transition matrix.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError
from indistinct.notices import Sentence
from indistinct.transforms.columns import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.transforms import Pram
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column

    Int32 = NDArray[np.int32]
    Matrix = Sequence[Sequence[Fraction]]

LARGEST_TOTAL = 2**62


def pram(request: Pram, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Draw a new value for every row, exactly with the probabilities asked for; missing values stay missing.

    Raises DataError for a value that has no row in the matrix, and where the probabilities are too fine to be drawn.
    """
    column = columns[request.attribute]
    texts, matrix = matrix_of(request, column)
    place = {text: position for position, text in enumerate(texts)}
    before = np.array([*(place[text] for text in column.texts), -1], np.int32)[column.codes]
    counts = np.bincount(before[before >= 0], minlength=len(texts)).tolist()
    after = drawn(before, matrix, chance, column.name)
    whole = matrix
    if request.invariant:
        back = inverse(matrix, counts)
        after = drawn(after, back, chance, column.name)
        whole = product(matrix, back)
    present = int((before >= 0).sum())
    changed = int((before != after).sum())
    stays = sum(row[i] * count for i, (row, count) in enumerate(zip(whole, counts, strict=True)))
    loss = {
        "changed": changed,
        "share": changed / len(before),
        "expected_share": float(1 - Fraction(stays) / present) if present else 0.0,
        "surest": float(surest(whole, counts)),
    }
    sentence = Sentence(
        '{n} of {rows} values of "{name}" changed; a published value is the true one with probability {chance:.3f} at '
        "most, to somebody who knows the matrix and how often each value occurs",
        n=changed,
        rows=len(before),
        name=column.name,
        chance=float(surest(whole, counts)),
    )
    used = np.unique(after[after >= 0])
    codes = np.where(after < 0, -1, np.searchsorted(used, after))
    return Outcome({column.name: column.changed([texts[n] for n in used.tolist()], codes)}, loss, sentence)


def matrix_of(request: Pram, column: Column) -> tuple[tuple[str, ...], list[list[Fraction]]]:
    """Return the values and, for each, the probabilities of the values it becomes.

    With ``retain`` the values are those of the column, and the others share what is left equally.
    """
    if request.matrix is not None:
        strange = sum(text not in request.matrix for text in column.texts)
        if strange:
            message = f'{strange} values of "{column.name}" have no row in the matrix of pram; give each value one'
            raise DataError(message, column=column.name)
        texts = tuple(request.matrix)
        return texts, [[row.get(text, Fraction(0)) for text in texts] for row in request.matrix.values()]
    size, stays = len(column.texts), request.retain or Fraction(0)
    if size < 2:
        return column.texts, [[Fraction(1)] for _ in column.texts]
    other = (1 - stays) / (size - 1)
    return column.texts, [[stays if i == j else other for j in range(size)] for i in range(size)]


def inverse(matrix: Matrix, counts: Sequence[int]) -> list[list[Fraction]]:
    """Return the chance that a drawn value came from each value (Bayes): q_lk = p_kl t_k / sum_j p_jl t_j.

    A value that cannot be drawn stays itself.

    >>> half = Fraction(1, 2)
    >>> [[str(q) for q in row] for row in inverse([[half, half], [Fraction(0), Fraction(1)]], [2, 1])]
    [['1', '0'], ['1/2', '1/2']]
    """
    size = len(matrix)
    found = []
    for value in range(size):
        weights = [matrix[other][value] * counts[other] for other in range(size)]
        total = sum(weights, Fraction(0))
        found.append([w / total for w in weights] if total else [Fraction(int(i == value)) for i in range(size)])
    return found


def product(left: Matrix, right: Matrix) -> list[list[Fraction]]:
    """Multiply two matrices exactly."""
    columns = list(zip(*right, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in left]


def surest(matrix: Matrix, counts: Sequence[int]) -> Fraction:
    """Largest probability, over the published values, that a row's published value is its own."""
    size = len(matrix)
    found = [Fraction(0)]
    for value in range(size):
        total = sum((matrix[other][value] * counts[other] for other in range(size)), Fraction(0))
        if total:
            found.append(matrix[value][value] * counts[value] / total)
    return max(found)


def drawn(codes: Int32, matrix: Matrix, chance: Chance, name: str) -> Int32:
    """Draw a new code for each row by the row of the matrix that its code names; -1 stays."""
    found = codes.copy()
    for code, row in enumerate(matrix):
        rows = np.flatnonzero(codes == code)
        if not len(rows):
            continue
        total = lcm(*(share.denominator for share in row))
        if total > LARGEST_TOTAL:
            message = f'the probabilities for "{name}" are too fine to be drawn exactly; round those of the matrix'
            raise DataError(message, column=name)
        upto = np.cumsum([int(share * total) for share in row])
        found[rows] = np.searchsorted(upto, chance.below(total, len(rows)), side="right")
    return found
