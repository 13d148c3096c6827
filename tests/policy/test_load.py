"""Policies as TOML: exact numbers in, comments kept on the way out, a schema that agrees."""

from __future__ import annotations

import json
import re
import tomllib
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.errors import DataError, PolicyError
from indistinct.policy import KAnonymity, Policy, TCloseness, loads, update

# the example of the contract, with all keys that it shows
EXAMPLE = """\
version = 1

[table]
source = "patients.csv"          # relative to the policy file
delimiter = ";"
encoding = "utf-8"
missing = [""]
decimal = "."
trim = "names"
unlisted = "insensitive"
max_line_bytes = 16777216

[person]
key = "patient_id"

[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi_identifying"
type = "integer"
hierarchy = { kind = "intervals", widths = [5, 10, 20], origin = 0, bottom = 0, top = 90 }
domain = [0, 110]
weight = 1.0
min_level = 0

[attributes.zip]
role = "quasi_identifying"
hierarchy = { kind = "masking", from = "right", character = "*" }

[attributes.admitted]
role = "quasi_identifying"
type = "date"
hierarchy = { kind = "dates", levels = ["month", "quarter", "year", "decade"] }

[attributes.education]
role = "quasi_identifying"
hierarchy = { file = "hierarchies/education.csv" }       # ARX CSV

[attributes.height]
role = "quasi_identifying"
type = "decimal"
hierarchy = { kind = "range", bounds = "snapped" }

[attributes.religion]
role = "quasi_identifying"
hierarchy = { kind = "suppress" }

[attributes.disease]
role = "sensitive"
hierarchy = { file = "hierarchies/disease.csv" }

[[privacy]]
model = "k_anonymity"
k = 5

[[privacy]]
model = "t_closeness"
attribute = "disease"
t = 0.2                          # read exactly
distance = "hierarchical"

[suppression]
limit = 0.02
rows = "drop"

[missing]
rule = "own"

[recoding]
algorithm = "local"
quality = "balanced"
loss = "lm"

[output]
order = "sorted"
suppressed_token = "*"
spreadsheet_safe = false

[run]
temp_dir = "."
"""


def test_the_example_of_the_contract_loads_exactly():
    policy = loads(EXAMPLE)
    assert policy.quasi_identifiers == ("age", "zip", "admitted", "education", "height", "religion")
    assert policy.suppression.limit == Fraction(1, 50)
    assert policy.privacy == (KAnonymity(5), TCloseness("disease", Fraction(1, 5), distance="hierarchical"))
    assert policy.attributes["age"].hierarchy.top == 90
    assert policy.attributes["zip"].spec == {"kind": "masking"}
    assert policy.attributes["education"].spec == {"file": "hierarchies/education.csv"}
    assert policy.person.key == "patient_id"
    assert policy.notices() == ()


def test_written_and_read_again_it_is_equal():
    policy = loads(EXAMPLE)
    assert loads(policy.dumps()) == policy
    assert loads(policy.dumps()).dumps() == policy.dumps()


def test_awkward_values_survive():
    policy = Policy(
        attributes={
            'we"ird, näme\n': {"role": "qi", "type": "ordinal", "order": ["a\\b", "ü", ""], "weight": "1/3"},
            "date of birth": {"role": "qi", "type": "date", "domain": ["2001-02-03", "2002-02-03"]},
            "a.b": {"role": "sa", "type": "integer"},
        },
        privacy=[TCloseness("a.b", "1/6", distance="ordered"), TCloseness("a.b", 1e-7, distance="equal")],
        table={"missing": [], "delimiter": "\t"},
        suppression={"limit": "1/7"},
    )
    assert loads(policy.dumps()) == policy


