"""The user's own learning task before and after.

*before*: learned from original rows with their exact values. *after*: learned from the release, its cells as features
(``encoders``). Both are tested on the same original rows, whose exact values have a place among the features of the
release; no test label enters the encoding. *baseline*: the share of the most frequent label of the learning part among
the test labels; for numbers the mean, whose R^2 is 0. *relative*: (after - baseline) / (before - baseline), None when
before = baseline.

With rows held out (``held``: the release was made without them) the test rows are those, and both learn from all that
they have. Without, the original is divided once for each seed, stratified by label, and *before* learns from one part
and is tested on the other. The release was then made from the test rows too, so *after* is too good: by what a class
tells about one of its own rows, and with small classes that is more than any other loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.utility.encoders import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.utility.encoders import Encoding
    from indistinct.utility.tables import Codes, TablePair

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
    pair: TablePair,
    target: str,
    factory: Callable[[], Any],
    *,
    encoding: Encoding = "nodes",
    seeds: tuple[int, ...] = SEEDS,
    held: Codes | None = None,
) -> dict[str, Any]:
    """Learn ``target`` from all other columns, before and after; one entry for each run, and the means.

    ``held`` int[rows, c]: rows that the release was not made from, as numbers of original texts; then there is one run,
    else one for each seed. An estimator with ``predict`` of numbers (``_estimator_type == "regressor"``, or
    scikit-learn's tag) is judged by R^2, any other by accuracy. Rows without a target are left out.

    Raises PolicyError for a target that is no column of both tables or was generalized.
    """
    names = [axis.name for axis in pair.axes]
    if target not in names:
        raise PolicyError(f'the target "{target}" is no column of both tables', column=target)
    place = pair.position(target)
    axis = pair.axes[place]
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
    own = _encoded(pair, place, encoding, regress=regress)
    rows = own.original(np.repeat(pair.before, pair.rows_before, axis=0))
    release = own.release(pair.drawn(np.random.Generator(np.random.PCG64(seeds[0]))))
    if held is None:
        testing = [_test_part(rows.y, seed, regress=regress) for seed in seeds]
        splits = [(rows.part(~chosen), rows.part(chosen), seed) for chosen, seed in zip(testing, seeds, strict=True)]
    else:
        splits = [(rows, own.original(held), seeds[0])]
    runs = [_run(factory, learn, release, test, seed, regress=regress) for learn, test, seed in splits]
    found: dict[str, Any] = {
        "target": target,
        "encoding": encoding,
        "measure": "r_squared" if regress else "accuracy",
        "features": int(release[0].shape[1]),
        "held_out": held is not None,
        "runs": runs,
    }
    for key in ("before", "after", "baseline"):
        found[key] = float(np.mean([run[key] for run in runs]))
    gain = found["before"] - found["baseline"]
    found["relative"] = (found["after"] - found["baseline"]) / gain if abs(gain) > 1e-12 else None
    found["note"] = (
        "tested on rows that the release was not made from"
        if held is not None
        else "the release was made from the test rows too, so its score is too good: keep some rows out of the release "
        "and give them as holdout"
    )
    return found


def _is_regressor(estimator: Any) -> bool:
    if getattr(estimator, "_estimator_type", None) == "regressor":
        return True
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and getattr(tags(), "estimator_type", None) == "regressor"


class _Rows(NamedTuple):
    """Original rows: ``exact`` and ``coded`` their features for who learned from the original or the release."""

    exact: Float64
    coded: Float64
    y: NDArray[Any]

    def part(self, chosen: NDArray[np.bool_]) -> _Rows:
        return _Rows(self.exact[chosen], self.coded[chosen], self.y[chosen])


@dataclass(frozen=True)
class _Encoded:
    """Features of each text of each column, and the targets."""

    exact: list[Float64]
    coded: list[Float64]
    labels: list[Float64]
    others: list[int]
    target: int
    y: list[NDArray[Any]]
    known: list[NDArray[np.bool_]]

    def original(self, codes: Codes) -> _Rows:
        codes = codes[self.known[0][codes[:, self.target]]]
        return _Rows(self._x(self.exact, codes), self._x(self.coded, codes), self.y[0][codes[:, self.target]])

    def release(self, codes: Codes) -> tuple[Float64, NDArray[Any]]:
        codes = codes[self.known[1][codes[:, self.target]]]
        return self._x(self.labels, codes), self.y[1][codes[:, self.target]]

    def _x(self, features: list[Float64], codes: Codes) -> Float64:
        blocks = [own[codes[:, place]] for own, place in zip(features, self.others, strict=True)]
        return np.column_stack(blocks) if blocks else np.zeros((len(codes), 0))


def _encoded(pair: TablePair, target: int, encoding: Encoding, *, regress: bool) -> _Encoded:
    others = [place for place in range(len(pair.axes)) if place != target]
    published = [encoded(pair.axes[place], encoding) for place in others]
    axis = pair.axes[target]
    if regress:
        assert axis.at is not None  # noqa: S101  # checked above
        y: list[NDArray[Any]] = [axis.at, axis.middle]
        known = [~np.isnan(own) for own in y]
    else:
        y = [np.array([str(text) for text in texts]) for texts in (axis.before, axis.after)]
        known = [np.array([text is not None for text in texts], np.bool_) for texts in (axis.before, axis.after)]
    return _Encoded(
        [encoded(pair.axes[place])[1] for place in others],
        [before for _, before, _ in published],
        [after for _, _, after in published],
        others,
        target,
        y,
        known,
    )


def _run(
    factory: Callable[[], Any],
    learn: _Rows,
    release: tuple[Float64, NDArray[Any]],
    test: _Rows,
    seed: int,
    *,
    regress: bool,
) -> dict[str, Any]:
    one, other = factory().fit(learn.exact, learn.y), factory().fit(*release)
    wanted = test.y
    if regress:
        spread = float(((wanted - wanted.mean()) ** 2).sum())

        def score(guess: Any) -> float:
            return 1 - float(((wanted - guess) ** 2).sum()) / spread if spread > 0 else 0.0

        baseline = 0.0
    else:

        def score(guess: Any) -> float:
            return float((np.asarray(guess) == wanted).mean())

        labels, counts = np.unique(learn.y, return_counts=True)
        baseline = float((wanted == labels[counts.argmax()]).mean())
    return {
        "seed": seed,
        "test_rows": len(wanted),
        "before": score(one.predict(test.exact)),
        "after": score(other.predict(test.coded)),
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
