"""What the benchmarks share: the table, its scaled copies, policies over it, and one way to show a figure.

The tables are Adult and tables scaled from it by ``tools/scale_table.py`` of the shared folder, with fixed seeds. Age
is published as the range of its members over the domain 1..100, everything else as nodes of its hierarchy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import indistinct as ind

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
K = {"model": "k_anonymity", "k": 5}
SEEDS = {301_620: 20240301, 3_016_200: 20240302}
UNITS = {"seconds": "s", "loss": "LM", "mib": "MiB"}


def on(attribute: str, model: str, **parameters: object) -> dict[str, object]:
    return {"model": model, "attribute": attribute, **parameters}


def file_of(data: Path, name: str) -> dict[str, str]:
    return {"file": str(data.resolve() / f"adult_hierarchy_{name}.csv")}


def policy_of(data: Path, sensitive=(), privacy=(K,), *, age="range", names=QUASI, **sections) -> ind.Policy:
    """A policy over Adult; ``age = "file"`` takes the levels of its hierarchy, for full-domain search.

    ``age = "sets"`` publishes age as a range and all other columns as the values that occur. A column ``previous x``
    has the hierarchy of x.
    """
    attributes: dict[str, dict] = {}
    for name in names:
        role = "sensitive" if name in sensitive else "quasi_identifying"
        attributes[name] = {"role": role, "hierarchy": file_of(data, name.removeprefix("previous "))}
    if "age" in sensitive:
        attributes["age"] = {"role": "sensitive", "type": "integer"}
    elif age in {"range", "sets"}:
        attributes["age"] |= {"type": "integer", "domain": [1, 100]}
        attributes["age"]["hierarchy"] = {"kind": "range", "bounds": "members"}
    for name in names if age == "sets" else ():
        if name != "age" and name not in sensitive:
            attributes[name]["hierarchy"] = {"kind": "set"}
    return ind.Policy(attributes=attributes, privacy=list(privacy), **sections)


def scaled(shared: Path, work: Path, rows: int, suffix: str = "csv") -> Path:
    """Path of a scaled table, made when it is absent."""
    path = work / f"adult_{rows}.{suffix}"
    if not path.exists():
        tool, source = shared / "tools" / "scale_table.py", shared / "data" / "adult" / "adult.csv"
        words = [tool, source, rows, path, "--seed", SEEDS.get(rows, 7)]
        subprocess.run([sys.executable, *map(str, words)], check=True)
    return path


def timed(repeats: int, call):
    """Call so many times; what the last call returned, and medians of the time and of the processor time."""
    times, processor = [], []
    for _ in range(repeats):
        begun, used = perf_counter(), process_time()
        found = call()
        times.append(perf_counter() - begun)
        processor.append(process_time() - used)
    return found, {"seconds": median(times), "processor": median(processor)}


@contextmanager
def benchmark(description: str, **flags: str):
    """Read the command line, keep the figures, and write them where ``--json`` says.

    Yields the arguments, the folder for scaled tables and ``tell(label, figures, targets, note)``, which shows one row.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--work", type=Path, help="keeps the scaled tables between runs")
    parser.add_argument("--small", action="store_true", help="only what takes seconds")
    parser.add_argument("--json", type=Path, help="write the figures here")
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    given = parser.parse_args()
    results: dict[str, dict] = {}

    def tell(label: str, figures: dict, targets: dict | None = None, note: str = "") -> None:
        results[label] = {**figures, "targets": targets or {}, **({"note": note} if note else {})}
        print(row_text(label, results[label]), flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        yield given, work, tell
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def row_text(label: str, row: dict) -> str:
    """One row of the table: figures, their targets, and whether they were met."""
    cells = []
    for name, unit in UNITS.items():
        if name in row:
            cells.append(f"{unit} {row[name]:.4g}" if name == "loss" else f"{row[name]:.3g} {unit}")
    if "processor" in row:
        cells.append(f"(processor {row['processor']:.3g} s)")
    if row["targets"]:
        wanted = ", ".join(f"{UNITS[name]} {value:g}" for name, value in row["targets"].items())
        met = all(row[name] <= value for name, value in row["targets"].items())
        cells.append(f"target {wanted}: {'met' if met else 'MISSED'}")
    if row.get("note"):
        cells.append(row["note"])
    return f"{label:58} {'  '.join(cells)}"
