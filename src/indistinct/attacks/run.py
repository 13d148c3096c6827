"""Run the attacks on a release and say what each one learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from indistinct.algorithms.blind import least_size
from indistinct.attacks.context import AttackContext
from indistinct.attacks.gate import FAIL_AT, FAIL_ON, Gate
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.registry import ATTACKS
from indistinct.attacks.sentences import attacks_html, attacks_text
from indistinct.attacks.tabulate import options_of, tabulate
from indistinct.attacks.view import view_of
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
    from indistinct.attacks.view import View
    from indistinct.policy import GivenPolicy, Policy, Reading
    from indistinct.policy.parameters import Number
    from indistinct.tables.count import Progress

RULED_OUT, KNOWN, REPEATS = 1, 3, 20
WORDS = {
    "widths": "--width",
    "rule_out": "--rule-out",
    "other": "--with",
    "other_policy": "--with-policy",
    "knows_program": "--knows-labels-only",
}


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
    rule_out: int = RULED_OUT,
    known: int = KNOWN,
    bound: Number | None = None,
    tight: bool = False,
    knows_program: bool = True,
    fail_above: Number | None = None,
    fail_on: str = "average",
    fail_at: str = "estimate",
    require: Sequence[str] = (),
    reveal: bool = False,
    repeats: int = REPEATS,
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
    fail_above, fail_on, fail_at
        The gain, on average or in the worst case, above which the answer is no; judged by the estimate, or by the lower
        or upper end of its interval, corrected for the number of attacks.
    require
        Attacks without which the answer is no.
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
    gate = _gate(given, fail_above, fail_on, fail_at, require, attacks)
    if rule_out < 0:
        raise PolicyError(f"--rule-out {rule_out}: a number of values is 0 or more", key="--rule-out")
    if known < 1:
        raise PolicyError(f"--known {known}: an attacker knows 1 quasi-identifier or more", key="--known")
    _refuse_unknown(attacks, "--attacks")
    wanted = [name for name in ATTACKS if not attacks or name in attacks]
    for given_too, key, what in (
        (other_second, "--with-st", "second table"),
        (other_policy, "--with-policy", "policy"),
    ):
        if given_too is not None and other is None:
            raise PolicyError(f"{key} is the {what} of --with: give both", key=key)
    facts = {"widths": widths or None, "bound": bound, "control": control, "other": other, "tight": tight or None,
            "other_policy": other_policy, "knows_program": None if knows_program else False}  # fmt: skip
    numbers = {"rule_out": None if rule_out == RULED_OUT else rule_out, "known": None if known == KNOWN else known,
               "repeats": None if repeats == REPEATS else repeats}  # fmt: skip
    _refuse_idle([name for name, value in (facts | numbers).items() if value is not None], wanted)
    progress("read", 0, 0)
    people = {
        word: _people(table, given, word)
        for word, table in (("identified", identified), ("original", original), ("control", control))
        if table is not None
    }
    before = people.get("original")
    view = view_of(published, given, second=second, prior=before)
    context = AttackContext(
        view,
        given,
        other=None if other is None else view_of(other, given, second=other_second),
        identified=people.get("identified"),
        original=before,
        control=people.get("control"),
        widths=_widths(widths or {}, view, given),
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
    return _answered(context, found, gate, reveal=reveal)


def _refuse_idle(options: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse options that no attack among those asked for looks at; raises PolicyError."""
    for name in options:
        takers = [one for one, attack in ATTACKS.items() if name in (*attack.needs, *attack.options)]
        if not set(takers) & set(wanted):
            word = WORDS.get(name, f"--{name}")
            raise PolicyError(
                f"{word} has no effect here: it is for {', '.join(takers)}, and asked for are {', '.join(wanted)}",
                key=word,
            )


