"""Page one of a report: the verdict and what argues against it, the key figures, promises with their price, examples.

Blocks beside those of ``sections``: ``("facts", pairs)``, ``("verdict", holds, title, sentence)``,
``("look", title, sentences)``, ``("figures", [(big, small), ...])``, ``("shares", caption, head, rows)`` whose rows are
a name, shares of exact, coarser and hidden, and texts; ``("cards", caption, head, rows)``, a table whose rows are cards
on a narrow screen; ``("sign", labels, marks)``.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from indistinct.policy.release import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.reports.catalogue import Catalogue

    Block = tuple[Any, ...]
    Summary = Mapping[str, Any]

MOST_LOOKS = 5
NOTABLE = 0.05  # a guess that gains less on average, and nowhere much, is not worth a reader's time on page one
LOUD = ("unprotected", "draft", "age", "counterfeits", "perturbing", "lost-column")  # warnings that come first
SHORT = 12  # characters of a hash that a person compares
_RANGE = re.compile(r"\[(\d{4}-\d\d-\d\d), (\d{4}-\d\d-\d\d)\)")
_WHOLE = re.compile(r"\[(-?\d+), (-?\d+)\]")


def title(summary: Summary, t: Catalogue) -> str:
    """Title of the report: that of the policy, else the names of the files."""
    return str(
        summary["account"].get("title")
        or (t("front.title", files=", ".join(summary["outputs"])) if summary["outputs"] else t("title"))
    )


def page_one(summary: Summary, t: Catalogue) -> list[Block]:
    """Write the blocks of page one."""
    return [
        *_facts(summary, t),
        _verdict(summary, t),
        *_looks(summary, t),
        ("figures", _figures(summary, t)),
        *_promises(summary, t),
        *_examples(summary, t),
        *_columns(summary, t),
        *_sign(summary, t),
    ]


def _facts(summary: Summary, t: Catalogue) -> list[Block]:
    account, internal = summary["account"], summary["kind"] == "internal"
    pairs = [(t("front.date"), summary["date"])]
    if internal:
        source = summary["source"]
        counted = t("unit.rows", n=summary["rows"])
        if summary["persons"]:
            counted = t("front.rows_of", rows=counted, persons=t("unit.persons", n=summary["persons"]))
        counted = f"{source['file']}{t('colon')}{counted}" if source["file"] else counted
        pairs.append((t("front.source"), counted))
    for word in WORDS:
        if word not in account:
            continue
        said = account[word]
        if word == "reasons":
            said = t("semicolon").join(f"{key}{t('colon')}{reason}" for key, reason in said.items())
        elif word == "recipient" and t.has(f"recipient.{said}"):
            said = t(f"recipient.{said}")
        pairs.append((t(f"account.{word}"), said))
    blocks: list[Block] = [("facts", pairs)]
    missing = [t(f"account.{word}") for word in WORDS if word not in account]
    if internal and missing:
        blocks.append(("open", t("front.open", what=t("list").join(missing))))
    return blocks


def _verdict(summary: Summary, t: Catalogue) -> Block:
    n, proof = len(summary["models"]), summary["verification"]
    said = [t("proved.rows_match") if proof["rows_match"] else t("proved.rows_differ")]
    said.append(t("proved.coverage") if proof["coverage"] == "proven" else t("proved.no_coverage"))
    holds = bool(summary["satisfied"])
    return ("verdict", holds, t("front.holds" if holds else "front.fails", n=n), t("between").join(said))


def _looks(summary: Summary, t: Catalogue) -> list[Block]:
    """What argues against it, loudest first; more than fit here are counted."""
    found = [*_guessed(summary, t), *_attacked(summary, t)]
    internal = summary["kind"] == "internal"
    if summary["form"] != "one_table":
        found.append(t("learn.groups"))
    elif internal and summary["persons_in_several_classes"]:
        found.append(t("learn.spread", n=summary["persons_in_several_classes"]))
    if not internal and summary["person"]:
        found.append(t("front.rows_only"))
    warnings = sorted(
        summary.get("warnings", ()), key=lambda one: LOUD.index(one["kind"]) if one["kind"] in LOUD else len(LOUD)
    )
    loud = [sentence for one in warnings if one["kind"] in LOUD and (sentence := t.sentence(one["message"]))]
    room = MOST_LOOKS - len(found)
    found += loud[: max(room, 0)]
    rest = len(warnings) - len(loud[: max(room, 0)])
    heading = t("front.look", n=len(found)) if internal and found else t("front.remains")
    more = [t("front.more", n=rest, section=t("section.warnings"))] if rest else []
    return [("look", heading, [*(found or [t("front.nothing")]), *more])]


def _guessed(summary: Summary, t: Catalogue) -> list[str]:
    found = []
    for entry in sorted(summary["guesses"], key=lambda one: -one["rows"]):
        if entry["rows"] or entry["after"] - entry["before"] > NOTABLE:
            found.append(
                t(
                    "look.guess",
                    column=entry["column"],
                    before=t.percent(entry["before"]),
                    after=t.percent(entry["after"]),
                    n=entry["rows"],
                    share=t.percent(entry["rows"] / max(summary["published_rows"], 1)),
                    low=t.percent(entry["worst"][0]),
                    high=t.percent(entry["worst"][1]),
                )
            )
        if entry["sure_rows"]:
            found.append(t("look.sure", n=entry["sure_rows"], column=entry["column"]))
    return found


def _attacked(summary: Summary, t: Catalogue) -> list[str]:
    """The loudest attack that was run, unless it is the guess that is measured anyway."""
    guessed = {(one["column"], round(one["before"], 9), round(one["after"], 9)) for one in summary["guesses"]}
    ran = [
        entry
        for entry in (summary["attacks_document"] or {}).get("attacks", ())
        if entry["ran"]
        and entry["learnt"]
        and (entry["attribute"], round(entry["prior"], 9), round(entry["posterior"], 9)) not in guessed
    ]
    if not ran:
        return []
    loudest = max(ran, key=lambda entry: (entry["learnt_share"], entry["largest_gain"]))
    return [
        t(
            "look.attack",
            attack=t(f"attack.{loudest['attack']}"),
            n=loudest["learnt"],
            share=t.percent(loudest["learnt_share"]),
            before=t.percent(loudest["prior"]),
            after=t.percent(loudest["posterior"]),
        )
    ]


def _figures(summary: Summary, t: Catalogue) -> list[tuple[str, str]]:
    internal, rows = summary["kind"] == "internal", summary["rows"]
    least = summary["guaranteed"] or {"size": summary["smallest_class"], "unit": summary["unit"]}
    n, unit = least["size"], least["unit"]
    word = t(f"unit.word.{unit}")
    required_k = max(
        (entry["required"]["k"] for entry in summary["models"] if "k" in (entry["required"] or {})), default=0
    )
    counted = n == summary["smallest_class"] and unit == summary["unit"]
    kind = "promised" if not counted else "asked" if required_k else "alone"
    found = [(t.number(n), t(f"figure.smallest.{kind}", unit=word, asked=required_k))]
    if summary["guaranteed"] and n:
        before, chance = _chance_before(summary), t.percent(1 / n)
        text = t("figure.chance", chance=chance)
        if before is not None and internal:
            text = t("figure.chance.before", before=t.percent(before, 0), chance=chance)
        found.append((t("figure.one_in", n=n), text))
    allowed = int(summary["limit"] * rows)
    found.append((t.number(summary["suppressed_rows"]), t("figure.left_out", rows=rows, allowed=allowed)))
    if internal:
        lost = summary["loss"]["lm"]
        found.append((t.percent(lost, 0 if lost > 0.1 else 1), t("figure.lost")))
    return found


def _chance_before(summary: Summary) -> float | None:
    """Largest chance to pick the right row in the original."""
    for entry in (summary["risk"] or {}).get("measures", ()):
        if entry["measure"] == "prosecutor":
            value = entry["highest"]
            return float(value["decimal"] if isinstance(value, dict) else value)
    return None


def _promises(summary: Summary, t: Catalogue) -> list[Block]:
    """Each promise: what was asked, what was reached, whether it holds, what it costs."""
    internal, priced = summary["kind"] == "internal", summary.get("prices")
    steps = {entry["place"]: entry for entry in (priced or {}).get("steps", ())}
    first = next(iter(steps), None)
    places = sorted(range(len(summary["models"])), key=lambda place: (_looks_at(summary["models"][place]), place))
    rows = []
    for place in places:
        entry = summary["models"][place]
        unit = t(f"unit.word.{'persons' if summary['person'] else 'rows'}")
        row = [t.promise(entry, unit) or t.model(entry), t.parameters(entry.get("required"))]
        if internal:
            row.append(t.parameters(entry["achieved"]))
        row.append(t("mark.yes") if entry["satisfied"] else t("mark.no"))
        if steps:
            price = steps.get(place)
            cost = "" if price is None else t.percent(max(price["cost"], 0.0))
            row.append(cost if place == first or not cost else t("price.more", share=cost))
        rows.append(row)
    head = [t("head.promise"), t("head.asked"), *([t("head.reached")] if internal else []), t("head.holds"),
            *([t("head.price")] if steps else [])]  # fmt: skip
    blocks: list[Block] = [("cards", t("caption.promises"), head, rows)]
    if not internal:
        return [*blocks, ("text", t("front.withheld"))]
    return [*blocks, *(("text", sentence) for sentence in _price(summary, t))]


def _looks_at(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("attribute") or entry.get("attributes"))


def _price(summary: Summary, t: Catalogue) -> list[str]:
    """Say which promise decides, and what it took."""
    priced = summary.get("prices")
    if priced is None:
        return []
    if not priced["complete"]:
        return [t("price.incomplete")]
    steps, found = priced["steps"], []
    if priced["decides"] is not None:
        number = next(at for at, step in enumerate(steps) if step["place"] == priced["decides"])
        before, step = steps[number - 1], steps[number]
        name = t.model(summary["models"][step["place"]])
        found.append(t("price.decides", promise=name, cost=t.percent(step["cost"]), whole=t.percent(steps[-1]["lm"])))
        if step["smallest"] > before["smallest"]:
            found.append(t("price.size", promise=name, before=before["smallest"], after=step["smallest"]))
        gained = {column: lost - before["lm_by_attribute"][column] for column, lost in step["lm_by_attribute"].items()}
        column = max(gained, key=lambda one: gained[one])
        found.append(
            t(
                "price.column",
                column=column,
                without=t.percent(1 - before["lm_by_attribute"][column], 0),
                within=t.percent(1 - step["lm_by_attribute"][column], 0),
            )
        )
    elif len(steps) > 1:
        found.append(t("price.first", promise=t.model(summary["models"][steps[0]["place"]])))
    if abs(steps[-1]["lm"] - summary["loss"]["lm"]) > 0.0005:  # what a reader of one decimal sees
        found.append(t("price.quick", lost=t.percent(summary["loss"]["lm"])))
    return [t("between").join(found)] if found else []


def readable(label: str | None, t: Catalogue) -> str:
    r"""Write a range for people: whole months and whole numbers with both ends, other labels as they stand in the file.

    >>> from indistinct.reports.catalogue import catalogue
    >>> ascii(readable("[1968-10-01, 1978-10-01)", catalogue("en"))), readable("[2.5, 5)", catalogue("en"))
    ("'1968-10 \\u2013 1978-09'", '[2.5, 5)')
    """
    if label is None:
        return t("missing")
    if found := _RANGE.fullmatch(label):
        first, end = (date.fromisoformat(text) for text in found.groups())
        last = end - timedelta(days=1)
        if first.day == end.day == 1:
            one, other = f"{first:%Y-%m}", f"{last:%Y-%m}"
            return one if one == other else f"{one} \N{EN DASH} {other}"
        return f"{first.isoformat()} \N{EN DASH} {last.isoformat()}"
    if found := _WHOLE.fullmatch(label):
        return f"{found[1]} \N{EN DASH} {found[2]}"
    return label


def _examples(summary: Summary, t: Catalogue) -> list[Block]:
    found = summary["examples"]
    if found is None:
        return []
    rows: list[Sequence[str]] = []
    internal = summary["kind"] == "internal"
    for entry in found["rows"]:
        if internal:
            rows.append([t("before"), *(t("missing") if text is None else text for text in entry["before"]), ""])
        rows.append([t("after"), *(readable(text, t) for text in entry["after"]), t("unit.rows", n=entry["rows"])])
    head = [t("head.row"), *found["columns"], t("head.alike")]
    caption = t("caption.examples.internal" if internal else "caption.examples.public")
    return [("table", caption, head[not internal :], [row[not internal :] for row in rows])]


def _columns(summary: Summary, t: Catalogue) -> list[Block]:
    """What became of each quasi-identifier, by detail lost; the others in a line each."""
    total, internal = max(summary["published_rows"], 1), summary["kind"] == "internal"
    changed = [entry for entry in summary["columns"] if entry["done"] == "generalized"]
    blocks: list[Block] = []
    if changed:
        changed = sorted(changed, key=lambda entry: -(entry.get("lm") if internal else entry["starred"]))
        rows = []
        for entry in changed:
            hidden = entry["starred"] / total
            exact = entry.get("exact", 0) / total
            shares = (exact, 1 - exact - hidden, hidden) if internal else (0.0, 1 - hidden, hidden)
            texts = [t.percent(share) for share in (shares if internal else shares[1:])]
            rows.append((entry["name"], shares, [*texts, *([t.percent(entry["lm"])] if internal else [])]))
        words = ("exact", "coarser", "hidden") if internal else ("shown", "hidden")
        head = [t("head.column"), "", *(t(f"share.{word}") for word in words), *([t("head.price")] if internal else [])]
        blocks.append(("shares", t("caption.became"), head, rows))
    rest = []
    for key, done in (("front.as_is", ("unchanged", "sensitive")), ("front.gone", ("dropped", "person"))):
        names = [entry["name"] for entry in summary["columns"] if entry["done"] in done and "transformed" not in entry]
        if names:
            rest.append(t(key, columns=t("list").join(names)))
    return [*blocks, ("text", t("between").join(rest))] if rest else blocks


def _sign(summary: Summary, t: Catalogue) -> list[Block]:
    if summary["kind"] != "internal":
        return []
    marks = [(name, digest[:SHORT]) for name, digest in summary["sha256"].items()]
    marks.append((t("verify.policy"), summary["policy_sha256"][:SHORT]))
    if summary["source"]["fingerprint"]:
        marks.append((t("front.source_mark"), summary["source"]["fingerprint"][:SHORT]))
    return [("sign", [t("sign.decided"), t("sign.officer")], marks)]
