"""The published JSON Schemas: current, and every command's document satisfies its own, with no key unnamed."""

import json
from pathlib import Path

import pytest

from cli_bench import POLICY, TABLE, run
from scripts import load

ROOT = Path(__file__).parents[1]
MAKER = load(ROOT / "docs" / "schemas" / "make.py")
TYPES = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": type(None), "array": list,
         "object": dict}  # fmt: skip


def faults(value, schema, root, place="$"):
    """What is wrong with a value, for the words of JSON Schema that the published ones use."""
    assert schema.keys() <= {"$schema", "$defs", "$ref", "title", "type", "required", "properties", "items",
                             "additionalProperties", "anyOf", "const"}  # fmt: skip
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, place)
    if "anyOf" in schema:
        tried = [faults(value, choice, root, place) for choice in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "type" in schema:
        wrong = isinstance(value, bool) and schema["type"] in ("integer", "number")
        if wrong or not isinstance(value, TYPES[schema["type"]]):
            return [f"{place}: {value!r} is no {schema['type']}"]
    if isinstance(value, dict):
        found += [f"{place}: lacks {key}" for key in schema.get("required", ()) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            found += faults(item, inner, root, f"{place}.{key}")
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += faults(item, schema.get("items", {}), root, f"{place}[{number}]")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("documents")
    (place / "t.csv").write_text(TABLE)
    (place / "p.toml").write_text(POLICY)
    assert run("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", cwd=place).returncode == 0
    return place


ASKED = {
    "audit": ("audit", "t.csv", "--qi", "age,ward", "--sensitive", "ill", "--k", "5"),
    "anonymize": ("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", "--force", "--dataset", "d.json"),
    "append": ("append", "t.csv", "o.csv", "t.csv", "--policy", "p.toml", "-o", "both.csv"),
    "verify": ("verify", "t.csv", "o.csv", "--policy", "p.toml"),
    "explain": ("explain", "t.csv", "--policy", "p.toml"),
    "plan": ("plan", "t.csv", "p.toml", "--k", "2", "--l", "2"),
    "profile": ("profile", "t.csv"),
    "risk": ("risk", "t.csv", "--policy", "p.toml", "--published", "o.csv"),
    "attack": ("attack", "o.csv", "--policy", "p.toml", "--attacks", "homogeneity,skewness,linkage"),
    "utility": ("utility", "t.csv", "o.csv", "--policy", "p.toml"),
    "compare": ("compare", "t.csv", "--policy", "p.toml", "--algorithms", "optimal,anatomy"),
    "policy-check": ("policy", "check", "p.toml"),
    "error": ("audit", "nothing.csv", "--qi", "age"),
}


def test_every_schema_has_a_document_here():
    assert ASKED.keys() == MAKER.DOCUMENTS.keys()
    assert {path.stem for path in (ROOT / "docs" / "schemas").glob("*.json")} == ASKED.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_a_document_satisfies_its_schema(folder, name):
    text = (ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    assert text == MAKER.text_of(name), "make them again: python docs/schemas/make.py"
    answer = run(*ASKED[name], "--json", cwd=folder)
    document, schema = json.loads(answer.stdout), json.loads(text)
    assert faults(document, schema, schema) == []
    assert set(document) <= schema["properties"].keys()


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [(1, {"type": "integer"}, False), (True, {"type": "integer"}, True), ("1", {"type": "number"}, True),
     (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False), ({}, {"required": ["a"]}, True),
     ([1, "x"], {"items": {"type": "integer"}}, True), ({"a": 1}, {"additionalProperties": {"type": "string"}}, True),
     (2, {"const": 1}, True)],
)  # fmt: skip
def test_the_checker_finds_what_is_wrong(value, schema, wrong):
    assert bool(faults(value, schema, schema)) is wrong
