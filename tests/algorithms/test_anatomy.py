"""Anatomy against its slow twin, and what a release of it owes."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive
import naive_groups
from indistinct.algorithms.anatomy import anatomize, anatomy, values_needed

pytestmark = pytest.mark.small

values = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=30)


def release(column, model, **document):
    table = pa.table({"row": [f"{at:03}" for at in range(len(column))], "s": column})
    policy = ind.Policy(
        attributes={"row": {"role": "quasi_identifying"}, "s": {"role": "sensitive"}},
        privacy=[model],
        recoding={"algorithm": "anatomy"},
        **document,
    )
    return ind.anonymize(table, policy)


def groups_of(published):
    """Return the sensitive values of each group, and the rows of each group."""
    qit, st_ = (table.to_pylist() for table in published)
    groups, rows = {}, {}
    for row in st_:
        groups.setdefault(row["group"], []).extend([row["s"]] * row["count"])
    for row in qit:
        rows.setdefault(row["group"], []).append(row)
    return groups, rows


@pytest.mark.slow
@given(values, st.integers(2, 4))
def test_groups_are_those_of_the_definition(column, length):
    expected = naive_groups.anatomy(column, length)
    known = sorted(set(column))
    counts = np.array([column.count(value) for value in known])
    if expected is None:
        return
    slot, group = anatomize(np.array([0, len(known)]), counts, length, lambda _: 0)
    found = {}
    for s, g in zip(slot.tolist(), group.tolist(), strict=True):
        found.setdefault(g, []).append(known[s])
    assert [sorted(found[g]) for g in sorted(found)] == [sorted(one) for one in expected[0]]


@pytest.mark.slow
@settings(max_examples=25)
@given(values, st.integers(2, 4))
def test_a_release_has_l_different_values_in_every_group(column, length):
    eligible = naive_groups.anatomy(column, length) is not None
    if not eligible:
        with pytest.raises(ind.InfeasibleError, match="every group needs"):
            release(column, ind.DistinctL("s", length))
        return
    found = release(column, ind.DistinctL("s", length))
    groups, rows = groups_of(found.table)
    assert sorted(groups) == list(range(1, len(groups) + 1))
    for number, members in groups.items():
        assert len(set(members)) == len(members) >= length
        assert len(rows[number]) == len(members)
    assert Counter(value for members in groups.values() for value in members) == Counter(column)
    assert sorted(row["row"] for own in rows.values() for row in own) == [f"{at:03}" for at in range(len(column))]
    # every row finds its own value in its group
    for number, own in rows.items():
        assert {column[int(row["row"])] for row in own} == set(groups[number])
    assert found.verification == {"rows_match": True, "coverage": "proven"}
    assert found.document["satisfied"]


def test_groups_are_numbered_in_the_order_of_the_table():
    qit, values_ = release(list("aaabbccd") * 5, ind.DistinctL("s", 2)).table
    assert qit.column("row").to_pylist() == sorted(qit.column("row").to_pylist())
    numbers = qit.column("group").to_pylist()
    assert list(dict.fromkeys(numbers)) == list(range(1, max(numbers) + 1))
    assert values_.to_pylist() == sorted(values_.to_pylist(), key=lambda row: (row["group"], row["s"]))


def test_the_dealing_is_random():
    column = list("abcd") * 20
    several = {str(groups_of(release(column, ind.DistinctL("s", 2)).table)[1]) for _ in range(4)}
    assert len(several) > 1


@pytest.mark.parametrize(
    ("model", "needed"),
    [
        (ind.DistinctL("s", 3), 3),
        (ind.AlphaK("s", "1/3", 2), 3),
        (ind.AlphaK("s", "0.5", 4), 4),
        (ind.EntropyL("s", "2.5"), 3),
        (ind.PSensitiveK("s", 2, 3), 3),
        (ind.KAnonymity(5), 1),
    ],
)
def test_models_that_a_group_of_different_values_satisfies(model, needed):
    assert values_needed(model) == needed
    if model.attributes_used:
        assert release(list("abcdef") * 4, model).document["satisfied"]


def test_what_it_cannot_hold_is_refused_with_what_can():
    with pytest.raises(ind.PolicyError, match=r'cannot hold t_closeness; it holds distinct_l.*"local"'):
        release(list("abab"), ind.TCloseness("s", "0.2", "equal"))
    with pytest.raises(ind.PolicyError, match="no model is about one"):
        release(list("abab"), ind.KAnonymity(2))
    with pytest.raises(ind.PolicyError, match="in none"):
        release(list("abab"), ind.DistinctL("s", 2), suppression={"rows": "exempt"})
    with pytest.raises(ind.PolicyError, match="sorted or shuffled"):
        release(list("abab"), ind.DistinctL("s", 2), output={"order": "kept", "confirmed": True})


def test_persons_are_refused():
    table = pa.table({"who": ["1", "1", "2", "3"], "q": list("abcd"), "s": list("abab")})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "s": {"role": "sensitive"}},
        person={"key": "who"},
        privacy=[ind.DistinctL("s", 2)],
        recoding={"algorithm": "anatomy"},
    )
    with pytest.raises(ind.UnsupportedError, match="one row for each person"):
        ind.anonymize(table, policy)


def test_with_k_anonymity_groups_lie_inside_classes():
    column = list("abcdeabcde") * 6
    table = pa.table({"age": [str(20 + at // 2) for at in range(60)], "s": column})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "s": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(5), ind.DistinctL("s", 3)],
        recoding={"algorithm": "anatomy", "quality": "fast"},
    )
    found = ind.anonymize(table, policy)
    qit = found.table.qit.to_pylist()
    assert naive.satisfied(qit, ["age"], [{"model": "k_anonymity", "k": 5}])
    groups, rows = groups_of(found.table)
    assert all(len(set(members)) == len(members) >= 3 for members in groups.values())
    assert all(len({row["age"] for row in own}) == 1 for own in rows.values())
    assert [entry["on"] for entry in found.document["models"]] == ["classes", "groups"]
    assert ind.verify(table, found.table, policy).document["coverage"]["status"] == "proven"


def test_without_random_words_places_are_dealt_in_order():
    """Rows get the places of their value in the order of their cells."""
    from indistinct.session.prepare import prepare
    from indistinct.tables.count import silent

    table = pa.table({"q": list("wxyz"), "s": list("aabb")})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "s": {"role": "sensitive"}},
        privacy=[ind.DistinctL("s", 2)],
        recoding={"algorithm": "anatomy"},
    )
    counted = prepare(table, policy).counted.frequencies
    found = anatomy(counted, policy, silent, words=lambda _number: np.zeros(0, np.uint64))
    assert found.group_of.tolist() == [0, 1, 0, 1]
