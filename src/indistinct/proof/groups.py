"""Releases in groups: where they are written, how they are read back and judged.

Models of a sensitive attribute are judged on the groups (the counts of ST), models of quasi-identifiers alone on the
rows that QIT publishes alike. A release of one table with permuted values is read as the pair that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.decision.decide import grouped_attribute
from indistinct.errors import DataError
from indistinct.formats.registry import format_of
from indistinct.hierarchies.values import number_key
from indistinct.models import Context
from indistinct.models.eps_i_k_anonymity import sizes_fit
from indistinct.notices import Notice, Sentence
from indistinct.policy.privacy import EpsIKAnonymity
from indistinct.proof.published_file import published_options
from indistinct.proof.recount import altered, matches, projected
from indistinct.proof.release import as_spelled, uncovered_columns
from indistinct.proof.totals import false_totals
from indistinct.session.absent_columns import range_names
from indistinct.session.blanks import GROUPS, blank_notices
from indistinct.session.verdicts import judge
from indistinct.tables.classes import histograms_of, joint_counts
from indistinct.tables.count import silent, translation
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import Classes
from indistinct.tables.recount import Recount
from indistinct.tables.two_tables import COUNT, GROUP, TOTALS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

SHEETS = ("QIT", "ST")
PROTECTS = Sentence(
    "which of the sensitive values of a group belongs to which of its rows is not told, though all groups together let "
    "it be guessed better than one group alone; that somebody is in the table is not hidden, and a row whose "
    "quasi-identifiers nobody else has stays recognisable"
)


@dataclass(frozen=True)
class Pair:
    """Both re-read tables, as distinct rows: ``qit`` with the column group, ``st`` with group, value and count."""

    qit: Recount
    st: Recount


@dataclass(frozen=True)
class Groups:
    """What a re-read pair says.

    Entry i of ST: ``count[i]`` rows of group ``owner[i]`` have the value with code ``value[i]`` (-1: not an original
    one). ``of_row`` int64[distinct rows of QIT]: their group. ``number`` groups, called ``names``; ``faults`` are
    sentences about what does not fit together.
    """

    owner: Int64
    value: NDArray[np.int32]
    count: Int64
    of_row: Int64
    number: int
    names: list[str | None]
    faults: tuple[str, ...]


def pair_of(output: Path) -> tuple[Path, ...]:
    """Return the files of a release of two tables: one for each, or a workbook with both.

    >>> from pathlib import Path
    >>> [path.name for path in pair_of(Path("out.csv"))], [path.name for path in pair_of(Path("out.xlsx"))]
    (['out.qit.csv', 'out.st.csv'], ['out.xlsx'])
    """
    if holds_sheets(output):
        return (output,)
    return tuple(output.with_name(f"{output.stem}.{part}{output.suffix}") for part in ("qit", "st"))


def holds_sheets(path: Path | None) -> bool:
    """Whether a file of this name holds several tables."""
    chosen = format_of(path)
    return chosen is not None and chosen.sheets and chosen.write is not None


def place_of_manifest(qit: Path) -> Path:
    """Return the output as it was asked for, beside which the manifest stands, from the file of quasi-identifiers."""
    stem = qit.stem.removesuffix(".qit")
    return qit.with_name(f"{stem}{qit.suffix}")


def weakness(published: Published, quasi: Sequence[str]) -> Notice:
    """Say what a release in groups protects and what not, with the number of rows that are alone."""
    columns = [column.codes for column in published.columns if column.name in quasi]
    codes = np.column_stack(columns)
    first, number = numbered_rows(codes + 1, [int(own.max(initial=-1)) + 2 for own in columns])
    sizes = np.zeros(len(first), np.int64)
    np.add.at(sizes, number, published.repeat)
    alone = int((sizes == 1).sum())
    message = Sentence(
        "this release is in groups: {protects} ({n} of {rows} rows are alone with theirs); add k_anonymity where the "
        "algorithm can hold it, or use an algorithm of classes, if that must not be seen",
        protects=PROTECTS,
        n=alone,
        rows=published.rows,
    )
    return Notice("presence", None, message)


def verify_groups_written(
    decision: Decision, places: Sequence[Path] | None, *, progress: Progress = silent
) -> dict[str, Any]:
    """Read the written files (or the tables in memory) back and say what is proved about them, as ``verify_written``.

    ``rows_match``: both tables are, as multisets, what source and decision give; the decision came from a dealing of
    the original rows, so a possible assignment exists. Totals of permuted values are worked out anew (``totals``).
    """
    policy, frequencies = decision.policy, decision.frequencies
    attribute = grouped_attribute(policy)
    progress("verify", 0, 3)
    tables = [decision.published] if decision.values is None else [decision.published, decision.values]
    found = [read_back(decision, table, places, position) for position, table in enumerate(tables)]
    rows_match = all(matches(table, own) for table, own in zip(tables, found, strict=True))
    progress("verify", 1, 3)
    failing = uncovered_columns(decision)
    progress("verify", 2, 3)
    pair = Pair(*found) if len(found) == 2 else split(found[0], attribute)
    groups = groups_of_pair(pair, frequencies, attribute)
    faults = [*groups.faults]
    if len(found) == 1:
        faults += false_totals(found[0], attribute, policy.table.decimal)
    models, classes = judge_groups(pair, groups, frequencies, policy)
    progress("verify", 3, 3)
    proof: dict[str, Any] = {"rows_match": rows_match, "coverage": "refuted" if failing else "proven"}
    if not rows_match:
        proof["altered_columns"] = [
            name for table, own in zip(tables, found, strict=True) for name in altered(table, own)
        ]
    if failing:
        proof["uncovered_columns"] = failing
    if faults:
        proof["faults"] = faults
    return {
        "verification": proof,
        "models": models,
        "classes": len(classes),
        "groups": groups.number,
        "satisfied": rows_match and not failing and not faults and all(entry["satisfied"] for entry in models),
    }


def read_back(decision: Decision, table: Published, places: Sequence[Path] | None, position: int) -> Recount:
    """Read a written table (or the one in memory) back, as it was to be spelled."""
    policy, run = decision.policy, decision.policy.run
    path = None if places is None else places[position if len(places) > 1 else 0]
    options = published_options(policy, path, decision.prepared.source.dialect)
    if holds_sheets(path) and decision.values is not None:
        options = replace(options, sheet=SHEETS[position])
    ends = {new for names in range_names(policy).values() for new in names}
    read = decision.prepared.engine.recount(
        path if path is not None else table.table(),
        [column.name for column in table.columns if column.name not in ends],
        options,
        temp_dir=None if run.temp_dir is None else policy.locate(run.temp_dir),
        memory_bytes=run.memory_bytes,
    )
    return as_spelled(read, table, policy, path)


def split(found: Recount, attribute: str) -> Pair:
    """Take a table with permuted values apart: only what it says about groups can be true of single rows."""
    qit = projected(found, [name for name in found.columns if name not in (attribute, *TOTALS)])
    together = projected(found, [GROUP, attribute])
    numbers = Dictionary(COUNT)
    counts = np.array([numbers.number(str(rows)) for rows in together.rows.tolist()], np.int32)
    st = Recount(
        (*together.columns, COUNT),
        (*together.texts, numbers.texts),
        np.column_stack([together.codes, counts]),
        np.ones(len(counts), np.int64),
    )
    return Pair(qit, st)


def groups_of_pair(pair: Pair, frequencies: Frequencies, attribute: str) -> Groups:
    """Read which values each group has, and whether both tables say the same about its size."""
    names, owner, of_row, counts = groups_of_entries(pair)
    number = int(max(owner.max(initial=-1), of_row.max(initial=-1))) + 1
    texts, codes = pair.st.column(attribute)
    value = translation(texts, frequencies.references[attribute].hierarchy)[codes]
    faults = []
    if any(None in side.column(GROUP)[0] for side in (pair.st, pair.qit)):
        faults.append("some rows have no group")
    if (counts < 1).any():
        faults.append(f"{int((counts < 1).sum())} counts are no whole numbers above 0")
    strange = int(counts[value < 0].sum())
    if strange:
        faults.append(f"{strange} rows of the table of values have a value that the original lacks")
    sizes = [np.zeros(number, np.int64) for _ in range(2)]
    np.add.at(sizes[0], owner, counts)
    np.add.at(sizes[1], of_row, pair.qit.rows)
    unequal = int((sizes[0] != sizes[1]).sum())
    if unequal:
        faults.append(f"{unequal} of {number} groups have not as many values as rows")
    return Groups(owner, value, counts, of_row, number, names, tuple(faults))


def groups_of_entries(pair: Pair) -> tuple[list[str | None], Int64, Int64, Int64]:
    """Number the groups: their names, int64 that of each entry of ST and each row of QIT, and the rows of each entry.

    What is no whole number above 0 counts 0.
    """
    names: dict[str | None, str | None] = {}
    owner, of_row = (_group_numbers(side, names) for side in (pair.st, pair.qit))
    texts, codes = pair.st.column(COUNT)
    return (
        [*names.values()],
        owner,
        of_row,
        np.array([whole_number(text) for text in texts], np.int64)[codes] * pair.st.rows,
    )


def _group_numbers(side: Recount, names: dict[str | None, str | None]) -> Int64:
    """Number the groups of a side; ``names``, by key, in the order of their numbers, are added to."""
    texts, codes = side.column(GROUP)
    # formats that keep numbers as doubles may write 1 as 1.0
    keys = [None if text is None else str(number_key(text, ".") or text) for text in texts]
    for key, text in zip(keys, texts, strict=True):
        names.setdefault(key, text)
    number = {key: place for place, key in enumerate(names)}
    return np.array([number[key] for key in keys], np.int64)[codes]


def whole_number(text: str | None) -> int:
    """Read a whole number above 0; 0 stands for everything else."""
    try:
        number = Fraction(text or "")
    except ValueError:
        return 0
    return int(number) if number.denominator == 1 and 0 < number < 1 << 62 else 0


def judge_groups(
    pair: Pair, groups: Groups, frequencies: Frequencies, policy: Policy
) -> tuple[list[dict[str, Any]], Classes]:
    """Judge a re-read pair: an entry for each model that says what it was judged ``on``, and the classes of QIT.

    Raises DataError when no group has a value that occurs in the original.
    """
    by_group = classes_of_groups(groups, frequencies, grouped_attribute(policy))
    by_row = _classes_of_rows(pair.qit, frequencies)
    return judge_both(policy, by_group, by_row, Context(frequencies.references)), by_row


def judge_both(policy: Policy, by_group: Classes, by_row: Classes, context: Context) -> list[dict[str, Any]]:
    """Judge models of sensitive attributes on the groups, others on the classes of quasi-identifiers."""
    entries: list[dict[str, Any]] = []
    for model in policy.privacy:
        on, classes = ("groups", by_group) if model.attributes_used else ("classes", by_row)
        (entry,), _ = judge(policy.model_copy(update={"privacy": (model,)}), classes, context)
        if isinstance(model, EpsIKAnonymity):
            entry = _with_size_cap(entry, by_group, model.k)
        entries.append({**entry, "on": on})
    return entries


def _with_size_cap(entry: dict[str, Any], groups: Classes, k: int) -> dict[str, Any]:
    """Judge the size of groups too, from k to 2k rows: the model leaves it out, as it is asked of groups only."""
    fits = sizes_fit(groups, k)
    wrong = int((~fits).sum())
    if not wrong:
        return entry
    reason = f"{wrong} of {len(groups)} groups have not {k} to {2 * k} rows; {entry['reason']}"
    counts = {"violating_classes": wrong, "violating_rows": int(groups.rows[~fits].sum())}
    worst = {key: max(number, entry[key]) for key, number in counts.items()}  # at least so many: some may fail twice
    return {**entry, "satisfied": False, **worst, "reason": reason}


def classes_of_groups(groups: Groups, frequencies: Frequencies, attribute: str) -> Classes:
    """Take re-read groups as classes, by their values; raises DataError when none has a value of the original."""
    known = (groups.value >= 0) & (groups.count > 0)
    if not known.any():
        raise DataError("no published group has values that occur in the original; is it the original?")
    # groups without any known value are no classes; the faults tell of them
    used, owner = np.unique(groups.owner[known], return_inverse=True)
    sizes = [frequencies.references[attribute].hierarchy.size]
    joint = joint_counts(
        owner.reshape(-1).astype(np.int32), groups.value[known].reshape(-1, 1), groups.count[known], len(used), sizes
    )
    rows = np.zeros(len(used), np.int64)
    np.add.at(rows, joint[0], joint[2])
    return Classes(rows, None, (attribute,), histograms_of((attribute,), *joint, len(used), sizes), *joint)


def blanks_of_groups(groups: Groups, frequencies: Frequencies, policy: Policy, attribute: str) -> list[Notice]:
    """Name the re-read groups that hold only because a missing value counts as a value."""
    known = np.unique(groups.owner[(groups.value >= 0) & (groups.count > 0)])
    classes, context = classes_of_groups(groups, frequencies, attribute), Context(frequencies.references)

    def name_of(number: int) -> str:
        return f"number {groups.names[known[number]]}"

    return blank_notices(policy, classes, context, name_of, of=GROUPS)


def _classes_of_rows(qit: Recount, frequencies: Frequencies) -> Classes:
    names = [hierarchy.attribute for hierarchy in frequencies.quasi if hierarchy.attribute in qit.columns]
    rows = projected(qit, names).rows
    nothing = np.zeros(0, np.int32)
    return Classes(rows, None, (), {}, nothing, nothing.reshape(0, 0), np.zeros(0, np.int64))
