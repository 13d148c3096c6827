"""k^m-anonymity by global generalization of the items of set-valued columns; everything else is published as it is.

Each set-valued column gets a level above its cells: the sets of labels that ``transforms.km`` finds, the same item
everywhere under the same label, so that every set of at most m labels is held by at least k rows. It is published at
that level, other columns at their least level. No row is suppressed: a row that goes takes its sets along, and others
become rarer.

The cost of a published cell is the mean over its labels of (leaves under the label - 1) / (leaves of the tree - 1), 0
for a cell without items.

It holds ``km_anonymity`` and nothing else. With another model beside it classes would have to agree in these columns
too, and k-anonymity over all quasi-identifiers gives k^m for every m already. To generalize items first and hold other
models afterwards, use the transform.

Source: M. Terrovitis, N. Mamoulis, P. Kalnis, PVLDB 1(1), 2008, doi:10.14778/1453856.1453874, section 4 (global
generalization, sets of growing size); the choice of the lift and the cost are this project's.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.errors import InfeasibleError, PolicyError, UnsupportedError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.items import items_of
from indistinct.models.contract import ITEM_SETS
from indistinct.notices import Sentence
from indistinct.policy.privacy import KmAnonymity
from indistinct.policy.recoding import Km
from indistinct.tables.records import Assignment
from indistinct.transforms.km import Tree, generalized, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

KIND = "items"  # of the hierarchies made here


def km(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Publish set-valued columns at the level that ``item_hierarchy`` gave them, all others at their least level.

    Raises PolicyError and UnsupportedError for what it cannot hold, InfeasibleError for fewer than k rows; whatever
    ``progress`` raises.
    """
    require_alone(policy)
    progress("search", 0, 1)
    most = max(model.k for model in policy.privacy if isinstance(model, KmAnonymity))
    if frequencies.total < most:
        raise InfeasibleError(f"the table has {frequencies.total} rows, fewer than k = {most}", "ask for a smaller k")
    levels = tuple(hierarchy.min_level for hierarchy in frequencies.quasi)
    nodes = [
        hierarchy.levels[level].node_of[frequencies.tuples[:, position]]
        for position, (hierarchy, level) in enumerate(zip(frequencies.quasi, levels, strict=True))
    ]
    _, inverse = np.unique(np.column_stack(nodes), axis=0, return_inverse=True)
    class_of = inverse.reshape(-1).astype(np.int32)
    smallest = int(np.bincount(class_of, frequencies.tuple_rows).min())
    note = Sentence(
        "km_anonymity is about what others know of the items in {items}: whole rows are not made alike, and the "
        "smallest class of equal quasi-identifiers has {n} rows",
        "km_anonymity is about what others know of the items in {items}: whole rows are not made alike, and the "
        "smallest class of equal quasi-identifiers has {n} row",
        n=smallest,
        items=tuple(f'"{name}"' for name in policy.item_columns),
    )
    progress("search", 1, 1)
    return Assignment.of_tuples(frequencies, class_of, levels, (note,))


def require_alone(policy: Policy) -> None:
    """Refuse policies that ask for more than k^m-anonymity; raises PolicyError, UnsupportedError for persons."""
    others = sorted({model.model for model in policy.privacy if not isinstance(model, KmAnonymity)})
    if others:
        raise PolicyError(
            f"km holds km_anonymity and no other model, not {others[0]}: take {others[0]} out; or generalize the items "
            'first, by a transform with method = "km", and anonymize its result with the other models '
            "(k_anonymity over all quasi-identifiers gives km_anonymity of the same k, whatever m)",
            key="privacy",
        )
    if not policy.privacy:
        raise PolicyError("km needs the model km_anonymity under [[privacy]]", key="privacy")
    refuse_persons(policy)
    if policy.suppression.rows != "drop":
        raise PolicyError(
            'km suppresses no row, and a starred one would count as a set of items: set rows = "drop" under '
            "[suppression]",
            key="suppression.rows",
        )


def refuse_persons(policy: Policy) -> None:
    """Raise UnsupportedError where rows belong to persons: the sets of one person would count several times."""
    if policy.person is not None:
        raise UnsupportedError(
            "km_anonymity counts rows and cannot count persons: leave [person] out, one row for each", key="person"
        )


def item_hierarchy(
    column: Hierarchy,
    rows: NDArray[np.int64],
    tree_rows: Sequence[Sequence[str]],
    separator: str,
    demands: Sequence[tuple[int, int]],
    tokens: Sequence[str],
) -> Hierarchy:
    """Give a set-valued column the level of labels under which every (k, m) ``demands`` holds.

    ``column`` has the cells as they stand, ``rows`` int64[cells] says how often each occurs. Codes are ordered by the
    set of labels, then by code point; cells without items that are not missing publish the separator alone.

    Raises HierarchyError for a tree that is none, PolicyError where a label is one of ``tokens``, which readers take
    for a suppressed cell, and as ``transforms.km.generalized`` does.
    """
    name = column.attribute
    tree = Tree(tree_rows, name)
    if clash := sorted(set(tree.below) & set(tokens)):
        raise PolicyError(
            f'the tree of "{name}" has a label {clash[0]}, which stands for a suppressed cell; rename it', column=name
        )
    split = [items_of(text, separator) for text in column.texts]
    label_of = generalized(split, rows, tree, separator, demands)
    present = [code for code, text in enumerate(column.texts) if text is not None]
    label = {code: joined(split[code], label_of, separator) or separator for code in present}
    present.sort(key=lambda code: (label[code], column.texts[code]))
    node_of, first = runs(np.unique([label[code] for code in present], return_inverse=True)[1].reshape(-1))
    heads = [present[place] for place in first.tolist()]
    costs = [_cost({label_of[item] for item in split[code]}, tree) for code in heads]
    common = lcm(*(cost.denominator for cost in costs))
    grouping = Grouping(
        node_of,
        [label[code] for code in heads],
        Fractions(np.array([int(cost * common) for cost in costs], object), common),
    )
    return assemble(
        name,
        KIND,
        [str(column.texts[code]) for code in present],
        [grouping],
        missing=column.missing >= 0,
        add_root=False,
        weight=column.weight,
        min_level=1,
    )


def _cost(labels: set[str], tree: Tree) -> Fraction:
    return sum((tree.cost(label) for label in labels), Fraction(0)) / max(len(labels), 1)


ALGORITHM = Algorithm(Km, km, "truthful", offers=frozenset({ITEM_SETS}))
