"""Where a draft starts for a recipient: thresholds of published guidance, with their source. Custom, not a theorem.

A group of k limits the chance of picking the right row of a known person to 1/k. Published guidance names such chances;
none names an l, a t or a share of suppressed rows, so those here are the program's own starting points. The figures of
the sources are quoted from memory, which the drafts say: look them up before citing them.
"""

from __future__ import annotations

from dataclasses import dataclass

from indistinct.errors import PolicyError

_RANGE = (
    "El Emam and Malin, appendix B of Sharing Clinical Trial Data (Institute of Medicine, 2015), quoted from memory"
)


@dataclass(frozen=True, slots=True)
class Start:
    """Starting values of a draft: ``k``, ``l`` and ``limit``; ``t`` is set where ``near``, else proposed in a comment.

    ``reason`` says who gets the table and why k is what it is, ``source`` where that is said.
    """

    k: int
    l: int  # noqa: E741  # the parameter's name
    t: str
    limit: str
    reason: str
    source: str = ""
    near: bool = False


USUAL = Start(5, 3, "0.3", "0", "a usual threshold; every class of look-alikes has at least 5 rows")
RECIPIENTS: dict[str, Start] = {
    "public": Start(
        11,
        3,
        "0.4",
        "0.05",
        "anybody may try, and nothing is called back: a chance of about 0.09",
        "European Medicines Agency, guidance on Policy 0070 (0.09); cell size policy of the Centers for Medicare & "
        "Medicaid Services (no cell of 1 to 10); both quoted from memory",
        near=True,
    ),
    "partners": Start(
        10,
        3,
        "0.3",
        "0.02",
        "bound by a contract, but outside the house: a chance of 0.1",
        f"within the precedents from 0.33 to 0.05 that are listed by {_RANGE}",
    ),
    "researchers": Start(
        5,
        3,
        "0.3",
        "0.02",
        "bound by an agreement and an ethics board: a chance of 0.2",
        f"within the precedents from 0.33 to 0.05 that are listed by {_RANGE}",
    ),
    "internal": Start(
        3,
        2,
        "0.5",
        "0.01",
        "colleagues under the same rules and controls: a chance of 0.33",
        f"the highest of the precedents that are listed by {_RANGE}",
    ),
}


def start_of(recipient: str | None) -> Start:
    """Return where a draft for a recipient starts; without one, with what is usual.

    Raises PolicyError for a recipient that is none of them.

    >>> start_of("public").k, start_of(None).k
    (11, 5)
    """
    if recipient is None:
        return USUAL
    if recipient not in RECIPIENTS:
        known = ", ".join(RECIPIENTS)
        raise PolicyError(f'there are no starting values for "{recipient}"; recipients are {known}', key="--recipient")
    return RECIPIENTS[recipient]
