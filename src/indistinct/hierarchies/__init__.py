"""Value hierarchies: how the values of one attribute generalize.

``build_hierarchy`` turns a specification, as it stands in a policy, into the record ``Hierarchy``; each kind
has its file. ``taxonomy`` reads hierarchy files, ``labels`` says which values a published label covers,
``draft`` makes hierarchies from data, ``preview`` shows what a hierarchy does to a column.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.hierarchies import dates, identity, intervals, masking, ordinal, ranges, sets, suppression, taxonomy
from indistinct.hierarchies.hierarchy import Hierarchy, Level
from indistinct.hierarchies.preview import LevelPreview, preview
from indistinct.hierarchies.taxonomy import Taxonomy, check, read_taxonomy, write_taxonomy
from indistinct.hierarchies.values import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "Hierarchy",
    "Level",
    "LevelPreview",
    "Taxonomy",
    "build_hierarchy",
    "check",
    "preview",
    "read_taxonomy",
    "write_taxonomy",
]

# keys of each kind beside "kind", as they stand in a policy
KEYS = {
    "intervals": ("widths", "breaks", "origin", "bottom", "top"),
    "masking": ("from", "character", "fill"),
    "dates": ("levels",),
    "ordinal": ("sizes", "groups"),
    "range": ("bounds", "step"),
    "set": ("most", "file", "rows", "values"),
    "suppress": (),
    "identity": (),
    "file": ("file",),
    "rows": ("rows",),
}


def build_hierarchy(
    attribute: str,
    texts: Sequence[str | None],
    *,
    spec: Mapping[str, Any] | None,
    type: str = "text",
    format: str | None = None,
    order: Sequence[str] | None = None,
    decimal: str = ".",
    domain: Sequence[Any] | None = None,
    weight: Any = Fraction(1),
    min_level: int = 0,
    max_level: int | None = None,
    floors: bool = True,
    base: Path | None = None,
) -> Hierarchy:
    """Build the hierarchy of an attribute from its specification.

    ``texts`` are the distinct values of the column in any order, None for missing. ``spec`` is a table as in
    a policy: ``{"kind": "intervals", "widths": [5, 10]}``, kinds intervals, masking, dates, ordinal, range, set,
    suppress; ``{"file": "x.csv"}`` (relative to ``base``) or ``{"rows": [...]}``; None means no hierarchy.
    Keys whose value is None count as absent. ``type``, ``format``, ``order`` and ``decimal`` say how texts
    are cast, ``domain`` is that of the loss, ``weight``, ``min_level`` and ``max_level`` go to the record.

    ``floors`` are what is never told apart: values below ``min_level``, below ``bottom``, from ``top`` on, and dates
    finer than the first of their ``levels``. Level 0 then joins them. Without ``floors`` level 0 is the values: so it
    is for a sensitive column, which is published as it is and whose hierarchy says how far apart its values are.

    Raises PolicyError for an unknown kind or key, a kind that does not fit the type, level bounds that the
    hierarchy does not have; HierarchyError and DataError as the kinds do.

    >>> build_hierarchy("age", ["31", "4"], spec={"kind": "intervals", "widths": [10]}, type="integer").levels[1].labels
    ('[0, 10)', '[30, 40)')
    """
    kind, given = _read(attribute, spec)
    reading: dict[str, Any] = {"type": type, "decimal": decimal, "format": format, "order": order}
    _check_type(attribute, kind, type)
    builders: dict[str, Callable[[], Hierarchy]] = {
        "identity": lambda: identity.build(attribute, texts, **reading),
        "suppress": lambda: suppression.build(attribute, texts, **reading),
        "intervals": lambda: intervals.build(
            attribute, texts, type=type, decimal=decimal, domain=domain, pooled=floors, **given
        ),
        "masking": lambda: masking.build(attribute, texts, **given),
        "dates": lambda: dates.build(attribute, texts, format=format, domain=domain, **given),
        "ordinal": lambda: ordinal.build(attribute, texts, order=order, domain=domain, **given),
        "range": lambda: ranges.build(attribute, texts, domain=domain, **reading, **given),
        "set": lambda: _sets(attribute, texts, base, reading, **given),
        "file": lambda: _from_file(attribute, texts, given["file"], base, reading),
        "rows": lambda: taxonomy.build(attribute, texts, given["rows"], "rows", **reading),
    }
    built = builders[kind]()
    lowest = int(kind == "dates" and floors)
    _check_levels(attribute, (lowest, built.height), min_level, max_level)
    floor = max(min_level, lowest) if floors else 0
    weight = exact(weight, f'weight of column "{attribute}"')
    built = replace(built, weight=weight, min_level=floor, max_level=max_level)
    return _raised(built, floor) if floor else built


def _raised(built: Hierarchy, floor: int) -> Hierarchy:
    """Let the levels below the floor be that of the floor: nothing finer is left to publish."""
    levels = (built.levels[floor],) * floor + built.levels[floor:]
    unbounded: dict[str, Any] = {"lower": None, "upper": None, "exact_lower": (), "exact_upper": ()}
    return replace(built, levels=levels, finer=built.levels[:floor], range_labels=None, **unbounded)


def _read(attribute: str, spec: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """Kind and parameters of a specification, absent keys left out."""
    if spec is None:
        return "identity", {}
    given = {("from" if key == "from_" else key): value for key, value in spec.items() if value is not None}
    implied = next((key for key in ("file", "rows") if key in given), None)
    kind = given.pop("kind", implied)
    if kind not in KEYS:
        choices = ", ".join(name for name in KEYS if name not in ("identity", "rows"))
        raise PolicyError(f'hierarchy of column "{attribute}" has no kind "{kind}"; choose {choices}', column=attribute)
    unknown = [key for key in given if key not in KEYS[kind]]
    if unknown:
        known = ", ".join(KEYS[kind]) or "no other key"
        message = f'hierarchy of column "{attribute}": kind "{kind}" has no key "{unknown[0]}"; it takes {known}'
        raise PolicyError(message, column=attribute)
    needed = {"dates": "levels", "file": "file", "rows": "rows"}.get(kind)
    if needed is not None and needed not in given:
        raise PolicyError(f'hierarchy of column "{attribute}": kind "{kind}" needs "{needed}"', column=attribute)
    if "from" in given:
        given["side"] = given.pop("from")
    return kind, given


def _check_type(attribute: str, kind: str, type: str) -> None:
    fitting = {
        "intervals": ("integer", "decimal"),
        "masking": ("text",),
        "dates": ("date",),
        "ordinal": ("ordinal",),
        "range": ("integer", "decimal", "date", "ordinal"),
    }.get(kind)
    if fitting is not None and type not in fitting:
        raise PolicyError(
            f'hierarchy of column "{attribute}": kind "{kind}" needs type {" or ".join(fitting)}, not {type}; '
            f"declare the type of the column",
            column=attribute,
        )


def _check_levels(attribute: str, ends: tuple[int, int], min_level: int, max_level: int | None) -> None:
    lowest, height = ends
    top = height if max_level is None else max_level
    if min_level < 0 or not max(min_level, lowest) <= top <= height:
        raise PolicyError(
            f'levels of column "{attribute}" run from {lowest} to {height}, '
            f"but min_level is {min_level} and max_level {max_level}",
            column=attribute,
        )


def _sets(
    attribute: str,
    texts: Sequence[str | None],
    base: Path | None,
    reading: Mapping[str, Any],
    file: str | None = None,
    **given: Any,
) -> Hierarchy:
    """Read the tree above the sets, if there is one."""
    if file is not None:
        path = Path(file) if base is None else Path(base) / file
        given |= {"rows": read_taxonomy(path), "where": path.name}
    return sets.build(attribute, texts, **reading, **given)


def _from_file(
    attribute: str, texts: Sequence[str | None], file: str | Path, base: Path | None, reading: Mapping[str, Any]
) -> Hierarchy:
    path = Path(file) if base is None else Path(base) / file
    return taxonomy.build(attribute, texts, read_taxonomy(path), path.name, **reading)
