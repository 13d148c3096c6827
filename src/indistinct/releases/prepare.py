"""From a table and a policy to counted frequencies: what audit, anonymize and verify have in common."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError, PolicyError, SchemaError
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.sets import refuse_token
from indistinct.hierarchies.values import look_alikes, spelling_note
from indistinct.models.numbers import missing_refused
from indistinct.notices import Notice
from indistinct.policy import resolve
from indistinct.policy.privacy import Numeric
from indistinct.releases.lacking import as_it_stands
from indistinct.releases.population import population_of, require_sample
from indistinct.releases.readable import require_readable
from indistinct.tables.apply import load_columns
from indistinct.tables.columnar import is_text
from indistinct.tables.count import Counted, count, silent
from indistinct.tables.source import TableOptions, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy, Roles
    from indistinct.releases.population import PopulationTable
    from indistinct.tables.count import Progress
    from indistinct.tables.published import PublishedColumn
    from indistinct.tables.records import Frequencies, Reference
    from indistinct.tables.source import Source

    Bind = Callable[[str, Sequence[str | None]], Hierarchy]

NEAR_UNIQUE_ROWS = 100
NEAR_UNIQUE_SHARE = 0.05
LOOK_ALIKES_SHOWN = 5


@dataclass(frozen=True)
class Prepared:
    """A table, read and counted under a policy.

    ``carried`` holds the columns that are published as they are, one code per row. ``population`` is the table that
    models ask for.
    """

    source: Source
    policy: Policy
    roles: Roles
    counted: Counted
    carried: Mapping[str, PublishedColumn] = field(default_factory=dict, repr=False)
    notices: tuple[Notice, ...] = ()
    population: PopulationTable | None = None

    @property
    def rows(self) -> int:
        """Number of rows of the source, those included that are left out for a missing sensitive value."""
        return self.counted.frequencies.total + self.counted.left_out


def options_of(policy: Policy, **overrides: Any) -> TableOptions:
    """Take the reading options from the ``[table]`` section of a policy."""
    table = policy.table
    chosen = {
        "delimiter": table.delimiter,
        "encoding": table.encoding,
        "missing": tuple(table.missing),
        "decimal": table.decimal,
        "trim": table.trim,
        "max_line_bytes": table.max_line_bytes,
    }
    return TableOptions(**{**chosen, **{key: value for key, value in overrides.items() if value is not None}})


def modelled(policy: Policy) -> tuple[str, ...]:
    """Attributes that are counted beside the quasi-identifiers, in policy order.

    Those that some model looks at, and the target of the recoding, last where the policy does not name it.
    """
    target = policy.recoding.target
    used = {name for model in policy.privacy for name in model.attributes_used} | {target}
    named = tuple(name for name in policy.attributes if name in used)
    return named if target is None or target in named else (*named, target)


def reading_of(policy: Policy, source: Source, name: str) -> dict[str, Any]:
    """Say how the texts of a column are read: ``type``, ``format``, ``order`` and ``decimal``.

    How a policy says dates and numbers are written concerns text columns. A column that holds dates or numbers already
    has them in canonical spelling, so one policy serves a CSV file and the frame made from it.
    """
    attribute = policy.attributes[name]
    is_written = is_text(source.types[name])
    return {
        "type": attribute.type,
        "format": attribute.format if is_written else None,
        "order": attribute.order,
        "decimal": policy.table.decimal if is_written else ".",
    }


def binder(
    policy: Policy,
    source: Source,
    notices: list[Notice],
    *,
    quasi: Sequence[str] = (),
    quasi_as_text: bool = False,
    references: Mapping[str, Reference] | None = None,
) -> Bind:
    """Return the function that gives a column's distinct texts their order and their hierarchy.

    Notices show values of the columns in ``quasi`` only: they are kept, and sensitive values would be with them. With
    ``quasi_as_text`` these columns are taken as they stand, once every cell can be read: an audit judges the labels of
    a table, whatever they mean.
    Columns with a reference from another table take over its values; others than those are an error.
    """
    ordered = {
        m.attribute for m in policy.privacy if m.model in ("t_closeness", "n_t_closeness") and m.distance == "ordered"
    }
    numeric = {m.attribute for m in policy.privacy if isinstance(m, Numeric)}

    def bind(name: str, texts: Sequence[str | None]) -> Hierarchy:
        attribute = policy.attributes.get(name)
        if groups := look_alikes(texts):
            notices.append(_look_alike(name, groups, show=name in quasi))
        if attribute is not None and quasi_as_text and name in quasi:
            require_readable(policy, name, texts, reading_of(policy, source, name))
        if attribute is None or (quasi_as_text and name in quasi):
            return build_hierarchy(name, texts, spec=None)
        if name in ordered and None in texts and attribute.missing is None:
            raise DataError(
                f'"{name}" has missing values, which have no place in an ordered distance; '
                f'say missing = "drop", "first" or "last" under [attributes.{name}]',
                column=name,
            )
        if name in numeric and None in texts and attribute.missing != "drop":
            raise missing_refused(name)
        if references is not None and name in references:
            _refuse_unknown(name, texts, references[name])
            return references[name].hierarchy
        hierarchy = build_hierarchy(
            name,
            texts,
            spec=None if name in policy.item_columns else attribute.spec,  # that is the tree of its items
            **reading_of(policy, source, name),
            domain=attribute.domain,
            weight=attribute.weight,
            min_level=attribute.min_level,
            max_level=attribute.max_level,
            base=policy.base,
        )
        if hierarchy.sets is not None:
            refuse_token(name, hierarchy.texts, policy.output.suppressed_token)
        if hierarchy.spellings:
            others = len(hierarchy.spellings)
            message = f'"{name}" has numbers that are spelled in several ways (beside those published: {others})'
            shown = spelling_note(name, hierarchy.spellings) if name in quasi else message
            notices.append(Notice("spelling", name, shown))
        return hierarchy

    return bind


def _look_alike(name: str, groups: Sequence[tuple[str, ...]], *, show: bool) -> Notice:
    """Say that values differ only by blanks, case or composed characters; which, of the first groups if shown."""
    shown = [", ".join(map(repr, group)) for group in groups[:LOOK_ALIKES_SHOWN]] if show else []
    more = len(groups) - len(shown)
    count = f"{more} more groups of them" if shown else f"{sum(map(len, groups))} of them"
    which = "; ".join([*shown, *([count] if more else [])])
    return Notice(
        "look-alike",
        name,
        f'"{name}" holds values that differ only by blanks or case ({which}); they are different values; '
        '[table] trim = "cells" or a clean-up before would join them',
    )


def kept_identifying(roles: Roles) -> tuple[str, ...]:
    """Identifying columns of which a mask or a pseudonym is published."""
    return tuple(name for name in roles.identifying if roles.attributes[name].action in ("mask", "pseudonym"))


def _refuse_unknown(name: str, texts: Sequence[str | None], reference: Reference) -> None:
    known = reference.hierarchy.codes()
    strange = sum(text not in known for text in texts)
    if strange:
        raise DataError(
            f'{strange} values of "{name}" do not occur in the reference table; is it the original?',
            column=name,
        )


def reference_counts(table: Any, policy: Policy, names: Sequence[str]) -> dict[str, Reference]:
    """Count sensitive attributes of another table: the distribution that models compare with."""
    source = open_source(table, options_of(policy))
    for name in names:
        if name not in source.columns:
            raise SchemaError.unknown_column(name, source.columns, file=source.name)
    counted = count(source, [], list(names), binder(policy, source, []))
    return dict(counted.frequencies.references)


def prepare(
    table: Any,
    policy: Policy,
    *,
    for_audit: bool = False,
    reference: Any = None,
    carry: bool = True,
    only_quasi: bool = False,
    keep_rows: bool = False,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Read and count a table as a policy says.

    With ``for_audit`` quasi-identifiers are taken as they stand and every sensitive attribute is counted; otherwise
    hierarchies are built and only the attributes that models look at are counted. ``reference`` is another table that
    the reference distributions are taken from. ``carry`` loads the columns that are published as they are, and
    remembers the cell of each row where publishing needs it.
    ``only_quasi`` counts no sensitive attribute; ``keep_rows`` remembers the cell of each row in any case.

    Raises SchemaError, DataError and HierarchyError with the place.
    """
    source = open_source(table, options_of(policy, query=query, table=sql_table))
    notices: list[Notice] = list(source.warnings)
    if for_audit:
        policy = as_it_stands(policy, source.columns, notices, only_quasi=only_quasi)
    roles = resolve(policy, source.columns)
    notices += roles.notices
    quasi = roles.quasi
    sensitive = () if only_quasi else tuple(roles.sensitive) if for_audit else modelled(policy)
    if not quasi:
        raise SchemaError("no column is quasi-identifying: say by which columns a person could be recognised")
    carried_names = [
        name for name in source.columns if name in (*roles.insensitive, *roles.sensitive) and name not in sensitive
    ]
    if not for_audit:
        _check_target(policy, roles, source)
    references = None if reference is None else reference_counts(reference, policy, sensitive)
    bind = binder(policy, source, notices, quasi=quasi, quasi_as_text=for_audit, references=references)
    population = population_of(policy, quasi, options_of(policy))
    if population is not None and not for_audit:
        bind = population.widened(bind, quasi)
    in_order = policy.output.order == "kept"
    with ThreadPoolExecutor(1) as other:  # columns that are not counted are read meanwhile
        loading = other.submit(load_columns, source, carried_names) if carry and carried_names else None
        counted = count(
            source,
            quasi,
            sensitive,
            bind,
            person=roles.person,
            leave_out=[name for name in sensitive if roles.attributes[name].missing == "drop"],
            keep_rows=keep_rows or (carry and bool(carried_names or kept_identifying(roles) or in_order)),
            progress=progress,
        )
        carried = {} if loading is None else loading.result()
    if references is not None:
        counted = replace(counted, frequencies=replace(counted.frequencies, references=references))
    counted = replace(counted, frequencies=_placed_missing(counted.frequencies, policy))
    if not for_audit:
        counted = replace(counted, frequencies=_with_population(counted.frequencies, policy, population))
    return Prepared(source, policy, roles, counted, carried, tuple(notices), population)


