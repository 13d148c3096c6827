"""Many runs side by side: every algorithm, every k, on one counted table; which of them no other one beats."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import losses
from indistinct.algorithms import form_of
from indistinct.errors import Cancelled, IndistinctError, InfeasibleError, PolicyError, UnsupportedError
from indistinct.models import MODELS, Context
from indistinct.models.exact import rational
from indistinct.policy import Policy
from indistinct.policy.document import ALGORITHMS
from indistinct.releases.decision import decide, suppressed_rows
from indistinct.releases.frontier import chart_text, svg, table_text
from indistinct.releases.judge import judge, unit_of
from indistinct.releases.prepare import prepare
from indistinct.releases.texts import as_html
from indistinct.releases.transform import transformed
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.count import silent
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indistinct.releases.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies, Recoding

COLUMNS = (
    "algorithm", "k_asked", "status", "k", "largest_risk", "lm", "gcp", "nonuniform_entropy", "average_class_size",
    "discernibility", "suppressed_rows", "classes", "seconds", "peak_memory_bytes", "undominated", "reason",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """The answer of ``compare``: ``document`` is its JSON form, internal as that of ``anonymize``."""

    document: dict[str, Any] = field(repr=False)

    @property
    def runs(self) -> list[dict[str, Any]]:
        """One entry for each run, in the order asked for."""
        found: list[dict[str, Any]] = self.document["runs"]
        return found

    @property
    def frontier(self) -> list[dict[str, Any]]:
        """The runs that no other one beats, by falling guarantee."""
        return [self.runs[number] for number in self.document["frontier"]]

    def svg(self) -> str:
        """Draw loss against guarantee as one SVG document."""
        return svg(self.document)

    def csv(self) -> str:
        """Write the table of runs as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run in self.runs:
            flat = {**run, **run.get("loss", {}), "largest_risk": run.get("largest_risk", {}).get("decimal")}
            writer.writerow(["" if flat.get(name) is None else flat[name] for name in COLUMNS])
        return text.getvalue()

    def __repr__(self) -> str:
        """Write the table and the chart."""
        return f"{table_text(self.document)}\n\n{chart_text(self.document)}".rstrip()

    def _repr_html_(self) -> str:
        return self.svg() + as_html(table_text(self.document))


