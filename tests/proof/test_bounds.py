"""Ranges as two columns: from the labels alone, in the order of the file."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind

ATTRIBUTES = {
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10], "top": 90}},
    "height": {"role": "qi", "type": "decimal", "hierarchy": {"kind": "range"}},
    "day": {"role": "qi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["month", "year"]}},
    "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
    "ill": {"role": "sensitive"},
}
POLICY = ind.Policy(attributes=ATTRIBUTES, privacy=[ind.KAnonymity(3)])


def test_labels_become_their_ends():
    table = pa.table(
        {
            "age": ["90+", None, "[20, 29]"],
            "height": ["[1.5, 1.75)", "*", "2"],
            "day": ["2024-02", "2024", "2024-02-03"],
        }
    )
    found = ind.bounds(table, POLICY).to_pydict()
    assert (found["age_from"], found["age_to"]) == ([90, None, 20], [None, None, 29])
    assert (found["height_from"], found["height_to"]) == ([1.5, None, 2.0], [1.75, None, 2.0])
    assert found["day_from"] == [date(2024, 2, 1), date(2024, 1, 1), date(2024, 2, 3)]
    assert found["day_to"] == [date(2024, 2, 29), date(2024, 12, 31), date(2024, 2, 3)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_ends_of_a_release_hold_the_original_values(tmp_path, suffix):
    generator = np.random.default_rng(4)
    table = pa.table(
        {
            "age": generator.integers(0, 99, 40),
            "height": np.round(generator.normal(1.7, 0.1, 40), 2),
            "day": [f"2024-{month:02d}-07" for month in generator.integers(1, 13, 40)],
            "town": ["Kiel", "Bonn"] * 20,
            "ill": [f"v{i}" for i in range(40)],  # tells the rows apart
        }
    )
    ind.anonymize(table, POLICY, output=tmp_path / f"out.{suffix}")
    found = ind.bounds(tmp_path / f"out.{suffix}", POLICY)
    assert found.column_names[:3] == ["age", "age_from", "age_to"]
    original = {row["ill"]: row for row in table.to_pylist()}
    for row in found.to_pylist():
        for name in ("age", "height", "day"):
            value = original[row["ill"]][name]
            value = date.fromisoformat(value) if name == "day" else value
            low, high = row[f"{name}_from"], row[f"{name}_to"]
            assert low is None or low <= value
            assert high is None or value <= high


def test_a_column_in_the_way_is_an_error():
    with pytest.raises(ValueError, match="age_to"):
        ind.bounds(pa.table({"age": ["5"], "age_to": ["6"]}), POLICY)
