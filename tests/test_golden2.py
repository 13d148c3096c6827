"""Exact expected values of what was added to the definitions: by the public functions and by the slow twins."""

import json
from collections import Counter
from fractions import Fraction
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
import naive
import naive_persons
import naive_risk
from golden_check import check_in
from indistinct.hierarchies.labels import Reader
from indistinct.models.estimators import estimate, least_suppressed, size_counts
from text_tables import as_table

GOLDEN = Path(__file__).parent / "golden2"
CHECKS = {}
check = check_in(CHECKS)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden(path):
    golden = json.loads(path.read_text(encoding="utf-8"))
    target = golden["target"]
    assert target in CHECKS, f"no check for {target}: write one"
    CHECKS[target](golden["input"], golden["parameters"], golden["expected"])


def fractions(entries):
    return {value: Fraction(number["fraction"]) for value, number in entries.items()}


@check("persons.shares")
def shares_of_persons(given, parameters, expected):
    rows = [dict(zip(given["columns"], row, strict=True)) for row in given["rows"]]
    quasi, person, (sensitive,) = given["quasi_identifiers"], given["person"], given["sensitive"]
    found = naive.classes(rows, quasi)
    whole = [("whole", rows, expected["whole"])]
    for name, members, wanted in [*((e["class"], found[(e["class"],)], e) for e in expected["classes"]), *whole]:
        assert (len(members), naive.size(members, person)) == (wanted["rows"], wanted["persons"]), name
        assert naive_persons.shares(members, sensitive, person) == fractions(wanted["person_shares"]), name
        total = sum(naive.counts(members, sensitive).values())
        by_rows = {value: Fraction(count, total) for value, count in naive.counts(members, sensitive).items()}
        assert by_rows == fractions(wanted["row_shares"]), name
        if "persons_with" in wanted:
            assert naive_persons.having(members, sensitive, person) == fractions(wanted["persons_with"]), name

    def audit(members, *models):
        attributes = {name: {"role": "quasi_identifying"} for name in quasi} | {sensitive: {"role": "sensitive"}}
        policy = ind.Policy(attributes=attributes, privacy=list(models), person={"key": person})
        return ind.audit(as_table(members), policy).document

    for entry in expected["classes"]:
        members = found[(entry["class"],)]
        reported_of = audit(members, ind.KAnonymity(1))["person_shares"]
        if entry["rows"] == entry["persons"]:  # then persons say what rows say
            assert reported_of == []
            continue
        (reported,) = reported_of
        assert Fraction(reported["largest_share"]["fraction"]) == max(fractions(entry["person_shares"]).values())
        assert Fraction(reported["largest_with"]["fraction"]) == max(fractions(entry["persons_with"]).values())
    if "alpha" in expected:
        model = ind.AlphaK(sensitive, parameters["alpha"], 1, values=parameters["values"])
        alpha = expected["alpha"]
        by_class = alpha.get("persons_each_class", alpha.get("persons"))
        assert audit(rows, model)["satisfied"] is (alpha["rows"] and by_class)
        union = [{**row, quasi[0]: "both"} for row in rows]
        assert audit(union, model)["satisfied"] is alpha.get("persons_union", by_class)
    if "reached_t" in expected:
        (entry,) = audit(rows, ind.TCloseness(sensitive, 1, "equal"))["models"]
        assert Fraction(entry["achieved"]["t"]["fraction"]) == Fraction(expected["reached_t"]["fraction"])
        for wanted, members in zip(expected["distances"], found.values(), strict=True):
            twin = naive_persons.weights(members, sensitive, person), naive_persons.weights(rows, sensitive, person)
            assert naive.emd_equal(*twin) == Fraction(wanted["persons"]["fraction"])
    if "entropy_l" in expected:
        (entry,) = audit(rows, ind.EntropyL(sensitive, 2))["models"]
        worst = min(expected["entropy_l"][unit]["decimal"] for unit in ("rows", "persons"))
        assert isclose(entry["achieved"]["l"]["decimal"], worst, rel_tol=1e-12)
        weights = naive_persons.weights(rows, sensitive, person)
        assert isclose(naive.effective_l(weights), expected["entropy_l"]["persons"]["decimal"], rel_tol=1e-12)
    for name, wanted in expected.get("recursive_inf_c", {}).get("persons", {}).items():
        rank, of_rows = int(name[1:]), expected["recursive_inf_c"]["rows"][name]
        weights = naive_persons.weights(rows, sensitive, person)
        assert naive.recursive_infimum(weights, rank) == Fraction(wanted["fraction"])
        (entry,) = audit(rows, ind.RecursiveCL(sensitive, 1, rank))["models"]
        assert Fraction(entry["achieved"]["c"]["fraction"]) == max(
            Fraction(number["fraction"]) for number in (wanted, of_rows)
        )
    if "distinct_l" in expected:
        (entry,) = audit(rows, ind.DistinctL(sensitive, 2))["models"]
        assert entry["achieved"] == {"l": expected["distinct_l"]}
        assert naive_persons.matching(rows, sensitive, person) == expected["distinct_l"]
    if expected.get("union_is_weighted_mean"):
        parts = [(naive.size(m, person), naive_persons.shares(m, sensitive, person)) for m in found.values()]
        for value, share in naive_persons.shares(rows, sensitive, person).items():
            assert share == sum(n * own.get(value, 0) for n, own in parts) / sum(n for n, _ in parts)


