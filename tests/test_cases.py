"""Faults that users of other tools met.

Each case is a folder with a small input and the right answer. Answers are read from ``expected.json``; what
is written here is how to put the question.
"""

import csv
import json
import sqlite3
from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from cli_bench import run, run_as_process

CASES = Path(__file__).resolve().parent / "cases"
ASKED = {}


FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())


@pytest.mark.compiling
@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder, tmp_path):
    assert folder.name in ASKED, f"no question for {folder.name}: write one"
    described = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    ASKED[folder.name](Case(folder, tmp_path, described["config"], described["expect"]))


# --- helpers ---------------------------------------------------------------------------------------------


def case(name):
    def register(function):
        ASKED[name] = function
        return function

    return register


class Case:
    """A folder of a case, a place to write, and the two ways to ask: in Python and on the command line."""

    def __init__(self, folder, place, config, expect):
        self.folder, self.place, self.config, self.expect = folder, place, config, expect
        self.input = folder / "input.csv"

    @property
    def quasi(self):
        return self.config["quasi_identifiers"]

    def audit(self, privacy=(), table=None, **how):
        """Audit the input under a policy with the columns of the config."""
        given = self.input if table is None else table
        document = ind.audit(given, self.policy(privacy, **how)).document
        return document, document["models"]

    def policy(self, privacy=(), *, quasi=None, sensitive=None, hierarchies=None, types=None, **document):
        """Build a policy from the config; hierarchies are files of the folder or specifications."""
        attributes = {name: {"role": "quasi_identifying"} for name in quasi or self.quasi}
        for name in self.config.get("sensitive", []) if sensitive is None else sensitive:
            attributes[name] = {"role": "sensitive"}
        hierarchies = self.config.get("hierarchies", {}) if hierarchies is None else hierarchies
        for name, given in hierarchies.items():
            is_file = isinstance(given, str)
            attributes[name]["hierarchy"] = {"file": str(self.folder / given)} if is_file else given
        for name, extra in (types or {}).items():
            attributes[name] |= extra
        table = {"unlisted": "insensitive", "unlisted_confirmed": True}
        return ind.Policy(attributes=attributes, privacy=list(privacy), table=table, **document)

    def run(self, *arguments, **environment):
        """Run a command; return exit code, JSON document (or text) and standard error."""
        code, text, remarks = run_as_process(*arguments, env=environment) if environment else run(*arguments)
        return code, json.loads(text) if "--json" in arguments else text, remarks

    def anonymize(self, policy, output="out.csv", table=None, **environment):
        """Anonymize the input by the command line; return exit code, document and the output's path."""
        written, out = self.place / "policy.toml", self.place / output
        written.write_text(policy.dumps(), encoding="utf-8")
        given = self.input if table is None else table
        words = ("anonymize", given, "--policy", written, "--output", out, "--json")
        code, document, _ = self.run(*words, **environment)
        return code, document, out

    def published(self, policy, output="out.csv", table=None, **environment):
        """Anonymize and expect success; return the document and the output's path."""
        code, document, out = self.anonymize(policy, output, table, **environment)
        assert code == 0, document
        return document, out

    def refused(self, policy, *parts, code=2):
        """Anonymize and expect one plain sentence that holds these parts, and no file.

        The sentence is that of the console; the JSON document, which may be kept, names no values of the table.
        """
        found, document, _ = self.anonymize(policy)
        assert found == code, document
        words = ("anonymize", self.input, "--policy", self.place / "policy.toml", "--output", self.place / "out.csv")
        found, _, sentence = self.run(*words)
        assert found == code
        for part in parts:
            assert str(part) in sentence
        assert "Traceback" not in sentence
        assert [path.name for path in self.place.glob("*out*")] == []
        return {**document["error"], "sentence": sentence}