def test_text_and_file_are_told_apart(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert Policy.load(file).plain() == Policy.load(str(file)).plain() == Policy.load(EXAMPLE).plain()


def test_paths_begin_at_the_policy_file(tmp_path):
    (tmp_path / "p.toml").write_text(EXAMPLE)
    policy = Policy.load(tmp_path / "p.toml")
    assert policy.base == tmp_path
    assert policy.locate("hierarchies/x.csv") == tmp_path / "hierarchies" / "x.csv"
    assert Policy.load(EXAMPLE).base == Path()
    assert "base" not in policy.plain()


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("version = 1\nrole = qi\n", 2, 8, "texts stand in quotes"),
        ("version = 1\n[table]\nsource = 'a", 3, 12, "not valid TOML"),
        ('[table]\nsource = "C:\\data\\x.csv"\n', 2, None, "single quotes"),
        ("[attributes.age]\nrole='qi'\n[attributes.age]\nrole='sa'\n", 3, None, "stands twice"),
        ("[person]\nkey = 'a'\nkey = 'b'\n", 3, None, "stands twice"),
        ("[person]\nkey = 'a'\n[person.key]\nx = 'b'\n", 3, None, "stands twice"),
        ("privacy = [1]\n[[privacy]]\n", 2, None, "stands twice"),
        ('[table]\nsource = "C:\\users\\x.csv"\n', 2, None, "single quotes"),
        ("[table]\nsource = C:\\data\\x.csv\n", 2, None, "single quotes"),
    ],
)
def test_bad_toml_names_file_line_and_column(tmp_path, text, line, column, words):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.load(file)
    assert caught.value.where == {"file": "bad.toml", "line": line}
    assert f"bad.toml, line {line}, column {column or ''}" in caught.value.message
    assert words in caught.value.message


