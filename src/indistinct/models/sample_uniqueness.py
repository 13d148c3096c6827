"""Sample uniqueness: few rows of a release are alone in their class.

Definition: (number of classes with n_E = 1) / (sum of n_E) <= threshold; n_E counts distinct persons where there is a
person key, else rows.

Scope release: one verdict on all classes together. A *violating class* is one of the unique rows that have to go, as
few as possible (the last ones in canonical order), so that the others hold: (u - r) / (n - r) falls with r.

Closure: none for single classes. Between whole releases: merging classes makes unique rows fewer and keeps the sum.

Source: G. Skinner, M. Elliot, JRSS B 64(4):855-867, 2002, doi:10.1111/1467-9868.00365.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import LEVELS, Context, Evaluation, Model, needing, no_criteria, no_number
from indistinct.models.exact import rational
from indistinct.policy.privacy import SampleUniqueness

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def evaluate(privacy: SampleUniqueness, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the share of unique rows with the threshold; mark the unique rows that have to go."""
    alone = np.flatnonzero(classes.sizes == 1)
    unique, rows, threshold = len(alone), int(classes.sizes.sum()), privacy.threshold
    gone = 0
    if unique > threshold * rows:
        # (u - r) <= t (n - r): r >= (u - t n) / (1 - t); the whole release goes if nothing else is in it
        gone = unique if unique == rows else -((threshold * rows - unique) // (1 - threshold))
    satisfied = np.ones(len(classes), np.bool_)
    if gone:
        satisfied[alone[-int(gone) :]] = False
    best = Fraction(unique, rows)
    subject = f"{unique} of {rows} {'rows are' if classes.persons is None else 'persons are'} alone in their class"
    if gone == 0:
        sentence = f"{subject}, a share of at most {threshold}"
    else:
        sentence = f"{subject}, a share of more than {threshold}; {int(gone)} of them would have to go"
    measure = (classes.sizes == 1).astype(np.float64)
    return Evaluation(satisfied, measure, {"threshold": rational(best)}, sentence, more_is_better=False)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Smallest threshold that the release satisfies: its share of unique rows."""
    return {"threshold": rational(Fraction(int((classes.sizes == 1).sum()), int(classes.sizes.sum())))}


def shortfall(privacy: SampleUniqueness, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say that the table has one row only."""
    return f"the table has one row, which is unique, and at most {privacy.threshold} of the rows may be"


MODEL = Model(
    SampleUniqueness,
    title="sample uniqueness",
    scope="release",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=no_criteria,
    shortfall=shortfall,
    promises=no_number,
    needs=needing(LEVELS),
)
