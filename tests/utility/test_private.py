"""Private answers: sensitivities against all neighbours, noise against its definition, refusals, what may leave.

Tests of the noise fail by chance with probability below 1e-9 each: they compare counts of independent draws with
quantiles of their exact binomial distribution.
"""

import re
import sys
from fractions import Fraction
from math import exp, isclose
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import indistinct as ind
import naive_private as naive
from indistinct.utility.private import STEPS, noisy_counts, noisy_sum

RELATIONS = ("replace", "add_remove")
CHANCE = 1e-11  # of a false alarm, for each of at most 100 comparisons of a test
AGES = [20, 21, 25, 34, 38, 39, 41, 47, 55, 58]
TABLE = pa.table({"age": [str(age) for age in AGES], "ward": list("AABBABBBAA"), "ill": list("xyzxyzxyzx")})
LABELS = {2: "[20, 30)", 3: "[30, 40)", 4: "[40, 50)", 5: "[50, 60)"}
PUBLISHED = TABLE.set_column(0, "age", pa.array([LABELS[age // 10] for age in AGES]))


def policy(**more):
    attributes = {
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "ward": {"role": "qi"},
        "ill": {"role": "sensitive"},
    }
    attributes["age"] |= more
    return ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)])


def ask(*queries, own=None, table=TABLE, published=PUBLISHED, **how):
    return ind.private(table, published, own or policy(), list(queries), **how).document


# --- what OpenDP derives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_sensitivities_are_those_of_all_neighbours(relation):
    half = Fraction(1)
    found = noisy_sum(np.array([0, 1, 1]), 0, 1, relation, epsilon=half)
    assert found.sensitivity == naive.sensitivity(lambda v: [sum(v)], (0, 1), 3, relation)
    found = noisy_sum(np.array([-2, 1, 2]), -2, 2, relation, epsilon=half)
    assert found.sensitivity == naive.sensitivity(lambda v: [sum(v)], range(-2, 3), 3, relation)
    found = noisy_counts(np.array([0, 1, 2]), 2, relation, epsilon=half)
    assert len(found.values) == 3  # the last counts what is in no part
    parts = naive.sensitivity(lambda v: [v.count(part) for part in range(3)], range(3), 3, relation)
    assert found.sensitivity == parts == (2 if relation == "replace" else 1)


def test_the_mean_moves_by_the_width_of_the_bounds_over_n():
    (entry,) = ask(ind.PrivateMean("age", epsilon="0.5"), bounds={"age": (0, 100)})["answers"]
    assert entry["sensitivity"] == 10  # 100 / 10 rows
    assert isclose(entry["scale"], 20, rel_tol=1e-9)
    small = naive.sensitivity(lambda v: [Fraction(sum(v), 3)], (0, 7, 100), 3, "replace")
    assert small == Fraction(100, 3)


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "0.7", "2"])
def test_never_more_is_spent_than_allowed(epsilon):
    wanted = Fraction(epsilon)
    found = noisy_counts(np.arange(3), 2, "add_remove", epsilon=wanted)
    assert 1 <= Fraction(found.scale) * wanted <= 1 + Fraction(1, 10**12)
    assert found.epsilon == wanted


@pytest.mark.parametrize("relation", RELATIONS)
def test_epsilon_is_solved_from_a_wanted_accuracy(relation):
    found = noisy_counts(np.arange(3), 2, relation, accuracy=Fraction(7))
    assert naive.tail(7, found.scale) <= 0.05 * (1 + 1e-9)
    assert naive.tail(7, found.scale * 1.01) > 0.05
    assert isclose(float(found.epsilon), found.sensitivity / found.scale, rel_tol=1e-9)
    assert found.accuracy == 7


def test_accuracy_of_a_mean_is_in_its_unit():
    (entry,) = ask(ind.PrivateMean("age", accuracy=2), bounds={"age": (0, 100)})["answers"]
    assert isclose(entry["accuracy"]["error"], 2, rel_tol=1e-6)
    assert isclose(entry["epsilon"], 10 * np.log(20) / 2, rel_tol=1e-4)


# --- the noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("relation", "epsilon"), [("add_remove", "0.5"), ("replace", "0.5"), ("add_remove", "2")])
def test_noise_has_the_distribution_it_should_have(relation, epsilon):
    draws = 4000
    found = noisy_counts(np.zeros(0, np.int64), draws - 1, relation, epsilon=Fraction(epsilon))
    scale = found.sensitivity / float(Fraction(epsilon))
    for number in range(1, 30):
        share = naive.tail(number, scale)
        low, high = binom.ppf([CHANCE, 1 - CHANCE], draws, share)
        assert low <= int((np.abs(found.values) >= number).sum()) <= high, number
        low, high = binom.ppf([CHANCE, 1 - CHANCE], draws, share / 2)
        assert low <= int((found.values >= number).sum()) <= high, number


