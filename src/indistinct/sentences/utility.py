"""What ``utility`` found, in words for the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.plain import for_people
from indistinct.sentences.results import number, warnings_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@for_people
def utility_text(document: Mapping[str, Any]) -> str:
    """Write what a published table is still good for."""
    losses, queries = document["losses"], document["queries"]
    gone = document["rows"] - document["published_rows"]
    lines = [
        f"{document['published_rows']} of {document['rows']} rows published ({gone} are missing)",
        f"lost: {100 * losses['lm']:.1f} % of the detail (LM {losses['lm']:.4f}, GCP {losses['gcp']:.4f})",
        "",
    ]
    if queries["mean_relative_error"] is not None:
        low, high = queries["interval"]
        lines.append(
            f"random COUNT queries ({queries['queries']} with {queries['dimension']} conditions): relative error "
            f"{100 * queries['mean_relative_error']:.1f} % on average "
            f"(95 % interval {100 * low:.1f} to {100 * high:.1f}), "
            f"median {100 * queries['median']:.1f} %, one in twenty above {100 * queries['percentile_95']:.1f} %"
        )
    lines += _answers_text(document["sql"])
    lines += ["", "distributions: share of the rows that would have to move"]
    lines += [f"  {entry['column']}: {100 * entry['total_variation']:.1f} %" for entry in document["distributions"]]
    strong = [entry for entry in document["contingency"] if entry["association"]["before"] is not None]
    strong.sort(key=lambda entry: -(entry["association"]["before"] or 0))
    if strong:
        lines += ["", "associations (Cramér's V), the strongest:"]
        for entry in strong[:5]:
            association = entry["association"]
            one, other = entry["columns"]
            lines.append(
                f"  {one} and {other}: {number(association['before'])}, published {number(association['after'])}"
            )
    lines += _models_text(document)
    learned = document["task"]
    if learned:
        lines.append("")
        lines.append(
            f"learning {learned['target']}: {learned['measure']} {learned['before']:.3f} from the original, "
            f"{learned['after']:.3f} from the release, {learned['baseline']:.3f} by the baseline; {learned['note']}"
        )
    return "\n".join([*lines, *warnings_text(document["warnings"])])


def _models_text(document: Mapping[str, Any]) -> list[str]:
    """Correlations and regressions before and after, with their 95 % intervals."""
    lines = []
    for entry in document["correlations"]:
        if entry["before"] and entry["after"]:
            before, after = (_estimate(entry[side]["r"], entry[side]["interval"]) for side in ("before", "after"))
            lines.append(f"correlation of {' and '.join(entry['columns'])}: {before}, published {after}")
    for entry in document["regressions"]:
        lines += ["", f"regression {entry['formula']}: coefficients with 95 % intervals, overlap of the intervals"]
        for item in entry["coefficients"]:
            if item["before"] and item["after"]:
                before, after = (
                    _estimate(item[side]["estimate"], item[side]["interval"]) for side in ("before", "after")
                )
                lines.append(f"  {item['name']}: {before}, published {after}, overlap {number(item['overlap'])}")
    return lines


def _estimate(at: float, interval: Sequence[float]) -> str:
    return f"{at:.4g} ({interval[0]:.4g} to {interval[1]:.4g})"


def _answers_text(queries: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for entry in queries:
        lines += ["", f"query: {' '.join(entry['query'].split())}"]
        for answer in entry["answers"][:20]:
            low, high = answer["interval"]
            error = "" if answer["relative_error"] is None else f", error {100 * answer['relative_error']:.1f} %"
            what = " ".join([*answer["group"], answer["column"]])
            lines.append(
                f"  {what}: {answer['original']:.6g}, estimated {answer['release']:.6g} "
                f"({low:.6g} to {high:.6g}){error}"
            )
    return lines
