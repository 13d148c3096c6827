"""Stated floors hold under every algorithm; masks of unequal codes; messages about labels and hierarchies."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.errors import DataError, HierarchyError, PolicyError
from indistinct.hierarchies import build_hierarchy, check
from indistinct.policy import ALGORITHMS, Policy
from indistinct.publish.ready import check as check_policy

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


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_algorithm_publishes_below_a_floor(name, tmp_path):
    for quasi in [(one,) for one in ALONE[name]] if name in ALONE else [tuple(QUASI)]:
        release = ind.anonymize(*made_for(name, quasi, tmp_path))
        found = release.table[0] if isinstance(release.table, tuple) else release.table
        for one in quasi:
            labels = set(map(str, found[one].to_pylist()))
            assert labels <= FINEST[one] | COARSER[one]
            assert labels


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
    assert ind.transform(table, whole).table[column].to_pylist() == table[column].to_pylist()
    assert set(map(str, ind.anonymize(table, whole).table[column].to_pylist())) <= FINEST[column] | COARSER[column]


def test_aggregates_are_refused_where_a_floor_forbids_single_values():
    for column in QUASI:
        policy = Policy(attributes={column: QUASI[column]}, privacy=[K],
                        recoding={"algorithm": "mondrian", "aggregate": "median"})  # fmt: skip
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


def test_codes_and_their_extensions_meet_when_filled_up():
    texts = ["02139", "02139-4307", "10001", "10001-2222"]
    codes = build_hierarchy("zip", texts, spec={"kind": "masking", "fill": "longest"})
    assert codes.levels[5].labels == ("02139*****", "10001*****")
    assert codes.levels[5].node_of.tolist() == [0, 0, 1, 1]
    left = build_hierarchy("n", ["7", "17"], spec={"kind": "masking", "fill": "longest", "from": "left"})
    assert left.height == 2


@pytest.mark.parametrize(
    ("label", "type"), [("[20, 21]", "integer"), ("20-29", "integer"), ("90+", "decimal"), ("2024-03", "date")]
)
def test_labels_in_the_input_are_named_and_never_called_missing(label, type):
    with pytest.raises(DataError, match="already generalized: make the release from the source") as refused:
        build_hierarchy("age", [label], spec={"kind": "range"}, type=type)
    assert "missing" not in str(refused.value)


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


def test_look_alikes_of_composed_characters_are_told_apart():
    table = pa.table({"town": ["M\u00fcn", "Mu\u0308n"]})
    policy = Policy(attributes={"town": {"role": "qi", "hierarchy": {"kind": "suppress"}}},
                    privacy=[{"model": "k_anonymity", "k": 2}])  # fmt: skip
    said = " ".join(warning["message"] for warning in ind.anonymize(table, policy).document["warnings"])
    assert "decomposed" in said
    assert "NFC" in said
    assert "u\\u0308" in said
