"""Version 2 of the policy snaps whole numbers, on a grid that is coarser than they are; version 1 stays as it was."""

import pyarrow as pa
import pytest

import indistinct as ind

AGES = [20, 21, 22, 33, 34, 37, 50, 52, 53, 71]


def release(version, hierarchy, ages=AGES, **attribute):
    settings = {"role": "qi", "type": "integer", "hierarchy": hierarchy, **attribute}
    policy = {"version": version, "attributes": {"age": settings}, "privacy": [{"model": "k_anonymity", "k": 3}]}
    return ind.anonymize(pa.table({"age": ages}), ind.Policy(**policy)).table["age"].to_pylist()


def labels(*args, **settings):
    return sorted(set(release(*args, **settings)))


def test_whole_numbers_are_snapped_where_no_bounds_are_named():
    # the domain 20..71 has a width of 51, a fiftieth is 1.02: the step is 2
    assert labels(2, {"kind": "range"}) == ["[20, 23]", "[32, 37]", "[50, 71]"]
    assert labels(1, {"kind": "range"}) == ["[20, 22]", "[33, 37]", "[50, 71]"]


def test_bounds_that_are_named_stay():
    assert release(2, {"kind": "range", "bounds": "members"}) == release(1, {"kind": "range"})
    assert labels(2, {"kind": "range", "step": 10}) == ["[20, 29]", "[30, 39]", "[50, 79]"]


def test_an_attribute_made_before_is_snapped_too():
    age = ind.Attribute(role="qi", type="integer", hierarchy={"kind": "range"})
    assert ind.Policy(version=2, attributes={"age": age}).attributes["age"].hierarchy.bounds == "snapped"
    assert ind.Policy(version=1, attributes={"age": age}).attributes["age"].hierarchy.bounds is None


def test_the_step_is_a_function_of_domain_and_type_alone():
    # 0..100 asks for a step of 2, whatever is in the table; 0..1000 for one of 20
    for ages in ([1, 1, 1, 5, 5, 5], [1, 1, 1, 5, 5, 5, 77, 77, 77]):
        assert "[0, 1]" in labels(2, {"kind": "range"}, ages=ages, domain=[0, 100])
        assert "[0, 19]" in labels(2, {"kind": "range"}, ages=ages, domain=[0, 1000])


@pytest.mark.parametrize(("type", "step"), [("integer", 1), ("date", 1), ("date", "day")])
def test_a_grid_of_ones_is_refused_by_version_two_and_kept_by_version_one(type, step):
    section = {"role": "qi", "type": type, "hierarchy": {"kind": "range", "bounds": "snapped", "step": step}}
    with pytest.raises(ind.PolicyError, match=r"attributes\.x\.hierarchy\.step.*set at least 2"):
        ind.Policy(version=2, attributes={"x": section})
    assert ind.Policy(version=1, attributes={"x": section}).attributes["x"].fine_step is not None


def test_decimals_dates_and_ranks_are_published_alike_under_both():
    days = {"day": {"role": "qi", "type": "date", "hierarchy": {"kind": "range"}}}
    sizes = {"size": {"role": "qi", "type": "ordinal", "order": ["S", "M", "L"], "hierarchy": {"kind": "range"}}}
    table = pa.table({"day": ["2024-01-03", "2024-01-09", "2024-05-01", "2024-05-02"], "size": ["S", "S", "M", "L"]})
    for attributes in (days, sizes):
        shown = [
            ind.anonymize(
                table.select(list(attributes)),
                ind.Policy(version=version, attributes=attributes, privacy=[{"model": "k_anonymity", "k": 2}]),
            ).table
            for version in (1, 2)
        ]
        assert shown[0].equals(shown[1])
