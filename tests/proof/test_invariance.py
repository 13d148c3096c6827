"""m-invariance over successive releases: the published files against the slow twin, the ledger, and what is refused."""

import csv
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_invariance as naive
from indistinct.errors import DataError, InfeasibleError, PolicyError, SchemaError, UnsupportedError, VerificationError
from indistinct.history.key import make_key, read_ledger_key
from indistinct.history.ledger import Ledger
from indistinct.history.snapshot import snapshot

# the two releases of the paper's example, with numbers of our own
FIRST = {"Bob": (31, "dyspepsia"), "Ann": (33, "bronchitis"), "Cat": (52, "flu"), "Dan": (55, "gastritis")}
# Ann is gone; Eve and Fay are new
SECOND = {p: row for p, row in FIRST.items() if p != "Ann"} | {"Eve": (60, "flu"), "Fay": (64, "gastritis")}


def table(people):
    return pa.table({
        "id": pa.array(people, pa.string()),
        "age": pa.array([age for age, _ in people.values()], pa.int64()),
        "ill": pa.array([ill for _, ill in people.values()], pa.string()),
    })  # fmt: skip


class Book:
    """A ledger in a folder, and releases that go into it."""

    def __init__(self, folder, m=2, limit=0):
        self.folder, self.m, self.limit = Path(folder), m, limit
        (self.folder / "book").mkdir()
        make_key(self.folder / "key")
        path = self.folder / "book" / "ledger.sqlite"
        self.ledger = Ledger(path, read_ledger_key(self.folder / "key", path))

    def policy(self, **changes):
        first = not self.ledger.path.exists()
        model = {"model": "m_invariance", "attribute": "ill", "m": self.m, **({"history": []} if first else {})}
        document = {
            "person": {"key": "id"},
            "attributes": {
                "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
                "ill": {"role": "sensitive"},
            },
            "privacy": [model],
            "suppression": {"limit": self.limit},
            **({} if first else {"releases": {"ledger": "book/ledger.sqlite", "key_file": "key"}}),
        }
        return ind.Policy(**{**document, **changes}).at(self.folder)

    def file(self, name):
        return self.folder / f"{name}.csv"

    def publish(self, name, people, *, enter=True):
        """Publish, verify and enter a release; return it as the twin knows it."""
        policy = self.policy()
        released = ind.anonymize(table(people), policy, output=self.file(name))
        assert ind.verify(table(people), self.file(name), policy).satisfied
        taken = snapshot(table(people), self.file(name), policy, self.ledger.key, ledger=self.ledger)
        if enter:
            assert self.ledger.add(name, taken)["satisfied"]
            assert ind.verify(table(people), self.file(name), policy).satisfied  # only what was before counts
        group_of = [label[-1] for label in taken.labels]
        place = {p: group_of[taken.persons[key]] for p in people if (key := self.ledger.key.person(p)) in taken.persons}
        release = {"people": people, "place": place, "groups": read(self.file(name))}
        assert released.document["suppressed_rows"] == len(people) - len(place)
        assert released.document["published_rows"] == sum(map(len, release["groups"].values()))
        assert released.document["counterfeits"] == released.document["published_rows"] - len(place)
        return release


def read(path):
    groups = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            ends = [int(end) for end in row["age"].strip("[]").split(", ")]
            entry = (ends[0], ends[-1]), row["ill"], int(row["counterfeits"])
            groups.setdefault(row["group"], []).append(entry)
    return groups


@pytest.mark.slow
def test_the_example_of_the_paper(tmp_path):
    book = Book(tmp_path)
    first = book.publish("first", FIRST)
    assert naive.is_m_invariant([first], 2)
    assert naive.is_true(first)
    second = book.publish("second", SECOND)
    assert naive.is_m_invariant([first, second], 2)
    assert naive.is_true(second)
    # four in pairs: the pair of Ann has a counterfeit now, and the two newcomers are a group of their own
    assert sorted(len(rows) for rows in second["groups"].values()) == [2, 2, 2]
    assert sorted(number for rows in second["groups"].values() for _, _, number in rows) == [0, 0, 0, 0, 1, 1]
    assert second["place"]["Eve"] == second["place"]["Fay"]
    assert max(naive.confidence([first, second], "Bob", value) for _, value in FIRST.values()) == 0.5


@pytest.mark.slow
def test_a_value_that_only_an_earlier_release_has_comes_back_as_a_counterfeit(tmp_path):
    book = Book(tmp_path)
    book.publish("first", {"a": (20, "flu"), "b": (30, "hiv")})
    second = book.publish("second", {"a": (20, "flu")})
    assert second["groups"] == {"1": [((20, 20), "flu", 1), ((20, 20), "hiv", 1)]}


