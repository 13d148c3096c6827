"""Sets of quasi-identifiers ranked by distinction and separation, against the definitions."""

from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_risk
from cli_bench import run
from text_tables import as_table

ROWS = st.lists(st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 3), min_size=1, max_size=10)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(rows=ROWS, size=st.integers(1, 4))
def test_the_ranking_is_that_of_the_definition(rows, size):
    table = [dict(zip("abc", row, strict=True)) for row in rows]
    found = ind.risk(as_table(table), qi=list("abc"), rank=size).measures["column_ranking"]
    wanted = []
    for level in range(1, min(size, 3) + 1):
        sets = [
            (-naive_risk.distinction(table, chosen), -naive_risk.separation(table, chosen), chosen)
            for chosen in combinations("abc", level)
        ]
        wanted += [(list(chosen), -distinct, -apart) for distinct, apart, chosen in sorted(sets)]
    assert found["checked"] == len(wanted)
    assert [
        (one["columns"], Fraction(one["distinction"]["fraction"]), Fraction(one["separation"]["fraction"]))
        for one in found["sets"]
    ] == wanted
    for one in found["sets"]:
        tuples = [tuple(row[name] for name in one["columns"]) for row in table]
        assert one["unique_rows"] == sum(tuples.count(own) == 1 for own in tuples)


def test_separation_decides_among_equal_numbers_of_values():
    # a: two values, 3 of 6 pairs differ (1 + 3 rows); b: two values, 4 of 6 pairs differ (2 + 2 rows)
    table = pa.table({"a": ["x", "x", "x", "y"], "b": ["x", "x", "y", "y"]})
    answer = ind.risk(table, qi=["a", "b"], rank=1)
    assert [one["columns"] for one in answer.measures["column_ranking"]["sets"]] == [["b"], ["a"]]
    assert "b has most different values: 2 in 4 rows, 66.7 % of the pairs of rows differ" in str(answer)


def test_rows_starred_as_a_whole_stay_out_and_the_published_table_stands_beside():
    before = pa.table({"a": ["1", "2", "3", "4"]})
    after = pa.table({"a": ["[1, 2]", "[1, 2]", "*", "*"]})
    answer = ind.risk(before, qi=["a"], rank=1, published=after)
    shares = [measures["column_ranking"]["sets"][0]["distinction"] for measures in (answer.measures, answer.published)]
    assert [one["fraction"] for one in shares] == ["1/1", "1/2"]


def test_the_command_ranks_and_refuses_what_is_no_size(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,x\n1,y\n2,y\n", encoding="utf-8")
    answer = run("risk", tmp_path / "in.csv", "--qi", "a,b", "--rank", "2")
    assert answer.returncode == 0
    assert "a, b" in answer.stdout
    assert run("risk", tmp_path / "in.csv", "--qi", "a,b", "--rank", "0").returncode == 2
    many = pa.table({f"c{n}": ["1", "2"] for n in range(45)})
    with pytest.raises(ind.UnsupportedError, match="ask for smaller sets"):
        ind.risk(many, qi=many.column_names, rank=20)
