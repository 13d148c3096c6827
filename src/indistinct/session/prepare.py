"""From a table and a policy to counted frequencies: what audit, anonymize and verify have in common."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, PolicyError, SchemaError, UnsupportedError
from indistinct.formats.columnar import is_text
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.sets import refuse_token
from indistinct.hierarchies.values import PARTIAL, ZONED, look_alikes, spelling_note
from indistinct.models import record_of
from indistinct.models.numbers import missing_refused
from indistinct.notices import Notice, Sentence
from indistinct.policy import resolve
from indistinct.policy.privacy import Distant, Numeric
from indistinct.policy.recoding import option
from indistinct.session.absent_columns import as_it_stands
from indistinct.session.missing_tokens import check_tokens
from indistinct.session.population import population_of, require_sample
from indistinct.session.readable import require_readable
from indistinct.tables.count import Counted, silent
from indistinct.tables.engine import Request
from indistinct.tables.local import LOCAL
from indistinct.tables.published import PublishedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indistinct.formats.source import Source
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy, Roles
    from indistinct.session.population import PopulationTable
    from indistinct.tables.count import Progress
    from indistinct.tables.engine import Engine
    from indistinct.tables.records import Frequencies, Reference

    Bind = Callable[[str, Sequence[str | None]], Hierarchy]

NEAR_UNIQUE_ROWS = 100
NEAR_UNIQUE_SHARE = 0.05
LOOK_ALIKES_SHOWN = 5


@dataclass(frozen=True)
class Prepared:
    """A table, read and counted under a policy.

    ``population`` is the table that models ask for; ``engine`` is what keeps its rows.
    """

    source: Source
    policy: Policy
    roles: Roles
    counted: Counted
    notices: tuple[Notice, ...] = ()
    population: PopulationTable | None = None
    engine: Engine = LOCAL

    @property
    def carried(self) -> Mapping[str, PublishedColumn]:
        """The columns that are published as they are and lie here, one code per row."""
        return {name: own for name, own in self.counted.carried.items() if isinstance(own, PublishedColumn)}

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
        "missing_values": {name: own.missing_values for name, own in policy.attributes.items() if own.missing_values},
        "decimal": table.decimal,
        "trim": table.trim,
        "max_line_bytes": table.max_line_bytes,
    }
    return TableOptions(**{**chosen, **{key: value for key, value in overrides.items() if value is not None}})


def source_options(policy: Policy, **overrides: Any) -> TableOptions:
    """Take the options of the source itself, its sheet and header row among them."""
    return replace(options_of(policy, **overrides), sheet=policy.table.sheet, header_row=policy.table.header_row)


def modelled(policy: Policy) -> tuple[str, ...]:
    """Attributes that are counted beside the quasi-identifiers, in policy order.

    Those that some model looks at, and the target of the recoding, last where the policy does not name it.
    """
    target = option(policy.recoding, "target")
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
    _refuse_clock(name, attribute.type, source.types[name])
    zone = getattr(source.types[name], "tz", None)
    return {
        "type": attribute.type,
        "format": (PARTIAL if attribute.partial else attribute.format)
        if is_written
        else None
        if zone is None
        else ZONED,
        "order": attribute.order,
        "decimal": policy.table.decimal if is_written else ".",
    }


def _refuse_clock(name: str, type: str, kind: Any) -> None:
    """Raise UnsupportedError for durations and times of day that are to be read as numbers or dates."""
    what = str(kind)
    if type not in ("integer", "decimal", "date") or not what.startswith(("duration", "time32", "time64")):
        return
    units = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
    unit = units[what[what.index("[") + 1 : -1]]
    if what.startswith("duration"):
        holds = f"durations in {unit} ({what})"
        remedy = "turn them into numbers of the unit that is meant, such as days"
    else:
        holds = f"times of day ({what})"
        remedy = "turn them into numbers, such as hours or minutes since midnight"
    raise UnsupportedError(f'"{name}" is declared {type}, but holds {holds}; {remedy}', column=name)


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
    ``quasi_as_text`` these columns are taken as they stand, if every cell can be read: an audit judges the labels of a
    table, whatever they mean.
    Columns with a reference from another table take over its values; others than those are an error.
    """
    ordered = {m.attribute for m in policy.privacy if isinstance(m, Distant) and m.distance == "ordered"}
    numeric = {m.attribute for m in policy.privacy if isinstance(m, Numeric)}

    def bind(name: str, texts: Sequence[str | None]) -> Hierarchy:
        attribute = policy.attributes.get(name)
        if groups := look_alikes(texts):
            notices.append(_look_alike(name, groups, show=name in quasi))
        notices.extend(check_tokens(policy, source, name, texts))
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
            domain=attribute.ends,
            weight=attribute.weight,
            min_level=attribute.min_level,
            max_level=attribute.max_level,
            floors=attribute.role == "quasi_identifying",
            base=policy.base,
        )
        spec = attribute.spec or {}
        if name in quasi and spec.get("kind") == "masking" and "fill" not in spec and (uneven := _unequal(name, texts)):
            notices.append(uneven)
        refuse_token(hierarchy, policy.output.suppressed_token)
        if hierarchy.spellings:
            notices.append(_spelled(name, hierarchy.spellings, show=name in quasi))
        return hierarchy

    return bind


