"""The policy: all that the user decided, checked as far as it can be without the table."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping  # pydantic reads it at run time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    model_validator,
)

from indistinct.errors import PolicyError
from indistinct.notices import Notice, Sentence
from indistinct.outputs import Origin, origin
from indistinct.policy.account import html, text
from indistinct.policy.files import files_of
from indistinct.policy.generalization import ORDERED_TYPES, TREES
from indistinct.policy.marks import Mark  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.parameters import default_of, plain_section, whole
from indistinct.policy.privacy import (
    AnyPrivacy,
    Distant,
    EpsIKAnonymity,
    KmAnonymity,
    NTCloseness,
    Numeric,
    TCloseness,
    Tiered,
)
from indistinct.policy.problems import Section, nearest, path, problem, refuse, show
from indistinct.policy.public import fingerprint, public_form
from indistinct.policy.transforms import AnyTransform, Km, LocalSuppression, ShiftDates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from pydantic_core import InitErrorDetails

from indistinct.policy.attribute import Attribute, snapped
from indistinct.policy.output import Output
from indistinct.policy.recoding import AnyRecoding, Local, algorithm_for, option
from indistinct.policy.release import Account
from indistinct.policy.releases import Releases  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.robust import robust_notices, without_auto
from indistinct.policy.run import Run
from indistinct.policy.suppression import Suppression
from indistinct.policy.table import Missing, Person, Table

NUMERIC_TYPES = ("integer", "decimal", "date")


class Policy(Section):
    """What the user decided about one table.

    Raises PolicyError with every problem on a line of its own: place, value, valid range, remedy. Not checked:
    anything that needs the table (``resolve``) or files. Whether a privacy model is named is left to
    ``require_models``, because an audit needs none.

    Examples
    --------
    >>> from indistinct.policy import KAnonymity
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}},
    ...     privacy=[KAnonymity(5)],
    ...     suppression={"limit": 0.02},
    ... )
    >>> policy.quasi_identifiers, policy.suppression.limit
    (('age',), Fraction(1, 50))
    """

    version: Annotated[Literal[1, 2], BeforeValidator(whole)] = 1
    """Version of the policy format: under 2 ranges of integers end on a grid and robust is auto where not named."""
    table: Table = Field(default_factory=Table)
    person: Person | None = None
    attributes: Mapping[str, Attribute] = Field(default_factory=dict)
    """The columns by name; the order of the quasi-identifiers is theirs."""
    privacy: tuple[AnyPrivacy, ...] = ()
    """The privacy models; all of them must hold."""
    transforms: tuple[AnyTransform, ...] = ()
    """Transforms of single cells and rows, applied in this order by a step of its own; they give no k."""
    suppression: Suppression = Field(default_factory=Suppression)
    missing: Missing = Field(default_factory=Missing)
    recoding: AnyRecoding = Field(default_factory=Local)
    output: Output = Field(default_factory=Output)
    releases: Releases | None = None
    release: Account = Field(default_factory=Account)
    run: Run = Field(default_factory=Run)

    _base: Path = PrivateAttr(default_factory=Path)
    _from_flags: bool = PrivateAttr(default=False)
    _file: Origin | None = PrivateAttr(default=None)
    _marks: tuple[Mark, ...] = PrivateAttr(default=())

    if TYPE_CHECKING:  # mappings stand for sections, numbers and texts for exact values

        def __init__(self, /, **data: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _drop_auto(cls, data: Any) -> Any:
        """Where ``robust`` is ``auto`` anyway (version 2), or nothing is (not ``local``), "auto" changes nothing."""
        if not isinstance(data, Mapping) or "recoding" not in data:
            return data
        return {**data, "recoding": without_auto(data["recoding"], of_local=data.get("version") == 2)}

    @model_validator(mode="before")
    @classmethod
    def _choose_algorithm(cls, data: Any) -> Any:
        """Where the policy names no algorithm, take the one that a model needs."""
        recoding = data.get("recoding", {}) if isinstance(data, Mapping) else None
        if not isinstance(recoding, Mapping) or "algorithm" in recoding:
            return data
        models = data.get("privacy", ())
        names = [
            str(model.get("model")) if isinstance(model, Mapping) else str(getattr(model, "model", ""))
            for model in (models if isinstance(models, list | tuple) else ())
        ]
        chosen = algorithm_for(names)
        return data if chosen is None else {**data, "recoding": {"algorithm": chosen, **recoding}}

    @model_validator(mode="before")
    @classmethod
    def _snap_whole_numbers(cls, data: Any) -> Any:
        """Under version 2 the default bounds of integers are snapped, as those of decimals and dates always were."""
        given = data.get("attributes") if isinstance(data, Mapping) and data.get("version") == 2 else None
        return {**data, "attributes": snapped(given)} if isinstance(given, Mapping) else data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(
            [
                *self._role_problems(),
                *self._step_problems(),
                *self._privacy_problems(),
                *self._target_problems(),
                *self._transform_problems(),
            ]
        )
        return self

    def _step_problems(self) -> list[InitErrorDetails]:
        """Under version 2 a grid is coarser than the values; under 1 a grid of ones stays what it was."""
        return [
            problem(
                ("attributes", name, "hierarchy", "step"), "would publish the members themselves; set at least 2", step
            )
            for name, attribute in self.attributes.items()
            if self.version == 2 and (step := attribute.fine_step) is not None
        ]

    def _target_problems(self) -> list[InitErrorDetails]:
        target = option(self.recoding, "target")
        attribute = None if target is None else self.attributes.get(target)
        if attribute is None or attribute.role in ("sensitive", "insensitive"):
            return []
        sentence = f"must name a sensitive or insensitive column; its role is {attribute.role}"
        return [problem(("recoding", "target"), sentence, target)]

    def _transform_problems(self) -> list[InitErrorDetails]:
        found = []
        for position, transform in enumerate(self.transforms):
            if isinstance(transform, ShiftDates) and self.person is None:
                sentence = "moves the dates of persons together: name their column as [person] key"
                found.append(problem(("transforms", position, "method"), sentence, transform.method))
            several = "attributes" in type(transform).model_fields
            place = ("transforms", position, "attributes" if several else "attribute")
            twice = [name for name, times in Counter(transform.names).items() if times > 1]
            found += [problem(place, "is named twice", name) for name in twice]
            for name in transform.names:
                attribute = self.attributes.get(name)
                if attribute is None or (self.person is not None and name == self.person.key):
                    found.append(problem(place, f"is not declared; {nearest(name, self.attributes)}", name))
                elif attribute.role == "identifying":
                    sentence = "is identifying, and such columns are not published; name another column"
                    found.append(problem(place, sentence, name))
                elif isinstance(transform, LocalSuppression) and attribute.role != "quasi_identifying":
                    sentence = f"must be quasi-identifiers; the role is {attribute.role}"
                    found.append(problem(place, sentence, name))
                elif transform.types and attribute.type not in transform.types:
                    sentence = f'has type = "{attribute.type}"; {transform.method} takes {", ".join(transform.types)}'
                    found.append(problem(place, sentence, name))
                elif isinstance(transform, Km) and attribute.separator is None:
                    sentence = f"needs to know its items: set {path(('attributes', name))}.separator"
                    found.append(problem(place, sentence, name))
                elif getattr(transform, "replacement", "") == "mean" and attribute.type == "ordinal":
                    found.append(problem(place, "is ordinal, which has no mean; use the limit", name))
        return found

    def _role_problems(self) -> list[InitErrorDetails]:
        found = []
        if self.person is not None:
            key = self.attributes.get(self.person.key)
            if key is not None and key.role != "identifying":
                place = ("attributes", self.person.key, "role")
                sentence = "must be identifying, because the column is the person key; or leave the attribute out"
                found.append(problem(place, sentence, key.role))
        if not self.quasi_identifiers and self.table.unlisted != "quasi_identifying":
            sentence = (
                "name no quasi-identifier: give the role quasi_identifying to the columns that "
                "others may know about a person"
            )
            found.append(problem(("attributes",), sentence))
        return found

    def _privacy_problems(self) -> list[InitErrorDetails]:
        found = []
        for position, model in enumerate(self.privacy):
            if isinstance(model, KmAnonymity):
                found += self._set_problems(model, position)
            for name in model.attributes_used:
                place = (
                    "privacy",
                    position,
                    "attributes" if "attributes" in type(model).model_fields else "attribute",
                )
                attribute = self.attributes.get(name)
                is_person = self.person is not None and name == self.person.key
                if attribute is None and not is_person and self.table.unlisted == "sensitive":
                    attribute = Attribute(role="sensitive")
                if attribute is None or is_person:
                    remedy = (
                        nearest(name, self.sensitive_attributes)
                        if self.sensitive_attributes
                        else (f'add [{path(("attributes", name))}] with role = "sensitive"')
                    )
                    what = "is the person key, not a sensitive attribute" if is_person else "is not declared"
                    found.append(problem(place, f"{what}; {remedy}", name))
                elif attribute.role != "sensitive":
                    sentence = f"must name a sensitive attribute; its role is {attribute.role}"
                    found.append(problem(place, sentence, name))
                elif isinstance(model, Distant):
                    found += _distance_problems(model, attribute, position)
                elif isinstance(model, Numeric):
                    found += _number_problems(model, attribute, position)
        return found

    def _set_problems(self, model: KmAnonymity, position: int) -> list[InitErrorDetails]:
        place, attribute = ("privacy", position, "attribute"), self.attributes.get(model.attribute)
        if attribute is None:
            return [problem(place, f"is not declared; {nearest(model.attribute, self.attributes)}", model.attribute)]
        if attribute.role != "quasi_identifying":
            return [problem(place, f"must be a quasi-identifier; its role is {attribute.role}", model.attribute)]
        if attribute.separator is None:
            sentence = f"needs to know its items: set {path(('attributes', model.attribute))}.separator"
            return [problem(place, sentence, model.attribute)]
        return []

    def __repr__(self) -> str:
        """Write what was decided in a few lines; ``dumps`` writes all of it."""
        return text(self)

    def __str__(self) -> str:
        """Write the same."""
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)

    @property
    def base(self) -> Path:
        """The folder of the policy file; relative paths in the policy begin there."""
        return self._base

    @property
    def from_flags(self) -> bool:
        """Whether the policy was made from command-line flags, so that columns not named bring a warning."""
        return self._from_flags

    @property
    def open_marks(self) -> tuple[Mark, ...]:
        """The marks CONFIRM of the text that the policy was read from: suggestions that nobody has decided."""
        return self._marks

    def require_decided(self, accepted_by: str | None = None) -> None:
        """Raise PolicyError when suggestions of a draft are open and nobody accepts them in their name."""
        if accepted_by is not None and not accepted_by.strip():
            message = "a draft is accepted by a person: give the name of who answers for it"
            raise PolicyError(message, key="accept_draft")
        if accepted_by is not None or not self.open_marks:
            return
        listed = ", ".join(f"{mark.place} (line {mark.line})" for mark in self.open_marks)
        message = (
            f"{_counted(len(self.open_marks))} of a draft and not decided, marked CONFIRM: {listed}; decide each and "
            "remove its mark, or accept the draft as it stands: --accept-draft NAME (accept_draft in Python) says in "
            "manifest and report whose decision it was"
        )
        raise PolicyError(message, line=self.open_marks[0].line, key=self.open_marks[0].place)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The policy file and the files that it names to be read: nothing that is made under it overwrites one."""
        found = [] if self._file is None else [self._file]
        found += [origin(self.locate(file.text), file.what) for file in files_of(self.plain()) if file.is_read]
        return tuple(found)

    def at(
        self, base: Path, *, from_flags: bool = False, file: Origin | None = None, marks: Sequence[Mark] = ()
    ) -> Policy:
        """Return the same policy with the folder at which its relative paths begin."""
        policy = self.model_copy()
        policy._base = base  # noqa: SLF001  # its own private attribute
        policy._from_flags = from_flags  # noqa: SLF001  # as above
        policy._file = file or self._file  # noqa: SLF001  # as above
        policy._marks = (*marks,) or self._marks  # noqa: SLF001  # as above
        return policy

    @classmethod
    def draft(cls, table: Any, **how: Any) -> Policy:
        """Draft a policy for a table, as ``indistinct policy draft`` does; nothing in it is decided.

        ``how`` are ``delimiter``, ``encoding``, ``query`` and ``sql_table``. Its suggestions are ``open_marks``:
        ``anonymize`` refuses it until somebody accepts them by name.

        Raises what reading the table raises; PolicyError where no column looks like a quasi-identifier.

        Examples
        --------
        >>> import pyarrow as pa
        >>> drafted = Policy.draft(pa.table({"sex": ["f", "m"] * 30}))
        >>> drafted.quasi_identifiers, drafted.open_marks[0].place
        (('sex',), 'attributes.sex.role')
        """
        # the name is the policy's, the work a job on a floor above
        return cls.load(import_module("indistinct.assess.draft").draft(table, **how))

    def locate(self, text: str) -> Path:
        """Return the path of a file that the policy names, seen from the folder of the policy file."""
        return self._base / text

    def names_with(self, role: str) -> tuple[str, ...]:
        """Return the declared attributes of one role, in the order of the policy."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role == role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The declared quasi-identifiers, in the order of the policy."""
        return self.names_with("quasi_identifying")

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The declared sensitive attributes, in the order of the policy."""
        return self.names_with("sensitive")

    @property
    def item_columns(self) -> tuple[str, ...]:
        """The set-valued columns that models look at; their hierarchy is one of items, not of cells."""
        return tuple(dict.fromkeys(model.attribute for model in self.privacy if isinstance(model, KmAnonymity)))

    def require_models(self) -> None:
        """Raise PolicyError when the policy names no privacy model, as every release needs one.

        Raises it too when a set-valued column has no tree of items to generalize them by; an audit needs none.
        """
        for name in self.item_columns:
            if "file" not in (self.attributes[name].spec or {}):
                message = (
                    f'km_anonymity generalizes the items of "{name}" along a tree: give it as '
                    'hierarchy = { file = "..." }, one row for each item, from the item to the top'
                )
                raise PolicyError(message, key=path(("attributes", name, "hierarchy")))
        if not self.privacy:
            message = (
                "the policy names no privacy model, so a release would protect nobody: "
                'add at least one [[privacy]] table, such as model = "k_anonymity" and k = 5'
            )
            raise PolicyError(message, key="privacy")

    def notices(self) -> tuple[Notice, ...]:
        """Return warnings about what is valid and yet unlikely to be meant.

        >>> from indistinct.policy import KAnonymity
        >>> Policy(attributes={"age": {"role": "qi"}}, privacy=[KAnonymity(1)]).notices()[0].kind
        'no-protection'
        """
        found = []
        for key in self.recoding.unused:
            sentence = Sentence(
                "{key} under [recoding] has no effect: {algorithm} does not know it",
                key=key,
                algorithm=self.recoding.algorithm,
            )
            found.append(Notice("unused", None, sentence))
        found += robust_notices(self)
        for position, model in enumerate(self.privacy):
            if model.is_void:
                sentence = Sentence(
                    "{place} ({model}) is no protection: every table satisfies it",
                    place=path(("privacy", position)),
                    model=model.model,
                )
                used = model.attributes_used
                found.append(Notice("no-protection", used[0] if used else None, sentence))
            if isinstance(model, EpsIKAnonymity) and model.w < Fraction(1, 2):
                sentence = Sentence(
                    "w = {w} is below 0.5, the least that the paper uses: many small intervals follow", w=show(model.w)
                )
                found.append(Notice("unusual", model.attribute, sentence))
        protected = {
            name
            for model in self.privacy
            for name in (model.holds if isinstance(model, Tiered) else model).attributes_used
        }
        for name, attribute in self.attributes.items():
            if self.privacy and attribute.role == "sensitive" and name not in protected:
                sentence = Sentence(
                    'no privacy model looks at the sensitive column "{name}"; it is published unprotected', name=name
                )
                found.append(Notice("unprotected", name, sentence))
            if attribute.role != "quasi_identifying":
                defaults = ("weight", "min_level", "max_level")
                extra = [key for key in defaults if getattr(attribute, key) != default_of(Attribute, key)]
                for key in extra:
                    sentence = Sentence(
                        '{key} of "{name}" has no effect: it is for quasi-identifiers', key=key, name=name
                    )
                    found.append(Notice("unused", name, sentence))
        return tuple(found)

    def plain(self) -> dict[str, Any]:
        """Return the policy as plain data in the order of the format, defaults left out.

        >>> Policy(attributes={"age": {"role": "qi"}}).plain()
        {'version': 1, 'attributes': {'age': {'role': 'quasi_identifying'}}}
        """
        data: dict[str, Any] = plain_section(self)
        return data

    def hash(self) -> str:
        """Return the SHA-256 (hexadecimal) of the canonical form: what was decided, whatever the spelling.

        Synonyms, comments, defaults written out, ``[run]``, ``[release]`` and ``[releases]`` make no difference; the
        order of attributes does, because it decides ties.
        """
        data = {key: value for key, value in self.plain().items() if key not in ("run", "release", "releases")}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def fingerprint(self) -> str:
        """Return the SHA-256 (hexadecimal) of the public form, so that nothing private can be guessed and tested.

        >>> one, other = ({"role": "qi", "type": "integer", "domain": [0, end]} for end in (97, 98))
        >>> Policy(attributes={"age": one}).fingerprint() == Policy(attributes={"age": other}).fingerprint()
        True
        """
        return fingerprint(public_form(self))

    @classmethod
    def load(cls, source: str | PathLike[str]) -> Policy:
        r"""Read a policy from a file, or from a TOML text (a str with a line break).

        >>> Policy.load('[attributes.age]\nrole = "qi"\n').quasi_identifiers
        ('age',)

        Raises PolicyError naming file, line and column for bad TOML, and as ``Policy`` does.
        """
        from indistinct.policy.load import load

        return load(cls, source)

    def dumps(self) -> str:
        """Return the policy as TOML, defaults left out."""
        from indistinct.policy.load import dumps

        return dumps(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a file; in an existing policy what differs is changed and comments stay."""
        from indistinct.policy.load import save

        save(self, path)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of the policy format, for editors and forms.

        It knows types, ranges and names; what needs two keys at once (``p <= k``) only ``Policy`` checks.
        Roles are listed in lower case with ``_``; other spellings are accepted by ``Policy`` all the same.
        """
        schema = Policy.model_json_schema()
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": "indistinct policy",
        }


def _distance_problems(model: TCloseness | NTCloseness, attribute: Attribute, position: int) -> list[InitErrorDetails]:
    place = ("privacy", position, "distance")
    if model.distance == "ordered" and not attribute.is_ordered:
        sentence = (
            f'needs an order, and "{model.attribute}" has type = "{attribute.type}": set its type to '
            f"{', '.join(ORDERED_TYPES[:-1])}, or ordinal with its order"
        )
        return [problem(place, sentence, model.distance)]
    if model.distance == "hierarchical" and (attribute.hierarchy is None or attribute.hierarchy.kind not in TREES):
        has = f"has kind {attribute.hierarchy.kind}" if attribute.hierarchy else "is missing"
        sentence = f'needs a tree, and the hierarchy of "{model.attribute}" {has}: give one as {{ file = "..." }}'
        return [problem(place, sentence, model.distance)]
    return []


def _number_problems(model: Numeric, attribute: Attribute, position: int) -> list[InitErrorDetails]:
    place = ("privacy", position, "attribute")
    if attribute.type not in NUMERIC_TYPES:
        sentence = f'needs numbers, and its type is "{attribute.type}": set it to {", ".join(NUMERIC_TYPES)}'
        return [problem(place, sentence, model.attribute)]
    if attribute.type == "date" and model.needs_zero:
        sentence = "has dates, which have no zero, so no relative distance: use an absolute epsilon, or ke_anonymity"
        return [problem(place, sentence, model.attribute)]
    if attribute.missing in ("first", "last"):
        sentence = f'has missing = "{attribute.missing}", which is no number: set missing = "drop"'
        return [problem(place, sentence, model.attribute)]
    return []


def _counted(number: int) -> str:
    return "1 setting is a suggestion" if number == 1 else f"{number} settings are suggestions"
