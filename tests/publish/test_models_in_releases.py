"""What releases say about models that merging does not keep, and how models of the whole release are held."""

import pyarrow as pa
import pytest

import indistinct as ind

ATTRIBUTES = {
    "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [5, 10], "origin": 0}},
    "ill": {"role": "sensitive"},
}
TABLE = pa.table({"age": [str(20 + number % 20) for number in range(40)], "ill": list("abab" * 10)})


def policy(*privacy, **document):
    return ind.Policy(attributes=ATTRIBUTES, privacy=list(privacy), **document)


@pytest.mark.parametrize("algorithm", ["optimal", "generalize_step"])
@pytest.mark.parametrize(
    "model",
    [ind.EntropyL("ill", "3/2", "grassberger"), ind.DeltaDisclosure("ill", 1, "lenient")],
    ids=["grassberger", "lenient delta"],
)
def test_a_model_that_merging_breaks_is_announced_and_held(algorithm, model):
    release = ind.anonymize(TABLE, policy(model, recoding={"algorithm": algorithm}))
    assert release.document["satisfied"]
    assert [warning["kind"] for warning in release.document["warnings"]].count("not-merge-closed") == 1
    assert "coarser is not safer" in str(release.document["warnings"])


@pytest.mark.parametrize("algorithm", ["optimal", "generalize_step"])
@pytest.mark.parametrize("rows", ["drop", "exempt", "test"])
def test_models_of_the_whole_release_hold_with_those_of_classes(algorithm, rows):
    models = ind.KAnonymity(3), ind.AverageRisk("1/4"), ind.SampleUniqueness(0)
    how = {"suppression": {"limit": 0.2, "rows": rows}, "recoding": {"algorithm": algorithm}}
    odd = pa.concat_tables([TABLE, pa.table({"age": ["80"], "ill": ["a"]})])
    release = ind.anonymize(odd, policy(*models, **how))
    assert release.document["satisfied"]
    assert all(entry["satisfied"] for entry in release.document["models"])


@pytest.mark.parametrize(
    "model",
    [
        ind.EntropyL("ill", 2, "grassberger"),
        ind.DeltaDisclosure("ill", 1, "lenient"),
        ind.Profitability(gain=1, cost=1, loss=1, benefit=1),
    ],
    ids=["grassberger", "lenient delta", "profitability"],
)
def test_local_does_not_mend_what_merging_breaks(model):
    with pytest.raises(ind.PolicyError, match=r"local cannot hold .*optimal"):
        ind.anonymize(TABLE, policy(model))
    assert ind.anonymize(TABLE, policy(ind.EntropyL("ill", "3/2"), recoding={"quality": "fast"})).document["satisfied"]


def test_local_cannot_judge_a_whole_release():
    with pytest.raises(ind.PolicyError, match=r'local cannot hold average_risk.* "optimal", "generalize_step"'):
        ind.anonymize(TABLE, policy(ind.AverageRisk("1/4")))


def test_an_audit_without_thresholds_reports_likeness_and_disclosure():
    entries = ind.audit(TABLE, qi=["age"], sensitive=["ill"]).models
    found = {(entry["model"], entry.get("kind") or entry.get("absent")) for entry in entries}
    for wanted in [("beta_likeness", "basic"), ("beta_likeness", "enhanced")]:
        assert wanted in found
    assert {("delta_disclosure", "strict"), ("delta_disclosure", "lenient")} <= found
