"""The report of `namesake eval run --labelled`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from namesake.evaluation import text_figures
from namesake.evaluation.labelled_text import Outcome
from namesake.evaluation.measure import Row
from namesake.evaluation.reports import plots
from namesake.evaluation.reports.evaluation_report import confidence_section
from namesake.evaluation.reports.report import Report, Section, View
from namesake.evaluation.statistics import Bootstrap
from namesake.evaluation.text_figures import CONFIDENCE, KINDS, LINKING, MEAN, Miss

EXAMPLES = 12
"""The number of examples of each kind of miss."""
EXAMPLE_HEADER = ["corpus", "document", "sentence", "label", "best candidate", "confidence"]
INTERVALS = "± covers the 95 % bootstrap interval by document."
TITLE = "How well are people found and linked?"
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


def text_report(
    outcomes: Sequence[Outcome],
    missed: Sequence[Miss],
    threshold: float,
    method: str,
    bootstrap: Bootstrap,
    about: Sequence[str],
    remarks: Sequence[str],
) -> Report:
    """Make the report of labelled text from the results at a threshold and its misses."""
    rows = text_figures.figures(outcomes, threshold, method, bootstrap)
    shares, misses, wrong = [], {}, {}
    for number, outcome in enumerate(outcomes):
        name, known = outcome.labels.name, int(outcome.labels.known.sum())
        here = [miss for miss in missed if miss.corpus == name]
        shares += text_figures.miss_rows(outcome, here, method, bootstrap._replace(seed=bootstrap.seed + number))
        misses[name] = [known, *(sum(miss.kind == kind for miss in here) for kind in KINDS)]
        wrong[name] = list(text_figures.wrong_links(outcome, threshold).values())
    reasons = _counts("misses", "Reasons for misses.", ["labels", *KINDS], misses)
    caption = "Wrong answers by the labels that they overlap."
    linking = sorted((row for row in rows if row.metric in LINKING), key=lambda row: row.slice == MEAN)
    dots = [plots.Dot(row.slice, row.metric, row.value, row.low, row.high) for row in linking]
    plot = plots.intervals(dots, "Precision, recall and F1 with 95 % bootstrap intervals")
    detection = _figures(rows, "detection", "Names found.", text_figures.DETECTION)
    sections = [
        Section("Results", [LINKED], [_figures(rows, "linking", "People linked.", [*LINKING, *CONFIDENCE])], [plot]),
        Section(
            "Names found, and NIL as an answer",
            [NIL_AND_DETECTION],
            [detection, _figures(rows, "with_nil", "With NIL.", text_figures.WITH_NIL)],
        ),
        *confidence_section(text_figures.text_curves(outcomes), "corpus"),
        Section("Reasons for misses", [MISSES], [reasons]),
        *_example_sections(missed),
        Section("Wrong links", [], [_counts("wrong_links", "Wrong links.", text_figures.WRONG_LINKS, wrong, caption)]),
    ]
    last = View(reasons.name, reasons.title, reasons.header, reasons.rows[-1:])
    data = [asdict(row) for row in [*rows, *shares]]
    return Report(TITLE, sections, data, [*about, *remarks], [_short(rows), last], remarks)


def _figures(rows: Sequence[Row], name: str, title: str, metrics: Sequence[str]) -> View:
    """A row for each corpus with the number of labels, and each figure with its half width."""
    cell = {(row.slice, row.metric): row for row in rows}
    table = [
        [
            corpus,
            f"{cell[corpus, metrics[1]].n:,}",
            *(str(cell[corpus, metric].interval) if (corpus, metric) in cell else "" for metric in metrics),
        ]
        for corpus in dict.fromkeys(row.slice for row in rows)
    ]
    return View(name, title, ["corpus", "labels", *metrics], table, INTERVALS)


def _short(rows: Sequence[Row]) -> View:
    """A table of 80 characters: the figures of linking, and the half width of F1."""
    whole = _figures(rows, "short", TITLE, [*LINKING, *CONFIDENCE])
    f1 = whole.header.index("F1")
    table = [
        [*row[:2], *(text if j == f1 else text.split(" ± ")[0] for j, text in enumerate(row[2:], 2))]
        for row in whole.rows
    ]
    table = [[*row[:2], *(text.replace("0.", ".") for text in row[2:])] for row in table]
    return View("short", TITLE, ["corpus", "gold", "P", "R", "F1", *CONFIDENCE], table, INTERVALS)


def _counts(
    name: str, title: str, columns: Sequence[str], counts: Mapping[str, Sequence[int]], caption: str = ""
) -> View:
    """A row of counts for each corpus, and their sums."""
    sums = {"all": [sum(each) for each in zip(*counts.values(), strict=True)]} if len(counts) > 1 else {}
    table = [[corpus, *(f"{count:,}" for count in row)] for corpus, row in {**counts, **sums}.items()]
    return View(name, title, ["corpus", *columns], table, caption)


def _example_sections(missed: Sequence[Miss]) -> list[Section]:
    views = []
    for kind in KINDS:
        of_kind = [miss for miss in missed if miss.kind == kind]
        rows = []
        for miss in text_figures.examples(of_kind, EXAMPLES):
            confidence = "" if miss.confidence is None else f"{miss.confidence:.2f}"
            rows.append([miss.corpus, miss.document, miss.sentence, miss.qid, miss.best or "", confidence])
        if rows:
            name = "examples_" + "_".join(kind.replace(":", "").split())
            title, words, qids = f"{kind.capitalize()}: {len(rows):,} of {len(of_kind):,}.", range(5), {3, 4}
            views.append(
                View(name, title, EXAMPLE_HEADER, rows, words=frozenset(words), qids=frozenset(qids), cards=True)
            )
    return [Section("Examples of misses", ["The name is marked, in plain text with « and »."], views)] if views else []
