"""Verification of files of any origin: coverage as an injective assignment, starred rows, persons, hashes."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
from indistinct.proof import coverage as proof
from indistinct.proof.coverage import Side, coverage

ORIGINAL = pa.table({"age": ["21", "24", "33", "38"], "ill": ["a", "b", "a", "b"]})
POLICY = ind.Policy(
    attributes={
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10], "origin": 0}},
        "ill": {"role": "sensitive"},
    },
    privacy=[ind.KAnonymity(2)],
)


def published(ages, ills):
    return pa.table({"age": ages, "ill": ills})


@pytest.mark.parametrize(
    "labels",
    [
        ("[20, 30)", "[30, 40)"),
        ("[20, 30[", "[30, 40["),
        ("20-29", "30-39"),
        ("(20,30]", "(30,40]"),
        ("<30", "30+"),
        ("2*", "3*"),
    ],
)
def test_labels_of_any_origin_are_read(labels):
    low, high = labels
    answer = ind.verify(ORIGINAL, published([low, low, high, high], ["a", "b", "a", "b"]), POLICY)
    assert answer.satisfied
    assert answer.document["coverage"]["status"] == "proven"


def test_each_row_needs_an_original_of_its_own():
    # both rows of ill = a are said to be 20-29, but only one of them is
    answer = ind.verify(ORIGINAL, published(["[20, 30)"] * 4, ["a", "b", "a", "b"]), POLICY)
    assert not answer.satisfied
    assert answer.document["coverage"]["status"] == "refuted"


def test_more_rows_than_the_original_has_are_refuted():
    answer = ind.verify(ORIGINAL, published(["*"] * 6, ["a", "b", "a", "b", "a", "b"]), POLICY)
    assert answer.document["coverage"]["status"] == "refuted"


def test_a_changed_untouched_value_is_refuted():
    answer = ind.verify(ORIGINAL, published(["*"] * 4, ["a", "b", "a", "c"]), POLICY)
    assert answer.document["coverage"]["status"] == "refuted"
    reason = "its quasi-identifiers cover 4 originals, none with this ill"
    assert answer.document["coverage"]["violations"] == [{"row": 4, "column": None, "reason": reason}]


def test_starred_rows_are_suppressed_rows_unless_they_form_a_class():
    half = POLICY.model_copy(update={"suppression": POLICY.suppression.model_copy(update={"limit": Fraction(1, 2)})})
    starred = ind.verify(ORIGINAL, published(["20-29", "20-29", "*"], ["a", "b", "a"]), half)
    assert starred.satisfied
    assert starred.document["starred_rows"] == 1
    one_class = ind.verify(ORIGINAL, published(["*"] * 4, ["a", "b", "a", "b"]), POLICY)
    assert one_class.satisfied
    assert (one_class.document["starred_rows"], one_class.document["classes"]) == (0, 1)


def warnings(answer, kind):
    return [warning["message"] for warning in answer.document["warnings"] if warning["kind"] == kind]


def test_more_missing_or_starred_rows_than_the_limit_are_named():
    table = published(["20-29", "20-29", "*"], ["a", "b", "a"])
    quarter = POLICY.model_copy(update={"suppression": POLICY.suppression.model_copy(update={"limit": Fraction(1, 4)})})
    answer = ind.verify(ORIGINAL, table, quarter)
    (message,) = warnings(answer, "suppression")
    assert message == "of 4 rows 1 are missing and 1 hold * in every quasi-identifier; the policy lets 1 rows go"
    assert answer.satisfied, "which starred rows were suppressed is a matter of reading"
    assert not ind.verify(ORIGINAL, table, POLICY).satisfied, "a missing row is not"
    half = POLICY.model_copy(update={"suppression": POLICY.suppression.model_copy(update={"limit": Fraction(1, 2)})})
    assert warnings(ind.verify(ORIGINAL, table, half), "suppression") == []
    whole = published(["20-29", "20-29", "30-39", "30-39"], ["a", "b", "a", "b"])
    assert warnings(ind.verify(ORIGINAL, whole, POLICY), "suppression") == []


def test_rows_that_the_policy_leaves_out_are_not_missed():
    original = pa.table({"age": ["21", "24", "33", "38"], "pay": ["1", "2", "2", None]})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "pay": {"role": "sensitive", "type": "integer", "missing": "drop"},
        },
        privacy=[ind.TCloseness("pay", 1, distance="ordered")],
        suppression={"limit": "1/3"},
    )
    three = pa.table({"age": ["21", "24", "33"], "pay": ["1", "2", "2"]})
    assert ind.verify(original, three, policy).document["faults"] == []
    assert ind.verify(original, three.slice(0, 2), policy).document["faults"] == []
    (message,) = ind.verify(original, three.slice(0, 1), policy).document["faults"]
    assert message.startswith("of 3 rows 2 are missing")


def test_an_identifying_column_in_the_published_table_fails():
    policy = ind.Policy(
        attributes={
            "name": {"role": "identifying"},
            "age": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        },
        privacy=[ind.KAnonymity(2)],
    )
    original = pa.table({"name": ["u", "v"], "age": ["1", "1"]})
    assert ind.verify(original, pa.table({"age": ["1", "1"]}), policy).satisfied
    assert not ind.verify(original, original, policy).satisfied


def test_columns_that_the_original_lacks_are_an_error():
    with pytest.raises(ind.SchemaError, match="index"):
        ind.verify(ORIGINAL, pa.table({"index": [1], "age": ["21"], "ill": ["a"]}), POLICY)


def test_missing_cells_stand_for_missing_cells_only():
    original = pa.table({"age": ["21", None], "ill": ["a", "a"]})
    policy = POLICY.model_copy(update={"privacy": (ind.KAnonymity(1),)})
    assert ind.verify(original, published(["21", None], ["a", "a"]), policy).document["coverage"]["status"] == "proven"
    assert ind.verify(original, published([None, None], ["a", "a"]), policy).document["coverage"]["status"] == "refuted"


def test_persons_are_known_when_deciding_again_gives_the_file():
    table = pa.table({"p": ["1", "1", "2", "3"], "age": ["21", "22", "23", "24"]})
    policy = ind.Policy(
        person={"key": "p"},
        attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
        privacy=[ind.KAnonymity(3)],
        recoding={"algorithm": "optimal"},
    )
    release = ind.anonymize(table, policy)
    answer = ind.verify(table, release.table, policy)
    assert answer.satisfied
    assert answer.document["models"][0]["achieved"] == {"k": 3}


def test_verifying_pseudonyms_of_persons_needs_no_key_and_writes_no_mapping(tmp_path):
    key, mapping = tmp_path / "key", tmp_path / "mapping.csv"
    key.write_bytes(b"0123456789abcdef")
    table = pa.table({"p": ["1", "2", "3", "4"], "age": ["21", "21", "22", "22"]})
    settings = {"action": "pseudonym", "key_file": str(key), "mapping_file": str(mapping)}
    policy = ind.Policy(
        person={"key": "p"},
        attributes={"p": {"role": "id", **settings}, "age": {"role": "qi", "hierarchy": {"kind": "suppress"}}},
        privacy=[ind.KAnonymity(2)],
    )
    release = ind.anonymize(table, policy, output=tmp_path / "out.csv")
    assert mapping.read_text().count("\n") == 5
    assert release.document["satisfied"]
    before = mapping.read_bytes()
    assert ind.verify(table, release.table, policy).satisfied
    key.unlink()
    mapping.unlink()
    ind.verify(table, tmp_path / "out.csv", policy)
    assert before.startswith(b"value,pseudonym")
    assert not mapping.exists()


def test_persons_of_a_foreign_file_are_counted_at_their_least():
    table = pa.table({"p": ["1", "1", "2", "3"], "age": ["21", "22", "31", "32"]})
    policy = ind.Policy(
        person={"key": "p"},
        attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}}},
        privacy=[ind.KAnonymity(2)],
        recoding={"algorithm": "optimal"},
    )
    answer = ind.verify(table, pa.table({"age": ["20-29", "20-29", "30-39", "30-39"]}), policy)
    assert not answer.satisfied
    assert answer.document["models"][0]["achieved"] == {"k": 1}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.integers(1, 2))
def test_coverage_equals_trying_every_assignment(seed, left, right, groups):
    generator = np.random.default_rng(seed)
    covers = [generator.random((3, 3)) < 0.6 for _ in range(2)]
    sides = [
        Side(
            generator.integers(0, groups, size).astype(np.int64),
            generator.integers(0, 3, (size, 2)).astype(np.int32),
            generator.integers(1, 3, size),
        )
        for size in (left, right)
    ]
    answer = coverage(sides[0], sides[1], covers, ["a", "b"])
    slots = [j for j, rows in enumerate(sides[1].rows.tolist()) for _ in range(rows)]
    wanted = [i for i, rows in enumerate(sides[0].rows.tolist()) for _ in range(rows)]

    def fits(i, j):
        return sides[0].group[i] == sides[1].group[j] and all(
            covers[a][sides[0].codes[i, a], sides[1].codes[j, a]] for a in range(2)
        )

    taken: dict[int, int] = {}

    def place(row, seen):
        for slot, j in enumerate(slots):
            if slot not in seen and fits(wanted[row], j):
                seen.add(slot)
                if slot not in taken or place(taken[slot], seen):
                    taken[slot] = row
                    return True
        return False

    possible = all(place(row, set()) for row in range(len(wanted)))
    assert answer.status == ("proven" if possible else "refuted")


def work(rows, monkeypatch):
    """Pairs compared and edges solved by flow, where an untouched column tells nearly every row apart."""
    draw = np.random.default_rng(2)
    group = np.unique(draw.integers(0, 50 * rows, rows), return_inverse=True)[1].reshape(-1).astype(np.int64)
    ages = draw.integers(0, 100, rows).astype(np.int32).reshape(-1, 1)
    covers = [np.arange(10)[:, None] == np.arange(100)[None] // 10]
    ones, count = np.ones(rows, np.int64), 0
    agreeing, flow = proof._agreeing, proof._flow

    def compared(labels, values, left, right, tables):
        nonlocal count
        count += len(left)
        return agreeing(labels, values, left, right, tables)

    def solved(edges_p, edges_o, supply, demand):
        nonlocal count
        count += len(edges_p)
        return flow(edges_p, edges_o, supply, demand)

    with monkeypatch.context() as patch:
        patch.setattr(proof, "_agreeing", compared)
        patch.setattr(proof, "_flow", solved)
        answer = coverage(Side(group, ages // 10, ones), Side(group, ages, ones), covers, ["age"])
        assert answer.status == "proven"
        wrong = ages.copy()
        wrong[5] = (ages[5] + 50) % 100
        answer = coverage(Side(group, ages // 10, ones), Side(group, wrong, ones), covers, ["age"])
        assert (answer.status, [row for row, _ in answer.violations]) == ("refuted", [5])
    return count


def test_coverage_of_nearly_unique_rows_costs_about_as_much_as_there_are_rows(monkeypatch):
    # each row is compared with its own group, twice: a group has one row but for a few
    assert work(2_000, monkeypatch) <= 2 * 1.2 * 2_000
    assert work(20_000, monkeypatch) <= 2 * 1.2 * 20_000
