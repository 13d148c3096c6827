"""Classes published as sets of values: labels, losses, verification, and the search, against slow twins."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from math import log2
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import indistinct as ind
from indistinct.assess.run_store import fingerprint
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.labels import Reader, parse
from indistinct.reports.dictionary import dictionary
from indistinct.tables.count import frequencies_of

CLUSTERINGS = ("mondrian", "hilbert", "mdav", "k_member", "k_similar", "merge", "t_closeness_first")
LEVELS = ("optimal", "datafly", "samarati", "incognito", "ola", "flash", "generalize_step", "mu_argus")
TREE = [("a", "P", "*"), ("b", "P", "*"), ("c", "P", "*"), ("d", "Q", "*"), ("e", "Q", "*"), ("f", "Q", "*")]


# --- the slow twin: dicts and sets --------------------------------------------------------------------------


def naive_cell(members, domain, most=None, tree=None):
    """Label and LM cost of a cell whose class holds ``members`` (None: missing) of a ``domain`` in its order."""
    held, m = set(members), len(domain)
    lost = lambda n: Fraction(n - 1, m - 1) if m > 1 else Fraction(0)  # noqa: E731
    if len(held) == 1:
        return next(iter(held)), Fraction(0)
    if None in held or len(held) == m:
        return "*", Fraction(1)
    if most is None or len(held) <= most:
        written = ['"' + v.replace('"', '""') + '"' if needs_quotes(v) else v for v in domain if v in held]
        return "{" + ", ".join(written) + "}", lost(len(held))
    for level in range(1, len(tree[0]) if tree else 0):
        nodes = {row[level] for row in tree if row[0] in held}
        if len(nodes) == 1:
            (node,) = nodes
            leaves = {row[0] for row in tree if row[level] == node}
            return node, Fraction(1) if len(leaves) == len(tree) else lost(len(leaves))
    return "*", Fraction(1)


def needs_quotes(value):
    return not value or value != value.strip() or any(mark in value for mark in ',{}"')


def policy_of(columns, privacy, sensitive=(), **document):
    attributes = {name: {"role": "quasi_identifying", **more} for name, more in columns.items()}
    attributes |= {name: {"role": "sensitive"} for name in sensitive}
    return ind.Policy(attributes=attributes, privacy=privacy, **document)


# --- cells ----------------------------------------------------------------------------------------------------


VALUES = st.text(st.sampled_from('ab ,{}"[()'), max_size=5).filter(
    lambda text: not (text.strip().startswith("{") and text.strip().endswith("}"))
)


@pytest.mark.slow
@given(st.lists(VALUES, min_size=3, max_size=7, unique=True), st.data())
def test_what_is_written_is_read(values, data):
    chosen = data.draw(st.sets(st.sampled_from(range(len(values))), min_size=2, max_size=len(values) - 1))
    hierarchy = build_hierarchy("v", values, spec={"kind": "set"})
    label = hierarchy.label_of(sorted(chosen))
    assert label == naive_cell([hierarchy.texts[code] for code in chosen], hierarchy.texts)[0]
    assert Reader(hierarchy.texts).find(label).tolist() == sorted(chosen)


@pytest.mark.parametrize(
    ("label", "type", "covered"),
    [
        ("{[0, 10), 33}", "integer", ["5", "07", "33"]),  # a comma inside a bracket does not separate
        ("{5, 7}", "integer", ["5", "07"]),
        ('{"5", 33}', "integer", ["5", "33"]),
        ('{ "5" ,33 }', "integer", ["5", "33"]),
        ('{"5, 33}', "integer", ["33"]),  # not closed: read as it stands
        ("{5", "text", []),
        ("{5,12}", "text", ["5", "12"]),
    ],
)
def test_sets_of_other_origin_are_read(label, type, covered):
    texts = ["5", "07", "12", "33"]
    assert [texts[place] for place in Reader(texts, type).find(label).tolist()] == covered


def test_a_value_of_that_text_is_the_value():
    assert Reader(["{a, b}", "a", "b"]).find("{a, b}").tolist()[0] == 0
    assert parse('{"a ""b"""}').quoted == {'a "b"'}