def test_noise_keeps_the_promise():
    """No outcome is more than e^epsilon times as likely for a neighbour: by the mass that the draws were held to."""
    scale = noisy_counts(np.arange(3), 2, "add_remove", epsilon=Fraction(1, 2)).scale
    for number in range(-40, 40):
        ratio = naive.mass(number, scale) / naive.mass(number - 1, scale)
        assert exp(-0.5) * (1 - 1e-12) <= ratio <= exp(0.5) * (1 + 1e-12)


@pytest.mark.slow
def test_the_mean_of_many_answers_is_the_mean_and_its_noise_has_its_scale():
    values = np.full(50, STEPS // 4)
    draws = 300
    scale = STEPS / 2  # sensitivity over epsilon
    noise = (
        np.array(
            [
                int(noisy_sum(values, -STEPS // 2, STEPS // 2, "replace", epsilon=Fraction(2)).values[0])
                for _ in range(draws)
            ]
        )
        - values.sum()
    )
    for times in (0.1, 0.5, 1, 2, 3):
        low, high = binom.ppf([CHANCE, 1 - CHANCE], draws, exp(-times))
        assert low <= int((np.abs(noise) > times * scale).sum()) <= high
    low, high = binom.ppf([CHANCE, 1 - CHANCE], draws, 0.5)
    assert low <= int((noise > 0).sum()) <= high


def test_two_answers_differ():
    drawn = [noisy_counts(np.zeros(0, np.int64), 99, "replace", epsilon=Fraction(1)).values.tolist() for _ in range(2)]
    assert drawn[0] != drawn[1]  # 100 equal draws: less than 1e-50


# --- answers side by side --------------------------------------------------------------------------------
# With epsilon 100 a count is noised with probability 2 e^-100 at most, and a histogram with 14 e^-50.


@pytest.mark.parametrize("rows", ["public", "private"])
def test_answers_from_the_release_are_those_of_a_reader(rows):
    cells = [(age // 10 * 10, age // 10 * 10 + 9) for age in AGES]
    mean, count, both = ask(
        ind.PrivateMean("age"), ind.PrivateCount({"age": (25, 38)}), ind.PrivateCount({"age": (20, 29), "ward": ["A"]}),
        epsilon=3, bounds={"age": (0, 100)}, rows=rows,
    )["answers"]  # fmt: skip
    assert isclose(mean["original"], sum(AGES) / 10)
    assert isclose(mean["release"]["value"], naive.midpoint_mean(cells))
    assert isclose(mean["release"]["error"], abs(sum(AGES) / 10 - naive.midpoint_mean(cells)))
    assert isclose(mean["private"]["error"], abs(mean["private"]["value"] - sum(AGES) / 10))
    assert count["original"] == 3
    assert isclose(count["release"]["value"], naive.spread_count(cells, (25, 38)))
    assert (both["original"], both["release"]["value"]) == (2, 2.0)


@pytest.mark.parametrize("rows", ["public", "private"])
def test_without_noise_to_speak_of_private_answers_are_exact(rows):
    many = {"epsilon": 100}
    count, ward, age = ask(
        ind.PrivateCount({"age": (25, 39), "ward": "B"}, **many), ind.PrivateHistogram("ward", **many),
        ind.PrivateHistogram("age", **many), bounds={"ward": ["A", "C"], "age": (30, 53)}, rows=rows,
    )["answers"]  # fmt: skip
    assert count["private"] == {"value": 3, "error": 0.0}
    assert ward["values"] == ["A", "C", "(other or missing)"]
    assert ward["private"]["value"] == ward["original"] == [5, 0, 5]
    assert ward["release"]["value"] == [5.0, 0.0, 5.0]
    assert age["values"][0] == "30 \N{EN DASH} 31"
    assert len(age["values"]) == 13
    # outside values are moved to the bounds
    assert age["private"]["value"] == age["original"] == [3, 0, 1, 0, 2, 1, 0, 0, 1, 0, 0, 2, 0]


@pytest.mark.parametrize("rows", ["public", "private"])
def test_the_mean_moves_values_to_the_bounds(rows):
    (entry,) = ask(ind.PrivateMean("age", epsilon=100), bounds={"age": (30, 40)}, rows=rows)["answers"]
    clamped = sum(min(max(age, 30), 40) for age in AGES) / 10
    # scale of the mean 0.01, of the sum under add_remove 0.1 over ten rows; 40 scales: e^-40
    assert abs(entry["private"]["value"] - clamped) < 0.4 + 1e-6
    assert isclose(entry["original"], sum(AGES) / 10)


def test_missing_values_count_as_the_middle_where_the_number_of_rows_is_public():
    table = TABLE.set_column(0, "age", pa.array([None] * 5 + ["10"] * 5, pa.string()))
    how = {"table": table, "published": table, "bounds": {"age": (0, 100)}}
    (public,) = ask(ind.PrivateMean("age", epsilon=100), **how)["answers"]
    (hidden,) = ask(ind.PrivateMean("age", epsilon=100), rows="private", **how)["answers"]
    assert abs(public["private"]["value"] - 30) < 4.1
    assert abs(hidden["private"]["value"] - 10) < 0.1 * 50 * 40 / 5 / 10 + 1
    assert public["original"] == hidden["original"] == 10


def test_all_declared_columns_share_the_whole():
    found = ind.private(TABLE, PUBLISHED, policy(domain=[0, 120]), epsilon=1, bounds={"ill": ["x", "y", "z"]})
    entries = found.document["answers"]
    assert [entry["query"] for entry in entries] == ["mean of age", "histogram of age", "histogram of ill"]
    assert isclose(sum(entry["epsilon"] for entry in entries), 1)
    assert isclose(found.document["epsilon"], 1)
    assert "e^1 = 2.718" in repr(found)
    assert "Exact answers and errors are for you alone" in repr(found)


def test_values_of_hierarchies_and_orders_are_declared(tmp_path):
    (tmp_path / "ward.csv").write_text("A;*\nB;*\nC;*\n", encoding="utf-8")
    own = ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [10]}},
            "ward": {"role": "qi", "hierarchy": {"file": str(tmp_path / "ward.csv")}},
            "ill": {"role": "sensitive", "type": "ordinal", "order": ["w", "x", "y", "z"]},
        },
        privacy=[ind.KAnonymity(2)],
    )
    queries = [ind.PrivateHistogram("ward"), ind.PrivateHistogram("ill"), ind.PrivateCount({"ill": ("w", "x")})]
    ward, ill, count = ask(*queries, own=own, epsilon=300)["answers"]
    assert ward["values"][:-1] == ["A", "B", "C"]
    assert ward["private"]["value"] == [5, 5, 0, 0]
    assert ill["values"][:-1] == ["w", "x", "y", "z"]
    assert ill["private"]["value"] == [0, 4, 3, 3, 0]
    assert ill["release"]["value"] == [0.0, 4.0, 3.0, 3.0, 0.0]
    assert count["private"]["value"] == 4


def test_dates_have_bounds_and_no_mean():
    days = ["2024-01-05", "2024-01-20", "2024-03-01", "2024-12-31"]
    table = pa.table({"day": days})
    own = ind.Policy(attributes={"day": {"role": "qi", "type": "date"}}, privacy=[ind.KAnonymity(1)])
    how = {"own": own, "table": table, "published": table, "bounds": {"day": ("2024-01-01", "2024-12-31")}}
    count, parts = ask(
        ind.PrivateCount({"day": ("2024-01-01", "2024-01-31")}), ind.PrivateHistogram("day"), epsilon=200, **how
    )["answers"]
    assert count["private"]["value"] == count["release"]["value"] == 2
    assert parts["private"]["value"] == [2, 1, *[0] * 9, 1, 0]
    assert parts["values"][0] == "2024-01-01 \N{EN DASH} 2024-01-31"
    with pytest.raises(ind.PolicyError, match="no column of numbers"):
        ask(ind.PrivateMean("day", epsilon=1), **how)


def test_only_private_values_are_publishable():
    found = ind.private(TABLE, PUBLISHED, policy(domain=[0, 120]), epsilon=1, bounds={"ill": ["x", "y", "z"]})
    text = repr(found.publishable)
    for word in ("original", "release", "error': 0", "sensitivity", "warnings"):
        assert word not in text
    assert [one["value"] for one in found.publishable["answers"]] == [
        one["private"]["value"] for one in found.document["answers"]
    ]
    hidden = ind.private(TABLE, PUBLISHED, policy(domain=[0, 120]), epsilon=1, rows="private").publishable
    mean = hidden["answers"][0]
    assert mean["kind"] == "mean"
    assert mean["accuracy"] is mean["scale"] is None  # both would tell the number of rows, or nearly


# --- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [ind.PrivateMean("age", epsilon=1), ind.PrivateHistogram("age", epsilon=1)])
def test_bounds_must_be_declared(query):
    with pytest.raises(ind.PolicyError, match="must be declared"):
        ask(query)
    assert ask(query, own=policy(domain=[0, 120]))["epsilon"] == 1


def test_values_must_be_declared():
    with pytest.raises(ind.PolicyError, match='possible values of "ill" must be declared'):
        ask(ind.PrivateHistogram("ill", epsilon=1))
    with pytest.raises(ind.PolicyError, match="nothing to ask"):
        ind.private(TABLE, PUBLISHED, policy(), epsilon=1)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"age": (50, 50)}, "must lie below"), ({"age": (60, 50)}, "must lie below"), ({"age": (1, 2, 3)}, "are two"),
        ({"age": ("a", "b")}, "must be a number"), ({"age": "12"}, "a list of values"), ({"ill": []}, "a list"),
    ],
)  # fmt: skip
def test_bounds_that_are_none_are_refused(bounds, message):
    with pytest.raises(ind.PolicyError, match=message):
        ask(ind.PrivateCount({"ward": "A"}, epsilon=1), bounds=bounds)


