"""What an evaluation looks like to a reader: from its figures to a report."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from namesake.evaluation.measures.tables import CEILING, Curve, Evaluation, Row
from namesake.evaluation.reports import plots
from namesake.evaluation.reports.report import Report, Section, View

_LOWER_IS_BETTER = {"ECE"}
_WITH_HALF_WIDTHS = 5  # columns of a table in which every half width fits 80 characters


def evaluation_report(evaluation: Evaluation, title: str, about: Sequence[str], caveats: Sequence[str] = ()) -> Report:
    """The report of `namesake evaluate`: `about` says what was measured, `caveats` what was left out."""
    sections = [
        Section("Results", evaluation.notes, [main_view(evaluation)], [_method_plot(evaluation)]),
        *_all_mentions(evaluation),
        *_comparison(evaluation),
        *confidence_section(evaluation.curves),
    ]
    rows = [row.asdict() for row in evaluation.rows]
    remarks = [*caveats, *evaluation.notes]
    return Report(title, sections, rows, [*about, *caveats], [short_view(evaluation)], remarks)


def main_view(evaluation: Evaluation) -> View:
    """P@1 and MRR on answerable mentions, by slice: the table that is printed."""
    return pivot(
        [row for row in evaluation.rows if row.metric in {"P@1", "MRR"}],
        "main",
        "P@1 and MRR on answerable mentions.",
        _ceiling(evaluation),
    )


def short_view(evaluation: Evaluation) -> View:
    """What fits a terminal: P@1 by slice, and MRR, NIL and confidence over all mentions.

    Where there are many columns, only P@1 and accuracy over all mentions have their half widths.
    """
    wanted = {"MRR", "accuracy with NIL", "AUROC", "ECE"}
    sliced = len({row.slice for row in evaluation.rows}) > 1
    rows = [row for row in evaluation.rows if row.metric == "P@1"]
    rows += [row for row in evaluation.rows if row.metric in ({"MRR"} if sliced else wanted) and row.slice == "all"]
    view = pivot(rows, "short", "How good are the links?", _ceiling(evaluation))
    if len(view.header) <= _WITH_HALF_WIDTHS:
        return view
    kept = [j for j, heading in enumerate(view.header) if heading.startswith(("P@1 (", "accuracy with NIL ("))]
    short = [[cell if j in kept else cell.split(" ± ")[0] for j, cell in enumerate(row)] for row in view.rows]
    return replace(view, rows=short, caption=f"{view.caption} The report has it for every figure.")


def _all_mentions(evaluation: Evaluation) -> list[Section]:
    """Figures over all mentions, for data in which some have no right candidate."""
    metrics = ("P@1 of all", "MRR of all", "accuracy with NIL", "AUROC", "ECE")
    rows = [row for row in evaluation.rows if row.metric in metrics and row.slice == "all"]
    if not any(row.metric == "P@1 of all" for row in rows):
        return []
    text = (
        "Here every mention counts, also those whose entity is not among their candidates. Accuracy with NIL takes "
        "“nobody” for the right answer where no candidate is right. AUROC is the chance that a right first candidate "
        "has more confidence than a wrong one; ECE, the calibration error, is measured where the confidence is a "
        "probability."
    )
    return [Section("All mentions", [text], [pivot(rows, "all_mentions", "All mentions.", "")])]


def _comparison(evaluation: Evaluation) -> list[Section]:
    """Paired tests against the best method."""
    if not evaluation.comparisons:
        return []
    best = evaluation.comparisons[0].best
    rows = [
        [
            comparison.method,
            _signed(comparison.difference.interval.value),
            f"{_signed(comparison.difference.interval.low)} to {_signed(comparison.difference.interval.high)}",
            f"{comparison.difference.p:.4f}",
        ]
        for comparison in evaluation.comparisons
    ]
    text = f"Difference in P@1 from {best}, the best, over the same bootstrap samples; p is two-sided."
    header = ["method", "difference", "95 % interval", "p"]
    return [Section("Against the best", [text], [View("comparisons", f"P@1 minus that of {best}.", header, rows)])]


def confidence_section(measured: Sequence[Curve], what: str = "method") -> list[Section]:
    """Risk and coverage, and calibration where there are probabilities; `what` has the curves: methods, or corpora."""
    if not measured:
        return []
    ranked = sorted(measured, key=lambda curve: _area(curve.coverage.tolist(), curve.risk.tolist()))
    shown = ranked[: plots.SERIES]
    risk = [
        plots.Line(curve.method, list(zip(curve.coverage.tolist(), curve.risk.tolist(), strict=True)))
        for curve in shown
    ]
    colours = [curve.method for curve in ranked]
    across, up = "coverage: share of mentions answered", "risk: share wrong"
    drawn = [plots.curves(risk, "Risk and coverage", across, up, colours=colours)]
    calibrated = []
    for curve in measured:
        if curve.bins is not None:
            bins = [one for one in zip(*(part.tolist() for part in curve.bins), strict=True) if one[0]]
            points = [(summed / count, right / count) for count, summed, right in bins]
            calibrated.append(plots.Line(curve.method, points, [int(count) for count, *_ in bins]))
    if calibrated:
        drawn.append(plots.curves(calibrated, "Calibration", "confidence", "share right", True, colours))
    text = (
        "If only the most confident mentions are answered, how many of the answers are wrong? "
        "Where there is the least risk comes first"
        + (f"; the best {plots.SERIES} of {len(ranked)} are drawn." if len(ranked) > plots.SERIES else ".")
    )
    header = [what, *(f"{tenth * 10} %" for tenth in range(1, 11))]
    title, caption = "Risk by coverage.", "Share of wrong answers when at least so many of the mentions are answered."
    table = View("risk_coverage", title, header, [[curve.method, *_tenths(curve)] for curve in ranked], caption)
    return [Section("Confidence", [text], [table, *_calibration(measured, what)], drawn)]


def _calibration(curves: Sequence[Curve], what: str) -> list[View]:
    """For each tenth of claimed probability: how many answers, what they claim on average, how many are right."""
    rows = []
    for curve in curves:
        for tenth, (count, summed, right) in enumerate(zip(*(curve.bins or ((), (), ())), strict=True)):
            if count:
                between = f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"
                rows.append([curve.method, between, f"{count:.0f}", f"{summed / count:.3f}", f"{right / count:.3f}"])
    header = [what, "confidence", "mentions", "mean confidence", "share right"]
    caption = "First candidates by the probability that they are given."
    return [View("calibration", "Calibration.", header, rows, caption)] if rows else []


def _tenths(curve: Curve) -> list[str]:
    """The risk of a curve where its coverage first reaches each tenth."""
    at = np.searchsorted(curve.coverage, np.arange(1, 11) / 10 - 1e-9)
    return [f"{curve.risk[i]:.3f}" for i in at]


def _area(coverage: list[float], risk: list[float]) -> float:
    """Area under a risk–coverage curve, by which curves are ranked."""
    steps = zip([0.0, *coverage], coverage, risk, strict=False)
    return sum((end - start) * height for start, end, height in steps)


def pivot(rows: Sequence[Row], name: str, title: str, caption: str = "") -> View:
    """A row per method, a column per slice and metric, each figure with its half width; the best in bold."""
    methods = list(dict.fromkeys(row.method for row in rows if row.method != CEILING))
    columns = list(dict.fromkeys((row.slice, row.metric) for row in rows if row.method != CEILING))
    cell = {(row.method, row.slice, row.metric): row for row in rows}
    counts = {column: next(row.n for row in rows if (row.slice, row.metric) == column) for column in columns}
    table, best = [], set()
    for j, (slice_, metric) in enumerate(columns, 1):
        values = {method: cell[method, slice_, metric].value for method in methods if (method, slice_, metric) in cell}
        top = (min if metric in _LOWER_IS_BETTER else max)(values.values())
        best |= {(i, j) for i, method in enumerate(methods) if values.get(method) == top}
    for method in methods:
        figures = [cell.get((method, *column)) for column in columns]
        table.append([method, *(_figure(row) if row else "" for row in figures)])
    header = ["method", *(f"{_heading(*column)} (n={counts[column]})" for column in columns)]
    return View(name, title, header, table, caption, frozenset(best))


def _heading(slice_: str, metric: str) -> str:
    return metric if slice_ == "all" else f"{metric} {slice_}"


def _figure(row: Row) -> str:
    return f"{row.value:.3f} ± {max(row.high - row.value, row.value - row.low):.3f}"


def _ceiling(evaluation: Evaluation) -> str:
    """Candidate recall, said in a sentence."""
    interval = "± covers the 95 % bootstrap interval."
    if all(row.method != CEILING for row in evaluation.rows):
        return f"The candidates are not known, so neither is their recall. {interval}"
    row = evaluation.row(CEILING, "candidate recall")
    return (
        f"{round(row.value * row.n)} of {row.n} mentions have their entity among the candidates "
        f"(recall {row.value:.3f}, the ceiling of figures over all mentions). {interval}"
    )


def _method_plot(evaluation: Evaluation) -> str:
    rows = [row for row in evaluation.rows if row.metric == "P@1"]
    dots = [plots.Dot(row.method, row.slice, row.value, row.low, row.high) for row in rows]
    return plots.intervals(dots, "P@1 with 95 % bootstrap intervals")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
