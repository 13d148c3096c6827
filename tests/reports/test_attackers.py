"""What reports say an attacker could still learn: risks counted by hand, attacks from real documents."""

import json

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.reports.attackers import OF_THE_FILE
from indistinct.reports.catalogue import LANGUAGES, catalogue
from indistinct.reports.public import public
from indistinct.reports.sections import sections
from indistinct.reports.summary import summary

POLICY = ind.Policy(
    attributes={
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10, 50]}},
        "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "ill": {"role": "sensitive"},
    },
    privacy=[ind.KAnonymity(2)],
    suppression={"limit": 0.2},
    recoding={"algorithm": "optimal"},
)
# five of Kiel in their twenties, four of Bonn in their forties who all have the same, and one who can only go
TABLE = pa.table(
    {
        "age": [20, 21, 22, 23, 24, 40, 41, 42, 43, 97],
        "town": ["Kiel"] * 5 + ["Bonn"] * 4 + ["Jena"],
        "ill": ["flu", "cold", "flu", "cold", "flu"] + ["gout"] * 4 + ["plague"],
    }
)


@pytest.fixture(scope="module")
def release():
    return ind.anonymize(TABLE, POLICY)


@pytest.fixture(scope="module")
def attacks(release):
    return ind.attack(release.table, POLICY).document


def learn(found, language="en"):
    (section,) = [one for one in sections(found, catalogue(language)) if one["id"] == "learn"]
    return section["blocks"]


def tables(found, language="en"):
    return {block[1]: block for block in learn(found, language) if block[0] == "table"}


def plain(rows):
    return [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row[1:]] for row in rows]


def test_the_internal_report_holds_the_risks_before_and_after(release):
    # before: ten rows, all unlike; after: classes of 5 and 4, so 1/4, 2/9, and 4 of 9 above 1/5
    _, _, head, rows = tables(summary(release))["Risk of being found, over the groups"]
    assert head == ["measure", "original", "published"]
    assert plain(rows) == [
        ["100.00 %", "25.00 %"],
        ["100.00 %", "22.22 %"],
        ["10 (100.00 %)", "4 (44.44 %)"],
        ["10 (100.00 %)", "2 (22.22 %)"],
        ["10 (100.00 %)", "0 (0 %)"],
    ]
    assert "above 20\N{NO-BREAK SPACE}%" in rows[2][0]


def test_the_risks_are_those_that_risk_measures_on_the_two_tables(release):
    measured = ind.risk(TABLE, POLICY, published=release.table).document
    own = summary(release)["risk"]
    for mine, theirs in ((own, measured), (own["published"], measured["published"])):
        assert mine["measures"] == [
            {key: value for key, value in entry.items() if key != "sentence"} for entry in theirs["measures"]
        ]


def test_the_public_report_holds_what_can_be_counted_in_the_file(release):
    _, _, head, rows = tables(public(release))["Risk of being found, over the groups"]
    assert head == ["measure", "value"]
    assert plain(rows) == [["25.00 %"], ["22.22 %"], ["4 (44.44 %)"], ["2 (22.22 %)"], ["0 (0 %)"]]
    assert "risk_document" not in public(release)


def test_the_public_report_tells_no_risk_where_persons_are_counted():
    rows = TABLE.append_column("who", pa.array([f"p{i}" for i in range(10)]))
    given = POLICY.model_copy(update={"person": ind.Policy(**POLICY.plain() | {"person": {"key": "who"}}).person})
    found = ind.anonymize(rows, given)
    assert public(found)["risk"] is None
    assert summary(found)["risk"]["published"]["measures"][0]["highest"]["fraction"] == "1/4"


