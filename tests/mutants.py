"""Change models and their compiled judges at random places, one at a time, and count which changes no test notices.

    python tests/mutants.py [--sample 60] [--seed 0]

Cosmic Ray writes the mutants into a copy of the checkout under build/mutants; the sources here are not touched. Each is
run against the tests of the models, of the judges and against the golden values, with the compiler off. A mutant that
survives in a verdict, a bound or a filter asks for a test from the definition. Others may mean the same as the
original, or concern sentences; build/mutants/survivors.txt shows all of them as differences.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
MUTATED = [
    "src/indistinct/models",
    "src/indistinct/kernels/judges.py",
    "src/indistinct/kernels/criteria.py",
    "src/indistinct/kernels/caps.py",
]
TESTS = "tests/models tests/kernels/test_judges.py tests/kernels/test_criteria.py tests/test_golden.py"
# what changes no meaning (types, identity of numbers) or only breaks names says nothing about the tests
MEANT = (
    "ReplaceComparisonOperator", "ReplaceBinaryOperator_Add", "ReplaceBinaryOperator_Sub", "ReplaceBinaryOperator_Mul",
    "ReplaceBinaryOperator_Div", "ReplaceBinaryOperator_FloorDiv", "ReplaceBinaryOperator_Mod", "ReplaceUnaryOperator",
    "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "AddNot",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop",
)  # fmt: skip
SENSELESS = ("_Is", "_IsNot", "_Pow", "_LShift", "_RShift", "_BitOr", "_BitAnd", "_BitXor", "_Invert")


def copy():
    """Copy what is tracked, as it stands now, and link the golden values where they lie beside the checkout."""
    shutil.rmtree(WORK, ignore_errors=True)
    target = WORK / "checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    if (shared := ROOT.parent / "shared").is_dir():
        (WORK / "shared").symlink_to(shared)
    return target


def meant(item, checkout):
    """Whether a mutation can change what a model says."""
    place = item.mutations[0]
    name = place.operator_name.removeprefix("core/")
    line = (checkout / place.module_path).read_text(encoding="utf-8").splitlines()[place.start_pos[0] - 1]
    return name.startswith(MEANT) and not name.endswith(SENSELESS) and "_Is" not in name and "TYPE_CHECKING" not in line


def draw(session, checkout, sample, seed):
    """Mark all mutants but a random sample as skipped; returns how many there are to choose from."""
    with use_db(session, WorkDB.Mode.open) as found:
        items = sorted(found.work_items, key=lambda item: str(item.mutations))
        eligible = [item.job_id for item in items if meant(item, checkout)]
        chosen = set(random.Random(seed).sample(eligible, min(sample, len(eligible))))  # noqa: S311  # no secret
        rest = [item.job_id for item in items if item.job_id not in chosen]
        found.set_multiple_results(rest, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    return len(eligible)


def run(sample, seed):
    """Make the mutants, test them, and print the counts."""
    checkout = copy()
    session, settings = WORK / "session.sqlite", WORK / "cosmic-ray.toml"
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider --hypothesis-seed=0 {TESTS}"
    settings.write_text(
        f'[cosmic-ray]\nmodule-path = {json.dumps(MUTATED)}\ntimeout = 300.0\nexcluded-modules = []\n'
        f'test-command = {json.dumps(command)}\n[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )  # fmt: skip
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(checkout / "src")}
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    for words in (["baseline", str(settings)], ["init", str(settings), str(session)]):
        subprocess.run([*tool, *words], cwd=checkout, env=environment, check=True)
    eligible = draw(session, checkout, sample, seed)
    subprocess.run([*tool, "exec", str(settings), str(session)], cwd=checkout, env=environment, check=True)
    report(session, eligible)


def report(session, eligible):
    """Print the counts by file, and write the differences that survived."""
    with use_db(session, WorkDB.Mode.open) as found:
        done = [(item, result) for item, result in found.completed_work_items if result.test_outcome is not None]
    counts, lines = Counter(), []
    for item, result in sorted(done, key=lambda pair: str(pair[0].mutations)):
        place = item.mutations[0]
        counts[Path(place.module_path).name, result.test_outcome.value] += 1
        if result.test_outcome.value == "survived":
            at = f"{place.module_path}:{place.start_pos[0]} {place.definition_name or ''} {place.operator_name}"
            lines += [at, *(line for line in result.diff.splitlines() if line[:1] in "+-" and line[:3] not in _HEADS)]
    (WORK / "survivors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in sorted({name for name, _ in counts}):
        print(f"{name:28} killed {counts[name, 'killed']:3}  survived {counts[name, 'survived']:3}")  # noqa: T201
    outcomes = Counter(result.test_outcome.value for _, result in done)
    print(f"{len(done)} of {eligible} mutants: {dict(outcomes)}; the survivors: {WORK / 'survivors.txt'}")  # noqa: T201


_HEADS = ("---", "+++")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--sample", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    run(given.sample, given.seed)
