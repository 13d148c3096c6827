"""k^m-anonymity is judged by audit as its definition says."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_item_sets as naive
from indistinct.models import histograms, km_anonymity
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.item_sets import item_sets

pytestmark = pytest.mark.small


def policy(k, m, **attributes):
    return ind.Policy(
        attributes={"items": {"role": "qi", "separator": ";"}} | attributes, privacy=[ind.KmAnonymity("items", k, m)]
    )


def entry(texts, k, m):
    return ind.audit(pa.table({"items": pa.array(texts, pa.string())}), policy(k, m)).document["models"][0]


def test_worked_example():
    texts = ["a;b", "a; b ;c;a", "c;b"]
    two = entry(texts, 2, 2)
    assert (two["satisfied"], two["achieved"], two["violating_rows"]) == (False, {"k": 1, "m": 2}, 1)
    assert two["reason"] == (
        '1 of 3 rows hold a set of at most 2 items of "items" that fewer than 2 rows hold; the rarest is held by 1'
    )
    one = entry(texts, 2, 1)
    assert (one["satisfied"], one["achieved"], one["required"]) == (True, {"k": 2, "m": 1}, {"k": 2, "m": 1})


def test_rows_without_items_hold_the_empty_set_only():
    assert entry([None, None, ";", "a", "a"], 2, 3)["achieved"] == {"k": 2, "m": 3}
    assert entry([None, " ; "], 2, 3)["achieved"] == {"k": 2, "m": 3}


SETS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=14)


@pytest.mark.slow
@settings(deadline=None)
@given(rows=SETS, k=st.integers(1, 4), m=st.integers(1, 6))
def test_is_that_of_the_definition(rows, k, m):
    texts = [";".join(sorted(row)) or None for row in rows]
    expected = naive.supports(rows, m)
    found = entry(texts, k, m)
    assert found["achieved"] == {"k": min(expected), "m": m}
    assert found["satisfied"] is (min(expected) >= k)
    assert found["violating_rows"] == sum(support < k for support in expected)
    sets = item_sets(texts, ";", np.arange(len(texts)))
    assert km_anonymity.rarest(sets, np.ones(len(texts), np.int64), m).tolist() == expected


def test_other_columns_and_starred_rows():
    table = pa.table({"items": ["a", "a", "*", "b", "b"], "sex": ["f", "m", "*", "f", "m"]})
    asked = policy(2, 2, sex={"role": "qi"})
    assert ind.audit(table, asked).document["models"][0]["satisfied"] is True
    judged = ind.audit(table, asked, suppressed_rows="class").document["models"][0]
    assert judged["satisfied"] is False


@pytest.mark.slow
def test_many_items_do_not_outgrow_a_key():
    rows = [frozenset(f"item{(7 * i + j * j) % 900}" for j in range(9)) for i in range(60)]
    texts = [";".join(sorted(row)) for row in rows]
    sets = item_sets(texts, ";", np.arange(len(texts)))
    assert km_anonymity.rarest(sets, np.ones(60, np.int64), 7).tolist() == naive.supports(rows, 7)


def test_too_many_subsets_are_refused():
    text = ";".join(map(str, range(200)))
    with pytest.raises(ind.UnsupportedError, match="smaller m"):
        entry([text], 1, 6)


def test_what_it_cannot_judge_is_refused():
    table = pa.table({"items": ["a;b", "a;b"]})
    with pytest.raises(ind.PolicyError, match="along a tree"):
        ind.anonymize(table, policy(2, 2))
    assert ind.verify(table, table, policy(2, 2)).satisfied  # needs no tree for cells that are as they were
    with pytest.raises(ind.UnsupportedError, match='the items of "items"'):
        ind.verify(table.append_column("x", [["1", "1"]]), pa.table({"x": ["1", "1"]}), policy(2, 2, x={"role": "qi"}))
    persons = ind.Policy(
        person={"key": "who"}, attributes={"items": {"role": "qi", "separator": ";"}},
        privacy=[ind.KmAnonymity("items", 2, 2)],
    )  # fmt: skip
    with pytest.raises(ind.UnsupportedError, match="persons"):
        ind.audit(pa.table({"items": ["a", "a"], "who": ["1", "1"]}), persons)


def test_what_does_not_fit_is_refused():
    for attributes in (
        {"items": {"role": "qi"}},
        {"items": {"role": "sensitive"}, "x": {"role": "qi"}},
        {"x": {"role": "qi"}},
    ):
        with pytest.raises(ind.PolicyError):
            ind.Policy(attributes=attributes, privacy=[ind.KmAnonymity("items", 2, 2)])
    with pytest.raises(ind.PolicyError, match="set-valued"):
        ind.Policy(attributes={"s": {"role": "sensitive", "separator": ";"}, "x": {"role": "qi"}})


def test_classes_that_go_take_their_sets_along(tables):
    frequencies = tables.frequencies("AABC", {"s": "xyxz"})
    classes = classes_of(frequencies, whole_tuples(frequencies))
    sets = item_sets(["a", "b;c", "c"], ";", np.arange(3))
    left = histograms.only(histograms.replace(classes, sets={"items": sets}), np.array([False, True, True]))
    assert (left.sets["items"].start.tolist(), left.sets["items"].item.tolist()) == ([0, 2, 3], [1, 2, 2])
