"""Minimality: the program merges and suppresses for a reason, and who knows the program knows the reason.

*Attacker.* Knows the published file, the policy, the source code, and everybody's quasi-identifiers, of suppressed rows
too; not the sensitive values, not keys. Three forms, the strongest that can be computed first:

*Enumeration* (``enumeration``; small tables of which all values are published). The program is run over every table
that the classes allow, and those that give this very file remain. *Claim*: the value of a person whose belief rises
most above the largest share that a class covering him shows. *Prior* that share, *posterior* the belief. *Learnt*: a
belief of 1 where no class says 0.95 or more. ``certain`` counts those who are known to have a value that is not the
most frequent of everybody, ``certain_of_the_most_frequent`` the others.

*Linear* (``missing_groups``; any size and algorithm; one run of the program). *Claim* about a group of equal rows that
the same policy without its models of sensitive columns publishes exactly and the release does not, or about a class
that only the release suppresses: it fails a model. *Prior*: the share of persons in groups of size k and more whose
group fails; *posterior*: the share among the persons of missing units. *Learnt*: persons of missing units that fail.
Without the original nobody counts who is right: the persons of missing units are learnt *at most*, prior 0,
posterior 1.

*By class* (``merged_groups``; classes of few groups, at most 5,000 of them). Of the ways to spread the values of a
class over its groups those remain that give a reason: under ``local`` no division into two parts of at least k rows
holds (what the search did not choose), under other algorithms some group alone fails a model; with ``--bound`` a
share exceeds b. *Claim*: the value, for a person of the group in which it rises most. *Prior* s/n_E, *posterior* the
weighted mean. *Learnt*: the belief rises by more than 0.1 (``--bound``: it exceeds b). Groups of 2 and 4 with two
HIV, b = 1/2: the class claims 1/3, but only (2, 0) would have been merged: 1. Under distinct 2-diversity, with four
"no": 1/7 and 3/7.

*Bounds.* No model of this family. *Source.* Wong, Fu, Wang, Pei, VLDB 2007, 543-554; linear and enumerated forms:
this project, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.blind import least_size
from indistinct.attacks.contract import Attack
from indistinct.attacks.enumeration import Believed, enumerated
from indistinct.attacks.merged_groups import MOST_GROUPS, Rises, formed_of, posteriors, rises, ways
from indistinct.attacks.missing_groups import Missing, missing_units
from indistinct.attacks.outcome import NOTABLE, Idle, Outcome
from indistinct.policy.robust import is_robust
from indistinct.session.prepare import modelled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated

__all__ = ["ATTACK", "minimality", "posteriors", "ways"]


def minimality(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Ask what merging and suppressing give away."""
    whole, view = context.everybody, context.view
    if whole is None:
        yield Idle(None, "needs everybody's quasi-identifiers (--original or --identified)")
        return
    if any(name not in whole.columns for name in view.quasi):
        yield Idle(None, "the table of persons lacks some quasi-identifiers, so the groups are not known")
        return
    people = whole.select(view.quasi)
    if context.bound is not None:
        formed = formed_of(context, people)
        for sensitive in view.sensitive.values():
            found = rises(context, sensitive, formed, people, least_size(context.policy), context.bound)
            yield _merged(context, sensitive.attribute, found, context.bound, {})
        return
    if not context.policy.privacy:
        yield Idle(None, "needs a policy with its models, or the bound that a minimal algorithm keeps to (--bound 1/l)")
        return
    names = [name for name in modelled(context.policy) if name in view.sensitive]
    attribute = names[0] if len(names) == 1 else None
    believed, missing = enumerated(context, whole), missing_units(context, whole)
    details: dict[str, Any] = {
        "enumeration": believed if isinstance(believed, str) else "computed",
        "linear": missing if isinstance(missing, str) else missing.document(),
    }
    by_class = None if attribute is None else _by_class(context, attribute, people)
    if by_class is not None:
        details["by_class"] = by_class if isinstance(by_class, str) else _figures(by_class)
    if isinstance(believed, Believed):
        yield _believed(context, believed, details)
    elif isinstance(missing, Missing):
        yield _missing(context, attribute, missing, details)
    elif isinstance(by_class, Rises):
        yield _merged(context, attribute, by_class, None, details)
    else:
        yield Idle(attribute, missing)


def _by_class(context: AttackContext, attribute: str, people: Tabulated) -> Rises | str:
    if is_robust(context.policy):
        return "classes are merged by pairs and as decoys: minimality_posterior weighs them"
    sensitive, least = context.view.sensitive[attribute], least_size(context.policy)
    return rises(context, sensitive, formed_of(context, people), people, least, None)


