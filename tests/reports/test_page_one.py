"""Page one: the verdict with what argues against it, figures counted by hand, and nothing of the original in public."""

import hashlib
import hmac
import json
import re

import pyarrow as pa
import pytest

import indistinct as ind
from cli_bench import POLICY, TABLE, run
from indistinct.assess.price import prices
from indistinct.reports.catalogue import LANGUAGES, catalogue
from indistinct.reports.front import guesses
from indistinct.reports.page_one import page_one
from indistinct.reports.public import public
from indistinct.reports.summary import summary

KEY = "ab" * 32
# two towns of four; in Kiel all have flu, in Bonn two have a cold
PEOPLE = pa.table(
    {
        "town": ["Kiel"] * 4 + ["Bonn"] * 4,
        "age": [20, 21, 22, 23, 30, 31, 32, 33],
        "ill": ["flu"] * 4 + ["flu", "flu", "cold", "cold"],
    }
)
SAID = {
    "title": "Stays of two towns",
    "purpose": "a study of flu",
    "recipient": "researchers",
    "responsible": "Dr. Meyer",
    "reasons": {"k": "the rule of the board"},
    "public": ["title", "purpose"],
}


def policy(**changes):
    return ind.Policy(
        **{
            "attributes": {
                "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
                "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10, 50]}},
                "ill": {"role": "sensitive"},
            },
            "privacy": [ind.KAnonymity(4)],
            "recoding": {"algorithm": "optimal"},
            **changes,
        }
    )


@pytest.fixture(scope="module")
def release():
    return ind.anonymize(PEOPLE, policy(release=SAID))


def blocks(found, language="en"):
    return {block[0]: block[1:] for block in page_one(found, catalogue(language))}


def test_a_guess_is_counted_by_hand(release):
    (found,) = summary(release)["guesses"]
    # of 8 rows 6 have flu, 2 a cold: in Kiel flu rises from 6/8 to 1, in Bonn a cold from 2/8 to 2/4
    assert found["column"] == "ill"
    assert found["before"] == pytest.approx((6 / 8 + 2 / 8) / 2)
    assert found["after"] == pytest.approx((1 + 2 / 4) / 2)
    assert found["rows"] == 8
    assert found["worst"] in ([0.75, 1.0], [0.25, 0.5])
    assert found["sure_rows"] == 4
    assert public(release)["guesses"] == [found]


def test_the_guess_is_that_of_the_attack(release):
    attacks = ind.attack(release.table, release.policy).document["attacks"]
    (entry,) = [one for one in attacks if one["attack"] == "skewness"]
    (found,) = summary(release)["guesses"]
    assert (entry["prior"], entry["posterior"], entry["learnt"]) == pytest.approx(
        (found["before"], found["after"], found["rows"])
    )


def test_a_column_with_one_value_tells_nothing_new():
    given = PEOPLE.set_column(2, "ill", pa.array(["flu"] * 8))
    (found,) = summary(ind.anonymize(given, policy()))["guesses"]
    assert (found["before"], found["after"], found["rows"], found["sure_rows"]) == (1.0, 1.0, 0, 0)


def test_without_classes_nothing_is_guessed():
    assert guesses([]) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_verdict_and_what_argues_against_it_stand_before_all_figures(release, language):
    kinds = [block[0] for block in page_one(summary(release), catalogue(language))]
    assert kinds == ["facts", "open", "verdict", "look", "figures", "cards", "table", "shares", "text", "sign"]
    found, t = blocks(summary(release), language), catalogue(language)
    holds, title, _ = found["verdict"]
    assert holds
    assert title == t("front.holds", n=1)
    heading, items = found["look"]
    assert heading == t("front.look", n=3)  # the third: no model looks at the column
    assert items[0].startswith(t("look.guess", column="ill", before=t.percent(0.5), after=t.percent(0.75), n=8,
                                 share=t.percent(1.0), low="", high="")[:20])  # fmt: skip
    assert items[1] == t("look.sure", n=4, column="ill")


