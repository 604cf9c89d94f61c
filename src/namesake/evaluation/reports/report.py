"""Reports: one model of tables, written as Markdown, HTML with plots, CSV, LaTeX and JSON.

The HTML page needs no other file: styles and plots are inside. Titles and legends of plots are HTML, which wraps on a
phone. The SVG is 400 units wide, and its colours are CSS variables (`--s0` …) of the page, for light and dark.
"""

import csv
import io
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from namesake.drawing.text import Excerpt
from namesake.drawing.theme import render, style_sheet
from namesake.errors import NamesakeError
from namesake.files import keep_apart
from namesake.kb import WIKIDATA
from namesake.printable import one_line

_DATA = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
TEXTS: dict[str, str] = _DATA["texts"]


@dataclass(frozen=True)
class View:
    """A table of texts: the first column names the row, the others are figures."""

    name: str  # the stem of its files
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: Collection[tuple[int, int]] = ()  # cells (row, column) in bold
    words: Collection[int] = (0,)  # columns of words, aligned left; the others are figures, aligned right
    qids: Collection[int] = ()  # columns whose QIDs are links in HTML
    kinds: Mapping[int, str] = field(default_factory=dict)  # columns with the colour of `right` or `wrong`
    cards: bool = False  # whether HTML shows each row as a card: the first cell is its place, the second its name


@dataclass(frozen=True)
class Section:
    """A heading with text, tables and plots (figures, as HTML)."""

    title: str
    text: Sequence[str] = ()
    views: Sequence[View] = ()
    plots: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """Sections to read, and the rows that they were made from, one for each figure."""

    title: str
    sections: Sequence[Section]
    rows: Sequence[dict[str, Any]]
    intro: Sequence[str] = ()
    short: Sequence[View] = ()  # the most important tables, narrow enough for a terminal
    remarks: Sequence[str] = ()  # remarks on the short tables

    @property
    def views(self) -> list[View]:
        """The tables of all sections."""
        return [view for section in self.sections for view in section.views]

    def write(self, folder: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        """Write report.md, report.html, tables.json, and each table as CSV and LaTeX, into `folder`.

        The folder is created if necessary. `inputs`, the files that the report was made from, are never overwritten.
        """
        folder = Path(folder)
        files = {
            "report.md": markdown(self),
            "report.html": html(self),
            "tables.json": json.dumps(list(self.rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
            **{f"{view.name}.csv": csv_text(view) for view in self.views},
            **{f"{view.name}.tex": latex(view) for view in self.views},
        }
        keep_apart([folder / name for name in files], [path for path in inputs if path is not None])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise NamesakeError(f"{folder}: the report cannot be written there ({problem.strerror})") from None


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    return render("evaluation/reports/report.md", report=report, plain=_plain, table=_markdown_table)


def _markdown_table(view: View) -> str:
    """A table with columns that are aligned in plain text, too."""
    rows = [
        [f"**{_plain(cell)}**" if (i, j) in view.best else _plain(cell) for j, cell in enumerate(row)]
        for i, row in enumerate(view.rows)
    ]
    header = [*map(_plain, view.header)]
    width = [max(3, *(len(row[j]) for row in [header, *rows])) for j in range(len(header))]
    align = [str.ljust if j in view.words else str.rjust for j in range(len(width))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(put(cell, w) for put, cell, w in zip(align, cells, width, strict=True)) + " |"

    rule = ["-" * w if j in view.words else "-" * (w - 1) + ":" for j, w in enumerate(width)]
    return "\n".join([line(header), line(rule), *map(line, rows)])


_MARKDOWN = str.maketrans({"|": r"\|", "<": "&lt;", ">": "&gt;"})


def _plain(text: str) -> str:
    """Text without HTML, cell borders and control characters."""
    return one_line(text).translate(_MARKDOWN)


def csv_text(view: View) -> str:
    """Return the table as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([view.header, *view.rows])
    return out.getvalue()


def latex(view: View) -> str:
    """Return the table as LaTeX (booktabs)."""
    align = "".join("l" if j in view.words else "r" for j in range(len(view.header)))
    return render("evaluation/reports/table.tex", view=view, align=align, escapes=str.maketrans(_DATA["latex"]))


_QID = re.compile(r"\bQ[1-9][0-9]*\b")
_LINK = f'<a class="qid" href="{WIKIDATA}{{0}}" rel="noreferrer">{{0}}</a>'


def html(report: Report) -> str:
    """The whole page: title, intro, contents, sections."""
    style = style_sheet("colours", "style")
    return render("evaluation/reports/report.html", report=report, style=style, series=range(SERIES), cell=_cell)


def _cell(view: View, j: int, text: str) -> str:
    """A cell as HTML: names marked, QIDs as links. Figures break only before their brackets."""
    if isinstance(text, Excerpt):
        return text.html
    if j not in view.words:
        return escape(text.replace(" ", "\u00a0").replace("\u00a0(", " ("))
    return _QID.sub(lambda found: _LINK.format(found[0]), escape(text)) if j in view.qids else escape(text)


# plots: the templates beside this file draw them
SERIES = 8  # the number of colours, `--s0` to `--s7` of the style sheet


class Dot(NamedTuple):
    """One figure with its interval; `mark` is a value to compare it with, such as the printed one."""

    label: str
    series: str
    value: float
    low: float
    high: float
    mark: float | None = None


class Line(NamedTuple):
    """A curve: points from left to right, and optionally the number of mentions behind each point."""

    name: str
    points: Sequence[tuple[float, float]]
    counts: Sequence[int] = ()


def dot_plot(dots: Sequence[Dot], title: str) -> str:
    """One row per label, with a dot and its interval for each series. Hollow diamonds are the marks."""
    low = min(0.8, *(min(dot.low, dot.mark if dot.mark is not None else 1.0) for dot in dots))
    colours = _colours(dict.fromkeys(dot.series for dot in dots))
    values = {"title": title, "dots": dots, "low": max(0.0, int(low * 10) / 10), "colours": colours}
    return render("evaluation/reports/intervals.html", **values, names=list(colours))


def curve_plot(
    lines: Sequence[Line], title: str, across: str, up: str, diagonal: bool = False, colours: Iterable[str] = ()
) -> str:
    """Curves over [0, 1] × [0, 1]; `diagonal` draws a perfect one. `colours` are the names of all plots of a report."""
    names = [line.name for line in lines]
    values = {"title": title, "lines": lines, "across": across, "up": up, "diagonal": diagonal, "names": names}
    return render("evaluation/reports/curves.html", **values, colours=_colours(colours or names))


def _colours(names: Iterable[str]) -> dict[str, str]:
    """The class of each name; colours repeat if there are more names."""
    return {name: f"s{place % SERIES}" for place, name in enumerate(names)}
