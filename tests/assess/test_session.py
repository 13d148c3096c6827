"""A session looks at a table many times: what it says is what publishing the table finds, and it reads it once."""

import random

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.errors import Cancelled, PolicyError
from indistinct.formats import registry

AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}
ZIP = {"role": "qi", "hierarchy": {"kind": "masking"}}
WARD = {"role": "qi", "hierarchy": {"kind": "suppress"}}
ILL = {"role": "sensitive"}


def table(rows=60, seed=1):
    draw = random.Random(seed)  # noqa: S311  # it invents people
    return pa.table(
        {
            "who": [f"p{draw.randrange(rows * 2 // 3)}" for _ in range(rows)],
            "age": [str(draw.randrange(20, 60)) for _ in range(rows)],
            "zip": [f"10{draw.randrange(100):02d}" for _ in range(rows)],
            "ward": [draw.choice(["A", "B", "C", None]) for _ in range(rows)],
            "ill": [draw.choice(["flu", "ulcer", "cough", "burn"]) for _ in range(rows)],
            "note": ["same"] * rows,
        }
    )


def policy(k=3, models=(), who="identifying", ward=WARD, **sections):
    attributes = {"age": AGE, "zip": ZIP, "ward": ward, "ill": ILL, "note": {"role": "insensitive"}}
    if who:
        attributes["who"] = {"role": who}
    return ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(k), *models], **sections)


POLICIES = [
    policy(2),
    policy(5),
    policy(3, [ind.DistinctL("ill", 2)]),
    policy(3, [ind.TCloseness("ill", "0.4", distance="equal")]),
    policy(3, ward={"role": "insensitive"}),
    policy(3, ward={"role": "sensitive"}),
    policy(4, suppression={"limit": "0.2"}),
    policy(3, suppression={"limit": "0.3", "rows": "exempt"}),
    policy(3, who=None, person={"key": "who"}),
    policy(3, recoding={"algorithm": "optimal"}),
    policy(2, [ind.DistinctL("ill", 2)], recoding={"algorithm": "anatomy"}),
]


@pytest.fixture(scope="module")
def session():
    return ind.Session(table())


@pytest.mark.parametrize("asked", POLICIES, ids=range(len(POLICIES)))
def test_a_look_says_what_publishing_finds(session, asked):
    seen, release = session.look(asked).document, ind.anonymize(table(), asked)
    found = release.document
    assert seen["verified"] is False
    same = ("satisfied", "rows", "persons", "unit", "classes", "suppressed_rows", "left_out_rows", "models", "levels")
    assert {name: seen[name] for name in same} == {name: found[name] for name in same}
    assert seen["loss"] == {name: found["loss"][name] for name in seen["loss"]}
    assert {own["column"]: own["lm"] for own in seen["columns"]} == found["loss"]["lm_by_attribute"]


@pytest.mark.parametrize("asked", [POLICIES[0], POLICIES[6], POLICIES[4]], ids=["k", "left out", "harmless"])
def test_groups_and_columns_are_those_of_the_published_rows(session, asked):
    """Counted again by hand, from the rows as they would be published."""
    seen, published = session.look(asked).document, ind.anonymize(table(), asked).table.to_pylist()
    quasi = [own["column"] for own in seen["columns"]]
    groups = {}
    for row in published:
        key = tuple(row[name] for name in quasi)
        groups[key] = groups.get(key, 0) + 1
    assert (seen["classes"], seen["smallest_class"], seen["largest_class"]) == (
        len(groups),
        min(groups.values()),
        max(groups.values()),
    )
    assert sum(band["rows"] for band in seen["sizes"]) == len(published)
    originals = {name: set(table()[name].to_pylist()) for name in quasi}
    for own in seen["columns"]:
        texts = [row[own["column"]] for row in published]
        exact = sum(text in originals[own["column"]] for text in texts)
        hidden = sum(text == "*" for text in texts)
        assert (own["exact"], own["hidden"], own["coarser"]) == (exact, hidden, len(texts) - exact - hidden)
        assert own["left_out"] == 60 - len(published)
    for own in seen["worst"]:
        assert groups[tuple(own["class"][name] for name in quasi)] == own["size"]


