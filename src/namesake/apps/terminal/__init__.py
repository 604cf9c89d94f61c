"""Terminal output: the console, and on it links, explanations, entities, tables and curves."""

import textwrap
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rich.console
from rich.box import SIMPLE_HEAD
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from namesake.printable import lines

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import View

PLOT_HEIGHT, PLOT_WIDTH = 16, 61
COLOURS = ("green", "blue", "magenta")


class Console(rich.console.Console):
    """Rich's console; control characters in texts are replaced, so only our own styles reach the terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's segments, with control characters in texts replaced by U+FFFD."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str | Text]], words: Container[int] = (0,), best: Container[Any] = ()
) -> Table:
    """A table: the columns `words` are aligned left, the others right; the cells (row, column) of `best` stand out."""
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for j, heading in enumerate(header):
        width = max(map(len, [*heading.split(), *(row[j] for row in rows)]), default=1)
        text = heading if j in words else "\n".join(textwrap.wrap(heading, width, break_long_words=False))
        style, align = "" if j else "bold", "left" if j in words else "right"
        drawn.add_column(Text(text), style=style, justify=align, overflow="fold")  # type: ignore[arg-type]
    for i, row in enumerate(rows):
        cells = (Text(cell) if isinstance(cell, str) else cell for cell in row)
        drawn.add_row(*(Text(cell.plain, "bold green") if (i, j) in best else cell for j, cell in enumerate(cells)))
    return drawn


def draw(view: "View", console: rich.console.Console) -> None:
    """Print a table of a report."""
    console.print(Text(view.title, style="bold"), soft_wrap=True)
    console.print(table(view.header, view.rows, view.words, view.best))
    if view.caption:
        console.print(view.caption, style="dim", highlight=False, markup=False)


def plot(curves: Mapping[str, Any], at: Callable[[float], int | None], mark: float | None) -> None:
    """Draw curves over the threshold by their first letters; `at` gives the place in a curve, and `mark` is marked."""
    console = Console(highlight=False)
    field = [[(" ", "")] * PLOT_WIDTH for _ in range(PLOT_HEIGHT + 1)]
    places = [at(column / (PLOT_WIDTH - 1)) for column in range(PLOT_WIDTH)]
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        for column, place in enumerate(places):
            if place is not None:
                field[PLOT_HEIGHT - round(float(values[place]) * PLOT_HEIGHT)][column] = (name[0].upper(), colour)
    for number, row in enumerate(field):
        label = f"{1 - number / PLOT_HEIGHT:.2f}" if number % 4 == 0 else ""
        console.print(Text.assemble(f"{label:>5} │", *row))
    ticks = "".join(f"{tick / 5:<12.1f}" for tick in range(6))
    line = ["─"] * PLOT_WIDTH
    if mark is not None:
        line[round(mark * (PLOT_WIDTH - 1))] = "┴"
    console.print(f"      └{''.join(line)}\n       {ticks[: PLOT_WIDTH + 2]}")
    legend = ", ".join(f"{name[0].upper()} {name}" for name in curves)
    console.print(f"       {legend} over threshold", style="dim", highlight=False, markup=False)