def _with_population(frequencies: Frequencies, policy: Policy, population: PopulationTable | None) -> Frequencies:
    """Add what models ask for beside the counts: the population, and what the cells of classes cover."""
    detailed = any(model.model == "profitability" and model.attack for model in policy.privacy)
    members = None if population is None else population.coded(frequencies.quasi)
    nested = any(model.model == "n_t_closeness" for model in policy.privacy)
    found = replace(frequencies, population=members, detailed=detailed, nested=nested)
    if population is not None:
        require_sample(found, population.name)
    return found


def _check_target(policy: Policy, roles: Roles, source: Source) -> None:
    """Refuse a target of the recoding that the table lacks or that is not published as it is."""
    target = policy.recoding.target
    if target is None:
        return
    if target not in source.columns:
        raise SchemaError.unknown_column(target, source.columns, key="recoding.target")
    if target not in (*roles.sensitive, *roles.insensitive):
        raise PolicyError(
            f'recoding.target names "{target}", which is {roles.attributes[target].role}; name a column that is '
            "published as it is, sensitive or insensitive",
            key="recoding.target",
        )


def _placed_missing(frequencies: Frequencies, policy: Policy) -> Frequencies:
    """Say where in its order a missing sensitive value stands, as the policy decides."""
    references = {
        name: replace(reference, missing_at=_place_of_missing(policy, name))
        for name, reference in frequencies.references.items()
    }
    return replace(frequencies, references=references)


