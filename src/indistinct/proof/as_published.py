"""A published release judged as it stands: by its files, by the public form of the policy, and by counts of rows.

This is what anyone can do who has no original: count classes and groups, and judge the models that look at nothing but
published rows; those that compare with the whole input where no row of it is gone, for then the file shows it. Models
by persons are judged by rows: what fails so fails by persons too, what holds does not prove it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.algorithms import form_of
from indistinct.errors import IndistinctError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.formats.source import path_of
from indistinct.models import MODELS, Context
from indistinct.policy import Attribute, Policy
from indistinct.policy.privacy import (
    AverageRisk,
    EpsIKAnonymity,
    GradedL,
    KmAnonymity,
    MInvariance,
    NTCloseness,
    PopulationUniqueness,
    SampleUniqueness,
    TCloseness,
    Tiered,
)
from indistinct.policy.public import PRIVATE
from indistinct.proof.groups import Pair, groups_of_entries, judge_both, split, whole_number
from indistinct.proof.published_file import published_options
from indistinct.session.absent_columns import range_names
from indistinct.session.item_sets import sets_of_assignment
from indistinct.session.prepare import prepare
from indistinct.session.verdicts import judge, required
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.counterfeits import COUNTERFEITS
from indistinct.tables.recount import Recount, count_source
from indistinct.tables.two_tables import GROUP, TOTALS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.proof.files import Part
    from indistinct.tables.records import Classes, Frequencies

    Int64 = NDArray[np.int64]

BY_SHARES_OF_ROWS = (AverageRisk, SampleUniqueness, PopulationUniqueness)


@dataclass(frozen=True)
class Counts:
    """Rows of the input, those left out for a missing sensitive value, and those suppressed.

    ``before``: what the public record of a transformed table says was done to it (``transformed``, ``declares``).
    """

    rows: int
    left_out_rows: int
    suppressed_rows: int
    before: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every row of the input is published."""
        return not self.left_out_rows and not self.suppressed_rows


@dataclass(frozen=True)
class AsPublished:
    """What the files show.

    ``rows``; ``sizes`` int64[.] in rows of the classes of equal published quasi-identifiers, ``starred`` rows with the
    token in all of them; ``labels`` of each quasi-identifier, with how many rows have each; ``groups`` and
    ``counterfeits`` where there are some. ``models``: an entry for each model of the policy; where the files cannot
    tell, ``achieved``, ``satisfied`` and ``reason`` are None.
    """

    rows: int
    sizes: Int64
    starred: int
    labels: dict[str, tuple[list[str | None], Int64]]
    models: list[dict[str, Any]]
    groups: int | None = None
    counterfeits: int | None = None


def as_published(tables: Sequence[Part], policy: Policy, counts: Counts) -> AsPublished:
    """Read the published tables and judge them; ``policy`` is a public form.

    Rows with the token in every quasi-identifier are no class where the policy exempts them and some are suppressed.

    Raises what reading raises, and SchemaError for a table without the columns that the policy names.
    """
    if not counts.suppressed_rows:  # then rows of tokens are a class like others
        suppression = policy.suppression.model_copy(update={"rows": "drop"})
        policy = policy.model_copy(update={"suppression": suppression})
    if len(tables) == 2 or form_of(policy) == "permuted":
        return _in_groups(tables, policy, counts)
    table = tables[0].table
    path = path_of(table)
    given = _reading(policy, open_source(table, _options(policy, path)).columns, path)
    if any(isinstance(model, MInvariance) for model in policy.privacy):
        read = _frequencies(table, given, ())
        found = count_source(open_source(table, _options(policy, path)), [GROUP, COUNTERFEITS])
        texts, codes = found.column(COUNTERFEITS)
        numbers = np.array([whole_number(text) for text in texts], np.int64)[codes]
        first = np.unique(found.column(GROUP)[1], return_index=True)[1]
        return replace(
            _counted(read, policy, [_entry(model) for model in policy.privacy]),
            groups=len(first),
            counterfeits=int(numbers[first].sum()),
        )
    wanted = _judged(policy, whole=counts.whole)
    sensitive = {name for model in wanted for name in model.attributes_used}
    try:
        read = _frequencies(table, given, sensitive)
    except IndistinctError:  # a sensitive cell cannot be read as declared: the models of none are judged
        wanted = [model for model in wanted if not model.attributes_used]
        read = _frequencies(table, given, ())
    classes = _classes(read, given, policy)
    judged = {id(model): _entry(model, given, classes, read) for model in wanted}
    return _counted(read, policy, [judged.get(id(model)) or _entry(model) for model in policy.privacy])


