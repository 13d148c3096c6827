"""Golden checks of the attacks; ``test_golden`` runs them."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa

import indistinct as ind
import naive_attacks as naive
from golden_check import check_in
from indistinct.attacks.background import top_after_ruling_out
from indistinct.attacks.minimality import posteriors, ways

CHECKS = {}
check = check_in(CHECKS)


def fraction(expected):
    return Fraction(expected["fraction"])


def table(columns, rows):
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(columns)})


@check("attack.linkage")
def linkage(given, parameters, expected, _):
    identified = table(given["identified_columns"], given["identified"])
    released = table(given["released_columns"], given["released"])
    sensitive = parameters["sensitive"]
    answer = ind.attack(
        released, qi=given["join_on"], sensitive=[sensitive], identified=identified, attacks=["linkage"], reveal=True
    )
    entry = answer["linkage"]
    matched = [person for person in expected["persons"] if person["matches"]]
    assert entry["persons"] == len(matched)
    assert entry["details"]["unique_links"] == len(expected["uniquely_linked"])
    assert entry["details"]["disclosed"] == {sensitive: len(expected["homogeneous"])}
    names = [row[0] for row in given["identified"]]
    assert {names[case["row"] - 1] for case in entry["worst"]} == set(expected["homogeneous"])
    for person in matched:
        shown = [line for line in answer.revealed["linkage"] if f"name = {person['name']}" in line]
        assert f"{person['matches']} candidate rows" in shown[0]

    people = [dict(zip(given["identified_columns"], row, strict=True)) for row in given["identified"]]
    rows = [dict(zip(given["released_columns"], row, strict=True)) for row in given["released"]]
    for person, wanted in zip(people, expected["persons"], strict=True):
        found = naive.candidates(person, rows, given["join_on"])
        assert [row[sensitive] for row in found] == wanted["values"]


@check("attack.background")
def background(given, _parameters, expected, _):
    for counts, wanted in zip(given["counts"], expected["classes"], strict=True):
        for out, belief in wanted["posterior_of_top_after_ruling_out"].items():
            assert top_after_ruling_out(counts, int(out)) == fraction(belief)
            assert naive.top_after(counts, int(out)) == fraction(belief)
    rows = [
        (str(number), f"v{value}")
        for number, counts in enumerate(given["counts"])
        for value, count in enumerate(counts)
        for _ in range(count)
    ]
    answer = ind.attack(table(["q", "s"], rows), qi=["q"], sensitive=["s"])
    worst = answer["background"]["details"]["worst_top"]
    for out in ("0", "1"):
        beliefs = [c["posterior_of_top_after_ruling_out"].get(out) for c in expected["classes"]]
        assert fraction(worst[out]) == max(fraction(belief) for belief in beliefs if belief)
    assert answer["homogeneity"]["learnt"] == sum(given["counts"][-1])


@check("attack.proximity")
def proximity(given, parameters, expected, _):
    released = pa.table({"q": ["x"] * len(given["group"]), "s": given["group"]})
    answer = ind.attack(
        released, qi=["q"], sensitive=["s"], types={"s": "integer"}, widths={"s": parameters["width"]},
        attacks=["proximity"], reveal=True,
    )  # fmt: skip
    assert fraction(answer["proximity"]["details"]["largest_share"]) == fraction(expected["confidence"])
    assert answer["proximity"]["posterior"] == expected["confidence"]["decimal"]

    share, low, high = naive.fullest_window([int(value) for value in given["group"]], int(parameters["width"]))
    assert share == fraction(expected["confidence"])
    assert [str(low), str(high)] == expected["best_window"]


@check("attack.difference")
def difference(given, _parameters, expected, _):
    for group, wanted in expected.items():
        first, second = given["release_1"][group], given["release_2"][group]
        tables = [pa.table({"g": [group] * len(values), "s": values}) for values in (first, second)]
        entry = ind.attack(tables[1], qi=["g"], sensitive=["s"], other=tables[0])["differencing"]
        assert (entry["learnt"] > 0) is wanted["disclosed"]
        assert entry["details"]["left_over_rows"] == len(given["newcomers"][group])
        assert naive.difference(first, second) == (wanted["added"], wanted["removed"])


@check("attack.minimality")
def minimality(given, parameters, expected, _):
    sizes, rows, bound = [given["size_1"], given["size_2"]], given["sensitive_total"], Fraction(1, parameters["l"])
    cases = [
        {"in_group_1": a, "in_group_2": b, "would_be_generalised": beyond, "weight": weight}
        for (a, b), weight, beyond in ways(sizes, rows, bound)
    ]
    assert cases == expected["cases"]
    assert posteriors(sizes, rows, bound)[0] == fraction(expected["posterior_group_1"])
    assert naive.minimality(sizes, rows, bound) == posteriors(sizes, rows, bound)

    ills = ["hiv"] * rows + ["flu", "cold", "cough", "ache"][: sum(sizes) - rows]
    original = pa.table({"age": ["1"] * sizes[0] + ["2"] * sizes[1]})
    released = pa.table({"age": ["[1, 2]"] * sum(sizes), "ill": ills})
    entry = ind.attack(
        released, qi=["age"], sensitive=["ill"], types={"age": "integer"}, identified=original, bound=str(bound),
    )["minimality"]  # fmt: skip
    assert entry["worst"][0]["prior"] == round(float(fraction(expected["claimed"])), 12)
    assert entry["worst"][0]["posterior"] == float(fraction(expected["posterior_group_1"]))
    assert Counter(ills)["hiv"] == rows
