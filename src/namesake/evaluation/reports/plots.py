"""Plots as SVG text, small enough to read: intervals by method, and curves. They draw tables, they compute nothing.

Colours are CSS variables (`--s0` …) that the page sets, so that light and dark readers both see them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

SERIES = 8  # colours the page knows
_WIDTH = 860


@dataclass(frozen=True)
class Dot:
    """One figure with its interval; `mark` is a value to compare it with, such as the printed one."""

    label: str
    series: str
    value: float
    low: float
    high: float
    mark: float | None = None


@dataclass(frozen=True)
class Line:
    """A curve: points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def intervals(dots: Sequence[Dot], title: str) -> str:
    """A row for each label, in it a dot with its interval for each series; hollow diamonds are the marks."""
    labels = list(dict.fromkeys(dot.label for dot in dots))
    names = list(dict.fromkeys(dot.series for dot in dots))
    left, top, row = max(150, 7 * max(map(len, labels)) + 20), 64, 12 + 13 * len(names)
    height = top + row * len(labels) + 40
    low = min(0.8, *(min(dot.low, dot.mark if dot.mark is not None else 1.0) for dot in dots))
    low = max(0.0, int(low * 10) / 10)
    x = _scale(low, 1.0, left, _WIDTH - 30)
    bands = [f'<rect class="band" x="0" y="{top + row * i}" width="{_WIDTH}" height="{row}"/>' for i in _evens(labels)]
    parts = [*bands, _axis(x, low, 1.0, top - 8, height - 34), _legend(names, left, 34)]
    for i, label in enumerate(labels):
        y = top + row * i + row / 2
        parts.append(f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>')
        for dot in (dot for dot in dots if dot.label == label):
            series = names.index(dot.series)
            parts.append(_dot(dot, x, y + 13 * (series - (len(names) - 1) / 2), series))
    return _svg(height, title, parts)


def curves(lines: Sequence[Line], title: str, across: str, up: str, diagonal: bool = False) -> str:
    """Curves over [0, 1] × [0, 1], with a legend beside them; `diagonal` draws what a perfect one would be."""
    left, top, size = 70, 50, 400
    x, y = _scale(0, 1, left, left + size), _scale(0, 1, top + size, top)
    parts = [f'<rect class="frame" x="{left}" y="{top}" width="{size}" height="{size}"/>']
    for tick in range(0, 11, 2):
        at = tick / 10
        parts.append(f'<line class="grid" x1="{left}" x2="{left + size}" y1="{y(at):.1f}" y2="{y(at):.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.1f}</text>')
        parts.append(f'<text x="{x(at):.1f}" y="{top + size + 18}" text-anchor="middle">{at:.1f}</text>')
    parts.append(f'<text x="{left + size / 2}" y="{top + size + 38}" text-anchor="middle">{escape(across)}</text>')
    turned = f"translate(20,{top + size / 2}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{escape(up)}</text>')
    if diagonal:
        parts.append(f'<line class="guide" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"/>')
    for i, line in enumerate(lines):
        path = " ".join(f"{x(across_):.1f},{y(up_):.1f}" for across_, up_ in line.points)
        parts.append(f'<polyline class="curve" style="stroke:var(--s{i % SERIES})" points="{path}"/>')
        parts += [
            f'<circle r="3" cx="{x(a):.1f}" cy="{y(u):.1f}" style="fill:var(--s{i % SERIES})"/>'
            for a, u in line.points
            if len(line.points) <= 12
        ]
        at = top + 10 + 22 * i
        parts.append(f'<rect x="{left + size + 30}" y="{at - 6}" width="18" height="4" class="s{i % SERIES}"/>')
        parts.append(f'<text x="{left + size + 56}" y="{at}">{escape(line.name)}</text>')
    return _svg(top + size + 50, title, parts)


def _evens(labels: Sequence[str]) -> range:
    return range(0, len(labels), 2)


def _dot(dot: Dot, x: Callable[[float], float], y: float, series: int) -> str:
    """A figure: its interval as a line, its value as a disc, its mark as a diamond, its numbers as a tooltip."""
    colour = f"s{series % SERIES}"
    mark = ""
    if dot.mark is not None:
        at = x(dot.mark)
        mark = f'<path class="mark" d="M{at:.1f},{y - 5:.1f} l5,5 l-5,5 l-5,-5 z"/>'
    printed = "" if dot.mark is None else f", printed {dot.mark:.3f}"
    return (
        f"<g><title>{escape(dot.label)}, {escape(dot.series)}: {dot.value:.3f} "
        f"({dot.low:.3f} to {dot.high:.3f}){printed}</title>"
        f'<line class="whisker" style="stroke:var(--{colour})" x1="{x(dot.low):.1f}" x2="{x(dot.high):.1f}" '
        f'y1="{y:.1f}" y2="{y:.1f}"/><circle class="{colour}" cx="{x(dot.value):.1f}" cy="{y:.1f}" r="4"/>{mark}</g>'
    )


def _axis(x: Callable[[float], float], low: float, high: float, top: float, bottom: float) -> str:
    """Vertical grid lines every tenth, with their numbers below."""
    steps = [round(low + i / 10, 1) for i in range(round((high - low) * 10) + 1)]
    return "".join(
        f'<line class="grid" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{top}" y2="{bottom}"/>'
        f'<text x="{x(at):.1f}" y="{bottom + 18}" text-anchor="middle">{at:.1f}</text>'
        for at in steps
    )


def _legend(names: Sequence[str], left: float, y: float) -> str:
    spots = []
    for i, name in enumerate(names):
        spots.append(f'<circle class="s{i % SERIES}" cx="{left + 6:.0f}" cy="{y - 4}" r="5"/>')
        spots.append(f'<text x="{left + 18:.0f}" y="{y}">{escape(name)}</text>')
        left += 44 + 8 * len(name)
    return "".join(spots)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From data to pixels."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    heading = f'<text class="title" x="8" y="18">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title, quote=True)}">{heading}{"".join(parts)}</svg>'
    )
