"""Samarati, Incognito, OLA, Flash, Datafly against exhaustive search, under every model and limit."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from algorithms.test_generalize_step import attribute, table
from algorithms.test_optimal import (
    COMBINATIONS,
    LIMITS,
    every_node,
    frequencies_of,
    not_a_multiple,
    policy_of,
    random_instance,
    seeded,
    silent,
)
from indistinct.algorithms import named
from indistinct.algorithms.full_domain import tags as module
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.tags import Tags, nodes_at
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.optimal import optimal
from indistinct.errors import Cancelled, InfeasibleError, PolicyError
from indistinct.models import is_absorbing, is_merge_closed
from indistinct.policy.privacy import DistinctL, EntropyL, KAnonymity
from samples import parts

__all__ = ["not_a_multiple"]
SEARCHES = ("samarati", "incognito", "ola", "flash", "datafly")
INSTANCES = 20


def steps(hierarchy, levels):
    """How many steps a level is above the least one: levels that change nothing are no steps."""
    numbers = [len(set(hierarchy.levels[g].node_of.tolist())) for g in range(hierarchy.min_level, levels + 1)]
    return len(set(numbers)) - 1


def is_plain(quasi, levels):
    """Whether no level of a node has the same nodes as the one below it."""
    return all(
        g == h.min_level or h.levels[g].node_of.max(initial=0) != h.levels[g - 1].node_of.max(initial=0)
        for h, g in zip(quasi, levels, strict=True)
    )


def expected_of(name, quasi, nodes, allowed, total, tuples=None):
    """Levels that an algorithm must choose, from the loss and the suppressed rows of every node.

    ``tuples`` are those of the table, where the hierarchies hold values of a population too.
    """
    plain = {levels: (loss, gone) for levels, loss, gone in nodes if is_plain(quasi, levels)}
    fine = {levels: loss for levels, (loss, gone) in plain.items() if gone <= allowed and gone < total}
    if name == "datafly":
        return climbed(quasi, fine, tuples)
    if not fine:
        return None

    def height(levels):
        return sum(steps(h, g) for h, g in zip(quasi, levels, strict=True))

    if name == "samarati":
        lowest = min(map(height, fine))
        left = [levels for levels in fine if height(levels) == lowest]
    elif name == "flash":
        left = list(fine)
    else:
        left = minimal(fine)
    return min(left, key=lambda levels: (fine[levels], sum(levels), levels))


def minimal(fine):
    return [node for node in fine if not any(o != node and all(map(int.__le__, o, node)) for o in fine)]


def climbed(quasi, fine, tuples=None):
    """Datafly, read off its definition."""
    levels = [h.min_level for h in quasi]
    last = [len(h.levels) - 1 if h.max_level is None else h.max_level for h in quasi]
    while tuple(levels) not in fine:
        numbers = [len(set(h.levels[g].node_of.tolist())) for h, g in zip(quasi, levels, strict=True)]
        values = numbers
        if tuples is not None:
            values = [len(set(h.levels[g].node_of[tuples[:, a]].tolist()))
                      for a, (h, g) in enumerate(zip(quasi, levels, strict=True))]  # fmt: skip
        above = {}
        for a, h in enumerate(quasi):
            changing = (
                g for g in range(levels[a] + 1, last[a] + 1) if len(set(h.levels[g].node_of.tolist())) != numbers[a]
            )
            step = next(changing, None)
            if step is not None:
                above[a] = step
        if not above:
            return None
        chosen = max(above, key=lambda a: (values[a], -a))
        levels[chosen] = above[chosen]
    return tuple(levels)


# models that count rows only
ROWS_ONLY = ("no closure", "entropy alone")


@pytest.mark.slow
@pytest.mark.usefixtures("not_a_multiple")
@pytest.mark.parametrize(
    ("name", "persons"),
    [(name, persons) for name in COMBINATIONS for persons in (False, True) if not (persons and name in ROWS_ONLY)],
)
@parts(2)
def test_equal_exhaustive_search(part, name, persons):
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"searches {name} {persons} {part}")
    solved = 0
    for _ in range(INSTANCES):
        rows, quasi, trees, owners = random_instance(random, sensitive, persons=persons)
        models, limit = models_of(random), Fraction(random.choice(LIMITS))
        nodes = list(every_node(rows, quasi, trees, owners, models))
        frequencies = frequencies_of(rows, quasi, trees, owners)
        shuffled = list(range(len(rows)))
        random.shuffle(shuffled)
        again = frequencies_of(
            [rows[i] for i in shuffled], quasi, trees, None if owners is None else [owners[i] for i in shuffled]
        )
        for search in SEARCHES:
            expected = expected_of(search, quasi, nodes, floor(limit * len(rows)), len(rows))
            if expected is None:
                with pytest.raises(InfeasibleError):
                    named(search).decide(frequencies, policy_of(models, limit), silent)
                continue
            found = named(search).decide(frequencies, policy_of(models, limit), silent)
            assert found.levels == expected, search
            repeated = named(search).decide(again, policy_of(models, limit), silent)
            assert repeated.levels == found.levels
            assert (repeated.class_of == found.class_of).all()
            solved += 1
    assert solved


@pytest.mark.slow
@pytest.mark.usefixtures("not_a_multiple")
@pytest.mark.parametrize("name", COMBINATIONS)
@parts(2)
def test_same_minimal_set_and_same_optimum(part, name):
    """Incognito, OLA and Flash tag all nodes alike; where theory says so the choice is that of ``optimal``."""
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"optimum {name} {part}")
    compared = 0
    for _ in range(INSTANCES):
        rows, quasi, trees, _ = random_instance(random, sensitive)
        models, limit = models_of(random), Fraction(random.choice(LIMITS))
        frequencies = frequencies_of(rows, quasi, trees)
        try:
            best = optimal(frequencies, policy_of(models, limit), silent).levels
        except InfeasibleError:
            continue
        compared += 1
        assert named("flash").decide(frequencies, policy_of(models, limit), silent).levels == best
        if limit == 0:
            assert named("incognito").decide(frequencies, policy_of(models, limit), silent).levels == best
            assert named("ola").decide(frequencies, policy_of(models, limit), silent).levels == best
    assert compared


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_tags_infer_only_what_closure_licenses(limit):
    random = seeded("licence")
    rows, quasi, trees, _ = random_instance(random, 1, quasi=2)
    frequencies = frequencies_of(rows, quasi, trees)

    def licensed(*models):
        judge = Judge(frequencies, build_lattice(frequencies), models, limit)
        found = Tags(judge, silent).licensed
        judge.close()
        return found

    assert licensed(KAnonymity(2))
    assert licensed(KAnonymity(2), DistinctL("s0", 2))
    assert licensed(EntropyL("s0", "3/2")) == (limit == 0)
    assert is_merge_closed(EntropyL("s0", "3/2"))
    assert not is_absorbing(EntropyL("s0", "3/2"))


def test_nothing_is_inferred_upwards_where_more_general_nodes_fail():
    # entropy is not absorbing: with rows to spare the bottom holds, and no node above it does
    a, b = attribute("a", [0, 1], [0, 0]), attribute("b", [0, 1], [0, 0])
    s = attribute("s", [0, 1])
    rows = [(0, 0, 0), (0, 0, 1)] + [(1, 1, 0)] * 4 + [(1, 0, 0)] * 4
    frequencies = table(rows, [a, b], [s])
    policy = policy_of([EntropyL("s", "2")], Fraction(8, 10))
    for search in ("samarati", "incognito", "ola", "flash"):
        assert named(search).decide(frequencies, policy, silent).levels == (0, 0)
    with pytest.raises(InfeasibleError):
        named("samarati").decide(frequencies, policy_of([EntropyL("s", "2")]), silent)


RACE = attribute("race", [0, 1, 2], [0, 0, 0])  # asian, black, white
ZIP = attribute("zip", [0, 1, 2], [0, 1, 1], [0, 0, 0])  # 94138, 94141, 94142; 9413*, 9414*
EIGHT = [(0, 0), (0, 0), (0, 2), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("k", "limit", "expected"),
    [  # spec, section 1: [x01], [x02], [x03]
        (2, 2, [(0, 1), (1, 0)]),
        (2, 0, [(1, 1)]),
        (3, 1, [(0, 2), (1, 0)]),
    ],
)
def test_minimal_sets_of_the_race_and_zip_table(k, limit, expected):
    frequencies = table(EIGHT, [RACE, ZIP])
    judge = Judge(frequencies, build_lattice(frequencies), [KAnonymity(k)], limit)
    tags = Tags(judge, silent)
    tags.settle()
    assert tags.minimal() == expected
    judge.close()
    share = Fraction(limit, 8)
    policy = policy_of([KAnonymity(k)], share)
    lowest = min(map(sum, expected))
    assert sum(named("samarati").decide(frequencies, policy, silent).levels) == lowest
    for search in ("incognito", "ola"):
        assert named(search).decide(frequencies, policy, silent).levels in expected


def test_datafly_takes_the_earlier_of_equals():
    # spec, section 3 [x04]: 3 values each, so race goes first; one row is then alone
    found = named("datafly").decide(table(EIGHT, [RACE, ZIP]), policy_of([KAnonymity(2)], Fraction(2, 8)), silent)
    assert found.levels == (1, 0)
    assert found.count[found.class_of == -1].tolist() == [1]
    found = named("datafly").decide(
        table([(b, a) for a, b in EIGHT], [ZIP, RACE]), policy_of([KAnonymity(2)], Fraction(2, 8)), silent
    )
    assert found.levels == (1, 0)  # zip first now


def test_fewer_nodes_are_judged_than_there_are():
    random = seeded("work")
    rows, quasi, trees, _ = random_instance(random, 0, quasi=3)
    frequencies = frequencies_of(rows * 3, quasi, trees)
    lattice = build_lattice(frequencies)
    for search in ("samarati", "incognito", "ola", "flash"):
        note = named(search).decide(frequencies, policy_of([KAnonymity(2)]), silent).notes[0]
        assert int(note.split()[0]) <= lattice.size


@pytest.mark.parametrize("search", SEARCHES)
def test_can_be_cancelled(search):
    def stop(*_):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        named(search).decide(table(EIGHT, [RACE, ZIP]), policy_of([KAnonymity(3)]), stop)


@pytest.mark.parametrize("search", ["samarati", "incognito", "ola", "flash"])
def test_too_large_a_lattice_is_refused(search, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 5)
    with pytest.raises(PolicyError, match="6 combinations of levels are too many"):
        named(search).decide(table(EIGHT, [RACE, ZIP]), policy_of([KAnonymity(2)]), silent)


def test_more_attributes_than_an_array_has_dimensions_are_refused():
    many = [attribute(f"a{i}", [0, 1], [0, 0]) for i in range(65)]
    with pytest.raises(PolicyError, match="65 quasi-identifiers are too many"):
        named("samarati").decide(table([(0,) * 65, (1,) * 65], many), policy_of([KAnonymity(2)]), silent)


def test_incognito_puts_roots_above_hierarchies_without_one():
    grade = attribute("grade", [0, 1, 2, 3], [0, 0, 1, 1])  # ends in two labels
    rows = [(v, w) for v in range(4) for w in range(3)]
    found = named("incognito").decide(table(rows, [grade, RACE]), policy_of([KAnonymity(2)]), silent)
    assert found.levels == (1, 0)
    with pytest.raises(InfeasibleError, match="top level of 'grade' still has 2 labels"):
        named("incognito").decide(table(rows, [grade, RACE]), policy_of([KAnonymity(7)]), silent)


def test_nodes_of_a_height_come_in_order():
    found = list(nodes_at((0, 1, 0), (2, 2, 1), 3))
    assert found == sorted(found)
    expected = [node for node in np.ndindex(3, 3, 2) if sum(node) == 3 and node[1] >= 1]
    assert found == expected
