"""k-map and delta-presence: what labels cover of a population, in searches, audits and proofs."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_models as naive
from indistinct.models.k_map import sample_size

ZIPS = ["10", "11", "12", "20", "21"]
PEOPLE = st.lists(st.tuples(st.integers(20, 49), st.sampled_from("fm"), st.sampled_from(ZIPS)), min_size=8, max_size=40)
POLICY = """
version = 1
[attributes.age]
role = "quasi_identifying"
type = "integer"
hierarchy = {age}
[attributes.sex]
role = "quasi_identifying"
hierarchy = {{ kind = "suppress" }}
[attributes.zip]
role = "quasi_identifying"
hierarchy = {{ kind = "masking" }}
[suppression]
limit = {limit}
[recoding]
algorithm = "{algorithm}"
quality = "fast"
[[privacy]]
population = "everybody.csv"
{model}
"""
INTERVALS = '{ kind = "intervals", widths = [5, 10, 30], origin = 20 }'
RANGE = '{ kind = "range", bounds = "members" }'


def policy_in(folder, people, model, algorithm, age=INTERVALS, limit=0.2):
    lines = ["age,sex,zip", *(f"{age},{sex},{zip_}" for age, sex, zip_ in people)]
    (folder / "everybody.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "policy.toml"
    path.write_text(POLICY.format(age=age, model=model, algorithm=algorithm, limit=limit), encoding="utf-8")
    return ind.Policy.load(path)


def as_table(people):
    ages, sexes, zips = zip(*people, strict=True)
    return pa.table({"age": pa.array(map(str, ages), pa.string()), "sex": sexes, "zip": zips})


def covers(label, value):
    """Read a label of these hierarchies."""
    label, value = str(label), str(value)
    if label in ("*", value):
        return True
    if label.startswith("["):
        low, high = label.strip("[])").split(", ")
        return int(low) <= int(value) <= int(high) - label.endswith(")")
    return label.endswith("*") and len(label) == len(value) and value.startswith(label.rstrip("*"))


def members(row, people):
    labels = row["age"], row["sex"], row["zip"]
    return sum(all(covers(label, value) for label, value in zip(labels, person, strict=True)) for person in people)


@pytest.mark.slow
@pytest.mark.parametrize("age", [INTERVALS, RANGE], ids=["intervals", "range"])
@pytest.mark.parametrize("algorithm", ["optimal", "generalize_step", "local"])
@settings(max_examples=8, deadline=None)
@given(people=PEOPLE, k=st.integers(2, 9), data=st.data())
def test_published_classes_fit_k_people(tmp_path_factory, algorithm, age, people, k, data):
    sample = data.draw(st.lists(st.sampled_from(range(len(people))), min_size=3, unique=True))
    table = as_table([people[number] for number in sample])
    policy = policy_in(tmp_path_factory.mktemp("k"), people, f'model = "k_map"\nk = {k}', algorithm, age)
    try:
        release = ind.anonymize(table, policy)
    except ind.InfeasibleError:
        # labels of one level make everybody one class; the smallest labels of a class may leave people out
        assert len(people) < k or age == RANGE or algorithm == "local"
        return
    found = [members(row, people) for row in release.table.to_pylist()]
    assert min(found) >= k
    for entry in (release.document["models"][0], ind.audit(release.table, policy, suppressed_rows="class").models[0]):
        assert entry["achieved"] == {"k": min(found)}
        assert entry["satisfied"]
    assert ind.verify(table, release.table, policy).satisfied


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["optimal", "generalize_step"])
@pytest.mark.parametrize("bounds", [("0", "1/2"), ("1/10", "3/4")])
@settings(max_examples=8, deadline=None)
@given(people=PEOPLE, data=st.data())
def test_published_shares_lie_between_the_bounds(tmp_path_factory, algorithm, bounds, people, data):
    sample = data.draw(st.lists(st.sampled_from(range(len(people))), min_size=3, unique=True))
    low, high = bounds
    model = f'model = "delta_presence"\nminimum = "{low}"\nmaximum = "{high}"'
    policy = policy_in(tmp_path_factory.mktemp("d"), people, model, algorithm)
    try:
        release = ind.anonymize(as_table([people[number] for number in sample]), policy)
    except ind.InfeasibleError:
        assert not Fraction(low) <= Fraction(len(sample), len(people)) <= Fraction(high)
        return
    published = release.table.to_pylist()
    labels = list(dict.fromkeys(tuple(row.values()) for row in published))
    names = list(published[0])
    rows = [[tuple(row.values()) for row in published].count(label) for label in labels]
    crowd = [members(dict(zip(names, label, strict=True)), people) for label in labels]
    assert all(Fraction(low) <= Fraction(n, m) <= Fraction(high) for n, m in zip(rows, crowd, strict=True))
    if Fraction(low) > 0:
        assert sum(crowd) == len(people)
    assert release.document["satisfied"]


def test_local_cannot_hold_presence(tmp_path):
    people = [(20, "f", "10")] * 4
    policy = policy_in(tmp_path, people, 'model = "delta_presence"\nminimum = 0\nmaximum = 1', "local")
    with pytest.raises(ind.PolicyError, match=r'local cannot hold delta_presence.* "optimal", "generalize_step"'):
        ind.anonymize(as_table(people), policy)


def test_the_population_must_contain_the_table(tmp_path):
    policy = policy_in(tmp_path, [(20, "f", "10")] * 2, 'model = "k_map"\nk = 2', "optimal")
    with pytest.raises(ind.DataError, match=r"2 of 4 rows of the table are not in the population everybody\.csv"):
        ind.anonymize(as_table([(20, "f", "10")] * 3 + [(21, "m", "10")]), policy)
    with pytest.raises(ind.DataError, match="1 of 1 classes have more rows than the population"):
        ind.audit(as_table([(20, "f", "10")] * 3), policy)


def test_values_of_the_population_only_are_in_the_hierarchies(tmp_path):
    people = [(20, "f", "10"), (21, "f", "10"), (29, "m", "12"), (40, "f", "20")]
    policy = policy_in(tmp_path, people, 'model = "k_map"\nk = 2', "optimal", limit=0)
    release = ind.anonymize(as_table(people[:1]), policy)
    assert release.table.to_pylist() == [{"age": "[20, 25)", "sex": "f", "zip": "10"}]


def test_overlapping_labels_have_no_presence(tmp_path):
    people = [(20, "f", "10")] * 4
    policy = policy_in(tmp_path, people, 'model = "delta_presence"\nminimum = 0\nmaximum = 1', "optimal")
    table = pa.table({"age": ["[20, 25)", "*"], "sex": ["f", "f"], "zip": ["10", "10"]})
    entry = ind.audit(table, policy).models[0]
    assert not entry["satisfied"]
    assert "covered by several classes" in entry["reason"]


def test_a_policy_names_one_population(tmp_path):
    people = [(20, "f", "10")] * 4
    two = 'model = "k_map"\nk = 2\n[[privacy]]\nmodel = "k_map"\nk = 3\npopulation = "others.csv"'
    with pytest.raises(ind.PolicyError, match="the models name 2 populations"):
        ind.anonymize(as_table(people), policy_in(tmp_path, people, two, "optimal"))
    with pytest.raises(ind.PolicyError, match="one of the two"):
        ind.KMap(3)
    with pytest.raises(ind.PolicyError, match="sampling_fraction"):
        ind.KMap(3, estimator="poisson")


@pytest.mark.slow
@given(st.integers(1, 40), st.fractions(min_value="1/50", max_value=1), st.sampled_from(["1/100", "1/20", "3/10"]))
def test_size_for_the_statistical_form(k, fraction, significance):
    for truncated in (False, True):
        found = sample_size(k, fraction, Fraction(significance), truncated=truncated)
        assert found == naive.poisson_size(k, fraction, Fraction(significance), truncated=truncated)
        assert 1 <= found <= k


@pytest.mark.parametrize("algorithm", ["optimal", "flash", "local"])
@pytest.mark.parametrize("model", ["k_map", "delta_presence"])
def test_columns_that_no_label_covers_are_no_obstacle_to_the_answer(tmp_path, model, algorithm):
    # "sex" is never changed, so the table cannot be one class; nobody of the population is enough for k = 9
    people = [(20, "f", "10"), (20, "m", "10"), (21, "m", "11")]
    models = {"k_map": 'model = "k_map"\nk = 9', "delta_presence": 'model = "delta_presence"\nminimum = 0\nmaximum = 0'}
    policy = policy_in(tmp_path, people, models[model], algorithm)
    fixed = {name: attribute for name, attribute in policy.attributes.items() if name != "sex"}
    fixed["sex"] = policy.attributes["sex"].model_copy(update={"hierarchy": None})
    policy = policy.model_copy(update={"attributes": fixed})
    if (model, algorithm) == ("delta_presence", "local"):
        with pytest.raises(ind.PolicyError, match="local cannot hold delta_presence"):
            ind.anonymize(as_table(people), policy)
        return
    with pytest.raises(ind.InfeasibleError):
        ind.anonymize(as_table(people), policy)
