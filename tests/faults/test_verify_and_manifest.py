"""What verify must refuse, and what a public manifest may tell."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

import indistinct as ind
from indistinct.models.contract import Model
from indistinct.models.registry import MODELS
from indistinct.policy import Policy

CASE = Path(__file__).parent / "b02-verify-says-yes-though-rows-are-missing"


def test_rows_missing_beyond_the_limit_are_a_refutation():
    expected = json.loads((CASE / "expected.json").read_text())["expect"]
    answer = ind.verify(CASE / "input.csv", CASE / "published.csv", Policy.load(CASE / "policy.toml"))
    for key in ("missing_rows", "satisfied"):
        assert answer.document[key] == expected[key]
    assert answer.document["allowed_rows"] == expected["allowed"]
    assert "8 are missing" in answer.document["faults"][0]
    assert "8 are missing" in repr(answer)


def policy_of(limit, **more):
    return Policy(
        attributes={"q": {"role": "qi", "hierarchy": {"kind": "suppress"}}, "s": {"role": "sensitive"}},
        privacy=[{"model": "k_anonymity", "k": 2}],
        suppression={"limit": limit},
        **more,
    )


@pytest.mark.parametrize(("limit", "kept", "holds"), [(0.2, 8, True), (0.2, 7, False), (0, 10, True), (0, 9, False)])
def test_the_limit_itself_may_be_missing_and_no_row_more(tmp_path, limit, kept, holds):
    original, published = tmp_path / "a.csv", tmp_path / "b.csv"
    original.write_text("q,s\n" + "x,1\n" * 10)
    published.write_text("q,s\n" + "x,1\n" * kept)
    assert ind.verify(original, published, policy_of(limit)).satisfied is holds


@pytest.mark.parametrize(("kept", "holds"), [(2, True), (1, False)])
def test_missing_rows_of_two_tables_are_a_refutation(tmp_path, kept, holds):
    policy = Policy(
        attributes={"q": {"role": "qi"}, "s": {"role": "sensitive"}},
        privacy=[{"model": "distinct_l", "attribute": "s", "l": 2}],
        recoding={"algorithm": "anatomy"},
        suppression={"limit": 0},
    )
    original, qit, st = (tmp_path / name for name in ("a.csv", "b.qit.csv", "b.st.csv"))
    original.write_text("q,s\nx,1\ny,2\nx,1\ny,2\n")
    qit.write_text("q,group\n" + "".join(f"x,{g}\ny,{g}\n" for g in range(1, kept + 1)))
    st.write_text("group,s,count\n" + "".join(f"{g},1,1\n{g},2,1\n" for g in range(1, kept + 1)))
    answer = ind.verify(original, qit, policy, st)
    assert answer.satisfied is holds
    assert answer.document["missing_rows"] == 4 - 2 * kept


@pytest.fixture
def released(tmp_path):
    original, out = tmp_path / "a.csv", tmp_path / "out.csv"
    original.write_text("q,s\nx,1\nx,2\nx,3\ny,1\ny,1\n")
    policy = policy_of(0)
    ind.anonymize(original, policy).write(out)
    return original, out, policy, tmp_path / "out.csv.manifest.json"


def test_a_manifest_just_written_is_a_match(released):
    original, out, policy, _ = released
    document = ind.verify(original, out, policy).document
    assert (document["hash"], document["false_claims"], document["satisfied"]) == ("match", [], True)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"published_rows": 4}, "published_rows"),
        ({"rows": 6}, "rows"),
        ({"suppressed_rows": 1}, "suppressed_rows"),
        ({"classes": 7}, "classes"),
        ({"policy_sha256": "0" * 64}, "another policy"),
        ({"models": []}, "k_anonymity"),
        ({"loss": {"discernibility": 1}}, "loss.discernibility"),
        ({"models": [{"model": "k_anonymity", "required": {"k": 2}, "achieved": {"k": 9}, "satisfied": True}]}, "9"),
    ],
)
def test_a_claim_that_is_not_true_is_named_and_no_match(released, change, named):
    original, out, policy, manifest = released
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    document = ind.verify(original, out, policy).document
    assert document["hash"] == "differs"
    assert document["satisfied"] is False
    assert named in " ".join(document["false_claims"])


def test_an_older_manifest_with_the_hash_of_the_whole_policy_is_read(released):
    original, out, policy, manifest = released
    old = json.loads(manifest.read_text()) | {"policy_sha256": policy.hash(), "proven_optimal": None}
    manifest.write_text(json.dumps(old))
    assert ind.verify(original, out, policy).satisfied


def test_a_model_says_what_it_looks_at():
    record = MODELS["k_anonymity"]
    with pytest.raises(TypeError, match="looks at"):
        replace(record, looks_at="everything")
    with pytest.raises(TypeError, match="looks_at"):
        Model(
            record.options, title="new", scope="class", promises=record.promises, merge_closed=True,
            absorbing=True, evaluate=record.evaluate,
            achieved=record.achieved, criteria=record.criteria, shortfall=record.shortfall,
        )  # fmt: skip


def test_the_fingerprint_does_not_tell_a_private_domain():
    def age(**more):
        return Policy(attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}, **more}})

    assert age(domain=[25, 97]).fingerprint() == age(domain=[25, 98]).fingerprint() == age().fingerprint()
    public = [age(domain=[25, end], public_domain=True).fingerprint() for end in (97, 98)]
    assert public[0] != public[1]


def manifests_of(folder, ages, private, hierarchy, models, *, limit):
    """Publish a table; return the bytes of the file with the counts, and those of the manifest."""
    folder.mkdir()
    table, out = folder / "in.csv", folder / "out.csv"
    table.write_text("age,s\n" + "".join(f"{age},{s}\n" for age, s in ages))
    age = {"role": "qi", "type": "integer", "hierarchy": hierarchy, **private}
    policy = Policy(
        attributes={"age": age, "s": {"role": "sensitive"}}, privacy=models, suppression={"limit": limit},
        recoding={"algorithm": "optimal"},
    )  # fmt: skip
    ind.anonymize(table, policy).write(out)
    manifest = (folder / "out.csv.manifest.json").read_bytes()
    document = json.loads(manifest)
    counts = tuple(document[key] for key in ("rows", "left_out_rows", "suppressed_rows"))
    return (out.read_bytes(), counts), manifest


INTERVALS = {"kind": "intervals", "breaks": [[0, 10, 20, 30]]}


@pytest.mark.parametrize("hierarchy", [INTERVALS, {"kind": "suppress"}])
@pytest.mark.parametrize(
    "models",
    [
        [{"model": "k_anonymity", "k": 3}],
        [{"model": "k_anonymity", "k": 3}, {"model": "t_closeness", "attribute": "s", "distance": "equal", "t": 0.9}],
    ],
)
def test_equal_files_and_counts_have_equal_manifests(tmp_path, hierarchy, models):
    sensitive = ["a", "b", "c", "a", "b", "d", "e"]
    base = [1, 4, 8, 11, 14, 18]
    inputs = [
        [*base, 25], [*base, 29], [2, 3, 9, 12, 13, 19, 21], [1, 1, 1, 11, 11, 11, 25], [5, 6, 7, 15, 16, 17, 28],
    ]  # fmt: skip
    privates = [{}, {"domain": [0, 90]}]
    found = []
    for number, (ages, private) in enumerate(itertools.product(inputs, privates)):
        rows = list(zip(ages, sensitive, strict=True))
        rows = rows[::-1] if number % 2 else rows
        # a row that stays suppressed may have had any value
        rows = [(age, "ab"[number // 2 % 2] if s == "e" else s) for age, s in rows]
        found.append(manifests_of(tmp_path / str(number), rows, private, hierarchy, models, limit=0.2))
    pairs = list(itertools.combinations(found, 2))
    agreeing = [(one, other) for one, other in pairs if one[0] == other[0]]
    assert len(agreeing) >= 0.2 * len(pairs), "too few pairs agree to prove anything"
    for one, other in agreeing:
        assert one[1] == other[1]