@pytest.mark.slow
def test_a_deficit_is_filled_by_a_newcomer_of_the_value_where_there_is_one(tmp_path):
    book = Book(tmp_path)
    book.publish("first", {"a": (20, "flu"), "b": (30, "hiv")})
    second = book.publish("second", {"a": (20, "flu"), "z": (70, "hiv")})
    assert second["groups"] == {"1": [((20, 70), "flu", 0), ((20, 70), "hiv", 0)]}


@pytest.mark.slow
def test_who_leaves_and_returns_keeps_the_values(tmp_path):
    book = Book(tmp_path)
    first = book.publish("first", FIRST)
    gone = {p: row for p, row in FIRST.items() if p != "Bob"}
    second = book.publish("second", gone)
    third = book.publish("third", FIRST | {"Eve": (60, "flu"), "Fay": (64, "gastritis")})
    assert naive.is_m_invariant([first, second, third], 2)
    assert naive.signature(third, "Bob") == naive.signature(first, "Bob")


PEOPLE = [f"p{number}" for number in range(14)]
ROWS = st.tuples(st.integers(20, 29), st.sampled_from("abcd"))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.fixed_dictionaries(dict.fromkeys(PEOPLE, ROWS)),
    st.lists(st.lists(st.sampled_from(PEOPLE), min_size=2, unique=True), min_size=2, max_size=3),
    st.integers(2, 3),
    st.sampled_from([0, "1/2"]),
)
def test_sequences_are_m_invariant_by_the_definition(rows, months, m, limit):
    with tempfile.TemporaryDirectory() as folder:
        book, releases = Book(folder, m, limit), []
        for number, present in enumerate(months):
            people = {person: rows[person] for person in present}
            try:
                releases.append(book.publish(f"r{number}", people))
            except PolicyError as error:
                assert "this file is in the ledger already" in error.message  # noqa: PT017  # the same rows again
                reject()
            except InfeasibleError:
                assert not book.file(f"r{number}").exists()
                if not releases:  # the first release is out of reach exactly when too many have to wait
                    counts = [[ill for _, ill in people.values()].count(value) for value in "abcd"]
                    waiting = naive.can_wait(counts, m)
                    assert waiting == len(people) or waiting > len(people) * (limit == "1/2") // 2
        assert all(map(naive.is_true, releases))
        assert not releases or naive.is_m_invariant(releases, m)
        for release in releases:
            for person in release["place"]:
                chances = [naive.confidence(releases, person, value) for value in "abcd"]
                assert max(chances) <= 1 / m + 1e-12
                assert chances["abcd".index(rows[person][1])] > 0


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(random):
    people = {f"p{number}": (20 + 7 * number % 13, "abc"[number % 3]) for number in range(12)}
    order = list(people)
    random.shuffle(order)
    with tempfile.TemporaryDirectory() as folder:
        book = Book(folder)
        one = ind.anonymize(table(people), book.policy()).table
        assert ind.anonymize(table({p: people[p] for p in order}), book.policy()).table.equals(one)


def test_who_of_two_alike_is_where_follows_from_the_key_and_not_from_the_rows(tmp_path):
    alike = {"a": (20, "flu"), "b": (20, "flu"), "c": (20, "hiv"), "d": (20, "cold")}
    book = Book(tmp_path)
    ind.anonymize(table(alike), book.policy(), output=book.file("one"))
    turned = dict(reversed(alike.items()))
    one, other = (snapshot(table(p), book.file("one"), book.policy(), book.ledger.key) for p in (alike, turned))
    assert one.persons == other.persons


