"""Tables, policies and cases that every engine is held to, and a PostgreSQL of the tests' own."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

import indistinct as ind

RANGE = {"kind": "range", "bounds": "members"}
AGE = {"role": "qi", "type": "integer", "hierarchy": RANGE}
ZIP = {"role": "qi", "hierarchy": {"kind": "masking"}}
SEX = {"role": "qi", "hierarchy": {"kind": "suppress"}}
SAME = ("rows", "published_rows", "suppressed_rows", "left_out_rows", "classes", "loss", "models", "verification")


def people(rows=400, seed=3):
    """Rows with missing values in every column, among them ones that repeat to the last."""
    draw = np.random.default_rng(seed)

    def some(values, share=0.1):
        return [None if draw.random() < share else values[at] for at in draw.integers(0, len(values), rows)]

    return pa.table({
        "who": pa.array([f"p{n}" for n in draw.integers(0, rows // 2, rows)]),
        "age": pa.array(some([*range(20, 60)]), pa.int64()),
        "note": pa.array(some(["x", "y", "", "Ä"])),
        "zip": pa.array(some(["01067", "01069", "1067", "80331"])),
        "sex": pa.array(some(["f", "m"], 0)),
        "ill": pa.array(some(["flu", "cold", "gout", "NA"], 0.05)),
        "cost": pa.array(some([1.5, -2.0, 1e300, 0.1])),
        "day": pa.array(some([0, 1, 19000]), pa.int32()).cast(pa.date32()),
    })  # fmt: skip


def given(*, quasi=("age", "zip", "sex"), person=False, carried=(), **sections):
    attributes = {name: {"age": AGE, "zip": ZIP, "sex": SEX}[name] for name in quasi}
    attributes |= {"ill": {"role": "sensitive"}} | {name: {"role": "insensitive"} for name in carried}
    sections.setdefault("privacy", [ind.KAnonymity(4), ind.DistinctL("ill", 2)])
    sections.setdefault("recoding", {"quality": "fast"})
    if person:
        sections["person"] = {"key": "who"}
    return ind.Policy(attributes=attributes, **sections)


def columns_of(policy, table):
    known = {*policy.attributes, "who"} if policy.person else {*policy.attributes}
    return table.select([name for name in table.column_names if name in known])


def rows_of(table):
    return Counter(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))


CASES = {
    "plain": {},
    "persons": {"person": True, "privacy": [ind.KAnonymity(3), ind.RecursiveCL("ill", c=4, l=2)]},
    "suppressed": {
        "suppression": {"limit": 0.05}, "privacy": [ind.KAnonymity(9)], "recoding": {"algorithm": "optimal"},
    },
    "exempt": {
        "suppression": {"limit": 0.2, "rows": "exempt"}, "privacy": [ind.KAnonymity(9)],
        "recoding": {"algorithm": "optimal"},
    },
    "t-closeness": {"privacy": [ind.KAnonymity(3), ind.TCloseness("ill", "0.3", distance="equal")]},
    "carried": {"carried": ("note", "cost", "day")},
    "carried, persons": {"carried": ("cost",), "person": True, "privacy": [ind.KAnonymity(3)]},
    "groups": {"recoding": {"algorithm": "anatomy"}, "privacy": [ind.DistinctL("ill", 2)]},
}  # fmt: skip


def split_cell(carried):
    """Nine rows of one cell and one of another: at k = 5 the nine must go to two classes, five and four rows."""
    ages = pa.array([30] * 9 + [31], pa.int64())
    columns = {"age": ages, "ill": pa.array(["flu"] * 10)}
    if carried:
        columns["cost"] = pa.array([float(n % 4) if n % 3 else None for n in range(10)])
    return pa.table(columns)


def postgres_programs():
    """The folder of initdb and postgres: on the path, or where Debian puts them."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places:
        message = "PostgreSQL is not installed (Debian: apt install postgresql)"
        raise FileNotFoundError(message)
    return places[-1]


@contextlib.contextmanager
def postgres():
    """A server of its own on a socket in a temporary folder, run by another user than root; its URL."""
    programs, folder = postgres_programs(), Path(tempfile.mkdtemp(prefix="pg"))
    other = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
    if other:
        shutil.chown(folder, "postgres", "postgres")
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **other}
    try:
        data = folder / "data"
        words = ["-D", data, "-U", "tester", "--auth=trust", "--locale=C.UTF-8", "-E", "UTF8", "--no-sync"]
        subprocess.run([programs / "initdb", *words], check=True, **silent)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        subprocess.run(
            [programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start"], check=True, **silent
        )
        try:
            yield f"postgresql+psycopg://tester@/postgres?host={folder}"
        finally:
            subprocess.run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=True, **silent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
