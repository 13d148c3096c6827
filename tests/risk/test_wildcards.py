"""A star in one cell fits any value: sizes by the definition, what is said of them, and where they may not be used."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_risk
from cli_bench import run
from text_tables import as_table

STARS = Path(__file__).resolve().parents[1] / "faults" / "r03-star-in-one-cell"
ROWS = st.lists(st.tuples(*[st.sampled_from(["x", "y", "*"])] * 3), min_size=1, max_size=12)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(rows=ROWS)
def test_sizes_are_those_of_the_definition(rows):
    rows = [row for row in rows if set(row) != {"*"}] or [("x", "x", "x")]
    table = as_table([dict(zip("abc", row, strict=True)) for row in rows])
    answer = ind.risk(table, qi=list("abc"), rows=True)
    wanted = naive_risk.star_sizes(rows)
    assert answer.rows["class_size"].to_pylist() == wanted["wildcard"]
    stars = answer.document["stars"]
    if any("*" in row for row in rows):
        assert (stars["reading"], stars["smallest_sure"]) == ("wildcard", min(wanted["sure"]))
        assert stars["rows"] == sum("*" in row for row in rows)
    else:
        assert stars is None
    assert answer.measures["sample_uniqueness"]["rows"] == wanted["wildcard"].count(1)


def test_nobody_is_unique_where_stars_fit():
    answer = ind.risk(str(STARS / "input.csv"), qi=["a", "b"])
    assert answer.document["stars"]["reading"] == "wildcard"
    assert answer.measures["sample_uniqueness"]["rows"] == 0
    assert "a row fits up to" in answer.document["stars"]["sentence"]
    as_values = ind.risk(str(STARS / "input.csv"), qi=["a", "b"], stars="value")
    assert as_values.measures["sample_uniqueness"]["rows"] == 5


def test_a_gate_counts_what_is_sure():
    # (y,*) is covered by itself alone, though it fits two rows: no gate may pass it at 1/2
    words = ("risk", STARS / "input.csv", "--qi", "a,b", "--fail-above")
    assert run(*words, "0.5").returncode == 1
    assert run(*words, "1").returncode == 0


def test_another_token_and_the_published_table():
    table = pa.table({"a": ["x", "x", "x"], "b": ["1", "?", "2"]})
    policy = ind.Policy(
        attributes={name: {"role": "qi", "hierarchy": {"kind": "suppress"}} for name in "ab"},
        output={"suppressed_token": "?"},
    )
    answer = ind.risk(table, policy, published=table)
    assert answer.measures["prosecutor"]["highest"]["fraction"] == "1/2"
    assert answer.document["published"]["stars"]["reading"] == "wildcard"
    assert ind.risk(table, qi=["a", "b"]).document["stars"] is None  # here ? is a value like any other


def test_persons_are_counted_by_values_only():
    table = pa.table({"p": ["1", "2", "3"], "a": ["x", "*", "x"], "b": ["1", "1", "2"]})
    answer = ind.risk(table, qi=["a", "b"], person="p")
    assert answer.document["stars"]["reading"] == "value"
    assert "because sizes count persons" in answer.document["stars"]["sentence"]
    with pytest.raises(ind.PolicyError, match="leave out the key"):
        ind.risk(table, qi=["a", "b"], person="p", stars="wildcard")
    with pytest.raises(ind.PolicyError, match="no reading of stars"):
        ind.risk(table, qi=["a", "b"], stars="any")


def test_no_verdict_reads_stars_as_any_value():
    assert ind.audit(str(STARS / "input.csv"), qi=["a", "b"], k=2).document["satisfied"] is False


def test_a_sampling_fraction_is_one_and_has_a_use():
    table = pa.table({"a": ["1", "2", "2"], "b": ["x", "x", "x"]})
    for wrong, why in ((0, "is none"), ("2", "is none"), ("much", "is no number")):
        with pytest.raises(ind.PolicyError, match=why):
            ind.risk(table, qi=["a", "b"], suda=2, sampling_fraction=wrong)
    with pytest.raises(ind.PolicyError, match="for special uniques"):
        ind.risk(table, qi=["a", "b"], sampling_fraction="0.1")
    # U = 1, P = 2, f = 3/12 rows of people: DIS = (1/4) / (1/4 + 2 * 3/4) = 1/7
    assert ind.risk(table, qi=["a", "b"], suda=2, population_size=12).measures["suda2"]["dis"]["fraction"] == "1/7"
