"""deFinetti: a classifier learns from the groups themselves, and is then made consistent inside each group.

*Attacker.* Knows quasi-identifiers and group of everybody, as a release in groups publishes them (``anatomy`` and its
kin, permuted releases), and nothing of the values but their counts by group. A naive Bayes classifier starts from the
belief that every row of a group has its values by their shares, and is trained again on the beliefs that it gives:
``prior_v`` is the mean belief; ``P(x_j | v) = (soft count + 1/2) / (soft count of v + (number of x_j)/2)``; a row's
weight for v is their product over the quasi-identifiers, 0 for values that its group lacks. Inside each group values
are scaled to their counts and rows to 1, in turn (15 rounds, rows last). 40 times, or until no belief moves by 1e-3.
Numbers and dates come in at most 20 classes of equal frequency; missing is a value.

*Claim*: the value with the largest belief (ties: the first). *Prior*: the largest share of a value in the group, the
bound that the models promise; *posterior*: how often the claim is right, with the original; without it the belief.
Rows of equal quasi-identifiers in several groups share their values. *Learnt*: with the original, the rows whose
claim is right more often than not, in groups that promise at most one half.

What a classifier learns holds for everybody, so that the gain is the risk beyond a *baseline*: the same classifier
trained on the release and asked about persons held out (``control``), else trained on the true table in five folds.

*Bounds.* No model of groups: l-diversity of groups bounds what is known without the other groups. *Source.* Kifer,
SIGMOD 2009, 127-138, doi:10.1145/1559845.1559861 (details from memory).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Contrast, Idle, Outcome
from indistinct.errors import IndistinctError
from indistinct.hierarchies.values import positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive, View

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

ROUNDS, SCALINGS, FOLDS, BINS = 40, 15, 5, 20
STILL = 1e-3
MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class Bayes:
    """A naive Bayes classifier: logarithms of the priors float64[m] and, by column, of P(x | v) float64[values, m]."""

    prior: Float64
    given: tuple[Float64, ...]

    @classmethod
    def of(cls, features: Int64, sizes: Sequence[int], belief: Float64, rows: Int64) -> Bayes:
        """Train on soft counts: ``belief`` float64[n, m] of ``rows`` int64[n], ``features`` int64[n, d]."""
        soft = belief * rows[:, None]
        held = soft.sum(axis=0)
        given = []
        for column, size in enumerate(sizes):
            counts = np.zeros((size, belief.shape[1]))
            np.add.at(counts, features[:, column], soft)
            given.append(np.log((counts + 0.5) / (held + size / 2)))
        with np.errstate(divide="ignore"):
            return cls(np.log(held / held.sum()), tuple(given))

    def scores(self, features: Int64) -> Float64:
        """float64[n, m]: the logarithm of the weight of each value."""
        found: Float64 = self.prior + sum(own[features[:, column]] for column, own in enumerate(self.given))
        return found


def definetti(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Train on the groups, and guess inside each."""
    view = context.view
    if not view.in_groups:
        yield Idle(None, "needs a release in groups: two tables, or values permuted inside each group")
        return
    for sensitive in view.sensitive.values():
        if len(view.rows) * len(sensitive.texts) > MOST_CELLS:
            yield Idle(sensitive.attribute, "too many rows and values for beliefs in each")
            continue
        yield _guessed(context, sensitive)


