"""The Chinese report is Chinese: every sentence of the program has a translation, and its facts stay."""

# ruff: noqa: RUF001  # punctuation of Chinese

import ast
import copy
import json
import pickle
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.hierarchies.values import spelling_note
from indistinct.notices import Notice, Sentence, both
from indistinct.plain import shown
from indistinct.reports.catalogue import LANGUAGES, catalogue

SOURCE = Path(ind.__file__).parent
HOSPITAL = Path(__file__).parents[2] / "examples" / "hospital"
CHINESE = catalogue("zh-CN")


def templates(source):
    """The templates of a program, and the places of sentences that are put together at run time."""
    found, loose = {}, []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
            texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            if len(texts) == len(node.args):
                found[texts[0]] = texts
            else:
                loose.append(node.lineno)
    return found, loose


def fields(text):
    return {(name, form) for _, name, form, _ in Formatter().parse(text) if name is not None}


@pytest.fixture(scope="module")
def in_code():
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        own, loose = templates(path.read_text(encoding="utf-8"))
        assert not loose, f"{path.name}, line {loose[0]}: a template is a literal, so that it can be collected"
        found |= own
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_language_has_every_sentence_of_the_program_and_no_other(language, in_code):
    assert len(in_code) > 100
    own = catalogue(language).sentences
    assert [template for template in in_code if template not in own] == []
    assert [template for template in own if template not in in_code] == []


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_translation_shows_the_facts_of_its_template(language, in_code):
    text = (files("indistinct.reports") / "messages" / f"sentences.{language}.json").read_text(encoding="utf-8")
    pairs = json.loads(text, object_pairs_hook=list)
    assert len(dict(pairs)) == len(pairs)  # none twice
    for template, told in pairs:
        for one in in_code[template]:
            assert fields(one) == fields(template)
        assert fields(told) == fields(template), template


def test_what_is_put_together_at_run_time_is_found():
    found, loose = templates('Sentence("a {n}", n=1)\nSentence(f"b {n}")\nSentence(text, n=2)')
    assert (list(found), loose) == (["a {n}"], [2, 3])


# a table that the report shows names both columns, and the rest of the note is put together of sentences
NOTES = (
    (spelling_note("age", {"1.0": "1"}), "列“age”：“1.0”和“1”是同一个值，以“1”发布"),
    (
        spelling_note("age", {"1.0": "1", "2.0": "2", "3.00": "3"}),
        "列“age”：“1.0”和“1”是同一个值，以“1”发布；另有 2 种写法也是如此",
    ),
    (Sentence("the columns {names} differ only in case or blanks", names=both(['"a"', '"b"'])),
     '以下各列的列名只在大小写或空格上不同："a" 和 "b"'),
    (Sentence("the loss fell to {points}", points=(
        Sentence("{loss:.4f} after {seconds:.1f} s", loss=0.12, seconds=1.0),
        Sentence("{loss:.4f} after {seconds:.1f} s", loss=0.11, seconds=2.0),
    )), "搜索中损失逐步下降：1.0 秒后为 0.1200、2.0 秒后为 0.1100"),
)  # fmt: skip


@pytest.mark.parametrize(("note", "chinese"), NOTES)
def test_sentences_inside_sentences_are_translated_too(note, chinese):
    assert CHINESE.sentence(note) == chinese


def test_facts_go_to_their_places_and_are_no_templates():
    same = Sentence(
        '{n} of {rows} rows have the same value in "{name}": diversity and closeness say little there; protect the '
        "rare values on their own (alpha_k with values, or counts with noise)",
        n=3,
        rows=40,
        name="ill, or {not}: {0}",
    )
    assert same.startswith('3 of 40 rows have the same value in "ill, or {not}: {0}"')
    assert CHINESE.sentence(same).startswith("40 行中有 3 行在“ill, or {not}: {0}”中取同一个值")
    assert catalogue("en").sentence(same) == same


def test_a_number_decides_the_plural():
    many, one = "{n} rows of {name}", "{n} row of {name}"
    assert [str(Sentence(many, one, n=n, name="a")) for n in (0, 1, 2)] == ["0 rows of a", "1 row of a", "2 rows of a"]


def test_a_sentence_is_a_text_in_documents_and_survives_copies():
    found = Notice("rows", "{a}", Sentence("{n} rows of {name}", "{n} row of {name}", n=1, name="{a}"))
    assert json.dumps(found.document()) == '{"kind": "rows", "column": "{a}", "message": "1 row of {a}"}'
    message = found.document()["message"]
    for again in (copy.copy(message), copy.deepcopy(message), pickle.loads(pickle.dumps(message))):  # noqa: S301  # our own
        assert again == "1 row of {a}"
        assert (again.template, again.facts) == (message.template, {"n": 1, "name": "{a}"})


