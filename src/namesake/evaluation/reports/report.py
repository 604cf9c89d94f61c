"""Reports: the same tables as Markdown, HTML with plots, CSV, LaTeX and JSON."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from namesake.errors import NamesakeError
from namesake.evaluation.reports import page
from namesake.files import keep_apart
from namesake.printable import one_line


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
    qids: frozenset[int] = frozenset()
    """Columns of words whose QIDs are links in HTML."""
    kinds: Mapping[int, str] = field(default_factory=dict)
    """Columns that tell what is `right` or `wrong`, and have that colour."""
    cards: bool = False
    """Whether HTML draws each row as a card: the first cell is where it stands, the second its name."""


@dataclass(frozen=True)
class Section:
    """A heading with text, tables and plots (figures, as HTML)."""

    title: str
    text: Sequence[str] = ()
    views: Sequence[View] = ()
    plots: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """What was found out: sections to read, and the rows they were made from, one for each figure."""

    title: str
    sections: Sequence[Section]
    rows: Sequence[dict[str, Any]]
    intro: Sequence[str] = ()
    short: Sequence[View] = ()
    """The tables that matter most, narrow enough for a terminal."""
    remarks: Sequence[str] = ()
    """What to know about the short tables."""
    views: list[View] = field(init=False)

    def __post_init__(self) -> None:
        """Collect the tables of all sections."""
        object.__setattr__(self, "views", [view for section in self.sections for view in section.views])

    def write(self, folder: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        """Write report.md, report.html, tables.json, and each table as CSV and LaTeX into `folder`, made if need be.

        `inputs` are the files that the report was made from: none of them is overwritten.
        """
        folder = Path(folder)
        files = {
            "report.md": markdown(self),
            "report.html": page.html(self),
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
    """The report for terminals and repositories."""
    blocks = [f"# {_plain(report.title)}", *map(_plain, report.intro)]
    for section in report.sections:
        blocks += [f"## {_plain(section.title)}", *map(_plain, section.text)]
        for view in section.views:
            title = f"**{_plain(view.title)}**" + (f" {_plain(view.caption)}" if view.caption else "")
            blocks += [title, _markdown_table(view)]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(view: View) -> str:
    """A table whose columns also line up in a terminal."""
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
    """Text that is no HTML to a reader of Markdown, parts no cell and steers no terminal."""
    return one_line(text).translate(_MARKDOWN)


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
