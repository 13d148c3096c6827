"""Append: new rows in the classes of an earlier release, what is kept back, and what both releases tell together."""

import csv
import json
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
import naive_append
from cli_bench import run
from indistinct.publish import arrivals as placing

TENS = {"kind": "intervals", "widths": [10, 50]}


def policy(*models, **sections):
    attributes = {
        "age": {"role": "qi", "type": "integer", "hierarchy": TENS},
        "ill": {"role": "sensitive"},
    } | sections.pop("attributes", {})
    return ind.Policy(attributes=attributes, privacy=[*models] or [ind.KAnonymity(2)], **sections)


def people(ages, ills="abcdefgh", **others):
    return pa.table({"age": [*ages], "ill": [*ills[: len(ages)]], **others})


def rows_of(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return Counter(map(tuple, csv.reader(file)))


@pytest.fixture
def first(tmp_path):
    """Publishes a table, and says how to append to it: new rows, further words."""

    def publish(old, own, name="first.csv"):
        ind.anonymize(old, own, output=tmp_path / name)

        def append(new, output="second.csv", **words):
            return ind.append(old, tmp_path / name, new, own, output=tmp_path / output, **words)

        return append

    return publish


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def figures(document):
    keys = ("earlier_rows", "placed_rows", "joined_classes", "new_classes", "retained_rows", "rows")
    return tuple(document[key] for key in keys)


def test_new_rows_join_a_class_or_make_one_of_their_own(first, tmp_path):
    """By hand, k = 2: 24 and 27 join [20, 30); 61 and 64 make [60, 70)."""
    append = first(people([21, 22, 28]), policy(recoding={"algorithm": "optimal"}))
    assert figures(append(people([24, 61, 27, 64])).document) == (3, 4, 1, 1, 0, 7)
    assert rows_of(tmp_path / "second.csv") == Counter([
        ("age", "ill"), ("[20, 30)", "a"), ("[20, 30)", "b"), ("[20, 30)", "c"), ("[20, 30)", "a"), ("[20, 30)", "c"),
        ("[60, 70)", "b"), ("[60, 70)", "d"),
    ])  # fmt: skip


def test_a_new_row_that_has_nobody_waits(first, tmp_path):
    """By hand, k = 2: 24 and 27 join [20, 30), in which nobody of 35 is, and 35 is alone."""
    append = first(people([21, 22]), policy(recoding={"algorithm": "optimal"}))
    waiting, whole = tmp_path / "waiting.csv", tmp_path / "whole.csv"
    found = append(people([24, 35, 27]), retained=waiting, whole=whole).document
    assert figures(found) == (2, 2, 1, 0, 1, 4)
    assert rows_of(waiting) == Counter([("age", "ill"), ("35", "b")])
    assert rows_of(whole) == Counter([("age", "ill"), ("21", "a"), ("22", "b"), ("24", "a"), ("27", "c")])
    assert [stat.S_IMODE(path.stat().st_mode) for path in (waiting, whole)] == [0o600, 0o600]


def test_the_new_release_is_one_of_the_whole_and_can_be_appended_to(first, tmp_path):
    own = policy(recoding={"algorithm": "optimal"})
    first(people([21, 22]), own)(people([24, 27]), whole=tmp_path / "whole.csv")
    assert ind.verify(tmp_path / "whole.csv", tmp_path / "second.csv", own).satisfied
    (tmp_path / "march.csv").write_text("age,ill\n29,x\n23,y\n")
    third = ind.append(
        tmp_path / "whole.csv", tmp_path / "second.csv", tmp_path / "march.csv", own, output=tmp_path / "third.csv"
    )
    assert (third.document["earlier_rows"], third.document["placed_rows"], third.document["classes"]) == (4, 2, 1)


def test_newcomers_who_share_a_value_wait_though_their_class_would_hold(first, tmp_path):
    """Old a, b and new a, a in one class of four rows are 2-diverse; the difference of the releases is a, a."""
    append = first(
        people([21, 22]), policy(ind.KAnonymity(2), ind.DistinctL("ill", 2), recoding={"algorithm": "optimal"})
    )
    with pytest.raises(ind.InfeasibleError, match="none of the 2 new rows can be placed"):
        append(people([24, 27], "aa"))
    assert names_in(tmp_path) == ["first.csv", "first.csv.manifest.json"]
    assert append(people([24, 27, 25], "aab")).document["placed_rows"] == 3


def test_rows_of_one_person_do_not_fill_a_class(first):
    own = policy(attributes={"who": {"role": "identifying"}}, person={"key": "who"}, recoding={"algorithm": "optimal"})
    append = first(people([21, 22], who=["p", "q"]), own)
    with pytest.raises(ind.InfeasibleError, match="none of the 2"):
        append(people([24, 24], who=["r", "r"]))
    assert append(people([24, 24], who=["r", "s"])).document["placed_rows"] == 2


def test_the_tightest_class_is_chosen_by_quasi_identifiers_alone():
    """By hand: 24 is covered by both classes of the release; the narrower is the tighter, whoever is ill with what."""
    classes = [("[20, 30)",), ("[0, 50)",)]
    whole = [(21,), (22,), (24,), (45,)]
    assert naive_append.tightest((24,), classes, whole) == ("[20, 30)",)
    assert naive_append.tightest((45,), classes, whole) == ("[0, 50)",)
    assert naive_append.tightest((51,), classes, whole) is None


@pytest.mark.parametrize("seed", range(4))
def test_drawn_tables_are_as_the_definition_says(first, tmp_path, seed):
    draw = np.random.default_rng(seed)
    own = policy(
        ind.KAnonymity(3), ind.DistinctL("ill", 2),
        attributes={"size": {"role": "qi", "type": "integer", "hierarchy": TENS}},
        recoding={"quality": "fast"}, suppression={"limit": 0.1},
    )  # fmt: skip

    def drawn(rows):
        return pa.table({
            "age": draw.integers(20, 60, rows), "ill": draw.choice([*"abc"], rows), "size": draw.integers(0, 30, rows)
        })  # fmt: skip

    old, new = drawn(60), drawn(40)
    append = first(old, own)
    found = append(new, retained=tmp_path / "waiting.csv", whole=tmp_path / "whole.csv").document
    before, after = (released(tmp_path / f"{name}.csv") for name in ("first", "second"))
    gained = naive_append.difference(before, after)
    assert all(naive_append.satisfies([*values.elements()], 3, 2) for values in gained.values())
    whole = [(int(age), int(size)) for age, ill, size in without_header(tmp_path / "whole.csv").elements()]
    waiting = without_header(tmp_path / "waiting.csv") if found["retained_rows"] else Counter()
    arrivals = Counter(zip(*(map(str, column.to_pylist()) for column in new.columns), strict=True))
    placed = [((int(age), int(size)), ill) for age, ill, size in (arrivals - waiting).elements()]
    assert len(placed) == found["placed_rows"] == sum(values.total() for values in gained.values())
    joining = naive_append.joining(placed, {labels for labels, _ in before}, whole, 3, 2)
    assert joining, "the drawn tables are to have newcomers"
    assert all(values <= gained[labels] for labels, values in joining.items())
    assert found["joined_classes"] >= len(joining)


def without_header(path):
    rows = rows_of(path)
    del rows["age", "ill", "size"]
    return rows


def released(path):
    return Counter({((age, size), ill): count for (age, ill, size), count in without_header(path).items()})


def test_other_columns_and_types_stay(tmp_path):
    own = policy(attributes={"cost": {"role": "insensitive"}}, recoding={"algorithm": "optimal"})
    old = people([21, 22], cost=[1.5, None])
    ind.anonymize(old, own, output=tmp_path / "first.parquet")
    ind.append(
        old, tmp_path / "first.parquet", people([24, 27], cost=[0.1, 1e300]), own, output=tmp_path / "second.parquet"
    )
    found = pq.read_table(tmp_path / "second.parquet")
    assert found.schema.field("cost").type == pa.float64()
    assert Counter(found.column("cost").to_pylist()) == Counter([1.5, None, 0.1, 1e300])


def test_classes_that_fail_under_the_distribution_of_the_whole_are_refused(first, tmp_path):
    """Old: a, b in each class, t = 0. New: eight rows of c, by which the old classes are 0.8 away from the whole."""
    models = (ind.KAnonymity(2), ind.TCloseness("ill", "0.7", distance="equal"))
    append = first(people([21, 22, 31, 32], "abab"), policy(*models, recoding={"algorithm": "optimal"}))
    with pytest.raises((ind.VerificationError, ind.InfeasibleError)):
        append(people([24] * 16, "c" * 16))
    assert names_in(tmp_path) == ["first.csv", "first.csv.manifest.json"]


REFUSED = {
    "model of a release": ({}, ind.AverageRisk(threshold="0.5"), 'the model "average_risk"'),
    "algorithm": ({"recoding": {"algorithm": "anatomy"}}, ind.DistinctL("ill", 2), 'the algorithm "anatomy"'),
    "transforms": (
        {"transforms": [{"method": "top_coding", "attribute": "age", "limit": 50}]}, ind.KAnonymity(2), "transforms"
    ),
    "order": ({"output": {"order": "kept", "confirmed": True}}, ind.KAnonymity(2), "would show the new rows"),
    "starred": ({"suppression": {"rows": "exempt", "limit": 0.1}}, ind.KAnonymity(2), 'rows = "exempt"'),
    "masks": (
        {"attributes": {"who": {"role": "identifying", "action": "mask"}}}, ind.KAnonymity(2), r'masks .*"who"'
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_append_cannot_do_is_refused_by_name_before_it_reads(tmp_path, case):
    sections, model, words = REFUSED[case]
    with pytest.raises(ind.UnsupportedError, match=words):
        ind.append("no.csv", "none.csv", "nothing.csv", policy(model, **sections), output=tmp_path / "out.csv")
    with pytest.raises(ind.UnsupportedError, match="another output than csv"):
        ind.append("no.csv", "none.csv", "nothing.csv", policy(), output=tmp_path / "out.xlsx")


def test_an_earlier_release_that_is_not_proved_is_refused(first, tmp_path):
    append = first(people([21, 22]), policy(recoding={"algorithm": "optimal"}))
    (tmp_path / "first.csv").write_text('age,ill\n"[20, 30)",a\n"[20, 30)",x\n')
    with pytest.raises(ind.VerificationError, match=r"first\.csv is not proved to be a release of this original"):
        append(people([24, 27]))
    assert names_in(tmp_path) == ["first.csv", "first.csv.manifest.json"]


def test_other_columns_are_refused(first):
    append = first(people([21, 22]), policy(recoding={"algorithm": "optimal"}))
    with pytest.raises(ind.SchemaError, match='has the column "cost", unlike'):
        append(people([24, 27], cost=[1, 2]))


def test_newcomers_that_fail_by_themselves_are_found_in_the_written_file(first, tmp_path, monkeypatch):
    """The placing is made to let everybody in: the proof reads the file and does not trust it."""
    append = first(people([21, 22]), policy(recoding={"algorithm": "optimal"}))
    monkeypatch.setattr(placing, "_satisfying", lambda *given: np.ones(given[-1].classes, np.bool_))
    with pytest.raises(ind.VerificationError, match="the new rows by themselves fail k_anonymity"):
        append(people([24]))
    assert names_in(tmp_path) == ["first.csv", "first.csv.manifest.json"]


def test_the_ledger_is_asked_and_one_with_persons_is_refused(first, tmp_path):
    own = policy(recoding={"algorithm": "optimal"})
    old, new = people([21, 22]), people([24, 27])
    append = first(old, own)
    (tmp_path / "old.csv").write_text("age,ill\n21,a\n22,b\n")
    own.save(tmp_path / "policy.toml")
    code, _, said = run(
        "releases", "add", tmp_path / "old.csv", tmp_path / "first.csv", "--policy", tmp_path / "policy.toml",
        "--ledger", tmp_path / "ledger.sqlite",
    )  # fmt: skip
    assert code == 0, said
    asking = own.model_copy(update={"releases": ind.Policy(
        attributes={"age": {"role": "qi"}}, releases={"ledger": str(tmp_path / "ledger.sqlite")}
    ).releases})  # fmt: skip
    found = ind.append(old, tmp_path / "first.csv", new, asking, output=tmp_path / "second.csv").document
    assert found["ledger"]["compared"] == ["first.csv"]
    assert found["difference"]["difference_disclosed"] == 0
    assert append(new, "third.csv").document["difference"]["compared"] == ["first.csv"]


def test_no_file_that_was_read_is_written(first):
    append = first(people([21, 22]), policy(recoding={"algorithm": "optimal"}))
    for output in ("first.csv", "first.csv.manifest.json"):
        with pytest.raises(ind.IndistinctError):
            append(people([24, 27]), output, force=True)


def test_the_command_appends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = policy(recoding={"algorithm": "optimal"})
    own.save("policy.toml")
    Path("old.csv").write_text("age,ill\n21,a\n22,b\n")
    Path("new.csv").write_text("age,ill\n24,a\n27,b\n35,c\n")
    ind.anonymize("old.csv", own, output="first.csv")
    words = ["append", "old.csv", "first.csv", "new.csv", "--policy", "policy.toml", "--output", "second.csv"]
    code, out, _ = run(*words, "--retained", "waiting.csv", "--json")
    found = json.loads(out)
    assert (code, found["placed_rows"], found["retained"]) == (0, 2, "waiting.csv")
    assert Path("waiting.csv").read_text() == "age,ill\n35,c\n"
    assert run(*words)[0] == 2, "the output exists"
    code, out, _ = run(*words, "--force")
    assert code == 0
    assert out.startswith(
        "2 rows placed: in 1 class of the earlier release and 0 classes of their own; 1 row kept back"
    )
