"""From a summary to sections in words: headings, sentences, tables and charts, which HTML and Markdown both render.

A section is ``{"id", "title", "blocks"}``; a block is ``("text", sentence)``, ``("list", sentences)``,
``("table", caption, head, rows)``, ``("chart", name, title, description, labels, series)``, ``("code", text)``, or
``("quoted", sentences)`` for sentences in English whatever the language.
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
        "asked": _asked,
        "proved": _proved,
        "cost": _cost,
        "columns": _columns,
        "learn": learn,
        "sizes": _sizes,
        "distributions": _distributions,
        "worst": _worst,
        "warnings": _warnings,
        "verify": _verify,
        "policy": lambda own, _: [("code", own["policy"])],
    }
    found = []
    for name, make in makers.items():
        blocks = make(summary, t)
        if blocks:
            found.append({"id": name, "title": t(f"section.{name}"), "blocks": blocks})
    return found


def lead(summary: Summary, t: Catalogue) -> list[str]:
    """The answer in three sentences."""
    sentences = [t("lead.rows", n=summary["published_rows"], published=summary["published_rows"], rows=summary["rows"])]
    sentences.append(t("lead.satisfied") if summary["satisfied"] else t("lead.not_satisfied"))
    least = summary["guaranteed"] or {"size": summary["smallest_class"], "unit": summary["unit"]}
    counted = least["size"] == summary["smallest_class"] and least["unit"] == summary["unit"]
    key = "lead.group" if summary["form"] != "one_table" else "lead.smallest" if counted else "lead.at_least"
    sentences.append(t(key, n=least["size"], unit=t(f"unit.{least['unit']}", n=least["size"])))
    return sentences


def _asked(summary: Summary, t: Catalogue) -> list[Block]:
    promises = [
        t.promise(entry) or f"{t.model(entry)}: {t.parameters(entry.get('required'))}" for entry in summary["models"]
    ]
    blocks: list[Block] = [("list", promises)]
    sentences = [
        t("asked.limit", share=t.percent(summary["limit"])),
        t("asked.algorithm", algorithm=summary["algorithm"], aim=summary["aim"]),
    ]
    if summary["person"]:
        sentences.append(t("asked.person"))
    return [*blocks, *(("text", sentence) for sentence in sentences)]


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
    measures = [(t(f"loss.{name}"), t.number(float(loss[name]))) for name in LOSSES if loss.get(name) is not None]
    blocks.append(("table", t("caption.losses"), [t("head.measure"), t("head.value")], [list(row) for row in measures]))
    lost = sorted(loss["lm_by_attribute"].items(), key=lambda item: -item[1])
    texts = [t.percent(value) for _, value in lost]
    blocks.append(
        (
            "chart", "lost", t("chart.lost"), _described([name for name, _ in lost], texts),
            [name for name, _ in lost], [("", texts, [value for _, value in lost])],
        )
    )  # fmt: skip
    return blocks


def _columns(summary: Summary, t: Catalogue) -> list[Block]:
    rows = []
    for entry in summary["columns"]:
        done = done_text(entry, t)
        detail = ""
        if entry["done"] == "generalized":
            total = max(summary["published_rows"], 1)
            if "exact" in entry:
                detail = t(
                    "column.shares",
                    exact=t.percent(entry["exact"] / total),
                    general=t.percent(entry["general"] / total),
                    starred=t.percent(entry["starred"] / total),
                )
            else:
                detail = t("column.labels", n=entry["labels"], starred=t.percent(entry["starred"] / total))
        rows.append([entry["name"], t(f"role.{entry['role']}"), done, detail])
    head = [t("head.column"), t("head.role"), t("head.done"), t("head.detail")]
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
        ("chart", "sizes", t("chart.sizes"), _described(labels, texts), labels, [("", texts, values)]),
    ]


def _distributions(summary: Summary, t: Catalogue) -> list[Block]:
    blocks: list[Block] = [("text", t(f"distributions.{summary['kind']}"))]
    for number, entry in enumerate(summary["distributions"]):
        labels = [_label(value, t) for value in entry["values"]]
        after = [t.number(round(value)) for value in entry["after"]]
        series = [(t("after"), after, entry["after"])]
        described = _described(labels, after)
        title = entry["column"]
        if "before" in entry:
            before = [t.number(round(value)) for value in entry["before"]]
            series.insert(0, (t("before"), before, entry["before"]))
            pairs = [f"{one} / {other}" for one, other in zip(before, after, strict=True)]
            described = _described(labels, pairs)
            title = t("chart.moved", column=entry["column"], share=t.percent(entry["total_variation"]))
        blocks.append(("chart", f"distribution-{number}", title, described, labels, series))
    return blocks if len(blocks) > 1 else []


def _label(value: str, t: Catalogue) -> str:
    if value == "(missing)":
        return t("missing")
    number, _, word = value.partition(" ")
    return t("others", n=int(number)) if word == "others" and number.isdigit() else value


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
