"""Who runs the program again knows classes that labels leave open: linkage, composition, downcoding."""

import json
from fractions import Fraction

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.cli.app import run

AGES = [20, 21, 22, 30, 31, 32, 21, 40, 41, 42]
ILL = list("aabbabcabc")
TABLE = pa.table({"age": AGES, "ill": ILL})


def policy(k, *more, **how):
    hierarchy = how.pop("hierarchy", {"kind": "range", "bounds": "members"})
    return ind.Policy(
        attributes={"age": {"role": "qi", "type": "integer", "hierarchy": hierarchy}, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(k), *more], recoding=how,
    )  # fmt: skip


def mondrian_of_two():
    """Overlapping classes, made by hand: 20-22 and 21-32 share the age 21."""
    return pa.table({"age": ["[20, 22]"] * 3 + ["[21, 32]"] * 4 + ["[40, 42]"] * 3, "ill": ILL})


def test_linkage_by_class_is_one_over_the_class():
    asked = policy(3)
    released = ind.anonymize(TABLE, asked).table
    sizes = {label: released["age"].to_pylist().count(label) for label in released["age"].to_pylist()}
    entry = ind.attack(released, asked, original=TABLE, attacks=["linkage"])["linkage"]
    assert entry["details"]["knows_program"] is True
    assert entry["posterior"] == pytest.approx(len(sizes) / 10), "each class gives 1/n_E to its n_E rows"
    assert entry["details"]["weaker"]["posterior"] <= entry["posterior"] + 1e-12
    names_only = ind.attack(released, asked, identified=TABLE.select(["age"]), attacks=["linkage"])["linkage"]
    assert names_only["posterior"] == entry["posterior"], "models of quasi-identifiers need no values"
    weak = ind.attack(released, asked, original=TABLE, attacks=["linkage"], knows_program=False)["linkage"]
    assert weak["posterior"] == entry["details"]["weaker"]["posterior"]
    assert weak["details"]["knows_program"] is False


def test_a_file_that_no_run_gives_is_linked_by_labels():
    entry = ind.attack(mondrian_of_two(), policy(3), original=TABLE, attacks=["linkage"])["linkage"]
    assert entry["details"]["why_not"] == "a run of this version under this policy does not give this file"
    # 20: 3 rows; 21 (twice) and 22: 7; 30 to 32: 4; 40 to 42: 3
    expected = (Fraction(4, 3) + Fraction(3, 7) + Fraction(3, 4)) / 10
    assert entry["posterior"] == pytest.approx(float(expected))


@pytest.mark.parametrize(("given", "word"), [
    ({"recoding": {"quality": "best"}}, "by the clock"),
    ({"transforms": [{"method": "sampling", "share": "0.5"}]}, "transforms the table"),
])  # fmt: skip
def test_a_run_that_nobody_can_repeat_is_not_guessed(given, word):
    asked = ind.Policy(**policy(3).plain() | given)
    entry = ind.attack(mondrian_of_two(), asked, original=TABLE, attacks=["linkage"])["linkage"]
    assert word in entry["details"]["why_not"]


def test_classes_under_models_of_values_need_the_values():
    asked = policy(3, ind.DistinctL("ill", 2))
    released = ind.anonymize(TABLE, asked).table
    entry = ind.attack(released, asked, identified=TABLE.select(["age"]), attacks=["linkage"])["linkage"]
    assert "need their values" in entry["details"]["why_not"]
    assert ind.attack(released, asked, original=TABLE, attacks=["linkage"])["linkage"]["details"]["knows_program"]


def test_composition_by_class_knows_more_than_by_labels():
    first, second = policy(2), policy(3)
    released, other = ind.anonymize(TABLE, first).table, ind.anonymize(TABLE, second).table
    how = {"original": TABLE, "other": other, "attacks": ["composition"]}
    entry = ind.attack(released, first, other_policy=second, **how)["composition"]
    assert entry["details"]["knows_program"] is True
    assert entry["details"]["weaker"]["learnt"] <= entry["learnt"]
    # without the second policy the second class is known by labels alone, and it is said
    half = ind.attack(released, first, **how)["composition"]
    assert "--with-policy" in half["details"]["why_not"]


def test_a_grid_of_one_is_no_grid_and_is_said():
    asked = policy(3, hierarchy={"kind": "range", "bounds": "snapped", "step": 1})
    table = pa.table({"age": [20, 33, 47, 50, 61, 78], "ill": list("abcabc")})
    released = ind.anonymize(table, asked).table
    assert released.equals(ind.anonymize(table, policy(3)).table), "byte for byte the file of members"
    entry = ind.attack(released, asked, original=table, attacks=["downcoding"])["downcoding"]
    assert entry["gain"] > 0
    assert "a step of 1 snaps nothing" in entry["reason"]


PEOPLE = pa.table({"age": [20, 23, 47, 50, 61, 78], "ill": list("abcabc")})


@pytest.mark.parametrize(
    ("hierarchy", "wanted"),
    [
        ({"kind": "range", "bounds": "members"}, ['bounds = "snapped" of age', "fixed intervals"]),
        ({"kind": "range", "bounds": "snapped", "step": 1}, ["a step of age above 1", "fixed intervals"]),
        ({"kind": "range", "bounds": "snapped", "step": 2}, ["a step of age above 2", "fixed intervals"]),
        ({"kind": "range", "bounds": "snapped"}, ["a step of age above 2", "fixed intervals"]),
        ({"kind": "intervals", "widths": [30]}, ["wider intervals"]),
    ],
)
def test_no_setting_in_use_is_recommended(hierarchy, wanted):
    asked = policy(2, hierarchy=hierarchy)
    released = ind.anonymize(PEOPLE, asked).table
    assert ind.attack(released, asked, original=PEOPLE, attacks=["downcoding"])["downcoding"]["stopped_by"] == wanted


