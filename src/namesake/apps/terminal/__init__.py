"""Terminal output: the console, and on it links, explanations, entities, tables and curves."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rich.console
from rich.box import SIMPLE_HEAD
from rich.console import ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from namesake.printable import lines

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import View

PLOT_HEIGHT, PLOT_WIDTH = 16, 61
COLOURS = ("green", "blue", "magenta")


class Console(rich.console.Console):
    """Rich's console: control characters in texts are replaced, so only our own styles reach the terminal.

    `:smile:` in a text stays as it is written.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's segments, with control characters in texts replaced by U+FFFD."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)


def draw(view: View, console: rich.console.Console) -> None:
    """Print a table of a report."""
    table = Table(title=escape(view.title), box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for j, heading in enumerate(view.header):
        if j in view.words:
            table.add_column(escape(heading), style="" if j else "bold", overflow="fold")
        else:
            table.add_column(escape(_narrow(heading, [row[j] for row in view.rows])), justify="right")
    for i, row in enumerate(view.rows):
        table.add_row(
            *(f"[bold green]{escape(cell)}[/]" if (i, j) in view.best else escape(cell) for j, cell in enumerate(row))
        )
    console.print(table)
    if view.caption:
        console.print(view.caption, style="dim", highlight=False, markup=False)


def _narrow(heading: str, figures: Sequence[str]) -> str:
    """A heading wrapped to the width of its longest word or figure."""
    width = max(map(len, [*heading.split(), *figures]), default=1)
    return textwrap.fill(heading, width, break_long_words=False) if heading else ""


def plot(
    curves: Mapping[str, Any],
    at: Callable[[float], int | None],
    across: str,
    console: rich.console.Console,
    mark: float | None,
) -> None:
    """Draw curves over [0, 1] × [0, 1] with letters, each by its first letter.

    `at` gives the place in each curve for a position on the axis, or None for a gap; `mark` is a position to mark.
    """
    field = [[(" ", "")] * PLOT_WIDTH for _ in range(PLOT_HEIGHT + 1)]
    places = [at(column / (PLOT_WIDTH - 1)) for column in range(PLOT_WIDTH)]
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        for column, place in enumerate(places):
            if place is not None:
                field[PLOT_HEIGHT - round(float(values[place]) * PLOT_HEIGHT)][column] = (name[0].upper(), colour)
    for number, row in enumerate(field):
        label = f"{1 - number / PLOT_HEIGHT:.2f}" if number % 4 == 0 else ""
        console.print(Text.assemble(f"{label:>5} │", *row), highlight=False)
    ticks = "".join(f"{tick / 5:<12.1f}" for tick in range(6))
    line = ["─"] * PLOT_WIDTH
    if mark is not None:
        line[round(mark * (PLOT_WIDTH - 1))] = "┴"
    console.print(f"      └{''.join(line)}\n       {ticks[: PLOT_WIDTH + 2]}", highlight=False)
    legend = ", ".join(f"{name[0].upper()} {name}" for name in curves)
    console.print(f"       {legend} over {across}", style="dim", highlight=False, markup=False)
