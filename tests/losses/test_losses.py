"""Information loss against values worked out by hand and definitions written out row by row."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest

from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.taxonomy import build as taxonomy
from indistinct.losses import (
    average_class_size,
    discernibility,
    discernibility_star,
    gcp,
    lm,
    nonuniform_entropy,
    normalised_class_size,
    summary,
)
from indistinct.losses.cells import domain_leaves
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment, Frequencies

MEMBERS = {"kind": "range", "bounds": "members"}


def released(hierarchies, rows, groups, levels=None):
    """Count ``rows`` (tuples of texts) and send each to its group (None: suppressed)."""
    codes = np.array([[h.codes()[value] for h, value in zip(hierarchies, row, strict=True)] for row in rows], np.int32)
    labels = np.array([SUPPRESSED if group is None else group for group in groups], np.int32)
    cells, inverse, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    frequencies = Frequencies(
        tuple(hierarchies), (), cells, counts.astype(np.int64), np.arange(len(cells) + 1, dtype=np.int64), {}
    )
    pairs, count = np.unique(np.column_stack([inverse.ravel(), labels]), axis=0, return_counts=True)
    assignment = Assignment(
        pairs[:, 0].astype(np.int32), count.astype(np.int64), pairs[:, 1].astype(np.int32), max(labels) + 1, levels
    )
    return frequencies, assignment, recoding_of(frequencies, assignment)


def ages_and_places(suppressed=0):
    """Six patients in three classes of two, as a median partition cuts them."""
    rows = [
        ("25", "53711"), ("26", "53711"), ("25", "53712"), ("27", "53712"), ("27", "53711"), ("28", "53710"),
    ]  # fmt: skip
    age = build_hierarchy("age", [row[0] for row in rows], spec=MEMBERS, type="integer", domain=[25, 28])
    place = build_hierarchy("place", [row[1] for row in rows], spec=MEMBERS, type="integer", domain=[53710, 53712])
    rows += [("25", "53711")] * suppressed
    return released([age, place], rows, [0, 0, 1, 1, 2, 2] + [None] * suppressed)


def test_loss_of_three_classes():
    """NCP 11/3 of 12 cells: GCP 11/36; for numbers LM is the same."""
    release = ages_and_places()
    assert gcp(*release) == (Fraction(11, 36), {"age": Fraction(4, 9), "place": Fraction(1, 6)})
    assert lm(*release) == gcp(*release)
    assert discernibility(release[1]) == 12
    assert normalised_class_size(release[1], 2) == 1


def test_loss_with_suppression():
    """Two more rows that are dropped: each costs 1 per attribute, and all 8 rows in DM."""
    release = ages_and_places(suppressed=2)
    assert gcp(*release)[0] == lm(*release)[0] == Fraction(23, 48)
    assert discernibility(release[1]) == 28
    assert discernibility_star(release[1]) == 16
    assert average_class_size(release[1]) == 2
    assert normalised_class_size(release[1], 2) == 1


def test_average_class_size_uses_the_target_k():
    hierarchy = build_hierarchy("g", ["a", "b", "c"], spec=None)
    release = released([hierarchy], [("a",)] * 3 + [("b",)] * 3 + [("c",)] * 4, [0] * 3 + [1] * 3 + [2] * 4)
    assert average_class_size(release[1]) == Fraction(10, 3)
    assert normalised_class_size(release[1], 2) == Fraction(5, 3)


TEN = [(f"v{i}", "low" if i < 3 else "high", "*") for i in range(10)]


def test_two_normalisations_of_categories():
    """3 of 10 leaves: LM 2/9, NCP 3/10; 10 of 10: 1; a leaf: 0. Leaves that do not occur count."""
    hierarchy = taxonomy("s", ["v0", "v2", "v5"], TEN)
    assert domain_leaves(hierarchy) == 10
    low = released([hierarchy], [("v0",), ("v2",)], [0, 0])
    assert lm(*low)[0] == Fraction(2, 9)
    assert gcp(*low)[0] == Fraction(3, 10)
    everything = released([hierarchy], [("v0",), ("v5",)], [0, 0])
    assert lm(*everything)[0] == gcp(*everything)[0] == 1
    leaf = released([hierarchy], [("v0",), ("v5",)], [0, 1])
    assert lm(*leaf)[0] == gcp(*leaf)[0] == 0


def test_a_domain_of_one_leaf_costs_nothing():
    hierarchy = taxonomy("s", ["a"], [("a", "*")])
    release = released([hierarchy], [("a",)] * 3, [0, 0, 0], levels=(1,))
    assert lm(*release)[0] == gcp(*release)[0] == 0
    assert nonuniform_entropy(*release) == (0, 0)


def test_levels_of_a_full_domain_release():
    hierarchy = taxonomy("s", [f"v{i}" for i in range(10)], TEN)
    rows = [("v0",), ("v1",), ("v5",)]
    one_up = released([hierarchy], rows, [0, 0, 1], levels=(1,))
    assert lm(*one_up)[0] == (2 * Fraction(2, 9) + Fraction(6, 9)) / 3
    assert gcp(*one_up)[0] == (2 * Fraction(3, 10) + Fraction(7, 10)) / 3
    top = released([hierarchy], rows, [0, 0, 0], levels=(2,))
    assert lm(*top)[0] == 1


def test_a_class_that_mixes_missing_and_present_values_is_the_root():
    age = build_hierarchy("age", ["20", "30", None], spec=MEMBERS, type="integer")
    mixed = released([age], [("20",), (None,), (None,)], [0, 0, 1])
    assert lm(*mixed)[0] == Fraction(2, 3)
    sex = build_hierarchy("sex", ["f", "m", None], spec={"kind": "suppress"})
    assert lm(*released([sex], [("f",), (None,), (None,)], [0, 0, 1]))[0] == Fraction(2, 3)


def test_weights():
    def weighted(age, sex):
        hierarchies = [
            build_hierarchy("age", ["20", "30", "40"], spec=MEMBERS, type="integer", weight=Fraction(age)),
            build_hierarchy("sex", ["f", "m"], spec={"kind": "suppress"}, weight=Fraction(sex)),
        ]
        return released(hierarchies, [("20", "f"), ("30", "f"), ("40", "m")], [0, 0, 1])

    assert lm(*weighted(1, 1))[0] == Fraction(1, 6)
    assert lm(*weighted(3, 1))[0] == Fraction(1, 4)
    assert lm(*weighted(0, 1))[0] == 0
    assert lm(*weighted(0, 0))[0] == 0
    assert gcp(*weighted(3, 1))[0] == Fraction(1, 4)


def test_a_box_without_a_covering_node_is_refused():
    fixed = build_hierarchy("g", ["a", "b"], spec=None)
    with pytest.raises(ValueError, match="no node of g"):
        lm(*released([fixed], [("a",), ("b",)], [0, 0]))


def test_nonuniform_entropy_of_six_ages():
    """25,25,26 | 27,27,28: 3 log2 3 for each pair of halves, less what the values had."""
    age = build_hierarchy("age", ["25", "26", "27", "28"], spec=MEMBERS, type="integer")
    rows = [("25",), ("25",), ("26",), ("27",), ("27",), ("28",)]
    bits, share = nonuniform_entropy(*released([age], rows, [0, 0, 0, 1, 1, 1]))
    assert bits == pytest.approx(5.509775004326936, rel=1e-12)
    assert share == pytest.approx(5.509775004326936 / 11.509775004326936, rel=1e-12)
    assert nonuniform_entropy(*released([age], rows, [0] * 6)) == (pytest.approx(11.509775004326936), 1)
    assert nonuniform_entropy(*released([age], rows, [None] * 6))[1] == 1
    assert nonuniform_entropy(*released([age], rows, [0, 0, 1, 2, 2, 3])) == (0, 0)


def test_nonuniform_entropy_counts_original_values_table_wide():
    """A value in the hole of a class counts although its row is elsewhere; [1, 3] covers all three rows."""
    age = build_hierarchy("age", ["1", "2", "3"], spec=MEMBERS, type="integer")
    bits, _ = nonuniform_entropy(*released([age], [("1",), ("3",), ("2",)], [0, 0, 1]))
    assert bits == pytest.approx(2 * log2(3))


def test_nonuniform_entropy_of_coarser_bounds():
    """Bounds on a grid of ten cover values that no member of the class has."""
    age = build_hierarchy(
        "age", ["21", "25", "28", "33"], spec={"kind": "range", "bounds": "snapped", "step": 10}, type="integer"
    )
    bits, _ = nonuniform_entropy(*released([age], [("21",), ("25",), ("28",), ("33",)], [0, 1, 0, 2]))
    assert bits == pytest.approx(3 * log2(3))


def row_by_row(hierarchies, rows, groups):
    """LM and open bits straight from the definitions."""
    loss, bits, most = Fraction(0), 0.0, 0.0
    for a, hierarchy in enumerate(hierarchies):
        codes = [hierarchy.codes()[row[a]] for row in rows]
        for code, group in zip(codes, groups, strict=True):
            own = codes.count(code)
            most -= log2(own / len(rows))
            if group is None:
                loss += 1
                inside = len(rows)
            else:
                members = [c for c, g in zip(codes, groups, strict=True) if g == group]
                lo, hi = min(members), max(members)
                loss += hierarchy.cost(lo, hi)
                if hierarchy.is_range and (hi != hierarchy.missing or lo == hi):
                    inside = sum(lo <= c <= hi for c in codes)
                elif hierarchy.is_range:
                    inside = len(rows)
                else:
                    level, node = hierarchy.smallest(lo, hi)
                    inside = sum(hierarchy.levels[level].node_of[c] == node for c in codes)
            bits -= log2(own / inside)
    return loss / len(rows) / len(hierarchies), bits, most


@pytest.mark.parametrize("seed", range(25))
def test_losses_against_their_definitions(seed):
    draw = np.random.default_rng(seed)
    ages = [str(value) for value in draw.choice(60, 6, replace=False)] + [None]
    hierarchies = [
        build_hierarchy("age", ages, spec=MEMBERS, type="integer"),
        taxonomy("s", [f"v{i}" for i in range(10)], TEN),
        build_hierarchy("sex", ["f", "m", None], spec={"kind": "suppress"}),
        build_hierarchy("income", ages, spec={"kind": "intervals", "widths": [5, 20]}, type="integer"),
    ]
    n = int(draw.integers(1, 25))
    rows = [tuple(h.texts[draw.integers(h.size)] for h in hierarchies) for _ in range(n)]
    drawn = draw.integers(-1, 4, n)
    used = sorted({int(group) for group in drawn} - {-1})
    groups = [None if group < 0 else used.index(int(group)) for group in drawn]
    release = released(hierarchies, rows, groups)
    loss, bits, most = row_by_row(hierarchies, rows, groups)
    assert lm(*release)[0] == loss
    found, share = nonuniform_entropy(*release)
    assert found == pytest.approx(bits, abs=1e-9)
    assert share == pytest.approx(bits / most if most else 0, abs=1e-9)
    assert 0 <= gcp(*release)[0] <= 1
    assert gcp(*release)[0] >= loss
    sizes = [groups.count(group) for group in range(len(used))]
    assert discernibility(release[1]) == sum(s * s for s in sizes) + groups.count(None) * n


def test_summary_has_the_names_of_the_documents():
    found = summary(*ages_and_places())
    assert sorted(found) == sorted([
        "lm", "lm_by_attribute", "iloss", "precision", "gcp", "average_class_size", "discernibility",
        "discernibility_star", "ambiguity", "nonuniform_entropy",
    ])  # fmt: skip
    assert found["lm"] == pytest.approx(11 / 36)
    assert found["lm_by_attribute"] == {"age": pytest.approx(4 / 9), "place": pytest.approx(1 / 6)}
