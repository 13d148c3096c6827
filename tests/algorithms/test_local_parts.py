"""Parts: each is decided by itself, and the classes of all satisfy every model of the whole table."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
from indistinct.algorithms.local import parts as module
from indistinct.algorithms.local.parts import cut, subset
from indistinct.session.prepare import prepare

ATTRIBUTES = {
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
    "zip": {"role": "qi", "hierarchy": {"kind": "masking"}},
    "ill": {"role": "sensitive"},
}
PRIVACY = [
    ind.KAnonymity(3), ind.DistinctL("ill", 2), ind.TCloseness("ill", "1/2", distance="equal"),
]  # fmt: skip


def policy(parts="auto", privacy=PRIVACY, **sections):
    return ind.Policy(
        attributes=ATTRIBUTES, privacy=privacy, recoding={"quality": "fast"}, run={"parts": parts}, **sections
    )


def people(rows=600, seed=2):
    draw = np.random.default_rng(seed)
    ages = [None if draw.random() < 0.05 else int(age) for age in draw.integers(0, 90, rows)]
    return pa.table({
        "age": pa.array(ages, pa.int64()),
        "zip": pa.array([f"{code:03}" for code in draw.integers(0, 300, rows)]),
        "ill": pa.array(np.array(["flu", "cold", "gout"])[draw.choice(3, rows, p=[0.5, 0.3, 0.2])]),
    })  # fmt: skip


def naive(published, table):
    """k, l and t of a published table, from their definitions."""
    whole = Counter(table.column("ill").to_pylist())
    classes = defaultdict(Counter)
    for row in published.to_pylist():
        classes[row["age"], row["zip"]][row["ill"]] += 1
    distances = []
    for values in classes.values():
        size = values.total()
        shares = (Fraction(values[v], size) - Fraction(whole[v], whole.total()) for v in whole)
        distances.append(sum(map(abs, shares)) / 2)
    return min(map(Counter.total, classes.values())), min(map(len, classes.values())), max(distances)


@pytest.mark.parametrize("parts", [2, 5, 16])
def test_every_model_holds_and_the_answer_says_how_many(parts):
    table = people()
    release = ind.anonymize(table, policy(parts))
    rows, values, distance = naive(release.table, table)
    assert (rows >= 3, values >= 2, distance <= Fraction(1, 2)) == (True, True, True)
    assert release.table.num_rows == 600
    (told,) = [entry["message"] for entry in release.document["warnings"] if "parts" in entry["message"]]
    assert told.startswith(f"the table was cut into {parts} parts")


def test_one_part_is_the_table_as_it_was():
    table = people()
    whole, one = (ind.anonymize(table, policy(parts)) for parts in ("auto", 1))
    assert one.table.equals(whole.table)
    assert not any("parts" in entry["message"] for entry in one.document["warnings"])


def test_auto_cuts_by_the_number_of_cells_alone(monkeypatch):
    table = people()
    cells = len(prepare(table, policy()).counted.frequencies.rows)
    monkeypatch.setattr(module, "CELLS", -(-cells // 3))
    found = ind.anonymize(table, policy())
    assert any("cut into 3 parts" in entry["message"] for entry in found.document["warnings"])
    assert found.table.equals(ind.anonymize(table, policy(3)).table)


def test_the_order_of_rows_makes_no_difference():
    table = people()
    shuffled = table.take(np.random.default_rng(4).permutation(600))
    assert ind.anonymize(table, policy(4)).table.equals(ind.anonymize(shuffled, policy(4)).table)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["1", "2", "31"]), st.sampled_from("ab")), min_size=2, max_size=60
    ),
    st.integers(2, 6),
)
def test_parts_satisfy_all_models_and_hold_every_cell_once(rows, wanted):
    age, code, ill = zip(*rows, strict=True)
    table = pa.table({"age": pa.array(age, pa.int64()), "zip": list(code), "ill": list(ill)})
    models = [ind.KAnonymity(4), ind.DistinctL("ill", 2)]
    frequencies = prepare(table, policy(privacy=models)).counted.frequencies
    parts = cut(frequencies, models, wanted)
    assert len(parts) <= wanted
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(frequencies.tuples)))
    for part in parts if len(parts) > 1 else []:
        counts, cells = subset(frequencies, part)
        assert counts.total >= 4
        assert len(set(counts.sensitive_codes("ill").tolist())) == 2
        assert np.array_equal(counts.codes, frequencies.codes[cells])
        assert counts.references is frequencies.references


def test_what_cannot_be_cut_stays_one_part_or_is_refused():
    table = people().append_column("who", pa.array([f"p{n % 300}" for n in range(600)]))
    of_persons = policy(4, person={"key": "who"})
    with pytest.raises(ind.UnsupportedError, match="parts = 4 cannot be: a person may have rows in several parts"):
        ind.anonymize(table, of_persons)
    fixed = ind.Policy(attributes=ATTRIBUTES | {"zip": {"role": "qi"}}, privacy=[ind.KAnonymity(1)], run={"parts": 4})
    with pytest.raises(ind.UnsupportedError, match="never changed"):
        ind.anonymize(people(), fixed)
    with pytest.raises(ind.PolicyError, match="optimal decides the table as a whole, not in 4 parts"):
        ind.anonymize(people(), ind.Policy(
            attributes=ATTRIBUTES, privacy=[ind.KAnonymity(2)], recoding={"algorithm": "optimal"}, run={"parts": 4}
        ))  # fmt: skip


def test_persons_are_never_cut_by_themselves(monkeypatch):
    monkeypatch.setattr(module, "CELLS", 10)
    table = people(200).append_column("who", pa.array([f"p{n % 150}" for n in range(200)]))
    found = ind.anonymize(table, policy(person={"key": "who"}, privacy=[ind.KAnonymity(3)]))
    assert not any("cut into" in entry["message"] for entry in found.document["warnings"])


@pytest.mark.parametrize("parts", [0, -1, "many", 1.5])
def test_parts_are_a_number_or_auto(parts):
    with pytest.raises(ind.PolicyError, match=r"run\.parts"):
        policy(parts)
