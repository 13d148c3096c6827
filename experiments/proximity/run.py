"""Section 4 of the (eps_i,k) paper again, on invented people: error of COUNT queries, time, protection, lost rows.

    python experiments/proximity/run.py [--rows 500000] [--error-rows 100000] [--queries 1000] [--output FOLDER]

Compares largest_bucket_first for (eps_i,k), eps_m_partition for (eps,m) and graded_local for graded l-diversity: a CSV
of all runs and six figures as SVG (needs matplotlib: pip install '.[report]'). Times are seconds of processor time of
the search on counts, so that a busy machine does not change them much. Source of the questions: T. Wang, M. Wen,
Computer Systems and Applications 28(7):184-190, 2019; of the error: the definitions beside each function here.
"""

import argparse
import csv
import time
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
from people import QUASI, people

import indistinct as ind
from indistinct.algorithms import named
from indistinct.models import Context
from indistinct.models.eps_i_k_anonymity import prepared
from indistinct.models.eps_m_anonymity import two_sided
from indistinct.models.numbers import numbers_of
from indistinct.session.prepare import prepare
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.records import Assignment

ALGORITHMS = {
    "eps_i_k_anonymity": "largest_bucket_first",
    "eps_m_anonymity": "eps_m_partition",
    "graded_l": "graded_local",
}
NAMES = {"eps_i_k_anonymity": "(eps_i,k)", "eps_m_anonymity": "(eps,m)", "graded_l": "graded l"}
BETAS = ("0.001", "0.002", "0.005", "0.01", "0.05")
WIDTHS = (500, 1000, 2000, 5000, 20_000)
K = 2
DIMENSION = 3  # two quasi-identifiers and the income
SELECTIVITY = 0.05
YARDSTICK = 1000  # protection is measured by what lies within so much of a row's income
FIELDS = (
    "figure", "model", "rows", "quasi", "beta", "epsilon", "seconds", "suppressed", "classes", "error", "median_error",
    "error_95", "risk_within_1000", "mean_risk_within_1000", "own_risk", "intervals", "rows_with_eps_0",
)  # fmt: skip


def counted(rows, quasi, models):
    """Count the table for some models."""
    attributes = {name: {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}} for name in QUASI[:quasi]}
    attributes["income"] = {"role": "sensitive", "type": "integer"}
    policy = ind.Policy(
        attributes=attributes,
        privacy=models,
        suppression={"limit": 1},
        recoding={"algorithm": ALGORITHMS[models[0].model], "quality": "fast"},
        table={"unlisted": "insensitive", "unlisted_confirmed": True},
    )
    return policy, prepare(people(rows), policy, carry=False).counted.frequencies


def queries(frequencies, number, seed=1):
    """Random COUNT queries: [(attribute, first code, last code), ...], the income last; none that counts nothing.

    Each range covers ceil(|D| theta^(1/w)) neighbouring values of a domain, w the number of ranges, theta 0.05.
    """
    random = np.random.default_rng(seed)
    quasi = len(frequencies.quasi)
    columns, share = narrow(frequencies.codes), SELECTIVITY ** (1 / DIMENSION)
    found, redrawn = [], 0
    while len(found) < number:
        chosen = [*sorted(random.choice(quasi, DIMENSION - 1, replace=False).tolist()), quasi]
        query = []
        for a in chosen:
            size = (frequencies.sensitive[0] if a == quasi else frequencies.quasi[a]).size
            width = max(1, ceil(size * share))
            first = int(random.integers(0, size - width + 1))
            query.append((a, first, first + width - 1))
        inside = np.ones(len(columns[0]), np.bool_)
        for a, first, last in query:
            inside &= (columns[a] >= first) & (columns[a] <= last)
        actual = int(frequencies.rows[inside].sum())
        if actual:
            found.append((query, actual))
        else:
            redrawn += 1
    return found, redrawn


def narrow(codes):
    """Columns of codes in as few bytes as they need: comparing them takes most of the time."""
    return [np.ascontiguousarray(column, np.min_scalar_type(int(column.max()))) for column in codes.T]


