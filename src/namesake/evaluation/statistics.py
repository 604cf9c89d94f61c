"""The bootstrap, and metrics that it can reweight.

A bootstrap sample is a row of weights: how often each mention was drawn. A statistic takes many rows at once and
returns one row of figures for each; a row of ones gives the plain figures. All methods use the same samples, and slices
are cut from each sample.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from namesake import rank
from namesake.arrays import Bool, Float64, Int64
from namesake.errors import NamesakeError

SAMPLES: int = 10_000
SEED: int = 2022
_CELLS = 1_000_000  # weights in memory at once

Statistic = Callable[[Float64], Float64]  # from weights (samples × mentions) to figures (samples × figures)


class Bootstrap(NamedTuple):
    """The number of bootstrap samples, and the seed."""

    samples: int = SAMPLES
    seed: int = SEED


DEFAULT: Bootstrap = Bootstrap()


class Interval(NamedTuple):
    """A figure with its 95 % percentile interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The longer arm of the interval, so that value ± half_width covers it."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.half_width:.3f}"


def weights(units: Int64, bootstrap: Bootstrap = DEFAULT) -> Iterator[Float64]:
    """Yield blocks of samples, one column per mention. Mentions of one unit (a document) are drawn together."""
    if not len(units):
        raise NamesakeError("nothing to resample: the slice is empty")
    count = int(units.max()) + 1
    alone = np.array_equal(units, np.arange(count))
    rng = np.random.default_rng(bootstrap.seed)
    block = max(1, _CELLS // max(count, len(units)))
    for start in range(0, bootstrap.samples, block):
        rows = min(block, bootstrap.samples - start)
        drawn = rng.integers(count, size=(rows, count), dtype=np.int32)
        cells = drawn + np.arange(rows)[:, None] * count
        often = np.bincount(cells.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)
        yield often if alone else often[:, units]


def resample(statistic: Statistic, units: Int64, bootstrap: Bootstrap = DEFAULT) -> Float64:
    """Return the statistic of every sample: samples × figures."""
    return np.concatenate([statistic(block) for block in weights(units, bootstrap)])


def plain(statistic: Statistic, mentions: int) -> Float64:
    """Return the statistic of the data, without resampling."""
    figures: Float64 = statistic(np.ones((1, mentions)))[0]
    return figures


def intervals(values: Float64, sampled: Float64) -> list[Interval]:
    """Return each figure with the 2.5 % and 97.5 % quantiles of its samples, in which it may be undefined."""
    quantile = np.nanquantile if np.isnan(sampled).any() else np.quantile
    low, high = quantile(sampled, [0.025, 0.975], axis=0)
    return [Interval(float(v), float(lo), float(hi)) for v, lo, hi in zip(values, low, high, strict=True)]


def estimate(statistic: Statistic, units: Int64, bootstrap: Bootstrap = DEFAULT) -> list[Interval]:
    """Return every figure of a statistic with its interval."""
    return intervals(plain(statistic, len(units)), resample(statistic, units, bootstrap))


def paired(value: float, differences: Float64) -> tuple[Interval, float]:
    """Return the difference of two methods with its interval, and the two-sided p of a paired bootstrap test."""
    low, high = np.quantile(differences, [0.025, 0.975])
    tail = int(min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0)))
    return Interval(value, float(low), float(high)), min(1.0, 2 * (tail + 1) / (len(differences) + 1))


def gold_ranks(offsets: Int64, gold: Int64, *keys: Float64) -> Float64:
    """Return the rank of each mention's gold candidate, 1 for the first; infinity without one."""
    place = np.full(len(gold), np.inf)
    found = gold >= 0
    place[found] = rank.ranks(offsets, *keys)[gold[found]]
    return place


def random_order(offsets: Int64, gold: Int64) -> tuple[Float64, Float64]:
    """Return the expected P@1 and MRR of a uniform order: 1 / |E_m|, and (1 + 1/2 + … + 1/|E_m|) / |E_m|."""
    size = np.maximum(np.diff(offsets), 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, size.max(initial=1) + 1))])
    return np.where(gold >= 0, 1 / size, 0.0), np.where(gold >= 0, harmonic[size] / size, 0.0)


