"""The paper's Quotebank tables from the authors' own scores, next to the printed values (`paper_tables.toml`).

Composites and tie-breaks are computed, not read: every system runs through its recipe, as in the linker.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from namesake.arrays import Float64
from namesake.errors import NamesakeError
from namesake.evaluation import statistics
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold, read_scores
from namesake.evaluation.measure import PAPER, from_recipe, method
from namesake.evaluation.reports.report import Dot, Report, Section, View, dot_plot
from namesake.evaluation.statistics import DEFAULT, Bootstrap
from namesake.files.lines import json_lines
from namesake.parts import Part
from namesake.recipe import Recipe

SCORES, GOLD, ARTICLES = "reference_scores.parquet", "gold.jsonl", "articles.jsonl.gz"
VALUE_TOLERANCE, HALF_WIDTH_TOLERANCE = 0.001, 0.005
PRINTED = SimpleNamespace(**tomllib.loads((Path(__file__).parent / "paper_tables.toml").read_text(encoding="utf-8")))
"""The paper's tables, errata and texts, by their keys in the file."""
_ERRATA: dict[tuple[str, str, str], str] = {(e["table"], e["method"], e["column"]): e["why"] for e in PRINTED.errata}
_TEXTS: dict[str, str] = PRINTED.texts


@dataclass(frozen=True)
class PaperRow:
    """One cell of a table: our figure and the printed one."""

    table: str
    method: str
    column: str
    value: float
    half_width: float | None
    printed: float
    printed_half_width: float | None

    @property
    def why(self) -> str | None:
        """Why it differs from print by more than rounding; None if it does not."""
        if (self.table, self.method, self.column) in _ERRATA:
            return _ERRATA[self.table, self.method, self.column]
        if abs(self.value - self.printed) <= VALUE_TOLERANCE:
            wide = abs((self.half_width or 0) - (self.printed_half_width or 0)) > HALF_WIDTH_TOLERANCE
            return _TEXTS["half_widths"] if wide else None
        return _TEXTS["random"] if self.method == "Random" else "Not explained."

    @property
    def beside_print(self) -> str:
        """Our figure, and the printed one in brackets."""
        if self.half_width is None:
            return f"{self.value:,.0f} ({self.printed:,.0f})"
        return f"{self.value:.3f} ± {self.half_width:.3f} ({self.printed:.3f} ± {self.printed_half_width:.3f})"


def reproduce_tables(folder: Path, bootstrap: Bootstrap = DEFAULT) -> tuple[list[PaperRow], list[str]]:
    """Return the cells of Tables 1, 2, 5, 8, 9 and 11 from the authors' scores, gold and articles, and remarks."""
    for name in (SCORES, GOLD, ARTICLES):
        if not (folder / name).is_file():
            raise NamesakeError(f"{folder}: no {name}; reproduce needs {SCORES}, {GOLD} and {ARTICLES} in one folder")
    gold = read_gold(folder / GOLD)
    # the paper's evaluation set: the test mentions whose gold entity is among their candidates
    data = align(read_scores(folder / SCORES), [row for row in in_split(gold, "test") if row.gold is not None])
    if "difficulty" not in data.columns:
        raise NamesakeError(f"{GOLD}: no column `difficulty` (easy or hard), which divides the paper's tables")
    popularity = (data.table.scores["NS"], data.table.scores["LQID"])
    derived = statistics.derived_difficulty(data.offsets, data.gold, *popularity)
    figures = list(_figures(data))  # every figure is a mean over mentions, and all share one bootstrap
    means = statistics.means(np.column_stack([values for *_, values, _ in figures]))
    found = statistics.estimate(means, np.arange(len(data.gold)), bootstrap)
    rows = list(_counts(derived, folder / ARTICLES, gold))
    for (table, name, column, _, printed), interval in zip(figures, found, strict=True):
        rows.append(PaperRow(table, name, column, interval.value, interval.half_width, *printed))
    agree = sum(a == b for a, b in zip(derived, data.columns["difficulty"], strict=True))
    as_written = float(from_recipe(Recipe.load("ucse-paper"), data, "UCSE").hit.mean())
    difficulty = _TEXTS["difficulty"].format(agree, len(derived))
    remarks = [difficulty, _TEXTS["anchors"], _TEXTS["ucse"].format(as_written)]
    return sorted(rows, key=lambda row: int(row.table)), remarks


