"""Projects of ARX: archives written here as ARX writes them, and such that nobody should trust."""

import json
import zipfile

import pytest

from cli_bench import run
from indistinct.errors import DataError
from indistinct.policy import Policy, arx_project
from indistinct.policy.arx_project import translate

DEFINITION = """<definition>
	<assigment>
		<name>age</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>Integer</datatype>
		<ref>hierarchies/age.csv</ref><min>1</min><max>All</max>
	</assigment>
	<assigment>
		<name>../home town</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype>
		<ref>hierarchies/../home town.csv</ref><min>All</min><max>2</max>
	</assigment>
	<assigment>
		<name>seen</name><type>INSENSITIVE_ATTRIBUTE</type><datatype>Date/Time</datatype><format>dd.MM.yyyy</format>
	</assigment>
	<assigment>
		<name>born</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>Date/Time</datatype><format>EEE</format>
	</assigment>
	<assigment><name>ill</name><type>SENSITIVE_ATTRIBUTE</type><datatype>String</datatype></assigment>
</definition>"""
CONFIG = """<config>
	<relativeMaxOutliers>0.04</relativeMaxOutliers>
	<metric>{metric}</metric>
	<attributeWeights>
		<attributeWeight><attribute>age</attribute><weight>0.5</weight></attributeWeight>
		<attributeWeight><attribute>../home town</attribute><weight>1.0</weight></attributeWeight>
	</attributeWeights>
	<criteria>{criteria}</criteria>
</config>"""
AGES = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(20, 40))
TOWNS = "Ulm;South;*\nBonn;West;*\nKiel;North;*\n"


def project(folder, criteria=("5-anonymity",), *, metric="Loss (0.5/1.0/1.0)", **entries):
    """Write an archive; ``entries`` replace or add some, None leaves one out."""
    wanted = {
        "metadata.xml": "<metadata><version>3.9.2</version><vocabulary>2.0</vocabulary></metadata>",
        "input/definition.xml": DEFINITION,
        "input/config.xml": CONFIG.format(
            metric=metric, criteria="".join(f"<criterion>{text}</criterion>" for text in criteria)
        ),
        "input/hierarchies/age.csv": AGES,
        "input/hierarchies/../home town.csv": TOWNS,
    } | entries
    path = folder / "p.deid"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in wanted.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def test_columns_levels_and_weights_are_taken_over(tmp_path):
    found = translate(project(tmp_path), "q")
    for name, content in found.hierarchies.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "q.toml").write_text(found.text, encoding="utf-8")
    policy = Policy.load(tmp_path / "q.toml")
    age, town, seen, born, ill = policy.attributes.values()
    assert [one.role for one in policy.attributes.values()] == [
        "quasi_identifying", "quasi_identifying", "insensitive", "identifying", "sensitive",
    ]  # fmt: skip
    assert (age.type, age.min_level, age.max_level, float(age.weight)) == ("integer", 1, None, 0.5)
    assert (town.type, town.min_level, town.max_level, float(town.weight)) == ("text", 0, 2, 1.0)
    assert (seen.type, seen.format) == ("date", "%d.%m.%Y")
    assert (born.type, ill.hierarchy) == ("text", None)
    assert [*found.hierarchies] == ["q.age.csv", "q.home_town.csv"]
    assert found.hierarchies["q.home_town.csv"].decode() == TOWNS
    assert (float(policy.suppression.limit), policy.recoding.algorithm) == (0.04, "optimal")
    assert found.left == ('the format "EEE" of the dates in "born", which are read as text',)


