"""The user's own SQL, asked of both tables.

On the original the query runs as it is. The release is answered by an even spread inside its cells: every generalized
cell is replaced by a value drawn from it (and the sensitive values of a group are dealt to its rows at random), the
query runs on that table, and so ``draws`` times; the estimate is the
mean of the answers, the interval their 2.5th and 97.5th percentile (what the spread leaves open, not sampling). The
table is called ``data``. The query is run by DuckDB, which may touch nothing but that table.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis
    from indistinct.utility.tables import TablePair

DRAWS = 20
GROUPS = 1000


def sql_queries(pair: TablePair, queries: Sequence[str], *, draws: int = DRAWS, seed: int = 1) -> list[dict[str, Any]]:
    """Answer each query from both tables: one entry for each group and number of its answer.

    The columns of an answer that are no numbers name its groups; the others are compared. A group that one side lacks
    counts 0 there. Needs O(draws * rows).

    Raises PolicyError for SQL that fails, an answer without numbers or with more than 1000 rows.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    before = _exact(pair)
    actual = [_ask(before, query) for query in queries]
    answers: list[list[dict[tuple[str, ...], float]]] = [[] for _ in queries]
    for _ in range(draws):
        table = _drawn(pair, generator)
        for number, query in enumerate(queries):
            answers[number].append(_ask(table, query))
    return [
        {"query": query, "draws": draws, "seed": seed, "answers": _compared(own, drawn)}
        for query, own, drawn in zip(queries, actual, answers, strict=True)
    ]


def _compared(actual: dict[tuple[str, ...], float], drawn: list[dict[tuple[str, ...], float]]) -> list[dict[str, Any]]:
    found = []
    for key in dict.fromkeys([*actual, *(key for answer in drawn for key in answer)]):
        values = np.array([answer.get(key, 0.0) for answer in drawn])
        own, mean = actual.get(key, 0.0), float(values.mean())
        low, high = np.percentile(values, [2.5, 97.5]).tolist()
        found.append(
            {
                "group": list(key[:-1]),
                "column": key[-1],
                "original": own,
                "release": mean,
                "interval": [low, high],
                "relative_error": abs(own - mean) / abs(own) if own else None,
            }
        )
    return found


def _exact(pair: TablePair) -> Any:
    codes = np.repeat(np.arange(len(pair.rows_before)), pair.rows_before)
    columns = {}
    for place, axis in enumerate(pair.axes):
        own = pair.before[codes, place]
        if axis.is_ordered and axis.at is not None and axis.type != "ordinal":
            columns[axis.name] = _typed(axis, axis.at[own])
        else:
            columns[axis.name] = _taken(axis.before, own)
    return _table(columns)


def _drawn(pair: TablePair, generator: np.random.Generator) -> Any:
    codes = pair.drawn(generator)
    columns = {}
    for place, axis in enumerate(pair.axes):
        values = axis.draw(generator, codes[:, place])
        if axis.is_ordered and axis.type != "ordinal":
            columns[axis.name] = _typed(axis, values)
            continue
        texts, number = axis.leaves, np.where(np.isnan(values), -1, values).astype(np.int64)
        if axis.type == "ordinal" and axis.at is not None:
            ranks = sorted({int(rank): text for rank, text in zip(axis.at, axis.before, strict=True)
                            if not np.isnan(rank)}.items())  # fmt: skip
            texts = tuple(text for _, text in ranks)
            known = np.array([rank for rank, _ in ranks])
            number = np.where(number < 0, -1, np.clip(np.searchsorted(known, number), 0, len(known) - 1))
        columns[axis.name] = _taken(texts, number)
    return _table(columns)


def _typed(axis: Axis, values: NDArray[np.float64]) -> Any:
    import pyarrow as pa

    gone = np.isnan(values)
    if axis.type == "decimal":
        return pa.array(values, pa.float64(), mask=gone)
    whole = np.where(gone, 0, values).astype(np.int64)
    if axis.type == "date":
        return pa.array(whole.astype(np.int32), pa.int32(), mask=gone).cast(pa.date32())
    return pa.array(whole, pa.int64(), mask=gone)


def _taken(texts: Sequence[str | None], codes: NDArray[np.integer[Any]]) -> Any:
    import pyarrow as pa

    own = pa.array([*texts, None], pa.string())
    return own.take(pa.array(np.where(codes < 0, len(texts), codes).astype(np.int64)))


def _table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def _ask(table: Any, query: str) -> dict[tuple[str, ...], float]:
    """Answer a query: (names of the group, name of the number) -> number."""
    import duckdb
    import pyarrow as pa

    with duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    ) as connection:
        connection.register("data", table)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise PolicyError("a query must be one SELECT statement on the table data")
            answer = connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            hint = ""
            if isinstance(error, duckdb.BinderException):
                texts = ", ".join(column.name for column in table.schema if pa.types.is_string(column.type))
                hint = f"; of type text are {texts}: declare a type in the policy, or cast" if texts else ""
            message = f"the query cannot be answered: {str(error).splitlines()[0]}{hint}"
            raise PolicyError(message) from error
    if answer.num_rows > GROUPS:
        raise PolicyError(f"the query gives {answer.num_rows} rows; the most are {GROUPS}: group or filter it")
    return _read(answer)


def _read(answer: Any) -> dict[tuple[str, ...], float]:
    import pyarrow as pa

    kinds = [field.type for field in answer.schema]
    numbers = [
        position
        for position, kind in enumerate(kinds)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    ]
    if not numbers:
        raise PolicyError("the query gives no number to compare; select a count, a mean or another number")
    if len(numbers) == len(kinds) and answer.num_rows > 1:
        numbers = numbers[-1:]  # the columns before the last name the groups
    groups = [position for position in range(len(kinds)) if position not in numbers]
    found = {}
    for row in zip(*(column.to_pylist() for column in answer.columns), strict=True):
        for position in numbers:
            if row[position] is not None:
                key = (*(str(row[at]) for at in groups), answer.schema.names[position])
                found[key] = float(row[position])
                if not isfinite(found[key]):
                    raise PolicyError("the query gives a number that is not finite, as a division by zero does")
    return found