def test_errors_inside_name_the_file(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(EXAMPLE.replace("k = 5", "k = 0").replace('trim = "names"', 'trim = "all"'))
    with pytest.raises(PolicyError) as caught:
        Policy.load(file)
    assert caught.value.where == {"file": "p.toml", "key": "table.trim"}
    assert caught.value.message.startswith("p.toml: the policy has 2 problems:")
    file.write_text(EXAMPLE.replace('"local"', '"of our own"'))
    with pytest.raises(PolicyError) as unknown:
        Policy.load(file)
    assert unknown.value.where == {"file": "p.toml", "key": "recoding.algorithm"}


@pytest.mark.parametrize("name", ["absent.toml", "folder", "latin.toml", "deep.toml"])
def test_files_that_are_no_policies(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.toml").write_bytes("version = 1\n# Größe\n".encode("latin-1"))
    (tmp_path / "deep.toml").write_text("x = " + "[" * 50_000)
    words = {
        "absent.toml": "no policy file",
        "folder": "it is a folder",
        "latin.toml": "line 2: not UTF-8",
        "deep.toml": "nested too deeply",
    }
    with pytest.raises(PolicyError, match=words[name]) as caught:
        Policy.load(tmp_path / name)
    assert caught.value.where["file"] == name
    assert str(tmp_path) not in caught.value.message


def test_an_edited_document_keeps_comments_and_spelling():
    text = EXAMPLE.replace('[attributes.zip]\nrole = "quasi_identifying"', '[attributes.zip]\nrole = "QI"  # mine')
    policy = loads(text)
    changed = Policy(
        **policy.plain()
        | {
            "privacy": [KAnonymity(7), TCloseness("disease", "1/6", distance="equal")],
            "output": {"order": "shuffled"},
        }
    )
    edited = update(text, changed)
    assert loads(edited) == changed
    for kept in ("# relative to the policy file", "# ARX CSV", 'role = "QI"  # mine', "weight = 1.0"):
        assert kept in edited
    removed = {
        "k = 5",
        "t = 0.2                          # read exactly",
        'order = "sorted"',
        'distance = "hierarchical"',
    }
    assert set(text.splitlines()) - set(edited.splitlines()) == removed
    assert 't = "1/6"' in edited
    assert update(text, policy) == text


def test_attributes_and_models_come_and_go():
    policy = loads(EXAMPLE)
    data = policy.plain()
    del data["attributes"]["education"], data["person"]
    data["attributes"]["sex"] = {"role": "quasi_identifying", "hierarchy": {"kind": "suppress"}}
    data["attributes"]["zip"]["hierarchy"] = {"kind": "suppress"}
    data["privacy"] = [
        data["privacy"][1],
        {"model": "distinct_l", "attribute": "disease", "l": 2},
        data["privacy"][0],
    ]
    changed = Policy(**data)
    edited = update(EXAMPLE, changed)
    assert loads(edited) == changed
    assert list(loads(edited).attributes) == list(changed.attributes)
    assert "# relative to the policy file" in edited
    data["privacy"] = data["privacy"][:1]
    assert loads(update(edited, Policy(**data))) == Policy(**data)
    data["privacy"] = []
    assert loads(update(edited, Policy(**data))) == Policy(**data)
    assert loads(update(loads(EXAMPLE.partition("[[privacy]]")[0]).dumps(), policy)) == policy


WAYS = {
    "dotted": "attributes.age.role = 'qi'\nattributes.s.role = 'sa'\n",
    "inline": "attributes = { age = { role = 'qi' }, s = { role = 'sa' } }\n",
    "apart": "[attributes.age]\nrole = 'qi'\n[suppression]\nlimit = 0.5\n[attributes.s]\nrole = 'sa'\n",
    "models inline": """
privacy = [{ model = 'k_anonymity', k = 2 }]
[attributes]
age = { role = 'qi' }
s = { role = 'sa' }
""",
    "hierarchy as table": """
[attributes.age]
role = 'qi'
[attributes.age.hierarchy]
kind = 'masking'
from = 'left'
[attributes.s]
role = 'sa'
""",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_every_way_of_writing_toml_can_be_edited(text):
    attributes = {
        "age": {"role": "qi", "weight": 2, "hierarchy": {"kind": "suppress"}},
        "s": {"role": "sa", "type": "integer"},
        "kind": {"role": "none"},
    }
    changed = Policy(
        attributes=attributes,
        privacy=[KAnonymity(3), TCloseness("s", 0.1, distance="ordered")],
        suppression={"limit": 0.25},
        person={"key": "p"},
    )
    assert loads(update(text, changed)) == changed
    assert loads(update(update(text, changed), loads(text))) == loads(text)


def test_reordered_attributes_are_written_afresh():
    data = loads(EXAMPLE).plain()
    data["attributes"] = dict(reversed(data["attributes"].items()))
    edited = update(EXAMPLE, Policy(**data))
    assert list(loads(edited).attributes) == list(data["attributes"])


def test_what_is_no_policy_is_not_edited(tmp_path):
    file = tmp_path / "notes.toml"
    file.write_text("colour = 'red'\n")
    with pytest.raises(PolicyError, match="colour"):
        loads(EXAMPLE).save(file)
    assert file.read_text() == "colour = 'red'\n"


def test_saved_policies_find_their_files_again(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "p.toml").write_text(EXAMPLE)
    policy = Policy.load(tmp_path / "a" / "p.toml")
    policy.save(tmp_path / "a" / "p.toml")
    assert (tmp_path / "a" / "p.toml").read_text() == EXAMPLE
    policy.save(tmp_path / "b" / "q.toml")
    moved = Policy.load(tmp_path / "b" / "q.toml")
    assert moved.table.source == "../a/patients.csv"
    assert moved.attributes["disease"].spec == {"file": "../a/hierarchies/disease.csv"}
    assert moved.locate(moved.table.source).resolve() == (tmp_path / "a" / "patients.csv").resolve()
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["q.toml"]


def test_a_policy_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        loads(EXAMPLE).save(tmp_path / "absent" / "p.toml")
    assert list(tmp_path.iterdir()) == []


# JSON Schema


_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float, Decimal),
}
_NOTES = {"title", "description", "default", "$defs", "$schema", "discriminator"}


def fits(value, schema, root):
    """Check a value against a JSON Schema (the keywords that pydantic writes; an unknown one is an error)."""
    checks = {
        "$ref": lambda ref: fits(value, root["$defs"][ref.rpartition("/")[2]], root),
        "type": lambda names: any(is_a(value, name) for name in ([names] if isinstance(names, str) else names)),
        "enum": lambda choices: value in choices,
        "const": lambda choice: value == choice,
        "anyOf": lambda options: any(fits(value, option, root) for option in options),
        "oneOf": lambda options: sum(fits(value, option, root) for option in options) == 1,
        "minimum": lambda limit: not is_a(value, "number") or value >= limit,
        "maximum": lambda limit: not is_a(value, "number") or value <= limit,
        "exclusiveMinimum": lambda limit: not is_a(value, "number") or value > limit,
        "pattern": lambda text: not isinstance(value, str) or re.search(text, value) is not None,
        "minLength": lambda limit: not isinstance(value, str) or len(value) >= limit,
        "maxLength": lambda limit: not isinstance(value, str) or len(value) <= limit,
        "minItems": lambda limit: not isinstance(value, list) or len(value) >= limit,
        "maxItems": lambda limit: not isinstance(value, list) or len(value) <= limit,
        "items": lambda item: not isinstance(value, list) or all(fits(part, item, root) for part in value),
        "required": lambda names: not isinstance(value, dict) or set(names) <= set(value),
        "properties": lambda known: (
            not isinstance(value, dict)
            or all(fits(value[name], known[name], root) for name in known.keys() & value.keys())
        ),
        "additionalProperties": lambda rule: (
            not isinstance(value, dict)
            or all(
                rule is not False and (rule is True or fits(value[name], rule, root))
                for name in value.keys() - schema.get("properties", {}).keys()
            )
        ),
    }
    return all(checks[key](argument) for key, argument in schema.items() if key not in _NOTES)


def is_a(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float | Decimal) and value == int(value))
    return isinstance(value, _TYPES[name])


