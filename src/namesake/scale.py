"""Scales of a recipe's parts, which make scores of different sizes comparable before they are added."""

from collections.abc import Callable

import numpy as np

from namesake.arrays import Float64, Int64


def none(score: Float64, offsets: Int64) -> Float64:
    """The score itself."""
    return score


def unit(score: Float64, offsets: Int64) -> Float64:
    """(x + 1) / 2: cosines from [-1, 1] to [0, 1]."""
    return (score + 1) / 2


def smooth(score: Float64, offsets: Int64) -> Float64:
    """(x + 1) / Σ(x + 1) over the candidates of the mention: the paper's additive smoothing."""
    return share(score + 1, offsets)


def share(score: Float64, offsets: Int64) -> Float64:
    """x / Σx over the candidates of the mention; 0 if the sum is not positive."""
    total = _per_mention(np.add, score, offsets)
    return np.divide(score, total, out=np.zeros(len(score)), where=total > 0)


def top(score: Float64, offsets: Int64) -> Float64:
    """x / max(x) over the candidates of the mention; 0 if the maximum is not positive."""
    best = _per_mention(np.maximum, score, offsets)
    return np.divide(score, best, out=np.zeros(len(score)), where=best > 0)


def log1p(score: Float64, offsets: Int64) -> Float64:
    """log(1 + x), the tenth match says less than the first; x below 0 (unknown) counts as 0."""
    return np.log1p(np.maximum(score, 0))


def sqrt(score: Float64, offsets: Int64) -> Float64:
    """√x, milder than log1p; x below 0 (unknown) counts as 0."""
    return np.sqrt(np.maximum(score, 0))


SCALES: dict[str, Callable[[Float64, Int64], Float64]] = {
    scale.__name__: scale for scale in (none, unit, smooth, share, top, log1p, sqrt)
}
"""Every scale by its name in recipes."""


def _per_mention(ufunc: np.ufunc, score: Float64, offsets: Int64) -> Float64:
    """For every candidate, the reduction over the candidates of its mention."""
    size = np.diff(offsets)
    reduced = ufunc.reduceat(score, offsets[:-1][size > 0]) if len(score) else score
    return np.repeat(np.asarray(reduced, np.float64), size[size > 0])
