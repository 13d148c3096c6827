"""What a published table is still good for: axes, queries, distributions, regressions, tasks, against slow twins."""

from collections import Counter
from math import isclose

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_utility as naive
from indistinct.utility import Groups, TablePair, axis_of
from indistinct.utility.correlations import correlations
from indistinct.utility.distributions import contingency, cramers_v, distributions, total_variation
from indistinct.utility.encoders import encoded
from indistinct.utility.queries import count_after, count_before, workload
from indistinct.utility.regression import overlap, regression
from indistinct.utility.sql import sql_queries
from indistinct.utility.task import factory_of, task

TREE = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]]


def pair_of(before, after, **kinds):
    """Both tables as lists of tuples of texts; ``kinds`` name -> keywords of axis_of, in column order."""
    axes, left, right = [], [], []
    for at, (name, how) in enumerate(kinds.items()):
        texts, labels = (list(dict.fromkeys(row[at] for row in rows)) for rows in (before, after))
        axes.append(axis_of(name, texts, labels, **how))
        left.append([texts.index(row[at]) for row in before])
        right.append([labels.index(row[at]) for row in after])
    ones = [np.ones(len(rows), np.int64) for rows in (before, after)]
    return TablePair(tuple(axes), np.array(left).T, ones[0], np.array(right).T, ones[1])


INTEGER = {"type": "integer"}


# --- axes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "label", "width"),
    [
        ("integer", "[20, 30)", 10), ("integer", "(20, 30]", 10), ("integer", "[20, 29]", 10), ("integer", "25", 1),
        ("integer", "90+", 10), ("integer", "<2", 2), ("integer", "*", 100), ("decimal", "[1.5, 4)", 2.5),
        ("decimal", "3", 0), ("date", "1970-01", 31), ("date", "1970-01-05", 1),
        ("date", "[1970-01-01, 1970-02-01)", 31),
    ],
)  # fmt: skip
def test_labels_cover_what_they_say(type_, label, width):
    ends = {"integer": ["0", "99"], "decimal": ["0", "99"], "date": ["1970-01-01", "1979-12-31"]}[type_]
    assert axis_of("x", ends, [label], type_).widths.tolist() == [width]


def test_missing_values_lie_in_no_range_and_unreadable_labels_are_counted():
    axis = axis_of("x", ["1", "5", None], [None, "[1, 5]", "young"], "integer")
    assert axis.shares((0.0, 9.0)).tolist() == [0.0, 1.0, 0.0]
    assert axis.matches((0.0, 9.0)).tolist() == [True, True, False]
    assert axis.unread == 1


def test_nodes_of_a_tree_cover_their_leaves():
    axis = axis_of("x", ["a", "c", None], ["ab", "c", "*", None], rows=TREE)
    assert axis.leaves == ("a", "b", "c", None)
    assert axis.widths.tolist() == [2, 1, 4, 1]
    assert axis.shares(np.array([True, False, False, False])).tolist() == [0.5, 0.0, 0.25, 0.0]


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_shares_are_those_of_sets_of_whole_numbers(a, b, c, d):
    low, high, begin, end = min(a, b), max(a, b), min(c, d), max(c, d)
    axis = axis_of("x", ["0", "40"], [f"[{low}, {high}]"], "integer")
    expected = naive.overlap_share(range(low, high + 1), range(begin, end + 1))
    assert isclose(axis.shares((begin, end))[0], expected, abs_tol=1e-12)


def test_draws_stay_in_their_cells_and_reach_their_ends():
    generator = np.random.default_rng(1)
    axis = axis_of("x", ["0", "9"], ["[2, 4]", None], "integer")
    drawn = axis.draw(generator, np.array([0] * 200 + [1]))
    assert set(drawn[:-1].tolist()) == {2.0, 3.0, 4.0}
    assert np.isnan(drawn[-1])
    tree = axis_of("y", ["a", "b", "c"], ["ab"], rows=TREE)
    assert set(tree.draw(generator, np.zeros(100, np.int64)).tolist()) == {0.0, 1.0}


# --- queries ---------------------------------------------------------------------------------------------


ROWS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 3)), min_size=2, max_size=15)


