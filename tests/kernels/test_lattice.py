"""Bounds over boxes of the lattice against loops over their nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from indistinct.kernels.lattice import box_bound, next_open, smallest_below, tighten

pytestmark = pytest.mark.small

SHAPE = (3, 1, 2, 4)
NODES = list(product(*map(range, SHAPE)))
STRIDES = np.array([8, 8, 4, 1], np.int64)


@pytest.fixture
def terms():
    generator = np.random.default_rng(1)
    base = np.cumsum(generator.random((4, 4)), axis=1) / 9
    return base, np.cumsum(generator.random((4, 4)), axis=1)


def at(table, node):
    return sum(table[a, p] for a, p in enumerate(node))


@pytest.mark.parametrize("node", [(2, 0, 1, 3), (1, 0, 0, 2), (0, 0, 0, 0), (0, 0, 1, 3)])
def test_tightens_the_box_below(node, terms):
    base, relief = terms
    bound = np.full(len(NODES), 0.6)
    vector = np.array(node, np.int64)
    tighten(bound, vector, STRIDES, base, relief, 7, 10)
    for number, other in enumerate(NODES):
        below = all(p <= q for p, q in zip(other, node, strict=True))
        proved = at(base, other) + (7 - at(relief, other)) / 10
        assert bound[number] == pytest.approx(max(0.6, proved) if below else 0.6)
    tighten(bound, vector, STRIDES, base, base, 0, 0)
    for number, other in enumerate(NODES):
        assert np.isinf(bound[number]) == all(p <= q for p, q in zip(other, node, strict=True))


def test_bounds_a_box_by_the_provers_above(terms):
    base, relief = terms
    low, high = np.array([0, 0, 0, 1], np.int64), np.array([1, 0, 1, 2], np.int64)
    inside = [n for n in NODES if all(a <= p <= b for a, p, b in zip(low, n, high, strict=True))]
    provers = np.array([[2, 0, 1, 3], [1, 0, 1, 1]], np.int64)  # the second does not cover the box
    least, reliefs = np.array([30, 9], np.int64), np.array([relief, relief])
    plain = box_bound(provers, least, reliefs, 0, base, low, high, 10, 10)
    assert plain == pytest.approx(min(at(base, node) for node in inside))
    tight = box_bound(provers[:1], np.array([8]), reliefs, 1, base, low, high, 10, 10)
    assert plain <= tight <= min(at(base, node) + max(0, 8 - at(relief, node)) / 10 for node in inside) + 1e-12
    assert box_bound(provers, least, reliefs, 1, base, low, high, 10, 10) == np.inf
    assert box_bound(provers, np.array([0, 30]), reliefs, 2, base, low, high, 10, 10) < np.inf


def test_finds_the_next_open_place():
    order, bound = np.array([2, 0, 1]), np.array([0.5, 0.2, np.inf])
    assert next_open(order, bound, 0, 0.4) == 2
    assert next_open(order, bound, 0, 0.5) == 1
    assert next_open(order, bound, 0, 0.1) == 3


def test_finds_the_smallest_table_below():
    stored = np.array([[0, 0], [1, 0], [0, 2], [9, 9]], np.int64)
    sizes = np.array([9, 4, 3, 1], np.int64)
    assert smallest_below(stored, sizes, 4, np.array([1, 1])) == 1
    assert smallest_below(stored, sizes, 4, np.array([1, 2])) == 2
    assert smallest_below(stored[1:], sizes[1:], 1, np.array([0, 0])) == -1
