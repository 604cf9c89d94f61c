"""Curves drawn with letters, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

HEIGHT, WIDTH = 16, 61
COLOURS = ("green", "blue", "magenta")


def plot(
    curves: Mapping[str, Sequence[float | None]], across: str, console: Console, mark: float | None = None
) -> None:
    """Draw curves over [0, 1] × [0, 1], each by its first letter.

    `curves` have WIDTH values each, from left to right, None where there is none; `mark` is a place to mark below.
    """
    field = [[(" ", "")] * WIDTH for _ in range(HEIGHT + 1)]
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        for column, value in enumerate(values):
            if value is not None:
                field[HEIGHT - round(value * HEIGHT)][column] = (name[0].upper(), colour)
    for number, row in enumerate(field):
        label = f"{1 - number / HEIGHT:.2f}" if number % 4 == 0 else ""
        console.print(Text.assemble(f"{label:>5} │", *row), highlight=False)
    ticks = "".join(f"{tick / 5:<12.1f}" for tick in range(6))
    line = ["─"] * WIDTH
    if mark is not None:
        line[round(mark * (WIDTH - 1))] = "┴"
    console.print(f"      └{''.join(line)}", highlight=False)
    console.print(f"       {ticks[: WIDTH + 2]}", highlight=False)
    legend = ", ".join(f"{name[0].upper()} {name}" for name in curves)
    console.print(f"       {legend} over {across}", style="dim", highlight=False, markup=False)
