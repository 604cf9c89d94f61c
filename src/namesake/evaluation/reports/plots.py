"""Plots as figures of HTML and SVG: intervals by method, and curves. The templates beside this file draw them.

Titles and legends are HTML, which wraps on a phone, and the SVG is 400 units wide. Colours are CSS variables (`--s0` …)
of the page, for light and dark, which a plotting library would not follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from namesake.drawing.theme import render

SERIES = 8
"""The number of colours, `--s0` to `--s7` of the style sheet."""
WIDTH, LEFT, TOP, SIZE = 400, 46, 8, 340
"""The width of a figure, and the place and the size of a square plot in it."""


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
    """A curve: points from left to right, and optionally the number of mentions behind each point."""

    name: str
    points: Sequence[tuple[float, float]]
    counts: Sequence[int] = ()


def intervals(dots: Sequence[Dot], title: str) -> str:
    """One row per label, with a dot and its interval for each series. Hollow diamonds are the marks."""
    low = min(0.8, *(min(dot.low, dot.mark if dot.mark is not None else 1.0) for dot in dots))
    low = max(0.0, int(low * 10) / 10)
    names = list(dict.fromkeys(dot.series for dot in dots))
    return render(
        "evaluation/reports/intervals.html",
        title=title,
        names=names,
        colours=_colours(names),
        labels=list(dict.fromkeys(dot.label for dot in dots)),
        dots=dots,
        x=_scale(low, 1.0, 12, WIDTH - 14),
        ticks=[round(low + i / 10, 1) for i in range(round((1.0 - low) * 10) + 1)],
        width=WIDTH,
    )


def curves(
    lines: Sequence[Line],
    title: str,
    across: str,
    up: str,
    diagonal: bool = False,
    colours: Sequence[str] = (),
) -> str:
    """Curves over [0, 1] × [0, 1]; `diagonal` draws a perfect one.

    `colours` lists all names of a report, so that a curve has the same colour in all plots. For curves with counts,
    bars below the points show the number of mentions.
    """
    names = [line.name for line in lines]
    return render(
        "evaluation/reports/curves.html",
        title=title,
        names=names,
        colours=_colours(colours or names),
        lines=lines,
        across=across,
        up=up,
        diagonal=diagonal,
        most=max((count for line in lines for count in line.counts), default=0),
        x=_scale(0, 1, LEFT, LEFT + SIZE),
        y=_scale(0, 1, TOP + SIZE, TOP),
        width=WIDTH,
        left=LEFT,
        top=TOP,
        size=SIZE,
    )


def _colours(names: Sequence[str]) -> dict[str, str]:
    """The class of each name; colours repeat if there are more names."""
    return {name: f"s{place % SERIES}" for place, name in enumerate(names)}


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], str]:
    """Makes positions from values."""
    return lambda value: f"{start + (value - low) / (high - low) * (end - start):.1f}"
