"""Figures of labelled text: detection, linking, linking with NIL, calibration, thresholds; reasons for missed labels.

docs/evaluation.md defines every figure. A figure with the denominator 0 is 0. AUROC and ECE are computed over the best
candidates of all names found that overlap a label, at any threshold. The bootstrap draws documents.

For thresholds, only answers that overlap a label with an entity or a type count. If a corpus merely gives no QID, an
answer may be right, and a few such labels would decide the thresholds of the highest precisions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from namesake import kinds
from namesake.arrays import Bool, Float64
from namesake.articles.article import Span
from namesake.drawing.text import Excerpt, excerpt
from namesake.evaluation import statistics
from namesake.evaluation.labelled_text import NEVER, Alignment, Outcome
from namesake.evaluation.measure import Row, rows_of
from namesake.evaluation.reports.report import View
from namesake.evaluation.statistics import Bootstrap, Curve, Interval, ratio

MEAN = "mean"
LINKING = ("precision", "recall", "F1")
WITH_NIL = tuple(f"{figure} with NIL" for figure in LINKING)
DETECTION = tuple(f"detection {figure}" for figure in LINKING)
CONFIDENCE = ("AUROC", "ECE")
FIGURES = (*LINKING, *WITH_NIL, *DETECTION, *CONFIDENCE)

NOT_FOUND = ("not found: one word", "not found: a name of the KB", "not found: a variant")
"""Missed names: one word, several words that are a name in the KB, several words that are not."""
REFUSED_RIGHT, REFUSED_OTHER, WRONG = "refused: best is right", "refused: best is another", "wrong"
KINDS = (*NOT_FOUND, REFUSED_RIGHT, REFUSED_OTHER, WRONG)
WRONG_LINKS = ("another entity in the KB", "a person not in the KB", "not a person", "not stated", "no label")
"""What the labels under wrong links are. There are links without a label in complete documents only."""


def statistic(outcome: Outcome, threshold: float) -> tuple[statistics.Statistic, list[int]]:
    """Return all FIGURES of an outcome for any weights of its documents, and the denominator of each (F1: labels)."""
    counts = _counts(outcome, threshold)
    claimed = np.flatnonzero(~np.isnan(outcome.confidence))
    document = outcome.labels.span_document[claimed]
    confidence, fits = outcome.confidence[claimed], outcome.fits[claimed]

    def weighted(weights: Float64) -> Float64:
        metrics = (statistics.auroc, statistics.calibration_error)
        more = [metric(confidence, fits, weights[:, document]) for metric in metrics]
        return np.column_stack([_linking(weights @ counts), *more])

    total = counts.sum(axis=0).astype(int).tolist()
    sizes = [n for k in range(0, len(total), 4) for n in (total[k + 1], total[k + 3], total[k + 3])]
    return weighted, [*sizes, *[len(confidence)] * len(CONFIDENCE)]


def _linking(summed: Float64) -> Float64:
    """Precision, recall and F1 for each four columns: numerator and denominator of precision, then of recall."""
    p, r = (ratio(summed[:, j::4], summed[:, j + 1 :: 4]) for j in (0, 2))
    return np.stack([p, r, ratio(2 * p * r, p + r)], axis=2).reshape(len(summed), -1)


def _counts(outcome: Outcome, threshold: float) -> Float64:
    """One row per document; for each kind of precision and recall in turn: numerator and denominator."""
    labels = outcome.labels
    made, taken = outcome.sure >= threshold, outcome.person
    people = labels.known | labels.nil
    hit, silent = outcome.found_at >= threshold, outcome.answered_at < threshold
    found = np.bincount(labels.pair_label, taken[labels.pair_span], len(people)) > 0
    right_or_silent = np.where(made, outcome.right, ~labels.any_label(labels.known))
    flags = (
        *(made & outcome.right, made, labels.known & hit, labels.known),
        *(taken & right_or_silent, taken, np.where(labels.known, hit, labels.nil & silent), people),
        *(taken & labels.any_label(people), taken & labels.informative, people & found, people),
    )
    return _by_document(labels, flags)


def _by_document(labels: Alignment, flags: Sequence[Bool]) -> Float64:
    """One row per document: how many of its spans have each of two flags, and its labels the next two, and so on."""
    documents, size = (labels.span_document, labels.label_document), len(labels.corpus.documents)
    return np.column_stack([np.bincount(documents[k // 2 % 2], each, size) for k, each in enumerate(flags)])


def _some_counts(outcome: Outcome, threshold: float, spans: Bool, labels: Bool) -> Float64:
    """One row per document: right links of some spans, all of their links, some labels in the KB found, all of them."""
    made, known = spans & (outcome.sure >= threshold), labels & outcome.labels.known
    return _by_document(outcome.labels, (made & outcome.right, made, known & (outcome.found_at >= threshold), known))


def _kind_counts(outcome: Outcome, threshold: float, kind: str) -> Float64:
    """The same for links to entities of a kind and for labels of such entities."""
    qids = outcome.best, [label.qid for label in outcome.labels.labels]
    links, labels = (np.array([outcome.labels.kinds.get(qid or "") == kind for qid in some], bool) for some in qids)
    return _some_counts(outcome, threshold, links, labels)


def _estimated(counts: Float64, bootstrap: Bootstrap) -> list[Interval]:
    """Precision, recall and F1 of four columns of counts, one row per document, with their intervals."""
    return statistics.estimate(lambda weights: _linking(weights @ counts), np.arange(len(counts)), bootstrap)


def kind_figures(
    outcomes: Sequence[Outcome], threshold: float, method: str, bootstrap: Bootstrap
) -> dict[str, list[Row]]:
    """Return precision, recall and F1 of each kind over all corpora as one, if there are several kinds."""
    present = {kind for one in outcomes for kind in one.labels.kinds.values()}
    rows: dict[str, list[Row]] = {}
    for kind in (kind for kind in kinds.listed() if kind.name in present and len(present) > 1):
        counts = np.concatenate([_kind_counts(outcome, threshold, kind.name) for outcome in outcomes])
        _, links, _, labels = counts.sum(axis=0).astype(int).tolist()
        if links or labels:
            sized = zip(LINKING, _estimated(counts, bootstrap), (links, labels, labels), strict=True)
            rows[kind.plural] = [Row(method, kind.plural, metric, *each, size) for metric, each, size in sized]
    return rows


def plain_kind(outcome: Outcome, threshold: float, kind: str) -> float | None:
    """Return F1 of a kind, without an interval; None without labels of the kind."""
    summed = _kind_counts(outcome, threshold, kind).sum(axis=0, keepdims=True)
    return float(_linking(summed)[0, 2]) if summed[0, 3] else None


def plain_figures(outcome: Outcome, threshold: float) -> dict[str, float]:
    """Return the figures without intervals."""
    values = statistics.plain(statistic(outcome, threshold)[0], len(outcome.labels.corpus.documents))
    return dict(zip(FIGURES, values.tolist(), strict=True))


def figures(outcomes: Sequence[Outcome], threshold: float, method: str, bootstrap: Bootstrap) -> list[Row]:
    """Return a row for each corpus and figure, and for the mean over several corpora, which have seeds of their own."""
    found = []
    for number, outcome in enumerate(outcomes):
        weighted, sizes = statistic(outcome, threshold)
        documents, seeded = len(outcome.labels.corpus.documents), bootstrap._replace(seed=bootstrap.seed + number)
        sampled = statistics.resample(weighted, np.arange(documents), seeded)
        found.append((outcome.labels.name, statistics.plain(weighted, documents), sampled, sizes))
    if len(outcomes) > 1:
        _, values, samples, counts = zip(*found, strict=True)
        means = mean_defined(np.stack(values)), mean_defined(np.stack(samples))  # in each sample, over all corpora
        found.append((MEAN, *means, np.sum(counts, axis=0).tolist()))
    rows: list[Row] = []
    for name, value, sampled, sizes in found:
        rows += rows_of([(method, name, figure) for figure in FIGURES], value, sampled, sizes)
    return rows


def mean_defined(values: Float64) -> Float64:
    """Return the mean over the first axis of the entries that are not NaN; NaN without any."""
    inside = ~np.isnan(values)
    return ratio(np.where(inside, values, 0.0).sum(axis=0), inside.sum(axis=0), np.nan)


def text_curves(outcomes: Sequence[Outcome]) -> list[Curve]:
    """Return risk and coverage of all corpora together, with their calibration, and of each corpus."""
    alone, sure = len(outcomes) == 1, [each for each in outcomes if not np.isnan(each.confidence).all()]
    curves = [Curve.of(each.labels.name, each.confidence, each.fits, is_probability=alone) for each in sure]
    if alone or not curves:
        return curves
    confidence = np.concatenate([each.confidence for each in outcomes])
    return [Curve.of("all", confidence, np.concatenate([each.fits for each in outcomes])), *curves]


class Miss(NamedTuple):
    """A label in the KB that no answer hits."""

    corpus: str
    place: int  # the number of its document in the corpus
    document: str
    kind: str
    sentence: Excerpt
    qid: str
    best: str | None  # the best candidate of the most confident name that overlaps it
    confidence: float | None


def misses(outcome: Outcome, threshold: float, named: Bool, sentences: Callable[[str], Sequence[Span]]) -> list[Miss]:
    """Return the misses at a threshold; `named` has a flag for each label: whether its text is a name in the KB."""
    labels = outcome.labels
    by_label: dict[int, list[int]] = {}
    for span, label in zip(labels.pair_span.tolist(), labels.pair_label.tolist(), strict=True):
        by_label.setdefault(label, []).append(span)
    found = []
    for label in np.flatnonzero(labels.known & (outcome.found_at < threshold)).tolist():
        place = int(labels.label_document[label])
        document = labels.corpus.documents[place]
        qid, at = labels.labels[label].qid or "", labels.labels[label].name_span
        name = document.text[slice(*at)]
        near = sorted(by_label.get(label, ()), key=lambda each: -outcome.sure[each])
        if not near:
            kind = NOT_FOUND[0] if len(name.split()) < 2 else NOT_FOUND[1] if named[label] else NOT_FOUND[2]
        elif outcome.sure[near[0]] >= threshold:
            kind = WRONG
        else:
            kind = REFUSED_RIGHT if any(outcome.best[each] == qid for each in near) else REFUSED_OTHER
        best = outcome.best[near[0]] if near else None
        confidence = float(outcome.confidence[near[0]]) if best is not None else np.nan
        sentence = excerpt(document.text, at, sentences(document.text))
        known = None if np.isnan(confidence) else confidence
        found.append(Miss(labels.name, place, str(document.id), kind, sentence, qid, best, known))
    return found


def miss_rows(outcome: Outcome, missed: Sequence[Miss], method: str, bootstrap: Bootstrap) -> list[Row]:
    """Return the share of the labels in the KB for each kind of miss; no rows without such labels."""
    labels = outcome.labels
    known = np.bincount(labels.label_document, labels.known, len(labels.corpus.documents))
    if not known.any():
        return []
    by_kind = np.zeros((len(known), len(KINDS)))
    for miss in missed:
        by_kind[miss.place, KINDS.index(miss.kind)] += 1

    def shares(weights: Float64) -> Float64:
        return ratio(weights @ by_kind, np.repeat((weights @ known)[:, None], len(KINDS), axis=1))

    kinds_found = zip(KINDS, statistics.estimate(shares, np.arange(len(known)), bootstrap), strict=True)
    return [Row(method, labels.name, f"missed, {kind}", *each, int(known.sum())) for kind, each in kinds_found]


def wrong_links(outcome: Outcome, threshold: float) -> dict[str, int]:
    """Return the number of wrong answers for each of WRONG_LINKS."""
    labels = outcome.labels
    wrong = (outcome.sure >= threshold) & ~outcome.right
    known, nil, stated = labels.any_label(labels.known), labels.any_label(labels.nil), labels.informative
    rest = labels.labelled & ~known & ~nil
    flags = (known, ~known & nil, rest & stated, rest & ~stated, ~labels.labelled)
    return {what: int((wrong & flag).sum()) for what, flag in zip(WRONG_LINKS, flags, strict=True)}


# thresholds
PERCENTS = (80, 85, 90, 95, 97, 98, 99)  # the precisions for which recipes have thresholds, if they are reached
FEWEST, FEWEST_WRONG = 20, 3  # answers for a precision, and wrong answers to expect among them
DECIMALS = 4


@dataclass(frozen=True)
class Trade:
    """Figures over all corpora as one: an entry for each distinct confidence, in descending order."""

    threshold: Float64
    precision: Float64
    recall: Float64
    coverage: Float64  # the share of the names found that are answered
    answers: Float64
    f1: Float64

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> "Trade":
        """Compute the figures over all spans found and all labels in the KB."""
        sure = np.concatenate([outcome.sure[outcome.labels.informative] for outcome in outcomes])
        right = np.concatenate([outcome.right[outcome.labels.informative] for outcome in outcomes])
        found_at = np.concatenate([outcome.found_at[outcome.labels.known] for outcome in outcomes])
        levels = np.unique(sure[sure > NEVER])[::-1]
        answers, rights, hits = (
            (len(values) - np.searchsorted(np.sort(values), levels)).astype(np.float64)  # how many reach each level
            for values in (sure, sure[right], found_at)
        )
        precision, recall = rights / np.maximum(answers, 1), hits / max(len(found_at), 1)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
        return cls(levels, precision, recall, answers / max(len(sure), 1), answers, f1)

    def reaching(self, precision: float) -> int | None:
        """Return the entry of the lowest threshold with this precision; None if there is none."""
        reached = np.flatnonzero((self.precision >= precision) & (self.answers >= fewest(precision)))
        return int(reached[-1]) if len(reached) else None

    def at(self, threshold: float) -> int | None:
        """Return the entry of the lowest confidence that reaches a threshold; None if there is none."""
        above = int(np.count_nonzero(self.threshold >= threshold))  # in descending order
        return above - 1 if above else None

    def best(self, answers: int) -> int | None:
        """Return the entry of the highest precision with at least so many answers; None if there is none."""
        enough = np.flatnonzero(self.answers >= answers)
        return int(max(enough, key=lambda k: (self.precision[k], k))) if len(enough) else None

    def rounded(self, entry: int) -> float:
        """Return the threshold of an entry with few decimals: rounded down, but above the next lower confidence."""
        exact = float(self.threshold[entry])
        below = self.threshold[entry + 1] if entry + 1 < len(self.threshold) else NEVER
        for decimals in range(DECIMALS, 16):
            short = float(np.floor(exact * 10**decimals) / 10**decimals)
            if below < short <= exact:
                return short
        return exact


def fewest(precision: float) -> int:
    """Return how many answers it takes to measure a precision."""
    return max(FEWEST, round(FEWEST_WRONG / max(1 - precision, 0.01)))


def thresholds(trade: Trade, percents: Sequence[int] = PERCENTS) -> dict[str, float]:
    """Return the thresholds of these precisions, by names such as p95, without those that cannot be reached."""
    reached = {percent: trade.reaching(percent / 100) for percent in percents}
    return {f"p{percent:02d}": trade.rounded(at) for percent, at in reached.items() if at is not None}


def thresholds_view(trade: Trade, shown: Mapping[str, float], caption: str, bold: str = "") -> View:
    """Return the figures at some thresholds, which have names; the row named `bold` is in bold."""
    rows = []
    for name, threshold in shown.items():
        figures, entry = ["", "0.000", "", "0.000", "0"], trade.at(threshold)
        if entry is not None:
            shares = (trade.precision, trade.recall, trade.f1, trade.coverage)
            figures = [*(f"{share[entry]:.3f}" for share in shares), f"{trade.answers[entry]:,.0f}"]
        rows.append([name, *figures])
    header = ["threshold", "precision", "recall", "F1", "coverage", "answers"]
    best = {(i, j) for i, name in enumerate(shown) if name == bold for j in range(len(header))}
    return View("thresholds", "Figures by threshold.", header, rows, caption, best)


def intervals(outcomes: Sequence[Outcome], threshold: float, bootstrap: Bootstrap) -> tuple[Interval, Interval]:
    """Return precision and recall at a threshold over all corpora as one, with intervals by document."""
    counts = [_some_counts(each, threshold, each.labels.informative, each.labels.known) for each in outcomes]
    precision, recall, _ = _estimated(np.concatenate(counts), bootstrap)
    return precision, recall
