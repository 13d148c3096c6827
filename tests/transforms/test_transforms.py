"""Each transform does what docs/transforms.md defines, and says what it gives and what not."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_transforms as naive
from indistinct.cli.app import run
from indistinct.transforms.chance import Chance
from indistinct.transforms.pram import inverse, product

small = pytest.mark.small  # not what anonymizes: that takes seconds without the compiler

ATTRIBUTES = {
    "sex": {"role": "qi"},
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
    "income": {"role": "sensitive", "type": "decimal"},
    "born": {"role": "insensitive", "type": "date", "format": "%d.%m.%Y"},
    "name": {"role": "identifying"},
}


def table(rows=60):
    return pa.table(
        {
            "sex": [("f", "m", None)[i % 3] for i in range(rows)],
            "age": [20 + (i * 7) % 50 for i in range(rows)],
            "income": [f"{1000 + 13 * i}.50" for i in range(rows)],
            "born": [f"{1 + i % 28:02}.03.19{50 + i % 40}" for i in range(rows)],
            "name": [f"n{i}" for i in range(rows)],
        }
    )


def policy(*transforms, attributes=ATTRIBUTES, **more):
    return ind.Policy(attributes=attributes, transforms=list(transforms), **more)


def done(frame, *transforms, **more):
    return ind.transform(frame, policy(*transforms, **more))


CELLS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 3), min_size=3, max_size=24)


@pytest.mark.slow
@small
@settings(deadline=None, max_examples=60)
@given(rows=CELLS, k=st.integers(2, 3), weights=st.permutations([1, 2, 3]))
def test_local_suppression_is_that_of_the_definition(rows, k, weights):
    frame = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate("xyz")})
    frame = frame.append_column("row", pa.array(range(len(rows))))
    attributes = {name: {"role": "qi", "weight": weight} for name, weight in zip("xyz", weights, strict=True)}
    attributes["row"] = {"role": "insensitive"}
    answer = done(frame, {"method": "local_suppression", "k": k}, attributes=attributes)
    found = answer.table.sort_by("row").to_pylist()
    after = [tuple(row[name] for name in "xyz") for row in found]
    assert all(naive.is_blanked(old, new) for old, new in zip(rows, after, strict=True))
    assert naive.smallest(after) >= k
    assert after == naive.blanked(rows, k, weights)
    loss = answer.document["transforms"][0]["loss"]
    blanks = sum(old is not None and new is None for o, n in zip(rows, after, strict=True) for old, new in zip(o, n, strict=True))  # fmt: skip  # noqa: E501
    assert sum(entry["blanked"] for entry in loss.values()) == blanks
    assert answer.document["declares"] == "truthful"
    assert answer.document["k"] is None


@small
def test_local_suppression_example():
    frame = pa.table({"sex": ["f", "f", "f", "m", "m"], "age": ["30", "30", "41", "41", "52"]})
    attributes = {"sex": {"role": "qi", "weight": 2}, "age": {"role": "qi", "type": "integer"}}
    found = done(frame, {"method": "local_suppression", "k": 2}, attributes=attributes)
    rows = Counter((row["sex"], row["age"]) for row in found.table.to_pylist())
    assert rows == {("m", None): 2, (None, None): 3}
    with pytest.raises(ind.InfeasibleError):
        done(frame, {"method": "local_suppression", "k": 6}, attributes=attributes)


@small
def test_coding():
    frame = pa.table({"age": [30, 95, 101, 110, None]})
    attributes = {"age": {"role": "qi", "type": "integer"}}
    top = {"method": "top_coding", "attribute": "age", "limit": 90}
    answer = done(frame, top, attributes=attributes)
    assert sorted(answer.table["age"].to_pylist(), key=str) == [30, 90, 90, 90, None]
    assert answer.table.schema == frame.schema
    assert answer.document["transforms"][0]["loss"] == {"replaced": 3, "share": 0.6, "sum_change": -36.0}
    mean = done(frame, top | {"replacement": "mean"}, attributes=attributes)
    assert sorted(mean.table["age"].to_pylist(), key=str) == [102, 102, 102, 30, None]
    bottom = done(frame, {"method": "bottom_coding", "attribute": "age", "limit": 100}, attributes=attributes)
    assert sorted(bottom.table["age"].to_pylist(), key=str) == [100, 100, 101, 110, None]
    with pytest.raises(ind.InfeasibleError, match="mean would tell"):
        done(frame, top | {"limit": 100, "replacement": "mean"}, attributes=attributes)
    with pytest.raises(ind.PolicyError, match="whole number"):
        done(frame, top | {"limit": 90.5}, attributes=attributes)


@small
def test_coding_of_dates_decimals_and_orders():
    frame = table()
    born = done(frame, {"method": "bottom_coding", "attribute": "born", "limit": "1970-01-01"})
    years = [text[-4:] for text in born.table["born"].to_pylist()]
    assert min(years) == "1970"
    assert "01.01.1970" in born.table["born"].to_pylist()
    income = done(frame, {"method": "top_coding", "attribute": "income", "limit": 1100.25, "replacement": "mean"})
    above = [Fraction(t) for t in frame["income"].to_pylist() if Fraction(t) > Fraction("1100.25")]
    assert abs(Fraction(max(income.table["income"].to_pylist(), key=Fraction)) - sum(above) / len(above)) <= Fraction(1, 20)  # noqa: E501  # fmt: skip
    ordinal = {"level": {"role": "qi", "type": "ordinal", "order": ["low", "mid", "high"]}}
    levels = pa.table({"level": ["low", "high", "mid", None]})
    coded = done(levels, {"method": "top_coding", "attribute": "level", "limit": "mid"}, attributes=ordinal)
    assert Counter(coded.table["level"].to_pylist()) == {"low": 1, "mid": 2, None: 1}


MATRIX = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=3, max_size=3).filter(
    lambda rows: all(sum(row) for row in rows)
)


@pytest.mark.slow
@small
@given(weights=MATRIX, counts=st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_invariant_pram_keeps_the_counts_in_expectation(weights, counts):
    matrix = [[Fraction(w, sum(row)) for w in row] for row in weights]
    found = product(matrix, inverse(matrix, counts))
    assert found == naive.invariant(matrix, counts)
    assert [sum(counts[i] * found[i][j] for i in range(3)) for j in range(3)] == counts


@small
def test_pram():
    frame = pa.table({"sex": ["f"] * 3000 + ["m"] * 1000 + [None] * 10})
    attributes = {"sex": {"role": "qi"}}
    matrix = {"f": {"f": "1/2", "m": "1/2"}, "m": {"m": 1}}
    answer = done(frame, {"method": "pram", "attribute": "sex", "matrix": matrix}, attributes=attributes)
    rows = Counter(answer.table["sex"].to_pylist())
    assert rows[None] == 10
    assert abs(rows["f"] - 1500) < 200  # seven standard deviations
    loss = answer.document["transforms"][0]["loss"]
    assert loss["changed"] == 3000 - rows["f"]
    assert (loss["expected_share"], loss["surest"]) == (0.375, 1.0)
    even = done(
        frame, {"method": "pram", "attribute": "sex", "matrix": matrix, "invariant": True}, attributes=attributes
    )
    assert abs(Counter(even.table["sex"].to_pylist())["f"] - 3000) < 300
    same = done(frame, {"method": "pram", "attribute": "sex", "retain": 1}, attributes=attributes)
    assert Counter(same.table["sex"].to_pylist()) == Counter(frame["sex"].to_pylist())
    with pytest.raises(ind.DataError, match="no row in the matrix") as caught:
        done(frame, {"method": "pram", "attribute": "sex", "matrix": {"f": {"f": 1}}}, attributes=attributes)
    assert '"m"' not in str(caught.value)


@small
def test_noise():
    rng = np.random.default_rng(5)
    x = rng.normal(100, 10, 4000)
    frame = pa.table(
        {"x": np.round(x).astype(int), "y": np.round(2 * x + rng.normal(0, 5, 4000), 1), "q": ["a"] * 4000}
    )
    attributes = {
        "x": {"role": "sensitive", "type": "integer"},
        "y": {"role": "sensitive", "type": "decimal"},
        "q": {"role": "qi"},
    }
    one = done(frame, {"method": "additive_noise", "attribute": "x", "share": 0.5}, attributes=attributes)
    assert one.table.schema == frame.schema
    ratio = np.var(one.table["x"].to_numpy()) / np.var(frame["x"].to_numpy())
    assert abs(ratio - 1.25) < 0.15
    loss = one.document["transforms"][0]["loss"]["x"]
    assert abs(loss["share_of_deviation"] - 0.5) < 0.05
    both = {"method": "correlated_noise", "attributes": ["x", "y"], "share": 1, "keep_variance": True}
    two = done(frame, both, attributes=attributes).table
    before, after = (np.cov(t["x"].to_numpy(), t["y"].to_numpy()) for t in (frame, two))
    assert np.abs(after / before - 1).max() < 0.2
    assert set(np.round(two["y"].to_numpy() * 10, 6) % 1) == {0}  # one decimal, as the column has


@pytest.mark.slow
@small
@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.integers(0, 30), min_size=2, max_size=40), share=st.sampled_from(["0.1", "0.3", "1"]))
def test_rank_swapping_stays_in_reach_and_keeps_the_values(values, share):
    frame = pa.table({"row": range(len(values)), "x": values})
    attributes = {"row": {"role": "qi"}, "x": {"role": "sensitive", "type": "integer"}}
    answer = done(frame, {"method": "rank_swapping", "attribute": "x", "share": share}, attributes=attributes)
    after = answer.table.sort_by("row")["x"].to_pylist()
    assert sorted(after) == sorted(values)
    ranked = sorted(values)
    reach = int(Fraction(share) * len(values))
    for old, new in zip(values, after, strict=True):
        low, high = sorted((old, new))
        nearest = ranked.index(high) - (len(ranked) - 1 - ranked[::-1].index(low))
        assert nearest <= reach
    assert answer.document["transforms"][0]["loss"]["changed"] == sum(
        a != b for a, b in zip(values, after, strict=True)
    )


@small
def test_rank_swapping_example():
    frame = pa.table({"row": [1, 2, 3, 4], "x": [1, 2, 3, 4]})
    attributes = {"row": {"role": "qi"}, "x": {"role": "sensitive", "type": "integer"}}
    answer = done(frame, {"method": "rank_swapping", "attribute": "x", "share": 0.25}, attributes=attributes)
    assert answer.table.sort_by("row")["x"].to_pylist() == [2, 1, 4, 3]
    assert answer.document["transforms"][0]["loss"]["mean_rank_distance"] == 0.25


@pytest.mark.slow
@small
def test_rank_swapping_of_many_rows_takes_new_words():
    values = list(range(50_000))
    frame = pa.table({"row": values, "x": values})
    attributes = {"row": {"role": "qi"}, "x": {"role": "sensitive", "type": "integer"}}
    answer = done(frame, {"method": "rank_swapping", "attribute": "x", "share": 0.02}, attributes=attributes)
    moved = np.abs(answer.table.sort_by("row")["x"].to_numpy() - np.arange(50_000))
    assert moved.max() <= 1000
    assert (moved > 0).mean() > 0.9


@small
def test_sampling():
    frame = table()
    answer = done(frame, {"method": "sampling", "share": "1/4"})
    assert (answer.document["rows"], answer.document["published_rows"]) == (60, 15)
    rows = {tuple(row.values()) for row in frame.drop_columns(["name"]).to_pylist()}
    assert all(tuple(row.values()) in rows for row in answer.table.to_pylist())
    assert answer.document["declares"] == "sampling"
    assert done(frame, {"method": "sampling", "rows": 3}).document["published_rows"] == 3
    with pytest.raises(ind.InfeasibleError):
        done(frame, {"method": "sampling", "rows": 61})


@small
@given(limit=st.integers(1, 2**63))
def test_chance_stays_below(limit):
    found = Chance(3).below(limit, 50)
    assert (found >= 0).all()
    assert max(found.tolist()) < limit


@small
def test_transforms_follow_their_order():
    frame = pa.table({"age": [1, 2, 3, 100, 200, 300]})
    attributes = {"age": {"role": "qi", "type": "integer"}}
    top = {"method": "top_coding", "attribute": "age", "limit": 50}
    cells = {"method": "local_suppression", "k": 3}
    first = done(frame, top, cells, attributes=attributes).table["age"].to_pylist()
    assert Counter(first) == {50: 3, None: 3}
    second = done(frame, cells, top, attributes=attributes).table["age"].to_pylist()
    assert Counter(second) == {None: 6}


@small
def test_without_models_nothing_is_promised_and_identifying_columns_go():
    answer = done(table(), {"method": "pram", "attribute": "sex", "retain": 0.8})
    assert answer.table.column_names == ["sex", "age", "income", "born"]
    document = answer.document
    assert document["verification"] == {
        "rows_match": True,
        "coverage": {"sex": "not proven", "age": "proven", "income": "proven", "born": "proven"},
    }
    assert (document["k"], document["declares"], document["for_publication"]) == (None, "perturbing", True)
    assert {"no-guarantee", "perturbing"} <= {warning["kind"] for warning in document["warnings"]}
    assert "no k is given" in repr(answer)
    json.dumps(document)


@small
def test_a_seed_repeats_and_marks():
    swap = {"method": "rank_swapping", "attribute": "age", "share": 0.5}
    first, second = (ind.transform(table(), policy(swap), seed=7) for _ in range(2))
    assert first.table == second.table
    assert (first.document["seeded"], first.document["for_publication"]) == (True, False)


@pytest.mark.slow
def test_before_anonymize(tmp_path):
    source, middle, output = tmp_path / "in.csv", tmp_path / "middle.csv", tmp_path / "out.csv"
    frame = table()
    rows = [",".join("" if v is None else str(v) for v in row.values()) for row in frame.to_pylist()]
    source.write_text("\n".join([",".join(frame.column_names), *rows]) + "\n", encoding="utf-8")
    asked = policy(
        {"method": "rank_swapping", "attribute": "income", "share": 0.2}, privacy=[{"model": "k_anonymity", "k": 3}],
        attributes=ATTRIBUTES | {"born": ATTRIBUTES["born"] | {"confirmed": True}},
    )  # fmt: skip
    asked.save(tmp_path / "p.toml")
    words = ["transform", str(source), "--policy", str(tmp_path / "p.toml"), "--output", str(middle), "--quiet"]
    assert run(words) == 0
    record = json.loads((tmp_path / "middle.csv.transform.json").read_text())
    assert record["transforms"] == [{"method": "rank_swapping", "columns": ["income"]}]
    assert record["for_publication"] is False
    assert "name" in middle.read_text().splitlines()[0]
    release = ind.anonymize(middle, asked, output=output)
    assert release.document["transformed"] == ["rank_swapping"]
    assert release.document["declares"] == "perturbing"
    assert release.verification["coverage"] == "not proven"
    assert release.verification["coverage_of_transformed"] == "proven"
    assert "transformed" in {warning["kind"] for warning in release.document["warnings"]}
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["transformed"] == ["rank_swapping"]
    other = policy({"method": "rank_swapping", "attribute": "age", "share": 0.2}, privacy=asked.privacy)
    with pytest.raises(ind.PolicyError, match="others than those"):
        ind.anonymize(middle, other)
    ind.transform(source, asked, output=middle, force=True, seed=1)
    with pytest.raises(ind.PolicyError, match="seed"):
        ind.anonymize(middle, asked)
    middle.write_text(source.read_text(), encoding="utf-8")
    with pytest.raises(ind.PolicyError, match=r"is not the file that middle\.csv\.transform\.json describes any more"):
        ind.anonymize(middle, asked)


K3 = [{"model": "k_anonymity", "k": 3}]
COARSE = ATTRIBUTES | {
    "born": ATTRIBUTES["born"] | {"confirmed": True}, "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
}  # fmt: skip
TOP = {"method": "top_coding", "attribute": "income", "limit": 1500}


def as_csv(frame, path):
    rows = [";".join("" if v is None else str(v) for v in row.values()) for row in frame.to_pylist()]
    path.write_text("\n".join([";".join(frame.column_names), *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_anonymize_applies_the_transforms_of_its_policy(tmp_path):
    """One run or two: the same file, where nothing is drawn at random."""
    source = as_csv(table(), tmp_path / "in.csv")
    blank = {"method": "local_suppression", "k": 2, "attributes": ["sex"]}
    asked = policy(TOP, blank, privacy=K3, attributes=COARSE)
    once = ind.anonymize(source, asked, output=tmp_path / "once.csv")
    middle = tmp_path / "middle.csv"
    ind.transform(source, asked, output=middle)
    ind.anonymize(middle, asked, output=tmp_path / "twice.csv")
    assert (tmp_path / "once.csv").read_bytes() == (tmp_path / "twice.csv").read_bytes()
    incomes = [float(row["income"]) for row in once.table.to_pylist()]
    given = [1000 + 13 * i + 0.5 for i in range(60)]
    assert sorted(incomes) == sorted(min(income, 1500) for income in given)
    assert once.document["transformed"] == ["top_coding", "local_suppression"]
    assert once.document["transforms"][0]["loss"]["replaced"] == sum(income > 1500 for income in given)
    assert once.document["declares"] == "perturbing"
    assert once.verification["coverage"] == "not proven"
    assert once.verification["coverage_of_transformed"] == "proven"
    manifest = json.loads((tmp_path / "once.csv.manifest.json").read_text())
    assert manifest["transformed"] == ["top_coding", "local_suppression"]
    assert "transforms" not in manifest  # the losses are for the steward
    proved = ind.verify(source, tmp_path / "once.csv", asked)
    assert proved.document["satisfied"]
    assert "transformed" in {warning["kind"] for warning in proved.document["warnings"]}
    assert not ind.verify(source, tmp_path / "once.csv", policy(privacy=K3, attributes=COARSE)).document["satisfied"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_transformed_once(kind):
    frame = table() if kind == "pyarrow" else table().to_pandas() if kind == "pandas" else pytest.importorskip(
        "polars").from_arrow(table())  # fmt: skip
    swap = {"method": "rank_swapping", "attribute": "income", "share": 0.2}
    asked = policy(swap, privacy=K3, attributes=COARSE)
    done_first = ind.transform(frame, asked)
    release = ind.anonymize(done_first, asked)
    assert type(release.table) is type(frame)
    pairs = Counter(zip(done_first.table["income"], done_first.table["born"], strict=True))
    assert Counter(zip(release.table["income"], release.table["born"], strict=True)) == pairs  # swapped once
    assert ind.verify(done_first, release.table, asked).document["satisfied"]
    assert ind.anonymize(frame, asked).document["transformed"] == ["rank_swapping"]
    warned = ind.verify(frame, release.table, asked).document["warnings"]
    assert "cannot be done again" in str(warned)
    with pytest.raises(ind.PolicyError, match="others than those"):
        ind.anonymize(done_first, policy(TOP, privacy=K3, attributes=COARSE))
    with pytest.raises(ind.PolicyError, match="seed"):
        ind.anonymize(ind.transform(frame, asked, seed=1), asked)


def test_what_looks_ahead_sees_the_transformed_table():
    asked = policy({"method": "sampling", "rows": 40}, privacy=K3, attributes=COARSE)
    assert ind.explain(table(), asked).document["rows"] == 40
    assert ind.compare(table(), asked, algorithms=["optimal"]).document["rows"] == 40
    release = ind.anonymize(table(), asked)
    assert (release.document["rows"], release.document["declares"]) == (40, "truthful")
    assert release.document["transforms"][0]["loss"]["rows_left_out"] == 20


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_report_says_what_was_done(tmp_path, language):
    release = ind.anonymize(table(), policy(TOP, privacy=K3, attributes=COARSE))
    ind.report(release, tmp_path / "r.html", language=language)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "top_coding" in text
    assert {"en": "That gives no k and no other guarantee", "zh-CN": "变换本身不提供 k 值"}[language] in text


@small
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "sav"])
def test_every_format_holds_what_was_decided(tmp_path, suffix):
    output = tmp_path / f"out.{suffix}"
    answer = ind.transform(
        table(),
        policy(
            {"method": "additive_noise", "attribute": "age", "share": 0.1},
            {"method": "additive_noise", "attribute": "born", "share": 0.1},
            {"method": "local_suppression", "k": 2, "attributes": ["sex"]},
        ),
        output=output,
    )
    assert answer.document["verification"]["rows_match"] is True
    assert output.exists()
    with pytest.raises(ind.PolicyError, match="exists"):
        answer.write(output)


@small
def test_wrong_requests_are_sentences(tmp_path):
    with pytest.raises(ind.PolicyError, match="no \\[\\[transforms\\]\\]"):
        ind.transform(table(), ind.Policy(attributes=ATTRIBUTES))
    masked = ATTRIBUTES | {"name": {"role": "identifying", "action": "mask"}}
    with pytest.raises(ind.PolicyError, match="anonymize does"):
        done(table(), {"method": "sampling", "rows": 3}, attributes=masked)
    for wrong in (
        {"method": "pram", "attribute": "name", "retain": 0.5},
        {"method": "local_suppression", "k": 2, "attributes": ["income"]},
        {"method": "rank_swapping", "attribute": "sex", "share": 0.5},
        {"method": "pram", "attribute": "sex"},
        {"method": "pram", "attribute": "sex", "matrix": {"f": {"f": 0.5}}},
        {"method": "sampling", "share": 0.5, "rows": 3},
    ):
        with pytest.raises(ind.PolicyError):
            policy(wrong)
    source = tmp_path / "p.toml"
    ind.Policy(attributes=ATTRIBUTES).save(source)
    assert (
        run(["transform", str(tmp_path / "none.csv"), "-p", str(source), "-o", str(tmp_path / "o.csv"), "--json"]) == 2
    )
