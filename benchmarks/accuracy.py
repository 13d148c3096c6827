"""Learning the salary class of Adult: from the original, from releases, and by the most frequent class.

    python benchmarks/accuracy.py [--shared ../shared] [--small] [--json FILE]

Salary class is the target (sensitive), the eight other columns are quasi-identifiers, k = 5. The rows are divided three
times, stratified, 70 to 30: releases are made from the first part alone, every learner is tested on the exact rows of
the second. Shown is the mean accuracy of the three splits, and the share of what the original adds to the baseline that
the release keeps. ``--small`` takes one split and the fast search.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from adult import QUASI, benchmark, policy_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import indistinct as ind

TARGET = "salary-class"
TEST_SHARE = 0.3


def forest():
    return RandomForestClassifier(100, min_samples_leaf=3, random_state=0)


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))


LEARNERS = {"logistic regression": logistic, "random forest": forest}


def policies(data, *, quality: str) -> dict[str, ind.Policy]:
    """The releases; age is a number for the learners in all of them."""
    shared = {"sensitive": (TARGET,), "age": "file"}
    plain = policy_of(data, **shared).plain()
    plain["attributes"]["age"] |= {"type": "integer", "domain": [1, 100]}
    return {
        "local": policy_of(data, sensitive=(TARGET,), recoding={"quality": quality}),
        "optimal": ind.Policy(**plain | {"recoding": {"algorithm": "optimal"}, "suppression": {"limit": "0.02"}}),
        "top_down_specialization": ind.Policy(
            **plain | {"recoding": {"algorithm": "top_down_specialization", "target": TARGET}}
        ),
    }


def divided(table: pa.Table, seed: int) -> tuple[pa.Table, pa.Table]:
    """The rows to publish and the rows to test on, the same share of every class in both."""
    generator = np.random.default_rng(seed)
    labels = np.array(table.column(TARGET).to_pylist())
    testing = np.zeros(len(labels), np.bool_)
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        testing[rows[: round(TEST_SHARE * len(rows))]] = True
    return table.filter(pa.array(~testing)), table.filter(pa.array(testing))


def main() -> None:
    with benchmark(__doc__) as (given, _, tell):
        data = given.shared / "data" / "adult"
        texts = pa_csv.ConvertOptions(column_types=dict.fromkeys(QUASI, pa.string()))
        table = pa_csv.read_csv(
            data / "adult.csv", parse_options=pa_csv.ParseOptions(delimiter=";"), convert_options=texts
        )
        splits = [divided(table, seed) for seed in ((1,) if given.small else (1, 2, 3))]
        for release, policy in policies(data, quality="fast" if given.small else "balanced").items():
            found = {learner: [] for learner in LEARNERS}
            losses = []
            for learning, testing in splits:
                made = ind.anonymize(learning, policy)
                losses.append(made.loss["lm"])
                for learner, factory in LEARNERS.items():
                    answer = ind.utility(
                        learning, made.table, policy, queries=1, target=TARGET, estimator=factory, holdout=testing
                    )
                    found[learner].append(answer.document["task"])
            for learner, runs in found.items():
                before, after, baseline = (
                    float(np.mean([run[name] for run in runs])) for name in ("before", "after", "baseline")
                )
                kept = (after - baseline) / (before - baseline)
                figures = {"loss": float(np.mean(losses)), "before": before, "after": after, "baseline": baseline}
                note = (
                    f"accuracy {before:.3f} before, {after:.3f} after, {baseline:.3f} baseline: {100 * kept:.0f} % kept"
                )
                tell(f"{learner}, {release}", figures, note=note)


if __name__ == "__main__":
    main()