def _in_groups(tables: Sequence[Part], policy: Policy, counts: Counts) -> AsPublished:
    """Judge models of sensitive attributes on the groups, others on the classes of quasi-identifiers."""
    found = []
    for part in tables:
        options = replace(_options(policy, path_of(part.table)), sheet=part.sheet)
        source = open_source(part.table, options)
        found.append(count_source(source, list(source.columns)))
    attribute = next(name for model in policy.privacy for name in model.attributes_used)
    for side in found:
        if GROUP not in side.columns:
            raise SchemaError.unknown_column(GROUP, side.columns)
    if attribute not in found[-1].columns:
        raise SchemaError.unknown_column(attribute, found[-1].columns)
    pair = Pair(*found) if len(found) == 2 else split(found[0], attribute)
    _, owner, of_row, number = groups_of_entries(pair)
    values = Recount(
        (GROUP, attribute), (pair.st.column(GROUP)[0], pair.st.column(attribute)[0]),
        np.column_stack([pair.st.column(GROUP)[1], pair.st.column(attribute)[1]]), number,
    )  # fmt: skip
    wanted = _judged(policy, whole=counts.whole)
    given = _reading(policy, pair.qit.columns, None)
    rows = _frequencies(_table(pair.qit), given, ())
    own = policy.attributes.get(attribute) or Attribute(role="sensitive")
    of_groups = Policy(attributes={GROUP: Attribute(role="quasi_identifying"), attribute: _sensitive(own)})
    try:
        read = _frequencies(_table(values), of_groups, (attribute,))
        by_group = classes_of(read, whole_tuples(read, None))
        context = Context(read.references)
    except IndistinctError:
        wanted = [model for model in wanted if not model.attributes_used]
        by_group, context = _classes(rows, given, policy), Context({})
    judged = {}
    for model in wanted:
        try:
            (entry,) = judge_both(
                policy.model_copy(update={"privacy": (model,)}), by_group, _classes(rows, given, policy), context
            )
        except IndistinctError:
            continue
        judged[id(model)] = entry
    entries = []
    for model in policy.privacy:
        on = {"on": "groups" if model.attributes_used else "classes"}
        entries.append(judged.get(id(model)) or _entry(model) | on)
    return replace(_counted(rows, policy, entries), groups=len({*owner.tolist(), *of_row.tolist()}))


def _judged(policy: Policy, *, whole: bool) -> list[Any]:
    """Models of which the published rows, with a public policy, tell whether they hold."""
    by_rows = policy.person is None
    return [
        model
        for model in policy.privacy
        if _is_stated(model, policy, whole=whole) and (by_rows or not isinstance(model, BY_SHARES_OF_ROWS))
    ]


def _is_stated(model: Any, policy: Policy, *, whole: bool) -> bool:
    names = [policy.attributes.get(name) for name in model.attributes_used]
    if _is_hidden(model, names):
        return False
    if isinstance(model, Tiered):
        return _is_stated(model.holds, policy, whole=whole)
    if isinstance(model, GradedL):
        # levels of equal width lie over a domain, which may be private
        public = all(own is not None and own.public_domain for own in names)
        return not isinstance(model.levels, int) or (whole and public)
    if isinstance(model, EpsIKAnonymity) and model.epsilons is not None and len(model.epsilons) == 1:
        return True  # one eps for all intervals, wherever these end
    looks_at = MODELS[model.model].looks_at
    return looks_at == "published" or (looks_at == "input" and whole)


def _is_hidden(model: Any, names: Sequence[Attribute | None]) -> bool:
    """Whether what a model asks is not public, or is asked of a tree or of levels, which the file does not show."""
    if isinstance(model, TCloseness):
        hidden = any(own is not None and own.order is not None and PRIVATE in own.order for own in names)
        return model.distance == "hierarchical" or (model.distance == "ordered" and hidden)
    listed = any(PRIVATE in (getattr(model, name, None) or ()) for name in ("values", "Y", "W"))
    return listed or isinstance(model, NTCloseness)


def _options(policy: Policy, path: Any) -> Any:
    """Say how anyone reads a published file: its separator is found out."""
    return replace(published_options(policy, path, None), delimiter=None)


