"""t-closeness with its three distances, against definitions in fractions and a transport program."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError, PolicyError
from indistinct.kernels.criteria import BAND, violation
from indistinct.models import achieved, criteria, evaluate, t_closeness
from indistinct.models.t_closeness import value_tree
from indistinct.policy.privacy import TCloseness
from indistinct.tables.records import Reference

DISEASES = {
    "flu": ("resp. infection", "respiratory", "any"),
    "pneumonia": ("resp. infection", "respiratory", "any"),
    "bronchitis": ("resp. infection", "respiratory", "any"),
    "pulmonary edema": ("vascular lung", "respiratory", "any"),
    "pulmonary embolism": ("vascular lung", "respiratory", "any"),
    "gastric ulcer": ("stomach", "digestive", "any"),
    "stomach cancer": ("stomach", "digestive", "any"),
    "gastritis": ("stomach", "digestive", "any"),
    "colitis": ("colon", "digestive", "any"),
    "colon cancer": ("colon", "digestive", "any"),
}
THREE = "AAABBBCCC"
CLOSE = [
    "gastric ulcer", "stomach cancer", "pneumonia",
    "gastritis", "flu", "bronchitis",
    "gastritis", "bronchitis", "stomach cancer",
]  # fmt: skip
DIVERSE = [
    "gastric ulcer", "gastritis", "stomach cancer",
    "gastritis", "flu", "bronchitis",
    "bronchitis", "pneumonia", "stomach cancer",
]  # fmt: skip
SALARIES = [f"{salary:02d}" for salary in [3, 4, 5, 6, 11, 8, 7, 9, 10]]


def exact_distances(classes, context, distance, attribute="s"):
    numerators, rows, scale = t_closeness.measure(classes, context.references[attribute], attribute, distance)
    return [Fraction(int(a), int(b) * scale) for a, b in zip(numerators, rows, strict=True)]


def fractions(*texts):
    return [Fraction(text) for text in texts]


def test_ordered_salaries(tables):
    classes, context = tables.judged(THREE, {"s": SALARIES})
    assert exact_distances(classes, context, "ordered") == fractions("3/8", "1/6", "17/72")
    answer = evaluate(TCloseness("s", "0.375", distance="ordered"), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"t": {"fraction": "3/8", "decimal": 0.375}}
    assert not evaluate(TCloseness("s", "0.3749999999999999999", "ordered"), classes, context).satisfied[0]


@pytest.mark.parametrize(
    ("diseases", "distance", "expected"),
    [
        (DIVERSE, "hierarchical", ("4/9", "8/27", "8/27")),
        (CLOSE, "hierarchical", ("7/27", "8/27", "5/27")),
        (CLOSE, "equal", ("5/9", "4/9", "1/3")),
    ],
)
def test_disease_tables(tables, diseases, distance, expected):
    paths = {disease: DISEASES[disease] for disease in DISEASES if disease in diseases}
    classes, context = tables.judged(THREE, {"s": diseases}, orders={"s": list(paths)}, paths={"s": paths})
    assert exact_distances(classes, context, distance) == fractions(*expected)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("bronchitis", "flu", "1/3"),
        ("pulmonary embolism", "flu", "2/3"),
        ("stomach cancer", "flu", "1"),
        ("flu", "flu", "0"),
    ],
)
def test_distance_between_two_diseases(tables, one, other, expected):
    """All mass of the class on one value, all of the reference on the other."""
    made = tables.hierarchy("s", list(DISEASES), DISEASES)
    classes, _ = tables.judged("A", {"s": [one]}, orders={"s": list(DISEASES)}, paths={"s": DISEASES})
    counts = np.zeros(10, np.int64)
    counts[made.texts.index(other)] = 1
    context = replace_reference(Reference(made, counts, 1))
    assert exact_distances(classes, context, "hierarchical") == fractions(expected)


def replace_reference(reference):
    from indistinct.models import Context

    return Context({"s": reference})


def vectors(tables, p, q):
    """Classes with distribution p judged against q, both given as rationals."""
    p, q = fractions(*p), fractions(*q)
    scale = int(np.lcm.reduce([x.denominator for x in p + q]))
    names = [f"v{i}" for i in range(len(p))]
    ours = [name for name, share in zip(names, p, strict=True) for _ in range(int(share * scale))]
    classes, _ = tables.judged("A" * scale, {"s": ours}, orders={"s": names})
    counts = np.array([int(share * scale) for share in q])
    return classes, replace_reference(Reference(tables.hierarchy("s", names), counts, scale))


@pytest.mark.parametrize(
    ("p", "q", "ordered", "equal"),
    [
        (("0.1", "0.3", "0.4", "0.2"), ("0.3", "0.4", "0.2", "0.1"), "1/5", "3/10"),
        (("1/3", "2/3"), ("1/2", "1/2"), "1/6", "1/6"),
        (("1/2", "1/2"), ("1/5", "4/5"), "3/10", "3/10"),
    ],
)
def test_ties_at_the_threshold_pass(tables, p, q, ordered, equal):
    classes, context = vectors(tables, p, q)
    for distance, expected in [("ordered", ordered), ("equal", equal)]:
        assert exact_distances(classes, context, distance) == fractions(expected)
        assert evaluate(TCloseness("s", expected, distance), classes, context).satisfied.all()
        less = Fraction(expected) - Fraction(1, 10**30)
        assert not evaluate(TCloseness("s", less, distance), classes, context).satisfied.any()


def test_two_values_with_a_tree_of_height_two(tables):
    paths = {
        "flu": ("resp", "all"),
        "bronchitis": ("resp", "all"),
        "ulcer": ("dig", "all"),
        "colitis": ("dig", "all"),
    }
    options = {"orders": {"s": list(paths)}, "paths": {"s": paths}}
    by_organ, context = tables.judged("AABB", {"s": list(paths)}, **options)
    assert exact_distances(by_organ, context, "hierarchical") == fractions("1/2", "1/2")
    across, context = tables.judged("PQPQ", {"s": list(paths)}, **options)
    assert exact_distances(across, context, "hierarchical") == fractions("1/4", "1/4")
    assert exact_distances(across, context, "equal") == fractions("1/2", "1/2")


def test_reason_has_the_counts(tables):
    classes, context = tables.judged("AABBBC", {"s": ["HIV", "Flu", "Diabetes", "Cancer", "Flu", "HIV"]})
    answer = evaluate(TCloseness("s", "0.3", "equal"), classes, context)
    assert answer.reason == "3 of 3 classes differ from the table by more than 3/10; the largest distance is 2/3"
    assert answer.achieved["t"]["fraction"] == "2/3"
    assert not answer.more_is_better


@pytest.mark.parametrize("distance", ["ordered", "equal", "hierarchical"])
def test_a_constant_column_is_at_distance_zero(tables, distance):
    classes, context = tables.of_counts([2], [3])
    answer = evaluate(TCloseness("s", 0, distance), classes, context)
    assert answer.satisfied.all()
    assert answer.achieved == {"t": {"fraction": "0/1", "decimal": 0.0}}
    assert answer.reason == "no protection: the column is constant"
    assert criteria([TCloseness("s", 0, distance)], context) == ()


def test_the_declared_distance_decides(tables):
    classes, context = tables.judged("AABB", {"code": ["1", "2", "3", "4"]})
    assert exact_distances(classes, context, "equal", "code") == fractions("1/2", "1/2")
    assert exact_distances(classes, context, "ordered", "code") == fractions("1/3", "1/3")


def test_hierarchical_without_a_hierarchy_is_refused(tables):
    classes, context = tables.of_counts([1, 1])
    with pytest.raises(PolicyError, match="needs a hierarchy of s"):
        evaluate(TCloseness("s", "0.1", "hierarchical"), classes, context)


def test_a_tree_of_several_top_labels_gets_a_root(tables):
    paths = {"a": ("x",), "b": ("x",), "c": ("y",), "d": ("y",)}
    made = tables.hierarchy("s", list(paths), paths)
    assert value_tree(made).tolist() == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]


def test_missing_values_need_a_place_in_the_order(tables):
    rows = ("AABB", {"s": ["1", "2", "3", None]})
    classes, context = tables.judged(*rows)
    with pytest.raises(DataError, match="missing"):
        evaluate(TCloseness("s", "0.1", "ordered"), classes, context)
    assert exact_distances(classes, context, "equal") == fractions("1/2", "1/2")
    classes, context = tables.judged(*rows, missing_at="last")
    assert exact_distances(classes, context, "ordered") == fractions("1/3", "1/3")
    classes, context = tables.judged(*rows, missing_at="first")
    # missing, 1, 2, 3: A cumulates to 0, 1/2, 1, 1, B to 1/2, 1/2, 1/2, 1, the table to 1/4, 1/2, 3/4, 1
    assert exact_distances(classes, context, "ordered") == fractions("1/6", "1/6")


# definitions


def ordered(p, q):
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / max(len(p) - 1, 1)


def equal(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def hierarchical(p, q, tree):
    height, total = len(tree) - 1, Fraction(0)
    for level in range(1, height + 1):
        for node in set(tree[level]):
            below = {}
            for i, child in enumerate(tree[level - 1]):
                if tree[level][i] == node:
                    below[child] = below.get(child, 0) + p[i] - q[i]
            surplus = sum(x for x in below.values() if x > 0)
            total += Fraction(level, height) * min(surplus, surplus - sum(below.values()))
    return total


TREE = {
    "a": ("u", "x", "*"),
    "b": ("u", "x", "*"),
    "c": ("v", "x", "*"),
    "d": ("w", "y", "*"),
    "e": ("z", "y", "*"),
}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    histograms=st.lists(st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any), min_size=1, max_size=5).filter(
        lambda found: all(sum(column) for column in zip(*found, strict=True))
    ),
    t=st.fractions(0, 1, max_denominator=12),
    wide=st.booleans(),
)
def test_all_distances_against_their_definitions(tables, histograms, t, wide):
    classes, context = tables.of_counts(*histograms, order=list("abcde"), paths=TREE)
    tree = value_tree(context.references["s"].hierarchy).tolist()
    total = [sum(column) for column in zip(*histograms, strict=True)]
    q = [Fraction(count, sum(total)) for count in total]
    if wide:  # the same distribution with counts that leave 64 bits when multiplied
        classes, context = enlarged(classes, context, 2**33 + 1)
    for distance, definition in [
        ("ordered", ordered),
        ("equal", equal),
        ("hierarchical", lambda p, q: hierarchical(p, q, tree)),
    ]:
        expected = [definition([Fraction(c, sum(counts)) for c in counts], q) for counts in histograms]
        assert exact_distances(classes, context, distance) == expected
        answer = evaluate(TCloseness("s", t, distance), classes, context)
        assert answer.satisfied.tolist() == [value <= t for value in expected]
        assert answer.satisfied.dtype == np.bool_
        assert Fraction(answer.achieved["t"]["fraction"]) == max(expected)
        assert answer.measure == pytest.approx([float(value) for value in expected], abs=1e-12)
        assert answer.achieved == achieved("t_closeness", "s", classes, context, distance=distance)


def enlarged(classes, context, factor):
    histogram, reference = classes.histograms["s"], context.references["s"]
    bigger = replace(
        classes,
        rows=classes.rows * factor,
        histograms={"s": replace(histogram, count=histogram.count * factor)},
    )
    return bigger, replace_reference(
        Reference(reference.hierarchy, reference.counts * factor, reference.total * factor)
    )


def test_large_classes_of_small_ones_are_exact(tables):
    """Products within 62 bits for the counts, not for the numerators: one class of 2^31 rows."""
    classes, context = tables.of_counts([3, 1], [1, 3])
    classes, context = enlarged(classes, context, 2**28)
    assert exact_distances(classes, context, "equal") == fractions("1/4", "1/4")
    assert evaluate(TCloseness("s", "1/4", "equal"), classes, context).satisfied.all()


@pytest.mark.parametrize("seed", range(6))
def test_closed_forms_are_the_transport_cost(tables, seed):
    from scipy.optimize import linprog

    draw = np.random.default_rng(seed)
    histograms = draw.integers(0, 4, (3, 5)) + np.eye(3, 5, dtype=int)
    histograms[0] += 1
    classes, context = tables.of_counts(*histograms.tolist(), order=list("abcde"), paths=TREE)
    tree = value_tree(context.references["s"].hierarchy)
    q = histograms.sum(axis=0) / histograms.sum()
    ground = {
        "ordered": np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4,
        "equal": 1 - np.eye(5),
        "hierarchical": np.array([[np.argmax(tree[:, i] == tree[:, j]) / 3 for j in range(5)] for i in range(5)]),
    }
    for distance, cost in ground.items():
        for counts, found in zip(histograms, exact_distances(classes, context, distance), strict=True):
            p = counts / counts.sum()
            sums = np.zeros((10, 25))
            for i in range(5):
                sums[i, 5 * i : 5 * i + 5] = 1
                sums[5 + i, i::5] = 1
            best = linprog(cost.ravel(), A_eq=sums, b_eq=np.r_[p, q])
            assert float(found) == pytest.approx(best.fun, abs=1e-9)


def test_merging_never_raises_the_maximum(tables):
    for seed in range(40):
        draw = np.random.default_rng(seed)
        histograms = (draw.integers(0, 5, (3, 5)) + np.eye(3, 5, dtype=int)).tolist()
        histograms[2] = [count + 1 for count in histograms[2]]
        apart, context = tables.of_counts(*histograms, order=list("abcde"), paths=TREE)
        union = [a + b for a, b in zip(*histograms[:2], strict=True)]
        merged, _ = tables.of_counts(union, histograms[2], order=list("abcde"), paths=TREE)
        for distance in ("ordered", "equal", "hierarchical"):
            two = exact_distances(apart, context, distance)[:2]
            assert exact_distances(merged, context, distance)[0] <= max(two)
            weights = [sum(counts) for counts in histograms[:2]]
            mean = sum(w * d for w, d in zip(weights, two, strict=True)) / sum(weights)
            assert exact_distances(merged, context, distance)[0] <= mean


def test_equal_is_the_strictest(tables):
    for seed in range(40):
        draw = np.random.default_rng(seed)
        histograms = (draw.integers(0, 4, (3, 5)) + 1).tolist()
        classes, context = tables.of_counts(*histograms, order=list("abcde"), paths=TREE)
        strictest = exact_distances(classes, context, "equal")
        for distance in ("ordered", "hierarchical"):
            found = exact_distances(classes, context, distance)
            assert all(a <= b for a, b in zip(found, strictest, strict=True))


def test_the_compiled_test_agrees(tables):
    for seed in range(20):
        draw = np.random.default_rng(seed)
        histograms = (draw.integers(0, 4, (4, 5)) + np.eye(4, 5, dtype=int)).tolist()
        histograms[0][4] += 1
        classes, context = tables.of_counts(*histograms, order=list("abcde"), paths=TREE)
        for distance in ("ordered", "equal", "hierarchical"):
            privacy = TCloseness("s", "0.2", distance)
            (criterion,) = criteria([privacy], context)
            expected = evaluate(privacy, classes, context).satisfied
            for counts, satisfied in zip(histograms, expected, strict=True):
                rows = sum(counts)
                value = violation(
                    criterion.kind,
                    criterion.parameters,
                    np.array(counts),
                    rows,
                    rows,
                    criterion.shares,
                    criterion.tree,
                )
                assert abs(value) < BAND or (value < 0) == satisfied


def test_a_value_outside_the_reference(tables):
    """A published value that the original lacks: all its mass has to travel."""
    classes, _ = tables.judged("AA", {"s": ["a", "b"]}, orders={"s": ["a", "b", "c"]})
    context = replace_reference(Reference(tables.hierarchy("s", ["a", "b", "c"]), np.array([1, 0, 1]), 2))
    assert exact_distances(classes, context, "equal") == fractions("1/2")
    assert exact_distances(classes, context, "ordered") == fractions("1/4")


def test_nearly_unique_values_cost_log_m_each(tables):
    """A hundred thousand classes of two rows over as many values: no dense histograms."""
    m = 200_000
    values = np.arange(m, dtype=np.int32)
    small, _ = tables.of_counts([1, 1])
    from indistinct.hierarchies.hierarchy import Hierarchy, Level
    from indistinct.tables.records import Histogram

    level = Level(values, (), ())
    reference = Reference(Hierarchy("s", "range", tuple(map(str, range(m))), (level,)), np.ones(m, np.int64), m)
    pairs = np.sort(np.random.default_rng(1).permutation(m).reshape(-1, 2), axis=1).astype(np.int32)
    histogram = Histogram(np.arange(0, m + 1, 2), pairs.ravel(), np.ones(m, np.int64))
    classes = replace(small, rows=np.full(m // 2, 2), histograms={"s": histogram})
    context = replace_reference(reference)
    numerators, rows, scale = t_closeness.measure(classes, reference, "s", "ordered")
    for i in [0, 17, m // 2 - 1]:
        a, b = pairs[i].tolist()
        assert Fraction(int(numerators[i]), int(rows[i]) * scale) == two_values(a, b, m)
    answer = evaluate(TCloseness("s", "0.3", "ordered"), classes, context)
    assert 0 < answer.satisfied.sum() < m // 2


def two_values(a, b, m):
    """Ordered distance of half-half on codes a < b from the even distribution over m codes."""
    cuts = np.arange(m - 1)
    below = np.where(cuts < a, 0, np.where(cuts < b, 1, 2))
    twice = np.abs(below * m - 2 * (cuts + 1)).sum()  # 2 m |P - Q| summed, within 63 bits
    return Fraction(int(twice), 2 * m * (m - 1))
