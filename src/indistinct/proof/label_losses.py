"""Losses that anyone can work out from the labels of a published file and from domains that are public.

LM, ILoss and GCP as in ``losses``. A domain is public where it is that of a hierarchy file, where the policy says so,
or where the file shows it: ranges that end at members, when no row is gone. Where one domain is not public, or a label
cannot be read, there is no figure: a loss is measured against its domain, and would tell it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import declared, form_of
from indistinct.errors import IndistinctError
from indistinct.hierarchies.labels import Interval, parse
from indistinct.hierarchies.ranges import DEFAULT_BOUNDS
from indistinct.losses.axes import axis_of
from indistinct.losses.gcp import GCP
from indistinct.losses.iloss import ILOSS
from indistinct.losses.lm import LM
from indistinct.policy.generalization import Range, Set, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis
    from indistinct.policy import Attribute, Policy

    Labels = tuple[Sequence[str | None], NDArray[np.int64]]


def label_losses(
    columns: Mapping[str, Labels],
    policy: Policy,
    trees: Mapping[str, Sequence[Sequence[str]]],
    *,
    gone: int,
    whole: bool,
) -> dict[str, Any]:
    """Mean losses of the quasi-identifiers, weighted by their weights, and LM by attribute; empty where not public.

    ``columns``: published labels of each, and int64 how many rows have each. ``policy`` is a public form, ``trees`` the
    rows of its hierarchy files by their hash. ``gone`` rows are not in the file and cost as much as a suppressed one;
    ``whole``: no row is suppressed or left out.
    """
    if declared(policy) == "perturbing" or form_of(policy) != "one_table":
        return {}  # labels are no ranges of originals, or rows are not published by class
    found: dict[str, tuple[float, float, float]] = {}
    weights: dict[str, Fraction | int] = {}
    for name, (labels, rows) in columns.items():
        attribute = policy.attributes.get(name)
        try:
            costs = _costs(name, labels, attribute, policy, trees, whole=whole)
        except IndistinctError:
            costs = None
        if costs is None:
            return {}
        lm, gcp, largest = costs
        total = int(rows.sum()) + gone
        mean = float((rows @ lm + gone) / max(total, 1))
        found[name] = mean, mean * largest, float((rows @ gcp + gone) / max(total, 1))
        weights[name] = 1 if attribute is None else attribute.weight
    whole_weight = float(sum(weights.values())) or 1.0
    means = [sum(float(weights[name]) * own[n] for name, own in found.items()) / whole_weight for n in range(3)]
    lm_of = {name: own[0] for name, own in found.items()}
    return {LM.name: means[0], "lm_by_attribute": lm_of, ILOSS.name: means[1], GCP.name: means[2]}


def _costs(
    name: str,
    labels: Sequence[str | None],
    attribute: Attribute | None,
    policy: Policy,
    trees: Mapping[str, Sequence[Sequence[str]]],
    *,
    whole: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float] | None:
    """LM and GCP of each label and the largest ILoss, or None where the domain is not public."""
    if attribute is None or attribute.hierarchy is None:
        # published as it is, but in suppressed rows
        costs = np.array([label == policy.output.suppressed_token for label in labels], np.float64)
        ordered = attribute is not None and attribute.is_ordered
        return (costs, costs, 1.0 if ordered else 1 - 1 / max(len(labels), 1)) if whole else None
    axis = _axis_of_public(name, labels, attribute, policy, trees, whole=whole)
    if axis is None or axis.unread or not axis.size:
        return None
    lm = axis.costs()
    if axis.is_ordered:
        return lm, lm, 1.0
    return lm, np.where(axis.widths > 1, axis.widths / axis.size, 0.0), (axis.size - 1) / axis.size


def _axis_of_public(
    name: str,
    labels: Sequence[str | None],
    attribute: Attribute,
    policy: Policy,
    trees: Mapping[str, Sequence[Sequence[str]]],
    *,
    whole: bool,
) -> Axis | None:
    """Read the labels over a domain that is public, or return None where there is none."""
    rows, before, spec = None, list[str | None](), attribute.hierarchy
    if isinstance(spec, Taxonomy) or (isinstance(spec, Set) and spec.file is not None):
        # of numbers it is measured as categories, and of sets of items over the cells of the original
        categories = (
            (isinstance(spec, Set) or not attribute.is_ordered)
            and name not in policy.item_columns
            and attribute.separator is None
        )
        rows = trees.get(str(spec.file)) if categories else None
        before = [row[0] for row in rows or ()]
        before += [None] if before and None in labels else []
    elif attribute.public_domain and isinstance(spec, Set):
        before = [*(spec.values or attribute.order or ())]
        before += [None] if before and None in labels else []
    elif attribute.public_domain and attribute.order is not None:
        before = [*attribute.order]
    elif attribute.public_domain and attribute.ends is not None:
        # a single value may stand for a day, which hides nothing
        before = [label for label in labels if _alone(label, attribute, policy)]
        return _axis(name, before, labels, attribute, policy)
    elif whole and attribute.type != "ordinal" and _ends_at_members(attribute):
        ends = [_ends_of(label, attribute, policy) for label in labels if label is not None]
        before = list(dict.fromkeys(end for own in ends for end in own)) if all(ends) else []
    return _axis(name, before, labels, attribute, policy, rows=rows) if before else None


def _axis(
    name: str,
    before: Sequence[str | None],
    labels: Sequence[str | None],
    attribute: Attribute,
    policy: Policy,
    *,
    rows: Sequence[Sequence[str]] | None = None,
) -> Axis:
    spec = attribute.spec or {}
    return axis_of(
        name,
        before,
        labels,
        attribute.type,
        rows=rows,
        token=policy.output.suppressed_token,
        character=spec.get("character", "*"),
        domain=attribute.ends,
        decimal=policy.table.decimal,
        format=attribute.format,
        order=attribute.order,
        values=[text for text in before if text is not None] if spec.get("kind") == "set" else None,
    )


def _ends_at_members(attribute: Attribute) -> bool:
    spec = attribute.hierarchy
    return isinstance(spec, Range) and (spec.bounds or DEFAULT_BOUNDS.get(attribute.type)) == "members"


def _alone(label: str | None, attribute: Attribute, policy: Policy) -> bool:
    """Whether a label is a value of its own, which hides nothing."""
    found = None if label is None else _read(label, attribute, policy)
    return found is not None and found.low == found.high


def _ends_of(label: str, attribute: Attribute, policy: Policy) -> tuple[str, ...]:
    """Texts of both ends of a label of members, or nothing where it has none."""
    found = _read(label, attribute, policy)
    if found is None or found.low is None or found.high is None:
        return ()
    if found.low == found.high:
        return (label,)
    inner = re.split("[,;] ", label.strip("[]"))  # a semicolon parts the ends where the decimal mark is a comma
    return tuple(inner) if len(inner) == 2 else ()


def _read(label: str, attribute: Attribute, policy: Policy) -> Interval | None:
    found = parse(label, attribute.type, decimal=policy.table.decimal, format=attribute.format, order=attribute.order)
    return found if isinstance(found, Interval) else None
