"""Projects of ARX (``.deid``): their settings and hierarchies as a policy, and what of them has no counterpart.

A project is a zip archive. Read are ``input/definition.xml`` (columns), ``input/config.xml`` (models, suppression,
weights) and ``input/hierarchies/*.csv``; never the data, nor Java objects. An archive comes from anywhere: what is read
has limits, XML with a document type is refused, and no name in it becomes that of a file.

Source: the writer of ARX, ``org.deidentifier.arx.gui.worker.WorkerSave``, and ``toString`` of its privacy models, 3.9.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from indistinct.errors import DataError
from indistinct.plain import visible
from indistinct.policy.parameters import plain, plain_section
from indistinct.policy.privacy import (
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DistinctL,
    EntropyL,
    KAnonymity,
    RecursiveCL,
    SampleUniqueness,
    TCloseness,
)
from indistinct.policy.recoding import Optimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from indistinct.policy.privacy import Privacy

# bytes of an entry, of an entry of settings, and of all that is read; entries
LARGEST, LARGEST_XML, TOTAL, MOST = 64 << 20, 4 << 20, 256 << 20, 10_000
ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifying",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi_identifying",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
TYPES = {"Integer": "integer", "Decimal": "decimal", "Date/Time": "date"}
# what of Java's patterns of dates stands for one of ours
DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}

# as Java writes numbers; longer ones, and large exponents, would make texts without end
_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,25})?(?:E-?[0-9]{1,2})?)"
_WHOLE = r"([0-9]{1,9})"
_OF = r" for attribute '(.*)'"


def _exact(text: str) -> str:
    """Write a number of Java, such as 1.0E-4, without an exponent."""
    return format(Decimal(text).normalize(), "f")


_MODELS: Mapping[str, Callable[..., Privacy]] = {
    rf"{_WHOLE}-anonymity": lambda k: KAnonymity(int(k)),
    rf"distinct-{_WHOLE}-diversity{_OF}": lambda least, name: DistinctL(name, int(least)),
    rf"(shannon|grassberger)-entropy-{_NUMBER}-diversity{_OF}": lambda kind, least, name: EntropyL(
        name, _exact(least), estimator=kind
    ),
    rf"recursive-\({_NUMBER},{_WHOLE}\)-diversity{_OF}": lambda c, least, name: RecursiveCL(
        name, _exact(c), int(least)
    ),
    rf"{_NUMBER}-closeness with (equal|hierarchical) ground-distance{_OF}": lambda t, kind, name: TCloseness(
        name, _exact(t), kind
    ),
    rf"{_NUMBER}-closeness with (ordered) distance{_OF}": lambda t, kind, name: TCloseness(name, _exact(t), kind),
    # values that a class has not are passed over there, and logarithms are of base 2
    rf"{_NUMBER}-disclosure privacy{_OF}": lambda delta, name: DeltaDisclosure(
        name, _exact(delta), absent="lenient", base=2
    ),
    rf"(basic|enhanced)-{_NUMBER}-likeness{_OF}": lambda kind, beta, name: BetaLikeness(name, _exact(beta), kind=kind),
    rf"\({_NUMBER}\)-sample-uniqueness": lambda share: SampleUniqueness(_exact(share)),
    rf"\({_NUMBER}\)-avg-reidentification-risk": lambda mean: AverageRisk(_exact(mean)),
}


@dataclass(frozen=True)
class Translation:
    """A policy as text, the ``hierarchies`` that it names (file name to content), and what was ``left`` out.

    ``undecided``: models without a counterpart, which stand as open marks in the text.
    """

    text: str
    hierarchies: Mapping[str, bytes]
    undecided: tuple[str, ...]
    left: tuple[str, ...]


def translate(path: Path, stem: str) -> Translation:
    """Read an ARX project; the files of its hierarchies are named after ``stem``.

    Raises DataError for what is no such archive, holds too much, or names no columns.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _translated(_Project(path.name, archive), stem)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}", file=path.name) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        message = "is no project of ARX: it cannot be read as an archive, or it is locked"
        raise DataError(f"{path.name} {message}", file=path.name) from error


class _Project:
    """The entries of an archive that nobody vouches for."""

    def __init__(self, name: str, archive: zipfile.ZipFile) -> None:
        self.name, self.archive, self.remaining = name, archive, TOTAL
        entries = archive.infolist()
        if len(entries) > MOST:
            raise DataError(f"{name} has {len(entries)} entries; a project has at most {MOST}", file=name)
        self.entries = {entry.filename: entry for entry in entries}
        if len(self.entries) < len(entries):
            raise DataError(f"{name} holds an entry twice, which no project of ARX does", file=name)

    def content(self, entry: str, largest: int) -> bytes | None:
        """Return what an entry holds; None where it is not there."""
        if entry not in self.entries:
            return None
        most = min(largest, self.remaining)
        with self.archive.open(self.entries[entry]) as opened:
            found = opened.read(most + 1)  # what an archive says of its sizes may be wrong
        if len(found) > most:
            raise DataError(f'"{visible(entry)}" in {self.name} is too large: nobody writes as much', file=self.name)
        self.remaining -= len(found)
        return found

    def number(self, text: str, what: str) -> int | float | str:
        """Read a number of the settings."""
        if re.fullmatch(_NUMBER, text.strip()) is None:
            raise DataError(f"{what} in {self.name} is no number", file=self.name)
        return plain(Fraction(text.strip()))

    def xml(self, entry: str) -> ET.Element:
        """Return the root of an XML entry, an empty one where it is not there."""
        try:
            text = (self.content(entry, LARGEST_XML) or b"<none/>").decode(
                "utf-8-sig"
            )  # in another encoding it could hide things
            if "<!" in text.replace("<!--", "").replace("\0", ""):  # the parser takes zero bytes for UTF-16
                raise DataError(f'"{entry}" in {self.name} declares a document type; ARX writes none', file=self.name)
            return ET.fromstring(text)  # noqa: S314  # without a document type it has no entities of its own
        except (ET.ParseError, UnicodeDecodeError) as error:
            raise DataError(f'"{entry}" in {self.name} is no XML in UTF-8', file=self.name) from error