@pytest.mark.slow
@given(ROWS, st.integers(0, 9), st.integers(0, 9), st.sets(st.sampled_from("abc"), min_size=1))
def test_estimates_are_those_of_the_definition(rows, one, other, letters):
    low, high = min(one, other), max(one, other)
    before = [(str(x), y, str(z)) for x, y, z in rows]
    half = len(rows) // 2
    groups = [rows[:half], rows[half:]]
    cells, after = [], []
    for group in groups:
        for _x, _y, z in group:
            ends = min(r[0] for r in group), max(r[0] for r in group)
            kept = {r[1] for r in group}
            label, own = (next(iter(kept)), kept) if len(kept) == 1 else ("*", {"a", "b", "c"})
            cells.append({"x": set(range(ends[0], ends[1] + 1)), "y": own, "z": {z}})
            after.append((f"[{ends[0]}, {ends[1]}]", label, str(z)))
    kinds = {"x": {**INTEGER, "domain": [0, 9]}, "y": {"rows": [["a", "*"], ["b", "*"], ["c", "*"]]}, "z": INTEGER}
    pair = pair_of(before, after, **kinds)
    query = {"x": set(range(low, high + 1)), "y": letters, "z": {1, 2}}
    wanted = {
        0: (float(low), float(high)), 1: np.array([leaf in letters for leaf in pair.axes[1].leaves]), 2: (1.0, 2.0)
    }  # fmt: skip
    exact = naive.exact_count([dict(zip("xyz", row, strict=True)) for row in rows], query)
    assert count_before(pair, wanted) == exact
    assert isclose(count_after(pair, wanted), naive.generalised_estimate(cells, query), abs_tol=1e-9)


@pytest.mark.slow
@given(ROWS, st.integers(0, 9), st.integers(0, 9), st.sets(st.sampled_from("abc"), min_size=1))
def test_two_tables_are_joined_by_the_shares_of_the_groups(rows, one, other, letters):
    low, high = min(one, other), max(one, other)
    half = len(rows) // 2
    members = [rows[:half], rows[half:]]
    before = [(str(x), y, str(z)) for x, y, z in rows]
    pair = pair_of(before, before, x=INTEGER, y={}, z=INTEGER)
    codes = pair.after
    owner = np.array([number for number, group in enumerate(members) for _ in group])
    # QIT keeps the order of the rows, ST comes backwards
    groups = Groups(
        codes[:, :2], np.ones(len(rows), np.int64), owner, owner[::-1], codes[::-1, 2], np.ones(len(rows), int)
    )
    joined = TablePair(pair.axes, pair.before, pair.rows_before, *groups.joined(), groups)
    wanted = {
        0: (float(low), float(high)),
        1: np.array([leaf in letters for leaf in pair.axes[1].leaves]),
        2: (1.0, 2.0),
    }
    named = [[dict(zip("xyz", row, strict=True)) for row in group] for group in members if group]
    quasi = {"x": set(range(low, high + 1)), "y": letters}
    expected = naive.two_table_estimate(named, quasi, {1, 2}, "z")
    assert isclose(count_after(joined, wanted), expected, abs_tol=1e-9)
    assert joined.published_rows == len(rows)
    dealt = joined.drawn(np.random.default_rng(1))
    assert Counter(map(tuple, dealt[:, :2].tolist())) == Counter(map(tuple, codes[:, :2].tolist()))
    assert Counter(dealt[:, 2].tolist()) == Counter(codes[:, 2].tolist())


def test_values_are_dealt_inside_their_groups_and_every_way():
    three = np.arange(3)
    groups = Groups(three.reshape(3, 1), np.ones(3, int), np.array([1, 0, 1]), np.array([0, 1]), np.array([7, 8]),
                    np.array([1, 2]))  # fmt: skip
    assert sorted(groups.dealt(np.random.default_rng(1)).tolist()) == [[0, 8], [1, 7], [2, 8]]
    groups = Groups(
        np.array([[0], [1]]), np.ones(2, int), np.zeros(2, int), np.zeros(2, int), np.array([5, 6]), np.ones(2, int)
    )
    ways = {tuple(sorted(map(tuple, groups.dealt(np.random.default_rng(seed)).tolist()))) for seed in range(20)}
    assert ways == {((0, 5), (1, 6)), ((0, 6), (1, 5))}