def test_days_are_snapped_without_being_asked_and_sets_list_fewer():
    days = pa.table({"day": ["2024-01-03", "2024-03-09", "2024-05-01", "2024-08-20"], "ill": list("abab")})
    asked = ind.Policy(
        attributes={
            "day": {"role": "qi", "type": "date", "hierarchy": {"kind": "range"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[{"model": "k_anonymity", "k": 2}],
    )
    entry = ind.attack(ind.anonymize(days, asked).table, asked, original=days, attacks=["downcoding"])["downcoding"]
    assert not any("snapped" in words for words in entry["stopped_by"])
    jobs = pa.table({"job": list("abcd")})
    asked = ind.Policy(attributes={"job": {"role": "qi", "hierarchy": {"kind": "set", "most": 4}}})
    labels = pa.table({"job": ["{a, b}", "{a, b}", "{c, d}", "{c, d}"]})
    entry = ind.attack(labels, asked, original=jobs, attacks=["downcoding"])["downcoding"]
    assert entry["stopped_by"] == ["a most of job below 4"]


def test_the_cells_of_a_grid():
    """Ranges [20, 29] and [30, 49] on a grid of 10: one cell tells nothing, of two the first is right for a half."""
    original = pa.table({"age": ["20", "25", "30", "35", "36", "49"]})
    released = pa.table({"age": ["[20, 29]"] * 2 + ["[30, 49]"] * 4})
    entry = ind.attack(released, qi=["age"], types={"age": "integer"}, original=original, attacks=["downcoding"])
    assert entry["downcoding"]["details"]["grid"] == 10
    assert entry["downcoding"]["gain"] == 0.0


def test_boxes_in_two_columns():
    """A class of four at the corners of [1, 4] x [1, 4]: everybody lies at an end; at random 1 - (1/2)^2 = 3/4."""
    original = pa.table({"a": ["1", "1", "4", "4"], "b": ["1", "4", "1", "4"]})
    released = pa.table({"a": ["[1, 4]"] * 4, "b": ["[1, 4]"] * 4})
    answer = ind.attack(
        released, qi=["a", "b"], types={"a": "integer", "b": "integer"}, original=original, tight=True,
        attacks=["downcoding"],
    )  # fmt: skip
    (box,) = [one for one in answer.document["attacks"] if one["attribute"] is None]
    assert (box["prior"], box["posterior"]) == (0.75, 1.0)


def test_a_set_tells_that_each_of_its_values_occurs():
    """{a, b} in a class of three where b is a tenth of both: b is known to occur; at random 1 - 0.9^3 = 0.271."""
    released = pa.table({"job": ["{a, b}"] * 3 + ["a"] * 7})
    original = pa.table({"job": ["b"] + ["a"] * 9})
    how = {"qi": ["job"], "attacks": ["downcoding"]}
    entry = ind.attack(released, identified=original, **how)["downcoding"]
    assert "each value that they list occurs" in entry["reason"]
    assert (entry["persons"], entry["learnt"]) == (3, 3)
    assert entry["prior"] == pytest.approx(0.271)
    assert entry["posterior"] == 1.0


def test_a_node_tells_that_two_of_its_branches_occur(tmp_path):
    (tmp_path / "tree.csv").write_text("a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\n", encoding="utf-8")
    asked = ind.Policy(
        attributes={"job": {"role": "qi", "hierarchy": {"file": str(tmp_path / "tree.csv")}}},
        privacy=[ind.KAnonymity(2)],
    )
    original = pa.table({"job": ["a1", "a2", "b1", "b1"]})
    released = ind.anonymize(original, asked).table
    assert sorted(released["job"].to_pylist()) == ["A", "A", "b1", "b1"]
    entry = ind.attack(released, asked, original=original, attacks=["downcoding"])["downcoding"]
    assert entry["details"]["nodes"] == 1
    assert (entry["prior"], entry["posterior"]) == (0.5, 1.0)  # two draws from a1 and a2 differ with chance 1/2


@pytest.mark.slow
def test_both_policies_on_the_command_line(tmp_path, capfd):
    files = {name: str(tmp_path / name) for name in ("in.csv", "one.toml", "two.toml", "one.csv", "two.csv")}
    rows = "".join(f"{age},{ill}\n" for age, ill in zip(AGES, ILL, strict=True))
    (tmp_path / "in.csv").write_text(f"age,ill\n{rows}", encoding="utf-8")
    for name, k in (("one", 2), ("two", 3)):
        policy(k).save(files[f"{name}.toml"])
        assert run(["anonymize", files["in.csv"], "-p", files[f"{name}.toml"], "-o", files[f"{name}.csv"]]) == 0
    capfd.readouterr()
    words = ["attack", files["one.csv"], "-p", files["one.toml"], "--with", files["two.csv"], "--json",
             "--original", files["in.csv"], "--attacks", "composition"]  # fmt: skip
    assert run([*words, "--with-policy", files["two.toml"]]) == 0
    (entry,) = json.loads(capfd.readouterr().out)["attacks"]
    assert (entry["details"]["knows_program"], entry["details"]["why_not"]) == (True, None)
    assert run([*words, "--knows-labels-only"]) == 0
    (entry,) = json.loads(capfd.readouterr().out)["attacks"]
    assert entry["details"]["knows_program"] is False
    assert run([*words[:4], "--with-policy", files["two.toml"]]) == 2
    assert "--with-policy is the policy of --with" in capfd.readouterr().err
