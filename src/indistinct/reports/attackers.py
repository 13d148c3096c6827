"""What attackers gain, as plain data: the risks of the groups, and documents of ``risk`` and ``attack``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from indistinct.attacks.registry import ATTACKS
from indistinct.errors import DataError
from indistinct.risk.figure import plain
from indistinct.risk.journalist import journalist
from indistinct.risk.marketer import marketer
from indistinct.risk.prosecutor import prosecutor
from indistinct.risk.sample_uniqueness import sample_uniqueness
from indistinct.tables.classes import classes_of, whole_tuples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.risk.figure import Figure

    Int64 = NDArray[np.int64]

THRESHOLD = Fraction(1, 5)
# these look at the published table alone, so that anybody can repeat them
OF_THE_FILE = tuple(attack.name for attack in ATTACKS.values() if attack.of_the_file)
FIGURES = ("attack", "attribute", "ran", "persons", "learnt", "learnt_share", "prior", "posterior", "gain",
           "gain_interval", "largest_gain")  # fmt: skip


def risk_before_and_after(decision: Decision) -> dict[str, Any]:
    """Measure prosecutor, journalist (where there is a population), marketer and uniqueness on the groups.

    Same form as the document of ``risk``, without its sentences; definitions in ``indistinct.risk``.
    """
    frequencies = replace(decision.frequencies, population=None, detailed=False, nested=False)
    before = classes_of(frequencies, whole_tuples(frequencies))
    after = classes_of(decision.frequencies, decision.alike)
    population = None if after.population is None else after.population.rows
    if population is not None and (population < after.sizes).any():
        population = None  # the table is no sample of it
    unit = "rows" if after.persons is None else "persons"
    return {
        **_measured(before.rows, before.sizes, unit),
        "published": _measured(after.rows, after.sizes, unit, population),
    }


def risk_of_file(sizes: Int64) -> dict[str, Any]:
    """Measure the groups of a published file by their rows, as anybody can who has it."""
    return {**_measured(sizes, sizes, "rows"), "published": None}


def _measured(rows: Int64, sizes: Int64, unit: str, population: Int64 | None = None) -> dict[str, Any]:
    figures: list[Figure] = [prosecutor(rows, sizes, THRESHOLD, unit)]
    figures += [] if population is None else [journalist(rows, sizes, population, THRESHOLD)]
    figures += [marketer(rows, sizes, population, THRESHOLD), sample_uniqueness(rows, sizes)]
    entries = [figure.document() for figure in figures]
    return {
        "rows": int(rows.sum()),
        "threshold": plain(THRESHOLD),
        "measures": [{key: value for key, value in entry.items() if key != "sentence"} for entry in entries],
    }


def check_risk(document: Mapping[str, Any], rows: Sequence[int]) -> None:
    """Refuse what is no document of ``risk``, or is about a table with another number of rows."""
    _check(document, "measures", "risk", rows)


def check_attacks(document: Mapping[str, Any], rows: Sequence[int]) -> None:
    """Refuse what is no document of ``attack``, or is about a table with another number of rows."""
    _check(document, "attacks", "attack", rows)


def _check(document: Mapping[str, Any], key: str, command: str, rows: Sequence[int]) -> None:
    if not isinstance(document.get(key), list) or not isinstance(document.get("rows"), int):
        raise DataError(f"this is no answer of indistinct {command}: take what it prints with --json")
    if document["rows"] not in rows:
        known = " or ".join(map(str, dict.fromkeys(rows)))
        raise DataError(
            f"the answer of indistinct {command} is about a table of {document['rows']} rows, and this release is "
            f"about {known}: run {command} again on this one"
        )


def attacks_of_file(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Keep of a document of ``attack`` what follows from the published table alone: figures, no rows, no sentences.

    None where the attacker knew the distribution of the original.
    """
    if document["prior"] != "release":
        return None
    entries = [
        {key: entry[key] for key in FIGURES if key in entry}
        for entry in document["attacks"]
        if entry["attack"] in OF_THE_FILE and (entry.get("details") or {}).get("how") != "measured"
    ]
    return {"prior": "release", "attacks": entries, "warnings": document["warnings"]}
