"""Run the attacks on a release and say what each one learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from indistinct.attacks.context import AttackContext, view_of
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.registry import ATTACKS
from indistinct.attacks.sentences import attacks_html, attacks_text
from indistinct.attacks.tabulate import options_of, tabulate
from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.notices import Notice, Sentence
from indistinct.policy import given as given_policy
from indistinct.policy import given_or_flags
from indistinct.policy.parameters import exact
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from indistinct.attacks.contract import Attack
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.policy import GivenPolicy, Policy, Reading
    from indistinct.policy.parameters import Number
    from indistinct.tables.count import Progress

FAIL_ON = ("average", "worst")


@dataclass(frozen=True)
class Attacks:
    """The answer of ``attack``; ``document`` is the JSON document of the contract.

    ``revealed`` tells what was learnt about the worst cases, with values of the tables: for the console, never for a
    document. It is empty unless asked for.
    """

    document: dict[str, Any]
    revealed: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @property
    def satisfied(self) -> bool | None:
        """Whether every attack that ran stays within ``fail_above``; None when nothing was required."""
        verdict: bool | None = self.document["satisfied"]
        return verdict

    def __getitem__(self, name: str) -> dict[str, Any]:
        """Return the first entry of an attack, one that ran if there is one."""
        found = [entry for entry in self.document["attacks"] if entry["attack"] == name]
        return max(found, key=lambda entry: bool(entry["ran"]))

    def __repr__(self) -> str:
        """Write the answer as a short readable table."""
        return attacks_text(self.document, self.revealed)

    def _repr_html_(self) -> str:
        return attacks_html(self.document, self.revealed)


def attack(
    published: Any,
    policy: GivenPolicy | None = None,
    *,
    second: Any = None,
    identified: Any = None,
    other: Any = None,
    other_second: Any = None,
    other_policy: GivenPolicy | None = None,
    original: Any = None,
    control: Any = None,
    attacks: Sequence[str] = (),
    widths: Mapping[str, Number] | None = None,
    rule_out: int = 1,
    known: int = 3,
    bound: Number | None = None,
    tight: bool = False,
    knows_program: bool = True,
    fail_above: Number | None = None,
    fail_on: str = "average",
    reveal: bool = False,
    repeats: int = 20,
    progress: Progress = silent,
    **flags: Unpack[Reading],
) -> Attacks:
    """Run the attacks on a published table, whoever made it, and say what each learnt beyond a baseline.

    ``second`` is the table of sensitive values of a two-table release. ``identified`` is a table with names,
    ``original`` the table before anonymization, ``control`` persons held out before it, ``other`` (with
    ``other_second``) another release of the same people. Attacks that lack what they need say so and do not count.
    Quasi-identifiers, sensitive columns and their reading come from the policy or from flags (``policy.Reading``)
    in its place.

    ``widths``: window of a numeric attribute for proximity; ``rule_out``: values that background knowledge excludes;
    ``known``: quasi-identifiers of a person that an attacker knows, for uniqueness; ``bound``: the share of a value
    that a minimal algorithm keeps to, in place of the models of the policy; ``tight``: ranges are known to end at
    members; ``knows_program``: the attacker runs the program himself, over everybody's quasi-identifiers. With
    ``fail_above`` the answer is no when the mean gain of an attack (``fail_on = "average"``) or that of its worst case
    (``"worst"``) is above it.

    Not checked: that the original is the original.

    Parameters
    ----------
    published
        The published table, as a file or a frame.
    policy
        The policy, or flags in its place.
    second
        The table of sensitive values of a two-table release.
    identified
        A table with names.
    other, other_second
        Another release of the same people.
    other_policy
        The policy of the other release, where it is another one.
    original
        The table before anonymization, as a file or a frame.
    control
        Persons held out before the release.
    attacks
        Names of attacks; all of them by default.
    widths
        Window of a numeric attribute for proximity.
    rule_out
        Values that background knowledge excludes.
    known
        Quasi-identifiers of a person that an attacker knows, for uniqueness.
    bound
        The share of a value that a minimal algorithm keeps to, in place of the models of the policy.
    tight
        Whether ranges are known to end at members.
    knows_program
        Whether the attacker runs the program himself, over everybody's quasi-identifiers.
    fail_above, fail_on
        The gain, on average or in the worst case, above which the answer is no.
    reveal
        Name the persons that were found, for the holder of the data alone.
    repeats
        How often what draws at random is repeated.
    progress
        Called with what is being done, and how far it is.
    **flags
        How columns are read, as in ``policy.Reading``.

    Returns
    -------
    Attacks
        What each attack learnt beyond its baseline, or what it lacks.

    Raises
    ------
    PolicyError
        For values out of range.
    SchemaError, DataError
        For tables that do not fit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"zip": ["1", "1", "2", "2"], "ill": ["a", "a", "a", "b"]})
    >>> attack(table, qi=["zip"], sensitive=["ill"])["homogeneity"]["learnt"]
    2
    """
    given = given_or_flags(policy, flags)
    limit = None if fail_above is None else _number(fail_above, "--fail-above", 0, 1)
    if fail_on not in FAIL_ON:
        raise PolicyError(f'--fail-on takes {" or ".join(FAIL_ON)}, not "{fail_on}"', key="--fail-on")
    if rule_out < 0:
        raise PolicyError(f"--rule-out {rule_out}: a number of values is 0 or more", key="--rule-out")
    if known < 1:
        raise PolicyError(f"--known {known}: an attacker knows 1 quasi-identifier or more", key="--known")
    unknown = [name for name in attacks if name not in ATTACKS]
    if unknown:
        raise PolicyError(f'there is no attack "{unknown[0]}"; there are {", ".join(ATTACKS)}', key="--attacks")
    wanted = [name for name in ATTACKS if not attacks or name in attacks]
    progress("read", 0, 0)
    people = {
        word: _people(table, given, word)
        for word, table in (("identified", identified), ("original", original), ("control", control))
        if table is not None
    }
    before = people.get("original")
    context = AttackContext(
        view_of(published, given, second=second, prior=before),
        given,
        other=None if other is None else view_of(other, given, second=other_second),
        identified=people.get("identified"),
        original=before,
        control=people.get("control"),
        widths={name: _number(width, f"--width {name}", 0, None) for name, width in (widths or {}).items()},
        rule_out=rule_out,
        known=known,
        bound=None if bound is None else _share(bound),
        tight=tight,
        repeats=repeats,
        knows_program=knows_program,
        other_policy=None if other_policy is None else given_policy(other_policy),
    )
    found: list[tuple[Attack, Outcome | Idle]] = []
    for place, name in enumerate(wanted):
        progress("attack", place, len(wanted))
        found += [(ATTACKS[name], outcome) for outcome in _run(ATTACKS[name], context)]
    progress("attack", len(wanted), len(wanted))
    return _answered(context, found, limit, fail_on, reveal=reveal)


def _run(attack: Attack, context: AttackContext) -> Iterator[Outcome | Idle]:
    """Run an attack, or say what it lacks."""
    lacks = next((sentence for name, sentence in attack.needs.items() if getattr(context, name) is None), None)
    return attack.run(context) if lacks is None else iter([Idle(None, lacks)])


def _answered(
    context: AttackContext,
    found: Sequence[tuple[Attack, Outcome | Idle]],
    limit: Fraction | None,
    fail_on: str,
    *,
    reveal: bool,
) -> Attacks:
    entries, revealed = [], {}
    broken = []
    for by, outcome in found:
        if isinstance(outcome, Idle):
            entry = outcome.document(by.name)
        else:
            entry = outcome.document(by.name, by.stopped_by)
            if by.of_repeats:
                entry["gain_interval"] = entry["details"].pop("difference_interval")
                entry["worst"] = []
            if reveal:
                title = by.name + (f" of {outcome.attribute}" if outcome.attribute else "")
                revealed[title] = [outcome.show(kind) for kind in outcome.worst() if outcome.row[kind] > 0]
            gain = entry["gain"] if fail_on == "average" else entry["largest_gain"]
            entry["above"] = None if limit is None else exact(gain) > limit
            if entry["above"]:
                broken.append({"attack": by.name, "attribute": outcome.attribute, "gain": gain})
        entries.append(entry)
    view = context.view
    ran = [entry for entry in entries if entry["ran"]]
    document = {
        "rows": view.total,
        "classes": len(view.sizes),
        "tables": 2 if view.two_tables else 1,
        "quasi_identifiers": list(view.quasi),
        "sensitive": list(view.sensitive),
        "prior": "original" if context.original is not None else "release",
        "attacks": entries,
        "largest_gain": max((entry["gain"] for entry in ran), default=None),
        "fail_above": None if limit is None else float(limit),
        "fail_on": fail_on,
        "satisfied": None if limit is None else not broken,
        "broken": broken,
        "warnings": [notice.document() for notice in _notices(context)],
    }
    return Attacks(document, revealed)


def _notices(context: AttackContext) -> list[Notice]:
    person = context.policy.person
    if person is None:
        return []
    message = Sentence(
        'the release does not say whose a row is ("{key}"): every row counts as a person of its own', key=person.key
    )
    return [Notice("persons", person.key, message)]


def _people(table: Any, policy: Policy, word: str) -> Tabulated:
    """Tabulate a table of persons in the columns of the policy that it has."""
    options = options_of(policy)
    columns = open_source(table, options).columns
    names = [name for name in (*policy.quasi_identifiers, *policy.sensitive_attributes) if name in columns]
    if not any(name in policy.quasi_identifiers for name in names):
        listed = ", ".join(policy.quasi_identifiers)
        raise SchemaError(f"the {word} table has none of the quasi-identifiers ({listed}); it has {', '.join(columns)}")
    return tabulate(table, names, options)


def _share(bound: Number) -> Fraction:
    """Read the bound on the share of a value: above 0, since no class with the value keeps to 0."""
    share = _number(bound, "--bound", 0, 1)
    if not share:
        raise PolicyError("--bound is 0; it must be above 0, as 1/3 for values that are at most a third", key="--bound")
    return share


def _number(value: Number, word: str, least: int, most: int | None) -> Fraction:
    try:
        number = exact(value)
    except ValueError as error:
        raise PolicyError(f"{word} {error}", key=word) from None
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        hint = f"; did you mean {float(number / 100):g}?" if most == 1 and 1 < number <= 100 else ""
        raise PolicyError(f"{word} is {value}; it must be {limits}{hint}", key=word)
    return number
