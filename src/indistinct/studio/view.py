"""A policy as the page shows it: plain data, with what is decided and what is open."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from indistinct.policy import Policy, suggest
from indistinct.policy.draft import section
from indistinct.policy.given import loads
from indistinct.policy.recoding import option
from indistinct.policy.suggest import Suggestion, is_code
from indistinct.reports.catalogue import LANGUAGES, catalogue
from indistinct.session.verdicts import required
from indistinct.studio.edits import K, L, T, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.policy import ColumnFacts
    from indistinct.policy.marks import Mark

ROLES = ("identifying", "quasi_identifying", "sensitive", "insensitive")
VALUES_SHOWN = 5


def view(text: str, base: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return what a policy says of the columns ``names``, what it promises, and what is open by step."""
    policy = loads(text, base=base)
    marks = policy.open_marks
    columns = [_column(policy, name, marks) for name in names]
    models = [_model(policy, place, marks) for place in range(len(policy.privacy))]
    undeclared = [own["name"] for own in columns if own["role"] is None]
    return {
        "columns": columns,
        "person": None if policy.person is None else policy.person.key,
        "models": models,
        "limit": float(policy.suppression.limit),
        "quality": option(policy.recoding, "quality"),
        "algorithm": policy.recoding.algorithm,
        "record": record_of(policy),
        "marks": len(marks),
        "open": {
            "open": sum(mark.path[0] in ("table", "person") for mark in marks if mark.path),
            "columns": sum(own["open"] for own in columns) + len(undeclared),
            "coarser": sum(mark.path[0] == "attributes" and mark.path[-1] != "role" for mark in marks if mark.path),
            "promise": sum(mark.path[0] in ("privacy", "suppression") for mark in marks if mark.path),
        },
    }


def _column(policy: Policy, name: str, marks: Sequence[Mark]) -> dict[str, Any]:
    attribute = policy.attributes.get(name)
    own = [mark.path[-1] for mark in marks if mark.path[:2] == ("attributes", name)]
    is_key = policy.person is not None and policy.person.key == name
    return {
        "name": name,
        "role": "identifying" if is_key else None if attribute is None else attribute.role,
        "person": is_key,
        "open": "role" in own,
        "settings": [key for key in own if key != "role"],
        "type": "text" if attribute is None else attribute.type,
        "spec": None if attribute is None else attribute.spec,
        "missing_values": [] if attribute is None else list(attribute.missing_values),
        "weight": 1.0 if attribute is None else float(attribute.weight),
    }


def _model(policy: Policy, place: int, marks: Sequence[Mark]) -> dict[str, Any]:
    model = policy.privacy[place]
    entry = required(model)
    kind = {K: "k", L: "l", T: "t"}.get(model.model)
    value = entry["required"].get(kind) if kind else None
    return {
        "place": place,
        "kind": kind,
        "value": value["decimal"] if isinstance(value, dict) else value,
        "attribute": getattr(model, "attribute", None),
        "open": any(mark.path[0] == "privacy" and mark.entry == place for mark in marks if mark.path),
        "told": {language: _words(policy, entry, language) for language in LANGUAGES},
    }


def _words(policy: Policy, entry: Mapping[str, Any], language: str) -> dict[str, str]:
    """Name a model and what it promises; what was asked and reached, where that is known."""
    t = catalogue(language)
    return {
        "title": t.model(dict(entry)),
        "promise": t.promise(entry, t(f"unit.word.{'rows' if policy.person is None else 'persons'}")),
        "asked": t.parameters(entry.get("required")),
        "reached": t.parameters(entry.get("achieved")),
    }


def words_of_picture(policy: Policy, picture: Mapping[str, Any]) -> dict[str, Any]:
    """Write the models and the warnings of a document in every language of the report."""
    return {
        language: {
            "models": [_words(policy, entry, language) for entry in picture["models"]],
            "warnings": [
                catalogue(language).sentence(own["message"]) or str(own["message"]) for own in picture["warnings"]
            ],
        }
        for language in LANGUAGES
    }


def card(facts: ColumnFacts, values: Sequence[str | None]) -> dict[str, Any]:
    """Return what was measured about a column, its suggestion, and what each role and each hierarchy would set."""
    found = suggest(facts)
    return {
        "name": facts.name,
        "rows": facts.rows,
        "distinct": facts.distinct,
        "fitting": facts.fitting,
        "missing": facts.missing,
        "once": facts.unique_share,
        "looks_like": facts.looks_like,
        "values": list(values),
        "role": found.role,
        "reasons": {language: catalogue(language).sentence(found.reason) or found.reason for language in LANGUAGES},
        "is_person": found.is_person,
        "strays": [[text, count] for text, count in facts.strays],
        "sections": {role: _section(facts, role) for role in ROLES},
        "choices": _choices(facts),
    }


def _section(facts: ColumnFacts, role: Any) -> dict[str, Any]:
    """Return the settings that a draft proposes under a role."""
    text = "\n".join(section(facts, Suggestion(role, "")))
    own: dict[str, Any] = tomllib.loads(text)["attributes"][facts.name]
    return own


def _choices(facts: ColumnFacts) -> list[dict[str, Any]]:
    """Return the ways in which a column can become coarser without a file, each with its settings."""
    kind = _section(facts, "quasi_identifying").get("type", "text")
    dates = [
        ("months", {"kind": "range", "bounds": "snapped"}),
        ("calendar", {"kind": "dates", "levels": ["month", "quarter", "year"]}),
        ("years", {"kind": "dates", "levels": ["year"]}),
    ]
    numbers: list[tuple[str, dict[str, Any] | None]] = [
        ("range", {"kind": "range"}),
        ("members", {"kind": "range", "bounds": "members"}),
    ]
    if kind == "integer":
        numbers.append(("bands", {"kind": "intervals", "widths": [5, 10, 20, 40]}))
    shortened = {"kind": "masking", "from": "right"}
    if facts.shortest != facts.longest:
        shortened["fill"] = "longest"
    texts = [("set", {"kind": "set", "most": 8}), ("shorten", shortened)]
    of_type: Mapping[str, Sequence[tuple[str, Any]]] = {
        "date": dates[1:] if facts.partial else dates,
        "integer": numbers,
        "decimal": numbers,
        "ordinal": [("range", {"kind": "range"})],
    }
    found = [*of_type.get(kind, texts if is_code(facts) or facts.longest <= 12 else texts[:1])]
    proposed = _section(facts, "quasi_identifying").get("hierarchy")
    if (
        proposed is not None
        and _canonical(kind, proposed) not in [_canonical(kind, spec) for _, spec in found]
        and proposed.get("kind") != "suppress"
    ):
        found.insert(0, ("proposed", proposed))
    found += [("suppress", {"kind": "suppress"}), ("never", None)]
    return [{"key": key, "spec": _canonical(kind, spec)} for key, spec in found]


def _canonical(kind: Any, spec: dict[str, Any] | None) -> dict[str, Any] | None:
    """Write a hierarchy as the view of a policy has it: defaults left out, those of version 2 written."""
    order = {"order": ("1",)} if kind == "ordinal" else {}
    column = {"role": "quasi_identifying", "type": kind, "hierarchy": spec, **order}
    return None if spec is None else Policy(version=2, attributes={"x": column}).attributes["x"].spec
