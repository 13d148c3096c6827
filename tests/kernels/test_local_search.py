"""The bookkeeping of the local search: after any passes, what it believes of its classes is what they are."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from indistinct.algorithms.local import merging, plan, search
from indistinct.algorithms.local import state as state_module
from indistinct.algorithms.local.costs import LARGEST_TABLE, costs_of
from indistinct.algorithms.local.near import near_units, next_units, redrawn_units
from indistinct.algorithms.local.problem import problem_of
from indistinct.algorithms.local.settle import failing
from indistinct.algorithms.local.state import regroup, restore, snapshot
from indistinct.hierarchies import build_hierarchy, taxonomy
from indistinct.kernels import kernel
from indistinct.kernels.boxes import NEVER, hull
from indistinct.kernels.boxes import swapped_loss as swapped_loss_step
from indistinct.kernels.boxes import union_loss as union_loss_step
from indistinct.kernels.partition import CLASS, HEAD, NEXT
from indistinct.kernels.units import reach_of
from indistinct.policy.privacy import DistinctL, KAnonymity, TCloseness
from indistinct.tables.count import frequencies_of, silent

MODELS = {
    "k": [KAnonymity(3)],
    "distinct": [KAnonymity(3), DistinctL("ill", 2)],
    "equal": [KAnonymity(3), TCloseness("ill", "0.3", distance="equal")],
}


@kernel
def union_loss(costs, box, other):
    """``boxes.union_loss`` is a step, which compiled code alone may call."""
    return union_loss_step(costs, box, other)


@kernel
def swapped_loss(costs, box, inner, ties, gone, new):
    """``boxes.swapped_loss`` is such a step too."""
    return swapped_loss_step(costs, box, inner, ties, gone, new)


def seeded(seed):
    return Random(seed)  # noqa: S311  # the same instances every time


def problem(name, n=400, kinds="trees"):
    random = seeded(n)
    columns = [[str(random.randint(0, 60)) for _ in range(n)], [random.choice("abcdef") for _ in range(n)]]
    if kinds == "sets":
        columns.append([random.choice(["", *"uvw"]) + str(random.randint(0, 11)) for _ in range(n)])
    rows = [("a", "x", "*"), ("b", "x", "*"), ("c", "x", "*"), ("d", "y", "*"), ("e", "y", "*"), ("f", "y", "*")]
    quasi = (
        build_hierarchy("age", sorted(set(columns[0])), spec={"kind": "range", "bounds": "members"}, type="integer"),
        taxonomy.build("area", sorted(set(columns[1])), rows),
    )
    if kinds == "sets":
        tree = build_hierarchy("area", sorted(set(columns[1])), spec={"kind": "set", "most": 2, "rows": rows})
        quasi = (quasi[0], tree, build_hierarchy("part", sorted(set(columns[2])), spec={"kind": "set"}))
    ill = [random.choice("pqqr") for _ in range(n)]
    sensitive = () if name == "k" else (build_hierarchy("ill", sorted(set(ill)), spec=None),)
    names = [*quasi, *sensitive]
    codes = np.stack(
        [[h.codes()[v] for v in column] for h, column in zip(names, [*columns, ill], strict=False)], axis=1
    ).astype(np.int32)
    cells, counts = np.unique(codes, axis=0, return_counts=True)
    frequencies = frequencies_of(quasi, sensitive, np.ascontiguousarray(cells), counts.astype(np.int64))
    policy = SimpleNamespace(privacy=tuple(MODELS[name]), suppression=SimpleNamespace(limit=0))
    return problem_of(frequencies, policy)


def bits(rows, column):
    return sorted(bit for row in rows for bit in range(31) if int(row[column]) >> bit & 1)


def audit(state):
    """Compare what the state believes with what follows from its classes."""
    parts, units = state.partition, state.units
    class_of = parts.link[:, CLASS]
    assert (class_of >= 0).all()
    for c in range(len(parts.loss)):
        members = np.flatnonzero(class_of == c)
        assert parts.mass[c].tolist() == [*units.mass[members].sum(axis=0).tolist(), len(members)]
        listed, u = [], parts.state[c, HEAD]
        while u >= 0:
            listed.append(int(u))
            u = parts.link[u, NEXT]
        assert sorted(listed) == members.tolist()
        if len(members):
            ends = state.problem.costs.ends
            box = hull(units.reach[members], ends)
            assert (parts.box[c] == box).all()
            assert (parts.ties[c] == (units.reach[members] == box).sum(axis=0))[:ends].all()
            twice = [Counter(bits(units.reach[members], w)) for w in range(ends, len(box))]
            for word, found in zip(parts.inner[c][ends:], twice, strict=True):
                assert bits([[word]], 0) == sorted(bit for bit, times in found.items() if times > 1)
            assert parts.loss[c] == pytest.approx(union_loss(state.problem.costs, box, box))
    if parts.counts.shape[1]:
        counts = np.zeros_like(parts.counts)
        entry = np.repeat(class_of, np.diff(units.start))
        np.add.at(counts, (entry, units.values[:, 0]), units.counts)
        assert (counts == parts.counts).all()
    assert len(failing(state, state.used)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [pytest.param(40, marks=pytest.mark.small), 400])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kinds", ["trees", "sets"])
def test_every_pass_keeps_its_books(name, rows, kinds, monkeypatch):
    monkeypatch.setattr(state_module, "PER_REGION", rows // 4)
    state = plan._starts(problem(name, rows, kinds), silent)[0]
    audit(state)
    losses = [state.loss()]
    nearest = near_units(state)
    passes = {
        "next": lambda turn: search.move_units(state, next_units(state), turn, state.single),
        "move": lambda turn: search.move_units(state, nearest, turn, state.single),
        "rebuild": lambda turn: search.rebuild_pools(state, nearest, turn, rows),
        "split": lambda turn: search.split_classes(state, turn),
    }
    for turn, one in enumerate([*passes.values(), *passes.values()]):
        one(turn)
        audit(state)
        losses.append(state.loss())
        assert losses[-1] <= losses[-2] + 1e-9  # all of these only ever improve
        if turn == 3:
            regroup(state, nearest)
            audit(state)
            assert state.loss() == pytest.approx(losses[-1])
            saved = snapshot(state)
    search.anneal_units(state, nearest, 9, rows // 20, (1.0, 0.2))
    audit(state)
    restore(state, saved)
    audit(state)
    assert state.loss() == pytest.approx(losses[4])


def test_a_search_never_returns_what_loses_more(monkeypatch):
    state = plan._starts(problem("equal"), silent)[0]
    nearest = near_units(state)
    before = state.loss()

    def spoil(state, nearest, *_):
        search.anneal_units(state, nearest, 0, 5, (50.0, 50.0))
        regroup(state, nearest)
        assert state.loss() > before

    monkeypatch.setattr(plan, "_anneal", spoil)
    monkeypatch.setattr(plan, "LARGE", 0)
    plan._search(state, nearest, lambda *_: None, 0)
    assert state.loss() == pytest.approx(before)
    audit(state)


def test_near_units_are_near():
    state = plan._starts(problem("k"), silent)[0]
    nearest = near_units(state)
    units = state.units
    single = np.flatnonzero(state.single)
    distance = [
        [union_loss(state.problem.costs, units.reach[u], units.reach[v]) for v in single if v != u] for u in single[:40]
    ]
    for u, all_of_them in zip(single[:40], distance, strict=True):
        found = [union_loss(state.problem.costs, units.reach[u], units.reach[v]) for v in nearest[u] if v >= 0]
        assert u not in nearest[u]
        assert min(found) == pytest.approx(min(all_of_them))


@pytest.mark.parametrize("size", [30, LARGEST_TABLE + 200])
def test_costs_are_those_of_the_hierarchies(size):
    random = seeded(size)
    texts = sorted({f"{random.randrange(10**4):04d}" for _ in range(3 * size)})[:size]
    quasi = (
        taxonomy.build("tree", texts, [(t, t[:3], t[:2], t[:1], "*") for t in texts]),
        taxonomy.build("tops", texts, [(t, t[:2], t[:1]) for t in texts]),
        build_hierarchy("range", [str(i * i) for i in range(size)], spec={"kind": "range"}, type="integer"),
        build_hierarchy(
            "holes",
            [*(str(i) for i in range(size - 1)), None],
            spec={"kind": "range", "bounds": "members"},
            type="integer",
        ),
        build_hierarchy("fixed", texts, spec=None),
        *(() if size > 1000 else sets_of(texts)),
    )
    costs = costs_of(quasi)
    for _ in range(200):
        members = np.array([[random.randrange(size) for _ in quasi] for _ in range(random.choice([1, 2, 5]))], np.int32)
        if random.random() < 0.5:
            members = np.minimum(members[:1] + (members % 3), size - 1).astype(np.int32)
        expected = 0.0
        for a, hierarchy in enumerate(quasi):
            try:
                expected += float(hierarchy.cost_of(sorted(set(members[:, a].tolist()))))
            except ValueError:  # no label covers both
                expected += NEVER
        box = hull(reach_of(members, costs), costs.ends)
        assert union_loss(costs, box, box) == pytest.approx(expected, abs=1e-9)


def sets_of(texts):
    rows = [(t, t[:2], t[:1], "*") for t in texts]
    yield build_hierarchy("free", texts, spec={"kind": "set"})
    yield build_hierarchy("few", [*texts[1:], None], spec={"kind": "set", "most": 3})
    yield build_hierarchy("above", texts, spec={"kind": "set", "most": 2, "rows": rows})


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["trees", "sets"])
def test_a_class_after_a_swap(kinds):
    problem_ = problem("k", 60, kinds)
    ends = problem_.costs.ends
    reach = problem_.tuples.reach
    random = seeded(1)
    for _ in range(100):
        members = [random.randrange(len(reach)) for _ in range(4)]
        gone, new = random.choice(members), random.randrange(len(reach))
        rows = reach[members]
        box = hull(rows, ends)
        ties = (rows == box).sum(axis=0).astype(np.int32)
        inner = np.where(rows < box, rows, -(1 << 30)).max(axis=0).astype(np.int32)
        pairs = [rows[i, ends:] & rows[j, ends:] for i in range(len(rows)) for j in range(i)]
        inner[ends:] = np.bitwise_or.reduce(pairs)
        left = list(members)
        left.remove(gone)
        after = hull(reach[[*left, new]], ends)
        found = swapped_loss(problem_.costs, box, inner, ties, reach[gone], reach[new])
        assert found == pytest.approx(union_loss(problem_.costs, after, after))
        without = hull(reach[left], ends)
        found = swapped_loss(problem_.costs, box, inner, ties, reach[gone], inner)
        assert found == pytest.approx(union_loss(problem_.costs, without, without))


@pytest.mark.slow
def test_bundles_of_rows(monkeypatch):
    monkeypatch.setattr(state_module, "MOST_UNITS", 300)
    state = plan._starts(problem("equal", 2000), silent)[0]
    audit(state)
    assert state.units.mass[state.single, 0].max() > 1
    assert state.units.mass[:, 0].sum() == 2000
    plan._search(state, near_units(state), lambda *_: None, 0)
    audit(state)


@pytest.mark.small
def test_a_unit_that_cannot_be_spared_is_replaced():
    texts = [str(value) for value in (0, 1, 2, 3, 49, 50, 51)]
    age = build_hierarchy("age", texts, spec={"kind": "range", "bounds": "members"}, type="integer")
    counts = frequencies_of((age,), (), np.arange(7, dtype=np.int32)[:, None], np.ones(7, np.int64))
    policy = SimpleNamespace(privacy=(KAnonymity(2),), suppression=SimpleNamespace(limit=0))
    number, nobody = np.arange(7, dtype=np.int32), np.zeros(7, np.bool_)
    given = np.array([0, 2, 2, 2, 0, 1, 1], np.int32)  # 49 with 0, where no move and no swap gains anything
    state = state_module.state_of(problem_of(counts, policy), nobody, given, number, np.zeros(7, np.int64), number - 1)
    search.move_units(state, near_units(state), 0, state.single)
    found = {}
    for tuple_of, c in zip(state.tuple_of.tolist(), state.class_of.tolist(), strict=True):
        found.setdefault(c, set()).add(texts[tuple_of])
    assert sorted(map(sorted, found.values())) == [["0", "1"], ["2", "3"], ["49", "50", "51"]]
    audit(state)


@pytest.mark.small
def test_classes_published_alike_become_one():
    rows = [(letter, "x" if letter < "d" else "y", "*") for letter in "abcdef"]
    quasi = (
        taxonomy.build("area", list("abcdef"), rows),
        build_hierarchy("area", list("abcdef"), spec={"kind": "set", "most": 2, "rows": rows}),
    )
    codes = np.array([(a, b) for a in range(6) for b in range(6)], np.int32)
    counts = frequencies_of(quasi, (), codes, np.ones(36, np.int64))
    policy = SimpleNamespace(privacy=(KAnonymity(2),), suppression=SimpleNamespace(limit=0))
    random, number = seeded(1), np.arange(36, dtype=np.int32)
    given = np.array([random.randrange(8) for _ in number], np.int32)
    given[:2] = 8  # two tuples that may not be moved
    closed = given == 8
    state = state_module.state_of(problem_of(counts, policy), closed, given, number, np.zeros(36, np.int64), number - 1)
    before = state.loss()
    labels = Counter(labels_of(state))
    merging.join_alike(state)
    audit(state)
    assert state.loss() == pytest.approx(before)
    assert (state.class_of[~state.single] == 8).all()
    members, joined = Counter(), Counter()
    for c, label in zip(state.used, labels_of(state), strict=True):
        members[label] += int((state.class_of == c).sum())
        joined[label] += 1
    assert set(joined) == set(labels)
    assert sum(joined.values()) < sum(labels.values())
    assert all(joined[label] <= -(-members[label] // (2 * merging.JOINED)) for label in joined)


def labels_of(state):
    """What each class publishes, from its members."""
    quasi, tuples = state.problem.frequencies.quasi, state.problem.frequencies.tuples
    members = [tuples[state.tuple_of[state.class_of == c]] for c in state.used]
    return [tuple(h.label_of(sorted(set(rows[:, a].tolist()))) for a, h in enumerate(quasi)) for rows in members]


def test_near_units_are_drawn_anew():
    state = plan._starts(problem("k"), silent)[0]
    first, again, other = (redrawn_units(state, turn) for turn in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    assert not (first == np.arange(len(first))[:, None]).any()
