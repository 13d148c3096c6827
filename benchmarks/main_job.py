"""Time the main job on Adult: audit after reading, whole processes, `optimal` and `local` as the steward meets them.

    python benchmarks/main_job.py [FOLDER WITH adult.csv AND ITS HIERARCHIES]

Figures are warm medians of seven runs in one process, and of three whole processes. Targets are printed beside them;
the benchmark judges nothing.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import indistinct as ind
from indistinct.algorithms import algorithm
from indistinct.losses import lm
from indistinct.releases.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import silent
from indistinct.tables.source import open_source

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/adult")
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


def policy(*, models, sensitive=None, age_by_file=False, **sections):
    sensitive = sensitive or {}
    attributes = {}
    for name in QUASI:
        if name in sensitive:
            attributes[name] = {"role": "sensitive", **sensitive[name]}
            continue
        attributes[name] = {
            "role": "qi",
            "hierarchy": {"file": str((FOLDER / f"adult_hierarchy_{name}.csv").resolve())},
        }
    if "age" not in sensitive and not age_by_file:
        attributes["age"] = {
            "role": "qi", "type": "integer", "domain": [1, 100], "hierarchy": {"kind": "range", "bounds": "members"},
        }  # fmt: skip
    return ind.Policy(attributes=attributes, privacy=models, **sections)


def median(function, runs=7):
    function()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def line(what, seconds, target, more=""):
    print(f"{what:58} {seconds * 1000:9.1f} ms   target {target:>9}   {more}")


def audit():
    models = [
        ind.KAnonymity(5), ind.DistinctL("occupation", 3), ind.EntropyL("occupation", 3),
        ind.RecursiveCL("occupation", 4, 3), ind.TCloseness("occupation", "0.2", "equal"),
        ind.TCloseness("occupation", "0.2", "hierarchical"), ind.TCloseness("age", "0.2", "ordered"),
    ]  # fmt: skip
    given = policy(
        sensitive={
            "occupation": {"hierarchy": {"file": str((FOLDER / "adult_hierarchy_occupation.csv").resolve())}},
            "age": {"type": "integer"},
        },
        models=models,
    )
    import pyarrow as pa

    table = pa.Table.from_batches(list(open_source(FOLDER / "adult.csv").batches()))
    line("audit, k, three l, three t, from memory", median(lambda: ind.audit(table, given)), "50 ms")


def decide():
    source = FOLDER / "adult.csv"
    for limit, target in ((0, "100 ms"), (0.02, "300 ms"), (1, "500 ms")):
        given = policy(
            age_by_file=True,
            models=[ind.KAnonymity(5)],
            suppression={"limit": limit},
            recoding={"algorithm": "optimal"},
        )
        show("optimal", given, source, f"optimal, k = 5, limit {limit}", target)
    for quality, target in (("fast", "30 ms"), ("balanced", "1000 ms")):
        given = policy(models=[ind.KAnonymity(5)], recoding={"quality": quality})
        show("local", given, source, f"local, k = 5, {quality}", target)


def show(name, given, source, what, target):
    frequencies = prepare(source, given).counted.frequencies
    search = algorithm(name)
    seconds = median(lambda: search(frequencies, given, silent))
    assignment = search(frequencies, given, silent)
    loss, _ = lm(frequencies, assignment, recoding_of(frequencies, assignment))
    line(what, seconds, target, f"LM {float(loss):.4f}")


def processes():
    quasi = ",".join(name for name in QUASI if name != "occupation")
    table = str((FOLDER / "adult.csv").resolve())
    words = ["audit", table, "--qi", quasi, "--sensitive", "occupation", "--k", "5", "--l", "3", "--t", "0.2",
             "--t-distance", "equal", "--quiet"]  # fmt: skip
    line("whole process: audit of Adult", whole(words), "1200 ms")
    line("whole process: --help", whole(["--help"]), "300 ms")
    with tempfile.TemporaryDirectory() as folder:
        for quality, target in (("fast", "1000 ms"), ("balanced", "1800 ms")):
            path = Path(folder) / f"{quality}.toml"
            policy(models=[ind.KAnonymity(5)], recoding={"quality": quality}).save(path)
            words = ["anonymize", table, "--policy", str(path), "--output", f"{folder}/out.csv", "--force", "--quiet"]
            line(f"whole process: anonymize local {quality}, verified", whole(words), target)


def whole(words):
    command = [sys.executable, "-c", "from indistinct.cli import main; main()", *words]
    return median(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False), runs=3)


if __name__ == "__main__":
    audit()
    decide()
    processes()