def test_an_unchanged_table_answers_without_error_and_queries_follow_the_seed():
    generator = np.random.default_rng(3)
    rows = [(str(a), b, str(c)) for a, b, c in zip(generator.integers(0, 50, 300), ["p", "q"] * 150,
                                                  generator.integers(0, 9, 300), strict=True)]  # fmt: skip
    pair = pair_of(rows, rows, x=INTEGER, y={}, s=INTEGER)
    found = workload(pair, ["x", "y"], "s", queries=50, seed=7)
    assert found.document()["mean_relative_error"] == 0.0
    again = workload(pair, ["x", "y"], "s", queries=50, seed=7)
    assert again.actual.tolist() == found.actual.tolist()
    assert workload(pair, ["x", "y"], "s", queries=50, seed=8).actual.tolist() != found.actual.tolist()
    assert (found.actual > 0).all()


def test_ranges_have_the_size_that_theta_asks_for():
    axis = axis_of("x", ["0", "99"], ["*"], "integer")
    generator = np.random.default_rng(1)
    for _ in range(50):
        low, high = axis.wanted(generator, 0.05)
        assert high - low + 1 == 5
        assert 0 <= low <= high <= 99


def test_empty_queries_are_drawn_again_or_bounded_by_phi():
    pair = pair_of([("0", "0"), ("99", "99")], [("0", "0"), ("99", "99")], x=INTEGER, s=INTEGER)
    found = workload(pair, ["x"], "s", queries=5, theta=0.01)
    assert found.redraws > 0
    assert workload(pair, ["x"], "s", queries=5, theta=0.01, phi=0.5).redraws == 0


@pytest.mark.parametrize("wrong", [{"dimension": 9}, {"dimension": 1}, {"theta": 0.0}, {"theta": 1.0}])
def test_impossible_workloads_are_refused(wrong):
    pair = pair_of([("0", "0")], [("0", "0")], x=INTEGER, s=INTEGER)
    with pytest.raises(ind.PolicyError):
        workload(pair, ["x"], "s", **wrong)


# --- SQL -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sql_on_an_unchanged_table_is_exact_and_spreads_inside_cells():
    before = [("1", "a"), ("3", "a"), ("2", "b")]
    same = pair_of(before, before, x=INTEGER, y={})
    (entry,) = sql_queries(same, ["select y, count(*) as n, sum(x) as total from data group by y"])
    found = {(answer["group"][0], answer["column"]): answer for answer in entry["answers"]}
    assert found["a", "n"]["release"] == found["a", "n"]["original"] == 2
    assert found["b", "total"]["interval"] == [2.0, 2.0]
    coarse = pair_of(before, [("[1, 3]", "a")] * 3, x=INTEGER, y={})
    (entry,) = sql_queries(coarse, ["select avg(x) as m from data"], draws=50)
    (answer,) = entry["answers"]
    assert answer["original"] == 2
    assert answer["interval"][0] < answer["release"] < answer["interval"][1]


@pytest.mark.parametrize(
    "query",
    ["select nothing from data", "drop table data", "select 1; select 2", "select y from data",
     "select count(*) from read_csv('/etc/passwd')", "copy data to '/tmp/leak.csv'"],
)  # fmt: skip
def test_sql_that_is_no_question_to_the_table_is_refused(query):
    rows = [("1", "a")]
    with pytest.raises(ind.PolicyError):
        sql_queries(pair_of(rows, rows, x=INTEGER, y={}), [query])


# --- distributions, correlations, regression ---------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcd"), min_size=1))
def test_total_variation_of_categories(before, after):
    pair = pair_of([(x,) for x in before], [(x,) for x in after], x={"rows": [[x, "*"] for x in "abcd"]})
    (entry,) = distributions(pair)
    assert isclose(entry["total_variation"], naive.total_variation(Counter(before), Counter(after)), abs_tol=1e-12)


def test_distributions_add_up_and_keep_missing_values():
    before = [("1",), (None,), ("40",), ("7",)]
    (entry,) = distributions(pair_of(before, [("[1, 40]",), (None,), ("*",), ("7",)], x=INTEGER))
    assert sum(entry["before"]) == pytest.approx(4)
    assert sum(entry["after"]) == pytest.approx(4)
    assert entry["values"][-1] == "(missing)"
    assert entry["mean"]["before"]["mean"] == 16


