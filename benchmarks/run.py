"""All benchmarks in one run: one table, one JSON document, a comparison with an older one, and plots of scaling.

    python benchmarks/run.py [--small] [--work DIR] [--json NEW.json] [--against OLD.json] [--plot FOLDER]

``--small`` takes less than a minute. Without it everything of this folder runs, the large files included: about an
hour, and 1 GB in ``--work``. ``--against`` prints the change of every figure since another run on the same machine.
``--plot`` draws cost against rows, attributes and domain size as SVG (needs matplotlib).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from adult import UNITS

HERE = Path(__file__).parent
FULL = {
    "main_job": [],
    "optimal": ["--lattice"],
    "local": ["--best", "--scaling"],
    "numeric": [],
    "large": ["--carried"],
    "odd": [],
}
SMALL = {"main_job": ["--small"], "optimal": ["--small"], "local": ["--small"], "numeric": ["--small"]}
AXES = {"rows": "rows", "width": "quasi-identifiers", "domain": "values of each attribute"}
BASE = {"rows": 30_000, "width": 4, "domain": 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=HERE.resolve().parents[1] / "shared")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        work = given.work or Path(folder)
        for script, flags in (SMALL if given.small else FULL).items():
            found = Path(folder) / f"{script}.json"
            words = [HERE / f"{script}.py", "--shared", given.shared, "--work", work, "--json", found, *flags]
            subprocess.run([sys.executable, *map(str, words)], check=True)
            results |= json.loads(found.read_text(encoding="utf-8"))
    missed = [name for name, row in results.items() if any(row[key] > top for key, top in row["targets"].items())]
    with_target = sum(bool(row["targets"]) for row in results.values())
    print(f"\n{with_target - len(missed)} of {with_target} targets met")
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if given.against:
        compare(json.loads(given.against.read_text(encoding="utf-8")), results)
    if given.plot:
        given.plot.mkdir(parents=True, exist_ok=True)
        plot(results, given.plot)


def compare(old: dict, new: dict) -> None:
    """Print both figures and their ratio for every row that both runs have."""
    print(f"\n{'':58} {'before':>10} {'now':>10}  now/before")
    for label, row in new.items():
        for name, unit in UNITS.items():
            before, now = old.get(label, {}).get(name), row.get(name)
            if before and now is not None:
                print(f"{label:58} {before:>10.4g} {now:>10.4g}  {now / before:>6.2f} {unit}")


def plot(results: dict, folder: Path) -> None:
    """Draw time against one dimension of random tables, the others held at ``BASE``."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    rows = [row for row in results.values() if "domain" in row]
    for axis, label in AXES.items():
        others = [name for name in BASE if name != axis]
        figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
        for quality in ("fast", "balanced"):
            points = sorted(
                (row[axis], row["seconds"])
                for row in rows
                if row["quality"] == quality and all(row[name] == BASE[name] for name in others)
            )
            axes.plot(*zip(*points, strict=True), marker="o", label=quality)
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds", title="local recoding, k = 5")
        axes.legend()
        figure.savefig(folder / f"scaling-{axis}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
