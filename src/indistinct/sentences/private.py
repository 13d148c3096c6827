"""Sentences about private answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.plain import for_people
from indistinct.sentences.results import warnings_text

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 12  # parts of a histogram that are shown


def short(value: Any) -> str:
    """Write a number, a list of them, or nothing.

    >>> short(41234.5678), short([1, 2.5]), short(None), short(0.1)
    ('41 234.57', '1, 2.5', 'none', '0.1')
    """
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(short(one) for one in value[:MOST]) + (", ..." if len(value) > MOST else "")
    text = f"{value:,.2f}" if abs(value) >= 1000 else f"{value:.4g}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(",", " ")


@for_people
def private_text(document: Mapping[str, Any]) -> str:
    """Write every answer three times, and what each kind promises."""
    lines = [f"epsilon {short(document['epsilon'])} spent by {len(document['answers'])} private answers", ""]
    for entry in document["answers"]:
        mean = "mean error of a part" if entry["kind"] == "histogram" else "error"
        lines.append(f"{entry['query']}: exactly {short(entry['original'])}")
        lines += [f"  parts: {' | '.join(entry['values'][:MOST])}"] if "values" in entry else []
        lines += [
            f"  {who}: {short(entry[key]['value'])}, {mean} {short(entry[key]['error'])}"
            for key, who in (("release", "published table"), ("private", "private"))
        ]
        accuracy = entry["accuracy"]
        noise = "" if accuracy is None else f"; its noise is below {short(accuracy['error'])} in 95 of 100 cases"
        lines.append(f"  epsilon {short(entry['epsilon'])}{noise}")
    lines += ["", document["promise"]["release"], document["promise"]["private"]]
    lines.append("Exact answers and errors are for you alone: hand out nothing but the private values.")
    return "\n".join([*lines, *warnings_text(document["warnings"])])
