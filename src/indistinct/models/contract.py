"""What a privacy model is to the rest of the house.

Searches ask ``scope``, ``merge_closed`` and ``absorbing`` and call the compiled criterion; verdicts come from
``evaluate`` alone, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from indistinct.policy.problems import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.policy.parameters import Privacy
    from indistinct.tables.records import Classes, Reference

# kinds of compiled criteria, see kernels/criteria.py
K, ALPHA, DISTINCT, ENTROPY, RECURSIVE, T_ORDERED, T_EQUAL, T_HIERARCHICAL = range(8)

LooksAt = Literal["published", "input", "population", "history", "mechanism"]
Scope = Literal["class", "release", "mechanism", "sequence"]


# what a model may need of an algorithm beyond exact tests of the classes that it keeps:
# that whole releases are judged at once, by their levels
LEVELS = "levels"
# that every class which it makes is tested and none is merged with another afterwards
EVERY_CLASS = "every class"
# that groups are formed of rows that lie apart
SEPARATION = "separation"
# that the items of set-valued columns are generalized
ITEM_SETS = "item sets"
# that earlier releases are looked at
HISTORY = "history"
# that the table is made by a random mechanism
MECHANISM = "mechanism"


def nothing(privacy: Any) -> str | None:  # noqa: ARG001  # the contract's
    """Need nothing but the contract of algorithms."""
    return None


def needing(need: str) -> Callable[[Any], str | None]:
    """Return a ``needs`` that asks the same whatever the parameters are."""
    return lambda _privacy: need


@dataclass(frozen=True, slots=True)
class Context:
    """What a model may look at beside the classes: the reference distribution of each sensitive attribute."""

    references: Mapping[str, Reference]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The exact answer of one model about one partition.

    ``satisfied`` bool[g]: verdict per class. ``measure`` float64[g]: what the model measures, for display
    and for ranking only. ``achieved``: the best parameters that the release satisfies, as they stand in the
    JSON documents. ``reason``: one sentence with the real counts. ``more_is_better``: whether a larger
    measure protects more. ``unit``: whether rows or persons reach less, where both were judged.
    """

    satisfied: NDArray[np.bool_]
    measure: NDArray[np.float64]
    achieved: dict[str, Any]
    reason: str
    more_is_better: bool = True
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """A model's test as numbers that compiled searches understand (``kernels.criteria.violation``).

    ``attribute`` is None for size conditions. ``parameters`` float64[.]; ``shares`` float64[m] is the
    reference distribution; ``tree`` int32[H + 1, m] the node of each value at each height (hierarchical
    distance, else empty). ``merge_closed`` (M1) and ``absorbing`` (M2) are those of this test alone.
    """

    kind: int
    attribute: str | None
    parameters: NDArray[np.float64]
    merge_closed: bool
    absorbing: bool
    shares: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    tree: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))


@dataclass(frozen=True, slots=True)
class Promise:
    """What a model promises about numbers, as its parameters stand; 0 where it promises none.

    ``rows``: every class has at least so many rows (persons). ``candidates``: a person is one of at least so many.
    ``values``: every class has at least so many different values of the attribute. ``signature``: the same, and they
    stay those of the earlier releases.
    """

    rows: int = 1
    candidates: int = 0
    values: int = 0
    signature: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """What a sensitive column can be measured by: whether its values have an order, and a tree above them."""

    is_ordered: bool
    has_tree: bool


def no_number(privacy: Any) -> Promise:  # noqa: ARG001  # the contract's
    """Promise no number."""
    return Promise()


def of_columns(*forms: Mapping[str, Any]) -> Callable[[Column | None], tuple[Mapping[str, Any], ...]]:
    """Return a ``measured`` that measures every sensitive column in the same forms; none given: in the only one."""
    return lambda column: () if column is None else forms or ({},)


def not_measured(column: Column | None) -> tuple[Mapping[str, Any], ...]:  # noqa: ARG001  # the contract's
    """Measure nothing that was not asked for."""
    return ()


def no_share(privacy: Any) -> Fraction | None:  # noqa: ARG001  # the contract's
    """Bound no share."""
    return None


def never(privacy: Any) -> bool:  # noqa: ARG001  # the contract's
    """Say no, whatever the parameters are."""
    return False


def always(privacy: Any) -> bool:  # noqa: ARG001  # the contract's
    """Say yes, whatever the parameters are."""
    return True


