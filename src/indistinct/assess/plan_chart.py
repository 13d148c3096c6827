"""Price curves as SVG: detail lost against each threshold, what is asked marked, what cannot be met hatched."""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, Any
from zlib import crc32

from indistinct.markup import INK, SECOND, drawing, escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 250, 56, 24, 34, 42
GREY = "#57606a"


def svg(document: Mapping[str, Any]) -> str:
    """Draw all curves below each other on one scale of detail lost."""
    curves = document["curves"]
    lost = [point["lm"] for curve in curves for point in curve["points"] if point["status"] == "done"]
    most = max(0.1, ceil(10 * max(lost, default=0.1)) / 10)
    height = max(HEIGHT * len(curves), 60)
    elements = [f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    captions = []
    for number, curve in enumerate(curves):
        elements += _panel(curve, number * HEIGHT, most)
        captions += [f"{curve['parameter']} = {p['value']:g}: {_said(p)}" for p in curve["points"]]
    name = f"plan-{crc32(repr(captions).encode()):08x}"  # a page may show several
    return drawing(name, "Detail lost by threshold", "; ".join(captions), (WIDTH, height), elements).replace(
        f'width="{WIDTH}" height="{height}" font', 'width="100%" font', 1
    )


def _said(point: Mapping[str, Any]) -> str:
    return f"{100 * point['lm']:.1f} %" if point["status"] == "done" else "cannot be met"


def _scale(curve: Mapping[str, Any]) -> Callable[[float], float]:
    """Place of a value: loose at the left, strict at the right; logarithmic for whole numbers."""
    values = [point["value"] for point in curve["points"]]
    place: Callable[[float], float] = (lambda value: -value) if curve["parameter"] == "t" else log2
    low, high = place(values[0]), place(values[-1])
    room = WIDTH - LEFT - RIGHT
    return lambda value: LEFT + (room / 2 if high == low else (place(value) - low) / (high - low) * room)


def _panel(curve: Mapping[str, Any], up: int, most: float) -> list[str]:
    points, x = curve["points"], _scale(curve)
    top, bottom = up + TOP, up + HEIGHT - BOTTOM

    def y(loss: float) -> float:
        return bottom - loss / most * (bottom - top)

    of = f" of {curve['attribute']}" if curve["attribute"] else ""
    title = escape(f"detail lost by {curve['parameter']}{of} ({curve['model']})")
    elements = [f'<text x="{LEFT}" y="{up + 18}" font-size="13" font-weight="600">{title}</text>']
    for tenth in range(round(10 * most) + 1):
        if most > 0.5 and tenth % 2:  # room for five lines
            continue
        level = y(tenth / 10)
        elements.append(f'<path d="M{LEFT} {level:.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        elements.append(
            f'<text x="{LEFT - 6}" y="{level + 4:.1f}" font-size="12" text-anchor="end">{10 * tenth} %</text>'
        )
    elements += _hatched(points, x, top, bottom)
    done = [point for point in points if point["status"] == "done"]
    line = " ".join(f"{x(point['value']):.1f},{y(point['lm']):.1f}" for point in done)
    elements.append(f'<polyline points="{line}" fill="none" stroke="{SECOND}" stroke-width="2"/>')
    for point in points:
        at = x(point["value"])
        weight = ' font-weight="600"' if point["asked"] else ""
        place = f'x="{at:.1f}" y="{bottom + 17}"'
        elements.append(f'<text {place} font-size="12" text-anchor="middle"{weight}>{point["value"]:g}</text>')
        if point["asked"]:
            elements.append(f'<path d="M{at:.1f} {top}V{bottom}" stroke="{GREY}" stroke-dasharray="3 3"/>')
            elements.append(
                f'<text x="{at:.1f}" y="{bottom + 33}" font-size="12" fill="{GREY}" text-anchor="middle">asked</text>'
            )
        if point["status"] == "done":
            fill = SECOND if point["asked"] else "#ffffff"
            elements.append(
                f'<circle cx="{at:.1f}" cy="{y(point["lm"]):.1f}" r="4" fill="{fill}" stroke="{SECOND}" '
                f'stroke-width="2"><title>{_said(point)}</title></circle>'
            )
    elements.append(f'<path d="M{LEFT} {bottom}H{WIDTH - RIGHT}" stroke="{INK}"/>')
    return elements


def _hatched(points: Sequence[Mapping[str, Any]], x: Callable[[float], float], top: int, bottom: int) -> list[str]:
    """Hatch from half way to the first value that cannot be met to the end; the first reason stands there."""
    first = next((number for number, point in enumerate(points) if point["status"] != "done"), None)
    if first is None or any(point["status"] == "done" for point in points[first:]):
        return []
    start = x(points[first]["value"]) if not first else (x(points[first - 1]["value"]) + x(points[first]["value"])) / 2
    end, step = float(WIDTH - RIGHT), 8.0
    strokes, at = "", start
    while at < end:
        width = min(step, end - at)
        strokes += f"M{at:.1f} {bottom}L{at + width:.1f} {top}"
        at += step
    return [
        f'<path d="{strokes}" stroke="#b4bac2" fill="none"/>',
        f'<text x="{end:.1f}" y="{top - 4}" font-size="12" fill="{GREY}" text-anchor="end">cannot be met</text>',
    ]
