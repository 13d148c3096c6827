"""Explanations: every count in a sentence is recounted here from the rows."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.assess.explain_reach import largest_whole, least_t

AGE = {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5, 10, 50]}}
TOWN = {"role": "qi", "hierarchy": {"kind": "suppress"}}


def policy(k=3, limit=0.2, algorithm="optimal", **more):
    return ind.Policy(
        attributes={"age": AGE, "town": TOWN, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(k), *more.get("privacy", [])],
        suppression={"limit": limit},
        recoding={"algorithm": algorithm},
    )


ROWS = [(21, "Kiel", "a"), (22, "Kiel", "b"), (23, "Kiel", "a"), (24, "Kiel", "b"), (41, "Bonn", "a"),
        (42, "Bonn", "b"), (43, "Bonn", "a"), (44, "Bonn", "secretitis"), (97, "Bonn", "a")]  # fmt: skip
TABLE = pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(("age", "town", "ill"))})


def texts(answer, about):
    return [sentence["text"] for sentence in answer.document["sentences"] if sentence["about"] == about]


def test_suppressed_rows_are_named_with_the_models_that_they_fail():
    answer = ind.explain(TABLE, policy())
    assert answer.feasible
    assert answer.document["suppressed_rows"] == 1
    (entry,) = answer.document["suppressed"]
    assert entry == {"class": {"age": "[95, 100)", "town": "Bonn"}, "rows": 1, "models": ["k_anonymity"]}
    assert "1 row with {age [95, 100), town Bonn} is suppressed" in texts(answer, "suppressed rows")[0]


def test_one_level_less_is_recounted():
    answer = ind.explain(TABLE, policy())
    (less,) = [entry for entry in answer.document["one_level_less"] if entry["column"] == "age"]
    assert less["level"] == 0
    assert less["suppressed_rows"] == sum(n for n in Counter((r[0], r[1]) for r in ROWS).values() if n < 3) == 9
    assert less["lm"] == 1.0
    assert less["classes_in_the_way"]


def test_columns_are_compared_by_loss_and_by_rows_alone():
    answer = ind.explain(TABLE, policy())
    by_name = {entry["column"]: entry for entry in answer.document["attributes"]}
    assert by_name["age"]["rows_alone_without"] == 0
    assert by_name["age"]["distinct_tuples_without"] == 2
    assert by_name["town"]["rows_alone_without"] == 9
    total = sum(entry["share_of_loss"] for entry in by_name.values())
    assert total == pytest.approx(1)
    release = ind.anonymize(TABLE, policy())
    assert by_name["age"]["lm"] == pytest.approx(release.loss["lm_by_attribute"]["age"])


def test_a_large_class_says_what_its_parts_would_fail():
    answer = ind.explain(TABLE, policy(k=4, algorithm="local", limit=0))
    largest = answer.document["largest_classes"][0]
    members = [r for r in ROWS if largest["class"]["town"] in (r[1], "*")]
    assert largest["rows"] == 5 == len(members) or largest["class"]["town"] == "*"
    assert all(split["parts"] >= 2 for split in largest["splits"])
    assert texts(answer, "largest classes")


def test_a_row_that_stretches_its_class_is_found():
    table = pa.table({"age": [20, 21, 22, 90], "ill": ["a", "b", "a", "b"]})
    given = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(4)],
    )
    (row, *_) = ind.explain(table, given).document["stretching_rows"]
    assert (row["column"], row["value"], row["class_rows"]) == ("age", "90", 4)
    assert row["lm_less"] == pytest.approx(float(Fraction(68, 70) * 3 / 4))


def test_an_impossible_target_is_an_answer():
    answer = ind.explain(TABLE, policy(k=10))
    assert not answer.feasible
    assert answer.document["reason"]
    assert answer.document["nearest"]
    assert "CANNOT" in repr(answer)


def test_no_sensitive_value_is_shown():
    for given in (
        policy(),
        policy(k=10),
        policy(privacy=[ind.DistinctL("ill", 2)]),
        policy(privacy=[ind.DistinctL("ill", 4)]),
    ):
        assert "secretitis" not in str(ind.explain(TABLE, given).document)


def test_reachable_parameters_are_reached_and_the_next_is_not():
    given = policy(limit=0, privacy=[ind.DistinctL("ill", 1)])
    limit = 0.6
    found = {
        entry["parameter"]: entry["reached"] for entry in ind.explain(TABLE, given, loss=limit).document["reachable"]
    }
    for k, expected in ((found["k"], True), (found["k"] + 1, False)):
        changed = given.model_copy(update={"privacy": (ind.KAnonymity(k), given.privacy[1])})
        try:
            fits = ind.anonymize(TABLE, changed).loss["lm"] <= limit
        except ind.InfeasibleError:
            fits = False
        assert fits is expected


def test_the_searches_for_parameters():
    for best in range(1, 60):
        assert largest_whole(lambda k, best=best: k <= best, 100) == best
    assert largest_whole(lambda _: False, 100) is None
    assert least_t(lambda t: t >= Fraction(37, 100)) == Fraction(37, 100)
    assert least_t(lambda _: False) is None


def test_rows_in_another_order_are_explained_alike():
    order = np.random.default_rng(0).permutation(len(ROWS))
    assert ind.explain(TABLE.take(order), policy()).document == ind.explain(TABLE, policy()).document


def in_groups(l=2, **more):  # noqa: E741
    return ind.Policy(
        attributes={"age": {"role": "qi", "type": "integer"}, "ill": {"role": "sensitive"}},
        privacy=[ind.DistinctL("ill", l)],
        recoding={"algorithm": "anatomy"},
        **more,
    )


def test_a_release_in_groups_is_explained_by_its_groups():
    ill = ["secretitis"] * 5 + ["b"] * 4 + ["c"] * 4
    table = pa.table({"age": [20 + at for at in range(13)], "ill": ill})
    answer = ind.explain(table, in_groups())
    # 13 rows in groups of 2, one of which takes the row that is left
    assert answer.document["groups"] == {
        "groups": 6,
        "rows": {"least": 2, "most": 3},
        "values": {"least": 2, "most": 3},
    }
    assert answer.document["most_frequent"] == {"column": "ill", "rows": 5, "largest_l": 2}
    assert "13 rows stand in 6 groups of 2 to 3 rows with 2 to 3 different values" in texts(answer, "groups")[0]
    assert "the most rows, 3, are in 1 group" in texts(answer, "groups")[1]
    assert "5 rows of 13 (38.5 %): it needs 5 groups" in texts(answer, "what blocks")[0]
    assert "no l above 2 can be had" in texts(answer, "what blocks")[0]
    assert texts(answer, "suppressed rows") == ["no row is suppressed"]
    # ages stay exact: nothing is rare, no class is large
    assert not texts(answer, "rare values")
    assert not texts(answer, "largest classes")
    assert "with 6 groups, 0 rows suppressed" in repr(answer)
    assert "secretitis" not in repr(answer)
    with pytest.raises(ind.InfeasibleError):
        ind.anonymize(table, in_groups(3))
    refused = ind.explain(table, in_groups(3))
    assert not refused.feasible
    assert "no l above 2 can be had" in texts(refused, "what blocks")[0]


def test_rows_that_no_group_takes_are_counted():
    # of 13 rows the five different wages form one group of 3; two groups of at most 6 rows never hold 13
    wages = ["100"] * 8 + ["120", "140", "160", "180", "300"]
    policy = ind.Policy(
        attributes={"q": {"role": "qi"}, "wage": {"role": "sensitive", "type": "integer"}},
        privacy=[ind.EpsIKAnonymity("wage", k=3, beta="0.1", eps_floor=10)],
        suppression={"limit": 1},
    )
    answer = ind.explain(pa.table({"q": list("abcdefghijklm"), "wage": wages}), policy)
    groups, gone = answer.document["groups"], answer.document["suppressed_rows"]
    assert groups["rows"]["most"] <= 6
    assert 13 - gone <= 6 * groups["groups"]
    assert gone >= 1
    first, reason = texts(answer, "suppressed rows")
    assert first == f"{gone} row{'s are' if gone > 1 else ' is'} suppressed: no group could take them"
    assert "had room" in reason
    assert "quasi-identifiers are exact" in texts(answer, "groups")[0]


def test_one_rare_value_cannot_be_published_and_levels_are_stretched_by_nobody():
    ages = [21, 21, 21, 22, 22, 22, 23]
    table = pa.table({"age": ages, "town": ["Kiel"] * 7, "ill": list("abababa")})
    answer = ind.explain(table, policy(k=3, limit=0))
    assert texts(answer, "rare values") == [
        '1 value of "age" has fewer than 3 rows (1 row), so it cannot be published as it is'
    ]
    assert answer.document["stretching_rows"] == []