def test_journalist_risk_is_there_where_the_policy_knows_the_population(tmp_path):
    people = (
        "age;town\n" + "".join(f"{20 + i};Kiel\n" for i in range(10)) + "".join(f"{40 + i};Bonn\n" for i in range(8))
    )
    (tmp_path / "people.csv").write_text(people + "97;Jena\n")
    given = ind.Policy(
        **POLICY.plain()
        | {
            "privacy": [{"model": "k_map", "k": 2, "population": str(tmp_path / "people.csv")}],
            "table": {"delimiter": ";"},
        }
    )
    # classes of 5 among 10 of Kiel, of 4 among 8 of Bonn: 1/8 at most, max(2/18, (5/10 + 4/8)/9) = 1/9 on average
    found = summary(ind.anonymize(TABLE, given))["risk"]["published"]["measures"]
    (journalist,) = [entry for entry in found if entry["measure"] == "journalist"]
    assert journalist["highest"]["fraction"] == "1/8"
    assert journalist["average"]["decimal"] == pytest.approx(1 / 9)
    assert journalist["rows_at_risk"] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_attacks_are_shown_with_their_counts_in_both_languages(release, attacks, language):
    t = catalogue(language)
    _, _, head, rows = tables(summary(release, attacks=attacks), language)[t("caption.attacks")]
    by_name = {row[0]: row for row in rows}
    # the four of Bonn all have gout: a class with one value
    row = by_name[t("attack.homogeneity")]
    assert row[1:4] == ["ill", t("count", n="4", share=t.percent(4 / 9)), "9"]
    assert len(head) == len(row)
    ran = {entry["attack"] for entry in attacks["attacks"] if entry["ran"]}
    assert by_name.keys() == {t(f"attack.{name}") for name in ran}
    texts = " ".join(block[1] for block in learn(summary(release, attacks=attacks), language) if block[0] == "text")
    assert t("attack.membership") in texts


def test_a_limit_of_the_attacks_is_judged(release):
    found = ind.attack(release.table, POLICY, fail_above="0.1").document
    texts = [block[1] for block in learn(summary(release, attacks=found)) if block[0] == "text"]
    n = len(found["broken"])
    assert n > 0
    assert any(text.startswith(f"{n} attack") and "limit of 10\N{NO-BREAK SPACE}%" in text for text in texts)


def test_what_was_required_and_by_what_linkage_was_judged_is_said(release):
    found = ind.attack(release.table, POLICY, fail_above="0.1", require=["inference"]).document
    texts = [block[1] for block in learn(summary(release, attacks=found)) if block[0] == "text"]
    assert any(text.startswith("Required, but not run: guessing") for text in texts)
    assert any("judged by 1/k" in text for text in texts)


def test_a_document_of_risk_stands_beside_the_own_figures(release):
    document = ind.risk(TABLE, POLICY, published=release.table, population_size=1000, suda=2).document
    rows = {row[0]: row[1:] for row in tables(summary(release, risk=document))["Risk, as measured beforehand"][3]}
    uniques = [entry for entry in document["measures"] if entry["measure"] == "suda2"]
    assert rows["rows singled out by few columns (special uniques, SUDA)"][0] == str(uniques[0]["rows"])
    assert any("(zayatz)" in name for name in rows)


def test_the_public_report_shows_of_attacks_those_on_the_file_alone(release, attacks):
    shown = public(release, attacks)["attacks_document"]["attacks"]
    assert {entry["attack"] for entry in shown} <= set(OF_THE_FILE)
    assert all(entry.keys().isdisjoint({"worst", "reason", "details", "stopped_by"}) for entry in shown)
    with_original = ind.attack(release.table, POLICY, original=TABLE).document
    assert public(release, with_original)["attacks_document"] is None
    identified = ind.attack(release.table, POLICY, identified=TABLE).document
    assert public(release, identified)["attacks_document"] == public(release, attacks)["attacks_document"]


def test_documents_about_another_table_are_refused(release, attacks):
    other = ind.attack(release.table.slice(0, 5), POLICY).document
    with pytest.raises(ind.DataError, match="about a table of 5 rows, and this release is about 9"):
        summary(release, attacks=other)
    with pytest.raises(ind.DataError, match="about a table of 5 rows"):
        public(release, other)
    with pytest.raises(ind.DataError, match="10 or 9"):
        summary(release, risk=ind.risk(TABLE.slice(0, 3), POLICY).document)
    with pytest.raises(ind.DataError, match="no answer of indistinct risk"):
        summary(release, risk=attacks)
    with pytest.raises(ind.DataError, match="no answer of indistinct attack"):
        public(release, {"highest": 1})


def test_a_release_in_groups_shows_that_identity_is_not_hidden(tmp_path):
    given = ind.Policy(
        **POLICY.plain() | {"privacy": [{"model": "distinct_l", "attribute": "ill", "l": 2}],
                            "recoding": {"algorithm": "anatomy"}, "suppression": {"limit": 1}}
    )  # fmt: skip
    found = ind.anonymize(TABLE, given)
    risk = summary(found)["risk"]
    assert risk["published"]["measures"][0]["highest"]["fraction"] == "1/1"
    assert public(found)["risk"]["measures"][0]["highest"]["fraction"] == "1/1"
    assert json.loads(ind.report(found, tmp_path / "r.json").read_text())["form"] == "two_tables"
