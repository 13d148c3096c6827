"""What models declare about unions of classes decides which shortcuts searches take; here it meets the definitions."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from indistinct.models import evaluate, is_absorbing, is_merge_closed
from indistinct.models.registry import MODELS
from indistinct.policy.privacy import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctL,
    EntropyL,
    JointL,
    KAnonymity,
    PSensitiveK,
    RecursiveCL,
    TCloseness,
)

# M1 merge-closed, M2 absorbing, as the specification of the models gives them. Models that are judged on a whole
# release, or on a sequence of them, say nothing about single classes, but for delta-presence, which has a proof
SPECIFIED = {
    "k_anonymity": (True, True),
    "alpha_k": (True, False),
    "k_map": (True, True),
    "delta_presence": (True, False),
    "distinct_l": (True, True),
    "recursive_cl": (True, False),
    "pd_recursive": (True, False),
    "npd_recursive": (True, False),
    "joint_l": (True, False),
    "p_sensitive_k": (True, True),
    "graded_l": (True, True),
    "t_closeness": (True, False),
    "n_t_closeness": (False, False),
    "beta_likeness": (True, False),
    "ke_anonymity": (True, True),
    "eps_m_anonymity": (False, False),
    "eps_i_k_anonymity": (False, False),
    "average_risk": (False, False),
    "sample_uniqueness": (False, False),
    "population_uniqueness": (False, False),
    "profitability": (False, False),
    "km_anonymity": (False, False),
    "m_invariance": (False, False),
}


def test_the_closure_of_every_model_is_looked_at():
    left = {"tiered", "safepub"}  # it closes as the model that it holds; it draws a sample
    assert MODELS.keys() - left == SPECIFIED.keys() | {model.model for model in CLASSES}


@pytest.mark.parametrize("name", SPECIFIED)
def test_declared_closure_is_that_of_the_specification(name):
    model = MODELS[name]
    if model.closure is None:
        assert (model.merge_closed, model.absorbing) == SPECIFIED[name]
    else:  # it depends on the parameters: without them nothing may be inferred
        assert (model.merge_closed, model.absorbing) in {(False, False), SPECIFIED[name]}


CLASSES = [
    KAnonymity(3),
    AlphaK("s", "1/2", k=2),
    DistinctL("s", 2),
    PSensitiveK("s", k=3, p=2),
    EntropyL("s", 2),
    EntropyL("s", 2, estimator="grassberger"),
    RecursiveCL("s", 2, 2),
    RecursiveCL("s", 3, 3),
    TCloseness("s", "1/4", "equal"),
    TCloseness("s", "1/4", "ordered"),
    BetaLikeness("s", "1/2"),
    BetaLikeness("s", 1, kind="enhanced"),
    DeltaDisclosure("s", 1, base=2),
    DeltaDisclosure("s", 1, base=2, absent="lenient"),
]
SMALL = [histogram for histogram in product(range(4), repeat=3) if sum(histogram)]


@pytest.mark.parametrize("model", CLASSES, ids=str)
def test_unions_of_all_small_classes(tables, model):
    """Every pair is tried: what is declared never fails, and what is not declared fails for some pair."""
    pairs = [(a, b) for a in SMALL for b in SMALL]
    unions = [tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in pairs]
    single, context = tables.of_counts(*SMALL)  # with even shares as the reference of all
    holds = dict(zip(SMALL, evaluate(model, single, context).satisfied.tolist(), strict=True))
    merged, _ = tables.of_counts(*dict.fromkeys(unions))
    found = dict(zip(dict.fromkeys(unions), evaluate(model, merged, context).satisfied.tolist(), strict=True))
    both = [found[union] for (a, b), union in zip(pairs, unions, strict=True) if holds[a] and holds[b]]
    one = [found[union] for (a, _), union in zip(pairs, unions, strict=True) if holds[a]]
    assert both
    assert all(both) or not is_merge_closed(model)
    assert all(one) == is_absorbing(model)


def test_lenient_disclosure_is_not_merge_closed(tables):
    # 7 u; 1 s + 2 u; q_s = 1/4: both hold for delta = 1, in the union s is 1/10 and |log2(0.4)| = 1.32
    model = DeltaDisclosure("s", 1, base=2, absent="lenient")
    apart, context = tables.of_counts((0, 7), (1, 2))
    quarter = replace(context.references["s"], counts=np.array([1, 3]), total=4)
    context = replace(context, references={"s": quarter})
    assert evaluate(model, apart, context).satisfied.tolist() == [True, True]
    union, _ = tables.of_counts((1, 9))
    assert evaluate(model, union, context).satisfied.tolist() == [False]
    assert not is_merge_closed(model)


def test_joint_diversity_is_not_absorbing(tables):
    """{(a,x), (a,y), (b,x), (b,y)} is 2-diverse jointly; with (a,z) the value z occurs beside a alone."""
    model = JointL(attributes=["s", "r"], kind="distinct_l", l=2)
    first, second = "aabb", "xyxy"
    classes, context = tables.judged("AAAA", {"s": first, "r": second})
    assert evaluate(model, classes, context).satisfied.tolist() == [True]
    classes, context = tables.judged("AAAAA", {"s": first + "a", "r": second + "z"})
    assert evaluate(model, classes, context).satisfied.tolist() == [False]
    assert not is_absorbing(model)
    assert is_merge_closed(model)
