"""Private answers beside those of a published table: what is declared, what was asked, what was spent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING, Any, Literal

from indistinct import markup
from indistinct.assess.side_by_side import column_axis, pair_of
from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.hierarchies.values import exact
from indistinct.models import record_of
from indistinct.notices import Notice, Sentence
from indistinct.policy import given as given_policy
from indistinct.policy import resolve
from indistinct.sentences.private import private_text, short
from indistinct.session.prepare import source_options
from indistinct.tables.count import silent
from indistinct.utility.private import PrivateHistogram, PrivateMean, answer, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.formats.source import Source
    from indistinct.policy import GivenPolicy, Policy, Roles
    from indistinct.tables.count import Progress
    from indistinct.utility import Axis, TablePair
    from indistinct.utility.private import Bounds, Neighbours, PrivateQuery


@dataclass(frozen=True)
class Private:
    """The answers; ``document`` is internal: it shows exact answers and errors. ``publishable`` may be handed out."""

    document: dict[str, Any]

    @property
    def publishable(self) -> dict[str, Any]:
        """The noisy answers alone, with what they cost and promise."""
        keys = ("query", "kind", "epsilon", "scale", "accuracy", "values", "bounds")
        answers = [
            {**{key: entry[key] for key in keys if key in entry}, "value": entry["private"]["value"]}
            for entry in self.document["answers"]
        ]
        return {
            "neighbours": self.document["neighbours"],
            "epsilon": self.document["epsilon"],
            "promise": self.document["promise"]["private"],
            "answers": answers,
        }

    def __repr__(self) -> str:
        """Write a short readable account."""
        return private_text(self.document)

    def _repr_html_(self) -> str:
        head = ("query", "exact", "published table", "private", "epsilon")
        rows = [
            (
                entry["query"],
                *(short(value) for value in (entry["original"], entry["release"]["value"], entry["private"]["value"])),
                short(entry["epsilon"]),
            )
            for entry in self.document["answers"]
        ]
        return markup.table("Answers from the published table and with noise", head, rows)


def private(
    original: Any,
    published: Any,
    policy: GivenPolicy,
    queries: Sequence[PrivateQuery] | None = None,
    *,
    st: Any = None,
    epsilon: float | str | Fraction | None = None,
    bounds: Mapping[str, Sequence[Any]] | None = None,
    rows: Literal["public", "private"] = "public",
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Private:
    """Answer queries from a published table and, by OpenDP, with differential privacy; show both errors.

    ``queries`` are PrivateCount, PrivateHistogram and PrivateMean; without them the mean of each column of numbers and
    the histogram of each column whose bounds or values are declared. ``epsilon`` is shared evenly by the queries that
    name neither epsilon nor accuracy. ``bounds`` declares (lowest, highest) of ordered columns and all values of
    others, before ``domain``, ``order`` and the first column of a hierarchy file in the policy. With ``rows="public"``
    the number of rows is public and the promise is about the values of a row, else it is about its presence too.

    ``st`` is the second table of a release of two.

    Not checked: that bounds were not taken from the table, and what was asked before; each call spends its epsilon
    anew. Randomness is that of the system.

    Parameters
    ----------
    original
        The table before anonymization, as a file or a frame.
    published
        The published table, as a file or a frame.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    queries
        PrivateCount, PrivateHistogram and PrivateMean; by default those whose bounds are declared.
    st
        The second table of a release of two, by group.
    epsilon
        Shared evenly by the queries that name neither epsilon nor accuracy.
    bounds
        Lowest and highest of ordered columns, all values of others.
    rows
        ``public`` or ``private``: whether the number of rows is protected.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Private
        Answers and errors of both ways.

    Raises
    ------
    PolicyError
        For bounds that are not declared and for budgets that are none.
    SchemaError
        When the tables do not fit together.
    UnsupportedError
        Without OpenDP.
    """
    policy = given_policy(policy)
    if rows not in ("public", "private"):
        raise PolicyError(f'rows is "public" or "private", not {rows!r}')
    whole = None if epsilon is None else exact(epsilon, "epsilon")
    if whole is not None and whole <= 0:
        raise PolicyError(f"epsilon must be above 0, not {epsilon}")
    neighbours: Neighbours = "replace" if rows == "public" else "add_remove"
    source = open_source(original, source_options(policy, query=query, table=sql_table))
    roles = resolve(policy, source.columns)
    pair, notices = pair_of(source, published, policy, roles, progress, st=st)
    declared = _declared(pair, policy, bounds or {})
    pair = replace(pair, axes=tuple(_within(axis, source, policy, roles, declared) for axis in pair.axes))
    requested = list(_all(pair, declared) if queries is None else queries)
    if not requested:
        raise PolicyError(
            "there is nothing to ask: declare the bounds or values of a column, in the policy or as bounds"
        )
    unpaid = sum(one.epsilon is None and one.accuracy is None for one in requested)
    if whole is not None and not unpaid:
        raise PolicyError("every query has a budget of its own: there is no epsilon to share")
    share = whole / unpaid if whole is not None else None
    answers = []
    for number, one in enumerate(requested):
        progress("answer", number, len(requested))
        answers.append(answer(pair, one, declared, neighbours, share))
    progress("answer", len(requested), len(requested))
    total = float(sum(Fraction(str(entry["epsilon"])) for entry in answers))
    if roles.person is not None:
        message = Sentence(
            'the promise is about one row; a person of "{key}" with g rows has g times that epsilon', key=roles.person
        )
        notices.append(Notice("rows", roles.person, message))
    return Private(
        {
            "rows": int(pair.rows_before.sum()),
            "published_rows": pair.published_rows,
            "neighbours": neighbours,
            "epsilon": total,
            "promise": {"release": _promise(policy), "private": _private_promise(total, neighbours)},
            "answers": answers,
            "warnings": [notice.document() for notice in notices],
        }
    )


def _all(pair: TablePair, declared: Mapping[str, Any]) -> list[PrivateQuery]:
    found: list[PrivateQuery] = []
    for axis in pair.axes:
        if axis.name in declared:
            found += [PrivateMean(axis.name)] if axis.type in ("integer", "decimal") else []
            found.append(PrivateHistogram(axis.name))
    return found


def _declared(
    pair: TablePair, policy: Policy, bounds: Mapping[str, Sequence[Any]]
) -> dict[str, Bounds | tuple[str, ...]]:
    """Bounds and values that somebody declared; nothing here looks at the table."""
    names = [axis.name for axis in pair.axes]
    for name in bounds:
        if name not in names:
            raise SchemaError.unknown_column(name, names)
    found: dict[str, Bounds | tuple[str, ...]] = {}
    for axis in pair.axes:
        attribute = policy.attributes.get(axis.name)
        if axis.type == "ordinal" and attribute is not None and attribute.order:
            if axis.name in bounds:
                raise PolicyError(f'the order of "{axis.name}" declares its values already', column=axis.name)
            found[axis.name] = attribute.order
        elif axis.name in bounds:
            found[axis.name] = _given(axis, bounds[axis.name])
        elif axis.is_ordered and attribute is not None and attribute.ends is not None:
            found[axis.name] = _given(axis, attribute.ends)
        elif not axis.is_ordered and attribute is not None and attribute.spec and "file" in attribute.spec:
            rows = read_taxonomy(policy.locate(attribute.spec["file"]))
            found[axis.name] = tuple(dict.fromkeys(row[0] for row in rows))
    return found


def _within(
    axis: Axis, source: Source, policy: Policy, roles: Roles, declared: Mapping[str, Bounds | tuple[str, ...]]
) -> Axis:
    """Cut the published cells of an ordered column to its declared bounds, which a reader of the release knows too."""
    ends = declared.get(axis.name)
    if ends is None or not isinstance(ends[0], Fraction):
        return axis
    quasi = axis.name in roles.quasi
    return column_axis(axis.name, axis.before, axis.after, source, policy, generalized=quasi, domain=ends)


def _given(axis: Axis, values: Sequence[Any]) -> Bounds | tuple[str, ...]:
    if isinstance(values, str) or not values:
        raise PolicyError(f'bounds of "{axis.name}" are a list of values', column=axis.name)
    if not axis.is_ordered:
        return tuple(dict.fromkeys(map(str, values)))
    if len(values) != 2:
        raise PolicyError(f'bounds of "{axis.name}" are two: lowest and highest, not {len(values)}', column=axis.name)
    low, high = (place_of(axis, value) for value in values)
    if low >= high:
        raise PolicyError(f'the lower bound of "{axis.name}" must lie below the upper one', column=axis.name)
    return low, high


def _promise(policy: Policy) -> str:
    names = dict.fromkeys(record_of(model).title for model in policy.privacy)
    if not names:
        return "The policy asks for no model: the published table promises nothing."
    return (
        f"The published table is asked for {', '.join(names)}: a limit on what its own rows tell about a person, not "
        "on what they tell together with other tables or knowledge (not checked here; verify does)."
    )


def _private_promise(total: float, neighbours: Neighbours) -> str:
    other = "with any other values in that row" if neighbours == "replace" else "without that row"
    return (
        f"All private answers together are at most e^{short(total)} = {short(exp(min(total, 700)))} times as likely "
        f"with a row in the table as {other}, whatever else is known: this limits what taking part adds, not what is "
        "learned about people alike, and every further answer adds its epsilon."
    )
