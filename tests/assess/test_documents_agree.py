"""One release, many documents: rows, classes, the smallest class, suppressed rows and units are the same in all."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.algorithms import named
from indistinct.tables.classes import merged, recoding_of

HOSPITAL = Path(__file__).parents[2] / "examples" / "hospital"
TREE = [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"], ["b2", "b", "*"], ["b3", "b", "*"]]


def drawn(seed, rows=400):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "person": draw.integers(0, rows, rows).astype(str),
            "age": draw.integers(18, 80, rows),
            "unit": draw.choice([row[0] for row in TREE], rows, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "sex": draw.choice(["f", "m"], rows),
            "ill": draw.choice(["x", "y", "z"], rows, p=[0.8, 0.15, 0.05]),
        }
    )


def policy(folder, *, person=False, **settings):
    (folder / "unit.csv").write_text("\n".join(";".join(row) for row in TREE))
    attributes = {
        "person": {"role": "id"},
        "age": {
            "role": "qi",
            "type": "integer",
            "hierarchy": {"kind": "intervals", "widths": [10, 20, 80], "origin": 0},
        },
        "unit": {"role": "qi", "hierarchy": {"file": str(folder / "unit.csv")}},
        "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "ill": {"role": "sensitive"},
    }
    if person:
        settings["person"] = {"key": "person"}
        del attributes["person"]
    return ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(5), ind.DistinctL("ill", 2)], **settings)


SETTINGS = {
    "local": {},
    "persons": {"person": True},
    "mondrian": {"recoding": {"algorithm": "mondrian"}},
    "optimal, rows left out": {"recoding": {"algorithm": "optimal"}, "suppression": {"limit": 0.2}},
    "optimal, rows exempt": {"recoding": {"algorithm": "optimal"}, "suppression": {"limit": 0.2, "rows": "exempt"}},
    "optimal, rows tested": {"recoding": {"algorithm": "optimal"}, "suppression": {"limit": 0.2, "rows": "test"}},
    "means": {"recoding": {"algorithm": "mdav", "aggregate": "mean"}},
}


@pytest.fixture(params=[*SETTINGS, "hospital"])
def made(request, tmp_path):
    if request.param == "hospital":
        return HOSPITAL / "discharges.csv", ind.Policy.load(HOSPITAL / "policy.toml")
    table = tmp_path / "table.csv"
    from pyarrow.csv import write_csv

    write_csv(drawn(3), table)
    return table, policy(tmp_path, **SETTINGS[request.param])


def told(text, pattern):
    return [int(number) for number in re.search(pattern, text).groups()]


@pytest.mark.slow
def test_all_documents_of_a_release_say_the_same(made, tmp_path):
    table, own = made
    out, by_persons = tmp_path / "out.csv", own.person is not None
    release = ind.anonymize(table, own, output=out)
    ind.report(release, tmp_path / "internal.json")
    ind.report(release, tmp_path / "public.json", public=True)
    internal, public = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("internal", "public"))
    manifest = json.loads(Path(release.document["manifest"]).read_text())
    why = ind.explain(table, own).document
    audit, proof = ind.audit(out, own).document, ind.verify(table, out, own).document
    document = release.document

    rows, published, gone = document["rows"], document["published_rows"], document["suppressed_rows"]
    classes, unit = document["classes"], "persons" if by_persons else "rows"
    starred = published + gone - rows  # those that are published with the token everywhere
    assert {internal["rows"], public["rows"], manifest["rows"], why["rows"], proof["original_rows"]} == {rows}
    assert {internal["published_rows"], public["published_rows"], audit["rows"], proof["rows"]} == {published}
    assert {internal["suppressed_rows"], public["suppressed_rows"], why["suppressed_rows"]} == {gone}
    assert manifest.get("suppressed_rows", gone) == gone
    assert audit["suppressed_rows"] == (starred if own.suppression.rows == "exempt" else 0)
    assert {internal["classes"], public["classes"], audit["classes"], proof["classes"], why["classes"]} == {classes}
    assert manifest.get("classes", classes) == classes

    assert document["unit"] == internal["unit"] == proof["unit"] == unit
    assert public["unit"] == audit["unit"] == "rows"  # neither knows whose a row is
    assert public["smallest_class"] == audit["smallest_class"]
    assert sum(entry["classes"] for entry in internal["sizes"]) == classes
    assert sum(entry["classes"] for entry in public["sizes"]) == classes
    (k,) = {entry["achieved"]["k"] for entry in document["models"] if entry["model"] == "k_anonymity"}
    assert internal["smallest_class"] == k
    if not by_persons:
        assert public["smallest_class"] == k

    console = repr(release)
    assert told(console, r"^(\d+) of (\d+) rows published in (\d+) class") == [published, rows, classes]
    assert told(console, r"suppressed: (\d+) of (\d+) rows") == [gone, rows]
    assert told(repr(ind.audit(out, own)), r"^(\d+) rows in (\d+) class") == [published, classes]
    assert told(repr(ind.explain(table, own)), r"^(\d+) rows; .* with (\d+) class\w*, (\d+) row") == [
        rows,
        classes,
        gone,
    ]


@pytest.mark.slow
def test_every_page_names_one_size_of_the_smallest_group(made, tmp_path):
    table, own = made
    release = ind.anonymize(table, own)
    for public in (False, True):
        page = ind.report(release, tmp_path / f"{public}.md", public=public).read_text()
        sizes = re.findall(r"at least (\d+) (row|person)", page) + re.findall(
            r"look alike has (\d+) (row|person)", page
        )
        assert len(set(sizes)) == 1, sizes
        assert f"at most {100 / int(sizes[0][0]):.1f}".rstrip("0").rstrip(".") in page


@pytest.mark.slow
def test_classes_that_publish_alike_occur_here(tmp_path):
    # else the tests above would show nothing of them
    from indistinct.decision.decide import decide
    from indistinct.publish.ready import ready

    found = []
    for seed in range(12):
        own = policy(tmp_path, **SETTINGS["persons"])
        prepared = ready(drawn(seed), own).prepared
        frequencies = prepared.counted.frequencies
        before = named("local").decide(frequencies, own, lambda *_: None)
        after = decide(prepared)
        assert after.classes == merged(before, recoding_of(frequencies, before)).classes
        found.append(before.classes - after.classes)
    assert any(found), found


def test_lonely_rows_are_counted_in_one_unit():
    # p has both rows of the first group, so nobody else is like them: two rows are alone by persons, none by rows
    table = pa.table({"who": ["p", "p", "q", "r"], "zip": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "b"]})
    attributes = {"zip": {"role": "qi", "hierarchy": {"kind": "suppress"}}, "ill": {"role": "sensitive"}}
    own = ind.Policy(attributes=attributes, person={"key": "who"}, privacy=[ind.KAnonymity(2)])
    assert ind.risk(table, own).measures["sample_uniqueness"]["rows"] == 2
    said = [one["text"] for one in ind.explain(table, own).document["sentences"]]
    assert "2 of 4 rows are alone with their quasi-identifiers" in said
    assert 'without "zip" 0 rows would be alone instead of 2' in said
    by_rows = ind.Policy(attributes=attributes | {"who": {"role": "id"}}, privacy=[ind.KAnonymity(2)])
    assert ind.risk(table, by_rows).measures["sample_uniqueness"]["rows"] == 0
    said = [one["text"] for one in ind.explain(table, by_rows).document["sentences"]]
    assert "0 of 4 rows are alone with their quasi-identifiers" in said
