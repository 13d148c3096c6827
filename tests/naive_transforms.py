"""Naive twins of the transforms and of what they promise: dictionaries, fractions, loops."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations


def is_blanked(before, after):
    """Whether each cell is its original or None."""
    return all(new in (None, old) for old, new in zip(before, after, strict=True))


def smallest(rows):
    """Rows of the rarest combination."""
    return min(Counter(rows).values())


def blanked(rows, k, weights):
    """Combinations with blanks, by their rows: the definition of docs/transforms.md, row by row."""
    found = dict(enumerate(rows))
    counts = Counter(rows)
    unsafe = [i for i, row in found.items() if counts[row] < k]
    width = len(rows[0])
    sets = [chosen for size in range(1, width + 1) for chosen in combinations(range(width), size)]
    for chosen in sorted(sets, key=lambda c: (sum(weights[i] for i in c), c)):
        trial = {i: tuple(None if j in chosen else v for j, v in enumerate(rows[i])) for i in unsafe}
        counts = Counter(trial.values()) + Counter(found[i] for i in found if i not in trial)
        found |= {i: row for i, row in trial.items() if counts[row] >= k}
        unsafe = [i for i in unsafe if counts[trial[i]] < k]
    nothing = (None,) * width
    while unsafe:
        for i in unsafe:
            found[i] = nothing
        members = defaultdict(list)
        for i, row in found.items():
            members[row].append(i)
        if len(members[nothing]) >= k:
            break
        others = [row for row in members if row != nothing]
        unsafe = members[min(others, key=lambda r: (len(members[r]), tuple((v is not None, v or "") for v in r)))]
    return [found[i] for i in range(len(rows))]


def invariant(matrix, counts):
    """Matrix of invariant PRAM by its formula."""
    m = range(len(matrix))
    q = [
        [
            matrix[j][i] * counts[j] / sum(matrix[e][i] * counts[e] for e in m)
            if sum(matrix[e][i] * counts[e] for e in m)
            else Fraction(int(i == j))
            for j in m
        ]
        for i in m
    ]
    return [[sum(matrix[i][e] * q[e][j] for e in m) for j in m] for i in m]
