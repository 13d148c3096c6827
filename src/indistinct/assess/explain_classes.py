"""What ``explain`` says of classes: why rows are suppressed, classes are large, and what a level less would do."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.losses import lm
from indistinct.models import Context, evaluate
from indistinct.sentences.results import counted
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Frequencies, Recoding

    Int64 = NDArray[np.int64]

SHOWN = 5
LARGEST = 3
STRETCHED = 5000  # classes that are searched for rows which stretch them


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


def suppressed(prepared: Prepared, assignment: Assignment, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
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


def largest(
    prepared: Prepared, assignment: Assignment, recoding: Recoding, say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Why the largest classes are so large: what their parts would fail."""
    frequencies = prepared.counted.frequencies
    published = assignment.class_of != SUPPRESSED
    rows = np.bincount(assignment.class_of[published], assignment.count[published], assignment.classes).astype(np.int64)
    labels = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    found = []
    for number in np.argsort(-rows, kind="stable")[:LARGEST].tolist():
        entries = np.flatnonzero(assignment.class_of == number)
        node_of = _nodes(
            frequencies, assignment, entries, (0,) * len(frequencies.quasi)
        )  # rows may differ below a floor
        own = np.unique(node_of, axis=0, return_inverse=True)[1].reshape(-1)
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
    """What would become of a class split in one column: by finer nodes, a range at its median, a set by value."""
    frequencies = prepared.counted.frequencies
    hierarchy = frequencies.quasi[position]
    lo, hi = int(recoding.lo[number, position]), int(recoding.hi[number, position])
    node_of = hierarchy.levels[0].node_of
    if node_of[lo] == node_of[hi]:
        return None
    codes = frequencies.codes[assignment.cell[entries], position]
    if hierarchy.is_range:
        below = np.cumsum(np.bincount(codes - lo, assignment.count[entries]))
        middle = lo + int(np.searchsorted(below, below[-1] / 2))
        keys = codes > min(middle, hi - 1)
    elif position in recoding.held and recoding.listed(position)[recoding.boxes(position)[2][number]]:
        keys = codes
    else:
        keys = hierarchy.levels[hierarchy.meeting(lo, hi) - 1].node_of[codes]
    failed, rows = _failing(prepared, _regrouped(assignment, entries, np.asarray(keys).reshape(-1, 1)))
    models = sorted({name for names in failed for name in names})
    return {
        "column": hierarchy.attribute,
        "parts": len(rows),
        "failing": sum(bool(names) for names in failed),
        "smallest": int(rows.min()),
        "models": models,
    }


def stretching(
    frequencies: Frequencies, assignment: Assignment, say: Callable[[str, str], None]
) -> list[dict[str, Any]]:
    """Single rows that stretch their class: what the class would lose less without the row."""
    published = np.flatnonzero(assignment.class_of != SUPPRESSED)
    class_of, count = assignment.class_of[published], assignment.count[published]
    rows = np.bincount(class_of, count, assignment.classes).astype(np.int64)
    weights = [hierarchy.weight for hierarchy in frequencies.quasi]
    whole = sum(weights, Fraction(0)) or Fraction(1)
    gains: list[tuple[Fraction, int, int, int]] = []
    for position, hierarchy in enumerate(frequencies.quasi):
        codes = frequencies.codes[assignment.cell[published], position]
        pairs, inverse = np.unique(class_of.astype(np.int64) * hierarchy.size + codes, return_inverse=True)
        number = np.bincount(inverse, count).astype(np.int64)
        owner, code = pairs // hierarchy.size, pairs % hierarchy.size
        first = np.searchsorted(owner, np.arange(assignment.classes))
        last = np.searchsorted(owner, np.arange(assignment.classes), "right") - 1
        wide = np.flatnonzero(first < last)
        for own in wide[np.argsort(-rows[wide], kind="stable")][:STRETCHED].tolist():
            held = code[first[own] : last[own] + 1].tolist()
            ends = range(first[own], last[own] + 1) if hierarchy.sets is not None else (first[own], last[own])
            for end in ends:
                if number[end] == 1:
                    others = [other for other in held if other != code[end]]
                    gain = hierarchy.cost_of(held) - hierarchy.cost_of(others)
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


def one_level_less(prepared: Prepared, assignment: Assignment, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
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
        published = Assignment(
            classes.cell,
            classes.count,
            np.where(bad[classes.class_of], SUPPRESSED, classes.class_of).astype(np.int32),
            classes.classes,
        )
        used, new = np.unique(published.class_of[published.class_of >= 0], return_inverse=True)
        class_of = np.full(len(published.class_of), SUPPRESSED, np.int32)
        class_of[published.class_of >= 0] = new.reshape(-1)
        lower = Assignment(published.cell, published.count, class_of, len(used), levels)
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
