"""Golden checks of further models; ``test_golden`` takes them over."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import exp, isclose

import pyarrow as pa

import indistinct as ind
import naive_models as naive
from golden_check import check_in

CHECKS = {}
check = check_in(CHECKS)


def close(found, expected):
    return isclose(float(found), expected["decimal"], rel_tol=1e-12, abs_tol=1e-15)


def audit(quasi, values, model):
    """Audit a table of one quasi-identifier and one sensitive column."""
    table = pa.table({"q": pa.array(quasi, pa.string()), "s": pa.array(values, pa.string())})
    attributes = {"q": {"role": "quasi_identifying"}, "s": {"role": "sensitive"}}
    return ind.audit(table, ind.Policy(attributes=attributes, privacy=[model])).models[0]


def of_counts(histogram):
    values = [value for value, count in histogram.items() for _ in range(count)]
    return ["g"] * len(values), values


@check("beta_likeness")
def beta_likeness(given, parameters, expected, _):
    rows = [dict(zip(given["columns"], row, strict=True)) for row in given["rows"]]
    (quasi,), (sensitive,) = given["quasi_identifiers"], given["sensitive"]
    columns = [row[quasi] for row in rows], [row[sensitive] for row in rows]
    beta = parameters["beta"]
    basic = audit(*columns, ind.BetaLikeness("s", beta))
    assert basic["achieved"]["beta"]["fraction"] == expected["basic_beta"]["fraction"]
    assert basic["satisfied"] is expected["basic_satisfied"]
    assert audit(*columns, ind.BetaLikeness("s", beta, "enhanced"))["satisfied"] is expected["enhanced_satisfied"]

    reference = Counter(columns[1])
    classes = {name: Counter(s for q, s in zip(*columns, strict=True) if q == name) for name in columns[0]}
    for item in expected["gains"]:
        q, p = naive.shares(reference)[item["value"]], naive.shares(classes[item["class"][0]])[item["value"]]
        assert (p - q) / q == Fraction(item["gain"]["fraction"])
    for kind in ("basic", "enhanced"):
        twin = {"model": "beta_likeness", "beta": beta, "kind": kind}
        assert all(naive.holds(twin, own, reference) for own in classes.values()) is expected[f"{kind}_satisfied"]


@check("delta_disclosure")
def delta_disclosure(given, parameters, expected, _):
    import numpy as np

    from indistinct.hierarchies import suppression
    from indistinct.models import Context, evaluate
    from indistinct.tables.classes import classes_of, whole_tuples
    from indistinct.tables.count import frequencies_of
    from indistinct.tables.records import Reference

    reference = Counter(given["table"])
    column = suppression.build("s", sorted(reference))
    counts = np.array([reference[value] for value in column.texts], np.int64)
    context = Context({"s": Reference(column, counts, int(counts.sum()))})
    label = suppression.build("q", ["g"])
    for name, wanted in expected.items():
        if name not in given["classes"]:
            continue
        own = Counter(given["classes"][name])
        codes = np.array([[0, column.texts.index(value)] for value in sorted(own)], np.int32)
        rows = np.array([own[value] for value in sorted(own)], np.int64)
        counted = frequencies_of((label,), (column,), codes, rows)
        classes = classes_of(counted, whole_tuples(counted))
        for absent in ("strict", "lenient"):
            privacy = ind.DeltaDisclosure("s", parameters["delta"], absent, parameters["base"])
            assert evaluate(privacy, classes, context).satisfied.all() == wanted[f"{absent}_satisfied"]
            twin = {"model": "delta_disclosure", "absent": absent, **parameters}
            assert naive.holds(twin, own, reference) is wanted[f"{absent}_satisfied"]
        finite = [item["decimal"] for item in wanted["abs_log2"].values() if item != "infinite"]
        answer = evaluate(ind.DeltaDisclosure("s", 9, "lenient"), classes, context)
        assert isclose(answer.achieved["delta"]["decimal"], max(finite), rel_tol=1e-12, abs_tol=1e-15)


@check("l_diversity.pd_recursive")
def pd_recursive(given, parameters, expected, _):
    columns = of_counts(given["counts"])
    c, length, harmless = parameters["c"], parameters["l"], parameters["Y"]
    pd = audit(*columns, ind.PdRecursive("s", c, length, harmless))
    assert pd["satisfied"] is expected["pd_satisfied"]
    assert Fraction(pd["achieved"]["c"]["fraction"]) == Fraction(expected["r_y"], expected["rhs_sum"])
    npd = audit(*columns, ind.NpdRecursive("s", c, length, harmless, parameters["c2_percent"], parameters["W"]))
    assert npd["satisfied"] is expected["npd_satisfied"]
    assert audit(*columns, ind.RecursiveCL("s", c, length))["satisfied"] is expected["plain_recursive_satisfied"]

    twin = {"c": c, "l": length, "Y": harmless, "W": parameters["W"], "c2": parameters["c2_percent"]}
    counts = given["counts"]
    assert naive.holds({"model": "pd_recursive", **twin}, counts, counts) is expected["pd_satisfied"]
    assert naive.holds({"model": "npd_recursive", **twin}, counts, counts) is expected["npd_satisfied"]


@check("l_diversity.grassberger")
def grassberger(_given, parameters, expected, _):
    for item in expected["classes"]:
        histogram = {f"v{number}": count for number, count in enumerate(item["counts"])}
        assert close(naive.grassberger(histogram), item["H_G_with_psi_N"])
        entry = audit(*of_counts(histogram), ind.EntropyL("s", parameters["l"], "grassberger"))
        assert entry["satisfied"] is item["satisfied_with_distinct_guard"]
        reached = min(len(histogram), exp(item["H_G_with_psi_N"]["decimal"]))
        assert isclose(entry["achieved"]["l"]["decimal"], reached, rel_tol=1e-12)
    constant = expected["G"]["1"]["decimal"]
    for count, term in expected["G"].items():
        assert isclose(float(naive.grassberger_term(int(count))) + constant, term["decimal"], rel_tol=1e-12)


def with_population(folder, sample, population, model):
    """Audit a sample of one quasi-identifier beside its population."""
    lines = ["q", *(str(row[0]) for row in population)]
    (folder / "everybody.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = f"""
        version = 1
        [attributes.q]
        role = "quasi_identifying"
        hierarchy = {{ kind = "masking" }}
        [[privacy]]
        population = "everybody.csv"
        {model}
    """
    path = folder / "policy.toml"
    path.write_text("\n".join(line.strip() for line in document.splitlines()), encoding="utf-8")
    table = pa.table({"q": pa.array([str(row[0]) for row in sample], pa.string())})
    return ind.audit(table, ind.Policy.load(path)).models[0]


@check("delta_presence")
def delta_presence(given, parameters, expected, folder):
    low, high = parameters["delta_min"], parameters["delta_max"]
    model = f'model = "delta_presence"\nminimum = "{low}"\nmaximum = "{high}"'
    entry = with_population(folder, given["sample"], given["population"], model)
    assert entry["satisfied"] is expected["satisfied"]
    if "min" in expected:
        assert entry["achieved"]["minimum"]["fraction"] == expected["min"]["fraction"]
        assert entry["achieved"]["maximum"]["fraction"] == expected["max"]["fraction"]

    found = naive.presence([row[0] for row in given["sample"]], [row[0] for row in given["population"]])
    assert found == {key: Fraction(share["fraction"]) for key, share in expected["delta_per_class"].items()}
    assert all(Fraction(low) <= share <= Fraction(high) for share in found.values()) is expected["satisfied"]


@check("k_map")
def k_map(given, _parameters, expected, folder):
    entry = with_population(folder, given["sample"], given["population"], 'model = "k_map"\nk = 1')
    assert entry["achieved"]["k"] == expected["k_map"]


@check("game.profitability")
def profitability(given, parameters, expected, _):
    from indistinct.models.profitability import least_size, payoffs

    amounts = {
        "gain": parameters["adversary_gain"],
        "cost": parameters["adversary_cost"],
        "loss": parameters["publisher_loss"],
        "benefit": parameters["publisher_benefit"],
    }
    privacy = ind.Profitability(**amounts)
    assert least_size(privacy.gain, privacy.cost) == expected["no_attack_k"]
    for (size, loss), wanted in zip(given["classes"], expected["classes"], strict=True):
        attacker, publisher = payoffs(privacy, size, Fraction(loss))
        assert attacker == Fraction(wanted["adversary_payoff"]["fraction"])
        assert publisher == Fraction(wanted["publisher_payoff"]["fraction"])
        assert (publisher > 0) is wanted["keep"]
        assert naive.payoffs(amounts, size, Fraction(loss)) == (attacker, publisher)


@check("dp.safepub")
def safepub_exact(_given, parameters, expected, _):
    from indistinct.models.safepub import delta_at, least_k, mechanism

    found = mechanism(f"ln {parameters['exp_epsilon']}")
    assert found.beta == Fraction(expected["beta"]["fraction"])
    assert found.low == found.high == Fraction(expected["gamma"]["fraction"])
    k = least_k(found, Fraction(parameters["delta"]))
    assert k == expected["k"]
    assert close(delta_at(found, k), expected["delta_at_k"])
    assert close(delta_at(found, k - 1), expected["delta_at_k_minus_1"])
    assert close(found.tail(expected["attained_at_n"]), expected["delta_at_k"])


@check("dp.safepub_real")
def safepub_decimal(_given, parameters, expected, _):
    from indistinct.models.safepub import delta_at, least_k, mechanism

    found = mechanism(parameters["epsilon"])
    assert close(found.beta, expected["beta"])
    assert close(found.low, expected["gamma"])
    assert 0 < found.high - found.low < Fraction(1, 10**50)
    k = least_k(found, Fraction(parameters["delta"]))
    assert k == expected["k"]
    assert close(delta_at(found, k), expected["delta_at_k"])
    assert close(delta_at(found, k - 1), expected["delta_at_k_minus_1"])


@check("nt_closeness")
def nt_closeness(given, parameters, expected, folder):
    n, t = parameters["n"], Fraction(parameters["t"])
    everything = Counter(value for values in given["classes"].values() for value in values)
    for name, values in given["classes"].items():
        around = [
            Counter(value for other in members for value in given["classes"][other])
            for members in given["supersets"]
            if name in members
        ]
        best = naive.best_distance(Counter(values), around, n)
        wanted = expected["classes"][name]
        assert best == Fraction(wanted["best"]["fraction"])
        assert (best <= t) is wanted["satisfied"]
    plain = [naive.best_distance(Counter(values), [everything], 1) for values in given["classes"].values()]
    assert max(plain) == Fraction(expected["plain_t"]["fraction"])
    supersets = tree_of(given["supersets"], list(given["classes"]))
    if supersets is None:  # runs of neighbours that overlap: no hierarchy makes these groups
        return
    rows = [(name, value) for name, values in given["classes"].items() for value in values]
    table = pa.table({"q": [name for name, _ in rows], "s": [value for _, value in rows]})
    path = folder / "q.csv"
    path.write_text("".join(";".join(row) + "\n" for row in supersets), encoding="utf-8")
    attributes = {"q": {"role": "qi", "hierarchy": {"file": str(path)}}, "s": {"role": "sensitive"}}
    model = ind.NTCloseness("s", n, t, "equal")
    policy = ind.Policy(attributes=attributes, privacy=[model], recoding={"algorithm": "optimal"})
    release = ind.anonymize(table, policy)
    assert release.document["levels"] == {"q": 0}
    best = max(Fraction(item["best"]["fraction"]) for item in expected["classes"].values())
    assert Fraction(release.document["models"][0]["achieved"]["t"]["fraction"]) == best
    assert release.document["models"][0]["satisfied"] is expected["satisfied"]


def tree_of(supersets, names):
    """Rows of a hierarchy file whose nodes are these sets; None where they are no tree of equal depth."""
    paths = {}
    for name in names:
        own = sorted((members for members in supersets if name in members), key=len)
        if any(not set(small) <= set(large) for small, large in pairwise(own)):
            return None
        paths[name] = ["".join(members) for members in own]
    return list(paths.values()) if len({len(path) for path in paths.values()}) == 1 else None


@check("m_invariance")
def m_invariance(given, parameters, expected, _):
    from indistinct.models.m_invariance import candidates, is_m_invariant, is_m_unique, same_signature

    releases = [[[tuple(row) for row in group] for group in release.values()] for release in given["releases"]]
    m = parameters["m"]
    assert all(is_m_unique(release, m) for release in releases) is expected["m_unique"]
    assert same_signature(releases) == expected["same_signature"]
    assert is_m_invariant(releases, m) is expected["m_invariant"]
    found = {person: sorted(values) for person, values in candidates(releases).items()}
    assert found == expected["candidates_after_intersection"]
