"""Attacks against their slow twins, against the bounds of models, and on tables of other programs."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_attacks as naive
from indistinct.attacks.matching import Column, join
from indistinct.attacks.registry import ATTACKS
from text_tables import as_table

QUASI = ("age", "zip")
LABELS = {
    "age": ["7", "[0, 10)", "[5, 20]", "(7, 30[", "[20, 30[", "*", "{7, 25}"],
    "zip": ["0213", "021*", "02**", "*", "{0213, 0291}"],
}
VALUES = {"age": ["7", "0", "10", "20", "25"], "zip": ["0213", "0214", "0291", "1000"]}
ILL = ["flu", "hiv", "cancer"]

rows = st.lists(
    st.fixed_dictionaries({name: st.sampled_from(LABELS[name]) for name in QUASI} | {"ill": st.sampled_from(ILL)}),
    min_size=1,
    max_size=25,
)
persons = st.lists(
    st.fixed_dictionaries({name: st.sampled_from(VALUES[name]) for name in QUASI}), min_size=1, max_size=12
)


def run(released, *attacks, **how):
    return ind.attack(as_table(released), qi=QUASI, sensitive=["ill"], attacks=attacks, **how)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["integer", "text"])
@settings(max_examples=60, deadline=None)
@given(rows, persons)
def test_linkage_is_that_of_all_pairs(kind, released, people):
    answer = run(released, "linkage", identified=as_table(people), types={"age": kind})["linkage"]
    found = [naive.candidates(person, released, QUASI) for person in people]
    met = [own for own in found if own]
    assert answer["persons"] == len(met)
    assert answer["details"]["unique_links"] == sum(len(own) == 1 for own in met)
    assert answer["posterior"] == pytest.approx(float(sum(Fraction(1, len(own)) for own in met) / max(1, len(met))))
    several = len({row["ill"] for row in released}) > 1
    told = sum(len({row["ill"] for row in own}) == 1 for own in met) if several else 0
    assert answer["details"]["disclosed"] == {"ill": told}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows, st.integers(0, 3))
def test_attacks_on_classes_are_those_of_the_definitions(released, out):
    answer = run(released, rule_out=out)
    assert answer["homogeneity"]["learnt"] == naive.homogeneous(released, QUASI, "ill")
    belief, certain = naive.background(released, QUASI, "ill", out)
    assert answer["background"]["posterior"] == pytest.approx(float(belief))
    assert answer["background"]["learnt"] == certain
    difference, ratio = naive.skewness(released, QUASI, "ill")
    details = answer["skewness"]["details"]
    assert Fraction(details["largest_difference"]["fraction"]) == difference
    assert Fraction(details["largest_ratio"]["fraction"]) == ratio


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-5, 40)), min_size=2, max_size=20), st.integers(0, 12))
def test_proximity_finds_the_fullest_window(members, width):
    released = pa.table({"q": [q for q, _ in members], "s": [str(value) for _, value in members]})
    answer = ind.attack(
        released, qi=["q"], sensitive=["s"], types={"s": "integer"}, widths={"s": width}, attacks=["proximity"]
    )
    if len({value for _, value in members}) == 1:
        assert not answer["proximity"]["ran"]
        return
    groups = {q: [value for other, value in members if other == q] for q, _ in members}
    worst = max(naive.fullest_window(values, width)[0] for values in groups.values())
    assert Fraction(answer["proximity"]["details"]["largest_share"]["fraction"]) == worst


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows, persons)
def test_membership_is_that_of_the_definition(released, others):
    people = others + [
        {name: next(v for v in VALUES[name] if naive.covers(row[name], v)) for name in QUASI} for row in released
    ]
    answer = run(released, "membership", identified=as_table(people), types={"age": "integer"})["membership"]
    if not answer["ran"]:
        return
    beliefs = naive.presence(people, released, QUASI)
    assert answer["details"]["lowest_belief"] == pytest.approx(float(min(beliefs)))
    assert answer["details"]["highest_belief"] == pytest.approx(float(max(beliefs)))
    assert answer["details"]["certainly_present"] == sum(belief == 1 for belief in beliefs)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_join_is_that_of_all_pairs(data):
    columns = data.draw(st.integers(1, 3))
    labels = [
        [np.array(sorted(own), np.int64) for own in data.draw(st.lists(st.sets(st.integers(0, 5)), min_size=1))]
        for _ in range(columns)
    ]
    draw = lambda top, low=0: data.draw(  # noqa: E731  # a row drawer
        st.lists(st.tuples(*(st.integers(low, t) for t in top)), min_size=1, max_size=12)
    )
    people = np.array(draw([5] * columns, -1), np.int32)
    tuples = np.array(draw([len(own) - 1 for own in labels]), np.int32)
    found = set()
    for block in join(people, tuples, [Column.of_sets(own, 6) for own in labels]):
        assert np.array_equal(block.of, np.repeat(block.persons, np.diff(block.start)))
        pairs = list(zip(block.of.tolist(), block.tuples.tolist(), strict=True))
        assert len(pairs) == len(set(pairs))
        found |= set(pairs)
    assert found == {
        (p, t)
        for p in range(len(people))
        for t in range(len(tuples))
        if all(v < 0 or v in own[label] for v, label, own in zip(people[p], tuples[t], labels, strict=True))
    }


# --- bounds of models -------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows)
def test_no_attack_exceeds_the_bound_of_the_model_that_holds(released):
    answer = run(released)
    achieved = ind.audit(as_table(released), qi=QUASI, sensitive=["ill"], suppressed_rows="class").models
    best = {(entry["model"], entry.get("distance")): entry["achieved"] for entry in achieved}
    assert answer["linkage"]["details"]["fewest_candidates"] == best["k_anonymity", None]["k"]
    distinct = best["distinct_l", None]["l"]
    assert distinct < 2 or answer["homogeneity"]["learnt"] == 0
    for out in range(max(0, distinct - 1)):
        assert run(released, "background", rule_out=out)["background"]["learnt"] == 0
    difference = Fraction(answer["skewness"]["details"]["largest_difference"]["fraction"])
    assert difference <= Fraction(best["t_closeness", "equal"]["t"]["fraction"])
    for name in ("homogeneity", "skewness", "linkage"):
        assert answer[name]["gain"] >= 0, "a claim is made only where belief rises"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["local", "optimal"])
def test_a_k_anonymous_release_keeps_k_candidates_for_everybody(algorithm):
    rng = np.random.default_rng(3)
    original = pa.table({
        "age": [str(n) for n in rng.integers(0, 90, 300)],
        "sex": [str(n) for n in rng.choice(["f", "m"], 300)],
        "ill": [str(n) for n in rng.choice(ILL, 300)],
    })  # fmt: skip
    kind = {"kind": "range"} if algorithm == "local" else {"kind": "intervals", "widths": [10, 30]}
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": kind},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(4), ind.DistinctL("ill", 2)],
        recoding={"algorithm": algorithm},
    )
    release = ind.anonymize(original, policy)
    answer = ind.attack(
        release.table, policy, original=original, fail_above="1/4", fail_on="worst", attacks=["linkage"]
    )
    assert answer.satisfied
    assert answer["linkage"]["persons"] == 300
    assert answer["linkage"]["details"]["fewest_candidates"] >= 4
    assert ind.attack(release.table, policy, original=original)["homogeneity"]["learnt"] == 0


def test_on_shuffled_values_the_baseline_is_within_chance():
    rng = np.random.default_rng(5)
    released = pa.table({
        "age": [f"[{10 * n}, {10 * n + 9}]" for n in rng.integers(0, 5, 5000)],
        "ill": rng.permutation(["flu"] * 2500 + ["hiv"] * 1500 + ["cancer"] * 1000),
        "pay": [str(n) for n in rng.integers(0, 1000, 5000)],
    })  # fmt: skip
    answer = ind.attack(released, qi=["age"], sensitive=["ill", "pay"], types={"pay": "integer"})
    for entry in answer.document["attacks"]:
        if entry["ran"] and entry["attack"] != "linkage":
            assert entry["gain_interval"]["high"] >= 0, entry["attack"]
            assert abs(entry["gain"]) < 0.03, (entry["attack"], entry["attribute"], entry["gain"])


@pytest.mark.slow
def test_inference_finds_no_more_than_the_control_group_on_shuffled_values():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(7)

    def people(number):
        return pa.table({
            "age": [str(n) for n in rng.integers(0, 60, number)], "ill": [str(n) for n in rng.choice(ILL, number)],
        })  # fmt: skip

    original, control = people(400), people(200)
    raw = ind.attack(
        original, qi=["age"], sensitive=["ill"], types={"age": "integer"}, original=original, control=control,
        attacks=["inference"],
    )["inference"]  # fmt: skip
    coarse = original.set_column(0, "age", pa.array(["[0, 60)"] * 400))
    blind = ind.attack(
        coarse, qi=["age"], sensitive=["ill"], types={"age": "integer"}, original=original, control=control,
        attacks=["inference"], repeats=5,
    )["inference"]  # fmt: skip
    assert raw["gain_interval"]["low"] > 0.03, "a raw table tells of its own people more than of others"
    assert raw["details"]["repeats"] == 20
    assert abs(blind["gain"]) < 0.08, "one class tells nothing about anybody"


# --- single attacks ---------------------------------------------------------------------------------------


def test_skewness_of_the_specification():
    released = pa.table({
        "q": ["a"] * 3 + ["b"] * 297, "s": ["hiv", "no", "no"] + ["hiv"] * 2 + ["no"] * 295,
    })  # fmt: skip
    details = ind.attack(released, qi=["q"], sensitive=["s"])["skewness"]["details"]
    assert details["largest_difference"]["fraction"] == "97/300"
    assert details["largest_ratio"]["fraction"] == "100/3"


def test_similarity_by_tree_and_by_distance(tmp_path):
    tree = tmp_path / "ill.csv"
    paths = ["ulcer;stomach;*", "gastritis;stomach;*", "cancer;stomach;*", "flu;chest;*", "cold;chest;*"]
    tree.write_text("\n".join(paths) + "\n", encoding="utf-8")
    ills = ["ulcer", "gastritis", "cancer", "flu", "cold", "cancer", "ulcer", "flu", "flu"]
    pay = ["30", "31", "32", "10", "900", "500", "11", "300", "301"]
    released = pa.table({"q": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "ill": ills, "pay": pay})
    answer = ind.attack(
        released, qi=["q"], sensitive=["ill", "pay"], hierarchies={"ill": str(tree)}, types={"pay": "integer"},
        attacks=["similarity"],
    )  # fmt: skip
    by_tree, by_distance = answer.document["attacks"]
    assert (by_tree["learnt"], by_tree["details"]["classes_with_several_values"]) == (3, 1)
    assert by_tree["worst"][0]["prior"] == round(5 / 9, 12)
    assert by_distance["learnt"] == 3
    assert by_distance["details"]["by"] == "distance"


def test_composition_intersects_two_releases():
    first = pa.table({"age": ["[20, 40)"] * 4, "ill": ["aids", "flu", "cancer", "aids"]})
    second = pa.table({"age": ["[30, 50)"] * 3, "ill": ["aids", "asthma", "ulcer"]})
    victim = pa.table({"name": ["Ann"], "age": ["35"]})
    how = {"qi": ["age"], "sensitive": ["ill"], "types": {"age": "integer"}, "other": second}
    answer = ind.attack(first, identified=victim, reveal=True, **how)
    entry = answer["composition"]
    assert (entry["persons"], entry["learnt"], entry["posterior"]) == (1, 1, 1.0)
    assert "aids" in answer.revealed["composition of ill"][0]
    assert ind.attack(first, **how)["composition"]["learnt"] == 3, "without names: the three rows of the second"


def test_differencing_with_different_recodings():
    later = pa.table({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3, "ill": ["flu", "hiv", "hiv", "flu", "flu", "cold"]})
    earlier = pa.table({"age": ["[20, 24]", "[25, 29]", "[30, 39]", "[30, 39]", "[30, 39]"],
                        "ill": ["flu", "hiv", "flu", "flu", "cold"]})  # fmt: skip
    how = {"qi": ["age"], "sensitive": ["ill"], "types": {"age": "integer"}}
    entry = ind.attack(later, other=earlier, **how)["differencing"]
    assert (entry["learnt"], entry["persons"], entry["worst"][0]["row"]) == (1, 1, 1)
    changed = pa.table({"age": ["[20, 29]"] * 2, "ill": ["cold", "cold"]})
    assert not ind.attack(later, other=changed, **how)["differencing"]["ran"]
    assert "nothing is left over" in ind.attack(later, other=later, **how)["differencing"]["reason"]


@pytest.mark.parametrize(("bounds", "gains"), [("members", True), ("fixed", False)])
def test_downcoding_tells_tight_ranges_from_fixed_ones(bounds, gains):
    rng = np.random.default_rng(11)
    ages = np.sort(rng.integers(0, 1000, 400))
    low = ages // 4 * 4 if bounds == "fixed" else ages[np.arange(400) // 4 * 4]
    high = low + 3 if bounds == "fixed" else ages[np.arange(400) // 4 * 4 + 3]
    label = [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]
    original, released = pa.table({"age": [str(a) for a in ages]}), pa.table({"age": label})
    entry = ind.attack(released, qi=["age"], types={"age": "integer"}, original=original)["downcoding"]
    assert entry["ran"]
    assert (entry["gain"] > 0.05) is gains, entry
    idle = ind.attack(released, qi=["age"], types={"age": "integer"})["downcoding"]
    assert "--tight" in idle["reason"]
    pair = pa.table({"age": ["[31, 47]"] * 2})
    worst = ind.attack(pair, qi=["age"], types={"age": "integer"}, tight=True)["downcoding"]["worst"][0]
    assert worst["prior"] == pytest.approx(1 / 17)
    assert worst["posterior"] == 0.5


def test_two_table_release():
    qit = pa.table({"age": ["31", "35", "40", "44"], "group": ["1", "1", "2", "2"]})
    st_ = pa.table({"group": ["1", "1", "2"], "pay": ["100", "900", "500"], "count": ["1", "1", "2"]})
    answer = ind.attack(
        qit, second=st_, qi=["age"], sensitive=["pay"], types={"age": "integer", "pay": "integer"},
        identified=pa.table({"name": ["Ann", "Bob"], "age": ["31", "44"]}),
    )  # fmt: skip
    assert answer.document["tables"] == 2
    assert answer["linkage"]["details"]["unique_links"] == 2, "quasi-identifiers are exact"
    assert answer["linkage"]["details"]["disclosed"] == {"pay": 1}
    assert answer["homogeneity"]["learnt"] == 2
    wrong = pa.table({"group": ["1", "2"], "pay": ["100", "500"], "count": ["1", "2"]})
    with pytest.raises(ind.DataError, match="different numbers of rows"):
        ind.attack(qit, second=wrong, qi=["age"], sensitive=["pay"])


def test_file_of_another_program(tmp_path):
    published = tmp_path / "arx.csv"
    published.write_text(
        "age;zip;sex;ill\n[20, 40[;021**;*;flu\n[20, 40[;021**;*;hiv\n>=40;*;f;flu\n*;*;*;cold\n", encoding="utf-8"
    )
    people = tmp_path / "voters.csv"
    people.write_text("name,zip,age,sex\nAnn,02139,44,f\nBob,02138,39,m\nCid,90210,20,m\n", encoding="utf-8")
    answer = ind.attack(published, qi=["age", "zip", "sex"], sensitive=["ill"], identified=people, reveal=True)
    entry = answer["linkage"]
    assert entry["persons"] == 3
    assert entry["details"]["unique_links"] == 1, "Cid fits the starred row only"
    assert entry["worst"][0] == {"table": "identified", "row": 3, "prior": 0.25, "posterior": 1.0}
    assert "Cid" in answer.revealed["linkage"][0]
    text = json.dumps(answer.document)
    assert not any(value in text for value in ("Cid", "flu", "hiv", "02139", "021**"))


def test_answers_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(1)
    shuffled = pa.table({"q": [str(n) for n in rng.integers(0, 9, 60)], "s": [str(n) for n in rng.integers(0, 4, 60)]})

    def figures(given_table):
        entries = ind.attack(given_table, qi=["q"], sensitive=["s"]).document["attacks"]
        return [{key: value for key, value in entry.items() if key != "worst"} for entry in entries]

    assert figures(shuffled) == figures(shuffled.take(rng.permutation(60)))


def test_wrong_use_is_a_sentence():
    released = pa.table({"q": ["1"], "s": ["a"]})
    for how, word in (
        ({"fail_above": 20}, "did you mean 0.2"),
        ({"attacks": ["linkige"]}, "there is no attack"),
        ({"bound": "x"}, "--bound"),
        ({"rule_out": -1}, "0 or more"),
        ({"fail_on": "never"}, "average or worst"),
    ):
        with pytest.raises(ind.PolicyError, match=word):
            ind.attack(released, qi=["q"], sensitive=["s"], **how)
    with pytest.raises(ind.SchemaError, match="none of the quasi-identifiers"):
        ind.attack(released, qi=["z"], sensitive=["s"])
    with pytest.raises(ind.SchemaError, match="identified"):
        ind.attack(released, qi=["q"], sensitive=["s"], identified=pa.table({"name": ["x"]}))


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_survives_degenerate_tables(name):
    for cells in ([("1", "a")], [("*", "a"), ("*", "a")], [(None, None), (None, "b")]):
        released = pa.table({
            "q": pa.array([q for q, _ in cells], pa.string()), "s": pa.array([s for _, s in cells], pa.string()),
        })  # fmt: skip
        known = {"other": released, "bound": "1/2"}
        known = {word: value for word, value in known.items() if word in (*ATTACKS[name].needs, *ATTACKS[name].options)}
        answer = ind.attack(
            released, qi=["q"], sensitive=["s"], identified=pa.table({"q": ["1"]}), original=released, attacks=[name],
            **known,
        )  # fmt: skip
        assert {entry["attack"] for entry in answer.document["attacks"]} == {name}
        json.dumps(answer.document, allow_nan=False)
        assert repr(answer)
