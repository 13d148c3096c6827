"""Full-domain search with proof: time, nodes looked at and loss, on Adult and its scaled tables.

    python benchmarks/optimal.py [--shared ../shared] [--work DIR] [--small] [--lattice] [--json FILE]

Time is that of the whole call from counted codes (``Frequencies``) to ``Assignment``, warm: the median of five, the
fastest in brackets, and the processor time (one thread) for machines with other work. ``--work`` holds the scaled
tables between runs (made there with ``tools/scale_table.py`` when absent; default: a temporary folder). ``--small``
leaves them out. ``--lattice`` adds tables of 12, 14 and 15 quasi-identifiers, Adult beside the previous row of itself,
and a plain best-first search for comparison.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from heapq import heappop, heappush
from math import floor
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import indistinct as ind
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.optimal import optimal
from indistinct.losses import lm
from indistinct.releases.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import silent

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
K = {"model": "k_anonymity", "k": 5}


def on(attribute: str, model: str, **parameters: object) -> dict[str, object]:
    return {"model": model, "attribute": attribute, **parameters}


MODELS = {
    "k=5": (None, [K]),
    "+ distinct l=3": ("occupation", [K, on("occupation", "distinct_l", l=3)]),
    "+ entropy l=3": ("occupation", [K, on("occupation", "entropy_l", l=3)]),
    "+ recursive (4,3)": ("occupation", [K, on("occupation", "recursive_cl", c=4, l=3)]),
    "+ t=0.2 equal": ("occupation", [K, on("occupation", "t_closeness", t=0.2, distance="equal")]),
    "+ t=0.2 hierarchical": ("occupation", [K, on("occupation", "t_closeness", t=0.2, distance="hierarchical")]),
    "+ t=0.2 ordered": ("age", [K, on("age", "t_closeness", t=0.2, distance="ordered")]),
}
LIMITS = ("0", "0.02", "1")
SEEDS = {301_620: 20240301, 3_016_200: 20240302}
TARGETS = {  # milliseconds at limits 0, 2 % and 100 %
    "k=5": (15, 60, 50),
    "+ distinct l=3": (12, 30, 25),
    "+ entropy l=3": (12, 45, 35),
    "+ recursive (4,3)": (12, 40, 30),
    "+ t=0.2 equal": (12, 15, 140),
    "+ t=0.2 hierarchical": (12, 25, 320),
    "+ t=0.2 ordered": (15, 40, 35),
}
SCALED_TARGETS = {301_620: 150, 3_016_200: 450}  # at limit 2 %


def policy_of(
    hierarchies: Path, sensitive: str | None, privacy: list, limit: str, names=QUASI, **recoding
) -> ind.Policy:
    """A policy over Adult; a column ``previous x`` has the hierarchy of x."""
    attributes = {}
    for name in names:
        file = hierarchies / f"adult_hierarchy_{name.removeprefix('previous ')}.csv"
        role = "sensitive" if name == sensitive else "quasi_identifying"
        attributes[name] = {"role": role, "hierarchy": {"file": str(file)}}
        if name == sensitive and name == "age":
            attributes[name]["type"] = "integer"
            del attributes[name]["hierarchy"]
    return ind.Policy(
        attributes=attributes,
        privacy=privacy,
        suppression={"limit": limit},
        recoding={"algorithm": "optimal", **recoding},
    )


def measure(frequencies, policy, repeats=5) -> dict:
    """Median time of warm calls, with what they found."""
    found = optimal(frequencies, policy, silent)
    times, processor = [], []
    for _ in range(repeats):
        begun, used = perf_counter(), process_time()
        found = optimal(frequencies, policy, silent)
        times.append(perf_counter() - begun)
        processor.append(process_time() - used)
    loss, _ = lm(frequencies, found, recoding_of(frequencies, found))
    gone = int(found.count[found.class_of < 0].sum())
    return {
        "milliseconds": round(median(times) * 1000, 1),
        "fastest": round(min(times) * 1000, 1),
        "processor": round(median(processor) * 1000, 1),
        "evaluated": int(found.notes[0].split(" of ")[0].replace(",", "")),
        "loss": round(float(loss), 4),
        "suppressed": round(gone / frequencies.total, 4),
        "classes": found.classes,
        "proven": found.proven,
        "levels": list(found.levels),
        "note": found.notes[0],
    }


def show(label: str, limit: str, row: dict, target: float | None = None) -> None:
    verdict = ""
    if target is not None:
        verdict = f"  target {target:>4} {'met' if row['milliseconds'] <= target else 'MISSED'}"
    print(
        f"{label:34} {float(Fraction(limit)):>5.0%}"
        f" {row['milliseconds']:>9.1f} ms ({row['fastest']:.1f}; cpu {row['processor']:.1f})"
        f" {row['evaluated']:>7} nodes  LM {row['loss']:.4f}  {row['suppressed']:>6.2%} suppressed{verdict}",
        flush=True,
    )


def adult_rows(data: Path, results: dict) -> None:
    for name, (sensitive, privacy) in MODELS.items():
        frequencies = None
        for limit, target in zip(LIMITS, TARGETS[name], strict=True):
            policy = policy_of(data, sensitive, privacy, limit)
            if frequencies is None:
                frequencies = prepare(data / "adult.csv", policy).counted.frequencies
            results[f"30162 {name} {limit}"] = row = measure(frequencies, policy)
            show(f"30,162 rows, {name}", limit, row, target)


def scaled_rows(data: Path, tool: Path, work: Path, results: dict) -> None:
    for rows, seed in SEEDS.items():
        table = work / f"adult_{rows}.csv"
        if not table.exists():
            arguments = [tool, data / "adult.csv", rows, table, "--seed", seed]
            subprocess.run([sys.executable, *map(str, arguments)], check=True)
        frequencies = prepare(table, policy_of(data, None, [K], "0")).counted.frequencies
        for limit in LIMITS:
            results[f"{rows} k=5 {limit}"] = row = measure(frequencies, policy_of(data, None, [K], limit))
            show(f"{rows:,} rows, k=5", limit, row, SCALED_TARGETS[rows] if limit == "0.02" else None)


def widened(data: Path, work: Path, extra: tuple[str, ...]) -> Path:
    """Adult with columns of the previous row beside its own: more quasi-identifiers, the same distributions."""
    lines = [line.split(";") for line in (data / "adult.csv").read_text(encoding="utf-8").splitlines()]
    header, rows = lines[0], lines[1:]
    places = [header.index(name) for name in extra]
    table = work / f"adult_{len(header) + len(extra)}.csv"
    with table.open("w", encoding="utf-8") as file:
        file.write(";".join([*header, *(f"previous {name}" for name in extra)]) + "\n")
        for i, row in enumerate(rows):
            file.write(";".join([*row, *(rows[i - 1][place] for place in places)]) + "\n")
    return table


def best_first(frequencies, policy, seconds: float) -> tuple[float, int]:
    """Loss that a plain best-first search from the bottom reaches, and the nodes judged.

    The node of least loss, all suppression allowed, is next; all its direct generalizations are judged.
    """
    lattice = build_lattice(frequencies)
    judge = Judge(frequencies, lattice, policy.privacy, frequencies.total)
    limit = floor(policy.suppression.limit * frequencies.total)
    begun, best, judged, heap = perf_counter(), 1.0, set(), []

    def look(node: tuple[int, ...]) -> None:
        nonlocal best
        verdict = judge.verdict(node)
        loss = judge.base_of(node) + verdict.penalty / frequencies.total
        judged.add(node)
        heappush(heap, (loss, node))
        if verdict.lost <= limit:
            best = min(best, loss)

    look((0,) * len(lattice.shape))
    while heap and perf_counter() - begun < seconds:
        _, node = heappop(heap)
        for a, p in enumerate(node):
            above = (*node[:a], p + 1, *node[a + 1 :])
            if p < lattice.top[a] and above not in judged:
                look(above)
    judge.close()
    return best, len(judged)


def lattice_rows(data: Path, work: Path, results: dict) -> None:
    more = ("age", "education", "marital-status", "native-country", "workclass", "occupation")
    for width in (3, 5, 6):
        names = (*QUASI, *(f"previous {name}" for name in more[:width]))
        table = widened(data, work, more[:width])
        frequencies = None
        for limit in ("0.02", "0.1"):
            for seconds in (1.0, 10.0):
                policy = policy_of(data, None, [K], limit, names, time_budget=seconds)
                if frequencies is None:
                    frequencies = prepare(table, policy).counted.frequencies
                results[f"{9 + width} attributes {limit} {seconds}"] = row = measure(frequencies, policy, 1)
                show(f"{9 + width} attributes, {seconds:g} s", limit, row)
                print(f"    {row['note']}")
            loss, nodes = best_first(frequencies, policy, seconds)
            print(f"    plain best-first search, {seconds:g} s: LM {loss:.4f} ({nodes:,} nodes judged)", flush=True)
            results[f"{9 + width} attributes {limit} best-first"] = {"loss": round(loss, 4), "judged": nodes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--lattice", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data, results = given.shared / "data" / "adult", {}
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        adult_rows(data, results)
        if not given.small:
            scaled_rows(data, given.shared / "tools" / "scale_table.py", work, results)
        if given.lattice:
            lattice_rows(data, work, results)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
