"""All attacks on the hospital table before and after each protection, and the time of linkage on a large release.

    python benchmarks/attacks.py [--shared ../shared] [--work DIR] [--small] [--json FILE] [--large]

The table shows the gain of each attack over somebody who knows only the distribution of everybody: before (names
removed), after k = 5, after k and l = 3, after k, l and t = 0.4 (equal distance), each made from 80 % of the patients'
last stays; 20 % are held out as the control group. "groups" is a release in groups of three diagnoses (``anatomy``).
Attacks by somebody who knows the program have a second line for one who has labels only. The last column is a file as
ARX writes it (semicolons, ``*``, ``[20, 40[``). ``--large`` links 1,000,000 persons to 3,000,000 rows with ranges
(target: 60 s).
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
from adult import benchmark

import indistinct as ind

HOSPITAL = Path(__file__).parents[1] / "examples" / "hospital"
STEPS = {
    "before": None,
    "k": [ind.KAnonymity(5)],
    "k+l": [ind.KAnonymity(5), ind.DistinctL("diagnosis", 3)],
    "k+l+t": [ind.KAnonymity(5), ind.DistinctL("diagnosis", 3), ind.TCloseness("diagnosis", "0.4", "equal")],
}


def patients(rows: int) -> tuple[pa.Table, pa.Table]:
    """One stay of each patient, in random order: those to publish and those held out."""
    with (HOSPITAL / "discharges.csv").open(encoding="utf-8", newline="") as file:
        stays = list({stay["patient_id"]: stay for stay in csv.DictReader(file, delimiter=";")}.values())
    random.Random(1).shuffle(stays)  # noqa: S311  # who is held out; it protects nothing
    for stay in stays:
        stay["age"] = str(2024 - int(stay["birth_date"][:4]))
    table = pa.Table.from_pylist(stays[:rows]).select(["age", "sex", "zip", "diagnosis", "length_of_stay"])
    cut = table.num_rows * 4 // 5
    return table.slice(0, cut), table.slice(cut)


def policy_of(models) -> ind.Policy:
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "zip": {"role": "qi", "hierarchy": {"kind": "masking", "from": "right"}},
            "diagnosis": {
                "role": "sensitive", "hierarchy": {"file": str((HOSPITAL / "hierarchies" / "diagnosis.csv").resolve())},
            },
            "length_of_stay": {"role": "sensitive", "type": "integer"},
        },
        privacy=models or [ind.KAnonymity(2)],
        recoding={"quality": "fast"},
    )  # fmt: skip


def arx_like(original: pa.Table, path: Path) -> Path:
    """Write a file as ARX does: ages in steps of 20, two digits of the postcode, sex suppressed."""
    lines = ["age;sex;zip;diagnosis;length_of_stay"]
    for row in original.to_pylist():
        low = int(row["age"]) // 20 * 20
        lines.append(f"[{low}, {low + 20}[;*;{(row['zip'] or '')[:2]}***;{row['diagnosis']};{row['length_of_stay']}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def table_of_attacks(work: Path, tell, rows: int) -> None:
    original, control = patients(rows)
    columns: dict[str, dict[str, float | None]] = {}
    for name, models in STEPS.items():
        policy = policy_of(models)
        release = original if models is None else ind.anonymize(original, policy).table
        columns[name] = gains(release, policy, original, control)
    columns["groups"] = groups(original, control)
    columns["ARX-like"] = gains(arx_like(original, work / "arx.csv"), policy_of(None), original, control)
    names = list(dict.fromkeys(key for column in columns.values() for key in column))
    print(f"\ngain of each attack, {original.num_rows} patients\n{'':34}" + "".join(f"{name:>10}" for name in columns))
    for key in names:
        cells = [column.get(key) for column in columns.values()]
        print(f"{key:34}" + "".join(f"{'-' if cell is None else f'{cell:+.3f}':>10}" for cell in cells))
    print()
    for name, column in columns.items():
        worst = max((gain, key) for key, gain in column.items() if gain is not None)[1]
        tell(f"attacks, {name}", {"gains": column}, note=f"largest gain {column[worst]:+.3f}: {worst}")


def gains(
    release, policy: ind.Policy, original: pa.Table, control: pa.Table, second: pa.Table | None = None
) -> dict[str, float | None]:
    """The gain of each attack; the voter list holds everybody, also those held out."""
    everybody = pa.concat_tables([original, control]).select(["age", "sex", "zip"])
    answer = ind.attack(
        release, policy, second=second, identified=everybody, original=original, control=control, repeats=20
    )
    found = {}
    for entry in answer.document["attacks"]:
        where = f" of {entry['attribute']}" if entry["attribute"] else ""
        found[entry["attack"] + where] = entry["gain"] if entry["ran"] else None
        if entry["ran"] and "weaker" in entry["details"]:
            found[f"{entry['attack']}{where}, labels only"] = entry["details"]["weaker"]["gain"]
    return found


def groups(original: pa.Table, control: pa.Table) -> dict[str, float | None]:
    """The gains on a release in groups of three diagnoses."""
    policy = ind.Policy(**policy_of([ind.DistinctL("diagnosis", 3)]).plain() | {"recoding": {"algorithm": "anatomy"}})
    first, second = ind.anonymize(original, policy).table
    return gains(first, policy, original, control, second)


def large() -> tuple[float, float]:
    """Link a million persons to three million rows; return wall and processor seconds."""
    people, rows = 1_000_000, 3_000_000
    rng = np.random.default_rng(1)
    texts = {
        "age": np.arange(100), "height": np.arange(130, 211), "zip": np.arange(10_000, 15_000), "days": np.arange(730),
    }  # fmt: skip
    released, wanted = {}, {}
    # groups of five rows with ranges around a centre, as local recoding makes them
    for name, values in texts.items():
        width = max(2, len(values) // 40)
        centre = rng.integers(0, len(values), rows // 5)
        low, high = (
            np.maximum(centre - rng.integers(0, width, rows // 5), 0),
            centre + rng.integers(0, width, rows // 5),
        )
        high = np.minimum(high, len(values) - 1)
        label = [f"[{values[a]}, {values[b]}]" for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        released[name] = np.repeat(np.array(label, object), 5)
        wanted[name] = values[rng.integers(0, len(values), people)].astype(str)
    released["sex"] = np.repeat(rng.choice(["f", "m"], rows // 5), 5)
    wanted["sex"] = rng.choice(["f", "m"], people)
    released["ill"] = rng.integers(0, 80, rows).astype(str)
    tables = [pa.table({name: pa.array(column, pa.string()) for name, column in t.items()}) for t in (released, wanted)]
    start, used = perf_counter(), process_time()
    answer = ind.attack(
        tables[0], qi=[*texts, "sex"], sensitive=["ill"], types=dict.fromkeys(texts, "integer"), identified=tables[1],
        attacks=["linkage"],
    )  # fmt: skip
    print(answer)
    return perf_counter() - start, process_time() - used


def main() -> None:
    with benchmark(__doc__, large="link a million persons to three million rows") as (given, work, tell):
        table_of_attacks(work, tell, 2_000 if given.small else 100_000)
        if given.large:
            seconds, processor = large()
            tell(
                "linkage, 1,000,000 persons, 3,000,000 rows",
                {"seconds": seconds, "processor": processor},
                {"seconds": 60},
            )


if __name__ == "__main__":
    main()
