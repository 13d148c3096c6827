"""One suite over all engines: the same cells, classes, published rows and verdicts as the local one, the reference."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from cli_bench import run
from engine_bench import CASES, SAME, columns_of, given, people, rows_of, split_cell
from indistinct.errors import IndistinctError, UnsupportedError
from indistinct.formats.registry import open_source
from indistinct.hierarchies import build_hierarchy
from indistinct.session.engines import engine_for, source_for
from indistinct.session.prepare import prepare
from indistinct.tables.count import count
from indistinct.tables.engine import Request


@pytest.fixture(params=["duckdb"])
def engine(request):
    return request.param


HERE = Path(__file__).resolve().parents[1]
KINDS = ("parquet", "csv", "frame", "relation")


@pytest.fixture(params=KINDS)
def put(request, tmp_path):
    """Puts a table where the engine is to find it."""

    def place(table):
        if request.param == "parquet":
            pq.write_table(table, tmp_path / "people.parquet", row_group_size=100)
            return tmp_path / "people.parquet"
        if request.param == "csv":
            ind_csv = tmp_path / "people.csv"
            rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
            lines = [",".join("" if cell is None else f'"{cell}"' for cell in row) for row in rows]
            lines.insert(0, ",".join(table.column_names))
            ind_csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return ind_csv
        return table if request.param == "frame" else duckdb.from_arrow(table)

    return place


# every case from one kind of place, and every kind of place with and without columns that stay in the engine
PLACES = [
    *((case, "parquet") for case in CASES),
    *((case, kind) for case in ("plain", "carried") for kind in KINDS[1:]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "put"), PLACES, indirect=["put"])
def test_a_release_is_that_of_the_local_engine(engine, put, tmp_path, case):
    policy = given(**CASES[case])
    table = columns_of(policy, people())
    place = put(table)
    mine, theirs = tmp_path / "mine.parquet", tmp_path / "theirs.parquet"
    reference = ind.anonymize(place, policy, output=mine, engine="local")
    release = ind.anonymize(place, policy, output=theirs, engine=engine)
    assert {key: release.document[key] for key in SAME} == {key: reference.document[key] for key in SAME}
    assert release.document["satisfied"] is True
    if case == "groups":  # dealt at random
        return
    assert rows_of(pq.read_table(theirs)) == rows_of(pq.read_table(mine))
    assert theirs.read_bytes() == mine.read_bytes()
    assert ind.verify(place, theirs, policy).document["satisfied"] is True


def test_cells_are_those_of_the_local_engine(engine, put):
    policy = given(person=True)
    place = put(columns_of(policy, people()))
    found = []
    for name in ("local", engine):
        with engine_for(place, policy, name, None) as opened:
            found.append(prepare(source_for(opened, place, policy), policy, engine=opened).counted.frequencies)
    mine, theirs = found
    assert [own.texts for own in (*mine.quasi, *mine.sensitive)] == [
        own.texts for own in (*theirs.quasi, *theirs.sensitive)
    ]
    for name in ("codes", "rows", "start"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    for name in ("single", "start", "ids", "cell", "person", "rows"):
        assert np.array_equal(getattr(mine.persons, name), getattr(theirs.persons, name)), name
    assert theirs.total == 400


@pytest.mark.slow
@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("k", [5, 2])
def test_the_rows_of_a_split_cell_are_dealt_by_count(engine, tmp_path, carried, k):
    policy = given(quasi=("age",), carried=("cost",) if carried else (), privacy=[ind.KAnonymity(k)])
    table = split_cell(carried)
    mine, theirs = tmp_path / "mine.parquet", tmp_path / "theirs.parquet"
    local = ind.anonymize(table, policy, output=mine, engine="local")
    ind.anonymize(table, policy, output=theirs, engine=engine)
    published = pq.read_table(theirs)
    sizes = Counter(published.column("age").to_pylist())
    # by hand: the row of 31 needs k - 1 rows of 30 beside it, the other 9 - (k - 1) stay
    assert sizes == {"30": 9 - (k - 1), "[30, 31]": k}
    assert (local.decision.assignment.cell == 0).sum() == 2, "the cell is to be split"
    assert rows_of(published) == rows_of(pq.read_table(mine))
    if carried:
        assert Counter(published.column("cost").to_pylist()) == Counter(table.column("cost").to_pylist())


@pytest.mark.slow
def test_the_order_of_rows_makes_no_difference(engine, tmp_path):
    policy = given(carried=("note", "cost"))
    table = columns_of(policy, people())
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    for number, own in enumerate((table, shuffled)):
        ind.anonymize(own, policy, output=tmp_path / f"{number}.parquet", engine=engine)
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_a_relation_chooses_duckdb_where_that_can_do_it():
    table = people()
    policy, relation = given(), duckdb.from_arrow(columns_of(given(), table))
    release = ind.anonymize(relation, policy)
    assert release.document["engine"] == "duckdb"
    assert rows_of(release.table.to_arrow_table()) == rows_of(ind.anonymize(columns_of(policy, table), policy).table)
    # other columns need a file, which nobody named: the local engine takes the relation over
    policy = given(carried=("cost",))
    release = ind.anonymize(duckdb.from_arrow(columns_of(policy, table)), policy)
    assert release.document["engine"] == "local"


REFUSED = {
    "kept": ({"output": {"order": "kept", "confirmed": True}}, 'order = "kept"'),
    "shuffled": ({"carried": ("cost",), "output": {"order": "shuffled"}}, 'order = "shuffled" beside .*"cost"'),
    "transforms": ({"transforms": [{"method": "top_coding", "attribute": "age", "limit": 50}]}, r"\[\[transforms\]\]"),
    "ranges": ({"carried": ("cost",), "output": {"ranges": "columns"}}, 'ranges = "columns"'),
    "groups": (
        {"carried": ("cost",), "recoding": {"algorithm": "anatomy"}, "privacy": [ind.DistinctL("ill", 2)]},
        '"anatomy" beside',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [*REFUSED, "csv", "type"])
def test_what_an_engine_cannot_do_is_refused_by_name_before_it_counts(engine, tmp_path, monkeypatch, case):
    changes, words = REFUSED.get(case, ({"carried": ("cost",)}, "another output than parquet or arrow"))
    table = people()
    if case == "type":
        table = table.set_column(table.column_names.index("cost"), "cost", pa.array([1] * 400, pa.time32("s")))
        words = r'the type time32\[s\] of "cost"'
    policy = given(**changes)
    monkeypatch.setattr("indistinct.tables.count.count", None)
    suffix = "csv" if case == "csv" else "parquet"
    with pytest.raises(UnsupportedError, match=words):
        ind.anonymize(columns_of(policy, table), policy, output=tmp_path / f"out.{suffix}", engine=engine)
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_nobody_knows_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match='no engine "spork"; choose local, duckdb'):
        ind.anonymize(people(), given(), output=tmp_path / "out.parquet", engine="spork")


@pytest.mark.parametrize("carried", [(), ("cost",)])
def test_a_release_that_fails_leaves_nothing(tmp_path, monkeypatch, carried):
    policy = given(carried=carried)
    real = ind.publish.deliver.verified

    def forge(decision, places, progress):
        pq.write_table(pq.read_table(places[0]).slice(1), places[0])
        return real(decision, places, progress)

    monkeypatch.setattr("indistinct.publish.deliver.verified", forge)
    with pytest.raises(ind.VerificationError):
        ind.anonymize(columns_of(policy, people()), policy, output=tmp_path / "out.parquet", engine="duckdb")
    assert list(tmp_path.iterdir()) == []


def test_carried_values_are_compared_row_by_row(tmp_path, monkeypatch):
    policy = given(carried=("cost",))
    real = ind.publish.deliver.verified

    def swap(decision, places, progress):
        table = pq.read_table(places[0])
        cost = table.column("cost").to_pylist()
        place = table.column_names.index("cost")
        pq.write_table(table.set_column(place, "cost", pa.array(cost[::-1], pa.float64())), places[0])
        return real(decision, places, progress)

    monkeypatch.setattr("indistinct.publish.deliver.verified", swap)
    with pytest.raises(ind.VerificationError, match='"cost"'):
        ind.anonymize(columns_of(policy, people()), policy, output=tmp_path / "out.parquet", engine="duckdb")


@pytest.mark.slow
def test_a_killed_run_leaves_no_rows_to_the_next(tmp_path):
    pq.write_table(columns_of(given(), people()), tmp_path / "people.parquet")
    given().save(tmp_path / "policy.toml")
    code = """
        import os, signal, sys
        import indistinct as ind
        from indistinct.tables import in_duckdb
        in_duckdb.DuckDB.apply = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
        ind.anonymize("people.parquet", "policy.toml", output="out.parquet", engine="duckdb")
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, check=False, env=os.environ)
    assert ended.returncode == -signal.SIGKILL
    left = [path.name for path in tmp_path.iterdir() if path.name.endswith(".scratch")]
    assert len(left) == 1
    assert not (tmp_path / "out.parquet").exists()
    ind.anonymize(tmp_path / "people.parquet", given(), output=tmp_path / "out.parquet", engine="duckdb")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.parquet", "out.parquet.manifest.json", "people.parquet", "policy.toml"
    ]  # fmt: skip


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path):
    (tmp_path / "temp").mkdir()
    policy = given(carried=("cost",), run={"temp_dir": str(tmp_path / "temp"), "memory_limit": "1 MiB"})
    table = columns_of(policy, people())
    with pytest.raises(ind.DataError, match="DuckDB could not do the work"):
        ind.anonymize(table, policy, output=tmp_path / "out.parquet", engine="duckdb")
    assert [path.name for path in tmp_path.rglob("*")] == ["temp"]


