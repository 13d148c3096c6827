"""Time the main job on Adult: audit after reading, whole processes, first calls of a process.

    python benchmarks/main_job.py [--shared ../shared] [--work DIR] [--small] [--json FILE]

Figures are warm medians of seven runs in one process, and of three whole processes. A *first call* is the first call in
a new process, from counted codes, with the compile cache as a former process left it or with none.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
from adult import QUASI, K, benchmark, file_of, on, policy_of, scaled

import indistinct as ind
from indistinct.algorithms import named
from indistinct.formats.registry import open_source
from indistinct.session.prepare import prepare
from indistinct.tables.count import silent


def main():
    with benchmark(__doc__) as (given, work, tell):
        data = given.shared / "data" / "adult"
        checks(data, data / "adult.csv", tell, "30,162 rows", 0.03)
        if not given.small:
            table = scaled(given.shared, work, 1_000_000)
            checks(data, table, tell, "1,000,000 rows", 0.3)
        processes(data, tell)
        if not given.small:
            first_calls(data, tell)


def checks(data, path, tell, what, target):
    """The nine checks that pycanon has, on a table in memory: k, alpha, three l, t, beta twice, delta."""
    models = [
        K, on("occupation", "alpha_k", alpha="1/2", k=5), on("occupation", "distinct_l", l=3),
        on("occupation", "entropy_l", l=3), on("occupation", "recursive_cl", c=4, l=3),
        on("occupation", "t_closeness", t="0.2", distance="equal"),
        on("occupation", "beta_likeness", beta=1, kind="basic"),
        on("occupation", "beta_likeness", beta=1, kind="enhanced"), on("occupation", "delta_disclosure", delta=1),
    ]  # fmt: skip
    policy = policy_of(data, ("occupation",), models)
    table = pa.Table.from_batches(list(open_source(path).batches()))
    seconds = median(lambda: ind.audit(table, policy), 7 if len(table) < 100_000 else 3)
    tell(f"audit, nine checks, {what}, from memory", {"seconds": seconds}, {"seconds": target})
    if len(table) < 100_000:
        more = [*models[:6], on("occupation", "t_closeness", t="0.2", distance="hierarchical")]
        ordered = [*more, on("age", "t_closeness", t="0.2", distance="ordered")]
        attributes = {name: {"role": "qi", "hierarchy": file_of(data, name)} for name in QUASI}
        attributes["occupation"]["role"] = "sensitive"
        attributes["age"] = {"role": "sensitive", "type": "integer"}
        given = ind.Policy(attributes=attributes, privacy=ordered)
        tell("audit, k, three l, three t", {"seconds": median(lambda: ind.audit(table, given))}, {"seconds": 0.05})


def processes(data, tell):
    quasi = ",".join(name for name in QUASI if name != "occupation")
    table = str((data / "adult.csv").resolve())
    words = ["audit", table, "--qi", quasi, "--sensitive", "occupation", "--k", "5", "--l", "3", "--t", "0.2",
             "--t-distance", "equal", "--quiet"]  # fmt: skip
    tell("process: audit of Adult", whole(words), {"seconds": 1.2})
    tell("process: --help", whole(["--help"]), {"seconds": 0.3})
    with tempfile.TemporaryDirectory() as folder:
        for quality, target in (("fast", 1.0), ("balanced", 1.8)):
            path = Path(folder) / f"{quality}.toml"
            policy_of(data, recoding={"quality": quality}).save(path)
            words = ["anonymize", table, "--policy", str(path), "--output", f"{folder}/out.csv", "--force", "--quiet"]
            tell(f"process: anonymize Adult, local {quality}, verified", whole(words), {"seconds": target})


def first_calls(data, tell):
    for name, warm, cold in (("optimal", 1.0, 10.0), ("local", None, 15.0)):
        tell(f"first call, {name}, cache warm", {"seconds": first(data, name)}, {"seconds": warm} if warm else {})
        with tempfile.TemporaryDirectory() as cache:
            tell(f"first call, {name}, no cache", {"seconds": first(data, name, cache)}, {"seconds": cold})


def first(data, name, cache=None):
    """Seconds of the first call in a new process, which reads what the environment says of caches as it starts."""
    with (
        patch.dict(os.environ, {"NUMBA_CACHE_DIR": cache} if cache else {}),
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
    ):
        return pool.submit(call, data, name).result()


def call(data, name):
    policy = policy_of(data, age="file" if name == "optimal" else "range", recoding={"algorithm": name})
    frequencies = prepare(data / "adult.csv", policy).counted.frequencies
    begun = time.perf_counter()
    named(name).decide(frequencies, policy, silent)
    return time.perf_counter() - begun


def median(function, runs=7):
    function()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def whole(words):
    command = [sys.executable, "-m", "indistinct", *words]
    return {"seconds": median(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False), runs=3)}


if __name__ == "__main__":
    main()
