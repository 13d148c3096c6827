"""Shifted dates: intervals of a person stay, persons move apart, and what cannot be moved is named."""

from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.session.transformed import apply_transforms

WHO = ["a", "a", "b", "b", "b", None, None]
FROM = ["2024-03-01", "2024-03-13", "2023-12-31", "2024-02-29", None, "2024-05-01", "2024-05-01"]
TO = ["2024-03-05", "2024-03-20", "2024-01-02", None, "2024-06-01", "2024-05-02", "2024-05-03"]
TABLE = pa.table({"who": WHO, "from": FROM, "to": TO, "note": list("stuvwxy")})


def policy(days=1000, **changes):
    return ind.Policy(
        **{
            "person": {"key": "who"},
            "attributes": {
                "from": {"role": "qi", "type": "date"},
                "to": {"role": "insensitive", "type": "date"},
                "note": {"role": "insensitive", "confirmed": True},
            },
            "transforms": [{"method": "shift_dates", "attributes": ["from", "to"], "days": days}],
            **changes,
        }
    )


def moved(table=TABLE, asked=None, seed=3):
    """Offsets in days by the note of the row, for each column."""
    found = apply_transforms(table, asked or policy(), seed=seed)
    after = {row["note"]: row for row in found.table.to_pylist()}
    before = {row["note"]: row for row in table.to_pylist()}
    offsets = {
        note: [
            (date.fromisoformat(row[name]) - date.fromisoformat(before[note][name])).days
            for name in ("from", "to")
            if before[note][name]
        ]
        for note, row in after.items()
    }
    blank = {(note, name) for note in after for name in ("from", "to") if not after[note][name]}
    assert blank == {(note, name) for note in after for name in ("from", "to") if not before[note][name]}
    return found, offsets


def test_every_person_has_one_offset_and_blanks_stay():
    _, offsets = moved()
    by_person = {}
    for note, found in offsets.items():
        who = WHO["stuvwxy".index(note)] or note  # a row without a key is a person of its own
        by_person.setdefault(who, set()).update(found)
    assert all(len(found) == 1 for found in by_person.values())
    values = [found.pop() for found in by_person.values()]
    assert len(set(values)) == len(values) == 4
    assert all(-1000 <= value <= 1000 for value in values)


def test_offsets_are_uniform_over_both_directions():
    many = pa.table({"who": [f"p{i}" for i in range(5000)], "from": ["2024-03-01"] * 5000, "to": ["2024-03-02"] * 5000,
                     "note": [str(i) for i in range(5000)]})  # fmt: skip
    found = apply_transforms(many, policy(days=2), seed=1)
    days = [(date.fromisoformat(text) - date(2024, 3, 1)).days for text in found.table.column("from").to_pylist()]
    counts = np.bincount(np.array(days) + 2, minlength=5)
    assert counts.sum() == 5000
    assert abs(counts - 1000).max() < 5 * np.sqrt(5000 * 0.2 * 0.8)  # five standard deviations of a count
    assert found.document["transforms"][0]["loss"] == {
        "rows_moved": 5000,
        "mean_days": pytest.approx(float(np.abs(days).mean())),
    }


def test_time_of_day_and_format_stay():
    table = pa.table({"who": ["a", "a"], "at": ["01.03.2024 08:30", "02.03.2024 23:59"]})
    asked = policy(
        attributes={"at": {"role": "qi", "type": "date", "format": "%d.%m.%Y %H:%M"}},
        transforms=[{"method": "shift_dates", "attributes": ["at"], "days": 30}],
    )
    texts = apply_transforms(table, asked, seed=5).table.column("at").to_pylist()
    one, other = sorted(datetime.strptime(text, "%d.%m.%Y %H:%M") for text in texts)  # noqa: DTZ007  # no zone is meant
    assert other - one == timedelta(days=1, hours=15, minutes=29)
    assert (one.hour, one.minute) == (8, 30)


def test_the_key_is_not_published_and_what_it_tells_is_said():
    found, _ = moved()
    assert "who" not in found.table.column_names
    kinds = {warning["kind"] for warning in found.document["warnings"]}
    assert {"perturbing", "shifted"} <= kinds
    assert found.document["declares"] == "perturbing"
    assert "one secret number of days" in found.document["transforms"][0]["says"]


def test_after_a_sample_keys_still_belong_to_their_rows():
    asked = policy(
        transforms=[
            {"method": "sampling", "rows": 5},
            {"method": "shift_dates", "attributes": ["from", "to"], "days": 1000},
        ]
    )
    for seed in range(5):
        _, offsets = moved(asked=asked, seed=seed)
        for who in "ab":
            own = {value for note, found in offsets.items() if WHO["stuvwxy".index(note)] == who for value in found}
            assert len(own) <= 1


def test_without_a_seed_two_runs_differ():
    texts = [apply_transforms(TABLE, policy()).table.column("to").to_pylist() for _ in range(2)]
    assert sorted(map(str, texts[0])) != sorted(map(str, texts[1]))


def test_a_release_of_shifted_dates_claims_no_coverage():
    asked = policy(
        attributes={
            "from": {"role": "qi", "type": "date", "hierarchy": {"kind": "range"}},
            "to": {"role": "qi", "type": "date", "hierarchy": {"kind": "suppress"}},
            "note": {"role": "identifying"},
        },
        privacy=[ind.KAnonymity(2)],
    )
    document = ind.anonymize(TABLE.slice(0, 5), asked).document
    assert document["declares"] == "perturbing"
    assert document["verification"]["coverage"] == "not proven"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"person": None}, r"name their column as \[person\] key"),
     ({"transforms": [{"method": "shift_dates", "attributes": ["note"], "days": 3}]}, "takes date"),
     ({"transforms": [{"method": "shift_dates", "attributes": ["from"], "days": 0}]}, "days >= 1|1 <= days"),
     ({"transforms": [{"method": "shift_dates", "attributes": ["whence"], "days": 3}]}, "is not declared")],
)  # fmt: skip
def test_what_cannot_be_asked_is_named(changes, sentence):
    with pytest.raises(ind.PolicyError, match=sentence):
        policy(**changes)


@pytest.mark.parametrize(("day", "fits"), [("9999-12-31", False), ("9999-12-30", True), ("0001-01-01", False)])
def test_dates_that_could_leave_the_calendar_are_named(day, fits):
    table = TABLE.set_column(1, "from", pa.array([day] * 7))
    if fits:
        assert apply_transforms(table, policy(days=1)).document["published_rows"] == 7
        return
    with pytest.raises(ind.DataError, match='"from" has dates that 1 days more or less'):
        apply_transforms(table, policy(days=1))
