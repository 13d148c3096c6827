"""An attacker who knows the program, on the Adult table with seven quasi-identifiers: what reports once left out."""

import pytest

import indistinct as ind

pytestmark = [pytest.mark.adult, pytest.mark.slow]
NAMES = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


def policy_of(folder, *models, **recoding):
    attributes = {
        name: {"role": "qi", "hierarchy": {"file": str(folder / f"adult_hierarchy_{name}.csv")}} for name in NAMES
    }
    attributes["age"] = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}
    attributes |= {name: {"role": "sensitive"} for name in ("occupation", "salary-class")}
    return ind.Policy(attributes=attributes, privacy=list(models), recoding=recoding)


@pytest.fixture(scope="module")
def adult(adult_folder):
    return adult_folder / "adult.csv"


def attacked(adult, policy, *attacks, **how):
    return ind.attack(ind.anonymize(adult, policy).table, policy, original=adult, attacks=attacks, **how)


def test_missing_groups_are_homogeneous(adult, adult_folder):
    policy = policy_of(adult_folder, ind.KAnonymity(5), ind.DistinctL("salary-class", 2))
    entry = attacked(adult, policy, "minimality")["minimality"]
    found = entry["details"]["linear"]
    assert (found["groups"], found["persons_of_groups"]) == (422, 6013)
    assert found["failing_persons_of_groups"] == 6013
    assert round(found["base_share"], 3) == 0.364
    assert entry["posterior"] == 1.0


def test_groups_of_a_plain_release_give_themselves_away(adult, adult_folder):
    policy = policy_of(adult_folder, ind.KAnonymity(5), ind.DistinctL("salary-class", 2))
    entry = attacked(adult, policy, "minimality_posterior")["minimality_posterior"]
    assert entry["details"]["certain"] > 100


def test_few_occupations(adult, adult_folder):
    policy = policy_of(adult_folder, ind.KAnonymity(5), ind.DistinctL("occupation", 3))
    found = attacked(adult, policy, "minimality")["minimality"]["details"]["linear"]
    assert found["persons_of_groups"] == found["failing_persons_of_groups"] == 517
    assert round(found["base_share"], 3) == 0.031


@pytest.mark.parametrize(("column", "l", "lm"), [("salary-class", 2, 0.0664), ("occupation", 3, 0.0265),
                                                 ("occupation", 5, 0.0505)])  # fmt: skip
def test_robust_recoding_leaves_nobody_certain(adult, adult_folder, tmp_path, column, l, lm):  # noqa: E741
    key = tmp_path / "key"
    key.write_text("5c" * 32)
    key.chmod(0o600)
    models = ind.KAnonymity(5), ind.DistinctL(column, l)
    policy = policy_of(adult_folder, *models, robust=True, key_file=str(key))
    age = policy.attributes["age"].model_copy(update={"domain": [1, 100]})
    policy = policy.model_copy(update={"attributes": {**policy.attributes, "age": age}})
    release = ind.anonymize(adult, policy)
    entry = ind.attack(release.table, policy, original=adult, attacks=["minimality_posterior"])["minimality_posterior"]
    assert release.loss["lm"] <= lm
    assert entry["details"]["certain"] == 0
    assert entry["details"]["not_judged"] == 0
    assert entry["learnt"] <= 0.003 * 30_162
    assert entry["gain"] <= 0.003


def test_a_class_known_by_running_the_program_again(adult, adult_folder):
    policy = policy_of(adult_folder, ind.KAnonymity(5), quality="fast")
    entry = attacked(adult, policy, "linkage")["linkage"]
    assert round(entry["gain"], 3) == 0.104
    assert round(entry["details"]["weaker"]["gain"], 3) == 0.033


def test_two_releases_of_known_classes(adult, adult_folder):
    second = policy_of(adult_folder, ind.KAnonymity(10), quality="fast")
    other = ind.anonymize(adult, second).table
    policy = policy_of(adult_folder, ind.KAnonymity(5), quality="fast")
    entries = attacked(adult, policy, "composition", other=other, other_policy=second)
    found = {entry["attribute"]: entry for entry in entries.document["attacks"]}["occupation"]
    assert found["learnt"] == 89
    assert found["details"]["weaker"]["learnt"] == 3


def test_groups_tell_more_than_one_over_l(adult, adult_folder):
    policy = policy_of(adult_folder, ind.DistinctL("occupation", 5), algorithm="anatomy")
    table, second = ind.anonymize(adult, policy).table
    entry = ind.attack(table, policy, second=second, original=adult, attacks=["definetti"])["definetti"]
    found = entry["details"]
    assert found["alone"] == 7653
    assert found["right_of_alone"] == pytest.approx(0.49, abs=0.04)  # groups are dealt at random
    assert found["promised_of_alone"] == pytest.approx(0.20, abs=0.001)


def test_what_only_the_models_of_values_suppress(adult, adult_folder):
    attributes = {
        name: {"role": "qi", "hierarchy": {"file": str(adult_folder / f"adult_hierarchy_{name}.csv")}} for name in NAMES
    }
    attributes |= {name: {"role": "sensitive"} for name in ("occupation", "salary-class")}
    policy = ind.Policy(
        attributes=attributes,
        privacy=[ind.KAnonymity(5), ind.DistinctL("occupation", 3)],
        recoding={"algorithm": "optimal"},
        suppression={"limit": "0.02"},
    )
    found = attacked(adult, policy, "minimality")["minimality"]["details"]["linear"]
    assert (found["groups"], found["persons"], found["failing_persons"]) == (0, 20, 20)