def test_association_is_lost_when_a_column_is_starred():
    before = [("a", "1"), ("b", "2")] * 10
    (entry,) = contingency(pair_of(before, [("*", row[1]) for row in before], x={}, y={}), ["x", "y"])
    assert entry["association"] == {"before": 1.0, "after": 0.0}
    assert entry["total_variation"] == 0.5
    assert cramers_v(np.array([[1.0, 2.0]])) is None
    assert total_variation(np.zeros(2), np.zeros(2)) == 0.0


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=5, max_size=20))
def test_correlation_is_that_of_the_definition(pairs):
    rows = [(str(x), str(y)) for x, y in pairs]
    (entry,) = correlations(pair_of(rows, rows, x=INTEGER, y=INTEGER))
    if len({x for x, _ in pairs}) == 1 or len({y for _, y in pairs}) == 1:
        assert entry["before"] is None
        return
    assert entry["before"]["r"] == pytest.approx(naive.pearson(pairs), abs=1e-9)
    assert entry["before"] == entry["after"]
    assert entry["before"]["interval"][0] <= entry["before"]["r"] <= entry["before"]["interval"][1]


def test_numbers_at_the_end_of_the_scale_have_figures():
    # 3e300 squared is no double any more
    rows = [(str(x * 10**300), str(x)) for x in (1, 2, 2, 3)]
    pair = pair_of(rows, rows, x=INTEGER, y=INTEGER)
    (entry,) = correlations(pair)
    assert entry["before"] == entry["after"] == {"r": 1.0, "interval": [1.0, 1.0]}
    found = distributions(pair)[0]["mean"]["after"]
    half = 1.96 * (2 / 3) ** 0.5 / 2  # deviations -1, 0, 0, 1, three degrees of freedom
    assert found["mean"] == pytest.approx(2e300)
    assert found["deviation"] == pytest.approx((2 / 3) ** 0.5 * 1e300)
    assert found["interval"] == pytest.approx([(2 - half) * 1e300, (2 + half) * 1e300])


def test_numbers_further_apart_than_a_number_can_say_are_a_sentence():
    texts = ["-1e308", "0", "1e308"]
    with pytest.raises(ind.UnsupportedError, match='the numbers of "x" lie further apart'):
        axis_of("x", texts, texts, type="decimal")


def test_regression_finds_the_line_and_its_interval():
    from scipy import stats

    generator = np.random.default_rng(2)
    x = generator.integers(0, 30, 80)
    y = 3 * x + generator.integers(-5, 6, 80)
    rows = [(str(a), str(b)) for a, b in zip(x, y, strict=True)]
    found = regression(pair_of(rows, rows, x=INTEGER, y=INTEGER), "y ~ x")
    expected = stats.linregress(x, y)
    _, slope = found["coefficients"]
    assert slope["before"]["estimate"] == pytest.approx(expected.slope)
    half = stats.t.ppf(0.975, 78) * expected.stderr
    assert slope["before"]["interval"] == pytest.approx([expected.slope - half, expected.slope + half])
    assert slope["overlap"] == pytest.approx(1.0)
    assert found["r_squared"]["after"] == pytest.approx(expected.rvalue**2)


def test_regression_on_categories_leaves_the_most_frequent_out():
    rows = [("a", "1"), ("a", "1"), ("b", "5"), ("b", "5"), ("a", "1")]
    found = regression(pair_of(rows, rows, g={}, y=INTEGER), "y ~ g")
    names = [item["name"] for item in found["coefficients"]]
    assert names == ["(intercept)", "g = b"]
    assert found["coefficients"][1]["before"]["estimate"] == pytest.approx(4)
    assert overlap([0.0, 1.0], [0.0, 1.0]) == 1.0


@pytest.mark.parametrize("formula", ["y", "y ~", "y ~ nothing", "g ~ y"])
def test_regressions_that_mean_nothing_are_refused(formula):
    rows = [("a", "1"), ("b", "2")]
    with pytest.raises(ind.PolicyError):
        regression(pair_of(rows, rows, g={}, y=INTEGER), formula)


# --- encoders and tasks ------------------------------------------------------------------------------------


def test_encodings_of_nodes_and_values_share_columns():
    axis = axis_of("x", ["a", "b", "c"], ["ab", "c"], rows=TREE)
    names, before, after = encoded(axis)
    assert names == ["x = a", "x = b", "x = c"]
    assert before.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert after.tolist() == [[0.5, 0.5, 0], [0, 0, 1]]
    names, before, after = encoded(axis, "nodes")
    assert names == ["x in ab", "x in c"]
    assert before.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert after.tolist() == [[1, 0], [0, 1]]


