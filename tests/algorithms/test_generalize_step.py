"""The reference articles' loop, step by step."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from indistinct.algorithms.generalize_step import generalize_step
from indistinct.errors import InfeasibleError
from indistinct.hierarchies.hierarchy import Hierarchy, Level
from indistinct.policy.privacy import DistinctL, KAnonymity
from indistinct.policy.recoding import GeneralizeStep
from indistinct.tables.records import Frequencies, Reference


def attribute(name, *levels, weight=1):
    """A hierarchy from the node numbers of each level; costs as if the values were all leaves."""
    size = len(levels[0])
    return Hierarchy(
        name,
        "taxonomy",
        tuple(f"v{value}" for value in range(size)),
        tuple(
            Level(
                np.array(nodes, np.int32),
                tuple(map(str, range(max(nodes) + 1))),
                tuple(Fraction(nodes.count(node) - 1, size - 1) for node in range(max(nodes) + 1)),
            )
            for nodes in levels
        ),
        weight=Fraction(weight),
    )


def table(rows, quasi, sensitive=()):
    cells = sorted(set(rows))
    start = [i for i, cell in enumerate(cells) if i == 0 or cell[: len(quasi)] != cells[i - 1][: len(quasi)]]
    references = {
        hierarchy.attribute: Reference(
            hierarchy, np.bincount([row[position] for row in rows], minlength=hierarchy.size), len(rows)
        )
        for position, hierarchy in enumerate(sensitive, start=len(quasi))
    }
    return Frequencies(
        tuple(quasi),
        tuple(sensitive),
        np.array(cells, np.int32),
        np.array([rows.count(cell) for cell in cells], np.int64),
        np.array([*start, len(cells)], np.int64),
        references,
    )


def run(frequencies, privacy, limit=0):
    seen = []
    policy = SimpleNamespace(
        privacy=tuple(privacy),
        suppression=SimpleNamespace(limit=Fraction(limit)),
        recoding=GeneralizeStep(),
    )
    return generalize_step(frequencies, policy, lambda *step: seen.append(step)), seen


def test_raises_the_cheaper_attribute_first():
    # a: pairs cost 1/3 for all four rows; b: its only step costs 1
    a, b = attribute("a", [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]), attribute("b", [0, 1], [0, 0])
    found, seen = run(table([(0, 0), (1, 0), (2, 1), (3, 1)], [a, b]), [KAnonymity(2)])
    assert found.levels == (1, 0)
    assert found.class_of.tolist() == [0, 0, 1, 1]
    assert found.proven is None
    assert [step[0] for step in seen] == ["search"]


def test_weights_and_policy_order_decide_ties():
    a, b = attribute("a", [0, 1], [0, 0]), attribute("b", [0, 1], [0, 0])
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert run(table(rows, [a, b]), [KAnonymity(2)])[0].levels == (1, 0)
    heavy = attribute("a", [0, 1], [0, 0], weight=2)
    assert run(table(rows, [heavy, b]), [KAnonymity(2)])[0].levels == (0, 1)


def test_loses_more_than_the_optimum_where_greed_misleads():
    # the cheap steps of a (1/3 and 2/3) come before b's single step, which alone would do
    a, b = attribute("a", [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]), attribute("b", [0, 1], [0, 0])
    rows = [(v, w) for v in range(4) for w in range(2)]
    found, _ = run(table(rows, [a, b]), [KAnonymity(2)])
    assert found.levels == (1, 0)
    found, _ = run(table([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)], [a, b]), [KAnonymity(8)])
    assert found.levels == (2, 1)


def test_stops_as_soon_as_the_limit_allows():
    a = attribute("a", [0, 1, 2], [0, 0, 0])
    rows = [(0,)] * 4 + [(1,)] * 4 + [(2,)]
    found, _ = run(table(rows, [a]), [KAnonymity(2)], "1/9")
    assert found.levels == (0,)
    assert found.class_of.tolist() == [0, 1, -1]
    assert run(table(rows, [a]), [KAnonymity(2)], "1/10")[0].levels == (1,)


def test_holds_l_too():
    a, s = attribute("a", [0, 1], [0, 0]), attribute("s", [0, 1])
    found, _ = run(table([(0, 0), (0, 0), (1, 1), (1, 1)], [a], [s]), [KAnonymity(2), DistinctL("s", 2)])
    assert found.levels == (1,)


def test_top_level_that_does_not_hold():
    grade = attribute("grade", [0, 1, 2], [0, 0, 1])
    with pytest.raises(InfeasibleError, match="top level of 'grade' still has 2 labels"):
        run(table([(0,), (1,), (2,)], [grade]), [KAnonymity(3)])


def test_order_of_rows_does_not_matter():
    random = Random(7)  # noqa: S311  # the same rows every time
    a, b = attribute("a", [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]), attribute("b", [0, 1, 2], [0, 1, 1], [0, 0, 0])
    rows = [(random.randrange(4), random.randrange(3)) for _ in range(30)] + [(v, v % 3) for v in range(4)]
    first, _ = run(table(rows, [a, b]), [KAnonymity(4)])
    random.shuffle(rows)
    second, _ = run(table(rows, [a, b]), [KAnonymity(4)])
    assert first.levels == second.levels
    assert (first.class_of == second.class_of).all()
