"""Append: new rows placed into the classes of an earlier release, and the whole proved again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.algorithms import declared, form_of
from indistinct.errors import InfeasibleError, UnsupportedError, VerificationError
from indistinct.formats.arrow import text_array
from indistinct.formats.columnar import is_text
from indistinct.formats.many import joined
from indistinct.formats.registry import format_of, is_delimited, open_source
from indistinct.formats.source import origins_of
from indistinct.formats.texts import as_text, from_text
from indistinct.formats.write import stage, table_output
from indistinct.history.consult import open_ledger
from indistinct.models import is_merge_closed, is_of_classes, record_of
from indistinct.outputs import Output, check_outputs, origin, publish
from indistinct.policy import given as given_policy
from indistinct.proof.as_published import Counts
from indistinct.proof.manifest import manifest_path
from indistinct.proof.public_document import PublicPolicy
from indistinct.proof.published_file import count_published, delimiter_of, missing_text
from indistinct.proof.verify import prove
from indistinct.publish.append_proof import proved
from indistinct.publish.arrivals import place
from indistinct.publish.manifest import hashes, stage_manifest
from indistinct.sentences.append import append_text
from indistinct.session.prepare import prepare, source_options
from indistinct.tables.apply import load_columns, sorted_units
from indistinct.tables.count import silent
from indistinct.tables.row_questions import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.history.ledger import Ledger
    from indistinct.outputs import Staged
    from indistinct.policy import GivenPolicy, Policy
    from indistinct.policy.parameters import Privacy
    from indistinct.publish.arrivals import Places
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published
    from indistinct.tables.recount import Recount


@dataclass(frozen=True)
class Appended:
    """What was appended; ``document`` is the JSON document of the contract, for the steward."""

    document: dict[str, Any]

    def __repr__(self) -> str:
        """Write a short readable account."""
        return append_text(self.document)


def append(
    original: Any,
    published: str | Path,
    arrivals: Any,
    policy: GivenPolicy,
    *,
    output: str | Path,
    retained: str | Path | None = None,
    whole: str | Path | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Appended:
    """Publish an earlier release again, with new rows placed into its classes.

    Every row of the earlier release stays as it is. A new row joins the tightest class whose labels cover it, if the
    new rows of that class, its *newcomers*, satisfy every model by themselves; for all others the algorithm of the
    policy makes classes of their own; what fits nowhere is kept back. So whoever compares the two releases, and sees
    which rows are new, sees classes that satisfy the policy. The distributions are those of the whole table: the
    earlier original and the rows that were placed. The earlier release is proved first, the new one from its written
    file; their difference is judged as a release, and both are attacked together, with those of the policy's ledger.

    Whatever is raised, nothing is left behind.

    Parameters
    ----------
    original
        The table that the earlier release was made of, as a file or a frame.
    published
        The earlier release: a file.
    arrivals
        The new rows: a table with the same columns.
    policy
        The policy of the earlier release, a file of one, or what ``Policy`` takes.
    output
        The new release: csv, tsv, parquet or arrow.
    retained
        A file for the new rows that are kept back, to be given again with later ones; without it they are counted.
    whole
        A file for the table that the new release is made of: the original of the next ``append`` and of ``verify``.
    force
        Replace files that exist; never one that was read.
    progress
        Called with what is being done, and how far it is.

    Returns
    -------
    Appended
        How many rows went where, what was proved of the new release, and what both tell together.

    Raises
    ------
    PolicyError, SchemaError, DataError, HierarchyError
        For wrong input.
    UnsupportedError
        For a policy whose guarantees are not those of classes of rows, and a ledger that knows persons.
    InfeasibleError
        When no new row can be placed.
    VerificationError
        When the earlier release is not one of the original under this policy, or the new one breaks a guarantee.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> from indistinct.publish.anonymize import anonymize
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, first, second = pa.table({"age": [21, 22]}), f"{folder}/first.csv", f"{folder}/second.csv"
    ...     _ = anonymize(old, policy, output=first)
    ...     found = append(old, first, pa.table({"age": [24, 27, 35]}), policy, output=second)
    ...     found.document["placed_rows"], found.document["retained_rows"], Path(second).read_text().split()
    (2, 1, ['age', '"[20,', '30)"', '"[20,', '30)"', '"[20,', '30)"', '"[20,', '30)"'])

    Source: this project, 2026; what differences of releases tell: J.-W. Byun, Y. Sohn, E. Bertino, N. Li, SDM 2006,
    LNCS 4165, 48-63, doi:10.1007/11844662_4.
    """
    policy, earlier, output = given_policy(policy), Path(published), Path(output)
    policy.require_models()
    require_appendable(policy, output)
    ledger = _ledger_of(policy)
    files = {name: Path(file) for name, file in (("retained", retained), ("whole", whole)) if file is not None}
    origins = (*origins_of(original, earlier, arrivals), origin(manifest_path(earlier), "a manifest"), *policy.origins)
    private = [table_output(file, private=True) for file in files.values()]
    check_outputs([table_output(output), Output(manifest_path(output), "manifest"), *private], origins, force=force)
    old, new = (open_source(table, source_options(policy)) for table in (original, arrivals))
    progress("verify", 0, 2)
    _require_proved(old, earlier, policy)
    progress("verify", 1, 2)
    before, found = count_published(earlier, policy, old, ())
    placing = _placed(old, new, found, policy, progress)
    release = _release(before, placing, policy)
    document: dict[str, Any] = {
        "earlier_rows": int(found.rows.sum()), "placed_rows": int(placing.places.placed.sum()),
        **_figures(placing.places), "retained_rows": int(placing.retained.sum()),
    }  # fmt: skip
    with ExitStack() as stack:
        delimiter, missing = delimiter_of(output, old.dialect), missing_text(policy)
        file = stage(output, release.batches(), release.schema, delimiter=delimiter, missing=missing)
        stack.enter_context(file)
        document = proved(release, file, earlier, (old, found), (placing.whole, placing.prepared), ledger) | document
        progress("verify", 2, 2)
        rows = {"retained": rows_of(new, placing.retained), "whole": placing.whole}
        beside = [stack.enter_context(_staged(rows[name], place, missing)) for name, place in files.items()]
        counts = Counts(document["rows"], document["left_out_rows"], document["suppressed_rows"])
        manifest = stack.enter_context(stage_manifest([file], PublicPolicy.of(policy), counts, output))
        document |= {"outputs": [str(output)], "manifest": str(manifest_path(output)), "sha256": hashes([file])}
        document |= {name: str(place) for name, place in files.items()}
        publish([file, *beside, manifest], origins, force=force)
    return Appended(document)


def require_appendable(policy: Policy, output: Path) -> None:
    """Refuse by name what append cannot do: UnsupportedError.

    The newcomers of a class are judged as a class, so every model has to be one of single classes, and to hold of two
    classes together if it holds of each.
    """
    masked = [name for name, own in policy.attributes.items() if own.action in ("mask", "pseudonym")]
    chosen, out = format_of(output), policy.output
    refused = {
        **{f'the model "{model.model}"': not _is_of_newcomers(model) for model in policy.privacy},
        f'the algorithm "{policy.recoding.algorithm}"': form_of(policy) != "one_table"
        or declared(policy) != "truthful",
        "sets of items": bool(policy.item_columns),
        "[[transforms]]": bool(policy.transforms),
        f'masks and pseudonyms ("{"".join(masked[:1])}")': bool(masked),
        f'rows = "{policy.suppression.rows}" under [suppression]': policy.suppression.rows != "drop",
        f'order = "{out.order}", which would show the new rows': out.order == "kept",
        f'ranges = "{out.ranges}"': out.ranges != "label",
        "spreadsheet_safe": out.spreadsheet_safe,
        "another output than csv, tsv, parquet or arrow": chosen is None
        or not (chosen.nested is not None or is_delimited(output)),
    }
    found = [what for what, holds in refused.items() if holds]
    if found:
        raise UnsupportedError(f"append cannot do {'; '.join(found)}: publish the whole table with anonymize")


def _is_of_newcomers(model: Privacy) -> bool:
    """Whether a model is one of classes that needs nothing but their rows, and holds of unions of classes."""
    record = record_of(model)
    alone = is_of_classes(model) and is_merge_closed(model)
    return alone and record.looks_at in ("published", "input") and not (record.nested(model) or record.detailed(model))


def _ledger_of(policy: Policy) -> Ledger | None:
    """Open the ledger of the policy; one that knows persons is refused, for the release does not tell who is where."""
    ledger = open_ledger(policy)
    if ledger is not None and ledger.key is not None:
        raise UnsupportedError(
            "append compares classes: the published labels do not say which person of the earlier release stands in "
            "which class, as a ledger with persons asks; name a ledger without a key under [releases]",
            key="releases.ledger",
        )
    return ledger


def _require_proved(original: Source, published: Path, policy: Policy) -> None:
    """Refuse an earlier release that is not one of this original under this policy."""
    answer = prove(original, published, policy, history=lambda prepared, _: prepared).document
    if answer["satisfied"]:
        return
    failed = [entry["reason"] for entry in answer["models"] if not entry["satisfied"]]
    reasons = [*failed, *answer["faults"], *answer["false_claims"]] or [f"coverage: {answer['coverage']['status']}"]
    raise VerificationError(
        f"{published.name} is not proved to be a release of this original under this policy, so nothing is appended to "
        f"it: {reasons[0]}; indistinct verify says more"
    )


@dataclass(frozen=True)
class _Placed:
    """The original of the new release, counted, its new rows with their places, and bool[n]: those kept back."""

    whole: Source
    prepared: Prepared
    new: Source
    places: Places
    names: tuple[str, ...]
    retained: NDArray[np.bool_]


def _placed(old: Source, new: Source, found: Recount, policy: Policy, progress: Progress) -> _Placed:
    """Place the new rows; as long as some are kept back, again without them: the whole is what is published.

    Raises InfeasibleError when no new row can be placed.
    """
    total = sum(batch.num_rows for batch in new.batches(new.columns[:1]))
    candidates = np.ones(total, np.bool_)
    while True:
        arrivals = rows_of(new, candidates)
        whole = joined([(old, old.name, {}), (arrivals, new.name, {})], old.name)
        prepared = prepare(whole, policy, carry=False, progress=progress)
        quasi = [hierarchy.attribute for hierarchy in prepared.counted.frequencies.quasi]
        columns = [found.column(name) for name in quasi]
        codes = np.unique(np.column_stack([own for _, own in columns]), axis=0)
        labels = [tuple(texts[n] for (texts, _), n in zip(columns, row, strict=True)) for row in codes.tolist()]
        places = place(arrivals, prepared, labels, progress)
        if not places.placed.any():
            raise InfeasibleError(
                f"none of the {total} new rows can be placed: those that a class of the earlier release covers do not "
                "satisfy the models by themselves, and neither do the others; append them together with later ones"
            )
        if not places.retained.any():
            return _Placed(whole, prepared, arrivals, places, tuple(quasi), ~candidates)
        candidates[np.flatnonzero(candidates)[places.retained]] = False


def _figures(places: Places) -> dict[str, int]:
    """Count the classes that new rows went to."""
    chosen = np.unique(places.class_of[places.placed])
    earlier = int((chosen < places.earlier).sum())
    return {"joined_classes": earlier, "new_classes": len(chosen) - earlier}


def _release(before: Source, placing: _Placed, policy: Policy) -> Published:
    """Put the rows of the earlier release and the new ones together, in an order that does not tell them apart."""
    places, there = placing.places, placing.places.placed
    chosen, rows = places.class_of[there], rows_of(placing.new, there)

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        yield from before.read(wanted)
        begin = 0
        for batch in rows.read(wanted):
            own = chosen[begin : begin + batch.num_rows].tolist()
            begin += batch.num_rows
            arrays = []
            for name in wanted:
                kind = before.types[name]
                if name in placing.names:
                    position = placing.names.index(name)
                    arrays.append(_as_kind([places.labels[number][position] for number in own], kind))
                elif batch.column(name).type.equals(kind):
                    arrays.append(batch.column(name))
                else:
                    arrays.append(_as_kind(as_text(_plain(batch.column(name))).to_pylist(), kind))
            yield pa.record_batch(arrays, names=list(wanted))

    def plain(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for batch in read(wanted):
            yield pa.record_batch([_plain(column) for column in batch.columns], names=list(wanted))

    both = replace(before, read=plain, rows=None, native=None)
    columns = load_columns(both, both.columns)
    repeat = np.ones(len(next(iter(columns.values()))), np.int64)
    return sorted_units(list(columns.values()), repeat, merge=True, order=policy.output.order)


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _as_kind(texts: Sequence[str | None], kind: Any) -> Any:
    return text_array(texts) if is_text(kind) else from_text(texts, kind)


def _staged(rows: Source, place: Path, missing: str) -> Staged:
    """Write rows of the steward's own, readable by their owner only."""
    schema = pa.schema(list(rows.types.items()))
    batches = (pa.record_batch([_plain(own) for own in one.columns], schema) for one in rows.read(rows.columns))
    return stage(
        table_output(place, private=True), batches, schema, delimiter=delimiter_of(place, rows.dialect), missing=missing
    )
