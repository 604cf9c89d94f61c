"""The report of `namesake evaluate --labelled`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from namesake.evaluation.measure import Row
from namesake.evaluation.reports import plots
from namesake.evaluation.reports.evaluation_report import confidence_section
from namesake.evaluation.reports.report import Report, Section, View
from namesake.evaluation.statistics import Curve
from namesake.evaluation.text_figures import (
    CONFIDENCE,
    DETECTION,
    KINDS,
    LINKING,
    MEAN,
    WITH_NIL,
    WRONG_LINKS,
    Miss,
    examples,
)

EXAMPLES = 12
"""The number of examples of each kind of miss."""
INTERVALS = "± covers the 95 % bootstrap interval by document."


@dataclass(frozen=True)
class TextFigures:
    """The results: figures by corpus, misses, wrong links by corpus and kind, curves, labels by corpus."""

    rows: Sequence[Row]
    misses: Sequence[Miss]
    miss_rows: Sequence[Row]
    """The share of each kind of miss in the labels of a corpus."""
    wrong: Mapping[str, Mapping[str, int]]
    curves: Sequence[Curve]
    labels: Mapping[str, int]
    """The number of labels in the KB, by corpus."""


def text_report(found: TextFigures, about: Sequence[str], remarks: Sequence[str]) -> Report:
    """Make the report of labelled text."""
    results = _figures_view(found, "linking", "People linked.", [*LINKING, *CONFIDENCE])
    nil = _figures_view(found, "with_nil", "With NIL.", WITH_NIL)
    detection = _figures_view(found, "detection", "Names found.", DETECTION)
    linking = sorted((row for row in found.rows if row.metric in LINKING), key=lambda row: row.slice == MEAN)
    dots = [plots.Dot(row.slice, row.metric, row.value, row.low, row.high) for row in linking]
    title = "Precision, recall and F1 with 95 % bootstrap intervals"
    sections = [
        Section("Results", [LINKED], [results], [plots.intervals(dots, title)]),
        Section("Names found, and NIL as an answer", [NIL_AND_DETECTION], [detection, nil]),
        *confidence_section(found.curves, "corpus"),
        Section("Reasons of misses", [MISSES], [_misses_view(found)]),
        *_example_sections(found),
        Section("Wrong links", [], [_wrong_view(found)]),
    ]
    rows = [asdict(row) for row in [*found.rows, *found.miss_rows]]
    short = [_short_view(found), _misses_view(found, short=True)]
    return Report("How well are people found and linked?", sections, rows, [*about, *remarks], short, remarks)


LINKED = (
    "A label counts if its QID is in the KB. An answer is right if a label with its QID overlaps it; answers that "
    "overlap no label are not scored. AUROC and ECE are computed over the best candidates of all names found that "
    "overlap a label, at any threshold."
)
NIL_AND_DETECTION = (
    "Detection counts whether a person's name was found, whatever its entity. With NIL, labels of people who are not "
    "in the KB count as well: the right answer there is NIL."
)
MISSES = (
    "Labels in the KB without a right answer: not found (one word; several words that are a name in the KB; a variant, "
    "which is not), found and refused (the best candidate is right, or another), or linked to another entity (wrong)."
)


def _cells(found: TextFigures) -> tuple[list[str], dict[tuple[str, str], Row]]:
    corpora = list(dict.fromkeys(row.slice for row in found.rows))
    return corpora, {(row.slice, row.metric): row for row in found.rows}


def _figures_view(found: TextFigures, name: str, title: str, metrics: Sequence[str]) -> View:
    """A row for each corpus with the number of labels, and each figure with its half width."""
    corpora, cell = _cells(found)
    over = metrics[1]
    rows = [
        [corpus, f"{cell[corpus, over].n:,}", *(_figure(cell.get((corpus, metric))) for metric in metrics)]
        for corpus in corpora
    ]
    return View(name, title, ["corpus", "labels", *metrics], rows, INTERVALS)


def _short_view(found: TextFigures) -> View:
    """A table of 80 characters: the figures of linking, and the half width of F1."""
    corpora, cell = _cells(found)
    rows = []
    for corpus in corpora:
        figures = [_figure(cell.get((corpus, metric)), metric == "F1") for metric in (*LINKING, *CONFIDENCE)]
        rows.append([corpus, f"{cell[corpus, 'recall'].n:,}", *(text.replace("0.", ".") for text in figures)])
    header = ["corpus", "gold", "P", "R", "F1", *CONFIDENCE]
    return View("short", "How well are people found and linked?", header, rows, INTERVALS)


def _misses_view(found: TextFigures, short: bool = False) -> View:
    corpora = list(found.labels)
    count = {(corpus, kind): 0 for corpus in corpora for kind in KINDS}
    for miss in found.misses:
        count[miss.corpus, miss.kind] += 1
    rows = [
        [corpus, f"{found.labels[corpus]:,}", *(f"{count[corpus, kind]:,}" for kind in KINDS)] for corpus in corpora
    ]
    if len(corpora) > 1:
        sums = [sum(count[corpus, kind] for corpus in corpora) for kind in KINDS]
        rows.append(["all", f"{sum(found.labels.values()):,}", *(f"{n:,}" for n in sums)])
    rows = rows[-1:] if short else rows
    return View("misses", "Reasons of misses.", ["corpus", "labels", *KINDS], rows)


def _example_sections(found: TextFigures) -> list[Section]:
    chosen = examples(found.misses, EXAMPLES)
    views = []
    for kind in KINDS:
        some = [miss for miss in chosen if miss.kind == kind]
        rows = [
            [
                miss.corpus,
                miss.document,
                miss.sentence,
                miss.qid,
                miss.best or "",
                "" if miss.confidence is None else f"{miss.confidence:.2f}",
            ]
            for miss in some
        ]
        if rows:
            name = "examples_" + "_".join(kind.replace(":", "").split())
            total = sum(miss.kind == kind for miss in found.misses)
            title, header = f"{kind.capitalize()}: {len(rows):,} of {total:,}.", EXAMPLE_HEADER
            views.append(View(name, title, header, rows, words=frozenset(range(5)), qids=frozenset({3, 4}), cards=True))
    return [Section("Examples of misses", ["The name is marked, in plain text with « and »."], views)] if views else []


EXAMPLE_HEADER = ["corpus", "document", "sentence", "label", "best candidate", "confidence"]


def _wrong_view(found: TextFigures) -> View:
    rows = [[corpus, *(f"{kinds[what]:,}" for what in WRONG_LINKS)] for corpus, kinds in found.wrong.items()]
    if len(rows) > 1:
        rows.append(["all", *(f"{sum(kinds[what] for kinds in found.wrong.values()):,}" for what in WRONG_LINKS)])
    caption = "Wrong answers by the labels that they overlap."
    return View("wrong_links", "Wrong links.", ["corpus", *WRONG_LINKS], rows, caption)


def _figure(row: Row | None, half_width: bool = True) -> str:
    return "" if row is None else str(row.interval) if half_width else f"{row.value:.3f}"