def test_control_characters_of_facts_are_escaped_in_every_language():
    name = "a\x1b[31m\u202e"
    told = shown(Sentence("the columns {names} differ only in case or blanks", names=both((name, "b"))))
    assert told == "the columns a\\x1b[31m\\u202e and b differ only in case or blanks"
    assert CHINESE.sentence(told) == "以下各列的列名只在大小写或空格上不同：a\\x1b[31m\\u202e 和 b"


def test_of_a_text_out_of_a_file_what_has_no_facts_is_known():
    stored = json.loads(json.dumps(Sentence("local_suppression counts rows, not persons")))
    assert CHINESE.sentence(stored) == "local_suppression 按行计数，而不是按人计数"
    assert CHINESE.sentence("nobody has said this yet") is None
    assert catalogue("en").sentence("nobody has said this yet") == "nobody has said this yet"


class Words(HTMLParser):
    """The texts of a page that a reader sees or hears, but for code and for what is marked as English."""

    def __init__(self, text):
        super().__init__()
        self.skipped, self.found = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if self.skipped or tag in ("style", "pre") or dict(attrs).get("lang") == "en":
            self.skipped += [tag] if tag not in ("meta", "rect") else []

    def handle_endtag(self, tag):
        if self.skipped and self.skipped[-1] == tag:
            self.skipped.pop()

    def handle_data(self, data):
        if not self.skipped and data.strip():
            self.found.append(data.strip())


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    (folder / "earlier.csv.manifest.json").write_text("{}")  # gives a warning
    given = ind.Policy.load(HOSPITAL / "policy.toml")
    # the words of the steward stand as they are written, in whatever language
    given = ind.Policy(**{**given.plain(), "release": {}}).at(given.base)
    return ind.anonymize(HOSPITAL / "discharges.csv", given, output=folder / "out.csv")


@pytest.mark.slow
@pytest.mark.parametrize("is_public", [False, True])
def test_the_chinese_report_of_the_hospital_holds_no_english_sentence(hospital, tmp_path, is_public):
    attacks = ind.attack(hospital.table, hospital.policy).document
    assert hospital.document["warnings"]
    path = ind.report(hospital, tmp_path / "r.html", language="zh-CN", public=is_public, attacks=attacks)
    page = path.read_text(encoding="utf-8")
    assert 'lang="en"' not in page
    texts = Words(page).found
    assert len(texts) > 200
    english = re.compile(r"\b(the|is|are|of|was|were|and|to|with|that|has|have|by|not)\b", re.IGNORECASE)
    assert [text for text in texts if english.search(text)] == []


@pytest.mark.slow
def test_a_sentence_without_translation_is_quoted_as_english(hospital, tmp_path):
    stray = {"kind": "new", "column": None, "message": "nobody has translated this"}
    found = ind.Release({**hospital.document, "warnings": [*hospital.document["warnings"], stray]}, hospital.decision)
    page = ind.report(found, tmp_path / "r.html", language="zh-CN").read_text(encoding="utf-8")
    assert '<ul lang="en">\n<li>nobody has translated this</li>' in page
    text = ind.report(found, tmp_path / "r.md", language="zh-CN").read_text(encoding="utf-8")
    assert "尚无译文" in text
    assert "- nobody has translated this" in text


def test_what_transforms_did_and_what_blanks_hide_is_told_in_chinese(tmp_path):
    rows = [{"age": str(age), "zip": place, "ill": ill} for age, place, ill in (
        (20, "1", "a"), (20, "1", None), (20, "1", "a"), (90, "2", "b"), (95, "2", "a"), (99, "2", "b"),
    )]  # fmt: skip
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer"},
            "zip": {"role": "qi"},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(3), ind.DistinctL("ill", 2)],
        transforms=[{"method": "top_coding", "attribute": "age", "limit": "80"}],
    )
    release = ind.anonymize(pa.Table.from_pylist(rows), policy)
    page = ind.report(release, tmp_path / "r.md", language="zh-CN").read_text(encoding="utf-8")
    assert "6 行中有 3 行的“age”值高于界限" in page  # 90, 95 and 99 are above 80
    assert "1 个类仅因缺失值被算作单独的一个值才满足" in page  # {a, missing} has two values only with the missing one
    assert "该表本次运行中做过变换（top\\_coding）" in page
    assert "尚无译文" not in page
