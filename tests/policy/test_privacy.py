"""Parameters of the privacy models: what is read exactly, and what is refused at once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from indistinct.errors import PolicyError
from indistinct.policy import (
    AlphaK,
    DistinctL,
    EntropyL,
    JointL,
    KAnonymity,
    PSensitiveK,
    RecursiveCL,
    TCloseness,
)
from indistinct.policy.parameters import exact, plain, whole
from indistinct.policy.privacy import MODEL_CLASSES, MODEL_NAMES

CONTRACT_MODELS = (
    "k_anonymity k_map alpha_k p_sensitive_k distinct_l entropy_l recursive_cl joint_l t_closeness "
    "n_t_closeness beta_likeness delta_disclosure delta_presence ke_anonymity eps_m_anonymity graded_l "
    "eps_i_k_anonymity "
    "km_anonymity pd_recursive npd_recursive m_invariance average_risk sample_uniqueness "
    "population_uniqueness profitability safepub "
    "tiered"  # added to those of the contract
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (0.3, Fraction(3, 10)),
        ("0.2", Fraction(1, 5)),
        ("1/6", Fraction(1, 6)),
        (" 1/6 ", Fraction(1, 6)),
        (Decimal("0.20"), Fraction(1, 5)),
        (Decimal("1e-3"), Fraction(1, 1000)),
        (Fraction(2, 3), Fraction(2, 3)),
        (5, Fraction(5)),
    ],
)
def test_numbers_are_read_exactly(value, expected):
    assert exact(value) == expected


@pytest.mark.parametrize(
    "value",
    [True, None, "two", "", "nan", "1/0", float("nan"), float("inf"), Decimal("-inf"), [1], "1e999999999",
     Decimal("1e-999999999"), "9" * 5000],
)  # fmt: skip
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="must be a"):
        exact(value)


@pytest.mark.parametrize("value", [2.5, "2", "two", True, None, Decimal("0.1"), float("nan"), Decimal("1e999999999")])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ValueError, match="must be a whole number"):
        whole(value)


def test_whole_numbers_may_have_a_point():
    assert whole(Decimal("3.0")) == whole(3.0) == 3


@pytest.mark.parametrize(
    "value",
    [Fraction(5), Fraction(1, 5), Fraction(1, 6), Fraction(-1, 3), Fraction(10**320, 3), Fraction(1, 10**5)],
)
def test_written_numbers_read_back_the_same(value):
    assert exact(plain(value)) == value


def test_every_model_of_the_contract_is_built():
    assert sorted(MODEL_NAMES) == sorted(CONTRACT_MODELS.split())


# valid ranges from the definitions: k, l, p whole >= 1; entropy l >= 1; c > 0; 0 <= t <= 1; 0 < alpha <= 1
@pytest.mark.parametrize(
    ("make", "place", "valid"),
    [
        *[(lambda k=k: KAnonymity(k), "k", "a whole number, k >= 1") for k in (0, -1, 2.5, "two")],
        *[(lambda v=v: DistinctL("s", v), "l", "a whole number, l >= 1") for v in (0, "x", 1.5)],
        *[(lambda v=v: EntropyL("s", v), "l", "l >= 1") for v in (0, "x", 0.5)],
        *[(lambda c=c: RecursiveCL("s", c, 2), "c", "a number, c > 0") for c in (0, -2)],
        *[(lambda t=t: TCloseness("s", t, "equal"), "t", "0 <= t <= 1") for t in (-0.1, 1.5, "nan")],
        *[(lambda a=a: AlphaK("s", a, 2), "alpha", "0 < alpha <= 1") for a in (0, 1.01, "nan", None)],
        (lambda: PSensitiveK("s", p=4, k=3), "p", "1 <= p <= k"),
        (lambda: TCloseness("s", 0.2, "cosine"), "distance", '"ordered", "equal", "hierarchical"'),
        (lambda: JointL(["a"], "distinct_l", 2), "attributes", "a list of texts"),
        (lambda: JointL(["a", "a"], "distinct_l", 2), "attributes", "each once"),
        (lambda: JointL(["a", "b"], "distinct_l", 2.5), "l", "a whole number, l >= 1"),
        (lambda: JointL(["a", "b"], "recursive_cl", 2), "c", "c > 0"),
        (lambda: JointL(["a", "b"], "entropy_l", 2, 3), "c", "leave it out"),
        (lambda: JointL(["a", "b"], "recursive_cl", 2, 0), "c", "c > 0"),
    ],
)
def test_out_of_range_is_refused_with_place_and_range(make, place, valid):
    with pytest.raises(PolicyError) as caught:
        make()
    assert caught.value.where == {"key": place}
    assert place in caught.value.message
    assert valid in caught.value.message
    assert "\n" not in caught.value.message


def test_values_at_the_ends_of_the_ranges_are_valid():
    assert TCloseness("s", 0, "equal").t == 0
    assert TCloseness("s", 1, "equal").is_void
    assert AlphaK("s", 1, 1).is_void
    assert PSensitiveK("s", 3, 3).p == 3
    assert JointL(["a", "b"], "entropy_l", "2.5").l == Fraction(5, 2)


@pytest.mark.parametrize(
    ("model", "void"),
    [
        (KAnonymity(1), True),
        (KAnonymity(2), False),
        (DistinctL("s", 1), True),
        (EntropyL("s", "1.1"), False),
        (RecursiveCL("s", 1, 1), False),  # one value in all rows: r1 = n is not below 1 * n
        (RecursiveCL("s", 2, 1), True),
        (AlphaK("s", 1, 2), False),
        (TCloseness("s", 0.5, "equal"), False),
    ],
)
def test_what_every_table_satisfies_is_void(model, void):
    assert model.is_void is void


def test_unknown_keys_are_refused_with_the_nearest():
    with pytest.raises(PolicyError, match='did you mean "distance"'):
        TCloseness("s", 0.2, "equal", distnace="equal")


def test_positional_arguments_follow_the_contract():
    assert TCloseness("disease", "0.2", distance="equal") == TCloseness(attribute="disease", t=0.2, distance="equal")
    with pytest.raises(TypeError, match="at most 1"):
        KAnonymity(5, 6)
    with pytest.raises(TypeError, match="twice"):
        KAnonymity(5, k=5)


def test_models_are_frozen_and_equal_by_value():
    assert KAnonymity(5) == KAnonymity(5.0)
    assert len({KAnonymity(5), KAnonymity(5), KAnonymity(6)}) == 2


def test_every_model_states_its_attributes():
    for kind in MODEL_CLASSES:
        assert isinstance(kind.__doc__, str)
    assert KAnonymity(2).attributes_used == ()
    assert DistinctL("s", 2).attributes_used == ("s",)
    assert JointL(["a", "b"], "distinct_l", 2).attributes_used == ("a", "b")
