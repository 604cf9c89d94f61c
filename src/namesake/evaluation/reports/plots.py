"""Plots as figures, small enough to read on a phone: intervals by method, and curves. They draw tables, no more.

Colours are CSS variables (`--s0` …) that the page sets, so that light and dark readers both see them. Titles and
legends are HTML, which wraps; the SVG below them is 400 units wide, so that its texts stay legible on a phone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from namesake.drawing.meanings import SERIES_LIGHT

SERIES = len(SERIES_LIGHT)
"""Colours that the page knows."""
_WIDTH = 400
_LEFT, _SIZE = 46, 340
_BARS = 44


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
    """A curve: points from left to right, each perhaps with how many mentions it stands for."""

    name: str
    points: Sequence[tuple[float, float]]
    counts: Sequence[int] = ()


def intervals(dots: Sequence[Dot], title: str) -> str:
    """A row for each label, in it a dot with its interval for each series; hollow diamonds are the marks."""
    labels = list(dict.fromkeys(dot.label for dot in dots))
    names = list(dict.fromkeys(dot.series for dot in dots))
    row, top = 26 + 13 * len(names), 4
    height = top + row * len(labels) + 26
    low = min(0.8, *(min(dot.low, dot.mark if dot.mark is not None else 1.0) for dot in dots))
    low = max(0.0, int(low * 10) / 10)
    x = _scale(low, 1.0, 12, _WIDTH - 14)
    bands = [f'<rect class="band" x="0" y="{top + row * i}" width="{_WIDTH}" height="{row}"/>' for i in _evens(labels)]
    parts = [*bands, _axis(x, low, 1.0, top, height - 24)]
    for i, label in enumerate(labels):
        y = top + row * i
        parts.append(f'<text x="12" y="{y + 15}">{escape(label)}</text>')
        for dot in (dot for dot in dots if dot.label == label):
            series = names.index(dot.series)
            parts.append(_dot(dot, x, y + 28 + 13 * series, series))
    return _figure(height, title, parts, names)


def curves(
    lines: Sequence[Line],
    title: str,
    across: str,
    up: str,
    diagonal: bool = False,
    colours: Sequence[str] = (),
) -> str:
    """Curves over [0, 1] × [0, 1]; `diagonal` draws what a perfect one would be.

    A curve has the colour of its name's place in `colours`, so that it keeps it from plot to plot. Below curves with
    counts stands, under each point, a bar as high as the mentions it stands for.
    """
    colours = colours or [line.name for line in lines]
    x, y = _scale(0, 1, _LEFT, _LEFT + _SIZE), _scale(0, 1, 8 + _SIZE, 8)
    parts = [_frame(x, y)]
    if diagonal:
        parts.append(f'<line class="guide" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"/>')
    parts += [_curve(line, x, y, colours.index(line.name) % SERIES) for line in lines]
    bottom = 8 + _SIZE + 38
    parts.append(f'<text x="{_LEFT + _SIZE / 2}" y="{bottom}" text-anchor="middle">{escape(across)}</text>')
    parts.append(
        f'<text transform="translate(12,{8 + _SIZE / 2}) rotate(-90)" text-anchor="middle">{escape(up)}</text>'
    )
    most = max((count for line in lines for count in line.counts), default=0)
    if most:
        parts += [_counts(lines, colours, most, x, bottom + 14)]
        bottom += 14 + _BARS + 18
    return _figure(bottom + 8, title, parts, [line.name for line in lines], colours)


def _frame(x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """The square of a plot, with lines and numbers every fifth."""
    parts = [f'<rect class="frame" x="{_LEFT}" y="8" width="{_SIZE}" height="{_SIZE}"/>']
    for tick in range(0, 11, 2):
        at = tick / 10
        parts.append(f'<line class="grid" x1="{x(0)}" x2="{x(1)}" y1="{y(at):.1f}" y2="{y(at):.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.1f}</text>')
        parts.append(f'<text x="{x(at):.1f}" y="{8 + _SIZE + 18}" text-anchor="middle">{at:.1f}</text>')
    return "".join(parts)


def _curve(line: Line, x: Callable[[float], float], y: Callable[[float], float], colour: int) -> str:
    path = " ".join(f"{x(across):.1f},{y(up):.1f}" for across, up in line.points)
    dots = "".join(
        f'<circle class="s{colour}" r="3.5" cx="{x(across):.1f}" cy="{y(up):.1f}"/>'
        for across, up in line.points
        if len(line.points) <= 12
    )
    return f'<polyline class="curve" style="stroke:var(--s{colour})" points="{path}"/>{dots}'


def _counts(lines: Sequence[Line], colours: Sequence[str], most: int, x: Callable[[float], float], top: float) -> str:
    """Bars of how many mentions each point stands for, below the points; those of several curves side by side."""
    wide = 22 / len(lines)
    bars = [
        f'<rect class="s{colours.index(line.name) % SERIES}" x="{x(across) - 11 + wide * i:.1f}" width="{wide:.1f}" '
        f'y="{top + _BARS * (1 - count / most):.1f}" height="{_BARS * count / most:.1f}">'
        f"<title>{escape(line.name)}: {count:,} mentions around {across:.2f}</title></rect>"
        for i, line in enumerate(lines)
        for (across, _), count in zip(line.points, line.counts, strict=True)
    ]
    ground = f'<line class="grid" x1="{x(0)}" x2="{x(1)}" y1="{top + _BARS}" y2="{top + _BARS}"/>'
    text = f'<text x="{_LEFT}" y="{top + _BARS + 16}">mentions by confidence: at most {most:,}</text>'
    return "".join([ground, *bars, text])


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


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From data to pixels."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _figure(
    height: float, title: str, parts: Sequence[str], names: Sequence[str], colours: Sequence[str] | None = None
) -> str:
    """A plot under its title and legend."""
    places = [(names if colours is None else colours).index(name) % SERIES for name in names]
    legend = "".join(f'<li class="s{at}">{escape(name)}</li>' for at, name in zip(places, names, strict=True))
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><ul class="legend">{legend}</ul>'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title, quote=True)}">{"".join(parts)}</svg></figure>'
    )
