"""Stated floors hold under every algorithm; masks of unequal codes; messages about labels and hierarchies."""

import json
import re
from itertools import combinations_with_replacement, cycle
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
from indistinct.algorithms.local.costs import costs_of
from indistinct.errors import DataError, HierarchyError, PolicyError
from indistinct.hierarchies import build_hierarchy, check
from indistinct.hierarchies.labels import Reader, masks_of
from indistinct.kernels.boxes import union_losses
from indistinct.policy import ALGORITHMS, Policy
from indistinct.publish.ready import check as check_policy
from indistinct.session.prepare import prepare
from indistinct.tables.classes import classes_of, whole_tuples
from indistinct.tables.floors import floored, spread
from indistinct.tables.holdings import weights
from indistinct.tables.records import Assignment

HERE = Path(__file__).parent
QUASI = {
    "zip": {"role": "qi", "hierarchy": {"kind": "masking"}, "min_level": 2},
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5], "top": 90}},
    "born": {"role": "qi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["year"]}},
}
ZIPS, AGES, DATES = QUASI.values()
FINEST = {"zip": {"021**", "022**"}, "age": {"90+", "40"}, "born": {"2001", "1999"}}
COARSER = {"zip": {"02***", "0****", "*"}, "age": {"[40, 45)", "*"}, "born": {"*"}}
K = {"model": "k_anonymity", "k": 2}
T = {"model": "t_closeness", "attribute": "d", "t": "0.9", "distance": "equal"}
# what an algorithm needs beside the attributes; the others hold k-anonymity
NEEDS = {
    "top_down_specialization": {"recoding": {"target": "d"}},
    "t_closeness_first": {"privacy": [T]},
    "sabre": {"privacy": [T]},
    "graded_local": {"privacy": [{"model": "graded_l", "attribute": "wage", "l": 2, "levels": [100]}]},
    "eps_m_partition": {"privacy": [{"model": "eps_m_anonymity", "attribute": "wage", "epsilon": 1, "m": 2}]},
    "largest_bucket_first": {"privacy": [{"model": "eps_i_k_anonymity", "attribute": "wage", "k": 2, "beta": "0.1"}]},
    "ke_partition": {"privacy": [{"model": "ke_anonymity", "attribute": "wage", "k": 2, "e": 1}]},
    "anatomy": {"privacy": [{"model": "distinct_l", "attribute": "d", "l": 2}]},
    "km": {"privacy": [{"model": "km_anonymity", "attribute": "items", "k": 2, "m": 1}]},
    "safepub": {
        "privacy": [{"model": "safepub", "epsilon": 1, "delta": "0.1", "levels": {"zip": 2, "age": 0, "born": 1}}],
        "suppression": {"limit": 1},
    },
    "m_invariance": {
        "privacy": [{"model": "m_invariance", "attribute": "d", "m": 2, "history": []}],
        "person": {"key": "id"},
    },
}
# algorithms that take one quasi-identifier of a scale
ALONE = {"univariate_microaggregation": ("age", "born")}
# every combination of a postcode, an age and a date of birth below the floors, many times and with many neighbours
TIMES = 20
PEOPLE = [
    {"zip": code, "age": age, "born": day}
    for code in ("02139", "02138", "02241")
    for age, day in ((93, "2001-02-03"), (91, "2001-05-06"), (40, "1999-01-01"), (93, "1999-07-08"))
] * TIMES


def released(case):
    folder = HERE / case
    policy = Policy.load(folder / "policy.toml")
    return ind.anonymize(str(folder / "input.csv"), policy), json.loads((folder / "expected.json").read_text())


def test_a_floor_on_a_postcode_holds_by_default():
    release, expected = released("01-floor-level-ignored")
    never = expected["expect"]["published_zip_is_never"]
    assert not set(release.table["zip"].to_pylist()) & set(never)


def test_ages_from_the_top_on_are_pooled():
    release, expected = released("02-ages-over-89-published")
    assert sorted(set(release.table["age"].to_pylist())) == expected["expect"]["published_ages"]


def test_pooling_needs_no_min_level_and_leaves_other_ages_alone():
    table = pa.table({"age": [93, 93, 91, 40, 40]})
    policy = Policy(attributes={"age": {"role": "qi", **AGES}}, privacy=[{"model": "k_anonymity", "k": 2}])
    assert sorted(ind.anonymize(table, policy).table["age"].to_pylist()) == ["40", "40", "90+", "90+", "90+"]


