"""A plan in sentences and as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.assess.price import NOTHING
from indistinct.notices import Sentence
from indistinct.plain import for_people
from indistinct.sentences.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def sentences(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say what decides, what each threshold and column costs, and what would buy most."""
    found: list[dict[str, Any]] = []

    def say(about: str, sentence: Sentence) -> None:
        found.append({"about": about, "text": sentence})

    required = document["asked"]
    if required["status"] != "done":
        say("target", Sentence("as it stands the policy cannot be met: {reason}", reason=required["reason"]))
    else:
        say(
            "target",
            Sentence(
                "as it stands {lost} of the detail is lost, the smallest group has {n} {unit}, and {gone} rows are "
                "left out",
                lost=percent(required["lm"]), n=required["smallest"], unit=document["unit"],
                gone=required["suppressed_rows"],
            ),
        )  # fmt: skip
    _promises(document, say)
    for curve in document["curves"]:
        _thresholds(document, curve, say)
    _columns(document, say)
    _best(document, say)
    return found


def percent(share: float) -> str:
    """Write a share; what is not nothing is not written as nothing."""
    return "0 %" if share == 0 else "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def name_of(entry: Mapping[str, Any]) -> str:
    """Name a model with its column."""
    return f"{entry['model']} of {entry['attribute']}" if entry["attribute"] else str(entry["model"])


def _promises(document: Mapping[str, Any], say: Any) -> None:
    steps = document["prices"]
    for number, step in enumerate(steps):
        model = name_of(document["models"][step["place"]])
        if not number:
            say("promises", Sentence("{model} alone costs {cost}", model=model, cost=percent(step["lm"])))
        elif step["cost"] > NOTHING:
            say("promises", Sentence("{model} costs {cost} more", model=model, cost=percent(step["cost"])))
        else:
            say("promises", Sentence("{model} costs nothing more", model=model))
    if document["decides"] is not None:
        number = next(at for at, step in enumerate(steps) if step["place"] == document["decides"])
        model, before, after = name_of(document["models"][document["decides"]]), steps[number - 1], steps[number]
        if after["smallest"] > before["smallest"]:
            say(
                "promises",
                Sentence(
                    "{model} decides: it makes the smallest group {after} instead of {before}",
                    model=model, after=after["smallest"], before=before["smallest"],
                ),
            )  # fmt: skip
        else:
            say("promises", Sentence("{model} decides what is lost", model=model))


def runs_alike(points: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Put neighbours together that lose the same and make groups of the same size."""
    found: list[list[Mapping[str, Any]]] = []
    for point in points:
        last = found[-1][0] if found else {"status": ""}
        alike = point["status"] == last["status"] == "done" and point["smallest"] == last["smallest"]
        if alike and abs(point["lm"] - last["lm"]) <= NOTHING:
            found[-1].append(point)
        else:
            found.append([point])
    return found


def _thresholds(document: Mapping[str, Any], curve: Mapping[str, Any], say: Any) -> None:
    name, model = curve["parameter"], name_of(curve)
    about = f"{name} of {model}"
    for group in runs_alike(curve["points"]):
        values = tuple(f"{point['value']:g}" for point in group)
        point = group[0]
        if point["status"] != "done":
            sentence = Sentence(
                "{name} = {value} cannot be met: {reason}", name=name, value=values, reason=point["reason"]
            )
        elif len(group) == 1:
            sentence = Sentence(
                "{name} = {value}: {lost} lost, groups from {n} {unit}",
                name=name, value=values, lost=percent(point["lm"]), n=point["smallest"], unit=document["unit"],
            )  # fmt: skip
        else:
            sentence = Sentence(
                "{name} of {values} all reach groups from {n} {unit} at the same loss of {lost}: something else "
                "decides",
                name=name, values=values, n=point["smallest"], unit=document["unit"], lost=percent(point["lm"]),
            )  # fmt: skip
        say(about, sentence)


def _columns(document: Mapping[str, Any], say: Any) -> None:
    for column in sorted(document["columns"], key=lambda one: -one["share_of_loss"]):
        facts = {"name": column["column"], "lost": percent(column["lm"]), "share": percent(column["share_of_loss"])}
        if column["others_without"] is None:
            say("columns", Sentence('"{name}" loses {lost}, {share} of the whole loss', **facts))
            continue
        say(
            "columns",
            Sentence(
                '"{name}" loses {lost}, {share} of the whole loss; without it the others lose {after} instead of '
                "{before}",
                **facts, after=percent(column["others_without"]), before=percent(column["others"]),
            ),
        )  # fmt: skip


def _best(document: Mapping[str, Any], say: Any) -> None:
    if not document["decisions"]:
        if document["asked"]["status"] == "done":
            say("decision", Sentence("no single step among these saves anything worth naming"))
        return
    best = document["decisions"][0]
    facts = {"before": percent(best["before"]), "after": percent(best["after"])}
    if best["column"] is not None:
        sentence = Sentence(
            'leaving "{name}" out buys most: {after} lost instead of {before}, with that column counted as lost whole',
            name=best["column"], **facts,
        )  # fmt: skip
    else:
        sentence = Sentence(
            "{name} of {model} from {old} to {new} buys most: {after} lost instead of {before}",
            name=best["parameter"], model=name_of(document["models"][best["place"]]),
            old=f"{best['from']:g}", new=f"{best['to']:g}", **facts,
        )  # fmt: skip
    say("decision", sentence)


@for_people
def text(document: Mapping[str, Any]) -> str:
    """Write a plan for a terminal."""
    lines, about = list[str](), ""
    for sentence in document["sentences"]:
        if sentence["about"] != about:
            about = sentence["about"]
            lines += ["", f"{about}:"] if lines else [f"{about}:"]
        lines.append(f"  {sentence['text']}")
    if len(document["decisions"]) > 1:
        rows: list[tuple[str, ...]] = [("decision", "detail lost", "instead of")]
        for one in document["decisions"]:
            what = (
                f"without {one['column']} (counted as lost)"
                if one["column"] is not None
                else f"{one['parameter']} = {one['to']:g} for {name_of(document['models'][one['place']])}"
            )
            rows.append((what, percent(one["after"]), percent(one["before"])))
        lines += ["", *aligned(rows, left=1)]
    lines += ["", "prices are those of quick searches: they can be had; that no less can be lost is not proved"]
    return "\n".join([*lines, *(f"note: {warning['message']}" for warning in document["warnings"])])
