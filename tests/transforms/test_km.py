"""Generalizing items gives k^m-anonymity, by the definition, and only labels above the items."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_item_sets as naive

pytestmark = pytest.mark.small

PATHS = {
    "a": ("a", "ab", "abc", "all"), "b": ("b", "ab", "abc", "all"), "c": ("c", "c", "abc", "all"),
    "d": ("d", "de", "def", "all"), "e": ("e", "de", "def", "all"), "f": ("f", "f", "def", "all"),
}  # fmt: skip
FOOD = [("beer", "drinks", "any"), ("wine", "drinks", "any"), ("milk", "dairy", "any"), ("cheese", "dairy", "any")]


def transformed(tmp_path, texts, rows, k, m):
    (tmp_path / "items.csv").write_text("\n".join(";".join(row) for row in rows) + "\n", encoding="utf-8")
    policy = ind.Policy(
        attributes={"items": {"role": "qi", "separator": ","}, "row": {"role": "insensitive"}},
        transforms=[{"method": "km", "attribute": "items", "hierarchy": "items.csv", "k": k, "m": m}],
    ).at(tmp_path)
    table = pa.table({"items": pa.array(texts, pa.string()), "row": range(len(texts))})
    return ind.transform(table, policy)


def test_example(tmp_path):
    answer = transformed(tmp_path, ["beer,milk", "wine,milk", "beer,cheese"], FOOD, 2, 2)
    assert answer.table["items"].to_pylist() == ["dairy,drinks"] * 3
    assert answer.document["transforms"][0]["loss"] == {"ncp": 1 / 3, "items": 4, "generalized": 4}
    assert answer.document["verification"]["coverage"]["items"] == "not proven"


SETS = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=3, max_size=10)


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets=SETS, k=st.integers(2, 3), m=st.integers(1, 3))
def test_holds_by_the_definition(tmp_path, sets, k, m):
    answer = transformed(tmp_path, [",".join(sorted(own)) for own in sets], PATHS.values(), k, m)
    after = [frozenset(text.split(",")) for text in answer.table.sort_by("row")["items"].to_pylist()]
    assert min(naive.supports(after, m)) >= k
    assert naive.is_generalized(sets, after, PATHS)
    if min(naive.supports(sets, m)) >= k:
        assert after == sets
    audited = ind.audit(
        answer.table.select(["items"]),
        ind.Policy(attributes={"items": {"role": "qi", "separator": ","}}, privacy=[ind.KmAnonymity("items", k, m)]),
    )
    assert audited.satisfied is True


def test_what_cannot_be_done_is_said(tmp_path):
    with pytest.raises(ind.InfeasibleError, match="top of the tree"):
        transformed(tmp_path, ["beer", None], FOOD, 2, 1)
    with pytest.raises(ind.DataError, match=r"1 items .* no row") as caught:
        transformed(tmp_path, ["beer", "gin"], FOOD, 2, 1)
    assert "gin" not in str(caught.value)
    with pytest.raises(ind.HierarchyError):
        transformed(tmp_path, ["beer", "beer"], [("beer", "a"), ("beer", "b")], 2, 1)
    assert transformed(tmp_path, [None, None], FOOD, 2, 1).table["items"].to_pylist() == [None, None]