def _spelled(name: str, spellings: Mapping[str, str], *, show: bool) -> Notice:
    """Say that numbers are spelled in several ways; which, if shown."""
    unshown = Sentence(
        '"{name}" has numbers that are spelled in several ways (beside those published: {n})',
        name=name,
        n=len(spellings),
    )
    return Notice("spelling", name, spelling_note(name, spellings) if show else unshown)


def _look_alike(name: str, groups: Sequence[tuple[str, ...]], *, show: bool) -> Notice:
    """Say that values differ only by blanks, case or composed characters; which, of the first groups if shown."""
    shown = [", ".join(map(_shown, group)) for group in groups[:LOOK_ALIKES_SHOWN]] if show else []
    more = len(groups) - len(shown)
    which: str = "; ".join(shown)
    if not shown:
        which = Sentence("{n} of them", n=sum(map(len, groups)))
    elif more:
        which = Sentence("{which}; {n} more groups of them", which=which, n=more)
    kinds = {text: unicodedata.normalize("NFC", text) for group in groups for text in group}
    composed = len(set(kinds.values())) < len(kinds)
    otherwise = any(len({kinds[text] for text in group}) > 1 for group in groups)
    trimmed = all(len({text.strip() for text in group}) == 1 for group in groups)
    what = (
        Sentence(
            "blanks, case or composed characters, which normalizing to Unicode NFC and a clean-up before would join"
        )
        if composed and otherwise
        else Sentence("composed and decomposed characters, which normalizing to Unicode NFC before would join")
        if composed
        else Sentence('blanks at their ends, which [table] trim = "cells" would join')
        if trimmed
        else Sentence("blanks or case, which a clean-up before would join")
    )
    message = Sentence(
        '"{name}" holds values that differ only by {what}; now they differ ({which})', name=name, what=what, which=which
    )
    return Notice("look-alike", name, message)


def _unequal(name: str, texts: Sequence[str | None]) -> Notice | None:
    """Say that masked codes have several lengths, so that a code and its extension meet in the root alone."""
    lengths = Counter(len(text) for text in texts if text is not None)
    if len(lengths) < 2:
        return None
    longest = max(lengths)
    message = Sentence(
        '"{name}" is masked, and {n} of its {all} codes are shorter than {longest} characters: codes of different '
        'length meet only in "*"; fill = "longest" fills them up first, and a hierarchy of prefixes (indistinct '
        "hierarchy build --kind prefixes) keeps what they begin with",
        name=name,
        n=lengths.total() - lengths[longest],
        all=lengths.total(),
        longest=longest,
    )
    return Notice("unequal-length", name, message)


def _shown(text: str) -> str:
    """Quote a text so that a decomposed character is told from the composed one."""
    return repr(text) if unicodedata.is_normalized("NFC", text) else ascii(text)


def published_identifying(roles: Roles) -> tuple[str, ...]:
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


