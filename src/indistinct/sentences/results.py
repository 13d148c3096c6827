"""The answers as short readable text: what a person sees in a terminal or a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.markup import preformatted, table
from indistinct.models import MODELS
from indistinct.plain import for_people
from indistinct.sentences.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORMS = {
    "two_tables": "quasi-identifiers and sensitive values in two tables",
    "permuted": "sensitive values permuted inside each group",
}


def number(value: Any) -> str:
    """Write one parameter for people: whole numbers, exact fractions, or four digits.

    >>> number({"fraction": "1/5", "decimal": 0.2}), number({"decimal": 2.828427}), number(1e-6), number(None)
    ('0.2', '2.8284', '1e-06', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, dict):
        value = value.get("decimal", value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {number(inner)}" for key, inner in value.items())
    if isinstance(value, float) and 0 < abs(value) < 1e-4:
        return f"{value:.4g}"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return str(value)


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    >>> counted(1, "persons"), counted(2, "class"), counted(3, "rows")
    ('1 person', '2 classes', '3 rows')
    """
    one = thing.removesuffix("s") if thing in ("rows", "persons") else thing
    return f"{number} {one if number == 1 else f'{one}es' if one.endswith('s') else f'{one}s'}"


def parameters(values: Any) -> str:
    """Write parameters as ``k = 5, l = 3``; of a list of alternatives the first two that can be had."""
    if values is None:
        return ""
    if isinstance(values, list | tuple):
        return "; ".join(parameters(item) for item in values[:2] if None not in item.values()) or "none"
    return ", ".join(f"{key} = {number(values[key])}" for key in values)


def model_title(entry: Mapping[str, Any]) -> str:
    """Name a model with what tells it apart: attribute, distance, kind."""
    name = MODELS[entry["model"]].title
    if entry.get("on") == "groups":  # where the size of a group is judged too
        name = name.removesuffix(" (proximity risk)")
    details = [
        entry[key] for key in ("distance", "kind", "absent", "estimator") if entry.get(key) and entry[key] != "shannon"
    ]
    attribute = entry.get("attribute") or ", ".join(entry.get("attributes", ()))
    return name + (f" ({', '.join(details)})" if details else "") + (f" of {attribute}" if attribute else "")


MODEL_HEADS = ("model", "asked", "reached", "holds")


def _model_row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Cells of a model under ``MODEL_HEADS``."""
    verdict = {True: "yes", False: "NO", None: ""}[entry["satisfied"]]
    return model_title(entry), parameters(entry["required"]), parameters(entry["achieved"]), verdict


def models_text(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write one line for each model, with the reason below a verdict of no."""
    judged = list(entries)
    head, *written = aligned([MODEL_HEADS, *map(_model_row, judged)])
    lines = [head]
    for entry, line in zip(judged, written, strict=True):
        lines.append(line)
        if entry["satisfied"] is False and entry.get("reason"):
            lines.append(f"    {entry['reason']}")
    return lines


def person_shares_text(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the largest shares of persons in a class, one line for each attribute."""
    return [
        f"{entry['attribute']} by persons: one value has up to {100 * entry['largest_share']['decimal']:.1f} % of a "
        f"class, each person weighing 1, and up to {100 * entry['largest_with']['decimal']:.1f} % of the persons of a "
        "class have one value in some row"
        for entry in entries
    ]


def warnings_text(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the warnings, one line each."""
    return [f"note: {warning['message']}" for warning in warnings]


@for_people
def audit_text(document: Mapping[str, Any]) -> str:
    """Write the answer of an audit."""
    unit = document["unit"]
    head = f"{document['rows']} rows" + (
        f" of {document['persons']} persons" if document["persons"] is not None else ""
    )
    smallest, largest = document["smallest_class"], document["largest_class"]
    classes = counted(document["classes"], "class")
    lines = [f"{head} in {classes}; the smallest has {counted(smallest, unit)}, the largest {largest}"]
    if document["suppressed_rows"]:
        lines.append(f"{document['suppressed_rows']} rows are fully suppressed and count as no class")
    lines += ["", *models_text(document["models"]), ""]
    wildcard = document["missing"]["k_if_missing_matches_anything"]
    if wildcard is not None and wildcard != document["smallest_class"]:
        lines.append(f"a missing value is a value of its own here; if it could be anything, k would be {wildcard}")
    known = document["k_if_untouched_columns_are_known"]
    if known is not None:
        lines.append(f"if the columns that stay unchanged were known to an attacker, k would be {known}")
    if document.get("persons_in_several_classes"):
        lines.append(f"{document['persons_in_several_classes']} persons have rows in several classes")
    lines += person_shares_text(document.get("person_shares", ()))
    for worst in document["worst"][:3]:
        names = ", ".join(f"{name} {'missing' if value is None else value}" for name, value in worst["class"].items())
        lines.append(f"worst: {{{names}}} with {counted(worst['size'], unit)}; {worst['suggestion']}")
    lines += warnings_text(document["warnings"])
    if document["satisfied"] is not None:
        lines.append("all models hold" if document["satisfied"] else "NOT satisfied")
    return "\n".join(lines)


@for_people
def release_text(document: Mapping[str, Any]) -> str:
    """Write the account of a release: what was asked, what was reached, what was lost, where it is."""
    rows, suppressed = document["rows"], document["suppressed_rows"]
    loss = document["loss"]
    by_attribute = ", ".join(f"{name} {100 * value:.1f} %" for name, value in loss["lm_by_attribute"].items())
    classes = counted(document["classes"], "class")
    if document.get("groups"):
        classes = f"{counted(document['groups'], 'group')}, {FORMS[document['form']]}"
    how = f"algorithm {document['algorithm']}, {document['declares']}"
    fakes = document.get("counterfeits")
    with_fakes = "" if fakes is None else f" with {counted(fakes, 'counterfeit')}"
    lines = [
        f"{document['published_rows'] - (fakes or 0)} of {rows} rows published{with_fakes} in {classes} ({how})",
        "",
        *models_text(document["models"]),
        "",
        f"lost: {100 * loss['lm']:.1f} % of the detail (LM {loss['lm']:.4f}); {by_attribute}",
        f"suppressed: {suppressed} of {rows} rows ({100 * suppressed / rows:.1f} %)",
    ]
    if document["levels"]:
        lines.append("levels: " + ", ".join(f"{name} {level}" for name, level in document["levels"].items()))
    if "budget" in document:
        lines.append(budget_text(document["budget"]))
    if document.get("persons_in_several_classes"):
        lines.append(
            f"{document['persons_in_several_classes']} persons have rows in several classes: "
            "who knows two of their rows may narrow them down"
        )
    lines += person_shares_text(document.get("person_shares", ()))
    verification = document["verification"]
    lines.append(
        f"verified from the {'written file' if document['outputs'] else 'published table'}: rows "
        f"{'match' if verification['rows_match'] else 'DIFFER'}, coverage {verification['coverage']}"
    )
    if "ledger" in document:
        earlier = len(document["ledger"]["earlier_releases"])
        ledger = "no guarantee is broken" if document["ledger"]["satisfied"] else "not everything could be judged"
        lines.append(f"asked the ledger: {counted(earlier, 'earlier release')}, {ledger}")
    lines += warnings_text(document["warnings"])
    lines += [f"written: {path}" for path in document["outputs"]]
    if document.get("manifest"):
        lines.append(f"manifest: {document['manifest']}")
    lines += [
        f"{key.replace('_', ' ')}: {document[key]}"
        for key in ("report", "public_report", "dictionary", "dataset")
        if document.get(key)
    ]
    return "\n".join(lines)


def budget_text(budget: Mapping[str, str]) -> str:
    """Say what a release spends of a privacy budget.

    >>> budget_text({"epsilon": "1", "delta": "1/100000"})
    'spent: epsilon = 1, delta = 1/100000; every further run spends it again'
    """
    detail = ""
    if "epsilon_search" in budget:
        detail = (
            f" ({budget['epsilon_search']} for choosing the levels, {budget['epsilon_anonymization']} for the rows)"
        )
    return f"spent: epsilon = {budget['epsilon']}{detail}, delta = {budget['delta']}; every further run spends it again"


@for_people
def verification_text(document: Mapping[str, Any]) -> str:
    """Write the answer of a verification."""
    coverage = document["coverage"]
    lines = [
        f"{document['rows']} published rows in {document['classes']} classes"
        + (f" and {document['groups']} groups" if document.get("groups") else ""),
        "",
        *models_text(document["models"]),
        "",
    ]
    lines.append(f"coverage: {coverage['status']}" + (f" ({coverage['reason']})" if coverage.get("reason") else ""))
    for violation in coverage["violations"]:
        place = (
            f'row {violation["row"]}, column "{violation["column"]}"'
            if violation["column"]
            else f"row {violation['row']}"
        )
        lines.append(f"  {place}: no original row of its own can stand behind it: {violation['reason']}")
    lines.append(f"hash: {document['hash']}")
    lines += [f'the identifying column "{name}" is in the published table' for name in document["leaked_columns"]]
    lines += [*document["faults"], *document["false_claims"]]
    lines += warnings_text(document["warnings"])
    if document["reference"] == "published":
        lines.append(
            "agrees with its manifest; what only the original shows is not proven"
            if document["satisfied"]
            else "does NOT agree with its manifest"
        )
    else:
        lines.append("verified" if document["satisfied"] else "NOT verified")
    return "\n".join(lines)


def as_html(text: str, models: Iterable[Mapping[str, Any]] = ()) -> str:
    """Show an answer in a notebook: its models as a table, and below them the text as it is in a terminal."""
    entries = list(models)
    return (models_html("Models", entries) if entries else "") + preformatted(text)


def models_html(caption: str, entries: Iterable[Mapping[str, Any]]) -> str:
    """Write the models of a document as a table: what was asked, what was reached, whether it holds."""
    return table(caption, MODEL_HEADS, map(_model_row, entries))


@for_people
def explanation_text(document: Mapping[str, Any]) -> str:
    """Write the answer of ``explain``: one paragraph for each question."""
    lines = [f"{document['rows']} rows; the target {'can' if document['feasible'] else 'CANNOT'} be met"]
    if document["feasible"]:
        in_groups = document.get("groups")
        detail = counted(in_groups["groups"], "group") if in_groups else counted(document["classes"], "class")
        lines[0] += (
            f" with {detail}, {counted(document['suppressed_rows'], 'rows')} suppressed "
            f"and {100 * document['lm']:.1f} % of the detail lost"
        )
    about = ""
    for sentence in document["sentences"]:
        if sentence["about"] != about:
            about = sentence["about"]
            lines += ["", about]
        lines.append(f"  {sentence['text']}")
    return "\n".join([*lines, *warnings_text(document["warnings"])])


@for_people
def transform_text(document: Mapping[str, Any]) -> str:
    """Write what a step of transforms did."""
    left = "" if document["published_rows"] == document["rows"] else f" of {document['rows']}"
    lines = [f"{document['published_rows']}{left} rows transformed ({document['declares']}); no k is given"]
    lines += [f"  {entry['method']}: {entry['says']}" for entry in document["transforms"]]
    unproven = [name for name, word in document["verification"]["coverage"].items() if word == "not proven"]
    if unproven:
        lines.append(f"coverage not proven: {', '.join(unproven)}")
    lines += [f"written to {place}" for place in document["outputs"]]
    return "\n".join([*lines, *warnings_text(document["warnings"])])