def test_missing_numbers_have_a_feature_of_their_own():
    names, before, after = encoded(axis_of("x", ["0", "10", None], ["[0, 10]", None], "integer"))
    assert names == ["x", "x missing"]
    assert before.tolist() == [[0, 0], [10, 0], [5, 1]]
    assert after.tolist() == [[5, 0], [5, 1]]


class Nearest:
    """A learner in a few lines: the label of the nearest learned row."""

    def fit(self, x, y):
        self.x, self.y = x, y
        return self

    def predict(self, x):
        return np.array([self.y[np.abs(self.x - row).sum(axis=1).argmin()] for row in x])


def test_a_task_learned_from_an_unchanged_release_is_as_good_and_from_stars_no_better_than_the_baseline():
    rows = [(str(x), "young" if x < 20 else "old") for x in range(40)] * 3
    whole = task(pair_of(rows, rows, x=INTEGER, y={}), "y", Nearest)
    assert whole["before"] == whole["after"] == 1.0
    assert whole["relative"] == 1.0
    assert 0.4 < whole["baseline"] < 0.6
    nothing = task(pair_of(rows, [("*", row[1]) for row in rows], x=INTEGER, y={}), "y", Nearest)
    assert nothing["after"] == pytest.approx(0.5, abs=0.1)


def test_rows_held_out_are_those_that_are_tested():
    pytest.importorskip("sklearn")
    policy = ind.Policy(
        attributes={"zip": {"role": "qi", "hierarchy": {"kind": "masking"}}, "ill": {"role": "sensitive"}},
        privacy=[ind.KAnonymity(2)],
    )
    # the whole code tells the illness in the original; in the release only its first digit is left
    original = pa.table({"zip": ["11", "11", "12", "12", "21", "21"], "ill": ["x", "x", "y", "y", "z", "z"]})
    release = pa.table({"zip": ["1*", "1*", "1*", "1*", "21", "21"], "ill": ["x", "x", "y", "x", "z", "z"]})
    apart = pa.table({"zip": ["11", "12", "21"], "ill": ["x", "y", "z"]})
    tree = "sklearn.tree:DecisionTreeClassifier"
    found = ind.utility(original, release, policy, queries=1, target="ill", estimator=tree, holdout=apart)
    task = found.document["task"]
    assert (task["held_out"], len(task["runs"]), task["runs"][0]["test_rows"]) == (True, 1, 3)
    assert (task["before"], task["after"], task["baseline"]) == (1.0, 2 / 3, 1 / 3)
    assert "not made from" in repr(found)
    with pytest.raises(ind.SchemaError, match="zip"):
        ind.utility(
            original, release, policy, queries=1, target="ill", estimator=tree, holdout=apart.drop_columns("zip")
        )


def test_a_tree_reads_exact_values_where_it_learned_nodes():
    # every label is one node of the upper level, so an exact value of a test row must be taken for its node
    rows = [(town, "yes" if town in "ab" else "no") for town in "abcd" * 20]
    labels = [("ab" if town in "ab" else "cd", ill) for town, ill in rows]
    tree = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]
    pair = pair_of(rows, labels, town={"rows": tree}, ill={})
    found = task(pair, "ill", factory_of("sklearn.tree:DecisionTreeClassifier"))
    assert (found["before"], found["after"], found["encoding"]) == (1.0, 1.0, "nodes")


def test_a_generalized_target_and_an_unknown_estimator_are_refused():
    rows = [("1", "a"), ("2", "b")]
    with pytest.raises(ind.PolicyError, match="was generalized"):
        task(pair_of(rows, [("*", "*")] * 2, x=INTEGER, y={}), "y", Nearest)
    for wrong in ("nothing", "no.such.module:x", "math:pi"):
        with pytest.raises(ind.PolicyError):
            factory_of(wrong)


# --- the whole ---------------------------------------------------------------------------------------------


