"""Slow twins of the attacks on two releases and of uniqueness: from the definitions, in dictionaries and fractions."""

from fractions import Fraction
from itertools import combinations, pairwise

from naive_attacks import covers


def overlap(mine, theirs, values):
    """Whether some value is covered by both labels; a missing value is covered by itself and by the star."""
    return any(covers(mine, value) and covers(theirs, value) for value in values)


def agree(one, other, quasi, values, shared):
    """Whether two rows may be one person's."""
    return all(overlap(one[name], other[name], values[name]) for name in quasi) and all(
        one[name] == other[name] for name in shared
    )


def strata(rows, columns):
    """Runs of rows between which a table is sorted by text, column after column."""
    runs = [range(len(rows))]
    for name in columns:
        if any(rows[a][name] > rows[b][name] for run in runs for a, b in pairwise(run)):
            break
        runs = [
            [i for i in run if rows[i][name] == value] for run in runs for value in sorted({rows[i][name] for i in run})
        ]
    return [list(run) for run in runs]


def order(first, second, quasi, values, shared, columns):
    """Rows that agree at one place, and mean and variance of that number when rows change places within strata."""
    parts = [strata(rows, columns) for rows in (first, second)]
    moved, fixed, runs = (first, second, parts[0]) if len(parts[0]) >= len(parts[1]) else (second, first, parts[1])
    mean = variance = Fraction(0)
    for run in runs:
        table = [[int(agree(moved[i], fixed[j], quasi, values, shared)) for j in run] for i in run]
        n, total = len(run), sum(map(sum, table))
        mean += Fraction(total, n)
        if n > 1:
            across, down = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
            centred = (
                (table[i][j] - Fraction(across[i], n) - Fraction(down[j], n) + Fraction(total, n * n)) ** 2
                for i in range(n)
                for j in range(n)
            )
            variance += sum(centred) / (n - 1)
    hits = sum(agree(one, other, quasi, values, shared) for one, other in zip(first, second, strict=True))
    return hits, mean, variance


def joined(person, releases, quasi, shared):
    """Candidate rows of a person in each of two releases, and those whose shown values occur among the other's."""
    own = [[row for row in rows if all(covers(row[name], person[name]) for name in quasi)] for rows in releases]
    shown = [{tuple(row[name] for name in shared) for row in rows} for rows in own]
    left = [
        sum(tuple(row[name] for name in shared) in shown[1 - side] for row in rows) for side, rows in enumerate(own)
    ]
    return [len(rows) for rows in own], left


def unique_rows(rows, quasi, known):
    """Rows that are alone on some subset of at most so many columns."""
    alone = set()
    for size in range(1, known + 1):
        for chosen in combinations(quasi, size):
            for i, row in enumerate(rows):
                if sum(all(row[name] == other[name] for name in chosen) for other in rows) == 1:
                    alone.add(i)
    return len(alone)
