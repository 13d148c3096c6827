"""How a release is searched for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    model_validator,
)

from indistinct.policy.parameters import Whole, exact
from indistinct.policy.problems import Section, check_word, problem, refuse

AlgorithmName = Literal[
    "local",
    "optimal",
    "generalize_step",
    "datafly",
    "samarati",
    "incognito",
    "ola",
    "flash",
    "top_down_specialization",
    "mu_argus",
    "mondrian",
    "merge",
    "hilbert",
    "mdav",
    "k_member",
    "k_similar",
    "univariate_microaggregation",
    "t_closeness_first",
    "sabre",
    "graded_local",
    "eps_m_partition",
    "anatomy",
    "largest_bucket_first",
    "ke_partition",
    "km",
    "safepub",
    "m_invariance",
]


ALGORITHMS: tuple[str, ...] = get_args(AlgorithmName)


# algorithms that compare every row with every other, in parts if asked to
QUADRATIC = ("mdav", "k_member", "k_similar")


# algorithms that form classes of rows by nearness, of which a mean, a median or a mode can be published
AGGREGATING = (
    "univariate_microaggregation",
    "mdav",
    "k_member",
    "k_similar",
    "hilbert",
    "t_closeness_first",
    "mondrian",
)


# losses that a search can make small, and the algorithms that search for them
LOSSES: tuple[str, ...] = ("lm", "gcp", "iloss", "precision")


SEARCHING: tuple[str, ...] = ("local", "optimal")


MEASURED_ONLY: tuple[str, ...] = (
    "ambiguity",
    "average_class_size",
    "classification_metric",
    "discernibility",
    "discernibility_star",
    "kl",
    "nonuniform_entropy",
)


def _algorithm(value: Any) -> Any:
    check_word((), value, ALGORITHMS)
    return value


def _loss(value: Any) -> Any:
    if value in MEASURED_ONLY:
        sentence = f"is measured in reports and no search makes it small; choose from: {', '.join(LOSSES)}"
        refuse([problem((), sentence, value)])
    check_word((), value, LOSSES)
    return value


def _seconds(value: Any) -> float:
    return float(exact(value))


class Recoding(Section):
    """How the release is searched."""

    algorithm: Annotated[
        AlgorithmName,
        BeforeValidator(_algorithm),
    ] = "local"
    """local: each class as suits it; optimal: one level per column, proven; the others: see the documentation."""
    mode: Literal["strict", "relaxed"] = "strict"
    """mondrian: strict keeps equal rows together, relaxed may divide them."""
    partner: Literal["distance", "loss"] = "distance"
    """merge: the partner that leaves the least distance, or of those that lower it the one that adds least loss."""
    partition: Whole | None = Field(default=None, ge=2)
    """k_member, k_similar, mdav: most rows clustered together, as the work grows with their square."""
    aggregate: Literal["range", "mean", "median", "mode"] = "range"
    """What a class publishes: a range or label that covers it, or one value that stands for it and covers nothing."""
    quality: Literal["fast", "balanced", "best"] = "balanced"
    """How long local recoding improves its result."""
    time_budget: Annotated[float, BeforeValidator(_seconds)] | None = Field(default=None, gt=0)
    """Seconds for best quality and best-effort searches."""
    loss: Annotated[Literal["lm", "gcp", "iloss", "precision"], BeforeValidator(_loss)] = "lm"
    """The loss that is minimised."""
    form: Literal["two_tables", "permuted"] = "two_tables"
    """How an algorithm of groups publishes: quasi-identifiers and sensitive values apart, or permuted by group."""
    target: str | None = Field(default=None, min_length=1)
    """The column that the published data are to tell about, for top_down_specialization."""
    combinations: Whole = Field(default=3, ge=1)
    """Most columns of a combination that must not be rare, for mu_argus."""

    @model_validator(mode="after")
    def _has_target(self) -> Self:
        if self.algorithm == "top_down_specialization" and self.target is None:
            sentence = f'is missing; algorithm = "{self.algorithm}" needs the column that the data are to tell about'
            refuse([problem(("target",), sentence)])
        return self

    @model_validator(mode="after")
    def _keys_of_algorithms(self) -> Self:
        found = []
        if self.mode != "strict" and self.algorithm != "mondrian":
            found.append(problem(("mode",), f"is for mondrian; the algorithm is {self.algorithm}", self.mode))
        if self.partner != "distance" and self.algorithm != "merge":
            found.append(problem(("partner",), f"is for merge; the algorithm is {self.algorithm}", self.partner))
        if self.partition is not None and self.algorithm not in QUADRATIC:
            sentence = f"is for {', '.join(QUADRATIC)}; the algorithm is {self.algorithm}"
            found.append(problem(("partition",), sentence, self.partition))
        if self.aggregate != "range" and self.algorithm not in AGGREGATING:
            sentence = f"is for {', '.join(AGGREGATING)}; the algorithm is {self.algorithm}"
            found.append(problem(("aggregate",), sentence, self.aggregate))
        refuse(found)
        return self

    @model_validator(mode="after")
    def _loss_is_searched(self) -> Self:
        if self.loss != "lm" and self.algorithm not in SEARCHING:
            sentence = (
                f"cannot be chosen for {self.algorithm}: of a loss other than lm only {' and '.join(SEARCHING)} know"
            )
            refuse([problem(("loss",), sentence, self.loss)])
        return self
