"""Results in a notebook: real objects as tables and figures that a page can hold, with everything escaped."""

import pyarrow as pa
import pytest

import indistinct as ind
from page import Page

EVIL = "<b>Kiel</b>"
TABLE = pa.table(
    {
        "age": [20 + i % 10 for i in range(40)],
        "town": [EVIL if i % 3 else "Bonn" for i in range(40)],
        "ill": ["flu" if i % 2 else "cold" for i in range(40)],
    }
)
POLICY = ind.Policy(
    attributes={
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
        "town": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "ill": {"role": "sensitive"},
    },
    privacy=[ind.KAnonymity(3), ind.DistinctL("ill", 2)],
)


@pytest.fixture(scope="module")
def shown():
    release = ind.anonymize(TABLE, POLICY)
    published = release.table
    bounds = {"age": (0, 120), "ill": ["cold", "flu"]}
    results = {
        "release": release,
        "audit": ind.audit(TABLE, POLICY),
        "verification": ind.verify(TABLE, published, POLICY),
        "risk": ind.risk(TABLE, POLICY),
        "risk, published": ind.risk(TABLE, POLICY, published=published),
        "attacks": ind.attack(published, POLICY),
        "profile": ind.profile(TABLE),
        "utility": ind.utility(TABLE, published, POLICY, queries=20),
        "explanation": ind.explain(TABLE, POLICY),
        "comparison": ind.compare(TABLE, POLICY, algorithms=["local", "optimal"], k=[3, 5]),
        "private": ind.private(TABLE, published, POLICY, epsilon=1, bounds=bounds),
    }
    return {name: (result, result._repr_html_()) for name, result in results.items()}


KINDS = ["release", "audit", "verification", "risk", "risk, published", "attacks", "profile", "utility", "explanation",
         "comparison", "private"]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_result_is_a_table_or_a_figure_with_nothing_left_open(shown, name):
    page = Page(shown[name][1])
    tags = [tag for tag, _ in page.tags]
    assert page.open == []
    assert "table" in tags or "svg" in tags
    assert "b" not in tags  # a value is no markup
    assert "script" not in tags
    assert tags.count("caption") == tags.count("table")
    assert all(given.get("scope") in ("col", "row") for tag, given in page.tags if tag == "th")
    assert all(given["role"] == "img" for tag, given in page.tags if tag == "svg")
    assert len(page.ids) == len(set(page.ids))


def cells(html):
    """Rows of the first table, as texts."""
    table = html[html.index("<tbody>") + 7 : html.index("</tbody>")]
    return [
        [cell.split(">", 1)[1].split("<", 1)[0] for cell in row.replace("<th", "<td").split("<td")[1:]]
        for row in table.split("<tr>")[1:]
    ]


def test_the_tables_hold_the_figures_of_the_documents(shown):
    release, html = shown["release"]
    assert [row[0] for row in cells(html)] == ["k-anonymity", "distinct l-diversity of ill"]
    assert [row[1] for row in cells(html)] == ["k = 3", "l = 2"]
    for name, share in release.loss["lm_by_attribute"].items():
        assert f"{name}: {100 * share:.1f} %" in html
    risk, html = shown["risk, published"]
    assert [row[0] for row in cells(html)] == [entry["measure"] for entry in risk.document["measures"]]
    assert all(len(row) == 3 for row in cells(html))
    assert all(len(row) == 2 for row in cells(shown["risk"][1]))
    attacks, html = shown["attacks"]
    ran = [entry for entry in attacks.document["attacks"] if entry["ran"]]
    assert [row[1:3] for row in cells(html)] == [[str(entry["persons"]), str(entry["learnt"])] for entry in ran]
    assert [row[0] for row in cells(shown["profile"][1])] == ["age", "town", "ill"]


def test_two_releases_on_one_page_have_figures_of_their_own(shown):
    release, html = shown["release"]
    page = Page(html + release._repr_html_())
    assert len(page.ids) == len(set(page.ids)) > 2
    assert set(page.refs) <= set(page.ids)
