"""Which models an algorithm can hold, and the sentence when it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import PolicyError
from indistinct.models import is_merge_closed
from indistinct.policy.privacy import TCloseness

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies


def refuse_published_alike(policy: Policy, what: str, remedy: str) -> None:
    """Refuse models that are not merge-closed where two classes may be published alike: they would be one class.

    Raises PolicyError with the remedy.
    """
    for model in policy.privacy:
        if not is_merge_closed(model):
            raise PolicyError(
                f"{what} may publish two classes alike, and under {model.model} two classes that hold may fail as one; "
                f"{remedy}",
                key="recoding.algorithm",
            )


def one_t_closeness(policy: Policy, name: str) -> TCloseness:
    """Return the one t-closeness model of a policy; ``name`` deals out the rows by its attribute.

    Raises PolicyError when there is none, or more than one.
    """
    found = [model for model in policy.privacy if isinstance(model, TCloseness)]
    if len(found) != 1:
        number = "no" if not found else "more than one"
        raise PolicyError(
            f"{name} deals out the rows by the one sensitive attribute of t_closeness, and the policy names {number} "
            f'such model; algorithm = "local" or "merge" take any',
            key="recoding.algorithm",
        )
    return found[0]


def refuse_persons(frequencies: Frequencies, name: str) -> None:
    """Refuse tables with a person key: ``name`` separates rows that must stay together.

    Raises PolicyError naming the algorithms that can.
    """
    if frequencies.persons is not None:
        raise PolicyError(
            f"{name} sends equal rows to different classes, and with a person key they must stay together; "
            'algorithm = "local", "mondrian" (strict), "mdav" or "k_member" keep them together',
            key="recoding.algorithm",
        )
