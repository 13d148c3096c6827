"""Models of shares with a person key: each person weighs 1, whatever the number of their rows."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import indistinct as ind
import naive_persons
from text_tables import as_table

HERE = Path(__file__).parent / "r04-shares-of-persons"


def table(*rows, names=("who", "q", "s")):
    return as_table([dict(zip(names, row, strict=True)) for row in rows])


def policy(*models, limit=0, algorithm="local", **sensitive):
    return ind.Policy(
        attributes={
            "q": {"role": "quasi_identifying", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
            "s": {"role": "sensitive", **sensitive},
        },
        person={"key": "who"},
        privacy=list(models),
        suppression={"limit": limit},
        recoding={"algorithm": algorithm},
    )


def entry_of(rows, model, **sensitive):
    (entry,) = ind.audit(table(*rows), policy(model, **sensitive)).models
    return entry


def test_the_case_is_not_satisfied_and_infeasible():
    case = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    assert "4/5 > 1/4" in case["behaviour"]
    own = ind.Policy.load(HERE / "policy.toml")
    answer = ind.audit(HERE / "input.csv", own)
    assert answer.satisfied is False
    alpha = answer.models[1]
    assert Fraction(alpha["achieved"]["alpha"]["fraction"]) == Fraction(4, 5)
    assert alpha["unit"] == "persons"
    assert "4/5" in alpha["reason"]
    with pytest.raises(ind.InfeasibleError, match="8 of 10 persons, more than alpha = 1/4"):
        ind.anonymize(HERE / "input.csv", own)


@pytest.mark.parametrize(
    "algorithm", ["local", "mondrian", "optimal", "generalize_step", "datafly", "flash", "mdav", "merge"]
)
def test_no_algorithm_publishes_the_case(algorithm):
    own = ind.Policy.load(HERE / "policy.toml")
    document = own.model_dump()
    document["recoding"]["algorithm"] = algorithm
    with pytest.raises(ind.InfeasibleError):
        ind.anonymize(HERE / "input.csv", ind.Policy.model_validate(document))


# siblings: one person with many rows hides what the others have
MANY = [("a", "1", "x"), ("b", "1", "x"), ("c", "1", "x"), *[("d", "1", value) for value in "xyzxyzyz"]]


@pytest.mark.parametrize(
    ("model", "reached"),
    [
        # s_x = (3 + 1/4) / 4 = 13/16, s_y = s_z = 3/32; rows: x 5 of 11, y 3, z 3
        (ind.AlphaK("s", "1/2", 1), {"alpha": {"fraction": "13/16", "decimal": 0.8125}, "k": 4}),
        (ind.RecursiveCL("s", 2, 2), {"l": 2, "c": {"fraction": "13/3", "decimal": 13 / 3}}),
        # a, b and c have x alone: x and one of y, z
        (ind.DistinctL("s", 3), {"l": 2}),
        (ind.PSensitiveK("s", 3, 3), {"p": 2, "k": 4}),
    ],
)
def test_many_rows_of_one_person_do_not_hide_the_others(model, reached):
    entry = entry_of(MANY, model)
    assert entry["achieved"] == reached
    assert entry["satisfied"] is False


def test_a_named_value_bounds_how_many_persons_have_it_at_all():
    rows = [("a", "1", "flu"), ("b", "1", "flu"), ("b", "1", "gout"), ("c", "1", "gout"), ("c", "1", "flu")]
    named = entry_of(rows, ind.AlphaK("s", "3/4", 1, values=["flu"]))
    assert (named["achieved"]["alpha"]["fraction"], named["satisfied"]) == ("1/1", False)  # all three have flu
    any_value = entry_of(rows, ind.AlphaK("s", "3/4", 1))
    assert (any_value["achieved"]["alpha"]["fraction"], any_value["satisfied"]) == ("2/3", True)  # (1 + 1/2 + 1/2) / 3


def test_matching_by_trial_agrees():
    rows = [dict(zip(("who", "q", "s"), row, strict=True)) for row in MANY]
    assert naive_persons.matching_by_trial(rows, "s", "who") == naive_persons.matching(rows, "s", "who") == 2


IN_BOTH = [("h", "1", "HIV"), *[(p, "1", "flu") for p in "abc"], ("g", "9", "HIV"), *[(p, "9", "flu") for p in "abc"]]


@pytest.mark.parametrize(
    "algorithm",
    ["local", "mondrian", "optimal", "generalize_step", "datafly", "samarati", "incognito", "ola", "flash", "mu_argus"],
)
def test_the_whole_table_may_fail_where_classes_hold(algorithm):
    """Persons in both classes: 1/4 and 1/4, and 2/5 of the union; nothing may be inferred from the whole table."""
    model = ind.AlphaK("s", "1/4", 4, values=["HIV"])
    release = ind.anonymize(table(*IN_BOTH), policy(model, algorithm=algorithm))
    assert release.document["satisfied"]
    assert sorted(set(release.table.column("q").to_pylist())) == ["1", "9"]


def test_a_search_that_begins_with_the_whole_table_says_so():
    model = ind.AlphaK("s", "1/4", 4, values=["HIV"])
    own = policy(model).model_dump()
    own["recoding"] |= {"algorithm": "top_down_specialization", "target": "s"}
    with pytest.raises(ind.InfeasibleError, match="starts from the most general labels"):
        ind.anonymize(table(*IN_BOTH), ind.Policy.model_validate(own))


def test_more_rows_than_fit_62_bits_are_judged_exactly():
    """Persons with 1, 2, ..., 44 rows: lcm(1..44) times 44 does not fit 62 bits."""
    rows = [(f"p{n}", "1", "x" if i == 0 else f"v{i}") for n in range(1, 45) for i in range(n)]
    share = sum(Fraction(1, n) for n in range(1, 45)) / 44
    for alpha, holds in ((share, True), (share - Fraction(1, 10**30), False)):
        entry = entry_of(rows, ind.AlphaK("s", alpha, 1))
        assert Fraction(entry["achieved"]["alpha"]["fraction"]) == share
        assert entry["satisfied"] is holds
    for model in (
        ind.EntropyL("s", 2),
        ind.RecursiveCL("s", 2, 2),
        ind.TCloseness("s", 0, "equal"),
        ind.BetaLikeness("s", "1/10"),
        ind.DeltaDisclosure("s", "1/10"),
    ):
        assert entry_of(rows, model)["satisfied"]  # the only class is the whole table


def test_a_reference_without_the_person_key_is_named():
    rows = [("a", "1", "x"), ("a", "1", "y"), ("b", "1", "x")]
    reference = table(("1", "x"), ("1", "y"), names=("q", "s"))
    with pytest.raises(ind.SchemaError, match="who"):
        ind.audit(table(*rows), policy(ind.TCloseness("s", "1/2", "equal")), reference=reference)


def test_a_reference_with_the_person_key_is_weighed():
    """q by persons: a half x, half y; b, c x: 5/6; the class of a alone: |1/2 - 5/6| = 1/3."""
    rows = [("a", "1", "x"), ("a", "1", "y")]
    reference = table(*rows, ("b", "1", "x"), ("c", "1", "x"))
    (entry,) = ind.audit(table(*rows), policy(ind.TCloseness("s", "1/3", "equal")), reference=reference).models
    assert (entry["achieved"]["t"]["fraction"], entry["satisfied"], entry["unit"]) == ("1/3", True, "persons")


def test_figures_of_persons_stay_out_of_the_manifest(tmp_path):
    rows = [("a", "1", "x"), ("a", "1", "y"), ("b", "1", "y"), ("c", "2", "x"), ("d", "2", "y"), ("d", "2", "y")]
    release = ind.anonymize(table(*rows), policy(ind.AlphaK("s", "3/4", 2)), output=tmp_path / "out.csv")
    assert release.document["person_shares"]
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))
    assert "person_shares" not in manifest
    assert all(
        entry["achieved"] is None and "unit" not in entry for entry in manifest["models"] if entry["model"] == "alpha_k"
    )


def test_verify_judges_persons(tmp_path):
    rows = [("a", "1", "x"), ("a", "1", "y"), ("b", "1", "y"), ("c", "2", "x"), ("d", "2", "y"), ("d", "2", "y")]
    source, output, own = tmp_path / "in.csv", tmp_path / "out.csv", policy(ind.AlphaK("s", "3/4", 2))
    source.write_text("who,q,s\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    ind.anonymize(source, own, output=output)
    answer = ind.verify(source, output, own)
    assert answer.satisfied
    assert answer.document["models"][0]["unit"] in ("rows", "persons")
    # another true table: whose its rows are is not known, so shares of persons are not proven
    output.with_name("other.csv").write_text(
        "q,s\n" + "".join(f'"[1, 2]",{row[2]}\n' for row in rows), encoding="utf-8"
    )
    other = ind.verify(source, output.with_name("other.csv"), own)
    known = "does not say whose a row is" in other.document["models"][0]["reason"]
    assert other.satisfied is not known