def test_what_the_steward_said_is_there_and_what_is_missing_is_open(release):
    found = blocks(summary(release))
    said = dict(found["facts"][0])
    assert said["for"] == "researchers under an agreement"
    assert said["reasons"] == "k: the rule of the board"
    for missing in ("conditions", "legal basis", "to be reviewed"):
        assert missing in found["open"][0]
    assert "purpose" not in found["open"][0]


def test_the_public_page_holds_what_is_called_public_and_no_price(release, tmp_path):
    told = public(release)
    assert told["account"] == {"title": "Stays of two towns", "purpose": "a study of flu"}
    assert not {"prices", "source", "loss"} & told.keys()
    assert all("before" not in row for row in told["examples"]["rows"])
    for suffix in ("html", "md", "json"):
        text = ind.report(release, tmp_path / f"q.{suffix}", public=True).read_text()
        assert "Stays of two towns" in text
        for private in ("Meyer", "rule of the board", "researchers", "detail lost"):
            assert private not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_the_figures_of_both_pages_and_the_manifest_agree(tmp_path):
    found = ind.anonymize(PEOPLE, policy(), output=tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    for told in (summary(found), public(found)):
        figures = [big for big, _ in blocks(told)["figures"][0]]
        assert figures[:3] == ["4", "1 in 4", str(manifest["suppressed_rows"])]
        assert told["classes"] == manifest["classes"] == 2


def test_an_example_is_a_row_and_how_it_is_published(release):
    rows = summary(release)["examples"]["rows"]
    assert [row["rows"] for row in rows] == [4, 4]
    by_town = {row["before"][0]: row for row in rows}
    assert by_town["Kiel"]["after"][0] in ("Kiel", "*")
    originals = set(zip(*(PEOPLE[name].to_pylist() for name in ("town", "age")), strict=True))
    assert {(row["before"][0], int(row["before"][1])) for row in rows} <= originals


# --- prices ----------------------------------------------------------------------------------------------------


def test_a_promise_costs_what_it_adds():
    # k = 4 is had without any loss but for age to tens: by distinct l = 2 Kiel, where all have flu, has to join Bonn
    given = policy(privacy=[ind.DistinctL("ill", 2), ind.KAnonymity(4)])
    found = ind.anonymize(PEOPLE, given)
    first, second = prices(found.decision.prepared)
    assert (first["place"], second["place"]) == (1, 0)  # the size of groups first
    alone = ind.anonymize(PEOPLE, policy())
    assert first["lm"] == pytest.approx(alone.loss["lm"])
    assert second["lm"] == pytest.approx(found.loss["lm"])
    assert second["cost"] == pytest.approx(second["lm"] - first["lm"])
    assert (first["smallest"], second["smallest"]) == (4, 8)
    told = summary(found)["prices"]
    assert (told["decides"], told["complete"]) == (0, True)
    texts = [block[1] for block in page_one(summary(found), catalogue("en")) if block[0] == "text"]
    assert any("distinct l-diversity of ill costs" in text and "8 instead of 4" in text for text in texts)


def test_no_time_means_no_price_but_a_word():
    found = ind.anonymize(PEOPLE, policy())
    assert prices(found.decision.prepared, seconds=-1) == []
    told = {**summary(found), "prices": {"steps": [], "complete": False, "decides": None}}
    texts = [block[1] for block in page_one(told, catalogue("en")) if block[0] == "text"]
    assert any(text.startswith("What each promise costs is left out") for text in texts)


def test_releases_in_groups_have_no_price():
    given = policy(privacy=[ind.DistinctL("ill", 2)], recoding={"algorithm": "anatomy"})
    even = PEOPLE.set_column(2, "ill", pa.array(["flu", "cold"] * 4))
    told = summary(ind.anonymize(even, given))
    assert told["prices"] is None
    assert [(one["column"], one["before"], one["after"]) for one in told["guesses"]] == [("ill", 0.5, 0.5)]
    assert "cards" in blocks(told)


# --- files -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "f.key").write_text(KEY)
    (tmp_path / "f.key").chmod(0o600)
    said = '[release]\ntitle = "Wards"\npublic = ["title"]\nkey_file = "f.key"\n'
    (tmp_path / "p.toml").write_text(POLICY + said)
    return tmp_path


@pytest.mark.slow
def test_the_fingerprint_is_keyed_and_internal(folder):
    words = ("t.csv", "--policy", "p.toml", "-o", "o.csv", "--report", "r.json", "--public-report", "q.json")
    answer = run("anonymize", *words, "--dataset", "d.jsonld", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    wanted = hmac.new(bytes.fromhex(KEY), b"source:" + TABLE.encode(), hashlib.sha256).hexdigest()
    assert json.loads((folder / "r.json").read_text())["source"] == {"file": "t.csv", "fingerprint": wanted}
    for name in ("q.json", "o.csv.manifest.json", "d.jsonld"):
        text = (folder / name).read_text()
        assert wanted not in text
        assert "f.key" not in text
        assert "Wards" in text
    answer = run("verify", "t.csv", "o.csv", "--policy", "p.toml", cwd=folder)
    assert answer.returncode == 0, answer.stdout


def test_a_key_that_others_can_read_stops_before_anything_is_written(folder):
    (folder / "f.key").chmod(0o644)
    answer = run("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", "--report", "r.html", cwd=folder)
    assert answer.returncode == 2
    assert "chmod 600" in answer.stderr
    assert not (folder / "o.csv").exists()


def test_metadata_name_the_file_its_hash_and_its_columns(folder):
    run("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", "--dataset", "d.jsonld", cwd=folder)
    found = json.loads((folder / "d.jsonld").read_text())
    assert (found["@context"], found["@type"], found["name"]) == ("https://schema.org/", "Dataset", "Wards")
    (download,) = found["distribution"]
    assert download["sha256"] == hashlib.sha256((folder / "o.csv").read_bytes()).hexdigest()
    assert (download["contentUrl"], download["encodingFormat"]) == ("o.csv", "text/csv")
    assert [one["name"] for one in found["variableMeasured"]] == ["age", "ward", "ill"]
    assert "At least 5 rows look alike (k-anonymity)" in found["measurementTechnique"]
    assert run("anonymize", "t.csv", "--policy", "p.toml", "-o", "x.csv", "--dataset", "d.xml", cwd=folder)[0] == 2


# --- percentages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0, 1, "0 %"), (0.0004, 1, "< 0.1 %"), (0.00001, 2, "< 0.01 %"), (0.0005, 1, "0.1 %"), (0.9996, 1, "> 99.9 %"),
     (1, 1, "100.0 %"), (0.254, 0, "25 %"), (0.999, 0, "> 99 %"), (-0.0001, 1, "-0.0 %")],
)  # fmt: skip
def test_what_is_not_nothing_is_not_written_as_nothing(share, digits, text):
    assert catalogue("en").percent(share, digits).replace("\N{NO-BREAK SPACE}", " ") == text


def test_every_model_has_a_sentence_in_every_language():
    from indistinct.models import MODELS

    for language in LANGUAGES:
        assert all(catalogue(language).has(f"promise.{name}") for name in MODELS)


def test_the_loudest_attack_is_said_unless_it_is_the_guess(release):
    attacks = ind.attack(release.table, release.policy).document
    items = blocks(summary(release, attacks=attacks))["look"][1]
    loudest = [item for item in items if item.startswith("Loudest attack")]
    assert len(loudest) == 1
    assert "differ from those of the whole table" not in loudest[0]
    only = {**attacks, "attacks": [one for one in attacks["attacks"] if one["attack"] == "skewness"]}
    assert not any("Loudest" in item for item in blocks(summary(release, attacks=only))["look"][1])
