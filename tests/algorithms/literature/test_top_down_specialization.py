"""Top-down specialization: the score, the steps, what is valid, against the definition written with dicts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
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
from indistinct.algorithms.literature.top_down_specialization import info_gain, score, top_down_specialization
from indistinct.errors import Cancelled, InfeasibleError
from indistinct.models import MODELS
from indistinct.policy.privacy import DistinctL, KAnonymity
from indistinct.policy.recoding import TopDownSpecialization
from indistinct.tables.classes import recoding_of


def policy_of(privacy, limit=0, target="s0"):
    return SimpleNamespace(
        privacy=tuple(privacy),
        suppression=SimpleNamespace(limit=Fraction(limit)),
        recoding=TopDownSpecialization(target=target),
    )


def test_score_of_the_golden_split():  # x17
    gain = info_gain(np.array([[5, 1], [1, 5]]))
    assert gain == pytest.approx(0.3499775783516459, rel=1e-12)
    assert score(gain, 12 - 6) == pytest.approx(0.058329596391940984, rel=1e-12)
    assert score(gain, 0) == gain


def entropy(counts):
    total = sum(counts.values())
    return -sum(c / total * math.log2(c / total) for c in counts.values() if c)


def naive(rows, quasi, trees, owners, models, limit, target):
    """Cut (a set of spans for each attribute) and kept classes, from the definition; None when the top fails."""
    width, total = len(quasi), len(rows)
    columns = {h.attribute: width + i for i, h in enumerate(trees)}
    references = {h.attribute: (h, Counter(row[columns[h.attribute]] for row in rows)) for h in trees}
    k = max([1, *(m.k for m in models if hasattr(m, "k"))])
    allowed = min(math.floor(limit * total), total - 1)

    def spans(h, level, low, high):
        nodes = h.levels[level].node_of.tolist()
        found = []
        for code in range(low, high + 1):
            if code > low and nodes[code] == nodes[code - 1]:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
        return found

    def children(h, span):
        for level in range(len(h.levels) - 1, -1, -1):
            parts = spans(h, level, *span)
            if len(parts) > 1:
                return parts
        return []

    def classes(cut):
        groups = {}
        for i, row in enumerate(rows):
            key = tuple(next(s for s in cut[a] if s[0] <= row[a] <= s[1]) for a in range(width))
            groups.setdefault(key, []).append(i)
        return groups

    def size(members):
        return len(members) if owners is None else len({owners[i] for i in members})

    def right(model, members):
        by_rows = holds(model, [rows[i] for i in members], columns, references, size(members))
        return by_rows and (owners is None or holds_by_persons(model, members, columns, references, rows, owners))

    def judged(cut):
        groups = classes(cut)
        bad = {key for key, members in groups.items() if not all(right(m, members) for m in models)}
        lost = sum(len(groups[key]) for key in bad)
        small = sum(len(members) for members in groups.values() if size(members) < k)
        smallest = min((size(m) for m in groups.values() if size(m) >= k), default=np.iinfo(np.int64).max)
        return groups, bad, lost, small, smallest

    cut = [spans(h, len(h.levels) - 1, 0, h.size - 1) for h in quasi]
    if judged(cut)[2] > allowed:
        return None
    while True:
        before = judged(cut)[4]
        found = []
        for a, h in enumerate(quasi):
            for at, span in enumerate(cut[a]):
                parts = children(h, span)
                if not parts:
                    continue
                at_span = Counter(row[columns[target]] for row in rows if span[0] <= row[a] <= span[1])
                inside = 0.0
                for low, high in parts:
                    counts = Counter(row[columns[target]] for row in rows if low <= row[a] <= high)
                    inside += sum(counts.values()) * entropy(counts)
                gain = entropy(at_span) - inside / sum(at_span.values())
                after = [*cut[:a], [*cut[a][:at], *parts, *cut[a][at + 1 :]], *cut[a + 1 :]]
                _, _, lost, small, smallest = judged(after)
                if gain > 1e-12 and lost <= allowed and small <= allowed:
                    loss = before - smallest
                    found.append((gain / loss if loss > 0 else gain, after))
        if not found:
            groups, bad, *_ = judged(cut)
            return cut, {key: members for key, members in groups.items() if key not in bad}
        best = max(value for value, _ in found)
        cut = next(after for value, after in found if value >= best - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("name", [n for n in COMBINATIONS if n not in ("k", "no closure")])
def test_takes_the_steps_of_the_definition(name, persons):
    sensitive, models_of = COMBINATIONS[name]
    random = seeded(f"tds {name} {persons}")
    solved = 0
    for _ in range(40):
        rows, quasi, trees, owners = random_instance(random, sensitive, persons=persons)
        models, limit = models_of(random), Fraction(random.choice(LIMITS))
        expected = naive(rows, quasi, trees, owners, models, limit, "s0")
        frequencies = frequencies_of(rows, quasi, trees, owners)
        if expected is None:
            with pytest.raises(InfeasibleError):
                top_down_specialization(frequencies, policy_of(models, limit), silent)
            continue
        found = top_down_specialization(frequencies, policy_of(models, limit), silent)
        cut, kept = expected
        recoding = recoding_of(frequencies, found)
        boxes = {
            tuple((int(lo), int(hi)) for lo, hi in zip(*both, strict=True))
            for both in zip(recoding.lo, recoding.hi, strict=True)
        }
        assert boxes == set(kept)
        gone = int(found.count[found.class_of == -1].sum())
        assert gone == len(rows) - sum(map(len, kept.values()))
        solved += 1
        assert len(cut) == len(quasi)
    assert solved > 4


def test_ties_go_to_the_earlier_attribute():
    a, b, s = attribute("a", [0, 1], [0, 0]), attribute("b", [0, 1], [0, 0]), attribute("s0", [0, 1])
    rows = [(0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)]
    found = top_down_specialization(table(rows, [a, b], [s]), policy_of([KAnonymity(4)]), silent)
    recoding = recoding_of(table(rows, [a, b], [s]), found)
    assert recoding.lo.tolist() == [[0, 0], [1, 0]]
    assert recoding.hi.tolist() == [[0, 1], [1, 1]]


def test_labels_are_those_of_the_cut_not_of_the_members():
    # class 1 holds only the first value of its label, and is published with the label all the same
    a, b = attribute("a", [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]), attribute("b", [0, 1], [0, 0])
    s = attribute("s0", [0, 1])
    rows = [(0, 0, 0)] * 2 + [(1, 1, 0)] * 2 + [(2, 0, 1)] * 2 + [(3, 1, 1)] * 2
    counted = table(rows, [a, b], [s])
    found = top_down_specialization(counted, policy_of([KAnonymity(4)]), silent)
    assert recoding_of(counted, found).hi.tolist() == [[1, 1], [3, 1]]


def test_stops_where_nothing_more_is_told():
    a, s = attribute("a", [0, 1], [0, 0]), attribute("s0", [0, 1])
    rows = [(v, w) for v in range(2) for w in range(2)] * 3  # a says nothing about s
    found = top_down_specialization(table(rows, [a], [s]), policy_of([KAnonymity(2)]), silent)
    assert found.classes == 1
    assert found.notes == ("0 specializations were made",)


def test_top_labels_that_do_not_hold():
    grade, s = attribute("grade", [0, 1, 2], [0, 0, 1]), attribute("s0", [0, 1])
    with pytest.raises(InfeasibleError, match="top level of 'grade' still has 2 labels"):
        top_down_specialization(table([(0, 0), (1, 1), (2, 0)], [grade], [s]), policy_of([KAnonymity(3)]), silent)
    with pytest.raises(InfeasibleError, match="distinct_l"):
        top_down_specialization(table([(0, 0), (2, 0)], [grade], [s]), policy_of([DistinctL("s0", 2)]), silent)


def test_can_be_cancelled():
    def stop(*_):
        raise Cancelled("stopped")

    a, s = attribute("a", [0, 1], [0, 0]), attribute("s0", [0, 1])
    with pytest.raises(Cancelled):
        top_down_specialization(table([(0, 0), (1, 1)], [a], [s]), policy_of([KAnonymity(1)]), stop)


def patients(**recoding):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "insensitive"},
        },
        privacy=[ind.KAnonymity(2)],
        recoding={"algorithm": "top_down_specialization", **recoding},
    )


def test_ranges_are_split_where_most_is_gained():
    frame = pa.table(
        {
            "age": [20, 22, 40, 41, None, None],
            "sex": ["f", "m", "f", "m", "f", "m"],
            "ill": ["n", "n", "y", "y", "n", "n"],
        }
    )
    release = ind.anonymize(frame, patients(target="ill"))
    assert sorted(set(map(str, release.table["age"].to_pylist()))) == ["None", "[20, 22]", "[40, 41]"]
    assert set(release.table["sex"].to_pylist()) == {"*"}
    assert release.table["ill"].to_pylist().count("y") == 2


def test_target_is_needed_and_must_be_published_as_it_is():
    with pytest.raises(ind.PolicyError, match="target"):
        patients()
    with pytest.raises(ind.PolicyError, match="sensitive or insensitive"):
        patients(target="age")
    frame = pa.table({"age": [20, 22], "sex": ["f", "m"], "ill": ["n", "y"]})
    with pytest.raises(ind.SchemaError, match='did you mean "ill"'):
        ind.anonymize(frame, patients(target="il"))


def test_near_unique_target_is_refused_as_any_insensitive_column():
    frame = pa.table({"age": [20] * 200, "sex": ["f"] * 200, "ill": [str(i) for i in range(200)]})
    with pytest.raises(ind.SchemaError, match='200 of 200 rows hold a value of "ill" that occurs once'):
        ind.anonymize(frame, patients(target="ill"))


def test_every_model_says_whether_invalid_steps_stay_invalid():
    assert all(not model.absorbing or model.merge_closed for model in MODELS.values())
