"""The bootstrap: how far a figure may be off because other mentions (or documents) could have been drawn.

A sample is a row of weights: how often it drew each mention. Statistics take many rows at once (see `metrics`), all
methods see the same samples, and slices are cut out of each sample, as one would cut them out of new data.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from namesake.errors import NamesakeError
from namesake.kernels.measures.samples import count_draws
from namesake.rank import FloatArray, IntArray

SAMPLES = 10_000
SEED = 2022
_CELLS = 1_000_000  # weights in memory at once

Statistic = Callable[[FloatArray], FloatArray]
"""From weights (samples × mentions) to figures (samples × figures)."""


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % percentile interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The ± of a table: the longer of the two arms, so that value ± half_width covers the interval."""
        return max(self.high - self.value, self.value - self.low)


@dataclass(frozen=True)
class Difference:
    """A paired comparison: how much better the first is, and how probable so large a difference is by chance."""

    interval: Interval
    p: float


def weights(units: IntArray, samples: int = SAMPLES, seed: int = SEED) -> Iterator[FloatArray]:
    """Blocks of sampled weights, a column for each mention. Mentions of one unit (a document) are drawn together."""
    if not len(units):
        raise NamesakeError("nothing to resample: the slice is empty")
    count = int(units.max()) + 1
    alone = np.array_equal(units, np.arange(count))
    rng = np.random.default_rng(seed)
    block = max(1, _CELLS // max(count, len(units)))
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        often = count_draws(rng.integers(count, size=(rows, count), dtype=np.int32))
        yield often if alone else often[:, units]


def resample(statistic: Statistic, units: IntArray, samples: int = SAMPLES, seed: int = SEED) -> FloatArray:
    """The statistic of every sample: samples × figures."""
    return np.concatenate([statistic(block) for block in weights(units, samples, seed)])


def intervals(values: FloatArray, sampled: FloatArray) -> list[Interval]:
    """Each figure of the data with the 2.5 % and 97.5 % quantiles of its samples, in which it may be undefined."""
    quantile = np.nanquantile if np.isnan(sampled).any() else np.quantile
    low, high = quantile(sampled, [0.025, 0.975], axis=0)
    return [Interval(float(v), float(lo), float(hi)) for v, lo, hi in zip(values, low, high, strict=True)]


def paired(value: float, differences: FloatArray) -> Difference:
    """Two-sided paired bootstrap test from the differences of two methods in each sample (and in the data)."""
    low, high = np.quantile(differences, [0.025, 0.975])
    tail = int(min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0)))
    return Difference(Interval(value, float(low), float(high)), min(1.0, 2 * (tail + 1) / (len(differences) + 1)))


def by_mention(mentions: int) -> IntArray:
    """Units for resampling mentions one by one."""
    return np.arange(mentions, dtype=np.int64)
