"""Full-domain search with proof: time, nodes looked at and loss, on Adult and its scaled tables.

    python benchmarks/optimal.py [--shared ../shared] [--work DIR] [--small] [--lattice] [--json FILE]

Time is that of the whole call from counted codes (``Frequencies``) to ``Assignment``, warm: the median of five, and the
processor time for machines with other work. ``--lattice`` adds tables of 12, 14 and 15 quasi-identifiers, Adult beside
the previous row of itself, and a plain best-first search for comparison.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from math import floor
from time import perf_counter

from adult import QUASI, SEEDS, K, benchmark, on, policy_of, scaled, timed

from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.optimal import optimal
from indistinct.losses import lm
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import silent

MODELS = {
    "k=5": ((), [K]),
    "+ distinct l=3": (("occupation",), [K, on("occupation", "distinct_l", l=3)]),
    "+ entropy l=3": (("occupation",), [K, on("occupation", "entropy_l", l=3)]),
    "+ recursive (4,3)": (("occupation",), [K, on("occupation", "recursive_cl", c=4, l=3)]),
    "+ t=0.2 equal": (("occupation",), [K, on("occupation", "t_closeness", t=0.2, distance="equal")]),
    "+ t=0.2 hierarchical": (("occupation",), [K, on("occupation", "t_closeness", t=0.2, distance="hierarchical")]),
    "+ t=0.2 ordered": (("age",), [K, on("age", "t_closeness", t=0.2, distance="ordered")]),
}
LIMITS = ("0", "0.02", "1")
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


def under(data, sensitive, privacy, limit: str, names=QUASI, **recoding):
    sections = {"suppression": {"limit": limit}, "recoding": {"algorithm": "optimal", **recoding}}
    return policy_of(data, sensitive, privacy, age="file", names=names, **sections)


def measure(frequencies, policy, repeats=5) -> dict:
    """Median time of warm calls, with what they found."""
    optimal(frequencies, policy, silent)
    found, times = timed(repeats, lambda: optimal(frequencies, policy, silent))
    loss, _ = lm(frequencies, found, recoding_of(frequencies, found))
    return {
        **times,
        "loss": round(float(loss), 4),
        "suppressed": int(found.count[found.class_of < 0].sum()),
        "classes": found.classes,
        "proven": found.proven,
        "levels": list(found.levels),
        "notes": list(found.notes),
    }


def adult_rows(data, tell) -> None:
    for name, (sensitive, privacy) in MODELS.items():
        frequencies = None
        for limit, target in zip(LIMITS, TARGETS[name], strict=True):
            policy = under(data, sensitive, privacy, limit)
            if frequencies is None:
                frequencies = prepare(data / "adult.csv", policy).counted.frequencies
            row = measure(frequencies, policy)
            tell(f"optimal, 30,162 rows, {name}, {share(limit)}", row, {"seconds": target / 1000})


def share(limit: str) -> str:
    return f"{float(Fraction(limit)):.0%}"


def scaled_rows(shared, work, tell) -> None:
    data = shared / "data" / "adult"
    for rows in SEEDS:
        frequencies = prepare(scaled(shared, work, rows), under(data, (), [K], "0")).counted.frequencies
        for limit in LIMITS:
            row = measure(frequencies, under(data, (), [K], limit))
            targets = {"seconds": SCALED_TARGETS[rows] / 1000} if limit == "0.02" else {}
            tell(f"optimal, {rows:,} rows, k=5, {share(limit)}", row, targets)


def widened(data, work, extra: tuple[str, ...]):
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


def lattice_rows(data, work, tell) -> None:
    more = ("age", "education", "marital-status", "native-country", "workclass", "occupation")
    for width in (3, 5, 6):
        names = (*QUASI, *(f"previous {name}" for name in more[:width]))
        table = widened(data, work, more[:width])
        frequencies = None
        for limit in ("0.02", "0.1"):
            for seconds in (1.0, 10.0):
                policy = under(data, (), [K], limit, names, time_budget=seconds)
                if frequencies is None:
                    frequencies = prepare(table, policy).counted.frequencies
                row = measure(frequencies, policy, 1)
                tell(f"optimal, {9 + width} attributes, {share(limit)}, {seconds:g} s", row, note=row["notes"][0])
            loss, nodes = best_first(frequencies, policy, seconds)
            label = f"plain best-first search, {9 + width} attributes, {share(limit)}, {seconds:g} s"
            tell(label, {"loss": round(loss, 4), "judged": nodes}, note=f"{nodes:,} nodes judged")


def main() -> None:
    with benchmark(__doc__, lattice="12 to 15 quasi-identifiers too") as (given, work, tell):
        data = given.shared / "data" / "adult"
        adult_rows(data, tell)
        if not given.small:
            scaled_rows(given.shared, work, tell)
        if given.lattice:
            lattice_rows(data, work, tell)


if __name__ == "__main__":
    main()