def reference_counts(
    table: Any, policy: Policy, names: Sequence[str], person: str | None = None, engine: Engine = LOCAL
) -> dict[str, Reference]:
    """Count sensitive attributes of another table: the distributions that models compare with, of rows and persons."""
    source = open_source(table, options_of(policy))
    for name in (*names, *([] if person is None else [person])):
        if name not in source.columns:
            raise SchemaError.unknown_column(name, source.columns, file=source.name)
    counted = engine.count(source, Request([], list(names), binder(policy, source, []), person))
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
    engine: Engine = LOCAL,
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
    source = open_source(table, source_options(policy, query=query, table=sql_table))
    notices: list[Notice] = list(source.warnings)
    if for_audit:
        policy = as_it_stands(policy, source.columns, notices, only_quasi=only_quasi)
    roles = resolve(policy, source.columns)
    notices += roles.notices
    quasi = roles.quasi
    sensitive = () if only_quasi else tuple(roles.sensitive) if for_audit else modelled(policy)
    if not quasi:
        raise SchemaError("no column is quasi-identifying: say by which columns a person could be recognised")
    carried_names = _uncounted(roles, sensitive, source.columns)
    if not for_audit:
        _check_target(policy, roles, source)
    references = None if reference is None else reference_counts(reference, policy, sensitive, roles.person, engine)
    bind = binder(policy, source, notices, quasi=quasi, quasi_as_text=for_audit, references=references)
    population = population_of(policy, quasi, options_of(policy))
    if population is not None and not for_audit:
        bind = population.widened(bind, quasi)
    in_order = policy.output.order == "kept"
    request = Request(
        quasi,
        sensitive,
        bind,
        person=roles.person,
        leave_out=[name for name in sensitive if roles.attributes[name].missing == "drop"],
        keep_rows=keep_rows or (carry and bool(carried_names or published_identifying(roles) or in_order)),
        carried=carried_names if carry else (),
    )
    counted = engine.count(source, request, progress)
    if references is not None:
        counted = replace(counted, frequencies=replace(counted.frequencies, references=references))
    counted = replace(counted, frequencies=_placed_missing(counted.frequencies, policy))
    if not for_audit:
        counted = replace(counted, frequencies=_with_population(counted.frequencies, policy, population))
    return Prepared(source, policy, roles, counted, tuple(notices), population, engine)


def uncounted(policy: Policy, roles: Roles, columns: Sequence[str]) -> list[str]:
    """Columns that are published as they are and that no model looks at."""
    return _uncounted(roles, modelled(policy), columns)


def _uncounted(roles: Roles, counted: Sequence[str], columns: Sequence[str]) -> list[str]:
    return [name for name in columns if name in (*roles.insensitive, *roles.sensitive) and name not in counted]


def _with_population(frequencies: Frequencies, policy: Policy, population: PopulationTable | None) -> Frequencies:
    """Add what models ask for beside the counts: the population, and what the cells of classes cover."""
    detailed = any(record_of(model).detailed(model) for model in policy.privacy)
    members = None if population is None else population.coded(frequencies.quasi)
    nested = any(record_of(model).nested(model) for model in policy.privacy)
    found = replace(frequencies, population=members, detailed=detailed, nested=nested)
    if population is not None:
        require_sample(found, population.name)
    return found


def _check_target(policy: Policy, roles: Roles, source: Source) -> None:
    """Refuse a target of the recoding that the table lacks or that is not published as it is."""
    target = option(policy.recoding, "target")
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
    held = {name: (column.once, len(column)) for name, column in prepared.counted.carried.items()}
    held |= {  # a target is counted, not carried
        name: (int((reference.counts == 1).sum()), reference.total)
        for name, reference in prepared.counted.frequencies.references.items()
    }
    return [
        Notice(
            "near-unique",
            name,
            Sentence(
                '{n} of {rows} rows hold a value of "{name}" that occurs once: published unchanged, it can identify '
                "them; drop it, make it quasi-identifying, or say confirmed = true under {place} when nobody outside "
                "can know it",
                n=once,
                rows=rows,
                name=name,
                place=f"[attributes.{name}]",
            ),
        )
        for name, (once, rows) in held.items()
        if name in prepared.roles.unconfirmed and once > NEAR_UNIQUE_SHARE * rows
    ]


def refuse_near_unique(prepared: Prepared) -> list[Notice]:
    """Refuse nearly unique insensitive columns in a table of more than 100 rows; in a smaller one they are a warning.

    In few rows most values occur once, whatever the column is. Raises SchemaError.
    """
    found = near_unique(prepared)
    if found and prepared.rows > NEAR_UNIQUE_ROWS:
        raise SchemaError(found[0].message, column=str(found[0].column))
    return found
