"""The story of the attacks comes out as it is told."""

from pathlib import Path

import pytest

from scripts import load

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "attacks" / "run.py"


@pytest.mark.slow
def test_each_protection_meets_its_attack(capsys):
    story = load(SCRIPT)
    found = story.main(reveal=True)
    told = capsys.readouterr().out
    assert found["names"]["linkage"]["details"]["unique_links"] > 100
    assert "HIV" in "".join(found["names"].revealed["linkage"]) or found["names"]["linkage"]["worst"]
    assert found["k"]["linkage"]["details"]["unique_links"] == 0
    assert found["k"]["homogeneity"]["learnt"] > 0
    assert found["k"]["background"]["learnt"] > found["k"]["homogeneity"]["learnt"]
    assert found["l"]["homogeneity"]["learnt"] == 0
    assert found["l"]["skewness"]["details"]["largest_ratio"]["decimal"] > 20
    assert found["l"]["similarity"]["learnt"] > 0
    assert found["t"]["similarity"]["learnt"] == 0
    assert found["t"]["skewness"]["gain"] < found["l"]["skewness"]["gain"]
    assert found["numbers"]["proximity"]["learnt"] > 0
    assert found["eps"]["proximity"]["gain"] < found["numbers"]["proximity"]["gain"]
    assert found["eps"]["linkage"]["details"]["unique_links"] > 100, "quasi-identifiers are exact in two tables"
    assert found["again"]["differencing"]["learnt"] >= 1
    assert found["two"]["unsorted_matching"]["learnt"] == 600, "the order of the source tells who is who"
    joined = found["two"]["complementary_release"]["details"]
    assert joined["k_on_join"] < joined["k_of_either"]
    assert found["sorted"]["unsorted_matching"]["ran"]
    assert found["sorted"]["unsorted_matching"]["learnt"] == 0, "sorted by what is published, the order tells nothing"
    end = told.partition("\n10. ")[2].splitlines()[1]
    assert end.startswith("  refused: together with the earlier releases of the ledger this one breaks a guarantee: ")
    assert "the difference of two classes shows their value" in end
    assert told.splitlines()[-1] == end, "the story ends with what stops the last attacks"
    assert all(f"\n{number}. " in told for number in range(1, 11))
