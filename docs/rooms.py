"""Draw figures/rooms.svg: the rooms of the code with their imports, and the way of a row through them.

The floors are those of the import-linter contract in pyproject.toml, the rooms and arrows those of the import graph:
an arrow goes from a room to one that it imports, where no longer way leads there. The steps of the way are functions;
where each stands is looked up in the code, and that one of the steps before it, or its module, uses it is checked; a
verb of the engine is used as an attribute of it.
"""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCE = ROOT / "src" / "indistinct"
PICTURE = HERE / "figures" / "rooms.svg"

# what happens to a row, in order: a function, and what it does in a few words
WAY = {
    "anonymize": "begins",
    "ready": "refuses what cannot be published",
    "prepare": "a table and a policy, read and counted",
    "open_source": "a reader for the suffix",
    "count": "rows become cells with counts",
    "decide": "cells become classes",
    "apply": "classes become published rows",
    "deliver": "written beside its place",
    "verify_written": "read back by another reader",
    "stage_manifest": "the manifest, last",
    "publish": "all files get their names",
}
# of the functions of one name, those that are meant
MEANT = {
    "anonymize": "publish.anonymize",
    "decide": "decision.decide",
    "apply": "decision.decide",
    "publish": "outputs",
}

WIDTH, FLOOR, BOX, ROOM = 980, 62, 34, 112
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1b1f24 }
  .small { font-size: 11px; fill: #57606a }
  .room { fill: #eef4fb; stroke: #4a7ab5 }
  .step { fill: #fff6e5; stroke: #b7791f }
  .number { fill: #b7791f; font-size: 11px }
  .import { stroke: #9aa7b4; fill: none; marker-end: url(#tip) }
  .next { stroke: #b7791f; fill: none; marker-end: url(#tip) }
"""


def floors() -> list[list[str]]:
    """Return the rooms of each floor, the top one first, as the contract has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers")["layers"]
    return [[room.strip(" ()").removeprefix("indistinct.") for room in floor.split(":")] for floor in layers]


def imports() -> dict[str, set[str]]:
    """Return the rooms that each room imports, those left out that it reaches through another one."""
    graph = grimp.build_graph("indistinct", cache_dir=None)
    direct: defaultdict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            pair = [name.split(".")[1] if "." in name else "" for name in (module, other)]
            if all(pair) and pair[0] != pair[1]:
                direct[pair[0]].add(pair[1])

    reached: dict[str, set[str]] = {}
    while waiting := direct.keys() - reached.keys():
        ready = [room for room in waiting if all(other in reached or other not in direct for other in direct[room])]
        if not ready:
            raise ValueError(f"rooms import each other in a circle: {', '.join(sorted(waiting))}")
        for room in ready:
            reached[room] = direct[room].union(*(reached.get(other, set()) for other in direct[room]))
    return {room: own - set[str]().union(*(reached.get(other, set()) for other in own)) for room, own in direct.items()}


def way() -> list[tuple[str, str, str]]:
    """Return function, module and words of each step; raises ValueError for a step that the code does not take."""
    found: list[tuple[str, str, str]] = []
    used: set[str] = set(WAY) & {next(iter(WAY))}
    for name, words in WAY.items():
        modules = [
            str(file.relative_to(SOURCE).with_suffix("")).replace("/", ".")
            for file in sorted(SOURCE.rglob("*.py"))
            if f"\ndef {name}(" in file.read_text(encoding="utf-8")
        ]
        module = MEANT.get(name, modules[0] if len(modules) == 1 else "")
        if module not in modules or name not in used:
            raise ValueError(f"the way of a row is another one: {name} is in {modules}, and used after {used}")
        tree = ast.parse((SOURCE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        found.append((name, module, words))
    return found


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Draw an import from a room down to another one, past the floors between them."""
    (x, y), (to, below) = start, end
    if below == y:  # side by side
        half = ROOM / 2 if to > x else -ROOM / 2
        return f'<path class="import" d="M{x + half:.0f} {y:.0f} L{to - half:.0f} {below:.0f}"/>'
    middle = (x + to) / 2
    aside = 0 if below - y <= FLOOR else (1 if middle >= WIDTH / 2 else -1) * min(130, (below - y) / 2)
    bend = f"{middle + aside:.0f} {(y + below) / 2:.0f}"
    return f'<path class="import" d="M{x:.0f} {y + BOX / 2:.0f} Q{bend} {to:.0f} {below - BOX / 2:.0f}"/>'


def picture() -> str:
    """Return the drawing as SVG."""
    rows, steps, drawn = floors(), way(), imports()
    place = {
        room: ((position + 0.5) * WIDTH / len(rooms), 30.0 + number * FLOOR)
        for number, rooms in enumerate(rows)
        for position, room in enumerate(rooms)
    }
    parts = [arrow(at, place[other]) for room, at in place.items() for other in sorted(drawn.get(room, ()))]
    for room, (x, y) in place.items():
        numbers = ", ".join(str(at) for at, (_, module, _) in enumerate(steps, 1) if module.split(".")[0] == room)
        box = f'x="{x - ROOM / 2:.0f}" y="{y - BOX / 2:.0f}" width="{ROOM}" height="{BOX}" rx="6"'
        parts.append(f'<rect class="room" {box}/>')
        parts.append(f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{room}</text>')
        if numbers:
            parts.append(f'<text class="number" x="{x + ROOM / 2 + 4:.0f}" y="{y + 4:.0f}">{numbers}</text>')
    top = 30 + len(rows) * FLOOR
    parts.append(f'<text x="20" y="{top}">The way of a row</text>')
    for number, (name, module, words) in enumerate(steps, 1):
        column, row = (number - 1) % 4, (number - 1) // 4
        x, y = 20 + column * 240, top + 16 + row * 66
        parts.append(f'<rect class="step" x="{x}" y="{y}" width="216" height="50" rx="6"/>')
        parts.append(f'<text x="{x + 8}" y="{y + 16}">{number}. {name}</text>')
        parts.append(f'<text class="small" x="{x + 8}" y="{y + 30}">{module}</text>')
        parts.append(f'<text class="small" x="{x + 8}" y="{y + 43}">{escape(words)}</text>')
        if number < len(steps) and column < 3:
            parts.append(f'<path class="next" d="M{x + 216} {y + 25} L{x + 238} {y + 25}"/>')
    height = top + 16 + -(-len(steps) // 4) * 66
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
<title>The rooms of the code, their imports, and the way of a row</title>
<style>{STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" fill="#9aa7b4"/></marker></defs>
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>
{body}
</svg>
"""


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
