"""Models of numbers: groups of two tables for (eps_i,k) and (k,e), and classes for (eps,m), on invented incomes.

    python benchmarks/numeric.py [--work DIR] [--small] [--json FILE]

Time is that of the whole call from counted codes (``Frequencies``) to ``Assignment``, warm: the median of three, and
the processor time for machines with other work. ``--small`` leaves out the tables of 5,000,000 rows and all shapes but
one.
"""

from __future__ import annotations

import numpy as np
from adult import benchmark, on, timed

import indistinct as ind
from indistinct.algorithms import named
from indistinct.hierarchies import build_hierarchy
from indistinct.tables.count import frequencies_of, silent

DOMAINS = (50, 5, 2, 9, 80, 40)
INCOME = "income"


def incomes(shape: str, rows: int):
    """Whole numbers above 0 of some distribution, always the same."""
    random = np.random.default_rng(1)
    normal = np.rint(np.exp(random.normal(10, 0.6, rows))).astype(np.int64)
    if shape == "60 % equal":
        normal[: int(0.6 * rows)] = 20_000
    return {
        "uniform": random.integers(1, 1_000_001, rows),
        "heavy ties": 500 * random.integers(1, 201, rows),
        "all distinct": random.permutation(rows) + 1,
        "four humps": np.concatenate([normal[at::4] * 4**at for at in range(4)]),
    }.get(shape, normal)


# a tenth of the range would leave room for 5 separated values
BETA = {"all distinct": "0.001"}
SHAPES = ("log-normal", "60 % equal", "uniform", "heavy ties", "all distinct", "four humps")


def table(shape: str, rows: int, quasi: int):
    """Count a table of random quasi-identifiers and incomes."""
    random = np.random.default_rng(2)
    values, income = np.unique(incomes(shape, rows), return_inverse=True)
    size = (*DOMAINS[:quasi], len(values))
    codes = [random.integers(0, domain, rows) for domain in size[:-1]]
    keys, counts = np.unique(np.ravel_multi_index((*codes, income.reshape(-1)), size), return_counts=True)
    cells = np.stack(np.unravel_index(keys, size), axis=1).astype(np.int32)
    hierarchies = [
        build_hierarchy(f"x{a}", [str(v) for v in range(domain)], spec={"kind": "range"}, type="integer")
        for a, domain in enumerate(size[:-1])
    ]
    sensitive = build_hierarchy(INCOME, [str(v) for v in values.tolist()], spec=None, type="integer")
    return frequencies_of(tuple(hierarchies), (sensitive,), cells, counts.astype(np.int64))


def measure(frequencies, name: str, *models, repeats=3) -> dict:
    """Median time of warm calls, with what they found."""
    attributes = {h.attribute: {"role": "qi", "type": "integer"} for h in frequencies.quasi}
    attributes[INCOME] = {"role": "sensitive", "type": "integer"}
    recoding = {"algorithm": name, "quality": "fast"}
    policy = ind.Policy(attributes=attributes, privacy=list(models), suppression={"limit": 1}, recoding=recoding)
    search = named(name).decide
    try:
        search(frequencies, policy, silent)
        found, times = timed(repeats, lambda: search(frequencies, policy, silent))
    except ind.InfeasibleError as error:
        return timed(repeats, lambda: refused(search, frequencies, policy))[1] | {"refused": str(error)}
    groups = found.classes if found.group_of is None else found.groups
    return {**times, "groups": groups, "suppressed": int(found.count[found.class_of < 0].sum())}


def refused(search, frequencies, policy) -> None:
    try:
        search(frequencies, policy, silent)
    except ind.InfeasibleError:
        return


def groups_rows(tell, rows: int, shapes, seconds: float) -> None:
    """(eps_i,k) in all shapes, without and with a floor of eps, and with k-anonymity too."""
    for shape in shapes:
        frequencies, beta = table(shape, rows, 2), BETA.get(shape, "0.1")
        for k in (2, 10, 50):
            for floor in ({}, {"eps_floor": 500}):
                model = on(INCOME, "eps_i_k_anonymity", k=k, beta=beta, **floor)
                label = f"(eps_i,k), {rows:,} rows, k={k}, {shape}{', floor 500' if floor else ''}"
                tell_groups(tell, label, measure(frequencies, "largest_bucket_first", model), seconds)
        both = {"model": "k_anonymity", "k": 20}, on(INCOME, "eps_i_k_anonymity", k=10, beta=beta, eps_floor=500)
        label = f"(eps_i,k) and k-anonymity, {rows:,} rows, k=10, {shape}"
        tell_groups(tell, label, measure(frequencies, "largest_bucket_first", *both), seconds)


def tell_groups(tell, label: str, row: dict, seconds: float) -> None:
    note = "no group can be formed" if "refused" in row else f"{row['groups']:,} groups, {row['suppressed']:,} lost"
    tell(label, row, {"seconds": seconds}, note)


def width_rows(tell) -> None:
    """The same incomes beside 2 and 6 quasi-identifiers, for all three models."""
    for quasi in (2, 6):
        frequencies = table("log-normal", 500_000, quasi)
        where = f"500,000 rows, {quasi} quasi-identifiers, log-normal"
        model = on(INCOME, "eps_i_k_anonymity", k=10, beta="0.1", eps_floor=500)
        tell_groups(tell, f"(eps_i,k), {where}", measure(frequencies, "largest_bucket_first", model), 1)
        model = on(INCOME, "ke_anonymity", k=5, e=1000)
        tell_groups(tell, f"(k,e), {where}", measure(frequencies, "ke_partition", model), 5)
        model = on(INCOME, "eps_m_anonymity", epsilon=1000, m=5)
        tell_groups(tell, f"(eps,m), {where}", measure(frequencies, "eps_m_partition", model, repeats=1), 5)


def main() -> None:
    with benchmark(__doc__) as (given, _, tell):
        groups_rows(tell, 500_000, SHAPES[:1] if given.small else SHAPES, 1)
        width_rows(tell)
        if not given.small:
            groups_rows(tell, 5_000_000, SHAPES, 12)


if __name__ == "__main__":
    main()
