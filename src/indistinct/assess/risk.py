"""What an attacker gains from a table, by all measures of ``risk``, before and after."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from indistinct.assess.audit import starred_tuples
from indistinct.assess.stars import read_stars
from indistinct.errors import DataError, PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.notices import Notice, Sentence
from indistinct.policy import given_or_flags
from indistinct.policy.parameters import exact
from indistinct.risk.class_sizes import class_sizes
from indistinct.risk.column_ranking import column_ranking
from indistinct.risk.figure import plain
from indistinct.risk.household import household as household_figure
from indistinct.risk.individual import individual
from indistinct.risk.journalist import journalist
from indistinct.risk.marketer import marketer
from indistinct.risk.population_uniqueness import population_uniqueness
from indistinct.risk.prosecutor import prosecutor
from indistinct.risk.regions import population_of
from indistinct.risk.sample_uniqueness import sample_uniqueness
from indistinct.risk.suda2 import dis_suda, special_uniques
from indistinct.sentences.results import as_html
from indistinct.sentences.risk import risk_table, risk_text
from indistinct.session.prepare import options_of, prepare
from indistinct.session.verdicts import unit_of
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.count import count, silent, translation
from indistinct.tables.row_questions import column_codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.policy import GivenPolicy, Policy, Reading
    from indistinct.risk.figure import Figure
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

THRESHOLD = "0.2"


@dataclass(frozen=True)
class Risk:
    """The answer of ``risk``: ``document`` is the JSON document of the contract.

    ``rows`` is an Arrow table with the risk of each row (1-based, in the order of the table), if it was asked for.
    It is for the steward: it says who is in danger.
    """

    document: dict[str, Any]
    rows: Any = field(default=None, repr=False)

    @property
    def measures(self) -> dict[str, dict[str, Any]]:
        """The figures of the table by name."""
        return {entry["measure"]: entry for entry in self.document["measures"]}

    @property
    def published(self) -> dict[str, dict[str, Any]]:
        """The figures of the published table by name; empty without one."""
        return {entry["measure"]: entry for entry in (self.document["published"] or {"measures": []})["measures"]}

    def __repr__(self) -> str:
        """Write the figures with their sentences."""
        return risk_text(self.document)

    def _repr_html_(self) -> str:
        return risk_table(self.document) + as_html(risk_text(self.document))


@dataclass(frozen=True)
class _Request:
    """What to measure beside the measures that are always there."""

    threshold: Fraction
    population: Any = None
    population_size: int | None = None
    weights: str | None = None
    household: str | None = None
    suda: int | None = None
    rows: bool = False
    stars: str | None = None
    sampling_fraction: Fraction | None = None
    rank: int | None = None


def risk(
    table: Any,
    policy: GivenPolicy | None = None,
    *,
    threshold: Any = THRESHOLD,
    population: Any = None,
    population_size: int | None = None,
    region: str | None = None,
    weights: str | None = None,
    household: str | None = None,
    suda: int | None = None,
    sampling_fraction: Any = None,
    stars: str | None = None,
    rank: int | None = None,
    rows: bool = False,
    published: Any = None,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
    **flags: Unpack[Reading],
) -> Risk:
    """Measure the risk of re-identification of a table as it stands.

    The roles come from ``policy``, or from flags in its place (``qi``, ``person``, ...; ``policy.Reading``). Rows whose
    quasi-identifiers are all the suppression token are left out. ``threshold``: a risk above it is "at risk" (exact;
    default 1/5). ``population``: a table of the whole population, written like the table (journalist risk).
    ``population_size`` or ``region``: how many people the table is a sample of (estimates). ``weights``: the column of
    sampling weights (individual risk). ``household``: the column that says who lives together. ``suda``: find special
    uniques of up to so many columns. ``published``: measure this table too, side by side; the same columns are taken,
    but for a population, which is written like the first table. Definitions: ``indistinct.risk`` and docs/risk.md.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, or flags in its place.
    threshold
        A risk above it is at risk; exact.
    population
        A table of the whole population, for the journalist's risk.
    population_size, region
        How many people the table is a sample of.
    weights
        The column of sampling weights, for the individual risk.
    household
        The column that says who lives together.
    suda
        Columns of special uniques, at most.
    sampling_fraction
        Share of the population that is in the table, for DIS-SUDA; by default rows / ``population_size``.
    stars
        How the suppression token in one cell is read: "wildcard", as any value, or "value", as one of its own. By
        default as any value where a row has some.
    rank
        Columns of a set, at most, where sets of quasi-identifiers are ranked by distinction and separation.
    rows
        Whether every row gets its risks.
    published
        A table to measure too, side by side.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    progress
        Called with what is being done, and how far it is.
    **flags
        How columns are read, as in ``policy.Reading``.

    Returns
    -------
    Risk
        Each measure with its definition and a sentence.

    Raises
    ------
    PolicyError, SchemaError, DataError
        For what cannot be measured; PolicyError for flags beside a policy.

    Examples
    --------
    >>> import pyarrow as pa
    >>> answer = risk(pa.table({"zip": ["1", "1", "2"]}), qi=["zip"])
    >>> answer.measures["prosecutor"]["sentence"]  # doctest: +ELLIPSIS
    '1 row (33.3 %) is the only one of its kind: who knows their quasi-identifiers finds them for sure; 3 of 3 rows ...'
    """
    policy = given_or_flags(policy, flags)
    limit = _threshold(threshold)
    notices: list[Notice] = []
    if region is not None:
        if population_size is not None:
            raise PolicyError("give population_size or region, not both")
        population_size, about = population_of(region)
        message = Sentence(
            "{region} is taken to have {n} people ({about})", region=region, n=population_size, about=about
        )
        notices.append(Notice("population", None, message))
    fraction = None if sampling_fraction is None else _fraction(sampling_fraction)
    if fraction is not None and suda is None:
        raise PolicyError("a sampling fraction is for special uniques; ask for them with suda", key="sampling_fraction")
    request = _Request(limit, population, population_size, weights, household, suda, rows, stars, fraction, rank)
    before = _measure(table, policy, request, query=query, sql_table=sql_table, progress=progress)
    after, groups = None, []
    if published is not None:
        if policy.person is not None:
            message = Sentence(
                "the published table does not tell whose a row is: its risks count rows, and are higher where a person "
                "has several"
            )
            notices.append(Notice("persons", None, message))
        after = _measure(published, policy, _for_published(request, published, policy, notices), progress=progress)
        groups = [notice for notice in after.notices if notice.kind == "groups"]
    document = {
        **before.document,
        "threshold": plain(limit),
        "published": None if after is None else after.document,
        "warnings": [notice.document() for notice in (*before.notices, *groups, *notices)],
    }
    return Risk(document, before.rows)


def is_above(answer: Risk, limit: Any) -> bool:
    """Whether the highest prosecutor risk, of the published table where there is one, is above a limit. Exact.

    Where stars are read as any value, the rows that a row is sure to fit count here: the other sizes are upper ends.

    Raises PolicyError for a limit that is no risk.
    """
    measured = answer.document["published"] or answer.document
    (entry,) = (entry for entry in measured["measures"] if entry["measure"] == "prosecutor")
    sure = (measured["stars"] or {}).get("smallest_sure")
    highest = Fraction(entry["highest"]["fraction"]) if sure is None else Fraction(1, sure)
    return highest > _threshold(limit)


def _threshold(value: Any) -> Fraction:
    try:
        limit = Fraction(exact(value))
    except ValueError:
        limit = Fraction(-1)
    if not 0 <= limit <= 1:
        raise PolicyError(f"the threshold {value} is no risk; give a number from 0 to 1, such as 0.2 or 1/3")
    return limit


def _fraction(value: Any) -> Fraction:
    try:
        return Fraction(exact(value))
    except ValueError:
        message = f"the sampling fraction {value} is no number; write it as 0.01 or 1/100"
        raise PolicyError(message, key="sampling_fraction") from None


def _for_published(request: _Request, published: Any, policy: Policy, notices: list[Notice]) -> _Request:
    """Take what can be measured on the published table: it may lack columns, and is written differently."""
    columns = open_source(published, options_of(policy)).columns
    absent = [name for name in (request.weights, request.household) if name is not None and name not in columns]
    for name in absent:
        message = Sentence('the published table has no column "{name}"; what needs it is absent', name=name)
        notices.append(Notice("published", name, message))
    if request.population is not None:
        message = Sentence(
            "journalist risk is measured before only: the population is not written like the published table; "
            "recode it by the same rules and measure the published table on its own"
        )
        notices.append(Notice("published", None, message))
    weights, household = (name if name in columns else None for name in (request.weights, request.household))
    return replace(request, population=None, weights=weights, household=household, rows=False)


@dataclass(frozen=True)
class _Measured:
    document: dict[str, Any]
    notices: tuple[Notice, ...]
    rows: Any = None


def _measure(
    table: Any,
    policy: Policy,
    request: _Request,
    *,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress,
) -> _Measured:
    by_row = request.rows or request.weights is not None or request.household is not None
    prepared = prepare(
        table,
        policy,
        for_audit=True,
        carry=False,
        only_quasi=True,
        keep_rows=by_row,
        query=query,
        sql_table=sql_table,
        progress=progress,
    )
    frequencies, source = prepared.counted.frequencies, prepared.source
    starred = starred_tuples(frequencies, policy.output.suppressed_token)
    published = np.ones(len(frequencies.tuples), np.bool_) if starred is None else ~starred
    classes = classes_of(frequencies, whole_tuples(frequencies, starred))
    if not len(classes):
        raise DataError("every row is fully suppressed: there is no risk to measure")
    progress("judge", 0, 1)
    rows, sizes = classes.rows, classes.sizes
    stars = read_stars(frequencies, policy.output.suppressed_token, published, classes, request.stars)
    fit = stars.sizes
    unit = "rows" if classes.persons is None else "persons"
    people = None if request.population is None else _population(request.population, prepared)[published]
    figures = [prosecutor(rows, fit, request.threshold, unit)]
    figures += [] if people is None else [journalist(rows, sizes, people, request.threshold)]
    figures += [marketer(rows, fit, people, request.threshold), sample_uniqueness(rows, fit)]
    if request.population_size is not None:
        figures += population_uniqueness(sizes, request.population_size)
    weight = _weights(prepared, request, published, rows)
    if weight is not None:
        figures.append(individual(rows, weight, request.threshold, of_weights=request.weights is not None))
    columns: dict[str, Any] = {}
    if by_row:
        columns = _by_row(prepared, published, figures, fit)
    if request.household is not None:
        figures.append(_household(source, request, columns))
    figures += [] if request.suda is None else [_suda(prepared, request, published, columns)]
    figures += [] if request.rank is None else [column_ranking(frequencies, request.rank, published)]
    progress("judge", 1, 1)
    hidden = 0 if starred is None else int(frequencies.tuple_rows[starred].sum())
    document = {
        "rows": prepared.rows,
        "suppressed_rows": hidden,
        "classes": len(classes),
        **unit_of(frequencies),
        "stars": stars.document,
        "measures": [figure.document() for figure in figures],
        "class_sizes": class_sizes(rows, fit),
    }
    return _Measured(document, prepared.notices, _table(columns) if request.rows else None)


def _population(population: Any, prepared: Prepared) -> Int64:
    """Count the people of a population table in each quasi-identifier tuple of the table; int64[u]."""
    frequencies, policy = prepared.counted.frequencies, prepared.policy
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    source = open_source(population, options_of(policy))
    for name in names:
        if name not in source.columns:
            raise SchemaError.unknown_column(name, source.columns, file=source.name)
    person = prepared.roles.person if prepared.roles.person in source.columns else None
    from indistinct.hierarchies import build_hierarchy

    counted_people = count(
        source, names, [], lambda name, texts: build_hierarchy(name, texts, spec=None), person=person
    )
    people = counted_people.frequencies
    own = np.column_stack(
        [
            translation(theirs.texts, ours)[people.tuples[:, position]]
            for position, (theirs, ours) in enumerate(zip(people.quasi, frequencies.quasi, strict=True))
        ]
    )
    sizes = classes_of(people, whole_tuples(people)).sizes
    known = (own >= 0).all(axis=1)
    both = np.concatenate([frequencies.tuples, own[known]])
    _, group = np.unique(both, axis=0, return_inverse=True)
    group = group.reshape(-1)
    total = np.bincount(group[len(frequencies.tuples) :], sizes[known], int(group.max()) + 1)
    return total[group[: len(frequencies.tuples)]].astype(np.int64)


def _weights(prepared: Prepared, request: _Request, published: NDArray[np.bool_], rows: Int64) -> Float64 | None:
    """Sum of the sampling weights of each class; without a column, the population shared out evenly."""
    total = int(rows.sum())
    if request.weights is not None:
        if request.population_size is not None:
            raise PolicyError("weights say how large the population is; give weights or population_size, not both")
        own = _numbers(prepared.source, request.weights, prepared.policy.table.decimal)
        cells = prepared.counted.cell_of_row
        assert cells is not None  # noqa: S101  # kept for this purpose
        tuples = prepared.counted.frequencies.tuple_of[cells]
        return np.bincount(tuples, own, len(published)).astype(np.float64)[published]
    if request.population_size is None:
        return None
    if request.population_size < total:
        raise PolicyError(f"the table has {total} rows, more than the population of {request.population_size} people")
    return rows.astype(np.float64) * (request.population_size / total)


def _numbers(source: Source, name: str, decimal: str) -> Float64:
    """Read a column of numbers, one for each row."""
    texts, codes = column_codes(source, name)
    values = np.full(len(texts), np.nan)
    for position, text in enumerate(texts):
        try:
            values[position] = float((text or "").replace(decimal, "."))
        except ValueError:
            continue
    found: Float64 = values[codes]
    wrong = int((~np.isfinite(found)).sum())
    if wrong:
        raise DataError(f'{wrong} of {len(found)} rows have no number in "{name}"; every row needs one', column=name)
    return found


def _by_row(prepared: Prepared, published: NDArray[np.bool_], figures: list[Figure], sizes: Int64) -> dict[str, Any]:
    """Risk of every row by every measure that has one; NaN for suppressed rows."""
    cells = prepared.counted.cell_of_row
    assert cells is not None  # noqa: S101  # kept for this purpose
    class_of_tuple = np.where(published, np.cumsum(published) - 1, len(sizes))
    class_of_row = class_of_tuple[prepared.counted.frequencies.tuple_of[cells]]
    columns: dict[str, Any] = {"class_size": np.append(sizes, 0)[class_of_row]}
    for figure in figures:
        if figure.per_class is not None and figure.measure != "sample_uniqueness":
            columns[figure.measure] = np.append(figure.per_class, np.nan)[class_of_row]
    return columns


def _household(source: Source, request: _Request, columns: dict[str, Any]) -> Figure:
    """Risk of households: from the individual risk where there is one, else journalist, else prosecutor."""
    assert request.household is not None  # noqa: S101  # asked for
    basis = next(name for name in ("individual", "journalist", "prosecutor") if name in columns)
    texts, codes = column_codes(source, request.household)
    if None in texts:
        lost = int((codes == texts.index(None)).sum())
        message = f'{lost} of {len(codes)} rows have no value in "{request.household}"; every row needs a household'
        raise DataError(message, column=request.household)
    figure, of_household = household_figure(np.nan_to_num(columns[basis]), codes, len(texts), request.threshold, basis)
    columns["household"] = of_household[codes]
    return figure


def _suda(prepared: Prepared, request: _Request, published: NDArray[np.bool_], columns: dict[str, Any]) -> Figure:
    """Special uniques among the rows that are not fully suppressed."""
    assert request.suda is not None  # noqa: S101  # asked for
    if request.suda < 1:
        raise PolicyError(f"special uniques of up to {request.suda} columns are none; ask for 1 or more, 3 is usual")
    fraction = request.sampling_fraction
    if fraction is None and request.population_size is not None:
        fraction = Fraction(prepared.rows, request.population_size)
    figure = special_uniques(prepared.counted.frequencies, request.suda, published, fraction)
    if columns and prepared.counted.cell_of_row is not None and figure.per_class is not None:
        scores = np.zeros(len(published), np.int64)
        scores[published] = figure.per_class
        if fraction is not None:
            counts = prepared.counted.frequencies.tuple_rows[published]
            attributes = prepared.counted.frequencies.tuples.shape[1]
            scaled = np.zeros(len(published))
            scaled[published] = dis_suda(figure.per_class, counts, attributes, fraction).scores
            columns["dis_suda"] = scaled[prepared.counted.frequencies.tuple_of[prepared.counted.cell_of_row]]
        columns["suda_score"] = scores[prepared.counted.frequencies.tuple_of[prepared.counted.cell_of_row]]
    return figure


def _table(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    rows = len(next(iter(columns.values())))
    arrays = {name: pa.array(values, mask=np.isnan(values)) for name, values in columns.items()}
    return pa.table({"row": pa.array(np.arange(1, rows + 1)), **arrays})