def read(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def exact(value):
    """Read {"exact": "1/2"} or {"fraction": "1/2"} or a number."""
    if isinstance(value, dict):
        value = value.get("exact", value.get("fraction"))
    return Fraction(str(value))


def warned(document, *parts):
    """Return whether one warning holds all these parts."""
    return any(all(part in warning["message"] for part in parts) for warning in document["warnings"])


k1 = [ind.KAnonymity(1)]
k2 = [ind.KAnonymity(2)]


# --- missing values, suppressed rows ---------------------------------------------------------------------


@case("01-missing-qi-rows-vanish")
def missing_rows_are_counted(case):
    document, (entry,) = case.audit(k2)
    assert document["rows"] == case.expect["records_counted"]
    assert entry["achieved"]["k"] == case.expect["k"]["missing_is_a_value"]
    assert document["missing"] == {
        "rule": "own", "k_if_missing_matches_anything": case.expect["k"]["missing_matches_anything"],
    }  # fmt: skip


@case("03-sql-null-versus-empty")
def null_is_not_empty(case):
    pytest.importorskip("sqlalchemy")
    database = case.place / "people.db"
    with sqlite3.connect(database) as connection:
        connection.executescript((case.folder / "input.sql").read_text(encoding="utf-8"))
    connection.close()
    url = f"sqlite:///{database}"
    policy = case.policy(k1)
    document = ind.audit(url, policy, sql_table="people").document
    assert document["rows"] == case.expect["records_counted"]
    assert document["models"][0]["achieved"]["k"] == case.expect["k"]["null_and_empty_distinct"]
    release = ind.anonymize(url, policy, sql_table="people")
    release.write(case.place / "out.parquet")
    back = pq.read_table(case.place / "out.parquet")["region"].to_pylist()
    assert (back.count(None), back.count(""), back.count("N")) == (2, 1, 2)


@case("04-local-suppression-own-category")
def verdict_states_its_rule(case):
    document, (entry,) = case.audit(k2)
    assert entry["achieved"]["k"] == case.expect["k"]["missing_is_a_value"]
    assert document["satisfied"] is case.expect["two_anonymous"]["missing_is_a_value"]
    assert document["missing"]["rule"] == "own"
    wildcard = document["missing"]["k_if_missing_matches_anything"]
    assert wildcard == case.expect["k"]["missing_matches_anything"]


@case("06-all-missing-sensitive-class")
def missing_sensitive_value_is_one_value(case):
    _, (entry,) = case.audit([ind.DistinctL("s", 2)])
    assert entry["achieved"]["l"] == case.expect["distinct_l"]["missing_is_a_value"]
    assert not entry["satisfied"]


@case("08-country-code-na")
def na_is_text(case):
    document, (entry,) = case.audit(k2)
    assert document["rows"] == case.expect["records_counted"]
    assert entry["achieved"]["k"] == case.expect["k"]
    _, out = case.published(case.policy(k2))
    assert [row["country"] for row in read(out)].count(case.expect["output_keeps_text"]) == 2


@case("10-suppressed-row-audited-as-class")
def starred_rows_are_no_class(case):
    document, (entry,) = case.audit(k2)
    assert document["rows"] == case.expect["records"]
    assert document["suppressed_rows"] == case.expect["suppressed_records"]
    assert document["classes"] == case.expect["classes"]
    assert entry["achieved"]["k"] == case.expect["k"]
    assert document["satisfied"]


# --- hierarchies -----------------------------------------------------------------------------------------


@case("13-hierarchy-lacks-first-value")
def hierarchy_lacks_a_value(case):
    error = case.refused(case.policy(k2), *case.expect["message_names"])
    assert error["kind"] == "hierarchy"


@case("15-hierarchy-not-nested")
def hierarchy_is_not_nested(case):
    error = case.refused(case.policy(k2), *case.expect["message_names"])
    assert error["kind"] == "hierarchy"


@case("17-hierarchy-ragged")
def hierarchy_is_ragged(case):
    error = case.refused(case.policy(k2), "v", "2", "3")
    assert error["kind"] == "hierarchy"


@case("19-hierarchy-without-root")
def hierarchy_has_no_root(case):
    for algorithm in ("local", "optimal"):
        policy = case.policy([ind.KAnonymity(3)], recoding={"algorithm": algorithm})
        error = case.refused(policy, "grade", code=1)
        assert error["kind"] == "infeasible"
        assert "low" in error["sentence"] or "2 labels" in error["sentence"]


@case("64-other-group-too-small")
def other_group_is_not_released(case):
    policy = case.policy([ind.KAnonymity(case.config["k"])], suppression={"limit": "0.3"})
    document, out = case.published(policy)
    assert document["suppressed_rows"] <= 3
    audit = ind.audit(out, qi=["colour"], k=4).document
    assert audit["smallest_class"] >= case.expect["released_k_at_least"]
    assert audit["satisfied"]


# --- closeness and diversity -----------------------------------------------------------------------------


@case("20-hierarchical-distance-basic")
def hierarchy_is_used_in_the_distance(case):
    for distance in ("hierarchical", "equal"):
        for kind, expected in case.expect[f"t_{distance}"].items():
            _, (entry,) = case.audit(
                [ind.TCloseness("d", 1, distance)],
                quasi=[kind.removeprefix("qi=")],
                sensitive=["d"],
                types={"d": {"hierarchy": {"file": str(case.folder / case.config["sensitive_hierarchy"])}}},
            )
            assert exact(entry["achieved"]["t"]) == exact(expected)


@case("22-numbers-read-as-text")
def numbers_are_ordered_as_numbers(case):
    quoted = case.place / "quoted.csv"
    rows = case.input.read_text(encoding="utf-8").split()
    quoted.write_text("".join('"' + '","'.join(row.split(",")) + '"\n' for row in rows), encoding="utf-8")
    model = [ind.TCloseness("wage", 1, "ordered")]
    for table in (case.input, quoted):
        _, (entry,) = case.audit(model, table=table, types={"wage": {"type": "integer"}})
        assert exact(entry["achieved"]["t"]) == exact(case.expect["t_ordered"])
    with pytest.raises(ind.PolicyError, match="wage"):
        case.policy(model)


@case("25-nominal-codes-are-not-numbers")
def declared_distance_decides(case):
    table = pa.table({"g": ["A", "A", "B", "B"], "code": pa.array([1, 2, 3, 4], pa.int64())})
    for given in (case.input, table):
        _, (entry,) = case.audit([ind.TCloseness("code", 1, "equal")], table=given)
        assert entry["distance"] == "equal"
        assert exact(entry["achieved"]["t"]) == exact(case.expect["t_equal"])
        _, (entry,) = case.audit(
            [ind.TCloseness("code", 1, "ordered")], table=given, types={"code": {"type": "integer"}}
        )
        assert exact(entry["achieved"]["t"]) == exact(case.expect["t_ordered_if_asked"])


@case("26-single-sensitive-value")
def one_sensitive_value(case):
    models = [ind.TCloseness("s", 0, distance) for distance in ("ordered", "equal")]
    models += [ind.DistinctL("s", 1), ind.EntropyL("s", 1)]
    document, entries = case.audit(models, types={"s": {"type": "integer"}})
    assert document["satisfied"]
    assert [exact(entry["achieved"]["t"]) for entry in entries[:2]] == [0, 0]
    assert entries[2]["achieved"]["l"] == case.expect["distinct_l"]
    assert entries[3]["achieved"]["l"]["decimal"] == case.expect["entropy_l"]
    assert "nan" not in json.dumps(document).lower().split()


@case("28-entropy-l-of-balanced-values")
def ties_of_entropy_pass(case):
    for claim, verdict in case.expect["satisfied"].items():
        attribute, threshold = claim.split(" at l=")
        _, (entry,) = case.audit([ind.EntropyL(attribute, threshold)])
        assert entry["satisfied"] is verdict
        reached = case.expect["entropy_l"][attribute]
        assert entry["achieved"]["l"]["decimal"] == pytest.approx(reached, rel=1e-12)


@case("30-recursive-inequality-is-strict")
def recursive_is_strict(case):
    for claim, verdict in case.expect["satisfied"].items():
        _, (entry,) = case.audit([ind.RecursiveCL("s", claim.removeprefix("c="), case.config["l"])])
        assert entry["satisfied"] is verdict
        assert exact(entry["achieved"]["c"]) == exact(case.expect["infimum_c"])


@case("35-recursive-uses-most-frequent")
def recursive_starts_at_the_most_frequent(case):
    for claim, verdict in case.expect["satisfied"].items():
        c, rank = claim.removeprefix("c=").split(",l=")
        _, (entry,) = case.audit([ind.RecursiveCL("s", c, int(rank))])
        assert entry["satisfied"] is verdict
        assert exact(entry["achieved"]["c"]) == exact(case.expect["infimum_c"][f"l={rank}"])


@case("33-t-limit-overwritten")
def t_limit_is_kept(case):
    models = [ind.KAnonymity(2), ind.TCloseness("s", "0.1", "equal")]
    document, entries = case.audit(models)
    assert exact(entries[1]["achieved"]["t"]) == exact(case.expect["audit_t_of_input"])
    assert document["satisfied"] is case.expect["audit_satisfied"]
    for algorithm in ("local", "optimal", "generalize_step"):
        policy = case.policy(models, recoding={"algorithm": algorithm})
        answer = ind.anonymize(case.input, policy).document
        assert answer["classes"] == case.expect["anonymize"]["classes"]
        assert answer["models"][0]["achieved"]["k"] == case.expect["anonymize"]["k"]
        assert exact(answer["models"][1]["achieved"]["t"]) == case.expect["anonymize"]["t"]


# --- sizes -----------------------------------------------------------------------------------------------


@case("31-class-of-exactly-k")
def class_of_exactly_k(case):
    for claim, verdict in case.expect["satisfied"].items():
        _, (entry,) = case.audit([ind.KAnonymity(int(claim.removeprefix("k=")))])
        assert entry["satisfied"] is verdict
        assert entry["violating_rows"] == case.expect["violating_records"][claim]
        assert entry["achieved"]["k"] == case.expect["k"]


@case("38-empty-bins-are-not-classes")
def unused_categories_are_no_classes(case):
    rows = read(case.input)
    columns = {}
    for name, categories in case.config["load_as_categorical"].items():
        codes = pa.array([categories.index(row[name]) for row in rows], pa.int32())
        columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(categories))
    table = pa.table(columns)
    pq.write_table(table, case.place / "input.parquet")
    for given in (case.input, table, case.place / "input.parquet"):
        document, (entry,) = case.audit(k2, table=given)
        assert entry["achieved"]["k"] == case.expect["k"]
        assert document["classes"] == case.expect["classes"]
        assert Fraction(document["rows"], document["classes"]) == exact(case.expect["average_class_size"])


