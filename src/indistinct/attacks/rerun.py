"""What somebody works out who knows the program: a run of it over everybody's quasi-identifiers.

The attacker has the published file, the policy, the source code, and the quasi-identifiers of everybody in the input,
of suppressed rows too; not the sensitive values, and no key. Equal counts give equal decisions, so that he finds the
class of everybody where the models look at quasi-identifiers alone. Where models look at sensitive columns a run needs
their values: it is then made with the original, and stands for an attacker who has learnt classes in another way.

A run that cannot be repeated is not guessed: the answer is a sentence that says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.algorithms import declared, form_of
from indistinct.algorithms.blind import blind_policy, least_size
from indistinct.decision.aggregates import aggregated
from indistinct.decision.decide import decide, stars_rows
from indistinct.errors import IndistinctError
from indistinct.models import record_of
from indistinct.policy.recoding import option
from indistinct.session.item_sets import with_item_levels
from indistinct.session.prepare import modelled, prepare
from indistinct.tables.classes import merged, recoding_of, whole_tuples
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import SUPPRESSED, Assignment, Frequencies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View
    from indistinct.formats.source import Source
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Recoding

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

Texts = tuple[list[str | None], ...]


@dataclass(frozen=True)
class Run:
    """A decision of the program: ``texts`` and ``codes`` int32[g, d] are what each class publishes.

    Suppressed rows that are published are one more class, the last, if ``starred``; ``of_tuple``, ``of_class`` and
    ``rows`` int64[.] say how many rows of each quasi-identifier tuple each class holds.
    """

    policy: Policy
    frequencies: Frequencies = field(repr=False)
    assignment: Assignment = field(repr=False)
    texts: Texts = field(repr=False)
    codes: Int32 = field(repr=False)
    of_tuple: Int64 = field(repr=False)
    of_class: Int64 = field(repr=False)
    rows: Int64 = field(repr=False)
    starred: bool

    @property
    def sizes(self) -> Int64:
        """int64[g]: published rows of each class."""
        return np.bincount(self.of_class, weights=self.rows, minlength=len(self.codes)).astype(np.int64)

    def placed(self, view: View) -> Int64:
        """int64[g]: the tuple of a release with the labels of each class, -1 where it has none."""
        return places(self.texts, self.codes, view.labels, view.tuples)

    def gives(self, view: View) -> bool:
        """Whether a release holds just the rows of this run, in quasi-identifiers and modelled columns."""
        if view.quasi != tuple(hierarchy.attribute for hierarchy in self.frequencies.quasi):
            return False
        at = self.placed(view)
        if (at < 0).any() or len(at) != len(view.rows) or not np.array_equal(self.sizes, view.rows[at]):
            return False
        class_of = np.where(self.assignment.class_of == SUPPRESSED, len(self.codes) - 1, self.assignment.class_of)
        published = (self.assignment.class_of != SUPPRESSED) | self.starred
        for hierarchy in self.frequencies.sensitive:
            own = view.sensitive.get(hierarchy.attribute)
            if own is None:
                continue
            number = {text: place for place, text in enumerate(own.texts)}
            known = np.array([number.get(text, -1) for text in hierarchy.texts], np.int64)
            value = known[self.frequencies.sensitive_codes(hierarchy.attribute)[self.assignment.cell[published]]]
            if (value < 0).any():
                return False
            keys, inverse = np.unique(at[class_of[published]] * len(own.texts) + value, return_inverse=True)
            found = np.bincount(inverse, weights=self.assignment.count[published], minlength=len(keys))
            # histograms ascend by class and value
            cell = own.owner.astype(np.int64) * len(own.texts) + own.histogram.value
            if not np.array_equal(keys, cell) or not np.array_equal(found, own.histogram.count):
                return False
        return True


class Places(NamedTuple):
    """Where persons stand in a release: rows of ``person[i]`` are in ``tuple[i]`` with chance ``chance[i]``."""

    person: Int64
    tuple: Int64
    chance: Float64


def run(source: Source, policy: Policy) -> Run | str:
    """Run the program over a table under a policy; a sentence where the run cannot be repeated."""
    why = unrepeatable(policy)
    if why is not None:
        return why
    found = prepared_for(source, policy)
    return found if isinstance(found, str) else decided(found)


def prepared_for(source: Source, policy: Policy) -> Prepared | str:
    """Read and count the columns of a table that a decision looks at; a sentence where that fails."""
    columns = tuple(name for name in source.columns if name in _columns(policy))
    narrowed = replace(source, columns=columns, types={name: source.types[name] for name in columns})
    attributes = {name: own for name, own in policy.attributes.items() if name in columns}
    try:
        return with_item_levels(prepare(narrowed, policy.model_copy(update={"attributes": attributes}), carry=False))
    except IndistinctError as error:
        return f"the program does not take this table: {error}"


def decided(prepared: Prepared) -> Run | str:
    """Let the program decide on a counted table."""
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    try:
        assignment = decide(prepared)
        recoding = aggregated(prepared, assignment, recoding_of(frequencies, assignment))
        starred = stars_rows(prepared, assignment, recoding)
    except IndistinctError as error:
        return f"the program does not publish this table: {error}"
    if assignment.proven is False and option(policy.recoding, "time_budget") is not None:
        return "its search ended by the clock, so nobody can repeat it"
    return run_of(policy, frequencies, assignment, recoding, starred=starred)


def run_of(
    policy: Policy, frequencies: Frequencies, assignment: Assignment, recoding: Recoding, *, starred: bool
) -> Run:
    """Say what an assignment publishes, and where the rows of each tuple are."""
    columns = [recoding.labels(position) for position in range(len(recoding.quasi))]
    texts, codes = tuple(list(own) for own, _ in columns), np.column_stack([of for _, of in columns]).astype(np.int32)
    owner, token = assignment.class_of.astype(np.int64), policy.output.suppressed_token
    if starred:
        star = [own.index(token) if token in own else len(own) for own in texts]
        texts = tuple(own if token in own else [*own, token] for own in texts)
        codes = np.vstack([codes, np.array([star], np.int32)])
        owner = np.where(owner == SUPPRESSED, len(codes) - 1, owner)
    published = owner != SUPPRESSED
    pairs = frequencies.tuple_of[assignment.cell[published]].astype(np.int64) * max(1, len(codes)) + owner[published]
    distinct, inverse = np.unique(pairs, return_inverse=True)
    rows = np.bincount(inverse, weights=assignment.count[published], minlength=len(distinct)).astype(np.int64)
    of_tuple, of_class = np.divmod(distinct, max(1, len(codes)))
    return Run(policy, frequencies, assignment, texts, codes, of_tuple, of_class, rows, starred)


def unrepeatable(policy: Policy) -> str | None:
    """Say why nobody can repeat a run under a policy, if so."""
    return next(_obstacles(policy), None)


def _obstacles(policy: Policy) -> Iterator[str]:
    if not policy.privacy:
        yield "no policy with models is given, so that no run can be repeated"
    if policy.transforms:
        yield "the policy transforms the table before, which is not repeated"
    if form_of(policy) != "one_table":
        yield "the release is in groups, which are dealt at random"
    if declared(policy) == "perturbing":
        yield f'"{policy.recoding.algorithm}" draws at random'
    if any(record_of(model).scope in ("sequence", "mechanism") for model in policy.privacy):
        yield "a model looks at more than this table"
    if option(policy.recoding, "quality") == "best":
        yield "a search of the best quality ends by the clock, so nobody can repeat it"


def looks_at_values(policy: Policy) -> bool:
    """Whether the decision depends on sensitive values, or on those of a target."""
    return bool(modelled(policy))


def without_sensitive_models(policy: Policy) -> Policy:
    """Return a policy that asks of quasi-identifiers what this one does, and nothing of sensitive columns.

    What a model of a sensitive column asks of sizes alone stays, as k-anonymity.
    """
    return blind_policy(policy, least_size(policy))


def as_it_is(prepared: Prepared) -> Run:
    """Publish every tuple as finely as the policy lets it: groups that look alike are one."""
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    whole = whole_tuples(frequencies)
    assignment = merged(whole, recoding_of(frequencies, whole))
    return run_of(policy, frequencies, assignment, recoding_of(frequencies, assignment), starred=False)


def places(texts: Texts, codes: Int32, labels: Texts, tuples: Int32) -> Int64:
    """int64[g]: which of ``tuples`` has the same texts as each row of ``codes``, -1 where none has."""
    wanted = np.empty_like(codes)
    for position, own in enumerate(texts):
        number = {text: place for place, text in enumerate(labels[position])}
        wanted[:, position] = np.array([number.get(text, -1) for text in own] or [0], np.int32)[codes[:, position]]
    both = np.concatenate([tuples, wanted]) + 1
    first, number_of = numbered_rows(both, [len(own) + 2 for own in labels])
    at = np.where(first < len(tuples), first, -1)[number_of[len(tuples) :]]
    found: Int64 = np.where((wanted >= 0).all(axis=1), at, -1).astype(np.int64)
    return found


def tuples_of(frequencies: Frequencies, people: Tabulated) -> Int64:
    """int64[p]: the quasi-identifier tuple that each distinct person has, -1 where none has it."""
    columns = []
    for hierarchy in frequencies.quasi:
        texts, codes = people.column(hierarchy.attribute)
        known = hierarchy.codes()
        columns.append(np.array([known.get(text, -1) for text in texts], np.int32)[codes])
    own = np.column_stack(columns)
    both = np.concatenate([frequencies.tuples, own]) + 1
    first, number = numbered_rows(both, [hierarchy.size + 1 for hierarchy in frequencies.quasi])
    count = len(frequencies.tuples)
    at = np.where(first < count, first, -1)[number[count:]]
    found: Int64 = np.where((own >= 0).all(axis=1), at, -1).astype(np.int64)
    return found


def standing(own: Run, view: View, people: Tabulated) -> Places:
    """Say where the persons of a table stand in a release that a run gives."""
    at, tuple_of = own.placed(view), tuples_of(own.frequencies, people)
    total = own.frequencies.tuple_rows.astype(np.float64)
    start = np.searchsorted(own.of_tuple, np.arange(len(total) + 1))
    known = np.flatnonzero(tuple_of >= 0)
    lengths = np.diff(start)[tuple_of[known]]
    ends = np.cumsum(lengths)
    entry = np.repeat(start[tuple_of[known]] - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    chance = own.rows[entry] / total[own.of_tuple[entry]]
    return Places(np.repeat(known, lengths), at[own.of_class[entry]], chance)


def _columns(policy: Policy) -> set[str]:
    """Name what a decision looks at; what else a table holds, such as names, is none of its business."""
    person = set() if policy.person is None else {policy.person.key}
    return {*policy.quasi_identifiers, *modelled(policy), *person}
