"""Slow twins of all that gives a verdict, written from the definitions with dicts, lists and fractions.

A table is a list of dicts; ``None`` is a missing value and equals only itself. A model is a dict as it stands
in a policy. A hierarchy maps each value of the domain to its labels, level 0 first. Nothing here is
imported from the package, and nothing here is fast.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, log

import naive_models
import naive_persons

# --- classes ---------------------------------------------------------------------------------------------


def classes(rows, quasi):
    """Group the rows by their quasi-identifiers."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in quasi), []).append(row)
    return found


def size(members, person=None):
    """Count rows, or distinct persons where there is a person key."""
    return len(members) if person is None else len({row[person] for row in members})


def counts(members, attribute):
    """Count the sensitive values, the missing one included."""
    return Counter(row[attribute] for row in members)


def matches_anything(rows, quasi):
    """Count for every row the rows that agree with it wherever neither is missing."""
    return [
        sum(
            all(row[name] == other[name] or row[name] is None or other[name] is None for name in quasi)
            for other in rows
        )
        for row in rows
    ]


# --- what one class measures -----------------------------------------------------------------------------


def top_share(histogram, values=None):
    """Return the largest share of a (listed) value."""
    total = sum(histogram.values())
    return max((Fraction(c, total) for v, c in histogram.items() if values is None or v in values), default=0)


def entropy_holds(histogram, threshold):
    """Decide H >= ln l by integers: n^n b^n >= a^n prod c^c for l = a/b."""
    threshold = Fraction(threshold)
    n = sum(histogram.values())
    right = threshold.numerator**n
    for c in histogram.values():
        right *= c**c
    return n**n * threshold.denominator**n >= right


def effective_l(histogram):
    """Return exp(H)."""
    n = sum(histogram.values())
    return exp(sum(c / n * (log(n) - log(c)) for c in histogram.values()))


def recursive_infimum(histogram, rank):
    """Return the c that must be exceeded at l = ``rank``, None where no c does."""
    ordered = sorted(histogram.values(), reverse=True)
    tail = sum(ordered[rank - 1 :])
    return Fraction(ordered[0], tail) if tail else None


def recursive_holds(histogram, c, rank):
    """Decide r_1 < c (r_l + ... + r_m) for l = ``rank``."""
    ordered = sorted(histogram.values(), reverse=True)
    return ordered[0] < Fraction(c) * sum(ordered[rank - 1 :])


def shares(histogram, values):
    """Return the distribution over ``values``."""
    total = sum(histogram.values())
    return {value: Fraction(histogram.get(value, 0)) / total for value in values}


def emd_equal(histogram, reference):
    """Return half the sum of the absolute differences."""
    values = set(histogram) | set(reference)
    p, q = shares(histogram, values), shares(reference, values)
    return sum(abs(p[value] - q[value]) for value in values) / 2


def emd_ordered(histogram, reference, order):
    """Return the sum of the absolute cumulated differences over m - 1, for the values in ``order``."""
    order = [value for value in order if value in reference]
    if len(order) < 2:
        return Fraction(0)
    p, q = shares(histogram, order), shares(reference, order)
    cumulated, total = Fraction(0), Fraction(0)
    for value in order:
        cumulated += p[value] - q[value]
        total += abs(cumulated)
    return total / (len(order) - 1)


def emd_hierarchical(histogram, reference, paths):
    """Move mass inside the lowest nodes first; a move that meets at height h costs h / H."""
    values = set(histogram) | set(reference)
    p, q = shares(histogram, values), shares(reference, values)
    height = max(len(paths[value]) for value in values) - 1
    if height == 0:
        return Fraction(0)
    total = Fraction(0)
    extra = {(paths[value][0],): p[value] - q[value] for value in values}
    parents = {(paths[value][0],): tuple(paths[value]) for value in values}
    for level in range(1, height + 1):
        above, up, down, members = {}, {}, {}, {}
        for node, mass in extra.items():
            path = parents[node]
            parent = path[level:]  # the rest of the path: equal labels under different parents stay apart
            above[parent] = above.get(parent, 0) + mass
            up[parent] = up.get(parent, 0) + max(mass, 0)
            down[parent] = down.get(parent, 0) + max(-mass, 0)
            members[parent] = path
        total += sum(Fraction(level, height) * min(up[node], down[node]) for node in above)
        extra, parents = above, members
    return total


