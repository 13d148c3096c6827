"""Whether a policy recodes so that a release does not betray sensitive values to who runs the program again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from indistinct.notices import Notice, Sentence
from indistinct.policy.privacy import DistinctL
from indistinct.policy.recoding import Local, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indistinct.policy.parameters import Privacy
    from indistinct.policy.recoding import Recoding

# LM on the benchmark table rises by 15 % (l = 2), 33 % (l = 3) and 64 % (l = 5); under entropy l by 38 % and more,
# under recursive (c, l) by 81 % and more, under ordered t by 61 %, under alpha to nearly three times as much
CHEAP = (DistinctL,)


class Deciding(Protocol):
    """What of a policy decides about it."""

    @property
    def version(self) -> int:
        """The version of the policy, for its defaults."""

    @property
    def recoding(self) -> Recoding:
        """The algorithm and its options."""

    @property
    def privacy(self) -> Sequence[Privacy]:
        """The models."""


def is_robust(policy: Deciding) -> bool:
    """Whether recoding is robust: asked for, or ``auto`` with a key and only models under which it is cheap.

    Where no model looks at a sensitive column nothing can be betrayed, and nothing is to be done.

    >>> from indistinct.policy import DistinctL, Policy
    >>> roles = {"age": {"role": "qi"}, "disease": {"role": "sensitive"}}
    >>> given = {"attributes": roles, "privacy": [DistinctL("disease", 2)], "recoding": {"key_env": "KEY"}}
    >>> is_robust(Policy(version=1, **given)), is_robust(Policy(version=2, **given))
    (False, True)
    """
    recoding, wanted = policy.recoding, robust_of(policy)
    if not isinstance(recoding, Local) or not looking_models(policy.privacy):
        return False
    if wanted == "auto":
        return recoding.is_keyed and not dear_models(policy.privacy)
    return wanted


def robust_of(policy: Deciding) -> bool | Literal["auto"]:
    """Return what the policy asks for; where it says nothing, the default of its version: false, or auto from 2 on."""
    wanted = option(policy.recoding, "robust")
    if wanted is None:
        return "auto" if policy.version > 1 else False
    found: bool | Literal["auto"] = wanted
    return found


def looking_models(models: Iterable[Privacy]) -> Sequence[Privacy]:
    """Return the models that look at a sensitive column: what is merged for them tells of its values."""
    return [model for model in models if model.attributes_used]


def dear_models(models: Iterable[Privacy]) -> Sequence[Privacy]:
    """Return the models for which ``auto`` leaves robust recoding off, because it would lose too much."""
    return [model for model in looking_models(models) if not isinstance(model, CHEAP)]


def why_not_robust(policy: Deciding) -> Sentence | None:
    """Say why recoding is not robust; None where it is, or where no model looks at a sensitive column."""
    recoding, models = policy.recoding, policy.privacy
    if not looking_models(models) or is_robust(policy):
        return None
    if not isinstance(recoding, Local):
        return Sentence("the algorithm is {algorithm}: only local can be robust", algorithm=recoding.algorithm)
    if recoding.robust is None and policy.version == 1:
        return Sentence('under version = 1 it is on where the policy asks for it only: set robust = true, or "auto"')
    if recoding.robust is False:
        return Sentence("the policy says robust = false")
    if dear := dear_models(models):
        names = ", ".join(dict.fromkeys(model.model for model in dear))
        return Sentence("under {models} it costs much: ask for it with robust = true", models=names)
    return Sentence("it needs a key for its coins: name key_file or key_env under [recoding]")


def robust_notices(policy: Deciding) -> Iterator[Notice]:
    """Say of a key that nothing uses why that is so."""
    recoding = policy.recoding
    if not isinstance(recoding, Local) or not recoding.is_keyed or is_robust(policy):
        return
    why = why_not_robust(policy) or Sentence("no model looks at a sensitive column")
    yield Notice("robust", None, Sentence("the key under [recoding] is not used: {why}", why=why))
