"""The ledger of releases: the attack against its slow twin, the file, the key, what is refused."""

import errno
import sqlite3
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_ledger as naive
from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.history import ledger
from indistinct.history.key import LedgerKey, make_key, read_ledger_key
from indistinct.history.ledger import Ledger
from indistinct.history.record import Snapshot
from indistinct.history.snapshot import promises_of, snapshot
from indistinct.history.succession import succession

KEY = LedgerKey(bytes(range(32)))


def as_snapshot(release, *, k=0, l=0, m=0, mark="a", persons=True):  # noqa: E741
    """Build a snapshot from person -> (class, value)."""
    groups = sorted({group for group, _ in release.values()})
    signatures = [{} for _ in groups]
    for group, value in release.values():
        own = signatures[groups.index(group)]
        own[(value,)] = own.get((value,), 0) + 1
    return Snapshot(
        ("zip",),
        ("ill",),
        [(str(group),) for group in groups],
        [sum(s.values()) for s in signatures],
        signatures,
        {"k": k, "l": {"ill": l} if l else {}, "m": {"ill": m} if m else {}},
        mark,
        "p",
        {KEY.person(p): groups.index(group) for p, (group, _) in release.items()} if persons else None,
    )


def releases():
    people = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)
    rows = st.tuples(st.integers(0, 2), st.sampled_from("xyz"))
    return people.flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, rows)))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(releases(), min_size=1, max_size=3), releases(), st.integers(1, 4), st.integers(1, 4))
def test_intersections_are_those_of_the_slow_twin(earlier, new, k, l):  # noqa: E741
    olds = {f"r{i}": as_snapshot(one, mark=str(i)) for i, one in enumerate(earlier)}
    found = succession(as_snapshot(new, k=k, l=l, m=2, mark="new"), olds)
    assert found["disclosed"].get("ill", 0) == len(naive.disclosed(earlier, new))
    assert found["below_l"].get("ill", 0) == len(naive.below(earlier, new, l))
    assert found["signature_differs"].get("ill", 0) == len(naive.signature_differs(earlier, new))
    again = [person for person in new if any(person in old for old in earlier)]
    known = [person for person in again if naive.possible([*earlier, new], person)]
    assert found["below_k"] == sum(naive.candidates(earlier, new, person) < k for person in known)
    assert found["persons"]["in_earlier_too"] == len(again)
    assert found["persons"]["new"] == len(new) - len(again)
    assert found["persons"]["with_changed_value"] == len(again) - len(known)


def test_a_newcomer_is_found_by_difference():
    first = {"a": (0, "flu"), "b": (0, "flu"), "c": (0, "cancer"), "d": (0, "cancer")}
    second = {**first, "zoe": (0, "cancer")}
    for persons in (True, False):
        found = succession(
            as_snapshot(second, l=2, mark="b", persons=persons), {"first": as_snapshot(first, l=2, persons=persons)}
        )
        assert (found["satisfied"], found["difference_disclosed"], found["disclosed"]) == (False, 1, {})


def test_a_person_who_left_is_found_by_difference():
    first = {"a": (0, "flu"), "b": (0, "flu"), "c": (0, "cancer"), "zoe": (0, "cancer")}
    second = {p: row for p, row in first.items() if p != "zoe"}
    found = succession(as_snapshot(second, mark="b"), {"first": as_snapshot(first)})
    assert (found["satisfied"], found["difference_disclosed"], found["persons"]["gone"]) == (False, 1, 1)


def test_counterfeits_keep_the_signature_and_without_them_a_value_is_disclosed():
    # the pair of releases of m-invariance: without a counterfeit bronchitis Bob's value is known
    first = {"bob": (1, "dyspepsia"), "ann": (1, "bronchitis"), "cat": (2, "flu"), "dan": (2, "gastritis")}
    second = {"bob": (1, "dyspepsia"), "eve": (1, "flu"), "cat": (2, "flu"), "dan": (2, "gastritis")}
    found = succession(as_snapshot(second, m=2, mark="b"), {"first": as_snapshot(first, m=2)})
    assert found["disclosed"] == {"ill": 1}
    assert found["signature_differs"] == {"ill": 1}
    kept = {**second, "eve": (1, "bronchitis")}
    found = succession(as_snapshot(kept, m=2, mark="b"), {"first": as_snapshot(first, m=2)})
    assert (found["satisfied"], found["signature_differs"], found["rows_not_m_unique"]) == (True, {}, {})


def test_classes_that_are_not_m_unique_are_counted():
    once = {"a": (0, "x"), "b": (0, "x"), "c": (1, "x"), "d": (1, "y")}
    assert succession(as_snapshot(once, m=2), {})["rows_not_m_unique"] == {"ill": 2}


