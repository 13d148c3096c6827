"""Columns published unchanged that tell a generalized one are named; what only looks like it is not."""

import json
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.cli.app import run
from indistinct.publish.ready import check
from indistinct.session import restates

CASE = Path(__file__).parent / "06-length-of-stay-tells-the-date"
PLAIN = {"role": "insensitive", "confirmed": ["unique"]}
SUPPRESSED = {"role": "qi", "hierarchy": {"kind": "suppress"}}
MONTHS = {"role": "qi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["month", "year"]}}
FIRST = date(2024, 1, 1)


@pytest.fixture
def case(tmp_path, monkeypatch):
    shutil.copytree(CASE, tmp_path / "case")
    monkeypatch.chdir(tmp_path / "case")
    return json.loads(Path("expected.json").read_text())["expect"]["warning_names"]


def told(table, attributes, k=2, **settings):
    """(column told, message) of every warning of this kind."""
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(k)], **settings)
    warnings = ind.anonymize(pa.table(table), policy).document["warnings"]
    return [(one["column"], one["message"]) for one in warnings if one["kind"] == "restates"]


def test_stay_and_discharge_tell_the_admission(case, capfd):
    for words in (["anonymize", "--policy", "policy.toml", "--output", "out.csv"], ["policy", "check", "policy.toml"]):
        assert run([*words, "--json"]) == 0
        warnings = json.loads(capfd.readouterr().out)["warnings"]
        (found,) = [one["message"] for one in warnings if one["kind"] == "restates"]
        assert all(f'"{name}"' in found for name in case)
        assert "difference" in found
        assert "4 of 4 rows" in found


@pytest.mark.slow
@pytest.mark.parametrize(("confirmed", "warned"), [("true", 0), ('["restates"]', 0), ('["unique"]', 1), ("false", 1)])
@pytest.mark.parametrize("column", ["discharged", "los"])
@pytest.mark.usefixtures("case")
def test_a_confirmation_silences_it(column, confirmed, warned, capfd):
    text = Path("policy.toml").read_text()
    heading = f"[attributes.{column}]"
    Path("policy.toml").write_text(text.replace(heading, f"{heading}\nconfirmed={confirmed}"))
    assert run(["anonymize", "--policy", "policy.toml", "--output", "out.csv", "--json"]) == 0
    warnings = json.loads(capfd.readouterr().out)["warnings"]
    assert len([one for one in warnings if one["kind"] == "restates"]) == warned
    near = [one["column"] for one in warnings if one["kind"] == "near-unique"]
    assert (column in near) == (confirmed in ("false", '["restates"]'))


def test_a_unit_tells_its_ward():
    # six wards of two units each, four rows a unit; a ward is published as *
    ward = np.repeat(["w1", "w2", "w3", "w4", "w5", "w6"], 8)
    unit = np.repeat([f"u{i}" for i in range(12)], 4)
    found = told({"ward": ward, "unit": unit}, {"ward": SUPPRESSED, "unit": PLAIN}, k=10)
    ((column, message),) = found
    assert column == "ward"
    assert '"unit" is published unchanged and tells "ward"' in message
    assert "48 of 48 rows" in message
    assert "right in 8" in message  # the largest ward has eight of the rows behind *
    assert told({"ward": ward, "unit": unit}, {"ward": SUPPRESSED, "unit": {**PLAIN, "confirmed": True}}, k=10) == []


def test_a_district_tells_a_postcode_to_a_level():
    # 5 districts with 4 postcodes each of 3 rows; only the first two digits and the root are left to the postcode
    zips = np.repeat([f"{d}{i}0" for d in range(5) for i in range(4)], 3)
    district = np.repeat([f"district {d}" for d in range(5)], 12)
    masked = {"role": "qi", "hierarchy": {"kind": "masking"}}
    ((column, message),) = told({"zip": zips, "district": district}, {"zip": masked, "district": PLAIN}, k=30)
    assert column == "zip"
    assert 'tells "zip" up to level 2 of its hierarchy' in message  # 010, 01*, 0**: the district is the first digit


