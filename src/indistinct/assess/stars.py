"""How risk reads a star in one cell: as any value, or as a value of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.risk.figure import things
from indistinct.risk.wildcards import fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Frequencies

    Int64 = NDArray[np.int64]

READINGS = ("wildcard", "value")


@dataclass(frozen=True)
class Stars:
    """``sizes`` int64[g] that risk is measured by, and what the document says of the reading (None: no star)."""

    sizes: Int64
    document: dict[str, Any] | None


def read_stars(
    frequencies: Frequencies, token: str, published: NDArray[np.bool_], classes: Classes, reading: str | None
) -> Stars:
    """Count what each row fits where cells hold ``token``; rows starred as a whole are not ``published``.

    ``reading`` is one of ``READINGS``; None takes ``wildcard`` where a row has the token in some of its
    quasi-identifiers and sizes count rows. Definitions: ``risk.wildcards``. No model and no verdict uses this reading.

    Raises PolicyError for another word, and for stars as any value where sizes count persons; UnsupportedError where
    stars stand in too many ways and were asked for.
    """
    if reading not in (None, *READINGS):
        raise PolicyError(f'"{reading}" is no reading of stars; choose {" or ".join(READINGS)}', key="stars")
    tuples, rows = frequencies.tuples[published], frequencies.tuple_rows[published]
    codes = [hierarchy.texts.index(token) if token in hierarchy.texts else -1 for hierarchy in frequencies.quasi]
    starred = (tuples == np.array(codes, np.int32)).any(axis=1)
    if not starred.any():
        return Stars(classes.sizes, None)
    some = int(rows[starred].sum())
    about = f"{things(some, 'rows')} with {token} in some quasi-identifiers"
    persons = classes.persons is not None
    if reading == "wildcard" and persons:
        message = "stars are read as any value where sizes count rows, and here they count persons: leave out the key"
        raise PolicyError(message, key="stars")
    why = ", because sizes count persons" if persons else ""
    if reading != "value" and not persons:
        try:
            found = fits(tuples, codes, [hierarchy.size for hierarchy in frequencies.quasi], rows)
        except UnsupportedError:
            if reading == "wildcard":
                raise
            why = ", because stars stand in too many different ways to compare"
        else:
            least = int(found.sure.min())
            sentence = (
                f"{about}: a star is read as any value, so a class is what a row fits up to, and no k is promised on "
                f"it; {things(least, 'rows')} at least {'is' if least == 1 else 'are'} sure to fit any row"
            )
            return Stars(
                found.wildcard, {"reading": "wildcard", "rows": some, "smallest_sure": least, "sentence": sentence}
            )
    sentence = f"{about}: a star is read as a value of its own{why}"
    return Stars(classes.sizes, {"reading": "value", "rows": some, "smallest_sure": None, "sentence": sentence})
