"""Published ranges as numbers: two columns for each generalized ordered column, for SQL and for models."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.errors import UnsupportedError
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import path_of
from indistinct.hierarchies.labels import Interval, parse
from indistinct.policy import given as given_policy
from indistinct.proof.published_file import published_options
from indistinct.session.absent_columns import SCALED
from indistinct.session.prepare import reading_of
from indistinct.tables.dictionary import Dictionary

if TYPE_CHECKING:
    from fractions import Fraction

    from indistinct.policy import GivenPolicy

ARROW = {"integer": pa.int64(), "decimal": pa.float64()}


def bounds(published: Any, policy: GivenPolicy) -> pa.Table:
    """Return a published table with the columns ``X_from`` and ``X_to`` after each quasi-identifier X with a scale.

    Both ends are inclusive: ``[20, 30)`` of whole numbers is 20 and 29, ``2024-03`` is its first and last day; the
    upper end of a half-open range of decimals is not reached. An open end, a suppressed and a missing value are null.
    The rows and their order are those of the file; nothing but the published labels is used, so the result may be
    published.

    ``published`` is a file of this program, or a frame; types integer and decimal give numbers, date gives days.

    Parameters
    ----------
    published
        A file of this program, or a frame.
    policy
        The policy, a file of one, or what ``Policy`` takes.

    Returns
    -------
    pyarrow.Table
        The table with its new columns: numbers for integer and decimal, days for date.

    Raises
    ------
    ValueError
        When a column of such a name is there already; beside what reading raises.

    Examples
    --------
    >>> from indistinct.policy import Policy
    >>> age = {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}}
    >>> table = pa.table({"age": ["[20, 30)", "41", "*"]})
    >>> bounds(table, Policy(attributes={"age": age})).to_pydict()
    {'age': ['[20, 30)', '41', '*'], 'age_from': [20, 41, None], 'age_to': [29, 41, None]}
    """
    policy = given_policy(policy)
    path = path_of(published)
    options = published_options(policy, path, policy.table.delimiter)
    if policy.table.delimiter is None and ((chosen := format_of(path)) is None or chosen.delimiter is None):
        options = replace(options, delimiter=None)  # found out from the file
    source = open_source(published, options)
    scaled = {
        name: reading_of(policy, source, name)
        for name in source.columns
        if name in policy.quasi_identifiers and policy.attributes[name].type in SCALED
    }
    for name in scaled:
        for new in (f"{name}_from", f"{name}_to"):
            if new in source.columns:
                message = f'there is a column "{new}" already'
                raise ValueError(message)
    batches = list(source.batches())
    table = pa.Table.from_batches(batches).unify_dictionaries()
    columns: dict[str, Any] = {}
    for name in source.columns:
        columns[name] = table.column(name)
        if name not in scaled:
            continue
        labels = Dictionary(name)
        codes = [labels.encode(batch.column(batch.schema.get_field_index(name))) for batch in batches]
        ends = [ends_of(text, scaled[name], policy.output.suppressed_token) for text in labels.texts]
        for at, new in enumerate((f"{name}_from", f"{name}_to")):
            values = array_of(name, [end[at] for end in ends], scaled[name]["type"])
            columns[new] = pa.chunked_array([values.take(pa.array(part)) for part in codes], values.type)
    return pa.table(columns)


def ends_of(
    label: str | None, reading: dict[str, Any], token: str
) -> tuple[Fraction | int | None, Fraction | int | None]:
    """Inclusive ends of a label; None where it has none."""
    if label is None or label in (token, "*"):
        return None, None
    found = parse(label, **reading)
    if not isinstance(found, Interval):
        return None, None
    low, high = found.low, found.high
    if reading["type"] == "decimal":
        return low, high
    first = None if low is None else ceil(low) if found.low_closed else floor(low) + 1
    last = None if high is None else floor(high) if found.high_closed else ceil(high) - 1
    return first, last


def array_of(name: str, ends: list[Any], kind: str) -> Any:
    """Make an Arrow array of ends: whole numbers, doubles or days.

    Raises UnsupportedError for whole numbers beyond 64 bits.
    """
    if kind == "date":
        return pa.array(ends, pa.int32()).cast(pa.date32())
    numbers = [None if end is None else float(end) if kind == "decimal" else int(end) for end in ends]
    try:
        return pa.array(numbers, ARROW[kind])
    except (OverflowError, pa.ArrowException):
        raise UnsupportedError(f'the ends of "{name}" are too large for a column of numbers', column=name) from None