def errors(frequencies, assignment, asked):
    """Relative error |actual - estimate| / actual of each query.

    Generalized classes: each row counts with the product of (values in cell and range) / (values in cell), its income
    exactly. Groups of two tables: rows of the group that match, times the share of its incomes in the range.
    """
    grouped = assignment.group_of is not None
    group = assignment.group_of if grouped else assignment.class_of
    kept = (assignment.class_of >= 0) & (group >= 0)
    cell, rows, group = assignment.cell[kept], assignment.count[kept], group[kept]
    quasi = len(frequencies.quasi)
    columns = narrow(frequencies.codes[cell])
    by_income = np.argsort(columns[quasi], kind="stable")
    sorted_income = columns[quasi][by_income]
    income_group, income_rows = group[by_income], rows[by_income]
    number = int(group.max()) + 1
    size = np.bincount(group, rows, number)
    box = recoding_of(frequencies, assignment)
    places = [np.array([int(position) for position in h.positions], np.float32) for h in frequencies.quasi]
    bounds = [(at[box.lo[:, a]], at[box.hi[:, a]]) for a, at in enumerate(places)]
    found = []
    for query, actual in asked:
        *ranges, (_, first, last) = query
        a, b = np.searchsorted(sorted_income, [first, last + 1])
        inside = np.bincount(income_group[a:b], income_rows[a:b], number)
        if grouped:
            match = np.ones(len(cell), np.bool_)
            for position, low, high in ranges:
                match &= (columns[position] >= low) & (columns[position] <= high)
            estimate = float(((inside / size)[group[match]] * rows[match]).sum())
        else:
            part = np.ones(number)
            for position, low, high in ranges:
                at, (lo, hi) = places[position], bounds[position]
                both = np.minimum(hi, at[high]) - np.maximum(lo, at[low]) + 1
                part *= np.maximum(both, 0) / (hi - lo + 1)
            estimate = float((inside * part).sum())
        found.append(abs(actual - estimate) / actual)
    return np.array(found)


def protection(frequencies, assignment, epsilon):
    """Largest and mean share of a class (or group) within ``epsilon`` of the income of one of its rows, it included."""
    if assignment.group_of is not None:
        kept = assignment.class_of >= 0
        group = np.where(kept, assignment.group_of, -1).astype(np.int32)
        assignment = Assignment(assignment.cell, assignment.count, group, int(group.max()) + 1)
    classes = classes_of(frequencies, assignment)
    numbers = numbers_of(Context(frequencies.references).references["income"])
    most = two_sided(classes, numbers, "income", Fraction(epsilon), "absolute")
    return float((most / classes.rows).max()), float(most.sum() / classes.rows.sum())


def spread(frequencies, model):
    """How many intervals the incomes fall into, and how many rows are in those with eps = 0."""
    numbers = numbers_of(frequencies.references["income"])
    epsilons, around = prepared(model, numbers)
    bare = np.array([epsilon == 0 for epsilon in epsilons])[around.interval]
    return {"intervals": len(epsilons), "rows_with_eps_0": int(numbers.counts[bare].sum())}


class Study:
    """Runs, and remembers what was counted and asked."""

    def __init__(self, number):
        self.number = number
        self.known = {}
        self.done = []
        self.rows = []

    def run(self, figure, model, rows, quasi, *, beta="", epsilon="", ask=True):
        key = rows, quasi
        if key not in self.known:
            frequencies = counted(rows, quasi, [model])[1]
            self.known[key] = frequencies, (queries(frequencies, self.number)[0] if ask else None)
        done = [row for kind, row in self.done if kind == (repr(model), rows, quasi)]
        if done and (done[0]["error"] != "" or not ask):
            self.rows.append(done[0] | {"figure": figure})
            return
        frequencies, asked = self.known[key]
        if ask and asked is None:
            asked = queries(frequencies, self.number)[0]
            self.known[key] = frequencies, asked
        policy = ind.Policy(
            attributes={
                **{name: {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}} for name in QUASI[:quasi]},
                "income": {"role": "sensitive", "type": "integer"},
            },
            privacy=[model],
            suppression={"limit": 1},
            recoding={"algorithm": ALGORITHMS[model.model], "quality": "fast"},
        )
        search = named(ALGORITHMS[model.model]).decide
        begun = time.process_time()
        try:
            assignment = search(frequencies, policy, lambda *_: None)
        except ind.InfeasibleError as error:
            self.note(figure, model, rows, quasi, beta, epsilon, seconds="", classes=f"none: {str(error)[:60]}")
            return
        seconds = time.process_time() - begun
        found = errors(frequencies, assignment, asked) if ask else None
        largest, mean = protection(frequencies, assignment, YARDSTICK) if ask else ("", "")
        extra = spread(frequencies, model) if model.model == "eps_i_k_anonymity" else {}
        own = protection(frequencies, assignment, epsilon)[0] if ask and epsilon != "" else ""
        self.note(
            figure, model, rows, quasi, beta, epsilon,
            seconds=round(seconds, 3),
            suppressed=int(assignment.count[assignment.class_of < 0].sum()),
            classes=len(np.unique(assignment.class_of if assignment.group_of is None else assignment.group_of)),
            error="" if found is None else float(found.mean()),
            median_error="" if found is None else float(np.median(found)),
            error_95="" if found is None else float(np.quantile(found, 0.95)),
            risk_within_1000=largest, mean_risk_within_1000=mean, own_risk=own, **extra,
        )  # fmt: skip
        self.done.append(((repr(model), rows, quasi), self.rows[-1]))

    def note(self, figure, model, rows, quasi, beta, epsilon, **measured):
        width = "" if epsilon == "" else float(epsilon)
        row = {"figure": figure, "model": model.model, "rows": rows, "quasi": quasi, "beta": beta, "epsilon": width}
        self.rows.append(dict.fromkeys(FIELDS, "") | row | measured)
        shown = {key: value for key, value in self.rows[-1].items() if value != ""}
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in shown.items()}, flush=True)


