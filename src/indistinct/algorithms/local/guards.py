"""The criteria of a policy, in the form that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.criteria import ALPHA, DISTINCT, T_EQUAL, T_HIERARCHICAL, T_ORDERED, K
from indistinct.kernels.guards import KIND, ONE_COUNT, Guards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.models import Criterion

    Int32 = NDArray[np.int32]
    Float64 = NDArray[np.float64]


def guards_of(
    criteria: Sequence[Criterion], sensitive: Sequence[str], sizes: Sequence[int], spanning: int = 0
) -> Guards:
    """Bring criteria into the form that kernels read; ``sizes`` are the domain sizes of ``sensitive``.

    ``spanning`` persons are in more than one unit.
    """
    k = max([1, *(int(c.parameters[0]) for c in criteria if c.kind in {K, DISTINCT})])
    places = max([0, *(int(c.parameters[0]) for c in criteria if c.kind == DISTINCT)])
    columns = {name: position for position, name in enumerate(sensitive)}
    stated = sorted(
        ((columns[c.attribute], c) for c in criteria if c.kind != K and c.attribute is not None),
        key=lambda pair: pair[0],
    )
    people = int(spanning > 0 and k > 1)  # the first criterion counts distinct persons
    spec, parameter = np.zeros((people + len(stated), 5), np.int64), np.zeros((people + len(stated), 2))
    spec[:people] = K, -1, spanning, 0, 0
    nodes, shares = [np.zeros(0, np.int32)], [np.zeros(0)]
    for row, (column, criterion) in enumerate(stated, start=people):
        node, share, height = _profile(criterion, sizes[column])
        kind = T_HIERARCHICAL if criterion.kind == T_EQUAL else criterion.kind
        spec[row] = kind, column, sizes[column], height, sum(len(part) for part in shares)
        given = criterion.parameters[: 1 if kind == ALPHA else 2]
        parameter[row, : len(given)] = given
        nodes.append(node)
        shares.append(share)
    only = int(len(spec) == 1 and len(stated) == 1 and stated[0][1].kind == DISTINCT)
    limits = np.array([k, max([1, spanning, *sizes]), max(places, people * k), only], np.int64)
    return Guards(limits, spec, parameter, np.concatenate(nodes).astype(np.int32), np.concatenate(shares))


def _profile(criterion: Criterion, size: int) -> tuple[Int32, Float64, int]:
    """Nodes, shares and number of levels of one criterion, padded to equal length."""
    if criterion.kind == T_ORDERED:
        order = np.arange(size)
        if len(criterion.parameters) > 1 and criterion.parameters[1] > 0:
            order = np.roll(order, 1)
        below = np.cumsum(criterion.shares[order])
        share = np.concatenate([below, [0.0], np.cumsum(below)])
        return np.zeros(len(share), np.int32), share, 0
    if criterion.kind in {T_EQUAL, T_HIERARCHICAL}:
        tree = criterion.tree[:-1] if criterion.kind == T_HIERARCHICAL else np.arange(size)[None, :]
        share = np.zeros(tree.shape)
        for level, node in enumerate(tree):
            share[level] = np.bincount(node, weights=criterion.shares, minlength=size)[:size]
        return tree.astype(np.int32).reshape(-1), share.reshape(-1), len(tree)
    share = np.zeros(size)
    if criterion.kind == ALPHA:
        concerned = criterion.parameters[1:].astype(np.int64)
        share[concerned if len(concerned) else slice(None)] = 1.0
    return np.zeros(size, np.int32), share, 0


def absorbing(guards: Guards) -> Guards:
    """Return the guards that stay satisfied when anything is added: size and distinct values."""
    stated = np.isin(guards.spec[:, KIND], (K, DISTINCT))
    limits = guards.limits.copy()
    limits[ONE_COUNT] = stated.sum() == 1 and (guards.spec[stated, KIND] == DISTINCT).all()
    return guards._replace(limits=limits, spec=guards.spec[stated], parameter=guards.parameter[stated])
