"""SafePub: the numbers, the sample, and what it refuses."""

import json
from fractions import Fraction
from math import comb, exp

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.models.safepub import delta_at, least_k, mechanism


def naive_delta(beta, gamma, k, longest=400):
    """Largest tail over all n from ceil(k / gamma - 1) on."""
    first = -(-k // gamma) - 1 if (k / gamma).denominator == 1 else int(k / gamma)
    return max(
        sum(comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1) if j > gamma * n)
        for n in range(int(first), longest)
    )


def test_the_smallest_k_by_the_definition():
    found = mechanism("ln 2")
    k = least_k(found, Fraction(1, 50))
    assert naive_delta(found.beta, found.low, k, 60) <= Fraction(1, 50) < naive_delta(found.beta, found.low, k - 1, 60)
    assert delta_at(found, k) == pytest.approx(float(naive_delta(found.beta, found.low, k, 60)))


def test_a_decimal_just_below_a_logarithm_takes_the_doubtful_term():
    # the double nearest to ln 2 is below it: gamma n is just below a whole number, and the tail has one term more
    assert least_k(mechanism("0.6931471805599453"), Fraction(1, 100_000)) == 55
    assert least_k(mechanism("ln 2"), Fraction(1, 100_000)) == 53


def test_beta_is_rounded_down():
    found = mechanism("1")
    assert found.beta < 1 - Fraction(exp(-1)) + Fraction(1, 10**15)
    assert found.low < found.high


TABLE = pa.table({"age": ["20", "20", "30"] * 100, "sex": ["f", "m", "f"] * 100})


def policy(**changes):
    document = {
        "attributes": {
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [20], "origin": 0}},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
        },
        "privacy": [{"model": "safepub", "epsilon": 1, "delta": "1e-5", "levels": {"age": 1, "sex": 1}}],
        "suppression": {"limit": 1},
        "recoding": {"algorithm": "safepub"},
    }
    return ind.Policy(**{**document, **changes})


@pytest.mark.slow
def test_a_release_is_a_sample_at_the_levels(tmp_path):
    sizes = set()
    for number in range(4):
        release = ind.anonymize(TABLE, policy(), output=tmp_path / f"{number}.csv")
        rows = release.table.to_pylist()
        assert {(row["age"], row["sex"]) for row in rows} == {("[20, 40)", "*")}
        sizes.add(len(rows))
        manifest = json.loads((tmp_path / f"{number}.csv.manifest.json").read_text(encoding="utf-8"))
        assert not {"rows", "suppressed_rows", "loss", "persons", "left_out_rows"} & set(manifest)
    assert len(sizes) > 1  # four equal samples of 300 rows: less than one in 10,000
    assert all(130 < size < 250 for size in sizes)  # 190 expected, deviation 8.4


def test_small_classes_are_dropped():
    release = ind.anonymize(TABLE, policy(privacy=[{**BASE, "levels": {"age": 0, "sex": 1}}]))
    assert {row["age"] for row in release.table.to_pylist()} <= {"20", "30"}
    few = TABLE.slice(0, 60)
    with pytest.raises(ind.InfeasibleError, match="no class of the sample is large enough"):
        ind.anonymize(few, policy(privacy=[{**BASE, "levels": {"age": 0, "sex": 0}}]))


BASE = {"model": "safepub", "epsilon": 1, "delta": "1e-5"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suppression": {"limit": 0.5}}, "limit = 1"),
        ({"privacy": [{**BASE, "levels": {"age": 1}}]}, "must name every quasi-identifier"),
        ({"privacy": [{**BASE, "levels": {"age": 9, "sex": 0}}]}, "level 9 of age does not exist"),
        ({"privacy": [{"model": "k_anonymity", "k": 2}]}, "holds the model safepub and no other"),
        ({"recoding": {"algorithm": "local"}}, 'local cannot hold safepub.* "safepub"'),
        ({"table": {"unlisted": "insensitive"}}, "unlisted columns would be published as it is"),
    ],
)
def test_what_would_look_at_the_data_is_refused(changes, message):
    with pytest.raises(ind.PolicyError, match=message):
        ind.anonymize(TABLE, policy(**changes))


def test_no_table_shows_how_it_was_made():
    for judge in (lambda: ind.audit(TABLE, policy()), lambda: ind.verify(TABLE, TABLE, policy())):
        with pytest.raises(ind.UnsupportedError, match="no table shows"):
            judge()


def test_parameters():
    assert ind.Safepub("ln 3/2", "1e-6", {"a": 0}).epsilon == "ln 3/2"
    assert ind.Safepub(0.5, "1e-6", {"a": 0}).epsilon == "0.5"
    for epsilon in ("ln 1", 0, "much", 21):
        with pytest.raises(ind.PolicyError, match="epsilon"):
            ind.Safepub(epsilon, "1e-6", {"a": 0})
