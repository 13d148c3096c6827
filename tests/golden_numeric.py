"""Golden checks of the models for numeric values: (target, function) pairs that test_golden registers."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

import indistinct as ind
import naive_numeric as naive
from indistinct.hierarchies import build_hierarchy
from indistinct.models import Context
from indistinct.models import eps_i_k_anonymity as eps_i_k
from indistinct.models import eps_m_anonymity as eps_m
from indistinct.models.graded_l import evaluate as judge_graded
from indistinct.models.graded_l import levels_of
from indistinct.models.intervals import distance, intervals_of, mean_distance
from indistinct.models.ke_anonymity import evaluate as judge_ke
from indistinct.models.numbers import numbers_of
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.count import frequencies_of


def counted(groups):
    """Classes, context and numbers of groups of values, given as texts."""
    texts = sorted({text for group in groups for text in group})
    values = build_hierarchy("s", texts, spec=None, type="decimal")
    names = [f"{number:04d}" for number in range(len(groups))]
    quasi = build_hierarchy("q", names, spec=None)
    code = values.codes()
    rows = np.array([(at, code[text]) for at, group in enumerate(groups) for text in group], np.int32)
    cells, count = np.unique(rows, axis=0, return_counts=True)
    frequencies = frequencies_of((quasi,), (values,), np.ascontiguousarray(cells), count.astype(np.int64))
    context = Context(frequencies.references)
    return classes_of(frequencies, whole_tuples(frequencies)), context, numbers_of(frequencies.references["s"])


def fraction(expected):
    return Fraction(expected["fraction"])


def numbers(group):
    return [Fraction(text) for text in group]


def ke(given, parameters, expected, _):
    groups, k, e = given["groups"], parameters["k"], parameters["e"]
    classes, context, _ = counted(groups)
    for count, key in (("distinct", "satisfied_distinct"), ("rows", "satisfied_row_count_reading")):
        answer = judge_ke(ind.KeAnonymity("s", k, e, count), classes, context)
        assert answer.satisfied.tolist() == [item[key] for item in expected["groups"]]
        assert answer.measure.tolist() == [float(fraction(item["range"])) for item in expected["groups"]]
    for group, item in zip(groups, expected["groups"], strict=True):
        assert (len(set(numbers(group))), len(group)) == (item["distinct"], item["rows"])
        assert max(numbers(group)) - min(numbers(group)) == fraction(item["range"])


def em(given, parameters, expected, _):
    epsilon, m, kind = parameters["epsilon"], parameters["m"], parameters["kind"]
    classes, context, column = counted(given["groups"])
    answer = eps_m.evaluate(ind.EpsMAnonymity("s", epsilon, m, kind), classes, context)
    half = eps_m.one_sided(classes, column, "s", Fraction(epsilon), kind)
    for at, item in enumerate(expected["groups"]):
        values = numbers(given["groups"][at])
        assert bool(answer.satisfied[at]) is item["satisfied"]
        assert answer.measure[at] == float(fraction(item["risk"]))
        assert half[at] == naive.em_one_sided(values, Fraction(epsilon), kind) == item["max_one_sided"]
        assert bool(classes.rows[at] >= m * half[at]) is item["one_sided_condition"]
        assert naive.em_risk(values, Fraction(epsilon), kind) == fraction(item["risk"])


def graded(given, parameters, expected, _):
    low, high, levels = Fraction(parameters["low"]), Fraction(parameters["high"]), parameters["levels"]
    classes, context, column = counted(given["groups"])
    answer = judge_graded(ind.GradedL("s", parameters["l"], levels, (low, high)), classes, context)
    assert answer.satisfied.tolist() == expected["satisfied"]
    assert answer.measure.tolist() == expected["distinct_levels"]
    level = dict(zip(map(column.at, range(len(column))), levels_of(column, levels, (low, high)) + 1, strict=True))
    for group, wanted in zip(given["groups"], expected["levels"], strict=True):
        assert [level[value] for value in numbers(group)] == wanted
        assert [naive.level(value, low, high, levels) for value in numbers(group)] == wanted


def intervals(given, parameters, expected, _):
    values, w = numbers(given["values"]), Fraction(parameters["w"])
    points = parameters.get("points", "distinct")
    _, _, column = counted([given["values"]])
    ordered, between = naive.distances(values, points)
    assert [distance(a, b) for a, b in pairwise(ordered)] == between
    assert between == [fraction(item) for item in expected["distances"]]
    assert mean_distance(column, points) == naive.mean_of(values, points) == fraction(expected["mean"])
    assert w * mean_distance(column, points) == fraction(expected["reference"])
    of = dict(zip(map(column.at, range(len(column))), intervals_of(column, w, points).tolist(), strict=True))
    found = [[value for value in sorted(values) if of[value] == number] for number in range(max(of.values()) + 1)]
    assert found == naive.intervals(values, w, points) == [numbers(part) for part in expected["intervals"]]


def group_check(given, parameters, expected, _):
    group = [(Fraction(value), interval, Fraction(epsilon)) for value, interval, epsilon in given["group"]]
    classes, _, column = counted([[value for value, _, _ in given["group"]]])
    of = {value: interval for value, interval, _ in group}
    interval = np.array([of[column.at(rank)] for rank in range(len(column))], np.int64)
    widths = [next(epsilon for _, i, epsilon in group if i == number) for number in range(int(interval.max()) + 1)]

    def measured(**how):
        return eps_i_k.measure(classes, column, eps_i_k.neighbourhoods_of(column, interval, widths, **how))

    k, disjoint, step7 = parameters["k"], measured(), measured(separation="step7")
    within = measured(same_interval_only=True)
    assert classes.rows.tolist() == [expected["size"]]
    assert bool(eps_i_k.sizes_fit(classes, k)[0]) is expected["size_ok"]
    assert disjoint.separated.tolist() == [expected["max_disjoint_set"]]
    assert step7.separated.tolist() == [expected["max_step7_set"]]
    assert bool(expected["size_ok"] and disjoint.separated[0] >= k) is expected["principle_disjoint"]
    assert bool(expected["size_ok"] and step7.separated[0] >= k) is expected["principle_step7"]
    assert disjoint.risk == fraction(expected["risk_excluding_self"])
    assert within.risk == fraction(expected["risk_excluding_self_same_interval"])
    assert disjoint.risk_including_self == fraction(expected["risk_including_self"])
    assert bool(disjoint.at_most_half[0]) is expected["theorem2_bound_holds"]

    assert naive.most_separated(group, "disjoint") == expected["max_disjoint_set"]
    assert naive.most_separated(group, "step7") == expected["max_step7_set"]
    assert naive.risk(group) == fraction(expected["risk_excluding_self"])
    assert naive.risk(group, same_interval_only=True) == fraction(expected["risk_excluding_self_same_interval"])
    assert naive.risk(group, including=True) == fraction(expected["risk_including_self"])


CHECKS = {
    "ke_anonymity": ke,
    "em_anonymity": em,
    "graded_l_diversity": graded,
    "epsk.intervals": intervals,
    "epsk.group_check": group_check,
}
