"""A policy prints as a few lines, whatever is in it, and shows nothing that acts in a notebook."""

import indistinct as ind
from page import Page

POLICY = ind.Policy(
    attributes={
        "name": {"role": "identifying"},
        "age": {"role": "qi", "type": "integer", "domain": [0, 110]},
        "zip": {"role": "qi"},
        "ill": {"role": "sensitive"},
    },
    person={"key": "who"},
    privacy=[ind.KAnonymity(5), ind.TCloseness("ill", "1/6", "equal")],
    suppression={"limit": "0.02"},
)


def test_it_is_short_and_says_what_was_decided():
    assert repr(POLICY) == str(POLICY)
    assert repr(POLICY).splitlines() == [
        "Policy",
        "  identifying        name",
        "  quasi-identifying  age, zip",
        "  sensitive          ill",
        "  person             who",
        "  promise            k_anonymity: k = 5",
        '  promise            t_closeness of ill: t = "1/6", distance = "equal"',
        "  search             local, at most 2 % of the rows left out",
    ]


def test_many_columns_are_counted_and_drafts_named():
    attributes = {f"c{number}": {"role": "qi"} for number in range(10)}
    assert "c0, c1, c2, c3, c4, c5, c6, c7 and 2 more" in repr(ind.Policy(attributes=attributes))
    assert "promise            none yet" in repr(ind.Policy(attributes=attributes))
    drafted = ind.Policy.load('[attributes.age]\nrole = "qi"  # CONFIRM: looks like an age\n')
    assert "1 suggestion of a draft" in repr(drafted)


def test_names_do_not_act():
    evil = ind.Policy(attributes={"<script>x</script>": {"role": "qi"}, "\x1b[31m": {"role": "sensitive"}})
    page = Page(evil._repr_html_())
    assert "script" not in [tag for tag, _ in page.tags]
    assert page.open == []
    assert "\x1b" not in repr(evil)
