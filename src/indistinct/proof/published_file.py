"""How a published file is written and read: as its source, but for what its format and the suppression demand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indistinct.errors import DataError, IndistinctError, SchemaError
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import path_of
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.suppression import ROOT
from indistinct.notices import Notice, Sentence
from indistinct.session.absent_columns import range_names
from indistinct.session.prepare import options_of
from indistinct.tables.counterfeits import COUNTERFEITS
from indistinct.tables.dictionary import texts_of
from indistinct.tables.engine import Request
from indistinct.tables.published import PublishedColumn
from indistinct.tables.recount import Recount, count_source
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.contract import Format
    from indistinct.formats.source import Source, TableOptions
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.engine import Engine


def delimiter_of(output: Path, dialect: str | None) -> str:
    """Write CSV files as the source was written, TSV files with tabs."""
    chosen = format_of(output)
    return (chosen and chosen.delimiter) or dialect or ","


def missing_text(policy: Policy) -> str:
    """Text of a missing cell in written text files."""
    return next(iter(missing_tokens(policy)), "")


def missing_tokens(policy: Policy, chosen: Format | None = None) -> tuple[str, ...]:
    """Texts that are missing values in a published file, first the one that is written.

    Those of the policy, but never what stands for a generalized value; workbooks and statistical files have no empty
    texts. At least the empty text: something has to be written.
    """
    suppressed = (policy.output.suppressed_token, ROOT)
    tokens = tuple(token for token in policy.table.missing if token not in suppressed)
    if chosen is not None and not chosen.keeps_empty:
        return (*tokens, "")
    return tokens if tokens or not policy.table.missing else ("",)


def refuse_unwritable(prepared: Prepared, path: Path | None) -> None:
    """Raise DataError for texts that the format of ``path`` would lose (``refuse_lost``), before any work is done."""
    frequencies = prepared.counted.frequencies
    held: dict[str, Sequence[str | None] | PublishedColumn] = {h.attribute: h.texts for h in frequencies.quasi}
    held |= {name: reference.hierarchy.texts for name, reference in frequencies.references.items()}
    refuse_lost(prepared.policy, held | dict(prepared.carried), path, from_text=prepared.source.is_text)


def refuse_lost(
    policy: Policy,
    held: Mapping[str, Sequence[str | None] | PublishedColumn],
    path: Path | None,
    *,
    from_text: bool,
) -> None:
    """Raise DataError for texts that the format of ``path`` would lose; ``held``: distinct texts, or columns.

    A frame tells an empty text from a missing value; text files, workbooks and statistical files do not. A zero byte
    ends a text where there are no cells; what was read ``from_text`` holds none.
    """
    chosen = format_of(path)
    if path is None or chosen is None or not (chosen.is_text or not chosen.keeps_empty):
        return
    tokens, suffix = missing_tokens(policy, chosen), path.suffix.lower()
    for name, found in held.items():
        texts = texts_of(found.values, name) if isinstance(found, PublishedColumn) else found
        if not (from_text or chosen.sheets) and any("\0" in text for text in texts if text is not None):
            raise DataError(
                f'"{name}" holds a zero byte, which {suffix} files cannot; take it out, or write parquet', column=name
            )
        lost = [token for token in dict.fromkeys(tokens) if token in texts]
        if not lost:
            continue
        what = "empty texts" if lost[0] == "" else f'the text "{lost[0]}"'
        if isinstance(found, PublishedColumn):
            of_token = [code for code, text in enumerate(texts) if text == lost[0]]
            what = f"{what} ({int(found.occurrences[of_token].sum())} rows)"
        remedy = "say [table] missing = [], or write parquet" if chosen.keeps_empty else "write parquet or arrow"
        raise DataError(
            f'"{name}" holds {what}, which {suffix} files cannot tell from a missing value under '
            f"[table] missing = {json.dumps(list(policy.table.missing))}; {remedy}, or make them missing in the frame",
            column=name,
        )


def duration_notices(columns: Sequence[PublishedColumn], path: Path) -> list[Notice]:
    """Say in which unit durations are written, where the format of ``path`` keeps the number only."""
    chosen = format_of(path)
    if chosen is not None and chosen.nested is not None:  # it keeps types
        return []
    units = {
        "s": Sentence("seconds"),
        "ms": Sentence("milliseconds"),
        "us": Sentence("microseconds"),
        "ns": Sentence("nanoseconds"),
    }
    return [
        Notice(
            "durations",
            column.name,
            Sentence(
                '"{name}" holds durations, and {suffix} files have none: they are written as whole numbers of {unit}; '
                "say so where the file is described, or write parquet",
                name=column.name,
                suffix=path.suffix.lower(),
                unit=units[column.type.unit],
            ),
        )
        for column in columns
        if pa.types.is_duration(column.type)
    ]


def published_options(policy: Policy, path: Path | None, dialect: str | None) -> TableOptions:
    """Say how to read a file of ours (None: a table in memory) whose source had the delimiter ``dialect``."""
    delimiter = None if path is None else delimiter_of(path, dialect)
    tokens = missing_tokens(policy, format_of(path))
    return replace(options_of(policy), delimiter=delimiter, encoding="utf-8", missing=tokens)


def count_published(
    table: Any,
    policy: Policy,
    original: Source,
    hidden: Collection[str],
    *,
    added: Collection[str] = (),
    sheet: str | None = None,
) -> tuple[Source, Recount]:
    """Read a published table of any origin: the source, and its distinct rows in the columns not ``hidden``.

    Text files of ours are UTF-8 and separated as the original is; other programs may keep the encoding of the original
    and separate as they like. ``added`` columns may stand in the table though the original lacks them; so may the ends
    of ranges that the policy asks for, which are not counted. ``sheet`` is that of a workbook.

    Raises SchemaError for columns that the original lacks, and what reading raises.
    """
    ours = replace(published_options(policy, path_of(table), original.dialect), sheet=sheet)
    foreign = [replace(ours, delimiter=None, encoding=encoding) for encoding in ("utf-8", policy.table.encoding)]
    ends = {new for names in range_names(policy).values() for new in names} - {*original.columns}
    first: IndistinctError | None = None
    for options in dict.fromkeys((ours, *foreign)):
        try:
            return _counted(table, options, {*original.columns, *added, *ends}, {*hidden, *ends})
        except IndistinctError as error:
            first = first or error
    assert first is not None  # noqa: S101  # there is always one way to read, and it failed
    raise first


def distinct_rows(engine: Engine, source: Source, columns: Sequence[str]) -> Recount:
    """Let an engine count the distinct rows of a table that lies in it, as they stand."""
    request = Request([], columns, lambda name, texts: build_hierarchy(name, texts, spec=None))
    found = engine.count(source, request).frequencies
    return Recount(tuple(columns), tuple(list(own.texts) for own in found.sensitive), found.codes, found.rows)


def _counted(
    table: Any, options: TableOptions, known: Collection[str], hidden: Collection[str]
) -> tuple[Source, Recount]:
    source = open_source(table, options)
    unknown = [name for name in source.columns if name not in known]
    if unknown:
        hint = "; of a release in two tables give both, first QIT, then ST" if GROUP in unknown else ""
        if COUNTERFEITS in unknown:
            hint = "; a release under m_invariance holds rows of nobody, and is not compared: verify it, or attack it"
        raise SchemaError(
            f'the published table has a column "{unknown[0]}" that the original lacks{hint}', column=unknown[0]
        )
    return source, count_source(source, [name for name in source.columns if name not in hidden])
