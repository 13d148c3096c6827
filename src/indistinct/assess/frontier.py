"""Runs side by side, for people: a table, and loss against guarantee as text and as SVG."""

from __future__ import annotations

from math import log2
from string import ascii_letters
from typing import TYPE_CHECKING, Any
from zlib import crc32

from indistinct.markup import INK, drawing, escape
from indistinct.plain import for_people
from indistinct.sentences.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 60, 16  # of the chart in characters
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#11a579", "#3969ac", "#a5673f",
    "#80ba5a", "#e73f74", "#4b4b8f", "#666666",
)  # fmt: skip
WIDE = 26  # pixels that a number takes
REASON = 90  # characters of a reason in the table


@for_people
def table_text(document: Mapping[str, Any]) -> str:
    """Write one line for each run; ``*`` marks those that no other run beats, ``~`` those of groups."""
    head = (
        "", "algorithm", "k asked", "k", "risk", "guess", "LM", "queries", "suppressed", "classes", "seconds", "MiB",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = [head]
    marks = _marks(document["runs"])
    for run in document["runs"]:
        k = "" if run["k_asked"] is None else str(run["k_asked"])
        name = f"{marks[run['algorithm']]} {run['algorithm']}"
        if "loss" not in run:
            reason = run["reason"]
            rows.append(("", name, k, reason if len(reason) <= REASON else f"{reason[: REASON - 3]}..."))
            continue
        risk, peak = run["largest_risk"]["decimal"], run["peak_memory_bytes"]
        share, error, groups = run["largest_share"], run["query_error"], run["groups"]
        mark = "" if groups is None else "~"
        rows.append(
            (
                "!" if run["status"] != "done" else "*" if run["undominated"] else mark,
                name,
                k,
                str(run["k"]),
                f"{risk:.4f}",
                "" if share is None else f"{share['decimal']:.4f}",
                f"{run['loss']['lm']:.4f}",
                "" if error is None else f"{error['mean']:.4f}",
                str(run["suppressed_rows"]),
                str(run["classes"]) if groups is None else f"{groups} groups",
                f"{run['seconds']:.2f}",
                "" if peak is None else f"{peak / 2**20:.0f}",
            )
        )
    counted = f"{document['rows']} rows, {document['tuples']} distinct combinations"
    lines = [*aligned(rows, left=2), "", f"{counted}; * no other run reaches as much at less loss"]
    done = [run for run in document["runs"] if "loss" in run]
    if any(run["query_error"] for run in done):
        lines.append("queries: mean relative error of random COUNT queries")
    if any(run["largest_share"] for run in done):
        lines.append("guess: the largest share that one sensitive value has in a class or group, looked at alone")
    if any(run["groups"] for run in done):
        lines.append(
            "~ publishes groups: quasi-identifiers stay as they are, only their link to the sensitive value is cut, "
            "and all groups together tell more than the guess (attack definetti); compare guess and queries, not k, "
            "risk and LM"
        )
    if any(run["status"] == "not satisfied" for run in document["runs"]):
        lines.append("! what would be published does not satisfy the policy: no release would be delivered")
    return "\n".join([*lines, *_spent(document.get("budget"))])


def _spent(budget: Mapping[str, Any] | None) -> list[str]:
    """Say what runs that draw at random have spent, in all."""
    if budget is None:
        return []
    many = f"{budget['runs']} run{'' if budget['runs'] == 1 else 's'}"
    limit = "" if budget["limit"] is None else f" of the budget {budget['limit']}"
    spent = f"epsilon = {budget['epsilon']}{limit} and delta = {budget['delta']} in all"
    return [f"safepub: {many} on this table spent {spent}, as those of runs add up; a release spends its own on top"]


def chart_text(document: Mapping[str, Any]) -> str:
    """Draw LM upwards against the smallest class to the right (logarithmic); letters are those of the table."""
    points = _points(document)
    if not points:
        return ""
    low, high, most = _ranges(points)
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for _, k, loss, mark, _, undominated in sorted(points, key=lambda point: point[5]):
        column = round((log2(k) - low) / (high - low) * (WIDTH - 1))
        row = HEIGHT - 1 - round(loss / most * (HEIGHT - 1))
        grid[row][column] = mark
        if undominated and column + 1 < WIDTH and grid[row][column + 1] == " ":
            grid[row][column + 1] = "*"
    lines = [f"LM {most:.3f} +" + "".join(grid[0])]
    lines += [" " * 9 + "|" + "".join(cells).rstrip() for cells in grid[1:-1]]
    lines.append("   0.000 +" + "".join(grid[-1]))
    left, right = f"k = {2**low:.0f}", f"{2**high:.0f}"
    lines.append(" " * 10 + left + right.rjust(WIDTH - len(left)))
    return "\n".join(line.rstrip() for line in lines)


def svg(document: Mapping[str, Any], width: int = 760, height: int = 460) -> str:
    """Draw LM against the smallest class; the line joins the runs that no other one beats."""
    points = _points(document)
    name = f"frontier-{crc32(repr(points).encode()):08x}"  # a page may show several
    left, right, top, bottom = 70, width - 210, 30, height - 55
    middle, centre = f"{(left + right) / 2:.0f}", f"{(top + bottom) / 2:.0f}"
    across, up = "smallest class k (largest prosecutor risk 1/k)", "information loss (LM)"
    elements = [
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="{INK}"/>',
        f'<text x="{middle}" y="{height - 12}" text-anchor="middle">{across}</text>',
        f'<text x="18" y="{centre}" text-anchor="middle" transform="rotate(-90 18 {centre})">{up}</text>',
    ]
    if not points:
        elements.append(f'<text x="{left + 20}" y="{top + 30}">no run has a result</text>')
        return drawing(name, "Information loss against guarantee", f"{up}; {across}", (width, height), elements)
    low, high, most = _ranges(points)

    def x(k: int) -> float:
        return left + (log2(k) - low) / (high - low) * (right - left)

    def y(loss: float) -> float:
        return bottom - loss / most * (bottom - top)

    written: float = left - WIDE
    for k in sorted({point[1] for point in points}):
        if x(k) - written >= WIDE:  # numbers do not run into each other
            written = x(k)
            elements.append(f'<text x="{written:.1f}" y="{bottom + 18}" text-anchor="middle">{k}</text>')
    for quarter in range(5):
        loss = most * quarter / 4
        elements.append(f'<text x="{left - 8}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss:.3f}</text>')
        elements.append(f'<path d="M{left} {y(loss):.1f}H{right}" stroke="#dddddd"/>')
    line = " ".join(f"{x(point[1]):.1f},{y(point[2]):.1f}" for point in _frontier(points))
    elements.append(f'<polyline points="{line}" fill="none" stroke="{INK}" stroke-dasharray="5 4"/>')
    for algorithm, k, loss, _, colour, undominated in points:
        radius, fill = (6, colour) if undominated else (4, "#ffffff")
        elements.append(
            f'<circle cx="{x(k):.1f}" cy="{y(loss):.1f}" r="{radius}" fill="{fill}" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(algorithm)}: k = {k}, LM {loss:.4f}</title></circle>"
        )
    for place, (algorithm, colour) in enumerate({point[0]: point[4] for point in points}.items()):
        elements.append(f'<circle cx="{right + 24}" cy="{top + 18 * place}" r="5" fill="{colour}"/>')
        elements.append(f'<text x="{right + 36}" y="{top + 18 * place + 4}">{escape(algorithm)}</text>')
    elements.append(f'<text x="{right + 18}" y="{bottom}" fill="#555555">filled: undominated</text>')
    return drawing(name, "Information loss against guarantee", f"{up}; {across}", (width, height), elements)


Point = tuple[str, int, float, str, str, bool]


def _points(document: Mapping[str, Any]) -> list[Point]:
    """Name, k, LM, letter, colour, whether undominated, of the runs of classes that satisfy the policy."""
    marks = _marks(document["runs"])
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(marks)}
    return [
        (run["algorithm"], run["k"], run["loss"]["lm"], marks[run["algorithm"]], colours[run["algorithm"]],
         run["undominated"])
        for run in document["runs"]
        if run["status"] == "done" and run["undominated"] is not None
    ]  # fmt: skip


def _frontier(points: Sequence[Point]) -> list[Point]:
    return sorted((point for point in points if point[5]), key=lambda point: (point[1], point[2]))


def _marks(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Give each algorithm a letter, in the order of the table."""
    names = list(dict.fromkeys(run["algorithm"] for run in runs))
    return {name: ascii_letters[place % len(ascii_letters)] for place, name in enumerate(names)}


def _ranges(points: Sequence[Point]) -> tuple[float, float, float]:
    """Least and greatest log2 k, greatest loss; never empty."""
    places = [log2(point[1]) for point in points]
    low, high = min(places), max(places)
    return low, high if high > low else low + 1, max(*(point[2] for point in points), 1e-9)
