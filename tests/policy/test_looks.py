"""What a draft makes of columns as they arrive: dirt, codes, keys, bands and times."""

from collections import Counter
from datetime import date, timedelta
from random import Random

import pytest

from indistinct.policy import Policy, Suggestion, draft, facts_of, suggest
from indistinct.policy.draft import section

ROWS = 400
DAYS = [date(1940, 1, 1) + timedelta(73 * i) for i in range(ROWS)]
PERSONS = [i * 7 % 260 for i in range(ROWS)]


def column(name, values):
    counts = Counter(value or None for value in values)
    return facts_of(name, list(counts), list(counts.values()))


def dirty(values, *tokens):
    """Put each token in four cells."""
    values = list(values)
    for place, token in enumerate(tokens):
        for row in range(4):
            values[row * 50 + place] = token
    return values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "kind", "form", "strays"),
    [
        (dirty([day.strftime("%d.%m.%Y") for day in DAYS], "00.00.0000", " "), "date", "%d.%m.%Y", {"00.00.0000", " "}),
        (dirty([day.strftime("%m/%d/%Y") for day in DAYS], "00/00/0000"), "date", "%m/%d/%Y", {"00/00/0000"}),
        ([f"{day:%d.%m.%Y} 14:30" for day in DAYS], "date", "%d.%m.%Y %H:%M", set()),
        ([f"{day:%Y}年{day:%m}月{day:%d}日" for day in DAYS], "date", "%Y年%m月%d日", set()),
        ([f"{day}T10:00:00+01:00" for day in DAYS], "date", "%Y-%m-%d", set()),
        (dirty([str(i % 100) for i in range(ROWS)], "unbek.", "999"), "integer", None, {"unbek.", "999"}),
        (dirty([str(40 + i % 80) for i in range(ROWS)], "-9"), "integer", None, {"-9"}),
        (dirty([f"{i % 90},5" for i in range(ROWS)], "k.A."), "decimal", None, {"k.A."}),
        (dirty(["north", "south"] * 200, "不详"), "text", None, {"不详"}),
        ([f"{i % 24:02}:{i % 60:02}" for i in range(ROWS)], "time", None, set()),
        (["20-29", "30-39", "80-89", "90+"] * 100, "bands", None, set()),
        (["01067", "80331"] * 200, "code", None, set()),  # a leading zero makes all of them codes
        (dirty([str(i % 90 + 100) for i in range(ROWS)], "A12"), "code", None, set()),
    ],
)
def test_a_type_is_proposed_where_nearly_all_cells_fit(values, kind, form, strays):
    facts = column("x", values)
    assert (facts.looks_like, facts.format) == (kind, form)
    assert {text for text, _ in facts.strays} == strays
    assert all(count == 4 for _, count in facts.strays)


def test_more_than_five_percent_of_dirt_is_no_type():
    values = [str(i % 100) for i in range(90)]
    assert column("x", [*values, *["?"] * 4]).looks_like == "integer"
    assert column("x", [*values, *["?"] * 10]).looks_like != "integer"


@pytest.mark.parametrize(
    "values",
    [
        [day.strftime("%d.%m.%y") for day in DAYS],  # of which century?
        [f"{day}T10:00:00+0{1 + day.month % 2}:00" for day in DAYS],  # two offsets from UTC
    ],
)
def test_dates_that_cannot_be_read_are_published_whole_or_not_at_all(values):
    text = draft([column("birth", values)])
    assert 'hierarchy = { kind = "suppress" }' in text
    assert "type =" not in text
    assert "masking" not in text  # the first digits of a day are no generalization of a date


@pytest.mark.parametrize(
    ("name", "values", "role", "person"),
    [
        ("Kennung", [f"K{i:05}" for i in PERSONS], "identifying", True),
        ("x1", [f"K{i:05}" for i in PERSONS], "identifying", True),
        ("Fallnummer", [str(100000 + i) for i in range(ROWS)], "identifying", False),
        ("住院号", [str(100000 + i) for i in PERSONS], "identifying", True),
        ("haushalt_id", [f"H{i // 3}" for i in PERSONS], "identifying", True),
        ("N1", [f"{chr(65 + i % 26)}ar{chr(97 + i // 26)}ke" for i in range(ROWS)], "identifying", False),
        ("Hausarzt", [f"Dr. {chr(65 + i % 26)}o{chr(97 + i // 26)}s" for i in range(ROWS)], "identifying", False),
        ("contact", [f"a{i}@b.org" if i % 2 else f"desk {i}" for i in range(ROWS)], "identifying", False),
        ("Gerätenummer", ["a", "b"] * 200, "identifying", False),
        ("lat", [f"5{i % 9}.{i:04}" for i in range(ROWS)], "identifying", False),
        ("place", [f"5{i % 9}.{i:04}, 13.{i:04}" for i in range(ROWS)], "identifying", False),
        ("x2", ["J18.1", "K35.2", "I10", "E11.9", "F32.1"] * 80, "sensitive", False),
        ("x3", ["C09AA05", "N02BE01", "A10BA02", "C07AB02"] * 100, "sensitive", False),
        ("alcohol per week", ["0", "1", "2", "3"] * 100, "sensitive", False),
        ("Stimmung heute", ["gut", "schlecht"] * 200, "sensitive", False),
        ("Aufnahmedatum", [str(day) for day in DAYS], "quasi_identifying", False),
        ("Wohnort", ["Ulm", "Bonn", "Halle", "Kiel"] * 100, "quasi_identifying", False),
    ],
)
def test_who_is_who(name, values, role, person):
    suggestion = suggest(column(name, values))
    assert (suggestion.role, suggestion.is_person) == (role, person)


