"""Figures of an outcome: detection, linking, linking with NIL, and how honest the confidence is, with intervals.

| figure | of | that |
|---|---|---|
| precision | answers that overlap a label | overlap a known label with their QID |
| recall | known labels | are overlapped by an answer with their QID |
| precision with NIL | names found that overlap a label | are answered rightly, or refused where no known label is |
| recall with NIL | labels of people | the same of known ones; of the others: are overlapped by no answer |
| detection precision | names found that overlap a label which tells what it is | overlap a person's |
| detection recall | labels of people | are overlapped by a name found |

F1 is 2PR / (P + R); what would divide by 0 is 0. AUROC and ECE are over the best candidates of all names found that
overlap a label, whatever the threshold. The bootstrap draws documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from namesake.evaluation.labelled.judged import Outcome
from namesake.evaluation.labelled.misses import KINDS, Miss
from namesake.evaluation.measures import bootstrap, metrics
from namesake.evaluation.measures.bootstrap import SAMPLES, SEED
from namesake.evaluation.measures.tables import Curve, Row
from namesake.rank import FloatArray, IntArray

MEAN = "mean"
LINKING = ("precision", "recall", "F1")
WITH_NIL = tuple(f"{figure} with NIL" for figure in LINKING)
DETECTION = tuple(f"detection {figure}" for figure in LINKING)
CONFIDENCE = ("AUROC", "ECE")
FIGURES = (*LINKING, *WITH_NIL, *DETECTION, *CONFIDENCE)


def counts(outcome: Outcome, threshold: float) -> FloatArray:
    """A row for each document; for each kind of precision and recall in turn: how many are right, and of how many."""
    judged = outcome.judged
    made = outcome.sure >= threshold
    people = judged.known | judged.nobody
    on_known, on_person = judged.any_label(judged.known), judged.any_label(people)
    hit = outcome.found_at >= threshold
    found, taken = judged.any_span(outcome.person), outcome.person
    silent = outcome.answered_at < threshold
    spans = [made & outcome.right, made]
    spans_with_nil = [taken & np.where(made, outcome.right, ~on_known), taken]
    spans_found = [taken & on_person, taken & judged.told]
    labels = [judged.known & hit, judged.known]
    labels_with_nil = [np.where(judged.known, hit, judged.nobody & silent), people]
    labels_found = [people & found, people]
    columns = []
    for by_span, by_label in ((spans, labels), (spans_with_nil, labels_with_nil), (spans_found, labels_found)):
        columns += [_by_document(each, judged.span_document, outcome) for each in by_span]
        columns += [_by_document(each, judged.label_document, outcome) for each in by_label]
    return np.column_stack(columns)


def _by_document(flags: np.ndarray, document: IntArray, outcome: Outcome) -> FloatArray:
    return np.bincount(document, flags, len(outcome.judged.corpus.documents)).astype(np.float64)


class Statistic:
    """All figures of an outcome, for any weights of its documents."""

    def __init__(self, outcome: Outcome, threshold: float) -> None:
        self.counts = counts(outcome, threshold)
        claimed = np.flatnonzero(~np.isnan(outcome.confidence))
        self.document = outcome.judged.span_document[claimed]
        self.confidence, self.fits = outcome.confidence[claimed], outcome.fits[claimed]

    def __call__(self, weights: FloatArray) -> FloatArray:
        """A row for each row of weights, a column for each of FIGURES; NaN where AUROC or ECE is not defined."""
        summed = weights @ self.counts
        columns = []
        for k in range(0, summed.shape[1], 4):
            p, r = (_share(summed[:, k + j], summed[:, k + j + 1]) for j in (0, 2))
            columns += [p, r, _share(2 * p * r, p + r)]
        if not len(self.confidence):
            return np.column_stack([*columns, *[np.full(len(weights), np.nan)] * len(CONFIDENCE)])
        by_span = weights[:, self.document]
        count, claims, rights = metrics.calibration_bins(self.confidence, self.fits, by_span)
        drawn = count.sum(axis=1)
        ece = np.where(drawn > 0, _share(np.abs(rights - claims).sum(axis=1), drawn), np.nan)
        return np.column_stack([*columns, metrics.auroc(self.confidence, self.fits, by_span), ece])

    @property
    def sizes(self) -> list[int]:
        """What each of FIGURES is over: for F1, the labels."""
        total = self.counts.sum(axis=0).astype(int).tolist()
        of = [(total[k + 1], total[k + 3], total[k + 3]) for k in range(0, len(total), 4)]
        return [*(n for each in of for n in each), *[len(self.confidence)] * len(CONFIDENCE)]


def plain(outcome: Outcome, threshold: float) -> dict[str, float]:
    """The figures themselves, without intervals."""
    values = Statistic(outcome, threshold)(np.ones((1, len(outcome.judged.corpus.documents))))[0]
    return dict(zip(FIGURES, values.tolist(), strict=True))


def figures(
    outcomes: Sequence[Outcome], threshold: float, method: str, samples: int = SAMPLES, seed: int = SEED
) -> list[Row]:
    """A row for each corpus and figure, and for the mean over corpora where there are several.

    Every corpus is resampled by itself, with a seed of its own; the mean of a sample is over all of them.
    """
    rows: list[Row] = []
    values, sampled, sizes = [], [], []
    for number, outcome in enumerate(outcomes):
        statistic = Statistic(outcome, threshold)
        documents = len(outcome.judged.corpus.documents)
        values.append(statistic(np.ones((1, documents)))[0])
        sampled.append(bootstrap.resample(statistic, bootstrap.by_mention(documents), samples, seed + number))
        sizes.append(statistic.sizes)
        rows += _rows(method, outcome.judged.name, values[-1], sampled[-1], sizes[-1])
    if len(outcomes) > 1:
        total = np.sum(sizes, axis=0).tolist()
        rows += _rows(method, MEAN, mean_defined(np.stack(values)), mean_defined(np.stack(sampled)), total)
    return rows


def miss_rows(
    outcome: Outcome, missed: Sequence[Miss], method: str, samples: int = SAMPLES, seed: int = SEED
) -> list[Row]:
    """The share of the known labels of a corpus that each kind of miss takes; no rows without such labels."""
    judged = outcome.judged
    labels = _by_document(judged.known, judged.label_document, outcome)
    if not labels.any():
        return []
    by_kind = np.zeros((len(labels), len(KINDS)))
    for miss in missed:
        by_kind[miss.place, KINDS.index(miss.kind)] += 1

    def statistic(weights: FloatArray) -> FloatArray:
        of = (weights @ labels)[:, None]
        return _share(weights @ by_kind, np.repeat(of, len(KINDS), axis=1))

    values = statistic(np.ones((1, len(labels))))[0]
    sampled = bootstrap.resample(statistic, bootstrap.by_mention(len(labels)), samples, seed)
    return [
        Row(method, judged.name, f"missed, {kind}", each.value, each.low, each.high, int(labels.sum()))
        for kind, each in zip(KINDS, bootstrap.intervals(values, sampled), strict=True)
    ]


def mean_defined(values: FloatArray) -> FloatArray:
    """The mean over the first axis of what is a number; NaN where nothing is."""
    inside = ~np.isnan(values)
    mean: FloatArray = np.divide(
        np.where(inside, values, 0.0).sum(axis=0),
        inside.sum(axis=0),
        out=np.full(values.shape[1:], np.nan),
        where=inside.any(axis=0),
    )
    return mean


def curves(outcomes: Sequence[Outcome]) -> list[Curve]:
    """Risk and coverage of all corpora together, with their calibration, and of each; none without confidence."""
    alone = [_curve([outcome], outcome.judged.name) for outcome in outcomes]
    if len(alone) == 1:
        return [each for each in alone if each is not None]
    several = [_curve(outcomes, "all"), *(each and replace(each, bins=None) for each in alone)]
    return [each for each in several if each is not None]


def _curve(outcomes: Sequence[Outcome], name: str) -> Curve | None:
    confidence = np.concatenate([outcome.confidence for outcome in outcomes])
    fits = np.concatenate([outcome.fits for outcome in outcomes])
    claimed = ~np.isnan(confidence)
    if not claimed.any():
        return None
    confidence, fits = confidence[claimed], fits[claimed]
    bins = metrics.calibration_bins(confidence, fits, np.ones((1, len(fits))))
    coverage, risk = metrics.risk_coverage(confidence, fits)
    return Curve(name, coverage, risk, (bins[0][0], bins[1][0], bins[2][0]))


def _rows(method: str, corpus: str, values: FloatArray, sampled: FloatArray, sizes: Sequence[int]) -> list[Row]:
    defined = np.flatnonzero(~np.isnan(values))
    found = bootstrap.intervals(values[defined], sampled[:, defined])
    return [
        Row(method, corpus, FIGURES[k], each.value, each.low, each.high, sizes[k])
        for k, each in zip(defined.tolist(), found, strict=True)
    ]


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, 0 where there is nothing to divide by."""
    share: FloatArray = np.divide(part, whole, out=np.zeros(np.shape(whole)), where=whole > 0)
    return share
