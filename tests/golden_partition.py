"""Exact expected values for partitions and clusterings; ``test_golden`` runs them."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa

import indistinct as ind
from golden_check import check_in
from indistinct.algorithms.curve import curve_keys
from indistinct.algorithms.literature.t_closeness_first import buckets_of, least_size, rank_bound

CHECKS = {}
check = check_in(CHECKS)


def classes_of(rows, names, algorithm, k, *, order=None, bounds="members", **recoding):
    """Classes of a release of integers, as sets of rows with their boxes: rows are marked by an untouched column."""
    order = order or range(len(names))
    hierarchy = {"kind": "range", "bounds": bounds}
    attributes = {
        names[at]: {"role": "quasi_identifying", "type": "integer", "hierarchy": hierarchy} for at in order
    } | {"row": {"role": "insensitive"}}
    policy = ind.Policy(
        attributes=attributes, privacy=[ind.KAnonymity(k)], recoding={"algorithm": algorithm, **recoding}
    )
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    table = pa.table({**columns, "row": [json.dumps(row) for row in rows]})
    found = {}
    for row in ind.anonymize(table, policy).table.to_pylist():
        found.setdefault(tuple(row[name] for name in names), []).append(tuple(json.loads(row["row"])))
    return found


def as_sets(classes):
    """Compare classes as multisets of rows."""
    return Counter(tuple(sorted(map(tuple, rows))) for rows in classes)


@check("mondrian")
def mondrian(given, parameters, expected, _):
    names = [f"a{at}" for at in range(len(given["rows"][0]))]
    found = classes_of(
        given["rows"],
        names,
        "mondrian",
        parameters["k"],
        order=parameters.get("dimension_order"),
        mode=parameters["mode"],
    )
    assert as_sets(found.values()) == as_sets(expected["classes"])
    boxes = {tuple(str(lo) if lo == hi else f"[{lo}, {hi}]" for lo, hi in box) for box in expected["boxes"]}
    assert set(found) == boxes


def pair(golden):
    return Fraction(golden["fraction"])


@check("hilbert.order")
def hilbert_order(_given, parameters, expected, _):
    side = 2 ** parameters["bits"]
    points = [(x, y) for y in range(side) for x in range(side)]
    (index,) = curve_keys(np.array(points), parameters["bits"])
    assert index.reshape(side, side).tolist() == expected["index"]


@check("microaggregation.univariate")
def microaggregation(given, parameters, expected, _):
    values = [[int(value)] for value in given["values"]]
    for algorithm, groups, key in (
        ("univariate_microaggregation", expected["optimal_groups"], "optimal_sse"),
        ("mdav", expected["mdav_groups"], "mdav_sse"),
    ):
        found = classes_of(values, ["a"], algorithm, parameters["k"])
        wanted = [[(int(value),) for value in group] for group in groups]
        assert as_sets(found.values()) == as_sets(wanted)
        assert sum(squares(rows) for rows in found.values()) == pair(expected[key])
    assert squares(values) == pair(expected["total_sst"])


def squares(rows):
    values = [Fraction(value) for (value,) in rows]
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


@check("clustering.k_member")
def k_member(given, parameters, expected, _):
    values = [[int(value)] for value in given["values"]]
    found = classes_of(values, ["a"], "k_member", parameters["k"])
    assert as_sets(found.values()) == as_sets([[(int(value),) for value in group] for group in expected["clusters"]])
    flat = [value for (value,) in values]
    ranges = [(max(rows)[0] - min(rows)[0]) * len(rows) for rows in found.values()]
    assert Fraction(sum(ranges), max(flat) - min(flat)) == pair(expected["total_il"])


@check("microaggregation.t_closeness_bound")
def t_closeness_bound(_given, parameters, expected, _):
    n, k, t = parameters["n"], parameters["k"], Fraction(parameters["t"])
    assert rank_bound(n, k) == pair(expected["bound"])
    bucket = buckets_of(n, k)
    worst = Fraction(0)
    for chosen in product(*[np.flatnonzero(bucket == b).tolist() for b in range(k)]):
        gaps = [Fraction(sum(rank <= at for rank in chosen), k) - Fraction(at + 1, n) for at in range(n - 1)]
        worst = max(worst, sum(map(abs, gaps)) / (n - 1))
    assert worst == pair(expected["worst_found"])
    assert (worst <= rank_bound(n, k)) is expected["holds"]
    assert next(size for size in range(1, n + 1) if rank_bound(n, size) <= t) == expected["min_k_for_t"]
    assert least_size(n, t, 1) == expected["min_k_for_t"]
