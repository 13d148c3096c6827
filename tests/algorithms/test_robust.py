"""Recoding that does not betray: what decides about merges, and that all that was promised holds as before."""

import hashlib
import hmac
from collections import Counter
from dataclasses import replace
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.algorithms.blind import blind_frequencies
from indistinct.algorithms.local import local
from indistinct.algorithms.local.bases import bases_of
from indistinct.algorithms.local.coins import Coins
from indistinct.algorithms.local.robust import BETA, bands_of, dealt, decoy_chance
from indistinct.attacks.told_by_merging import told_by_merging
from indistinct.formats.registry import open_source
from indistinct.policy.public import PRIVATE, public_form
from indistinct.session.prepare import prepare
from indistinct.tables.count import silent

AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}
SEX = {"role": "qi", "hierarchy": {"kind": "suppress"}}
MODELS = {
    "distinct_l": [ind.DistinctL("ill", 2)],
    "distinct_l of 3": [ind.DistinctL("ill", 3)],
    "entropy_l": [ind.EntropyL("ill", "1.5")],
    "recursive_cl": [ind.RecursiveCL("ill", c=4, l=2)],
    "alpha_k": [ind.AlphaK("ill", "0.8", 3)],
    "t_closeness": [ind.TCloseness("ill", "0.4", "equal")],
}


