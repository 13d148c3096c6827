"""Whether a policy recodes so that a release does not betray sensitive values to who runs the program again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from indistinct.notices import Notice, Sentence
from indistinct.policy.privacy import DistinctL
from indistinct.policy.recoding import DEFAULT, Local

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indistinct.policy.parameters import Privacy
    from indistinct.policy.recoding import Recoding

# LM on the benchmark table rises by 15 % (l = 2), 33 % (l = 3) and 64 % (l = 5); under entropy l by 38 % and more,
# under recursive (c, l) by 81 % and more, under ordered t by 61 %, under alpha to nearly three times as much
CHEAP = (DistinctL,)


class Chosen(Protocol):
    """What of a policy decides whether it recodes robustly."""

    @property
    def version(self) -> int: ...  # noqa: D102

    @property
    def recoding(self) -> Recoding: ...  # noqa: D102

    @property
    def privacy(self) -> Sequence[Privacy]: ...  # noqa: D102


def is_robust(policy: Chosen) -> bool:
    """Whether recoding is robust: asked for, or ``auto`` with a key and only models under which it is cheap.

    Where no model looks at a sensitive column nothing can be betrayed, and nothing is to be done.

    >>> from indistinct.policy import DistinctL, Policy
    >>> def of(version, **robust):
    ...     attributes = {"age": {"role": "qi"}, "ill": {"role": "sensitive"}}
    ...     recoding = {"key_env": "KEY", **robust}
    ...     return Policy(version=version, attributes=attributes, privacy=[DistinctL("ill", 2)], recoding=recoding)
    >>> is_robust(of(1)), is_robust(of(1, robust="auto")), is_robust(of(2)), is_robust(of(2, robust=False))
    (False, True, True, False)
    """
    recoding = policy.recoding
    if not isinstance(recoding, Local) or not looking_models(policy.privacy):
        return False
    chosen = _chosen(policy, recoding)
    return recoding.is_keyed and not dear_models(policy.privacy) if chosen == "auto" else chosen


def _chosen(policy: Chosen, recoding: Local) -> Literal["auto", True, False]:
    """What the policy says, or what its version says for it: policies of version 1 publish what they always did."""
    if recoding.robust is not None:
        return recoding.robust
    return False if policy.version == 1 else "auto"


def without_auto(recoding: Any, *, of_local: bool) -> Any:
    """Leave ``robust = "auto"`` out of a section as it was given: of ``local`` if so asked, of other algorithms always.

    >>> without_auto({"robust": "auto", "key_env": "KEY"}, of_local=True)
    {'key_env': 'KEY'}
    """
    if isinstance(recoding, Local):
        return recoding.model_copy(update={"robust": None}) if of_local and recoding.robust == "auto" else recoding
    if not isinstance(recoding, Mapping) or recoding.get("robust") != "auto":
        return recoding
    if not of_local and recoding.get("algorithm", DEFAULT) == DEFAULT:
        return recoding
    return {key: value for key, value in recoding.items() if key != "robust"}


def looking_models(models: Iterable[Privacy]) -> Sequence[Privacy]:
    """Return the models that look at a sensitive column: what is merged for them tells of its values."""
    return [model for model in models if model.attributes_used]


def dear_models(models: Iterable[Privacy]) -> Sequence[Privacy]:
    """Return the models for which ``auto`` leaves robust recoding off, because it would lose too much."""
    return [model for model in looking_models(models) if not isinstance(model, CHEAP)]


def why_not_robust(policy: Chosen) -> Sentence | None:
    """Say why recoding is not robust; None where it is, or where no model looks at a sensitive column."""
    recoding, models = policy.recoding, policy.privacy
    if not looking_models(models) or is_robust(policy):
        return None
    if not isinstance(recoding, Local):
        return Sentence("the algorithm is {algorithm}: only local can be robust", algorithm=recoding.algorithm)
    if recoding.robust is False:
        return Sentence("the policy says robust = false")
    if dear := dear_models(models):
        names = ", ".join(dict.fromkeys(model.model for model in dear))
        return Sentence("under {models} it costs much: ask for it with robust = true", models=names)
    if recoding.robust is None and policy.version == 1:
        return Sentence('under version = 1 it is off unless the policy says robust = "auto" or robust = true')
    return Sentence("it needs a key for its coins: name key_file or key_env under [recoding]")


def robust_notices(policy: Chosen) -> Iterator[Notice]:
    """Say of a key that nothing uses why that is so."""
    if not isinstance(policy.recoding, Local) or not policy.recoding.is_keyed or is_robust(policy):
        return
    why = why_not_robust(policy) or Sentence("no model looks at a sensitive column")
    yield Notice("robust", None, Sentence("the key under [recoding] is not used: {why}", why=why))