# beside the quasi-identifiers a table has the columns that a model or an option names
BESIDE = {
    "d": ({"role": "sensitive"}, [*"abcd"]),
    "wage": ({"role": "sensitive", "type": "integer"}, ["10", "120", "25", "300"]),
    "items": ({"role": "qi", "separator": ",", "hierarchy": {"file": "items.csv"}}, ["beer", "milk"]),
    "id": (None, [str(number) for number in range(len(PEOPLE))]),
}


def made_for(name, quasi, folder):
    """A table and a policy that an algorithm can hold."""
    needs = NEEDS.get(name, {"privacy": [K]})
    words = [model.get("attribute") for model in needs.get("privacy", ())]
    words += [*needs.get("recoding", {}).values(), *needs.get("person", {}).values()]
    beside = {one: BESIDE[one] for one in BESIDE if one in words}
    (folder / "items.csv").write_text("beer;any\nmilk;any\n")
    policy = Policy(
        attributes={
            **{one: QUASI[one] for one in quasi},
            **{one: attribute for one, (attribute, _) in beside.items() if attribute},
        },
        **{"privacy": [K], **needs, "recoding": {"algorithm": name, **needs.get("recoding", {})}},
    )
    table = pa.Table.from_pylist(PEOPLE).select(list(quasi))
    for one, (_, texts) in beside.items():
        table = table.append_column(one, [[texts[row % len(texts)] for row in range(table.num_rows)]])
    return table, policy.at(folder)


@pytest.mark.slow
@pytest.mark.compiling
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_algorithm_publishes_below_a_floor(name, tmp_path):
    for quasi in [(one,) for one in ALONE[name]] if name in ALONE else [tuple(QUASI)]:
        release = ind.anonymize(*made_for(name, quasi, tmp_path))
        found = release.table[0] if isinstance(release.table, tuple) else release.table
        for one in quasi:
            labels = set(map(str, found[one].to_pylist()))
            assert labels <= FINEST[one] | COARSER[one]
            assert labels


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "key"), [("zip", "min_level"), ("age", "hierarchy.top"), ("born", "hierarchy.levels")]
)
def test_transforms_alone_refuse_a_floor_that_nothing_holds(column, key):
    top = {"method": "top_coding", "attribute": "wage", "limit": 90}
    attributes = {column: QUASI[column], "wage": {"role": "sensitive", "type": "integer"}}
    policy, table = Policy(attributes=attributes, transforms=[top]), pa.Table.from_pylist(PEOPLE[:4]).select([column])
    table = table.append_column("wage", [[1, 2, 3, 100]])
    for ask in (lambda: ind.transform(table, policy), lambda: check_policy(policy)):
        with pytest.raises(PolicyError, match="transforms alone do not generalize") as refused:
            ask()
        assert refused.value.where["key"] == f"attributes.{column}.{key}"
    # with a model the transformed table is still to be anonymized, which holds the floor
    whole = Policy(attributes=attributes, transforms=[top], privacy=[K], suppression={"limit": 1})
    assert sorted(ind.transform(table, whole).table[column].to_pylist()) == sorted(table[column].to_pylist())
    assert set(map(str, ind.anonymize(table, whole).table[column].to_pylist())) <= FINEST[column] | COARSER[column]


def test_aggregates_are_refused_where_a_floor_forbids_single_values():
    for column, attribute in QUASI.items():
        recoding = {"algorithm": "mondrian", "aggregate": "median"}
        policy = Policy(attributes={column: attribute}, privacy=[K], recoding=recoding)
        with pytest.raises(PolicyError, match="forbids single values"):
            ind.anonymize(pa.Table.from_pylist(PEOPLE).select([column]), policy)


