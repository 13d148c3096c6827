"""Suppressed rows that are published must not hide in a class that looks like them, nor spoil it."""

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive

ROWS = st.lists(st.tuples(*map(st.sampled_from, ("wx", "yz", "aaab"))), min_size=6, max_size=20)
MODELS = [
    {"model": "k_anonymity", "k": 2},
    {"model": "alpha_k", "attribute": "s", "alpha": "2/3", "k": 2},
]

# strict Mondrian keeps one class of everything but the rows that go; with these, 10 of 13 rows hold "a"
SPOILT = list(zip("wwxwwxxxwwwwx", "yyzyzzyyzyzzy", "aaaaabaabbaaa", strict=True))


def policy(rows, algorithm):
    return ind.Policy(
        attributes={name: {"role": "qi", "hierarchy": {"kind": "suppress"}} for name in "ab"}
        | {"s": {"role": "sensitive"}},
        privacy=MODELS,
        suppression={"limit": 0.5, "rows": rows},
        recoding={"algorithm": algorithm},
    )


def table(rows):
    return pa.table({name: list(column) for name, column in zip("abs", zip(*rows, strict=True), strict=True)})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
@pytest.mark.parametrize("how", ["exempt", "test"])
@pytest.mark.parametrize("algorithm", ["local", "mondrian", "optimal"])
def test_no_class_is_exempt(algorithm, how, rows):
    try:
        release = ind.anonymize(table(rows), policy(how, algorithm))
    except ind.InfeasibleError:
        return
    groups = defaultdict(list)
    for row in release.table.to_pylist():
        groups[row["a"], row["b"]].append(row)
    whole = [{"s": value} for *_, value in rows]
    for labels, members in groups.items():
        holds = all(naive.holds(model, members, whole) for model in MODELS)
        alone = how == "exempt" and labels == ("*", "*") and len(members) == release.document["suppressed_rows"]
        assert holds or alone


def test_the_answer_says_why_nothing_is_published():
    with pytest.raises(ind.InfeasibleError, match=r'rows = "exempt" publishes as such it fails alpha_k') as caught:
        ind.anonymize(table(SPOILT), policy("exempt", "mondrian"))
    assert 'rows = "drop"' in caught.value.nearest
    assert ind.anonymize(table(SPOILT), policy("drop", "mondrian")).document["satisfied"]


def test_comparing_and_explaining_say_so_too():
    decided = policy("exempt", "mondrian")
    (run,) = ind.compare(table(SPOILT), decided, algorithms=["mondrian"]).runs
    assert (run["status"], "fails alpha_k" in run["reason"]) == ("infeasible", True)
    answer = ind.explain(table(SPOILT), decided).document
    assert (answer["feasible"], answer["nearest"]) == (False, 'rows = "drop" under [suppression] leaves these rows out')
    assert ind.compare(table(SPOILT), policy("drop", "mondrian"), algorithms=["mondrian"]).document["satisfied"]


KEPT = {"order": "kept", "confirmed": True}


@pytest.mark.parametrize("unfit", [{"suppression": {"rows": "exempt"}}, {"output": KEPT}])
def test_what_groups_cannot_do_is_refused_before_anything_is_told(unfit):
    decided = ind.Policy(
        attributes={"a": {"role": "qi"}, "s": {"role": "sensitive"}}, privacy=[ind.DistinctL("s", 2)],
        recoding={"algorithm": "anatomy"}, **unfit,
    )  # fmt: skip
    rows = pa.table({"a": list("abcd"), "s": list("xyxy")})
    for command in (ind.anonymize, ind.explain):
        with pytest.raises(ind.PolicyError, match="publishes groups"):
            command(rows, decided)
    (run,) = ind.compare(rows, decided, algorithms=["anatomy"]).runs  # others may do
    assert "publishes groups" in run["reason"]
