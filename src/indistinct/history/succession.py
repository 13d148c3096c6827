"""Successive releases: what someone learns who has the new one and all earlier ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indistinct.notices import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.history.record import Labels, Snapshot


SEVERAL, ABSENT = -1, -2  # in place of a class


@dataclass
class _Findings:
    """Counts of persons (rows, for classes alone) by what is learnt about them."""

    persons: int = 0
    common: int = 0
    new: int = 0
    gone: int = 0
    several_rows: int = 0
    changed: int = 0
    disclosed: Counter[str] = field(default_factory=Counter)
    below_l: Counter[str] = field(default_factory=Counter)
    below_k: int = 0
    signature_differs: Counter[str] = field(default_factory=Counter)
    not_m_unique: Counter[str] = field(default_factory=Counter)
    difference_disclosed: int = 0
    difference_below_l: int = 0
    growing_classes: int = 0


def succession(new: Snapshot, earlier: Mapping[str, Snapshot]) -> dict[str, Any]:
    """Attack a release together with all earlier ones; count the persons for whom a guarantee would no longer hold.

    With persons, for everybody who has one row in the new release and one in some earlier ones:

    - *intersection*: their value of a sensitive attribute is in the class of each of their rows, hence in the
      intersection of the values that these classes show. Fewer values than a release promised (l) break the promise;
      one value, where each class alone showed more, is a disclosure. The candidate rows in a class are those whose
      sensitive values stay possible; fewer than k break k-anonymity.
    - *difference*: where all persons of one class are in a class of another release together with others, the sensitive
      values of the others are the difference of the two multisets.
    - *m-invariance*, where demanded: every class has at least m rows, all with different values, and everybody keeps
      their signature, the set of values of their class.

    An empty intersection means that a value changed between the releases: it is counted, not judged. Persons with
    several rows are counted, not judged. Without persons, classes with equal labels are compared by difference, and
    "persons" are rows. ``satisfied`` is False when anybody is disclosed or a promise is broken, None when nothing was
    found but not everything could be looked at (``not_judged`` says what), else True.

    Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556 (m-invariance); S. Ganta,
    S. Kasiviswanathan, A. Smith, KDD 2008, 265-273, doi:10.1145/1401890.1401926 (intersection); J.-W. Byun, Y. Sohn,
    E. Bertino, N. Li, SDM 2006, LNCS 4165, 48-63, doi:10.1007/11844662_4 (difference).
    """
    found = _Findings()
    usable = {name: old for name, old in earlier.items() if old.signatures}
    by_person = new.persons is not None and all(old.persons is not None for old in usable.values())
    for name, m in new.promises["m"].items():
        found.not_m_unique[name] = sum(
            new.sizes[c] for c, s in enumerate(new.signatures) if not _is_m_unique(s, new.sensitive.index(name), m)
        )
    if by_person and usable:
        _intersections(new, usable, found)
        for old in usable.values():
            _differences(new, old, found)
    else:
        found.persons = new.rows
        for old in usable.values():
            _equal_labels(new, old, found)
    for old in earlier.values():
        if not old.signatures:
            sizes = dict(zip(old.labels, old.sizes, strict=True))
            found.growing_classes += sum(
                label in sizes and sizes[label] != size for label, size in zip(new.labels, new.sizes, strict=True)
            )
    return _document(new, earlier, usable, found, by_person=by_person)


def _is_m_unique(signature: Mapping[Labels, int], position: int, m: int) -> bool:
    values = [key[position] for key in signature]
    return all(count == 1 for count in signature.values()) and len(set(values)) == len(values) >= m


def _promised(snapshots: Sequence[Snapshot], name: str) -> int:
    return max((one.promises["l"].get(name, 0) for one in snapshots), default=0)


def _intersections(new: Snapshot, earlier: Mapping[str, Snapshot], found: _Findings) -> None:
    persons = new.persons or {}
    others = [old.persons or {} for old in earlier.values()]
    snapshots = list(earlier.values())
    found.persons = len(persons)
    places: Counter[tuple[int, ...]] = Counter()
    for person, own in persons.items():
        classes = [other.get(person, ABSENT) for other in others]
        if all(c == ABSENT for c in classes):
            found.new += 1
            continue
        found.common += 1
        if SEVERAL in (own, *classes):
            found.several_rows += 1
        else:
            places[(own, *classes)] += 1
    found.gone = len({person for other in others for person in other} - persons.keys())
    for (own, *classes), count in places.items():
        met = [(new, own), *((old, c) for old, c in zip(snapshots, classes, strict=True) if c >= 0)]
        _intersect(met, count, found)


def _intersect(met: Sequence[tuple[Snapshot, int]], count: int, found: _Findings) -> None:
    """Judge ``count`` persons whose rows stand in these classes of these releases."""
    shared = [name for name in met[0][0].sensitive if all(name in one.sensitive for one, _ in met)]
    if not shared:
        return
    candidates: dict[str, set[str | None]] = {}
    for name in shared:
        supports = [{key[one.sensitive.index(name)] for key in one.signatures[c]} for one, c in met]
        candidates[name] = set.intersection(*supports)
        if name in met[0][0].promises["m"] and any(support != supports[0] for support in supports):
            found.signature_differs[name] += count
        least = min(map(len, supports))
        if len(candidates[name]) == 1 and least > 1:
            found.disclosed[name] += count
        if 0 < len(candidates[name]) < _promised([one for one, _ in met], name):
            found.below_l[name] += count
    if not all(candidates.values()):
        found.changed += count
        return
    k = max(one.promises["k"] for one, _ in met)
    if k and min(_candidates(one, c, candidates) for one, c in met) < k:
        found.below_k += count


def _candidates(one: Snapshot, number: int, candidates: Mapping[str, set[str | None]]) -> int:
    """Rows of a class that may still be the person's."""
    places = [(one.sensitive.index(name), values) for name, values in candidates.items()]
    return sum(rows for key, rows in one.signatures[number].items() if all(key[i] in values for i, values in places))


