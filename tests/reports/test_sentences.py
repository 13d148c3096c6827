"""The Chinese report is Chinese: every warning that a release can carry has a translation, and its facts stay."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import indistinct as ind
from indistinct.hierarchies.values import spelling_note
from indistinct.reports.sentences import translated

SOURCE = Path(ind.__file__).parent
HOSPITAL = Path(__file__).parents[2] / "examples" / "hospital"
# commands that write no report, and reasons of the ledger, which are quoted as they are
OTHERS = {
    "assess/audit.py", "history/consult.py", "assess/private.py",
    "assess/utility.py", "proof/verify.py", "proof/verify_groups.py",
    "proof/verify_invariance.py", "proof/claims.py", "publish/recipient.py",
}  # fmt: skip
KEPT = (
    "persons who keep the values of earlier releases: 3; newcomers: 2; newcomers who wait for a later release: 1; "
    "counterfeit rows, of nobody: 4"
)
# notes of the searches and what is put together elsewhere
WORK = "12 of 48 combinations of levels were evaluated"
UNPROVEN = (
    f"{WORK} when the time budget ended: the loss 0.4000 is not proven to be the least, which is at least 0.3000 (gap "
    "0.1000)"
)
CHECKED = (
    "combinations of up to 3 columns were checked: 7 rows held one of fewer than 3, 9 cells of published rows are blank"
)
READINGS = (
    "taking a blank for a value of its own, the smallest class has 2 rows; if it may be anything, every row could be "
    "one of at least 4"
)
NOTES = (
    "1,204 of 4,096 combinations of levels were evaluated",
    f"{WORK}; the models do not allow to infer more general combinations from others",
    f"{WORK}; the result is proven to lose least",
    UNPROVEN,
    "3 of 9 steps were taken",
    "17 specializations were made",
    "the loss fell to 0.1200 after 1.0 s, 0.1100 after 2.0 s",
    "the values of ill were dealt out from 4 buckets",
    KEPT,
    "classes have at least 6 rows, one of each bucket of cost",
    "rows were dealt out along a Hilbert curve, as the table is large",
    CHECKED,
    READINGS,
    "9 rows fit in no group and were suppressed: 4 because no group had room, 5 because their class was too small",
    "1 row fits in no group and was suppressed: 1 because no group had room",
    spelling_note("age", {"1.0": "1"}),
    spelling_note("age", {"1.0": "1", "2.0": "2", "3.00": "3"}),
)


def sentences(node, known, line):
    """The texts that an expression can give; what is not known stands as 7."""
    if isinstance(node, ast.Constant):
        found = [str(node.value)]
    elif isinstance(node, ast.IfExp):
        found = sentences(node.body, known, line) + sentences(node.orelse, known, line)
    elif isinstance(node, ast.FormattedValue):
        found = sentences(node.value, known, line)
    elif isinstance(node, ast.JoinedStr):
        found = [""]
        for part in node.values:
            found = [start + end for start in found for end in sentences(part, known, line)]
    else:
        name = getattr(node, "id", None)
        before = [value for other, at, value in known if other == name and at < line and is_text(value)]
        found = sentences(before[-1], known, before[-1].lineno) if before else ["7"]
    return found


def is_text(node):
    return isinstance(node, ast.JoinedStr | ast.IfExp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def warnings_in_code():
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place in OTHERS:
            continue
        tree = ast.parse(path.read_text())
        known = [
            (node.targets[0].id, node.lineno, node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        ]
        known.sort(key=lambda entry: entry[1])
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Notice", "say") and len(node.args) == 3:
                for sentence in sentences(node.args[2], known, node.lineno):
                    if re.search(r"[a-z]{3}", sentence):  # others are put together elsewhere, as NOTES
                        yield place, sentence


def test_every_warning_of_a_release_is_translated():
    found = list(warnings_in_code())
    assert len(found) > 30
    lacking = [(place, sentence) for place, sentence in found if translated(sentence, "zh-CN") is None]
    assert lacking == []


@pytest.mark.parametrize("note", NOTES)
def test_every_note_of_a_search_is_translated_with_its_numbers(note):
    chinese = translated(note, "zh-CN")
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert sorted(re.findall(r"[\d.,]*\d", chinese)) == sorted(re.findall(r"[\d.,]*\d", note))


def test_facts_go_to_their_places():
    english = (
        '3 of 40 rows have the same value in "ill, or not": diversity and closeness say little there; protect the rare '
        "values on their own (alpha_k with values, or counts with noise)"
    )
    assert translated(english, "zh-CN").startswith("40 行中有 3 行在“ill, or not”中取同一个值")
    assert translated("nobody has said this yet", "zh-CN") is None
    assert translated("nobody has said this yet", "en") == "nobody has said this yet"


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
    return ind.anonymize(HOSPITAL / "discharges.csv", given, output=folder / "out.csv")


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


def test_a_sentence_without_translation_is_quoted_as_english(hospital, tmp_path):
    stray = {"kind": "new", "column": None, "message": "nobody has translated this"}
    found = ind.Release({**hospital.document, "warnings": [*hospital.document["warnings"], stray]}, hospital.decision)
    page = ind.report(found, tmp_path / "r.html", language="zh-CN").read_text(encoding="utf-8")
    assert '<ul lang="en">\n<li>nobody has translated this</li>' in page
    text = ind.report(found, tmp_path / "r.md", language="zh-CN").read_text(encoding="utf-8")
    assert "尚无译文" in text
    assert "- nobody has translated this" in text
