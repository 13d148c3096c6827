"""How a release is searched for: an algorithm, and the options that it knows.

Every algorithm has a class of options here, named after it; what it does is in ``algorithms/``. A new one adds its
class to ``AnyAlgorithm``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PrivateAttr, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from indistinct.policy.keyed import Keyed
from indistinct.policy.parameters import Privacy, Whole, exact
from indistinct.policy.privacy import EpsIKAnonymity, EpsMAnonymity, GradedL, KeAnonymity, KmAnonymity, MInvariance
from indistinct.policy.problems import Section, check_word, name_of, problem, refuse

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

# losses that a search can make small; others are measured in reports
MinimizedLoss = Literal["lm", "gcp", "iloss", "precision"]
LOSSES: tuple[str, ...] = get_args(MinimizedLoss)
MEASURED_ONLY: tuple[str, ...] = (
    "ambiguity",
    "average_class_size",
    "classification_metric",
    "discernibility",
    "discernibility_star",
    "kl",
    "nonuniform_entropy",
)


def _loss(value: Any) -> Any:
    if value in MEASURED_ONLY:
        sentence = f"is measured in reports and no search makes it small; choose from: {', '.join(LOSSES)}"
        refuse([problem((), sentence, value)])
    check_word((), value, LOSSES)
    return value


def _seconds(value: Any) -> float:
    return float(exact(value))


class Recoding(Section):
    """Base of the options of the algorithms.

    ``made_for``: the privacy model for which a policy that names no algorithm gets this one; with ``alone`` only where
    no other model stands beside it.
    """

    made_for: ClassVar[type[Privacy] | None] = None
    alone: ClassVar[bool] = False
    algorithm: str
    _unused: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def unused(self) -> Mapping[str, Any]:
        """Options that were given though the algorithm does not know them; ``compare`` runs others under them."""
        return self._unused


# --- options that several algorithms know ----------------------------------------------------------------------------


class Budgeted(Recoding):
    """Options of a search that may end early."""

    time_budget: Annotated[float, BeforeValidator(_seconds)] | None = Field(default=None, gt=0)
    """Seconds for best quality and best-effort searches."""


class Improving(Budgeted):
    """Options of what rests on local recoding."""

    quality: Literal["fast", "balanced", "best"] = "balanced"
    """How long local recoding improves its result."""


class Minimizing(Recoding):
    """Options of a search that makes a chosen loss small."""

    loss: Annotated[MinimizedLoss, BeforeValidator(_loss)] = "lm"
    """The loss that is minimised."""


class Aggregating(Recoding):
    """Options of algorithms that form classes of rows by nearness, for which one value can stand."""

    aggregate: Literal["range", "mean", "median", "mode"] = "range"
    """What a class publishes: a range or label that covers it, or one value that stands for it and covers nothing."""


class Quadratic(Aggregating):
    """Options of algorithms that compare every row with every other."""

    partition: Whole | None = Field(default=None, ge=2)
    """Most rows clustered together, as the work grows with their square."""


class Grouping(Improving):
    """Options of algorithms that publish groups."""

    form: Literal["two_tables", "permuted"] = "two_tables"
    """How groups are published: quasi-identifiers and sensitive values apart, or permuted by group."""


# --- the algorithms --------------------------------------------------------------------------------------------------


class Local(Improving, Minimizing, Keyed):
    """Each class as suits it."""

    optional_tag = True
    algorithm: Literal["local"] = "local"
    robust: Literal["auto", True, False] | None = None
    """Whether merging hides which classes needed it; auto (default of version 2): with a key, and where it is cheap."""

    @model_validator(mode="after")
    def _has_coins(self) -> Self:
        if self.robust is True and not self.is_keyed:
            sentence = "needs a key for its coins: name key_file or key_env (indistinct policy key FILE makes one)"
            refuse([problem(("robust",), sentence, self.robust)])
        return self


class Optimal(Budgeted, Minimizing):
    """One level per column, proven."""

    algorithm: Literal["optimal"] = "optimal"


class GeneralizeStep(Budgeted):
    """One step more general until the models hold."""

    algorithm: Literal["generalize_step"] = "generalize_step"


class Datafly(Budgeted):
    """The column with most values first."""

    algorithm: Literal["datafly"] = "datafly"


class Samarati(Budgeted):
    """The least height of the lattice, by bisection."""

    algorithm: Literal["samarati"] = "samarati"


class Incognito(Budgeted):
    """All nodes that hold, by growing sets of attributes."""

    algorithm: Literal["incognito"] = "incognito"


class Ola(Budgeted):
    """Bisection of sublattices with predictive tagging."""

    algorithm: Literal["ola"] = "ola"


class Flash(Budgeted):
    """Bisection of paths from the bottom up."""

    algorithm: Literal["flash"] = "flash"


class TopDownSpecialization(Recoding):
    """From the most general labels down, by what a step tells about a column."""

    algorithm: Literal["top_down_specialization"] = "top_down_specialization"
    target: str = Field(min_length=1)
    """The column that the published data are to tell about."""


class MuArgus(Recoding):
    """No combination of a few columns may be rare."""

    algorithm: Literal["mu_argus"] = "mu_argus"
    combinations: Whole = Field(default=3, ge=1)
    """Most columns of a combination that must not be rare."""


class Mondrian(Aggregating):
    """Cuts at the median of the widest column."""

    algorithm: Literal["mondrian"] = "mondrian"
    mode: Literal["strict", "relaxed"] = "strict"
    """strict keeps equal rows together, relaxed may divide them."""


class Merge(Recoding):
    """Classes of Mondrian, the worst merged first."""

    algorithm: Literal["merge"] = "merge"
    partner: Literal["distance", "loss"] = "distance"
    """The partner that leaves the least distance, or of those that lower it the one that adds least loss."""


class Hilbert(Aggregating):
    """Neighbours along the Hilbert curve."""

    algorithm: Literal["hilbert"] = "hilbert"


class Mdav(Quadratic):
    """Clusters round the rows that are farthest out."""

    algorithm: Literal["mdav"] = "mdav"


class KMember(Quadratic):
    """Greedy clustering by the loss that a row adds."""

    algorithm: Literal["k_member"] = "k_member"


class KSimilar(Quadratic):
    """Greedy clustering by generalization steps."""

    algorithm: Literal["k_similar"] = "k_similar"


class UnivariateMicroaggregation(Aggregating):
    """Optimal groups of one ordered column."""

    algorithm: Literal["univariate_microaggregation"] = "univariate_microaggregation"


class TClosenessFirst(Aggregating):
    """One row of each stretch of the sensitive ranks in every class."""

    algorithm: Literal["t_closeness_first"] = "t_closeness_first"


class Sabre(Recoding):
    """Every class gets its share of each bucket of sensitive values."""

    algorithm: Literal["sabre"] = "sabre"


class GradedLocal(Improving):
    """Local recoding on the levels of sensitive numbers."""

    made_for = GradedL
    algorithm: Literal["graded_local"] = "graded_local"


class EpsMPartition(Recoding):
    """Parts whose numbers lie apart once dealt out."""

    made_for = EpsMAnonymity
    algorithm: Literal["eps_m_partition"] = "eps_m_partition"


class Anatomy(Grouping):
    """Groups of l rows with l different sensitive values."""

    algorithm: Literal["anatomy"] = "anatomy"


class LargestBucketFirst(Grouping):
    """Groups of k to 2k rows in which k numbers are far apart."""

    made_for = EpsIKAnonymity
    algorithm: Literal["largest_bucket_first"] = "largest_bucket_first"


class KePartition(Grouping):
    """Stretches of the sorted numbers; beside other models local recoding holds (k,e), in classes of one table."""

    made_for = KeAnonymity
    alone = True
    algorithm: Literal["ke_partition"] = "ke_partition"


class Km(Recoding):
    """Items of set-valued columns along a tree."""

    made_for = KmAnonymity
    algorithm: Literal["km"] = "km"


class SafepubScheme(Recoding):
    """A random sample at levels that do not depend on it."""

    algorithm: Literal["safepub"] = "safepub"


class MInvarianceBuckets(Improving):
    """Groups in which everybody keeps the values of earlier releases."""

    made_for = MInvariance
    algorithm: Literal["m_invariance"] = "m_invariance"


AnyAlgorithm = (
    Local
    | Optimal
    | GeneralizeStep
    | Datafly
    | Samarati
    | Incognito
    | Ola
    | Flash
    | TopDownSpecialization
    | MuArgus
    | Mondrian
    | Merge
    | Hilbert
    | Mdav
    | KMember
    | KSimilar
    | UnivariateMicroaggregation
    | TClosenessFirst
    | Sabre
    | GradedLocal
    | EpsMPartition
    | Anatomy
    | LargestBucketFirst
    | KePartition
    | Km
    | SafepubScheme
    | MInvarianceBuckets
)
ALGORITHM_CLASSES: tuple[type[Recoding], ...] = get_args(AnyAlgorithm)
BY_NAME: Mapping[str, type[Recoding]] = {name_of(kind): kind for kind in ALGORITHM_CLASSES}
ALGORITHMS: tuple[str, ...] = tuple(BY_NAME)
DEFAULT: str = ALGORITHMS[0]


def option(recoding: Recoding, name: str) -> Any:
    """Return an option, or its default (None where it has to be given) where the algorithm does not know it.

    >>> option(Mondrian(aggregate="mean"), "aggregate"), option(Sabre(), "aggregate"), option(Sabre(), "target")
    ('mean', 'range', None)
    """
    if name in type(recoding).model_fields:
        return getattr(recoding, name)
    field = _OPTIONS[name][0]
    return recoding.unused.get(name, None if field.is_required() else field.default)


def algorithm_for(models: Sequence[str]) -> str | None:
    """Return the algorithm that is taken where the policy names none, None for the default.

    >>> algorithm_for(["k_anonymity", "eps_i_k_anonymity"]), algorithm_for(["k_anonymity"])
    ('largest_bucket_first', None)
    """
    for kind in ALGORITHM_CLASSES:
        if kind.made_for is not None and name_of(kind.made_for) in models:
            return None if kind.alone and len(models) > 1 else name_of(kind)
    return None


def _fitting(given: Any, build: ValidatorFunctionWrapHandler) -> Any:
    """Refuse options that the algorithm does not know; what was always let pass is named by ``unused``."""
    if not isinstance(given, Mapping):
        return build(given)
    name = given.get("algorithm", DEFAULT)
    check_word(("algorithm",), name, ALGORITHMS)
    known, found, unused = BY_NAME[name].model_fields, [], {}
    for key in [key for key in given if key in _OPTIONS and key not in known]:
        field, owners = _OPTIONS[key]
        if given[key] == field.default:
            continue
        if key in _LET_PASS:
            unused[key] = getattr(BY_NAME[owners[0]](**{key: given[key]}), key)  # refuses what is no value of it
        else:
            found.append(problem((key,), f"is for {', '.join(owners)}; the algorithm is {name}", given[key]))
    refuse(found)
    known_options = {key: value for key, value in given.items() if key in known or key not in _OPTIONS}
    built = build({"algorithm": name, **known_options})
    built._unused = unused  # noqa: SLF001  # its own private attribute
    return built


def _options() -> dict[str, tuple[FieldInfo, list[str]]]:
    """Every option with the algorithms that know it."""
    found: dict[str, tuple[FieldInfo, list[str]]] = {}
    for name, kind in BY_NAME.items():
        for key, field in kind.model_fields.items():
            if key != "algorithm":
                found.setdefault(key, (field, []))[1].append(name)
    return found


_OPTIONS = _options()
# options that policies of version 1 may hold under any algorithm, where they have no effect
_LET_PASS = ("quality", "time_budget", "form", "target", "combinations")
AnyRecoding = Annotated[AnyAlgorithm, Field(discriminator="algorithm"), WrapValidator(_fitting)]
