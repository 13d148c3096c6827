"""Parameters of the models that hide who a row belongs to."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from indistinct.policy.parameters import Exact, Privacy, Whole
from indistinct.policy.problems import problem, refuse

if TYPE_CHECKING:
    from indistinct.policy.parameters import Number


class KAnonymity(Privacy):
    """Every class has at least ``k`` rows (persons): n_E >= k.

    ``k``: whole number, k >= 1; k = 1 is no protection. That k is at most the number of rows is not checked
    here.

    Examples
    --------
    >>> KAnonymity(5).k
    5

    References
    ----------
    Samarati and Sweeney, SRI-CSL-98-04, 1998; Sweeney, https://doi.org/10.1142/S0218488502001648.
    """

    model: Literal["k_anonymity"] = "k_anonymity"
    k: Whole = Field(ge=1)
    """Least number of rows (persons, with a person key) of a class."""
    order = ("k",)

    if TYPE_CHECKING:

        def __init__(self, k: int) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether k = 1."""
        return self.k == 1


class KMap(Privacy):
    """The labels of every class cover at least ``k`` rows of a population that contains the table: N_E >= k.

    Either ``population`` names its table (relative to the policy), or ``estimator`` and ``sampling_fraction`` (above
    0, at most 1) ask for classes so large that a population class of k would hardly give them, at ``significance``
    (above 0, below 1).

    Examples
    --------
    >>> KMap(5, estimator="poisson", sampling_fraction="0.1").significance
    Fraction(1, 100)

    References
    ----------
    Sweeney, https://doi.org/10.1142/S0218488502001648; El Emam and Dankar, JAMIA 15(5), 2008,
    https://doi.org/10.1197/jamia.M2716.
    """

    model: Literal["k_map"] = "k_map"
    k: Whole = Field(ge=1)
    """Least number of rows of the population that a class covers."""
    population: str | None = None
    """The table of the population."""
    estimator: Literal["poisson", "zero_truncated_poisson"] | None = None
    """Statistical form, without a population table."""
    sampling_fraction: Exact | None = Field(default=None, gt=0, le=1)
    """Rows of the table over rows of the population, for an estimator."""
    significance: Exact = Field(default=Fraction(1, 100), gt=0, lt=1)
    """Largest probability of a class so large from a population class of k, for an estimator."""
    order = ("k", "population", "estimator", "sampling_fraction", "significance")

    if TYPE_CHECKING:

        def __init__(
            self,
            k: int,
            population: str | None = None,
            estimator: str | None = None,
            sampling_fraction: Number | None = None,
            significance: Number = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        found = []
        if (self.population is None) == (self.estimator is None):
            found.append(problem(("population",), "or an estimator must be given, one of the two", self.population))
        if self.estimator is not None and self.sampling_fraction is None:
            found.append(problem(("sampling_fraction",), "is missing; an estimator needs a number, 0 < it <= 1"))
        if self.estimator is None and self.sampling_fraction is not None:
            found.append(problem(("sampling_fraction",), "belongs to an estimator; leave it out"))
        refuse(found)
        return self

    @property
    def is_void(self) -> bool:
        """Whether k = 1."""
        return self.k == 1


class DeltaPresence(Privacy):
    """Every class of a population has a published share between ``minimum`` and ``maximum``.

    minimum <= n_E / N_E <= maximum, 0 <= minimum <= maximum <= 1. ``population`` names its table.

    Examples
    --------
    >>> DeltaPresence(0, "1/3", "everybody.csv").maximum
    Fraction(1, 3)

    References
    ----------
    Nergiz, Atzori and Clifton, SIGMOD 2007, https://doi.org/10.1145/1247480.1247554.
    """

    model: Literal["delta_presence"] = "delta_presence"
    minimum: Exact = Field(ge=0, le=1)
    """Least share; above 0 nothing may be suppressed and everybody must be covered."""
    maximum: Exact = Field(ge=0, le=1)
    """Largest share."""
    population: str
    """The table of the population, which contains the table."""
    order = ("minimum", "maximum", "population")

    if TYPE_CHECKING:

        def __init__(self, minimum: Number, maximum: Number, population: str) -> None: ...

    @model_validator(mode="after")
    def _minimum_at_most_maximum(self) -> Self:
        if self.minimum > self.maximum:
            refuse([problem(("minimum",), f"must be at most maximum, which is {self.maximum}", self.minimum)])
        return self

    @property
    def is_void(self) -> bool:
        """Whether the bounds are 0 and 1."""
        return self.minimum == 0 and self.maximum == 1


class Profitability(Privacy):
    """No attack pays, or publishing a row pays although it may be attacked.

    ``gain`` and ``cost`` of an attack on one row, ``loss`` of the publisher by a successful one, ``benefit`` of
    publishing a row without any loss of detail; numbers, at least 0. A row is found with probability 1 / n_E
    (``prosecutor``) or 1 / N_E (``journalist``, with a ``population``). ``attack = false`` asks that gain / n_E is
    less than cost; then ``loss`` and ``benefit`` are not looked at.

    Examples
    --------
    >>> Profitability("prosecutor", attack=False, gain=300, cost=4).attack
    False

    References
    ----------
    Wan and others, PLoS ONE 10(3), 2015, https://doi.org/10.1371/journal.pone.0120592.
    """

    model: Literal["profitability"] = "profitability"
    attacker: Literal["prosecutor", "journalist"] = "prosecutor"
    """Whether the attacker knows that a person is in the table."""
    attack: bool = True
    """Whether rows may be published whose attack pays, if publishing them pays all the same."""
    gain: Exact = Field(ge=0)
    """What an attacker gains by finding a person."""
    cost: Exact = Field(ge=0)
    """What an attack costs."""
    loss: Exact | None = Field(default=None, ge=0)
    """What the publisher loses by a row that is found."""
    benefit: Exact | None = Field(default=None, ge=0)
    """What the publisher gains by a row without loss of detail."""
    population: str | None = None
    """The table of the population, for a journalist."""
    order = ("attacker", "attack", "gain", "cost", "loss", "benefit", "population")

    if TYPE_CHECKING:

        def __init__(
            self,
            attacker: str = "prosecutor",
            attack: bool = True,  # noqa: FBT001, FBT002  # positional like the others
            *,
            gain: Number,
            cost: Number,
            loss: Number | None = None,
            benefit: Number | None = None,
            population: str | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _fits(self) -> Self:
        found = []
        if (self.attacker == "journalist") != (self.population is not None):
            found.append(problem(("population",), 'goes with attacker = "journalist", which needs it', self.population))
        found += [
            problem((name,), "is missing; attack = true needs a number, at least 0")
            for name in ("loss", "benefit")
            if self.attack and getattr(self, name) is None
        ]
        refuse(found)
        return self


class _Threshold(Privacy):
    """Base of the models that ask for at most a share."""

    threshold: Exact = Field(ge=0, le=1)
    """Largest value; 1 is no protection."""
    order: ClassVar[tuple[str, ...]] = ("threshold",)

    @property
    def is_void(self) -> bool:
        """Whether the threshold is 1."""
        return self.threshold == 1


class AverageRisk(Privacy):
    """The risk 1 / n_E of the units of a release is bounded: on average, for each, and above a bound for few.

    ``threshold``: the mean over all units of 1 / n_E is at most this. ``highest``: 1 / n_E is at most this for every
    class. ``share`` and ``above`` go together: units with 1 / n_E > ``above`` are at most ``share`` of all. Each may be
    left out, one must be there; all are numbers from 0 to 1. n_E counts persons where there is a person key, else rows.

    Examples
    --------
    >>> AverageRisk("0.05", highest="1/11").highest
    Fraction(1, 11)

    References
    ----------
    Dankar and El Emam, EDBT/ICDT Workshops 2010, https://doi.org/10.1145/1754239.1754271.
    """

    model: Literal["average_risk"] = "average_risk"
    threshold: Exact | None = Field(default=None, ge=0, le=1)
    """Largest mean risk."""
    highest: Exact | None = Field(default=None, gt=0, le=1)
    """Largest risk of any class."""
    share: Exact | None = Field(default=None, ge=0, le=1)
    """Largest share of units whose risk is above ``above``."""
    above: Exact | None = Field(default=None, gt=0, le=1)
    """A unit with a larger risk is at risk."""
    order: ClassVar[tuple[str, ...]] = ("threshold", "highest", "share", "above")

    if TYPE_CHECKING:

        def __init__(
            self,
            threshold: Number | None = None,
            highest: Number | None = None,
            share: Number | None = None,
            above: Number | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        found = []
        if self.threshold is None and self.highest is None and self.share is None and self.above is None:
            found.append(problem(("threshold",), "is missing; or ask for highest, or for share with above"))
        if (self.share is None) != (self.above is None):
            key, other = ("above", "share") if self.above is None else ("share", "above")
            found.append(problem((key,), f"is missing; it goes with {other}"))
        refuse(found)
        return self

    @property
    def is_void(self) -> bool:
        """Whether every bound that is asked for is 1."""
        bounds = (self.threshold, self.highest, self.share if self.above != 1 else 1)
        return all(bound in (None, 1) for bound in bounds)


class SampleUniqueness(_Threshold):
    """The share of rows that are alone in their class is at most ``threshold``, a number from 0 to 1.

    Examples
    --------
    >>> SampleUniqueness(0).threshold
    Fraction(0, 1)

    References
    ----------
    Skinner and Elliot, JRSS B 64(4), 2002, https://doi.org/10.1111/1467-9868.00365.
    """

    model: Literal["sample_uniqueness"] = "sample_uniqueness"

    if TYPE_CHECKING:

        def __init__(self, threshold: Number) -> None: ...


class PopulationUniqueness(_Threshold):
    """The share of a population that is estimated to be unique is at most ``threshold``, a number from 0 to 1.

    ``population_size``: whole number, at least the rows of the table (which is not checked here); ``estimator``:
    ``pitman``, ``zayatz``, ``snb`` or ``dankar``.

    Examples
    --------
    >>> PopulationUniqueness("0.01", population_size=80_000_000).estimator
    'dankar'

    References
    ----------
    Dankar, El Emam, Neisa and Roffey, BMC Med Inform Decis Mak 12:66, 2012,
    https://doi.org/10.1186/1472-6947-12-66.
    """

    model: Literal["population_uniqueness"] = "population_uniqueness"
    estimator: Literal["pitman", "zayatz", "snb", "dankar"] = "dankar"
    """How it is estimated; dankar chooses one of the others by the sampling fraction."""
    population_size: Whole = Field(ge=1)
    """Number of people of whom the table is a sample."""
    order = ("threshold", "estimator", "population_size")

    if TYPE_CHECKING:

        def __init__(self, threshold: Number, estimator: str = "dankar", *, population_size: int) -> None: ...
