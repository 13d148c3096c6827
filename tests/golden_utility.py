"""Golden checks of losses of releases and of query accuracy; ``test_golden`` runs them."""

from fractions import Fraction
from math import isclose, log

import numpy as np
import pyarrow as pa

import indistinct as ind
import naive_losses
import naive_utility
from indistinct import losses
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import Assignment
from indistinct.utility import TablePair, axis_of
from indistinct.utility.queries import count_after, count_before, count_two_tables


def kl(given, _parameters, expected, _):
    rows = [(name, str(number)) for name, number in given["rows"]]
    class_of = []
    for row in given["rows"]:
        (own,) = [number for number, item in enumerate(given["classes"]) if row in item["cells"]]
        class_of.append(own)
    attributes = {
        "letter": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "number": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
    }
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(1)])
    table = pa.table({"letter": [row[0] for row in rows], "number": [row[1] for row in rows]})
    counted = prepare(table, policy).counted.frequencies
    cells = [
        tuple(h.texts[code] for h, code in zip(counted.quasi, cell, strict=True)) for cell in counted.codes.tolist()
    ]
    assignment = Assignment(
        np.array([cells.index(row) for row in rows], np.int32),
        np.ones(len(rows), np.int64),
        np.array(class_of, np.int32),
        len(given["classes"]),
    )
    found = losses.kullback_leibler(counted, assignment, recoding_of(counted, assignment))
    assert isclose(found, expected["kl_nats"]["decimal"], rel_tol=1e-12)

    boxes = [[set(column) for column in zip(*item["cells"], strict=True)] for item in given["classes"]]
    domains = [sorted({row[at] for row in given["rows"]}) for at in (0, 1)]
    plain = [tuple(row) for row in given["rows"]]
    twin = naive_losses.kl(plain, [0] * len(plain), class_of, [boxes[own] for own in class_of], domains, [0])
    assert isclose(twin, log(4 / 3) / 2 + log(2 / 3) / 4, rel_tol=1e-12)
    assert isclose(twin, expected["kl_nats"]["decimal"], rel_tol=1e-12)


def count_query(given, _parameters, expected, _):
    columns, sensitive = given["columns"], given["sensitive"]
    rows = [dict(zip(columns, row, strict=True)) for row in given["rows"]]
    group_of = {row: number for number, item in enumerate(given["classes"]) for row in item["rows"]}
    labels = []
    for number, row in enumerate(rows):
        members = [rows[other] for other in given["classes"][group_of[number]]["rows"]]
        ends = {name: (min(m[name] for m in members), max(m[name] for m in members)) for name in columns}
        labels.append(
            [str(row[name]) if name == sensitive else f"[{ends[name][0]}, {ends[name][1]}]" for name in columns]
        )
    axes, before, after = [], [], []
    for at, name in enumerate(columns):
        texts = list(dict.fromkeys(str(row[name]) for row in rows))
        published = list(dict.fromkeys(label[at] for label in labels))
        axes.append(axis_of(name, texts, published, "integer"))
        before.append([texts.index(str(row[name])) for row in rows])
        after.append([published.index(label[at]) for label in labels])
    ones = np.ones(len(rows), np.int64)
    pair = TablePair(tuple(axes), np.array(before).T, ones, np.array(after).T, ones)
    groups = np.array([group_of[number] for number in range(len(rows))])
    errors = {"generalised": [], "two_table": []}
    for query, item in zip(given["queries"], expected["queries"], strict=True):
        wanted = {columns.index(name): (float(lo), float(hi)) for name, (lo, hi) in query.items()}
        actual = count_before(pair, wanted)
        assert actual == item["actual"]
        estimate = count_after(pair, wanted)
        assert isclose(estimate, item["generalised_estimate"]["decimal"], rel_tol=1e-12)
        quasi = [name for name in query if name != sensitive]
        meets = np.array([all(query[n][0] <= row[n] <= query[n][1] for n in quasi) for row in rows])
        secret = np.array([query[sensitive][0] <= row[sensitive] <= query[sensitive][1] for row in rows])
        joined = count_two_tables(groups, meets, groups, secret, ones)
        assert isclose(joined, item["two_table_estimate"]["decimal"], rel_tol=1e-12)
        errors["generalised"].append(abs(actual - estimate) / actual)
        errors["two_table"].append(abs(actual - joined) / actual)

        sets = {name: set(range(lo, hi + 1)) for name, (lo, hi) in query.items()}
        assert naive_utility.exact_count(rows, sets) == item["actual"]
        cells = [
            {name: {row[name]} if name == sensitive else _span(rows, given, group_of[number], name) for name in columns}
            for number, row in enumerate(rows)
        ]
        assert naive_utility.generalised_estimate(cells, sets) == Fraction(item["generalised_estimate"]["fraction"])
        members = [[rows[row] for row in own["rows"]] for own in given["classes"]]
        twin = naive_utility.two_table_estimate(
            members, {name: sets[name] for name in quasi}, sets[sensitive], sensitive
        )
        assert twin == Fraction(item["two_table_estimate"]["fraction"])
    for kind, key in (("generalised", "are_generalised"), ("two_table", "are_two_table")):
        assert isclose(np.mean(errors[kind]), expected[key]["decimal"], rel_tol=1e-12)


def _span(rows, given, group, name):
    values = [rows[row][name] for row in given["classes"][group]["rows"]]
    return set(range(min(values), max(values) + 1))


CHECKS = {"metrics.kl": kl, "metrics.count_query": count_query}
