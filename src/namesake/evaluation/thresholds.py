"""Thresholds of the confidence: precision, recall and coverage at every threshold.

Only answers that overlap a label with an entity or a type count. If a corpus merely gives no QID, an answer may be
right, and a few such labels would decide the thresholds of the highest precisions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from namesake.arrays import Bool, Float64
from namesake.evaluation import statistics
from namesake.evaluation.labelled_text import NEVER, Outcome
from namesake.evaluation.reports.report import View
from namesake.evaluation.statistics import DEFAULT, Bootstrap, Interval

PERCENTS = (80, 85, 90, 95, 97, 98, 99)
"""The precisions for which recipes have thresholds, if they can be reached."""
FEWEST, WRONG = 20, 3
"""The minimum of answers for a precision, and of wrong answers to expect among them."""
DECIMALS = 4


@dataclass(frozen=True)
class Trade:
    """Figures over all corpora as one: an entry for each distinct confidence, in descending order."""

    threshold: Float64
    precision: Float64
    recall: Float64
    coverage: Float64
    """The share of the names found that are answered."""
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
        return _last((self.precision >= precision) & (self.answers >= fewest(precision)))

    def at(self, threshold: float) -> int | None:
        """Return the entry of the lowest confidence that reaches a threshold; None if there is none."""
        return _last(self.threshold >= threshold)

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
    return max(FEWEST, round(WRONG / max(1 - precision, 0.01)))


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
    best = frozenset((i, j) for i, name in enumerate(shown) if name == bold for j in range(len(header)))
    return View("thresholds", "Figures by threshold.", header, rows, caption, best)


def intervals(
    outcomes: Sequence[Outcome], threshold: float, bootstrap: Bootstrap = DEFAULT
) -> tuple[Interval, Interval]:
    """Return precision and recall at a threshold over all corpora as one, with intervals by document."""
    blocks = []
    for outcome in outcomes:
        labels, size = outcome.labels, len(outcome.labels.corpus.documents)
        made = labels.informative & (outcome.sure >= threshold)
        hits = labels.known & (outcome.found_at >= threshold)
        spans = [np.bincount(labels.span_document, flags, size) for flags in (made & outcome.right, made)]
        blocks.append([*spans, *(np.bincount(labels.label_document, flags, size) for flags in (hits, labels.known))])
    counts = np.concatenate([np.column_stack(block) for block in blocks]).astype(np.float64)

    def statistic(weights: Float64) -> Float64:
        summed = weights @ counts
        return np.column_stack([summed[:, k] / np.maximum(summed[:, k + 1], 1) for k in (0, 2)])

    precision, recall = statistics.estimate(statistic, statistics.by_mention(len(counts)), bootstrap)
    return precision, recall


def _last(flags: Bool) -> int | None:
    found = np.flatnonzero(flags)
    return int(found[-1]) if len(found) else None
