"""Local recoding: loss and warm time on Adult, on its scaled tables and on random numbers.

    python benchmarks/local.py [--shared ../shared] [--work DIR] [--small] [--best] [--words] [--scaling] [--json FILE]

Time is that of the whole call from counted codes (``Frequencies``) to ``Assignment``, warm: the median of three, and
the processor time of all threads for machines with other work. ``--best`` adds the rows with a time budget.
``--words`` measures instead what can be published for values: trees in all columns, ranges of age, sets of values;
each release is written and verified from its file against the original, and its time is that of the whole job.
``--scaling`` measures cost against rows, attributes and domain size on random numbers. No row is suppressed.
"""

from __future__ import annotations

import numpy as np
from adult import SEEDS, K, benchmark, on, policy_of, scaled, timed

import indistinct as ind
from indistinct.algorithms.local import local
from indistinct.hierarchies import build_hierarchy
from indistinct.losses import lm
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import frequencies_of, silent

MODELS = {
    "k=5": ((), [K]),
    "+ distinct l=3": (("occupation",), [K, on("occupation", "distinct_l", l=3)]),
    "+ entropy l=3": (("occupation",), [K, on("occupation", "entropy_l", l=3)]),
    "+ recursive (4,3)": (("occupation",), [K, on("occupation", "recursive_cl", c=4, l=3)]),
    "+ alpha 0.4": (("occupation",), [on("occupation", "alpha_k", alpha=0.4, k=5)]),
    "+ t=0.2 equal": (("occupation",), [K, on("occupation", "t_closeness", t=0.2, distance="equal")]),
    "+ t=0.2 hierarchical": (("occupation",), [K, on("occupation", "t_closeness", t=0.2, distance="hierarchical")]),
    "+ t=0.2 ordered": (("age",), [K, on("age", "t_closeness", t=0.2, distance="ordered")]),
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


# what is published: ``age`` of ``policy_of``, and (models, quality): most loss
WORDS = {
    "trees": ("file", {
        ("k=5", "balanced"): 0.0520, ("k=5", "best"): 0.0500,
        ("+ distinct l=3", "balanced"): 0.0292, ("+ distinct l=3", "best"): 0.0284,
        ("+ t=0.2 equal", "balanced"): 0.285, ("+ t=0.2 equal", "best"): 0.275,
        ("+ t=0.2 hierarchical", "balanced"): 0.204, ("+ t=0.2 hierarchical", "best"): 0.194,
    }),
    "ranges": ("range", {
        ("k=5", "balanced"): 0.0377, ("+ distinct l=3", "balanced"): 0.0207,
        ("+ t=0.2 equal", "balanced"): 0.267, ("+ t=0.2 hierarchical", "balanced"): 0.1765,
    }),
    "sets": ("sets", {
        ("k=5", "balanced"): 0.0150, ("k=5", "best"): 0.0142,
        ("+ distinct l=3", "balanced"): 0.0084, ("+ distinct l=3", "best"): 0.0080,
        ("+ t=0.2 equal", "balanced"): 0.160, ("+ t=0.2 equal", "best"): 0.145,
        ("+ t=0.2 hierarchical", "balanced"): 0.095, ("+ t=0.2 hierarchical", "best"): 0.082,
    }),
}  # fmt: skip
QUALITIES = {"balanced": None, "best": 10.0}


def quality_of(quality: str, budget: float | None = None) -> dict:
    return {"algorithm": "local", "quality": quality, **({"time_budget": budget} if budget else {})}


def measure(frequencies, policy, repeats=3) -> dict:
    """Median time of warm calls, with what they found."""
    if policy.recoding.quality != "best":
        local(frequencies, policy, silent)
    else:
        repeats = 1
    found, times = timed(repeats, lambda: local(frequencies, policy, silent))
    loss, _ = lm(frequencies, found, recoding_of(frequencies, found))
    return {
        "loss": float(loss),
        **times,
        "suppressed": int(found.count[found.class_of < 0].sum()),
        "classes": found.classes,
        "notes": list(found.notes),
    }


def targets_of(key: tuple[int, str, str]) -> dict:
    return dict(zip(("loss", "seconds"), TARGETS[key], strict=True)) if key in TARGETS else {}


def adult_rows(data, tell, *, best: bool) -> None:
    for name, (sensitive, privacy) in MODELS.items():
        frequencies = prepare(data / "adult.csv", policy_of(data, sensitive, privacy)).counted.frequencies
        for quality in ("fast", "balanced", *(["best"] if best and name in BUDGETS else [])):
            recoding = quality_of(quality, BUDGETS[name] if quality == "best" else None)
            row = measure(frequencies, policy_of(data, sensitive, privacy, recoding=recoding))
            tell(f"local, 30,162 rows, {name}, {quality}", row, targets_of((30_162, name, quality)))


def words_rows(data, work, tell, *, best: bool) -> None:
    for words, (age, targets) in WORDS.items():
        for name, quality in targets:
            if quality == "best" and not best:
                continue
            sensitive, privacy = MODELS[name]
            recoding = quality_of(quality, QUALITIES[quality])
            policy = policy_of(data, sensitive, privacy, age=age, recoding=recoding)
            row = verified(data / "adult.csv", policy, work / "release.csv")
            tell(f"local, 30,162 rows, {words}, {name}, {quality}", row, {"loss": targets[name, quality]})


def verified(path, policy, output) -> dict:
    """Loss and time of a release, which is written, read again and verified against the original."""
    release, times = timed(1, lambda: ind.anonymize(path, policy, output=output, force=True))
    answer = ind.verify(path, output, policy)
    if not answer.satisfied:
        raise SystemExit(f"{output} does not hold what it claims: {answer}")
    return {"loss": release.loss["lm"], **times}


def scaled_rows(shared, work, tell) -> None:
    data = shared / "data" / "adult"
    for rows in SEEDS:
        frequencies = prepare(scaled(shared, work, rows), policy_of(data)).counted.frequencies
        for quality in ("fast", "balanced"):
            row = measure(frequencies, policy_of(data, recoding=quality_of(quality)))
            tell(f"local, {rows:,} rows, k=5, {quality}", row, targets_of((rows, "k=5", quality)))


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


def scaling_rows(data, tell) -> None:
    shapes = [(n, 4, 1000) for n in (10_000, 30_000, 100_000, 300_000)]
    shapes += [(30_000, width, 1000) for width in (2, 8, 16)]
    shapes += [(30_000, 4, domain) for domain in (10, 100, 10_000, 1_000_000)]
    for shape in shapes:
        frequencies = random_numbers(*shape)
        for quality in ("fast", "balanced"):
            row = measure(frequencies, policy_of(data, recoding=quality_of(quality)), 1)
            rows, width, domain = shape
            shown = {**row, "rows": rows, "width": width, "domain": domain, "quality": quality}
            tell(f"local, random, {rows:,} rows, {width} x {domain:,}, {quality}", shown)


def main() -> None:
    flags = {
        "best": "the rows with a time budget too",
        "words": "trees, ranges and sets instead",
        "scaling": "random numbers too",
    }
    with benchmark(__doc__, **flags) as (given, work, tell):
        data = given.shared / "data" / "adult"
        if given.words:
            words_rows(data, work, tell, best=given.best)
            return
        adult_rows(data, tell, best=given.best)
        if not given.small:
            scaled_rows(given.shared, work, tell)
        if given.scaling:
            scaling_rows(data, tell)


if __name__ == "__main__":
    main()