@pytest.mark.slow
def test_the_command_takes_an_engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(columns_of(given(), people()), "people.parquet")
    given().save("policy.toml")
    words = ["anonymize", "people.parquet", "--policy", "policy.toml", "--output", "out.csv", "--json"]
    code, out, _ = run(*words, "--engine", "duckdb")
    assert (code, json.loads(out)["engine"]) == (0, "duckdb")
    code, out, _ = run(*words, "--force", "--engine", "spork")
    assert (code, json.loads(out)["error"]["kind"]) == (2, "unsupported")


def test_the_policy_names_an_engine(tmp_path):
    policy = given(run={"engine": "duckdb"})
    release = ind.anonymize(columns_of(policy, people()), policy)
    assert release.document["engine"] == "duckdb"
    assert list(tmp_path.iterdir()) == []


TABLES = sorted(path for folder in ("golden", "golden2", "cases") for path in (HERE / folder).rglob("*.csv"))


@pytest.mark.slow
def test_every_small_table_of_the_tests_has_the_cells_of_the_local_engine(engine, tmp_path):
    counted = 0
    with engine_for("", given(), engine, tmp_path / "out.parquet") as opened:
        for path in TABLES:
            try:
                source = open_source(path)
                mine = count(source, source.columns, [], bare)
            except IndistinctError:
                continue  # no table: a hierarchy file, or one that is broken on purpose
            theirs = opened.count(source, Request(source.columns, [], bare))
            assert [own.texts for own in mine.frequencies.quasi] == [own.texts for own in theirs.frequencies.quasi], (
                path
            )
            assert np.array_equal(mine.frequencies.codes, theirs.frequencies.codes), path
            assert np.array_equal(mine.frequencies.rows, theirs.frequencies.rows), path
            counted += 1
    assert counted > 30