def compare(
    table: Any,
    policy: Policy,
    *,
    algorithms: str | Sequence[str] = "all",
    k: Sequence[int] = (),
    output: str | Path | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Run algorithms on one table and put what they reach and what they lose side by side.

    The table is read and counted once. ``algorithms``: "all", or names; ``k``: the values that take the place of the k
    of the policy's ``k_anonymity`` in turn (without such a model one is added); without it one run as the policy says.
    Nothing is published: the classes of every run are judged as a release's are, equal labels as one class.

    A run is *undominated* when no other run reaches at least its smallest class (k) at no more LM, one of them better.
    ``largest_risk`` is 1/k, the prosecutor's chance at the smallest class. A run without result stands in the table
    with its reason. ``seconds`` is the time to decide, first compilation included; ``peak_memory_bytes`` the largest
    memory of the whole process during it (None where the system does not say).

    With ``output``, a folder, every finished run is appended to ``compare.jsonl`` there and taken from it next time, if
    policy, table, hierarchies and version are the same; ``compare.csv`` holds the table. Both are internal documents.

    Raises PolicyError for an unknown algorithm or k, what reading raises, and Cancelled.

    >>> import pyarrow as pa
    >>> from indistinct.policy import Policy
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> found = compare(pa.table({"age": [20, 22, 40, 41]}), policy, algorithms=["local", "optimal"])
    >>> [(run["algorithm"], run["k"], round(run["loss"]["lm"], 2)) for run in found.runs]
    [('local', 2, 0.07), ('optimal', 4, 1.0)]
    """
    policy.require_models()
    names = _names(algorithms)
    wanted = [(name, number) for number in _numbers(k) for name in names]
    store = None if output is None else Store(Path(output))
    given, _, applied = transformed(table, policy, query=query, sql_table=sql_table, progress=progress)
    prepared = prepare(given, policy, carry=False, query=query, sql_table=sql_table, progress=progress)
    frequencies = prepared.counted.frequencies
    fingerprint = _fingerprint(frequencies)
    runs = []
    for done, (name, number) in enumerate(wanted):
        progress("compare", done, len(wanted))
        runs.append(_run(prepared, name, number, fingerprint, store, progress))
    progress("compare", len(wanted), len(wanted))
    frontier = _frontier(runs)
    for position, run in enumerate(runs):
        run["undominated"] = position in frontier
    comparison = Comparison(
        {
            "satisfied": any(run["status"] == "done" for run in runs),
            "rows": prepared.rows,
            **unit_of(frequencies),
            "tuples": len(frequencies.tuples),
            "runs": runs,
            "frontier": frontier,
            "warnings": [notice.document() for notice in (*prepared.notices, *applied)],
        }
    )
    if store is not None:
        store.write_table(comparison.csv())
    return comparison


def _names(algorithms: str | Sequence[str]) -> list[str]:
    if algorithms == "all":
        return list(ALGORITHMS)
    names = list(dict.fromkeys(algorithms.split(",") if isinstance(algorithms, str) else algorithms))
    for name in names:
        if name not in ALGORITHMS:
            raise PolicyError(
                f'there is no algorithm "{name}"; there are {", ".join(ALGORITHMS)}', key="recoding.algorithm"
            )
    if not names:
        raise PolicyError("name at least one algorithm to compare", key="recoding.algorithm")
    return names


def _numbers(k: Sequence[int]) -> list[int | None]:
    for number in k:
        if type(number) is not int or number < 1:
            raise PolicyError(f"k must be a whole number of 1 or more, not {number!r}", key="privacy")
    return list(dict.fromkeys(k)) or [None]


def _with(policy: Policy, name: str, k: int | None) -> Policy:
    """Return the policy with another algorithm and another k."""
    plain = policy.plain()
    plain["recoding"] = {**plain.get("recoding", {}), "algorithm": name}
    if k is not None:
        models = [{**model, "k": k} if model["model"] == "k_anonymity" else model for model in plain["privacy"]]
        if models == plain["privacy"] and not any(model["model"] == "k_anonymity" for model in models):
            models = [{"model": "k_anonymity", "k": k}, *models]
        plain["privacy"] = models
    return Policy(**plain).at(policy.base, from_flags=policy.from_flags)


def _run(
    prepared: Prepared, name: str, k: int | None, fingerprint: str, store: Store | None, progress: Progress
) -> dict[str, Any]:
    """Take a run from the store, or do it and store it."""
    asked = {"algorithm": name, "k_asked": k}
    try:
        policy = _with(prepared.policy, name, k)
        _refuse_what_is_no_table_of_classes(policy)
    except IndistinctError as error:
        return {**asked, **_failure(error)}
    key = {"policy": policy.hash(), "table": fingerprint}
    known = None if store is None else store.get(key)
    if known is not None:
        return {**known, **asked, "reused": True}
    start = perf_counter()
    _forget_peak()
    try:
        assignment = decide(replace(prepared, policy=policy), progress)
        used = {"seconds": round(perf_counter() - start, 3), "peak_memory_bytes": _peak()}
        found = {**asked, **_measured(prepared.counted.frequencies, policy, assignment), **used}
    except Cancelled:
        raise
    except IndistinctError as error:
        found = {**asked, **_failure(error), "seconds": round(perf_counter() - start, 3), "peak_memory_bytes": _peak()}
    if store is not None:
        store.add(key, found)
    return {**found, "reused": False}


def _refuse_what_is_no_table_of_classes(policy: Policy) -> None:
    name = policy.recoding.algorithm
    if form_of(policy) != "one_table":
        raise UnsupportedError(f"{name} publishes groups, whose loss and risk do not compare with those of classes")
    if name == "safepub" or any(MODELS[model.model].scope == "mechanism" for model in policy.privacy):
        raise UnsupportedError("safepub draws a sample at random: every run of it spends privacy, so none is compared")


def _failure(error: IndistinctError) -> dict[str, Any]:
    """Describe a run without result: documents are kept, so the sentence holds no values of the table."""
    nearest = error.nearest if isinstance(error, InfeasibleError) and not error.shown else ""
    return {"status": error.kind, "reason": error.public_message, "nearest": nearest}


def _measured(frequencies: Frequencies, policy: Policy, assignment: Assignment) -> dict[str, Any]:
    """Judge the classes of a run and measure what they lose."""
    recoding = recoding_of(frequencies, assignment)
    classes = classes_of(frequencies, _merged(assignment, recoding))
    models, _ = judge(policy, classes, Context(frequencies.references))
    broken = [entry for entry in models if not entry["satisfied"]]
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    smallest = int(classes.sizes.min())
    return {
        "status": "not satisfied" if broken else "done",
        "reason": broken[0]["reason"] if broken else "",
        "k": smallest,
        "largest_risk": rational(_share(smallest)),
        "models": models,
        "loss": losses.summary(frequencies, assignment, recoding),
        "suppressed_rows": suppressed_rows(assignment),
        "classes": len(classes),
        "levels": None if assignment.levels is None else dict(zip(names, assignment.levels, strict=True)),
        "proven_optimal": assignment.proven,
        "notes": list(assignment.notes),
    }


def _share(size: int) -> Any:
    from fractions import Fraction

    return Fraction(1, size)


def _merged(assignment: Assignment, recoding: Recoding) -> Assignment:
    """Join the classes that publish the same labels, as the reader of a release would."""
    labels = np.column_stack([recoding.labels(a)[1] for a in range(len(recoding.quasi))])
    distinct, first, number = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    boxes = None if assignment.boxes is None else assignment.boxes[first]
    class_of = np.append(number.reshape(-1), SUPPRESSED)[assignment.class_of].astype(np.int32)
    return replace(assignment, class_of=class_of, classes=len(distinct), boxes=boxes)


def _frontier(runs: Sequence[dict[str, Any]]) -> list[int]:
    """Positions of the runs that no other one beats, by falling k, then by rising loss."""
    done = [(run["k"], run["loss"]["lm"], position) for position, run in enumerate(runs) if run["status"] == "done"]
    done.sort(key=lambda one: (-one[0], one[1], one[2]))
    found: list[int] = []
    least = np.inf
    best: tuple[int, float] | None = None
    for k, loss, position in done:
        if loss < least or (k, loss) == best:
            found.append(position)
            least, best = loss, (k, loss)
    return found


def _fingerprint(frequencies: Frequencies) -> str:
    """SHA-256 of what a run depends on beside the policy: counts, values, hierarchies, persons, version."""
    digest = hashlib.sha256(version("indistinct").encode())
    for array in _arrays(frequencies):
        digest.update(str((array.shape, array.dtype)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    for hierarchy in (*frequencies.quasi, *frequencies.sensitive):
        digest.update(repr((hierarchy.attribute, hierarchy.kind, hierarchy.texts)).encode())
    return digest.hexdigest()


def _arrays(frequencies: Frequencies) -> Iterable[np.ndarray[Any, Any]]:
    yield frequencies.codes
    yield frequencies.rows
    if frequencies.persons is not None:
        yield from (frequencies.persons.single, frequencies.persons.start, frequencies.persons.ids)
    if frequencies.population is not None:
        yield from (frequencies.population.tuples, frequencies.population.rows)
    for hierarchy in (*frequencies.quasi, *frequencies.sensitive):
        yield from (level.node_of for level in hierarchy.levels)
        yield from (level.float_costs() for level in hierarchy.levels)
        if hierarchy.lower is not None and hierarchy.upper is not None:
            yield from (hierarchy.lower, hierarchy.upper)


class Store:
    """Finished runs in ``compare.jsonl``, one JSON document a line; a line cut off by an interruption is left out."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "compare.jsonl"
        self.table = folder / "compare.csv"
        self._known: dict[str, dict[str, Any]] = {}
        text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        whole = list(_documents(text))
        for document in whole:
            self._known[_name(document["key"])] = document["run"]
        if text and (not text.endswith("\n") or len(whole) < text.count("\n")):
            lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in whole)
            _replace(self.file, lines)

    def get(self, key: dict[str, str]) -> dict[str, Any] | None:
        """Return the run of a key, if it was finished before."""
        return self._known.get(_name(key))

    def add(self, key: dict[str, str], run: dict[str, Any]) -> None:
        """Append a run; it is on disk when this returns."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "run": run}, ensure_ascii=False, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def write_table(self, text: str) -> None:
        """Write the table of the runs."""
        _replace(self.table, text)


def _name(key: dict[str, str]) -> str:
    return f"{key['policy']} {key['table']}"


def _documents(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        with suppress(json.JSONDecodeError):
            document = json.loads(line)
            if isinstance(document, dict) and {"key", "run"} <= document.keys():
                yield document


def _replace(file: Path, text: str) -> None:
    """Write beside a file, then rename: an interruption leaves the old one."""
    beside = file.with_name(f".{file.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def _forget_peak() -> None:
    """Let the system begin to measure the largest memory of this process anew, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak() -> int | None:
    """Largest memory of this process in bytes since it was last forgotten; None where the system does not say."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return None
