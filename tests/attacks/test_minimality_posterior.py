"""What merging tells of values, weighed by the chance of the merge: against the definition, and on whole releases."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_attacks as naive
from indistinct.attacks.margins import tables_of, weight
from indistinct.attacks.merged_pieces import Merge
from indistinct.attacks.minimality_posterior import _chance, at_most, believed, walks

FAULT = Path(__file__).resolve().parents[1] / "faults" / "r01-minimality-in-a-small-table"
AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}


def diverse(least):
    """Of numbers of rows by value: at least so many values occur."""
    return lambda counts: (counts > 0).sum(axis=1) >= least


def has(least):
    return lambda values: len(set(values)) >= least


def robust(folder, *models, **attributes):
    key = folder / "coins.key"
    if not key.exists():
        key.write_text("5c" * 32)
        key.chmod(0o600)
    return ind.Policy(
        attributes={"age": AGE, **attributes, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(2), *models],
        recoding={"robust": True, "key_file": str(key)},
    )


def test_two_and_three_as_the_page_says():
    merge = Merge(0, [2, 3], [1, 2], [0, 0], [0.5])
    belief = believed(merge, [2, 3], diverse(2))
    assert belief.after[:, 0].tolist() == pytest.approx([5 / 14, 3 / 7])
    assert belief.before[:, 0].tolist() == [0.4, 0.4]
    without = believed(Merge(0, [2, 3], [1, 2], [0, 0], [0.0]), [2, 3], diverse(2))
    assert without.after[:, 0].tolist() == pytest.approx([1 / 4, 1 / 2])


def test_one_of_two_pairs_failed_as_a_whole():
    """Ages of 3, 3, 4 and 4 rows with five HIV in one class: one of the pairs (20, 30) and (40, 50) has none or all."""
    merge = Merge(0, [3, 3, 4, 4], [1, 2, 3, 4], [0, 0, 1, 1], [1.0, 1.0])
    belief = believed(merge, [5, 9], diverse(2))
    assert belief.after[:, 0].tolist() == pytest.approx(
        [5 / 62, 5 / 62, 35 / 62, 35 / 62]
    )  # 6 * 5/6 and 56 * 5/8 of 62


def test_groups_that_would_have_been_published():
    """Without robust recoding a group of k equal rows that is missing fails: two with one HIV in all cannot be one."""
    belief = believed(Merge(0, [2, 2, 1], [1, 2, 3], failing=2), [1, 4], diverse(2))
    assert belief.after[:, 0].tolist() == [0.0, 0.0, 1.0]
    assert believed(Merge(0, [2, 1], [1, 2], failing=1), [1, 1, 1], diverse(2)) is None


@settings(max_examples=20)
@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=4).filter(lambda sizes: sum(sizes) <= 7),
    st.integers(2, 3),
    st.sampled_from([0, Fraction(1, 4), 1]),
    st.data(),
)
def test_beliefs_are_those_of_the_definition(sizes, least, decoy, data):
    values = data.draw(st.lists(st.sampled_from("abc"), min_size=sum(sizes), max_size=sum(sizes)))
    pair_of = [0, 0, 1, 1][: len(sizes)]
    decoys = [decoy] * len(set(pair_of))
    names = sorted(set(values))
    wanted = naive.posterior_of_merge(sizes, pair_of, decoys, values, has(least))
    merge = Merge(0, sizes, [1] * len(sizes), pair_of, [float(one) for one in decoys])
    found = believed(merge, [values.count(name) for name in names], diverse(least))
    assert (found is None) == (wanted is None)
    if found is not None:
        for piece, own in enumerate(wanted):
            assert found.after[piece].tolist() == pytest.approx([float(own[name]) for name in names])


def test_samples_are_near_the_definition():
    """Twelve values are too many to list: pieces of six, of which one fails if it has fewer than six values."""
    counts = [2] * 6
    belief = believed(Merge(0, [6, 6], [1, 2], [0, 0], [0.0]), counts, diverse(6))
    assert belief.before.max() == belief.before.min() == pytest.approx(1 / 6)
    assert np.abs(belief.after - 1 / 6).max() < 0.02  # nothing tells one value from another
    assert len(list(tables_of([6, 6], counts))) == 141  # the middle of (1 + x + x^2)^6


@pytest.mark.parametrize(("sizes", "pair_of", "decoys", "values"), [
    ([2, 3], [0, 0], [0.5], "aabbb"),
    ([2, 2, 3], [0, 0, 1], [0.25, 1.0], "aabbbcc"),
    ([2, 2, 2, 2], [0, 0, 1, 1], [0.5, 0.25], "aaaaaaab"),
])  # fmt: skip
def test_walks_come_near_the_definition(sizes, pair_of, decoys, values):
    names = sorted(set(values))
    counts = [values.count(name) for name in names]
    merge = Merge(0, sizes, [1] * len(sizes), pair_of, decoys)
    tables = np.array(list(tables_of(sizes, counts)), np.int64).transpose(0, 2, 1)
    ways = np.array([weight(sizes, table.T.tolist()) for table in tables], np.float64)
    chance = ways * _chance(merge, tables, diverse(2))
    drawn = np.random.default_rng(3).choice(len(tables), 60, p=chance / chance.sum())  # by chance, as starts are
    found = walks(merge, tables[drawn], _chance(merge, tables[drawn], diverse(2)) ** 0, diverse(2))
    wanted = naive.posterior_of_merge(sizes, pair_of, [Fraction(one) for one in decoys], values, has(2))
    assert np.abs(found - [[float(own[name]) for name in names] for own in wanted]).max() < 0.05


def test_walks_that_agree_on_nothing_are_no_judgement():
    """Two tables that no swap leads out of: which of them is true stays open."""
    merge = Merge(0, [2, 2], [1, 2], [0, 0], [0.0])
    apart = np.array([[[2, 0], [0, 2]], [[0, 2], [2, 0]]])
    assert walks(merge, apart, np.ones(2), diverse(2)) is None
    assert walks(merge, apart[:1], np.ones(1), diverse(2)) is None  # one start has no error to go by


def test_what_cannot_be_judged_has_a_bound():
    """Of two rows of five at most the one a is there, of b both; of three a third, and all."""
    bound = at_most(Merge(0, [2, 3], [1, 2]), [1, 4])
    assert bound.before.tolist() == [[0.2, 0.8], [0.2, 0.8]]
    assert bound.after.tolist() == [[0.5, 1.0], [1 / 3, 1.0]]


def test_a_class_of_one_value_is_settled_by_itself():
    belief = believed(Merge(0, [2, 2, 2, 2], [1] * 4, [0, 0, 1, 1], [0.2, 0.2]), [8], lambda counts: counts[:, 0] > 9)
    assert belief.before.tolist() == belief.after.tolist() == [[1.0]] * 4


def people(rows, seed):
    draw = np.random.default_rng(seed)
    age, ill = draw.integers(20, 60, rows), draw.choice(["a", "b", "c"], rows, p=[0.8, 0.15, 0.05])
    return pa.table({"age": [str(one) for one in age], "ill": ill.tolist()})


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """A table of 300 rows, released robustly and not, and what the attack says of both."""
    table, policy = people(300, 1), robust(tmp_path_factory.mktemp("keys"), ind.DistinctL("ill", 2))
    # a thorough search of so few rows leaves classes of two, which merge in so many ways that fewer can be judged
    policy = policy.model_copy(update={"recoding": policy.recoding.model_copy(update={"quality": "fast"})})
    plain = ind.Policy(attributes=policy.attributes, privacy=policy.privacy, recoding={"robust": False})
    found = {}
    for name, own, attacks in (
        ("robust", policy, ["minimality_posterior", "minimality"]), ("plain", plain, ["minimality_posterior"]),
    ):  # fmt: skip
        found[name] = ind.attack(ind.anonymize(table, own).table, own, original=table, attacks=attacks)
    return found


def test_a_robust_release_leaves_nobody_certain(attacked):
    entry = attacked["robust"]["minimality_posterior"]
    details = entry["details"]
    assert (details["form"], details["certain"]) == ("robust", 0)
    assert entry["persons"] == 300
    assert details["not_judged"] < 40
    assert entry["learnt"] == details["risen"] + details["not_judged"]  # not knowing is not safety
    assert details["merged_classes"] > 5
    assert details["mean_rise"] < 0.02
    assert details["largest_rise"] < 0.3


def test_what_a_search_did_not_choose_says_nothing_of_robust_classes(attacked):
    details = attacked["robust"]["minimality"]["details"]
    assert isinstance(details["by_class"], str)
    assert 0 < details["linear"]["failing_persons"] < details["linear"]["persons"]  # some are decoys


def test_without_robust_recoding_groups_give_themselves_away(attacked):
    entry = attacked["plain"]["minimality_posterior"]
    assert entry["details"]["form"] == "groups"
    assert entry["details"]["largest_rise"] > attacked["robust"]["minimality_posterior"]["details"]["largest_rise"]


def test_the_file_alone_tells_most_of_what_was_merged(tmp_path):
    """Without the original no run says who is where; what labels leave open is counted, and never guessed."""
    table, policy = people(300, 2), robust(tmp_path, ind.DistinctL("ill", 2))
    released = ind.anonymize(table, policy).table
    policy.locate(policy.recoding.key_file).unlink()  # an attacker has no key
    found = ind.attack(released, policy, identified=table.select(["age"]), attacks=["minimality_posterior"])
    entry = found["minimality_posterior"]
    assert entry["ran"]
    details = entry["details"]
    assert entry["persons"] == 300
    assert details["not_judged"] < 100
    assert entry["learnt"] >= details["not_judged"]


def test_the_small_table_no_longer_gives_itself_away(tmp_path):
    plain = ind.Policy.load(FAULT / "policy.toml")
    key = tmp_path / "key"
    key.write_text("ab" * 32)
    key.chmod(0o600)
    policy = ind.Policy(
        attributes=plain.attributes, privacy=plain.privacy, recoding={"robust": True, "key_file": str(key)}
    )
    released = ind.anonymize(FAULT / "input.csv", policy).table
    entry = ind.attack(released, policy, original=FAULT / "input.csv", attacks=["minimality_posterior"])
    assert entry["minimality_posterior"]["details"]["certain"] == 0


@pytest.mark.parametrize(("recoding", "models", "why"), [
    ({"algorithm": "optimal"}, [ind.DistinctL("ill", 2)], 'recodes by "optimal"'),
    ({"quality": "best", "time_budget": 1}, [ind.DistinctL("ill", 2)], "ends by the clock"),
    ({}, [], "no model of the policy looks at a sensitive column"),
])  # fmt: skip
def test_what_is_not_judged_says_why(recoding, models, why):
    table = people(40, 3)
    policy = ind.Policy(
        attributes={"age": AGE | {"hierarchy": {"kind": "suppress"}}, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(2), *models], recoding=recoding,
    )  # fmt: skip
    entry = ind.attack(table, policy, original=table, attacks=["minimality_posterior"])["minimality_posterior"]
    assert not entry["ran"]
    assert why in entry["reason"]