def _differences(new: Snapshot, old: Snapshot, found: _Findings) -> None:
    """Find classes whose persons all stand in one class of the other release, together with others."""
    both: Counter[tuple[int, int]] = Counter()
    in_old, in_new = Counter((old.persons or {}).values()), Counter((new.persons or {}).values())
    for person, own in (new.persons or {}).items():
        other = (old.persons or {}).get(person)
        if other is not None and own >= 0 and other >= 0:
            both[other, own] += 1
    for (other, own), count in both.items():
        # every row of a class has a person of its own, or the persons do not explain the rows
        if in_old[other] != old.sizes[other] or in_new[own] != new.sizes[own]:
            continue
        if count == old.sizes[other] < new.sizes[own]:
            _judge_difference(new, own, old, other, found)
        elif count == new.sizes[own] < old.sizes[other]:
            _judge_difference(old, other, new, own, found)


def _equal_labels(new: Snapshot, old: Snapshot, found: _Findings) -> None:
    """Without persons: classes with equal labels, one inside the other."""
    if new.quasi != old.quasi:
        return
    number = {label: position for position, label in enumerate(old.labels)}
    for own, label in enumerate(new.labels):
        other = number.get(label)
        if other is None or old.sizes[other] == new.sizes[own]:
            continue
        if old.sizes[other] < new.sizes[own]:
            _judge_difference(new, own, old, other, found)
        else:
            _judge_difference(old, other, new, own, found)