def test_numbers_and_dates_keep_their_order():
    ages = build_hierarchy("age", ["9", "10", "101"], spec={"kind": "set"}, type="integer")
    assert ages.label_of([0, 1]) == "{9, 10}"
    dose = build_hierarchy("dose", ["1,5", "10", "2"], spec={"kind": "set"}, type="decimal", decimal=",")
    assert dose.label_of([0, 2]) == '{"1,5", 10}'
    assert Reader(dose.texts, "decimal", decimal=",").find('{"1,5", 10}').tolist() == [0, 2]
    days = ["2.1.2024", "1.12.2023", "3.1.2024"]
    when = build_hierarchy("day", days, spec={"kind": "set"}, type="date", format="%d.%m.%Y")
    assert when.label_of([0, 1]) == "{1.12.2023, 2.1.2024}"
    grade = build_hierarchy(
        "grade", ["low", "high"], spec={"kind": "set"}, type="ordinal", order=["low", "mid", "high"]
    )
    assert (grade.label_of([0, 1]), grade.cost_of([0, 1])) == ("{low, high}", Fraction(1, 2))


# --- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"kind": "set", "pad": 3}, "pad"),
        ({"kind": "set", "most": 0}, "most"),
        ({"kind": "set", "file": "a.csv", "values": ["a"]}, "values"),
        ({"kind": "set", "values": ["a", "a"]}, "differ"),
        ({"kind": "set", "least": 3}, "least"),
    ],
)
def test_settings_that_cannot_be(spec, word):
    with pytest.raises(ind.PolicyError, match=word):
        policy_of({"v": {"hierarchy": spec}}, [ind.KAnonymity(2)])


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"domain": [1, 9], "type": "integer"}, "values"),
        ({"min_level": 1}, "most"),
        ({"max_level": 1}, "most"),
        ({"separator": ";"}, "separator"),
    ],
)
def test_settings_that_say_nothing_about_sets(settings, word):
    with pytest.raises(ind.PolicyError, match=word):
        policy_of({"v": {"hierarchy": {"kind": "set"}, **settings}}, [ind.KAnonymity(2)])


@pytest.mark.parametrize(
    ("values", "spec", "word"),
    [
        (["{a}", "b", "c"], {}, "reads as a set"),
        (["*", "b", "c"], {}, "label of everything"),
        (["x", "b", "c"], {"values": ["b", "c"]}, "declared values"),
        ([f"v{number}" for number in range(1100)], {}, "1024"),
    ],
)
def test_columns_that_cannot_be(values, spec, word):
    policy = policy_of({"v": {"hierarchy": {"kind": "set", **spec}}}, [ind.KAnonymity(2)])
    with pytest.raises(ind.IndistinctError, match=word):
        ind.anonymize(pa.table({"v": values}), policy)


def test_a_value_that_is_the_token_is_refused():
    policy = policy_of({"v": {"hierarchy": {"kind": "set"}}}, [ind.KAnonymity(2)], output={"suppressed_token": "gone"})
    with pytest.raises(ind.IndistinctError, match="gone"):
        ind.anonymize(pa.table({"v": ["gone", "b", "c", "d"]}), policy)


# --- releases -------------------------------------------------------------------------------------------------


def random_table(seed, rows, *, missing):
    random = Random(seed)  # noqa: S311  # the same tables every time
    u = [random.choice("aaabbcdef") for _ in range(rows)]
    v = [random.choice(["x, y", "x", 'q"', "z", "w", "{t"]) for _ in range(rows)]
    n = [str(random.randint(0, 20)) for _ in range(rows)]
    ill = [random.choice("pqqr") for _ in range(rows)]
    if missing:
        v = [None if random.random() < 0.1 else text for text in v]
    return pa.table({"u": u, "v": v, "n": n, "ill": ill})