def test_the_hierarchy_of_a_sensitive_column_pools_nothing():
    # it says how far apart values are: were 91 and 93 one, a class of both would be like a class of one of them
    spec = {"kind": "intervals", "widths": [5], "top": 90}
    ages = build_hierarchy("age", ["91", "93"], spec=spec, type="integer", floors=False)
    assert ages.levels[0].node_of.tolist() == [0, 1]
    table = pa.table({"sex": ["f", "f", "m", "m"], "age": [91, 91, 93, 93]})
    # each class holds one of the two values that half of all have, under a common node of level 1 of 2: the distance
    # is 1/2 (the share that moves) times 1/2 (the height of the node)
    for attribute, values in (
        ({"type": "integer", "hierarchy": spec, "min_level": 1}, [91, 91, 93, 93]),
        ({"type": "date", "hierarchy": {"kind": "dates", "levels": ["year"]}}, ["2001-02-03"] * 2 + ["2001-05-06"] * 2),
    ):
        table = table.set_column(1, "age", [values])
        policy = Policy(
            attributes={"sex": {"role": "qi"}, "age": {"role": "sensitive", **attribute}},
            privacy=[{"model": "t_closeness", "attribute": "age", "t": 1, "distance": "hierarchical"}],
        )
        (model,) = ind.anonymize(table, policy).document["models"]
        assert model["achieved"]["t"]["decimal"] == 0.25


def test_a_date_is_published_no_finer_than_the_first_level_named():
    table = pa.table({"seen": ["03.02.2001 10:00", "03.02.2001 11:00", "04.02.2001 09:30", "04.02.2001 09:30"]})
    for levels, shown in (
        (["day", "month"], {"2001-02-03", "2001-02-04"}),
        (["month"], {"2001-02"}),
        (["week"], {"2001-W05"}),
    ):
        seen = {
            "role": "qi",
            "type": "date",
            "format": "%d.%m.%Y %H:%M",
            "hierarchy": {"kind": "dates", "levels": levels},
        }
        release = ind.anonymize(table, Policy(attributes={"seen": seen}, privacy=[K]))
        got = set(release.table["seen"].to_pylist())
        assert got <= shown | {"*", "2001-02"}
        assert got & shown


@pytest.mark.parametrize("levels", [{"zip": 1}, {"zip": 4}])
def test_stated_levels_keep_between_floor_and_ceiling(levels):
    policy = Policy(
        attributes={"zip": {**ZIPS, "max_level": 3}},
        privacy=[{"model": "safepub", "epsilon": 1, "delta": "0.1", "levels": levels}],
        suppression={"limit": 1},
        recoding={"algorithm": "safepub"},
    )
    with pytest.raises(PolicyError, match="outside its floor and ceiling, 2 to 3"):
        ind.anonymize(pa.Table.from_pylist(PEOPLE).select(["zip"]), policy)


def counted(table, policy):
    return prepare(table, policy).counted.frequencies


def as_told(frequencies):
    """What a search knows of the tuples: sizes, persons, counts of the sensitive values, shares of persons."""
    classes = classes_of(frequencies, whole_tuples(frequencies))
    counts = list(classes.histograms.values())
    if classes.holdings is not None:
        counts.append(weights(classes.holdings, 0, frequencies.sensitive[0].size)[1])
    told = [(one.start.tolist(), one.value.tolist(), one.count.tolist()) for one in counts]
    return classes.sizes.tolist(), classes.rows.tolist(), told


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("persons", [False, True])
def test_joining_is_counting_a_table_that_says_no_more(seed, persons):
    random = Random(seed)  # noqa: S311  # a test
    rows = [
        {**random.choice(PEOPLE), "d": random.choice("ab"), "id": str(random.randrange(12))}
        for _ in range(random.choice([3, 20, 60]))
    ]
    stands_for = {
        "zip": {"02139": "02138"},
        "age": {93: 91},
        "born": {"2001-05-06": "2001-02-03", "1999-07-08": "1999-01-01"},
    }
    other = {"privacy": [K, {**T, "t": 1}], "person": {"key": "id"}} if persons else {"privacy": [K]}
    policy = Policy(
        attributes={**QUASI, "d": {"role": "sensitive"}, **({} if persons else {"id": {"role": "id"}})}, **other
    )
    # the first of the values that occur stands for all of a node
    least = {name: {} for name in QUASI}
    for name in QUASI:
        for value in sorted({row[name] for row in rows}):
            least[name].setdefault(stands_for[name].get(value, value), value)
    poorer = [{**row, **{n: least[n][stands_for[n].get(row[n], row[n])] for n in QUASI}} for row in rows]
    fine, poor = (counted(pa.Table.from_pylist(some), policy) for some in (rows, poorer))
    joined = floored(fine)
    assert floored(poor) is None
    assert as_told(fine if joined is None else joined[0]) == as_told(poor)


