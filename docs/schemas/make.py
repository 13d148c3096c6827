"""JSON Schemas of the documents that commands print with --json: ``python docs/schemas/make.py`` writes them.

A key that ends in ``?`` may be absent. Types are ``text``, ``whole``, ``number``, ``yes`` (true or false), ``any``, the
name of a part, ``[...]`` for a list, ``{...}`` for an object of values of one type, and ``a | null``. Documents may get
further keys within a version; keys that are here neither go nor change their meaning.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
VERSION = 1

PARTS: dict[str, dict[str, str]] = {
    "rational": {"fraction?": "text", "decimal": "number"},
    "warning": {"kind": "text", "column": "text | null", "message": "text"},
    "model": {
        "model": "text", "attribute?": "text", "attributes?": "[text]", "distance?": "text", "kind?": "text",
        "estimator?": "text", "required": "any", "achieved": "any", "satisfied": "yes | null",
        "violating_classes?": "whole", "violating_rows?": "whole", "reason": "text",
    },
    "sentence": {"about": "text", "text": "text"},
    "decided": {
        "status": "text", "reason?": "text", "lm?": "number", "lm_by_attribute?": "{number}", "smallest?": "whole",
        "classes?": "whole", "suppressed_rows?": "whole", "achieved?": "[any]",
    },
    "point": {
        "value": "number", "asked": "yes", "status": "text", "reason?": "text", "lm?": "number", "smallest?": "whole",
        "classes?": "whole", "suppressed_rows?": "whole",
    },
    "curve": {
        "place": "whole", "model": "text", "attribute": "text | null", "parameter": "text", "points": "[point]",
    },
    "price": {
        "place": "whole", "lm": "number", "cost": "number", "smallest": "whole", "lm_by_attribute": "{number}",
    },
    "outcome": {
        "attack": "text", "attribute": "text | null", "supposes": "text", "ran": "yes", "reason": "text",
        "persons?": "whole", "learnt?": "whole", "learnt_share?": "number", "prior?": "number", "posterior?": "number",
        "gain?": "number", "largest_gain?": "number", "worst?": "[any]", "stopped_by": "[text]", "details?": "any",
    },
    "run": {
        "algorithm": "text", "k_asked": "whole | null", "status": "text", "reason": "text", "k?": "whole",
        "loss?": "any", "models?": "[model]", "suppressed_rows?": "whole", "classes?": "whole", "seconds?": "number",
        "reused": "yes", "undominated": "yes | null",
    },
}  # fmt: skip

DOCUMENTS: dict[str, dict[str, str]] = {
    "audit": {
        "rows": "whole", "persons": "whole | null", "unit": "text", "classes": "whole", "suppressed_rows": "whole",
        "satisfied": "yes | null", "smallest_class": "whole", "largest_class": "whole", "reference": "text",
        "models": "[model]", "worst": "[any]", "missing": "any", "k_if_untouched_columns_are_known": "whole | null",
        "persons_in_several_classes": "whole | null", "person_shares": "[any]", "engine?": "text",
        "warnings": "[warning]",
    },
    "anonymize": {
        "satisfied": "yes", "rows": "whole", "published_rows": "whole", "suppressed_rows": "whole",
        "suppressed": "text", "left_out_rows": "whole", "classes": "whole", "groups?": "whole",
        "persons": "whole | null", "unit": "text", "persons_in_several_classes": "whole | null",
        "person_shares": "[any]", "algorithm": "text", "declares": "text", "form": "text",
        "proven_optimal": "yes | null", "seconds": "number", "phases": "{number}", "loss": "any",
        "levels": "{whole} | null", "models": "[model]", "verification": "any", "outputs": "[text]",
        "manifest": "text | null", "sha256": "{text}", "report?": "text", "public_report?": "text",
        "dictionary?": "text", "dataset?": "text", "accepted_draft?": "text", "engine?": "text",
        "told_by_merging?": "any", "warnings": "[warning]",
    },
    "append": {
        "satisfied": "yes", "earlier_rows": "whole", "placed_rows": "whole", "joined_classes": "whole",
        "new_classes": "whole", "retained_rows": "whole", "rows": "whole", "published_rows": "whole",
        "suppressed_rows": "whole", "left_out_rows": "whole", "classes": "whole", "persons": "whole | null",
        "unit": "text", "models": "[model]", "verification": "any", "difference": "any", "ledger?": "any",
        "outputs": "[text]", "manifest": "text", "sha256": "{text}", "retained?": "text", "whole?": "text",
        "warnings": "[warning]",
    },
    "verify": {
        "satisfied": "yes", "coverage": "any", "hash": "text", "false_claims": "[any]", "faults": "[any]",
        "missing_rows": "whole", "allowed_rows": "whole", "leaked_columns": "[any]", "models": "[model]",
        "rows": "whole", "starred_rows": "whole", "original_rows": "whole", "persons": "whole | null", "unit": "text",
        "classes": "whole", "reference": "text", "warnings": "[warning]",
    },
    "explain": {
        "feasible": "yes", "rows": "whole", "reason": "text | null", "nearest": "text | null",
        "sentences": "[sentence]", "rare_values": "[any]", "person_shares": "[any]", "lm?": "number",
        "classes?": "whole", "suppressed_rows?": "whole", "suppressed?": "[any]", "largest_classes?": "[any]",
        "one_level_less?": "[any]", "stretching_rows?": "[any]", "attributes": "[any]", "reachable": "[any]",
        "warnings": "[warning]",
    },
    "plan": {
        "rows": "whole", "persons": "whole | null", "unit": "text", "asked": "decided", "prices": "[price]",
        "decides": "whole | null", "curves": "[curve]", "columns": "[any]", "models": "[any]", "decisions": "[any]",
        "sentences": "[sentence]", "warnings": "[warning]",
    },
    "profile": {
        "rows": "whole", "columns": "[any]", "quasi_identifiers": "any", "unique_sets": "any", "safe_harbor": "[any]",
        "policy": "text", "draft": "any", "warnings": "[warning]",
    },
    "risk": {
        "rows": "whole", "suppressed_rows": "whole", "classes": "whole", "persons": "whole | null", "unit": "text",
        "stars": "text | null", "measures": "[any]", "class_sizes": "[any]", "threshold": "rational",
        "published": "any", "rows_file": "text | null", "warnings": "[warning]",
    },
    "attack": {
        "rows": "whole", "classes": "whole", "tables": "whole", "quasi_identifiers": "[text]", "sensitive": "[text]",
        "prior": "text", "attacks": "[outcome]", "largest_gain": "number | null", "fail_above": "number | null",
        "fail_on": "text", "fail_at": "text", "judged": "whole", "required": "[text]", "not_run": "[text]",
        "satisfied": "yes | null", "broken": "[any]", "warnings": "[warning]",
    },
    "utility": {
        "rows": "whole", "published_rows": "whole", "in_groups": "yes", "losses": "any", "queries": "any",
        "distributions": "[any]", "contingency": "[any]", "correlations": "[any]", "sql": "[any]",
        "regressions": "[any]", "task": "any", "classification_metric": "any", "warnings": "[warning]",
    },
    "compare": {
        "satisfied": "yes", "rows": "whole", "persons": "whole | null", "unit": "text", "tuples": "whole",
        "runs": "[run]", "frontier": "[whole]", "budget": "any", "warnings": "[warning]",
    },
    "policy-check": {"valid": "yes", "open": "[any]", "table": "any", "warnings": "[warning]"},
    "error": {"error": "any"},
}  # fmt: skip
NAMES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "yes": {"type": "boolean"},
    "null": {"type": "null"},
    "any": {},
}


def kind(text: str) -> dict[str, Any]:
    """Return the schema of a type.

    >>> kind("[whole] | null")
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    choices = [choice.strip() for choice in text.split("|")]
    if len(choices) > 1:
        return {"anyOf": [kind(choice) for choice in choices]}
    if text.startswith("["):
        return {"type": "array", "items": kind(text[1:-1])}
    if text.startswith("{"):
        return {"type": "object", "additionalProperties": kind(text[1:-1])}
    return NAMES.get(text, {"$ref": f"#/$defs/{text}"})


def record(keys: dict[str, str]) -> dict[str, Any]:
    """Return the schema of an object."""
    return {
        "type": "object",
        "required": [key for key in keys if not key.endswith("?")],
        "properties": {key.removesuffix("?"): kind(text) for key, text in keys.items()},
    }


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    own = record(DOCUMENTS[name])
    own["required"] = ["schema", *own["required"]]
    own["properties"] = {"schema": {"const": VERSION}, **own["properties"]}
    if name == "error":
        own["properties"]["error"] = record({"kind": "text", "message": "text", "where": "any"})
    used = {part: record(keys) for part, keys in PARTS.items() if f"#/$defs/{part}" in json.dumps(own)}
    while more := {part for part in PARTS if f"#/$defs/{part}" in json.dumps(used)} - used.keys():
        used |= {part: record(PARTS[part]) for part in more}
    defined = {"$defs": used} if used else {}
    title = {"title": f"indistinct {name.replace('-', ' ')} --json"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **title, **own, **defined}


def text_of(name: str) -> str:
    """Return the file of a schema."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for document in DOCUMENTS:
        (FOLDER / f"{document}.json").write_text(text_of(document), encoding="utf-8")