def ground_distance(one, other, paths):
    """Return the height of the lowest common node over the height of the tree."""
    height = len(paths[one]) - 1
    for level in range(height + 1):
        if paths[one][level:] == paths[other][level:]:
            return Fraction(level, height)
    raise AssertionError("the tree has no root")


# --- models ----------------------------------------------------------------------------------------------


def diverse(kind, members, attribute, model, person):
    """Decide one of the three l-diversities for one class."""
    histogram = counts(members, attribute)
    if kind == "distinct_l":
        return most_distinct(members, attribute, person) >= model["l"]
    readings = [histogram] if person is None else [histogram, naive_persons.weights(members, attribute, person)]
    if kind == "entropy_l":
        return all(entropy_holds(reading, model["l"]) for reading in readings)
    return all(recursive_holds(reading, model["c"], int(model["l"])) for reading in readings)


def most_distinct(members, attribute, person):
    """Count distinct values, or with persons the values that as many persons have."""
    return len(counts(members, attribute)) if person is None else naive_persons.matching(members, attribute, person)


def holds(model, members, reference, *, person=None, orders=None, trees=None):  # noqa: PLR0911
    """Decide one model for one class; ``reference`` are the rows of the whole input."""
    name = model["model"]
    if name == "k_anonymity":
        return size(members, person) >= model["k"]
    if name == "joint_l":
        for attribute in model["attributes"]:
            others = [other for other in model["attributes"] if other != attribute]
            for part in classes(members, others).values():
                if not diverse(model["kind"], part, attribute, model, person):
                    return False
        return True
    attribute = model["attribute"]
    if name == "tiered":
        how = {"person": person, "orders": orders, "trees": trees}
        asked = any(row[attribute] in model["values"] for row in members)
        return not asked or holds(model["holds"], members, reference, **how)
    if name == "p_sensitive_k":
        return size(members, person) >= model["k"] and most_distinct(members, attribute, person) >= model["p"]
    if name in ("distinct_l", "entropy_l", "recursive_cl") and model.get("estimator") != "grassberger":
        return diverse(name, members, attribute, model, person)
    if name == "alpha_k" and size(members, person) < model["k"]:
        return False
    # models of shares, of rows and of persons; the correction for few rows is one of rows
    readings = [(counts(members, attribute), counts(reference, attribute))]
    if person is not None and name != "entropy_l":
        readings.append([naive_persons.weights(table, attribute, person) for table in (members, reference)])
    if person is not None and name == "alpha_k" and model.get("values") is not None:
        having = naive_persons.having(members, attribute, person)
        if any(having.get(value, 0) > Fraction(model["alpha"]) for value in model["values"]):
            return False
    return all(shares_hold(model, *reading, orders, trees) for reading in readings)


def shares_hold(model, histogram, reference, orders, trees):
    """Decide a model of shares from what each value weighs in the class and in the whole input."""
    if model["model"] == "alpha_k":
        return top_share(histogram, model.get("values")) <= Fraction(model["alpha"])
    if model["model"] == "t_closeness":
        return emd(model, histogram, reference, orders, trees) <= Fraction(model["t"])
    return naive_models.holds(model, histogram, reference)


def emd(model, histogram, reference, orders=None, trees=None):
    """Return the distance that the model declares."""
    if model["distance"] == "equal":
        return emd_equal(histogram, reference)
    if model["distance"] == "ordered":
        return emd_ordered(histogram, reference, orders[model["attribute"]])
    return emd_hierarchical(histogram, reference, trees[model["attribute"]])


def violating(rows, quasi, models, reference=None, **how):
    """Return the classes that fail a model, as ``classes`` does."""
    reference = rows if reference is None else reference
    return {
        key: members
        for key, members in classes(rows, quasi).items()
        if not all(holds(model, members, reference, **how) for model in models)
    }


