"""The optimal search against exhaustive search, written here from the definitions with dicts and fractions."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

import naive_persons
from indistinct.algorithms import optimal as module
from indistinct.algorithms.optimal import optimal
from indistinct.errors import Cancelled, InfeasibleError, PolicyError
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.hierarchy import Hierarchy, Level
from indistinct.models import MODELS, Evaluation
from indistinct.policy.privacy import (
    AlphaK,
    DistinctL,
    EntropyL,
    JointL,
    KAnonymity,
    Privacy,
    PSensitiveK,
    RecursiveCL,
    TCloseness,
)
from indistinct.policy.recoding import Optimal
from indistinct.tables.count import with_persons
from indistinct.tables.records import Frequencies, Reference
from samples import parts

INSTANCES = 50


def seeded(seed):
    return Random(seed)  # noqa: S311  # the same instances every time


def silent(phase, done, total):
    pass


def policy_of(privacy, limit=Fraction(0), time_budget=None):
    return SimpleNamespace(
        privacy=tuple(privacy),
        suppression=SimpleNamespace(limit=Fraction(limit)),
        recoding=Optimal(time_budget=time_budget),
    )


# --- tables -----------------------------------------------------------------------------------------------------


def hierarchy_of(name, node_levels, *, missing=False, weight=Fraction(1), absent=(), bounds=(0, None)):
    """A hierarchy from nested levels of node numbers; ``absent[v]``: leaves of the file beside value v."""
    size = len(node_levels[0])
    leaves = [1 + (absent[v] if v < len(absent) else 0) for v in range(size)]
    whole = sum(leaves)
    levels = []
    for nodes in node_levels:
        costs = [0] * (max(nodes) + 1)
        for value, node in enumerate(nodes):
            costs[node] += leaves[value]
        alone = nodes == node_levels[0]
        levels.append(
            Level(
                np.array(nodes, np.int32),
                tuple(f"{name}{node}" for node in range(len(costs))),
                tuple(Fraction(0 if alone else c - 1, max(whole - 1, 1)) for c in costs),
            )
        )
    texts = [f"v{value}" for value in range(size)]
    return Hierarchy(
        name,
        "taxonomy",
        tuple([*texts[:-1], None] if missing else texts),
        tuple(levels),
        weight=weight,
        min_level=bounds[0],
        max_level=bounds[1],
    )


def random_hierarchy(random, name):
    size = random.choice([1, 2, 2, 3, 4, 5, 6])
    missing = random.random() < 0.25
    levels = [list(range(size))]
    for _ in range(random.choice([0, 1, 1, 2, 2, 3])):
        below = levels[-1]
        merged, node = [], -1
        for value in range(size):
            if value == 0 or (below[value] != below[value - 1] and random.random() < 0.5):
                node += 1
            alone = missing and value == size - 1
            if alone and value > 0 and merged[-1] == node:
                node += 1
            merged.append(node)
        levels.append(merged)
    if random.random() < 0.7:
        levels.append([0] * size)
    height = len(levels) - 1
    low = random.choice([0, 0, 0, random.randint(0, height)])
    high = random.choice([None, None, random.randint(low, height)])
    absent = [random.choice([0, 0, 1]) for _ in range(size)]
    weight = random.choice([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 3), Fraction(0)])
    return hierarchy_of(name, levels, missing=missing, weight=weight, absent=absent, bounds=(low, high))


def tree(random, name, size):
    """Hierarchy of a sensitive attribute: all levels, root on top."""
    middle, node = [], 0
    for value in range(size):
        node += value > 0 and random.random() < 0.5
        middle.append(node)
    return hierarchy_of(name, [list(range(size)), middle, [0] * size])


def frequencies_of(rows, quasi, sensitive, persons=None):
    """Count rows (tuples of codes) by cell; every code must occur."""
    counted = Counter(rows)
    cells = sorted(counted)
    width = len(quasi)
    start = [i for i, cell in enumerate(cells) if i == 0 or cell[:width] != cells[i - 1][:width]]
    references = {}
    for position, hierarchy in enumerate(sensitive, start=width):
        counts = Counter(row[position] for row in rows)
        references[hierarchy.attribute] = Reference(
            hierarchy, np.array([counts[v] for v in range(hierarchy.size)], np.int64), len(rows)
        )
    found = Frequencies(
        tuple(quasi),
        tuple(sensitive),
        np.array(cells, np.int32).reshape(len(cells), width + len(sensitive)),
        np.array([counted[cell] for cell in cells], np.int64),
        np.array([*start, len(cells)], np.int64),
        references,
    )
    if persons is None:
        return found
    place = {cell: i for i, cell in enumerate(cells)}
    cell_of_row, owner = np.array([place[row] for row in rows], np.int32), np.array(persons)
    return with_persons(found, cell_of_row, owner, int(owner.max()) + 1)


def random_instance(random, sensitive=0, *, persons=False, quasi=None):
    """Rows, hierarchies of the quasi-identifiers and of the sensitive attributes, persons by row or None."""
    width = quasi or random.choice([1, 2, 2, 3])
    hierarchies = [random_hierarchy(random, f"q{a}") for a in range(width)]
    trees = [tree(random, f"s{i}", random.choice([1, 2, 3, 3, 4])) for i in range(sensitive)]
    sizes = [h.size for h in (*hierarchies, *trees)]
    number = random.randint(max(sizes), max(sizes) + random.choice([0, 6, 14]))
    columns = []
    for size in sizes:  # every value occurs, some more often than others
        column = [
            *range(size),
            *(min(random.randrange(size), random.randrange(size)) for _ in range(number - size)),
        ]
        random.shuffle(column)
        columns.append(column)
    rows = list(zip(*columns, strict=True))
    owners = [random.randrange(max(1, number * 2 // 3)) for _ in rows] if persons else None
    return rows, hierarchies, trees, owners


# --- definitions ------------------------------------------------------------------------------------------------


def distance(kind, hierarchy, counts, reference, rows, total):
    gap = [Fraction(counts[v], rows) - Fraction(reference[v], total) for v in range(hierarchy.size)]
    if kind == "equal":
        return sum(map(abs, gap)) / 2
    if kind == "ordered":
        return sum(abs(sum(gap[: i + 1])) for i in range(len(gap))) / max(len(gap) - 1, 1)
    height = len(hierarchy.levels) - 1
    moved = Fraction(0)
    for level in range(1, height + 1):
        for node in set(hierarchy.levels[level].node_of.tolist()):
            children = {}
            for value in range(hierarchy.size):
                if hierarchy.levels[level].node_of[value] == node:
                    child = int(hierarchy.levels[level - 1].node_of[value])
                    children[child] = children.get(child, 0) + gap[value]
            surplus = sum(extra for extra in children.values() if extra > 0)
            lack = -sum(extra for extra in children.values() if extra < 0)
            moved += Fraction(level, height) * min(surplus, lack)
    return moved


def holds(model, group, columns, references, size):  # noqa: PLR0911  # one definition for each model
    """Whether the rows ``group`` satisfy a model; ``size`` counts persons or rows."""
    name, rows = model.model, len(group)
    if name == "k_anonymity":
        return size >= model.k
    if name == "not_a_multiple":
        return rows % model.k != 0
    if name == "joint_l":
        for attribute in model.attributes:
            others = [columns[other] for other in model.attributes if other != attribute]
            parts = {}
            for row in group:
                parts.setdefault(tuple(row[c] for c in others), set()).add(row[columns[attribute]])
            if any(len(values) < model.l for values in parts.values()):
                return False
        return True
    counts = Counter(row[columns[model.attribute]] for row in group)
    if name == "distinct_l":
        return len(counts) >= model.l and size >= model.l
    if name == "p_sensitive_k":
        return len(counts) >= model.p and size >= model.k
    if name == "alpha_k":
        return size >= model.k and max(counts.values()) <= model.alpha * rows
    if name == "entropy_l":
        left = model.l.denominator**rows * rows**rows
        right = model.l.numerator**rows
        for count in counts.values():
            right *= count**count
        return left >= right
    if name == "recursive_cl":
        ordered = sorted(counts.values(), reverse=True)
        return ordered[0] < model.c * sum(ordered[model.l - 1 :])
    hierarchy, reference = references[model.attribute]
    return distance(model.distance, hierarchy, counts, reference, rows, sum(reference.values())) <= model.t


def holds_by_persons(model, group, columns, references, rows, owners):
    """Whether the persons of ``group`` (numbers of rows) satisfy a model, each weighing 1, or paired with values."""
    if model.model in ("k_anonymity", "not_a_multiple"):
        return True
    as_dicts = [
        {"p": owner} | {name: row[at] for name, at in columns.items()} for row, owner in zip(rows, owners, strict=True)
    ]
    members = [as_dicts[i] for i in group]
    if model.model == "joint_l":
        parts = {}
        for attribute in model.attributes:
            for row in members:
                others = tuple(row[other] for other in model.attributes if other != attribute)
                parts.setdefault((attribute, others), []).append(row)
        return all(naive_persons.matching(part, name, "p") >= model.l for (name, _), part in parts.items())
    name = model.attribute
    if model.model in ("distinct_l", "p_sensitive_k"):
        wanted = model.l if model.model == "distinct_l" else model.p
        return naive_persons.matching(members, name, "p") >= wanted
    weights = naive_persons.weights(members, name, "p")
    whole = naive_persons.weights(as_dicts, name, "p")
    as_rows = [{columns[name]: value} for value, weight in weights.items() for _ in range(weight)]
    return holds(model, as_rows, columns, {name: (references[name][0], whole)}, len(members))


def every_node(rows, quasi, trees, owners, models):
    """Levels, loss and suppressed rows of every node."""
    width, total = len(quasi), len(rows)
    columns = {h.attribute: width + i for i, h in enumerate(trees)}
    references = {h.attribute: (h, Counter(row[columns[h.attribute]] for row in rows)) for h in trees}
    weight = sum(h.weight for h in quasi) or len(quasi)
    ranges = [range(h.min_level, (len(h.levels) - 1 if h.max_level is None else h.max_level) + 1) for h in quasi]
    for levels in product(*ranges):
        classes = {}
        for i, row in enumerate(rows):
            key = tuple(int(h.levels[g].node_of[code]) for h, g, code in zip(quasi, levels, row[:width], strict=True))
            classes.setdefault(key, []).append(i)
        loss, gone = Fraction(0), 0
        for key, members in classes.items():
            size = len(members) if owners is None else len({owners[i] for i in members})
            group = [rows[i] for i in members]
            if all(
                holds(model, group, columns, references, size)
                and (owners is None or holds_by_persons(model, members, columns, references, rows, owners))
                for model in models
            ):
                equal = not any(h.weight for h in quasi)
                cost = sum(
                    (1 if equal else h.weight) * h.levels[g].costs[node]
                    for h, g, node in zip(quasi, levels, key, strict=True)
                )
                loss += len(members) * cost / weight
            else:
                loss += len(members)
                gone += len(members)
        yield levels, loss / total, gone


def exhaustive(rows, quasi, trees, owners, models, limit):
    """Least (loss, height, levels) over all nodes and the fewest rows that any node suppresses."""
    best, fewest, total = None, len(rows), len(rows)
    for levels, loss, gone in every_node(rows, quasi, trees, owners, models):
        fewest = min(fewest, gone)
        if gone <= floor(limit * total) and gone < total:
            rank = (loss, sum(levels), levels)
            best = rank if best is None or rank < best else best
    return best, fewest


# --- every combination of models --------------------------------------------------------------------------------


class NotAMultiple(Privacy):
    """A model without any closure property: the rows of a class are not a multiple of k."""

    model: str = "not_a_multiple"
    k: int
    order = ("k",)


@pytest.fixture
def not_a_multiple(monkeypatch):
    def evaluate(privacy, classes, _):
        return Evaluation(classes.rows % privacy.k != 0, classes.rows.astype(float), {}, "")

    fake = replace(
        MODELS["joint_l"],
        options=NotAMultiple,
        merge_closed=False,
        absorbing=False,
        evaluate=evaluate,
        criteria=lambda *_: None,
    )
    monkeypatch.setitem(MODELS, "not_a_multiple", fake)


def k(random):
    return KAnonymity(random.choice([1, 2, 2, 3, 5]))


COMBINATIONS = {
    "k": (0, lambda r: [k(r)]),
    "distinct": (1, lambda r: [k(r), DistinctL("s0", r.choice([1, 2, 2, 3]))]),
    "distinct alone": (1, lambda r: [DistinctL("s0", r.choice([2, 2, 3]))]),
    "p-sensitive": (1, lambda r: [PSensitiveK("s0", 2, r.choice([2, 3]))]),
    "entropy": (1, lambda r: [k(r), EntropyL("s0", r.choice(["1", "3/2", "2", "2", "3"]))]),
    "entropy alone": (1, lambda r: [EntropyL("s0", r.choice(["1.2", "3/2", "2"]))]),
    "recursive": (1, lambda r: [k(r), RecursiveCL("s0", r.choice(["1", "3/2", "2", "4"]), r.choice([1, 2, 2, 3]))]),
    "alpha": (1, lambda r: [AlphaK("s0", r.choice(["1/3", "1/2", "0.6", "3/4"]), r.choice([1, 2, 3]))]),
    "t equal": (1, lambda r: [k(r), TCloseness("s0", r.choice(["0", "0.1", "1/4", "1/3", "0.5"]), distance="equal")]),
    "t ordered": (1, lambda r: [k(r), TCloseness("s0", r.choice(["0", "0.1", "1/4", "1/3"]), distance="ordered")]),
    "t hierarchical": (
        1,
        lambda r: [k(r), TCloseness("s0", r.choice(["0", "0.1", "1/4", "1/3"]), distance="hierarchical")],
    ),
    "two attributes": (
        2,
        lambda r: [
            k(r),
            DistinctL("s0", 2),
            TCloseness("s1", r.choice(["1/4", "0.4"]), distance="equal"),
        ],
    ),
    "k, l and t": (
        1,
        lambda r: [
            k(r),
            EntropyL("s0", r.choice(["3/2", "2"])),
            RecursiveCL("s0", "3", 2),
            TCloseness("s0", r.choice(["1/4", "0.4"]), distance="ordered"),
        ],
    ),
    "joint": (2, lambda r: [k(r), JointL(("s0", "s1"), "distinct_l", r.choice([1, 2]))]),
    "no closure": (1, lambda r: [k(r), NotAMultiple(r.choice([2, 3])), EntropyL("s0", "3/2")]),
}
LIMITS = ["0", "0", "1/10", "1/5", "1/3", "1/2", "1"]


def check(rows, quasi, trees, owners, models, limit, random):
    expected, fewest = exhaustive(rows, quasi, trees, owners, models, limit)
    frequencies = frequencies_of(rows, quasi, trees, owners)
    if expected is None:
        with pytest.raises(InfeasibleError) as caught:
            optimal(frequencies, policy_of(models, limit), silent)
        if "needed suppression" in caught.value.reason:
            assert f"needed suppression {fewest} of {len(rows)} " in caught.value.reason
        return False
    found = optimal(frequencies, policy_of(models, limit), silent)
    assert found.proven
    assert found.levels == expected[2]
    order = list(range(len(rows)))
    random.shuffle(order)
    again = optimal(
        frequencies_of([rows[i] for i in order], quasi, trees, None if owners is None else [owners[i] for i in order]),
        policy_of(models, limit),
        silent,
    )
    assert again.levels == found.levels
    assert (again.class_of == found.class_of).all()
    return True


@pytest.mark.slow
@pytest.mark.usefixtures("not_a_multiple")
@pytest.mark.parametrize("name", COMBINATIONS)
@parts(4)
def test_equals_exhaustive_search(part, name):
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"{name} {part}")
    solved = 0
    for _ in range(INSTANCES):
        rows, quasi, trees, _ = random_instance(random, sensitive)
        solved += check(rows, quasi, trees, None, models_of(random), Fraction(random.choice(LIMITS)), random)
    assert solved > INSTANCES // 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["k", "distinct", "p-sensitive", "alpha", "t equal", "joint"])
@parts(4)
def test_counts_persons(part, name):
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"persons {name} {part}")
    solved = 0
    for _ in range(INSTANCES // 2):
        rows, quasi, trees, owners = random_instance(random, sensitive, persons=True)
        solved += check(rows, quasi, trees, owners, models_of(random), Fraction(random.choice(LIMITS)), random)
    assert solved > INSTANCES // 20


@pytest.mark.slow
@parts(4)
def test_keys_of_several_words_give_the_same(part, monkeypatch):
    from indistinct.algorithms.full_domain import lattice

    monkeypatch.setattr(lattice, "WORD", 4)
    random = seeded(f"wide {part}")
    solved = 0
    for _ in range(INSTANCES // 2):
        rows, quasi, trees, _ = random_instance(random, 1, quasi=3)
        models = COMBINATIONS["distinct"][1](random)
        solved += check(rows, quasi, trees, None, models, Fraction(random.choice(LIMITS)), random)
    assert solved > INSTANCES // 20


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 4, 1 << 20])
@parts(4)
def test_histograms_outside_the_tables_give_the_same(part, monkeypatch, room):
    from indistinct.algorithms.full_domain import verdicts

    monkeypatch.setattr(verdicts, "ROLLED", 6)
    monkeypatch.setattr(verdicts, "GATHERED", room)
    random = seeded(f"sparse {part}")
    solved = 0
    for name in ("distinct", "entropy", "t ordered", "two attributes", "joint"):
        sensitive, models_of = COMBINATIONS[name]
        for i in range(INSTANCES // 4):
            rows, quasi, trees, owners = random_instance(random, sensitive, persons=i % 4 == 0)
            limit = Fraction(random.choice(LIMITS))
            solved += check(rows, quasi, trees, owners, models_of(random), limit, random)
    assert solved > INSTANCES // 10


@parts(4)
def test_little_memory_gives_the_same(part, monkeypatch):
    from indistinct.algorithms.full_domain import verdicts

    random = seeded(f"memory {part}")
    monkeypatch.setattr(verdicts, "TABLE_BYTES", 1)
    for _ in range(INSTANCES // 4):
        rows, quasi, trees, _ = random_instance(random, 1)
        models = COMBINATIONS["entropy"][1](random)
        check(rows, quasi, trees, None, models, Fraction(random.choice(LIMITS)), random)


# --- targets that cannot be met ---------------------------------------------------------------------------------


def failure(frequencies, privacy, limit):
    with pytest.raises(InfeasibleError) as caught:
        optimal(frequencies, policy_of(privacy, limit), silent)
    return caught.value


def test_several_top_labels_are_named():
    grade = hierarchy_of("grade", [[0, 1, 2], [0, 0, 1]])
    error = failure(frequencies_of([(0,), (1,), (2,)], [grade], []), [KAnonymity(3)], 0)
    assert "top level of 'grade' still has 2 labels ('grade0', 'grade1')" in error.reason
    assert "the largest k within the limit is 1" in error.nearest


def test_everything_suppressed_is_no_success():
    fixed = hierarchy_of("g", [[0, 1, 2, 3, 4]])
    table = frequencies_of([(i,) for i in range(5)], [fixed], [])
    error = failure(table, [KAnonymity(2)], "1/5")
    assert "needed suppression 5 of 5 (100%), limit 20% (1 of 5 rows)" in error.reason
    assert "'g' has no hierarchy" in error.reason
    assert "suppression limit of" not in error.nearest  # none would do
    assert "needed suppression 5 of 5 (100%)" in failure(table, [KAnonymity(2)], 1).reason


def test_more_rows_wanted_than_there_are():
    g = hierarchy_of("g", [[0, 1, 2], [0, 0, 0]])
    error = failure(frequencies_of([(i // 2,) for i in range(6)], [g], []), [KAnonymity(50)], 1)
    assert "k=50 but the table has 6 rows" in error.reason
    assert "the largest k within the limit is 6" in error.nearest


def test_a_limit_that_would_do_is_named():
    g = hierarchy_of("g", [[0, 1, 2]])
    rows = [(0,)] * 5 + [(1,)] * 4 + [(2,)]
    error = failure(frequencies_of(rows, [g], []), [KAnonymity(2)], 0)
    assert "needed suppression 1 of 10 (10%), limit 0% (0 of 10 rows)" in error.reason
    assert "a suppression limit of 10% (1 of 10 rows) would do" in error.nearest
    found = optimal(frequencies_of(rows, [g], []), policy_of([KAnonymity(2)], "1/10"), silent)
    assert (found.class_of < 0).tolist() == [False, False, True]


def test_the_limit_that_is_named_is_enough():
    g = hierarchy_of("g", [[0, 1, 2]])
    for few in (1, 6, 17, 49):
        rows = [(0,)] * 7000 + [(1,)] * (151 - few) + [(2,)] * few
        table = frequencies_of(rows, [g], [])
        error = failure(table, [KAnonymity(100)], 0)
        named = error.nearest.removeprefix("a suppression limit of ").split("%")[0]
        assert optimal(table, policy_of([KAnonymity(100)], Fraction(named) / 100), silent).classes == 2


def test_what_other_models_reach_is_named():
    g, s = hierarchy_of("g", [[0, 1]]), hierarchy_of("s", [[0, 1, 2]])
    rows = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    error = failure(frequencies_of(rows, [g], [s]), [KAnonymity(2), DistinctL("s", 3)], 0)
    assert "needed suppression 2 of 5 (40%)" in error.reason
    assert "distinct_l l = 2" in error.nearest
    assert "k_anonymity" not in error.nearest


def test_a_value_too_frequent_for_any_recoding():
    g, s = hierarchy_of("g", [[0, 1], [0, 0]]), hierarchy_of("s", [[0, 1]])
    rows = [(0, 0), (0, 0), (1, 0), (1, 1)]
    error = failure(frequencies_of(rows, [g], [s]), [AlphaK("s", "1/2", 1)], 0)
    assert "alpha" in error.reason
    assert "3 of 4" in error.reason


def test_bounds_of_levels_hold():
    g = hierarchy_of("g", [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], bounds=(1, 1))
    rows = [(0,), (1,), (2,), (3,)]
    assert optimal(frequencies_of(rows, [g], []), policy_of([KAnonymity(1)]), silent).levels == (1,)
    error = failure(frequencies_of(rows, [g], []), [KAnonymity(4)], 0)
    assert "max_level 1 of 'g' leaves 2 labels" in error.reason
    with pytest.raises(PolicyError, match="no level lies between min_level 3"):
        optimal(
            frequencies_of(rows, [replace(g, min_level=3, max_level=None)], []),
            policy_of([KAnonymity(1)]),
            silent,
        )


def test_a_class_of_other_values_too_small_goes():
    colour = hierarchy_of("colour", [[0, 1, 2, 3], [0, 1, 2, 2], [0, 0, 0, 0]])
    rows = [(0,)] * 4 + [(1,)] * 4 + [(2,), (2,), (3,)]
    found = optimal(frequencies_of(rows, [colour], []), policy_of([KAnonymity(4)], "3/10"), silent)
    assert found.levels == (0,)
    assert found.class_of.tolist() == [0, 1, -1, -1]


def test_progress_may_cancel():
    g = hierarchy_of("g", [[0, 1], [0, 0]])

    def stop(phase, done, total):
        assert (phase, done, total) == ("search", 0, 2)
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        optimal(frequencies_of([(0,), (1,)], [g], []), policy_of([KAnonymity(2)]), stop)


@pytest.mark.slow
def test_rows_beyond_32_bits():
    g = hierarchy_of("g", [[0, 1], [0, 0]])
    s = hierarchy_of("s", [[0, 1]])
    table = frequencies_of([(0, 0), (0, 1), (1, 0), (1, 1)], [g], [s])
    many = replace(table, rows=np.array([2**31, 2**31, 2**31 - 1, 1], np.int64))
    many = replace(many, references={"s": Reference(s, np.array([2**32 - 1, 2**31 + 1], np.int64), 3 * 2**31)})
    assert optimal(many, policy_of([KAnonymity(2**32)], 0), silent).levels == (1,)
    assert optimal(many, policy_of([DistinctL("s", 2), KAnonymity(2**31)], 0), silent).levels == (0,)


# --- lattices too large for an array ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("not_a_multiple")
@parts(4)
def test_boxes_prove_the_same_optimum(part, monkeypatch):
    monkeypatch.setattr(module, "ARRAY", 0)
    random = seeded(f"boxes {part}")
    solved = 0
    for name in ("k", "entropy", "t equal", "no closure"):
        sensitive, models_of = COMBINATIONS[name]
        for _ in range(INSTANCES // 4):
            rows, quasi, trees, _ = random_instance(random, sensitive)
            solved += check(rows, quasi, trees, None, models_of(random), Fraction(random.choice(LIMITS)), random)
    assert solved > INSTANCES // 4


def large_table(attributes=24):
    """Forty rows; 3^24 combinations of levels."""
    random = seeded("large")
    quasi = [hierarchy_of(f"q{a}", [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]) for a in range(attributes)]
    rows = [tuple(random.randrange(4) for _ in quasi) for _ in range(36)]
    return frequencies_of([*rows, *((v,) * attributes for v in range(4))], quasi, [])


def test_a_large_lattice_is_refused_without_a_time_budget():
    with pytest.raises(PolicyError, match="282,429,536,481 combinations of levels") as caught:
        optimal(large_table(), policy_of([KAnonymity(2)]), silent)
    assert "time_budget" in caught.value.message
    assert "max_level" in caught.value.message


def test_a_search_that_runs_out_of_time_says_so():
    table = large_table()
    found = optimal(table, policy_of([KAnonymity(2)], Fraction(1, 10), 0.3), silent)
    assert found.proven is False
    (note,) = found.notes
    assert "not proven" in note
    assert "at least" in note
    kept = found.class_of >= 0
    assert np.bincount(found.class_of[kept], found.count[kept]).min() >= 2
    assert found.count[~kept].sum() <= 4


def test_no_time_at_all_finds_nothing():
    fixed = hierarchy_of("fixed", [[0, 1, 2, 3]])
    rows = [(v, w) for v in range(4) for w in range(4)]
    halves = hierarchy_of("halves", [[0, 1, 2, 3], [0, 0, 1, 1]])
    table = frequencies_of(rows, [fixed, halves], [])
    with pytest.raises(InfeasibleError):
        optimal(table, policy_of([KAnonymity(3)], 0, 1e-9), silent)


# --- the field's benchmark table: losses published by others, or from exhaustive evaluation -----------------------

QUASI = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip
ADULT_LOSSES = [  # (models beside k = 5, sensitive attribute, losses at limits 0, 2 % and 100 %)
    ([], None, (0.6355, 0.3575, 0.2277)),
    ([DistinctL("occupation", 3)], "occupation", (0.6250, 0.2776, 0.1736)),
    ([EntropyL("occupation", 3)], "occupation", (0.6791, 0.3072, 0.1970)),
    ([RecursiveCL("occupation", 4, 3)], "occupation", (0.6250, 0.2869, 0.1888)),
    ([TCloseness("occupation", "0.2", distance="equal")], "occupation", (0.9291, 0.8397, 0.6435)),
    ([TCloseness("occupation", "0.2", distance="hierarchical")], "occupation", (0.8041, 0.7853, 0.5439)),
    ([TCloseness("age", "0.2", distance="ordered")], "age", (0.5900, 0.2870, 0.2022)),
]


@pytest.fixture(scope="module")
def adult(adult_folder):
    with (adult_folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    hierarchies = {
        name: build_hierarchy(
            name, sorted(set(columns[name])), spec={"file": adult_folder / f"adult_hierarchy_{name}.csv"}
        )
        for name in QUASI
    }
    codes = {name: hierarchies[name].codes() for name in QUASI}
    return hierarchies, {name: [codes[name][text] for text in columns[name]] for name in QUASI}


@pytest.mark.adult
@pytest.mark.parametrize(("models", "sensitive", "losses"), ADULT_LOSSES, ids=lambda value: str(value)[:40])
def test_adult_optima(adult, models, sensitive, losses):
    hierarchies, codes = adult
    names = [name for name in QUASI if name != sensitive]
    quasi = [hierarchies[name] for name in names]
    more = [] if sensitive is None else [sensitive]
    rows = list(zip(*(codes[name] for name in (*names, *more)), strict=True))
    table = frequencies_of(rows, quasi, [hierarchies[name] for name in more])
    for limit, expected in zip(("0", "1/50", "1"), losses, strict=True):
        found = optimal(table, policy_of([KAnonymity(5), *models], limit), silent)
        cost = sum(
            hierarchy.levels[level].float_costs()[hierarchy.levels[level].node_of[table.codes[:, a]]]
            for a, (hierarchy, level) in enumerate(zip(quasi, found.levels, strict=True))
        )
        kept = found.class_of >= 0
        loss = 1 + (table.rows[kept] * (cost[kept] / len(quasi) - 1)).sum() / table.total
        assert round(loss, 4) == pytest.approx(expected, abs=1e-9)
        assert found.proven