def _believed(context: AttackContext, found: Believed, details: dict[str, Any]) -> Outcome:
    rise = found.belief - found.shown
    best = rise.argmax(axis=1)
    at = np.arange(len(best))
    learnt = found.certain[at, best]
    prior = found.shown[at, best]
    after = np.maximum(found.belief[at, best], prior)
    people, sensitive = found.people, found.sensitive
    most = sensitive.prior == sensitive.prior.max()
    common = learnt & most[best] & (most.sum() == 1)
    certain, expected = (int(people.rows[chosen].sum()) for chosen in (learnt & ~common, common))
    left = "one gives" if found.left == 1 else f"{found.left} give"
    return Outcome(
        sensitive.attribute, people.rows, prior, after, learnt, people.first, _role(context),
        f"of {found.tables} tables with these margins {left} this file; {certain + expected} persons are certain to "
        f"have a {sensitive.attribute} that their classes do not settle"
        + (f", {expected} of them the most frequent one" if expected else ""),
        {
            "form": "enumeration", "tables": found.tables, "tables_that_the_classes_allow": found.feasible,
            "tables_run": found.run, "tables_that_give_this_file": found.left, "certain": certain,
            "certain_of_the_most_frequent": expected, **details,
        },
        lambda kind: f"row {people.first[kind]}: {sensitive.attribute} = {sensitive.texts[int(best[kind])]}",
    )  # fmt: skip


def _missing(context: AttackContext, attribute: str | None, found: Missing, details: dict[str, Any]) -> Outcome:
    total, details = int(found.persons.sum()), {"form": "linear", **details}
    units = f"{found.groups} groups of equal rows"
    units += f" and {len(found.persons) - found.groups} suppressed classes" if len(found.persons) > found.groups else ""
    if found.fails is None:
        kinds = np.ones(len(found.persons), np.bool_)
        others = max(0, context.view.total - int(found.persons[: found.groups].sum()))
        return Outcome(
            attribute, np.append(found.persons, others), np.zeros(len(kinds) + 1), np.append(kinds.astype(float), 0.0),
            np.append(kinds, False), np.append(found.row, 0), _role(context),
            f"{units} ({total} persons) would have been published without the models of sensitive columns: at most they"
            " are betrayed to fail one (give --original to count who does)",
            {**details, "at_most_betrayed": total},
            lambda kind: f"the persons like row {found.row[kind]}",
        )  # fmt: skip
    fails, base = found.fails, found.base or 0.0
    failing = int(found.persons[fails].sum())
    share = failing / total if total else base
    return Outcome(
        attribute, found.persons, np.full(len(fails), base), np.full(len(fails), max(base, share)), fails, found.row,
        _role(context),
        f"{units} ({total} persons) would have been published without the models of sensitive columns; {failing} "
        f"persons are in one that fails a model, a share of {share:.4g} against {base:.4g} of all such groups",
        details,
        lambda kind: f"the values of the persons like row {found.row[kind]} fail a model",
    )  # fmt: skip


def _merged(
    context: AttackContext, attribute: str | None, found: Rises, bound: Fraction | None, details: dict[str, Any]
) -> Outcome | Idle:
    if not found.persons:
        return Idle(attribute, f"no class is known to be merged of 2 or {MOST_GROUPS} groups for its "
            f"values ({found.skipped} classes were not computed: more groups, or persons who fit several classes)",
        )  # fmt: skip
    least = f"above {bound}" if bound is not None else f"by more than {NOTABLE}"
    weight = np.array(found.persons, np.int64)
    learnt = np.array(_learnt(found, bound), np.bool_)
    return Outcome(
        attribute, weight, np.array(found.prior, np.float64), np.array(found.after, np.float64), learnt,
        np.array(found.row, np.int64), _role(context),
        f"for {int(weight[learnt].sum())} persons of {len(weight)} merged classes the merge itself raises the belief "
        f"{least}; {found.skipped} classes were not computed",
        {"form": "by class", "merged_classes": len(weight), "not_computed": found.skipped,
         "bound": None if bound is None else str(bound), **details},
        lambda kind: f"{found.shown[kind]} for the persons of row {found.row[kind]}",
    )  # fmt: skip


def _learnt(found: Rises, bound: Fraction | None) -> list[bool]:
    if bound is not None:
        return [after > bound for after in found.after]
    return [float(after - prior) > NOTABLE for prior, after in zip(found.prior, found.after, strict=True)]


def _figures(found: Rises) -> dict[str, Any]:
    rise = [float(after - prior) for prior, after in zip(found.prior, found.after, strict=True)]
    persons = sum(own for own, learnt in zip(found.persons, _learnt(found, None), strict=True) if learnt)
    return {
        "merged_classes": len(rise),
        "not_computed": found.skipped,
        "persons": persons,
        "largest_rise": round(max(rise, default=0.0), 12),
        "condition_checked": found.checked,
        "condition_true": found.true,
    }


def _role(context: AttackContext) -> str:
    return "original" if context.original is not None else "identified"


ATTACK = Attack(
    minimality,
    supposes="knows the program, the policy and everybody's quasi-identifiers, of suppressed rows too, but no key",
    bounded_by=(),
    of_the_file=False,
    needs={},
    options=("bound", "knows_program"),
    remedies=("an algorithm that does not merge by need",),
)