@check("sets.cell")
def cell_of_a_set(given, parameters, expected):
    domain, members, tree = given["domain"], given["members"], given.get("tree")
    with TemporaryDirectory() as folder:
        spec = {"kind": "set", "most": parameters["most"]}
        if tree is None:
            spec["values"] = [value for value in domain if value is not None]
        else:
            spec["file"] = str(Path(folder) / "tree.csv")
            Path(spec["file"]).write_text("".join(";".join(row) + "\n" for row in tree), encoding="utf-8")
        attributes = {"v": {"role": "quasi_identifying", "hierarchy": spec}}
        policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(len(members))])
        release = ind.anonymize(pa.table({"v": members}), policy)
    assert release.table.column("v").to_pylist() == [expected["label"]] * len(members)
    for loss in ("lm", "gcp", "iloss"):
        assert release.loss[loss] == pytest.approx(float(Fraction(expected[loss]["fraction"])), abs=1e-15)
    covered = Reader(domain, rows=tree).find(expected["label"])
    assert [domain[place] for place in covered.tolist()] == expected["covered"]


@check("risk.dis_suda")
def dis_suda_of_a_table(given, parameters, expected):
    rows = [dict(zip(given["columns"], row, strict=True)) for row in given["rows"]]
    quasi, fraction = given["quasi_identifiers"], Fraction(parameters["sampling_fraction"])
    answer = ind.risk(
        as_table(rows), qi=quasi, suda=parameters["size"], sampling_fraction=fraction, stars="value", rows=True
    )
    suda = answer.measures["suda2"]
    assert Fraction(suda["dis"]["fraction"]) == Fraction(expected["dis"]["fraction"])
    assert answer.rows["suda_score"].to_pylist() == expected["score"]
    assert answer.rows["dis_suda"].to_pylist() == pytest.approx([one["decimal"] for one in expected["dis_suda"]])
    sizes = Counter(tuple(row[name] for name in quasi) for row in rows)
    of_row = [sizes[tuple(row[name] for name in quasi)] for row in rows]
    assert (of_row.count(1), of_row.count(2)) == (expected["uniques"], expected["rows_in_pairs"])
    assert naive_risk.dis_suda(expected["score"], of_row, len(quasi), fraction) == pytest.approx(
        [one["decimal"] for one in expected["dis_suda"]]
    )
    if "score_ihsn" in expected:  # the older scores, with which the guide was printed
        older = [float(Fraction(one["fraction"])) for one in expected["score_ihsn"]]
        wanted = [one["decimal"] for one in expected["dis_suda_ihsn"]]
        assert naive_risk.dis_suda(older, of_row, len(quasi), fraction) == pytest.approx(wanted)


@check("population_uniqueness.least_suppressed")
def fewest_unique_rows(given, parameters, expected):
    sizes, threshold = np.array(given["class_sizes"]), Fraction(parameters["threshold"])
    name, population = parameters["estimator"], parameters["population_size"]
    gone = expected["least_suppressed"]
    assert least_suppressed(name, *size_counts(sizes), population, threshold) == (gone, True)
    for number, wanted in enumerate(expected["shares"]):
        left = np.sort(sizes)[number:]
        assert estimate(name, *size_counts(left), population).share == pytest.approx(wanted["decimal"])


@check("wildcards.sizes")
def sizes_with_stars(given, parameters, expected):  # noqa: ARG001  # there are none
    rows = [tuple(row) for row in given["rows"]]
    naive_sizes = naive_risk.star_sizes(rows)
    assert naive_sizes == {key: expected[key] for key in ("wildcard", "sure", "value")}
    partly = [row for row in rows if set(row) != {"*"}]  # rows starred as a whole stay out
    table = as_table([dict(zip(given["columns"], row, strict=True)) for row in rows])
    for reading in ("wildcard", "value"):
        answer = ind.risk(table, qi=given["quasi_identifiers"], stars=reading, rows=True)
        found = [size for size, row in zip(answer.rows["class_size"].to_pylist(), rows, strict=True) if row in partly]
        assert found == naive_risk.star_sizes(partly)[reading]