@case("40-row-number-leaks-to-output")
def no_row_numbers_in_the_output(case):
    pandas = pytest.importorskip("pandas")
    policy = case.policy(k2, suppression={"limit": "0.2"})
    document, out = case.published(policy)
    assert list(read(out)[0]) == case.expect["output_columns"]
    assert document["suppressed_rows"] == case.expect["suppressed_records"]
    assert document["published_rows"] == len(read(out)) == case.expect["kept_records"]
    frame = pandas.read_csv(case.input)
    published = ind.anonymize(frame, policy).table
    assert list(published.columns) == case.expect["output_columns"]


@case("42-one-person-fills-a-class")
def persons_are_counted(case):
    _, (entry,) = case.audit(k2, person={"key": case.config["person_id"]})
    assert entry["achieved"]["k"] == case.expect["k"]["with_person_id"]
    document, (entry,) = case.audit(k2)
    assert entry["achieved"]["k"] == case.expect["k"]["rows_only"]
    assert document["unit"] == "rows"


@case("73-million-distinct-values")
def a_million_distinct_values(case):
    number = pa.array(range(1_000_000))
    band = pa.array([value % 7 for value in range(1_000_000)], pa.int64())
    table = pa.table({"id": number, "band": band})
    for quasi, k in case.expect["k"].items():
        names = quasi.split(",")
        document, (entry,) = case.audit(k2, table=table, quasi=names)
        assert entry["achieved"]["k"] == k
        assert (document["rows"] if k == 1 else 0) == case.expect["unique_records"][quasi]