def satisfied(rows, quasi, models, reference=None, **how):
    """Decide whether a table satisfies all models; an empty one never does."""
    return bool(rows) and not violating(rows, quasi, models, reference, **how)


# --- loss ------------------------------------------------------------------------------------------------


def leaves(label, hierarchy):
    """Return the values that a label covers."""
    return {value for value, path in hierarchy.items() if label in path}


def cell_loss(label, hierarchy):
    """Return the LM loss of one published cell: (leaves - 1) / (leaves of the domain - 1)."""
    everything = len(hierarchy)
    return Fraction(len(leaves(label, hierarchy)) - 1, everything - 1) if everything > 1 else Fraction(0)


def loss(published, quasi, hierarchies, suppressed=0, weights=None):
    """Return the LM loss of a published table; a suppressed row costs 1 in every attribute."""
    weights = weights or dict.fromkeys(quasi, Fraction(1))
    total = Fraction(0)
    for row, name in product(published, quasi):
        total += Fraction(weights[name]) * cell_loss(row[name], hierarchies[name])
    whole = sum(Fraction(weights[name]) for name in quasi)
    return (total + suppressed * whole) / ((len(published) + suppressed) * whole)


def with_missing(hierarchy):
    """Add the missing value: a leaf directly under the root, on its own where the top has several labels."""
    tops = {path[-1] for path in hierarchy.values()}
    height = len(next(iter(hierarchy.values()))) - 1
    alone = height == 0 or len(tops) > 1
    return {**hierarchy, None: [None] * (height + 1) if alone else [None] * height + [*tops]}


# --- full-domain search ----------------------------------------------------------------------------------


def generalize(rows, levels, hierarchies):
    """Replace every value by its label at the level of its attribute."""
    changed = []
    for row in rows:
        labels = {name: hierarchies[name][row[name]][level] for name, level in levels.items()}
        changed.append({**row, **labels})
    return changed


def nodes(quasi, hierarchies):
    """Return all level vectors, in lexicographic order."""
    heights = [len(next(iter(hierarchies[name].values()))) for name in quasi]
    return list(product(*(range(height) for height in heights)))


def judge(rows, quasi, hierarchies, models, *, node, weights=None, **how):
    """Return the rows suppressed at one node and the exact loss, computed on the levels themselves."""
    levels = dict(zip(quasi, node, strict=True))
    general = generalize(rows, levels, hierarchies)
    bad = violating(general, quasi, models, rows, **how)
    gone = sum(len(members) for members in bad.values())
    kept = [row for row in general if tuple(row[name] for name in quasi) not in bad]
    weights = weights or dict.fromkeys(quasi, Fraction(1))
    whole = sum(Fraction(weight) for weight in weights.values())
    total = Fraction(gone) * whole
    for row in kept:
        for name in quasi:
            total += Fraction(weights[name]) * level_loss(row[name], levels[name], hierarchies[name])
    return gone, total / (len(rows) * whole)


def level_loss(label, level, hierarchy):
    """Return the LM loss of a node at a level: labels may repeat on a path, the level decides."""
    covered = [value for value, path in hierarchy.items() if path[level] == label]
    return Fraction(len(covered) - 1, len(hierarchy) - 1) if len(hierarchy) > 1 else Fraction(0)


def full_domain(rows, quasi, hierarchies, models, *, limit=0, weights=None, **how):
    """Try every node: (loss, node, suppressed rows) of the best, or None.

    ``limit`` is the share of rows that may go. Ties: least height, then the least level vector.
    """
    allowed = int(Fraction(limit) * len(rows))
    best = None
    for node in nodes(quasi, hierarchies):
        gone, total = judge(rows, quasi, hierarchies, models, node=node, weights=weights, **how)
        if gone > allowed or gone == len(rows):
            continue
        key = (total, sum(node), node)
        if best is None or key < best[0]:
            best = (key, gone)
    return best and (best[0][0], best[0][2], best[1])
