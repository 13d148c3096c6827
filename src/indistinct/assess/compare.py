"""Many runs side by side: every algorithm, every k, on one counted table; which of them no other one beats."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.assess.frontier import chart_text, svg, table_text
from indistinct.assess.run import Budget, compared, is_drawn
from indistinct.assess.run_store import Store, fingerprint
from indistinct.errors import PolicyError
from indistinct.formats.source import origins_of
from indistinct.losses import LOSSES
from indistinct.plain import visible
from indistinct.policy import given as given_policy
from indistinct.policy.epsilon import Epsilon
from indistinct.policy.recoding import ALGORITHMS
from indistinct.publish.ready import ready
from indistinct.sentences.results import as_html
from indistinct.session.restates import restated
from indistinct.session.verdicts import refuse_sequences, unit_of
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy import GivenPolicy
    from indistinct.policy.parameters import Number
    from indistinct.tables.count import Progress

COLUMNS = (
    "algorithm", "k_asked", "status", "form", "k", "largest_risk", "largest_share",
    *(loss.name for loss in LOSSES.values() if loss.compared),
    "query_error", "suppressed_rows", "classes", "groups", "smallest_group", "epsilon", "seconds",
    "peak_memory_bytes", "undominated", "reason",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """The answer of ``compare``: ``document`` is its JSON form, internal as that of ``anonymize``."""

    document: dict[str, Any] = field(repr=False)

    @property
    def runs(self) -> list[dict[str, Any]]:
        """One entry for each run, in the order asked for."""
        found: list[dict[str, Any]] = self.document["runs"]
        return found

    @property
    def frontier(self) -> list[dict[str, Any]]:
        """The runs that no other one beats, by falling guarantee."""
        return [self.runs[number] for number in self.document["frontier"]]

    def svg(self) -> str:
        """Draw loss against guarantee as one SVG document."""
        return svg(self.document)

    def csv(self) -> str:
        """Write the table of runs as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run in self.runs:
            flat = {**run, **run.get("loss", {}), "epsilon": (run.get("budget") or {}).get("epsilon")}
            inner = (("largest_risk", "decimal"), ("largest_share", "decimal"), ("query_error", "mean"))
            flat |= {name: (run.get(name) or {}).get(part) for name, part in inner}
            writer.writerow(["" if flat.get(name) is None else flat[name] for name in COLUMNS])
        return text.getvalue()

    def __repr__(self) -> str:
        """Write the table and the chart."""
        notes = "\n".join(f"note: {warning['message']}" for warning in self.document["warnings"])
        sections = (table_text(self.document), chart_text(self.document), visible(notes, lines=True))
        return "\n\n".join(part.rstrip() for part in sections if part.strip())

    def _repr_html_(self) -> str:
        return self.svg() + as_html(table_text(self.document))


