"""What one release told whom: the classes of the published file, and who stands in which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import form_of
from indistinct.decision.decide import apply, decide, grouped_attribute, layout_of
from indistinct.errors import InfeasibleError, PolicyError, SchemaError, UnsupportedError, VerificationError
from indistinct.formats.digest import sha256
from indistinct.formats.source import path_of
from indistinct.history.record import Snapshot, by_text
from indistinct.history.signatures import with_history
from indistinct.models import record_of
from indistinct.proof.manifest import hash_status
from indistinct.proof.published_file import count_published
from indistinct.proof.recount import matches
from indistinct.proof.transformed import verifiable
from indistinct.session.prepare import prepare
from indistinct.session.verdicts import invariant_model
from indistinct.tables.count import silent
from indistinct.tables.counterfeits import COUNTERFEITS, group_numbers
from indistinct.tables.records import SUPPRESSED
from indistinct.tables.row_questions import class_of_persons
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from pathlib import Path

    from indistinct.decision.decide import Decision
    from indistinct.history.key import LedgerKey
    from indistinct.history.ledger import Ledger
    from indistinct.history.record import Labels
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.recount import Recount


def promises_of(policy: Policy, m: int | None = None) -> dict[str, Any]:
    """Return what a policy guarantees about the number of candidates: rows (k), different values (l), signatures (m).

    Entropy l-diversity implies ceil(l) different values (with Grassberger's estimate it asks for them),
    (alpha,k)-anonymity over all values ceil(1/alpha), each m-invariance m. t-closeness promises no number. ``m``
    demands m-invariance of every sensitive attribute.
    """
    k, values, signature = 0, dict[str, int](), dict[str, int]()
    for model in policy.privacy:
        promise = record_of(model).promises(model)
        k = max(k, promise.candidates)
        name = getattr(model, "attribute", None)
        if name is not None:
            values[name] = max(values.get(name, 0), promise.values)
            if promise.signature:
                signature[name] = promise.signature
    if m is not None:
        if m < 2:
            raise PolicyError(f"m = {m} protects nobody; m-invariance needs a whole number from 2 on")
        for name, attribute in policy.attributes.items():
            if attribute.role == "sensitive":
                signature[name] = max(m, signature.get(name, 0))
                values[name] = max(m, values.get(name, 0))
    values = {name: number for name, number in values.items() if number}
    return {"k": k, "l": values, "m": signature}


def snapshot(
    original: Any,
    published: Any,
    policy: Policy,
    key: LedgerKey | None,
    *,
    m: int | None = None,
    ledger: Ledger | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Snapshot:
    """Read a release; with ``key`` also who stands in which class, which the original and the policy tell together.

    The policy decides again, as in ``verify``; the result must be the published file, row for row. Under m-invariance
    ``ledger`` tells the releases before; persons of equal quasi-identifiers and equal value, whom nothing published
    tells apart, are then given their groups in the order of their pseudonyms.

    Raises VerificationError when the file is not the one of its manifest, or not what the policy gives; PolicyError
    when persons are wanted and the policy has no person key; UnsupportedError for a table in memory or a release in
    groups.
    """
    path = path_of(published)
    if path is None:
        raise UnsupportedError("the ledger keeps published files; write the table first")
    _require_classes(policy)
    if hash_status(path) == "differs":
        raise VerificationError(f"{path.name} is not the file of its manifest; the ledger keeps what was published")
    _require_persons(policy, key)
    given, _, _ = verifiable(original, policy, query=query, sql_table=sql_table, progress=progress)
    prepared = prepare(given, policy, carry=key is not None, query=query, sql_table=sql_table, progress=progress)
    mark = sha256(path)
    if key is not None and invariant_model(policy) is not None:
        try:  # a file of the ledger follows those before it; a later release of the same bytes follows all of them
            with_past = with_history(prepared, ledger, mark)
            return _taken(with_past, apply(with_past, decide(with_past), layout_of(with_past)), published, mark, key, m)
        except (VerificationError, InfeasibleError):
            prepared = with_history(prepared, ledger)
    decision = None if key is None else apply(prepared, decide(prepared), layout_of(prepared))
    return _taken(prepared, decision, published, mark, key, m)


def snapshot_of(decision: Decision, place: Path | None, key: LedgerKey | None, *, m: int | None = None) -> Snapshot:
    """Read a release that was decided and is not delivered yet: the file at ``place``, or the table in memory.

    Raises PolicyError and UnsupportedError as ``snapshot`` does.
    """
    policy = decision.policy
    _require_classes(policy)
    _require_persons(policy, key)
    table, mark = (decision.published.table(), "") if place is None else (place, sha256(place))
    return _taken(decision.prepared, None if key is None else decision, table, mark, key, m)


def _require_classes(policy: Policy) -> None:
    if form_of(policy) != "one_table":
        raise UnsupportedError("the ledger compares classes; this policy publishes groups, which have other signatures")


def _require_persons(policy: Policy, key: LedgerKey | None) -> None:
    """With a key persons are told apart, so they need a column; under m-invariance they have to be."""
    if key is not None and policy.person is None:
        raise PolicyError("who is who in several releases is told by a person key: name it under [person]")
    if key is None and invariant_model(policy) is not None:
        raise PolicyError(
            "a release under m_invariance is entered with its persons, or no later one could keep their values: give "
            "the key of the ledger"
        )


def _taken(
    prepared: Prepared, decision: Decision | None, published: Any, mark: str, key: LedgerKey | None, m: int | None
) -> Snapshot:
    roles, policy = prepared.roles, prepared.policy
    hidden = {*roles.identifying, *([] if roles.person is None else [roles.person])}
    added = () if invariant_model(policy) is None else (GROUP, COUNTERFEITS)
    source, found = count_published(published, policy, prepared.source, hidden, added=added)
    quasi = tuple(name for name in roles.quasi if name in source.columns)
    if quasi and added:  # groups of equal labels stay apart
        quasi = (*quasi, GROUP)
    sensitive = tuple(name for name in roles.sensitive if name in source.columns)
    if not quasi:
        raise SchemaError("the published table has none of the quasi-identifiers of the policy")
    labels, sizes, signatures = _classes(found, quasi, sensitive)
    persons = None if key is None or decision is None else _persons(decision, found, key, labels)
    return Snapshot(quasi, sensitive, labels, sizes, signatures, promises_of(policy, m), mark, policy.hash(), persons)


def _classes(
    found: Recount, quasi: tuple[str, ...], sensitive: tuple[str, ...]
) -> tuple[list[Labels], list[int], list[dict[Labels, int]]]:
    columns = [found.column(name) for name in (*quasi, *sensitive)]
    texts = [own for own, _ in columns]
    signatures: dict[Labels, dict[Labels, int]] = {}
    for row, codes in zip(found.rows.tolist(), np.column_stack([c for _, c in columns]).tolist(), strict=True):
        cells = tuple(own[code] for own, code in zip(texts, codes, strict=True))
        signature = signatures.setdefault(cells[: len(quasi)], {})
        signature[cells[len(quasi) :]] = signature.get(cells[len(quasi) :], 0) + row
    labels = sorted(signatures, key=by_text)
    return labels, [sum(signatures[label].values()) for label in labels], [signatures[label] for label in labels]


def _persons(decision: Decision, found: Recount, key: LedgerKey, labels: list[Labels]) -> dict[bytes, int]:
    """Say in which published class each person's row is; -1 for those who have several."""
    prepared = decision.prepared
    layout = layout_of(prepared)
    if {column.name for column in decision.published.columns} != set(found.columns) or not matches(
        decision.published, found
    ):
        raise VerificationError(
            "the published file is not what this policy and version make of the original, so nobody can say whose row "
            "is where; check original and policy, or keep a ledger without a key, which compares classes only"
        )
    assignment, recoding = decision.assignment, decision.recoding
    number = {label: position for position, label in enumerate(labels)}
    texts = [recoding.labels(position) for position in range(len(recoding.quasi))]
    if assignment.counterfeits is not None:
        own_number = group_numbers(
            prepared.source, prepared.counted, assignment, recoding, layout, grouped_attribute(prepared.policy)
        )
        texts.append(([str(n) for n in range(assignment.classes + 1)], own_number))
    own = [
        number[tuple(t[code] for (t, _), code in zip(texts, codes, strict=True))]
        for codes in np.column_stack([label_of for _, label_of in texts]).tolist()
    ]
    hidden = number.get((layout.token,) * len(recoding.quasi), SUPPRESSED)
    assert prepared.roles.person is not None  # noqa: S101  # there is a ledger key
    class_of_part = np.append(np.array(own, np.int64), hidden)[assignment.class_of]
    # the pseudonyms of persons say which row of a cell goes to which of several groups
    places = class_of_persons(
        prepared.source,
        prepared.counted,
        assignment,
        np.append(class_of_part, SUPPRESSED),
        prepared.roles.person,
        lambda name: int.from_bytes(key.person(name)[:8], "big"),
    )
    return {key.person(name): place for name, place in places.items()}