@pytest.mark.parametrize("seed", range(8))
def test_spreading_keeps_the_rows_of_cells_and_of_classes(seed):
    random = Random(seed)  # noqa: S311  # a test
    table = pa.Table.from_pylist([random.choice(PEOPLE) for _ in range(40)])
    frequencies = counted(table, Policy(attributes=QUASI, privacy=[K]))
    joined, place = floored(frequencies)
    parts = [(cell, class_of) for cell, rows in enumerate(joined.rows.tolist()) for class_of in
             [random.randrange(-1, 2) for _ in range(rows)]]  # fmt: skip
    parts = sorted({(*part, parts.count(part)) for part in parts})
    cell, class_of, count = (np.array(column) for column in zip(*parts, strict=True))
    given = Assignment(cell.astype(np.int32), count.astype(np.int64), class_of.astype(np.int32), 2)
    found = spread(given, frequencies, place)
    assert np.bincount(found.cell, found.count, len(frequencies.rows)).tolist() == frequencies.rows.tolist()
    again = {}
    for one, rows, owner in zip(found.cell.tolist(), found.count.tolist(), found.class_of.tolist(), strict=True):
        again[int(place[one]), owner] = again.get((int(place[one]), owner), 0) + rows
    assert again == {(one, owner): rows for one, owner, rows in parts}


def test_a_search_prices_boxes_as_their_labels_cost():
    specs = [*QUASI.items(), ("code", {"role": "qi", "hierarchy": {"kind": "masking"}})]
    table = pa.Table.from_pylist([{**row, "code": code} for row, code in zip(PEOPLE, cycle(["1", "7", "12", "345"]))])
    frequencies = counted(table, Policy(attributes=dict(specs), privacy=[K]))
    for hierarchy in frequencies.quasi:
        costs = costs_of([hierarchy])
        for lo, hi in combinations_with_replacement(range(hierarchy.size), 2):
            box = np.array([hi, -lo], np.int32)
            found = np.full(1, np.nan)
            union_losses(costs, box, box[None], np.zeros(1, np.int64), found)
            assert found[0] == pytest.approx(float(hierarchy.cost(lo, hi)))


@pytest.mark.parametrize("algorithm", ["local", "mondrian", "optimal"])
def test_persons_are_counted_where_their_rows_look_alike(algorithm):
    # 021** holds the persons A and B, A twice; 022** holds C and D; k = 2 persons holds without a further loss
    enough = {"zip": ["02139", "02138", "02139", "02241", "02242"], "id": [*"AABCD"]}
    # without B, 021** holds one person only
    short = {"zip": ["02139", "02138", "02241", "02242"], "id": [*"AACD"]}
    policy = Policy(attributes={"zip": ZIPS}, privacy=[K], person={"key": "id"}, recoding={"algorithm": algorithm})
    assert set(ind.anonymize(pa.table(enough), policy).table["zip"].to_pylist()) == {"021**", "022**"}
    assert set(ind.anonymize(pa.table(short), policy).table["zip"].to_pylist()) == {"02***"}


@pytest.mark.slow
def test_a_population_is_counted_by_what_may_be_published(tmp_path):
    (tmp_path / "all.csv").write_text("zip\n02139\n02138\n02241\n02242\n")
    table = pa.table({"zip": ["02139", "02242"]})
    # each of the two rows is one of two people of its area; told apart, they would be one of one
    for model, recoding in (
        ({"model": "k_map", "k": 2}, {}),
        ({"model": "k_map", "k": 2}, {"algorithm": "optimal"}),
        ({"model": "delta_presence", "minimum": "0.5", "maximum": "0.5"}, {"algorithm": "optimal"}),
    ):
        policy = Policy(attributes={"zip": ZIPS}, privacy=[{**model, "population": "all.csv"}], recoding=recoding)
        release = ind.anonymize(table, policy.at(tmp_path))
        assert set(release.table["zip"].to_pylist()) == {"021**", "022**"}
        assert release.document["models"][0]["satisfied"]


def test_columns_of_ranges_tell_what_labels_tell(tmp_path):
    policy = Policy(attributes={"age": AGES, "born": DATES}, privacy=[K], output={"ranges": "columns"})
    table = pa.Table.from_pylist(PEOPLE).select(["age", "born"])
    ind.anonymize(table, policy, output=tmp_path / "out.csv")
    found = {tuple(line.split(",")) for line in (tmp_path / "out.csv").read_text().splitlines()[1:]}
    assert found == {
        ("90+", "90", "", "2001", "2001-01-01", "2001-12-31"),
        ("90+", "90", "", "1999", "1999-01-01", "1999-12-31"),
        ("40", "40", "40", "1999", "1999-01-01", "1999-12-31"),
    }


