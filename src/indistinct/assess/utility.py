"""What a published table is still good for: the measures of ``utility`` on an original and its published form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import markup
from indistinct.assess.side_by_side import held_out, pair_of
from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.losses import classification_metric
from indistinct.notices import Notice, Sentence
from indistinct.policy import given as given_policy
from indistinct.policy import resolve
from indistinct.sentences.utility import utility_text
from indistinct.session.prepare import source_options
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
    from indistinct.utility import TablePair
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

    Parameters
    ----------
    original
        The table before anonymization, as a file or a frame.
    published
        The published table, as a file or a frame.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    st
        The second table of a release of two, by group.
    queries, dimension, theta
        How many random COUNT queries, over how many columns, of what expected share of the rows.
    phi
        Errors are relative to this share of the rows at least; see ``utility.queries``.
    sensitive
        The sensitive column that queries ask about.
    sql
        SELECT statements about the table ``data``.
    regressions
        Formulas such as ``"cost ~ age + ward"``.
    target, estimator, encoding, holdout
        The user's own scikit-learn task and the rows it is tested on.
    seed
        Of the random queries and draws; it protects nothing.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Utility
        Every measure, before and after.

    Raises
    ------
    SchemaError
        When the tables do not fit together.
    PolicyError
        For measures that make no sense here.
    """
    policy = given_policy(policy)
    task_options = {"--holdout": holdout is not None, "--encoding": encoding != "nodes"}
    for word in [word for word, given in task_options.items() if given and (target is None or estimator is None)]:
        raise PolicyError(f"{word} belongs to --target and --estimator: give both", key=word)
    if estimator is not None and target is None:
        raise PolicyError("--estimator needs --target, the column to be learned", key="--estimator")
    source = open_source(original, source_options(policy, query=query, table=sql_table))
    roles = resolve(policy, source.columns)
    pair, notices = pair_of(source, published, policy, roles, progress, st=st)
    quasi = [name for name in roles.quasi if name in {axis.name for axis in pair.axes}]
    secret = _sensitive(roles, pair, sensitive)
    progress("measure", 0, 4)
    answered = workload(pair, quasi, secret, queries=queries, dimension=dimension, theta=theta, seed=seed, phi=phi)
    if len(answered.actual) < queries:
        message = Sentence(
            "only {n} of {queries} random queries select a row; raise theta", n=len(answered.actual), queries=queries
        )
        notices.append(Notice("queries", None, message))
    progress("measure", 1, 4)
    compared = [*quasi, *(name for name in roles.sensitive if name in {axis.name for axis in pair.axes})]
    document: dict[str, Any] = {
        "rows": int(pair.rows_before.sum()),
        "published_rows": pair.published_rows,
        "in_groups": pair.groups is not None,
        "losses": cell_losses(pair, quasi),
        "queries": answered.document(),
        "distributions": distributions(pair),
        "contingency": contingency(pair, compared[:PAIRS_OF]),
        "correlations": correlations(pair),
    }
    if len(compared) > PAIRS_OF:
        message = Sentence("pairs of the first {most} of {n} columns are compared", most=PAIRS_OF, n=len(compared))
        notices.append(Notice("pairs", None, message))
    progress("measure", 2, 4)
    document["sql"] = sql_queries(pair, sql, seed=seed) if sql else []
    document["regressions"] = [fit(pair, formula) for formula in regressions]
    progress("measure", 3, 4)
    document["task"] = document["classification_metric"] = None
    if target is not None and pair.groups is None:
        document["classification_metric"] = float(_class_labels(pair, quasi, target))
    if target is not None and estimator is not None:
        factory = factory_of(estimator) if isinstance(estimator, str) else estimator
        seeds = tuple(seed + number for number in range(len(SEEDS)))
        taught, held = (pair, None) if holdout is None else held_out(pair, source, holdout, policy, roles)
        document["task"] = task(taught, target, factory, encoding=encoding, seeds=seeds, held=held)
    progress("measure", 4, 4)
    notices += [
        Notice(
            "labels",
            axis.name,
            Sentence('{n} published labels of "{name}" could not be read', n=axis.unread, name=axis.name),
        )
        for axis in pair.axes
        if axis.unread
    ]
    document["warnings"] = [notice.document() for notice in notices]
    return Utility(document)


def _class_labels(pair: TablePair, quasi: Sequence[str], target: str) -> Fraction:
    """Classification metric of the published classes (equal published quasi-identifiers); missing rows count 1."""
    names = [axis.name for axis in pair.axes]
    if target not in names:
        raise SchemaError.unknown_column(target, names)
    own = pair.narrowed([*(name for name in quasi if name != target), target])
    codes, rows = own.after, own.rows_after
    group = np.unique(codes[:, :-1], axis=0, return_inverse=True)[1].reshape(-1)
    gone = max(0, int(pair.rows_before.sum()) - int(rows.sum()))
    return classification_metric(np.append(group, -1), np.append(codes[:, -1], 0), np.append(rows, gone))


def _sensitive(roles: Roles, pair: TablePair, wanted: str | None) -> str | None:
    """Sensitive column of the random queries: the one named, else the first of the policy."""
    there = {axis.name for axis in pair.axes}
    if wanted is not None:
        if wanted not in there:
            raise SchemaError.unknown_column(wanted, sorted(there))
        return wanted
    return next((name for name in roles.sensitive if name in there), None)
