"""Tables of a report, drawn for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from namesake.evaluation.reports.report import View


def draw(view: View, console: Console) -> None:
    """Print a table in the terminal."""
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
    """A heading on as many lines as it takes to be no wider than the figures below."""
    width = max(map(len, [*heading.split(), *figures]), default=1)
    return textwrap.fill(heading, width, break_long_words=False) if heading else ""