def test_explaining_takes_what_may_not_be_told_apart_as_one():
    table = pa.table({"zip": ["02139", "02138", "02241", "02242"]})
    found = ind.explain(table, Policy(attributes={"zip": ZIPS}, privacy=[K])).document
    assert found["rare_values"][0]["values"] == 0
    assert [one["splits"] for one in found["largest_classes"]] == [[], []]
    assert [one["largest_tuple"] for one in found["largest_classes"]] == [2, 2]
    said = " ".join(map(str, found["sentences"]))
    assert "could be split" not in said
    assert "equal in every quasi-identifier" in said


def test_codes_of_unequal_length_are_named_with_their_count():
    folder = HERE / "10-zip-plus-four"
    policy = Policy.load(folder / "policy.toml")
    warnings = ind.anonymize(str(folder / "input.csv"), policy).document["warnings"]
    (said,) = [one for one in warnings if one["kind"] == "unequal-length"]
    assert said["column"] == "zip"
    assert "2 of its 4 codes are shorter than 10 characters" in said["message"]
    assert 'fill = "longest"' in said["message"]
    assert "prefixes" in said["message"]
    checked = check_policy(policy, str(folder / "input.csv"))["warnings"]
    assert said in checked


@pytest.mark.parametrize("spec", [{"kind": "masking", "fill": "longest"}, {"kind": "suppress"}])
def test_other_hierarchies_of_unequal_codes_need_no_hint(spec):
    policy = Policy(attributes={"zip": {"role": "qi", "hierarchy": spec}}, privacy=[K])
    table = pa.table({"zip": ["02139", "02139-4307", "10001", "10001-2222"]})
    assert "unequal-length" not in [one["kind"] for one in ind.anonymize(table, policy).document["warnings"]]


@pytest.mark.parametrize("name", ["local", "mondrian", "mu_argus"])
def test_a_ceiling_is_refused_by_name_where_it_is_not_held(name):
    attributes = {"zip": {"role": "qi", "hierarchy": {"kind": "masking"}, "max_level": 2}}
    policy = Policy(attributes=attributes, privacy=[{"model": "k_anonymity", "k": 2}], recoding={"algorithm": name})
    for ask in (lambda: ind.anonymize(pa.table({"zip": ["02139", "02138"]}), policy), lambda: check_policy(policy)):
        with pytest.raises(PolicyError, match=f"max_level.*{name}.*optimal"):
            ask()


def test_the_loss_of_a_floor_counts_against_the_original_domain():
    # 021** covers two of three zips: (2 - 1) / (3 - 1); 022** covers one: 0. Mean over 4 and 2 rows: 1/3
    table = pa.table({"zip": ["02139", "02139", "02138", "02138", "02241", "02241"]})
    policy = Policy(attributes={"zip": {"role": "qi", **ZIPS}}, privacy=[{"model": "k_anonymity", "k": 2}])
    assert ind.anonymize(table, policy).loss["lm"] == pytest.approx(1 / 3)


def test_a_code_of_one_character_is_masked_as_the_root():
    release, _ = released("08-masking-of-a-one-character-code")
    assert sorted(set(release.table["zip"].to_pylist())) == ["0", "0213*"]
    codes = build_hierarchy("zip", ["0", "9", "02139"], spec={"kind": "masking"})
    assert codes.levels[1].labels == ("*", "0213*")
    assert codes.levels[1].costs[0] == 1  # whoever reads * learns nothing, whichever level it is of


@pytest.mark.parametrize("algorithm", ["local", "optimal", "mondrian", "datafly", "mu_argus"])
def test_a_class_of_one_character_codes_is_lost_as_everything_is(algorithm):
    # * is published of two of four rows and costs 1; 0213* stands for two of four codes: (2 - 1) / (4 - 1)
    policy = Policy(
        attributes={"zip": {"role": "qi", "hierarchy": {"kind": "masking"}}},
        privacy=[K],
        recoding={"algorithm": algorithm},
    )
    release = ind.anonymize(pa.table({"zip": ["0", "9", "02139", "02138"]}), policy)
    assert sorted(release.table["zip"].to_pylist()) in (["*", "*", "0213*", "0213*"], ["*"] * 4)
    starred = release.table["zip"].to_pylist().count("*")
    assert release.loss["lm"] == pytest.approx((starred + (4 - starred) / 3) / 4)
    assert release.loss["ambiguity"] == pytest.approx((4 * starred + 2 * (4 - starred)) / 4)


