"""Prove or refute a published release in groups, whoever made it: what ``verify`` does for two tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import SchemaError
from indistinct.formats.columnar import is_text
from indistinct.proof.coverage import Coverage, Side, coverage
from indistinct.proof.groups import Pair, blanks_of_groups, groups_of_pair, judge_groups, split
from indistinct.proof.joint_assignment import Choices, feasible
from indistinct.proof.misfit import misfit
from indistinct.proof.recount import respelled, restored
from indistinct.proof.release import label_reader
from indistinct.proof.spelling import guard_of, spellers
from indistinct.proof.totals import false_totals
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.recount import Recount, count_source
from indistinct.tables.two_tables import COUNT, GROUP, TOTALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from indistinct.notices import Notice
    from indistinct.proof.groups import Groups
    from indistinct.session.prepare import Prepared

    Int64 = NDArray[np.int64]

MOST_PAIRS = 5_000_000


@dataclass(frozen=True)
class GroupsProof:
    """What was found out: ``coverage`` of the rows of ``pair.qit``, entries of the models, and numbers for the answer.

    ``rows`` of QIT, ``classes`` they form, ``groups``. ``restore`` gives the texts of a column as they are compared.
    ``notices`` name the groups that hold only by missing values.
    """

    pair: Pair
    coverage: Coverage
    models: list[dict[str, Any]]
    rows: int
    classes: int
    groups: int
    restore: Callable[[Dictionary], list[str | None]]
    notices: list[Notice]


def prove_groups(
    prepared: Prepared, qit: Recount, st: Recount | None, path: Path | None, *, attribute: str
) -> GroupsProof:
    """Judge a re-read pair, or (``st`` None) one table with permuted values, against the original.

    Coverage is proven when an assignment exists of different original rows to all rows of QIT such that untouched
    columns agree, every quasi-identifier is covered, and the sensitive values of each group are those that ST counts.

    Raises SchemaError when a column that the pair needs is lacking.
    """
    permuted = st is None
    needed: list[tuple[Recount, tuple[str, ...]]] = [(qit, (GROUP, attribute) if st is None else (GROUP,))]
    needed += [] if st is None else [(st, (GROUP, attribute, COUNT))]
    for side, columns in needed:
        for name in columns:
            if name not in side.columns:
                raise SchemaError.unknown_column(name, side.columns)
    names = [name for name in qit.columns if name != GROUP and not (permuted and name in (attribute, *TOTALS))]
    before = count_source(prepared.source, [*names, attribute])
    typed = [name for name in before.columns if not is_text(prepared.source.types[name])]
    spellings = spellers({name: before.column(name)[0] for name in before.columns}, typed, prepared.policy)
    before, guard = restored(before, spellings), guard_of(prepared.policy, path)
    qit = restored(qit, spellings, guard)
    if st is None:
        faults = false_totals(qit, attribute, prepared.policy.table.decimal)
        pair = split(qit, attribute)
    else:
        faults, pair = [], Pair(qit, restored(st, spellings, guard))
    frequencies = prepared.counted.frequencies
    groups = groups_of_pair(pair, frequencies, attribute)
    models, classes = judge_groups(pair, groups, frequencies, prepared.policy)
    answer = _covered(prepared, pair, groups, before, names, attribute, (*groups.faults, *faults))
    number = int(pair.qit.rows.sum())

    def restore(column: Dictionary) -> list[str | None]:
        return respelled(column, spellings, guard)

    notices = blanks_of_groups(groups, frequencies, prepared.policy, attribute)
    return GroupsProof(pair, answer, models, number, len(classes), groups.number, restore, notices)


def _covered(
    prepared: Prepared,
    pair: Pair,
    groups: Groups,
    before: Recount,
    names: Sequence[str],
    attribute: str,
    faults: Sequence[str],
) -> Coverage:
    """Decide whether rows and values can come from the original together."""
    if faults:
        return Coverage("refuted", [], "; ".join(faults))
    qit = pair.qit
    quasi = [name for name in prepared.roles.quasi if name in names]
    general, tables = [], []
    for name in quasi:
        reader = label_reader(name, before.column(name)[0], prepared)
        texts = qit.column(name)[0]
        known = set(before.column(name)[0])
        # columns that the policy never changes are compared as they are, and labels that stand for one value each
        fixed = prepared.roles.attributes[name].hierarchy is None
        if not all(text in known and (fixed or len(reader.find(text)) == 1) for text in texts):
            general.append(name)
            tables.append(np.stack([reader.covers(text) for text in texts]))
    key_p, key_o = _keys(qit, before, [name for name in names if name not in general])
    labels = np.column_stack([np.zeros((len(qit.rows), 0), np.int32), *(qit.column(name)[1] for name in general)])
    values = np.column_stack([np.zeros((len(before.rows), 0), np.int32), *(before.column(name)[1] for name in general)])
    covers, same = dict(zip(general, tables, strict=True)), [name for name in names if name not in general]

    def why(row: int, *, grouped: bool = True) -> str:
        return misfit(row, qit, before, covers, same, grouped=grouped)

    alone = _rows_alone(key_p, labels, qit, key_o, values, before, tables, general)
    alone = replace(alone, why=lambda row: why(row, grouped=False))
    if alone.status == "refuted":
        return alone
    pairs = _pairs(key_p, key_o)
    if pairs is None:
        return Coverage("not proven", [], "too many rows are alike to match rows and values; rows were checked alone")
    row, origin = pairs
    for position, table in enumerate(tables):
        agree = table[labels[row, position], values[origin, position]]
        row, origin = row[agree], origin[agree]
    choices = _with_entries(row, origin, groups, before, attribute, prepared)
    answer = feasible(choices, qit.rows, groups.count, before.rows)
    if answer.status == "proven" or alone.status == "proven":
        return Coverage(answer.status, [(number, None) for number in answer.rows], answer.reason, why)
    return alone if answer.status == "not proven" else Coverage(answer.status, [], answer.reason)


def _rows_alone(
    key_p: Int64,
    labels: NDArray[np.int32],
    qit: Recount,
    key_o: Int64,
    values: NDArray[np.int32],
    before: Recount,
    tables: Sequence[NDArray[np.bool_]],
    general: Sequence[str],
) -> Coverage:
    """Decide whether the rows of QIT can come from different original rows, whatever their values."""
    if general:
        return coverage(Side(key_p, labels, qit.rows), Side(key_o, values, before.rows), tables, general)
    size = int(max(key_p.max(initial=0), key_o.max(initial=0))) + 1
    published, original = (np.zeros(size, np.int64) for _ in range(2))
    np.add.at(published, key_p, qit.rows)
    np.add.at(original, key_o, before.rows)
    more = np.flatnonzero((published > original)[key_p])
    if not len(more):
        return Coverage("proven")
    return Coverage("refuted", [(int(row), None) for row in more], "some rows are published oftener than they occur")


def _keys(qit: Recount, before: Recount, names: Sequence[str]) -> tuple[Int64, Int64]:
    """Number the combinations of the columns that are compared as they are, equally on both sides."""
    columns = []
    for name in names:
        numbers = Dictionary(name)
        both = []
        for side in (qit, before):
            texts, codes = side.column(name)
            both.append(np.array([numbers.number(text) for text in texts], np.int64)[codes])
        columns.append(np.concatenate(both))
    total = len(qit.rows) + len(before.rows)
    key = np.zeros(total, np.int64)
    for column in columns:  # renumbered after every column, so that products stay small
        key = np.unique(key * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
    return key[: len(qit.rows)], key[len(qit.rows) :]


def _pairs(key_p: Int64, key_o: Int64) -> tuple[Int64, Int64] | None:
    """All pairs of equal keys, or None when they are too many."""
    order = np.argsort(key_o, kind="stable")
    begin, end = (np.searchsorted(key_o[order], key_p, side) for side in ("left", "right"))
    number = end - begin
    if int(number.sum()) > MOST_PAIRS:
        return None
    row = np.repeat(np.arange(len(key_p)), number)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    return row, order[np.repeat(begin, number) + offset]


def _with_entries(
    row: Int64, origin: Int64, groups: Groups, before: Recount, attribute: str, prepared: Prepared
) -> Choices:
    """Keep the pairs whose sensitive value the group of the row has, and say which entry of ST that is."""
    hierarchy = prepared.counted.frequencies.references[attribute].hierarchy
    texts, codes = before.column(attribute)
    known = hierarchy.codes()
    # rows that the policy leaves out have a value that is not counted
    value = np.array([known.get(text, hierarchy.size) for text in texts], np.int64)[codes]
    width = hierarchy.size + 1
    entry_keys = groups.owner * width + groups.value
    order = np.argsort(entry_keys, kind="stable")
    wanted = groups.of_row[row] * width + value[origin]
    place = np.minimum(np.searchsorted(entry_keys[order], wanted), max(0, len(order) - 1))
    found = entry_keys[order][place] == wanted if len(order) else np.zeros(len(wanted), np.bool_)
    return Choices(row[found], order[place[found]], origin[found])