def test_what_cannot_be_looked_at_is_no_proof():
    one = {"a": (0, "x"), "b": (0, "y")}
    found = succession(as_snapshot(one, mark="b", persons=False), {"first": as_snapshot(one, persons=False)})
    assert found["satisfied"] is None
    several = as_snapshot(one, mark="b")
    several.persons[KEY.person("a")] = -1
    assert succession(several, {"first": as_snapshot(one)})["satisfied"] is None


# --- the file ----------------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    (tmp_path / "ledger").mkdir()
    return Ledger(tmp_path / "ledger" / "book.sqlite", KEY)


ONE = {"a": (0, "x"), "b": (0, "y"), "c": (1, "x"), "d": (1, "z")}
BAD = {"a": (0, "x"), "d": (0, "z"), "c": (1, "x"), "b": (1, "y")}


def test_a_release_that_breaks_a_guarantee_is_refused_with_persons_counted(book):
    book.add("first", as_snapshot(ONE, l=2))
    with pytest.raises(VerificationError, match="2 persons: only one value of ill is possible"):
        book.add("second", as_snapshot(BAD, l=2, mark="b"))
    assert [release["name"] for release in book.releases()] == ["first"]
    book.add("second", as_snapshot(BAD, l=2, mark="b"), despite=True)
    book.forget("first")
    assert [release["name"] for release in book.releases()] == ["second"]
    with pytest.raises(PolicyError, match='no release "first"'):
        book.forget("first")


def test_the_file_is_private_and_tells_nobody_who_was_where(book):
    book.add("first", as_snapshot(ONE))
    data = book.path.read_bytes()
    assert book.path.stat().st_mode & 0o777 == 0o600
    for person in "abcd":
        assert KEY.person(person) not in data
    connection = sqlite3.connect(book.path)
    (who,) = connection.execute("SELECT who FROM release").fetchone()
    connection.close()
    with pytest.raises(DataError, match="another key made it"):
        LedgerKey(bytes(32)).open(who, b"", b"persons:first")
    assert len(who) > 28


def test_forgetting_overwrites(book):
    book.add("first", as_snapshot(ONE))
    connection = sqlite3.connect(book.path)
    (who,) = connection.execute("SELECT who FROM release").fetchone()
    connection.close()
    assert who in book.path.read_bytes()
    book.forget("first")
    assert who not in book.path.read_bytes()


def test_another_key_a_missing_key_and_an_open_file_are_refused(book):
    book.add("first", as_snapshot(ONE))
    with pytest.raises(PolicyError, match="belongs to another key"):
        Ledger(book.path, LedgerKey(bytes(32))).check(as_snapshot(ONE, mark="b"))
    with pytest.raises(PolicyError, match="give its key"):
        Ledger(book.path).add("second", as_snapshot(ONE, mark="b", persons=False))
    found = Ledger(book.path).check(as_snapshot(ONE, mark="b", persons=False))
    assert (found["satisfied"], found["compared"], found["growing_classes"]) == (None, [], 0)
    assert Ledger(book.path).releases()[0]["persons"] == 4
    book.path.chmod(0o640)
    with pytest.raises(PolicyError, match="chmod 600"):
        book.releases()


@pytest.mark.parametrize("level", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_ledger_in_use_is_told_from_a_broken_one_by_the_code_of_the_error(book, monkeypatch, level):
    book.add("first", as_snapshot(ONE))
    monkeypatch.setattr(ledger, "WAIT", 0.0)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute(level)
    with pytest.raises(DataError, match="in use by somebody else; try again"):
        book.forget("first")
    other.execute("ROLLBACK")
    other.close()

    def refuse(*_, **__):
        raise sqlite3.OperationalError("the database is not locked")

    monkeypatch.setattr(Ledger, "_prepare", refuse)
    with pytest.raises(DataError, match="cannot be read or written"):
        book.releases()


def test_the_same_file_or_name_is_refused(book):
    book.add("first", as_snapshot(ONE))
    with pytest.raises(PolicyError, match='a release "first" is in the ledger'):
        book.add("first", as_snapshot(ONE, mark="b"))
    with pytest.raises(PolicyError, match="this file is in the ledger"):
        book.add("other", as_snapshot(ONE))


def test_an_entry_moved_to_another_name_does_not_open(book):
    book.add("first", as_snapshot(ONE))
    connection = sqlite3.connect(book.path)
    connection.execute("UPDATE release SET name = 'second'")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="it was changed"):
        book.check(as_snapshot(ONE, mark="b"))


