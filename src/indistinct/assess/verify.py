"""Verification as a job: the ledger that the policy names is opened here and handed to the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.algorithms import form_of
from indistinct.history.consult import open_ledger
from indistinct.history.signatures import with_history
from indistinct.policy import given as given_policy
from indistinct.proof.verify import Verification, prove
from indistinct.session.engines import opened_for
from indistinct.session.verdicts import invariant_model
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from indistinct.policy import GivenPolicy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

__all__ = ["Verification", "verify"]


def verify(
    original: Any,
    published: Any,
    policy: GivenPolicy,
    st: Any = None,
    *,
    query: str | None = None,
    sql_table: str | None = None,
    engine: str | None = None,
    progress: Progress = silent,
) -> Verification:
    """Prove or refute that a published table is a truthful release of the original that satisfies the policy.

    The models are evaluated on the published classes with the distribution of the original as reference. Coverage is
    *proven* when every published row can be assigned to an original row of its own that agrees on the untouched
    columns and is covered in every quasi-identifier. With a person key the published file does not say whose a row is:
    sizes count the least number of persons that any truthful assignment allows.

    A release of two tables is given as ``published``, the quasi-identifiers by group, and ``st``, the sensitive values
    by group; as ``release.table``; or as a workbook with the sheets QIT and ST. One with permuted values is told by the
    policy. Models of sensitive attributes are then judged on the groups, and an assignment must exist that gives both
    tables at once. Under m-invariance the ledger of the policy tells the values of earlier releases, and of counterfeit
    rows no coverage is claimed.

    Where the policy has transforms, they are done again on the original first; those that draw at random cannot be:
    then ``original`` has to be what ``transform`` returned or wrote.

    Not checked: what an attacker learns from other tables.

    Parameters
    ----------
    original
        The table before anonymization, as a file or a frame.
    published
        The published table, as a file or a frame.
    policy
        The policy, a file of one, or what ``Policy`` takes.
    st
        The second table of a release of two, by group.
    query, sql_table
        A query to a database, or a table of one, for the original.
    engine
        What counts the original: ``"local"``, ``"duckdb"``, ``"postgresql"`` or ``"spark"``; the published table is
        read here.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Verification
        What is proven, refuted or open, with the places.

    Raises
    ------
    SchemaError
        When the published table has columns that the original lacks; beside what reading raises.
    """
    policy = given_policy(policy)
    invariant = invariant_model(policy)
    ledger = None if invariant is None else open_ledger(policy)

    def history(prepared: Prepared, mark: str) -> Prepared:
        return with_history(prepared, ledger, mark)

    refused: dict[str, bool] = {
        "releases in groups": st is not None or form_of(policy) != "one_table",
        **({} if invariant is None else {invariant.model: True}),
        "[person]": policy.person is not None,
        "[[transforms]]": bool(policy.transforms),
        "masks and pseudonyms": any(own.action in ("mask", "pseudonym") for own in policy.attributes.values()),
        f'ranges = "{policy.output.ranges}"': policy.output.ranges != "label",
    }
    with opened_for(original, policy, engine, refused, query=query, sql_table=sql_table) as (opened, given):
        return prove(
            given, published, policy, st, history=history, query=query, sql_table=sql_table, engine=opened,
            progress=progress,
        )  # fmt: skip
