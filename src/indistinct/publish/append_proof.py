"""What has to hold of a release to which rows were appended, read from its written file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import VerificationError
from indistinct.history.snapshot import snapshot
from indistinct.history.succession import succession
from indistinct.proof.published_file import count_published, published_options
from indistinct.proof.recount import matches
from indistinct.proof.release import judge_reread
from indistinct.proof.verify import prove
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.recount import Recount, multiset, numbered, recount

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.history.ledger import Ledger
    from indistinct.outputs import Staged
    from indistinct.session.prepare import Prepared
    from indistinct.tables.published import Published


def proved(
    release: Published,
    file: Staged,
    earlier: Path,
    before: tuple[Source, Recount],
    after: tuple[Source, Prepared],
    ledger: Ledger | None,
) -> dict[str, Any]:
    """Prove the written file, judge the difference, and attack both releases together, with those of the ledger.

    ``before``: the original of the earlier release and what its file ``earlier`` holds; ``after``: the original of the
    new one, and the same counted. Returns a part of the document.

    Raises VerificationError for what is not proved, or tells too much.
    """
    (old, then), (whole, prepared) = before, after
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    options = published_options(policy, file.path, old.dialect)
    if not matches(release, recount(file.path, release.names, options)):
        raise VerificationError(
            "the rows read back from the written file are not those of the earlier release and the new ones; nothing "
            "was delivered"
        )
    answer = prove(whole, file.path, policy, history=lambda prepared, _: prepared).document
    if not answer["satisfied"]:
        failed = [entry["reason"] for entry in answer["models"] if not entry["satisfied"]]
        raise VerificationError(
            f"with the new rows the release does not satisfy the policy: "
            f"{(failed or answer['faults'] or ['coverage: ' + answer['coverage']['status']])[0]}; nothing was "
            "delivered; publish the whole table with anonymize"
        )
    names = [hierarchy.attribute for hierarchy in (*frequencies.quasi, *frequencies.sensitive)]
    difference = newcomers(then, count_published(file.path, policy, old, ())[1], names)
    judged, _, _ = judge_reread(difference, frequencies, None, policy, may_exempt=False, prepared=prepared)
    if failed := [entry for entry in judged if not entry["satisfied"]]:
        raise VerificationError(
            f"the new rows by themselves fail {failed[0]['model']}: {failed[0]['reason']}; nothing was delivered; "
            "please report this"
        )
    now, first = (snapshot(*of, policy, None) for of in ((whole, file.path), (old, earlier)))
    compared = {"difference": succession(now, {earlier.name: first})}
    if ledger is not None:
        compared["ledger"] = ledger.check(now)
    for found in compared.values():
        if found["satisfied"] is False:
            raise VerificationError(
                f"together with earlier releases this one breaks a guarantee: {'; '.join(found['reasons'])}; nothing "
                "was delivered"
            )
    rows, published = answer["original_rows"], answer["rows"]
    return {
        "satisfied": True,
        "rows": rows,
        "published_rows": published,
        "suppressed_rows": answer["missing_rows"],
        "left_out_rows": rows - published - answer["missing_rows"],
        "classes": answer["classes"],
        "persons": answer["persons"],
        "unit": answer["unit"],
        "models": answer["models"],
        "verification": {"rows_match": True, "coverage": answer["coverage"]["status"]},
        **compared,
        "warnings": answer["warnings"],
    }


def newcomers(before: Recount, after: Recount, names: Sequence[str]) -> Recount:
    """Take the rows of one release, in some columns, from those of a later one: what whoever has both sees.

    Raises VerificationError where the later one lacks rows.
    """
    columns, texts = [], []
    for name in names:
        numbers = Dictionary(name)
        columns.append(
            np.concatenate([numbered(own, numbers)[codes] for own, codes in map(_of(name), (after, before))])
        )
        texts.append(numbers.texts)
    signed = np.concatenate([after.rows, -before.rows])
    codes, rows = multiset(np.column_stack(columns), signed, [max(1, len(own)) for own in texts])
    if (rows < 0).any():
        raise VerificationError("rows of the earlier release are not in the new one; nothing was delivered")
    return Recount(tuple(names), tuple(texts), codes[rows > 0], rows[rows > 0])


def _of(name: str) -> Callable[[Recount], tuple[list[str | None], NDArray[np.int32]]]:
    return lambda found: found.column(name)