def _figures(data: Dataset) -> Iterator[tuple[str, str, str, Float64, tuple[float, float]]]:
    """Tables 2 and 11, 8, and 9: the table, method and column of each cell, its value per mention, the printed cell.

    Values are NaN outside the cell's slice; a printed cell is a value and its half width.
    """
    difficulty = np.array(data.columns["difficulty"])
    recipe_of = PAPER | {"UCSE": "ucse-paper-quotebank"}
    for name, cells in PRINTED.p_at_1.items():
        system = method(name, data) if name == "Random" else from_recipe(Recipe.load(recipe_of[name]), data, name)
        for table, values, printed in (("2", system.hit, cells), ("11", system.reciprocal_rank, PRINTED.mrr[name])):
            for column, cell in zip(PRINTED.columns, printed, strict=True):
                inside = (difficulty == column) | (column == "overall")
                yield table, name, column, np.where(inside, values, np.nan), cell
    for name, cells in PRINTED.mgenre_context.items():
        system = from_recipe(Recipe(name, (Part(name),), tie_break=()), data, name)
        yield "8", name, "P@1", system.hit, cells["P@1"]
        yield "8", name, "MRR", system.reciprocal_rank, cells["MRR"]
    for name, cells in PRINTED.ties.items():
        recipe = Recipe.load(PAPER[name])
        for breaker, cell in zip(PRINTED.tie_breakers, cells, strict=True):
            chain = (breaker,) if breaker == "LQID" else (breaker, "LQID")
            yield "9", name, breaker, from_recipe(recipe.replace(tie_break=chain), data, name).hit, cell


def _counts(derived: Sequence[str | None], articles: Path, gold: list[GoldRow]) -> Iterator[PaperRow]:
    """Table 1, with easy and hard as derived from NS; Table 5, names by their candidates and the right one."""
    for column, expected in PRINTED.mentions.items():
        count = len(derived) if column == "overall" else derived.count(column)
        yield PaperRow("1", "Quotebank", column, count, None, expected, None)
    names = [name for _, one in json_lines(articles, dict[str, Any], "a JSON object") for name in one["names"]]
    answered = sum(row.gold is not None for row in gold)
    counts = {
        "Unambiguous": sum(len(name["ids"]) == 1 for name in names),
        "Gold entity exists": answered,
        "No gold entity": len(gold) - answered,
        "Total": len(names),
    }
    for category, expected in PRINTED.ground_truth.items():
        yield PaperRow("5", category, "mentions", counts[category], None, expected, None)


def paper_report(cells: Sequence[PaperRow], remarks: Sequence[str]) -> Report:
    """Make the report of `namesake eval reproduce`: each table next to print, then every difference with its reason."""
    tables = {key: list(rows) for key, rows in groupby(cells, key=lambda row: row.table)}
    differing = [row for row in cells if row.why]
    compared = _TEXTS["compared"].format(len(cells), len(cells) - len(differing), len(differing))
    intro = [_TEXTS["cells"], _TEXTS["intervals"], compared]
    differences, sections = _differences(differing), []
    for key, rows in tables.items():
        plots = [_plot(rows)] if key in {"2", "11"} else []
        sections.append(Section(f"Table {key}", (), [_table(key, rows)], plots))
    sections.append(Section("Differences from print, and their reasons", remarks, [differences]))
    short = [_table("2", tables["2"], short=True), differences]
    said = [compared.replace("at the end", "above")]
    return Report(_TEXTS["title"], sections, [asdict(row) for row in cells], intro, short, said)


def _table(key: str, rows: Sequence[PaperRow], short: bool = False) -> View:
    """A table of the paper; the short form, for a terminal, is without half widths."""
    cell = {(row.method, row.column): row for row in rows}
    columns = list(dict.fromkeys(row.column for row in rows))

    def text(row: PaperRow) -> str:
        return f"{row.value:.3f} ({row.printed:.3f})" if short else row.beside_print + (" *" if row.why else "")

    methods = dict.fromkeys(row.method for row in rows)
    table = [[name, *(text(cell[name, column]) for column in columns)] for name in methods]
    if short:
        return View("short", "Table 2: P@1 on Quotebank, ours (printed).", ["method", *columns], table)
    caption = "" if key in {"1", "5"} else "Our figures, and in brackets the printed ones; * see the differences."
    first = {"1": "data set", "5": "category"}.get(key, "method")
    return View(f"table_{key}", f"{PRINTED.titles[key]}.", [first, *columns], table, caption)


def _plot(rows: Sequence[PaperRow]) -> str:
    dots = []
    for row in rows:
        low, high = (row.value + sign * (row.half_width or 0) for sign in (-1, 1))
        dots.append(Dot(row.method, row.column, row.value, max(0.0, low), min(1.0, high), row.printed))
    metric = "P@1" if rows[0].table == "2" else "MRR"
    return dot_plot(dots, f"{metric}: ours (dots, with 95 % intervals) and printed (diamonds)")


def _differences(rows: Sequence[PaperRow]) -> View:
    """Every cell that differs, grouped by reason; the reason is stated once."""
    table = [
        [f"{row.table} {row.method}, {row.column}", row.beside_print, "" if number else reason or ""]
        for reason in dict.fromkeys(row.why for row in rows)
        for number, row in enumerate(row for row in rows if row.why == reason)
    ]
    return View("differences", "Differences.", ["cell", "ours (printed)", "why"], table, words=(0, 2))
