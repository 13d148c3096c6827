"""What the steward says of a release: read, written, refused, and public only as far as it is called so."""

import pytest

import indistinct as ind
from indistinct.policy.public import public_form

HEAD = '[attributes.age]\nrole = "qi"\n[release]\n'
SAID = (
    'title = "Stays"\npurpose = "study"\nresponsible = "Dr. Meyer"\nreview = 2027-06-30\n'
    'reasons = { k = "rule" }\nkey_file = "secret.key"\n'
)


def test_it_is_read_and_written_again():
    policy = ind.Policy.load(HEAD + SAID + 'public = ["title", "review"]\n')
    assert policy.release.shown() == {
        "title": "Stays",
        "purpose": "study",
        "responsible": "Dr. Meyer",
        "review": "2027-06-30",
        "reasons": {"k": "rule"},
    }
    assert ind.Policy.load(policy.dumps()) == policy


def test_only_what_is_called_public_is_in_the_public_form():
    policy = ind.Policy.load(HEAD + SAID + 'public = ["title", "review"]\n')
    form = public_form(policy)
    assert form["release"] == {"title": "Stays", "review": "2027-06-30", "public": ["title", "review"]}
    assert ind.Policy(**form).release.shown_in_public() == {"title": "Stays", "review": "2027-06-30"}
    assert "release" not in public_form(ind.Policy.load(HEAD + SAID))


def test_it_decides_nothing_about_the_table():
    plain, said = ind.Policy.load('[attributes.age]\nrole = "qi"\n'), ind.Policy.load(HEAD + SAID)
    assert plain.hash() == said.hash()
    assert plain.fingerprint() == said.fingerprint()
    assert [(one.what, one.place.name) for one in said.origins] == [
        ("the key of the fingerprint of the source", "secret.key")
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('review = "soon"', r'release.review = "soon": must be a date, such as 2027-06-30'),
        ("review = 5", "release.review = 5: must be a date, such as 2027-06-30"),
        ('public = ["purpose"]', "is not said under \\[release\\]: set purpose, or leave it out here"),
        ('public = ["purpse"]', 'release.public\\[0\\] = "purpse": must be one of "title", "purpose"'),
        ('public = "title"', 'release.public = "title": must be a list of some of "title"'),
        ('titel = "x"', 'release.titel is an unknown key; did you mean "title"'),
        ('title = ""', "release.title is empty; give it a text, or leave it out"),
        ('reasons = "x"', "release.reasons"),
    ],
)  # fmt: skip
def test_mistakes_are_named(line, sentence):
    with pytest.raises(ind.PolicyError, match=sentence):
        ind.Policy.load(HEAD + line + "\n")
