"""What `verify` says of a row behind which no original of its own can stand."""

import pyarrow as pa
import pytest

import indistinct as ind

AGES, JOBS, PAYS = [20, 22, 24, 40, 42, 44], list("aabbbc"), list("xyxyxy")
ORIGINAL = pa.table({"age": AGES, "job": JOBS, "pay": PAYS})
POLICY = ind.Policy(
    attributes={
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
        "job": {"role": "sensitive"},
        "pay": {"role": "insensitive"},
    },
    privacy=[{"model": "k_anonymity", "k": 3}],
)
YOUNG, OLD = "[20, 24]", "[40, 44]"


def told(ages, jobs=JOBS, pays=PAYS, policy=POLICY, original=ORIGINAL):
    table = pa.table({"age": ages, "job": jobs, "pay": pays})
    answer = ind.verify(original, table, policy)
    assert not answer.satisfied
    return {one["row"]: one["reason"] for one in answer.document["coverage"]["violations"]}, str(answer)


def test_a_value_that_no_covered_original_has():
    found, text = told([YOUNG] * 3 + [OLD] * 3, jobs=["a", "a", "c", "b", "b", "c"])
    assert found == {3: "its quasi-identifiers cover 3 originals, none with this job"}
    assert "row 3: no original row of its own can stand behind it: its quasi-identifiers cover 3 originals" in text


def test_each_value_is_there_but_not_together():
    # the third row says b and y; of the young only (24, b, x) has b
    found, _ = told([YOUNG] * 3 + [OLD] * 3, pays=["x", "y", "y", "y", "x", "y"])
    assert found == {3: "its quasi-identifiers cover 3 originals, none with these values of job and pay together"}


def test_two_values_that_no_covered_original_has():
    found, _ = told([YOUNG] * 3 + [OLD] * 3, jobs=["a", "a", "c", "b", "b", "c"], pays=["x", "y", "z", "y", "x", "y"])
    assert found[3] == "its quasi-identifiers cover 3 originals, none with this job and none with this pay"


def test_a_label_that_covers_nothing():
    found, _ = told([YOUNG] * 3 + ["[90, 99]"] * 3)
    assert set(found) == {4, 5, 6}
    assert set(found.values()) == {"what stands in age covers no original"}


def test_labels_that_cover_nothing_together():
    columns = {"age": AGES, "zip": list("112233"), "job": JOBS}
    spread = POLICY.attributes | {"zip": ind.Attribute(role="qi", hierarchy={"kind": "suppress"})}
    spread.pop("pay")
    policy = ind.Policy(attributes=spread, privacy=[{"model": "k_anonymity", "k": 1}])
    table = pa.table({"age": [YOUNG] * 3 + [OLD] * 3, "zip": ["1", "1", "3", "2", "3", "3"], "job": JOBS})
    answer = ind.verify(pa.table(columns), table, policy).document["coverage"]["violations"]
    assert {one["row"]: one["reason"] for one in answer}[3] == "what stands in age and zip covers no original together"


def test_more_rows_than_originals():
    found, _ = told([YOUNG] * 4 + [OLD] * 3, jobs=["a", "a", "a", "b", "b", "b", "c"], pays=["x", "y", "x", *"xyxy"])
    assert (
        found[1]
        == found[3]
        == (
            "its quasi-identifiers cover 3 originals, 1 with the same job and pay, but other published rows need it too"
        )
    )


@pytest.mark.parametrize("age", ["20", "60"])
def test_rows_of_groups(age):
    # 20 is there once; 60 is nobody's
    policy = ind.Policy(
        attributes={"age": {"role": "qi", "type": "integer"}, "job": {"role": "sensitive"}},
        privacy=[{"model": "distinct_l", "attribute": "job", "l": 2}],
        recoding={"algorithm": "anatomy"},
    )
    original = pa.table({"age": [20, 22, 24, 40], "job": list("abab")})
    release = ind.anonymize(original, policy)
    rows = release.table.qit.to_pydict()
    place = rows["age"].index(22)
    rows["age"][place] = int(age)
    answer = ind.verify(original, pa.table(rows), policy, st=release.table.st)
    reasons = {one["reason"] for one in answer.document["coverage"]["violations"]}
    if age == "60":
        assert reasons == {"what stands in age covers no original"}
    else:
        assert reasons == {"of 4 originals 1 with the same age, but other published rows need it too"}