SPECS = {
    "free": ({"kind": "set"}, {"kind": "set"}),
    "most": ({"kind": "set", "most": 2}, {"kind": "set", "most": 3}),
    "tree": ({"kind": "set", "most": 2, "file": "TREE"}, {"kind": "suppress"}),
    "one": ({"kind": "set", "most": 1, "file": "TREE"}, {"kind": "set", "most": 1}),
}
MODELS = {
    "k": [ind.KAnonymity(3)],
    "l": [ind.KAnonymity(3), ind.DistinctL("ill", 2)],
    "t": [ind.KAnonymity(3), ind.TCloseness("ill", "0.35", distance="equal")],
}


def policy_for(name, models, tmp_path, **document):
    (tmp_path / "tree.csv").write_text("\n".join(";".join(row) for row in TREE) + "\n", encoding="utf-8")
    specs = [dict(spec) for spec in SPECS[name]]
    for spec in specs:
        if "file" in spec:
            spec["file"] = str(tmp_path / "tree.csv")
    columns = {
        "u": {"hierarchy": specs[0]},
        "v": {"hierarchy": specs[1], "weight": 2},
        "n": {"type": "integer", "hierarchy": {"kind": "range"}},
    }
    if models == "k":
        return policy_of(columns, MODELS[models], table={"unlisted": "insensitive"}, **document)
    return policy_of(columns, MODELS[models], ["ill"], **document)


def naive_release(table, release, name):
    """Check every class of a release against its members; return LM by the definition."""
    frequencies, assignment = release.decision.frequencies, release.decision.assignment
    members = defaultdict(list)
    for cell, count, own in zip(assignment.cell, assignment.count, assignment.class_of, strict=True):
        codes = frequencies.codes[cell]
        row = [hierarchy.texts[code] for hierarchy, code in zip(frequencies.quasi, codes, strict=False)]
        members[int(own)] += [row] * int(count)
    published, lost = Counter(), Fraction(0)
    domains = [sorted(set(table.column("u").to_pylist())), None]
    held = table.column("v").to_pylist()
    domains[1] = [*sorted({text for text in held if text is not None}), *([None] if None in held else [])]
    if "file" in SPECS[name][0]:
        domains[0] = [row[0] for row in TREE]
    numbers = [int(text) for text in table.column("n").to_pylist()]
    for rows in members.values():
        labels, cost = [], Fraction(0)
        for at, weight in ((0, 1), (1, 2)):
            spec = SPECS[name][at]
            most = 1 if spec["kind"] == "suppress" else spec.get("most")
            tree = TREE if "file" in spec else None
            label, own = naive_cell([row[at] for row in rows], domains[at], most, tree)
            labels.append(label)
            cost += weight * own
        ages = [int(row[2]) for row in rows]
        labels.append(str(min(ages)) if min(ages) == max(ages) else f"[{min(ages)}, {max(ages)}]")
        cost += Fraction(max(ages) - min(ages), max(numbers) - min(numbers))
        published[tuple(labels)] += len(rows)
        lost += cost / 4 * len(rows)
    return published, lost / table.num_rows


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("name", SPECS)
def test_local_against_the_twin(name, models, missing, tmp_path):
    for seed in range(3):
        table = random_table(seed, 60, missing=missing)
        release = ind.anonymize(table, policy_for(name, models, tmp_path))
        published, lm = naive_release(table, release, name)
        rows = [tuple(row[column] for column in "uvn") for row in release.table.to_pylist()]
        assert Counter(rows) == published
        assert release.loss["lm"] == pytest.approx(float(lm), abs=1e-12)
        assert min(published.values()) >= 3
        if models == "l":
            values = defaultdict(set)
            for row in release.table.to_pylist():
                values[row["u"], row["v"], row["n"]].add(row["ill"])
            assert min(map(len, values.values())) >= 2
        document = ind.verify(table, release.table, policy_for(name, models, tmp_path)).document
        assert document["satisfied"]
        assert document["coverage"]["status"] == "proven"


