"""What an evaluation on labelled text looks like to a reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from namesake.evaluation.labelled.figures import CONFIDENCE, DETECTION, LINKING, MEAN, WITH_NIL
from namesake.evaluation.labelled.misses import KINDS, WRONG_LINKS, Miss, examples
from namesake.evaluation.measures.tables import Curve, Row
from namesake.evaluation.reports import plots
from namesake.evaluation.reports.evaluation import confidence_section
from namesake.evaluation.reports.report import Report, Section, View

EXAMPLES = 12
"""Of each kind of miss."""
INTERVALS = "± covers the 95 % bootstrap interval by document."


@dataclass(frozen=True)
class LabelledFigures:
    """What was measured: figures by corpus, misses, wrong links by corpus and kind, curves, labels by corpus."""

    rows: Sequence[Row]
    misses: Sequence[Miss]
    miss_rows: Sequence[Row]
    """What share of a corpus's labels each kind of miss takes."""
    wrong: Mapping[str, Mapping[str, int]]
    curves: Sequence[Curve]
    labels: Mapping[str, int]
    """Labels by corpus that are entities of the KB."""


def labelled_report(found: LabelledFigures, about: Sequence[str], remarks: Sequence[str]) -> Report:
    """The report of `namesake evaluate --labelled`."""
    results = _figures_view(found, "linking", "People linked.", [*LINKING, *CONFIDENCE])
    nil = _figures_view(found, "with_nil", "With NIL.", WITH_NIL)
    detection = _figures_view(found, "detection", "Names found.", DETECTION)
    sections = [
        Section("Results", [LINKED], [results], [_plot(found)]),
        Section("Names found, and nobody as an answer", [NIL_AND_DETECTION], [detection, nil]),
        *confidence_section(found.curves, "corpus"),
        Section("Where the misses go", [MISSES], [_misses_view(found)]),
        *_example_sections(found),
        Section("Where the wrong links go", [], [_wrong_view(found)]),
    ]
    rows = [row.asdict() for row in [*found.rows, *found.miss_rows]]
    short = [_short_view(found), _misses_view(found, short=True)]
    return Report("How well are people found and linked?", sections, rows, [*about, *remarks], short, remarks)


LINKED = (
    "A label counts where the KB has its QID. An answer is right when a label with its QID overlaps it; answers that "
    "overlap no label are not judged. AUROC and ECE are over the best candidates of all names found that overlap a "
    "label, whatever the threshold."
)
NIL_AND_DETECTION = (
    "Detection asks whether a person's name was found, whoever is meant. With NIL, labels of people whom the KB lacks "
    "count as well: they are right where nobody is linked."
)
MISSES = (
    "Of the labels that the KB has and no answer hits: not found, being one word, several words that are a name of the "
    "KB as they stand, or a variant, several words that are none; found and refused, with the right best candidate "
    "or another; found and linked to somebody else."
)


def _cells(found: LabelledFigures) -> tuple[list[str], dict[tuple[str, str], Row]]:
    corpora = list(dict.fromkeys(row.slice for row in found.rows))
    return corpora, {(row.slice, row.metric): row for row in found.rows}


def _figures_view(found: LabelledFigures, name: str, title: str, metrics: Sequence[str]) -> View:
    """A row for each corpus, each figure with its half width and the number of labels it is over."""
    corpora, cell = _cells(found)
    over = metrics[1]
    rows = [
        [corpus, f"{cell[corpus, over].n:,}", *(_figure(cell.get((corpus, metric))) for metric in metrics)]
        for corpus in corpora
    ]
    return View(name, title, ["corpus", "labels", *metrics], rows, INTERVALS)


def _short_view(found: LabelledFigures) -> View:
    """What fits a terminal of 80 characters: the figures of linking, F1 alone with its half width."""
    corpora, cell = _cells(found)
    rows = []
    for corpus in corpora:
        figures = [_figure(cell.get((corpus, metric)), metric == "F1") for metric in (*LINKING, *CONFIDENCE)]
        rows.append([corpus, f"{cell[corpus, 'recall'].n:,}", *(text.replace("0.", ".") for text in figures)])
    header = ["corpus", "gold", "P", "R", "F1", *CONFIDENCE]
    return View("short", "How well are people found and linked?", header, rows, INTERVALS)


def _misses_view(found: LabelledFigures, short: bool = False) -> View:
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
    return View("misses", "Where the misses go.", ["corpus", "labels", *KINDS], rows)


def _example_sections(found: LabelledFigures) -> list[Section]:
    chosen = examples(found.misses, EXAMPLES)
    views = []
    for kind in KINDS:
        some = [miss for miss in chosen if miss.kind == kind]
        rows = [
            [miss.corpus, miss.document, miss.sentence, miss.qid, miss.best or "", _claim(miss.confidence)]
            for miss in some
        ]
        if rows:
            name = "examples_" + "_".join(kind.replace(":", "").split())
            total = sum(miss.kind == kind for miss in found.misses)
            title, header = f"{kind.capitalize()}: {len(rows):,} of {total:,}.", EXAMPLE_HEADER
            views.append(View(name, title, header, rows, words=frozenset(range(5)), qids=frozenset({3, 4}), cards=True))
    return [Section("Examples of misses", ["The name is marked, in plain text by « and »."], views)] if views else []


EXAMPLE_HEADER = ["corpus", "document", "sentence", "label", "best candidate", "confidence"]


def _wrong_view(found: LabelledFigures) -> View:
    rows = [[corpus, *(f"{kinds[what]:,}" for what in WRONG_LINKS)] for corpus, kinds in found.wrong.items()]
    if len(rows) > 1:
        rows.append(["all", *(f"{sum(kinds[what] for kinds in found.wrong.values()):,}" for what in WRONG_LINKS)])
    caption = "Wrong answers by what the labels that they overlap say."
    return View("wrong_links", "Wrong links.", ["corpus", *WRONG_LINKS], rows, caption)


def _plot(found: LabelledFigures) -> str:
    dots = [
        plots.Dot(row.slice, row.metric, row.value, row.low, row.high) for row in found.rows if row.metric in LINKING
    ]
    ordered = sorted(dots, key=lambda dot: dot.label == MEAN)
    return plots.intervals(ordered, "Precision, recall and F1 with 95 % bootstrap intervals")


def _figure(row: Row | None, half_width: bool = True) -> str:
    if row is None:
        return ""
    return f"{row.value:.3f}" + (f" ± {max(row.high - row.value, row.value - row.low):.3f}" if half_width else "")


def _claim(confidence: float | None) -> str:
    return "" if confidence is None else f"{confidence:.2f}"
