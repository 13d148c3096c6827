"""Dates: the local day of a moment, and dates that say the month or the year only."""

import csv
import datetime as dt
import shutil
import time
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from indistinct.cli.app import run
from indistinct.formats.database import sql_array
from indistinct.formats.texts import as_text, from_text
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.labels import Reader
from indistinct.hierarchies.values import PARTIAL
from indistinct.policy import ALGORITHMS

HERE = Path(__file__).parent
ZONED = HERE / "26-day-of-a-zoned-timestamp"
PARTLY = HERE / "17-partial-dates"
UTC = ["2024-03-31T23:30Z", "2024-03-31T22:30Z", "2024-04-01T10:00Z", "2024-04-01T11:00Z"]
MOMENTS = [dt.datetime.fromisoformat(text) for text in UTC]
BERLIN = pa.table({"when": pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin"))})


def in_duckdb():
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Berlin'")
    values = ", ".join(f"('{text}'::TIMESTAMPTZ)" for text in UTC)
    return connection.sql(f'SELECT * FROM (VALUES {values}) t("when")')  # noqa: S608  # constants


def in_parquet(tmp_path):
    pq.write_table(BERLIN, tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


KINDS = {
    "text": lambda _: ZONED / "input.csv",
    "pandas": lambda _: pd.DataFrame({"when": pd.to_datetime(UTC).tz_convert("Europe/Berlin")}),
    "polars": lambda _: pl.DataFrame(BERLIN),
    "pyarrow": lambda _: BERLIN,
    "duckdb": lambda _: in_duckdb(),
    "parquet": in_parquet,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_day_is_the_local_one(kind, tmp_path):
    table = KINDS[kind](tmp_path)
    release = ind.anonymize(table, ind.Policy.load(ZONED / "policy.toml"), output=tmp_path / "out.csv")
    assert release.document["satisfied"]
    assert (tmp_path / "out.csv").read_text().split() == ["when", *["2024-04-01"] * 4]


def test_a_zone_with_summer_and_winter_is_one_calendar(tmp_path):
    moments = [dt.datetime.fromisoformat(text) for text in ("2024-01-31T23:30Z", "2024-06-30T22:30Z")]
    table = pa.table({"when": pa.array(moments * 2, pa.timestamp("ms", "Europe/Berlin"))})
    release = ind.anonymize(table, ind.Policy.load(ZONED / "policy.toml"), output=tmp_path / "out.parquet")
    assert sorted(release.table["when"].to_pylist()) == ["2024-02-01"] * 2 + ["2024-07-01"] * 2


def test_moments_that_a_clock_shows_twice_are_refused():
    moments = [dt.datetime.fromisoformat(text) for text in ("2024-10-27T00:30Z", "2024-10-27T01:30Z")]
    table = pa.table({"when": pa.array(moments, pa.timestamp("s", "Europe/Berlin"))})
    with pytest.raises(ind.DataError, match="put back"):
        ind.anonymize(table, ind.Policy.load(ZONED / "policy.toml"))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata", "-03:30"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_texts_of_moments_come_back(zone, unit):
    array = pa.array([0, 1_711_920_600, None], pa.int64()).cast(pa.timestamp(unit, zone))
    assert from_text(as_text(array).to_pylist(), array.type).equals(array)


def test_sql_moments_keep_their_own_offset():
    fixed = [dt.timezone(dt.timedelta(hours=hours)) for hours in (2, 1)]
    values = [dt.datetime(2024, 4, 1, 1, 30, tzinfo=fixed[0]), dt.datetime(2024, 1, 1, 0, 30, tzinfo=fixed[1])]
    assert [text[:10] for text in sql_array(values).to_pylist()] == ["2024-04-01", "2024-01-01"]
    named = [value.astimezone(ZoneInfo("Europe/Berlin")) for value in values]
    assert [text[:10] for text in as_text(sql_array(named)).to_pylist()] == ["2024-04-01", "2024-01-01"]


def test_partial_dates_are_published(tmp_path):
    for file in ("input.csv", "policy.toml"):
        shutil.copy(PARTLY / file, tmp_path / file)
    policy = tmp_path / "policy.toml"
    plain = ["anonymize", "--policy", str(policy), "--output", str(tmp_path / "out.csv")]
    assert run(plain) == 2  # not asked for
    policy.write_text(policy.read_text().replace('type="date"', 'type="date"\npartial=true'))
    assert run(plain) == 0
    with (tmp_path / "out.csv").open() as file:
        rows = [(row["d"], row["s"]) for row in csv.DictReader(file)]
    # 2024 and 2024-02 meet in the year; the two days, in the month
    assert sorted(rows) == [("2024", "f"), ("2024", "f"), ("2024-02", "m"), ("2024-02", "m")]
    assert run(["verify", str(tmp_path / "input.csv"), str(tmp_path / "out.csv"), "--policy", str(policy)]) == 0


def test_what_is_not_asked_for_is_named(capsys):
    assert run(["anonymize", "--policy", str(PARTLY / "policy.toml"), "--output", "never.csv"]) == 2
    assert "partial = true" in capsys.readouterr().err


TEXTS = ["2024-02-28", "2024", "2024-02", "2023-12", "2024-01-01", "2024-02-29", None]
DATES = {"type": "date", "format": PARTIAL, "spec": {"kind": "dates", "levels": ["month", "quarter", "year"]}}


def test_levels_of_partial_dates():
    found = build_hierarchy("d", TEXTS, **DATES)
    assert found.texts == ("2023-12", "2024", "2024-01-01", "2024-02", "2024-02-28", "2024-02-29", None)

    def labels(level):
        return [found.levels[level].labels[node] for node in found.levels[level].node_of[:-1]]

    assert labels(1) == ["2023-12", "2024", "2024-01", "2024-02", "2024-02", "2024-02"]
    assert labels(2) == ["2023-Q4", "2024", "2024-Q1", "2024-Q1", "2024-Q1", "2024-Q1"]
    assert labels(3) == ["2023", "2024", "2024", "2024", "2024", "2024"]
    # the domain runs from 2023-12-01 to 2024-12-31: 396 days between its ends
    assert found.cost(1, 1) == 0
    assert found.cost(3, 4) == Fraction(29, 396)
    assert found.cost(1, 3) == Fraction(365, 396)
    assert found.cost(0, 3) == 1


@pytest.mark.parametrize(
    ("label", "covered"),
    [
        ("2024-02", ["2024-02-28", "2024-02", "2024-02-29"]),
        ("2024", ["2024-02-28", "2024", "2024-02", "2024-01-01", "2024-02-29"]),
        ("2024-02-01", []),
        ("2024-01-01", ["2024-01-01"]),
        ("2024-Q1", ["2024-02-28", "2024-02", "2024-01-01", "2024-02-29"]),
        ("2023", ["2023-12"]),
        ("[2024-02-01, 2024-02-29]", ["2024-02-28", "2024-02", "2024-02-29"]),
        ("[2024-02-01, 2024-02-28]", ["2024-02-28"]),
    ],
)
def test_a_label_covers_a_month_only_as_a_whole(label, covered):
    reader = Reader(TEXTS, "date", format=PARTIAL)
    assert [TEXTS[at] for at in reader.find(label)] == covered


def fits(label, text):
    """A published date is never finer than its original, and names the same time."""
    return label == "*" or text.startswith(label)


ONE_TABLE = [
    "local", "optimal", "mondrian", "datafly", "samarati", "incognito", "ola", "flash", "generalize_step",
    "mdav", "k_member", "k_similar", "hilbert", "merge", "mu_argus",
]  # fmt: skip


@pytest.mark.parametrize("algorithm", ONE_TABLE)
def test_every_algorithm_publishes_no_date_finer_than_it_is(algorithm):
    assert algorithm in ALGORITHMS
    texts = ["2024", "2024-02", "2024-02-28", "2024-02-29", "2024-02-01", "2023", "2023-05", "2023-05-06"] * 2 + [
        "2024-03"
    ]
    table = pa.table({"d": texts, "row": [str(number) for number in range(len(texts))]})
    hierarchy = {"kind": "dates", "levels": ["month", "year"]}
    policy = ind.Policy(
        attributes={
            "d": {"role": "qi", "type": "date", "partial": True, "hierarchy": hierarchy},
            "row": {"role": "insensitive"},
        },
        privacy=[ind.KAnonymity(3)],
        recoding={"algorithm": algorithm},
        suppression={"limit": 0},
    )
    release = ind.anonymize(table, policy)
    found = release.table
    pairs = [(label, texts[int(row)]) for label, row in zip(*found.to_pydict().values(), strict=True)]
    assert len(pairs) == len(texts)
    assert all(fits(label, text) for label, text in pairs)
    assert min(found["d"].to_pylist().count(label) for label, _ in pairs) >= 3


@pytest.mark.parametrize(
    "change",
    [
        {"type": "text", "hierarchy": None},
        {"format": "%Y-%m-%d"},
        {"role": "sensitive"},
        {"hierarchy": {"kind": "range"}},
        {"hierarchy": {"kind": "dates", "levels": ["week"]}},
    ],
)
def test_partial_goes_with_calendar_hierarchies_of_iso_dates(change):
    fine = {"role": "qi", "type": "date", "partial": True, "hierarchy": {"kind": "dates", "levels": ["month"]}}
    with pytest.raises(ind.PolicyError, match="partial"):
        ind.Policy(attributes={"d": fine | change})


@pytest.mark.parametrize("aggregate", ["mean", "median", "mode"])
@pytest.mark.parametrize("algorithm", ["mondrian", "mdav", "hilbert"])
def test_partial_dates_have_no_aggregate(tmp_path, aggregate, algorithm):
    (tmp_path / "x.csv").write_text("day\n2024-01\n2024-01-03\n2024-02\n2024-02-09\n")
    dates = {"kind": "dates", "levels": ["month", "year"]}
    policy = ind.Policy(
        attributes={"day": {"role": "qi", "type": "date", "partial": True, "hierarchy": dates}},
        privacy=[ind.KAnonymity(2)],
        recoding={"algorithm": algorithm, "aggregate": aggregate},
    )
    with pytest.raises(ind.PolicyError, match=f'partial = true of "day".*aggregate = "{aggregate}"'):
        ind.anonymize(tmp_path / "x.csv", policy)


@pytest.mark.slow
def test_a_zone_aware_parquet_is_read_again_under_any_time_zone_of_the_session(tmp_path, monkeypatch):
    quasi = {"role": "qi", "hierarchy": {"kind": "suppress"}}
    table = BERLIN.append_column("sex", pa.array(list("ffmm")))
    policy = ind.Policy(
        attributes={"when": {"role": "insensitive", "confirmed": True}, "sex": quasi}, privacy=[ind.KAnonymity(2)]
    )
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        place = tmp_path / f"{zone.replace('/', '-')}.parquet"
        release = ind.anonymize(table, policy, output=place)
        assert release.document["satisfied"]
        assert sorted(pq.read_table(place)["when"].to_pylist()) == sorted(MOMENTS)
        assert ind.verify(table, place, policy).satisfied
    monkeypatch.undo()
    time.tzset()
