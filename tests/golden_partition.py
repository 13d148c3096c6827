"""Exact expected values for partitions and clusterings; ``test_golden`` runs them."""

import json
from collections import Counter

import pyarrow as pa

import indistinct as ind

CHECKS = {}


def check(target):
    def register(function):
        CHECKS[target] = function
        return function

    return register


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
