"""What the merges of a release tell, in numbers for the steward: the linear comparison, and the price of stopping it.

Groups of at least k rows that the policy without its models of sensitive columns publishes exactly, and this release
does not (``missing_groups``); how many of their persons are in a group that fails a model, against all groups of that
size; and what ``robust = true`` would lose. One run of the program over quasi-identifiers and one of robust recoding,
with coins that are thrown for this figure alone. Nothing of it is public: it counts by the values of suppressed and
merged rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.blind import blind_frequencies, least_size
from indistinct.algorithms.local import robustly
from indistinct.algorithms.local.coins import Coins
from indistinct.attacks.missing_groups import exactly, failing_parts
from indistinct.attacks.rerun import as_it_is, decided, run_of, unrepeatable, without_sensitive_models
from indistinct.decision.decide import searched
from indistinct.errors import IndistinctError
from indistinct.losses.lm import lm
from indistinct.notices import Sentence
from indistinct.policy.recoding import Local
from indistinct.policy.robust import is_robust, looking_models, why_not_robust
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from indistinct.decision.decide import Decision

THROWN = Coins(b"for a figure, never for a release")


def told_by_merging(decision: Decision) -> dict[str, Any] | None:
    """Count what a release by ``local`` tells by its merges; None where no model looks at a sensitive column.

    ``groups`` that are missing with their ``persons``, those ``failing_persons`` who are in one that fails a model,
    and the ``base_share`` of all persons in groups of that size who are; ``lm`` and ``lm_if_robust``. ``why_not``
    says why nothing was compared.
    """
    policy = decision.policy
    if not isinstance(policy.recoding, Local) or not looking_models(policy.privacy):
        return None
    robust = is_robust(policy)
    found: dict[str, Any] = {"robust": robust, "why_not_robust": why_not_robust(policy)}
    why = unrepeatable(policy)
    compared = why if why is not None else _compared(decision)
    if isinstance(compared, str):
        return {
            **found,
            "why_not": compared,
            "says": Sentence("what merging tells was not counted: {why}", why=compared),
        }
    found |= {
        **compared,
        "lm": _lm(decision),
        "lm_if_robust": None if robust else _lm_if_robust(decision),
        "why_not": None,
    }
    return {**found, "says": _says(found)}


def _compared(decision: Decision) -> dict[str, Any] | str:
    policy, frequencies = decision.policy, decision.frequencies
    bare, blind = without_sensitive_models(policy), blind_frequencies(frequencies)
    prepared = replace(decision.prepared, policy=bare, counted=replace(decision.prepared.counted, frequencies=blind))
    groups = as_it_is(prepared)
    plain = decided(prepared) if bare.privacy else groups
    if isinstance(plain, str):
        return plain
    own = run_of(policy, frequencies, decision.assignment, decision.recoding, starred=False)
    persons = classes_of(blind, groups.assignment).sizes
    large = persons >= least_size(policy)
    missing = large & exactly(groups, plain.texts, plain.codes, plain.sizes)
    missing &= ~exactly(groups, own.texts, own.codes, own.sizes)
    group_of = np.zeros(len(blind.tuples), np.int64)
    group_of[groups.of_tuple] = groups.of_class
    (fails,) = failing_parts(frequencies, policy, blind, (group_of, len(groups.codes)))
    return {
        "groups": int(missing.sum()),
        "persons": int(persons[missing].sum()),
        "failing_persons": int(persons[missing & fails].sum()),
        "base_share": round(float(persons[large & fails].sum() / max(1, persons[large].sum())), 12),
    }


def _lm(decision: Decision) -> float:
    return float(lm(decision.frequencies, decision.assignment, decision.recoding)[0])


def _lm_if_robust(decision: Decision) -> float | None:
    frequencies = decision.frequencies
    try:
        found = searched(decision.prepared, lambda seen: robustly(seen, decision.policy, THROWN, silent))
    except IndistinctError:
        return None
    return float(lm(frequencies, found, recoding_of(frequencies, found))[0])


def _says(found: dict[str, Any]) -> Sentence:
    sentence = Sentence(
        "somebody who runs the program without the models of sensitive columns finds {groups} groups of equal rows "
        "missing ({persons} persons); {failing} of these persons are in a group that fails a model, {share:.1f} %, "
        "where it is {base:.1f} % of all such groups",
        groups=found["groups"],
        persons=found["persons"],
        failing=found["failing_persons"],
        share=100 * found["failing_persons"] / max(1, found["persons"]),
        base=100 * found["base_share"],
    )
    if found["robust"]:
        return Sentence("{told}; recoding is robust, so that merges are decoys too", told=sentence)
    off = Sentence(
        "{told}; robust recoding, which hides this, is off: {why}", told=sentence, why=found["why_not_robust"]
    )
    if found["lm_if_robust"] is None:
        return off
    return Sentence(
        "{told}. With it LM would be about {robust:.4f} in place of {now:.4f}",
        told=off,
        robust=found["lm_if_robust"],
        now=found["lm"],
    )