@case("85-average-class-size-metric")
def average_class_size_uses_the_target(case):
    answer = ind.anonymize(case.input, case.policy([ind.KAnonymity(case.config["k_target"])])).document
    size = answer["loss"]["average_class_size"]
    assert size == pytest.approx(float(exact(case.expect["average_class_size"])), rel=1e-12)
    normalised = float(exact(case.expect["c_avg_with_target_k"]))
    assert size / case.config["k_target"] == pytest.approx(normalised, rel=1e-12)


# --- impossible requests ---------------------------------------------------------------------------------


@case("68-k-larger-than-table")
def k_is_larger_than_the_table(case):
    for algorithm in ("local", "optimal"):
        error = case.refused(case.policy([ind.KAnonymity(50)], recoding={"algorithm": algorithm}), "50", "6", code=1)
        assert error["kind"] == "infeasible"


@case("70-everything-suppressed-is-no-success")
def everything_suppressed_is_no_success(case):
    for algorithm in ("local", "optimal"):
        policy = case.policy(k2, suppression={"limit": "0.2"}, recoding={"algorithm": algorithm})
        error = case.refused(policy, "5 of 5", code=1)
        assert error["kind"] == "infeasible"


@case("71-parameters-out-of-range")
def parameters_out_of_range(case):
    bad = case.config["bad"]
    models = {
        "k": lambda value: {"model": "k_anonymity", "k": value},
        "l": lambda value: {"model": "distinct_l", "attribute": "s", "l": value},
        "c": lambda value: {"model": "recursive_cl", "attribute": "s", "c": value, "l": 2},
        "t": lambda value: {"model": "t_closeness", "attribute": "s", "t": value, "distance": "equal"},
    }
    for name, model in models.items():
        for value in bad[name]:
            with pytest.raises(ind.PolicyError, match=name):
                case.policy([model(value)], sensitive=["s"])
    for value in bad["suppression_limit"]:
        with pytest.raises(ind.PolicyError, match="limit"):
            case.policy(k2, suppression={"limit": value})


