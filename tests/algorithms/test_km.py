"""A release of km is k^m-anonymous by the definition, true item by item, and verified as such."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_item_sets as naive
from indistinct.hierarchies.item_labels import ItemReader

pytestmark = pytest.mark.small

PATHS = {
    "a": ("a", "ab", "abc", "all"), "b": ("b", "ab", "abc", "all"), "c": ("c", "c", "abc", "all"),
    "d": ("d", "de", "def", "all"), "e": ("e", "de", "def", "all"), "f": ("f", "f", "def", "all"),
}  # fmt: skip
KM = {"model": "km_anonymity", "attribute": "items", "k": 2, "m": 2}
FOOD = [("beer", "drinks", "any"), ("wine", "drinks", "any"), ("milk", "dairy", "any"), ("cheese", "dairy", "any")]
SEVERAL = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
ITEMS = st.frozensets(st.sampled_from("abcdef"), max_size=4)


def policy(folder, k, m, rows=None, **changes):
    rows = list(PATHS.values()) if rows is None else rows
    (folder / "items.csv").write_text("\n".join(";".join(row) for row in rows) + "\n", encoding="utf-8")
    document = {
        "attributes": {
            "items": {"role": "qi", "separator": ",", "hierarchy": {"file": "items.csv"}},
            "age": {"role": "qi"},
            "row": {"role": "insensitive", "confirmed": True},
        },
        "privacy": [{"model": "km_anonymity", "attribute": "items", "k": k, "m": m}],
    }
    return ind.Policy(**{**document, **changes}).at(folder)


def table_of(texts, ages=None):
    numbers = list(range(len(texts)))
    ages = ages or ["30"] * len(texts)
    return pa.table({"items": pa.array(texts, pa.string()), "age": ages, "row": numbers})


def test_example(tmp_path):
    # docs/transforms.md: cheese is lifted to dairy, wine to drinks; each cell then costs (1/3 + 1/3) / 2
    table = table_of(["beer,milk", "wine, milk", "cheese,beer"], ["20", "20", "21"])
    asked = policy(tmp_path, 2, 2, FOOD)
    assert asked.recoding.algorithm == "km"
    release = ind.anonymize(table, asked, output=tmp_path / "out.csv")
    assert release.table["items"].to_pylist() == ["dairy,drinks"] * 3
    assert release.table["age"].to_pylist() == ["20", "20", "21"]
    assert release.document["loss"]["lm_by_attribute"] == {"items": pytest.approx(1 / 3), "age": 0.0}
    assert release.document["levels"] == {"items": 1, "age": 0}
    assert release.document["verification"] == {"rows_match": True, "coverage": "proven"}
    (entry,) = release.document["models"]
    assert (entry["satisfied"], entry["achieved"]) == (True, {"k": 3, "m": 2})
    told = [warning["message"] for warning in release.document["warnings"]]
    assert any("smallest class of equal quasi-identifiers has 1 row" in message for message in told)
    answer = ind.verify(table, tmp_path / "out.csv", asked)
    assert answer.satisfied
    assert answer.document["coverage"]["status"] == "proven"
    assert ind.audit(tmp_path / "out.csv", asked).satisfied


@pytest.mark.slow
@SEVERAL
@given(sets=st.lists(ITEMS, min_size=3, max_size=10), k=st.integers(1, 3), m=st.integers(1, 3), data=st.data())
def test_holds_by_the_definition(tmp_path, sets, k, m, data):
    texts = [",".join(sorted(own)) or None for own in sets]
    table = table_of(texts)
    asked = policy(tmp_path, k, m)
    if 0 < sum(map(bool, sets)) < k:  # even the top of the tree is held by fewer than k rows
        with pytest.raises(ind.InfeasibleError):
            ind.anonymize(table, asked)
        return
    release = ind.anonymize(table, asked)
    rows = release.table.sort_by("row")["items"].to_pylist()
    after = [frozenset((text or "").split(",")) - {""} for text in rows]
    assert min(naive.supports(after, m)) >= k
    assert naive.is_generalized(sets, after, PATHS)
    if min(naive.supports(sets, m)) >= k:
        assert after == sets
    order = data.draw(st.permutations(range(len(sets))))
    again = ind.anonymize(table.take(pa.array(order)), asked)
    assert again.table.equals(release.table)


@pytest.mark.slow
@settings(deadline=None)
@given(cells=st.lists(ITEMS, min_size=1, max_size=8), labels=st.lists(
    st.frozensets(st.sampled_from(["a", "b", "ab", "abc", "de", "f", "all", "new"]), max_size=3), min_size=1, max_size=6
))  # fmt: skip
def test_labels_cover_by_the_definition(cells, labels):
    reader = ItemReader([",".join(sorted(own)) or None for own in cells], ",", list(PATHS.values()))
    texts = [",".join(sorted(own)) or None for own in labels]
    expected = [[naive.covers(own, items, PATHS) for items in cells] for own in labels]
    assert [reader.covers(text).tolist() for text in texts] == expected
    pairs = [(label, cell) for label in range(len(labels)) for cell in range(len(cells))]
    one, two = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    assert reader.agrees(texts, one, two).tolist() == [expected[label][cell] for label, cell in pairs]


@pytest.mark.parametrize("cell", ["drinks", "any,drinks,dairy,fish", "milk", "dairy,beer", "any", None])
def test_a_false_cell_is_refuted(tmp_path, cell):
    table = table_of(["beer,milk", "wine,milk", "cheese,beer"])
    asked = policy(tmp_path, 2, 2, FOOD)
    published = ind.anonymize(table, asked).table.sort_by("row").to_pydict()
    published["items"][1] = cell  # the original is wine, milk
    answer = ind.verify(table, pa.table(published), asked)
    true = cell == "any"
    assert answer.document["coverage"]["status"] == ("proven" if true else "refuted")
    assert answer.satisfied is False  # any alone is held by one row


def test_cells_without_items_stay_apart_from_missing_ones(tmp_path):
    table = table_of([None, " , ", ",", "beer", "beer"])
    release = ind.anonymize(table, policy(tmp_path, 2, 1, FOOD), output=tmp_path / "out.csv")
    assert release.table.sort_by("row")["items"].to_pylist() == [None, ",", ",", "beer", "beer"]
    assert release.document["verification"] == {"rows_match": True, "coverage": "proven"}


def test_reports_say_what_was_done(tmp_path):
    release = ind.anonymize(table_of(["beer,milk", "wine,milk", "beer,cheese"]), policy(tmp_path, 2, 2, FOOD))
    for language, sentence in (("en", "knows up to 2 items of items"), ("zh-CN", "至多 2 项")):
        ind.report(release, tmp_path / f"{language}.md", language=language)
        text = (tmp_path / f"{language}.md").read_text(encoding="utf-8")
        assert sentence in text
        assert ("item by item" if language == "en" else "逐项") in text


def test_utility_reads_its_labels(tmp_path):
    # wine,milk is published as dairy,drinks, which covers the three cells of this table: (3 - 1) / (3 - 1)
    table, asked = table_of(["beer,milk", "wine,milk", "beer,cheese"]), policy(tmp_path, 2, 2, FOOD)
    found = ind.utility(table, ind.anonymize(table, asked).table, asked, queries=5).document
    assert found["losses"]["lm_by_attribute"]["items"] == 1.0
    assert not [warning for warning in found["warnings"] if warning["kind"] == "labels"]


def test_several_columns_and_several_parameters(tmp_path):
    attributes = policy(tmp_path, 2, 1, FOOD).plain()["attributes"]
    attributes["more"] = attributes["items"]
    models = [("items", 3, 1), ("items", 2, 2), ("more", 2, 1)]
    asked = policy(
        tmp_path, 2, 1, FOOD, attributes=attributes,
        privacy=[{"model": "km_anonymity", "attribute": name, "k": k, "m": m} for name, k, m in models],
    )  # fmt: skip
    texts = ["beer,milk", "wine,milk", "beer,cheese", "beer,milk"]
    table = table_of(texts).append_column("more", [["milk", "milk", "milk", "cheese"]])
    rows = ind.anonymize(table, asked).table.sort_by("row").to_pydict()
    items = [frozenset(text.split(",")) for text in rows["items"]]
    assert min(naive.supports(items, 1)) >= 3
    assert min(naive.supports(items, 2)) >= 2
    assert rows["more"] == ["dairy"] * 4


def test_compare_and_explain_know_it(tmp_path):
    table = table_of(["beer,milk", "wine,milk", "beer,cheese"])
    asked = policy(tmp_path, 2, 2, FOOD)
    own, other = ind.compare(table, asked, algorithms=["km", "local"]).runs
    assert (own["status"], own["loss"]["lm"]) == ("done", pytest.approx(1 / 6))
    assert other["status"] == "policy"
    assert 'local cannot hold km_anonymity; set algorithm to one that can: "km"' in other["reason"]
    told = ind.explain(table, asked, loss=0.5).document
    assert told["feasible"]
    assert told["reachable"][0]["reached"] == 3  # three rows, all alike
    hopeless = ind.explain(table, policy(tmp_path, 4, 1, FOOD)).document
    assert not hopeless["feasible"]
    assert "top of the tree" in hopeless["reason"]


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"privacy": [{"model": "k_anonymity", "k": 2}, KM]},
         ind.PolicyError, 'no other model, not k_anonymity.*method = "km"'),
        ({"recoding": {"algorithm": "local"}}, ind.PolicyError, 'one that can: "km"'),
        ({"person": {"key": "row"}, "attributes": {
            "items": {"role": "qi", "separator": ",", "hierarchy": {"file": "items.csv"}}, "age": {"role": "qi"}}},
         ind.UnsupportedError, "cannot count persons"),
        ({"suppression": {"limit": "0.1", "rows": "exempt"}}, ind.PolicyError, 'set rows = "drop"'),
        ({"output": {"suppressed_token": "dairy"}}, ind.PolicyError, "label dairy, which stands for a suppressed cell"),
        ({"attributes": {"items": {"role": "qi", "separator": ","}, "age": {"role": "qi"},
                         "row": {"role": "insensitive"}}}, ind.PolicyError, "along a tree"),
        ({"privacy": [{"model": "k_anonymity", "k": 2}], "recoding": {"algorithm": "km"},
          "attributes": {"items": {"role": "qi"}, "age": {"role": "qi"}, "row": {"role": "insensitive"}}},
         ind.PolicyError, "no other model"),
        ({"privacy": [{"model": "km_anonymity", "attribute": "items", "k": 9, "m": 1}]},
         ind.InfeasibleError, "fewer than"),
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_said(tmp_path, changes, kind, message):
    table = table_of(["beer,milk", "wine,milk", "beer,cheese"])
    with pytest.raises(kind, match=message):
        ind.anonymize(table, policy(tmp_path, 2, 2, FOOD, **changes))


def test_items_without_a_row_are_counted_not_shown(tmp_path):
    with pytest.raises(ind.DataError, match=r"1 items .* no row") as caught:
        ind.anonymize(table_of(["beer", "gin"]), policy(tmp_path, 2, 1, FOOD))
    assert "gin" not in str(caught.value)


def test_subsets_of_a_release_are_not_rarer_than_it_says(tmp_path):
    random = np.random.default_rng(4)
    texts = [",".join(sorted(set(random.choice(list("abcdef"), 4)))) for _ in range(200)]
    release = ind.anonymize(table_of(texts), policy(tmp_path, 12, 2))
    rows = [frozenset(text.split(",")) for text in release.table["items"].to_pylist()]
    pairs = {pair for row in rows for pair in combinations(sorted(row), min(2, len(row)))}
    least = min(sum(set(pair) <= row for row in rows) for pair in pairs)
    assert least >= 12
    assert release.document["models"][0]["achieved"] == {"k": least, "m": 2}
