"""Datafly: generalize the column with most values until few enough rows are left to suppress.

    node = the least levels
    while the classes that violate a model hold more rows than may be suppressed:
        raise by one level the attribute with most distinct values in the present table

Distinct values are counted over all rows, also those that would be suppressed; ties go to the earlier attribute, an
attribute at its most general level is passed over. The original stops at k rows or fewer; here the policy's suppression
limit decides. Any model may stand in the place of k: the loop ends at the most general levels at the latest. The result
is not minimal.

Source: L. Sweeney, Guaranteeing anonymity when sharing medical data, the Datafly system, AMIA 1997; L. Sweeney,
IJUFKS 10(5), 2002, section 3, doi:10.1142/S021848850200165X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.climb import climb
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import Datafly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def datafly(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Raise one attribute by one level, the one with most distinct values, until all models hold.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all. Levels stay
    within ``min_level``..``max_level``; a level with the same nodes as the one below it is passed over.

    Raises InfeasibleError when the most general levels do not hold either; whatever ``progress`` raises.
    """
    return climb(frequencies, policy, progress, _most_values)


def _most_values(lattice: Lattice, node: tuple[int, ...], attributes: Sequence[int]) -> int:
    return max(attributes, key=lambda a: (np.count_nonzero(lattice.node_rows[a][node[a]]), -a))


ALGORITHM = Algorithm(Datafly, datafly, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
