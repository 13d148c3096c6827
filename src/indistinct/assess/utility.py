"""What a published table is still good for: the measures of ``utility`` on an original and its published form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import markup
from indistinct.assess.side_by_side import held_out, sides_of
from indistinct.errors import SchemaError
from indistinct.formats.registry import open_source
from indistinct.losses import classification_metric
from indistinct.notices import Notice
from indistinct.policy import given as given_policy
from indistinct.policy import resolve
from indistinct.sentences.utility import utility_text
from indistinct.session.prepare import options_of
from indistinct.tables.count import silent
from indistinct.utility.cell_losses import cell_losses
from indistinct.utility.correlations import correlations
from indistinct.utility.distributions import contingency, distributions
from indistinct.utility.queries import QUERIES, THETA, workload
from indistinct.utility.regression import regression as fit
from indistinct.utility.sql import sql_queries
from indistinct.utility.task import SEEDS, factory_of, task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from indistinct.policy import GivenPolicy, Roles
    from indistinct.tables.count import Progress
    from indistinct.utility import Sides
    from indistinct.utility.encoders import Encoding

PAIRS_OF = 10  # columns whose pairs are compared


@dataclass(frozen=True)
class Utility:
    """What was measured; ``document`` is the JSON document (internal: it holds distributions of the original)."""

    document: dict[str, Any]

    def __repr__(self) -> str:
        """Write a short readable account."""
        return utility_text(self.document)

    def _repr_html_(self) -> str:
        head = ("column", "values that would have to move", "detail lost")
        lost = self.document["losses"]["lm_by_attribute"]
        rows = [
            (entry["column"], f"{100 * entry['total_variation']:.1f} %",
             f"{100 * lost[entry['column']]:.1f} %" if entry["column"] in lost else "")
            for entry in self.document["distributions"]
        ]  # fmt: skip
        return markup.table("What the published table is still good for", head, rows)


def utility(
    original: Any,
    published: Any,
    policy: GivenPolicy,
    st: Any = None,
    *,
    queries: int = QUERIES,
    dimension: int | None = None,
    theta: float = THETA,
    phi: float | None = None,
    sensitive: str | None = None,
    sql: Sequence[str] = (),
    regressions: Sequence[str] = (),
    target: str | None = None,
    estimator: str | Callable[[], Any] | None = None,
    encoding: Encoding = "nodes",
    holdout: Any = None,
    seed: int = 1,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Utility:
    """Measure what a published table, whoever made it, has lost for those who use it.

    Losses of the cells; errors of random COUNT queries (``utility.queries``) and of the SQL queries in ``sql``;
    distributions, contingency tables and correlations; ``regressions`` such as ``"cost ~ age + ward"``; with ``target``
    and ``estimator`` (a function, or ``"module:factory"``) the user's own scikit-learn task, tested on ``holdout``: a
    table of rows that the release was not made from. ``seed`` decides on the
    random queries and draws; it protects nothing.

    A release of two tables is given as ``published`` and ``st``, as ``release.table`` or as a workbook; what is said of
    the sensitive column is then what the groups say: each row has each value of its group by its share.

    Raises SchemaError when the tables do not fit together, PolicyError for measures that make no sense here.
    """
    policy = given_policy(policy)
    source = open_source(original, options_of(policy, query=query, table=sql_table))
    roles = resolve(policy, source.columns)
    sides, notices = sides_of(source, published, policy, roles, progress, st=st)
    quasi = [name for name in roles.quasi if name in {axis.name for axis in sides.axes}]
    secret = _sensitive(roles, sides, sensitive)
    progress("measure", 0, 4)
    asked = workload(sides, quasi, secret, queries=queries, dimension=dimension, theta=theta, seed=seed, phi=phi)
    if len(asked.actual) < queries:
        notices.append(
            Notice("queries", None, f"only {len(asked.actual)} of {queries} random queries select a row; raise theta")
        )
    progress("measure", 1, 4)
    compared = [*quasi, *(name for name in roles.sensitive if name in {axis.name for axis in sides.axes})]
    document: dict[str, Any] = {
        "rows": int(sides.rows_before.sum()),
        "published_rows": sides.published_rows,
        "in_groups": sides.groups is not None,
        "losses": cell_losses(sides, quasi),
        "queries": asked.document(),
        "distributions": distributions(sides),
        "contingency": contingency(sides, compared[:PAIRS_OF]),
        "correlations": correlations(sides),
    }
    if len(compared) > PAIRS_OF:
        notices.append(Notice("pairs", None, f"pairs of the first {PAIRS_OF} of {len(compared)} columns are compared"))
    progress("measure", 2, 4)
    document["sql"] = sql_queries(sides, sql, seed=seed) if sql else []
    document["regressions"] = [fit(sides, formula) for formula in regressions]
    progress("measure", 3, 4)
    document["task"] = document["classification_metric"] = None
    if target is not None and sides.groups is None:
        document["classification_metric"] = float(_class_labels(sides, quasi, target))
    if target is not None and estimator is not None:
        factory = factory_of(estimator) if isinstance(estimator, str) else estimator
        seeds = tuple(seed + number for number in range(len(SEEDS)))
        taught, held = (sides, None) if holdout is None else held_out(sides, source, holdout, policy, roles)
        document["task"] = task(taught, target, factory, encoding=encoding, seeds=seeds, held=held)
    progress("measure", 4, 4)
    notices += [
        Notice("labels", axis.name, f'{axis.unread} published labels of "{axis.name}" could not be read')
        for axis in sides.axes
        if axis.unread
    ]
    document["warnings"] = [notice.document() for notice in notices]
    return Utility(document)


def _class_labels(sides: Sides, quasi: Sequence[str], target: str) -> Fraction:
    """Classification metric of the published classes (equal published quasi-identifiers); missing rows count 1."""
    names = [axis.name for axis in sides.axes]
    if target not in names:
        raise SchemaError.unknown_column(target, names)
    own = sides.narrowed([*(name for name in quasi if name != target), target])
    codes, rows = own.after, own.rows_after
    group = np.unique(codes[:, :-1], axis=0, return_inverse=True)[1].reshape(-1)
    gone = max(0, int(sides.rows_before.sum()) - int(rows.sum()))
    return classification_metric(np.append(group, -1), np.append(codes[:, -1], 0), np.append(rows, gone))


def _sensitive(roles: Roles, sides: Sides, wanted: str | None) -> str | None:
    """Sensitive column of the random queries: the one named, else the first of the policy."""
    there = {axis.name for axis in sides.axes}
    if wanted is not None:
        if wanted not in there:
            raise SchemaError.unknown_column(wanted, sorted(there))
        return wanted
    return next((name for name in roles.sensitive if name in there), None)
