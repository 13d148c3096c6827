"""Before a release is delivered: ask the ledger that the policy names whether earlier guarantees would still hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, PolicyError, VerificationError
from indistinct.history.key import ledger_key_of, read_ledger_key
from indistinct.history.ledger import Ledger
from indistinct.history.snapshot import snapshot_of
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy


def open_ledger(policy: Policy) -> Ledger | None:
    """Open the ledger that a policy names, with its key; None when it names none.

    Raises DataError when there is no such file: a wrong path must not look like a first release. PolicyError when
    the key is missing that the ledger was begun with, or is not the right one.
    """
    releases = policy.releases
    if releases is None:
        return None
    path = policy.locate(releases.ledger)
    if not path.is_file():
        raise DataError(
            f"there is no ledger {path.name}; before the first release leave [releases] out of the policy, and begin "
            "the ledger with: indistinct releases add",
            file=path.name,
        )
    key = None
    if releases.key_file is not None:
        key = read_ledger_key(policy.locate(releases.key_file), path)
    elif releases.key_env is not None:
        key = ledger_key_of(releases.key_env)
    ledger = Ledger(path, key)
    if key is None and any(release["persons"] is not None for release in ledger.releases()):
        raise PolicyError("the ledger knows persons: name its key, key_file or key_env under [releases]")
    return ledger


def consult(ledger: Ledger, decision: Decision, place: Path | None) -> tuple[dict[str, Any], list[Notice]]:
    """Attack a release that is about to be delivered together with all earlier ones; nothing is entered.

    ``place`` is the finished file, not yet named; None for a table in memory. Under ``require = "compatible"`` a
    release is refused that breaks a guarantee; what could not be looked at is a notice. Under ``"m_invariance"`` it
    is refused unless everything was looked at and holds.

    Returns the entry of the document. Raises VerificationError when the release is refused, with the persons counted.
    """
    releases = decision.policy.releases
    assert releases is not None  # noqa: S101  # the ledger was opened because of it
    answer = ledger.check(snapshot_of(decision, place, ledger.key, m=releases.m))
    if answer["satisfied"] is False:
        raise VerificationError(
            f"together with the earlier releases of the ledger this one breaks a guarantee: "
            f"{'; '.join(answer['reasons'])}; nothing was delivered; publish one that keeps the classes of the earlier "
            "ones"
        )
    if releases.m is not None and answer["satisfied"] is None:
        raise VerificationError(
            f"m-invariance over the releases of the ledger could not be proved: {'; '.join(answer['not_judged'])}; "
            "nothing was delivered"
        )
    entry = {"require": releases.require, "m": releases.m, **answer}
    notices = [
        Notice("ledger", None, Sentence("not judged beside earlier releases: {what}", what=one))
        for one in answer["not_judged"]
    ]
    return entry, notices
