"""Local recoding: loss and warm time on Adult, on its scaled tables and on random numbers.

    python benchmarks/local.py [--shared ../shared] [--work DIR] [--small] [--best] [--scaling] [--json FILE]

Time is that of the whole call from counted codes (``Frequencies``) to ``Assignment``, warm: the median of three, the
fastest in brackets, and the processor time of all threads for machines with other work. ``--work`` holds the scaled
tables between runs (made there with ``tools/scale_table.py`` when absent; default: a temporary folder). ``--small``
leaves them out. ``--best`` adds the rows with a time budget. ``--scaling`` measures cost against rows, attributes and
domain size on random numbers. Age is published as the range of its members over the domain 1..100, everything else as
nodes of its hierarchy; no row is suppressed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

import indistinct as ind
from indistinct.algorithms.local import local
from indistinct.hierarchies import build_hierarchy
from indistinct.losses import lm
from indistinct.releases.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import frequencies_of, silent

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
K = {"model": "k_anonymity", "k": 5}
SEEDS = {301_620: 20240301, 3_016_200: 20240302}


def on(attribute: str, model: str, **parameters: object) -> dict[str, object]:
    return {"model": model, "attribute": attribute, **parameters}


MODELS = {
    "k=5": (None, [K]),
    "+ distinct l=3": ("occupation", [K, on("occupation", "distinct_l", l=3)]),
    "+ entropy l=3": ("occupation", [K, on("occupation", "entropy_l", l=3)]),
    "+ recursive (4,3)": ("occupation", [K, on("occupation", "recursive_cl", c=4, l=3)]),
    "+ alpha 0.4": ("occupation", [on("occupation", "alpha_k", alpha=0.4, k=5)]),
    "+ t=0.2 equal": ("occupation", [K, on("occupation", "t_closeness", t=0.2, distance="equal")]),
    "+ t=0.2 hierarchical": ("occupation", [K, on("occupation", "t_closeness", t=0.2, distance="hierarchical")]),
    "+ t=0.2 ordered": ("age", [K, on("age", "t_closeness", t=0.2, distance="ordered")]),
}
# (rows, models, quality): most loss, most seconds
TARGETS = {
    (30_162, "k=5", "fast"): (0.050, 0.03),
    (30_162, "k=5", "balanced"): (0.038, 1.0),
    (30_162, "k=5", "best"): (0.0365, 10.0),
    (30_162, "+ distinct l=3", "balanced"): (0.021, 1.0),
    (30_162, "+ t=0.2 equal", "balanced"): (0.27, 2.5),
    (30_162, "+ t=0.2 equal", "best"): (0.25, 12.0),
    (30_162, "+ t=0.2 hierarchical", "balanced"): (0.178, 2.5),
    (30_162, "+ t=0.2 hierarchical", "best"): (0.16, 12.0),
    (30_162, "+ t=0.2 ordered", "balanced"): (0.035, 1.5),
    (301_620, "k=5", "balanced"): (0.0124, 3.0),
    (3_016_200, "k=5", "fast"): (0.0055, 1.0),
    (3_016_200, "k=5", "balanced"): (0.0041, 12.0),
}
BUDGETS = {"k=5": 10.0, "+ t=0.2 equal": 12.0, "+ t=0.2 hierarchical": 12.0}


def policy_of(hierarchies: Path, sensitive: str | None, privacy: list, quality: str, budget=None) -> ind.Policy:
    attributes = {}
    for name in QUASI:
        file = hierarchies / f"adult_hierarchy_{name}.csv"
        attributes[name] = {"role": "quasi_identifying", "hierarchy": {"file": str(file)}}
        if name == "age":
            attributes[name] |= {"type": "integer", "domain": [1, 100]}
            attributes[name]["hierarchy"] = {"kind": "range", "bounds": "members"}
    if sensitive is not None:
        attributes[sensitive]["role"] = "sensitive"
    if sensitive == "age":
        attributes["age"] = {"role": "sensitive", "type": "integer"}
    recoding = {"algorithm": "local", "quality": quality, **({"time_budget": budget} if budget else {})}
    return ind.Policy(attributes=attributes, privacy=privacy, recoding=recoding)


def measure(frequencies, policy, repeats=3) -> dict:
    """Median time of warm calls, with what they found."""
    if policy.recoding.quality != "best":
        local(frequencies, policy, silent)
    else:
        repeats = 1
    times, processor = [], []
    for _ in range(repeats):
        begun, used = perf_counter(), process_time()
        found = local(frequencies, policy, silent)
        times.append(perf_counter() - begun)
        processor.append(process_time() - used)
    loss, _ = lm(frequencies, found, recoding_of(frequencies, found))
    return {
        "loss": float(loss),
        "seconds": median(times),
        "fastest": min(times),
        "processor": median(processor),
        "suppressed": int(found.count[found.class_of < 0].sum()),
        "classes": found.classes,
        "notes": list(found.notes),
    }


def show(label: str, row: dict, target: tuple[float, float] | None = None) -> None:
    verdict = ""
    if target is not None:
        met = row["loss"] <= target[0] and row["seconds"] <= target[1]
        verdict = f"  target {target[0]:g} in {target[1]:g} s {'met' if met else 'MISSED'}"
    print(
        f"{label:48} LM {row['loss']:.5f}  {row['seconds']:7.3f} s ({row['fastest']:.3f}; cpu {row['processor']:.2f})"
        f"  {row['classes']:>7,} classes, {row['suppressed']} suppressed{verdict}",
        flush=True,
    )


def adult_rows(data: Path, results: dict, *, best: bool) -> None:
    for name, (sensitive, privacy) in MODELS.items():
        frequencies = prepare(data / "adult.csv", policy_of(data, sensitive, privacy, "fast")).counted.frequencies
        for quality in ("fast", "balanced", *(["best"] if best and name in BUDGETS else [])):
            budget = BUDGETS[name] if quality == "best" else None
            row = measure(frequencies, policy_of(data, sensitive, privacy, quality, budget))
            results[f"30162 {name} {quality}"] = row
            show(f"30,162 rows, {name}, {quality}", row, TARGETS.get((30_162, name, quality)))


def scaled_rows(data: Path, tool: Path, work: Path, results: dict) -> None:
    for rows, seed in SEEDS.items():
        table = work / f"adult_{rows}.csv"
        if not table.exists():
            arguments = [tool, data / "adult.csv", rows, table, "--seed", seed]
            subprocess.run([sys.executable, *map(str, arguments)], check=True)
        frequencies = prepare(table, policy_of(data, None, [K], "fast")).counted.frequencies
        for quality in ("fast", "balanced"):
            row = measure(frequencies, policy_of(data, None, [K], quality))
            results[f"{rows} k=5 {quality}"] = row
            show(f"{rows:,} rows, k=5, {quality}", row, TARGETS.get((rows, "k=5", quality)))


def random_numbers(rows: int, width: int, domain: int):
    """A table of independent uniform whole numbers, published as ranges."""
    random = np.random.default_rng(1)
    columns = random.integers(0, domain, (rows, width))
    hierarchies, codes = [], []
    for a in range(width):
        values, inverse = np.unique(columns[:, a], return_inverse=True)
        spec = {"kind": "range", "bounds": "members"}
        hierarchies.append(build_hierarchy(f"x{a}", [str(v) for v in values.tolist()], spec=spec, type="integer"))
        codes.append(inverse)
    cells, counts = np.unique(np.stack(codes, axis=1).astype(np.int32), axis=0, return_counts=True)
    return frequencies_of(tuple(hierarchies), (), np.ascontiguousarray(cells), counts.astype(np.int64))


def scaling_rows(data: Path, results: dict) -> None:
    shapes = [(n, 4, 1000) for n in (10_000, 30_000, 100_000, 300_000)]
    shapes += [(30_000, width, 1000) for width in (2, 8, 16)]
    shapes += [(30_000, 4, domain) for domain in (10, 100, 10_000, 1_000_000)]
    for shape in shapes:
        frequencies = random_numbers(*shape)
        for quality in ("fast", "balanced"):
            row = measure(frequencies, policy_of(data, None, [K], quality), 1)
            results[f"random {shape} {quality}"] = row
            rows, width, domain = shape
            show(f"random, {rows:,} rows, {width} x {domain:,} values, {quality}", row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data, results = given.shared / "data" / "adult", {}
    with tempfile.TemporaryDirectory() as temporary:
        adult_rows(data, results, best=given.best)
        if not given.small:
            scaled_rows(data, given.shared / "tools" / "scale_table.py", given.work or Path(temporary), results)
        if given.scaling:
            scaling_rows(data, results)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
