"""Published ages over 89: what is noted, in which columns and roles, and what is one class."""

import pyarrow as pa
import pytest

import indistinct as ind

RANGE = {"kind": "range", "bounds": "members"}
TOPPED = {"kind": "intervals", "widths": [10], "top": 90}


def noted(table, **sections):
    sections = {"privacy": [{"model": "k_anonymity", "k": 2}], "table": {"unlisted": "insensitive"}} | sections
    answer = ind.anonymize(table, ind.Policy(**sections))
    return {
        warning["column"]: warning["message"]
        for warning in answer.document["warnings"]
        if warning["kind"] == "ages-over-89"
    }


def of(ages, hierarchy, **attribute):
    settings = {"role": "qi", "type": "integer", "hierarchy": hierarchy, **attribute}
    return noted(pa.table({"age": ages}), attributes={"age": settings})


def test_the_ends_of_ranges_are_named():
    told = of([30, 31, 88, 93, 93, 88], RANGE)  # [88, 93], or 88 and 93 as two classes
    assert 'cells of "age" name a number over 89' in told["age"]
    assert "Safe Harbor" in told["age"]
    assert "top = 90" in told["age"]


def test_exact_values_and_cells_of_a_grid_are_named():
    assert 'such as "95"' in of([30, 30, 95, 95], RANGE)["age"]
    assert 'such as "[90, 99]"' in of([30, 30, 91, 95], {"kind": "range", "bounds": "snapped", "step": 10})["age"]


@pytest.mark.parametrize("ages", [[30, 31, 88, 89], [30, 31, 60, 61]])
def test_ages_up_to_89_are_not(ages):
    assert of(ages, RANGE) == {}


def test_one_class_of_90_and_older_is_what_the_list_takes():
    assert of([30, 31, 93, 95], TOPPED) == {}


def test_columns_of_every_role_are_looked_at_and_sensitive_ones_give_no_example():
    table = pa.table({"zip": ["1", "1", "2", "2"], "Lebensalter": [95, 30, 40, 50], "stage": [95, 96, 97, 98]})
    zip_code = {"role": "qi", "hierarchy": {"kind": "suppress"}}
    assert 'such as "95"' in noted(table, attributes={"zip": zip_code})["Lebensalter"]
    secret = noted(table, attributes={"zip": zip_code, "Lebensalter": {"role": "sensitive", "type": "integer"}})
    assert list(secret) == ["Lebensalter"]
    assert "(1)" in secret["Lebensalter"]
    assert "95" not in secret["Lebensalter"]


def test_groups_are_looked_at_too():
    table = pa.table({"zip": ["1", "2", "1", "2"], "age": [30, 40, 50, 95]})
    told = noted(
        table,
        attributes={"zip": {"role": "qi"}, "age": {"role": "sensitive", "type": "integer"}},
        privacy=[{"model": "distinct_l", "attribute": "age", "l": 2}],
        recoding={"algorithm": "anatomy"},
    )
    assert "(1)" in told["age"]


def test_coding_the_top_makes_one_class_unless_something_comes_after_it():
    table = pa.table({"zip": ["1", "1"], "age": [95, 93]})
    section = {"role": "insensitive", "type": "integer"}
    coded = {"method": "top_coding", "attribute": "age", "limit": 90}
    attributes = {"zip": {"role": "qi"}, "age": section}
    assert noted(table, attributes=attributes, transforms=[coded]) == {}
    assert "age" in noted(table, attributes=attributes, transforms=[coded | {"limit": 92}])


def test_a_transformed_table_that_nothing_comes_after_is_noted():
    table = pa.table({"zip": ["1", "1"], "age": [95, 93]})
    top = {"method": "top_coding", "attribute": "age", "limit": 94}
    policy = {"attributes": {"zip": {"role": "qi"}, "age": {"role": "qi", "type": "integer"}}, "transforms": [top]}
    kinds = [one["kind"] for one in ind.transform(table, ind.Policy(**policy)).document["warnings"]]
    assert "ages-over-89" in kinds
    policy["privacy"] = [{"model": "k_anonymity", "k": 2}]
    kinds = [one["kind"] for one in ind.transform(table, ind.Policy(**policy)).document["warnings"]]
    assert "ages-over-89" not in kinds