def _reading(policy: Policy, columns: Collection[str], path: Any) -> Policy:
    """Return a policy that reads a published table as it stands: labels are texts, and no row has a person."""
    options = _options(policy, path)
    ends = {new for names in range_names(policy).values() for new in names}
    attributes: dict[str, Attribute] = {}
    for name, own in policy.attributes.items():
        if own.role == "quasi_identifying":
            attributes[name] = Attribute(role="quasi_identifying", separator=own.separator)
        elif own.role == "sensitive":
            attributes[name] = _sensitive(own)
        else:
            attributes[name] = Attribute(role=own.role)
    added = (*ends, GROUP, *TOTALS, COUNTERFEITS)
    attributes |= {name: Attribute(role="insensitive") for name in added if name not in attributes and name in columns}
    if policy.person is not None:
        attributes[policy.person.key] = Attribute(role="identifying")
    attributes = {name: own for name, own in attributes.items() if name in columns}
    if not any(own.role == "quasi_identifying" for own in attributes.values()) and (
        policy.table.unlisted != "quasi_identifying"
    ):
        raise SchemaError("the published table has none of the quasi-identifiers of the policy")
    return Policy(
        attributes=attributes,
        table={
            **{key: getattr(policy.table, key) for key in ("decimal", "trim", "unlisted", "max_line_bytes")},
            "missing": options.missing,
        },
        output={"suppressed_token": policy.output.suppressed_token},
        privacy=[model for model in policy.privacy if isinstance(model, KmAnonymity)],
    )


def _sensitive(own: Attribute) -> Attribute:
    hidden = own.type == "ordinal" and (own.order is None or PRIVATE in own.order)
    placed = {} if hidden or own.missing is None else {"missing": own.missing}
    kind = {"type": "text"} if hidden else {"type": own.type, "format": own.format, "order": own.order}
    return Attribute(role="sensitive", **kind, **placed, missing_values=own.missing_values)


def _frequencies(table: Any, given: Policy, sensitive: Collection[str]) -> Frequencies:
    attributes = {
        name: own if own.role != "sensitive" or name in sensitive else Attribute(role="insensitive")
        for name, own in given.attributes.items()
    }
    attributes |= {name: Attribute(role="sensitive") for name in sensitive if name not in attributes}
    policy = given.model_copy(update={"attributes": attributes})
    return prepare(table, policy, for_audit=True, carry=False).counted.frequencies


def _starred(read: Frequencies, policy: Policy) -> NDArray[np.bool_]:
    """bool[tuples]: which hold the token in every quasi-identifier."""
    token, found = policy.output.suppressed_token, np.ones(len(read.tuples), np.bool_)
    for position, hierarchy in enumerate(read.quasi):
        found &= np.array([text == token for text in hierarchy.texts], np.bool_)[read.tuples[:, position]]
    return found


def _classes(read: Frequencies, given: Policy, policy: Policy) -> Classes:
    starred = _starred(read, policy) if policy.suppression.rows == "exempt" else None
    assignment = whole_tuples(read, starred if starred is not None and starred.any() else None)
    return replace(classes_of(read, assignment), sets=sets_of_assignment(given, read, assignment))


def _counted(read: Frequencies, policy: Policy, entries: list[dict[str, Any]]) -> AsPublished:
    starred = _starred(read, policy)
    published = ~starred if policy.suppression.rows == "exempt" else np.ones(len(starred), np.bool_)
    labels = {}
    for position, hierarchy in enumerate(read.quasi):
        rows = np.bincount(read.tuples[:, position], read.tuple_rows, hierarchy.size).astype(np.int64)
        labels[hierarchy.attribute] = list(hierarchy.texts), rows
    return AsPublished(read.total, read.tuple_rows[published], int(read.tuple_rows[starred].sum()), labels, entries)


def _entry(
    model: Any, given: Policy | None = None, classes: Classes | None = None, read: Frequencies | None = None
) -> dict[str, Any]:
    """Judge a model on classes; without them, or where it cannot be judged, nothing is said of it."""
    if given is not None and classes is not None and read is not None and len(classes):
        try:
            policy = given.model_copy(update={"privacy": (model,)})
            return judge(policy, classes, Context(read.references))[0][0]
        except IndistinctError:
            pass
    return {
        **required(model),
        "achieved": None,
        "satisfied": None,
        "violating_classes": None,
        "violating_rows": None,
        "reason": None,
    }


def _table(found: Recount) -> pa.Table:
    """Write counted rows out as a table of texts."""
    row = np.repeat(np.arange(len(found.rows)), found.rows)
    columns = {
        name: pa.array(texts, pa.string()).take(pa.array(found.codes[row, position]))
        for position, (name, texts) in enumerate(zip(found.columns, found.texts, strict=True))
    }
    return pa.table(columns)
