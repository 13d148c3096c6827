"""Golden check of private answers; ``test_golden`` runs it."""

from fractions import Fraction
from math import isclose, log

import pyarrow as pa

import indistinct as ind


def laplace(_given, parameters, expected, _):
    """The figures that OpenDP derives; its noise is discrete, in steps that are a millionth of the bounds."""
    rows, bounds = parameters["n"], (parameters["lower"], parameters["upper"])
    attributes = {"salary": {"role": "quasi_identifying", "type": "integer"}}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(1)])
    table = pa.table({"salary": [str(400 * number) for number in range(rows)]})
    queries = [ind.PrivateMean("salary"), ind.PrivateCount({"salary": (0, 1000)})]
    epsilon = 2 * Fraction(parameters["epsilon"])
    mean, count = ind.private(table, table, policy, queries, epsilon=epsilon, bounds={"salary": bounds}).document[
        "answers"
    ]
    for entry, name in ((mean, "mean"), (count, "count")):
        assert entry["epsilon"] == float(parameters["epsilon"])
        assert isclose(entry["scale"], expected[f"{name}_scale"]["decimal"], rel_tol=1e-9)
        continuous = entry["scale"] * log(20)  # P(|X| > x) = exp(-x / b)
        assert isclose(continuous, expected[f"{name}_p95_abs_error"]["decimal"], rel_tol=1e-9)
    assert mean["sensitivity"] == expected["mean_sensitivity_fixed_n"]["decimal"]
    assert isclose(mean["accuracy"]["error"], expected["mean_p95_abs_error"]["decimal"], rel_tol=1e-6)
    assert count["sensitivity"] == expected["count_sensitivity"]["decimal"]
    assert isclose(2 * count["scale"] ** 2, expected["count_variance"]["decimal"], rel_tol=1e-9)


CHECKS = {"dp.laplace": laplace}
