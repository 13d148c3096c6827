"""What a person can change about a policy, each as an edit of its text: comments and what was not touched stay.

An edit changes the plain data of the policy and says which marks of the draft are decided by it. The result is read as
any policy file is, so nothing can be set here that a file could not say.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.policy import Policy
from indistinct.policy.given import loads
from indistinct.policy.load import update
from indistinct.policy.marks import settled
from indistinct.policy.privacy import DistinctL, KAnonymity, TCloseness
from indistinct.policy.recipients import start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from indistinct.policy.marks import Mark

    Plain = dict[str, Any]
    Decides = Callable[[Mark], bool]
    Edit = Callable[[Plain, Mapping[str, str], Mapping[str, Any]], Decides]

K, L, T = (model.model_fields["model"].default for model in (KAnonymity, DistinctL, TCloseness))
NUMBERS = "numbers"  # the key of the reason that the page asks for
RECORD = ("purpose", "recipient", "responsible", "review")


def edited(text: str, base: Path, what: str, given: Mapping[str, str], facts: Mapping[str, Any]) -> str:
    """Return the text after an edit; ``facts`` are those of the columns, by name (``work.Work``).

    Raises PolicyError for what no policy may say, and for an edit that does not exist.
    """
    if what == "text":
        loads(given["text"], base=base)
        return given["text"]
    if what not in EDITS:
        raise PolicyError(f'there is no edit "{what}"', key=what)
    plain = loads(text, base=base).plain()
    decides = EDITS[what](plain, given, facts)
    return settled(update(text, Policy(**plain).at(base)), decides)


def _role(plain: Plain, given: Mapping[str, str], facts: Mapping[str, Any]) -> Decides:
    """Give a column a role, with the settings that a draft proposes for this role; models follow their column."""
    name, role = given["column"], given["role"]
    attributes = plain.setdefault("attributes", {})
    before = attributes.get(name, {})
    if before.get("role") != role:
        proposed = {**facts[name]["sections"][role], "role": role}
        carried = {key: before[key] for key in ("missing_values", "weight") if key in before and role != "identifying"}
        attributes[name] = {**proposed, **carried}
        models = plain.setdefault("privacy", [])
        models[:] = [own for own in models if own.get("attribute") != name]
        if role == "sensitive":
            models.append({"model": L, "attribute": name, "l": max(1, min(3, facts[name]["fitting"]))})
    if plain.get("person", {}).get("key") == name:
        del plain["person"]
    return lambda mark: mark.path == ("attributes", name, "role")


def _confirmed(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Say that nobody outside can know a nearly unique column, or that it may tell another one."""
    plain["attributes"][given["column"]]["confirmed"] = True
    return lambda _: False


def _missing(plain: Plain, given: Mapping[str, str], facts: Mapping[str, Any]) -> Decides:
    """Take the texts that are no value of a column as missing, or leave them as they are."""
    name = given["column"]
    own = plain["attributes"].setdefault(name, {"role": facts[name]["role"]})
    own.pop("missing_values", None)
    if given["how"] == "missing":
        own["missing_values"] = [text for text, _ in facts[name]["strays"]]
    elif own.get("type", "text") != "text":  # they cannot be read as the others are
        own.pop("type")
        own.pop("format", None)
        own["hierarchy"] = {"kind": "suppress"}
    return lambda mark: mark.path == ("attributes", name, "missing_values")


