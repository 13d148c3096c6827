from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import HierarchyError
from indistinct.hierarchies import build_hierarchy, check, read_taxonomy, taxonomy, write_taxonomy

pytestmark = pytest.mark.small

DISEASE = [("flu", "resp", "all"), ("ulcer", "dig", "all"), ("bronchitis", "resp", "all"), ("colitis", "dig", "all")]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def test_leaves_follow_first_appearance_so_that_nodes_are_runs():
    found = taxonomy.build("d", ["colitis", "flu", "ulcer", "bronchitis"], DISEASE)
    assert found.texts == ("flu", "bronchitis", "ulcer", "colitis")
    assert found.levels[1].node_of.tolist() == [0, 0, 1, 1]
    assert found.levels[1].labels == ("resp", "dig")
    assert found.levels[1].costs == (Fraction(1, 3), Fraction(1, 3))
    assert found.levels[2].costs == (1,)
    assert found.root == "all"
    assert found.label(1, 2) == "all"
    assert found.label(2, 3) == "dig"


def test_costs_count_the_leaves_of_the_whole_file():
    found = taxonomy.build("d", ["flu", "ulcer"], DISEASE)
    assert found.size == 2
    assert found.levels[1].costs == (Fraction(1, 3), Fraction(1, 3))


def test_three_normalisations_are_not_confused():
    rows = [(f"v{i}", "three" if i < 3 else "seven", "*") for i in range(10)]
    assert taxonomy.build("v", ["v0", "v9"], rows).levels[1].costs == (Fraction(2, 9), Fraction(6, 9))


def test_missing_is_one_more_leaf_under_the_root():
    found = taxonomy.build("d", ["flu", None, "ulcer"], DISEASE)
    assert found.texts == ("flu", "ulcer", None)
    assert found.levels[1].node_of.tolist() == [0, 1, 2]
    assert found.levels[1].costs == (Fraction(1, 4), Fraction(1, 4), 0)
    assert found.levels[2].node_of.tolist() == [0, 0, 0]
    assert (found.label(2, 2), found.label(1, 2), found.cost(1, 2)) == (None, "all", 1)


def test_a_row_for_the_missing_value_is_used():
    rows = [("", "unknown", "all"), ("?", "unknown", "all"), *DISEASE]
    found = taxonomy.build("d", ["flu", None, "?", "ulcer"], rows)
    assert found.texts == ("flu", "ulcer", "?", None)
    assert found.levels[1].labels == ("resp", "dig", "unknown")
    assert found.levels[1].node_of.tolist() == [0, 1, 2, 2]
    assert found.cost(2, 3) == Fraction(1, 5)
    assert found.label(2, 3) == "unknown"


def test_an_empty_text_beside_missing_values_takes_the_row():
    found = taxonomy.build("d", ["", None, "flu"], [("", "none", "all"), *DISEASE])
    assert found.texts == ("flu", "", None)
    assert found.levels[1].node_of.tolist() == [0, 1, 2]


def test_several_top_labels_are_valid():
    found = taxonomy.build("grade", ["A", "B", "C", None], [("A", "low"), ("B", "low"), ("C", "high")])
    assert found.top_labels() == ("low", "high")
    assert found.label(0, 1) == "low"
    assert found.levels[1].costs == (Fraction(1, 3), 0, 0)
    for pair in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match="no node of grade covers"):
            found.smallest(*pair)


def test_padding_is_fine():
    rows = [("r", "r", "*"), ("g", "g", "*"), ("b", "Other", "*"), ("w", "Other", "*")]
    found = taxonomy.build("colour", ["r", "g", "b", "w"], rows)
    assert found.levels[1].labels == ("r", "g", "Other")
    assert found.levels[1].costs == (0, 0, Fraction(1, 3))
    twice = taxonomy.build("x", ["a", "b", None], [("a", "*", "*"), ("b", "*", "*")])
    assert [level.node_of.tolist() for level in twice.levels[1:]] == [[0, 0, 0]] * 2


def test_one_leaf_and_no_leaf():
    assert taxonomy.build("x", ["a"], [("a", "*")]).levels[1].costs == (0,)
    assert taxonomy.build("x", ["a", None], [("a", "*")]).cost(0, 1) == 1
    assert taxonomy.build("x", [], [("a", "*")]).size == 0
    assert taxonomy.build("x", [None], [("a", "*")]).texts == (None,)
    assert taxonomy.build("x", ["b", "a"], [("a",), ("b",)]).is_fixed


@pytest.mark.parametrize(
    ("rows", "texts", "parts"),
    [
        ([("1002", "10**", "*"), ("1003", "10**", "*")], ["1001", "1002"], ["zip", '"1001"']),
        ([("41", "40-49", "40-59", "*"), ("46", "40-49", "30-49", "*")], ["41"], ["zip", "40-49", "40-59", "30-49"]),
        ([("1", "a", "*"), ("2", "a"), ("3", "b", "*")], ["1"], ["zip", "row 2", "2 entries", "3 expected"]),
        ([("1", "a"), ("2",), ("3", "b")], ["1"], ["row 2", "1 entry", "2 expected"]),
        ([("1", "*"), ("2", "*"), ("1", "x")], ["1"], ['"1" has two rows that differ, 1 and 3']),
        ([("1", "a", "*"), ("2", "", "*")], ["1"], ["row 2", "level 1 is empty"]),
        ([], ["1"], ["empty"]),
        ([("a", "x", "y"), ("b", "y", "z")], ["a"], ['label "y"', '"b" on level 1', '"a" on level 2']),
        ([("o", "o", "*"), ("b", "o", "*"), ("c", "c", "*")], ["o"], ['"o"', "on level 0", '"o" and "b" on level 1']),
        ([("a", "*", "*"), ("b", "g", "*")], ["a"], ['label "*"']),
    ],
)
def test_what_is_no_hierarchy_is_refused(rows, texts, parts):
    with pytest.raises(HierarchyError) as caught:
        taxonomy.build("zip", texts, rows, "zip.csv")
    assert all(part in caught.value.message for part in [*parts, "zip.csv"])
    assert caught.value.where["column"] == "zip"


