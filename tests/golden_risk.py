"""Exact expected values of the checklists and measures of risk; ``test_golden`` runs them."""

from indistinct.risk import safe_harbor


def zip3(given, parameters, expected, _):
    people = {area: count for area, count in given["zcta_population"]}  # noqa: C416  # pairs of a JSON file
    assert safe_harbor.zip3_population(people) == expected["zip3_population"]
    assert safe_harbor.zip3(given["zips"], people) == expected["released"]
    assert [safe_harbor.age(age) for age in given["ages"]] == expected["ages"]
    years = [safe_harbor.birth_year(year, parameters["reference_year"]) for year in given["birth_years"]]
    assert years == expected["birth_years"]


CHECKS = {"hipaa.zip3": zip3}