def _judge_difference(large: Snapshot, outer: int, small: Snapshot, inner: int, found: _Findings) -> None:
    shared = [name for name in large.sensitive if name in small.sensitive]
    disclosed = below = False
    rows = large.sizes[outer] - small.sizes[inner]
    for name in shared:
        more, less = _values(large, outer, name), _values(small, inner, name)
        rest = more - less
        if rest.total() != rows:  # a value changed: the difference is not that of persons
            continue
        disclosed |= len(rest) == 1 and len(more) > 1
        below |= len(rest) < _promised([large, small], name)
    found.difference_disclosed += rows * disclosed
    found.difference_below_l += rows * below


def _values(one: Snapshot, number: int, name: str) -> Counter[str | None]:
    position = one.sensitive.index(name)
    values: Counter[str | None] = Counter()
    for key, rows in one.signatures[number].items():
        values[key[position]] += rows
    return values


def _document(
    new: Snapshot,
    earlier: Mapping[str, Snapshot],
    usable: Mapping[str, Snapshot],
    found: _Findings,
    *,
    by_person: bool,
) -> dict[str, Any]:
    unit = "persons" if by_person else "rows"
    reasons = [
        *(
            f"{count} {unit}: only one value of {name} is possible when all releases are put together"
            for name, count in found.disclosed.items()
        ),
        *(
            f"{count} {unit}: fewer values of {name} are possible than a release promised"
            for name, count in found.below_l.items()
        ),
        *([f"{found.below_k} {unit}: fewer rows can be theirs than k promises"] if found.below_k else []),
        *(
            [f"{found.difference_disclosed} {unit}: the difference of two classes shows their value"]
            if found.difference_disclosed
            else []
        ),
        *(
            [f"{found.difference_below_l} {unit}: the difference of two classes shows fewer values than promised"]
            if found.difference_below_l
            else []
        ),
        *(
            f"{count} {unit}: the values of {name} in their class are not those of an earlier release (m-invariance)"
            for name, count in found.signature_differs.items()
        ),
        *(
            f"{count} rows stand in classes that are not m-unique in {name}"
            for name, count in found.not_m_unique.items()
            if count
        ),
    ]
    open_questions = _open_questions(new, earlier, usable, found, by_person=by_person)
    return {
        "satisfied": False if reasons else None if open_questions else True,
        "earlier_releases": list(earlier),
        "compared": list(usable),
        "level": "persons" if by_person else "classes",
        "unit": unit,
        "persons": {
            "in_release": found.persons,
            "in_earlier_too": found.common,
            "new": found.new,
            "gone": found.gone,
            "with_several_rows": found.several_rows,
            "with_changed_value": found.changed,
        }
        if by_person
        else None,
        "disclosed": dict(found.disclosed),
        "below_l": dict(found.below_l),
        "below_k": found.below_k,
        "difference_disclosed": found.difference_disclosed,
        "difference_below_l": found.difference_below_l,
        "signature_differs": dict(found.signature_differs),
        "rows_not_m_unique": {name: count for name, count in found.not_m_unique.items() if count},
        "growing_classes": found.growing_classes,
        "promises": dict(new.promises),
        "reasons": reasons,
        "not_judged": open_questions,
    }


def _open_questions(
    new: Snapshot, earlier: Mapping[str, Snapshot], usable: Mapping[str, Snapshot], found: _Findings, *, by_person: bool
) -> list[Sentence]:
    """Say what the check could not look at: then silence is no proof."""
    questions = []
    if hidden := len(earlier) - len(usable):
        questions.append(
            Sentence(
                "{n} earlier releases can be compared with the key of the ledger only; without it, {classes} classes "
                "are seen to have equal labels and other sizes",
                n=hidden,
                classes=found.growing_classes,
            )
        )
    if usable and not by_person:
        questions.append(
            Sentence("without persons, only classes with equal labels were compared: who is in both is not known")
        )
    if found.several_rows:
        questions.append(
            Sentence("{n} persons have several rows in a release and were not judged", n=found.several_rows)
        )
    if any(set(old.sensitive) != set(new.sensitive) for old in usable.values()):
        questions.append(Sentence("some releases show other sensitive columns; only those in common were compared"))
    return questions
