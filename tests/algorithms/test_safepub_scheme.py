"""The levels of SafePub are drawn with the probabilities of the definition, and no neighbour changes them too much."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_safepub as naive
from indistinct.algorithms.exponential_mechanism import exponential_mechanism
from indistinct.algorithms.safepub import safepub
from indistinct.algorithms.safepub_scheme import chosen_levels, class_worths, score
from indistinct.hierarchies import build_hierarchy
from indistinct.models.safepub import least_k, mechanism
from indistinct.session.prepare import prepare
from indistinct.tables.count import silent

pytestmark = pytest.mark.small

PATTERN = 0x9E3779B97F4A7C15  # no simple fraction, so that no boundary is met exactly
X = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]
TREES = [
    [{"a": "a", "b": "b", "c": "c"}, {"a": "ab", "b": "ab", "c": "c"}, dict.fromkeys("abc", "*")],
    [{"f": "f", "m": "m"}, dict.fromkeys("fm", "*")],
]


def words(first, bits=8):
    """Random bits that begin with ``first``; what follows is fixed."""
    given_words = [first << (64 - bits) | PATTERN >> bits]
    return lambda _: given_words.pop() if given_words else PATTERN


def as_number(first, bits=8):
    with localcontext() as context:
        context.prec = 80
        return (Decimal(first) + Decimal(PATTERN) / 2**64) / 2**bits  # what the fixed bits stand for, to 60 bits


EXPONENTS = st.lists(st.fractions(-40, 40, max_denominator=12), min_size=1, max_size=6)


@pytest.mark.slow
@settings(deadline=None)
@given(exponents=EXPONENTS)
def test_draws_by_the_definition(exponents):
    chances = naive.probabilities({place: 4 * e for place, e in enumerate(exponents)}, 1)
    for first in range(256):
        assert exponential_mechanism(exponents, words(first)) == naive.drawn(chances, as_number(first))


def test_draws_more_bits_until_one_candidate_is_certain():
    # 1 / (1 + e) lies between two neighbours of 64 bits; with the bits of the boundary itself more are needed
    with localcontext() as context:
        context.prec = 80
        boundary = int(2**64 / (1 + Decimal(1).exp()))
    for more, expected in ((0, 0), (2**64 - 1, 1)):
        asked = []

        def bits(number, asked=asked, more=more):
            asked.append(number)
            return boundary if len(asked) == 1 else more

        assert exponential_mechanism([Fraction(0), Fraction(1)], bits) == expected
        assert asked == [64, 64]


def test_a_hopeless_candidate_costs_no_precision():
    assert exponential_mechanism([Fraction(-(10**9)), Fraction(0)], words(0)) == 1


def counted(rows):
    table = pa.table({"x": [x for x, _ in rows], "s": [s for _, s in rows]})
    policy = ind.Policy(attributes={"x": {"role": "qi"}, "s": {"role": "qi"}}, privacy=[ind.KAnonymity(2)])

    def bind(name, texts):
        spec = {"kind": "rows", "rows": X} if name == "x" else {"kind": "suppress"}
        return build_hierarchy(name, texts, spec=spec)

    from indistinct.tables.count import count

    return count(prepare(table, policy).source, ["x", "s"], [], bind).frequencies


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("fm")), min_size=1, max_size=14)
EPSILON = Fraction(3, 10)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(rows=ROWS, needed=st.integers(1, 4))
def test_levels_are_drawn_by_the_definition(rows, needed):
    chances = naive.probabilities(naive.scores(rows, TREES, [1, 1], needed), EPSILON)
    frequencies = counted(rows)
    for first in range(0, 256, 15):
        levels = chosen_levels(frequencies, EPSILON, needed, Fraction(1), silent, words(first))
        assert levels == naive.drawn(chances, as_number(first))


@pytest.mark.slow
@settings(deadline=None)
@given(rows=ROWS, needed=st.integers(1, 4))
def test_scores_are_those_of_the_definition(rows, needed):
    frequencies = counted(rows)
    ranges = [range(3), range(2)]
    worths = class_worths(frequencies.tuples, frequencies.tuple_rows, frequencies.quasi, ranges, needed)
    expected = naive.scores(rows, TREES, [1, 1], needed)
    assert {g: score(frequencies.quasi, g, int(worths[g])) for g in expected} == expected
    bounded = class_worths(
        frequencies.tuples, frequencies.tuple_rows, frequencies.quasi, [range(1), range(1, 2)], needed
    )
    assert bounded.tolist() == [[worths[0, 1]]]


@pytest.mark.slow
@settings(deadline=None)
@given(rows=ROWS, row=st.tuples(st.sampled_from("abc"), st.sampled_from("fm")), needed=st.integers(1, 4))
def test_one_row_changes_no_probability_by_more_than_the_budget(rows, row, needed):
    before, after = (naive.scores(own, TREES, [2, 1], needed) for own in (rows, [*rows, row]))
    assert all(0 <= after[g] - before[g] <= 4 for g in before)
    with localcontext() as context:
        context.prec = 60
        most = Decimal("0.3").exp() * (1 + Decimal(10) ** -50)
        old, new = naive.probabilities(before, EPSILON), naive.probabilities(after, EPSILON)
        assert all(1 / most <= new[g] / old[g] <= most for g in old)


def test_worked_example():
    # classes of 5 and 3, or 8 together, h = 4: both score 4
    rows = [("a", "f")] * 5 + [("c", "f")] * 3
    trees = [[{"a": "a", "c": "c"}, dict.fromkeys("ac", "*")]]
    found = naive.scores(rows, trees, [1], 4)
    assert found == {(0,): 4, (1,): 4}


def policy(**changes):
    document = {
        "attributes": {
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [20], "origin": 0}},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        },
        "privacy": [{"model": "safepub", "epsilon": 1, "delta": "1e-5", "search_epsilon": "0.25"}],
        "suppression": {"limit": 1},
        "recoding": {"algorithm": "safepub"},
    }
    return ind.Policy(**{**document, **changes})


TABLE = pa.table({"age": ["20", "20", "30"] * 100, "sex": ["f", "m", "f"] * 100})


def test_the_rest_of_the_budget_decides_on_the_sample():
    whole, rest = mechanism("1", Fraction(1, 4)), mechanism("0.75")
    assert whole == rest
    assert least_k(whole, Fraction(1, 10**5)) == least_k(rest, Fraction(1, 10**5))
    less = mechanism("ln 2", Fraction(1, 10))  # e^(ln 2 - 1/10) = 2 e^-0.1: beta = 1 - e^0.1 / 2
    with localcontext() as context:
        context.prec = 50
        beta = 1 - Decimal("0.1").exp() / 2
        assert 0 <= beta - Decimal(less.beta.numerator) / less.beta.denominator < Decimal(10) ** -39


def test_the_chosen_levels_and_the_budget_are_told(tmp_path):
    release = ind.anonymize(TABLE, policy(), output=tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))
    spent = {"epsilon": "1", "delta": "1/100000", "epsilon_search": "1/4", "epsilon_anonymization": "3/4"}
    assert release.document["budget"] == manifest["budget"] == spent
    assert "levels" not in manifest  # two levels may publish the same labels
    assert manifest["models"][0]["required"]["search_epsilon"] == {"fraction": "1/4", "decimal": 0.25}
    assert not {"rows", "suppressed_rows", "loss"} & set(manifest)
    assert ind.verify_public(tmp_path / "out.csv").satisfied
    assert "spent: epsilon = 1 (1/4 for choosing the levels, 3/4 for the rows), delta = 1/100000" in repr(release)


def test_bounds_of_levels_bound_the_search():
    attributes = policy().plain()["attributes"]
    attributes["age"] |= {"min_level": 1, "max_level": 1}
    attributes["sex"] |= {"max_level": 0}
    asked = policy(attributes=attributes)
    frequencies = prepare(TABLE, asked).counted.frequencies
    assert safepub(frequencies, asked, silent).levels == (1, 0)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("integer", {"kind": "intervals", "widths": [5, 10], "origin": 0}),
        ("integer", {"kind": "intervals", "breaks": [[0, 30, 100], [0, 100]]}),
        ("integer", {"kind": "intervals", "widths": [10], "origin": 0, "top": 40}),
        ("date", {"kind": "dates", "levels": ["month", "year"]}),
        ("text", {"kind": "suppress"}),
        ("text", {"kind": "rows", "rows": [("20", "few", "*"), ("55", "many", "*"), ("2024-01-02", "new", "*")]}),
    ],
)
def test_levels_do_not_depend_on_other_rows(kind, spec):
    value, other = ("2024-01-02", "1999-12-31") if kind == "date" else ("20", "55")
    small, large = (build_hierarchy("x", texts, spec=spec, type=kind) for texts in ([value], [other, value, None]))
    assert small.height == large.height

    def labels(hierarchy):
        code = hierarchy.codes()[value]
        return [hierarchy.node_label(number, int(own.node_of[code])) for number, own in enumerate(hierarchy.levels)]

    assert labels(small) == labels(large)


def test_what_cannot_be_searched_is_refused():
    masked = {"age": {"role": "qi", "hierarchy": {"kind": "masking"}}, "sex": {"role": "qi"}}
    with pytest.raises(ind.PolicyError, match="longest value"):
        ind.anonymize(TABLE, policy(attributes=masked))
    many = {f"c{n}": {"role": "qi", "hierarchy": {"kind": "suppress"}} for n in range(17)}
    table = pa.table({name: ["a", "b"] * 50 for name in many})
    with pytest.raises(ind.PolicyError, match="131072 combinations of levels"):
        ind.anonymize(table, policy(attributes=many))


BASE = {"model": "safepub", "epsilon": 1, "delta": "1e-5"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "either levels"),
        ({"levels": {"age": 0, "sex": 0}, "search_epsilon": "0.1"}, "either levels"),
        ({"search_epsilon": 1}, "must be less than epsilon, which is 1"),
        ({"search_epsilon": 0}, "search_epsilon"),
        ({"epsilon": "ln 2", "search_epsilon": "0.7"}, "must be less than epsilon, which is ln 2"),
    ],
)
def test_one_scheme_within_the_budget(changes, message):
    with pytest.raises(ind.PolicyError, match=message):
        policy(privacy=[{**BASE, **changes}])
    assert ind.Safepub("ln 2", "1e-5", search_epsilon="0.69").search_epsilon == Fraction(69, 100)
