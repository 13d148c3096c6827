"""Tables of texts from rows as dicts."""

import pyarrow as pa


def as_table(rows):
    """Make an Arrow table of texts; all rows have the columns of the first."""
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
