"""``[releases]`` in the policy: anonymize asks the ledger before it delivers."""

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.history.key import make_key, read_ledger_key
from indistinct.history.ledger import Ledger
from indistinct.history.snapshot import snapshot

POLICY = """
[person]
key = "id"
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "range" }
[attributes.ill]
role = "sensitive"
[[privacy]]
model = "k_anonymity"
k = 2
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
"""
RELEASES = '[releases]\nledger = "book/ledger.sqlite"\nkey_file = "key"\n'
# a and b, c and d are classes; later b is gone and a stands beside e, who shares one value with b's class
FIRST = {"a": (20, "flu"), "b": (21, "hiv"), "c": (70, "flu"), "d": (71, "cold")}
SECOND = {"a": (20, "flu"), "e": (21, "cold"), "c": (70, "flu"), "d": (71, "cold")}


def table(people):
    return pa.table({
        "id": list(people), "age": [age for age, _ in people.values()], "ill": [ill for _, ill in people.values()],
    })  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with a key and a ledger that holds the first release."""
    (tmp_path / "book").mkdir()
    make_key(tmp_path / "key")
    (tmp_path / "plain.toml").write_text(POLICY)
    policy = ind.Policy.load(tmp_path / "plain.toml")
    ind.anonymize(table(FIRST), policy, output=tmp_path / "first.csv")
    path = tmp_path / "book" / "ledger.sqlite"
    key = read_ledger_key(tmp_path / "key", path)
    Ledger(path, key).add("first.csv", snapshot(table(FIRST), tmp_path / "first.csv", policy, key))
    return tmp_path


def policy_of(folder, releases=RELEASES):
    (folder / "policy.toml").write_text(POLICY + releases)
    return ind.Policy.load(folder / "policy.toml")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", None])
def test_a_release_that_breaks_an_earlier_guarantee_is_not_delivered(folder, suffix):
    output = None if suffix is None else folder / f"second{suffix}"
    before = sorted(folder.iterdir())
    with pytest.raises(VerificationError, match="1 persons: only one value of ill is possible"):
        ind.anonymize(table(SECOND), policy_of(folder), output=output)
    assert sorted(folder.iterdir()) == sorted([*before, folder / "policy.toml"]), "nothing is left behind"
    assert len(Ledger(folder / "book" / "ledger.sqlite").releases()) == 1, "nothing is entered"


def test_the_table_in_memory_is_asked_about_again_when_it_is_written(folder):
    plain = ind.Policy.load(folder / "plain.toml")
    assert "ledger" not in ind.anonymize(table(SECOND), plain).document
    policy = policy_of(folder)
    release = ind.anonymize(table(FIRST), policy)
    assert release.document["ledger"]["satisfied"] is True
    assert release.document["ledger"]["persons"]["in_earlier_too"] == 4
    assert "asked the ledger: 1 earlier release, no guarantee is broken" in repr(release)
    assert release.write(folder / "again.csv").exists()
    assert "ledger" not in (folder / "again.csv.manifest.json").read_text()
    assert release.document["ledger"]["compared"] == [], "it is the very file that was entered"
    assert policy.hash() == plain.hash(), "the ledger changes nothing about the release"


def test_what_is_not_judged_is_a_notice_or_for_m_invariance_a_refusal(folder):
    rows = [("a", 20, "flu"), ("h", 21, "hiv"), ("a", 22, "cold"), ("c", 70, "flu"), ("d", 71, "cold")]
    several = pa.table(dict(zip(("id", "age", "ill"), zip(*rows, strict=True), strict=True)))
    release = ind.anonymize(several, policy_of(folder))
    assert release.document["ledger"]["satisfied"] is None
    assert "1 persons have several rows" in str(release.document["warnings"])
    strict = policy_of(folder, RELEASES + 'require = "m_invariance"\nm = 2\n')
    with pytest.raises(VerificationError, match="could not be proved: 1 persons have several rows"):
        ind.anonymize(several, strict)
    assert ind.anonymize(table(FIRST), strict).document["ledger"]["satisfied"] is True
    with pytest.raises(VerificationError, match="1 persons: the values of ill in their class are not those"):
        ind.anonymize(table({"a": (20, "flu"), "h": (21, "cold"), "c": (70, "flu"), "d": (71, "cold")}), strict)


def test_places_of_the_key_and_of_the_ledger(folder, monkeypatch):
    monkeypatch.setenv("LEDGER_KEY", (folder / "key").read_text())
    by_variable = RELEASES.replace("key_file", "key_env").replace('"key"', '"LEDGER_KEY"')
    assert ind.anonymize(table(FIRST), policy_of(folder, by_variable)).document["ledger"]["satisfied"] is True
    monkeypatch.setenv("LEDGER_KEY", "secret words")
    with pytest.raises(PolicyError, match="is no key") as caught:
        ind.anonymize(table(FIRST), policy_of(folder, by_variable))
    assert "secret words" not in str(caught.value)
    monkeypatch.delenv("LEDGER_KEY")
    with pytest.raises(PolicyError, match="is not set"):
        ind.anonymize(table(FIRST), policy_of(folder, by_variable))
    with pytest.raises(PolicyError, match="knows persons"):
        ind.anonymize(table(FIRST), policy_of(folder, '[releases]\nledger = "book/ledger.sqlite"\n'))
    with pytest.raises(DataError, match="there is no ledger"):
        ind.anonymize(table(FIRST), policy_of(folder, RELEASES.replace("ledger.sqlite", "legder.sqlite")))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('require = "m_invariance"\n', "goes with require"),
        ("m = 3\n", "goes with require"),
        ('key_env = "K"\n', "one place of the key"),
        ('require = "something"\n', "require"),
        ('key = "secret"\n', "key_file or key_env"),
    ],
)
def test_settings_that_do_not_fit_are_refused(folder, more, message):
    with pytest.raises(PolicyError, match=message):
        policy_of(folder, RELEASES + more)