def test_a_population_is_counted_by_what_a_reader_takes_a_star_for(tmp_path):
    (tmp_path / "all.csv").write_text("zip\n0\n0\n9\n02139\n02138\n02138\n")
    # at level 1 the label * of 0 and 9 stands for all six people and 0213* for three of them: no share is defined
    model = {"model": "delta_presence", "minimum": "0.1", "maximum": "0.9", "population": "all.csv"}
    policy = Policy(attributes={"zip": {"role": "qi", "hierarchy": {"kind": "masking"}}}, privacy=[model],
                    recoding={"algorithm": "optimal"})  # fmt: skip
    release = ind.anonymize(pa.table({"zip": ["0", "9", "02139", "02138"]}), policy.at(tmp_path))
    assert set(release.table["zip"].to_pylist()) == {"*"}


def test_buckets_of_one_character_codes_can_be_parted():
    table = pa.table({"sex": ["f", "m"] * 4, "code": ["0", "9", "0", "9", "12", "13", "12", "13"]})
    policy = Policy(
        attributes={
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "code": {"role": "sensitive", "hierarchy": {"kind": "masking"}},
        },
        privacy=[{"model": "t_closeness", "attribute": "code", "t": "0.3", "distance": "hierarchical"}],
        recoding={"algorithm": "sabre"},
    )
    assert ind.anonymize(table, policy).document["models"][0]["satisfied"]


def test_codes_and_their_extensions_meet_when_filled_up():
    texts = ["02139", "02139-4307", "10001", "10001-2222"]
    codes = build_hierarchy("zip", texts, spec={"kind": "masking", "fill": "longest"})
    assert codes.levels[5].labels == ("02139*****", "10001*****")
    assert codes.levels[5].node_of.tolist() == [0, 0, 1, 1]
    assert codes.levels[4].labels == ("02139", "02139-****", "10001", "10001-****")
    left = build_hierarchy("n", ["7", "17"], spec={"kind": "masking", "fill": "longest", "from": "left"})
    assert left.height == 2


