"""Audits of random tables say exactly what the slow twins say."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive

pytestmark = pytest.mark.small

ORDER = ["a", "b", "c", "d", "e"]
TREE = {
    "a": ("a", "x", "X", "*"),
    "b": ("b", "x", "X", "*"),
    "c": ("c", "y", "X", "*"),
    "d": ("d", "z", "Z", "*"),
    "e": ("e", "z", "Z", "*"),
}
MODELS = {
    "k": {"model": "k_anonymity", "k": 2},
    "alpha": {"model": "alpha_k", "attribute": "s", "alpha": "1/2", "k": 2},
    "alpha of some": {"model": "alpha_k", "attribute": "s", "alpha": "1/3", "k": 1, "values": ["a", "c"]},
    "p": {"model": "p_sensitive_k", "attribute": "s", "p": 2, "k": 2},
    "distinct": {"model": "distinct_l", "attribute": "s", "l": 2},
    "entropy": {"model": "entropy_l", "attribute": "s", "l": 2},
    "entropy, not whole": {"model": "entropy_l", "attribute": "s", "l": "3/2"},
    "recursive": {"model": "recursive_cl", "attribute": "s", "c": "3/2", "l": 2},
    "joint distinct": {"model": "joint_l", "attributes": ["s", "u"], "kind": "distinct_l", "l": 2},
    "joint recursive": {"model": "joint_l", "attributes": ["u", "s"], "kind": "recursive_cl", "c": 2, "l": 2},
    "joint entropy": {"model": "joint_l", "attributes": ["u", "s"], "kind": "entropy_l", "l": 2},
    "tiered alpha": {
        "model": "tiered",
        "attribute": "s",
        "values": ["a"],
        "holds": {"model": "alpha_k", "attribute": "s", "alpha": "1/2", "k": 2},
    },
    "equal": {"model": "t_closeness", "attribute": "s", "t": "1/3", "distance": "equal"},
    "ordered": {"model": "t_closeness", "attribute": "s", "t": "1/4", "distance": "ordered"},
    "basic beta": {"model": "beta_likeness", "attribute": "s", "beta": "1/2"},
    "enhanced beta": {"model": "beta_likeness", "attribute": "s", "beta": 1, "kind": "enhanced"},
    "delta": {"model": "delta_disclosure", "attribute": "s", "delta": 1},
    "lenient delta": {"model": "delta_disclosure", "attribute": "s", "delta": 1, "absent": "lenient"},
    "pd": {"model": "pd_recursive", "attribute": "s", "c": 2, "l": 2, "Y": ["a"]},
    "npd": {"model": "npd_recursive", "attribute": "s", "c": 2, "l": 2, "Y": ["a"], "c2": 20, "W": ["b"]},
    "grassberger": {"model": "entropy_l", "attribute": "s", "l": 2, "estimator": "grassberger"},
    "hierarchical": {"model": "t_closeness", "attribute": "s", "t": "1/3", "distance": "hierarchical"},
}
HOW = {"orders": {"s": ORDER}, "trees": {"s": TREE}}

cell = st.fixed_dictionaries(
    {
        "p": st.sampled_from("1234567"),
        "q": st.sampled_from(["0", "1", "*", None]),
        "r": st.sampled_from(["0", "1", "*", None]),
        "s": st.sampled_from(ORDER),
        "u": st.sampled_from(["m", "n", None]),
    }
)
# fixed_dictionaries shuffles its keys, and a table has an order of columns
tables = st.lists(cell.map(lambda row: {name: row[name] for name in "pqrsu"}), min_size=1, max_size=24)
# six rows at the thresholds: entropy exactly ln 2, shares exactly 1/2, recursive exactly 3/2 times the rest
TIES = [
    {"p": str(at), "q": "0", "r": None, "s": value, "u": "m"} for at, value in enumerate(["a", "b", "a", "b", "a", "b"])
]


@pytest.fixture(scope="module")
def tree_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "s.csv"
    path.write_text("".join(";".join(labels) + "\n" for labels in TREE.values()), encoding="utf-8")
    return str(path)


def audit(rows, model, tree_file, *, person):
    attributes = {name: {"role": "quasi_identifying"} for name in ("q", "r")}
    attributes["s"] = {"role": "sensitive"}
    attributes["u"] = {"role": "sensitive"}
    if model.get("distance") == "ordered":
        attributes["s"] |= {"type": "ordinal", "order": ORDER}
    if model.get("distance") == "hierarchical":
        attributes["s"] |= {"hierarchy": {"file": tree_file}}
    document = {"person": {"key": "p"}} if person else {"table": {"unlisted": "insensitive"}}
    policy = ind.Policy(attributes=attributes, privacy=[model], **document)
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
    return ind.audit(table, policy, suppressed_rows="class").document


@pytest.mark.slow
@pytest.mark.parametrize("person", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(rows=tables)
@example(rows=TIES)
@example(rows=TIES[:1])
def test_verdicts(name, rows, tree_file, person):
    model, how = MODELS[name], {**HOW, "person": "p" if person else None}
    if name == "tiered alpha":  # a listed value that occurs nowhere is an error
        rows = [*rows, TIES[0]]
    document = audit(rows, model, tree_file, person=person)
    (entry,) = document["models"]
    bad = naive.violating(rows, ["q", "r"], [model], **how)
    assert entry["satisfied"] is document["satisfied"] is naive.satisfied(rows, ["q", "r"], [model], **how)
    assert entry["violating_classes"] == len(bad)
    assert entry["violating_rows"] == sum(map(len, bad.values()))
    found = naive.classes(rows, ["q", "r"])
    assert document["classes"] == len(found)
    assert document["smallest_class"] == min(naive.size(members, how["person"]) for members in found.values())


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=tables)
def test_the_best_parameters(rows, tree_file):
    found = list(naive.classes(rows, ["q", "r"]).values())
    histograms = [naive.counts(members, "s") for members in found]

    def achieved(name):
        return audit(rows, MODELS[name], tree_file, person=False)["models"][0]["achieved"]

    assert achieved("k") == {"k": min(map(len, found))}
    assert achieved("distinct") == {"l": min(map(len, histograms))}
    assert Fraction(achieved("alpha")["alpha"]["fraction"]) == max(map(naive.top_share, histograms))
    assert achieved("entropy")["l"]["decimal"] == pytest.approx(min(map(naive.effective_l, histograms)), rel=1e-11)
    infima = [naive.recursive_infimum(histogram, 2) for histogram in histograms]
    c = achieved("recursive")["c"]
    assert (None if c is None else Fraction(c["fraction"])) == (None if None in infima else max(infima))
    for name in ("equal", "ordered", "hierarchical"):
        reference = naive.counts(rows, "s")
        distances = [naive.emd(MODELS[name], histogram, reference, **HOW) for histogram in histograms]
        assert Fraction(achieved(name)["t"]["fraction"]) == max(distances)


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=tables)
def test_missing_values_that_match_anything(rows, tree_file):
    document = audit(rows, MODELS["k"], tree_file, person=False)
    assert document["missing"]["k_if_missing_matches_anything"] == min(naive.matches_anything(rows, ["q", "r"]))


def test_with_a_person_key_k_counts_persons_even_where_missing_values_might_match():
    table = pa.table({"p": ["A", "A", "B", "C"], "q": ["1", "1", "2", "2"]})
    flags = {"qi": ["q"], "person": "p"}
    document = ind.audit(table, **flags).document
    assert (document["smallest_class"], document["missing"]["k_if_missing_matches_anything"]) == (1, 1)
    with_a_gap = pa.table({"p": ["A", "A", "B", "C"], "q": ["1", "1", "2", None]})
    assert ind.audit(with_a_gap, **flags).document["missing"]["k_if_missing_matches_anything"] is None


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=tables, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, order, tree_file):
    shuffled = list(rows)
    order.shuffle(shuffled)
    for name in ("joint distinct", "hierarchical"):
        one, other = (audit(given_rows, MODELS[name], tree_file, person=True) for given_rows in (rows, shuffled))
        assert one == other
