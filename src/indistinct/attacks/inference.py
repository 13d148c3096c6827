"""Inference: a learner trained on the release predicts the sensitive value of persons.

*Attacker.* Trains a random forest on the release and knows the quasi-identifiers of his victims. What is learnt from
correlations holds for everybody, in the release or not; only what is learnt *beyond* that is a leak. So the forest
predicts for persons of the release (``original``) and for a *control* group held out before anonymization. *Prior*:
its accuracy on the control group; *posterior*: its accuracy on as many persons of the release; *gain* their
difference, the mean of 20 repeats, with the interval of 2.5 to 97.5 % of bootstrapped means of the repeats. Each
repeat draws a value under every published label, a forest, and the persons anew. *Learnt*: persons predicted rightly
beyond what the control group leads to expect.

The accuracy of always guessing the most frequent value is reported beside. *Needs* the extra ``learn``
(scikit-learn). *Source.* the control group: Giomi, Boenisch, Wehmeyer, Tasnádi, PoPETs 2023(2):312-328 (Anonymeter).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome, wilson
from indistinct.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext, Sensitive
    from indistinct.attacks.tabulate import Tabulated

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

MOST_ROWS = 20_000
NEEDS = "needs --original and --control, persons held out before anonymization"
TREES = 50


def inference(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Train on the release; compare its members with persons held out."""
    original, control = context.original, context.control
    assert original is not None  # noqa: S101  # the record says that it is needed
    assert control is not None  # noqa: S101  # the record says that it is needed
    names = [name for name in context.view.quasi if name in original.columns and name in control.columns]
    if not names or context.view.two_tables:
        yield Idle(None, "needs one published table and quasi-identifiers that all tables have")
        return
    for name, sensitive in context.view.sensitive.items():
        if name in original.columns and name in control.columns:
            yield _compared(context, sensitive, original, control, names)
        else:
            yield Idle(name, f"{name} is not in the original and in the control group")


def _compared(
    context: AttackContext, sensitive: Sensitive, original: Tabulated, control: Tabulated, names: Sequence[str]
) -> Outcome:
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        message = 'the attack "inference" needs scikit-learn: pip install "indistinct[learn]"'
        raise UnsupportedError(message) from None
    view, texts = context.view, sensitive.texts
    number = {text: place for place, text in enumerate(texts)}
    features, covered = [], []
    for name in names:
        values = list(dict.fromkeys([*original.column(name)[0], *control.column(name)[0]]))
        rank = context.rank(name, values, original.typed)
        reader = context.reader(name, values, original.typed)
        covered.append([rank[reader.find(label)] for label in view.labels[view.quasi.index(name)]])
        place = dict(zip(values, rank.tolist(), strict=True))
        features.append(place)
    persons = [_persons(table, sensitive.attribute, names, features, number) for table in (original, control)]
    compared = min(len(persons[0][1]), len(persons[1][1]), MOST_ROWS)
    members: list[float] = []
    controls: list[float] = []
    for repeat in range(context.repeats):
        rng = np.random.default_rng(repeat)
        drawn, answer = _drawn(view, sensitive, names, covered, rng)
        forest: Any = RandomForestClassifier(TREES, min_samples_leaf=2, random_state=repeat, n_jobs=1)
        forest.fit(drawn, answer)
        for which, accuracies in enumerate((members, controls)):
            table, truth = persons[which]
            chosen = rng.choice(len(truth), compared, replace=False)
            accuracies.append(float((forest.predict(table[chosen]) == truth[chosen]).mean()))
    inside, outside = np.array(members), np.array(controls)
    draws = np.random.default_rng(0).choice(inside - outside, (1000, len(inside)))
    low, high = np.quantile(draws.mean(axis=1), [0.025, 0.975])
    gain = float((inside - outside).mean())
    beyond = max(0, round(gain * compared))
    weight = np.array([beyond, compared - beyond], np.int64)
    share = wilson(round(float(inside.mean()) * compared), compared)
    most = float(sensitive.prior.max() / sensitive.prior.sum())
    return Outcome(
        sensitive.attribute, weight, np.full(2, float(outside.mean())), np.full(2, float(inside.mean())),
        np.array([gain > 0, False]), np.zeros(2, np.int64), "original",
        f"trained on the release, a forest is right for {inside.mean():.4g} of its persons and for "
        f"{outside.mean():.4g} of {compared} persons held out; always guessing the most frequent "
        f"{sensitive.attribute} is right for {most:.4g}",
        {
            "repeats": context.repeats, "control_persons": compared,
            "accuracy_members": round(float(inside.mean()), 12),
            "accuracy_control": round(float(outside.mean()), 12), "accuracy_most_frequent": round(most, 12),
            "accuracy_members_interval": list(share),
            "difference_interval": {"low": round(float(low), 12), "high": round(float(high), 12),
                                    "method": "bootstrap of repeats"},
        },
    )  # fmt: skip


def _persons(
    table: Tabulated,
    attribute: str,
    names: Sequence[str],
    places: Sequence[dict[str | None, int]],
    number: dict[str | None, int],
) -> tuple[Float64, Int64]:
    """Features float64[n, d] and true values int64[n] of the rows of a table; -1 for a value that the release lacks."""
    own = table.select([*names, attribute])
    columns = [
        np.array([place[text] for text in own.column(name)[0]], np.float64)[own.column(name)[1]]
        for name, place in zip(names, places, strict=True)
    ]
    texts, codes = own.column(attribute)
    truth = np.array([number.get(text, -1) for text in texts], np.int64)[codes]
    return np.repeat(np.column_stack(columns), own.rows, axis=0), np.repeat(truth, own.rows)


def _drawn(
    view: Any, sensitive: Sensitive, names: Sequence[str], covered: Sequence[Sequence[NDArray[Any]]], rng: Any
) -> tuple[Float64, Int64]:
    """Draw rows of the release, with a value under each label."""
    owner = np.repeat(sensitive.owner, sensitive.histogram.count)
    answer = np.repeat(sensitive.histogram.value, sensitive.histogram.count).astype(np.int64)
    if len(owner) > MOST_ROWS:
        chosen = rng.choice(len(owner), MOST_ROWS, replace=False)
        owner, answer = owner[chosen], answer[chosen]
    columns = []
    for name, sets in zip(names, covered, strict=True):
        label = view.tuples[owner, view.quasi.index(name)]
        sizes = np.array([len(own) for own in sets], np.int64)
        start = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.concatenate([*sets, [0]])
        at = start[label] + (rng.random(len(label)) * sizes[label]).astype(np.int64)
        columns.append(np.where(sizes[label] > 0, flat[np.minimum(at, len(flat) - 1)], -1).astype(np.float64))
    return np.column_stack(columns), answer


ATTACK = Attack(
    inference,
    bounded_by=(),
    of_the_file=False,
    needs={"original": NEEDS, "control": NEEDS},
    options=("repeats",),
    of_repeats=True,
)
