"""Metrics. Each takes one value per mention and weights of mentions, so that the bootstrap can reweight them.

`weights` has a row for each sample and a column for each mention (how often it was drawn); ones give the plain metric.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from namesake import rank
from namesake.evaluation.scores import BoolArray
from namesake.kernels.measures.samples import ordered_pairs
from namesake.rank import FloatArray, IntArray


def gold_ranks(offsets: IntArray, gold: IntArray, *keys: FloatArray) -> FloatArray:
    """Place of each mention's gold candidate, 1 for the first; infinity where it has none."""
    place = np.full(len(gold), np.inf)
    found = gold >= 0
    place[found] = rank.ranks(offsets, *keys)[gold[found]]
    return place


def random_hits(offsets: IntArray, gold: IntArray) -> FloatArray:
    """P@1 of a uniform pick in expectation: 1 / |E_m|, and 0 where the gold entity is not a candidate."""
    return np.where(gold >= 0, 1 / np.maximum(np.diff(offsets), 1), 0.0)


def random_reciprocal_ranks(offsets: IntArray, gold: IntArray) -> FloatArray:
    """MRR of a uniform order in expectation: (1 + 1/2 + … + 1/|E_m|) / |E_m|."""
    size = np.maximum(np.diff(offsets), 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, size.max(initial=1) + 1))])
    return np.where(gold >= 0, harmonic[size] / size, 0.0)


class Means:
    """Weighted means of many columns at once; NaN entries are outside a column's slice and do not count.

    P@1, MRR, accuracy and recall are means of one number per mention over the mentions of a slice.
    """

    def __init__(self, values: FloatArray) -> None:
        inside = ~np.isnan(values)
        self.values = np.where(inside, values, 0.0)
        slices, of_column = np.unique(inside, axis=1, return_inverse=True)  # few slices, many columns
        self.slices, self.of_column = slices.astype(np.float64), of_column.ravel()

    def __call__(self, weights: FloatArray) -> FloatArray:
        """The weighted mean of each column, a row for each sample."""
        return _ratio(weights @ self.values, (weights @ self.slices)[:, self.of_column])


def auroc(confidence: FloatArray, right: BoolArray, weights: FloatArray) -> FloatArray:
    """Probability that a right answer has more confidence than a wrong one; ties count half.

    NaN for samples in which all answers are right, or all wrong. Mentions of unknown confidence (NaN) do not count.
    """
    ascending = np.argsort(confidence, kind="stable")[: np.count_nonzero(~np.isnan(confidence))]
    share: FloatArray = ordered_pairs(ascending, confidence, right, weights)
    return share


def calibration_bins(
    probability: FloatArray, right: BoolArray, weights: FloatArray, bins: int = 10
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For `bins` equal parts of [0, 1]: how many answers, their summed probability, how many of them are right.

    Mentions of unknown probability (NaN) are in no bin.
    """
    number = np.where(np.isnan(probability), -1.0, np.minimum(probability * bins // 1, bins - 1))
    member = number[:, None] == np.arange(bins)
    summed = member * np.nan_to_num(probability)[:, None]
    return weights @ member, weights @ summed, weights @ (member & right[:, None])


def calibration_error(probability: FloatArray, right: BoolArray, weights: FloatArray) -> FloatArray:
    """Expected calibration error: Σ over ten bins of |share right − mean probability| × share of the bin."""
    count, summed, rights = calibration_bins(probability, right, weights)
    gap: FloatArray = np.abs(rights - summed).sum(axis=1) / count.sum(axis=1)
    return gap


def risk_coverage(confidence: FloatArray, right: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Coverage and risk when only the most confident answers are given: a point for each confidence level.

    Coverage is the share of mentions answered, risk the share of wrong ones among them. Mentions of equal
    confidence enter together.
    """
    descending = np.argsort(-confidence, kind="stable")
    last = np.flatnonzero(np.append(confidence[descending][1:] != confidence[descending][:-1], True))
    answered = last + 1.0
    wrong = np.cumsum(~right[descending])[last]
    return answered / len(confidence), wrong / answered


def derived_difficulty(offsets: IntArray, gold: IntArray, *popularity: FloatArray) -> list[str | None]:
    """Easy where popularity alone (NS in the paper) ranks the gold entity first, else hard; None without gold."""
    place = gold_ranks(offsets, gold, *popularity)
    return [None if at < 0 else ("easy" if rank == 1 else "hard") for at, rank in zip(gold, place, strict=True)]


def as_slice(values: FloatArray, inside: BoolArray | npt.NDArray[Any]) -> FloatArray:
    """The values of a slice: NaN outside, so that `means` passes over them."""
    return np.where(inside, values, np.nan)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, NaN where there is nothing to divide by."""
    out: FloatArray = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return out
