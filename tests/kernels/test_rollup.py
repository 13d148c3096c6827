"""Class tables against dictionaries of rows."""

from __future__ import annotations

import numpy as np
import pytest

from indistinct.kernels.rollup import add_counts, add_persons, pack, roll_up, roll_up_wide, scatter

pytestmark = pytest.mark.small

# three attributes: 4, 3 and 2 codes; representatives of each code at positions 0, 1, 2
REPRESENTATIVES = [
    [[0, 1, 2, 3], [0, 0, 2, 2], [0, 0, 0, 0]],
    [[0, 1, 2], [0, 1, 1], [0, 0, 0]],
    [[0, 1], [0, 0], [0, 0]],
]
NODES = [(0, 0, 0), (1, 0, 0), (0, 2, 1), (1, 1, 1), (2, 2, 1)]
LAYOUTS = {"one word": ([0, 0, 0], [0, 2, 4]), "three words": ([0, 1, 2], [0, 0, 0])}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    words, shifts = (np.array(part, np.int64) for part in LAYOUTS[request.param])
    masks = np.array([3, 3, 1], np.int64)
    starts, moves = np.zeros((3, 3), np.int64), []
    for a, positions in enumerate(REPRESENTATIVES):
        for p, representative in enumerate(positions):
            starts[a, p] = len(moves)
            moves += [(code ^ node) << int(shifts[a]) for code, node in enumerate(representative)]
    return words, shifts, masks, starts, np.array(moves, np.int64)


def packed(tuples, rows, layout):
    words, shifts, *_ = layout
    keys, margins = np.zeros((len(tuples), int(words.max()) + 1), np.int64), np.zeros(9, np.int64)
    pack(tuples, rows, words, shifts, np.array([0, 4, 7, 9], np.int64), keys, margins)
    return keys, margins


def rolled(keys, rows, source, target, layout):
    words, shifts, masks, starts, moves = layout
    new_keys, new_rows = np.zeros_like(keys), np.zeros_like(rows)
    member, slots = np.zeros(len(rows), np.int32), np.zeros(64, np.int32)
    shared = (shifts, masks, starts, moves, slots)
    ends = np.array(source, np.int64), np.array(target, np.int64)
    if keys.shape[1] == 1:
        found = roll_up(keys.reshape(-1), rows, *ends, *shared, new_keys.reshape(-1), new_rows, member)
    else:
        found = roll_up_wide(keys, rows, *ends, words, *shared, new_keys, new_rows, member)
    return new_keys[:found], new_rows[:found], member


def table():
    generator = np.random.default_rng(3)
    tuples = np.unique(generator.integers(0, [4, 3, 2], (20, 3)), axis=0).astype(np.int32)
    return tuples, generator.integers(1, 9, len(tuples))


def expected(tuples, rows, node):
    classes = {}
    for values, count in zip(tuples.tolist(), rows.tolist(), strict=True):
        key = tuple(REPRESENTATIVES[a][p][values[a]] for a, p in enumerate(node))
        classes[key] = classes.get(key, 0) + count
    return classes


def unpacked(keys, layout):
    words, shifts, masks, *_ = layout
    return [tuple((keys[i, words] >> shifts) & masks) for i in range(len(keys))]


@pytest.mark.slow
@pytest.mark.parametrize("middle", NODES)
@pytest.mark.parametrize("target", NODES)
def test_rolls_up_from_any_more_special_node(middle, target, layout):
    if any(m > t for m, t in zip(middle, target, strict=True)):
        return
    tuples, rows = table()
    keys, margins = packed(tuples, rows, layout)
    assert margins[:4].tolist() == [int(rows[tuples[:, 0] == code].sum()) for code in range(4)]
    source, source_rows, first = rolled(keys, rows, (0, 0, 0), middle, layout)
    final, final_rows, second = rolled(source, source_rows, middle, target, layout)
    classes = expected(tuples, rows, target)
    assert dict(zip(unpacked(final, layout), final_rows.tolist(), strict=True)) == classes
    assert list(classes) == unpacked(final, layout)  # numbered by first member
    keys_of_tuples = [unpacked(final, layout)[c] for c in second[first]]
    assert keys_of_tuples == [
        tuple(REPRESENTATIVES[a][p][values[a]] for a, p in enumerate(target)) for values in tuples.tolist()
    ]


def test_counts_follow_the_classes():
    counts = np.zeros((3, 4), np.int32)
    owner, codes = np.array([0, 0, 1, 2], np.int32), np.array([0, 1, 1, 0], np.int32)
    scatter(owner, codes, np.array([5, 1, 2, 7]), 2, counts)
    assert counts.tolist() == [[0, 0, 5, 1], [0, 0, 0, 2], [0, 0, 7, 0]]
    merged = np.zeros((2, 4), np.int32)
    add_counts(counts, np.array([0, 1, 0], np.int32), merged)
    assert merged.tolist() == [[0, 0, 12, 1], [0, 0, 0, 2]]


def test_persons_are_counted_once_in_a_class():
    # persons 0 and 1 span classes 0, 1 and 2, 0; classes 0 and 1 become one
    single = np.array([4, 1, 2], np.int64)
    at, person = np.array([0, 1, 2, 0], np.int32), np.array([0, 0, 1, 1], np.int32)
    new_single, new_at, sizes = np.zeros(2, np.int64), np.zeros(4, np.int32), np.zeros(2, np.int64)
    add_persons(single, at, person, np.array([0, 0, 1], np.int32), new_single, new_at, sizes)
    assert new_single.tolist() == [5, 2]
    assert new_at.tolist() == [0, 0, 1, 0]
    assert sizes.tolist() == [7, 3]
