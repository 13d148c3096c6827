"""The user's own learning task before and after.

The original rows are divided once for each seed, stratified by label, into a part to learn from and a part to test on.
*before*: learned from the first part, tested on the second. *after*: learned from the release, tested on the same
second part, whose exact values are features of the same columns (``encoders``); no test label enters the encoding.
*baseline*: the share of the most frequent label of the learning part among the test labels; for numbers the mean, whose
R^2 is 0. *relative*: (after - baseline) / (before - baseline), None when before = baseline.

The release was made from all rows, those of the test part too, so *after* is a little too good: by what a class tells
about one of its own rows. Only a release made from the learning part alone would not be.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.utility.encoders import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.utility.encoders import Encoding
    from indistinct.utility.tables import Sides

    Float64 = NDArray[np.float64]

SEEDS = (1, 2, 3)
TEST_SHARE = 0.3


def factory_of(text: str) -> Callable[[], Any]:
    """Return the function ``module:factory`` that makes a scikit-learn estimator; it is imported and called.

    Raises PolicyError when there is none, UnsupportedError when it needs a package that is not installed.
    """
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise PolicyError(
            f'an estimator is given as module:factory, such as sklearn.tree:DecisionTreeClassifier, not "{text}"'
        )
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "sklearn":
            raise UnsupportedError(
                "this needs scikit-learn; install it with: pip install 'indistinct[learn]'"
            ) from error
        raise PolicyError(f'there is no module "{error.name}"; is it on the Python path?') from error
    factory = getattr(found, name, None)
    if not callable(factory):
        raise PolicyError(f'the module "{module}" has no function "{name}"')
    return factory  # type: ignore[no-any-return]  # what it makes is asked for fit and predict


def task(
    sides: Sides,
    target: str,
    factory: Callable[[], Any],
    *,
    encoding: Encoding = "midpoint",
    seeds: tuple[int, ...] = SEEDS,
) -> dict[str, Any]:
    """Learn ``target`` from all other columns, before and after; one entry for each seed, and the means.

    An estimator with ``predict`` of numbers (``_estimator_type == "regressor"``, or scikit-learn's tag) is judged by
    R^2, any other by accuracy. Rows without a target are left out.

    Raises PolicyError for a target that is no column of both tables or was generalized.
    """
    names = [axis.name for axis in sides.axes]
    if target not in names:
        raise PolicyError(f'the target "{target}" is no column of both tables', column=target)
    place = sides.position(target)
    axis = sides.axes[place]
    unknown = [label for label in axis.after if label is not None and label not in axis.before]
    if unknown:
        raise PolicyError(
            f'the target "{target}" was generalized; it must be published as it is (sensitive or insensitive)',
            column=target,
        )
    made = factory()
    if not (hasattr(made, "fit") and hasattr(made, "predict")):
        raise PolicyError("the estimator that was made cannot fit and predict; name a scikit-learn estimator")
    regress = _is_regressor(made)
    if regress and not axis.is_ordered:
        raise PolicyError(
            f'"{target}" holds no numbers for a regressor; give it type integer or decimal', column=target
        )
    before, after = _features(sides, place, encoding, regress=regress)
    runs = [_run(factory, before, after, seed, regress=regress) for seed in seeds]
    found: dict[str, Any] = {
        "target": target,
        "encoding": encoding,
        "measure": "r_squared" if regress else "accuracy",
        "features": int(before[0].shape[1]),
        "runs": runs,
    }
    for key in ("before", "after", "baseline"):
        found[key] = float(np.mean([run[key] for run in runs]))
    gain = found["before"] - found["baseline"]
    found["relative"] = (found["after"] - found["baseline"]) / gain if abs(gain) > 1e-12 else None
    found["note"] = "the release was made from all rows, the test rows too: its score is a little too good"
    return found


def _is_regressor(estimator: Any) -> bool:
    if getattr(estimator, "_estimator_type", None) == "regressor":
        return True
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and getattr(tags(), "estimator_type", None) == "regressor"


def _features(
    sides: Sides, target: int, encoding: Encoding, *, regress: bool
) -> tuple[tuple[Float64, Any], tuple[Float64, Any]]:
    """Features and targets of every row of both tables, in canonical order."""
    found = []
    encodings = [encoded(axis, encoding) for place, axis in enumerate(sides.axes) if place != target]
    others = [place for place in range(len(sides.axes)) if place != target]
    axis = sides.axes[target]
    for side, (codes, rows, texts) in enumerate(
        ((sides.before, sides.rows_before, axis.before), (sides.after, sides.rows_after, axis.after))
    ):
        each = np.repeat(np.arange(len(rows)), rows)
        blocks = [own[side + 1][codes[each, place]] for own, place in zip(encodings, others, strict=True)]
        x = np.column_stack(blocks) if blocks else np.zeros((len(each), 0))
        if regress:
            assert axis.at is not None  # noqa: S101  # checked above
            y = (axis.at if side == 0 else axis.middle)[codes[each, target]]
            kept = ~np.isnan(y)
        else:
            y = np.array([str(text) for text in texts])[codes[each, target]]
            kept = np.array([text is not None for text in texts], np.bool_)[codes[each, target]]
        found.append((x[kept], y[kept]))
    return found[0], found[1]


def _run(
    factory: Callable[[], Any], before: tuple[Float64, Any], after: tuple[Float64, Any], seed: int, *, regress: bool
) -> dict[str, Any]:
    x, y = before
    testing = _test_part(y, seed, regress=regress)
    one = factory().fit(x[~testing], y[~testing])
    other = factory().fit(*after)
    wanted = y[testing]
    if regress:
        spread = float(((wanted - wanted.mean()) ** 2).sum())

        def score(guess: Any) -> float:
            return 1 - float(((wanted - guess) ** 2).sum()) / spread if spread > 0 else 0.0

        baseline = 0.0
    else:

        def score(guess: Any) -> float:
            return float((np.asarray(guess) == wanted).mean())

        labels, counts = np.unique(y[~testing], return_counts=True)
        baseline = float((wanted == labels[counts.argmax()]).mean())
    return {
        "seed": seed,
        "test_rows": int(testing.sum()),
        "before": score(one.predict(x[testing])),
        "after": score(other.predict(x[testing])),
        "baseline": baseline,
    }


def _test_part(y: Any, seed: int, *, regress: bool) -> NDArray[np.bool_]:
    """bool[rows]: the test part, the same share of every label."""
    generator = np.random.Generator(np.random.PCG64(seed))
    testing = np.zeros(len(y), np.bool_)
    groups = [np.arange(len(y))] if regress else [np.flatnonzero(y == label) for label in np.unique(y)]
    for rows in groups:
        chosen = generator.permutation(rows)[: round(TEST_SHARE * len(rows))]
        testing[chosen] = True
    if testing.all() or not testing.any():
        raise PolicyError("there are too few rows to keep some for testing")
    return testing
