"""From a summary to sections in words: headings, sentences, tables and charts, which HTML and Markdown both render.

A section is ``{"id", "title", "blocks"}``; a block is ``("text", sentence)``, ``("list", sentences)``,
``("table", caption, head, rows)``, ``("chart", name, title, description, labels, series)``, ``("code", text)``, or
``("quoted", sentences)`` for sentences in English whatever the language. Page one has blocks of its own (``page_one``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.losses import LOSSES
from indistinct.reports.learn import learn, notes
from indistinct.transforms import RANDOM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indistinct.reports.catalogue import Catalogue

    Block = tuple[Any, ...]
    Summary = dict[str, Any]


def sections(summary: Summary, t: Catalogue) -> list[dict[str, Any]]:
    """Write all sections that have something to say."""
    makers: dict[str, Callable[[Summary, Catalogue], list[Block]]] = {
        "learn": learn,
        "sizes": _sizes,
        "distributions": _distributions,
        "worst": _worst,
        "warnings": _warnings,
        "verify": _verify,
        "appendix": _appendix,
        "columns": _columns,
        "policy": lambda own, _: [("code", own["policy"])],
    }
    found = []
    for name, make in makers.items():
        blocks = make(summary, t)
        if blocks:
            found.append({"id": name, "title": t(f"section.{name}"), "blocks": blocks})
    return found


def _appendix(summary: Summary, t: Catalogue) -> list[Block]:
    return [*_proved(summary, t), *_cost(summary, t)]


def _proved(summary: Summary, t: Catalogue) -> list[Block]:
    internal = summary["kind"] == "internal"
    head = [t("head.model"), t("head.asked"), *([t("head.reached")] if internal else []), t("head.holds")]
    rows = [
        [
            t.model(entry),
            t.parameters(entry.get("required")),
            *([t.parameters(entry["achieved"])] if internal else []),
            t("yes") if entry["satisfied"] else t("no"),
        ]
        for entry in summary["models"]
    ]
    verification, fakes = summary["verification"], summary["counterfeits"]
    added = [] if fakes is None else [t("proved.counterfeits", n=fakes, published=summary["published_rows"])]
    done = summary["transformed"]
    return [
        ("table", t("caption.models"), head, rows),
        ("text", t("asked.limit", share=t.percent(summary["limit"]))),
        ("text", t("asked.algorithm", algorithm=summary["algorithm"], aim=summary["aim"])),
        *([("text", t("asked.person"))] if summary["person"] else []),
        ("text", t("proved.rows_match") if verification["rows_match"] else t("proved.rows_differ")),
        ("text", t("proved.coverage") if verification["coverage"] == "proven" else t("proved.no_coverage")),
        (
            "text",
            t(f"declares.{summary['declares']}") if t.has(f"declares.{summary['declares']}") else summary["declares"],
        ),
        *(("text", sentence) for sentence in added),
        *([("text", t("proved.transformed", methods=", ".join(done)))] if done else []),
        *(
            [("list", [f"{entry['method']}: {t.sentence(entry['says']) or entry['says']}" for entry in losses])]
            if (losses := summary.get("transforms"))
            else []
        ),
    ]


def _cost(summary: Summary, t: Catalogue) -> list[Block]:
    gone = summary["suppressed_rows"]
    share = t.percent(gone / summary["rows"]) if summary["rows"] else t.percent(0.0)
    blocks: list[Block] = [("text", t("cost.suppressed", n=gone, rows=summary["rows"], share=share))]
    if gone:
        blocks.append(("text", t(f"cost.rule.{summary['suppressed']}")))
    if summary["left_out_rows"]:
        blocks.append(("text", t("cost.left_out", n=summary["left_out_rows"])))
    if summary["kind"] == "public":
        return [*blocks, ("text", t("cost.public"))]
    loss = summary["loss"]
    blocks.append(("text", t("cost.lm", share=t.percent(loss["lm"]))))
    measures = [
        [t(f"loss.{name}"), t.number(float(loss[name])), t(f"meaning.{name}")]
        for name in LOSSES
        if loss.get(name) is not None
    ]
    head = [t("head.measure"), t("head.value"), t("head.meaning")]
    blocks.append(("table", t("caption.losses"), head, measures))
    return blocks


def _columns(summary: Summary, t: Catalogue) -> list[Block]:
    rows = [
        [
            entry["name"],
            t(f"role.{entry['role']}"),
            done_text(entry, t),
            t.number(entry["labels"]) if "labels" in entry else "",
        ]
        for entry in summary["columns"]
    ]
    head = [t("head.column"), t("head.role"), t("head.done"), t("head.labels")]
    return [("table", t("caption.columns"), head, rows)]


def done_text(entry: Mapping[str, Any], t: Catalogue) -> str:
    """Say what was done to a column, transforms of the policy first."""
    key = f"hierarchy.{entry.get('hierarchy')}"
    how = entry.get("of", t(key) if t.has(key) else entry.get("hierarchy", ""))
    done = t(f"done.{entry['done']}", how=how)
    if "transformed" not in entry:
        return done
    methods = ", ".join(entry["transformed"])
    if entry["done"] in ("unchanged", "sensitive"):
        return t("done.transformed", methods=methods)
    return t("done.transformed_first", methods=methods, done=done)


def len_groups(summary: Summary) -> int:
    """Number of classes, or of groups."""
    return sum(entry["classes"] for entry in summary["sizes"])


def _sizes(summary: Summary, t: Catalogue) -> list[Block]:
    labels = [
        t.number(entry["to"])
        if entry["from"] == entry["to"]
        else f"{t.number(entry['from'])} \N{EN DASH} {t.number(entry['to'])}"
        for entry in summary["sizes"]
    ]
    texts = [t.number(entry["classes"]) for entry in summary["sizes"]]
    values = [float(entry["classes"]) for entry in summary["sizes"]]
    return [
        ("text", t(f"sizes.{summary['form']}", n=len_groups(summary))),
        (
            "chart",
            "sizes",
            t("chart.sizes", unit=t(f"unit.word.{summary['unit']}")),
            _described(labels, texts),
            labels,
            [("", texts, values)],
        ),
    ]


def _distributions(summary: Summary, t: Catalogue) -> list[Block]:
    blocks: list[Block] = [("text", t(f"distributions.{summary['kind']}"))]
    same = [entry["column"] for entry in summary["distributions"] if entry.get("total_variation") == 0]
    for number, entry in enumerate(summary["distributions"]):
        if entry["column"] in same:
            continue
        # many values together beside single ones would dwarf them: they are a number without a bar
        alone = [not _others(value) for value in entry["values"]]
        labels = [_label(value, t) for value in entry["values"]]
        after = [t.number(round(value)) for value in entry["after"]]
        series = [(t("after"), after, _bars(entry["after"], alone))]
        described = _described(labels, after)
        title = entry["column"]
        if "before" in entry:
            before = [t.number(round(value)) for value in entry["before"]]
            series.insert(0, (t("before"), before, _bars(entry["before"], alone)))
            pairs = [f"{one} / {other}" for one, other in zip(before, after, strict=True)]
            described = _described(labels, pairs)
            title = t("chart.moved", column=entry["column"], share=t.percent(entry["total_variation"]))
        blocks.append(("chart", f"distribution-{number}", title, described, labels, series))
    if same:
        blocks.append(("text", t("distributions.same", columns=t("list").join(same))))
    return blocks if len(blocks) > 1 else []


def _bars(values: list[float], alone: list[bool]) -> list[float]:
    return [value if drawn else 0.0 for value, drawn in zip(values, alone, strict=True)]


def _others(value: str) -> int:
    """How many values stand behind an entry of the rest; 0 for a value of its own."""
    number, _, word = value.partition(" ")
    return int(number) if word == "others" and number.isdigit() else 0


def _label(value: str, t: Catalogue) -> str:
    if value == "(missing)":
        return t("missing")
    return t("others", n=_others(value)) if _others(value) else value


def _described(labels: list[str], texts: list[str]) -> str:
    return "; ".join(f"{label}: {text}" for label, text in zip(labels, texts, strict=True))


def _worst(summary: Summary, t: Catalogue) -> list[Block]:
    if not summary.get("worst"):
        return []
    rows = [
        [
            entry["column"],
            ", ".join(f"{name} {t('missing') if value is None else value}" for name, value in entry["class"].items()),
            t.number(entry["rows"]),
            f"{t.percent(entry['share'])} ({t.number(entry['top'])})",
            t.percent(entry["share_in_table"]),
        ]
        for entry in summary["worst"]
    ]
    head = [t("head.column"), t("head.class"), t("head.rows"), t("head.top_share"), t("head.table_share")]
    return [("text", t("worst.text")), ("table", t("caption.worst"), head, rows)]


def _warnings(summary: Summary, t: Catalogue) -> list[Block]:
    return notes(summary.get("warnings", ()), t)


def _verify(summary: Summary, t: Catalogue) -> list[Block]:
    output = summary["outputs"][0] if summary["outputs"] else "PUBLISHED"
    rows = [[name, digest] for name, digest in summary["sha256"].items()]
    rows.append([t("verify.policy"), summary["policy_sha256"]])
    drawn = sorted(RANDOM.intersection(summary["transformed"]))
    rows += [[name, text] for name, text in summary["versions"].items()]
    return [
        ("text", t("verify.random", methods=", ".join(drawn)) if drawn else t("verify.how")),
        ("code", f"indistinct verify ORIGINAL {output} --policy POLICY"),
        ("table", t("caption.hashes"), [t("head.what"), t("head.value")], rows),
    ]