@pytest.mark.parametrize("epsilon", [0, -1, "0", float("inf"), float("nan"), "much", True])
def test_epsilon_must_be_above_0(epsilon):
    with pytest.raises(ind.PolicyError, match="epsilon must be"):
        ind.PrivateCount({"ward": "A"}, epsilon=epsilon)
    with pytest.raises(ind.PolicyError, match="epsilon must be"):
        ask(ind.PrivateCount({"ward": "A"}), epsilon=epsilon)


def test_budgets_are_one_or_the_other():
    with pytest.raises(ind.PolicyError, match="not both"):
        ind.PrivateCount({"ward": "A"}, epsilon=1, accuracy=1)
    with pytest.raises(ind.PolicyError, match="needs epsilon"):
        ask(ind.PrivateCount({"ward": "A"}))
    with pytest.raises(ind.PolicyError, match="no epsilon to share"):
        ask(ind.PrivateCount({"ward": "A"}, epsilon=1), epsilon=1)
    for epsilon, message in (("1e-7", "noise alone"), (101, "not private"), ("1e400", "not private")):
        with pytest.raises(ind.PolicyError, match=message):
            ask(ind.PrivateCount({"ward": "A"}, epsilon=epsilon))
    for accuracy, message in (("1e400", "noise alone"), ("1e-400", "not private")):
        with pytest.raises(ind.PolicyError, match=message):
            ask(ind.PrivateMean("age", accuracy=accuracy), bounds={"age": (0, 100)})
    with pytest.raises(ind.PolicyError, match="number of rows, which is not public"):
        ask(ind.PrivateMean("age", accuracy=1), bounds={"age": (0, 100)}, rows="private")