@case("75-undeclared-columns")
def undeclared_columns(case):
    code, document, _ = case.run("audit", case.input, "--qi", "age,sex", "--k", "2", "--json")
    assert code == 0
    assert document["models"][0]["achieved"]["k"] == case.expect["k"]
    assert any("fare" in (warning["column"] or "") + warning["message"] for warning in document["warnings"])
    assert document["k_if_untouched_columns_are_known"] == case.expect["k_if_fare_is_added"]
    attributes = {"age": {"role": "qi"}, "sex": {"role": "qi"}, "name": {"role": "identifying"}}
    with pytest.raises(ind.SchemaError, match="fare"):
        ind.anonymize(case.input, ind.Policy(attributes=attributes, privacy=k2))
    policy = ind.Policy(attributes=attributes, privacy=k2, table={"unlisted": "insensitive"})
    document, out = case.published(policy)
    assert case.expect["identifier_not_in_output"] not in read(out)[0]


# --- files -----------------------------------------------------------------------------------------------


@case("44-utf8-bom-before-header")
def byte_order_mark(case):
    document, (entry,) = case.audit(k2)
    assert document["rows"] == case.expect["records_counted"]
    assert entry["achieved"]["k"] == case.expect["k"]
    _, out = case.published(case.policy(k2))
    assert out.read_bytes().startswith(b"age,sex\n")


@case("46-header-ends-with-comma")
def header_is_too_long(case):
    document, (entry,) = case.audit(k2)
    assert entry["achieved"]["k"] == case.expect["either"][1]["k"]
    assert document["warnings"]
    _, out = case.published(case.policy(k2))
    assert list(read(out)[0]) == case.quasi


@case("48-header-with-trailing-blank")
def header_ends_in_a_blank(case):
    document, (entry,) = case.audit(k2)
    assert entry["achieved"]["k"] == case.expect["either"][0]["k"]
    assert warned(document, "zip")


