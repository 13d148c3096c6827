"""Edits of a policy: each is one of its text, decides what it says and nothing else, and is read as any policy file."""

from fractions import Fraction

import pytest

import indistinct as ind
from indistinct.policy.marks import open_marks, settled
from indistinct.studio.edits import EDITS, edited, record_of
from indistinct.studio.view import view
from indistinct.studio.work import Work

TABLE = "who;born;zip;ill;pay\n" + "".join(
    f"p{n % 50};{1950 + n % 40}-0{1 + n % 9}-1{n % 9};0410{n % 7};{'abcd'[n % 4]};{n % 13}\n" for n in range(100)
)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits")
    (folder / "people.csv").write_text(TABLE, encoding="utf-8")
    found = Work()
    found.text = found.open(str(folder / "people.csv"))["text"]
    return found


def edit(work, text, what, **given):
    return edited(text, work.base, what, given, work.cards)


def places(text):
    return {(mark.place, mark.entry) for mark in open_marks(text)}


def test_a_draft_of_the_studio_searches_quickly_and_decides_nothing_else(work):
    policy = ind.Policy.load(work.text)
    assert policy.recoding.quality == "fast"
    assert ("attributes.zip.role", 0) in places(work.text)
    assert policy.table.source == "people.csv"


def test_a_role_decides_the_role_alone(work):
    text = edit(work, work.text, "role", column="zip", role="quasi_identifying")
    assert places(work.text) - places(text) == {("attributes.zip.role", 0)}
    assert ind.Policy.load(text).plain() == ind.Policy.load(work.text).plain()
    assert text.count("\n") == work.text.count("\n")  # the comments stay


@pytest.mark.parametrize("role", ["identifying", "quasi_identifying", "sensitive", "insensitive"])
@pytest.mark.parametrize("column", ["born", "zip", "ill", "pay"])
def test_any_column_takes_any_role_and_models_follow(work, column, role):
    text = edit(work, work.text, "role", column=column, role=role)
    policy = ind.Policy.load(text)
    assert policy.attributes[column].role == role
    named = {name for model in policy.privacy for name in model.attributes_used}
    assert (column in named) == (role == "sensitive")
    assert f"attributes.{column}.role" not in {place for place, _ in places(text)}
    again = edit(work, text, "role", column=column, role="quasi_identifying")
    assert ind.Policy.load(again).attributes[column].hierarchy is not None


def test_comments_of_a_person_stay(work):
    text = work.text.replace("[attributes.zip]", "# the council asked about this one\n[attributes.zip]")
    text = edit(work, text, "role", column="ill", role="insensitive")
    text = edit(work, text, "limit", percent="2.5")
    assert "# the council asked about this one" in text
    assert ind.Policy.load(text).suppression.limit == Fraction(1, 40)


def test_the_person_key_is_no_column_of_the_policy(work):
    text = edit(work, work.text, "person", column="who")
    policy = ind.Policy.load(text)
    assert (policy.person.key, "who" in policy.attributes) == ("who", False)
    text = edit(work, text, "person", column="")
    policy = ind.Policy.load(text)
    assert (policy.person, policy.attributes["who"].role) == (None, "identifying")


def test_a_number_decides_that_of_its_model_alone(work):
    text = edit(work, work.text, "role", column="pay", role="sensitive")
    text = edit(work, text, "role", column="ill", role="sensitive")
    seen = view(text, work.base, work.names)["models"]
    ls = [own["place"] for own in seen if own["kind"] == "l"]
    assert len(ls) == 2
    marked = text.replace("l = 3\n", "l = 3  # CONFIRM: why\n")
    before = places(marked)
    after = places(edit(work, marked, "promise", model=str(ls[0]), parameter="l", value="2"))
    assert before - after == {("privacy.l", ls[0])} & before


@pytest.mark.parametrize(("value", "told"), [("0", "k"), ("", "k"), ("1.5", "k"), ("five", "k"), ("-3", "k")])
def test_a_number_that_no_policy_takes_is_refused(work, value, told):
    with pytest.raises(ind.PolicyError, match=told):
        edit(work, work.text, "promise", model="0", parameter="k", value=value)


@pytest.mark.parametrize("percent", ["", "many", "101", "-1", "1/0"])
def test_a_share_of_rows_that_cannot_be_is_refused(work, percent):
    with pytest.raises(ind.PolicyError):
        edit(work, work.text, "limit", percent=percent)


