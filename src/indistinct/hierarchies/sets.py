"""No tree needed: a class is published as the set of the values that occur in it, ``{Private, State-gov}``.

Up to ``most`` values are listed; more are published as the node of a tree that lies above, where a hierarchy file is
given, else as the root. One value is published as itself, all values of the domain, or missing and present values
together, as the root. A set tells that each of its values occurs in the class.

LM cost of n values of a domain of m: ``(n - 1) / (m - 1)``, as that of a node with n leaves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError, HierarchyError, PolicyError
from indistinct.hierarchies import suppression, taxonomy
from indistinct.hierarchies.hierarchy import Fractions, Hierarchy, Sets, assemble
from indistinct.hierarchies.values import already_generalized, from_source, quoted, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.hierarchies.values import Scale

LARGEST_DOMAIN = 1024
"""Values of a column that can be published as sets: each row of a search carries a bit for every one."""


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    most: int | None = None,
    values: Sequence[str] | None = None,
    rows: Sequence[tuple[str, ...]] | None = None,
    where: str = "file",
    type: str = "text",
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Hierarchy:
    """Build the record of a column whose classes are published as sets of up to ``most`` values (default: any number).

    The domain is ``values``, else the order of an ordinal column, else the leaves of ``rows``, a tree as in a hierarchy
    file, else what occurs; a missing value is one more. Levels, for algorithms that know nothing else, are the value,
    those of the tree, and the root.

    Raises PolicyError for both ``values`` and ``rows``, and ``most`` below 1; DataError for values outside the domain,
    and more than 1,024 of them; HierarchyError for a value that reads as a set or as the root, and what
    ``taxonomy.build`` raises.

    >>> work = build("work", ["Private", "State", "Never"], most=2)
    >>> work.label_of([0, 2]), work.label_of([1]), work.label_of([0, 1, 2]), work.sets.costs[2]
    ('{Never, State}', 'Private', '*', Fraction(1, 2))
    """
    if most is not None and most < 1:
        raise PolicyError(f'sets of column "{attribute}": most is {most}, but must be 1 or more', column=attribute)
    if values is not None and rows is not None:
        raise PolicyError(
            f'sets of column "{attribute}": the values are those of the file; leave out values or file',
            column=attribute,
        )
    found = scale(attribute, texts, type, decimal=decimal, format=format, order=order)
    _refuse_braces(attribute, found.texts)
    if len(found.texts) + found.missing > LARGEST_DOMAIN:
        raise DataError(
            f'column "{attribute}" has {len(found.texts) + found.missing} values, and sets are listed for columns of '
            f"up to {LARGEST_DOMAIN}; give it a range, intervals or a hierarchy file",
            column=attribute,
        )
    if rows is not None:
        reading = {"type": type, "decimal": decimal, "format": format, "order": order}
        tree = taxonomy.build(attribute, texts, rows, where, **reading)  # type: ignore[arg-type]
        if len(tree.top_labels()) != 1:
            raise HierarchyError(
                f'hierarchy of "{attribute}" ({where}) ends in {quoted(tree.top_labels())}; sets need one label on top',
                column=attribute,
            )
        leaves = len({row[0] for row in rows}) + (found.missing and ("" not in {row[0] for row in rows} or "" in texts))
        return replace(tree, kind="set", sets=sets_of(int(leaves), most))
    suppression.refuse_root_as_value(attribute, found.texts, missing=found.missing)
    domain = values if values is not None else order if type == "ordinal" else None
    size, ordered = _placed(found, domain)
    return assemble(
        attribute,
        "set",
        ordered,
        missing=found.missing,
        wide=size > 1,
        positions=found.fractions,
        spellings=found.spellings,
        sets=sets_of(size + found.missing, most),
    )


def sets_of(domain: int, most: int | None) -> Sets:
    """Costs of sets of up to ``most`` of ``domain`` values; a set of all of them is the root.

    >>> list(sets_of(5, 3).costs)
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 4), Fraction(1, 2)]
    """
    largest = max(1, domain - 1 if most is None else min(most, domain - 1))
    return Sets(domain, Fractions(np.maximum(np.arange(largest + 1) - 1, 0), max(domain - 1, 1)))


def refuse_token(hierarchy: Hierarchy, token: str) -> None:
    """Raise HierarchyError when the mark of suppressed cells is a value of sets, and would stand for all too."""
    if hierarchy.sets is not None and token in hierarchy.texts and len(hierarchy.texts) > 1:
        raise HierarchyError(
            f'column "{hierarchy.attribute}" holds the value "{token}", which is the mark of suppressed cells too; set '
            "output.suppressed_token to a text that is no value",
            column=hierarchy.attribute,
        ).showing(f'"{token}"')


def _placed(found: Scale, domain: Sequence[str] | None) -> tuple[int, tuple[str, ...]]:
    """Size of the domain without missing, and the values that occur in its order (text) or on their scale."""
    if domain is None:
        return len(found.texts), found.texts
    place = {text: number for number, text in enumerate(domain)}
    same = {text: found.spellings.get(text, text) for text in place}
    outside = [text for text in found.texts if text not in same.values()]
    if outside:
        raise DataError(
            f'column "{found.attribute}" holds {quoted(outside)}, which {"is" if len(outside) == 1 else "are"} not '
            "among its declared values; add them or mend the cells",
            column=found.attribute,
        ).showing(quoted(outside))
    ordered = sorted(found.texts, key=place.__getitem__) if found.type == "text" else found.texts
    return len(set(same.values())), tuple(ordered)


def _refuse_braces(attribute: str, texts: Sequence[str]) -> None:
    """Raise HierarchyError for a value that nobody could tell from a set."""
    alike = [text for text in texts if text.strip().startswith("{") and text.strip().endswith("}")]
    if alike:
        label = already_generalized(alike)
        raise HierarchyError(
            f'column "{attribute}" holds {quoted(alike)}, which reads as a set of values; choose another kind of '
            f"hierarchy, or mend the cells{from_source(label)}",
            column=attribute,
        ).showing(quoted(alike), *filter(None, [label]))
