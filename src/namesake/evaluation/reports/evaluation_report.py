"""The reports of `namesake eval run` on links and scores, and on labelled text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count

import numpy as np

from namesake.evaluation import text_figures
from namesake.evaluation.labelled_text import Outcome
from namesake.evaluation.measure import CEILING, Evaluation, Row
from namesake.evaluation.reports.report import SERIES, TEXTS, Dot, Line, Report, Section, View, curve_plot, dot_plot
from namesake.evaluation.statistics import Bootstrap, Curve
from namesake.evaluation.text_figures import CONFIDENCE, KINDS, LINKING, MEAN, Miss
from namesake.kinds import named

EXAMPLES = 12
INTERVALS = "± covers the 95 % bootstrap interval by document."
TITLE = "How well are names found and linked?"
_WITH_HALF_WIDTHS = 5  # columns of a table with half widths that fits 80 characters


def evaluation_report(evaluation: Evaluation, title: str, about: Sequence[str], caveats: Sequence[str] = ()) -> Report:
    """Make the report; `about` states what was measured, `caveats` what was left out."""
    dots = [Dot(row.method, row.slice, *row.interval) for row in evaluation.rows if row.metric == "P@1"]
    ranked = [row for row in evaluation.rows if row.metric in {"P@1", "MRR"}]
    main = pivot(ranked, "main", "P@1 and MRR on answerable mentions.", _ceiling(evaluation))
    sections = [Section("Results", evaluation.notes, [main], [dot_plot(dots, "P@1 with 95 % bootstrap intervals")])]
    metrics = ("P@1 of all", "MRR of all", "accuracy with NIL", "AUROC", "ECE")
    whole = [row for row in evaluation.rows if row.metric in metrics and row.slice == "all"]
    if any(row.metric == "P@1 of all" for row in whole):  # some mentions have no right candidate
        view = pivot(whole, "all_mentions", "All mentions.", "")
        sections.append(Section("All mentions", [TEXTS["all_mentions"]], [view]))
    if evaluation.comparisons:
        sections.append(_comparison(evaluation))
    sections += confidence_section(evaluation.curves)
    rows = [asdict(row) for row in evaluation.rows]
    return Report(title, sections, rows, [*about, *caveats], [short_view(evaluation)], [*caveats, *evaluation.notes])


def short_view(evaluation: Evaluation) -> View:
    """Return a table for a terminal: P@1 by slice, and figures over all mentions; if wide, with few half widths."""
    wanted = {"MRR", "accuracy with NIL", "AUROC", "ECE"}
    sliced = len({row.slice for row in evaluation.rows}) > 1
    rows = [row for row in evaluation.rows if row.metric == "P@1"]
    rows += [row for row in evaluation.rows if row.metric in ({"MRR"} if sliced else wanted) and row.slice == "all"]
    view = pivot(rows, "short", "How good are the links?", _ceiling(evaluation))
    if len(view.header) <= _WITH_HALF_WIDTHS:
        return view
    kept = [j for j, heading in enumerate(view.header) if heading.startswith(("P@1 (", "accuracy with NIL ("))]
    short = [[cell if j in kept else cell.split(" ± ")[0] for j, cell in enumerate(row)] for row in view.rows]
    return replace(view, rows=short, caption=f"{view.caption} The report has the intervals of every figure.")


def _comparison(evaluation: Evaluation) -> Section:
    """Paired tests against the best method."""
    rows, best = [], evaluation.best
    for method, difference, p in evaluation.comparisons:
        value, low, high = (f"{number:+.3f}".replace("-", "−") for number in difference)
        rows.append([method, value, f"{low} to {high}", f"{p:.4f}"])
    text = f"Difference in P@1 from {best}, the best, over the same bootstrap samples; p is two-sided."
    header = ["method", "difference", "95 % interval", "p"]
    return Section("Against the best", [text], [View("comparisons", f"P@1 minus that of {best}.", header, rows)])


def confidence_section(measured: Sequence[Curve], what: str = "method") -> list[Section]:
    """Return risk and coverage, and calibration for probabilities; `what` names the curves: methods, or corpora."""
    if not measured:
        return []
    ranked = sorted(measured, key=lambda curve: float(np.diff(curve.coverage, prepend=0.0) @ curve.risk))
    risk = [Line(one.method, np.column_stack([one.coverage, one.risk]).tolist()) for one in ranked[:SERIES]]
    colours = [curve.method for curve in ranked]
    across, up = "coverage: share of mentions answered", "risk: share wrong"
    drawn = [curve_plot(risk, "Risk and coverage", across, up, colours=colours)]
    drawn_of = f"; the best {SERIES} of {len(ranked)} are drawn" if len(ranked) > SERIES else ""
    text = f"{TEXTS['confidence']}{drawn_of}."
    header = [what, *(f"{tenth * 10} %" for tenth in range(1, 11))]
    rows = []
    for curve in ranked:
        at = np.searchsorted(curve.coverage, np.arange(1, 11) / 10 - 1e-9)
        rows.append([curve.method, *(f"{curve.risk[i]:.3f}" for i in at)])
    views = [View("risk_coverage", "Risk by coverage.", header, rows, TEXTS["risk"])]
    lines, tenths = [], []
    for curve in (curve for curve in measured if curve.bins):
        points = [(mean, right) for *_, mean, right in curve.bins]
        lines.append(Line(curve.method, points, [size for _, size, *_ in curve.bins]))
        for n, size, mean, right in curve.bins:
            range_ = f"{n / 10:.1f} to {(n + 1) / 10:.1f}"
            tenths.append([curve.method, range_, f"{size}", f"{mean:.3f}", f"{right:.3f}"])
    if lines:
        drawn.append(curve_plot(lines, "Calibration", "confidence", "share right", True, colours))
        header = [what, "confidence", "mentions", "mean confidence", "share right"]
        views.append(View("calibration", "Calibration.", header, tenths, "First candidates by their probability."))
    return [Section("Confidence", [text], views, drawn)]


def pivot(rows: Sequence[Row], name: str, title: str, caption: str = "") -> View:
    """Return a table with a row per method and a column per slice and metric; the best figures are bold."""
    methods = list(dict.fromkeys(row.method for row in rows if row.method != CEILING))
    columns = list(dict.fromkeys((row.slice, row.metric) for row in rows if row.method != CEILING))
    cell = {(row.method, row.slice, row.metric): row for row in rows}
    counts = {column: next(row.n for row in rows if (row.slice, row.metric) == column) for column in columns}
    best = set()
    for j, (slice_, metric) in enumerate(columns, 1):
        values = {method: cell[method, slice_, metric].value for method in methods if (method, slice_, metric) in cell}
        top = (min if metric == "ECE" else max)(values.values())
        best |= {(i, j) for i, method in enumerate(methods) if values.get(method) == top}
    figures = {key: str(row.interval) for key, row in cell.items()}
    table = [[method, *(figures.get((method, *column), "") for column in columns)] for method in methods]
    names = [metric if slice_ == "all" else f"{metric} {slice_}" for slice_, metric in columns]
    header = ["method", *(f"{name} (n={counts[column]})" for name, column in zip(names, columns, strict=True))]
    return View(name, title, header, table, caption, best)


def _ceiling(evaluation: Evaluation) -> str:
    """The candidate recall, as a sentence."""
    row = next((row for row in evaluation.rows if (row.method, row.slice) == (CEILING, "all")), None)
    if row is None:
        return TEXTS["no_candidates"]
    return TEXTS["ceiling"].format(round(row.value * row.n), row.n, row.value)


# labelled text
def text_report(
    outcomes: Sequence[Outcome], missed: Sequence[Miss], threshold: float, method: str, bootstrap: Bootstrap
) -> Report:
    """Make the report of labelled text from the results at a threshold and its misses."""
    rows = text_figures.figures(outcomes, threshold, method, bootstrap)
    shares, misses, wrong = [], {}, {}
    for number, outcome in enumerate(outcomes):
        name = outcome.labels.name
        here = [miss for miss in missed if miss.corpus == name]
        shares += text_figures.miss_rows(outcome, here, method, bootstrap._replace(seed=bootstrap.seed + number))
        kinds_missed = Counter(miss.kind for miss in here)
        misses[name] = [int(outcome.labels.known.sum()), *(kinds_missed[kind] for kind in KINDS)]
        wrong[name] = list(text_figures.wrong_links(outcome, threshold).values())
    reasons = _counts("misses", "Reasons for misses.", ["labels", *KINDS], misses)
    caption = "Wrong answers by the labels that they overlap."
    linking = sorted((row for row in rows if row.metric in LINKING), key=lambda row: row.slice == MEAN)
    dots = [Dot(row.slice, row.metric, *row.interval) for row in linking]
    plot = dot_plot(dots, "Precision, recall and F1 with 95 % bootstrap intervals")
    linked = _figures(rows, "linking", "Names linked.", [*LINKING, *CONFIDENCE])
    short = _figures(rows, "short", TITLE, [*LINKING, *CONFIDENCE], short=True)
    with_nil = _figures(rows, "with_nil", "With NIL.", text_figures.WITH_NIL)
    detection = _figures(rows, "detection", "Names found.", text_figures.DETECTION)
    by_kind = text_figures.kind_figures(outcomes, threshold, method, bootstrap)
    kinds = _kinds(by_kind, outcomes, threshold) if by_kind else []
    sections = [
        Section("Results", [TEXTS["linked"]], [linked], [plot]),
        Section("Kinds of entities", [TEXTS["kinds"]], kinds),
        Section("Names found, and NIL as an answer", [TEXTS["nil_and_detection"]], [detection, with_nil]),
        *confidence_section(text_figures.text_curves(outcomes), "corpus"),
        Section("Reasons for misses", [TEXTS["misses"]], [reasons]),
        Section("Examples of misses", ["The name is marked, in plain text with « and »."], _examples(missed)),
        Section("Wrong links", [], [_counts("wrong_links", "Wrong links.", text_figures.WRONG_LINKS, wrong, caption)]),
    ]
    last = replace(reasons, rows=reasons.rows[-1:])
    data = [asdict(row) for row in [*rows, *shares]]
    data += [asdict(row) | {"table": "kinds"} for own in by_kind.values() for row in own]
    return Report(TITLE, [section for section in sections if section.views], data, short=[short, *kinds[:1], last])


def _kinds(by_kind: Mapping[str, Sequence[Row]], outcomes: Sequence[Outcome], threshold: float) -> list[View]:
    """The figures of each kind with the numbers of labels and links, and F1 of the kinds with labels in each corpus."""
    table = [
        [kind, f"{recall.n:,}", f"{precision.n:,}", *(str(row.interval) for row in (precision, recall, f1))]
        for kind, (precision, recall, f1) in by_kind.items()
    ]
    shown, by_corpus = [kind for kind, (_, recall, _) in by_kind.items() if recall.n], []
    for outcome in outcomes:
        figures = (text_figures.plain_kind(outcome, threshold, named(kind).name) for kind in shown)
        by_corpus.append([outcome.labels.name, *("" if f1 is None else f"{f1:.3f}" for f1 in figures)])
    header, caption = ["kind", "labels", "links", *LINKING], f"All corpora as one. {INTERVALS}"
    return [
        View("kinds", "Figures by kind.", header, table, caption),
        View("kinds_by_corpus", "F1 by kind and corpus.", ["corpus", *shown], by_corpus, TEXTS["kinds_by_corpus"]),
    ]


def _figures(rows: Sequence[Row], name: str, title: str, metrics: Sequence[str], short: bool = False) -> View:
    """Labels, and figures with their half widths, by corpus; `short`, to fit 80 characters, has only that of F1."""
    cell = {}
    for row in rows:
        text = f"{row.value:.3f}" if short and row.metric != "F1" else str(row.interval)
        cell[row.slice, row.metric] = text.replace("0.", ".") if short else text
    labels = {row.slice: f"{row.n:,}" for row in rows if row.metric == metrics[1]}
    table = [[corpus, n, *(cell.get((corpus, metric), "") for metric in metrics)] for corpus, n in labels.items()]
    header = ["corpus", "gold", "P", "R", "F1", *CONFIDENCE] if short else ["corpus", "labels", *metrics]
    return View(name, title, header, table, INTERVALS)


def _counts(
    name: str, title: str, columns: Sequence[str], counts: Mapping[str, Sequence[int]], caption: str = ""
) -> View:
    """A row of counts for each corpus, and their sums."""
    sums = {"all": [sum(each) for each in zip(*counts.values(), strict=True)]} if len(counts) > 1 else {}
    table = [[corpus, *(f"{count:,}" for count in row)] for corpus, row in {**counts, **sums}.items()]
    return View(name, title, ["corpus", *columns], table, caption)


def _examples(missed: Sequence[Miss]) -> list[View]:
    views, header = [], ["corpus", "document", "sentence", "label", "best candidate", "confidence"]
    for kind in KINDS:
        of_kind = [miss for miss in missed if miss.kind == kind]
        turn = {miss.corpus: count() for miss in of_kind}  # from as many corpora as possible, in their order
        rows = []
        for miss in sorted(of_kind, key=lambda miss: next(turn[miss.corpus]))[:EXAMPLES]:
            confidence = "" if miss.confidence is None else f"{miss.confidence:.2f}"
            rows.append([miss.corpus, miss.document, miss.sentence, miss.qid, miss.best or "", confidence])
        name, title = f"examples_{kind.replace(':', '').replace(' ', '_')}", f"{kind.capitalize()}: {len(rows):,} of"
        title += f" {len(of_kind):,}."
        views.append(View(name, title, header, rows, words=range(5), qids=(3, 4), cards=True))
    return [view for view in views if view.rows]
