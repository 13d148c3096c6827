"""Pages of the studio from its state: templates, and the few words and figures that they compute."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from indistinct.reports.catalogue import LANGUAGES, Catalogue, catalogue
from indistinct.studio.state import STEPS

if TYPE_CHECKING:
    from jinja2 import Environment

    from indistinct.studio.state import State, Studio

ROLES = (
    ("identifying", "\N{CIRCLED DIVISION SLASH}"),
    ("quasi_identifying", "\N{CIRCLE WITH LEFT HALF BLACK}"),
    ("sensitive", "\N{BLACK DIAMOND}"),
    ("insensitive", "\N{WHITE CIRCLE}"),
)
RECIPIENTS = ("internal", "researchers", "partners", "public")
THEMES = ("auto", "light", "dark")
NAMES = {"en": "English", "zh-CN": "简体中文"}


@cache
def environment() -> Environment:
    """Return the environment of the templates; what is written is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("indistinct.studio"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["chance"] = _chance
    return found


def page(studio: Studio, step: str, language: str, theme: str) -> str:
    """Draw one step."""
    state, t = studio.state, catalogue(language)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            t=t,
            state=state,
            version=studio.version,
            example=bool(studio.example),
            step=step,
            steps=[_step(state, name, number, t) for number, name in enumerate(STEPS, 1)],
            language=language,
            languages=[(own, NAMES.get(own, own)) for own in LANGUAGES],
            theme=theme,
            themes=THEMES,
            roles=ROLES,
            recipients=RECIPIENTS,
            bar=_bar(state, t),
            share=lambda value, digits=1: _share(value, digits, t),
            told=lambda own: own["told"][language],
            phase=_phase(state, t),
            next_step=STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)],
            output=(state.table or {}).get("output", ""),
            review=(date.today() + timedelta(days=365)).isoformat(),  # noqa: DTZ011  # of the day where the person sits
        )
    )


def static(name: str) -> bytes:
    """Return a file of the pages: style or script."""
    return (files("indistinct.studio") / "static" / name).read_bytes()


def _step(state: State, name: str, number: int, t: Catalogue) -> dict[str, Any]:
    """Say of a step whether it is done, how much of it is open, and whether it may be entered."""
    count = 0 if state.view is None else state.view["open"].get(name, 0)
    may = number <= state.reached
    if name == "result":
        done = state.is_current and bool(state.picture and state.picture["picture"]["satisfied"])
    elif name == "evidence":
        done = state.published is not None
    else:
        done = state.view is not None and not count
    mark, word = (
        ("\N{CHECK MARK}", "done") if done and may else ("?", "open") if count and may else ("\N{EN DASH}", "later")
    )
    caption = t("studio.step.open_n", n=count) if word == "open" else t(f"studio.step.{word}")
    return {"name": name, "number": number, "mark": mark, "word": caption, "state": word, "may": may}


def _bar(state: State, t: Catalogue) -> list[dict[str, str]]:
    """The four figures that stand under every step; the last ones known while new ones are counted."""
    if state.picture is None or not state.picture["picture"]["feasible"]:
        return []
    found = state.picture["picture"]
    size = found["smallest_class"]
    return [
        {"value": t.number(size), "what": t(f"studio.bar.smallest.{found['unit']}")},
        {"value": t("studio.one_in", n=size), "what": t("studio.bar.chance")},
        {"value": t.number(found["suppressed_rows"]), "what": t("studio.bar.left_out", rows=found["rows"])},
        {"value": _share(found["loss"]["lm"], 0 if found["loss"]["lm"] >= 0.1 else 1, t), "what": t("studio.bar.lost")},
    ]


def _share(value: float, digits: int, t: Catalogue) -> str:
    """Write a share in percent; what is not zero is not written as zero."""
    least = 0.1**digits
    if 0 < 100 * value < least:
        return t("studio.less_than", value=t.percent(least / 100, digits))
    return t.percent(value, digits) if value else t.percent(0, 0)


def _chance(size: int) -> str:
    return f"{100 / size:.1f}"


def _phase(state: State, t: Catalogue) -> str:
    """Say what is being done."""
    if state.busy is None:
        return ""
    return t(f"studio.busy.{state.busy.kind}")
