"""Tables of a database, through SQLAlchemy: NULL stays missing and an empty text stays an empty text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.errors import DataError, PolicyError, UnsupportedError
from indistinct.formats.columnar import ENCODED, table_source, text_types
from indistinct.formats.moments import several_offsets
from indistinct.formats.source import extra_required
from indistinct.formats.texts import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indistinct.formats.source import Source, TableOptions

FETCH_ROWS = 50_000
# what a database driver may hand out and Arrow keeps as it is; anything else becomes its text
_NATIVE = (bool, int, float, Decimal, dt.date, dt.datetime, dt.time, dt.timedelta, bytes)


def open_database(url: str, options: TableOptions) -> Source:
    """Run ``options.query``, or read all of ``options.table``, at an SQLAlchemy URL.

    The answer is fetched once, in batches, and kept (texts dictionary-encoded): a database may answer a second
    time in another order, or with other rows. A column that mixes types becomes text.

    Raises PolicyError unless exactly one of query and table is given, UnsupportedError when SQLAlchemy or the
    driver is not installed, DataError when the database refuses or has no such file or table or no rows.
    """
    try:
        import sqlalchemy as sa
    except ModuleNotFoundError:
        raise extra_required("sqlalchemy") from None
    if (options.query is None) == (options.table is None):
        raise PolicyError("a database needs either a query or the name of a table; give one of them")
    name = options.table or "the query"
    try:
        address = sa.make_url(url)
        _require_file(address)
        engine = sa.create_engine(address)
    except sa.exc.NoSuchModuleError:
        message = f"no driver for {url.partition(':')[0]} is installed; install the package of that database"
        raise UnsupportedError(message) from None
    except sa.exc.ArgumentError:
        raise PolicyError("the database URL cannot be read; write it like sqlite:///file.db") from None
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"this database needs the package {error.name}; install it") from None
    try:
        table = _fetch(engine, options)
    except sa.exc.SQLAlchemyError as error:
        # the first line of the driver's own words; SQLAlchemy's would repeat the statement and its parameters
        words = str(getattr(error, "orig", None) or type(error).__name__).partition("\n")[0]
        raise DataError(f"the database refuses {name}: {words}", file=name) from None
    finally:
        engine.dispose()
    source = table_source(table, name)
    source.types = text_types(source.types)
    return source


def _require_file(address: Any) -> None:
    """SQLite would make an empty database of a file that is not there."""
    place = address.database
    if address.get_backend_name() != "sqlite" or not place or place == ":memory:" or place.startswith("file:"):
        return
    if not Path(place).is_file():
        raise DataError(f"there is no file {Path(place).name}; check the URL", file=Path(place).name)


def _fetch(engine: Any, options: TableOptions) -> pa.Table:
    import sqlalchemy as sa

    # without parameters a percent sign is no placeholder
    with engine.connect().execution_options(stream_results=True, no_parameters=True) as connection:
        if options.query is not None:
            # as written: a colon in it is no parameter
            result = connection.exec_driver_sql(options.query)
        else:
            quoted = quoted_table(connection, str(options.table))
            result = connection.execute(sa.text(f"SELECT * FROM {quoted}"))  # noqa: S608  # quoted by its driver
        if not result.returns_rows:
            raise DataError("the query returns no table; write a SELECT")
        names = list(result.keys())
        chunks: list[list[pa.Array]] = [[] for _ in names]
        for rows in result.partitions(FETCH_ROWS):
            for part, values in zip(chunks, zip(*rows, strict=True), strict=True):
                part.append(sql_array(values))
    return pa.table([_joined(part) for part in chunks], names=names)


def quoted_table(connection: Any, table: str) -> str:
    """Quote the name of a table, with or without its schema."""
    import sqlalchemy as sa

    quote = connection.dialect.identifier_preparer.quote_identifier
    schema, dot, name = table.rpartition(".")
    look = sa.inspect(connection)
    if dot and not (look.has_table(table) or table in look.get_view_names()):
        return f"{quote(schema)}.{quote(name)}"
    return str(quote(table))


def sql_array(values: Sequence[object]) -> pa.Array:
    """Take the values of a driver over as an Arrow array; a mix of types becomes text."""
    if several_offsets(values):
        values = [value.isoformat(" ") if isinstance(value, dt.datetime) else value for value in values]
    try:
        array = pa.array(_native(values))
    except (pa.ArrowException, TypeError, OverflowError):
        array = pa.array([None if value is None else _text(value) for value in values], pa.string())
    return array.dictionary_encode().cast(ENCODED) if pa.types.is_string(array.type) else array


def _native(values: Sequence[object]) -> Iterator[object]:
    return (v if v is None or isinstance(v, (str, *_NATIVE)) else _text(v) for v in values)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        # only reached in a column that mixes bytes with other types
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _joined(chunks: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Chunks of one column under one type: the widest number type, or text where types mix."""
    kinds = {part.type for part in chunks if not pa.types.is_null(part.type)}
    if not kinds:
        return pa.chunked_array([part.cast(pa.string()) for part in chunks], pa.string())
    kind = kinds.pop() if len(kinds) == 1 else _common(kinds)
    if kind == ENCODED:
        texts = (part if part.type == ENCODED else as_text(part).dictionary_encode() for part in chunks)
        return pa.chunked_array([part.cast(ENCODED) for part in texts], ENCODED)
    return pa.chunked_array([part.cast(kind) for part in chunks], kind)


def _common(kinds: set[pa.DataType]) -> pa.DataType:
    """One type for chunks of several: moments of several zones become text, so that each keeps its clock."""
    if all(pa.types.is_decimal(kind) for kind in kinds):
        whole = max(kind.precision - kind.scale for kind in kinds)
        scale = max(kind.scale for kind in kinds)
        return pa.decimal256(whole + scale, scale) if whole + scale > 38 else pa.decimal128(whole + scale, scale)
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return ENCODED
