"""Reports: complete in both languages, readable without a script, and the public one tells nothing about lost rows."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct import reports
from indistinct.reports.catalogue import LANGUAGES, catalogue
from indistinct.reports.public import public
from indistinct.reports.summary import size_histogram, summary
from page import Page

FOLDER = Path(reports.__file__).parent
ATTRIBUTES = {
    "name": {"role": "identifying"},
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10, 50]}},
    "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
    "ill": {"role": "sensitive"},
}


def policy(**changes):
    return ind.Policy(
        **{
            "attributes": ATTRIBUTES,
            "privacy": [ind.KAnonymity(2), ind.TCloseness("ill", 1, "equal")],
            "suppression": {"limit": 0.2},
            "recoding": {"algorithm": "optimal"},
            **changes,
        }
    )


def table(age=97, town="Secretville", ill="hiddenitis", name="Nemo"):
    """Ten rows, of which the last can only be suppressed."""
    rows = [(f"n{i}", 20 + i % 5, "Kiel", "flu" if i % 2 else "cold") for i in range(5)]
    rows += [(f"m{i}", 40 + i, "Bonn", "flu" if i % 3 else "cold") for i in range(4)]
    rows.append((name, age, town, ill))
    return pa.table({column: [row[at] for row in rows] for at, column in enumerate(("name", "age", "town", "ill"))})


@pytest.fixture(scope="module")
def release():
    found = ind.anonymize(table(), policy())
    assert found.document["suppressed_rows"] == 1
    return found


# --- messages ----------------------------------------------------------------------------------------------


def test_no_message_is_missing_and_none_is_too_many():
    english, *others = (catalogue(language).messages for language in LANGUAGES)
    for other in others:
        assert other.keys() == english.keys()
        for key, message in english.items():
            forms = [m if isinstance(m, dict) else {"other": m} for m in (message, other[key])]
            names = [set(re.findall(r"{(\w+)}", form["other"])) for form in forms]
            assert names[0] == names[1], key
            assert isinstance(message, dict) is isinstance(other[key], dict), key


def test_every_message_that_is_asked_for_exists():
    english = catalogue("en").messages
    code = "".join(path.read_text() for path in [*FOLDER.glob("*.py"), *FOLDER.glob("templates/*")])
    asked = set(re.findall(r"""\bt\(\s*"([\w.]+)\"""", code)) | set(re.findall(r"""\bself\("([\w.]+)\"""", code))
    assert len(asked) > 40
    assert asked <= english.keys() | {"banner."}, asked - english.keys()
    started = [key.rstrip(".") for key in re.findall(r"""t\(f"([\w.]+\.)\{""", code)]
    for start in started:
        assert any(key.startswith(f"{start}.") for key in english), start


def test_plurals_and_numbers():
    english, chinese = catalogue("en"), catalogue("zh-CN")
    assert (english("unit.rows", n=1), english("unit.rows", n=12345)) == ("1 row", "12,345 rows")
    assert (chinese("unit.rows", n=1), chinese("unit.persons", n=2)) == ("1 行", "2 人")
    assert (english.percent(0.0512), chinese.percent(0.0512)) == ("5.1\N{NO-BREAK SPACE}%", "5.1%")
    with pytest.raises(ind.PolicyError, match="en, zh-CN"):
        catalogue("de")


# --- pages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("is_public", [False, True])
def test_a_page_stands_alone_and_can_be_read_by_everyone(release, tmp_path, language, is_public):
    path = ind.report(release, tmp_path / "r.html", language=language, public=is_public)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    names = [tag for tag, _ in page.tags]
    assert page.open == []
    assert ("html", {"lang": language}) in page.tags
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert names.count(landmark) == 1
    assert "script" not in names
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    assert "url(" not in text
    assert len(page.ids) == len(set(page.ids))
    assert set(page.refs) <= set(page.ids)
    for tag, given in page.tags:
        if tag == "svg":  # the figure stands beside it, in the table
            assert given["aria-hidden"] == "true"
    assert names.count("svg") > 0
    assert names.count("caption") == names.count("table")
    assert all("scope" in given for tag, given in page.tags if tag == "th")
    assert catalogue(language)(f"banner.{'public' if is_public else 'internal'}")[:20] in text
    assert "{" not in re.sub(r"<style>.*?</style>|<pre.*?</pre>", "", text, flags=re.DOTALL)


def test_markdown_and_json_say_the_same(release, tmp_path):
    markdown = ind.report(release, tmp_path / "r.md").read_text()
    assert markdown.startswith("# Report on an anonymized table\n\n**INTERNAL")
    assert markdown.index("All 2 promises hold") < markdown.index("What remains") < markdown.index("detail lost")
    assert "| k-anonymity | k = 2 |" in markdown
    document = json.loads(ind.report(release, tmp_path / "r.json").read_text())
    assert document == json.loads(json.dumps(summary(release)))
    assert document["kind"] == "internal"
    with pytest.raises(ind.UnsupportedError):
        ind.report(release, tmp_path / "r.docx")
    with pytest.raises(ind.PolicyError, match="exists"):
        ind.report(release, tmp_path / "r.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.md"]