def models_at(beta, span):
    """The three models at one beta, as the paper compares them: eps = beta times the whole range for (eps,m)."""
    return (
        (ind.EpsIKAnonymity("income", K, beta=beta), ""),
        (ind.EpsMAnonymity("income", Fraction(beta) * span, K), Fraction(beta) * span),
        (ind.GradedL("income", K, max(K, int(1 / Fraction(beta)))), ""),
    )


def study(most, rows, number):
    """All runs: times up to ``most`` rows, errors at ``rows``."""
    runs = Study(number)
    income = people(rows).column("income").to_numpy()
    span = int(income.max() - income.min())
    for beta in BETAS:
        for model, epsilon in models_at(beta, span):
            runs.run("error by beta", model, rows, 4, beta=beta, epsilon=epsilon)
    for quasi in range(2, len(QUASI) + 1):
        for model, epsilon in models_at(BETAS[1], span):
            runs.run("by quasi-identifiers", model, rows, quasi, beta=BETAS[1], epsilon=epsilon)
            runs.run("time by quasi-identifiers", model, most, quasi, beta=BETAS[1], epsilon=epsilon, ask=False)
    for part in range(1, 6):
        for model, epsilon in models_at(BETAS[1], span):
            runs.run("time by rows", model, part * most // 5, 4, beta=BETAS[1], epsilon=epsilon, ask=False)
            runs.run("error by rows", model, part * rows // 5, 4, beta=BETAS[1], epsilon=epsilon)
    for width in WIDTHS:  # one width of neighbourhood, and for each model the risk that is reached by it
        for model in (
            ind.EpsIKAnonymity("income", K, beta=BETAS[0], eps_floor=width),
            ind.EpsMAnonymity("income", width, K),
            ind.GradedL("income", K, max(K, span // width)),
        ):
            runs.run("equal protection", model, rows, 4, epsilon=width)
    return runs.rows


def draw(rows, folder):
    """Six figures."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "proximity"
    figures = (
        ("error-by-beta", "error by beta", "beta", "error", "average relative error"),
        ("error-by-rows", "error by rows", "rows", "error", "average relative error"),
        ("error-by-quasi-identifiers", "by quasi-identifiers", "quasi", "error", "average relative error"),
        ("seconds-by-quasi-identifiers", "time by quasi-identifiers", "quasi", "seconds", "seconds of processor time"),
        ("seconds-by-rows", "time by rows", "rows", "seconds", "seconds of processor time"),
        ("error-by-risk", "equal protection", "own_risk", "error", "average relative error"),
    )
    for name, figure, x, y, label in figures:
        drawing, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
        for model, title in NAMES.items():
            of = [row for row in rows if row["figure"] == figure and row["model"] == model and row[y] != ""]
            points = sorted((float(row[x]), float(row[y])) for row in of)
            axes.plot([p[0] for p in points], [p[1] for p in points], "o-" if x != "own_risk" else "o", label=title)
        axes.set_xlabel("largest share of a group near one row" if x == "own_risk" else x)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.legend()
        drawing.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close(drawing)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--rows", type=int, default=500_000)
    arguments.add_argument("--error-rows", type=int, default=100_000, help="rows at which errors are measured")
    arguments.add_argument("--queries", type=int, default=1000)
    arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    given = arguments.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    found = study(given.rows, given.error_rows, given.queries)
    with (given.output / "runs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(found)
    draw(found, given.output)


if __name__ == "__main__":
    main()