@case("49-line-breaks-inside-quotes")
def line_breaks_inside_quotes(case):
    models = [ind.KAnonymity(2), ind.DistinctL("s", 2)]
    document, entries = case.audit(models)
    assert document["rows"] == case.expect["records_counted"]
    assert entries[0]["achieved"]["k"] == case.expect["k"]
    assert entries[1]["achieved"]["l"] == case.expect["distinct_l"]
    _, out = case.published(case.policy(models))
    assert sorted(map(str, read(out))) == sorted(map(str, read(case.input)))


@case("52-utf8-names-and-labels")
def the_locale_does_not_matter(case):
    written = set()
    for locale in ("C", "C.UTF-8"):
        document, out = case.published(case.policy(k2), f"{locale}.csv", LC_ALL=locale, LANG=locale, PYTHONUTF8="0")
        assert document["models"][0]["achieved"]["k"] == case.expect["k"]
        written.add(out.read_bytes())
    assert len(written) == 1
    for value in case.expect["values_unchanged"]:
        assert value.encode("utf-8") in written.copy().pop()


@case("53-leading-zeros-in-codes")
def leading_zeros_stay(case):
    document, (entry,) = case.audit(k1)
    assert entry["achieved"]["k"] == case.expect["k"]
    assert document["classes"] == case.expect["classes"]
    _, out = case.published(case.policy(k1))
    assert case.expect["output_keeps_text"] in {row["zip"] for row in read(out)}


@case("56-excel-dates-and-numbers")
def spreadsheets(case):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    cells = json.loads((case.folder / "cells.json").read_text(encoding="utf-8"))
    path, plain = case.place / "input.xlsx", case.place / "plain.csv"
    book = xlsxwriter.Workbook(str(path))
    sheet, _ = book.add_worksheet(cells["sheet"]), book.add_worksheet("notes")
    as_date = book.add_format({"num_format": "yyyy-mm-dd"})
    sheet.write_row(0, 0, cells["header"])
    lines = [cells["header"]]
    for line, row in enumerate(cells["cells"], start=1):
        lines.append([])
        for place, cell in enumerate(row):
            text = str(cell)
            if text.endswith("(date cell)"):
                sheet.write_datetime(line, place, date.fromisoformat(text.split(maxsplit=1)[0]), as_date)
            elif text.endswith("(number)") or isinstance(cell, int):
                sheet.write_number(line, place, int(text.split(maxsplit=1)[0]))
            else:
                sheet.write_string(line, place, text.split(maxsplit=1)[0].lstrip("'"))
            lines[-1].append(text.split(maxsplit=1)[0].lstrip("'"))
    book.close()
    plain.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    outputs = []
    for given in (path, plain):
        document, (entry,) = case.audit(k2, table=given)
        assert entry["achieved"]["k"] == case.expect["k"]
        assert document["classes"] == case.expect["classes"]
        _, out = case.published(case.policy(k2), f"{given.stem}-out.csv", given)
        outputs.append(out.read_text(encoding="utf-8"))
    assert outputs[0] == outputs[1]
    for name, values in case.expect["values"].items():
        assert sorted({row[name] for row in csv.DictReader(outputs[0].splitlines())}) == values
    assert not any(part in outputs[0] for part in case.expect["no_cell_contains"])


@case("57-blanks-and-case")
def look_alikes_are_named(case):
    document, (entry,) = case.audit(k2)
    assert entry["achieved"]["k"] == case.expect["k"]
    assert document["classes"] == case.expect["classes"]
    assert warned(document, "north", "north ", "North")


@case("82-formula-cells-in-output")
def formula_cells(case):
    for safe in (True, False):
        policy = case.policy(k2, output={"spreadsheet_safe": safe})
        document, out = case.published(policy, f"{safe}.csv")
        notes = sorted(row["note"] for row in read(out))
        if safe:
            dangerous = [note for note in notes if note[0] in "=@"]
            assert dangerous == []
            assert {note.lstrip("'") for note in notes} == {"=1+1", "-5", "@x", "+3"}
            assert set(case.expect["option_on"]["numbers_untouched"]) <= set(notes)
        else:
            assert notes == sorted(row["note"] for row in read(case.input))
            assert any("note" in (warning["column"] or "") for warning in document["warnings"])


