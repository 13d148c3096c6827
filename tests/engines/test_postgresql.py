"""PostgreSQL in place, on a server that the tests start: the same cells, rows and verdicts as the local engine."""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter

import pyarrow as pa
import pytest

import indistinct as ind
from cli_bench import run
from engine_bench import CASES, SAME, columns_of, given, people, postgres, rows_of, split_cell
from indistinct.errors import DataError, PolicyError, UnsupportedError, VerificationError

pytestmark = pytest.mark.engine
KINDS = {pa.int64(): "bigint", pa.string(): "text", pa.float64(): "double precision", pa.date32(): "date"}
HERE = [case for case in CASES if case != "groups"]


@pytest.fixture(scope="module")
def server():
    with postgres() as url:
        yield url


@pytest.fixture
def database(server):
    import sqlalchemy as sa

    engine = sa.create_engine(server)
    with engine.begin() as connection:
        for schema in ("public", "research"):
            connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    yield engine
    engine.dispose()


def put(engine, table, name="people", **kinds):
    columns = [f'"{own.name}" {kinds.get(own.name) or KINDS[own.type]}' for own in table.schema]
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE {name} ({', '.join(columns)})")
        with connection.connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*(table.column(own).to_pylist() for own in table.column_names), strict=True):
                copy.write_row(row)


def get(engine, name):
    with engine.connect() as connection:
        found = connection.exec_driver_sql(f"SELECT * FROM {name}")
        return list(found.keys()), [tuple(row) for row in found]


def tables(engine):
    sql = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('public', 'research') ORDER BY 1"
    with engine.connect() as connection:
        return [name for (name,) in connection.exec_driver_sql(sql)]


def released(url, policy, tmp_path, **options):
    given_options = {"output": url, "output_table": "research.people", "manifest": tmp_path / "people.manifest.json"}
    return ind.anonymize(url, policy, sql_table="people", **given_options | options)


@pytest.mark.parametrize("case", HERE)
def test_a_release_in_place_is_that_of_the_local_engine(server, database, tmp_path, case):
    policy = given(**CASES[case])
    table = columns_of(policy, people())
    put(database, table)
    reference = ind.anonymize(server, policy, sql_table="people", output=tmp_path / "mine.parquet", engine="local")
    release = released(server, policy, tmp_path)
    assert release.document["engine"] == "postgresql"
    assert {key: release.document[key] for key in SAME} == {key: reference.document[key] for key in SAME}
    names, rows = get(database, "research.people")
    wanted = reference.table
    assert names == wanted.column_names
    assert Counter(rows) == rows_of(wanted)
    # in the order of what is published: it tells nothing
    assert rows == list(zip(*(wanted.column(name).to_pylist() for name in names), strict=True))
    assert tables(database) == ["public.people", "research.people"]


@pytest.mark.parametrize("case", HERE)
def test_a_file_may_be_made_of_a_table_that_was_counted_in_place(server, database, tmp_path, case):
    policy = given(**CASES[case])
    put(database, columns_of(policy, people()))
    looked_at = {name for model in policy.privacy for name in model.attributes_used}
    if policy.attributes.keys() - {"age", "zip", "sex"} - looked_at:
        with pytest.raises(UnsupportedError, match="another output than a table of the database"):
            ind.anonymize(server, policy, sql_table="people", output=tmp_path / "a.parquet", engine="postgresql")
        return
    for name in ("local", "postgresql"):
        ind.anonymize(server, policy, sql_table="people", output=tmp_path / f"{name}.csv", engine=name)
    assert (tmp_path / "local.csv").read_bytes() == (tmp_path / "postgresql.csv").read_bytes()


@pytest.mark.parametrize("carried", [False, True])
def test_the_rows_of_a_split_cell_are_dealt_by_count(server, database, tmp_path, carried):
    policy = given(quasi=("age",), carried=("cost",) if carried else (), privacy=[ind.KAnonymity(5)])
    table = split_cell(carried)
    put(database, table)
    released(server, policy, tmp_path)
    names, rows = get(database, "research.people")
    assert Counter(row[0] for row in rows) == {"30": 5, "[30, 31]": 5}
    if carried:
        place = names.index("cost")
        assert Counter(row[place] for row in rows) == Counter(table.column("cost").to_pylist())


