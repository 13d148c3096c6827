"""Taxonomies from files: one row per value, ``leaf, level 1, ..., top``, as ARX writes them."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError, HierarchyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.values import already_generalized, from_source, positions, quoted, scale
from indistinct.outputs import Output, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.values import Scale
    from indistinct.outputs import Origin

    Row = Sequence[str]

SEPARATORS = ";\t|,"
"""Tried in this order where several fit: labels often hold commas, seldom semicolons."""
QUOTED = re.compile(r'"(?:[^"]|"")*"')
MISSING_LEAF = ""
NEAR_SOUGHT = 5


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A checked hierarchy file: every node of every level is a contiguous run of leaves.

    ``leaves`` in that order; ``node_of[g]`` int32[n_leaves] and ``labels[g]`` for the levels g = 1.. (index 0
    is level 1), nodes numbered along the leaves.
    """

    leaves: tuple[str, ...]
    node_of: tuple[NDArray[np.int32], ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.node_of)

    @property
    def top_labels(self) -> tuple[str, ...]:
        """Labels in which the file ends; one is the root."""
        return self.labels[-1] if self.labels else self.leaves


def read_taxonomy(path: str | Path) -> list[tuple[str, ...]]:
    """Read the rows of a hierarchy file; the separator is the first of ``; tab | ,`` that splits every row.

    Text is UTF-8, with or without a byte-order mark; cells may be quoted; empty lines are skipped; there is
    no header. Raises HierarchyError (file, line) when the file cannot be read. Not checked: that the rows
    form a hierarchy, see ``check``.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        reason = problem.strerror or "it cannot be opened"
        raise HierarchyError(f"hierarchy file {path.name}: {reason}", file=path.name) from None
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        message = f"hierarchy file {path.name}, line {line}: not UTF-8 text; save the file as UTF-8"
        raise HierarchyError(message, file=path.name, line=line) from None
    if "\0" in text:
        raise HierarchyError(f"hierarchy file {path.name} is not a text file", file=path.name)
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    line = 1
    try:
        for row in reader:
            line = reader.line_num + 1
            if row:
                rows.append(tuple(row))
    except csv.Error:
        message = f"hierarchy file {path.name}, line {line}: a quote is opened and not closed properly"
        raise HierarchyError(message, file=path.name, line=line) from None
    return rows


def _separator(text: str) -> str:
    """Find the first separator that stands outside quotes in every line, else in most lines.

    Not the one that splits most evenly: a row may lack an entry, which must be said.
    """
    lines = [line for line in QUOTED.sub("", text).splitlines() if line]
    return max(SEPARATORS, key=lambda separator: sum(separator in line for line in lines))


def check(
    rows: Sequence[Row],
    attribute: str = "",
    where: str = "file",
    *,
    ranks: Sequence[float] | None = None,
) -> Taxonomy:
    """Check that rows form a hierarchy and order their leaves.

    Leaves are ordered by the first appearance of their top label, then of the label below, and so on; with
    ``ranks`` (one number per row) the least rank takes the place of the first appearance. The node that holds
    the leaf ``""`` (a missing value) comes last on every level. A label repeated along one path for the same
    leaves is padding.

    Raises HierarchyError naming the attribute and the offending rows or labels: no rows, rows of unequal
    length, empty labels, a leaf with two rows that differ, a label that goes to two labels of the next level, a label
    that stands for two different sets of leaves.

    >>> check([("flu", "resp", "*"), ("ulcer", "dig", "*"), ("cold", "resp", "*")]).leaves
    ('flu', 'cold', 'ulcer')
    """
    name = f'hierarchy of "{attribute}" ({where})' if attribute else f"hierarchy ({where})"
    columns = _columns(rows, name, attribute)
    once = sorted({leaf: row for row, leaf in reversed([*enumerate(columns[0])])}.values())
    if len(once) < len(rows):  # the same row again says nothing new
        columns = [[column[row] for row in once] for column in columns]
        ranks = None if ranks is None else [ranks[row] for row in once]
    for level, (below, above) in enumerate(pairwise(columns)):
        _check_nested(below, above, level, name, attribute)
    order = (
        np.arange(len(columns[0])) if ranks is None else np.argsort(np.asarray(ranks, dtype=np.float64), kind="stable")
    )
    columns = [[column[row] for row in order.tolist()] for column in columns]
    numbers = [_appearance(column, columns[0]) for column in columns]
    arrangement = np.lexsort(numbers)
    leaves = [columns[0][row] for row in arrangement.tolist()]
    node_of, labels = [], []
    for column, number in zip(columns[1:], numbers[1:], strict=True):
        nodes, first = runs(number[arrangement])
        node_of.append(nodes)
        labels.append(tuple(column[row] for row in arrangement[first].tolist()))
    found = Taxonomy(tuple(leaves), tuple(node_of), tuple(labels))
    _check_labels(found, name, attribute)
    return found


def build(
    attribute: str,
    texts: Sequence[str | None],
    rows: Sequence[Row],
    where: str = "file",
    *,
    type: str = "text",
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Hierarchy:
    """Build the record from the rows of a hierarchy file.

    Only values that occur become codes. LM cost of a node: ``(leaves(node) - 1) / (leaves(root) - 1)`` over
    all leaves of the file, 0 where there is one. A missing value takes the row of the leaf ``""`` if the file
    has one (and ``""`` is no value of the column), else it is one more leaf directly under the root. With a
    type other than text, leaves are matched by what they mean ("05" is 5) and siblings follow the scale. A
    file that ends in several labels has no root.

    Raises HierarchyError as ``check`` does, and for values without a row (up to five are named).

    >>> rows = [("flu", "resp", "all"), ("asthma", "resp", "all"), ("ulcer", "dig", "all")]
    >>> disease = build("disease", ["ulcer", "flu"], rows)
    >>> disease.texts, disease.levels[1].labels, disease.levels[1].costs[0]
    (('flu', 'ulcer'), ('resp', 'dig'), Fraction(1, 2))
    """
    found = scale(attribute, texts, type, decimal=decimal, format=format, order=order)
    ranks = None
    if type != "text":
        rows, ranks = _typed(found, rows, {"decimal": decimal, "format": format, "order": order})
    taxonomy = check(rows, attribute, where, ranks=ranks)
    place = {leaf: index for index, leaf in enumerate(taxonomy.leaves)}
    unplaced = [text for text in found.texts if text not in place]
    if unplaced:
        raise _lacks(attribute, unplaced, taxonomy, where)
    codes = np.sort(np.array([place[text] for text in found.texts], dtype=np.int64))
    present = [taxonomy.leaves[index] for index in codes.tolist()]
    extra = 0
    if found.missing and (MISSING_LEAF not in place or MISSING_LEAF in present):
        extra = 1
    elif found.missing:
        codes = np.append(codes, place[MISSING_LEAF])  # the last leaf, see check
    return assemble(
        attribute,
        "taxonomy",
        present,
        [_grouping(taxonomy, level, codes, extra) for level in range(taxonomy.height)],
        missing=found.missing,
        add_root=False,
        root=taxonomy.top_labels[0] if taxonomy.height and len(taxonomy.top_labels) == 1 else "*",
        positions=_positions(found, present),
        spellings=found.spellings,
    )


def _grouping(taxonomy: Taxonomy, level: int, codes: NDArray[np.int64], extra: int) -> Grouping:
    """One level over the leaves ``codes``; ``extra`` = 1 adds a missing value directly under the root."""
    node_of, labels = taxonomy.node_of[level], taxonomy.labels[level]
    leaves = len(taxonomy.leaves) + extra
    denominator = max(leaves - 1, 1)
    if labels == taxonomy.top_labels and len(labels) == 1:  # the root
        return Grouping(np.zeros(len(codes) + extra, np.int32), labels, Fractions(np.array([leaves - 1]), denominator))
    nodes, first = runs(node_of[codes])
    inner = node_of[codes][first]
    sizes = np.bincount(node_of, minlength=len(labels))[inner]
    return Grouping(nodes, [labels[node] for node in inner.tolist()], Fractions(sizes - 1, denominator))


def _positions(found: Scale, present: list[str]) -> Sequence[Fraction]:
    if found.type == "text":
        return ()
    index = {text: number for number, text in enumerate(found.texts)}
    return Fractions(found.positions[[index[text] for text in present]], found.unit)


def _typed(found: Scale, rows: Sequence[Row], reading: Mapping[str, Any]) -> tuple[list[Row], list[int]]:
    """Write each leaf as the column writes its value, and rank the rows on the scale; other leaves come last."""
    keys: list[Fraction | None] = []
    for row in rows:
        try:
            places, unit = positions(found.attribute, [row[0]] if row else [""], found.type, **reading)
            keys.append(Fraction(int(places[0]), unit))
        except DataError:
            keys.append(None)
    text_of = dict(zip(found.fractions, found.texts, strict=True))
    for key, row in zip(keys, rows, strict=True):
        if key is not None:
            text_of.setdefault(key, row[0])
    rank = {key: number for number, key in enumerate(sorted(text_of))}
    renamed = [row if key is None else (text_of[key], *row[1:]) for key, row in zip(keys, rows, strict=True)]
    return renamed, [len(rank) if key is None else rank[key] for key in keys]


def _columns(rows: Sequence[Row], name: str, attribute: str) -> list[list[str]]:
    """Turn rows of equal length into columns; rows of one leaf must be equal and no label may be empty."""
    if not rows:
        raise HierarchyError(f"{name} is empty; give it one row per value: value, level 1, ..., top", column=attribute)
    lengths = Counter(map(len, rows))
    expected = max(lengths, key=lambda length: (lengths[length], length == len(rows[0])))
    for number, row in enumerate(rows, 1):
        if len(row) != expected:
            entries = f"{len(row)} {'entry' if len(row) == 1 else 'entries'}"
            message = f"{name}, row {number}: {entries}, but {expected} expected as in the other rows"
            raise HierarchyError(message, column=attribute, line=number)
    columns = [list(column) for column in zip(*rows, strict=True)]
    for level, column in enumerate(columns[1:], 1):
        if "" in column:
            number = column.index("") + 1
            message = f"{name}, row {number}: the label of level {level} is empty; write one, or repeat the one below"
            raise HierarchyError(message, column=attribute, line=number)
    seen: dict[str, int] = {}
    for number, leaf in enumerate(columns[0], 1):
        if leaf in seen and tuple(rows[seen[leaf] - 1]) != tuple(rows[number - 1]):
            message = f'{name}: the value "{leaf}" has two rows that differ, {seen[leaf]} and {number}; keep one'
            raise HierarchyError(message, column=attribute, line=number)
        seen.setdefault(leaf, number)
    return columns


def _check_nested(below: list[str], above: list[str], level: int, name: str, attribute: str) -> None:
    parent: dict[str, str] = {}
    for label, up in zip(below, above, strict=True):
        known = parent.setdefault(label, up)
        if known != up:
            raise HierarchyError(
                f'{name} is not nested: "{label}" of level {level} goes to both "{known}" and "{up}" '
                f"of level {level + 1}; every label needs one label above it",
                column=attribute,
            )


def _appearance(column: list[str], leaves: list[str]) -> NDArray[np.int64]:
    """Enumerate labels by first appearance; the one that holds the missing leaf comes last."""
    number: dict[str, int] = {}
    for label in column:
        number.setdefault(label, len(number))
    if MISSING_LEAF in leaves:
        number[column[leaves.index(MISSING_LEAF)]] = len(number)
    return np.array([number[label] for label in column], dtype=np.int64)


def _check_labels(found: Taxonomy, name: str, attribute: str) -> None:
    """Refuse a label that stands for two different sets of leaves; equal sets are equal runs of leaves."""
    known: dict[str, tuple[int, int, int]] = {leaf: (0, place, place + 1) for place, leaf in enumerate(found.leaves)}
    for level, (node_of, labels) in enumerate(zip(found.node_of, found.labels, strict=True), 1):
        starts = np.searchsorted(node_of, np.arange(len(labels) + 1)).tolist()
        for label, start, stop in zip(labels, starts, starts[1:], strict=False):
            lower, first, last = known.setdefault(label, (level, start, stop))
            if (first, last) != (start, stop):
                raise HierarchyError(
                    f'{name}: the label "{label}" stands for {_leaves(found, first, last)} on level {lower} and for '
                    f"{_leaves(found, start, stop)} on level {level}; give the two sets different labels",
                    column=attribute,
                )


def _leaves(found: Taxonomy, start: int, stop: int) -> str:
    return quoted(found.leaves[start : min(stop, start + 4)], stop - start, limit=3)


def _lacks(attribute: str, unplaced: list[str], taxonomy: Taxonomy, where: str) -> HierarchyError:
    near = next(((text, leaf) for text in unplaced[:NEAR_SOUGHT] if (leaf := _near(text, taxonomy.leaves))), None)
    hint = "" if near is None else f' (it has "{near[1]}", which differs from "{near[0]}" {_differ(*near)})'
    above = {label for labels in taxonomy.labels for label in labels}
    label = already_generalized(unplaced) or next((f'"{text}"' for text in unplaced if text in above), "")
    return HierarchyError(
        f'hierarchy of "{attribute}" ({where}) has no row for {quoted(unplaced)}{hint}; add the rows, or '
        f"mend the cells{from_source(label)}",
        column=attribute,
    ).showing(quoted(unplaced), *filter(None, [hint, label]))


def _near(text: str, leaves: Sequence[str]) -> str | None:
    """Find the leaf that differs by blanks, case or composed characters, else one that differs by one character."""
    alike = {_folded(leaf): leaf for leaf in reversed(leaves)}
    if _folded(text) in alike:
        return alike[_folded(text)]
    return next((leaf for leaf in leaves if _one_apart(text, leaf)), None)


def _one_apart(a: str, b: str) -> bool:
    """Whether two texts differ by one character, put in, left out or changed, and share others.

    >>> _one_apart("E1,E2", "E1,E22"), _one_apart("I21", "I2"), _one_apart("a", "b"), _one_apart("I21", "I12")
    (True, True, False, False)
    """
    short, long = sorted((a, b), key=len)
    if len(long) - len(short) > 1 or len(long) < 2:
        return False
    start = next((at for at, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[start + (len(short) == len(long)) :] == long[start + 1 :]


def _differ(text: str, leaf: str) -> str:
    return "by one character" if _folded(text) != _folded(leaf) else "by blanks or case"


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).casefold().split())


def write_taxonomy(
    path: str | Path, rows: Sequence[Row], origins: Sequence[Origin] = (), *, force: bool = False
) -> None:
    """Write rows as a hierarchy file (``;``, quotes where needed, UTF-8) that ``read_taxonomy`` reads back unchanged.

    Raises what ``write_bytes`` does: a file that exists is replaced with ``force`` only, one of ``origins`` never.
    """
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    write_bytes(Output(Path(path), "hierarchy file"), text.getvalue().encode(), origins, force=force)
