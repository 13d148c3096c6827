"""Whole processes on large files: time and peak memory, beside DuckDB's bare group-by in the same run.

    python benchmarks/large.py [--shared ../shared] [--work DIR] [--small] [--carried] [--json FILE]

Each line is the median of three whole processes (one for ``balanced``), compile cache warm, with the largest resident
size of any run. ``--small`` takes 3,000,000 rows in place of 30,000,000. ``--carried`` adds the file with one float
column that is carried, and the file as one single row group.
"""

import os
import statistics
import subprocess
import sys
import time

from adult import QUASI, benchmark, policy_of, scaled

RUNS = 3


def main():
    with benchmark(__doc__, carried="a carried column and a single row group too") as (given, work, tell):
        rows = 3_000_000 if given.small else 30_000_000
        data = given.shared / "data" / "adult"
        csv = scaled(given.shared, work, 3_000_000)
        parquet = scaled(given.shared, work, rows, "parquet")
        figures = {}

        def show(what, targets, runs, *words):
            command = [sys.executable, "-m", "indistinct", *map(str, words)]
            codes = (0, 1) if words[0] == "audit" else (0,)  # 1: the table does not satisfy what is asked
            figures[what] = several([measured(command, codes) for _ in range(runs)])
            tell(what, figures[what], targets)

        out = {}
        for quality in ("fast", "balanced"):
            path = work / f"{quality}.toml"
            policy_of(data, recoding={"quality": quality}, table={"unlisted": "insensitive"}).save(path)
            out[quality] = ["--policy", path, "--force", "--quiet", "--output"]
        show("3,000,000 rows, CSV to CSV, fast", {"seconds": 6, "mib": 1229}, RUNS,
             "anonymize", csv, *out["fast"], work / "out.csv")  # fmt: skip
        for quality, target, runs in (("fast", 15, RUNS), ("balanced", 30, 1)):
            targets = {} if given.small else {"seconds": target, "mib": 1536}
            show(f"{rows:,} rows, Parquet, {quality}", targets, runs,
                 "anonymize", parquet, *out[quality], work / "out.parquet")  # fmt: skip
        if given.carried:
            for what, file in variants(parquet, work):
                targets = {} if given.small else {"seconds": 20, "mib": 2048}
                show(f"{rows:,} rows, Parquet, fast, {what}", targets, 1,
                     "anonymize", file, *out["fast"], work / "out.parquet")  # fmt: skip
        flags = ["--qi", ",".join(QUASI[:-1]), "--sensitive", QUASI[-1], "--k", "5", "--l", "2", "--t", "0.3"]
        show(f"{rows:,} rows, audit", {} if given.small else {"seconds": 4, "mib": 1024}, RUNS,
             "audit", parquet, *flags, "--t-distance", "equal", "--quiet")  # fmt: skip
        names = ", ".join(f'"{name}"' for name in QUASI)
        query = f"SELECT count(*) FROM (SELECT {names}, count(*) FROM '{parquet}' GROUP BY ALL)"  # noqa: S608
        command = [sys.executable, "-c", f"import duckdb; duckdb.sql({query!r}).fetchall()"]
        tell(f"{rows:,} rows, DuckDB's group-by", several([measured(command) for _ in range(RUNS)]))


def variants(parquet, work):
    """The same rows with one more column of floats, and as one row group."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    carried, single = work / f"carried_{parquet.name}", work / f"single_{parquet.name}"
    if not carried.exists():
        random, source = np.random.default_rng(1), pq.ParquetFile(parquet)
        schema = source.schema_arrow.append(pa.field("measurement", pa.float64()))
        with pq.ParquetWriter(carried, schema) as writer:
            for batch in source.iter_batches(1_000_000):
                column = pa.array(random.integers(0, 100_000, len(batch)) / 100)
                writer.write_batch(pa.record_batch([*batch.columns, column], schema=schema))
    yield "one carried column", carried
    if not single.exists():
        # in a process of its own: the peak of a parent counts for the processes that it starts
        words = "pq.write_table(pq.read_table(sys.argv[1]), sys.argv[2], row_group_size=1 << 40)"
        command = [sys.executable, "-c", f"import sys, pyarrow.parquet as pq; {words}", str(parquet), str(single)]
        subprocess.run(command, check=True)
    yield "one row group", single


def measured(command, codes=(0,)):
    """Wall seconds, peak MiB and processor seconds of one whole process."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in codes:
        sys.exit(f"failed: {' '.join(command[2:])}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def several(figures):
    seconds, memory, processor = zip(*figures, strict=True)
    return {
        "seconds": statistics.median(seconds), "mib": max(memory), "processor": statistics.median(processor),
    }  # fmt: skip


if __name__ == "__main__":
    main()
