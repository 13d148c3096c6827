"""(n,t)-closeness against its definition, on releases of a small table."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_models as naive

AREA = {"11": ("11", "1", "*"), "12": ("12", "1", "*"), "21": ("21", "2", "*"), "22": ("22", "2", "*")}
SEX = {"f": ("f", "*"), "m": ("m", "*")}
ROWS = st.lists(
    st.tuples(st.sampled_from([*AREA]), st.sampled_from("fm"), st.sampled_from("abc")), min_size=2, max_size=24
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "area.csv"
    path.write_text("".join(";".join(labels) + "\n" for labels in AREA.values()), encoding="utf-8")
    return str(path)


def policy(file, model, **document):
    attributes = {
        "area": {"role": "qi", "hierarchy": {"file": file}},
        "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        "ill": {"role": "sensitive"},
    }
    return ind.Policy(attributes=attributes, privacy=[model], **document)


def best_of(published):
    """Least distance of every class over all coarser groupings of the published rows, by their labels."""
    above = {"11": "1", "12": "1", "21": "2", "22": "2", "1": "*", "2": "*", "*": "*", "f": "*", "m": "*"}

    def general(label, steps):
        for _ in range(steps):
            label = above[label]
        return label

    def grouped(key):
        found = {}
        for row in published:
            found.setdefault(key(row), []).append(row)
        return found

    classes = grouped(lambda row: (row["area"], row["sex"]))
    return classes, [
        grouped(lambda row, a=a, b=b: (general(row["area"], a), general(row["sex"], b)))
        for a, b in product(range(3), range(2))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["optimal", "generalize_step"])
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, n=st.integers(1, 12), t=st.sampled_from(["1/10", "1/3", "1/2"]), limit=st.sampled_from([0, 0.3]))
def test_every_class_has_its_superset(file, algorithm, rows, n, t, limit):
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(("area", "sex", "ill"))})
    given_policy = policy(
        file, ind.NTCloseness("ill", n, t, "equal"), suppression={"limit": limit}, recoding={"algorithm": algorithm}
    )
    try:
        release = ind.anonymize(table, given_policy)
    except ind.InfeasibleError:
        assert len(rows) < n  # else one class of everything would have been found
        return
    published = release.table.to_pylist()
    classes, groupings = best_of(published)
    best = []
    for members in classes.values():
        around = [
            Counter(row["ill"] for row in group)
            for grouping in groupings
            for group in grouping.values()
            if any(row is members[0] for row in group)
        ]
        best.append(naive.best_distance(Counter(row["ill"] for row in members), around, n))
    assert None not in best
    assert max(best) <= Fraction(t)
    entry = release.document["models"][0]
    assert Fraction(entry["achieved"]["t"]["fraction"]) == max(best)
    assert ind.verify(table, release.table, given_policy).satisfied


def test_a_table_alone_does_not_show_its_levels(file):
    table = pa.table({"area": ["11", "21"], "sex": ["f", "m"], "ill": ["a", "b"]})
    model = ind.NTCloseness("ill", 2, "1/2", "equal")
    with pytest.raises(ind.UnsupportedError, match="levels at which the table was recoded"):
        ind.audit(table, policy(file, model))
    with pytest.raises(ind.PolicyError, match='"optimal", "generalize_step"'):
        ind.anonymize(table, policy(file, model, recoding={"algorithm": "local"}))