def test_numbers_stay_exact(work):
    text = edit(work, work.text, "limit", percent="0.3")
    assert "limit = 0.003" in text
    text = edit(work, text, "role", column="ill", role="sensitive")
    text = edit(work, text, "fear", fear="nearness", column="ill", on="1")
    text = edit(work, text, "promise", model=str(len(ind.Policy.load(text).privacy) - 1), parameter="t", value="0.35")
    assert "t = 0.35" in text


def test_a_recipient_sets_where_numbers_start(work):
    text = edit(work, work.text, "role", column="ill", role="sensitive")
    policy = ind.Policy.load(edit(work, text, "recipient", recipient="public"))
    assert [own.model for own in policy.privacy] == ["k_anonymity", "distinct_l", "t_closeness"]
    assert (policy.privacy[0].k, policy.privacy[1].l, float(policy.privacy[2].t)) == (11, 3, 0.4)
    assert float(policy.suppression.limit) == 0.05
    with pytest.raises(ind.PolicyError, match="recipients are"):
        edit(work, text, "recipient", recipient="friends")


def test_what_is_feared_chooses_the_models(work):
    text = edit(work, work.text, "role", column="ill", role="sensitive")
    off = edit(work, edit(work, text, "fear", fear="identity", on="0"), "fear", fear="attribute", column="ill", on="0")
    assert ind.Policy.load(off).privacy == ()
    on = edit(work, off, "fear", fear="identity", on="1")
    assert [own.model for own in ind.Policy.load(on).privacy] == ["k_anonymity"]


def test_accepting_a_step_decides_what_it_shows(work):
    text = edit(work, work.text, "accept", which="coarser")
    left = {place.split(".")[-1] for place, _ in places(text) if place.startswith("attributes.")}
    assert left == {"role"}
    text = edit(work, text, "accept", which="promise")
    assert not {place for place, _ in places(text) if place.startswith(("privacy", "suppression"))}


def test_what_is_written_down_is_what_the_reports_ask_for_and_changes_no_decision(work):
    given = {"purpose": "A study\nof stays", "responsible": "Li", "reasons": "usual", "review": "2027-01-31"}
    text = edit(work, work.text, "record", **given)
    policy = ind.Policy.load(text)
    assert policy.release.shown() == {
        "purpose": "A study of stays", "responsible": "Li", "review": "2027-01-31", "reasons": {"numbers": "usual"},
    }  # fmt: skip
    assert record_of(policy) == {**given, "purpose": "A study of stays"}
    assert places(text) == places(work.text)
    again = edit(work, text, "record", purpose="Another")
    assert record_of(ind.Policy.load(again)) == {"purpose": "Another"}
    assert ind.Policy.load(edit(work, again, "record", purpose="")).plain() == ind.Policy.load(work.text).plain()


@pytest.mark.slow
def test_every_offered_way_of_becoming_coarser_is_a_policy(work):
    for name, card in work.cards.items():
        text = edit(work, work.text, "role", column=name, role="quasi_identifying")
        for choice in card["choices"]:
            new = edit(work, text, "hierarchy", column=name, choice=choice["key"])
            seen = {own["name"]: own["spec"] for own in view(new, work.base, work.names)["columns"]}
            assert seen[name] == choice["spec"], choice  # so that the page knows which one is chosen


def test_a_table_in_which_nothing_looks_known_can_be_opened_all_the_same(tmp_path):
    rows = "".join(f"Ada Weber {n};ada{n}@example.org\n" for n in range(40))
    (tmp_path / "mail.csv").write_text("name;mail\n" + rows, encoding="utf-8")
    seen = Work().open(str(tmp_path / "mail.csv"))["view"]
    assert [own["open"] for own in seen["columns"]] == [True, True]  # both are asked about


def test_there_is_no_other_edit(work):
    with pytest.raises(ind.PolicyError, match="no edit"):
        edit(work, work.text, "output")
    assert "output" not in EDITS


def test_marks_are_settled_one_by_one():
    text = '[[privacy]]\nl = 3  # CONFIRM: a\n[[privacy]]\nl = 3  # CONFIRM: b "#"\nnote = "# CONFIRM"\n'
    assert settled(text, lambda mark: mark.entry == 1) == (
        '[[privacy]]\nl = 3  # CONFIRM: a\n[[privacy]]\nl = 3\nnote = "# CONFIRM"\n'
    )
