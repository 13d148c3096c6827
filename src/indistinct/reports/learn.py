"""The section about what an attacker could still learn: the guarantee in words, risks and attacks as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indistinct.reports.catalogue import Catalogue

    Block = tuple[Any, ...]
    Summary = dict[str, Any]

# what is shown of each measure: a chance, or a number with the share of the rows that it is
SHOWN = (
    ("prosecutor", "highest", None), ("prosecutor", "average", None), ("prosecutor", "rows_at_risk", "share_at_risk"),
    ("journalist", "highest", None), ("journalist", "average", None), ("journalist", "rows_at_risk", "share_at_risk"),
    ("marketer", "expected_matches", "share"), ("sample_uniqueness", "rows", "share"),
    ("population_uniqueness", "share", None), ("individual", "highest", None),
    ("individual", "expected_matches", "share"), ("household", "highest", None),
    ("household", "households_at_risk", None), ("suda2", "rows", None),
)  # fmt: skip
CHANCES = ("highest", "average", "share")


def learn(summary: Summary, t: Catalogue) -> list[Block]:
    """Write the blocks of the section."""
    internal = summary["kind"] == "internal"
    blocks: list[Block] = []
    if summary["guaranteed"]:
        n, unit = summary["guaranteed"]["size"], summary["guaranteed"]["unit"]
        blocks.append(("text", t("learn.single", n=n, risk=t.percent(1 / n), unit=t(f"unit.{unit}", n=n))))
    if summary["form"] != "one_table":
        blocks.append(("text", t("learn.groups")))
    elif internal and summary["persons_in_several_classes"]:
        blocks.append(("text", t("learn.spread", n=summary["persons_in_several_classes"])))
    if internal:
        blocks += [
            (
                "text",
                t(
                    "learn.person_shares",
                    column=entry["attribute"],
                    share=t.percent(_decimal(entry["largest_share"])),
                    having=t.percent(_decimal(entry["largest_with"])),
                ),
            )
            for entry in summary["person_shares"]
        ]
    sets = [entry["name"] for entry in summary["columns"] if entry.get("hierarchy") == "set"]
    if sets:
        blocks.append(("text", t("learn.sets", columns=", ".join(sets))))
    blocks += _merging(summary, t)
    if summary["risk"]:
        blocks.append(("text", t(f"risk.{summary['kind']}")))
        blocks.append(_risks(summary["risk"], t("caption.risk"), t))
    if internal and summary["risk_document"]:
        blocks.append(_risks(summary["risk_document"], t("caption.risk_document"), t))
        blocks += notes(summary["risk_document"].get("warnings", ()), t)
    if summary["attacks_document"]:
        blocks += _attacks(summary["attacks_document"], t)
    blocks.append(("list", [t("learn.background"), t("learn.other_tables"), t("learn.membership")]))
    return blocks


def _merging(summary: Summary, t: Catalogue) -> list[Block]:
    """What merges tell: counted for the steward; for the public one sentence, whatever is true of this release."""
    if sentences := summary.get("told_by_merging"):
        return notes([{"message": sentences["says"]}], t)
    return [("text", t("learn.merging"))] if summary.get("values_modelled") else []


def notes(warnings: Iterable[Mapping[str, Any]], t: Catalogue) -> list[Block]:
    """List warnings, those without a translation apart."""
    found = [warning["message"] for warning in warnings]
    sentences = [t.sentence(message) for message in found]
    known = [words for words in sentences if words is not None]
    unknown = [message for message, words in zip(found, sentences, strict=True) if words is None]
    blocks: list[Block] = [("list", known)] if known else []
    return [*blocks, ("text", t("warnings.untranslated")), ("quoted", unknown)] if unknown else blocks


def _risks(document: Mapping[str, Any], caption: str, t: Catalogue) -> Block:
    """A table of risks, before and after where both were measured."""
    after = document["published"]
    columns = [dict(_figures(measured, t)) for measured in (document, after) if measured is not None]
    threshold = t("percent", value=t.number(100 * _decimal(document["threshold"])))
    rows = []
    for place, estimator in sorted({key for column in columns for key in column}):
        label = t(f"risk.{SHOWN[place][0]}.{SHOWN[place][1]}", threshold=threshold)
        label += f" ({estimator})" if estimator else ""
        rows.append([label, *(column.get((place, estimator), "") for column in columns)])
    return (
        "table",
        caption,
        [t("head.measure"), *([t("head.value")] if after is None else [t("before"), t("after")])],
        rows,
    )


def _figures(document: Mapping[str, Any], t: Catalogue) -> Iterator[tuple[tuple[int, str], str]]:
    """Written values by their place in ``SHOWN`` and their estimator."""
    for place, (measure, name, share) in enumerate(SHOWN):
        for entry in document["measures"]:
            if entry["measure"] != measure or entry.get(name) is None:
                continue
            value = _decimal(entry[name])
            text = t.percent(value, 2) if name in CHANCES else t.number(value)
            if share:
                text = t("count", n=text, share=t.percent(_decimal(entry[share]), 2))
            yield (place, str(entry.get("estimator") or "")), text


def _decimal(value: Any) -> float:
    return float(value["decimal"] if isinstance(value, dict) else value)


def _attacks(document: Mapping[str, Any], t: Catalogue) -> list[Block]:
    """What each attack learnt, and which were not run."""
    ran = [entry for entry in document["attacks"] if entry["ran"]]
    names = list(dict.fromkeys(entry["attack"] for entry in document["attacks"]))
    idle = [name for name in names if name not in [entry["attack"] for entry in ran]]
    rows = [
        [
            t(f"attack.{entry['attack']}"),
            entry["attribute"] or "",
            t("count", n=t.number(entry["learnt"]), share=t.percent(entry["learnt_share"])),
            t.number(entry["persons"]),
            t.percent(entry["prior"]),
            t.percent(entry["posterior"]),
            t.percent(entry["largest_gain"]),
        ]
        for entry in ran
    ]
    columns = ("attack", "column", "learnt", "persons", "prior", "posterior", "largest_gain")
    blocks: list[Block] = [("text", t(f"attacks.{document['prior']}"))]
    if rows:
        blocks.append(("table", t("caption.attacks"), [t(f"head.{name}") for name in columns], rows))
    if idle:
        listed = t("list").join(t(f"attack.{name}") for name in idle)
        blocks.append(("text", t("attacks.idle", names=listed)))
    if document.get("fail_above") is not None:
        n = len(document["broken"])
        limit = t("percent", value=t.number(100 * document["fail_above"]))
        blocks.append(("text", t("attacks.above" if n else "attacks.within", n=n, limit=limit)))
        if any((entry.get("gate") or {}).get("compared") == "belief" for entry in ran):
            blocks.append(("text", t("attacks.of_k")))
    if document.get("not_run"):
        listed = t("list").join(t(f"attack.{name}") for name in document["not_run"])
        blocks.append(("text", t("attacks.not_run", names=listed)))
    return [*blocks, *notes(document.get("warnings", ()), t)]