def test_up_to_five_lacking_values_are_named_and_look_alikes_pointed_out():
    with pytest.raises(HierarchyError, match='"0", "1", "2", "3", "4" and 2 more'):
        taxonomy.build("x", [str(i) for i in range(7)], [("a", "*")])
    with pytest.raises(HierarchyError, match=r'it has "North", which differs from "north " by blanks or case'):
        taxonomy.build("x", ["north "], [("North", "*")])


def test_numbers_are_matched_by_value_and_ordered():
    rows = [("10", "high", "*"), ("9", "low", "*"), ("8", "low", "*"), ("none", "low", "*")]
    found = build_hierarchy("n", ["10", "08", "9"], spec={"rows": rows}, type="integer")
    assert found.texts == ("08", "9", "10")
    assert found.levels[1].labels == ("low", "high")
    assert found.is_ordered
    assert list(found.positions) == [8, 9, 10]
    with pytest.raises(HierarchyError, match="two rows"):
        build_hierarchy("n", ["1"], spec={"rows": [("1", "*"), ("01", "x")]}, type="integer")


def test_a_tree_across_the_scale_is_not_ordered():
    rows = [("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*")]
    found = build_hierarchy("n", ["1", "2", "3"], spec={"rows": rows}, type="integer")
    assert found.texts == ("1", "3", "2")
    assert not found.is_ordered


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;x;*\n",
        "a,x,*\r\nb,x,*\r\n",
        "a\tx\t*\nb\tx\t*",
        "a|x|*\n\nb|x|*\n",
        '"a";"x";"*"\n"b";"x";"*"\n',
        "\ufeffa;x;*\nb;x;*\n",
    ],
)
def test_reading_finds_the_separator(tmp_path, text):
    assert read_taxonomy(write(tmp_path / "h.csv", text)) == [("a", "x", "*"), ("b", "x", "*")]


def test_commas_in_labels_do_not_mislead(tmp_path):
    text = "20;[20, 30);*\n30;[30, 40)\n"
    assert read_taxonomy(write(tmp_path / "h.csv", text)) == [("20", "[20, 30)", "*"), ("30", "[30, 40)")]
    quoted = 'a,"b;c",*\nd,"e;f",*\n'
    assert read_taxonomy(write(tmp_path / "q.csv", quoted)) == [("a", "b;c", "*"), ("d", "e;f", "*")]


def test_unreadable_files(tmp_path):
    for name, text, encoding, message in [
        ("latin.csv", "a;*\nä;*\n", "latin-1", "latin.csv, line 2: not UTF-8"),
        ("quote.csv", 'a;*\n"b;*\n', "utf-8", "quote.csv, line 2: a quote"),
        ("binary.csv", "a\0b", "utf-8", "not a text file"),
    ]:
        with pytest.raises(HierarchyError, match=message):
            read_taxonomy(write(tmp_path / name, text, encoding))
    with pytest.raises(HierarchyError, match=r"absent\.csv: No such file") as caught:
        read_taxonomy(tmp_path / "absent.csv")
    assert str(tmp_path) not in caught.value.message


def test_writing_and_reading_gives_the_same_rows(tmp_path):
    rows = [("a;b", 'say "x"', "*"), ("", "line\nbreak", "*"), ("[1, 2)", " blank ", "*"), ("ä", "|", "*")]
    write_taxonomy(tmp_path / "h.csv", rows)
    assert read_taxonomy(tmp_path / "h.csv") == rows
    assert [path.name for path in tmp_path.iterdir()] == ["h.csv"]
    write_taxonomy(tmp_path / "one.csv", [("a",), ("",)])
    assert read_taxonomy(tmp_path / "one.csv") == [("a",), ("",)]


def test_check_describes_a_file():
    found = check(DISEASE)
    assert (found.height, found.top_labels, found.labels[0]) == (2, ("all",), ("resp", "dig"))
    assert check([("a",), ("b",)]).top_labels == ("a", "b")
    with pytest.raises(HierarchyError, match=r"hierarchy \(file\) is empty"):
        check([])


def test_files_are_relative_to_the_policy(tmp_path):
    write_taxonomy(tmp_path / "d.csv", DISEASE)
    found = build_hierarchy("d", ["flu"], spec={"file": "d.csv"}, base=tmp_path)
    assert (found.kind, found.height) == ("taxonomy", 2)
    with pytest.raises(HierarchyError, match=r'hierarchy of "d" \(d\.csv\)'):
        build_hierarchy("d", ["x"], spec={"kind": "file", "file": str(tmp_path / "d.csv")})
