"""Open marks of a draft: comments that begin with CONFIRM, at their line and key."""

import pytest

import indistinct as ind
from indistinct.policy.marks import Mark, open_marks


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("", ()),
        ('model = "k"\nk = 5  # CONFIRM: usual\n', (Mark(2, "k"),)),
        ("[[privacy]]\nk = 5 #CONFIRM\n", (Mark(2, "privacy.k"),)),
        ("# CONFIRM the whole\n", (Mark(1, ""),)),
        ("# every line marked CONFIRM is a suggestion\n", ()),
        ("name = \"# CONFIRM\"\nother = '# CONFIRM'\n", ()),
        ('name = "a \\" # CONFIRM"  # CONFIRM: b\n', (Mark(1, "name"),)),
        ('why = """\n# CONFIRM\n"""\n', ()),
        ("why = '''\n# CONFIRM\n'''\nx = 1 # CONFIRM\n", (Mark(4, "x"),)),
        ("# it's open\nk = 5 # CONFIRM: it's usual\n", (Mark(2, "k"),)),
        ('[attributes.x]\nrole = "qi"  # CONFIRMED by Ada\n', ()),
    ],
)
def test_marks_are_found_where_they_stand(text, marks):
    assert open_marks(text) == marks


def test_a_policy_keeps_its_marks_when_it_moves_and_loses_them_with_its_text(tmp_path):
    text = '[attributes.a]\nrole = "qi"  # CONFIRM: no rule fits\nhierarchy = { kind = "suppress" }\n'
    (tmp_path / "draft.toml").write_text(text)
    policy = ind.Policy.load(tmp_path / "draft.toml")
    assert [mark.place for mark in policy.open_marks] == ["attributes.a.role"]
    assert policy.at(tmp_path / "elsewhere").open_marks == policy.open_marks
    assert ind.Policy(**policy.plain()).open_marks == ()
