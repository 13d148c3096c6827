"""mu-Argus against its definition, written with dicts: what is unsafe, what is blanked, what is left."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from algorithms.test_full_domain_searches import not_a_multiple
from algorithms.test_generalize_step import attribute, table
from algorithms.test_optimal import (
    COMBINATIONS,
    LIMITS,
    frequencies_of,
    holds,
    holds_by_persons,
    random_instance,
    seeded,
    silent,
)
from indistinct.algorithms.literature.mu_argus import hitting_set, mu_argus
from indistinct.errors import Cancelled, InfeasibleError
from indistinct.policy.privacy import KAnonymity
from indistinct.policy.recoding import MuArgus
from indistinct.tables.classes import recoding_of
from indistinct.tables.wildcards import candidates

__all__ = ["not_a_multiple"]


def policy_of(privacy, limit=0, most=3):
    return SimpleNamespace(
        privacy=tuple(privacy),
        suppression=SimpleNamespace(limit=Fraction(limit)),
        recoding=MuArgus(combinations=most),
    )


def naive(rows, quasi, trees, owners, models, limit, most):
    """Published boxes with their rows, from the definition; None where the most general levels do not hold."""
    width, total = len(quasi), len(rows)
    columns = {h.attribute: width + i for i, h in enumerate(trees)}
    references = {h.attribute: (h, Counter(row[columns[h.attribute]] for row in rows)) for h in trees}
    k = max([1, *(m.k for m in models if hasattr(m, "k") and m.model != "not_a_multiple")])
    allowed = min(math.floor(limit * total), total - 1)
    sets = [c for size in range(1, min(most, width) + 1) for c in combinations(range(width), size)]

    def number(h, g):
        return len(set(h.levels[g].node_of.tolist()))

    def above(h, g):
        last = len(h.levels) - 1 if h.max_level is None else h.max_level
        return next((higher for higher in range(g + 1, last + 1) if number(h, higher) != number(h, g)), None)

    def size(members):
        return len(members) if owners is None else len({owners[i] for i in members})

    def right(model, members):
        by_rows = holds(model, [rows[i] for i in members], columns, references, size(members))
        return by_rows and (owners is None or holds_by_persons(model, members, columns, references, rows, owners))

    def groups(chosen, levels):
        found = {}
        for i, row in enumerate(rows):
            key = tuple(int(quasi[a].levels[levels[a]].node_of[row[a]]) for a in chosen)
            found.setdefault(key, []).append(i)
        return found

    def unsafe_groups(levels, containing=None):
        for chosen in sets:
            if containing is None or containing in chosen:
                for members in groups(chosen, levels).values():
                    if size(members) < k:
                        yield chosen, members

    def entropy(a, levels):
        parts = [len(m) for m in groups((a,), levels).values()]
        return round(-sum(p / total * math.log2(p / total) for p in parts), 12)

    def attempt(levels):
        of_row = {}
        for chosen, members in unsafe_groups(levels):
            for i in members:
                of_row.setdefault(i, []).append(chosen)
        if len(of_row) > allowed:
            return None
        boxes, dropped = [], set()
        for i, row in enumerate(rows):
            left, blank = of_row.get(i, []), set()
            while left:
                choices = [a for a in range(width) if number(quasi[a], len(quasi[a].levels) - 1) == 1]
                choices = [a for a in choices if len(quasi[a].levels) > 1 and any(a in one for one in left)]
                if not choices:
                    dropped.add(i)
                    break
                best = min(choices, key=lambda a: (-sum(a in one for one in left), entropy(a, levels), a))
                blank.add(best)
                left = [one for one in left if best not in one]
            box = []
            for a, h in enumerate(quasi):
                nodes = h.levels[levels[a]].node_of.tolist()
                inside = [v for v in range(h.size) if nodes[v] == nodes[row[a]] or a in blank]
                box.append((min(inside), max(inside)))
            boxes.append(tuple(box))
        classes = {}
        for i, box in enumerate(boxes):
            if i not in dropped:
                classes.setdefault(box, []).append(i)
        kept = {box: members for box, members in classes.items() if all(right(m, members) for m in models)}
        gone = total - sum(map(len, kept.values()))
        return kept if gone <= allowed else None

    levels = [h.min_level for h in quasi]
    while True:
        found = attempt(levels)
        if found is not None:
            return found
        left = [a for a, h in enumerate(quasi) if above(h, levels[a]) is not None]
        if not left:
            return None

        def rank(a):
            then = [above(h, g) if b == a else g for b, (h, g) in enumerate(zip(quasi, levels, strict=True))]
            removed = sum(1 for _ in unsafe_groups(levels, a)) - sum(1 for _ in unsafe_groups(then, a))
            return removed, number(quasi[a], levels[a]), -a

        chosen = max(left, key=rank)
        levels[chosen] = above(quasi[chosen], levels[chosen])


@pytest.mark.slow
@pytest.mark.usefixtures("not_a_multiple")
@pytest.mark.parametrize(
    ("name", "persons"),
    [(name, persons) for name in COMBINATIONS for persons in (False, True) if not (persons and name == "no closure")],
)
def test_does_what_the_definition_says(name, persons):
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"argus {name} {persons}")
    solved = 0
    for _ in range(30):
        rows, quasi, trees, owners = random_instance(random, sensitive, persons=persons)
        models, limit, most = models_of(random), Fraction(random.choice(LIMITS)), random.choice([1, 2, 3])
        expected = naive(rows, quasi, trees, owners, models, limit, most)
        frequencies = frequencies_of(rows, quasi, trees, owners)
        if expected is None:
            with pytest.raises(InfeasibleError):
                mu_argus(frequencies, policy_of(models, limit, most), silent)
            continue
        found = mu_argus(frequencies, policy_of(models, limit, most), silent)
        recoding = recoding_of(frequencies, found)
        boxes = {
            tuple((int(lo), int(hi)) for lo, hi in zip(*both, strict=True))
            for both in zip(recoding.lo, recoding.hi, strict=True)
        }
        assert boxes == set(expected)
        assert int(found.count[found.class_of != -1].sum()) == sum(map(len, expected.values()))
        solved += 1
    assert solved > 4


def test_blanks_the_cell_that_hits_most():
    # 4 rows of each pair, and one of (0, 1): the pair is unsafe, no value is; both columns hit it, b has less entropy
    a, b = attribute("a", [0, 1], [0, 0]), attribute("b", [0, 1], [0, 0])
    rows = [(0, 0)] * 5 + [(1, 0)] * 4 + [(1, 1)] * 4 + [(0, 1)]
    counted = table(rows, [a, b])
    found = mu_argus(counted, policy_of([KAnonymity(1)], Fraction(1, 14)), silent)
    assert found.classes == 4  # k = 1: nothing is unsafe
    found = mu_argus(counted, policy_of([KAnonymity(2)], Fraction(1, 14)), silent)
    # the blanked row is alone in its class, which a reader may take for one: it goes
    assert found.count[found.class_of == -1].tolist() == [1]
    assert found.classes == 3
    assert "1 rows held one of fewer than 2" in found.notes[0]


def test_blanks_stay_where_their_class_is_large_enough():
    a, b = attribute("a", [0, 1, 2], [0, 0, 0]), attribute("b", [0, 1, 2, 3], [0, 0, 0, 0])
    # the two rows (2, 2), (2, 3): each pair is unsafe, and so are b = 2 and b = 3; blanking b makes them equal
    rows = [(v, w) for v in (0, 1) for w in (0, 1)] * 10 + [(2, 0)] * 2 + [(2, 2), (2, 3)]
    counted = table(rows, [a, b])
    found = mu_argus(counted, policy_of([KAnonymity(2)], Fraction(2, 44)), silent)
    recoding = recoding_of(counted, found)
    boxes = {(tuple(lo), tuple(hi)) for lo, hi in zip(recoding.lo.tolist(), recoding.hi.tolist(), strict=True)}
    assert ((2, 0), (2, 3)) in boxes
    assert (found.class_of != -1).all()
    # as wildcards these two, and the two (2, 0), could be any of the four rows with a = 2
    assert "the smallest class has 2 rows" in found.notes[1]
    assert "at least 4" in found.notes[1]


def test_larger_combinations_than_checked_are_caught_at_the_end():
    # every pair of columns is frequent, every triple unique
    a, b, c = (attribute(name, [0, 1], [0, 0]) for name in "abc")
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    found = mu_argus(table(rows, [a, b, c]), policy_of([KAnonymity(2)], 0, 1), silent)
    recoding = recoding_of(table(rows, [a, b, c]), found)
    assert min(np.bincount(found.class_of)) >= 2
    assert (recoding.hi > recoding.lo).any()


def test_hitting_sets():
    assert hitting_set([(0, 1), (1, 2)], [0, 1, 2]) == [1]
    assert hitting_set([(0,), (1,)], [1, 0]) == [1, 0]
    assert hitting_set([(0,)], [1]) is None
    assert hitting_set([(0,)], []) is None


def test_candidates_under_wildcards():
    values = np.array([[0, 0], [0, 1], [1, 1]], np.int32)
    nothing = np.zeros((3, 2), np.bool_)
    assert candidates(values, nothing, np.array([1, 2, 3])).tolist() == [1, 2, 3]
    everything = np.ones((3, 2), np.bool_)
    assert candidates(values, everything, np.array([1, 2, 3])).tolist() == [6, 6, 6]


def test_can_be_cancelled():
    def stop(*_):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        mu_argus(table([(0,), (1,)], [attribute("a", [0, 1], [0, 0])]), policy_of([KAnonymity(2)]), stop)


def test_publishes_blanks_as_the_most_general_label():
    cities = ["Bonn"] * 6 + ["Kiel"] * 6 + ["Ulm", "Jena"]
    frame = pa.table({"city": cities, "sex": ["f", "m"] * 6 + ["f", "f"]})
    policy = ind.Policy(
        attributes={name: {"role": "qi", "hierarchy": {"kind": "suppress"}} for name in ("city", "sex")},
        privacy=[ind.KAnonymity(2)],
        suppression={"limit": "1/7"},
        recoding={"algorithm": "mu_argus", "combinations": 2},
    )
    release = ind.anonymize(frame, policy)
    assert Counter(release.table["city"].to_pylist()) == {"Bonn": 6, "Kiel": 6, "*": 2}
    assert release.document["suppressed_rows"] == 0
