"""What an attacker has in front of him: the release as he sees it, and what else he knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.rerun import Run, run
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.labels import Reader, masks_of
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.hierarchies.values import parse_number
from indistinct.session.prepare import modelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class AttackContext:
    """All that the attacks may use; each takes what it needs and says what it lacks.

    ``identified`` is a table with names that the attacker has; ``original`` the table before anonymization (it plays
    the identified table where there is none, and tells how often a guess is right); ``control`` are persons held out
    before anonymization; ``other`` is a second release. ``widths`` are the windows of numeric attributes,
    ``rule_out`` the number of values that background knowledge excludes, ``known`` that of quasi-identifiers that an
    attacker knows, ``bound`` the share of a value that a minimal
    algorithm would not exceed, ``tight`` whether published ranges are known to end at values of their members.
    ``knows_program``: he runs the program himself; ``other_policy``: the policy of the second release.
    """

    view: View
    policy: Policy
    other: View | None = None
    identified: Tabulated | None = None
    original: Tabulated | None = None
    control: Tabulated | None = None
    widths: Mapping[str, Fraction] = field(default_factory=dict)
    rule_out: int = 1
    known: int = 3
    bound: Fraction | None = None
    tight: bool = False
    repeats: int = 20
    knows_program: bool = True
    other_policy: Policy | None = None
    _runs: dict[str, Run | str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def persons(self) -> Tabulated | None:
        """The table of persons that the attacker can look up, if any."""
        return self.identified if self.identified is not None else self.original

    @property
    def role_of_persons(self) -> str:
        """Which table the row numbers of persons count in."""
        return "identified" if self.identified is not None else "original"

    @property
    def everybody(self) -> Tabulated | None:
        """The table whose quasi-identifiers are those of the input, as far as is known."""
        return self.original if self.original is not None else self.identified

    def repeated(self, view: View, policy: Policy) -> Run | str:
        """Run the program over everybody and return the run that gives a release; else a sentence that says why not.

        Where models look at sensitive columns their values are taken from the table: that is an attacker who has
        learnt in another way who is in which class.
        """
        key = f"{id(view)} {policy.hash()}"
        if key not in self._runs:
            self._runs[key] = self._repeated(view, policy)
        return self._runs[key]

    def _repeated(self, view: View, policy: Policy) -> Run | str:
        table = self.everybody
        if not self.knows_program:
            return "the attacker does not know the program"
        if table is None:
            return "needs everybody's quasi-identifiers (--original or --identified)"
        if any(name not in table.columns for name in (*view.quasi, *modelled(policy))):
            return "the models of sensitive columns need their values: give --original"
        found = run(table.source, policy)
        if isinstance(found, Run) and not found.gives(view):
            return "a run of this version under this policy does not give this file"
        return found

    def reading(self, name: str, typed: frozenset[str]) -> dict[str, Any]:
        """Say how the texts of a column are read."""
        attribute = self.policy.attributes.get(name)
        if attribute is None:
            return {"type": "text"}
        return {
            "type": attribute.type,
            "format": None if name in typed else attribute.format,
            "order": attribute.order,
            "decimal": "." if name in typed else self.policy.table.decimal,
        }

    def rows_of_hierarchy(self, name: str) -> list[Sequence[str]] | None:
        """Return the rows of a hierarchy file of the policy, or None."""
        attribute = self.policy.attributes.get(name)
        spec = (attribute.spec if attribute is not None else None) or {}
        if "file" in spec:
            return list(read_taxonomy(self.policy.locate(spec["file"])))
        return list(spec["rows"]) if "rows" in spec else None

    def reader(self, name: str, texts: Sequence[str | None], typed: frozenset[str] = frozenset()) -> Reader:
        """Prepare for asking which of the values ``texts`` a published label covers."""
        attribute = self.policy.attributes.get(name)
        spec = (attribute.spec if attribute is not None else None) or {}
        return Reader(
            texts,
            **self.reading(name, typed),
            rows=self.rows_of_hierarchy(name),
            token=self.policy.output.suppressed_token,
            **masks_of(spec),
        )

    def tree(self, name: str) -> Hierarchy | None:
        """Return the hierarchy over the values of a sensitive attribute, if the policy has one."""
        attribute = self.policy.attributes.get(name)
        if attribute is None or attribute.spec is None:
            return None
        texts = self.view.sensitive[name].texts
        how = self.reading(name, self.view.typed)
        return build_hierarchy(name, texts, spec=attribute.spec, floors=False, base=self.policy.base, **how)

    def is_numeric(self, name: str) -> bool:
        """Whether distances between the values of an attribute mean something: numbers and dates."""
        attribute = self.policy.attributes.get(name)
        return attribute is not None and attribute.type in ("integer", "decimal", "date")

    def rank(self, name: str, texts: Sequence[str | None], typed: frozenset[str]) -> Int32:
        """int32[n]: a place for each value so that most labels cover a run: its scale, its tree, or its text."""
        from indistinct.hierarchies.values import positions

        present = [text for text in texts if text is not None]
        how = self.reading(name, typed)
        keys: list[Any]
        if (rows := self.rows_of_hierarchy(name)) is not None:
            paths = {row[0]: (*reversed(row[1:]), row[0]) for row in rows}
            keys = [paths.get(text, (text,)) for text in present]
        elif how["type"] != "text":
            keys = positions(name, present, **how)[0].tolist()
        else:
            numbers = [parse_number(text, self.policy.table.decimal) for text in present]
            known = [number for number in numbers if number is not None]
            keys = known if len(known) == len(present) else present
        place = dict(zip(present, keys, strict=True))
        known_first = sorted((number for number, text in enumerate(texts) if text is not None),
                             key=lambda number: place[texts[number] or ""])  # fmt: skip
        order = [*known_first, *(number for number, text in enumerate(texts) if text is None)]
        rank = np.empty(len(texts), np.int32)
        rank[order] = np.arange(len(texts), dtype=np.int32)
        return rank