# --- numeric sensitive values ----------------------------------------------------------------------------


def numeric(case, model):
    (name,) = case.config["sensitive"]
    return case.audit([model], types={name: {"type": "integer"}})[1][0]


@case("78-ke-needs-different-values")
def different_values_are_counted(case):
    for name, expected in case.expect["satisfied"].items():
        k, e = (int(part.split("=")[1]) for part in name.split(","))
        entry = numeric(case, ind.KeAnonymity("wage", k, e))
        assert entry["satisfied"] is expected["table"]
        if "A" in expected:
            assert entry["violating_classes"] == sum(not expected[name] for name in "AB")
    per_class = case.expect["per_class"].values()
    assert entry["achieved"]["k"] == min(item["different_values"] for item in per_class)
    assert exact(entry["achieved"]["e"]) == min(item["range"] for item in per_class)


@case("79-eps-m-is-per-value")
def neighbours_are_counted_around_every_value(case):
    for name, expected in case.expect["satisfied"].items():
        m = int(name.removeprefix("m="))
        entry = numeric(case, ind.EpsMAnonymity("wage", case.config["eps"], m, case.config["kind_of_eps"]))
        assert entry["satisfied"] is expected
        assert exact(entry["achieved"]["risk"]) == exact(case.expect["largest_share"])


# --- labels ----------------------------------------------------------------------------------------------


@case("59-value-on-the-boundary")
def labels_hold_their_values(case):
    hierarchy = {"kind": "intervals", "widths": [10], "origin": 0}
    policy = case.policy(
        k1,
        hierarchies={"age": hierarchy},
        types={"age": {"type": "integer", "min_level": 1, "max_level": 1}},
        recoding={"algorithm": "optimal"},
    )
    document, out = case.published(policy)
    labels = [row["age"].replace(" ", "") for row in read(out)]
    assert {label: labels.count(label) for label in set(labels)} == case.expect["class_sizes"]
    assert document["models"][0]["achieved"]["k"] == case.expect["k"]
    code, _, _ = case.run("verify", case.input, out, "--policy", case.place / "policy.toml", "--json")
    assert code == 0


@case("61-negative-bounds-in-labels")
def negative_bounds_are_read_back(case):
    policy = case.policy(
        k2,
        hierarchies={"delta": {"kind": "range", "bounds": "members"}},
        types={"delta": {"type": "integer"}},
    )
    document, out = case.published(policy)
    assert document["classes"] == case.expect["classes"]
    labels = {row["delta"] for row in read(out)}
    assert labels == {f"[{lo}, {hi}]" for lo, hi in case.expect["label_bounds_readable"]}
    code, answer, _ = case.run("verify", case.input, out, "--policy", case.place / "policy.toml", "--json")
    assert code == 0
    assert answer["coverage"]["status"] == "proven"


@case("63-value-outside-all-intervals")
def value_outside_all_intervals(case):
    breaks = [sorted({bound for pair in case.config["intervals"]["age"] for bound in pair})]
    given = {"hierarchies": {"age": {"kind": "intervals", "breaks": breaks}}}
    given["types"] = {"age": {"type": "integer", "min_level": 1, "max_level": 1}}
    given["recoding"] = {"algorithm": "optimal"}
    error = case.refused(case.policy(k1, **given), *case.expect["message_names"])
    assert error["kind"] in ("data", "hierarchy")
    breaks = [[18, 25, 60]]
    given["hierarchies"] = {"age": {"kind": "intervals", "breaks": breaks, "top": 60}}
    _, out = case.published(case.policy(k1, **given))
    labels = [row["age"] for row in read(out)]
    assert sorted(labels.count(label) for label in set(labels)) == [1, 1, 2]
