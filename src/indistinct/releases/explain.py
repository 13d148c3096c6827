"""Why a release looks as it does, what blocks the target, and what would help: counts and sentences.

Everything is read off the frequency table and the decision that ``anonymize`` would make; nothing is written. The
document shows values of quasi-identifiers, since that is what is asked, and never a sensitive value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import InfeasibleError
from indistinct.losses import lm
from indistinct.models import Context, evaluate
from indistinct.releases.decision import decide, suppressed_rows
from indistinct.releases.prepare import prepare
from indistinct.releases.texts import counted, explanation_text, table_html
from indistinct.releases.transform import transformed
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.count import silent
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy
    from indistinct.releases.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies, Recoding

    Int64 = NDArray[np.int64]

SHOWN = 5
LARGEST = 3
STRETCHED = 5000  # classes that are searched for rows which stretch them
RUNS = 8  # searches for each parameter


@dataclass(frozen=True)
class Explanation:
    """The answer of ``explain``; ``document`` is the JSON document (internal: it shows quasi-identifiers)."""

    document: dict[str, Any]

    @property
    def feasible(self) -> bool:
        """Whether the target of the policy can be met."""
        found: bool = self.document["feasible"]
        return found

    def __repr__(self) -> str:
        """Write the sentences."""
        return explanation_text(self.document)

    def _repr_html_(self) -> str:
        return table_html("Why", ("question", "answer"), [(s["about"], s["text"]) for s in self.document["sentences"]])


def explain(
    table: Any,
    policy: Policy,
    *,
    loss: float | Fraction | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Explanation:
    """Explain what ``anonymize`` does to a table under a policy, and what would help.

    ``loss`` (LM, 0 to 1): also search the largest k and l and the smallest t that are reached with at most that loss,
    one parameter at a time, the others as in the policy, by searches of quality ``fast``: what they find can be had;
    that no more can be had is not proved.

    Raises what reading and counting raise. A target that cannot be met is an answer, not an error.
    """
    policy.require_models()
    given, _, applied = transformed(table, policy, query=query, sql_table=sql_table, progress=progress)
    prepared = prepare(given, policy, carry=False, query=query, sql_table=sql_table, progress=progress)
    frequencies = prepared.counted.frequencies
    document: dict[str, Any] = {"feasible": True, "rows": frequencies.total, "reason": None, "nearest": None}
    document["sentences"] = sentences = []

    def say(about: str, text: str) -> None:
        sentences.append({"about": about, "text": text})

    try:
        assignment = decide(prepared, progress)
    except InfeasibleError as error:
        document.update(feasible=False, reason=error.public_message, nearest=error.nearest)
        say("target", f"the target cannot be met: {error.public_message}")
        if error.nearest:
            say("target", f"what can be had: {error.nearest}")
    document["rare_values"] = _rare_values(frequencies, policy.privacy, say)
    if document["feasible"]:
        recoding = recoding_of(frequencies, assignment)
        mean, by_attribute = lm(frequencies, assignment, recoding)
        document["lm"], document["classes"] = float(mean), assignment.classes
        document["suppressed_rows"] = suppressed_rows(assignment)
        document["suppressed"] = _suppressed(prepared, assignment, say)
        document["largest_classes"] = _largest(prepared, assignment, recoding, say)
        document["stretching_rows"] = _stretching(frequencies, assignment, say)
        document["one_level_less"] = _one_level_less(prepared, assignment, say)
    else:
        by_attribute = {}
    document["attributes"] = _attributes(frequencies, by_attribute, say)
    document["reachable"] = [] if loss is None else _reachable(prepared, Fraction(loss), say)
    document["warnings"] = [notice.document() for notice in (*prepared.notices, *applied)]
    return Explanation(document)


def _size_wanted(privacy: tuple[Privacy, ...]) -> int:
    """Rows or persons that every class needs for sure: the largest k and l."""
    wanted = [1]
    for model in privacy:
        wanted += [int(value) for name in ("k", "l", "p") if isinstance(value := getattr(model, name, None), int)]
    return max(wanted)


def _rare_values(
    frequencies: Frequencies, privacy: tuple[Privacy, ...], say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Values of fewer rows than a class needs: they can only be published as part of something larger."""
    need, found = _size_wanted(privacy), []
    for position, hierarchy in enumerate(frequencies.quasi):
        rows = np.zeros(hierarchy.size, np.int64)
        np.add.at(rows, frequencies.codes[:, position], frequencies.rows)
        rare = np.flatnonzero((rows > 0) & (rows < need))
        rarest = rare[np.argsort(rows[rare], kind="stable")][:SHOWN]
        found.append(
            {
                "column": hierarchy.attribute,
                "values": len(rare),
                "rows": int(rows[rare].sum()),
                "rarest": [{"value": hierarchy.texts[code], "rows": int(rows[code])} for code in rarest.tolist()],
            }
        )
        if len(rare):
            many = len(rare) > 1
            say(
                "rare values",
                f'{len(rare)} value{"s" if many else ""} of "{hierarchy.attribute}" '
                f"{'have' if many else 'has'} fewer than {need} rows each ({int(rows[rare].sum())} rows in all), so "
                f"{'none of them' if many else 'it'} can be published as it is",
            )
    return found


