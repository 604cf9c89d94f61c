"""From which confidence on enough answers are right: precision, recall and coverage at every threshold.

Answers count that overlap a label which tells who or what it is: where a corpus merely gives no QID, an answer may be
right for all it says, and a few such labels would decide what the highest precisions take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from namesake.evaluation.labelled.judged import NEVER, Outcome
from namesake.evaluation.measures import bootstrap
from namesake.evaluation.measures.bootstrap import SAMPLES, SEED, Interval
from namesake.rank import FloatArray

PERCENTS = (80, 85, 90, 95, 97, 98, 99)
"""The precisions that recipes have thresholds for, where they can be reached."""
FEWEST, WRONG = 20, 3
"""Answers that a precision must be over, and wrong ones to expect among them: fewer are luck."""
DECIMALS = 4


@dataclass(frozen=True)
class Trade:
    """What thresholds are worth, over all corpora as one: an entry for each distinct confidence, descending."""

    threshold: FloatArray
    precision: FloatArray
    recall: FloatArray
    coverage: FloatArray
    """The share of such names found that are answered."""
    answers: FloatArray
    f1: FloatArray

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Trade:
        """The trade-off over all spans found and all known labels of some corpora."""
        sure = np.concatenate([outcome.sure[outcome.judged.told] for outcome in outcomes])
        right = np.concatenate([outcome.right[outcome.judged.told] for outcome in outcomes])
        found_at = np.concatenate([outcome.found_at[outcome.judged.known] for outcome in outcomes])
        levels = np.unique(sure[sure > NEVER])[::-1]
        answers, rights, hits = (_at_least(levels, values) for values in (sure, sure[right], found_at))
        precision, recall = rights / np.maximum(answers, 1), hits / max(len(found_at), 1)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
        return cls(levels, precision, recall, answers / max(len(sure), 1), answers, f1)

    def reaching(self, precision: float) -> int | None:
        """The entry of the lowest threshold at which answers are so precise, if any is."""
        enough = np.flatnonzero((self.precision >= precision) & (self.answers >= fewest(precision)))
        return int(enough[-1]) if len(enough) else None

    def at(self, threshold: float) -> int | None:
        """The entry of the lowest confidence that a threshold lets pass; None where it lets none."""
        passing = np.flatnonzero(self.threshold >= threshold)
        return int(passing[-1]) if len(passing) else None

    def best(self, answers: int) -> int | None:
        """The entry of the highest precision over so many answers or more, of equal ones that with most; None: none."""
        enough = np.flatnonzero(self.answers >= answers)
        return int(max(enough, key=lambda k: (self.precision[k], k))) if len(enough) else None

    def rounded(self, entry: int) -> float:
        """The threshold of an entry in few decimals: rounded down, yet above the next lower confidence."""
        exact = float(self.threshold[entry])
        below = self.threshold[entry + 1] if entry + 1 < len(self.threshold) else NEVER
        for decimals in range(DECIMALS, 16):
            short = float(np.floor(exact * 10**decimals) / 10**decimals)
            if below < short <= exact:
                return short
        return exact


def fewest(precision: float) -> int:
    """How many answers it takes to tell whether so many of them are right."""
    return max(FEWEST, round(WRONG / max(1 - precision, 0.01)))


def thresholds(trade: Trade, percents: Sequence[int] = PERCENTS) -> dict[str, float]:
    """The thresholds that give these precisions, by names such as p95; those that cannot be reached are absent."""
    reached = {percent: trade.reaching(percent / 100) for percent in percents}
    return {f"p{percent:02d}": trade.rounded(at) for percent, at in reached.items() if at is not None}


def intervals(
    outcomes: Sequence[Outcome], threshold: float, samples: int = SAMPLES, seed: int = SEED
) -> tuple[Interval, Interval]:
    """Precision and recall at a threshold over all corpora as one, with intervals over samples of documents."""
    blocks = []
    for outcome in outcomes:
        judged, made = outcome.judged, outcome.judged.told & (outcome.sure >= threshold)
        size = len(judged.corpus.documents)
        hits = judged.known & (outcome.found_at >= threshold)
        spans = [np.bincount(judged.span_document, flags, size) for flags in (made & outcome.right, made)]
        labels = [np.bincount(judged.label_document, flags, size) for flags in (hits, judged.known)]
        blocks.append(np.column_stack([*spans, *labels]))
    counts = np.concatenate(blocks).astype(np.float64)

    def statistic(weights: FloatArray) -> FloatArray:
        summed = weights @ counts
        return np.column_stack([summed[:, k] / np.maximum(summed[:, k + 1], 1) for k in (0, 2)])

    plain = statistic(np.ones((1, len(counts))))[0]
    found = bootstrap.resample(statistic, bootstrap.by_mention(len(counts)), samples, seed)
    precision, recall = bootstrap.intervals(plain, found)
    return precision, recall


def _at_least(levels: FloatArray, values: FloatArray) -> FloatArray:
    """How many values reach each level."""
    return (len(values) - np.searchsorted(np.sort(values), levels, side="left")).astype(np.float64)