def _place_of_missing(policy: Policy, name: str) -> str:
    attribute = policy.attributes.get(name)
    return attribute.missing if attribute is not None and attribute.missing in ("first", "last") else ""


def near_unique(prepared: Prepared) -> list[Notice]:
    """Name the insensitive columns of which more than 5 % of the rows hold a value that occurs once.

    Columns that the policy confirms are left out.
    """
    held = {name: (_rows_of_codes(column.codes), len(column)) for name, column in prepared.carried.items()}
    held |= {  # a target is counted, not carried
        name: (reference.counts, reference.total) for name, reference in prepared.counted.frequencies.references.items()
    }
    return [
        Notice(
            "near-unique",
            name,
            f'{once} of {rows} rows hold a value of "{name}" that occurs once: published unchanged, it can identify '
            "them; drop it, make it quasi-identifying, or say confirmed = true under "
            f"[attributes.{name}] when nobody outside can know it",
        )
        for name, (counts, rows) in held.items()
        if name in prepared.roles.unconfirmed and (once := int((counts == 1).sum())) > NEAR_UNIQUE_SHARE * rows
    ]


def refuse_near_unique(prepared: Prepared) -> list[Notice]:
    """Refuse nearly unique insensitive columns in a table of more than 100 rows; in a smaller one they are a warning.

    In few rows most values occur once, whatever the column is. Raises SchemaError.
    """
    found = near_unique(prepared)
    if found and prepared.rows > NEAR_UNIQUE_ROWS:
        raise SchemaError(found[0].message, column=str(found[0].column))
    return found


def _rows_of_codes(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.bincount(codes[codes >= 0], minlength=1).astype(np.int64)
