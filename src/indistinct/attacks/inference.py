"""Inference: what a release tells of the sensitive value of a person, beyond what it tells of anybody.

*Attacker.* Knows the quasi-identifiers of his victims and trains several learners on the release, without knowing which
of them serves him: a *look-up* that pools the values of the classes that cover a person, and, with the extra ``learn``
(scikit-learn), a random forest and nearest neighbours. *Claim*: the likeliest value. What is learnt from correlations
holds for everybody, in the release or not; only what is learnt *beyond* that is a leak. So each learner predicts for
persons of the release (``original``) and for a *control* group held out before anonymization. *Prior*: how often it is
right about the control group, *posterior*: about the persons of the release; *gain*: the risk ``(attack - control)/(1 -
control)`` of the best learner. A person's score is the mean over the repeats, each of which draws a value under every
published label and trains anew. The interval draws persons of both groups anew, at a level corrected for the number of
learners. *Learnt*: persons predicted rightly beyond what the control group leads to expect.

The *naive* guess is always the most frequent value of everybody.

*Source.* Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023(2):312-328 (Anonymeter): control group and risk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indistinct.attacks.candidates import candidates, shares
from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Contrast, Idle, Outcome
from indistinct.attacks.predicates import NEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive, View

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

MOST_ROWS = 20_000
CELLS = 20_000_000
TREES = 50
NEIGHBOURS = 5


class Group(NamedTuple):
    """Kinds of persons: quasi-identifiers by rank float64[p, d], true value int64[p] (-1: not in the release), rows."""

    people: Tabulated
    features: Float64
    truth: Int64
    rows: Int64


def inference(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Train on the release; compare its members with persons held out."""
    original, control = context.original, context.control
    assert original is not None  # noqa: S101  # the record says that it is needed
    assert control is not None  # noqa: S101  # the record says that it is needed
    names = [name for name in context.view.quasi if name in original.columns and name in control.columns]
    if not names or context.view.in_groups:
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
    places, covered = [], []
    for name in names:
        values = list(dict.fromkeys([*original.column(name)[0], *control.column(name)[0]]))
        rank = context.rank(name, values, original.typed)
        reader = context.reader(name, values, original.typed)
        covered.append([rank[reader.find(label)] for label in context.view.labels[context.view.quasi.index(name)]])
        places.append(dict(zip(values, rank.tolist(), strict=True)))
    groups = [_group(table, sensitive, names, places) for table in (original, control)]
    most = int(sensitive.prior.argmax())
    naive = float(groups[0].rows[groups[0].truth == most].sum() / groups[0].rows.sum())
    found = {"look-up": [_looked_up(context, sensitive, group) for group in groups]}
    found |= _learned(context, sensitive, names, covered, groups)
    contrasts = {
        learner: Contrast(
            scores[0], groups[0].rows, scores[1], groups[1].rows, round(naive, 12), tried=len(found)
        )
        for learner, scores in found.items()
    }  # fmt: skip
    best = max(contrasts, key=lambda learner: contrasts[learner].risk)
    chosen = contrasts[best]
    persons = int(groups[0].rows.sum())
    beyond = max(0, round((chosen.attack - chosen.control) * persons))
    return Outcome(
        sensitive.attribute, np.array([beyond, persons - beyond], np.int64), np.full(2, chosen.control),
        np.full(2, chosen.attack), np.array([beyond > 0, False]), np.zeros(2, np.int64), "original",
        f"trained on the release, {_words(best)} is right for {chosen.attack:.4g} of its persons and for "
        f"{chosen.control:.4g} of {int(groups[1].rows.sum())} persons held out; always guessing the most frequent "
        f"{sensitive.attribute} is right for {naive:.4g}"
        + ("" if len(found) > 1 else '; other learners need scikit-learn: pip install "indistinct[learn]"'),
        {
            "learner": best, "repeats": context.repeats if len(found) > 1 else 1,
            "control_persons": int(groups[1].rows.sum()),
            "accuracy_members": chosen.attack, "accuracy_control": chosen.control,
            "accuracy_most_frequent": round(naive, 12),
            "learners": {learner: contrast.document() for learner, contrast in contrasts.items()},
            "scikit_learn": len(found) > 1,
        },
        contrast=chosen,
    )  # fmt: skip


def _words(learner: str) -> str:
    return {"look-up": "a look-up of the classes that cover a person"}.get(learner, f"{learner}")


def _group(
    table: Tabulated, sensitive: Sensitive, names: Sequence[str], places: Sequence[dict[str | None, int]]
) -> Group:
    """Count the kinds of persons, at most 20,000 of them, drawn with a fixed seed."""
    own = table.select([*names, sensitive.attribute])
    number = {text: place for place, text in enumerate(sensitive.texts)}
    chosen = np.arange(len(own.rows))
    if len(chosen) > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(len(chosen), MOST_ROWS, replace=False))
    columns = [
        np.array([place[text] for text in own.column(name)[0]], np.float64)[own.column(name)[1][chosen]]
        for name, place in zip(names, places, strict=True)
    ]
    texts, codes = own.column(sensitive.attribute)
    truth = np.array([number.get(text, -1) for text in texts], np.int64)[codes[chosen]]
    return Group(own.at(chosen), np.column_stack(columns), truth, own.rows[chosen])


def _looked_up(context: AttackContext, sensitive: Sensitive, group: Group) -> Float64:
    """Guess the likeliest value over the rows that may be a person's; without any, the most frequent of everybody."""
    pairs = candidates(context, context.view, None, group.people).by_kind()
    guess = np.full(len(group.rows), sensitive.prior.argmax(), np.int64)
    step = max(1, CELLS // max(1, len(sensitive.texts)))
    for begin in range(0, len(guess), step):
        stop = min(len(guess), begin + step)
        pooled = shares(context.view, sensitive, sensitive.texts, pairs, begin, stop)
        met = pooled.sum(axis=1) > 0
        guess[begin:stop][met] = pooled.argmax(axis=1)[met]
    right: Float64 = (guess == group.truth).astype(np.float64)
    return right


def _learned(
    context: AttackContext,
    sensitive: Sensitive,
    names: Sequence[str],
    covered: Sequence[Sequence[NDArray[Any]]],
    groups: Sequence[Group],
) -> dict[str, list[Float64]]:
    """Score what scikit-learn trains on drawn rows; nothing where it is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.neighbors import KNeighborsClassifier
    except ImportError:
        return {}
    found = {name: [np.zeros(len(group.rows)) for group in groups] for name in ("a forest", "nearest neighbours")}
    scale = np.maximum(1.0, np.vstack([group.features for group in groups]).max(axis=0))
    for repeat in range(context.repeats):
        drawn, answer = _drawn(context.view, sensitive, names, covered, np.random.default_rng(repeat))
        learners: dict[str, Any] = {
            "a forest": RandomForestClassifier(TREES, min_samples_leaf=2, random_state=repeat, n_jobs=1),
            "nearest neighbours": KNeighborsClassifier(min(NEIGHBOURS, len(answer))),
        }
        for name, learner in learners.items():
            learner.fit(drawn / scale, answer)
            for own, group in enumerate(groups):
                found[name][own] += (learner.predict(group.features / scale) == group.truth) / context.repeats
    return found


def _drawn(
    view: View, sensitive: Sensitive, names: Sequence[str], covered: Sequence[Sequence[NDArray[Any]]], rng: Any
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
    supposes="trains several learners on the release, and knows a person's quasi-identifiers",
    bounded_by=(),
    of_the_file=False,
    needs={"original": NEEDS, "control": NEEDS},
    options=("repeats",),
)
