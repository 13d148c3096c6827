"""Random small tables and what they owe, for comparing a search with the optimum."""

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np

from exact_partition import Demand, holds
from indistinct.hierarchies import build_hierarchy
from indistinct.policy.privacy import AlphaK, DistinctL, KAnonymity, RecursiveCL, TCloseness
from indistinct.tables.count import frequencies_of

MODELS = ("k2", "k3", "k2l2", "k3l2", "alpha", "recursive", "t")


def tables(model, number):
    """Rows, widths of the columns, the demand and the models of so many tables in which one class of all holds."""
    seed = 0
    while number:
        seed += 1
        rows, widths, demand, privacy = _table(model, seed)
        values = [row[-1] for row in rows]
        if len(rows[0]) == len(widths) or holds(values, demand, values):
            number -= 1
            yield rows, widths, demand, privacy


def _table(model, seed):
    random = Random(f"{model} {seed}")  # noqa: S311  # the same tables every time
    n, d = random.randint(20, 50 if model == "k3" else 60), random.randint(2, 4)
    columns = [_column(random, n, random.randint(3, 10), lambda: random.random() ** 2 + 0.05) for _ in range(d)]
    widths = [max(1, max(column) - min(column)) for column in columns]
    k = 2 if model.startswith("k2") else 3
    if model in {"k2", "k3"}:
        return list(zip(*columns, strict=True)), widths, Demand(k), [KAnonymity(k)]
    columns.append(_column(random, n, random.randint(2, 4), lambda: random.random() + 0.15))
    if model == "alpha":
        counts = Counter(columns[d])
        value = min(counts, key=lambda one: (counts[one], one))
        exact = Fraction(counts[value], n) * Fraction(random.randint(120, 250), 100) + Fraction(5, 1000)
        alpha = Fraction(round(min(exact, 1) * 10_000), 10_000)
        demand, privacy = Demand(k, alpha=(value, alpha)), [AlphaK("s", str(alpha), k, values=(str(value),))]
    elif model == "recursive":
        demand, privacy = Demand(k, recursive=3), [KAnonymity(k), RecursiveCL("s", 3, 2)]
    elif model == "t":
        demand, privacy = Demand(k, t=Fraction(3, 10)), [KAnonymity(k), TCloseness("s", "3/10", distance="equal")]
    else:
        demand, privacy = Demand(k, distinct=2), [KAnonymity(k), DistinctL("s", 2)]
    return list(zip(*columns, strict=True)), widths, demand, privacy


def _column(random, n, most, weight):
    return random.choices(range(most), [weight() for _ in range(most)], k=n)


def frequencies(rows, widths):
    """Count a table; its columns are published as ranges of their members."""
    names = [f"x{a}" for a in range(len(widths))] + ["s"] * (len(rows[0]) - len(widths))
    hierarchies, codes = [], []
    for at, name in enumerate(names):
        column = [row[at] for row in rows]
        kind = {"spec": None} if name == "s" else {"spec": {"kind": "range", "bounds": "members"}, "type": "integer"}
        hierarchies.append(build_hierarchy(name, [str(value) for value in sorted(set(column))], **kind))
        code_of = hierarchies[-1].codes()
        codes.append([code_of[str(value)] for value in column])
    cells, counts = np.unique(np.array(codes, np.int32).T, axis=0, return_counts=True)
    d = len(widths)
    quasi, sensitive = tuple(hierarchies[:d]), tuple(hierarchies[d:])
    return frequencies_of(quasi, sensitive, np.ascontiguousarray(cells), counts.astype(np.int64))