def compare(
    table: Any,
    policy: GivenPolicy,
    *,
    algorithms: str | Sequence[str] = "all",
    k: Sequence[int] = (),
    output: str | Path | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    epsilon_budget: Number | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Run algorithms on one table and put what they reach and what they lose side by side.

    The table is read and counted once, as ``anonymize`` would. ``algorithms``: "all", or names; ``k``: the values that
    take the place of the k of the policy's ``k_anonymity`` in turn (without such a model one is added); without it one
    run as the policy says.
    Nothing is published: the classes of every run are judged as a release's are, equal labels as one class.

    A run is *undominated* when no other run reaches at least its smallest class (k) at no more LM, one of them better.
    ``largest_risk`` is 1/k, the prosecutor's chance at the smallest class. Algorithms that publish groups hide which
    sensitive value belongs to whom and leave quasi-identifiers as they are: their k, risk and LM do not compare with
    those of classes, and they are neither undominated nor beaten (None). What does compare: ``largest_share``, the
    surest guess of a sensitive value, and ``query_error`` (``utility.code_queries``).

    Runs of ``safepub`` spend privacy, and are refused without ``epsilon_budget``: the epsilons of its runs on this
    table, those in ``output`` included, must add up to no more. ``budget`` says what was spent. A k is not asked of it;
    of the other algorithms it is asked in place of the model.

    A run without result stands in the table with its reason. ``seconds`` is the time to decide, first compilation
    included; ``peak_memory_bytes`` the largest memory of the whole process during it (None where the system does not
    say).

    With ``output``, a folder, every finished run is appended to ``compare.jsonl`` there and taken from it next time, if
    policy, table, hierarchies and version are the same; ``compare.csv`` holds the table. Both are internal documents.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    algorithms
        "all", or names.
    k
        Values that take the place of the k of the policy in turn.
    output
        A folder that keeps the runs; without it nothing is written.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    epsilon_budget
        What the runs of ``safepub`` may spend together on this table.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Comparison
        A run for each algorithm and k, side by side.

    Raises
    ------
    PolicyError
        For an unknown algorithm or k, for a budget that is none and for a folder whose ``compare.csv`` is the
        source or not that of a comparison; beside what reading raises.
    Cancelled
        When it is interrupted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> found = compare(pa.table({"age": [20, 22, 40, 41]}), policy, algorithms=["local", "optimal"])
    >>> [(run["algorithm"], run["k"], round(run["loss"]["lm"], 2)) for run in found.runs]
    [('local', 2, 0.07), ('optimal', 4, 1.0)]
    """
    policy = given_policy(policy)
    policy.require_models()
    refuse_sequences(policy)
    names = _names(algorithms)
    pairs = [(name, number) for number in _numbers(k) for name in names]
    wanted = list(dict.fromkeys((name, None if is_drawn(policy, name) else number) for name, number in pairs))
    budget = Budget(_budget(epsilon_budget))
    store = None if output is None else Store(Path(output), (*origins_of(table), *policy.origins))
    begun = ready(table, policy, query=query, sql_table=sql_table, any_algorithm=True, progress=progress)
    prepared = begun.prepared
    frequencies = prepared.counted.frequencies
    mark = fingerprint(frequencies)
    for run in [] if store is None else store.of_table(mark):
        budget.charge(run)
    runs = []
    for done, (name, number) in enumerate(wanted):
        progress("compare", done, len(wanted))
        runs.append(compared(prepared, name, number, mark, store, budget, progress))
    progress("compare", len(wanted), len(wanted))
    frontier = _frontier(runs)
    for position, run in enumerate(runs):
        run["undominated"] = position in frontier if run.get("form", "one_table") == "one_table" else None
    comparison = Comparison(
        {
            "satisfied": any(run["status"] == "done" for run in runs),
            "rows": prepared.rows,
            **unit_of(frequencies),
            "tuples": len(frequencies.tuples),
            "runs": runs,
            "frontier": frontier,
            "budget": budget.document(),
            "warnings": [notice.document() for notice in (*prepared.notices, *restated(prepared))],
        }
    )
    if store is not None:
        store.write_table(comparison.csv())
    return comparison


def _names(algorithms: str | Sequence[str]) -> list[str]:
    if algorithms == "all":
        return list(ALGORITHMS)
    names = list(dict.fromkeys(algorithms.split(",") if isinstance(algorithms, str) else algorithms))
    for name in names:
        if name not in ALGORITHMS:
            raise PolicyError(
                f'there is no algorithm "{name}"; there are {", ".join(ALGORITHMS)}', key="recoding.algorithm"
            )
    if not names:
        raise PolicyError("name at least one algorithm to compare", key="recoding.algorithm")
    return names


def _numbers(k: Sequence[int]) -> list[int | None]:
    for number in k:
        if type(number) is not int or number < 1:
            raise PolicyError(f"k must be a whole number of 1 or more, not {number!r}", key="privacy")
    return list(dict.fromkeys(k)) or [None]


def _budget(epsilon: Number | None) -> Epsilon | None:
    if epsilon is None:
        return None
    try:
        return Epsilon.read(epsilon)
    except ValueError as error:
        raise PolicyError(f"the epsilon budget of a comparison {error}, not {epsilon}") from None


def _frontier(runs: Sequence[dict[str, Any]]) -> list[int]:
    """Positions of the runs of classes that no other one beats, by falling k, then by rising loss."""
    done = [
        (run["k"], run["loss"]["lm"], position)
        for position, run in enumerate(runs)
        if run["status"] == "done" and run["form"] == "one_table"
    ]
    done.sort(key=lambda one: (-one[0], one[1], one[2]))
    found: list[int] = []
    least = np.inf
    best: tuple[int, float] | None = None
    for k, loss, position in done:
        if loss < least or (k, loss) == best:
            found.append(position)
            least, best = loss, (k, loss)
    return found