def beliefs(features: Int64, sizes: Sequence[int], rows: Int64, group: Int64, counts: Float64) -> tuple[Float64, Bayes]:
    """Return float64[u, m], what is believed of each tuple of a group, and the classifier that it comes from.

    ``counts`` float64[g, m]: the published counts of the values of each group.

    >>> one, none = np.array([[0], [1]]), np.array([0, 0])
    >>> beliefs(one, [2], np.array([1, 1]), none, np.array([[1.0, 1.0]]))[0].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    held = np.bincount(group, weights=rows, minlength=len(counts))
    belief: Float64 = counts[group] / held[group][:, None]
    feasible = belief > 0
    classifier = Bayes.of(features, sizes, belief, rows)
    for _ in range(ROUNDS):
        scores = np.where(feasible, classifier.scores(features), -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        moved = _scaled(weights, rows, group, counts)
        change = float(np.abs(moved - belief).max())
        belief = moved
        classifier = Bayes.of(features, sizes, belief, rows)
        if change < STILL:
            break
    return belief, classifier


def _scaled(weights: Float64, rows: Int64, group: Int64, counts: Float64) -> Float64:
    """Scale values of each group to their counts and rows to 1, in turn."""
    for _ in range(SCALINGS):
        sums = np.zeros_like(counts)
        np.add.at(sums, group, weights * rows[:, None])
        weights = weights * np.where(sums > 0, counts / np.maximum(sums, 1e-300), 0.0)[group]
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return weights


def _guessed(context: AttackContext, sensitive: Sensitive) -> Outcome:
    view, m = context.view, len(sensitive.texts)
    counts = np.zeros((len(view.sizes), m))
    counts[sensitive.owner, sensitive.histogram.value] = sensitive.histogram.count
    bins = [_bins(context, name, view.labels[place], view.tuples[:, place]) for place, name in enumerate(view.quasi)]
    features = np.column_stack([
        np.array([known[text] for text in labels])[view.tuples[:, place]]
        for place, (labels, (known, _)) in enumerate(zip(view.labels, bins, strict=True))
    ]).astype(np.int64)  # fmt: skip
    sizes = [size for _, size in bins]
    group = view.class_of.astype(np.int64)
    belief, classifier = beliefs(features, sizes, view.rows, group, counts)
    guess = belief.argmax(axis=1)
    share = counts / view.sizes[:, None]
    bound = share.max(axis=1)[group]
    right, measured, details = belief.max(axis=1), None, {"how": "computed"}
    if context.original is not None and sensitive.attribute in context.original.columns:
        measured = _right(context, context.original, sensitive, guess, counts[group] > 0)
        right = np.where(np.isnan(measured), bound, measured)
        details = {"how": "measured", **_alone(view, measured, bound)}
    contrast = None
    if measured is not None and context.original is not None:
        control = _baseline(context, context.original, sensitive, [known for known, _ in bins], sizes, classifier)
        if control is not None:
            met = ~np.isnan(measured)
            naive = float(sensitive.prior.max() / sensitive.prior.sum())
            contrast = Contrast(measured[met], view.rows[met], *control, round(naive, 12))
    learnt = (right > 1 / 2) & (bound <= 1 / 2) & (measured is not None)
    total = int(view.rows.sum())
    word = "believed" if measured is None else "right"
    against = f"; the same classifier about others: {contrast.control:.4g}" if contrast is not None else ""
    return Outcome(
        sensitive.attribute, view.rows, bound, np.maximum(right, 0.0), learnt, view.first[view.class_of], "published",
        f"guessing by what the groups tell together is {word} for {float(right @ view.rows) / total:.4g} of {total} "
        f"persons, where the groups promise at most {float(bound @ view.rows) / total:.4g}{against}",
        details,
        lambda kind: f"{view.label(int(group[kind]))}: {sensitive.attribute} = {sensitive.texts[int(guess[kind])]}",
        contrast=contrast,
    )  # fmt: skip


def _alone(view: View, measured: Float64, bound: Float64) -> dict[str, Any]:
    """Say how often the guess is right about rows that are alone with their quasi-identifiers."""
    _, inverse, times = np.unique(view.tuples, axis=0, return_inverse=True, return_counts=True)
    alone = (times[inverse.reshape(-1)] == 1) & (view.rows == 1) & ~np.isnan(measured)
    persons = int(alone.sum())
    return {
        "alone": persons,
        "right_of_alone": round(float(measured[alone].mean()), 12) if persons else None,
        "promised_of_alone": round(float(bound[alone].mean()), 12) if persons else None,
    }


def _bins(
    context: AttackContext, name: str, labels: Sequence[str | None], codes: NDArray[np.int32]
) -> tuple[dict[str | None, int], int]:
    """Say which class each label is in: numbers and dates in at most 20 of equal frequency, other labels alone."""
    own = {text: number for number, text in enumerate(labels)}
    if len(own) <= BINS or not context.is_numeric(name):
        return own, len(own)
    present = [text for text in labels if text is not None]
    try:
        places = positions(name, present, **context.reading(name, context.view.typed))[0]
    except IndistinctError:
        return own, len(own)  # ranges, not numbers
    rows = np.bincount(codes, minlength=len(labels))[[own[text] for text in present]]
    order = np.argsort(places, kind="stable")
    middle = np.cumsum(rows[order]) - rows[order] / 2
    place = np.empty(len(present), np.int64)
    place[order] = np.minimum(BINS - 1, (middle * BINS / max(1, rows.sum())).astype(np.int64))
    found: dict[str | None, int] = dict(zip(present, place.tolist(), strict=True))
    return found | ({None: BINS} if None in own else {}), BINS + 1


def _right(context: AttackContext, original: Tabulated, sensitive: Sensitive, guess: Int64, feasible: Bool) -> Float64:
    """float64[u]: how often the guess about each tuple is right; NaN where no original row fits."""
    view, people = context.view, original.select([*context.view.quasi, sensitive.attribute])
    texts, codes = people.column(sensitive.attribute)
    number = {text: place for place, text in enumerate(sensitive.texts)}
    value = np.array([number.get(text, -1) for text in texts], np.int64)[codes]
    total, true = np.zeros(len(view.rows)), np.zeros(len(view.rows))
    for block in matches(context, view, people, unknown=False):
        own = value[block.of]
        fits = (own >= 0) & feasible[block.tuples, own]
        np.add.at(total, block.tuples, people.rows[block.of] * fits)
        np.add.at(true, block.tuples, people.rows[block.of] * (fits & (own == guess[block.tuples])))
    found: Float64 = np.where(total > 0, true / np.maximum(total, 1), np.nan)
    return found


def _baseline(
    context: AttackContext,
    original: Tabulated,
    sensitive: Sensitive,
    known: Sequence[Mapping[str | None, int]],
    sizes: Sequence[int],
    classifier: Bayes,
) -> tuple[Float64, Int64] | None:
    """Score the classifier about others: persons held out, else the persons of the table in five folds."""
    table = context.control if context.control is not None else original
    names = context.view.quasi
    if any(name not in table.columns for name in (*names, sensitive.attribute)):
        return None
    people = table.select([*names, sensitive.attribute])
    number = {text: place for place, text in enumerate(sensitive.texts)}
    texts, codes = people.column(sensitive.attribute)
    truth = np.array([number.get(text, -1) for text in texts], np.int64)[codes]
    columns = []
    for name, own in zip(names, known, strict=True):
        labels, at = people.column(name)
        columns.append(np.array([own.get(label, -1) for label in labels], np.int64)[at])
    features = np.column_stack(columns)
    complete = (features >= 0).all(axis=1) & (truth >= 0)
    features, truth, rows = features[complete], truth[complete], people.rows[complete]
    if not len(rows):
        return None
    if context.control is not None:
        return (classifier.scores(features).argmax(axis=1) == truth).astype(np.float64), rows
    # persons, not kinds of persons, are dealt to the folds
    folds = np.random.default_rng(0).multinomial(rows, np.full(FOLDS, 1 / FOLDS))
    exact, scores = np.eye(len(sensitive.texts))[truth], []
    for one in range(FOLDS):
        trained = Bayes.of(features, sizes, exact, rows - folds[:, one])
        scores.append((trained.scores(features).argmax(axis=1) == truth).astype(np.float64))
    return np.concatenate(scores), folds.T.reshape(-1)


ATTACK = Attack(
    definetti,
    supposes="knows everybody's quasi-identifiers and groups, and learns from all groups together",
    bounded_by=(),
    of_the_file=True,
    needs={},
    options=("control",),
    remedies=("classes in place of groups",),
)
