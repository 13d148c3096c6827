"""Populations of some regions, for estimates of what is unique in the whole population.

Counts of the last census known to the authors, with its year; give the number itself where another one is right.
"""

from __future__ import annotations

from typing import Final

from indistinct.errors import PolicyError

# region -> (people, source)
REGIONS: Final[dict[str, tuple[int, str]]] = {
    "australia": (25_422_788, "census 2021"),
    "canada": (36_991_981, "census 2021"),
    "china": (1_411_778_724, "census 2020, mainland"),
    "england-and-wales": (59_597_542, "census 2021"),
    "germany": (82_719_540, "census 2022"),
    "india": (1_210_854_977, "census 2011"),
    "japan": (126_146_099, "census 2020"),
    "usa": (331_449_281, "census 2020"),
}


def population_of(region: str) -> tuple[int, str]:
    """Return the number of people in a region, and where it is from.

    Raises PolicyError for a region that is not listed.

    >>> population_of("USA")
    (331449281, 'census 2020')
    """
    try:
        return REGIONS[region.strip().lower()]
    except KeyError:
        known = ", ".join(REGIONS)
        raise PolicyError(f'"{region}" is no listed region ({known}); give --population-size, a number') from None
