"""Before the fact: what the thresholds of a policy and its columns cost on this table, and which decision buys most.

The table is read and counted once. Every figure is that of a quick search under the policy with one thing changed: a
threshold of one promise, or one column left out. What a search finds can be had; that no less can be lost is not
proved. The document is internal: it tells of the original.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.assess.plan_chart import svg
from indistinct.assess.plan_words import sentences, text
from indistinct.assess.price import NOTHING, deciding, priced_by_steps, prices, under
from indistinct.errors import UnsupportedError
from indistinct.hierarchies.hierarchy import Level
from indistinct.markup import table as html_table
from indistinct.policy import given as given_policy
from indistinct.policy.parameters import exact
from indistinct.publish.ready import ready
from indistinct.session.verdicts import refuse_sequences, unit_of
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import GivenPolicy
    from indistinct.policy.parameters import Number
    from indistinct.policy.privacy import Privacy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

# what is tried of each parameter, beside what is asked
TRIED: dict[str, tuple[Any, ...]] = {
    "k": (2, 3, 5, 10, 20, 50),
    "l": (2, 3, 5, 10),
    "t": tuple(Fraction(tenth, 10) for tenth in (1, 2, 3, 5, 7)),
}


@dataclass(frozen=True)
class Plan:
    """The answer of ``plan``; ``document`` is the JSON document (internal: it tells of the original)."""

    document: dict[str, Any] = field(repr=False)

    @property
    def feasible(self) -> bool:
        """Whether the policy as it stands can be met."""
        found: bool = self.document["asked"]["status"] == "done"
        return found

    def svg(self) -> str:
        """Draw the price curves as one SVG document."""
        return svg(self.document)

    def __repr__(self) -> str:
        """Write the sentences and the tables."""
        return text(self.document)

    def _repr_html_(self) -> str:
        rows = [(sentence["about"], sentence["text"]) for sentence in self.document["sentences"]]
        return self.svg() + html_table("Plan", ("about", "answer"), rows)


def plan(
    table: Any,
    policy: GivenPolicy,
    *,
    k: Sequence[int] = (),
    l: Sequence[int] = (),  # noqa: E741  # the parameter's name
    t: Sequence[Number] = (),
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Plan:
    """Say before a release what each promise and each column costs on this table, and which decision buys most.

    *Detail lost* is LM, the mean loss of the cells of quasi-identifiers (Iyengar, KDD 2002). The price curve of a
    threshold is the detail lost under the policy with another value of it; the price of a promise is what it adds to
    those before it; a column left out is one that is not published, and others then lose less.

    Parameters
    ----------
    table
        The table: a file, a frame or an Arrow table; or a database, with ``query`` or ``sql_table``.
    policy
        The policy, or a file of one.
    k, l, t
        What to try of these thresholds; by default usual values. What the policy asks is always tried.
    query, sql_table
        A query to a database, or a table of one, in place of a file.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Plan
        Curves, prices and columns, with sentences. A target that cannot be met is an answer, not an error.

    Raises
    ------
    PolicyError, SchemaError, DataError, HierarchyError
        What reading and counting raise; PolicyError for values that a threshold cannot have.
    UnsupportedError
        For releases in groups, of sets of items, drawn at random, or that earlier releases decide.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> found = plan(pa.table({"age": [20, 22, 40, 41]}), policy, k=[4])
    >>> [(point["value"], round(point["lm"], 2)) for point in found.document["curves"][0]["points"]]
    [(2, 0.07), (4, 1.0)]
    """
    policy, tried = given_policy(policy), {"k": tuple(k), "l": tuple(l), "t": tuple(t)}
    policy.require_models()
    refuse_sequences(policy)
    if not priced_by_steps(policy):
        message = (
            "prices are those of one table of classes; this policy publishes groups, sets of items or a random sample: "
            "compare shows their runs side by side"
        )
        raise UnsupportedError(message)
    varied = [place for place, model in enumerate(policy.privacy) if _parameter(model)]
    curves = {place: _values(policy.privacy[place], tried) for place in varied}
    prepared = ready(table, policy, query=query, sql_table=sql_table, progress=progress).prepared
    frequencies = prepared.counted.frequencies
    total = 1 + len(policy.privacy) + sum(map(len, curves.values())) + len(frequencies.quasi)
    count = iter(range(total + 1))

    def tick() -> None:
        progress("plan", next(count), total)

    required = under(prepared, policy.privacy)
    tick()
    document: dict[str, Any] = {
        "rows": frequencies.total,
        **unit_of(frequencies),
        "asked": required,
        "prices": prices(prepared, whole=required) if len(policy.privacy) > 1 else [],
        "decides": None,
        "curves": [_curve(prepared, place, curves[place], required, tick) for place in varied],
        "columns": list(_columns(prepared, required, tick)) if required["status"] == "done" else [],
        "models": [{"model": model.model, "attribute": getattr(model, "attribute", None)} for model in policy.privacy],
        "warnings": [notice.document() for notice in prepared.notices],
    }
    most = deciding(document["prices"]) if len(document["prices"]) == len(policy.privacy) else None
    document["decides"] = None if most is None else most["place"]
    document["decisions"] = _decisions(document)
    document["sentences"] = sentences(document)
    return Plan(document)


def _parameter(model: Privacy) -> str | None:
    """Name of the threshold of a model that is varied."""
    for name in ("t", "l", "k"):
        value = getattr(model, name, None)
        if value is not None and (name != "l" or isinstance(value, int)):
            return name
    return None


def _values(model: Privacy, tried: dict[str, tuple[Any, ...]]) -> list[Any]:
    """Values of a threshold from loose to strict; raises PolicyError for one that it cannot have."""
    name = _parameter(model) or ""
    given = tried[name] or TRIED[name]
    try:
        wanted = {exact(value) if name == "t" else value for value in given}
    except ValueError:
        wanted = {Fraction(-1)}
    wanted.add(getattr(model, name))
    for value in wanted:
        type(model)(**{**model.model_dump(), name: value})
    return sorted(wanted, reverse=name == "t")


def _curve(
    prepared: Prepared, place: int, values: list[Any], required: dict[str, Any], tick: Callable[[], None]
) -> dict[str, Any]:
    """Decide under each value of one threshold, the others as they are.

    What was decided for the policy as it stands can be had for every stricter value that it reaches. Between it and the
    loosest value, where that loses the same, nothing is searched either: no value between them can cost more.
    """
    privacy = prepared.policy.privacy
    model, runs = privacy[place], dict[Any, dict[str, Any]]()
    name = _parameter(model) or ""
    at = values.index(getattr(model, name))

    def decided(value: Any) -> dict[str, Any]:
        changed = [own.model_copy(update={name: value}) if one == place else own for one, own in enumerate(privacy)]
        return under(prepared, changed)

    for number in (0, *range(1, len(values))):
        value = values[number]
        loosest = runs.get(values[0], required)
        if number == at or (number > at and _reaches(required, place, name, value)):
            runs[value] = required
        elif 0 < number < at and _alike(loosest, required):
            runs[value] = loosest
        else:
            runs[value] = decided(value)
        tick()
    points = [
        {
            "value": _plain(value),
            "asked": number == at,
            **{key: runs[value][key] for key in SHOWN if key in runs[value]},
        }
        for number, value in enumerate(values)
    ]
    return {
        "place": place,
        "model": model.model,
        "attribute": getattr(model, "attribute", None),
        "parameter": name,
        "points": points,
    }


def _reaches(run: dict[str, Any], place: int, name: str, value: Any) -> bool:
    """Whether what a run decided satisfies a stricter value too, exactly."""
    reached = (run["achieved"][place] or {}).get(name) if run["status"] == "done" else None
    if isinstance(reached, dict):
        reached = Fraction(reached["fraction"]) if "fraction" in reached else None
    return reached is not None and (reached <= value if name == "t" else reached >= value)


def _alike(run: dict[str, Any], other: dict[str, Any]) -> bool:
    if run["status"] != "done" or other["status"] != "done" or run["smallest"] != other["smallest"]:
        return False
    return bool(abs(run["lm"] - other["lm"]) <= NOTHING)


SHOWN = ("status", "reason", "lm", "smallest", "classes", "suppressed_rows")


def _plain(value: Any) -> int | float:
    return float(value) if isinstance(value, Fraction) else value


def _columns(prepared: Prepared, required: dict[str, Any], tick: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """What each quasi-identifier loses, and what the others lose with and without it."""
    quasi = prepared.counted.frequencies.quasi
    weights = {hierarchy.attribute: float(hierarchy.weight) for hierarchy in quasi}
    lost = required["lm_by_attribute"]
    whole = sum(weights[name] * loss for name, loss in lost.items())
    for position, hierarchy in enumerate(quasi):
        name = hierarchy.attribute
        run = under(hidden(prepared, position), prepared.policy.privacy) if len(quasi) > 1 else {}
        without: dict[str, float] | None = run.get("lm_by_attribute")
        tick()
        yield {
            "column": name,
            "lm": lost[name],
            "share_of_loss": weights[name] * lost[name] / whole if whole else 0.0,
            "others": _others(lost, weights, name),
            "others_without": None if without is None else _others(without, weights, name),
            "lm_without": None if without is None else _whole(without, weights, name),
            "smallest_without": run.get("smallest"),
        }


def _others(lost: dict[str, float], weights: dict[str, float], name: str) -> float | None:
    """Weighted mean loss of all columns but one; None where there is no other of any weight."""
    rest = [(weights[other], loss) for other, loss in lost.items() if other != name and weights[other]]
    return sum(w * loss for w, loss in rest) / sum(w for w, _ in rest) if rest else None


def _whole(lost: dict[str, float], weights: dict[str, float], name: str) -> float:
    """Weighted mean loss of all columns where one is lost whole."""
    total = sum(weights.values())
    return sum(weights[own] * (1.0 if own == name else loss) for own, loss in lost.items()) / total if total else 0.0


def hidden(prepared: Prepared, position: int) -> Prepared:
    """Return the counted table with one quasi-identifier that says nothing, as if it were not published."""
    frequencies = prepared.counted.frequencies
    quasi = tuple(_mute(own) if at == position else own for at, own in enumerate(frequencies.quasi))
    counted = replace(prepared.counted, frequencies=replace(frequencies, quasi=quasi))
    return replace(prepared, counted=counted)


def _mute(hierarchy: Hierarchy) -> Hierarchy:
    """Join all values of a column, the missing one too."""
    root = Level(np.zeros(hierarchy.size, np.int32), (hierarchy.root,), (Fraction(1),))
    return replace(
        hierarchy, kind="suppress", levels=(root, root), lower=None, upper=None, exact_lower=(), exact_upper=(),
        range_labels=None, sets=None, min_level=0, max_level=None,
    )  # fmt: skip


def _decisions(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Single steps after which less is lost: the next looser threshold that saves, or a column that is left out.

    A column left out counts as lost whole, so that all are compared in one measure.
    """
    required = document["asked"]
    if required["status"] != "done":
        return []
    found: list[dict[str, Any]] = []
    for curve in document["curves"]:
        points = curve["points"]
        at = next(number for number, point in enumerate(points) if point["asked"])
        for point in reversed(points[:at]):
            if point["status"] == "done" and required["lm"] - point["lm"] > NOTHING:
                change = {"parameter": curve["parameter"], "from": points[at]["value"], "to": point["value"]}
                found.append({"place": curve["place"], "column": None, **change, "after": point["lm"]})
                break
    none = {"place": None, "parameter": None, "from": None, "to": None}
    found += [
        {"column": column["column"], **none, "after": column["lm_without"]}
        for column in document["columns"]
        if column["lm_without"] is not None and required["lm"] - column["lm_without"] > NOTHING
    ]
    found = [{**one, "before": required["lm"], "saves": required["lm"] - one["after"]} for one in found]
    return sorted(found, key=lambda one: -one["saves"])