def _failing(prepared: Prepared, assignment: Assignment) -> tuple[list[list[str]], Int64]:
    """Names of the models that each class fails, and its rows."""
    frequencies = prepared.counted.frequencies
    classes, context = classes_of(frequencies, assignment), Context(frequencies.references)
    failed: list[list[str]] = [[] for _ in range(len(classes))]
    for model in prepared.policy.privacy:
        for number in np.flatnonzero(~evaluate(model, classes, context).satisfied).tolist():
            failed[number].append(model.model)
    return failed, classes.rows


def _regrouped(assignment: Assignment, entries: Int64, keys: NDArray[Any]) -> Assignment:
    """Make classes of equal keys of some entries of an assignment; the others are left out."""
    _, inverse = np.unique(keys, axis=0, return_inverse=True)
    group = np.asarray(inverse.reshape(-1), np.int32)
    return Assignment(assignment.cell[entries], assignment.count[entries], group, int(group.max(initial=-1)) + 1)


def _nodes(frequencies: Frequencies, assignment: Assignment, entries: Int64, levels: tuple[int, ...]) -> NDArray[Any]:
    """Node of each entry in each quasi-identifier, at the given levels."""
    codes = frequencies.codes[assignment.cell[entries]]
    return np.column_stack([h.levels[levels[a]].node_of[codes[:, a]] for a, h in enumerate(frequencies.quasi)])


def _named(frequencies: Frequencies, code: NDArray[Any], levels: tuple[int, ...] | None) -> dict[str, str | None]:
    """Labels of a tuple of codes, at levels if there are any."""
    return {
        h.attribute: h.node_label(levels[a], int(h.levels[levels[a]].node_of[code[a]]))
        if levels is not None
        else h.texts[code[a]]
        for a, h in enumerate(frequencies.quasi)
    }


def _shown(named: dict[str, str | None]) -> str:
    return "{" + ", ".join(f"{name} {'missing' if text is None else text}" for name, text in named.items()) + "}"