def test_columns_and_conditions_must_make_sense():
    with pytest.raises(ind.SchemaError, match="did you mean"):
        ask(ind.PrivateMean("agee", epsilon=1))
    with pytest.raises(ind.SchemaError, match="no column"):
        ask(ind.PrivateCount({"ward": "A"}, epsilon=1), bounds={"x": (1, 2)})
    with pytest.raises(ind.PolicyError, match="no column of numbers"):
        ask(ind.PrivateMean("ward", epsilon=1), bounds={"ward": ["A"]})
    with pytest.raises(ind.PolicyError, match="needs a condition"):
        ask(ind.PrivateCount({}, epsilon=1))
    with pytest.raises(ind.PolicyError, match="one value or"):
        ask(ind.PrivateCount({"age": [1, 2]}, epsilon=1))
    with pytest.raises(ind.PolicyError, match="rows is"):
        ask(ind.PrivateCount({"ward": "A"}, epsilon=1), rows="maybe")


def test_a_value_that_does_not_occur_is_counted_like_any_other():
    (entry,) = ask(ind.PrivateCount({"ward": "Q"}, epsilon=100))["answers"]
    assert entry["private"] == {"value": 0, "error": 0.0}


def test_rows_of_persons_are_said_to_be_rows():
    table = TABLE.append_column("who", pa.array(list("aabbccddee")))
    own = ind.Policy(
        attributes={"age": {"role": "qi", "type": "integer", "domain": [0, 100]}, "ward": {"role": "qi"},
                    "ill": {"role": "sensitive"}, "who": {"role": "identifying"}},
        privacy=[ind.KAnonymity(1)], person={"key": "who"},
    )  # fmt: skip
    document = ask(ind.PrivateMean("age", epsilon=1), own=own, table=table)
    assert any("times that epsilon" in warning["message"] for warning in document["warnings"])


def test_without_opendp_the_answer_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ind.UnsupportedError, match=r"indistinct\[dp\]"):
        ask(ind.PrivateCount({"ward": "A"}, epsilon=1))


# --- the page --------------------------------------------------------------------------------------------


def test_the_page_does_what_it_says(capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "differential-privacy.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(compile(example, "differential-privacy.md", "exec"), names)  # noqa: S102  # the page is ours
    mean, count, parts = names["answers"].document["answers"]
    assert (mean["sensitivity"], mean["scale"], round(mean["accuracy"]["error"])) == (500, 1000, 2996)
    assert count["accuracy"]["error"] == 10
    assert parts["sensitivity"] == 2
    said = capsys.readouterr().out
    for entry in (mean, count, parts):
        assert f"{entry['query']}: exactly" in said
        assert entry["release"]["error"] < 1000  # published ranges are at most 50000 wide