def below_a_floor():
    """(column told, its attribute, columns, what the message says) for floors of every kind."""
    days = [FIRST + timedelta(days=i % 60) for i in range(240)]
    text = {"role": "qi"}
    zips = [f"0213{i % 3}-{4300 + i % 20}" for i in range(240)]
    short = [f"021{i % 20:02}" for i in range(240)]
    hours = [datetime(2024, 1, 1 + i % 3, i % 20) for i in range(240)]  # noqa: DTZ001  # local, as in a file
    ages = [85 + i % 12 for i in range(240)]
    masked = {"kind": "masking"}
    by_day = {"kind": "dates", "levels": ["day", "month"]}
    pooled = {"kind": "intervals", "widths": [5], "top": 90}
    whole = 'tells "{}": it'
    return {
        "day of a month": (MONTHS, days, [str(day.day) for day in days], whole),
        "plus four of a postcode": ({**text, "hierarchy": masked, "min_level": 5}, zips, [z[-4:] for z in zips], whole),
        "district of a postcode": (
            {**text, "hierarchy": masked, "min_level": 3},
            short,
            ["north" if code[3] == "0" else "south" for code in short],  # 0210x and 0211x, published as 02***
            'tells "{}" up to level 1 of its hierarchy',
        ),
        "time of a day": ({**text, "type": "date", "hierarchy": by_day}, hours, [f"{at:%H} h" for at in hours], whole),
        "cohort of the oldest": (
            {**text, "type": "integer", "hierarchy": pooled},
            ages,
            [f"born {2024 - age}" for age in ages],  # 90 to 96 are published as 90+
            whole,
        ),
    }


@pytest.mark.parametrize("floor", below_a_floor())
def test_what_a_floor_joins_is_told_apart_by_a_column(floor):
    attribute, hidden, plain, what = below_a_floor()[floor]
    found = told({"own": hidden, "other": plain}, {"own": attribute, "other": PLAIN}, k=3)
    ((column, message),) = found
    assert column == "own"
    assert '"other" is published unchanged and ' + what.format("own") in message
    assert "240 of 240 rows" in message


@pytest.mark.parametrize(
    ("how", "attributes", "table"),
    [
        ("their difference", {"stay": "decimal", "out": "date", "into": MONTHS}, "stay"),
        ("their sum", {"nights": "integer", "planned": "date", "into": MONTHS}, "sum"),
        ("but for a constant", {"billed": "date", "into": MONTHS}, "offset"),
        ("their difference in years", {"born": "date", "seen": "date"}, "age"),
        ("their sum", {"a": "integer", "b": "integer"}, "numbers"),
    ],
)
def test_sums_and_differences(how, attributes, table):
    # every column is nearly unique: nothing but arithmetic can tell
    n = 60
    into = [FIRST + timedelta(days=(i * 37) % 331) for i in range(n)]
    length = [1 + (i * 13) % 29 for i in range(n)]
    later = [day + timedelta(days=days) for day, days in zip(into, length, strict=True)]
    born = [date(1930 + i, 1 + i % 12, 1 + (i * 7) % 28) for i in range(n)]
    ages = [
        day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
        for day, birth in zip(into, born, strict=True)
    ]
    data = {
        "stay": {"into": into, "out": later, "stay": [24.0 * days for days in length]},  # in hours
        "sum": {"into": later, "planned": into, "nights": length},
        "offset": {"into": into, "billed": [day + timedelta(days=14) for day in into]},
        "age": {"age": ages, "born": born, "seen": into},
        "numbers": {
            "total": [i * i + 3 * i for i in range(n)],
            "a": [i * i for i in range(n)],
            "b": [*range(0, 3 * n, 3)],
        },
    }[table]
    plain = {name: {**PLAIN, "type": kind} for name, kind in attributes.items() if name != "into"}
    ranges = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}
    hidden = {name: MONTHS if name == "into" else ranges for name in data if name not in plain}
    confirmed = {name: {**own, "confirmed": ["unique"]} for name, own in plain.items()}
    found = told(data, hidden | confirmed, k=3)
    assert found, data.keys()
    assert any(how in message for _, message in found)
    assert {column for column, _ in found} == set(hidden)


@pytest.mark.parametrize("floor", below_a_floor())
def test_a_check_names_what_a_release_will_name(floor):
    attribute, hidden, plain, _ = below_a_floor()[floor]
    policy = ind.Policy(attributes={"own": attribute, "other": PLAIN}, privacy=[ind.KAnonymity(3)])
    warnings = check(policy, pa.table({"own": hidden, "other": plain}))["warnings"]
    (found,) = [one for one in warnings if one["kind"] == "restates"]
    assert found["column"] == "own"
    assert '"other" is published unchanged and tells "own"' in found["message"]