def _person(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Say by which column persons are told apart, or that every row is another person."""
    name, before = given["column"], plain.get("person", {}).get("key")
    attributes = plain.setdefault("attributes", {})
    if before and before != name:
        attributes[before] = {"role": "identifying"}
    if name:
        attributes.pop(name, None)
        plain["privacy"] = [own for own in plain.get("privacy", []) if own.get("attribute") != name]
        plain["person"] = {"key": name}
    else:
        plain.pop("person", None)
    return lambda mark: mark.path in (("person", "key"), ("attributes", name, "role"))


def _hierarchy(plain: Plain, given: Mapping[str, str], facts: Mapping[str, Any]) -> Decides:
    """Choose how a column may become coarser: one of the choices offered, a file, or a floor of levels."""
    name, own = given["column"], plain["attributes"][given["column"]]
    chosen = given["choice"]
    if chosen == "file":
        if not given.get("file", "").strip():
            raise PolicyError(f'give the path of the hierarchy file of "{name}"', column=name)
        own["hierarchy"] = {"file": given["file"].strip()}
    else:
        choices = {choice["key"]: choice for choice in facts[name]["choices"]}
        own.pop("hierarchy", None)
        if choices[chosen]["spec"] is not None:
            own["hierarchy"] = choices[chosen]["spec"]
    own.pop("min_level", None)
    return lambda mark: mark.path == ("attributes", name, "hierarchy")


def _weight(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Say how much the detail of a column matters beside that of the others."""
    plain["attributes"][given["column"]]["weight"] = given["weight"]
    return lambda _: False


def _recipient(plain: Plain, given: Mapping[str, str], facts: Mapping[str, Any]) -> Decides:
    """Start k, l, t and the share of rows that may go where is usual for a recipient."""
    start, models = start_of(given["recipient"]), plain.setdefault("privacy", [])
    for own in models:
        if own["model"] == K:
            own["k"] = start.k
        elif own["model"] == L:
            own["l"] = max(1, min(start.l, facts[own["attribute"]]["fitting"]))
        elif own["model"] == T:
            own["t"] = start.t
    if not any(own["model"] == K for own in models):
        models.insert(0, {"model": K, "k": start.k})
    near = {own["attribute"] for own in models if own["model"] == T}
    if start.near:
        models += [
            {"model": T, "attribute": name, "t": start.t, "distance": "equal"}
            for name, own in plain["attributes"].items()
            if own["role"] == "sensitive" and name not in near
        ]
    plain["suppression"] = {**plain.get("suppression", {}), "limit": start.limit}
    return lambda mark: mark.path[0] in ("privacy", "suppression")


def _promise(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Set the number of one model: k, l or t."""
    place, name = int(given["model"]), given["parameter"]
    models = plain["privacy"]
    if not 0 <= place < len(models) or name not in ("k", "l", "t"):
        raise PolicyError(f"there is no such promise: {place}, {name}", key="privacy")
    text = given["value"].strip()
    models[place][name] = int(text) if name != "t" and text.isdigit() else text
    return lambda mark: mark.path == ("privacy", name) and mark.entry == place


def _fear(plain: Plain, given: Mapping[str, str], facts: Mapping[str, Any]) -> Decides:
    """Promise something more, or no longer: nobody is found, no secret is guessed, values are mixed."""
    models, kind, name = plain.setdefault("privacy", []), given["fear"], given.get("column", "")
    model = {"identity": K, "attribute": L, "nearness": T}[kind]
    models[:] = [own for own in models if own["model"] != model or (kind != "identity" and own["attribute"] != name)]
    if given.get("on") == "1":
        new = {
            "identity": {"model": K, "k": 5},
            "attribute": {"model": L, "attribute": name, "l": max(1, min(3, facts.get(name, {}).get("fitting", 3)))},
            "nearness": {"model": T, "attribute": name, "t": "0.3", "distance": "equal"},
        }[kind]
        models.insert(0 if kind == "identity" else len(models), new)
    return lambda _: False


def _limit(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Say how many rows, of a hundred, may be left out."""
    from fractions import Fraction

    try:
        share = Fraction(given["percent"].strip()) / 100
    except (ValueError, ZeroDivisionError):
        raise PolicyError(f'the rows that may be left out are a number from 0 to 100, not "{given["percent"]}"',
                          key="suppression.limit") from None  # fmt: skip
    decimal = str(float(share)) if Fraction(str(float(share))) == share else str(share)
    plain["suppression"] = {**plain.get("suppression", {}), "limit": decimal}
    return lambda mark: mark.path == ("suppression", "limit")


def _quality(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Say how long the search goes on."""
    plain["recoding"] = {**plain.get("recoding", {}), "quality": given["quality"]}
    return lambda _: False


def _accept(_plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Decide the suggestions of one step as they stand: somebody has looked at all that the step shows."""
    of = {
        "coarser": lambda mark: mark.path[0] == "attributes" and mark.path[-1] != "role",
        "promise": lambda mark: mark.path[0] in ("privacy", "suppression"),
        "open": lambda mark: mark.path[0] in ("table", "person"),
    }
    return of[given["which"]]


def _record(plain: Plain, given: Mapping[str, str], _facts: Mapping[str, Any]) -> Decides:
    """Write down for what, for whom, by whom and why, where the reports look for it."""
    own = plain.setdefault("release", {})
    for name in RECORD:
        own.pop(name, None)
        if text := " ".join(given.get(name, "").split()):
            own[name] = date.fromisoformat(text) if name == "review" else text
    reasons = {key: text for key, text in own.pop("reasons", {}).items() if key != NUMBERS}
    if text := " ".join(given.get("reasons", "").split()):
        reasons[NUMBERS] = text
    if reasons:
        own["reasons"] = reasons
    if not own:
        del plain["release"]
    return lambda _: False


def record_of(policy: Policy) -> dict[str, str]:
    r"""Return what was written down, as the page asks for it.

    >>> record_of(loads('[attributes.age]\nrole = "qi"\n[release]\npurpose = "a study"\n'))
    {'purpose': 'a study'}
    """
    said = policy.release.shown()
    found = {name: str(said[name]) for name in RECORD if name in said}
    reason = said.get("reasons", {}).get(NUMBERS)
    return found if reason is None else {**found, "reasons": reason}


EDITS: dict[str, Edit] = {
    "role": _role,
    "confirmed": _confirmed,
    "missing": _missing,
    "person": _person,
    "hierarchy": _hierarchy,
    "weight": _weight,
    "recipient": _recipient,
    "promise": _promise,
    "fear": _fear,
    "limit": _limit,
    "quality": _quality,
    "accept": _accept,
    "record": _record,
}