def _translated(project: _Project, stem: str) -> Translation:
    import tomlkit

    config = project.xml("input/config.xml")
    columns = [_texts(one) for one in project.xml("input/definition.xml").iter("assigment")]  # spelt so there
    names = [one.get("name", "") for one in columns]
    if not all(names) or not names or len(set(names)) < len(names):
        message = (
            f"{project.name} names no columns, or not all, or one twice: open it in ARX with its data, and save it"
        )
        raise DataError(message, file=project.name)
    weights = {
        one.get("attribute"): project.number(one.get("weight", "1"), "a weight")
        for one in map(_texts, config.iter("attributeWeight"))
    }
    hierarchies: dict[str, bytes] = {}
    left: list[str] = []
    attributes = {}
    for column in columns:
        file, content = _hierarchy(project, column, stem, hierarchies)
        attributes[column["name"]] = found = _attribute(column, left)
        if content is not None:
            hierarchies[file] = content
            found["hierarchy"] = {"file": file}
        if found["role"] == "quasi_identifying" and len(set(weights.values())) > 1:
            found["weight"] = weights.get(column["name"], 1)
    models, undecided = _models(config, left)
    limit = project.number(config.findtext("relativeMaxOutliers", "0"), "the suppression limit")
    metric = config.findtext("metric", "Loss").strip()
    if not metric.startswith("Loss"):
        left.append(f'the quality measure "{metric}": the search is for little loss, LM')
    data = {
        "version": 2,
        "attributes": attributes,
        **({"privacy": models} if models else {}),
        "suppression": {"limit": limit},
        "recoding": plain_section(Optimal()),
    }
    head = [f"# From {project.name}, a project of ARX. Its data were not read; one level for each column, as there."]
    head += [f"# CONFIRM: decide what takes the place of {one}, which has no counterpart here" for one in undecided]
    head += [f"# Not taken over: {one}" for one in left]
    text = "\n".join([*map(visible, head), "", tomlkit.dumps(data)])
    return Translation(text, hierarchies, tuple(undecided), tuple(left))


def _texts(element: ET.Element) -> dict[str, str]:
    """Return the texts of the parts of an element by their tags."""
    return {part.tag: part.text or "" for part in element}


def _hierarchy(
    project: _Project, column: Mapping[str, str], stem: str, taken: Mapping[str, bytes]
) -> tuple[str, bytes | None]:
    """Return the hierarchy of a column that is published in levels, and a name for its file."""
    role = ROLES.get(column.get("type", ""))
    wanted = "ref" in column and role in ("quasi_identifying", "sensitive")
    plain = re.sub(r"[^\w-]+", "_", column["name"]).strip("_") or "column"
    name, number = f"{stem}.{plain}.csv", 2
    while name.casefold() in map(str.casefold, taken):
        name, number = f"{stem}.{plain}_{number}.csv", number + 1
    return name, project.content(f"input/{column['ref']}", LARGEST) if wanted else None


def _attribute(column: Mapping[str, str], left: list[str]) -> dict[str, Any]:
    """Return the settings of one column; of an unknown role it is left out of releases."""
    name, found = column["name"], dict[str, Any](role=ROLES.get(column.get("type", ""), "identifying"))
    kind = TYPES.get(column.get("datatype", ""))
    form = _date_form(column.get("format", "")) if kind == "date" else None
    if kind == "date" and form is None:
        left.append(f'the format "{column.get("format", "")}" of the dates in "{name}", which are read as text')
    elif kind is not None:
        found |= {"type": kind} | ({} if form is None else {"format": form})
    if found["role"] == "quasi_identifying":
        for key, tag in (("min_level", "min"), ("max_level", "max")):
            if re.fullmatch(_WHOLE, column.get(tag, "")):
                found[key] = int(column[tag])
    if "microAggregationFunction" in column:
        left.append(f'the micro-aggregation of "{name}" by {column["microAggregationFunction"]}')
    return found


def _date_form(pattern: str) -> str | None:
    """Write a pattern of Java as one of ours; None where it has letters that are not known.

    >>> _date_form("dd.MM.yyyy"), _date_form("EEE, d MMM")
    ('%d.%m.%Y', None)
    """
    pieces = re.split(r"([A-Za-z]+)", pattern)
    known = [DATES.get(piece) if piece.isalpha() else piece.replace("%", "%%") for piece in pieces]
    return None if not pattern or None in known else "".join(piece or "" for piece in known)


def _models(config: ET.Element, left: list[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the models, and the words of those that have no counterpart."""
    models, undecided = list[dict[str, Any]](), list[str]()
    for criterion in config.iter("criterion"):
        text = (criterion.text or "").strip()
        if not text:
            continue
        if text == "Inclusion":
            left.append("which rows are the research subset, where that is not the whole table")
            continue
        matches = ((re.fullmatch(form, text), model_of) for form, model_of in _MODELS.items())
        found = next((model_of(*match.groups()) for match, model_of in matches if match), None)
        if found is None:
            undecided.append(text)
        else:
            models.append(plain_section(found))
    return models, undecided