def test_a_household_is_the_key_before_its_members():
    columns = [
        column("patient_id", [f"P{i:04}" for i in PERSONS]),
        column("household_id", [f"H{i // 3}" for i in PERSONS]),
        column("sex", ["f", "m"] * 200),
    ]
    text = draft(columns)
    policy = Policy.load(text)
    assert policy.person.key == "household_id"
    assert policy.attributes["patient_id"].role == "identifying"
    assert '# "patient_id" could be the key too' in text


def test_few_whole_numbers_and_labelled_ones_are_codes_and_never_a_range():
    few = column("q7", ["1", "2", "9"] * 130)
    labelled = facts_of("q8", [str(i) for i in range(100, 140)], [10] * 40, labelled=True)
    ages = column("Alter", [str(20 + i % 5) for i in range(ROWS)])
    policy = Policy.load(draft([few, labelled, ages]))
    assert {name: (own.type, own.spec["kind"]) for name, own in policy.attributes.items()} == {
        "q7": ("text", "set"),
        "q8": ("text", "set"),
        "Alter": ("integer", "range"),
    }


def test_bands_join_their_neighbours():
    values = ["30-39", "90+", ">=90", "20-29", "<20"] * 80
    attribute = Policy.load(draft([column("Altersgruppe", values)])).attributes["Altersgruppe"]
    assert attribute.order == ("<20", "20-29", "30-39", "90+", ">=90")
    assert (attribute.type, attribute.spec) == ("ordinal", {"kind": "range"})


def test_no_draft_publishes_an_identifier_whatever_the_dirt():
    names = [f"{chr(65 + i % 26)}ar{chr(97 + i // 26)}ke" for i in range(ROWS)]
    for header in ("x", "N1", "Spalte 3", "列"):
        for values in (dirty(names, "unbek.", " "), dirty([f"{i * 7919 % 99991:05}" for i in range(ROWS)], "-9")):
            assert suggest(column(header, values)).role == "identifying", header


def _repeated(form, different, rows, name="x"):
    random = Random(f"{name} {different}")  # noqa: S311  # the same codes every time
    values = [form(random) for _ in range(different)]
    return column(name, [random.choice(values) for _ in range(rows)])


NUMBERS_OF_PERSONS = {
    "a letter and six digits": lambda random: f"{random.choice('ABKLM')}{random.randrange(10**6):06}",
    "a letter and four digits": lambda random: f"{random.choice('ABKLM')}{random.randrange(10**4):04}",
    "as ATC groups": lambda random: f"{random.choice('ABCDG')}{random.randrange(100):02}{random.choice('ABCDEF')}",
    "five digits": lambda random: str(random.randrange(10_000, 99_999)),
    "with a hyphen": lambda random: f"{random.choice('ABK')}{random.choice('XYZ')}-{random.randrange(1000):03}",
}


@pytest.mark.parametrize("form", NUMBERS_OF_PERSONS)
def test_a_number_of_persons_is_no_code_of_a_disease(form):
    found = suggest(_repeated(NUMBERS_OF_PERSONS[form], 400, 3000))
    assert (found.role, found.is_person) == ("identifying", True)


@pytest.mark.parametrize("name", ["patient_id", "Patnr", "病人编号", "case_no", "customer", "kunde_id", "id", "x"])
@pytest.mark.parametrize("different", [20, 100])
def test_few_persons_with_many_rows_are_persons(name, different):
    form = NUMBERS_OF_PERSONS["a letter and six digits"]
    found = suggest(_repeated(form, different, 3000, name))
    assert (found.role, found.is_person) == ("identifying", True)


def test_codes_of_a_disease_are_sensitive_with_their_dot_or_their_header():
    codes = ["E11.9", "I10", "J18.9", "K35.8", "F32.1", "M54.5"]
    assert suggest(column("x", codes * 20)).role == "sensitive"
    bare = [code.replace(".", "") for code in codes]
    assert suggest(column("icd", bare * 20)).role == "sensitive"
    assert suggest(column("x", bare * 20)).role == "quasi_identifying"  # six short codes under no header


def test_a_date_in_another_spelling_is_not_called_nothing():
    dates = [f"{1 + day % 28:02}.03.1980" for day in range(120)]
    drafted = "\n".join(section(column("born", [*dates, "1980", "00.00.0000"]), Suggestion("quasi_identifying", "")))
    assert 'mend "1980" in the table if these are values in another spelling' in drafted
    only = "\n".join(section(column("born", [*dates, "00.00.0000"]), Suggestion("quasi_identifying", "")))
    assert "they seem to say nothing" in only