@pytest.mark.parametrize("seed", [1, 2])
def test_no_false_alarm_below_a_floor(seed):
    draw = np.random.default_rng(seed)
    days = [FIRST + timedelta(days=int(day)) for day in draw.integers(0, 365, 400)]
    zips = [str(code) for code in draw.integers(10_000, 10_400, 400)]
    plain = {
        "weekday": [str(day.weekday()) for day in days],
        "half": [str(day.day > 15) for day in days],
        "other": draw.integers(0, 30, 400).astype(str),
        "pairs": np.array([f"v{i // 2}" for i in range(400)])[draw.permutation(400)],
    }
    attributes = {"admitted": MONTHS, "zip": {"role": "qi", "hierarchy": {"kind": "masking"}, "min_level": 2}}
    table, attributes = {"admitted": days, "zip": zips, **plain}, attributes | dict.fromkeys(plain, PLAIN)
    assert told(table, attributes, k=5) == []
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(5)])
    assert not [one for one in check(policy, pa.table(table))["warnings"] if one["kind"] == "restates"]


def wide(columns, rows=80):
    """Draw a table of mostly empty counts, in which the last two columns add up to the generalized one."""
    draw = np.random.default_rng(3)
    sparse = draw.integers(1, 9, (columns, rows)) * (draw.random((columns, rows)) < 0.1)
    table = {f"n{i}": sparse[i] for i in range(columns - 2)}
    paid, owed = draw.integers(0, 900, (2, rows)) * (draw.random(rows) < 0.5)
    ranges = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}
    plain = {name: {**PLAIN, "type": "integer"} for name in (*table, "paid", "owed")}
    return {"total": paid + owed, **table, "paid": paid, "owed": owed}, {"total": ranges, **plain}


def test_all_of_many_columns_are_combined_in_bounded_work(monkeypatch):
    table, attributes = wide(120)  # 7,140 pairs
    looked = []
    by_pair = restates._by_pair
    monkeypatch.setattr(restates, "_by_pair", lambda *given: looked.append(given) or by_pair(*given))
    ((column, message),) = told(table, attributes, k=5)
    assert column == "total"
    assert '"paid" and "owed" are published unchanged, and "total" is their sum' in message
    assert len(looked) <= 12  # a tenth of the columns


@pytest.mark.slow
def test_columns_that_were_not_combined_are_counted():
    table, attributes = wide(restates.COMBINED + 1)
    ((column, message),) = told(table, attributes, k=5)
    assert column == "total"
    assert f"only the first {restates.COMBINED} of {restates.COMBINED + 1} columns" in message


def test_one_typing_error_does_not_hide_it():
    ward = np.repeat(["w1", "w2", "w3", "w4"], 50)
    unit = np.repeat([f"u{i}" for i in range(8)], 25)
    unit[0] = "u7"
    ((_, message),) = told({"ward": ward, "unit": unit}, {"ward": SUPPRESSED, "unit": PLAIN}, k=60)
    assert "199 of 200 rows" in message


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("constant", lambda _: np.repeat("x", 400)),
        ("nearly unique", lambda _: np.array([f"v{i}" for i in range(400)])),
        ("pairs", lambda _: np.array([f"v{i // 2}" for i in range(400)])[np.random.default_rng(5).permutation(400)]),
        ("independent", lambda draw: draw.integers(0, 40, 400).astype(str)),
        ("coarse", lambda draw: draw.integers(0, 2, 400).astype(str)),
    ],
)
@pytest.mark.parametrize("skewed", [False, True])
def test_no_false_alarm(name, values, skewed):
    draw = np.random.default_rng(len(name))
    shares = [0.97, 0.01, 0.01, 0.01] if skewed else [0.25] * 4
    ward = draw.choice(["w1", "w2", "w3", "w4"], 400, p=shares)
    table = {"ward": ward, "other": values(draw)}
    assert told(table, {"ward": SUPPRESSED, "other": PLAIN}, k=250) == []


def test_numbers_that_have_nothing_to_do_with_each_other_are_silent():
    draw = np.random.default_rng(11)
    bounds = {"age": 90, "a": 3, "b": 2, "c": 40, "d": 90}
    table = {name: draw.integers(0, bound, 500) for name, bound in bounds.items()}
    plain = {name: {**PLAIN, "type": "integer"} for name in "abcd"}
    ranges = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}
    assert told(table, {"age": ranges, **plain}, k=5) == []


