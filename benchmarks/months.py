"""What m-invariance loses from month to month: Adult, of whose people some go and others come.

    python benchmarks/months.py [--shared ../shared] [--months 3] [--m 4] [--rows 24000] [--gone 2400] [--come 2000]

Every month is anonymized, verified and added to a ledger as a steward would. Occupation is sensitive, the other seven
columns are quasi-identifiers (age a range, the others nodes of their hierarchies). Who goes and who comes is drawn with
a fixed seed; people who are gone do not come back.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from adult import QUASI, file_of

NAMES = tuple(name for name in QUASI if name != "salary-class")


def policy_text(shared: Path, m: int, *, first: bool) -> str:
    lines = ["[person]", 'key = "person"', "[suppression]", "limit = 0.05", "[table]", 'unlisted = "identifying"']
    for name in NAMES:
        role = "sensitive" if name == "occupation" else "quasi_identifying"
        lines += [f"[attributes.{name}]", f'role = "{role}"']
        if name == "age":
            lines += ['type = "integer"', "domain = [1, 100]", 'hierarchy = { kind = "range", bounds = "members" }']
        else:
            lines += [f"hierarchy = {{ file = {json.dumps(file_of(shared / 'data' / 'adult', name)['file'])} }}"]
    lines += ["[[privacy]]", 'model = "m_invariance"', 'attribute = "occupation"', f"m = {m}"]
    lines += ["history = []"] if first else ["[releases]", 'ledger = "book/ledger"', 'key_file = "ledger.key"']
    return "\n".join(lines) + "\n"


def indistinct(folder: Path, *words: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "indistinct", *words, "--json"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{words[0]}: {done.stderr or done.stdout}")
    return json.loads(done.stdout)


def months(everybody: list, number: int, rows: int, gone: int, come: int):
    """Yield the (person, row) of each month."""
    rng = random.Random(7)  # noqa: S311  # no secret
    waiting = list(enumerate(everybody))
    rng.shuffle(waiting)
    here, waiting = waiting[:rows], waiting[rows:]
    for _ in range(number):
        yield here
        left = rng.sample(here, len(here) - gone)
        here, waiting = left + waiting[:come], waiting[come:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    for name, default in (("months", 3), ("m", 4), ("rows", 24_000), ("gone", 2_400), ("come", 2_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    with (asked.shared / "data" / "adult" / "adult.csv").open(encoding="utf-8", newline="") as file:
        head, *everybody = csv.reader(file, delimiter=";")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "book").mkdir()
        indistinct(folder, "releases", "key", "ledger.key")
        for month, people in enumerate(months(everybody, asked.months, asked.rows, asked.gone, asked.come), start=1):
            table, output, rules = f"{month}.csv", f"{month}-published.csv", f"{month}.toml"
            with (folder / table).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([["person", *head], *([number, *row] for number, row in people)])
            (folder / rules).write_text(policy_text(asked.shared, asked.m, first=month == 1), encoding="utf-8")
            begun = perf_counter()
            made = indistinct(folder, "anonymize", table, "--policy", rules, "--output", output)
            seconds = perf_counter() - begun
            book = ("--ledger", "book/ledger", "--key-file", "ledger.key")
            indistinct(folder, "releases", "add", table, output, "--policy", rules, *book)
            note = next((one["message"] for one in made["warnings"] if "counterfeit" in one["message"]), "")
            print(f"month {month}: LM {made['loss']['lm']:.4f}, {seconds:.1f} s; {note}", flush=True)


if __name__ == "__main__":
    main()
