"""What a published table lacks of its policy's columns, and adds to them: it is audited by the columns it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms import algorithm_of, form_of
from indistinct.errors import SchemaError
from indistinct.notices import Notice, Sentence
from indistinct.policy import Attribute, Policy
from indistinct.tables.counterfeits import COUNTERFEITS
from indistinct.tables.two_tables import GROUP, TOTALS, is_qit

if TYPE_CHECKING:
    from collections.abc import Sequence


SCALED = ("integer", "decimal", "date")  # types whose labels have ends


def range_names(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return the columns that ``[output] ranges`` adds to each generalized quasi-identifier with a scale.

    >>> age = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}
    >>> range_names(Policy(attributes={"age": age}, output={"ranges": "columns"}))
    {'age': ('age_from', 'age_to')}
    """
    endings = {"label": (), "columns": ("from", "to"), "struct": ("range",)}[policy.output.ranges]
    return {
        name: tuple(f"{name}_{ending}" for ending in endings)
        for name in (policy.quasi_identifiers if endings else ())
        if policy.attributes[name].type in SCALED and policy.attributes[name].spec is not None
    }


def as_it_stands(policy: Policy, columns: Sequence[str], notices: list[Notice], *, only_quasi: bool) -> Policy:
    """Return the policy for a table that may be published already.

    Identifying columns and the person key may be lacking: they were dropped on purpose. With ``only_quasi`` the table
    may also be one in groups: the first of two, which lacks the sensitive columns, one with permuted values or one with
    counterfeits.

    Raises SchemaError for a table in groups where its sensitive values are to be judged.
    """
    absent = [name for name, a in policy.attributes.items() if a.role == "identifying" and name not in columns]
    added: list[str] = []
    if is_qit(columns, policy.sensitive_attributes):
        if not only_quasi:
            raise SchemaError(
                f'the table has a column "{GROUP}" and no sensitive one, as the first of two tables has; prove both '
                "together with: indistinct verify ORIGINAL QIT ST",
                column=GROUP,
            )
        absent += policy.sensitive_attributes
        added = [GROUP]
    elif form_of(policy) == "permuted":
        if not only_quasi and GROUP in columns and GROUP not in policy.attributes:
            raise SchemaError(
                f'the table has a column "{GROUP}", as one with permuted values has: its models hold for groups, which '
                "are proved with: indistinct verify ORIGINAL PUBLISHED",
                column=GROUP,
            )
        added = [GROUP, *TOTALS]
    elif algorithm_of(policy).declares == "adding":
        added = [GROUP, COUNTERFEITS]
    added = [name for name in added if name in columns and name not in policy.attributes]
    if added:
        message = Sentence(
            "the table is in groups: measured is how well a row is recognised; what its group tells about the "
            "sensitive value is measured by: indistinct attack"
        )
        notices.append(Notice("groups", None, message))
    # ends of ranges say again what their labels say
    ends = [new for names in range_names(policy).values() for new in names if new in columns]
    person = policy.person
    if person is not None and person.key not in columns:
        message = Sentence('the table has no person key "{key}"; sizes count rows, not persons', key=person.key)
        notices.append(Notice("persons", person.key, message))
        person = None
    if not (absent or added or ends) and person is policy.person:
        return policy
    attributes = {name: a for name, a in policy.attributes.items() if name not in absent}
    attributes |= {name: Attribute(role="insensitive") for name in added}
    attributes |= {name: Attribute(role="identifying") for name in ends if name not in attributes}
    return policy.model_copy(update={"attributes": attributes, "person": person})