def test_many_writers_and_an_interruption_leave_it_sound(book, monkeypatch):
    book.add("first", as_snapshot(ONE))

    def enter(number):
        book.add(f"r{number}", as_snapshot({f"p{number}": (0, "x")}, mark=f"m{number}"))

    writers = [threading.Thread(target=enter, args=(i,)) for i in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(book.releases()) == 9

    original = Ledger._insert

    def interrupted(self, connection, name, new):
        original(self, connection, name, new)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "_insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        book.add("late", as_snapshot({"late": (0, "x")}, mark="late"))
    assert len(book.releases()) == 9


def test_no_ledger_no_file(tmp_path):
    with pytest.raises(DataError, match="there is no ledger"):
        Ledger(tmp_path / "none").releases()
    (tmp_path / "text").write_text("this is no data base, but it is long enough to be one" * 30)
    (tmp_path / "text").chmod(0o600)
    with pytest.raises(DataError, match="is no ledger"):
        Ledger(tmp_path / "text").releases()


# --- the key -----------------------------------------------------------------------------------------------


def test_a_key_that_finds_no_room_leaves_no_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="the disk is full: the key key was not written"):
        make_key(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_private_elsewhere_and_long_enough(tmp_path):
    (tmp_path / "a").mkdir()
    ledger, path = tmp_path / "a" / "book", tmp_path / "key"
    make_key(path, ledger)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(read_ledger_key(path, ledger).secret) == 32
    assert repr(read_ledger_key(path, ledger)) == "LedgerKey()"
    with pytest.raises(PolicyError, match="never overwritten"):
        make_key(path, ledger)
    with pytest.raises(PolicyError, match="in the folder of the ledger"):
        make_key(tmp_path / "a" / "key", ledger)
    with pytest.raises(PolicyError, match="in the folder of the ledger"):
        read_ledger_key(path, tmp_path / "book")
    path.chmod(0o644)
    with pytest.raises(PolicyError, match="can read the key"):
        read_ledger_key(path, ledger)
    short = tmp_path / "short"
    short.write_text("abcd")
    short.chmod(0o600)
    with pytest.raises(PolicyError, match="is no key"):
        read_ledger_key(short, ledger)


def test_persons_are_known_by_hmac_sha256():
    import hashlib
    import hmac

    assert KEY.person("p1") == hmac.new(KEY.secret, b"person:p1", hashlib.sha256).digest()


# --- from files --------------------------------------------------------------------------------------------

POLICY = """
[person]
key = "id"
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [10, 50] }
[attributes.ill]
role = "sensitive"
[[privacy]]
model = "k_anonymity"
k = 4
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
"""


def test_who_stands_where_is_read_from_original_and_policy(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY)
    policy = ind.Policy.load(tmp_path / "policy.toml")
    table = pa.table({"id": [f"p{i}" for i in range(40)], "age": [20 + i for i in range(40)], "ill": ["x", "y"] * 20})
    output = tmp_path / "out.csv"
    release = ind.anonymize(table, policy, output=output)
    found = snapshot(table, output, policy, KEY)
    assert sorted(found.sizes) == sorted(release.table.to_pandas().groupby("age").size().tolist())
    assert found.promises == {"k": 4, "l": {"ill": 2}, "m": {}}
    label = {next(iter(row.values())): None for row in release.table.to_pylist()}
    assert {label for (label,) in found.labels} == set(label)
    assert len(found.persons) == 40
    by_class = [sum(place == c for place in found.persons.values()) for c in range(len(found.sizes))]
    assert by_class == found.sizes
    assert found.labels[found.persons[KEY.person("p0")]][0].startswith("[20")
    with pytest.raises(VerificationError, match="not what this policy"):
        snapshot(table.slice(0, 39), output, policy, KEY)
    output.write_text(output.read_text() + "\n")
    with pytest.raises(VerificationError, match="not the file of its manifest"):
        snapshot(table, output, policy, KEY)


def test_promises_are_read_from_the_models():
    policy = ind.Policy(
        attributes={"zip": {"role": "qi"}, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(3), ind.EntropyL("ill", "2.5"), ind.AlphaK("ill", "0.3", 4)],
    )
    assert promises_of(policy) == {"k": 4, "l": {"ill": 4}, "m": {}}
    assert promises_of(policy, 5)["m"] == {"ill": 5}
    with pytest.raises(PolicyError, match="m = 1 protects nobody"):
        promises_of(policy, 1)


@pytest.mark.parametrize(("length", "values"), [("2.5", 3), ("3", 3), ("3.1", 4)])
def test_the_estimate_of_an_entropy_promises_the_values_that_it_asks_for(length, values):
    # one row each of n values: H_G is far above ln l (2 for two rows), so the second condition alone decides
    model = ind.EntropyL("ill", length, estimator="grassberger")
    policy = ind.Policy(attributes={"zip": {"role": "qi"}, "ill": {"role": "sensitive"}}, privacy=[model])
    assert promises_of(policy)["l"] == {"ill": values}
    for n in (values - 1, values):
        table = {"zip": ["a"] * n, "ill": [f"v{i}" for i in range(n)]}
        assert ind.audit(pa.table(table), policy).satisfied is (n >= values)