@dataclass(frozen=True, slots=True)
class Model:
    """One privacy model: its parameters, its title, its closure properties and its functions.

    ``options`` is the class of its parameters, whose ``model`` is its name in policies and in documents; ``title`` is
    what it is called in a terminal (reports have their own under ``model.NAME`` in each catalogue).

    ``evaluate(privacy, classes, context)`` is the exact verdict. ``achieved(classes, context, attribute,
    **fixed)`` gives the best parameters without a threshold. ``criteria(privacy, context)`` gives the
    compiled tests whose conjunction is the model, or None when it has no such form (then searches must call
    ``evaluate``). ``shortfall(privacy, root, context)`` says why the class that holds the whole table
    fails. ``necessary(privacy, context)`` gives compiled tests that follow from a model without compiled form:
    searches may be guided by them, and still ask ``evaluate``.

    ``scope``: ``class`` (each class is judged alone) or ``release`` (one verdict on all classes; ``evaluate``
    then marks the classes that have to go so that the others hold), ``mechanism`` (a guarantee of how a table is made)
    or ``sequence`` (of one table and those before it): the last two no table alone shows. ``merge_closed``
    and ``absorbing`` hold for all parameters; where they depend on these, ``closure(privacy)`` gives both
    (``registry.is_merge_closed``).
    ``looks_at``: what its verdict and its measure are a function of: the ``published`` classes, the whole ``input``,
    a ``population``, the ``history`` of releases or a ``mechanism``. What a model reached is public only where nothing
    but the published classes tells of it.
    ``needs(privacy)``: what an algorithm must offer to hold the model, one of the words above; None: that it calls
    ``evaluate``.

    ``of_shares(privacy)``: the model is one of shares of values, judged by rows and, with a person key, by persons
    (``shares``). ``by_persons(privacy)``: its verdict may depend on who has which rows, beyond how many persons there
    are, so that its compiled form is necessary only. ``merges_persons(privacy)``: what closure it has holds also for
    classes that share persons.

    ``promises(privacy)``: the numbers that ``explain`` and the ledger of releases may count on. ``measured(column)``:
    the forms in which an audit that requires nothing measures it, for a sensitive column, or for the table (None).
    ``share_sampled(privacy)``: the largest share of one value that a search which knows the model leaves in a class,
    None where it bounds none. ``blank_counts``: a missing value counts as one more value, and may make a class diverse.
    ``is_joint``: it looks at the sensitive attributes of a row together. ``detailed(privacy)`` and ``nested(privacy)``:
    it looks at what the cells of a class cover, and at other classes that contain it (``tables.records.Classes``).
    """

    options: type[Privacy]
    title: str
    scope: Scope
    looks_at: LooksAt
    merge_closed: bool
    absorbing: bool
    evaluate: Callable[[Any, Classes, Context], Evaluation]
    achieved: Callable[..., Any]
    criteria: Callable[[Any, Context], tuple[Criterion, ...] | None]
    shortfall: Callable[[Any, Classes, Context], str]
    promises: Callable[[Any], Promise]
    measured: Callable[[Column | None], tuple[Mapping[str, Any], ...]] = not_measured
    share_sampled: Callable[[Any], Fraction | None] = no_share
    blank_counts: bool = False
    is_joint: bool = False
    detailed: Callable[[Any], bool] = never
    nested: Callable[[Any], bool] = never
    necessary: Callable[[Any, Context], tuple[Criterion, ...]] | None = None
    closure: Callable[[Any], tuple[bool, bool]] | None = None
    needs: Callable[[Any], str | None] = nothing
    of_shares: Callable[[Any], bool] = never
    by_persons: Callable[[Any], bool] = never
    merges_persons: Callable[[Any], bool] = always
    counts_values: bool = False

    def __post_init__(self) -> None:
        """Refuse a record that does not say what the model looks at, as it would leak by default, or has no title."""
        if self.looks_at not in get_args(LooksAt):
            known = ", ".join(get_args(LooksAt))
            raise TypeError(f'the model {self.name} looks at "{self.looks_at}"; known are {known}')
        if self.scope not in get_args(Scope):
            raise TypeError(
                f'the model {self.name} has the scope "{self.scope}"; known are {", ".join(get_args(Scope))}'
            )
        if not self.title:
            raise TypeError(f"the model {self.name} has no title")

    @property
    def name(self) -> str:
        """The name in policies."""
        return name_of(self.options)

    def absorbs(self, privacy: Any) -> bool:
        """Whether a class that satisfies the model with these parameters does so with any rows added (M2)."""
        return self.absorbing if self.closure is None else self.closure(privacy)[1]


def no_criteria(privacy: Any, context: Context) -> None:  # the contract's
    """Compile nothing: no class is judged alone."""


def reason_of(evaluate: Callable[[Any, Classes, Context], Evaluation]) -> Callable[[Any, Classes, Context], str]:
    """Return a ``shortfall`` that says of the whole table as one class what ``evaluate`` does."""
    return lambda privacy, root, context: evaluate(privacy, root, context).reason