@pytest.mark.slow
def test_the_order_of_looks_changes_nothing(session):
    again = [ind.Session(table()).look(asked).document for asked in POLICIES[:5]]
    assert [session.look(asked).document for asked in reversed(POLICIES[:5])] == again[::-1]


def test_the_table_is_read_once(tmp_path, monkeypatch):
    file = tmp_path / "people.csv"
    names = ["age", "zip", "ward", "ill"]
    rows = [",".join(row[name] or "" for name in names) for row in table().to_pylist()]
    file.write_text("\n".join([",".join(names), *rows]) + "\n")
    opened = []
    own = registry._open_delimited

    def watched(path, options):
        source = own(path, options)
        read = source.read

        def reading(wanted):
            opened.append(wanted)
            return read(wanted)

        source.read = reading
        return source

    csv = registry.replace(registry.CSV, open=watched)
    monkeypatch.setattr(registry, "BY_SUFFIX", {**registry.BY_SUFFIX, "csv": csv})
    session = ind.Session(file)
    base = {"age": AGE, "zip": ZIP, "ward": WARD, "ill": ILL}
    for attributes in (base, {**base, "ward": {"role": "insensitive"}}, {**base, "zip": {"role": "identifying"}},
                       {**base, "ill": {"role": "qi", "hierarchy": {"kind": "suppress"}}},
                       {**base, "ward": {**WARD, "missing_values": ["A"]}}):  # fmt: skip
        session.look(ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(3)]))
    assert opened == [tuple(names)]
    file.write_text("\n".join([",".join(names), *rows[:30]]) + "\n")
    assert session.look(ind.Policy(attributes=base, privacy=[ind.KAnonymity(3)])).document["rows"] == 30
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_a_target_out_of_reach_is_a_picture_with_the_reason(session):
    picture = session.look(policy(61))
    with pytest.raises(ind.InfeasibleError) as met:
        ind.anonymize(table(), policy(61))
    assert not picture.satisfied
    assert not picture.document["feasible"]
    assert (picture.document["reason"], picture.document["nearest"]) == (met.value.reason, met.value.nearest)
    (entry,) = picture.models
    assert entry["achieved"] == {"k": 60}  # all rows are one class
    assert "no release (not verified)" in repr(picture)


def test_one_model_alone_may_be_out_of_reach(session):
    """Four diseases cannot be five; that everybody is in one group of 60 rows holds."""
    found = session.look(policy(3, [ind.DistinctL("ill", 5)])).document
    assert [entry["satisfied"] for entry in found["models"]] == [True, False]
    assert found["models"][1]["achieved"] == {"l": 4}


def test_a_look_is_cancelled_by_what_progress_raises(session):
    def cancel(_phase, _done, _total):
        raise Cancelled("no more")

    with pytest.raises(Cancelled):
        session.look(policy(7), progress=cancel)
    assert session.look(policy(7)).satisfied


def test_what_cannot_be_published_is_refused_as_publishing_does(session):
    with pytest.raises(PolicyError, match="no privacy model"):
        session.look(ind.Policy(attributes={"age": AGE}))
    with pytest.raises(ind.SchemaError, match="who"):
        session.look(policy(3, who=None))
    with pytest.raises(PolicyError, match="anatomy"):  # after a look that counted the same columns
        session.look(policy(2, recoding={"algorithm": "anatomy"}))


def test_what_a_picture_says_in_a_few_lines(session):
    text = repr(session.look(policy(2)))
    assert text.startswith("holds (not verified: nothing was written)")
    assert "age:" in text
    assert "<pre>" in session.look(policy(2))._repr_html_()
