"""A table in which every shortcut for large files fails: whole processes, time and peak memory.

    python benchmarks/odd.py [--shared ../shared] [--work DIR] [--small] [--json FILE]

Eleven quasi-identifiers of more than 64 bits together, so that almost every tuple is unique: numbers of which millions
are different, codes that first occur far down the file, dates, missing values; and a sensitive column with missing
values.
``--small`` takes 100,000 rows in place of 10,000,000.
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from adult import benchmark
from large import measured, several

import indistinct as ind

ROWS = 10_000_000
BATCH = 1_000_000
RANGE = {"kind": "range", "bounds": "members"}
CODES = [f"code {number}" for number in range(6)]
ATTRIBUTES = {
    "age": {"role": "qi", "type": "integer", "hierarchy": RANGE},
    "zip": {"role": "qi", "hierarchy": {"kind": "masking"}},
    "born": {"role": "qi", "type": "date", "hierarchy": RANGE},
    "income": {"role": "qi", "type": "integer", "hierarchy": RANGE},
    "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
    **{name: {"role": "qi", "hierarchy": {"kind": "suppress"}} for name in CODES},
    "illness": {"role": "sensitive"},
}


def main():
    with benchmark(__doc__) as (given, work, tell):
        rows = 100_000 if given.small else ROWS
        table, path = work / f"odd_{rows}.parquet", work / "odd.toml"
        if not table.exists():
            write(table, rows)
        policy = ind.Policy(attributes=ATTRIBUTES, privacy=[ind.KAnonymity(5)], recoding={"quality": "fast"})
        policy.save(path)
        out = ["anonymize", table, "--policy", path, "--force", "--quiet", "--output", work / "odd_out.parquet"]
        for what, words in (("anonymize, fast", out), ("audit", ["audit", table, "--policy", path, "--quiet"])):
            command = [sys.executable, "-m", "indistinct", *map(str, words)]
            tell(f"{rows:,} odd rows, {what}", several([measured(command, codes=(0, 1))]))


def write(path, rows):
    random, writer = np.random.default_rng(1), None
    for begin in range(0, rows, BATCH):
        number = min(BATCH, rows - begin)
        met = 1000 + (begin + number) * 99_000 // rows  # ever more of the codes

        def holes(values, share, kind, size=number):
            return pa.array(values, kind, mask=random.random(size) < share)

        def texts(prefix, below, size=number):
            return np.char.add(prefix, random.integers(0, below, size).astype(str))

        part = pa.table({
            "age": holes(random.integers(1, 100, number), 0.05, pa.int64()),
            "zip": np.char.zfill(random.integers(0, met, number).astype(str), 6),
            "born": pa.array(random.integers(0, 30_000, number).astype(np.int32), pa.date32()),
            "income": holes(random.integers(0, ROWS, number), 0.02, pa.int64()),
            "sex": np.array(["f", "m"])[random.integers(0, 2, number)],
            **{name: texts("c", 1000) for name in CODES},
            "illness": holes(texts("d", 200), 0.1, pa.string()),
        })  # fmt: skip
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()


if __name__ == "__main__":
    main()
