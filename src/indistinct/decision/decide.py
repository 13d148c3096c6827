"""From a counted table to what is published: an algorithm decides on counts, and its decision is applied once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms import algorithm_of, declared, form_of, require_fit
from indistinct.decision.aggregates import aggregated
from indistinct.errors import InfeasibleError, PolicyError, VerificationError
from indistinct.losses import priced
from indistinct.models import Context, evaluate, is_of_classes
from indistinct.policy.recoding import option
from indistinct.session.prepare import published_identifying
from indistinct.tables.apply import Layout
from indistinct.tables.classes import classes_of, merged, recoding_of
from indistinct.tables.count import silent
from indistinct.tables.engine import Form
from indistinct.tables.floors import floored, spread
from indistinct.tables.identifiers import mask, pseudonym, read_key
from indistinct.tables.records import SUPPRESSED, Assignment
from indistinct.tables.two_tables import check_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published
    from indistinct.tables.records import Frequencies, Recoding

    Transform = Callable[[Sequence[str | None]], list[str | None]]


@dataclass(frozen=True)
class Decision:
    """What was decided about a table, and the rows that follow from it.

    A release of two tables has the second, of sensitive values by group, in ``values``.
    """

    prepared: Prepared
    assignment: Assignment
    recoding: Recoding
    published: Published
    values: Published | None = None

    @property
    def policy(self) -> Policy:
        """The policy under which it was decided."""
        return self.prepared.policy

    @property
    def frequencies(self) -> Frequencies:
        """The counts on which it was decided."""
        return self.prepared.counted.frequencies

    @property
    def suppressed(self) -> int:
        """How many rows are in no class."""
        return suppressed_rows(self.assignment)

    @property
    def alike(self) -> Assignment:
        """The assignment with classes as a reader of the file sees them."""
        return as_read(self.prepared, self.assignment, self.recoding, starred=self.starred)

    @property
    def starred(self) -> bool:
        """Whether suppressed rows are published, with the token in every quasi-identifier."""
        return self.published.rows > int(self.assignment.count.sum()) - self.suppressed


def suppressed_rows(assignment: Assignment) -> int:
    """Count the rows that are in no class."""
    return int(assignment.count[assignment.class_of == SUPPRESSED].sum())


def decide(prepared: Prepared, progress: Progress = silent) -> Assignment:
    """Let the algorithm of the policy decide, and count again what it suppressed: none is trusted with the limit.

    Classes that publish alike are one, as they are in the file: what is said of classes counts the same everywhere.

    Raises InfeasibleError when the target cannot be met or nothing would be left.
    """
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    require_fit(policy)
    refuse_form(prepared)
    assignment = searched(prepared, lambda found: algorithm_of(policy).decide(found, policy, progress))
    suppressed, allowed = suppressed_rows(assignment), policy.suppression.allowed(frequencies.total)
    if suppressed == frequencies.total:
        raise InfeasibleError("every row would have to be suppressed; nothing is left to publish")
    if suppressed > allowed:
        raise VerificationError(
            f"the algorithm suppressed {suppressed} rows, more than the {allowed} allowed; please report this"
        )
    if assignment.group_of is not None or assignment.counterfeits is not None or declared(policy) == "perturbing":
        return assignment  # their classes are those of groups, of other releases, of one aggregate
    return merged(assignment, recoding_of(frequencies, assignment))


def searched(prepared: Prepared, find: Callable[[Frequencies], Assignment]) -> Assignment:
    """Let ``find`` look at the counts as a search sees them: with the prices of a loss, nothing below the floors."""
    frequencies = prepared.counted.frequencies
    # another loss is the same search under other prices
    seen = replace(frequencies, quasi=priced(frequencies.quasi, option(prepared.policy.recoding, "loss")))
    joined = floored(seen)
    if joined is None:
        return find(seen)
    return spread(find(joined[0]), frequencies, joined[1])


def apply(prepared: Prepared, assignment: Assignment, layout: Layout) -> Decision:
    """Let the engine apply an assignment to the source."""
    policy, given = prepared.policy, (prepared.source, prepared.counted, assignment)
    recoding = aggregated(prepared, assignment, recoding_of(prepared.counted.frequencies, assignment))
    if assignment.group_of is None and assignment.counterfeits is None:
        form = Form(starred=stars_rows(prepared, assignment, recoding))
    else:
        attribute = grouped_attribute(policy)
        summed = policy.attributes[attribute].type in ("integer", "decimal")
        form = Form(attribute, permuted=form_of(policy) == "permuted", summed=summed)
    published, values = prepared.engine.apply(*given, recoding, layout, form)
    return Decision(prepared, assignment, recoding, published, values)


def grouped_attribute(policy: Policy) -> str:
    """Return the sensitive attribute of which a release in groups shows the values of each: that of the models."""
    return next(name for model in policy.privacy for name in model.attributes_used)


def refuse_form(prepared: Prepared) -> None:
    """Refuse what a release in the form of its algorithm cannot do; raises PolicyError and SchemaError."""
    policy, form = prepared.policy, form_of(prepared.policy)
    if form == "one_table":
        return
    name = policy.recoding.algorithm
    if policy.suppression.rows != "drop":
        raise PolicyError(
            f'"{name}" publishes groups, and a suppressed row is in none: set rows = "drop" under [suppression]',
            key="suppression.rows",
        )
    if policy.output.order == "kept":
        raise PolicyError(
            f'"{name}" publishes groups, whose rows are sorted or shuffled; set another order under [output]',
            key="output.order",
        )
    if any(model.attributes_used for model in policy.privacy):
        check_names(published_columns(prepared), grouped_attribute(policy), permuted=form == "permuted")


def as_read(prepared: Prepared, assignment: Assignment, recoding: Recoding, *, starred: bool) -> Assignment:
    """Join the classes that publish alike, those of equal aggregates too.

    Suppressed rows that are published (``starred``) because they satisfy the models are a class, or part of one.
    """
    found = merged(assignment, recoding)
    gone = found.class_of == SUPPRESSED
    if not starred or prepared.policy.suppression.rows != "test" or not gone.any():
        return found
    alike = np.flatnonzero(_looks_suppressed(recoding, prepared.policy.output.suppressed_token))
    own = int(found.class_of[assignment.class_of == alike[0]][0]) if len(alike) else found.classes
    class_of = np.where(gone, own, found.class_of).astype(np.int32)
    return replace(found, class_of=class_of, classes=max(found.classes, own + 1), boxes=None, levels=None)


def stars_rows(prepared: Prepared, assignment: Assignment, recoding: Recoding) -> bool:
    """Whether suppressed rows are published with the token in every quasi-identifier.

    Raises InfeasibleError where they are to be exempt, but a class looks the same, and the two together fail a model.
    """
    rule = prepared.policy.suppression.rows
    if rule == "drop" or not (assignment.class_of == SUPPRESSED).any():
        return False
    alike = _looks_suppressed(recoding, prepared.policy.output.suppressed_token)
    if rule == "exempt" and not alike.any():
        return True
    failed = _failed_by_starred(prepared, assignment, alike)
    if rule == "exempt" and failed is not None:
        raise InfeasibleError(
            f"a class has the labels of suppressed rows only, and together with the {suppressed_rows(assignment)} rows "
            f'that rows = "exempt" publishes as such it fails {failed}: a reader could not tell them apart',
            'rows = "drop" under [suppression] leaves these rows out',
        )
    return failed is None


def _looks_suppressed(recoding: Recoding, token: str) -> NDArray[np.bool_]:
    """bool[g]: the classes whose labels are all the suppression token."""
    columns = [recoding.labels(position) for position in range(len(recoding.quasi))]
    found: NDArray[np.bool_] = np.logical_and.reduce(
        [np.array([label == token for label in labels], np.bool_)[label_of] for labels, label_of in columns]
    )
    return found


def _failed_by_starred(prepared: Prepared, assignment: Assignment, alike: NDArray[np.bool_]) -> str | None:
    """Name a model that the starred rows fail, as one class with the classes that look ``alike``; None: they hold."""
    frequencies = prepared.counted.frequencies
    number = np.append(np.cumsum(~alike) - 1, 0)  # the last for SUPPRESSED, which is -1
    number[np.append(alike, True)] = last = int((~alike).sum())
    together = number[assignment.class_of].astype(np.int32)
    classes = classes_of(frequencies, Assignment(assignment.cell, assignment.count, together, last + 1))
    context = Context(frequencies.references)
    for model in prepared.policy.privacy:
        verdict = evaluate(model, classes, context).satisfied
        if not (verdict[-1] if is_of_classes(model) else verdict.all()):
            return model.model
    return None


def layout_of(prepared: Prepared) -> Layout:
    """Say which columns are published, in which order, and how.

    Raises PolicyError when the key of a pseudonym cannot be read.
    """
    policy, roles = prepared.policy, prepared.roles
    transformed: dict[str, Transform] = {
        name: mask if roles.attributes[name].action == "mask" else Pseudonymizer.of(prepared, name)
        for name in published_identifying(roles)
    }
    return Layout(
        published_columns(prepared), prepared.carried, transformed, policy.output.suppressed_token, policy.output.order
    )


def published_columns(prepared: Prepared) -> tuple[str, ...]:
    """Columns of a release: those of the source but for identifying ones that are dropped."""
    dropped = {*prepared.roles.identifying, prepared.roles.person} - set(published_identifying(prepared.roles))
    return tuple(name for name in prepared.source.columns if name not in dropped)


def pseudonyms_given(layout: Layout) -> dict[str, dict[str, str]]:
    """Return which value of each pseudonymized column got which pseudonym when the layout was applied."""
    return {name: own.given for name, own in layout.transformed.items() if isinstance(own, Pseudonymizer)}


@dataclass
class Pseudonymizer:
    """Replaces the values of an identifying column; ``given`` remembers which pseudonym each got."""

    column: str
    key: bytes = field(repr=False)
    rows: int
    domain: str | None = None
    given: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, prepared: Prepared, name: str) -> Pseudonymizer:
        """Prepare the pseudonyms of a column as the policy says."""
        attribute = prepared.roles.attributes[name]
        file = None if attribute.key_file is None else prepared.policy.locate(attribute.key_file)
        domain = attribute.domain if isinstance(attribute.domain, str) else None
        key = read_key(name, file, attribute.key_env, of_domain=domain is not None)
        return cls(name, key, prepared.rows, domain)

    def __call__(self, texts: Sequence[str | None]) -> list[str | None]:
        """Return the pseudonyms of all distinct values of the column; a missing value stays missing.

        Raises PolicyError unless every row has a value of its own.
        """
        known = [text for text in texts if text is not None]
        self.given = {text: pseudonym(text, self.key, self.column, self.domain) for text in known}
        if len(self.given) < self.rows:
            raise PolicyError(
                f'"{self.column}" has {len(self.given)} different values in {self.rows} rows: its pseudonym would tie '
                "the rows of one person together, and what they show jointly was not protected; keep one row for each "
                "person, or drop it",
                column=self.column,
            )
        return [None if text is None else self.given[text] for text in texts]
