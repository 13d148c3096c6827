"""What the worker is asked: a question is a call of functions that the commands call too; answers are plain data."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from indistinct.errors import Cancelled, DataError, IndistinctError
from indistinct.formats.registry import FORMATS, format_of
from indistinct.formats.source import TableOptions, is_url
from indistinct.policy import Policy
from indistinct.policy.given import loads
from indistinct.studio.edits import K, L, T, edited
from indistinct.studio.view import VALUES_SHOWN, card, view, words_of_picture
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indistinct.assess.session import Session
    from indistinct.outputs import Staged
    from indistinct.publish.anonymize import Release
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

ROWS_SHOWN = 20
OTHER_ENCODING = "cp1252"  # what spreadsheets of Windows write where a file is no UTF-8
STEPS_OF = {"k": (2, 3, 5, 10, 20, 50), "l": (2, 3, 4, 5, 8), "t": ("0.2", "0.3", "0.4", "0.5", "0.6", "0.8")}
BLOCKS_SHOWN = 6


class Work:
    """The open table with its session; policies come with each question, as texts."""

    AT_ONCE: ClassVar[frozenset[str]] = frozenset({"edit"})

    def __init__(self) -> None:
        self.table: Any = None
        self.base = Path()
        self.session: Session | None = None
        self.names: tuple[str, ...] = ()
        self.cards: dict[str, dict[str, Any]] = {}

    def open(
        self,
        place: str,
        policy: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """Read a table, measure its columns, and draft a policy for it, unless one is given by its path.

        A text file that is no UTF-8 is tried as that of a spreadsheet of Windows, which the page says.
        """
        if policy is None:
            given, base, table = None, _folder(place), place if is_url(place) else Path(place)
        else:
            file = Path(policy)
            given, base = Policy.load(file), file.resolve().parent
            table = given.locate(given.table.source) if not place and given.table.source else Path(place)
        tried = [encoding] if encoding or given is not None else [None, OTHER_ENCODING]
        for last, own in enumerate(tried, 1 - len(tried)):
            try:
                answer = self._opened(table, base, given, delimiter, own, progress)
            except DataError:
                if last == 0:
                    raise
            else:
                break
        if policy is not None:
            text = Path(policy).read_text(encoding="utf-8-sig")
        else:  # while somebody tries, answers come at once; the last step says that a longer search loses less
            text = edited(_with_quasi(answer.pop("draft")), base, "quality", {"quality": "fast"}, self.cards)
        return {**answer, "text": text, "base": str(base), "view": view(text, base, self.names)}

    def _opened(
        self,
        table: Any,
        base: Path,
        policy: Policy | None,
        delimiter: str | None,
        encoding: str | None,
        progress: Progress,
    ) -> dict[str, Any]:
        from indistinct.assess.draft import written
        from indistinct.assess.session import Session
        from indistinct.formats.registry import open_source
        from indistinct.policy import suggest
        from indistinct.session.column_counts import measured
        from indistinct.session.prepare import options_of
        from indistinct.session.related import related_columns

        session = Session(table)
        if policy is None:
            options = TableOptions(delimiter=delimiter, encoding=encoding or "utf-8")
            dialect = open_source(table, options).dialect
            options = TableOptions(delimiter=dialect, encoding=encoding or "utf-8")
        else:
            options = options_of(policy)
        source = session.opened(options)
        found = measured(source, keep=policy is None, progress=progress)
        related = related_columns(found, [suggest(facts) for facts in found.facts]) if policy is None else ()
        first = next(source.batches()).slice(0, ROWS_SHOWN).to_pylist()
        self.table, self.base, self.session, self.names = table, base, session, source.columns
        self.cards = {
            facts.name: card(facts, _common(texts, counts.tolist()))
            for facts, texts, counts in zip(found.facts, found.texts, found.counts, strict=True)
        }
        draft = {}
        if policy is None:
            place = table if is_url(table) else Path(table)
            draft["draft"] = written(
                place, source, found.facts, related, encoding=encoding, beside=base / "policy.toml"
            )
        return {
            **draft,
            "table": str(table) if not is_url(table) else source.name,
            "name": source.name,
            "output": _output(source.name),
            "rows": found.facts[0].rows,
            "columns": [*source.columns],
            "delimiter": source.dialect,
            "encoding": options.encoding if source.dialect is not None else None,
            "other_encoding": encoding == OTHER_ENCODING,
            "first": [[_shown(row[name]) for name in source.columns] for row in first],
            "cards": self.cards,
            "related": [str(notice.message) for notice in related],
            "warnings": [str(notice.message) for notice in source.warnings],
        }

    def edit(self, text: str, what: str, given: Mapping[str, str], progress: Progress = silent) -> dict[str, Any]:
        """Return the policy after an edit; nothing else changes."""
        progress("edit", 0, 1)
        new = edited(text, self.base, what, given, self.cards)
        return {"text": new, "view": view(new, self.base, self.names)}

    def look(self, text: str, progress: Progress = silent) -> dict[str, Any]:
        """Return the picture of a policy, in words of every language, and what each level of a column would keep."""
        policy = self._policy(text)
        picture = self._look(policy, progress)
        prepared = self._session.prepared(policy)
        return {"picture": picture, "told": words_of_picture(policy, picture), "levels": _levels(prepared)}

    def curve(self, text: str, parameter: str, place: int, progress: Progress = silent) -> dict[str, Any]:
        """Return what other numbers of one promise would cost: the picture of each in a few figures."""
        found, now = [], getattr(self._policy(text).privacy[place], parameter)
        steps = sorted(
            {*STEPS_OF[parameter], f"{float(now):g}"} if parameter == "t" else {*STEPS_OF[parameter], now}, key=float
        )
        for done, value in enumerate(steps):
            progress("curve", done, len(steps))
            given = {"model": str(place), "parameter": parameter, "value": str(value)}
            found.append({"value": str(value), **self._tried(text, "promise", given, progress)})
        return {"parameter": parameter, "place": place, "points": found}

    def blocks(
        self, text: str, lm: float | None, columns: Sequence[str], progress: Progress = silent
    ) -> dict[str, Any]:
        """Try what usually helps and say what it gives: to leave a column out, a weaker promise, fewer rows.

        ``columns`` by what they lose, the dearest first; ``lm`` is what is lost now, None where there is no release.
        """
        candidates = [*self._candidates(loads(text, base=self.base), columns)]
        found = []
        for done, (what, given) in enumerate(candidates):
            progress("blocks", done, len(candidates))
            tried = self._tried(text, what, given, progress)
            helps = tried["feasible"] and (lm is None or tried["lm"] < lm - 0.0005)
            if helps:
                found.append({"what": what, "given": given, **tried})
        found.sort(key=lambda own: own["lm"])
        return {"lm": lm, "blocks": found[:BLOCKS_SHOWN]}

    def publish(
        self,
        text: str,
        output: str,
        by: str,
        language: str,
        *,
        force: bool = False,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """Do what ``anonymize`` does, with both reports and the policy beside the table."""
        from indistinct.attacks.run import attack
        from indistinct.formats.source import origins_of
        from indistinct.outputs import check_outputs
        from indistinct.publish.anonymize import anonymize
        from indistinct.publish.deliver import files_of

        policy, path = self._policy(text), self.base / Path(output).expanduser()
        documents, origins = _documents(path), (*origins_of(self.table), *policy.origins)
        check_outputs([*files_of(policy, path), *documents.values()], origins, force=force)
        attacks: dict[str, Any] = {}

        def beside(release: Release) -> Iterator[Staged]:
            second = None if release.decision.values is None else release.decision.values.table()
            published = release.decision.published.table()
            attacks.update(attack(published, release.policy, second=second, progress=progress).document)
            yield from _staged(release, documents, language, attacks, _moved(text, policy, self.base, path.parent))

        name = by.strip() or None
        release = anonymize(
            self.table, policy, output=path, force=force, accept_draft=name if policy.open_marks else None,
            beside=beside, progress=progress,
        )  # fmt: skip
        places = [Path(place) for place in release.document["outputs"]]
        files = {
            **{f"table{number or ''}": str(place) for number, place in enumerate(places)},
            "manifest": release.document["manifest"],
            **{kind: str(own.path) for kind, own in documents.items()},
        }
        return {
            "document": {key: value for key, value in release.document.items() if key != "warnings"},
            "told": words_of_picture(policy, release.document),
            "attacks": attacks,
            "files": files,
        }

    def prove(self, text: str, places: list[str], *, progress: Progress = silent) -> dict[str, Any]:
        """Do what ``verify`` does, with what was published."""
        from indistinct.assess.verify import verify

        proof = verify(self.table, places[0], self._policy(text), *places[1:2], progress=progress).document
        return {key: proof.get(key) for key in ("satisfied", "coverage", "hash", "rows")}

    @property
    def _session(self) -> Session:
        if self.session is None:
            raise DataError("no table is open; open one first")
        return self.session

    def _policy(self, text: str) -> Policy:
        return loads(text, base=self.base)

    def _look(self, policy: Policy, progress: Progress) -> dict[str, Any]:
        picture = self._session.look(policy, progress=progress).document
        return {**picture, "warnings": [{**own, "message": own["message"]} for own in picture["warnings"]]}

    def _tried(self, text: str, what: str, given: Mapping[str, str], progress: Progress) -> dict[str, Any]:
        """Look at a policy with one edit, always by the quick search, and keep the figures that tell."""
        nothing = {"feasible": False, "lm": None, "smallest": None, "left_out": None, "reason": ""}
        try:
            policy = loads(edited(text, self.base, what, given, self.cards), base=self.base)
            found = self._session.look(_quick(policy), progress=progress).document
        except Cancelled:
            raise
        except IndistinctError as error:
            return {**nothing, "reason": error.public_message}
        if not found["satisfied"]:
            return {**nothing, "reason": found["reason"]}
        return {
            "feasible": True,
            "lm": found["loss"]["lm"],
            "smallest": found["smallest_class"],
            "left_out": found["suppressed_rows"],
            "reason": "",
        }

    def _candidates(self, policy: Policy, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
        """Name the edits that are tried, those of columns first; a promise is made weaker by one step at most twice."""
        for name in columns[:3]:
            if len(policy.quasi_identifiers) > 1:
                yield "role", {"column": name, "role": "identifying"}
        for place, model in enumerate(policy.privacy):
            kind = {K: "k", L: "l", T: "t"}.get(model.model)
            if kind is None:
                continue
            now = getattr(model, kind)
            weaker = [step for step in STEPS_OF[kind] if (float(step) > now if kind == "t" else int(step) < now)]
            for step in weaker[:2] if kind == "t" else weaker[-1:]:
                yield "promise", {"model": str(place), "parameter": kind, "value": str(step)}
        shares = [share for share in ("1", "2", "5") if float(share) / 100 > policy.suppression.limit]
        for share in shares[:2]:
            yield "limit", {"percent": share}


def _with_quasi(draft: str) -> str:
    """Ask about one column more where a draft finds nothing that others may know: a policy needs such a column."""
    if 'role = "quasi_identifying"' in draft:
        return draft
    return re.sub(r'^role = "\w+"', 'role = "quasi_identifying"', draft, count=1, flags=re.MULTILINE)


def _quick(policy: Policy) -> Policy:
    """Return the policy with the quickest search, where its algorithm has several."""
    plain = policy.plain()
    if "quality" not in plain.get("recoding", {}):
        return policy
    plain["recoding"] = {key: value for key, value in plain["recoding"].items() if key not in ("quality", "seconds")}
    with suppress(IndistinctError):
        return Policy(**{**plain, "recoding": {**plain["recoding"], "quality": "fast"}}).at(policy.base)
    return policy


def _folder(place: str) -> Path:
    return Path.cwd() if is_url(place) else Path(place).resolve().parent


def _common(texts: Sequence[str | None], counts: Sequence[int]) -> list[str]:
    """Return some real values, the most frequent first."""
    order = sorted(range(len(texts)), key=lambda at: (-counts[at], at))
    return [text for text in (texts[at] for at in order) if text is not None][:VALUES_SHOWN]


def _shown(value: Any) -> str | None:
    return None if value is None else str(value)


def _levels(prepared: Prepared) -> list[dict[str, Any]]:
    """Say for each quasi-identifier what every level of its hierarchy would keep; none where labels have no levels."""
    import numpy as np

    from indistinct.hierarchies.preview import preview

    frequencies = prepared.counted.frequencies
    found = []
    for position, hierarchy in enumerate(frequencies.quasi):
        rows = np.zeros(hierarchy.size, np.int64)
        np.add.at(rows, frequencies.codes[:, position], frequencies.rows)
        levels = [] if hierarchy.kind in ("range", "set") else [own.to_dict() for own in preview(hierarchy, rows, 3)]
        found.append({"column": hierarchy.attribute, "values": int((rows > 0).sum()), "levels": levels})
    return found


def _documents(path: Path) -> dict[str, Any]:
    """Name what stands beside a published table."""
    from indistinct.outputs import Output

    return {
        "report": Output(path.with_name(f"{path.stem}.report.html"), "report"),
        "public_report": Output(path.with_name(f"{path.stem}.public.html"), "report"),
        "policy": Output(path.with_name(f"{path.stem}.policy.toml"), "policy file"),
    }


def _staged(
    release: Release, documents: Mapping[str, Any], language: str, attacks: dict[str, Any], policy: str
) -> Iterator[Staged]:
    """Write the reports and the policy beside their places, to be named with the release."""
    from indistinct.outputs import stage_bytes
    from indistinct.reports.report import stage_report

    yield stage_report(release, documents["report"].path, language=language, attacks=attacks)
    yield stage_report(release, documents["public_report"].path, language=language, public=True, attacks=attacks)
    yield stage_bytes(documents["policy"], policy.encode())


def _moved(text: str, policy: Policy, base: Path, folder: Path) -> str:
    """Return the policy as a file of another folder says it; where paths change it is written afresh."""
    from indistinct.policy.load import moved

    if base.resolve() == folder.resolve():
        return text
    return moved(policy, folder).dumps()


def _output(name: str) -> str:
    """Propose where the published table goes: beside the table, under a name of its own."""
    place = Path(name)
    chosen = format_of(place)
    writable = chosen is not None and chosen.write is not None
    return f"{place.stem if chosen else name}-published{place.suffix if writable else '.' + FORMATS[0].suffixes[0]}"