@pytest.mark.parametrize(("text", "model"), [
    ("5-anonymity", {"model": "k_anonymity", "k": 5}),
    ("distinct-3-diversity for attribute 'ill'", {"model": "distinct_l", "attribute": "ill", "l": 3}),
    ("shannon-entropy-2.5-diversity for attribute 'ill'", {"model": "entropy_l", "attribute": "ill", "l": 2.5}),
    ("grassberger-entropy-2.0-diversity for attribute 'ill'",
     {"model": "entropy_l", "attribute": "ill", "l": 2, "estimator": "grassberger"}),
    ("recursive-(4.0,3)-diversity for attribute 'ill'",
     {"model": "recursive_cl", "attribute": "ill", "c": 4, "l": 3}),
    ("0.2-closeness with equal ground-distance for attribute 'ill'",
     {"model": "t_closeness", "attribute": "ill", "t": 0.2, "distance": "equal"}),
    ("1.0E-4-closeness with hierarchical ground-distance for attribute 'ill'",
     {"model": "t_closeness", "attribute": "ill", "t": 0.0001, "distance": "hierarchical"}),
    ("0.3-closeness with ordered distance for attribute 'it's'",
     {"model": "t_closeness", "attribute": "it's", "t": 0.3, "distance": "ordered"}),
    ("1.5-disclosure privacy for attribute 'ill'",
     {"model": "delta_disclosure", "attribute": "ill", "delta": 1.5, "absent": "lenient", "base": 2}),
    ("enhanced-1.0-likeness for attribute 'ill'",
     {"model": "beta_likeness", "attribute": "ill", "beta": 1, "kind": "enhanced"}),
    ("(0.05)-sample-uniqueness", {"model": "sample_uniqueness", "threshold": 0.05}),
    ("(0.05)-avg-reidentification-risk", {"model": "average_risk", "threshold": 0.05}),
])  # fmt: skip
def test_a_model_is_the_same_model_here(text, model):
    root = arx_project.ET.fromstring(f"<config><criterion>{text.replace('&', '&amp;')}</criterion></config>")
    (found,), undecided = arx_project._models(root, [])
    defaults = {"distance": "equal", "kind": "basic", "absent": "strict", "base": 2}  # which need not be written
    assert undecided == []
    assert {**defaults, **found} == {**defaults, **model}