POLICY = {
    "attributes": {
        "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        "height": {"role": "qi", "type": "decimal", "hierarchy": {"kind": "range"}, "weight": 2},
        "day": {"role": "qi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["month", "year"]}},
        "town": {"role": "qi", "hierarchy": {"kind": "masking"}},
        "ill": {"role": "sensitive"},
    },
    "suppression": {"limit": 0.1},
}


@pytest.mark.slow
@settings(max_examples=8)
@example(8562, {"algorithm": "local"})  # a class with one day in common is published as that day
@given(st.integers(0, 10_000), st.sampled_from([{"algorithm": "local"}, {"algorithm": "optimal"}]))
def test_losses_read_off_the_labels_are_those_of_the_release(seed, recoding):
    generator = np.random.default_rng(seed)
    n = 60
    table = pa.table(
        {
            "age": generator.integers(0, 70, n),
            "height": np.round(generator.normal(1.7, 0.1, n), 2),
            "day": [
                f"20{y:02d}-{m:02d}-11"
                for y, m in zip(generator.integers(10, 14, n), generator.integers(1, 13, n), strict=True)
            ],
            "town": [f"{z:04d}" for z in generator.integers(0, 40, n)],
            "ill": [str(v) for v in generator.integers(0, 4, n)],
        }
    )
    attributes = {name: dict(value) for name, value in POLICY["attributes"].items()}
    if recoding["algorithm"] == "optimal":
        attributes["height"]["hierarchy"] = {"kind": "suppress"}
        attributes["height"]["type"] = "text"
    policy = ind.Policy(**{**POLICY, "attributes": attributes}, privacy=[ind.KAnonymity(4)], recoding=recoding)
    release = ind.anonymize(table, policy)
    found = ind.utility(table, release.table, policy, queries=5).document
    for name in ("lm", "gcp", "iloss"):
        assert found["losses"][name] == pytest.approx(release.loss[name], abs=1e-9)


@pytest.mark.slow
def test_utility_runs_with_scikit_learn_and_shows_itself(tmp_path):
    pytest.importorskip("sklearn")
    generator = np.random.default_rng(1)
    age = generator.integers(18, 80, 300)
    table = pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")})
    attributes = {"age": POLICY["attributes"]["age"], "ill": {"role": "sensitive"}}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(5)])
    ind.anonymize(table, policy, output=tmp_path / "out.csv")
    answer = ind.utility(
        table, tmp_path / "out.csv", policy,
        queries=20, target="ill", estimator="sklearn.tree:DecisionTreeClassifier",
        regressions=["age ~ ill"], sql=["select ill, count(*) as n from data group by ill"],
    )  # fmt: skip
    assert answer.document["task"]["after"] > 0.9
    assert answer.document["classification_metric"] < 0.1
    assert "learning ill" in repr(answer)
    assert "<table>" in answer._repr_html_()
    assert ind.utility is not None
    assert callable(ind.utility)


@pytest.mark.slow
def test_sql_on_an_undeclared_type_says_which_columns_are_text():
    table = pa.table({"age": ["20", "20", "30", "30"], "weight": ["1", "1", "2", "2"]})
    attributes = {"age": {"role": "qi"}, "weight": {"role": "insensitive", "type": "integer"}}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(2)])
    with pytest.raises(ind.PolicyError, match="of type text are age: declare a type in the policy, or cast"):
        ind.utility(table, table, policy, queries=1, sql=["select count(*) as n from data where age > 20"])
    found = ind.utility(table, table, policy, queries=1, sql=["select count(*) as n from data where weight > 1"])
    assert found.document["sql"][0]["answers"][0]["original"] == 2


def test_correlations_and_coefficients_are_told_with_their_intervals():
    x = [str(at) for at in range(20)]
    y = [str(2 * at + at % 2) for at in range(20)]
    table = pa.table({"x": x, "y": y})
    attributes = {"x": {"role": "qi", "type": "integer"}, "y": {"role": "insensitive", "type": "integer"}}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(1)])
    found = ind.utility(table, table, policy, queries=1, regressions=["y ~ x"])
    r = found.document["correlations"][0]["before"]
    text = repr(found)
    shown = f"{r['r']:.4g} ({r['interval'][0]:.4g} to {r['interval'][1]:.4g})"
    assert f"correlation of x and y: {shown}, published {shown}" in text
    (slope,) = [item for item in found.document["regressions"][0]["coefficients"] if item["name"] == "x"]
    low, high = slope["before"]["interval"]
    assert low < 2 < high
    assert f"({low:.4g} to {high:.4g})" in text
    assert "overlap 1" in text