def test_what_is_published_as_it_is_is_not_told():
    # unit determines ward, and the ward of every row stands in the release anyway
    ward, unit = np.repeat(["w1", "w2"], 20), np.repeat(["u1", "u2", "u3", "u4"], 10)
    assert told({"ward": ward, "unit": unit}, {"ward": SUPPRESSED, "unit": PLAIN}, k=5) == []


def test_rows_of_one_person_confirm_nothing():
    # a receipt belongs to one person, whose ward never changes: to others the receipts say nothing
    person = np.repeat(np.arange(30), 4)
    table = {"person": person, "ward": np.array(["w1", "w2", "w3"])[person % 3], "receipt": person.astype(str)}
    attributes = {"ward": SUPPRESSED, "receipt": PLAIN}
    assert told(table, attributes, k=25, person={"key": "person"}) == []
    ((_, message),) = told(table, {**attributes, "person": {"role": "id"}}, k=50)
    assert "120 of 120 rows" in message


def test_suppressed_rows_that_are_published_with_stars_are_told_too():
    # 8 of 28 rows are no class of 10, and must not be joined to the 20
    ward = np.array(["w1"] * 20 + ["w2"] * 3 + ["w3"] * 3 + ["w4"] * 2)
    table = {"ward": ward, "unit": np.char.replace(ward, "w", "u")}
    attributes = {"ward": SUPPRESSED, "unit": PLAIN}
    asked = {"k": 10, "recoding": {"algorithm": "optimal"}}
    ((column, message),) = told(table, attributes, **asked, suppression={"limit": 0.5, "rows": "exempt"})
    assert column == "ward"
    assert "28 of 28 rows" in message
    assert told(table, attributes, **asked, suppression={"limit": 0.5, "rows": "drop"}) == []


def test_a_column_beside_groups_tells_the_value_that_they_hide():
    ill = ["flu", "hiv", "cold", "burn"] * 20
    table = {"age": [str(20 + i % 39) for i in range(80)], "code": [f"X{name}" for name in ill], "ill": ill}
    policy = ind.Policy(
        attributes={"age": {"role": "qi"}, "code": PLAIN, "ill": {"role": "sensitive"}},
        privacy=[ind.DistinctL("ill", 3)],
        recoding={"algorithm": "anatomy"},
        suppression={"limit": 0.1},
    )
    warnings = ind.anonymize(pa.table(table), policy).document["warnings"]
    (found,) = [one for one in warnings if one["kind"] == "restates"]
    assert found["column"] == "ill"
    assert '"code" is published unchanged and tells "ill"' in found["message"]


@pytest.mark.slow
def test_profile_names_what_would_tell_a_quasi_identifier():
    wards = {"A1": "A", "A2": "A", "B1": "B", "B2": "B"}
    table = pa.table(
        {
            "patient": [f"p{i}" for i in range(40)],
            "ward": [list(wards)[i % 4] for i in range(40)],
            "unit": [wards[list(wards)[i % 4]] for i in range(40)],
            "age": [20 + i * 7 % 11 for i in range(40)],
            "birth_year": [2004 - i * 7 % 11 for i in range(40)],
            "sex": [list("fm")[i * i % 7 % 2] for i in range(40)],
        }
    )
    told = [one for one in ind.profile(table).document["warnings"] if one["kind"] == "restates"]
    pairs = {(one["column"], name) for one in told for name in table.column_names
             if f'others: "{name}" is published' in one["message"]}  # fmt: skip
    assert pairs == {("unit", "ward"), ("age", "birth_year"), ("birth_year", "age")}
    assert all(one["message"].startswith(f'under a policy that generalizes "{one["column"]}"') for one in told)


def test_profile_is_silent_where_nothing_tells_another():
    table = pa.table({"age": [20 + i % 9 for i in range(80)], "sex": [list("fm")[i // 3 % 2] for i in range(80)]})
    assert not [one for one in ind.profile(table).document["warnings"] if one["kind"] == "restates"]


def test_compare_warns_of_what_anonymize_warns(case):
    warnings = ind.compare("input.csv", "policy.toml", algorithms=["local"]).document["warnings"]
    (found,) = [one["message"] for one in warnings if one["kind"] == "restates"]
    assert all(f'"{name}"' in found for name in case)