@pytest.mark.parametrize("text", [
    "(1.0E-4)-population-uniqueness (dankar)", "(0.1,0.9)-presence", "(5)-map", "(1.0,1.0E-6)-DP",
    "(0.05, 0.2 (0.2), 0.1)-avg-reidentification-risk", "5-anonymity and more", "1E-999999999-sample",
    f"{'9' * 5000}-anonymity", "(1E-999999999)-sample-uniqueness",
])  # fmt: skip
def test_a_model_without_a_counterpart_is_never_dropped_in_silence(tmp_path, text):
    project(tmp_path, ["5-anonymity", "Inclusion", text], metric="Classification accuracy")
    answer = run("policy", "from-arx", "p.deid", "-o", "q.toml", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["undecided"] == [text]
    assert any("Classification accuracy" in one for one in document["not_taken_over"])
    assert any("research subset" in one for one in document["not_taken_over"])
    table = "age,../home town,seen,born,ill\n" + "25,Ulm,01.02.2024,Mon,a\n" * 10
    (tmp_path / "t.csv").write_text(table)
    refused = run("anonymize", "t.csv", "--policy", "q.toml", "-o", "o.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "CONFIRM" in refused.stderr
    text_of = (tmp_path / "q.toml").read_text(encoding="utf-8")
    (tmp_path / "q.toml").write_text("\n".join(line for line in text_of.splitlines() if "CONFIRM" not in line))
    assert run("anonymize", "t.csv", "--policy", "q.toml", "-o", "o.csv", cwd=tmp_path).returncode == 0


def test_all_files_are_written_or_none(tmp_path):
    project(tmp_path)
    (tmp_path / "q.age.csv").write_text("mine")
    answer = run("policy", "from-arx", "p.deid", "-o", "q.toml", cwd=tmp_path)
    assert answer.returncode == 2
    assert "q.age.csv" in answer.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"p.deid", "q.age.csv"}
    assert (tmp_path / "q.age.csv").read_text() == "mine"
    assert run("policy", "from-arx", "p.deid", "-o", "p.deid", "--force", cwd=tmp_path).returncode == 2


def test_columns_whose_names_meet_get_files_of_their_own(tmp_path):
    columns = "".join(
        f"<assigment><name>{name}</name><type>SENSITIVE_ATTRIBUTE</type><ref>hierarchies/{number}.csv</ref></assigment>"
        for number, name in enumerate(("a b", "a/b", "A_B", "***"))
    )
    files = {f"input/hierarchies/{number}.csv": f"{number};*\n" for number in range(4)}
    found = translate(project(tmp_path, **{"input/definition.xml": f"<d>{columns}</d>", **files}), "q")
    assert [*found.hierarchies] == ["q.a_b.csv", "q.a_b_2.csv", "q.A_B_3.csv", "q.column.csv"]
    assert [content.decode()[0] for content in found.hierarchies.values()] == ["0", "1", "2", "3"]


BOMB = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><definition>&b;</definition>'
OUTSIDE = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><definition>&x;</definition>'


@pytest.mark.parametrize(("entries", "why"), [
    ({"input/definition.xml": BOMB}, "declares a document type"),
    ({"input/definition.xml": OUTSIDE}, "declares a document type"),
    ({"input/config.xml": BOMB.encode("utf-16")}, "is no XML in UTF-8"),
    ({"input/config.xml": BOMB.encode("utf-16-le")}, "declares a document type"),
    ({"input/definition.xml": "<definition>"}, "is no XML"),
    ({"input/definition.xml": None}, "names no columns"),
    ({"input/definition.xml": "<definition/>"}, "names no columns"),
    ({"input/definition.xml": "<d><assigment><name>a</name></assigment><assigment/></d>"}, "or not all"),
    ({"input/definition.xml": f"<d>{2 * '<assigment><name>a</name></assigment>'}</d>"}, "or one twice"),
    ({"input/config.xml": "<c><relativeMaxOutliers>many</relativeMaxOutliers></c>"}, "the suppression limit"),
    ({"input/config.xml": "<c><relativeMaxOutliers>1E999999999</relativeMaxOutliers></c>"}, "the suppression limit"),
    ({"input/config.xml": "<c><attributeWeight><weight>1/0</weight></attributeWeight></c>"}, "a weight"),
])  # fmt: skip
def test_hostile_or_broken_settings_are_refused(tmp_path, entries, why):
    with pytest.raises(DataError, match=why):
        translate(project(tmp_path, **entries), "q")


def test_entries_that_are_too_large_too_many_or_twice_there_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arx_project, "LARGEST", 1000)
    with pytest.raises(DataError, match="is too large"):
        translate(project(tmp_path, **{"input/hierarchies/age.csv": b"0" * 100_000}), "q")
    monkeypatch.setattr(arx_project, "LARGEST", 1 << 20)
    monkeypatch.setattr(arx_project, "LARGEST_XML", 100)
    with pytest.raises(DataError, match="is too large"):
        translate(project(tmp_path), "q")
    monkeypatch.setattr(arx_project, "LARGEST_XML", 1 << 20)
    monkeypatch.setattr(arx_project, "TOTAL", 4000)
    again = "".join(
        f"<assigment><name>{name}</name><type>SENSITIVE_ATTRIBUTE</type><ref>hierarchies/age.csv</ref></assigment>"
        for name in range(30)
    )
    with pytest.raises(DataError, match="is too large"):  # one entry, named again and again
        translate(project(tmp_path, **{"input/definition.xml": f"<d>{again}</d>"}), "q")
    monkeypatch.setattr(arx_project, "TOTAL", 1 << 20)
    monkeypatch.setattr(arx_project, "MOST", 3)
    with pytest.raises(DataError, match="has 5 entries"):
        translate(project(tmp_path), "q")
    monkeypatch.setattr(arx_project, "MOST", 10)
    path = project(tmp_path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("input/config.xml", "<config/>")
    with pytest.raises(DataError, match="twice"):
        translate(path, "q")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + b"x" * 100])
def test_what_is_no_archive_is_said(tmp_path, content):
    path = tmp_path / "p.deid"
    path.write_bytes(content)
    with pytest.raises(DataError, match="no project of ARX"):
        translate(path, "q")


def test_an_archive_that_was_cut_or_changed_is_said(tmp_path):
    whole = project(tmp_path).read_bytes()
    refused = 0
    for place in range(0, len(whole), 97):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        (tmp_path / "p.deid").write_bytes(changed)
        try:
            translate(tmp_path / "p.deid", "q")
        except DataError as error:
            assert "p.deid" in str(error)  # noqa: PT017  # some changes are in parts that nobody reads
            refused += 1
    assert refused > 3
