"""Small tables written out in tests, counted by hand-made records."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from indistinct.hierarchies.hierarchy import Hierarchy, Level
from indistinct.models.contract import Context
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.records import Frequencies, Reference


def hierarchy(attribute, values, paths=None):
    """Values in the given order; ``paths`` maps a value to its labels above, lowest first (a missing value: root)."""
    texts = [value for value in values if value is not None] + [None] * (None in values)
    levels = [Level(np.arange(len(texts), dtype=np.int32), tuple(map(str, texts)), (Fraction(0),) * len(texts))]
    height = len(next(iter(paths.values()))) if paths else 0
    for number in range(height):
        labels = [paths[text][number] if text in paths else "*" if number == height - 1 else "" for text in texts]
        distinct = list(dict.fromkeys(labels))
        nodes = np.array([distinct.index(label) for label in labels], np.int32)
        levels.append(Level(nodes, tuple(distinct), (Fraction(1),) * len(distinct)))
    return Hierarchy(attribute, "taxonomy", tuple(texts), tuple(levels))


def frequencies(quasi, sensitive, orders=None, paths=None, missing_at=""):
    """Count rows: ``quasi`` one label per row, ``sensitive`` name -> one value per row."""
    orders, paths = orders or {}, paths or {}
    columns = {"q": list(quasi), **{name: list(values) for name, values in sensitive.items()}}
    made = {}
    for name, values in columns.items():
        present = sorted(set(values) - {None}) + ([None] if None in values else [])
        made[name] = hierarchy(name, orders.get(name, present), paths.get(name))
    codes = np.array(
        [[made[name].texts.index(value) for value in values] for name, values in columns.items()], np.int32
    ).T
    cells, rows = np.unique(codes, axis=0, return_counts=True)
    first = np.flatnonzero(np.r_[True, cells[1:, 0] != cells[:-1, 0]])
    references = {
        name: Reference(
            made[name],
            np.bincount(codes[:, 1 + i], minlength=made[name].size).astype(np.int64),
            len(codes),
            missing_at,
        )
        for i, name in enumerate(sensitive)
    }
    return Frequencies(
        (made["q"],),
        tuple(made[name] for name in sensitive),
        np.ascontiguousarray(cells),
        rows.astype(np.int64),
        np.append(first, len(cells)).astype(np.int64),
        references,
    )


def judged(*arguments, **options):
    """Classes (one per label, in sorted order) and context of such a table."""
    counted = frequencies(*arguments, **options)
    return classes_of(counted, whole_tuples(counted)), Context(counted.references)


def of_counts(*histograms, order=None, paths=None):
    """Classes with the given counts of the values a, b, c, ...; the reference is their sum."""
    quasi, values = [], []
    for number, counts in enumerate(histograms):
        for value, count in zip("abcdefghijklmnopqrstuvwxyz", counts, strict=False):
            quasi += [f"{number:04d}"] * count
            values += [value] * count
    return judged(quasi, {"s": values}, orders={"s": order} if order else None, paths={"s": paths} if paths else None)


@pytest.fixture(scope="session")
def tables():
    return SimpleNamespace(frequencies=frequencies, judged=judged, of_counts=of_counts, hierarchy=hierarchy)
