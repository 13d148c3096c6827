"""Local recoding for graded l-diversity: as good as local with a column of levels, and true by the slow twin."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive
import naive_numeric

ages = st.sampled_from([str(age) for age in range(20, 60, 3)])
wages = st.sampled_from(["0", "5", "9.5", "10", "24", "26", "50", "75", "100"])
tables = st.lists(st.tuples(ages, wages), min_size=2, max_size=40)


def policy_of(models, algorithm="graded_local"):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "wage": {"role": "sensitive", "type": "decimal"},
        },
        privacy=models,
        recoding={"algorithm": algorithm},
    )


def as_table(rows):
    return pa.table({"age": [age for age, _ in rows], "wage": [wage for _, wage in rows]})


@pytest.mark.slow
@settings(max_examples=12)
@given(rows=tables, length=st.integers(1, 3), levels=st.sampled_from([3, 4, 10]))
def test_a_release_holds(rows, length, levels):
    policy = policy_of([ind.GradedL("wage", length, levels), ind.KAnonymity(2)])
    low, high = (bound(Fraction(wage) for _, wage in rows) for bound in (min, max))

    def of(members):
        return {naive_numeric.level(Fraction(wage), low, high, levels) for wage in members}

    try:
        release = ind.anonymize(as_table(rows), policy)
    except ind.InfeasibleError:
        assert len(of(wage for _, wage in rows)) < length
        return
    for members in naive.classes(release.table.to_pylist(), ["age"]).values():
        assert len(of(row["wage"] for row in members)) >= length
        assert len(members) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("model", [ind.GradedL("wage", 2, 4), ind.KeAnonymity("wage", 2, 30)], ids=lambda m: m.model)
def test_local_holds_it_too(model):
    rows = [(str(20 + at % 30), str(at * 7 % 100)) for at in range(120)]
    release = ind.anonymize(as_table(rows), policy_of([model], "local"))
    assert release.document["satisfied"]
    if model.model == "graded_l":
        better = ind.anonymize(as_table(rows), policy_of([model]))
        assert better.loss["lm"] <= release.loss["lm"]