def test_texts_are_compared_byte_by_byte_and_types_stay(server, database, tmp_path):
    table = pa.table({"age": [30, 31] * 4, "ill": ["a", "A", "ä", "a "] * 2, "cost": ["1.50", "1.5", None, "2"] * 2})
    with database.begin() as connection:
        connection.exec_driver_sql(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    put(database, table, age="smallint", ill="text COLLATE loose", cost="numeric(8,2)")
    policy = given(quasi=("age",), carried=("cost",), privacy=[ind.KAnonymity(4)])
    released(server, policy, tmp_path)
    _, rows = get(database, "research.people")
    assert Counter(row[1] for row in rows) == {"a": 2, "A": 2, "ä": 2, "a ": 2}
    with database.connect() as connection:
        kinds = dict(
            tuple(row)
            for row in connection.exec_driver_sql(
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'research'"
            )
        )
    assert kinds == {"age": "text", "ill": "text", "cost": "numeric"}


@pytest.mark.parametrize("carried", [(), ("cost",)])
@pytest.mark.parametrize("name", ["groups", "numbers", "cells", "dealing", "released"])
def test_tables_of_any_name_are_those_of_the_user(server, database, tmp_path, name, carried):
    policy = given(carried=carried)
    put(database, columns_of(policy, people()), name=name)
    wanted = Counter()
    for number in range(2):  # the second time the first is replaced
        options = {"output": server, "output_table": "released_" + name, "manifest": tmp_path / "m.json"}
        release = ind.anonymize(server, policy, sql_table=name, force=True, **options)
        found = Counter(get(database, "released_" + name)[1])
        assert number == 0 or found == wanted
        wanted = found
    assert sum(wanted.values()) == 400
    with pytest.raises(PolicyError, match="is the source; a source is never overwritten"):
        ind.anonymize(
            server, policy, sql_table=name, output=server, output_table=name, manifest=tmp_path / "n.json", force=True
        )
    query = f"SELECT * FROM {name}"
    with pytest.raises(DataError, match="other objects depend on it"):
        ind.anonymize(
            server, policy, query=query, output=server, output_table=name, manifest=tmp_path / "n.json", force=True
        )
    assert release.document["satisfied"] is True
    assert tables(database) == sorted([f"public.{name}", f"public.released_{name}"])


def test_an_unchanged_column_keeps_its_type(server, database, tmp_path):
    put(database, pa.table({"age": [30, 30, 31, 31], "ill": [1, 2, 1, 2]}), ill="smallint")
    policy = ind.Policy(
        attributes={"age": {"role": "qi"}, "ill": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.KAnonymity(2), ind.DistinctL("ill", 2)],
    )
    put(database, pa.table({"note": ["x"]}), name="other")
    released(server, policy, tmp_path)
    assert get(database, "research.people") == (["age", "ill"], [(30, 1), (30, 2), (31, 1), (31, 2)])


def test_a_query_with_a_percent_sign_is_a_table_too(server, database, tmp_path):
    put(database, columns_of(given(), people()))
    query = "SELECT age, zip, sex, ill FROM people WHERE ill LIKE 'flu%' OR ill LIKE '%o%'"
    policy = given(privacy=[ind.KAnonymity(3)])
    release = ind.anonymize(
        server, policy, query=query, output=server, output_table="research.some", manifest=tmp_path / "m.json"
    )
    mine = ind.anonymize(server, policy, query=query, engine="local")
    assert Counter(get(database, "research.some")[1]) == rows_of(mine.table)
    assert release.document["satisfied"] is True


def test_the_manifest_is_that_of_the_same_rows_in_a_file(server, database, tmp_path):
    import json

    policy = given()
    put(database, columns_of(policy, people()))
    released(server, policy, tmp_path)
    ind.anonymize(server, policy, sql_table="people", output=tmp_path / "mine.parquet", engine="local")
    ours, theirs = (
        json.loads((tmp_path / name).read_text()) for name in ("people.manifest.json", "mine.parquet.manifest.json")
    )
    assert ours["outputs"] == ["research.people"]
    for key in ("outputs", "manifest", "sha256"):
        del ours[key], theirs[key]
    assert ours == theirs
    assert "tester" not in (tmp_path / "people.manifest.json").read_text()


def test_what_is_there_is_replaced_with_force_only(server, database, tmp_path):
    policy = given()
    put(database, columns_of(policy, people()))
    put(database, pa.table({"note": ["old"]}), name="research.people")
    with pytest.raises(PolicyError, match=r"research\.people exists"):
        released(server, policy, tmp_path)
    assert get(database, "research.people")[1] == [("old",)]
    released(server, policy, tmp_path, force=True)
    assert len(get(database, "research.people")[1]) == 400


@pytest.mark.parametrize("carried", [(), ("cost",)])
@pytest.mark.parametrize(
    "forgery",
    [
        "DELETE FROM {0} WHERE ctid = (SELECT min(ctid) FROM {0})",
        "UPDATE {0} SET ill = 'flu'",
        "UPDATE {0} SET age = '*'",
    ],
)
def test_what_was_written_is_counted_again(server, database, tmp_path, monkeypatch, carried, forgery):
    from indistinct.tables.in_postgresql import PostgreSQL

    policy, put_rows = given(carried=carried), PostgreSQL.put
    put(database, columns_of(policy, people()))

    def forge(self, published, table):
        written = put_rows(self, published, table)
        self._run(forgery.format(written.name))
        return written

    monkeypatch.setattr(PostgreSQL, "put", forge)
    with pytest.raises(VerificationError):
        released(server, policy, tmp_path)
    assert tables(database) == ["public.people"]
    assert list(tmp_path.iterdir()) == []


def test_carried_values_that_changed_places_are_seen(server, database, tmp_path, monkeypatch):
    from indistinct.tables.in_postgresql import PostgreSQL

    policy, put_rows = given(carried=("note",)), PostgreSQL.put
    put(database, columns_of(policy, people()))

    def swap(self, published, table):
        written = put_rows(self, published, table)
        name = written.name
        places = f"SELECT row_number() OVER (ORDER BY ctid) AS a, note FROM {name}"
        others = f"SELECT row_number() OVER (ORDER BY ctid DESC) AS a, ctid AS at FROM {name}"
        self._run(
            f"UPDATE {name} n SET note = o.note FROM ({places}) o JOIN ({others}) p USING (a) WHERE p.at = n.ctid"
        )
        return written

    monkeypatch.setattr(PostgreSQL, "put", swap)
    with pytest.raises(VerificationError):
        released(server, policy, tmp_path)
    assert tables(database) == ["public.people"]


@pytest.mark.parametrize("verb", ["apply", "put", "rename"])
def test_a_client_that_is_killed_leaves_nothing(server, database, tmp_path, verb):
    put(database, columns_of(given(), people()))
    given(carried=()).save(tmp_path / "policy.toml")
    code = f"""
        import os, signal, sys
        import indistinct as ind
        from indistinct.tables.in_postgresql import PostgreSQL
        real = PostgreSQL.{verb}
        def killed(*given, **named):
            if "{verb}" != "rename":
                real(*given, **named)
            os.kill(os.getpid(), signal.SIGKILL)
        PostgreSQL.{verb} = killed
        ind.anonymize({server!r}, "policy.toml", sql_table="people", output={server!r},
                      output_table="research.people", manifest="m.json")
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, check=False, env=os.environ)
    assert ended.returncode == -signal.SIGKILL
    assert tables(database) == ["public.people"]
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"output": {"order": "shuffled"}}, 'order = "shuffled"'),
        ({"output": {"ranges": "columns"}}, 'ranges = "columns"'),
        ({"recoding": {"algorithm": "anatomy"}, "privacy": [ind.DistinctL("ill", 2)]}, '"anatomy"'),
        ({"run": {"engine": "duckdb"}}, 'the engine "duckdb" writes files'),
    ],
)
def test_what_cannot_be_done_is_refused_before_counting(server, database, tmp_path, monkeypatch, changes, words):
    put(database, columns_of(given(), people()))
    monkeypatch.setattr("indistinct.tables.count.count", None)
    with pytest.raises(UnsupportedError, match=words):
        released(server, given(**changes), tmp_path)


def test_types_that_are_not_known_are_refused(server, database, tmp_path):
    table = pa.table({"age": [30, 31], "zip": ["1.0", "1.0"], "ill": ["a", "b"], "cost": ["{}", "{}"]})
    put(database, table, zip="numeric", cost="json")
    policy = given(quasi=("age", "zip"), carried=("cost",), privacy=[ind.KAnonymity(2)])
    with pytest.raises(UnsupportedError, match='the type numeric of "zip"; the type json of "cost"'):
        released(server, policy, tmp_path)


def test_places_are_checked(server, database, tmp_path):
    policy = given()
    put(database, columns_of(policy, people()))
    with pytest.raises(PolicyError, match="needs the name of its table"):
        ind.anonymize(server, policy, sql_table="people", output=server)
    with pytest.raises(PolicyError, match="goes with the URL of a database"):
        ind.anonymize(server, policy, sql_table="people", output=tmp_path / "a.csv", output_table="x")
    with pytest.raises(UnsupportedError, match="PostgreSQL only, not to sqlite"):
        released(server, policy, tmp_path, output="sqlite:///x.db")
    with pytest.raises(UnsupportedError, match="another database"):
        released(server, policy, tmp_path, output=server.replace("/postgres?", "/template1?"))
    with pytest.raises(UnsupportedError, match="give its URL"):
        ind.anonymize(people(), policy, engine="postgresql")
    with pytest.raises(DataError, match='schema "nowhere" does not exist'):
        released(server, policy, tmp_path, output_table="nowhere.people")
    assert tables(database) == ["public.people"]
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_into_the_database(server, database, tmp_path, monkeypatch):
    import json

    monkeypatch.chdir(tmp_path)
    put(database, columns_of(given(), people()))
    given().save("policy.toml")
    words = ["anonymize", server, "--table", "people", "--policy", "policy.toml", "--output", server, "--json"]
    found = run(*words, "--output-table", "research.people", "--manifest", "m.json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["outputs"] == ["postgresql:postgres:research.people"]
    assert "tester" not in found.stdout
    assert tables(database) == ["public.people", "research.people"]


def test_a_table_of_the_database_is_judged_as_one_here(server, database, tmp_path):
    policy = given(carried=("cost",))
    table = columns_of(policy, people())
    put(database, table)
    ind.anonymize(table, policy, output=tmp_path / "out.parquet")
    mine = ind.verify(table, tmp_path / "out.parquet", policy).document
    theirs = ind.verify(server, tmp_path / "out.parquet", policy, sql_table="people", engine="postgresql").document
    assert theirs == mine
    assert theirs["satisfied"] is True
    mine = ind.audit(table, policy).document
    theirs = ind.audit(server, policy, sql_table="people", engine="postgresql").document
    for key in ("models", "worst", "classes", "smallest_class", "missing"):
        assert theirs[key] == mine[key]
    assert tables(database) == ["public.people"]
