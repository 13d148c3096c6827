"""Golden checks of the algorithms that form groups."""

from fractions import Fraction

import pyarrow as pa
import pytest

import indistinct as ind
import naive_groups
import naive_numeric
from indistinct.algorithms.largest_bucket_first import buckets_of
from indistinct.models.eps_i_k_anonymity import prepared
from indistinct.models.numbers import numbers_of
from indistinct.session.prepare import prepare


def release(values, privacy, **document):
    """Publish rows that are all different in groups; the algorithm follows from the model, or from ``document``."""
    table = pa.table({"row": [f"{at:03}" for at in range(len(values))], "s": list(values)})
    kind = {} if privacy.model == "distinct_l" else {"type": "decimal"}
    policy = ind.Policy(
        attributes={"row": {"role": "quasi_identifying"}, "s": {"role": "sensitive", **kind}},
        privacy=[privacy],
        **document,
    )
    return ind.anonymize(table, policy), prepare(table, policy)


def contents(found):
    """Return the sensitive values of every group, as a sorted list of sorted lists."""
    groups = {}
    for row in found.table.st.to_pylist():
        groups.setdefault(row["group"], []).extend([row["s"]] * row["count"])
    return sorted(sorted(members) for members in groups.values())


def anatomy(given, parameters, expected, _):
    values, length = given["values"], parameters["l"]
    twin = naive_groups.anatomy(values, length)
    assert (twin is not None) is expected["eligible"]
    how = {"recoding": {"algorithm": "anatomy"}}
    if not expected["eligible"]:
        with pytest.raises(ind.InfeasibleError):
            release(values, ind.DistinctL("s", length), **how)
        return
    assert twin == (expected["groups"], expected["residue"])
    found, _ = release(values, ind.DistinctL("s", length), **how)
    assert contents(found) == sorted(map(sorted, expected["groups"]))


def epsk_algorithm(given, parameters, expected, _):
    values, k, reading = given["values"], parameters["k"], parameters["reading"]
    reading = {"D": "disjoint", "S": "step7"}.get(reading, reading)
    privacy = ind.EpsIKAnonymity("s", k, beta=parameters["beta"], separation=reading)
    found, before = release(values, privacy, suppression={"limit": "1/2"})
    assert contents(found) == sorted(map(sorted, expected["groups"]))
    assert found.document["suppressed_rows"] == len(expected["suppressed"])
    assert sum(found.document["suppressed_because"].values()) == len(expected["suppressed"])
    entry = found.document["models"][0]
    assert entry["satisfied"]
    assert Fraction(entry["achieved"]["risk"]["fraction"]) == Fraction(expected["max_risk_excluding_self"]["fraction"])

    numbers = numbers_of(before.counted.frequencies.references["s"])
    epsilons, around = prepared(privacy, numbers)
    assert epsilons == [Fraction(epsilon["fraction"]) for epsilon in expected["epsilons"]]
    bucket = buckets_of(numbers, around.interval, epsilons)
    assert len(set(bucket.tolist())) == len(expected["buckets"])

    exact = [Fraction(value) for value in values]
    interval_of = {v: at for at, own in enumerate(naive_numeric.intervals(exact)) for v in own}
    groups, suppressed = naive_groups.largest_bucket_first(exact, k, interval_of, epsilons, reading)
    assert sorted(map(sorted, groups)) == sorted(sorted(map(Fraction, group)) for group in expected["groups"])
    assert suppressed == [Fraction(value) for value in expected["suppressed"]]


CHECKS = {"anatomy": anatomy, "epsk.algorithm": epsk_algorithm}
