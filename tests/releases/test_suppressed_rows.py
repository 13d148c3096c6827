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
    # strict Mondrian keeps one class of everything but the rows that go; with these, 10 of 13 rows hold "a"
    rows = list(zip("wwxwwxxxwwwwx", "yyzyzzyyzyzzy", "aaaaabaabbaaa", strict=True))
    with pytest.raises(ind.InfeasibleError, match=r'rows = "exempt" publishes as such it fails alpha_k') as caught:
        ind.anonymize(table(rows), policy("exempt", "mondrian"))
    assert 'rows = "drop"' in caught.value.nearest
    assert ind.anonymize(table(rows), policy("drop", "mondrian")).document["satisfied"]
