"""Exact expected values for models, searches and losses.

Every file is checked twice: through the package's public functions, and through the slow twins.
"""

import json
from collections import Counter
from fractions import Fraction
from math import isclose, lcm
from pathlib import Path

import numpy as np
import pytest

import golden_attacks
import golden_groups
import golden_models
import golden_numeric
import golden_partition
import golden_private
import golden_risk
import golden_utility
import indistinct as ind
import naive
from golden_check import check_in
from indistinct import losses
from indistinct.algorithms.literature.top_down_specialization import info_gain, score
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import Assignment
from text_tables import as_table

GOLDEN = Path(__file__).resolve().parent / "golden"
CHECKS = {
    **golden_attacks.CHECKS,
    **golden_groups.CHECKS,
    **golden_models.CHECKS,
    **golden_numeric.CHECKS,
    **golden_partition.CHECKS,
    **golden_private.CHECKS,
    **golden_risk.CHECKS,
    **golden_utility.CHECKS,
}
check = check_in(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden(path, tmp_path):
    golden = json.loads(path.read_text(encoding="utf-8"))
    target = golden["target"]
    assert target in CHECKS, f"no check for {target}: write one"
    CHECKS[target](golden["input"], golden["parameters"], golden["expected"], tmp_path)


# --- helpers ---------------------------------------------------------------------------------------------


def same(found, expected):
    """Compare an answer with an expected number: exactly where there is a fraction, else to 1e-12."""
    if isinstance(expected, dict) and "fraction" in expected:
        return Fraction(found["fraction"]) == Fraction(expected["fraction"])
    number = found["decimal"] if isinstance(found, dict) else found
    return isclose(number, expected["decimal"], rel_tol=1e-12, abs_tol=1e-15)


def as_rows(given):
    texts = [[None if cell is None else str(cell) for cell in row] for row in given["rows"]]
    return [dict(zip(given["columns"], row, strict=True)) for row in texts]


def as_policy(quasi, privacy=(), sensitive=(), **document):
    attributes = {name: {"role": "quasi_identifying"} for name in quasi}
    attributes |= {name: {"role": "sensitive", **extra} for name, extra in dict(sensitive).items()}
    return ind.Policy(attributes=attributes, privacy=list(privacy), table={"unlisted": "insensitive"}, **document)


def audit(rows, quasi, privacy=(), sensitive=(), **how):
    """Audit rows in memory; one model gives its entry beside the document."""
    document = ind.audit(as_table(rows), as_policy(quasi, privacy, sensitive), **how).document
    return document, document["models"][0] if len(document["models"]) == 1 else None


def paths_of(tree, root):
    """Return value -> labels from the value to the root, from a parent -> children tree."""
    if root not in tree:
        return {root: (root,)}
    return {value: (*path, root) for child in tree[root] for value, path in paths_of(tree, child).items()}


def write_hierarchy(folder, name, paths):
    path = folder / f"{name}.csv"
    path.write_text("".join(";".join(labels) + "\n" for labels in paths.values()), encoding="utf-8")
    return str(path)


def counted(histogram, column, key=None):
    """Return rows that have these counts."""
    key = {} if key is None else key
    return [{**key, column: value} for value, count in histogram.items() for _ in range(count)]


# --- sizes -----------------------------------------------------------------------------------------------


@check("k_anonymity")
def k_anonymity(given, parameters, expected, _):
    rows, quasi = as_rows(given), given["quasi_identifiers"]
    document, entry = audit(rows, quasi, [ind.KAnonymity(parameters["k"])])
    assert entry["achieved"] == {"k": expected["k"]}
    assert entry["satisfied"] is document["satisfied"] is expected["satisfied"]
    assert entry["violating_rows"] == expected["rows_in_violating_classes"]
    assert document["classes"] == len(expected["class_sizes"])
    assert document["smallest_class"] == min(expected["class_sizes"])
    assert document["largest_class"] == max(expected["class_sizes"])

    assert sorted(map(len, naive.classes(rows, quasi).values())) == sorted(expected["class_sizes"])
    bad = naive.violating(rows, quasi, [{"model": "k_anonymity", "k": parameters["k"]}])
    assert sum(map(len, bad.values())) == expected["rows_in_violating_classes"]


@check("k_anonymity.missing")
def k_missing(given, _parameters, expected, _):
    rows, quasi = as_rows(given), given["quasi_identifiers"]
    document, entry = audit(rows, quasi, [ind.KAnonymity(2)])
    assert entry["achieved"] == {"k": expected["k_own_category"]}
    assert document["missing"]["k_if_missing_matches_anything"] == expected["k_wildcard_optimistic"]

    assert min(map(len, naive.classes(rows, quasi).values())) == expected["k_own_category"]
    assert naive.matches_anything(rows, quasi) == expected["per_row_wildcard"]


@check("k_anonymity.suppression_policy")
def k_suppressed(given, _parameters, expected, _):
    rows, quasi = as_rows(given), given["quasi_identifiers"]
    kept = [row for row in rows if any(row[name] != "*" for name in quasi)]
    model = [ind.KAnonymity(2)]
    document, entry = audit(kept, quasi, model)
    assert entry["achieved"] == {"k": expected["drop"]["k"]}
    assert document["rows"] == expected["drop"]["rows_released"]
    document, entry = audit(rows, quasi, model)
    assert entry["achieved"] == {"k": expected["exempt"]["k"]}
    assert document["suppressed_rows"] == expected["exempt"]["starred_rows"]
    document, entry = audit(rows, quasi, model, suppressed_rows="class")
    assert entry["achieved"] == {"k": expected["test"]["k"]}

    assert min(map(len, naive.classes(kept, quasi).values())) == expected["drop"]["k"]
    assert min(map(len, naive.classes(rows, quasi).values())) == expected["test"]["k"]


@check("alpha_k_anonymity")
def alpha_k(given, parameters, expected, _):
    rows, quasi, (sensitive,) = as_rows(given), given["quasi_identifiers"], given["sensitive"]
    values = [parameters["value"]] if "value" in parameters else None
    model = ind.AlphaK(sensitive, parameters["alpha"], parameters["k"], values=values)
    _, entry = audit(rows, quasi, [model], {sensitive: {}})
    assert entry["satisfied"] is expected["satisfied"]
    assert entry["achieved"]["k"] == expected["k"]
    assert same(entry["achieved"]["alpha"], expected["max_frequency"])

    shares = [
        naive.top_share(naive.counts(members, sensitive), values) for members in naive.classes(rows, quasi).values()
    ]
    assert max(shares) == Fraction(expected["max_frequency"]["fraction"])
    twin = {"model": "alpha_k", "attribute": sensitive, "values": values, **parameters}
    assert naive.satisfied(rows, quasi, [twin]) is expected["satisfied"]


@check("p_sensitive_k")
def p_sensitive(given, parameters, expected, _):
    rows, quasi, (sensitive,) = as_rows(given), given["quasi_identifiers"], given["sensitive"]
    _, entry = audit(rows, quasi, [ind.PSensitiveK(sensitive, parameters["p"], parameters["k"])], {sensitive: {}})
    assert entry["satisfied"] is expected["satisfied"]
    assert (entry["achieved"]["p"], entry["achieved"]["k"]) == (expected["p"], expected["k"])

    twin = {"model": "p_sensitive_k", "attribute": sensitive, **parameters}
    assert naive.satisfied(rows, quasi, [twin]) is expected["satisfied"]
    assert len(naive.counts(rows, sensitive)) == expected["max_p"]


# --- diversity -------------------------------------------------------------------------------------------


@check("l_diversity")
def l_diversity(given, parameters, expected, _):
    rows, quasi, (sensitive,) = as_rows(given), given["quasi_identifiers"], given["sensitive"]
    of = {sensitive: {}}
    found = naive.classes(rows, quasi)
    for entry in expected["classes"]:
        histogram = naive.counts(found[tuple(entry["key"])], sensitive)
        assert sorted(histogram.values(), reverse=True) == entry["counts"]
        assert len(histogram) == entry["distinct"]
        assert same(naive.effective_l(histogram), entry["effective_l"])
    _, entry = audit(rows, quasi, [ind.DistinctL(sensitive, parameters.get("distinct", 2))], of)
    assert entry["achieved"] == {"l": expected["distinct_l"]}
    if "distinct" in parameters:
        assert entry["satisfied"] is expected["distinct_satisfied"]
    threshold = parameters.get("entropy", 2)
    _, entry = audit(rows, quasi, [ind.EntropyL(sensitive, threshold)], of)
    assert same(entry["achieved"]["l"], expected["entropy_l"])
    if "entropy" in parameters:
        assert entry["satisfied"] is expected["entropy_satisfied"]
        twin = {"model": "entropy_l", "attribute": sensitive, "l": threshold}
        assert naive.satisfied(rows, quasi, [twin]) is expected["entropy_satisfied"]
    c, rank = parameters["recursive"]
    _, entry = audit(rows, quasi, [ind.RecursiveCL(sensitive, c, rank)], of)
    assert entry["satisfied"] is expected["recursive_satisfied"]
    assert entry["violating_classes"] == sum(not item["satisfied"] for item in expected["recursive_classes"])
    twin = {"model": "recursive_cl", "attribute": sensitive, "c": c, "l": rank}
    assert naive.satisfied(rows, quasi, [twin]) is expected["recursive_satisfied"]


@check("l_diversity.counts")
def l_diversity_counts(_given, parameters, expected, _):
    for item in expected["classes"]:
        histogram = Counter({f"v{number:02d}": count for number, count in enumerate(item["counts"])})
        rows = counted(histogram, "s", {"q": "g"})

        def entry_of(model, rows=rows):
            return audit(rows, ["q"], [model], {"s": {}})[1]

        assert entry_of(ind.DistinctL("s", 1))["achieved"] == {"l": item["distinct"]}
        threshold = parameters.get("entropy_l", "1")
        entry = entry_of(ind.EntropyL("s", threshold))
        assert same(entry["achieved"]["l"], item["effective_l"])
        assert same(naive.effective_l(histogram), item["effective_l"])
        if "entropy_satisfied" in item:
            assert entry["satisfied"] is item["entropy_satisfied"]
            assert naive.entropy_holds(histogram, threshold) is item["entropy_satisfied"]
        if "max_probability" in item:
            entry = entry_of(ind.AlphaK("s", item["max_probability"]["fraction"], 1))
            assert entry["satisfied"]
            assert same(entry["achieved"]["alpha"], item["max_probability"])
        for key, infimum in item.items():
            if not key.startswith("recursive_inf_c_l"):
                continue
            rank = int(key.removeprefix("recursive_inf_c_l"))
            entry = entry_of(ind.RecursiveCL("s", 1, rank))
            if infimum == "infeasible":
                assert entry["achieved"] == {"l": rank, "c": None}
                assert naive.recursive_infimum(histogram, rank) is None
                continue
            assert entry["achieved"]["l"] == rank
            assert same(entry["achieved"]["c"], infimum)
            assert naive.recursive_infimum(histogram, rank) == Fraction(infimum["fraction"])
            assert not entry_of(ind.RecursiveCL("s", infimum["fraction"], rank))["satisfied"]  # strict


# --- closeness -------------------------------------------------------------------------------------------


@check("t_closeness")
def t_closeness(given, parameters, expected, tmp_path):
    rows, quasi, (sensitive,) = as_rows(given), given["quasi_identifiers"], given["sensitive"]
    distance = parameters["distance"]
    extra, how = {}, {}
    if distance == "ordered":
        extra = {"type": "integer"}
        how["orders"] = {sensitive: sorted({row[sensitive] for row in rows}, key=int)}
    if distance == "hierarchical":
        paths = paths_of(given["tree"], given["root"])
        extra = {"hierarchy": {"file": write_hierarchy(tmp_path, sensitive, paths)}}
        how["trees"] = {sensitive: paths}
    model = ind.TCloseness(sensitive, parameters["t"], distance)
    document, entry = audit(rows, quasi, [model], {sensitive: extra})
    assert same(entry["achieved"]["t"], expected["t"])
    assert entry["satisfied"] is document["satisfied"] is expected["satisfied"]
    twin = {"model": "t_closeness", "attribute": sensitive, **parameters}
    assert naive.satisfied(rows, quasi, [twin], **how) is expected["satisfied"]
    for item in expected["classes"]:
        members = naive.classes(rows, quasi)[tuple(item["key"])]
        _, entry = audit(members, quasi, [model], {sensitive: extra}, reference=as_table(rows))
        assert same(entry["achieved"]["t"], item["emd"])
        distance_of = naive.emd(twin, naive.counts(members, sensitive), naive.counts(rows, sensitive), **how)
        assert distance_of == Fraction(item["emd"]["fraction"])


@check("t_closeness.merge")
def t_merge(given, parameters, expected, _):
    reference = [{"q": "g", "s": value} for value in given["table"]]
    model = ind.TCloseness("s", parameters["t"], parameters["distance"])
    found = {}
    for name, values in (("A", given["A"]), ("B", given["B"]), ("merged", given["A"] + given["B"])):
        rows = [{"q": "g", "s": value} for value in values]
        _, entry = audit(rows, ["q"], [model], {"s": {}}, reference=as_table(reference))
        assert same(entry["achieved"]["t"], expected[name])
        assert entry["satisfied"] is expected[f"{name}_satisfied"]
        found[name] = naive.emd_equal(naive.counts(rows, "s"), naive.counts(reference, "s"))
        assert found[name] == Fraction(expected[name]["fraction"])
    assert (found["merged"] <= max(found["A"], found["B"])) is expected["merged_le_max"]
    assert (found["merged"] > found["A"]) is expected["merged_gt_A"]


@check("emd.vectors")
def emd_vectors(given, parameters, expected, _):
    order = [f"v{number}" for number in range(len(given["P"]))]
    histograms = []
    for vector in (given["P"], given["Q"]):
        parts = [Fraction(part) for part in vector]
        scale = lcm(*(part.denominator for part in parts))
        histograms.append(Counter({value: int(part * scale) for value, part in zip(order, parts, strict=True) if part}))
    p, q = histograms
    for distance, twin in (("ordered", naive.emd_ordered(p, q, order)), ("equal", naive.emd_equal(p, q))):
        assert twin == Fraction(expected[distance]["fraction"])
        _, entry = audit(
            counted(p, "s", {"q": "g"}),
            ["q"],
            [ind.TCloseness("s", parameters["t"], distance)],
            {"s": {"type": "ordinal", "order": order}},
            reference=as_table(counted(q, "s", {"q": "g"})),
        )
        assert same(entry["achieved"]["t"], expected[distance])
        assert entry["satisfied"] is expected[f"{distance}_satisfied"]


@check("emd.tree_distance")
def tree_distance(given, _parameters, expected, tmp_path):
    paths = paths_of(given["tree"], given["root"])
    extra = {"hierarchy": {"file": write_hierarchy(tmp_path, "s", paths)}}
    for one, other in given["pairs"]:
        wanted = Fraction(expected[f"{one}|{other}"]["fraction"])
        assert naive.ground_distance(one, other, paths) == wanted
        # all of one against half and half: half the mass moves that far
        reference = [{"q": "g", "s": one}, {"q": "g", "s": other}]
        model = ind.TCloseness("s", 1, "hierarchical")
        _, entry = audit(reference[:1], ["q"], [model], {"s": extra}, reference=as_table(reference))
        assert Fraction(entry["achieved"]["t"]["fraction"]) == wanted / 2


# --- searches and losses ---------------------------------------------------------------------------------


@check("lattice.k_anonymity")
def lattice(given, parameters, expected, tmp_path):
    quasi = given["quasi_identifiers"]
    rows = as_rows({"columns": quasi, "rows": given["rows"]})
    models = [{"model": "k_anonymity", "k": parameters["k"]}]
    files = {name: write_hierarchy(tmp_path, name, given["hierarchies"][name]) for name in quasi}

    def published_at(levels, limit):
        attributes = {
            name: {
                "role": "quasi_identifying",
                "hierarchy": {"file": files[name]},
                **({} if levels is None else {"min_level": levels[at], "max_level": levels[at]}),
            }
            for at, name in enumerate(quasi)
        }
        policy = ind.Policy(
            attributes=attributes,
            privacy=[ind.KAnonymity(parameters["k"])],
            suppression={"limit": limit},
            recoding={"algorithm": "optimal"},
        )
        return ind.anonymize(as_table(rows), policy).document

    twin = {}
    for key, gone in expected["suppressed_per_node"].items():
        node = tuple(json.loads(key))
        twin[node] = naive.judge(rows, quasi, given["hierarchies"], models, node=node)[0]
        assert twin[node] == gone
        if gone == len(rows):
            with pytest.raises(ind.InfeasibleError):
                published_at(node, 1)
        else:
            assert published_at(node, 1)["suppressed_rows"] == gone

    allowed = parameters["max_suppressed"]
    fine = [node for node, gone in twin.items() if gone <= allowed]
    below = {node: [other for other in fine if other != node and all(map(int.__le__, other, node))] for node in fine}
    assert sorted(node for node in fine if not below[node]) == sorted(map(tuple, expected["minimal_nodes"]))
    assert min(map(sum, fine)) == expected["samarati_height"]
    for key, discernibility in expected["discernibility_of_minimal"].items():
        assert published_at(json.loads(key), 1)["loss"]["discernibility"] == discernibility

    limit = f"{allowed}/{len(rows)}"
    best = naive.full_domain(rows, quasi, given["hierarchies"], models, limit=limit)
    answer = published_at(None, limit)
    assert tuple(answer["levels"][name] for name in quasi) == best[1]
    assert isclose(answer["loss"]["lm"], best[0], rel_tol=1e-12)

    def levels_of(algorithm):
        recoding = {"algorithm": algorithm}
        attributes = {name: {"role": "qi", "hierarchy": {"file": files[name]}} for name in quasi}
        privacy, suppression = [ind.KAnonymity(parameters["k"])], {"limit": limit}
        policy = ind.Policy(attributes=attributes, privacy=privacy, suppression=suppression, recoding=recoding)
        levels = ind.anonymize(as_table(rows), policy).document["levels"]
        return [levels[name] for name in quasi]

    assert sum(levels_of("samarati")) == expected["samarati_height"]
    assert levels_of("incognito") == levels_of("ola")
    assert levels_of("ola") in expected["minimal_nodes"]
    assert tuple(levels_of("flash")) == best[1]


@check("tds.score")
def specialization_score(given, parameters, expected, _):
    gain = info_gain(np.array(given["children"]))
    assert np.array(given["children"]).sum(axis=0).tolist() == given["parent"]
    assert same(gain, expected["info_gain_bits"])
    loss = parameters["anonymity_before"] - parameters["anonymity_after"]
    assert loss == expected["anonymity_loss"]
    assert same(score(gain, loss), expected["score"])


@check("metrics.loss")
def loss_with_suppression(given, parameters, expected, _):
    names = [f"a{number}" for number in range(len(given["domain"]))]
    rows, class_of, ncp = [], [], Fraction(parameters["suppressed"] * len(names))
    for number, item in enumerate(given["classes"]):
        for end in (0, 1):  # two rows that span the box
            rows.append({name: bounds[end] for name, bounds in zip(names, item["box"], strict=True)})
            class_of.append(number)
        for (lo, hi), (least, most) in zip(item["box"], given["domain"], strict=True):
            ncp += len(item["rows"]) * Fraction(hi - lo, most - least)
    corners = [{name: ends[at] for name, ends in zip(names, given["domain"], strict=True)} for at in (0, 1)]
    rows += corners[: parameters["suppressed"]]
    class_of += [-1] * parameters["suppressed"]
    assert ncp == Fraction(expected["ncp_total"]["fraction"])

    span = {"kind": "range", "bounds": "members"}
    one = {"role": "quasi_identifying", "type": "integer", "hierarchy": span}
    attributes = {name: {**one, "domain": domain} for name, domain in zip(names, given["domain"], strict=True)}
    policy = ind.Policy(attributes=attributes, privacy=[ind.KAnonymity(parameters["k"])])
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    counted = prepare(as_table(texts), policy).counted.frequencies
    quasi = counted.quasi
    cells = [tuple(h.texts[code] for h, code in zip(quasi, cell, strict=True)) for cell in counted.codes.tolist()]
    where = [cells.index(tuple(row[h.attribute] for h in quasi)) for row in texts]
    assignment = Assignment(
        np.array(where, np.int32),
        np.ones(len(rows), np.int64),
        np.array(class_of, np.int32),
        len(given["classes"]),
    )
    recoding = recoding_of(counted, assignment)
    assert losses.gcp(counted, assignment, recoding)[0] == Fraction(expected["gcp"]["fraction"])
    assert losses.lm(counted, assignment, recoding)[0] == Fraction(expected["gcp"]["fraction"])
    assert losses.discernibility(assignment) == expected["discernibility"]
    assert losses.discernibility_star(assignment) == expected["discernibility_star"]
    assert losses.normalised_class_size(assignment, parameters["k"]) == Fraction(expected["c_avg"]["fraction"])


@check("metrics.categorical_loss")
def categorical_loss(_given, _parameters, expected, tmp_path):
    for item in expected["cells"]:
        leaves, domain = item["leaves"], item["domain"]
        group = ["*" if leaves == domain else "few"] * leaves + ["many"] * (domain - leaves)
        paths = {f"v{at}": (f"v{at}", label, "*") for at, label in enumerate(group)}
        hierarchy = {"file": write_hierarchy(tmp_path, f"h{leaves}of{domain}", paths)}
        # one row for each of the leaves: to be k-anonymous for k = leaves they must all be published as one node
        policy = ind.Policy(
            attributes={"v": {"role": "quasi_identifying", "hierarchy": hierarchy}},
            privacy=[ind.KAnonymity(leaves)],
            recoding={"algorithm": "optimal"},
        )
        loss = ind.anonymize(as_table([{"v": f"v{at}"} for at in range(leaves)]), policy).loss
        assert isclose(loss["lm"], item["lm_iyengar"]["decimal"], rel_tol=1e-12)
        assert isclose(loss["gcp"], item["ncp"]["decimal"], rel_tol=1e-12)
        label = "v0" if leaves == 1 else group[0]
        assert naive.cell_loss(label, paths) == Fraction(item["lm_iyengar"]["fraction"])
