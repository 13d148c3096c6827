"""Reports as pages: everybody can read them, on screen and on paper, and nothing is fetched."""

import re
import sys
import zlib
from contextlib import suppress
from itertools import pairwise

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.reports.catalogue import LANGUAGES
from indistinct.reports.pdf import pdf
from page import Page

LONG = "a_column_of_a_register_with_a_very_long_name_indeed"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = [(20 + i % 5, "Kiel", "flu" if i % 2 else "cold", i % 3) for i in range(30)]
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(("age", "town", "ill", LONG))})
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
            LONG: {"role": "insensitive", "type": "integer"},
        },
        privacy=[ind.KAnonymity(5), ind.DistinctL("ill", 2)],
    )
    return ind.anonymize(table, policy, output=tmp_path_factory.mktemp("out") / "out.csv")


@pytest.fixture(scope="module", params=[(language, public) for language in LANGUAGES for public in (False, True)])
def text(request, release, tmp_path_factory):
    language, public = request.param
    attacks = ind.attack(release.table, release.policy).document
    path = tmp_path_factory.mktemp("page") / "r.html"
    return ind.report(release, path, language=language, public=public, attacks=attacks).read_text(encoding="utf-8")


def test_headings_descend_one_step_at_a_time(text):
    levels = [int(tag[1]) for tag, _ in Page(text).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_row_of_a_table_is_named_and_as_long_as_its_head(text):
    tables = re.findall(r"<table( class=\"\\w+\")?>(.*?)</table>", text, re.DOTALL)
    assert len(tables) >= 5
    for kind, table in tables:
        if "chart" in kind:
            continue
        assert table.strip().startswith("<caption>")
        lines = re.findall(r"<tr>(.*?)</tr>", table)
        lengths = {len(re.findall(r"<t[hd]\b", line)) for line in lines}
        assert len(lengths) == 1
        assert set(re.findall(r'<th scope="(\w+)"', lines[0])) == {"col"}
        assert all(re.findall(r'<th scope="(\w+)"', line) == ["row"] for line in lines[1:])
        assert all(re.sub(r"<[^>]+>", "", head).strip() for head in re.findall(r"<th.*?</th>", table))


def test_every_bar_of_a_chart_stands_beside_its_figure(text):
    charts = re.findall(r'<table class="chart">(.*?)</table>', text, re.DOTALL)
    assert charts
    for chart in charts:
        assert chart.strip().startswith("<caption>")
        rows = re.findall(r"<tr.*?</tr>", chart, re.DOTALL)
        assert rows
        assert all(re.search(r'</svg></td><td class="figure">[\d,]+</td></tr>$', row) for row in rows)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """Contrast ratio of two colours (WCAG 2.2, definition of contrast ratio)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def full(colour):
    return colour if len(colour) == 7 else "#" + "".join(2 * part for part in colour[1:])


def test_contrast_is_computed_as_defined():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("dark", [False, True])
def test_texts_and_bars_stand_out_from_what_is_behind_them(text, dark):
    themes = [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]+)", body)) for body in re.findall(r":root {([^{}]*)}", text)]
    tokens = themes[0] | (themes[1] if dark else {})
    for name in ("ink", "ink-2", "after", "ok", "look", "fail"):  # all that is text
        for ground in ("paper", "wash"):
            assert contrast(full(tokens[name]), full(tokens[ground])) >= 4.5
    # WCAG 2.2, 1.4.11: graphics stand out by their fill, or by an outline in --ink-2
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    fills = re.findall(r"([^{}]*){ fill: var\(--([\w-]+)\);([^}]*)}", style)
    assert len(fills) == 4
    for _, fill, rest in fills:
        assert contrast(full(tokens[fill]), full(tokens["paper"])) >= 3 or "stroke: var(--ink-2)" in rest
    used = set(re.findall(r"var\(--([\w-]+)\)", style))
    assert used <= tokens.keys()


def test_names_stay_on_one_line_and_only_very_long_words_break(text):
    assert '<th scope="row">town</th>' in text
    assert f'<th scope="row" class="long">{LONG}</th>' in text
    assert re.search(r'<td class="long">[0-9a-f]{64}</td>', text)


def test_on_paper_nothing_is_torn_apart(text):
    paper = re.search(r"@media print {(.*)}\s*</style>", text, re.DOTALL)[1]
    for what in ("tr", ".say", ".keys", ".sign"):
        assert re.search(rf"(^|[\s,]){re.escape(what)}[^{{}}]*{{ break-inside: avoid; }}", paper)
    assert re.search(r"caption, thead { break-after: avoid; }", paper)
    assert re.search(r"thead { display: table-header-group; }", paper)
    assert "@page { size: A4;" in text


# --- PDF -----------------------------------------------------------------------------------------------------


@pytest.fixture
def weasyprint():
    import weasyprint

    return weasyprint


def unpacked(content):
    yield content
    for stream in re.findall(rb"stream\n(.*?)\nendstream", content, re.DOTALL):
        with suppress(zlib.error):
            yield zlib.decompress(stream)


@pytest.mark.pdf
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pdf_is_the_same_page_on_paper(weasyprint, release, tmp_path, capsys, language):
    path = ind.report(release, tmp_path / "r.pdf", language=language)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-1.7")
    inside = b"".join(unpacked(content))
    assert f"/Lang ({language})".encode() in inside
    assert b"/StructTreeRoot" in inside  # tagged, for screen readers
    assert capsys.readouterr() == ("", "")
    page = ind.report(release, tmp_path / "r.html", language=language).read_text(encoding="utf-8")
    document = weasyprint.HTML(string=page).render()
    assert 3 <= len(document.pages) <= 12
    (_, _, sections, _) = document.make_bookmark_tree()[0]
    assert [title for title, *_ in sections] == re.findall(r"<h2 id=[^>]*>(.*?)</h2>", page)
    assert pdf(page) == content  # the same report gives the same bytes
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.html", "r.pdf"]


def test_without_the_extra_a_sentence_says_how_to_install_it(release, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(ind.UnsupportedError, match=r"pip install 'indistinct\[pdf\]'"):
        ind.report(release, tmp_path / "r.pdf")
    assert not list(tmp_path.iterdir())


def test_without_the_library_of_the_system_a_sentence_says_which(release, tmp_path, monkeypatch):
    (tmp_path / "weasyprint.py").write_text("raise OSError('cannot load library')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    with pytest.raises(ind.UnsupportedError, match="apt-get install libpango"):
        ind.report(release, tmp_path / "r.pdf")
    assert not (tmp_path / "r.pdf").exists()
