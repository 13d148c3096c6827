"""Releases in groups: written, read back, verified; refuted when somebody changed them."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import indistinct as ind
from indistinct.proof.joint_assignment import Choices, feasible
from indistinct.publish import deliver as deliver_module
from indistinct.tables import two_tables

COLUMN = list("aaabbccdd") * 2


def table():
    return pa.table(
        {
            "name": [f"n{at}" for at in range(len(COLUMN))],
            "age": [20 + at % 7 for at in range(len(COLUMN))],
            "ill": COLUMN,
            "note": [f"x{at % 4}" for at in range(len(COLUMN))],
        }
    )


def as_policy(form="two_tables", attribute=None, **document):
    return ind.Policy(
        attributes={
            "name": {"role": "identifying"},
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "ill": {"role": "sensitive", **(attribute or {})},
        },
        table={"unlisted": "insensitive"},
        privacy=[ind.DistinctL("ill", 2)],
        recoding={"algorithm": "anatomy", "form": form},
        **document,
    )


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.csv"
    pa_csv.write_csv(table(), path)
    return path


def verify_files(source, folder, suffix, policy, stem="out"):
    if suffix == "xlsx":
        return ind.verify(source, folder / f"{stem}.xlsx", policy)
    return ind.verify(source, folder / f"{stem}.qit.{suffix}", policy, folder / f"{stem}.st.{suffix}")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta"])
def test_two_tables_are_written_verified_and_verified_again(source, tmp_path, suffix):
    folder = tmp_path / "release"
    folder.mkdir()
    found = ind.anonymize(source, as_policy(), output=folder / f"out.{suffix}")
    tables = ["out.xlsx"] if suffix == "xlsx" else [f"out.qit.{suffix}", f"out.st.{suffix}"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*tables, f"out.{suffix}.manifest.json"])
    assert found.document["satisfied"]
    assert [path.rsplit("/", 1)[-1] for path in found.document["outputs"]] == tables
    manifest = json.loads((folder / f"out.{suffix}.manifest.json").read_text(encoding="utf-8"))
    assert sorted(manifest["sha256"]) == sorted(tables)
    assert manifest["form"] == "two_tables"
    assert manifest["declares"] == "permuting"
    assert "presence" not in json.dumps(manifest["models"])
    assert "is not hidden" in manifest["protects"]
    answer = verify_files(source, folder, suffix, as_policy()).document
    assert answer["satisfied"]
    assert answer["coverage"] == {"status": "proven", "violations": []}
    assert answer["hash"] == "match"
    assert answer["groups"] == found.document["groups"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_permuted_values_keep_their_group(source, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    found = ind.anonymize(source, as_policy("permuted"), output=path)
    rows = found.table.to_pylist()
    assert list(rows[0]) == ["age", "ill", "note", "group", "min", "max", "count"]
    assert Counter(row["ill"] for row in rows) == Counter(COLUMN)
    for row in rows:
        own = [other["ill"] for other in rows if other["group"] == row["group"]]
        assert (row["min"], row["max"], row["count"]) == (min(own), max(own), len(own))
    assert ind.verify(source, path, as_policy("permuted")).document["satisfied"]


def test_sums_of_numbers_are_exact():
    numbers = pa.table({"q": list("abcdef"), "wage": ["0.1", "0.2", "0.3", "10", "0.05", "3"]})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "decimal"}},
        privacy=[ind.DistinctL("wage", 6)],
        recoding={"algorithm": "anatomy", "form": "permuted"},
    )
    found = ind.anonymize(numbers, policy)
    assert {str(row["sum"]) for row in found.table.to_pylist()} == {"13.65"}
    assert ind.verify(numbers, found.table, policy).satisfied
    false = found.table.set_column(found.table.column_names.index("sum"), "sum", pa.array(["13.66"] * 6))
    answer = ind.verify(numbers, false, policy).document
    assert answer["coverage"]["status"] == "refuted"
    assert '"sum" is not that of the values' in answer["coverage"]["reason"]


def test_sums_of_numbers_with_unlike_fractions_are_exact():
    # halves and fifths have no common unit among their own denominators
    numbers = pa.table({"q": list("abc"), "wage": ["1.5", "0.2", "1e2"]})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "decimal"}},
        privacy=[ind.KeAnonymity("wage", 3, 1)],
        recoding={"algorithm": "ke_partition", "form": "permuted"},
    )
    found = ind.anonymize(numbers, policy)
    assert {str(row["sum"]) for row in found.table.to_pylist()} == {"101.7"}
    assert ind.verify(numbers, found.table, policy).satisfied


def test_totals_that_are_false_are_not_delivered(tmp_path, monkeypatch):
    numbers = pa.table({"q": list("abcdef"), "wage": ["1", "2", "3", "10", "5", "4"]})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.DistinctL("wage", 2)],
        recoding={"algorithm": "anatomy", "form": "permuted"},
    )
    assert ind.anonymize(numbers, policy).document["satisfied"]
    # sums that are written as they were decided, and wrong all the same
    monkeypatch.setattr(two_tables, "sums_of", lambda _, histogram: pa.array([25] * (len(histogram.start) - 1)))
    with pytest.raises(ind.VerificationError, match='"sum" is not that of the values in 3 groups'):
        ind.anonymize(numbers, policy, output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_utility_joins_both_tables_however_they_are_given(source, tmp_path, suffix):
    policy = as_policy()
    ind.anonymize(source, policy, output=tmp_path / f"out.{suffix}")
    st = None if suffix == "xlsx" else tmp_path / f"out.st.{suffix}"
    first = tmp_path / ("out.xlsx" if suffix == "xlsx" else f"out.qit.{suffix}")
    found = ind.utility(source, first, policy, st, queries=50, sql=["select count(*) as n from data"]).document
    assert found["in_groups"] is True
    assert found["published_rows"] == len(COLUMN)
    assert found["sql"][0]["answers"][0]["release"] == len(COLUMN)
    # quasi-identifiers and values are exact, only which belong together is not told
    assert [entry["total_variation"] for entry in found["distributions"]] == pytest.approx([0, 0, 0], abs=1e-12)
    assert found["losses"]["lm"] == 0
    assert 0 < found["queries"]["mean_relative_error"] < 1


def test_utility_takes_permuted_values_for_what_their_groups_say(source):
    found = ind.anonymize(source, as_policy("permuted")).table
    again = found.set_column(found.column_names.index("ill"), "ill", _rotated_in_groups(found))
    one, other = (ind.utility(source, own, as_policy("permuted"), queries=50).document for own in (found, again))
    assert one["in_groups"] is True
    assert one["queries"] == other["queries"]


def _rotated_in_groups(table):
    rows = table.to_pylist()
    by_group = {}
    for row in rows:
        by_group.setdefault(row["group"], []).append(row["ill"])
    turned = {group: iter([*own[1:], own[0]]) for group, own in by_group.items()}
    return pa.array([next(turned[row["group"]]) for row in rows])


@pytest.mark.slow
def test_half_a_release_is_told_from_a_whole_one(source, tmp_path):
    policy = as_policy()
    ind.anonymize(source, policy, output=tmp_path / "out.csv")
    qit, st = tmp_path / "out.qit.csv", tmp_path / "out.st.csv"
    for asked in (ind.verify, ind.utility):
        with pytest.raises(ind.SchemaError, match="give both, first QIT, then ST"):
            asked(source, qit, policy)
    with pytest.raises(ind.SchemaError, match="indistinct verify ORIGINAL QIT ST"):
        ind.audit(qit, policy)
    with pytest.raises(ind.SchemaError):
        ind.utility(source, st, policy, qit)
    less = pa_csv.read_csv(qit).slice(1)
    with pytest.raises(ind.DataError, match=r"in 1 of \d groups the two tables have different numbers of rows"):
        ind.utility(source, less, policy, st)


@pytest.mark.slow
def test_risk_of_the_first_table_is_that_of_its_quasi_identifiers(source, tmp_path):
    ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    found = ind.risk(source, as_policy(), published=tmp_path / "out.qit.csv").document
    # 18 rows of ages 20 to 26: four ages occur three times, three occur twice
    average = {entry["measure"]: entry for entry in found["published"]["measures"]}["prosecutor"]["average"]
    assert average["fraction"] == "7/18"
    assert found["published"]["measures"] == found["measures"]
    assert any("indistinct attack" in warning["message"] for warning in found["warnings"])


def test_the_table_in_python_is_a_pair(source):
    found = ind.anonymize(source, as_policy())
    qit, values = found.table
    assert qit.column_names == ["age", "note", "group"]
    assert values.column_names == ["group", "ill", "count"]
    assert found.table.qit.equals(qit)
    assert ind.verify(source, found.table, as_policy()).satisfied
    assert found.write(source.parent / "o.csv").name == "o.qit.csv"
    assert "two tables" in repr(found)


def test_frames_come_back_in_their_kind():
    pandas = pytest.importorskip("pandas")
    qit, values = ind.anonymize(table().to_pandas(), as_policy()).table
    assert isinstance(qit, pandas.DataFrame)
    assert isinstance(values, pandas.DataFrame)


def test_an_existing_part_is_refused_and_nothing_is_left_of_a_failure(source, tmp_path, monkeypatch):
    (tmp_path / "out.st.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(ind.PolicyError, match=r"out\.st\.csv exists"):
        ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    (tmp_path / "out.st.csv").unlink()
    before = sorted(tmp_path.iterdir())

    def refuse(*_, **_settings):
        message = "no"
        raise KeyboardInterrupt(message)

    monkeypatch.setattr(deliver_module, "publish", refuse)
    with pytest.raises(KeyboardInterrupt):
        ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_another_release_of_that_name_is_not_lost(source, tmp_path):
    earlier = as_policy().model_copy(update={"recoding": ind.Policy(attributes={"age": {"role": "qi"}}).recoding})
    ind.anonymize(source, earlier, output=tmp_path / "out.csv")
    with pytest.raises(ind.PolicyError, match=r"out\.csv exists"):
        ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    assert ind.verify(source, tmp_path / "out.csv", earlier).document["hash"] == "match"
    ind.anonymize(source, as_policy(), output=tmp_path / "new.csv")
    ind.anonymize(source, as_policy(), output=tmp_path / "new.csv", force=True)
    assert verify_files(source, tmp_path, "csv", as_policy(), "new").document["hash"] == "match"


def test_columns_that_the_release_needs_must_be_free():
    with pytest.raises(ind.SchemaError, match='column "group" of its own'):
        ind.anonymize(table().rename_columns(["name", "age", "ill", "group"]), as_policy())
    with pytest.raises(ind.SchemaError, match='column "count" of its own'):
        ind.anonymize(table().rename_columns(["name", "age", "ill", "count"]), as_policy("permuted"))


def test_what_it_does_not_protect_is_said():
    found = ind.anonymize(table(), as_policy())
    (notice,) = [one for one in found.document["warnings"] if one["kind"] == "presence"]
    assert "is not hidden" in notice["message"]
    assert "0 of 18 rows are alone" in notice["message"]


# ---- refuted ---------------------------------------------------------------------------------------------------


def changed(name, row, column, value):
    """Change one cell of one of the tables of a release."""

    def change(qit, values):
        tables = {"qit": qit.to_pylist(), "st": values.to_pylist()}
        tables[name][row][column] = value(tables[name]) if callable(value) else value
        return tuple(pa.Table.from_pylist(tables[part]) for part in ("qit", "st"))

    return change


def exchanged(qit, values):
    """Exchange the groups of two rows of QIT whose groups have not the same values."""
    rows = qit.to_pylist()
    content = {}
    for row in values.to_pylist():
        content.setdefault(row["group"], set()).add(row["ill"])
    ages = {}
    for row, ill in zip(table().to_pylist(), COLUMN, strict=True):
        ages.setdefault((str(row["age"]), row["note"]), set()).add(ill)
    for first in rows:
        for second in rows:
            fits = ages[first["age"], first["note"]] & content[second["group"]]
            if not fits:
                first["group"], second["group"] = second["group"], first["group"]
                return pa.Table.from_pylist(rows), values
    pytest.skip("every row could be in every group")
    return None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed("st", 0, "count", 2), "not as many values as rows"),
        (changed("st", 0, "count", 0), "no whole numbers"),
        (changed("st", 0, "ill", "e"), "a value that the original lacks"),
        (changed("qit", 0, "age", "99"), "cover no value"),
        (changed("qit", 0, "note", "x7"), "oftener than they occur"),
        (changed("qit", 0, "group", 99), "not as many values as rows"),
        (exchanged, "cannot all belong to their rows"),
    ],
)
def test_a_changed_release_is_refuted(change, words):
    found = ind.anonymize(table(), as_policy())
    qit, values = change(*found.table)
    answer = ind.verify(table(), qit, as_policy(), values).document
    assert not answer["satisfied"]
    assert answer["coverage"]["status"] == "refuted"
    assert words in answer["coverage"]["reason"]


def test_values_of_one_kind_in_a_group_fail_the_model():
    original = pa.table({"q": ["1", "2", "3", "4"], "ill": ["a", "b", "a", "b"]})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "ill": {"role": "sensitive"}},
        privacy=[ind.DistinctL("ill", 2)],
        recoding={"algorithm": "anatomy"},
    )
    qit = pa.table({"q": ["1", "2", "3", "4"], "group": [1, 2, 1, 2]})
    values = pa.table({"group": [1, 2], "ill": ["a", "b"], "count": [2, 2]})
    answer = ind.verify(original, qit, policy, values).document
    assert answer["coverage"]["status"] == "proven"
    assert not answer["models"][0]["satisfied"]
    assert answer["models"][0]["violating_classes"] == 2
    assert not answer["satisfied"]


@pytest.mark.slow
def test_a_hash_that_differs_is_told(source, tmp_path):
    ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    path = tmp_path / "out.st.csv"
    path.write_text(path.read_text(encoding="utf-8") + "", encoding="utf-8")
    assert verify_files(source, tmp_path, "csv", as_policy()).document["hash"] == "match"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *reversed(lines[1:])]), encoding="utf-8")
    answer = verify_files(source, tmp_path, "csv", as_policy()).document
    assert answer["hash"] == "differs"
    assert not answer["satisfied"]


def test_tables_in_the_wrong_order_are_told(source, tmp_path):
    ind.anonymize(source, as_policy(), output=tmp_path / "out.csv")
    with pytest.raises(ind.SchemaError, match="in this order"):
        ind.verify(source, tmp_path / "out.st.csv", as_policy(), tmp_path / "out.qit.csv")


def test_policies_that_cannot_judge_a_pair_are_refused():
    pair = ind.anonymize(table(), as_policy()).table
    attributes = {"age": {"role": "qi"}, "ill": {"role": "sensitive"}, "note": {"role": "sensitive"}}
    how = {"attributes": attributes, "table": {"unlisted": "identifying"}}
    several = ind.Policy(privacy=[ind.DistinctL("ill", 2), ind.DistinctL("note", 2)], **how)
    with pytest.raises(ind.PolicyError, match="about ill, note"):
        ind.verify(table(), pair, several)
    with pytest.raises(ind.PolicyError, match="about no sensitive attribute"):
        ind.verify(table(), pair, ind.Policy(privacy=[ind.KAnonymity(2)], **how))
    persons = ind.Policy(privacy=[ind.DistinctL("ill", 2)], person={"key": "name"}, **how)
    with pytest.raises(ind.UnsupportedError, match="by persons"):
        ind.verify(table(), pair, persons)


def test_a_leaked_column_is_named():
    found = ind.anonymize(table(), as_policy())
    leaky = found.table.qit.append_column("name", pa.array([f"n{at}" for at in range(len(COLUMN))]))
    answer = ind.verify(table(), leaky, as_policy(), found.table.st).document
    assert answer["leaked_columns"] == ["name"]
    assert not answer["satisfied"]


# ---- possible assignments --------------------------------------------------------------------------------------


def brute(choices, rows, entries, origins):
    """Try every matching."""

    def serve(left, at, entry_left, origin_left):
        if not any(left):
            return not any(entry_left)
        while left[at] == 0:
            at += 1
        for p, e, o in choices:
            if p == at and entry_left[e] and origin_left[o]:
                left[p] -= 1
                entry_left[e] -= 1
                origin_left[o] -= 1
                done = serve(left, at, entry_left, origin_left)
                left[p] += 1
                entry_left[e] += 1
                origin_left[o] += 1
                if done:
                    return True
        return False

    return serve(list(rows), 0, list(entries), list(origins))


@pytest.mark.parametrize("seed", range(60))
def test_possible_is_exact(seed):
    import numpy as np

    draw = np.random.default_rng(seed)
    number = int(draw.integers(1, 5))
    rows = draw.integers(1, 3, number)
    entries, origins = draw.integers(1, 3, 3), draw.integers(1, 4, 4)
    while entries.sum() != rows.sum():  # as sizes of groups are checked before
        entries = draw.integers(0, 4, 3)
    pairs = {tuple(draw.integers(0, (number, 3, 4)).tolist()) for _ in range(int(draw.integers(1, 14)))}
    pairs = sorted(pairs)
    row, entry, origin = (np.array([pair[at] for pair in pairs]) for at in range(3))
    answer = feasible(Choices(row, entry, origin), rows, entries, origins)
    assert answer.status == ("proven" if brute(pairs, rows, entries, origins) else "refuted")
    assert feasible(Choices(row, entry, origin), rows, entries, origins, most=0).status in (answer.status, "not proven")


# ---- (k,e) -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["two_tables", "permuted"])
def test_ke_partition_publishes_neighbouring_numbers(tmp_path, form):
    wages = [22, 1, 10, 3, 21, 2, 11, 20]
    original = pa.table({"q": [f"{at}" for at in range(8)], "wage": wages})
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.KeAnonymity("wage", 2, 2)],
        recoding={"form": form},
    )
    assert policy.recoding.algorithm == "ke_partition"
    found = ind.anonymize(original, policy, output=tmp_path / "o.csv")
    groups = {}
    if form == "permuted":
        for row in found.table.to_pylist():
            groups.setdefault(row["group"], []).append(row["wage"])
            assert (row["min"], row["max"]) in ((1, 11), (20, 22))
            assert (row["sum"], row["count"]) in ((27, 5), (63, 3))
        assert ind.verify(original, tmp_path / "o.csv", policy).satisfied
    else:
        for row in found.table.st.to_pylist():
            groups.setdefault(row["group"], []).extend([row["wage"]] * row["count"])
        assert verify_files(original, tmp_path, "csv", policy, "o").satisfied
    assert sorted(sorted(group) for group in groups.values()) == [[1, 2, 3, 10, 11], [20, 21, 22]]
    # who is in which group is told truly
    for row in found.table.to_pylist() if form == "permuted" else found.table.qit.to_pylist():
        assert wages[int(row["q"])] in groups[row["group"]]


def test_ke_anonymity_beside_other_models_is_for_classes_unless_groups_are_asked_for():
    both = [ind.KeAnonymity("wage", 2, 2), ind.KAnonymity(2)]
    attributes = {"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "integer"}}
    assert ind.Policy(attributes=attributes, privacy=both).recoding.algorithm == "local"


@pytest.mark.slow
def test_ke_partition_with_k_anonymity_cuts_each_class(tmp_path):
    # wards are never mixed; cutting ward a after 2 and ward b after 5 gives the ranges 1, 1 and 4, 3
    original = pa.table({"ward": [*"aaaabbbb"], "wage": [11, 1, 10, 2, 9, 5, 1, 6]})
    policy = ind.Policy(
        attributes={"ward": {"role": "qi"}, "wage": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.KAnonymity(4), ind.KeAnonymity("wage", 2, 1)],
        recoding={"algorithm": "ke_partition"},
    )
    found = ind.anonymize(original, policy, output=tmp_path / "o.csv")
    wards = {row["group"]: row["ward"] for row in found.table.qit.to_pylist()}
    groups = {}
    for row in found.table.st.to_pylist():
        groups.setdefault(row["group"], []).extend([row["wage"]] * row["count"])
    contents = sorted((wards[number], sorted(group)) for number, group in groups.items())
    assert contents == [("a", [1, 2]), ("a", [10, 11]), ("b", [1, 5]), ("b", [6, 9])]
    assert [(entry["on"], entry["satisfied"]) for entry in found.document["models"]] == [
        ("classes", True),
        ("groups", True),
    ]
    assert verify_files(original, tmp_path, "csv", policy, "o").satisfied
    with pytest.raises(ind.InfeasibleError):
        ind.anonymize(original, policy.model_copy(update={"privacy": (ind.KAnonymity(5), policy.privacy[1])}))


@pytest.mark.slow
def test_ke_partition_in_generalized_classes():
    draw = np.random.default_rng(4)
    table = pa.table({"age": draw.integers(18, 60, 300), "wage": np.rint(draw.lognormal(7, 1, 300)).astype(int)})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "wage": {"role": "sensitive", "type": "integer"},
        },
        privacy=[ind.KAnonymity(20), ind.KeAnonymity("wage", 3, 100)],
        recoding={"algorithm": "ke_partition"},
    )
    found = ind.anonymize(table, policy)
    ages = [row["age"] for row in found.table.qit.to_pylist()]
    assert min(ages.count(age) for age in ages) >= 20
    assert len(set(ages)) > 1
    own, groups = {}, {}
    for row in found.table.qit.to_pylist():
        own.setdefault(row["group"], set()).add(row["age"])
    for row in found.table.st.to_pylist():
        groups.setdefault(row["group"], set()).add(row["wage"])
    assert all(len(labels) == 1 for labels in own.values())
    assert all(len(wages) >= 3 and max(wages) - min(wages) >= 100 for wages in groups.values())
    assert len(groups) > len(set(ages))
    assert ind.verify(table, found.table, policy).satisfied


def test_an_audit_of_permuted_values_names_the_command_that_proves_them():
    decided = ind.Policy(
        attributes={"a": {"role": "qi"}, "s": {"role": "sensitive"}}, privacy=[ind.DistinctL("s", 2)],
        recoding={"algorithm": "anatomy", "form": "permuted"},
    )  # fmt: skip
    table = pa.table({"a": list("abcd"), "s": list("xyxy")})
    published = ind.anonymize(table, decided).table
    with pytest.raises(ind.SchemaError, match="indistinct verify ORIGINAL PUBLISHED"):
        ind.audit(published, decided)
    assert ind.verify(table, published, decided).satisfied
