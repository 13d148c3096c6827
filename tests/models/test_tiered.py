"""A tier judges the classes that hold a listed value, exactly, and is held by searches that test every class."""

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_tiers as naive
from indistinct.models import is_absorbing, is_merge_closed

MODELS = [
    {"model": "k_anonymity", "k": 3},
    {"model": "distinct_l", "attribute": "s", "l": 2},
    {"model": "alpha_k", "attribute": "s", "alpha": "1/2", "k": 2},
    {"model": "recursive_cl", "attribute": "s", "c": 2, "l": 2},
]
ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("wxyz")), min_size=1, max_size=14)


def by_class(rows):
    classes = defaultdict(list)
    for label, value in rows:
        classes[label].append(value)
    return list(classes.values())


def tier(model, values):
    return {"model": "tiered", "attribute": "s", "values": list(values), "holds": model}


def table(rows):
    return pa.table({"q": [row[0] for row in rows], "s": [row[1] for row in rows]})


@pytest.mark.slow
@settings(deadline=None)
@given(rows=ROWS, model=st.sampled_from(MODELS), values=st.sets(st.sampled_from("wxyz"), min_size=1))
def test_is_that_of_the_definition(rows, model, values):
    policy = ind.Policy(attributes={"q": {"role": "qi"}, "s": {"role": "sensitive"}}, privacy=[tier(model, values)])
    if not values <= {value for _, value in rows}:
        with pytest.raises(ind.DataError, match="do not occur"):
            ind.audit(table(rows), policy)
        return
    entry = ind.audit(table(rows), policy).document["models"][0]
    expected = naive.verdicts(by_class(rows), values, model)
    assert entry["satisfied"] is all(expected)
    assert entry["violating_classes"] == expected.count(False)


@pytest.mark.slow
@given(rows=ROWS, model=st.sampled_from(MODELS), values=st.sets(st.sampled_from("wxyz"), min_size=1))
def test_the_closure_that_is_claimed_is_true(rows, model, values):
    privacy = ind.Tiered("s", sorted(values), model)
    assert is_absorbing(privacy) is False
    classes = [members for members in by_class(rows) if naive.verdicts([members], values, model)[0]]
    if is_merge_closed(privacy):
        for one in classes:
            for other in classes:
                assert naive.verdicts([one + other], values, model) == [True]


def test_which_tiers_are_merge_closed():
    closed = [model["model"] for model in MODELS if is_merge_closed(ind.Tiered("s", ["x"], model))]
    assert closed == ["k_anonymity", "distinct_l"]
    # alpha: {x, y} is asked and holds, {y, y, y} is not asked; their union has 4 of 5 rows y
    assert naive.verdicts([["x", "y"], ["y"] * 3, ["x"] + ["y"] * 4], ["x"], MODELS[2]) == [True, True, False]


HOSPITAL = [(str(20 + n % 20), "HIV" if n % 13 == 0 else "abc"[n % 3] if n % 20 > 4 else "a") for n in range(60)]


@pytest.mark.parametrize(
    "algorithm", ["optimal", "generalize_step", "flash", "ola", "samarati", "incognito", "datafly"]
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["model"])
def test_releases_satisfy_their_tiers(algorithm, model):
    attributes = {
        "q": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [2, 10, 40]}},
        "s": {"role": "sensitive"},
    }  # fmt: skip
    policy = ind.Policy(
        attributes=attributes,
        privacy=[{"model": "k_anonymity", "k": 2}, tier(model, ["HIV"])],
        recoding={"algorithm": algorithm},
        suppression={"limit": 0.2},
    )
    release = ind.anonymize(table(HOSPITAL), policy)
    rows = list(zip(release.table["q"].to_pylist(), release.table["s"].to_pylist(), strict=True))
    assert all(naive.verdicts(by_class(rows), ["HIV"], model))
    assert release.document["satisfied"] is True
    assert release.document["models"][1]["required"]["holds"]["model"] == model["model"]
    assert "tier" in repr(release)


def test_optimal_is_the_best_of_all_levels():
    widths = [2, 10, 20, 40]
    attributes = {
        "q": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": widths, "origin": 0}},
        "s": {"role": "sensitive"},
    }
    for model in MODELS:
        policy = ind.Policy(
            attributes=attributes, privacy=[tier(model, ["HIV"])], recoding={"algorithm": "optimal"}
        )  # fmt: skip
        expected = None
        for level, width in enumerate([1, *widths]):
            classes = by_class([(int(label) // width, value) for label, value in HOSPITAL])
            if all(naive.verdicts(classes, ["HIV"], model)):
                expected = level
                break
        if expected is None:
            with pytest.raises(ind.InfeasibleError):
                ind.anonymize(table(HOSPITAL), policy)
        else:
            release = ind.anonymize(table(HOSPITAL), policy)
            assert release.document["levels"] == {"q": expected}


def test_other_algorithms_refuse_it():
    attributes = {"q": {"role": "qi", "hierarchy": {"kind": "suppress"}}, "s": {"role": "sensitive"}}
    for algorithm in ("local", "mondrian", "mdav", "merge"):
        policy = ind.Policy(
            attributes=attributes, privacy=[tier(MODELS[0], ["x"])], recoding={"algorithm": algorithm}
        )  # fmt: skip
        with pytest.raises(ind.PolicyError, match=r"cannot hold tiered.*optimal"):
            ind.anonymize(table([("A", "x"), ("A", "y")]), policy)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ind.PolicyError, match="t_closeness"):
        ind.Tiered("s", ["x"], {"model": "t_closeness", "attribute": "s", "t": 0.2, "distance": "equal"})
    with pytest.raises(ind.PolicyError):
        ind.Tiered("s", [], MODELS[0])
    with pytest.raises(ind.PolicyError, match="sensitive"):
        ind.Policy(attributes={"q": {"role": "qi"}, "s": {"role": "qi"}}, privacy=[tier(MODELS[0], ["x"])])


def test_a_tier_of_sizes_leaves_its_column_unprotected():
    policy = ind.Policy(attributes={"q": {"role": "qi"}, "s": {"role": "sensitive"}}, privacy=[tier(MODELS[0], ["x"])])
    assert [notice.kind for notice in policy.notices()] == ["unprotected"]
