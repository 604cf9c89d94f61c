"""Reports: the same tables as Markdown, HTML with plots, CSV, LaTeX and JSON, and in the terminal."""

import csv
import io
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from namesake.errors import NamesakeError
from namesake.evaluation.reports import page


@dataclass(frozen=True)
class View:
    """A table to look at: texts in rows, the first column names the row, the others are figures."""

    name: str
    """A short name, used for the files."""
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) to set in bold."""
    words: frozenset[int] = frozenset({0})
    """Columns of words, set from the left; the others are figures, set from the right."""


@dataclass(frozen=True)
class Section:
    """A heading with text, tables and plots (SVG)."""

    title: str
    text: Sequence[str] = ()
    views: Sequence[View] = ()
    plots: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """All that is written: sections to read, and the rows they were made from."""

    title: str
    sections: Sequence[Section]
    rows: Sequence[dict[str, Any]]
    intro: Sequence[str] = ()
    views: list[View] = field(init=False)

    def __post_init__(self) -> None:
        """Collect the tables of all sections."""
        object.__setattr__(self, "views", [view for section in self.sections for view in section.views])


def write(report: Report, folder: Path) -> None:
    """Write report.md, report.html, tables.json, and each table as CSV and LaTeX."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            "report.md": markdown(report),
            "report.html": page.html(report),
            "tables.json": json.dumps(list(report.rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
            **{f"{view.name}.csv": csv_text(view) for view in report.views},
            **{f"{view.name}.tex": latex(view) for view in report.views},
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise NamesakeError(f"{folder}: the report cannot be written there ({problem.strerror})") from None


def markdown(report: Report) -> str:
    """The report for terminals and repositories."""
    blocks = [f"# {report.title}", *report.intro]
    for section in report.sections:
        blocks += [f"## {section.title}", *section.text]
        for view in section.views:
            blocks += [f"**{view.title}**" + (f" {view.caption}" if view.caption else ""), _markdown_table(view)]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(view: View) -> str:
    """A table whose columns also line up in a terminal."""
    rows = [
        [f"**{cell}**" if (i, j) in view.best else cell.replace("|", r"\|") for j, cell in enumerate(row)]
        for i, row in enumerate(view.rows)
    ]
    width = [max(3, *(len(row[j]) for row in [list(view.header), *rows])) for j in range(len(view.header))]
    align = [str.ljust if j in view.words else str.rjust for j in range(len(width))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(put(cell, w) for put, cell, w in zip(align, cells, width, strict=True)) + " |"

    rule = ["-" * w if j in view.words else "-" * (w - 1) + ":" for j, w in enumerate(width)]
    return "\n".join([line(view.header), line(rule), *map(line, rows)])


def csv_text(view: View) -> str:
    """The table as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([view.header, *view.rows])
    return out.getvalue()


def latex(view: View) -> str:
    """The table as LaTeX (booktabs)."""
    body = [
        " & ".join(rf"\textbf{{{_tex(cell)}}}" if (i, j) in view.best else _tex(cell) for j, cell in enumerate(row))
        + r" \\"
        for i, row in enumerate(view.rows)
    ]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(' '.join([view.title, view.caption]).strip())}}}",
            rf"\begin{{tabular}}{{{''.join('l' if j in view.words else 'r' for j in range(len(view.header)))}}}",
            r"\toprule",
            " & ".join(map(_tex, view.header)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_TEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"±": r"$\pm$", "−": "$-$", "→": r"$\rightarrow$", "–": "--", "\\": r"\textbackslash{}"},
        **{"^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "≤": r"$\leq$"},
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)


def show(view: View, console: Console) -> None:
    """Print a table in the terminal."""
    table = RichTable(title=view.title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for j, heading in enumerate(view.header):
        if j in view.words:
            table.add_column(heading, style="" if j else "bold", overflow="fold")
        else:
            table.add_column(_narrow(heading, [row[j] for row in view.rows]), justify="right")
    for i, row in enumerate(view.rows):
        table.add_row(*(f"[bold green]{cell}[/]" if (i, j) in view.best else cell for j, cell in enumerate(row)))
    console.print(table)
    if view.caption:
        console.print(view.caption, style="dim", highlight=False)


def _narrow(heading: str, figures: Sequence[str]) -> str:
    """A heading on as many lines as it takes to be no wider than the figures below."""
    width = max(map(len, [*heading.split(), *figures]), default=1)
    return textwrap.fill(heading, width, break_long_words=False) if heading else ""
