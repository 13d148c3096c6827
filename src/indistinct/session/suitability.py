"""Where these models are the wrong tool, or a weak one: measured reasons and what would serve instead.

Every notice rests on a count that is named in it. None of them stops a run; they are there so that the person who
answers for a release has heard them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.models import record_of
from indistinct.notices import Notice, Sentence
from indistinct.policy.privacy import Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies

FEW_ROWS = 100
MANY_QUASI_IDENTIFIERS = 10
DOMINANT_SHARE = 0.99
LONG_TEXT = 40
MANY_ROWS_PER_PERSON = 20
TEXT_SAMPLE = 200


def suitability(
    frequencies: Frequencies,
    privacy: Sequence[Privacy],
    numeric: Sequence[str],
    *,
    rows_per_person: int = 1,
    earlier_releases: int = 0,
) -> list[Notice]:
    """Return what a steward should hear before trusting these models on this table.

    ``numeric`` names the sensitive attributes that are numbers or dates; ``rows_per_person`` is the largest number of
    rows of one person; ``earlier_releases`` counts manifests beside the output.
    """
    found: list[Notice] = []
    total = frequencies.total

    if total < FEW_ROWS:
        message = Sentence(
            "the table has {n} rows; so few people are easily recognised whatever the classes; publish aggregate "
            "counts or give access under supervision instead",
            n=total,
        )
        found.append(Notice("tiny-table", None, message))
    if len(frequencies.quasi) > MANY_QUASI_IDENTIFIERS:
        message = Sentence(
            "{n} quasi-identifiers: with more than about {limit} every row is far from every other and little "
            "survives; leave columns out, or publish several narrow tables of different people",
            n=len(frequencies.quasi),
            limit=MANY_QUASI_IDENTIFIERS,
        )
        found.append(Notice("many-quasi-identifiers", None, message))
    models = [model for model in privacy if model.attributes_used]
    used = sorted({name for model in models for name in model.attributes_used})
    joint = {name for model in models if record_of(model).is_joint for name in model.attributes_used}
    if len(used) > 1 and set(used) - joint:
        message = Sentence(
            "{n} sensitive columns ({names}) are protected one by one; someone who knows one of them may learn "
            "another; a joint_l model protects them together, separate tables avoid the question",
            n=len(used),
            names=tuple(used),
        )
        found.append(Notice("joint-distribution", None, message))
    for hierarchy in frequencies.sensitive:
        name = hierarchy.attribute
        reference = frequencies.references[name]
        top = int(reference.counts.max(initial=0))
        if top >= DOMINANT_SHARE * reference.total:
            message = Sentence(
                '{n} of {rows} rows have the same value in "{name}": diversity and closeness say little there; protect '
                "the rare values on their own (alpha_k with values, or counts with noise)",
                n=top,
                rows=reference.total,
                name=name,
            )
            found.append(Notice("dominant-value", name, message))
        uses = sorted({model.model for model in models if name in model.attributes_used})
        of_numbers = any(isinstance(model, Numeric) for model in models if name in model.attributes_used)
        if name in numeric and uses and not of_numbers:
            message = Sentence(
                '"{name}" holds numbers ({n} different ones): {models} treats 1000 and 1001 as different although '
                "knowing either is as good; a model for numeric values such as eps_i_k_anonymity or a range of at "
                "least e (ke_anonymity) protects against near values",
                name=name,
                n=hierarchy.size,
                models=tuple(uses),
            )
            found.append(Notice("proximity", name, message))
    found += [
        free_text(h.attribute, h.texts) for h in (*frequencies.quasi, *frequencies.sensitive) if is_free_text(h.texts)
    ]
    if rows_per_person > MANY_ROWS_PER_PERSON:
        message = Sentence(
            "one person has {n} rows: a history identifies its owner even where every row hides in a class; publish "
            "one summarised row for each person",
            n=rows_per_person,
        )
        found.append(Notice("trace", None, message))
    if earlier_releases:
        message = Sentence(
            "{n} earlier releases stand beside this one: who has both can intersect them if they concern the same "
            "persons; publish once, or let 'indistinct releases' check them together first",
            "{n} earlier release stands beside this one: who has both can intersect them if they concern the same "
            "persons; publish once, or let 'indistinct releases' check them together first",
            n=earlier_releases,
        )
        found.append(Notice("earlier-release", None, message))
    return found


def is_free_text(texts: Sequence[str | None]) -> bool:
    """Whether a column looks like sentences: distinct values with blanks, of over 40 characters on average."""
    sample = [text for text in texts[:TEXT_SAMPLE] if text]
    if len(sample) < 5:
        return False
    return sum(map(len, sample)) > LONG_TEXT * len(sample) and sum(" " in text for text in sample) > len(sample) / 2


def free_text(column: str, texts: Sequence[str | None]) -> Notice:
    """Build the notice for a column of sentences."""
    message = Sentence(
        '"{name}" looks like free text ({n} different values): names and places inside sentences are not protected by '
        "any of these models; leave it out or code it into categories first",
        name=column,
        n=len(texts),
    )
    return Notice("free-text", column, message)