@pytest.mark.slow
def test_what_the_policy_calls_the_first_release_is_compared_with_the_ledger_all_the_same(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    first = [{"model": "m_invariance", "attribute": "ill", "m": 2, "history": []}]
    with pytest.raises(VerificationError, match=r"breaks a guarantee: .* are not those of an earlier release"):
        ind.anonymize(table(SECOND | {"Gus": (20, "asthma")}), book.policy(privacy=first))


@pytest.mark.slow
def test_other_people_may_give_the_same_file(tmp_path):
    book = Book(tmp_path)
    book.publish("first", {"a": (20, "flu"), "b": (30, "hiv")})
    book.publish("second", {"a": (20, "flu")})
    others = {"c": (20, "hiv"), "d": (30, "flu")}
    ind.anonymize(table(others), book.policy(), output=book.file("third"))
    assert book.file("third").read_bytes() == book.file("first").read_bytes()
    answer = ind.verify(table(others), book.file("third"), book.policy()).document
    assert (answer["satisfied"], answer["earlier_releases"]) == (True, ["first", "second"])


# --- verify ------------------------------------------------------------------------------------------------


def changed(book, name, change):
    """Write a published file again, differently, and forget its manifest."""
    lines = book.file(name).read_text(encoding="utf-8").splitlines()
    book.file("other").write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    return book.file("other")


@pytest.mark.slow
def test_a_file_with_other_signatures_is_refuted(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    # without history: the second release as if nothing had gone out before, which the twin shows to be no sequence
    plain = book.policy(privacy=[{"model": "m_invariance", "attribute": "ill", "m": 2, "history": []}], releases=None)
    five = SECOND | {"Gus": (20, "asthma")}
    ind.anonymize(table(five), plain, output=book.file("second"))
    assert ind.verify(table(five), book.file("second"), plain).satisfied
    answer = ind.verify(table(five), book.file("second"), book.policy())
    assert not answer.satisfied
    assert "3 persons were in earlier releases" in answer.document["models"][0]["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [line.replace(",0", ",1") for line in lines], "not what this policy and version make"),
        (lambda lines: [line.replace("gastritis", "flu") for line in lines], "or a value twice"),
        (lambda lines: [line[:-1] + "2" if line[-1].isdigit() else line for line in lines], "no possible number"),
        (lambda lines: [line[:-1] + "x" if line[-1].isdigit() else line for line in lines], "no possible number"),
        (lambda lines: [*lines, lines[-1].replace("gastritis", "asthma")], "have a value that the original lacks"),
        (
            lambda lines: [lines[0], *(f'"[1, {i}]",{line.split(",", 2)[2]}' for i, line in enumerate(lines[1:]))],
            "labels",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path, change, words):
    book = Book(tmp_path)
    book.publish("first", FIRST, enter=False)
    answer = ind.verify(table(FIRST), changed(book, "first", change), book.policy()).document
    said = json.dumps(answer["coverage"]) + json.dumps(answer["models"])
    assert words in said
    assert answer["satisfied"] is False or words.startswith("not what")


@pytest.mark.slow
def test_coverage_is_not_claimed_and_the_documents_say_so(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    book.publish("second", SECOND)
    manifest = json.loads((tmp_path / "second.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["counterfeits"] == 1
    assert manifest["declares"] == "adding"
    assert manifest["verification"]["coverage"] == "not proven"
    assert "nobody's" in manifest["no_claim"]
    assert not {"Bob", "Ann"} & set(json.dumps(manifest).split('"'))
    answer = ind.verify_public(tmp_path / "second.csv")
    assert (answer.satisfied, answer.document["not_checked"]) == (True, ["m_invariance"])
    assert answer.document["counterfeits"] == 1
    answer = ind.verify(table(SECOND), book.file("second"), book.policy()).document
    assert (answer["coverage"]["status"], answer["hash"], answer["counterfeits"]) == ("not proven", "match", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "words"), [("en", "1 of 6 published rows are counterfeits"), ("zh-CN", "有 1 行是伪造的")]
)
def test_reports_say_how_many_are_nobodys(tmp_path, language, words):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    released = ind.anonymize(table(SECOND), book.policy(), output=book.file("second"))
    for public in (False, True):
        path = ind.report(released, tmp_path / f"report-{public}.md", language=language, public=public)
        assert words in path.read_text(encoding="utf-8")


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"person": None}, PolicyError, r"name the column that tells who is who as key under \[person\]"),
        ({"privacy": [{"model": "m_invariance", "attribute": "ill", "m": 2}]}, PolicyError, "say history = "),
        ({"suppression": {"rows": "exempt"}}, PolicyError, 'rows = "drop"'),
        ({"output": {"order": "kept", "confirmed": True}}, PolicyError, "rows of nobody"),
        ({"output": {"ranges": "columns"}}, PolicyError, "publishes ranges as labels"),
        ({"recoding": {"algorithm": "local"}}, PolicyError, 'local cannot hold m_invariance.* "m_invariance"'),
    ],
)
def test_policies_that_cannot_be_are_refused(tmp_path, changes, error, words):
    book = Book(tmp_path)
    people = table(FIRST).drop_columns("id") if "person" in changes else table(FIRST)
    with pytest.raises(error, match=words):
        ind.anonymize(people, book.policy(**changes))


def test_another_model_beside_it_is_refused(tmp_path):
    book = Book(tmp_path)
    both = [{"model": "k_anonymity", "k": 2}, {"model": "m_invariance", "attribute": "ill", "m": 2, "history": []}]
    with pytest.raises(PolicyError, match="leave out k_anonymity"):
        ind.anonymize(table(FIRST), book.policy(privacy=both))


def test_other_columns_and_names_are_refused(tmp_path):
    book = Book(tmp_path)
    more = table(FIRST).append_column("note", pa.array(["x"] * 4))
    with pytest.raises(PolicyError, match='"note" would be there too'):
        ind.anonymize(more, book.policy(table={"unlisted": "insensitive"}))
    attributes = {"age": {"role": "qi"}, "ill": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match="'age' has no hierarchy"):
        ind.anonymize(table(FIRST), book.policy(attributes=attributes))
    renamed = table(FIRST).rename_columns(["id", "group", "ill"])
    attributes = {
        "group": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
        "ill": {"role": "sensitive"},
    }
    with pytest.raises(SchemaError, match='"group" of its own'):
        ind.anonymize(renamed, book.policy(attributes=attributes))


def test_a_person_with_two_rows_is_refused(tmp_path):
    twice = pa.concat_tables([table(FIRST), table({"Bob": (40, "flu")})])
    with pytest.raises(DataError, match="1 persons have several rows"):
        ind.anonymize(twice, Book(tmp_path).policy())


def test_a_frequent_value_is_refused_with_counts_or_waits(tmp_path):
    people = {"a": (20, "flu"), "b": (21, "flu"), "c": (22, "flu"), "d": (23, "hiv")}
    (tmp_path / "strict").mkdir()
    with pytest.raises(InfeasibleError, match="2 of 4 newcomers fit in no group of 2 different values") as caught:
        ind.anonymize(table(people), Book(tmp_path / "strict").policy())
    assert "50%" in caught.value.nearest
    (tmp_path / "patient").mkdir()
    released = ind.anonymize(table(people), Book(tmp_path / "patient", limit="1/2").policy())
    assert released.document["suppressed_because"] == {"postponed": 2}


@pytest.mark.slow
def test_a_value_that_changed_is_refused(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    with pytest.raises(DataError, match=r'1 persons have a value of "ill" that their group .* did not show'):
        ind.anonymize(table(FIRST | {"Bob": (31, "asthma")}), book.policy())


@pytest.mark.slow
def test_a_larger_m_than_before_is_out_of_reach(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    book.m = 3
    with pytest.raises(InfeasibleError, match="m = 3 is out of reach") as caught:
        ind.anonymize(table(FIRST), book.policy())
    assert caught.value.nearest == "it can be met with m = 2"


def test_an_earlier_release_that_is_not_m_unique_is_refused(tmp_path):
    book = Book(tmp_path)
    people = {"a": (20, "flu"), "b": (21, "flu"), "c": (22, "hiv"), "d": (23, "hiv")}
    policy = book.policy(privacy=[{"model": "k_anonymity", "k": 4}])
    ind.anonymize(table(people), policy, output=book.file("first"))
    book.ledger.add("first", snapshot(table(people), book.file("first"), policy, book.ledger.key))
    with pytest.raises(DataError, match='1 of 1 groups of the earlier release "first" show a value of "ill" twice'):
        ind.anonymize(table(people), book.policy())


@pytest.mark.slow
def test_history_names_releases_of_the_ledger(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    named = {"model": "m_invariance", "attribute": "ill", "m": 2, "history": "first"}
    assert ind.anonymize(table(SECOND), book.policy(privacy=[named])).document["counterfeits"] == 1
    with pytest.raises(PolicyError, match=r'history names "january".*there are: first'):
        ind.anonymize(table(SECOND), book.policy(privacy=[named | {"history": ["january"]}]))


@pytest.mark.slow
def test_a_ledger_without_key_is_no_history(tmp_path):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    with pytest.raises(PolicyError, match="the ledger knows persons"):
        ind.anonymize(table(SECOND), book.policy(releases={"ledger": "book/ledger.sqlite"}))
    with pytest.raises(PolicyError, match="entered with its persons"):
        snapshot(table(FIRST), book.file("first"), book.policy(), None)


def test_one_table_alone_does_not_show_it(tmp_path):
    book = Book(tmp_path)
    with pytest.raises(UnsupportedError, match="together with all before it"):
        ind.audit(table(FIRST), book.policy())
    with pytest.raises(UnsupportedError, match="with the ledger of earlier releases"):
        ind.explain(table(FIRST), book.policy())
    with pytest.raises(UnsupportedError, match="with the ledger of earlier releases"):
        ind.compare(table(FIRST), book.policy())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".tsv"])
def test_other_formats_are_read_back(tmp_path, suffix):
    book = Book(tmp_path)
    book.publish("first", FIRST)
    path = tmp_path / f"out{suffix}"
    released = ind.anonymize(table(SECOND), book.policy(), output=path)
    assert released.document["ledger"]["satisfied"]
    assert ind.verify(table(SECOND), path, book.policy()).satisfied
    assert ind.verify(table(SECOND), released.table, book.policy()).satisfied


@pytest.mark.slow
def test_risk_reads_a_release_with_counterfeits_and_utility_says_that_it_does_not(tmp_path):
    book = Book(tmp_path)
    policy = book.policy()
    book.publish("first", FIRST)
    found = ind.risk(book.file("first"), policy).document
    assert (found["rows"], found["classes"]) == (4, 2)
    with pytest.raises(SchemaError, match="rows of nobody"):
        ind.utility(table(FIRST), book.file("first"), policy)
