"""docs/policy.md names every key of the policy file, and its examples do what they show."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import indistinct as ind
from indistinct.hierarchies import build_hierarchy
from indistinct.policy import ALGORITHMS, Policy

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "policy.md").read_text(encoding="utf-8")
SCHEMA = Policy.json_schema()
# the options of all algorithms, as one table of the page describes them
OPTIONS = {"algorithm": {"type": "string", "enum": list(ALGORITHMS), "default": ALGORITHMS[0]}}
for name in [name for name, part in SCHEMA["$defs"].items() if "const" in part["properties"].get("algorithm", {})]:
    OPTIONS |= {key: entry for key, entry in SCHEMA["$defs"].pop(name)["properties"].items() if key != "algorithm"}
SCHEMA["$defs"]["Recoding"] = {"properties": OPTIONS}
SECTIONS = {
    "[table]": "Table", "[person]": "Person", "[attributes.NAME]": "Attribute", "[suppression]": "Suppression",
    "[missing]": "Missing", "[recoding]": "Recoding", "[output]": "Output", "[run]": "Run",
    "[releases]": "Releases", "[release]": "Account",
}  # fmt: skip
TAGS = ("model", "kind", "method")
TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list",
}  # fmt: skip


def tagged(tag):
    """Definitions by the name that a tag gives them: kinds of hierarchies, models."""
    places = {name: definition["properties"].get(tag, {}) for name, definition in SCHEMA["$defs"].items()}
    return {place["const"]: name for name, place in places.items() if "const" in place}


HEADINGS = SECTIONS | tagged("kind") | tagged("model") | tagged("method")
KEYS = [
    (heading, key)
    for heading, name in HEADINGS.items()
    for key in SCHEMA["$defs"][name]["properties"]
    if key not in TAGS or "const" not in SCHEMA["$defs"][name]["properties"][key]
]


def part(heading):
    """Text from a heading in code to the next heading."""
    return re.split(r"^#+ ", PAGE.split(f"\n### `{heading}`\n")[1], flags=re.MULTILINE)[0]


def rows_of(text):
    """Cells of the rows of all tables in a text."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


def row_of(heading, key):
    (row,) = [cells for cells in rows_of(part(heading)) if cells[0] == f"`{key}`" and len(cells) == 5]
    return row


def entry_of(heading, key):
    definition = SCHEMA["$defs"][HEADINGS[heading]]
    return definition["properties"][key], key in definition.get("required", [])


def bounds(entry):
    """How the page writes the range of a number."""
    low, above, high = (entry.get(word) for word in ("minimum", "exclusiveMinimum", "maximum"))
    words = [f"above {above}"] if above is not None else []
    if low is not None:
        words.append(f"{low} to {high}" if high is not None else f"{low} or more")
    elif high is not None:
        words.append(f"at most {high}")
    return words


def test_every_part_of_the_schema_has_its_heading():
    assert set(HEADINGS.values()) == set(SCHEMA["$defs"])
    for heading in HEADINGS:
        assert PAGE.count(f"\n### `{heading}`\n") == 1, heading
    for key in SCHEMA["properties"]:
        assert re.search(rf"^\| `\[*{key}[.\]`]", PAGE, re.MULTILINE), key


@pytest.mark.parametrize(("heading", "key"), KEYS)
def test_every_key_is_described_as_the_schema_has_it(heading, key):
    entry, required = entry_of(heading, key)
    _, kind, default, valid, meaning = row_of(heading, key)
    assert meaning
    if required:
        assert default == "required"
    elif "default" in entry:
        assert default == f"`{json.dumps(entry['default'])}`"
    else:
        assert default == "none"
    choice = entry if "type" in entry else next(iter(entry.get("anyOf", [{}])))
    untyped = "whole number or text" if "enum" in entry else "table"
    assert kind.startswith(TYPES.get(choice.get("type"), untyped))
    words = [*entry.get("enum", []), *entry.get("items", {}).get("enum", [])]
    if key != "unlisted":  # the roles, listed with the attributes
        assert [word for word in words if f"`{word}`" not in valid.replace('"', "")] == []
    for word in bounds(entry):
        assert word in valid


@pytest.mark.parametrize("heading", HEADINGS)
def test_no_key_is_described_that_is_none(heading):
    tables = [row for row in rows_of(part(heading)) if len(row) == 5]
    named = [row[0].strip("`") for row in tables if row[0].strip("`").isidentifier() and row[0] != "key"]
    assert sorted(named) == sorted(key for own, key in KEYS if own == heading)


def test_algorithms_are_those_that_exist():
    listed = [row[0].strip("`") for row in rows_of(PAGE.split("\n## Algorithms\n")[1])]
    assert listed[2:] == list(ALGORITHMS)


def test_every_toml_block_is_a_policy():
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == PAGE.count("```toml")
    for block in blocks:
        assert Policy.load(block).quasi_identifiers


EXAMPLES = re.findall(r"```toml\n([^`]*)```\n\n(\| (?:value|members) \|[^`]*(?:\n\|.*)+)", PAGE)


def test_every_kind_has_an_example():
    assert {spec.get("kind", "file") for block, _ in EXAMPLES for spec in specs(block)} == set(tagged("kind"))


def specs(block):
    return [attribute["hierarchy"] for attribute in tomllib.loads(block)["attributes"].values()]


@pytest.mark.parametrize(("block", "table"), EXAMPLES)
def test_hierarchies_give_the_labels_shown(block, table, tmp_path):
    file = re.search(r"`(hierarchies/\w+\.csv)`:\n\n```csv\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / file[1]).parent.mkdir()
    (tmp_path / file[1]).write_text(file[2], encoding="utf-8")
    policy = Policy.load(block)
    ((name, attribute),) = policy.attributes.items()
    rows = [[re.findall(r"`([^`]*)`", cell) for cell in row] for row in rows_of(table)[2:]]
    texts = [text for row in rows for text in row[0]]
    hierarchy = build_hierarchy(
        name, texts, spec=attribute.spec, type=attribute.type, format=attribute.format, order=attribute.order,
        decimal=policy.table.decimal, base=tmp_path,
    )  # fmt: skip
    code = hierarchy.codes()
    for members, *shown in rows:
        if table.startswith("| members"):
            codes = [code[text] for text in members]
            assert [[hierarchy.label_of(sorted(codes))]] == shown
        else:
            labels = [level.labels[level.node_of[code[members[0]]]] for level in hierarchy.levels[1:]]
            assert labels == [text for (text,) in shown]


@pytest.mark.slow
def test_the_complete_example_publishes_what_it_shows(tmp_path):
    complete = PAGE.split("\n## A complete example\n")[1]
    table, published = re.findall(r"```csv\n(.*?)```", complete, re.DOTALL)
    (policy,) = re.findall(r"```toml\n(.*?)```", complete, re.DOTALL)
    (tmp_path / "patienten.csv").write_text(table, encoding="utf-8")
    given = Policy.load(policy)
    assert given.table.source == "patienten.csv"
    ind.anonymize(tmp_path / given.table.source, given, output=tmp_path / "published.csv")
    assert (tmp_path / "published.csv").read_text(encoding="utf-8") == published


def test_the_page_of_algorithms_names_those_that_exist():
    text = (Path(__file__).resolve().parents[1] / "docs" / "algorithms.md").read_text(encoding="utf-8")
    described = re.findall(r"^## `(\w+)`$", text, re.MULTILINE)
    assert set(described) <= set(ALGORITHMS)
    assert {"local", "optimal", "datafly", "samarati", "incognito", "ola", "flash"} <= set(described)