def _suppressed(prepared: Prepared, assignment: Assignment, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
    """Why rows are suppressed: the classes that they would form and the models that these fail."""
    gone = np.flatnonzero(assignment.class_of == SUPPRESSED)
    if not len(gone):
        say("suppressed rows", "no row is suppressed")
        return []
    frequencies = prepared.counted.frequencies
    tops = tuple(h.height for h in frequencies.quasi)
    levels = assignment.levels or tops
    together = _regrouped(assignment, gone, _nodes(frequencies, assignment, gone, levels))
    failed, rows = _failing(prepared, together)
    order = np.argsort(-rows, kind="stable")
    found = []
    for number in order[:SHOWN].tolist():
        first = int(gone[np.flatnonzero(together.class_of == number)[0]])
        named = _named(frequencies, frequencies.codes[assignment.cell[first]], levels)
        why = ", ".join(failed[number]) or "the limit of what can be kept"
        found.append({"class": named, "rows": int(rows[number]), "models": failed[number]})
        say(
            "suppressed rows",
            f"{counted(int(rows[number]), 'rows')} with {_shown(named)} {'is' if rows[number] == 1 else 'are'} "
            f"suppressed: as a class of their own they fail {why}",
        )
    if len(rows) > SHOWN:
        say("suppressed rows", f"and {len(rows) - SHOWN} more such classes; {int(rows.sum())} rows in all")
    return found


def _largest(
    prepared: Prepared, assignment: Assignment, recoding: Recoding, say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Why the largest classes are so large: what their parts would fail."""
    frequencies = prepared.counted.frequencies
    kept = assignment.class_of != SUPPRESSED
    rows = np.bincount(assignment.class_of[kept], assignment.count[kept], assignment.classes).astype(np.int64)
    labels = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    found = []
    for number in np.argsort(-rows, kind="stable")[:LARGEST].tolist():
        entries = np.flatnonzero(assignment.class_of == number)
        own = frequencies.tuple_of[assignment.cell[entries]]
        equal = int(np.bincount(own, assignment.count[entries]).max())
        named = {h.attribute: texts[at[number]] for h, (texts, at) in zip(frequencies.quasi, labels, strict=True)}
        splits = [
            split
            for position in range(len(frequencies.quasi))
            if (split := _split(prepared, assignment, recoding, entries, number, position)) is not None
        ]
        found.append({"class": named, "rows": int(rows[number]), "largest_tuple": equal, "splits": splits})
        if equal == rows[number]:
            why = "all of its rows are equal in every quasi-identifier, so being large costs nothing"
        elif any(not split["failing"] for split in splits):
            column = next(split["column"] for split in splits if not split["failing"])
            why = f'it could be split by "{column}"; the search did not find that worth while'
        else:
            why = "; ".join(
                f'split by "{split["column"]}", {split["failing"]} of {split["parts"]} parts would fail '
                f"{', '.join(split['models'])} (the smallest has {counted(split['smallest'], 'rows')})"
                for split in splits[:LARGEST]
            )
        say("largest classes", f"{_shown(named)} has {rows[number]} rows: {why}")
    return found


def _split(
    prepared: Prepared,
    assignment: Assignment,
    recoding: Recoding,
    entries: Int64,
    number: int,
    position: int,
) -> dict[str, Any] | None:
    """What would become of a class that is split in one column: by the next finer nodes, a range at its median."""
    frequencies = prepared.counted.frequencies
    hierarchy = frequencies.quasi[position]
    lo, hi = int(recoding.lo[number, position]), int(recoding.hi[number, position])
    if lo == hi:
        return None
    codes = frequencies.codes[assignment.cell[entries], position]
    if hierarchy.is_range:
        below = np.cumsum(np.bincount(codes - lo, assignment.count[entries]))
        middle = lo + int(np.searchsorted(below, below[-1] / 2))
        keys = codes > min(middle, hi - 1)
    else:
        keys = hierarchy.levels[max(hierarchy.smallest(lo, hi)[0] - 1, 0)].node_of[codes]
    failed, rows = _failing(prepared, _regrouped(assignment, entries, np.asarray(keys).reshape(-1, 1)))
    models = sorted({name for names in failed for name in names})
    return {
        "column": hierarchy.attribute,
        "parts": len(rows),
        "failing": sum(bool(names) for names in failed),
        "smallest": int(rows.min()),
        "models": models,
    }


def _stretching(
    frequencies: Frequencies, assignment: Assignment, say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Single rows that stretch their class: what the class would lose less without the row."""
    kept = np.flatnonzero(assignment.class_of != SUPPRESSED)
    class_of, count = assignment.class_of[kept], assignment.count[kept]
    rows = np.bincount(class_of, count, assignment.classes).astype(np.int64)
    weights = [hierarchy.weight for hierarchy in frequencies.quasi]
    whole = sum(weights, Fraction(0)) or Fraction(1)
    gains: list[tuple[Fraction, int, int, int]] = []
    for position, hierarchy in enumerate(frequencies.quasi):
        codes = frequencies.codes[assignment.cell[kept], position]
        pairs, inverse = np.unique(class_of.astype(np.int64) * hierarchy.size + codes, return_inverse=True)
        number = np.bincount(inverse, count).astype(np.int64)
        owner, code = pairs // hierarchy.size, pairs % hierarchy.size
        first = np.searchsorted(owner, np.arange(assignment.classes))
        last = np.searchsorted(owner, np.arange(assignment.classes), "right") - 1
        wide = np.flatnonzero(first < last)
        for own in wide[np.argsort(-rows[wide], kind="stable")][:STRETCHED].tolist():
            lo, hi = int(code[first[own]]), int(code[last[own]])
            for end, other, box in (
                (first[own], code[first[own] + 1], (int(code[first[own] + 1]), hi)),
                (last[own], code[last[own] - 1], (lo, int(code[last[own] - 1]))),
            ):
                if number[end] == 1 and other != code[end]:
                    gain = hierarchy.cost(lo, hi) - hierarchy.cost(*box)
                    gains.append(
                        (gain * (int(rows[own]) - 1) * weights[position] / whole, position, own, int(code[end]))
                    )
    gains.sort(key=lambda item: (-item[0], item[1:]))
    found = []
    for gain, position, own, code_of in gains[:SHOWN]:
        if gain <= 0:
            break
        hierarchy = frequencies.quasi[position]
        value = hierarchy.texts[code_of]
        less = float(gain / frequencies.total)
        found.append({"column": hierarchy.attribute, "value": value, "class_rows": int(rows[own]), "lm_less": less})
        say(
            "single rows",
            f'one row with "{hierarchy.attribute}" {"missing" if value is None else value} stretches its class of '
            f"{rows[own]} rows: without it the loss would be {100 * less:.3f} points lower",
        )
    return found


def _one_level_less(
    prepared: Prepared, assignment: Assignment, say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """What one level less in one column would suppress, and which rows stand in the way (full-domain results)."""
    if assignment.levels is None:
        return []
    frequencies, policy = prepared.counted.frequencies, prepared.policy
    allowed = policy.suppression.allowed(frequencies.total)
    everything = Assignment(
        np.arange(len(frequencies.rows), dtype=np.int32), frequencies.rows, np.zeros(len(frequencies.rows), np.int32), 1
    )
    entries = np.arange(len(frequencies.rows))
    found = []
    for position, hierarchy in enumerate(frequencies.quasi):
        level = assignment.levels[position]
        if level <= hierarchy.min_level:
            continue
        levels = (*assignment.levels[:position], level - 1, *assignment.levels[position + 1 :])
        classes = _regrouped(everything, entries, _nodes(frequencies, everything, entries, levels))
        failed, rows = _failing(prepared, classes)
        bad = np.array([bool(names) for names in failed], np.bool_)
        gone = int(rows[bad].sum())
        kept = Assignment(
            classes.cell,
            classes.count,
            np.where(bad[classes.class_of], SUPPRESSED, classes.class_of).astype(np.int32),
            classes.classes,
        )
        used, new = np.unique(kept.class_of[kept.class_of >= 0], return_inverse=True)
        class_of = np.full(len(kept.class_of), SUPPRESSED, np.int32)
        class_of[kept.class_of >= 0] = new.reshape(-1)
        lower = Assignment(kept.cell, kept.count, class_of, len(used), levels)
        value = float(lm(frequencies, lower, recoding_of(frequencies, lower))[0])
        entry: dict[str, Any] = {
            "column": hierarchy.attribute, "level": level - 1, "suppressed_rows": gone, "allowed": allowed, "lm": value,
        }  # fmt: skip
        blockers = np.flatnonzero(bad)[:SHOWN] if gone > allowed else np.zeros(0, np.int64)
        entry["classes_in_the_way"] = [
            {
                "class": _named(frequencies, frequencies.codes[np.flatnonzero(classes.class_of == n)[0]], levels),
                "rows": int(rows[n]),
            }
            for n in blockers.tolist()
        ]
        found.append(entry)
        fits = (
            f"which is allowed, and lose {100 * value:.1f} %" if gone <= allowed else f"more than the {allowed} allowed"
        )
        say("one level less", f'"{hierarchy.attribute}" at level {level - 1} would suppress {gone} rows, {fits}')
    return found


def _attributes(
    frequencies: Frequencies, by_attribute: dict[str, Fraction], say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """What each quasi-identifier costs, and how many rows are alone only because of it."""
    weights = {hierarchy.attribute: hierarchy.weight for hierarchy in frequencies.quasi}
    whole = sum((weights[name] * loss for name, loss in by_attribute.items()), Fraction(0))
    tuples, rows = frequencies.tuples, frequencies.tuple_rows
    alone = int((rows == 1).sum())
    found: list[dict[str, Any]] = []
    for position, hierarchy in enumerate(frequencies.quasi):
        others = np.delete(tuples, position, axis=1)
        distinct, inverse = np.unique(others, axis=0, return_inverse=True)
        without = np.bincount(inverse.reshape(-1), rows)
        name = hierarchy.attribute
        loss = by_attribute.get(name)
        found.append(
            {
                "column": name,
                "lm": None if loss is None else float(loss),
                "share_of_loss": float(weights[name] * loss / whole) if loss is not None and whole else None,
                "distinct_tuples_without": len(distinct),
                "rows_alone_without": int((without == 1).sum()),
            }
        )
    say("columns", f"{alone} of {frequencies.total} rows are alone with their quasi-identifiers")
    if whole:
        dearest = max(found, key=lambda entry: entry["share_of_loss"] or 0.0)
        say(
            "columns",
            f'"{dearest["column"]}" costs most: {100 * dearest["lm"]:.1f} % of its detail, '
            f"{100 * dearest['share_of_loss']:.0f} % of the whole loss",
        )
    helps = min(found, key=lambda entry: entry["rows_alone_without"])
    if alone and helps["rows_alone_without"] < alone:
        say(
            "columns",
            f'without "{helps["column"]}" {helps["rows_alone_without"]} rows would be alone instead of {alone}',
        )
    return found


def _reachable(prepared: Prepared, limit: Fraction, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
    """Find the strictest parameter of each model that is reached within a loss, the others as they are."""
    policy = prepared.policy
    recoding = policy.recoding.model_copy(update={"quality": "fast", "time_budget": None})
    if policy.recoding.time_budget is not None and policy.recoding.algorithm != "local":
        recoding = policy.recoding
    found = []
    for place, model in enumerate(policy.privacy):
        for name in ("k", "l", "t"):
            value = getattr(model, name, None)
            if value is None or (name == "l" and not isinstance(value, int)):
                continue

            def works(candidate: Any, place: int = place, name: str = name) -> bool:
                changed = list(policy.privacy)
                changed[place] = changed[place].model_copy(update={name: candidate})
                asked = policy.model_copy(update={"privacy": tuple(changed), "recoding": recoding})
                return _loses(prepared, asked) <= limit

            best = _least_t(works) if name == "t" else _largest_whole(works, prepared.counted.frequencies.total)
            entry = {"model": model.model, "attribute": getattr(model, "attribute", None), "parameter": name}
            shown = None if best is None else float(best) if name == "t" else int(best)
            found.append({**entry, "loss": float(limit), "reached": shown, "asked": float(value)})
            of = f' of "{entry["attribute"]}"' if entry["attribute"] else ""
            what = "smallest" if name == "t" else "largest"
            answer = "none was found" if best is None else f"{shown:g} is reached"
            say("reachable", f"{model.model}{of}: the {what} {name} at a loss of {100 * float(limit):g} %: {answer}")
    return found


def _loses(prepared: Prepared, policy: Policy) -> Fraction:
    """LM of the release under another policy; 2 where there is none."""
    from dataclasses import replace

    frequencies = prepared.counted.frequencies
    try:
        assignment = decide(replace(prepared, policy=policy))
    except InfeasibleError:
        return Fraction(2)
    return lm(frequencies, assignment, recoding_of(frequencies, assignment))[0]


def _largest_whole(works: Callable[[int], bool], most: int) -> int | None:
    """Largest whole number that works, by doubling and halving: at most about ``2 RUNS`` searches."""
    if not works(1):
        return None
    low, high = 1, 2
    while high <= most and high <= 1 << RUNS and works(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1 and high - low > low >> RUNS:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def _least_t(works: Callable[[Fraction], bool]) -> Fraction | None:
    """Smallest hundredth that works, by halving."""
    if not works(Fraction(1)):
        return None
    low, high = 0, 100
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(Fraction(middle, 100)) else (middle, high)
    return Fraction(high, 100)
