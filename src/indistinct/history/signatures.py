"""What earlier releases told of the persons of a table: their signatures, from the ledger.

Published files hold no person key; the ledger knows persons by their pseudonym, the group of each, and what the groups
showed. A person's *signature* is the set of values of their group. Rows of one cell whose persons have different
signatures become different cells, so that an algorithm still decides on counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError, PolicyError, UnsupportedError
from indistinct.session.prepare import binder, published_identifying
from indistinct.session.verdicts import invariant_model
from indistinct.tables.count import frequencies_of, translation
from indistinct.tables.counterfeits import check_columns
from indistinct.tables.records import Signatures
from indistinct.tables.row_questions import divided_by_person, rows_of_named

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.history.key import LedgerKey
    from indistinct.history.ledger import Ledger
    from indistinct.history.record import Snapshot
    from indistinct.policy.privacy import MInvariance
    from indistinct.session.prepare import Prepared

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Values = frozenset[str | None]

SEVERAL_ROWS = -1


def with_history(prepared: Prepared, ledger: Ledger | None, mark: str = "") -> Prepared:
    """Add to a counted table the signatures of its persons, where the policy asks for m-invariance.

    ``mark`` is the SHA-256 of a file of this table: if it is in the ledger, only releases before it count.

    Raises PolicyError for what m-invariance cannot publish, and when the history is not told; DataError when a person
    has several rows or a value that their signature lacks, or when earlier releases are not m-unique or disagree.
    """
    model = invariant_model(prepared.policy)
    if model is None:
        return prepared
    _refuse_unfit(prepared, model)
    names, rows = rows_of_named(prepared.source, prepared.counted, str(prepared.roles.person))
    if (rows > 1).any():
        raise DataError(
            f"{int((rows > 1).sum())} persons have several rows; m-invariance follows one row of each person: keep one",
            column=str(prepared.roles.person),
        )
    number: dict[Values, int] = {}
    of_name = np.full(len(names), -1, np.int64)
    earlier: Mapping[str, Snapshot] = {}
    if model.history != ():
        book = _required(ledger)
        pseudonyms = {book.key.person(str(names[i])): i for i in np.flatnonzero(rows).tolist()}
        earlier = _earlier(model, book.snapshots, mark, pseudonyms.keys())
        for person, signature in _signatures(earlier, model.attribute).items():
            if person in pseudonyms:
                of_name[pseudonyms[person]] = number.setdefault(signature, len(number))
    return _refined(prepared, model.attribute, list(number), of_name, tuple(earlier))


def _refuse_unfit(prepared: Prepared, model: MInvariance) -> None:
    policy, roles = prepared.policy, prepared.roles
    if roles.person is None:
        raise PolicyError(
            "m_invariance follows persons from release to release: name the column that tells who is who as key under "
            "[person]; it is never published",
            key="person",
        )
    quasi = {hierarchy.attribute for hierarchy in prepared.counted.frequencies.quasi}
    dropped = {*roles.identifying, roles.person}
    columns = [name for name in prepared.source.columns if name not in dropped]
    others = [name for name in columns if name not in quasi and name != model.attribute]
    others += published_identifying(roles)
    if others:
        raise PolicyError(
            f'm_invariance publishes quasi-identifiers and "{model.attribute}" only, and "{others[0]}" would be there '
            "too: a counterfeit row has none, and would be told by that; make it quasi-identifying, or identifying, "
            "which leaves it out",
            column=others[0],
        )
    if model.attribute in quasi or model.attribute not in columns:
        raise PolicyError(
            f'm_invariance is about a sensitive column, and "{model.attribute}" is none', column=model.attribute
        )
    if policy.suppression.rows != "drop":
        raise PolicyError(
            'a newcomer who fits in no group waits for a later release: set rows = "drop" under [suppression]',
            key="suppression.rows",
        )
    if policy.output.order == "kept":
        raise PolicyError(
            "m_invariance publishes rows of nobody, which have no place in the order of the table; set another order "
            "under [output]",
            key="output.order",
        )
    if policy.output.ranges != "label":
        raise PolicyError(
            'm_invariance publishes ranges as labels; leave "ranges" out of [output]', key="output.ranges"
        )
    check_columns(columns)


@dataclass(frozen=True)
class _Book:
    key: LedgerKey
    snapshots: Mapping[str, Snapshot]


def _required(ledger: Ledger | None) -> _Book:
    if ledger is None:
        raise PolicyError(
            "m_invariance must know what went out before: name the ledger of earlier releases under [releases], or say "
            "history = [] if this is the first release",
            key="privacy.history",
        )
    if ledger.key is None:
        raise PolicyError(
            "m_invariance must know who is in earlier releases: name the key of the ledger, key_file or key_env under "
            "[releases]",
            key="releases.key_file",
        )
    return _Book(ledger.key, ledger.snapshots())


def _earlier(
    model: MInvariance, found: Mapping[str, Snapshot], mark: str, persons: Collection[bytes]
) -> dict[str, Snapshot]:
    """Return the earlier releases that count, by name.

    The file itself is one of the same bytes with nobody who is not in the table: other people may give the same file.
    """
    names = list(found)
    own = (i for i, name in enumerate(names) if found[name].sha256 == mark and _is_of(found[name], persons))
    names = names[: next(own, len(names))]
    unknown = [name for name in model.history or () if name not in names]
    if unknown:
        raise PolicyError(
            f'history names "{unknown[0]}", which is no earlier release of the ledger; there are: '
            f"{', '.join(names) or 'none'}",
            key="privacy.history",
        )
    required = names if model.history is None else [name for name in names if name in model.history]
    return {name: found[name] for name in required if model.attribute in found[name].sensitive}


def _is_of(one: Snapshot, persons: Collection[bytes]) -> bool:
    return one.persons is not None and all(person in persons for person in one.persons)


def _signatures(earlier: Mapping[str, Snapshot], attribute: str) -> dict[bytes, Values]:
    """Signature of everybody in earlier releases."""
    known: dict[bytes, Values] = {}
    for name, one in earlier.items():
        if one.persons is None:
            raise UnsupportedError(f'the release "{name}" was entered without persons, and m-invariance follows them')
        place = one.sensitive.index(attribute)
        shown = [frozenset(key[place] for key in group) for group in one.signatures]
        unique = [
            len(shown[c]) == len(group) and all(count == 1 for count in group.values())
            for c, group in enumerate(one.signatures)
        ]
        if not all(unique):
            raise DataError(
                f'{unique.count(False)} of {len(unique)} groups of the earlier release "{name}" show a value of '
                f'"{attribute}" twice; m-invariance needs groups of different values in every release of the sequence'
            )
        for person, group in one.persons.items():
            if group == SEVERAL_ROWS:
                raise DataError(f'a person has several rows in the earlier release "{name}"; m-invariance has one each')
            if known.setdefault(person, shown[group]) != shown[group]:
                raise DataError(
                    f'a person has other values in the release "{name}" than before: m-invariance is broken already, '
                    "and no later release mends it"
                )
    return known


def _refined(
    prepared: Prepared, attribute: str, signatures: Sequence[Values], of_name: Int64, releases: tuple[str, ...]
) -> Prepared:
    """Divide the cells by signature, and let the attribute have the values of all signatures."""
    frequencies = prepared.counted.frequencies
    divided = divided_by_person(prepared.source, prepared.counted, str(prepared.roles.person), of_name)
    cell, rows = divided.cell, divided.rows
    position = len(frequencies.quasi) + [h.attribute for h in frequencies.sensitive].index(attribute)
    old = frequencies.references[attribute].hierarchy
    wide = _widened(prepared, old, signatures)
    codes = frequencies.codes[cell].copy()
    codes[:, position] = translation(old.texts, wide)[codes[:, position]]
    sensitive = tuple(wide if h.attribute == attribute else h for h in frequencies.sensitive)
    listed = [np.sort(translation(list(values), wide)) for values in signatures]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(values) for values in listed])]).astype(np.int64)
    value = np.concatenate([np.zeros(0, np.int32), *listed]).astype(np.int32)
    # canonical numbers: which person was read first must not matter
    rank = sorted(range(len(listed)), key=lambda i: listed[i].tolist())
    number = np.append(np.argsort(rank), -1).astype(np.int64)
    ordered = [value[start[i] : start[i + 1]] for i in rank]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(part) for part in ordered])]).astype(np.int64)
    own = number[divided.mark]
    order = np.lexsort([own, *codes.T[::-1]])
    carried = Signatures(own[order].astype(np.int32), ends, np.concatenate([np.zeros(0, np.int32), *ordered]), releases)
    _refuse_changed(carried, codes[order, position], rows[order], attribute)
    found = frequencies_of(frequencies.quasi, sensitive, codes[order], rows[order])
    return replace(prepared, counted=divided.counted_as(replace(found, signatures=carried), order))


def _widened(prepared: Prepared, hierarchy: Hierarchy, signatures: Sequence[Values]) -> Hierarchy:
    """Add the values that only earlier releases show."""
    known = hierarchy.codes()
    others = {text for values in signatures for text in values} - known.keys()
    if not others:
        return hierarchy
    ordered = sorted(others, key=lambda text: (text is None, text or ""))
    return binder(prepared.policy, prepared.source, [])(hierarchy.attribute, [*known, *ordered])


def _refuse_changed(carried: Signatures, value: Int32, rows: Int64, attribute: str) -> None:
    size = int(max(value.max(initial=0), carried.value.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(carried.start) - 1), np.diff(carried.start))
    old = carried.of_cell >= 0
    continued = np.isin(carried.of_cell.astype(np.int64) * size + value, owner * size + carried.value)
    changed = int(rows[old & ~continued].sum())
    if changed:
        raise DataError(
            f'{changed} persons have a value of "{attribute}" that their group in an earlier release did not show: it '
            "changed, and m-invariance is for values that stay; leave these rows out, or publish the new values as a "
            "column of their own",
            column=attribute,
        )
