"""Proximity risk: how much of a class lies around one of its sensitive numbers.

For every row of a class, the share of the class in its neighbourhood [v - eps, v + eps], the row itself excluded and
included; eps that of the row's interval, as (eps_i,k)-anonymity has it (``models.eps_i_k_anonymity``, where the size
cap of 2k rows is left out: on the classes of a generalized table it has no meaning). Someone who finds the class of a
person knows the value to within eps with that confidence. A measurement, not a proof.

Source: J. Li, Y. Tao, X. Xiao, SIGMOD 2008, doi:10.1145/1376616.1376666; T. Wang, M. Wen, Computer Systems and
Applications 28(7):184-190, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indistinct.models.eps_i_k_anonymity import measure, prepared, remarks
from indistinct.models.numbers import numbers_of

if TYPE_CHECKING:
    from fractions import Fraction

    from indistinct.models import Context
    from indistinct.policy.privacy import EpsIKAnonymity
    from indistinct.tables.records import Classes


@dataclass(frozen=True)
class Proximity:
    """The largest risks of a row, exactly, where they are, and a sentence with the counts.

    ``risk`` excludes the row itself, ``including_self`` counts it. ``rows_above_half``: rows of classes in which some
    row has a risk above 1/2 (the row itself excluded). ``separated``: the fewest separated rows of a class.
    """

    risk: Fraction
    including_self: Fraction
    rows_above_half: int
    separated: int
    sentence: str


def proximity(privacy: EpsIKAnonymity, classes: Classes, context: Context) -> Proximity:
    """Measure the proximity risk of classes.

    Raises DataError for missing and, unless they are shifted, negative values. Not checked: that there is a class.
    """
    numbers = numbers_of(context.references[privacy.attribute])
    epsilons, around = prepared(privacy, numbers)
    groups = measure(classes, numbers, around)
    above = ~groups.at_most_half
    rows, total = int(groups.rows[above].sum()), int(groups.rows.sum())
    worst = int((groups.near / groups.rows).argmax())
    sentence = (
        f"in the worst class {groups.near[worst]} of {groups.rows[worst]} rows have a {privacy.attribute} within eps "
        f"of one of them; {rows} of {total} rows are in classes in which a row has more than half of the class near it"
    )
    if rows:
        sentence += "; coarser quasi-identifiers or a larger k would mix in values farther away"
    return Proximity(
        groups.risk,
        groups.risk_including_self,
        rows,
        int(groups.separated.min()),
        "; ".join([sentence, *remarks(numbers, around.interval, epsilons)]),
    )