def test_values_are_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    given = pa.table({"name": list("abcdef"), "age": [20] * 6, "town": [evil] * 6, "ill": [evil] * 6})
    found = ind.anonymize(given, policy(privacy=[ind.KAnonymity(2)]))
    for is_public in (False, True):
        text = ind.report(found, tmp_path / f"{is_public}.html", public=is_public).read_text()
        assert "<script" not in text
        assert "&lt;script&gt;" in text


def test_class_sizes_are_counted_once():
    import numpy as np

    sizes = np.array([2, 2, 3, 4, 5, 9])
    found = size_histogram(sizes)
    assert [(entry["from"], entry["to"], entry["classes"]) for entry in found] == [
        (2, 2, 2),
        (3, 4, 2),
        (5, 8, 1),
        (9, 16, 1),
    ]
    assert sum(entry["members"] for entry in found) == sizes.sum()


# --- what the public report tells -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_public_report_is_the_same_whatever_the_suppressed_row_was(tmp_path):
    """The attack: take the published file and try every row that may have been lost; all give the same report."""
    seen = {}
    published = set()
    for age in (5, 33, 70, 97, 104):
        for town in ("Secretville", "Atlantis"):
            for ill in ("flu", "cold", "hiddenitis"):
                found = ind.anonymize(table(age, town, ill), policy(), output=tmp_path / "out.csv", force=True)
                if found.document["suppressed_rows"] != 1:
                    continue
                published.add((tmp_path / "out.csv").read_bytes())
                attacks = ind.attack(found.table, policy()).document
                for suffix in ("html", "md", "json"):
                    path = ind.report(found, tmp_path / f"q.{suffix}", public=True, force=True, attacks=attacks)
                    seen.setdefault(suffix, set()).add(path.read_bytes())
    assert len(published) == 1
    assert {suffix: len(texts) for suffix, texts in seen.items()} == {"html": 1, "md": 1, "json": 1}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_no_value_of_the_original_that_is_not_published_is_in_the_public_report(tmp_path, suffix):
    given = policy(
        attributes={
            **ATTRIBUTES,
            "age": {**ATTRIBUTES["age"], "domain": [0, 123]},
            "ill": {"role": "sensitive", "type": "ordinal", "order": ["cold", "flu", "hiddenitis"]},
        },
        table={"source": "/private/place/original.csv"},
        run={"temp_dir": "/private"},
    )
    found = ind.anonymize(table(), given, output=tmp_path / "out.csv")
    text = ind.report(found, tmp_path / f"q.{suffix}", public=True).read_text()
    for hidden in ("97", "Secretville", "hiddenitis", "Nemo", "123", "/private", "original.csv", str(tmp_path)):
        assert not re.search(rf"(?<![0-9a-f]){re.escape(hidden)}(?![0-9a-f])", text), hidden
    internal = ind.report(found, tmp_path / f"r.{suffix}").read_text()
    assert "hiddenitis" in internal


def test_the_dictionary_says_how_each_published_column_is_read(release, tmp_path):
    text = ind.dictionary(release, tmp_path / "d.md").read_text()
    assert "| age | whole number | quasi-identifying | made coarser: to intervals | [20, 30) holds" in text.replace(
        "\\", ""
    )
    assert "name" not in [
        row["name"] for row in json.loads(ind.dictionary(release, tmp_path / "d.json").read_text())["columns"]
    ]
    for language in LANGUAGES:
        for suffix in ("md", "json"):
            path = ind.dictionary(release, tmp_path / f"x.{suffix}", language=language, force=True)
            assert not re.search("97|Secretville|hiddenitis|Nemo", path.read_text())
    with pytest.raises(ind.UnsupportedError):
        ind.dictionary(release, tmp_path / "d.html")


def test_rare_published_values_are_put_together(release):
    for entry in public(release)["distributions"]:
        for value, rows in zip(entry["values"], entry["after"], strict=True):
            assert rows >= 5 or value.endswith("others")


def test_exempt_rows_are_no_group_of_the_public_report():
    found = ind.anonymize(table(), policy(suppression={"limit": 0.2, "rows": "exempt"}))
    assert public(found)["smallest_class"] >= 2
    assert public(found)["guaranteed"]["unit"] == "rows"


def test_with_a_person_key_the_public_report_relies_on_the_persons_asked_for():
    rows = pa.table({"who": ["a", "a", "b", "c", "d", "d"], "age": [20, 21, 22, 23, 24, 25], "town": ["Kiel"] * 6,
                     "ill": ["x", "y"] * 3, "name": ["n"] * 6})  # fmt: skip
    found = ind.anonymize(rows, policy(person={"key": "who"}, privacy=[ind.KAnonymity(2)]))
    assert public(found)["guaranteed"] == {"size": 2, "unit": "persons"}