@pytest.mark.parametrize("algorithm", CLUSTERINGS)
def test_clusterings_publish_sets(algorithm, tmp_path):
    table = random_table(5, 60, missing=True)
    models = "t" if algorithm == "t_closeness_first" else "k"
    policy = policy_for("most", models, tmp_path, recoding={"algorithm": algorithm})
    release = ind.anonymize(table, policy)
    published, lm = naive_release(table, release, "most")
    assert Counter(tuple(row[c] for c in "uvn") for row in release.table.to_pylist()) == published
    assert release.loss["lm"] == pytest.approx(float(lm), abs=1e-12)
    assert ind.verify(table, release.table, policy).document["coverage"]["status"] == "proven"
    assert any(label.startswith("{") for labels in published for label in labels if label)


@pytest.mark.parametrize("algorithm", LEVELS)
def test_algorithms_of_levels_know_value_tree_and_root(algorithm, tmp_path):
    table = random_table(6, 80, missing=False)
    policy = policy_for("tree", "k", tmp_path, recoding={"algorithm": algorithm}, suppression={"limit": 0.1})
    release = ind.anonymize(table, policy)
    known = {value for row in TREE for value in row}
    assert set(release.table.column("u").to_pylist()) <= known
    assert ind.verify(table, release.table, policy).document["satisfied"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta"])
def test_every_format_gives_the_labels_back(suffix, tmp_path):
    table = random_table(7, 60, missing=True)
    policy = policy_for("free", "k", tmp_path)
    path = tmp_path / f"out.{suffix}"
    ind.anonymize(table, policy).write(path)
    document = ind.verify(table, path, policy).document
    assert (document["satisfied"], document["coverage"]["status"]) == (True, "proven")


def test_a_set_that_lacks_a_value_is_refuted():
    table = pa.table({"u": ["a", "b", "c", "d", "d", "d"]})
    policy = policy_of({"u": {"hierarchy": {"kind": "set"}}}, [ind.KAnonymity(3)])
    release = ind.anonymize(table, policy)
    assert sorted(release.table.column("u").to_pylist()) == ["d"] * 3 + ["{a, b, c}"] * 3
    wrong = pa.table({"u": ["d"] * 3 + ["{a, b}"] * 3})
    assert ind.verify(table, wrong, policy).document["coverage"]["status"] == "refuted"


@pytest.mark.slow
def test_sets_are_smaller_than_any_tree():
    table = random_table(8, 200, missing=False)
    lm = {}
    for kind in ("set", "suppress"):
        columns = {name: {"hierarchy": {"kind": kind}} for name in "uv"}
        policy = policy_of(columns, [ind.KAnonymity(4)], table={"unlisted": "insensitive", "unlisted_confirmed": True})
        lm[kind] = ind.anonymize(table, policy).loss["lm"]
    assert lm["set"] < lm["suppress"]


@pytest.mark.parametrize("loss", ["lm", "gcp", "iloss", "precision"])
def test_every_loss_can_be_the_aim(loss, tmp_path):
    table = random_table(9, 60, missing=True)
    release = ind.anonymize(table, policy_for("most", "k", tmp_path, recoding={"loss": loss}))
    assert naive_release(table, release, "most")[0]
    assert 0 <= release.loss[loss] <= 1


def test_what_is_covered_counts_in_the_other_losses():
    table = pa.table({"u": ["a", "a", "c", "d", "d", "d", "d"], "ill": list("pqpqpqp")})
    policy = policy_of({"u": {"hierarchy": {"kind": "set", "values": list("abcde")}}}, [ind.KAnonymity(3)], ["ill"])
    release = ind.anonymize(table, policy)
    assert Counter(release.table.column("u").to_pylist()) == {"{a, c}": 3, "d": 4}
    assert release.loss["ambiguity"] == pytest.approx((3 * 2 + 4 * 1) / 7)
    # {a, c} holds 3 of the 7 rows: 3 log2 3 - (2 log2 2 + 1 log2 1), of the 7 log2 7 - 2 log2 2 - 4 log2 4 of the root
    assert release.loss["nonuniform_entropy"] == pytest.approx((3 * log2(3) - 2) / (7 * log2(7) - 2 - 8))


def test_a_population_counts_what_is_in_the_set(tmp_path):
    table = pa.table({"u": ["a", "a", "c", "e", "e", "e", "e"]})
    # b lies between a and c, but not in {a, c}: it must not count
    population = pa.table({"u": ["a", "a", "c", *"eeee", *"bbbbbbb"]})
    csv.write_csv(population, tmp_path / "all.csv")
    policy = policy_of(
        {"u": {"hierarchy": {"kind": "set", "values": list("abcdef")}}},
        [ind.KAnonymity(3), ind.KMap(3, population=str(tmp_path / "all.csv"))],
    )
    release = ind.anonymize(table, policy)
    entry = next(model for model in release.document["models"] if model["model"] == "k_map")
    assert Counter(release.table.column("u").to_pylist()) == {"{a, c}": 3, "e": 4}
    assert entry["achieved"]["k"] == 3


def test_audit_reads_a_published_table(tmp_path):
    table = random_table(11, 60, missing=True)
    policy = policy_for("most", "l", tmp_path)
    release = ind.anonymize(table, policy)
    document = ind.audit(release.table, policy).document
    assert document["satisfied"]


def test_reports_say_what_a_set_tells(tmp_path):
    table = random_table(12, 60, missing=False)
    release = ind.anonymize(table, policy_for("free", "k", tmp_path))
    for language, words in (("en", "each value listed occurs"), ("zh-CN", "所列的每个值都在该组中出现")):
        page = tmp_path / f"report-{language}.md"
        ind.report(release, page, language=language)
        assert words in page.read_text(encoding="utf-8")
    text = dictionary(release, tmp_path / "dictionary.md").read_text(encoding="utf-8")
    assert "lists the values that occur in the group" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_losses_read_off_the_file_are_those_of_the_release(name, tmp_path):
    table = random_table(13, 60, missing=True)
    policy = policy_for(name, "k", tmp_path)
    release = ind.anonymize(table, policy)
    found = ind.utility(table, release.table, policy).document["losses"]
    for loss in ("lm", "gcp", "iloss"):
        assert found[loss] == pytest.approx(release.loss[loss], abs=1e-12)


def test_numbers_in_sets_cost_what_is_listed():
    table = pa.table({"n": ["1", "1", "100", "7", "7", "7"]})
    policy = policy_of({"n": {"type": "integer", "hierarchy": {"kind": "set"}}}, [ind.KAnonymity(3)])
    release = ind.anonymize(table, policy)
    assert Counter(release.table.column("n").to_pylist()) == {"{1, 100}": 3, "7": 3}
    # one of two other values is listed beside the right one, for half of the rows
    assert release.loss["lm"] == pytest.approx(0.25)
    assert ind.utility(table, release.table, policy).document["losses"]["lm"] == pytest.approx(0.25)


def test_the_loss_of_a_declared_domain_is_public(tmp_path):
    table = pa.table({"u": ["a", "a", "a", "d", "d", "d", "e"]})
    public = {}
    listed = {"hierarchy": {"kind": "set", "values": list("abcde")}}
    columns = {
        "observed": {"hierarchy": {"kind": "set"}},
        "private": listed,
        "declared": {**listed, "public_domain": True},
    }
    for name, column in columns.items():
        policy = policy_of(
            {"u": column},
            [ind.KAnonymity(3)],
            suppression={"limit": 0.2},
            recoding={"algorithm": "optimal"},
        )
        release = ind.anonymize(table, policy)
        assert release.document["suppressed_rows"] == 1
        release.write(tmp_path / f"{name}.csv")
        public[name] = json.loads((tmp_path / f"{name}.csv.manifest.json").read_text())
    assert "lm" not in public["observed"]["loss"]
    assert "lm" not in public["private"]["loss"]
    assert '"e"' not in json.dumps(public["private"])
    assert public["declared"]["loss"]["lm"] == pytest.approx(1 / 7)


def test_runs_with_other_sets_are_other_runs():
    hierarchies = [build_hierarchy("u", list("abcdef"), spec={"kind": "set", "most": most}) for most in (2, 3, 3)]
    codes, rows = np.arange(6, dtype=np.int32).reshape(-1, 1), np.ones(6, np.int64)
    prints = [fingerprint(frequencies_of((hierarchy,), (), codes, rows)) for hierarchy in hierarchies]
    assert prints[0] != prints[1] == prints[2]