def bare(name, texts):
    return build_hierarchy(name, texts, spec=None)


@pytest.mark.parametrize("case", ["plain", "persons", "t-closeness"])
def test_an_audit_is_that_of_the_local_engine(engine, put, case):
    policy = given(**CASES[case])
    place = put(columns_of(policy, people()))
    mine, theirs = (ind.audit(place, policy, engine=name).document for name in ("local", engine))
    assert (mine.pop("engine"), theirs.pop("engine")) == ("local", engine)
    if case == "persons":  # who has which row stays in the engine
        assert (mine.pop("k_if_untouched_columns_are_known"), theirs.pop("k_if_untouched_columns_are_known")) == (
            1,
            None,
        )
    assert theirs == mine
    assert theirs["satisfied"] is False


@pytest.mark.parametrize("case", ["plain", "t-closeness", "carried", "suppressed"])
def test_a_verification_is_that_of_the_local_engine(engine, put, tmp_path, case):
    policy = given(**CASES[case])
    place = put(columns_of(policy, people()))
    release = tmp_path / "out.parquet"
    ind.anonymize(place, policy, output=release)
    mine, theirs = (ind.verify(place, release, policy, engine=name).document for name in ("local", engine))
    assert theirs == mine
    assert theirs["satisfied"] is True
    table = pq.read_table(release)
    forged = table.set_column(0, "age", pa.array(["21"] * table.num_rows))
    pq.write_table(forged, tmp_path / "forged.parquet")
    mine, theirs = (
        ind.verify(place, tmp_path / "forged.parquet", policy, engine=name).document for name in ("local", engine)
    )
    assert theirs == mine
    assert theirs["coverage"]["status"] == "refuted"


UNJUDGED = {
    "[person]": {"person": True},
    "releases in groups": {"recoding": {"algorithm": "anatomy"}, "privacy": [ind.DistinctL("ill", 2)]},
    "[[transforms]]": {"transforms": [{"method": "top_coding", "attribute": "age", "limit": 50}]},
    'ranges = "columns"': {"output": {"ranges": "columns"}},
}


