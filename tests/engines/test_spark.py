"""Spark in this process, on two cores: the same cells, rows and verdicts as the local engine."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indistinct as ind
from engine_bench import CASES, SAME, columns_of, given, people, rows_of, split_cell
from indistinct.errors import DataError, UnsupportedError, VerificationError

pytestmark = [pytest.mark.engine, pytest.mark.filterwarnings("ignore")]  # PySpark warns of newer libraries


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    os.environ["PYSPARK_PYTHON"] = sys.executable  # rows stream through workers, which need pyarrow too
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(session):
    """All columns of the people as one DataFrame, in several partitions."""
    return session.createDataFrame(people()).repartition(3)


@pytest.mark.parametrize("case", [*CASES])
def test_a_release_is_that_of_the_local_engine(frame, tmp_path, case):
    policy = given(**CASES[case])
    table = columns_of(policy, people())
    mine, theirs = tmp_path / "mine.parquet", tmp_path / "theirs.parquet"
    reference = ind.anonymize(table, policy, output=mine)
    release = ind.anonymize(frame.select(table.column_names), policy, output=theirs)
    assert release.document["engine"] == "spark"
    assert {key: release.document[key] for key in SAME} == {key: reference.document[key] for key in SAME}
    if case == "groups":  # dealt at random
        return
    assert theirs.read_bytes() == mine.read_bytes()


@pytest.mark.parametrize("carried", [False, True])
def test_the_rows_of_a_split_cell_are_dealt_by_count(session, tmp_path, carried):
    policy = given(quasi=("age",), carried=("cost",) if carried else (), privacy=[ind.KAnonymity(5)])
    table = split_cell(carried)
    ind.anonymize(session.createDataFrame(table), policy, output=tmp_path / "out.parquet")
    ages = pq.read_table(tmp_path / "out.parquet").column("age").to_pylist()
    assert {label: ages.count(label) for label in ages} == {"30": 5, "[30, 31]": 5}


def test_paths_and_names_of_the_catalog_are_tables(session, frame, tmp_path):
    policy = given()
    table = columns_of(policy, people())
    pq.write_table(table, tmp_path / "people.parquet")
    frame.select(table.column_names).createOrReplaceTempView("catalogued")
    wanted = rows_of(ind.anonymize(table, policy).table)
    for place in (tmp_path / "people.parquet", "catalogued"):
        assert rows_of(ind.anonymize(place, policy, engine="spark").table) == wanted
    assert session.range(1).count() == 1, "a session that was there stays"
    with pytest.raises(DataError, match="Spark could not do the work"):
        ind.anonymize("nowhere", policy, engine="spark")
    with pytest.raises(UnsupportedError, match="counts a DataFrame, Parquet files"):
        ind.anonymize(tmp_path / "people.csv", policy, engine="spark")


def test_columns_that_differ_by_case_and_dots_are_told_apart(session):
    table = pa.table({"a.b": [1, 1, 2, 2], "A.b": ["x", "x", "y", "y"]})
    policy = ind.Policy(attributes={name: {"role": "qi"} for name in table.column_names}, privacy=[ind.KAnonymity(2)])
    assert rows_of(ind.anonymize(session.createDataFrame(table), policy).table) == rows_of(table)


def test_what_spark_cannot_do_is_left_to_the_local_engine_or_refused(session, frame, tmp_path):
    policy = given(carried=("cost",))
    table = frame.select(columns_of(policy, people()).column_names)
    with pytest.raises(UnsupportedError, match="another output than parquet or arrow"):
        ind.anonymize(table, policy, output=tmp_path / "out.csv", engine="spark")
    moments = session.sql("SELECT TIMESTAMP '2024-03-01 10:00:00' AS seen, 1L AS age UNION ALL SELECT NULL, 1L")
    seen = ind.Policy(attributes={"seen": {"role": "qi"}, "age": {"role": "qi"}}, privacy=[ind.KAnonymity(1)])
    with pytest.raises(UnsupportedError, match='the type timestamp of "seen"'):
        ind.anonymize(moments, seen, engine="spark")
    assert ind.anonymize(table, policy).document["engine"] == "local"


def test_what_was_written_is_compared_with_what_spark_deals(frame, tmp_path, monkeypatch):
    policy, real = given(carried=("cost",)), ind.publish.deliver.verified

    def swap(decision, places, progress):
        table = pq.read_table(places[0])
        place = table.column_names.index("cost")
        turned = pa.array(table.column("cost").to_pylist()[::-1], pa.float64())
        pq.write_table(table.set_column(place, "cost", turned), places[0])
        return real(decision, places, progress)

    monkeypatch.setattr("indistinct.publish.deliver.verified", swap)
    table = frame.select(columns_of(policy, people()).column_names)
    with pytest.raises(VerificationError, match='"cost"'):
        ind.anonymize(table, policy, output=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_spark_is_judged_as_one_here(frame, tmp_path):
    policy = given(carried=("cost",))
    table = columns_of(policy, people())
    own = frame.select(table.column_names)
    ind.anonymize(table, policy, output=tmp_path / "out.parquet")
    mine, theirs = (ind.verify(one, tmp_path / "out.parquet", policy, engine=engine).document
                    for one, engine in ((table, "local"), (own, "spark")))  # fmt: skip
    assert theirs == mine
    assert theirs["satisfied"] is True
    mine, theirs = (
        ind.audit(one, policy, engine=engine).document for one, engine in ((table, "local"), (own, "spark"))
    )
    for key in ("models", "worst", "classes", "smallest_class", "missing"):
        assert theirs[key] == mine[key]
    seen = session_moments(frame)
    with pytest.raises(UnsupportedError, match='cannot do the type timestamp of "seen"'):
        ind.audit(seen, qi=["seen"], engine="spark")


def session_moments(frame):
    return frame.sparkSession.sql("SELECT TIMESTAMP '2024-03-01 10:00:00' AS seen")


@pytest.mark.parametrize("verb", ["deal", "dealt"])
def test_a_driver_that_is_killed_leaves_nothing(tmp_path, verb):
    """What Spark kept of the rows in its own folder goes with it, and nothing was published."""
    policy = given(carried=("cost",))
    pq.write_table(columns_of(policy, people()), tmp_path / "people.parquet")
    policy.save(tmp_path / "policy.toml")
    code = f"""
        import os, signal
        from pyspark.sql import SparkSession
        import indistinct as ind
        from indistinct.tables.in_spark import Spark
        settings = {{
            "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2", "spark.local.dir": "kept",
        }}
        SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        real = Spark.{verb}
        def killed(*given):
            found = real(*given)
            if "{verb}" == "dealt":
                next(found)
            else:
                given[0]._dealt.count()
            os.kill(os.getpid(), signal.SIGKILL)
        Spark.{verb} = killed
        ind.anonymize("people.parquet", "policy.toml", output="out.parquet", engine="spark")
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "out.parquet").exists()
    assert not (tmp_path / "out.parquet.manifest.json").exists()
    for _ in range(300):  # the Java process ends when it sees that Python is gone
        left = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
        if not left:
            break
        time.sleep(0.1)
    assert left == []