def means(values: Float64) -> Statistic:
    """Return weighted means of many columns at once. NaN entries are outside a column's slice and do not count."""
    inside = ~np.isnan(values)
    summands = np.where(inside, values, 0.0)
    slices, of_column = np.unique(inside, axis=1, return_inverse=True)  # few slices, many columns
    counted, of_column = slices.astype(np.float64), of_column.ravel()
    return lambda weights: ratio(weights @ summands, (weights @ counted)[:, of_column], np.nan)


def auroc(confidence: Float64, right: Bool, weights: Float64) -> Float64:
    """Return the probability that a right answer has more confidence than a wrong one; ties count half.

    It is undefined (NaN) if all answers are right, or all wrong. Mentions without a confidence (NaN) do not count.
    """
    ascending = np.argsort(confidence, kind="stable")[: np.count_nonzero(~np.isnan(confidence))]
    firsts = np.flatnonzero(np.diff(confidence[ascending], prepend=np.nan))  # of mentions with the same confidence
    weights = weights[:, ascending]
    if not len(firsts):
        return np.full(len(weights), np.nan)
    rights = np.add.reduceat(weights * right[ascending], firsts, axis=1)
    wrongs = np.add.reduceat(weights * ~right[ascending], firsts, axis=1)
    won = rights * (np.cumsum(wrongs, axis=1) - wrongs / 2)
    return ratio(won.sum(1), rights.sum(1) * wrongs.sum(1), np.nan)


def calibration_bins(probability: Float64, right: Bool, weights: Float64) -> tuple[Float64, Float64, Float64]:
    """Return the number of answers, their summed probability (not NaN) and the right ones, for each tenth of [0, 1]."""
    number = np.where(np.isnan(probability), -1.0, np.minimum(probability * 10 // 1, 9))
    member = number[:, None] == np.arange(10)
    summed = member * np.nan_to_num(probability)[:, None]
    return weights @ member, weights @ summed, weights @ (member & right[:, None])


def calibration_error(probability: Float64, right: Bool, weights: Float64) -> Float64:
    """Return the expected calibration error: Σ over ten bins of |share right − mean probability| × share of the bin."""
    count, summed, rights = calibration_bins(probability, right, weights)
    return ratio(np.abs(rights - summed).sum(axis=1), count.sum(axis=1), np.nan)


def risk_coverage(confidence: Float64, right: Bool) -> tuple[Float64, Float64]:
    """Return, for each level of confidence, the share of mentions answered, and the share of wrong ones among them."""
    descending = np.argsort(-confidence, kind="stable")
    last = np.flatnonzero(np.append(confidence[descending][1:] != confidence[descending][:-1], True))
    answered = last + 1.0
    return answered / len(confidence), np.cumsum(~right[descending])[last] / answered


@dataclass(frozen=True)
class Curve:
    """Risk and coverage of a method that answers only if it is confident, and its calibration for probabilities."""

    method: str
    coverage: Float64
    risk: Float64
    bins: tuple[tuple[int, int, float, float], ...] = ()
    """For each tenth of the probability that has answers: its number, answers, mean probability, share right."""

    @classmethod
    def of(cls, method: str, confidence: Float64, right: Bool, is_probability: bool = True) -> "Curve":
        """Make the curve from all mentions; those without a confidence do not count."""
        known = ~np.isnan(confidence)
        coverage, risk = risk_coverage(confidence[known], right[known])
        if not is_probability:
            return cls(method, coverage, risk)
        bins = calibration_bins(confidence[known], right[known], np.ones((1, int(known.sum()))))
        tenths = enumerate(zip(*(part[0].tolist() for part in bins), strict=True))
        found = [(tenth, int(n), summed / n, rights / n) for tenth, (n, summed, rights) in tenths if n]
        return cls(method, coverage, risk, tuple(found))


def derived_difficulty(offsets: Int64, gold: Int64, *popularity: Float64) -> list[str | None]:
    """Return "easy" if popularity alone (NS in the paper) ranks the gold entity first, else "hard"; None for NIL."""
    place = gold_ranks(offsets, gold, *popularity)
    return [None if at < 0 else ("easy" if rank == 1 else "hard") for at, rank in zip(gold, place, strict=True)]


def ratio(part: Float64, whole: Float64, otherwise: float = 0.0) -> Float64:
    """Return part / whole, and `otherwise` where the denominator is 0."""
    out: Float64 = np.divide(part, whole, out=np.full(np.shape(whole), otherwise), where=whole > 0)
    return out