CODES = st.lists(st.text("01", min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
@given(codes=CODES)
@settings(max_examples=150, deadline=None)
def test_a_filled_mask_is_read_as_the_codes_it_stands_for(side, codes):
    spec = {"kind": "masking", "fill": "longest", "from": side}
    found = build_hierarchy("zip", codes, spec=spec)
    reader = Reader(found.texts, **masks_of(spec))
    known = {}
    for number, level in enumerate(found.levels):
        for node, label in enumerate(level.labels):
            members = np.flatnonzero(level.node_of == node).tolist()
            if label != "*":
                assert known.setdefault(label, members) == members  # one label, one set
                assert reader.find(label).tolist() == members
            assert number or label == found.texts[node]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["local", "optimal", "mondrian"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_codes_and_their_extensions_are_published_where_they_meet(algorithm, side, tmp_path):
    codes = ["02139", "02139-4307", "10001", "10001-2222"]
    # each pair meets in itself and the five characters that its extension has more
    expected = {"02139*****", "10001*****"}
    if side == "left":
        codes, expected = [code[::-1] for code in codes], {label[::-1] for label in expected}
    zips = {"role": "qi", "hierarchy": {"kind": "masking", "fill": "longest", "from": side}}
    policy = Policy(attributes={"zip": zips}, privacy=[K], recoding={"algorithm": algorithm})
    table = pa.table({"zip": codes})
    release = ind.anonymize(table, policy, output=tmp_path / "out.csv")
    assert set(release.table["zip"].to_pylist()) == expected
    assert ind.verify(table, tmp_path / "out.csv", policy).satisfied
    assert ind.utility(table, tmp_path / "out.csv", policy)


@pytest.mark.parametrize(
    ("label", "type"), [("[20, 21]", "integer"), ("20-29", "integer"), ("90+", "decimal"), ("2024-03", "date")]
)
def test_labels_in_the_input_are_named_and_never_called_missing(label, type):
    with pytest.raises(DataError, match="already generalized: make the release from the source") as refused:
        build_hierarchy("age", [label], spec={"kind": "range"}, type=type)
    assert "missing" not in str(refused.value)


@pytest.mark.parametrize(
    ("cell", "reading"),
    [
        ("2024", {"type": "date", "format": "%d.%m.%Y", "spec": {"kind": "dates", "levels": ["year"]}}),
        ("02139-4307", {"spec": {"rows": [["02139", "0"]]}}),
        ("1234", {"spec": {"rows": [["02139", "0"]]}}),
        ("1-800", {"spec": {"rows": [["02139", "0"]]}}),
        ("about 40", {"type": "integer", "spec": {"kind": "range"}}),
    ],
)
def test_plain_values_are_not_taken_for_labels(cell, reading):
    with pytest.raises((DataError, HierarchyError)) as refused:
        build_hierarchy("x", [cell], **reading)
    assert "already generalized" not in str(refused.value)
    assert "partial" not in str(refused.value)


@pytest.mark.parametrize(
    ("cell", "reading"),
    [
        ("*", {"type": "integer", "spec": {"kind": "range"}}),
        ("*", {"spec": {"kind": "masking"}}),
        ("*", {"spec": {"kind": "suppress"}}),
        ("{a, b}", {"spec": {"kind": "set", "most": 3}}),
        ("north", {"spec": {"rows": [["n1", "north", "*"], ["s1", "south", "*"]]}}),
        ("*", {"spec": {"rows": [["n1", "north", "*"], ["s1", "south", "*"]]}}),
    ],
)
def test_labels_of_every_kind_are_named(cell, reading):
    others = {"integer": ["20"], "text": ["n1"]}[reading.get("type", "text")]
    with pytest.raises((DataError, HierarchyError), match="make the release from the source") as refused:
        build_hierarchy("x", [cell, *others], **reading)
    assert "missing" not in str(refused.value)


@pytest.mark.parametrize(("character", "label"), [("*", "021**"), ("#", "021##")])
def test_masked_codes_among_codes_are_named(character, label):
    with pytest.raises(HierarchyError, match="already generalized: make the release from the source"):
        build_hierarchy("zip", [label, "02139"], spec={"kind": "masking", "character": character})


def test_a_release_is_not_made_coarser_in_silence():
    with pytest.raises(DataError, match="already generalized"):
        released("18-coarser-version-of-a-release")


@pytest.mark.parametrize("near", ["E1,E2 ", "E1, E2", "e1,e2", "E1,E22"])
def test_the_near_value_of_a_hierarchy_is_shown(near):
    with pytest.raises(HierarchyError, match='it has "E1,E2"') as refused:
        build_hierarchy("d", [near], spec={"rows": [["E1,E2", "E"], ["F", "E"]]})
    assert "missing" not in str(refused.value)


def test_a_repeated_row_is_accepted_and_hides_no_contradiction():
    assert check([("a", "x"), ("a", "x"), ("b", "x")]).leaves == ("a", "b")
    with pytest.raises(HierarchyError, match='"b" has two rows that differ, 3 and 4'):
        check([("a", "x"), ("a", "x"), ("b", "x"), ("b", "y")])


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (["M\u00fcn", "mu\u0308n"], "blanks or case, which a clean-up"),
        (
            ["M\u00fcn", "Mu\u0308n", "a", "A"],
            "blanks, case or composed characters, which normalizing to Unicode NFC and",
        ),
        (["north", "north "], 'blanks at their ends, which \\[table\\] trim = "cells"'),
    ],
)
def test_the_remedy_fits_what_differs(texts, what):
    policy = Policy(attributes={"town": {"role": "qi", "hierarchy": {"kind": "suppress"}}}, privacy=[K])
    warnings = ind.anonymize(pa.table({"town": texts * 2}), policy).document["warnings"]
    (said,) = [one["message"] for one in warnings if one["kind"] == "look-alike"]
    assert re.search(what, said)


def test_look_alikes_of_composed_characters_are_told_apart():
    table = pa.table({"town": ["M\u00fcn", "Mu\u0308n"]})
    policy = Policy(attributes={"town": {"role": "qi", "hierarchy": {"kind": "suppress"}}},
                    privacy=[{"model": "k_anonymity", "k": 2}])  # fmt: skip
    said = " ".join(warning["message"] for warning in ind.anonymize(table, policy).document["warnings"])
    assert "decomposed" in said
    assert "NFC" in said
    assert "u\\u0308" in said