@pytest.mark.parametrize("what", UNJUDGED)
def test_what_a_verification_under_an_engine_cannot_do_is_refused_by_name(engine, what, monkeypatch):
    policy = given(**UNJUDGED[what])
    monkeypatch.setattr("indistinct.tables.count.count", None)
    with pytest.raises(UnsupportedError, match=f'the engine "duckdb" cannot do {re.escape(what)}'):
        ind.verify(people(), people(), policy, engine=engine)


def test_an_audit_under_an_engine_says_what_it_did_not_see(engine):
    policy = given(carried=("cost",))
    found = ind.audit(columns_of(policy, people()), policy, engine=engine).document
    assert found["k_if_untouched_columns_are_known"] is None
    assert "not-looked-at" in [one["kind"] for one in found["warnings"]]
    with pytest.raises(UnsupportedError, match="cannot do a reference"):
        ind.audit(people(), given(), reference=people(), engine=engine)


def test_the_commands_that_judge_take_an_engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(columns_of(given(), people()), "people.parquet")
    given().save("policy.toml")
    assert run("anonymize", "people.parquet", "--policy", "policy.toml", "--output", "out.parquet")[0] == 0
    code, out, _ = run("audit", "people.parquet", "--policy", "policy.toml", "--json", "--engine", "duckdb")
    assert (code, json.loads(out)["engine"]) == (1, "duckdb")
    assert run("verify", "people.parquet", "out.parquet", "--policy", "policy.toml", "--engine", "duckdb")[0] == 0
    assert run("verify", "--public", "out.parquet", "--engine", "duckdb")[0] == 2


def test_the_engine_of_a_policy_judges_where_it_can():
    table = columns_of(given(), people())
    assert ind.audit(table, given(run={"engine": "duckdb"})).document["engine"] == "duckdb"
    assert ind.audit(table, given(run={"engine": "duckdb"}), reference=table).document["engine"] == "local"


@pytest.mark.engine
@pytest.mark.parametrize(("room", "output"), [(100_000, "parquet"), (1_000, "csv")])
def test_a_disk_that_takes_no_more_leaves_nothing(tmp_path, room, output):
    """No file may grow beyond ``room`` bytes: DuckDB's cannot hold the rows, or cannot even be begun."""
    carried = ("cost",) if output == "parquet" else ()
    pq.write_table(columns_of(given(carried=carried), people(20_000)), tmp_path / "people.parquet")
    given(carried=carried).save(tmp_path / "policy.toml")
    code = f"""
        import resource, signal, sys
        import indistinct as ind
        ind.anonymize("people.parquet", "policy.toml", engine="local")  # kernels are loaded, and kept where they are
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
        try:
            ind.anonymize("people.parquet", "policy.toml", output="out.{output}", engine="duckdb")
        except ind.DataError as error:
            sys.exit(7)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, check=False, env=os.environ, capture_output=True
    )
    assert ended.returncode == 7, ended.stderr.decode()[-500:]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet", "policy.toml"]


def test_masks_and_a_ledger_are_refused_by_name(engine, tmp_path):
    """Both are asked of a release; a ledger that is there has to be one, so the first release is entered."""
    policy, table = given(), columns_of(given(), people())
    pq.write_table(table, tmp_path / "people.parquet")
    policy.save(tmp_path / "policy.toml")
    ind.anonymize(table, policy, output=tmp_path / "out.parquet")
    words = ["--policy", tmp_path / "policy.toml", "--ledger", tmp_path / "ledger.sqlite"]
    assert run("releases", "add", tmp_path / "people.parquet", tmp_path / "out.parquet", *words)[0] == 0
    asking = given(releases={"ledger": str(tmp_path / "ledger.sqlite")})
    with pytest.raises(UnsupportedError, match=r"cannot do a ledger of \[releases\]"):
        ind.anonymize(table, asking, output=tmp_path / "next.parquet", engine=engine)
    own = '\n[attributes.who]\nrole = "identifying"\naction = "mask"\n'
    masked = tmp_path / "masked.toml"
    masked.write_text((tmp_path / "policy.toml").read_text() + own)
    with pytest.raises(UnsupportedError, match=r'cannot do masks and pseudonyms \("who"\)'):
        ind.anonymize(people().select([*table.column_names, "who"]), masked, engine=engine)
    assert not (tmp_path / "next.parquet").exists()