def _widths(widths: Mapping[str, Number], view: View, policy: Policy) -> dict[str, Fraction]:
    """Read the windows of sensitive numbers and dates."""
    for name in widths:
        if name not in view.sensitive:
            raise SchemaError.unknown_column(name, list(view.sensitive), key="--width")
        type = policy.attributes[name].type
        if type not in ("integer", "decimal", "date"):
            message = f'--width is for numbers and dates, and "{name}" is {type}: declare its type'
            raise PolicyError(message, key="--width")
    return {name: _number(width, f"--width {name}", 0, None) for name, width in widths.items()}


def _run(attack: Attack, context: AttackContext) -> Iterator[Outcome | Idle]:
    """Run an attack, or say what it lacks."""
    lacks = next((sentence for name, sentence in attack.needs.items() if getattr(context, name) is None), None)
    return attack.run(context) if lacks is None else iter([Idle(None, lacks)])


def _gate(
    policy: Policy, limit: Number | None, on: str, at: str, required: Sequence[str], attacks: Sequence[str]
) -> Gate:
    """Read what the caller requires; raises PolicyError for words that are none."""
    for word, key, known in ((on, "--fail-on", FAIL_ON), (at, "--fail-at", FAIL_AT)):
        if word not in known:
            *others, last = known
            raise PolicyError(f'{key} takes {", ".join(others)} or {last}, not "{word}"', key=key)
    if on == "worst" and at != "estimate":
        raise PolicyError(
            "--fail-on worst looks at single cases, which have no interval: leave out --fail-at", key="--fail-at"
        )
    if on != "average" and limit is None:
        raise PolicyError("--fail-on says which gain --fail-above is compared with: give it too", key="--fail-on")
    if at != "estimate" and limit is None:
        raise PolicyError("--fail-at says which end is compared with --fail-above: give it too", key="--fail-at")
    _refuse_unknown(required, "--require")
    left_out = [name for name in required if attacks and name not in attacks]
    if left_out:
        raise PolicyError(f"--require {left_out[0]}: --attacks leaves it out", key="--require")
    number = None if limit is None else _number(limit, "--fail-above", 0, 1)
    return Gate(number, on, at, least_size(policy), tuple(required))


def _refuse_unknown(names: Sequence[str], key: str) -> None:
    unknown = [name for name in names if name not in ATTACKS]
    if unknown:
        raise PolicyError(f'there is no attack "{unknown[0]}"; there are {", ".join(ATTACKS)}', key=key)


def _answered(
    context: AttackContext, found: Sequence[tuple[Attack, Outcome | Idle]], gate: Gate, *, reveal: bool
) -> Attacks:
    entries, revealed, broken = [], {}, []
    outcomes = sum(isinstance(outcome, Outcome) for _, outcome in found)
    for by, outcome in found:
        entry = outcome.document(by.name) if isinstance(outcome, Idle) else outcome.document(by.name, by.stopped_by)
        entry["supposes"] = by.supposes
        if isinstance(outcome, Outcome):
            entry["reason"] = f"somebody who {by.supposes}: {outcome.reason}"
            if reveal:
                title = by.name + (f" of {outcome.attribute}" if outcome.attribute else "")
                revealed[title] = [outcome.show(kind) for kind in outcome.worst() if outcome.row[kind] > 0]
            verdict = entry["gate"] = gate.judged(by, outcome, outcomes)
            entry["above"] = None if verdict is None else verdict["above"]
            if verdict is not None and verdict["above"]:
                broken.append({"attack": by.name, "attribute": outcome.attribute, "gain": verdict["value"]})
        entries.append(entry)
    view, missing = context.view, gate.missing(entries)
    document = {
        "rows": view.total,
        "classes": len(view.sizes),
        "tables": view.tables,
        "quasi_identifiers": list(view.quasi),
        "sensitive": list(view.sensitive),
        "prior": "original" if context.original is not None else "release",
        "attacks": entries,
        "largest_gain": max((entry["gain"] for entry in entries if entry["ran"]), default=None),
        "fail_above": None if gate.limit is None else float(gate.limit),
        "fail_on": gate.on,
        "fail_at": gate.at,
        "judged": outcomes,
        "required": list(gate.required),
        "not_run": missing,
        "satisfied": not broken and not missing if gate.is_requested else None,
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
