"""What the reproduced paper looks like to a reader: each table next to print, and every difference explained."""

from collections.abc import Sequence
from itertools import groupby

from namesake.evaluation.paper.reproduce import PaperRow, Reproduction
from namesake.evaluation.reports import plots
from namesake.evaluation.reports.report import Report, Section, View

INTERVALS = (
    "± is the longer arm of the 95 % bootstrap interval. Here test mentions that have an answer are drawn; namesake "
    "evaluate draws all mentions, namesake tune draws documents, so their half widths differ a little from these."
)

_TITLES = {
    "1": "Mentions by difficulty",
    "2": "P@1 of the methods",
    "5": "The ground truth",
    "8": "mGENRE by its context",
    "9": "P@1 by tie-breaker",
    "11": "MRR of the methods",
}


def paper_report(reproduction: Reproduction) -> Report:
    """The report of `namesake reproduce`: each table next to print, then every difference with its reason."""
    tables = {key: list(rows) for key, rows in groupby(reproduction.rows, key=lambda row: row.table)}
    differing = [row for row in reproduction.rows if row.why]
    intro = [
        "Quotebank's columns of the paper's tables, made again from the authors' scores through our recipes: each "
        "cell shows our figure and, in brackets, the printed one.",
        f"{len(reproduction.rows)} cells are compared. {len(reproduction.rows) - len(differing)} agree with print "
        f"within 0.001 (half widths within 0.005); the other {len(differing)} are explained at the end.",
    ]
    intro.insert(1, INTERVALS)
    sections = [
        Section(f"Table {key}", (), [_paper_view(key, rows)], [_paper_plot(rows)] if key in {"2", "11"} else [])
        for key, rows in tables.items()
    ]
    sections.append(Section("Where we differ from print, and why", reproduction.remarks, [_differences(differing)]))
    rows = [row.asdict() for row in reproduction.rows]
    title = "Strong Heuristics for Named Entity Linking, reproduced on Quotebank"
    short = [short_view(reproduction), sections[-1].views[0]]
    return Report(title, sections, rows, intro, short, [intro[-1].replace("at the end", "above")])


def _paper_view(key: str, rows: Sequence[PaperRow]) -> View:
    methods = list(dict.fromkeys(row.method for row in rows))
    columns = list(dict.fromkeys(row.column for row in rows))
    cell = {(row.method, row.column): row for row in rows}
    table = [[method, *(_beside_print(cell[method, column]) for column in columns)] for method in methods]
    caption = "" if key in {"1", "5"} else "Ours, and in brackets what is printed; * see the differences."
    return View(f"table_{key}", f"{_TITLES[key]}.", [_row_kind(key), *columns], table, caption)


def short_view(reproduction: Reproduction) -> View:
    """Table 2 for a terminal: ours, and in brackets what is printed, without half widths."""
    rows = {(row.method, row.column): row for row in reproduction.rows if row.table == "2"}
    columns = list(dict.fromkeys(column for _, column in rows))
    table = [
        [method, *(f"{rows[method, column].value:.3f} ({rows[method, column].printed:.3f})" for column in columns)]
        for method in dict.fromkeys(method for method, _ in rows)
    ]
    return View("short", "Table 2: P@1 on Quotebank, ours (printed).", ["method", *columns], table)


def _row_kind(key: str) -> str:
    return {"1": "data set", "5": "category"}.get(key, "method")


def _beside_print(row: PaperRow) -> str:
    star = " *" if row.why else ""
    if row.half_width is None:
        return f"{row.value:,.0f} ({row.printed:,.0f}){star}"
    return f"{row.value:.3f} ± {row.half_width:.3f} ({row.printed:.3f} ± {row.printed_half_width:.3f}){star}"


def _paper_plot(rows: Sequence[PaperRow]) -> str:
    dots = [
        plots.Dot(
            row.method,
            row.column,
            row.value,
            max(0.0, row.value - (row.half_width or 0)),
            min(1.0, row.value + (row.half_width or 0)),
            row.printed,
        )
        for row in rows
    ]
    metric = "P@1" if rows[0].table == "2" else "MRR"
    return plots.intervals(dots, f"{metric}: ours (dots, with 95 % intervals) and printed (diamonds)")


def _differences(rows: Sequence[PaperRow]) -> View:
    """Every cell that differs, those with one reason together, the reason told once."""
    reasons = list(dict.fromkeys(row.why for row in rows))
    table = [
        [f"{row.table} {row.method}, {row.column}", _plain(row), "" if number else reason or ""]
        for reason in reasons
        for number, row in enumerate(row for row in rows if row.why == reason)
    ]
    header = ["cell", "ours (printed)", "why"]
    return View("differences", "Differences.", header, table, words=frozenset({0, 2}))


def _plain(row: PaperRow) -> str:
    return _beside_print(row).removesuffix(" *")
