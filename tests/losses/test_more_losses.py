"""The other losses against their slow twins and hand-worked values, and as the aim of a search."""

from fractions import Fraction
from math import isclose, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_losses as naive
from indistinct import losses
from indistinct.hierarchies.taxonomy import build as taxonomy
from indistinct.losses.cells import cells as cells_of
from indistinct.losses.cells import class_rows, spans
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment

TREE = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"), ("e", "e", "*")]
LEAVES = [row[0] for row in TREE]


def released(rows, secrets, groups):
    """Frequencies, assignment and recoding of rows (letter, whole number) in the classes of ``groups``."""
    table = pa.table(
        {"letter": [r[0] for r in rows], "number": [str(r[1]) for r in rows], "secret": [str(s) for s in secrets]}
    )
    policy = ind.Policy(
        attributes={
            "letter": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "number": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
            "secret": {"role": "sensitive"},
        },
        privacy=[ind.DistinctL("secret", 1)],
    )
    counted = prepare(table, policy).counted.frequencies
    known = [h.codes() for h in (*counted.quasi, *counted.sensitive)]
    codes = [
        tuple(index[str(value)] for index, value in zip(known, (*row, secret), strict=True))
        for row, secret in zip(rows, secrets, strict=True)
    ]
    place = {tuple(cell): number for number, cell in enumerate(counted.codes.tolist())}
    names = {group: number for number, group in enumerate(sorted(set(groups) - {None}))}
    assignment = Assignment(
        np.array([place[code] for code in codes], np.int32),
        np.ones(len(rows), np.int64),
        np.array([SUPPRESSED if group is None else names[group] for group in groups], np.int32),
        len(names),
    )
    return counted, assignment, recoding_of(counted, assignment)


def boxes(rows, groups):
    letters, numbers = sorted({r[0] for r in rows}), sorted({r[1] for r in rows})
    found = []
    for group in groups:
        if group is None:
            found.append(None)
            continue
        mine = [row for row, own in zip(rows, groups, strict=True) if own == group]
        some = {r[0] for r in mine}
        low, high = min(r[1] for r in mine), max(r[1] for r in mine)
        found.append((some if len(some) == 1 else set(letters), {n for n in numbers if low <= n <= high}))
    return found, (letters, numbers)


ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 2), st.sampled_from([0, 1, 2, None])),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@given(ROWS)
def test_losses_are_those_of_their_definitions(drawn):
    rows, secrets, groups = [r[:2] for r in drawn], [r[2] for r in drawn], [r[3] for r in drawn]
    release = released(rows, secrets, groups)
    found, domains = boxes(rows, groups)
    assert losses.ambiguity(*release)[0] == naive.ambiguity(found, domains)
    expected = naive.kl(rows, secrets, groups, found, domains, sorted(set(secrets)))
    assert isclose(losses.kullback_leibler(*release), expected, rel_tol=1e-9, abs_tol=1e-9)
    letters = [[cell if cell is None else (cell[0],) for cell in found], domains[:1]]
    assert losses.iloss(*release)[1]["letter"] == naive.iloss(rows, *letters)
    levels = [None if cell is None else (int(len(cell[0]) > 1),) for cell in found]
    assert losses.precision(*release)[1]["letter"] == naive.precision(levels, (1,))
    codes = np.array([-1 if group is None else group for group in groups], np.int32)
    metric = losses.classification_metric(codes, np.array(secrets), np.ones(len(rows), np.int64))
    assert metric == naive.classification(groups, secrets)


def test_three_normalisations_of_three_of_ten_leaves():
    ten = [(f"v{i}", "low" if i < 3 else "high", "*") for i in range(10)]
    hierarchy = taxonomy("s", ["v0", "v2", "v5"], ten)
    assert losses.priced([hierarchy], "gcp")[0].cost(0, 1) == Fraction(3, 10)
    assert losses.priced([hierarchy], "iloss")[0].weight * hierarchy.cost(0, 1) == Fraction(1, 5)
    assert losses.priced([hierarchy], "precision")[0].cost(0, 1) == Fraction(1, 2)
    with pytest.raises(ValueError, match="discernibility"):
        losses.priced([hierarchy], "discernibility")


def test_kl_of_the_worked_example():
    """Three of a, with 1, 1, 2, and one b2: (1/2) ln(4/3) + (1/4) ln(2/3) nats."""
    release = released([("a", 1), ("a", 1), ("a", 2), ("b", 2)], [0, 0, 0, 0], [0, 0, 0, 1])
    expected = log(4 / 3) / 2 + log(2 / 3) / 4
    assert isclose(losses.kullback_leibler(*release), expected, rel_tol=1e-12)


def test_classification_metric_with_suppression():
    """Labels 3/1, 2/2, 0/4 and two suppressed rows: 5/14."""
    classes, labels = np.array([0, 0, 1, 1, 2, -1]), np.array([0, 1, 0, 1, 1, 0])
    assert losses.classification_metric(classes, labels, np.array([3, 1, 2, 2, 4, 2])) == Fraction(5, 14)


def test_spans_of_nodes_and_ranges():
    release = released([("a", 1), ("b", 5), ("a", 9), ("a", 9)], [0] * 4, [0, 0, 1, 1])
    rows, _ = class_rows(release[1])
    assert [part.tolist() for part in spans(cells_of(release[2], 0, rows))] == [[0, 0], [0, 1]]
    assert [part.tolist() for part in spans(cells_of(release[2], 1, rows))] == [[0, 2], [1, 2]]


def files(tmp_path):
    (tmp_path / "tree.csv").write_text("".join(";".join(row) + "\n" for row in TREE))
    return {"role": "qi", "hierarchy": {"file": str(tmp_path / "tree.csv")}}


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.tuples(st.sampled_from(LEAVES), st.integers(0, 7)), min_size=4, max_size=14))
def test_optimal_makes_the_chosen_loss_least(tmp_path_factory, drawn):
    tmp_path = tmp_path_factory.mktemp("tree")
    table = pa.table({"x": [r[0] for r in drawn], "y": [r[1] for r in drawn]})
    age = {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [2, 4]}}

    def run(loss, levels=None):
        attributes = {"x": files(tmp_path), "y": age}
        if levels is not None:
            for at, name in enumerate(("x", "y")):
                attributes[name] = {**attributes[name], "min_level": levels[at], "max_level": levels[at]}
        policy = ind.Policy(
            attributes=attributes,
            privacy=[ind.KAnonymity(2)],
            suppression={"limit": "1/4"},
            recoding={"algorithm": "optimal", "loss": loss},
        )
        return ind.anonymize(table, policy).loss

    every = []
    for node in ((x, y) for x in range(3) for y in range(4)):
        try:
            every.append(run("lm", node))
        except ind.InfeasibleError:
            continue
    for loss, worst in (("gcp", max), ("iloss", max), ("precision", min)):
        found = run(loss)[loss]
        pick = min if worst is max else max
        assert isclose(found, pick(item[loss] for item in every), abs_tol=1e-9)


def test_losses_that_no_search_minimises_are_refused_with_a_sentence():
    attributes = {"x": {"role": "qi", "hierarchy": {"kind": "suppress"}}}
    with pytest.raises(ind.PolicyError, match=r"no search makes it small; choose from: lm, gcp, iloss, precision"):
        ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)], recoding={"loss": "discernibility"})
    with pytest.raises(ind.PolicyError, match="is for local, optimal; the algorithm is generalize_step"):
        ind.Policy(
            attributes=attributes,
            privacy=[ind.KAnonymity(2)],
            recoding={"loss": "gcp", "algorithm": "generalize_step"},
        )