@cache
def written_schema():
    return Policy.json_schema()


def valid(text):
    schema = written_schema()
    return fits(tomllib.loads(text, parse_float=Decimal), schema, schema)


@pytest.mark.slow
def test_the_schema_is_json_and_accepts_the_example():
    assert json.loads(json.dumps(Policy.json_schema())) == Policy.json_schema()
    assert valid(EXAMPLE)
    assert valid(loads(EXAMPLE).dumps())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = 5", "k = 0"),
        ("k = 5", "k = 2.5"),
        ("t = 0.2 ", "t = 1.5 "),
        ("t = 0.2 ", 't = "much" '),
        ("limit = 0.02", "limit = 20"),
        ("weight = 1.0", "weight = 0"),
        ("min_level = 0", "min_level = -1"),
        ("min_level = 0", "max_level = -1"),
        ('model = "k_anonymity"\n', ""),
        ('model = "k_anonymity"', 'model = "k_animosity"'),
        ('distance = "hierarchical"\n', ""),
        ('kind = "suppress"', 'kind = "supress"'),
        ("widths = [5, 10, 20]", 'widths = ["wide"]'),
        ("domain = [0, 110]", "domain = [0]"),
        ('trim = "names"', 'trim = "all"'),
        ('role = "sensitive"', 'role = "secret"'),
        ('role = "sensitive"\n', ""),
        ("[suppression]", "[supression]"),
        ("spreadsheet_safe = false", 'spreadsheet_safe = "no"'),
        ("version = 1", "version = 3"),
    ],
)
def test_schema_and_policy_refuse_the_same(old, new):
    assert old in EXAMPLE
    changed = EXAMPLE.replace(old, new, 1)
    assert not valid(changed)
    with pytest.raises(PolicyError):
        loads(changed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anonymize", "audit", "bounds", "explain", "risk", "utility", "verify"])
def test_functions_take_the_path_of_a_policy_too(tmp_path, name):
    text = '[attributes.age]\nrole = "qi"\ntype = "integer"\nhierarchy = { kind = "range" }\n'
    file = tmp_path / "p.toml"
    file.write_text(text + '[[privacy]]\nmodel = "k_anonymity"\nk = 2\n')
    table = pa.table({"age": ["20", "20", "30", "30"]})
    tables = (table, table) if name in ("utility", "verify") else (table,)
    function = getattr(ind, name)
    found, wanted = function(*tables, str(file)), function(*tables, Policy.load(file))
    assert repr(found).split("seconds")[0] == repr(wanted).split("seconds")[0]
    with pytest.raises(PolicyError, match="not a dict"):
        function(*tables, {"age": "qi"})
    with pytest.raises(PolicyError, match="no policy file"):
        function(*tables, tmp_path / "q.toml")
