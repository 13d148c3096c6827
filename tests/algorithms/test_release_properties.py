"""What every algorithm owes: tested over the set of all of them, under the slow twins. A new one adds its name."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive
from indistinct.algorithms import algorithms
from text_tables import as_table

AREA = {
    "11": ("11", "1", "*"),
    "12": ("12", "1", "*"),
    "13": ("13", "1", "*"),
    "21": ("21", "2", "*"),
    "22": ("22", "2", "*"),
}
SEX = {"f": ("f", "*"), "m": ("m", "*")}
ILLNESS = {"a": ("a", "x", "*"), "b": ("b", "x", "*"), "c": ("c", "y", "*"), "d": ("d", "y", "*")}
QUASI = ("area", "sex")
COMBINATIONS = {
    "k": [{"model": "k_anonymity", "k": 3}],
    "k and distinct": [{"model": "k_anonymity", "k": 2}, {"model": "distinct_l", "attribute": "ill", "l": 2}],
    "k and t": [
        {"model": "k_anonymity", "k": 2},
        {"model": "t_closeness", "attribute": "ill", "t": "2/5", "distance": "equal"},
    ],
    "k, l and t": [
        {"model": "k_anonymity", "k": 2},
        {"model": "recursive_cl", "attribute": "ill", "c": 3, "l": 2},
        {"model": "t_closeness", "attribute": "ill", "t": "1/3", "distance": "hierarchical"},
    ],
    "entropy": [{"model": "entropy_l", "attribute": "ill", "l": "3/2"}],
    "alpha and p": [
        {"model": "alpha_k", "attribute": "ill", "alpha": "2/3", "k": 2},
        {"model": "p_sensitive_k", "attribute": "ill", "p": 2, "k": 3},
    ],
    "alpha of one": [{"model": "alpha_k", "attribute": "ill", "alpha": "1/2", "k": 2, "values": ["a"]}],
    "pd": [{"model": "pd_recursive", "attribute": "ill", "c": 2, "l": 2, "Y": ["b"]}],
    "k and beta": [
        {"model": "k_anonymity", "k": 2},
        {"model": "beta_likeness", "attribute": "ill", "beta": 1, "kind": "enhanced"},
    ],
    "delta": [{"model": "delta_disclosure", "attribute": "ill", "delta": "3/2"}],
    "joint": [{"model": "joint_l", "attributes": ["ill", "drug"], "kind": "distinct_l", "l": 2}],
}

# algorithms that hold a model of their own and none of these; their own tests ask the same of them
OWN_MODELS = ("km", "safepub", "eps_m_partition", "m_invariance")

row = st.fixed_dictionaries(
    {
        "who": st.sampled_from([f"p{number}" for number in range(12)]),
        "area": st.sampled_from([*AREA, None]),
        "sex": st.sampled_from([*SEX]),
        "ill": st.sampled_from([*ILLNESS]),
        "drug": st.sampled_from(["m", "n"]),
        "note": st.sampled_from(["", "x", None]),
    }
)
# fixed_dictionaries shuffles its keys, and a table has an order of columns
SETTINGS = {"top_down_specialization": {"target": "drug"}}  # what an algorithm can't do without
# "whose" is the person key once more, published as it is: from it the slow twin sees whose a published row is
COLUMNS = ("who", "area", "sex", "ill", "drug", "note", "whose")
in_order = row.map(lambda row: {name: row["who" if name == "whose" else name] for name in COLUMNS})
tables = st.lists(in_order, min_size=2, max_size=30)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("hierarchies"), {}
    for name, paths in (("area", AREA), ("ill", ILLNESS)):
        (folder / f"{name}.csv").write_text("".join(";".join(path) + "\n" for path in paths.values()), encoding="utf-8")
        found[name] = {"file": str(folder / f"{name}.csv")}
    return found


def is_refused(algorithm, models, *, person):
    """Say whether an algorithm is not made for such a table or for such models, and must say so."""
    if algorithm == "univariate_microaggregation":
        return True  # there are two quasi-identifiers
    if algorithm in ("t_closeness_first", "sabre"):
        return person or sum(model["model"] == "t_closeness" for model in models) != 1
    return False


def as_policy(files, models, algorithm, limit, *, person):
    used = {name for model in models for name in (model.get("attribute"), *model.get("attributes", ())) if name}
    attributes = {
        "area": {"role": "quasi_identifying", "hierarchy": files["area"], "weight": 2},
        "sex": {"role": "quasi_identifying", "hierarchy": {"kind": "suppress"}},
        **{name: {"role": "sensitive", "hierarchy": files.get(name)} for name in sorted(used)},
    }
    document = {"person": {"key": "who"}} if person else {}
    if not person:
        attributes["who"] = {"role": "identifying"}
    return ind.Policy(
        attributes=attributes,
        privacy=models,
        suppression={"limit": limit},
        recoding={"algorithm": algorithm, "quality": "fast", **SETTINGS.get(algorithm, {})},
        table={"unlisted": "insensitive"},
        **document,
    )


def domains(rows):
    """Return the hierarchies with the missing value where the column has one."""
    area = naive.with_missing(AREA) if any(row["area"] is None for row in rows) else AREA
    return {"area": area, "sex": {value: SEX[value] for value in sorted({row["sex"] for row in rows})}}


ALGORITHMS = [one.name for one in algorithms() if one.declares != "permuting" and one.name not in OWN_MODELS]


def cases():
    """Every algorithm with every combination, counted by rows and by persons; a sample takes one of the two in turn."""
    for (i, algorithm), (j, combination), person in product(
        enumerate(ALGORITHMS), enumerate(COMBINATIONS), (False, True)
    ):
        marks = pytest.mark.thorough if (i + j + person) % 2 else ()
        name = f"{algorithm}-{combination}-{'persons' if person else 'rows'}"
        yield pytest.param(algorithm, combination, person, marks=marks, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "combination", "person"), list(cases()))
@settings(max_examples=4)  # for each of several hundred combinations
@given(rows=tables, limit=st.sampled_from(["0", "1/10", "1/3"]), order=st.randoms(use_true_random=False))
def test_a_release_is_what_was_asked(algorithm, combination, person, files, rows, limit, order):
    models = COMBINATIONS[combination]
    how = {"person": "who" if person else None, "trees": {"ill": ILLNESS}}
    policy = as_policy(files, models, algorithm, limit, person=person)
    if is_refused(algorithm, models, person=person):
        with pytest.raises(ind.PolicyError, match='algorithm = "'):
            ind.anonymize(as_table(rows), policy)
        return
    try:
        release = ind.anonymize(as_table(rows), policy)
    except ind.InfeasibleError:
        # all these models are merge-closed, or could be met by the whole table: one class of all would have been found
        everything = [{**row, "area": "*", "sex": "*"} for row in rows]
        assert not naive.satisfied(everything, QUASI, models, rows, **how)
        return
    published = release.table.to_pylist()
    document = release.document

    # the counts add up, within the limit, and something is left
    suppressed = document["suppressed_rows"]
    assert len(published) + suppressed == len(rows)
    assert suppressed <= Fraction(limit) * len(rows)
    assert published

    # the columns are those of the table without the identifying ones, in its order
    assert list(published[0]) == [name for name in COLUMNS if name != "who"]

    # what was not to be changed was not changed
    untouched = [name for name in published[0] if name not in QUASI]
    before = Counter(tuple(row[name] for name in untouched) for row in rows)
    after = Counter(tuple(row[name] for name in untouched) for row in published)
    assert after <= before

    # every published row covers an original row of its own
    hierarchies = domains(rows)
    assert covered(published, rows, untouched, hierarchies)

    # the models hold, by their definitions, against the whole input
    assert naive.satisfied(published, QUASI, models, rows, **how | {"person": "whose" if person else None})
    assert document["satisfied"]

    # the loss is that of what was published
    lost = naive.loss(published, QUASI, hierarchies, suppressed, {"area": 2, "sex": 1})
    assert document["loss"]["lm"] == pytest.approx(float(lost), rel=1e-9, abs=1e-12)

    # the order of the rows does not matter
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert ind.anonymize(as_table(shuffled), policy).table.equals(release.table)


def covered(published, rows, untouched, hierarchies):
    """Find an original row of its own for every published row (augmenting paths)."""

    def covers(new, old):
        if any(new[name] != old[name] for name in untouched):
            return False
        return all(new[name] in hierarchies[name][old[name]] for name in QUASI)

    taken = {}

    def assign(number, seen):
        for other, old in enumerate(rows):
            if other not in seen and covers(published[number], old):
                seen.add(other)
                if other not in taken or assign(taken[other], seen):
                    taken[other] = number
                    return True
        return False

    return all(assign(number, set()) for number in range(len(published)))