def people(rows, seed, shares=(0.6, 0.2, 0.1, 0.1), ages=50):
    draw = np.random.default_rng(seed)
    ill = draw.choice(list("abcd"), rows, p=shares)
    return pa.table({
        "age": [str(one) for one in draw.integers(20, 20 + ages, rows)], "sex": draw.choice(["f", "m"], rows).tolist(),
        "ill": ill.tolist(),
    })  # fmt: skip


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Paths of two keys that only their owner can read."""
    folder = tmp_path_factory.mktemp("keys")
    found = []
    for number in range(2):
        found.append(folder / f"{number}.key")
        found[-1].write_text(hashlib.sha256(bytes([number])).hexdigest() + "\n")
        found[-1].chmod(0o600)
    return found


def policy_of(key, models, k=3, version=1, **recoding):
    given = {"robust": True, "key_file": key and str(key)} | recoding
    return ind.Policy(
        version=version,
        attributes={"age": AGE, "sex": SEX, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(k), *models],
        recoding={name: value for name, value in given.items() if value is not None},
    )


def released(table, policy):
    return ind.anonymize(table, policy).table


def classes(table):
    found = {}
    for row in table.to_pylist():
        found.setdefault((row["age"], row["sex"]), []).append(row["ill"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_promised_holds(keys, name, seed):
    """Verified by the recount of the release, and here from the definitions."""
    table = people(40 + 20 * seed, seed)
    models = MODELS[name]
    policy = policy_of(keys[0], models)
    release = ind.anonymize(table, policy)
    assert release.verification == {"rows_match": True, "coverage": "proven"}
    groups = classes(release.table)
    assert min(map(len, groups.values())) >= 3
    assert sum(map(len, groups.values())) == table.num_rows
    for ills in groups.values():
        counts = sorted(Counter(ills).values(), reverse=True)
        if name.startswith("distinct_l"):
            assert len(counts) >= models[0].l
        elif name == "recursive_cl":
            assert counts[0] < 4 * sum(counts[1:])
        elif name == "entropy_l":
            assert exp(-sum(n / len(ills) * log(n / len(ills)) for n in counts)) >= 1.5 - 1e-9
        elif name == "alpha_k":
            assert max(counts) <= 0.8 * len(ills)
    if name == "t_closeness":
        whole = Counter(table["ill"].to_pylist())
        assert all(_equal_distance(Counter(ills), whole) <= 0.4 + 1e-12 for ills in groups.values())


def _equal_distance(own, whole):
    n, total = sum(own.values()), sum(whole.values())
    return sum(abs(own[value] / n - whole[value] / total) for value in whole) / 2


@pytest.mark.slow
def test_the_same_key_gives_the_same_file_in_any_order_of_rows(keys):
    table, policy = people(120, 7), policy_of(keys[0], MODELS["distinct_l"])
    order = np.random.default_rng(1).permutation(table.num_rows)
    assert released(table, policy).equals(released(table.take(order), policy))


@pytest.mark.slow
def test_another_key_gives_other_decoys_of_the_same_pairs(keys):
    table = people(600, 8, (0.8, 0.1, 0.05, 0.05), ages=600)
    first, second = (classes(released(table, policy_of(key, MODELS["distinct_l"]))) for key in keys)
    assert first.keys() != second.keys()
    both = first.keys() & second.keys()
    assert len(both) > len(first) / 3  # what had to be merged is merged under both, and much is under neither


@pytest.mark.slow
def test_a_variable_of_the_environment_holds_the_key_as_well(keys, monkeypatch):
    table = people(60, 9)
    monkeypatch.setenv("COINS", keys[0].read_text())
    by_file = released(table, policy_of(keys[0], MODELS["distinct_l"]))
    assert by_file.equals(released(table, policy_of(None, MODELS["distinct_l"], key_env="COINS")))


def counted(table, policy):
    return prepare(open_source(table), policy).counted.frequencies


def bases(table, policy):
    blind = blind_frequencies(counted(table, policy))
    return bases_of(blind, policy, 3, lambda counts, alone: local(counts, alone, silent))


@pytest.mark.slow
def test_base_classes_and_pairs_follow_from_quasi_identifiers_alone(keys):
    table, policy = people(150, 10), policy_of(keys[0], MODELS["distinct_l"])
    scrambled = table.set_column(2, "ill", pa.array(np.random.default_rng(2).permutation(table["ill"].to_numpy())))
    one, other = bases(table, policy), bases(scrambled, policy)
    assert all(
        np.array_equal(getattr(one.classes, name), getattr(other.classes, name))
        for name in ("cell", "count", "class_of")
    )
    assert np.array_equal(one.pair, other.pair)
    assert Counter(np.bincount(one.pair).tolist())[2] > 10  # most have a partner


@pytest.mark.slow
def test_only_whether_a_class_violates_decides_and_not_by_which_values(keys):
    """Each age once, so that nothing is dealt: other names of the values leave every violation where it is."""
    draw = np.random.default_rng(3)
    ages, ill = [str(age) for age in range(20, 140)], draw.choice(["a", "b"], 120, p=[0.8, 0.2])
    table = pa.table({"age": ages, "sex": ["f"] * 120, "ill": ill.tolist()})
    named = table.set_column(2, "ill", pa.array(["z" if one == "a" else "y" for one in ill]))
    policy = policy_of(keys[0], MODELS["distinct_l"])
    first, second = released(table, policy), released(named, policy)
    assert first.select(["age", "sex"]).equals(second.select(["age", "sex"]))


def test_rows_of_equal_quasi_identifiers_are_dealt_by_chance(keys):
    """Twelve rows of one age in base classes of three: no order of values is favoured, and counts stay."""
    table = pa.table({"age": ["30"] * 12, "sex": ["f"] * 12, "ill": ["a"] * 6 + ["b"] * 6})
    frequencies = counted(table, policy_of(keys[0], MODELS["distinct_l"]))
    base = bases(table, policy_of(keys[0], MODELS["distinct_l"])).classes
    four = replace(
        base, cell=np.zeros(4, np.int32), count=np.full(4, 3), class_of=np.arange(4, dtype=np.int32), classes=4
    )
    seen = Counter()
    for number in range(200):
        found = dealt(frequencies, four, Coins(bytes([number]) * 32))
        assert np.bincount(found.class_of, found.count).tolist() == [3, 3, 3, 3]
        assert np.bincount(found.cell, found.count).tolist() == [6, 6]
        seen[int(found.count[(found.class_of == 0) & (found.cell == 0)].sum())] += 1
    # hypergeometric, 3 of 12 with 6: 20, 90, 90 and 20 of 220
    assert abs(seen[0] + seen[3] - 200 * 40 / 220) < 25
    assert min(seen[1], seen[2]) > 50


def test_coins_follow_from_the_key_by_hmac():
    key = b"k" * 32
    digest = hmac.new(key, b"indistinct robust recoding: pair\0box" + (1).to_bytes(8, "big"), hashlib.sha256).digest()
    (wanted,) = Coins(key).of("pair", [b"box"])
    assert wanted == int.from_bytes(digest[:6], "big") / 2**48
    several = Coins(key).of("pair", [b"box", b"box", b"other"])
    assert len(set(several)) == 3
    assert "k" not in repr(Coins(key)).replace("Coins", "")
    many = Coins(key).of("pair", [str(number).encode() for number in range(4000)])
    assert abs(many.mean() - 0.5) < 0.02
    assert abs(np.quantile(many, 0.9) - 0.9) < 0.02


def test_decoys_hide_the_share_of_violating_pairs():
    """Of the merged pairs about BETA violate: 100 of 1,000, and 43 decoys among 900."""
    (chance,) = decoy_chance(np.array([1000]), np.array([100]))
    assert 100 / (100 + 900 * chance) == pytest.approx(BETA, abs=0.01)
    assert decoy_chance(np.array([10]), np.array([9])).tolist() == [1.0]
    assert bands_of(np.array([6] * 49 + [7] + [8] * 3)).tolist() == [0] * 50 + [1] * 3


def test_without_models_of_values_nothing_changes(keys):
    table = people(60, 11)
    plain = policy_of(None, [], robust=False, key_file=None)
    assert released(table, policy_of(keys[0], [])).equals(released(table, plain))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "on"), [
    ("distinct_l", True), ("entropy_l", False), ("recursive_cl", False), ("alpha_k", False), ("t_closeness", False),
])  # fmt: skip
def test_auto_is_on_where_it_is_cheap_and_there_is_a_key(keys, name, on):
    table, models = people(90, 12), MODELS[name]
    chosen, asked, plain = (
        released(table, policy_of(keys[0], models, robust=robust)) for robust in ("auto", True, False)
    )
    assert chosen.equals(asked if on else plain)
    assert not asked.equals(plain)
    nameless = policy_of(None, models, robust="auto", key_file=None)
    assert released(table, nameless).equals(plain)


VERSIONS = [  # version, what the policy says of robust, whether it is on
    (1, None, False), (1, "auto", True), (1, True, True), (1, False, False),
    (2, None, True), (2, "auto", True), (2, True, True), (2, False, False),
]  # fmt: skip


@pytest.mark.parametrize(("version", "word", "on"), VERSIONS)
def test_a_policy_of_version_1_recodes_as_it_always_did(keys, version, word, on):
    table, models = people(90, 12), MODELS["distinct_l"]
    plain, robust = (released(table, policy_of(keys[0], models, robust=one)) for one in (False, True))
    assert not plain.equals(robust)
    policy = policy_of(keys[0], models, robust=word, version=version)
    for same in (policy, ind.Policy(**policy.plain()), replaced(policy)):  # written out and read again; from a record
        assert released(table, same).equals(robust if on else plain)
    found = {notice.kind: str(notice.message) for notice in policy.notices()}
    assert ("robust" in found) != on
    if (version, word) == (1, None):
        assert "under version = 1 it is off" in found["robust"]


def replaced(policy):
    """The same policy with its section given as a record."""
    return ind.Policy(**{**policy.plain(), "recoding": policy.recoding})


@pytest.mark.parametrize(("version", "on"), [(1, False), (2, True)])
def test_sessions_comparisons_and_explanations_follow_the_version(keys, version, on):
    table, models = people(90, 12), MODELS["distinct_l"]
    losses = [ind.anonymize(table, policy_of(keys[0], models, robust=one)).loss["lm"] for one in (False, True)]
    policy = policy_of(keys[0], models, robust=None, version=version)
    look = ind.Session(table).look(policy)
    assert look.document["loss"]["lm"] == pytest.approx(losses[on])
    assert told_by_merging(ind.anonymize(table, policy).decision)["robust"] == on
    compared = ind.compare(table, policy, algorithms=["local"])
    assert compared.document["runs"][0]["loss"]["lm"] == pytest.approx(losses[on])


def test_what_auto_makes_no_difference_to_is_not_in_the_fingerprint(keys):
    models = MODELS["distinct_l"]
    unnamed, named = (policy_of(keys[0], models, robust=word, version=2) for word in (None, "auto"))
    assert unnamed.hash() == named.hash()
    other = policy_of(None, models, robust="auto", key_file=None, algorithm="optimal")
    assert other.plain()["recoding"] == {"algorithm": "optimal"}


def test_auto_says_that_a_key_is_not_used(keys):
    kinds = {
        notice.kind: str(notice.message) for notice in policy_of(keys[0], MODELS["alpha_k"], robust="auto").notices()
    }
    assert "alpha_k" in kinds["robust"]
    assert "robust = true" in kinds["robust"]
    assert "robust" not in {notice.kind for notice in policy_of(keys[0], MODELS["distinct_l"], robust="auto").notices()}
    unasked = policy_of(keys[0], MODELS["distinct_l"], robust=False).notices()
    assert "robust" in {notice.kind for notice in unasked}  # a key that nothing needs


@pytest.mark.parametrize(("recoding", "why"), [
    ({"robust": True}, "recoding.robust = true: needs a key"),
    ({"robust": True, "key_file": "a", "key_env": "B"}, 'recoding.key_env = "B": stands beside key_file'),
    ({"robust": True, "algorithm": "optimal", "key_file": "a"}, "is for local; the algorithm is optimal"),
    ({"robust": "yes", "key_file": "a"}, "recoding.robust"),
    ({"key": "secret"}, "a key never stands in a policy"),
])  # fmt: skip
def test_what_is_no_setting_is_refused_by_name(recoding, why):
    with pytest.raises(ind.PolicyError, match=why):
        ind.Policy(
            attributes={"age": AGE, "ill": {"role": "sensitive"}}, privacy=MODELS["distinct_l"], recoding=recoding
        )


@pytest.mark.parametrize(("content", "mode", "why"), [
    (None, None, "cannot be read"),
    ("5c" * 8, 0o600, "needs at least 32"),
    ("5c" * 32, 0o644, "others than its owner can read"),
])  # fmt: skip
def test_a_key_that_is_none(tmp_path, content, mode, why):
    key = tmp_path / "a.key"
    if content is not None:
        key.write_text(content)
        key.chmod(mode)
    with pytest.raises(ind.PolicyError, match=why):
        released(people(40, 1), policy_of(key, MODELS["distinct_l"]))


def test_a_variable_that_is_not_set(monkeypatch):
    monkeypatch.delenv("NO_COINS", raising=False)
    with pytest.raises(ind.PolicyError, match="NO_COINS with the key of robust recoding is not set"):
        released(people(40, 1), policy_of(None, MODELS["distinct_l"], key_env="NO_COINS"))


def test_the_place_of_the_key_is_not_public(keys, tmp_path):
    policy = policy_of(keys[0], MODELS["distinct_l"])
    assert public_form(policy)["recoding"] == {"robust": True, "key_file": PRIVATE}
    out = tmp_path / "out.csv"
    ind.anonymize(people(60, 2), policy).write(out)
    told = "".join(path.read_text() for path in tmp_path.iterdir())
    assert str(keys[0]) not in told
    assert keys[0].read_text().strip() not in told


def test_rows_that_have_to_go_still_go(keys, tmp_path):
    """A block (a value that may not be mixed) without two values cannot hold: its rows go, within the limit."""
    (tmp_path / "site.csv").write_text("x;x1\ny;y1\n")
    table = people(60, 4).append_column("site", pa.array(["x"] * 56 + ["y"] * 4))
    ill = table["ill"].to_pylist()[:56] + ["a"] * 4
    table = table.set_column(2, "ill", pa.array(ill))
    policy = policy_of(keys[0], MODELS["distinct_l"])
    policy = ind.Policy(
        attributes={**policy.attributes, "site": {"role": "qi", "hierarchy": {"file": str(tmp_path / "site.csv")}}},
        privacy=policy.privacy, recoding=policy.recoding, suppression={"limit": "0.1", "rows": "drop"},
    )  # fmt: skip
    release = ind.anonymize(table, policy)
    assert release.table.num_rows == 56
    assert set(release.table["site"].to_pylist()) == {"x"}


def test_persons_with_several_rows(keys):
    table = people(80, 5).append_column("who", pa.array([f"p{number // 2}" for number in range(80)]))
    policy = policy_of(keys[0], MODELS["distinct_l"])
    policy = ind.Policy(
        person={"key": "who"}, attributes=policy.attributes, privacy=policy.privacy, recoding=policy.recoding
    )
    release = ind.anonymize(table, policy)
    assert release.document["satisfied"]
    assert release.document["unit"] == "persons"
