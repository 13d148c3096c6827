"""Whole processes on large files: time and peak memory, beside DuckDB's bare group-by in the same run.

    python benchmarks/large.py [--shared ../shared] [--work DIR] [--rows 30000000] [--runs 3]

Tables are Adult scaled by ``tools/scale_table.py`` (made when absent; ``--work`` keeps them between runs). Each line is
the median of ``--runs`` whole processes, compile cache warm, with the largest resident size of any run.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import indistinct as ind

QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = given.work or Path(folder)
        csv = scaled(given.shared, work, 3_000_000, "csv")
        parquet = scaled(given.shared, work, given.rows, "parquet")
        for quality in ("fast", "balanced"):
            path = work / f"{quality}.toml"
            policy(given.shared, quality).save(path)
            out = ["--policy", path, "--force", "--quiet", "--output"]
            if quality == "fast":
                show("3,000,000 rows, CSV to CSV, fast", given.runs, "anonymize", csv, *out, work / "out.csv")
            show(
                f"{given.rows:,} rows, Parquet, {quality}", given.runs, "anonymize", parquet, *out, work / "out.parquet"
            )
        flags = ["--qi", ",".join(QUASI[:-1]), "--sensitive", QUASI[-1], "--k", "5", "--l", "2", "--t", "0.3"]
        show(f"{given.rows:,} rows, audit", given.runs, "audit", parquet, *flags, "--t-distance", "equal", "--quiet")
        names = ", ".join(f'"{name}"' for name in QUASI)
        query = f"SELECT count(*) FROM (SELECT {names}, count(*) FROM '{parquet}' GROUP BY ALL)"  # noqa: S608
        command = [sys.executable, "-c", f"import duckdb; duckdb.sql({query!r}).fetchall()"]
        line(f"{given.rows:,} rows, DuckDB's group-by", [measured(command) for _ in range(given.runs)])


def policy(shared, quality="fast"):
    folder = shared.resolve() / "data" / "adult"
    attributes = {
        name: {"role": "qi", "hierarchy": {"file": str(folder / f"adult_hierarchy_{name}.csv")}} for name in QUASI
    }
    attributes["age"] = {
        "role": "qi", "type": "integer", "domain": [1, 100], "hierarchy": {"kind": "range", "bounds": "members"},
    }  # fmt: skip
    return ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(5)], recoding={"quality": quality})


def scaled(shared, work, rows, suffix):
    path = work / f"adult_{rows}.{suffix}"
    if not path.exists():
        source = shared / "data" / "adult" / "adult.csv"
        subprocess.run(
            [sys.executable, shared / "tools" / "scale_table.py", source, str(rows), path, "--seed", "7"], check=True
        )
    return path


def show(what, runs, *words):
    command = [sys.executable, "-c", "from indistinct.cli import main; main()", *map(str, words)]
    measured(command)
    line(what, [measured(command) for _ in range(runs)])


def measured(command):
    """Wall seconds and peak MiB of one whole process."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - begun, usage.ru_maxrss / 1024


def line(what, figures):
    seconds, memory = zip(*figures, strict=True)
    print(f"{what:45} {statistics.median(seconds):7.2f} s   {max(memory):7.0f} MiB")


if __name__ == "__main__":
    main()
