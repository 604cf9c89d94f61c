"""Scales of a recipe's parts: what makes scores of different sizes fit into one sum. One function each."""

from collections.abc import Callable

import numpy as np

from namesake.rank import FloatArray, IntArray

Scale = Callable[[FloatArray, IntArray], FloatArray]
SCALES: dict[str, Scale] = {}
"""Every scale by its name in recipes."""


def scale(name: str) -> Callable[[Scale], Scale]:
    """Register a scale under the name that recipes use."""

    def register(function: Scale) -> Scale:
        SCALES[name] = function
        return function

    return register


@scale("none")
def none(score: FloatArray, offsets: IntArray) -> FloatArray:
    """The score as it is."""
    return score


@scale("unit")
def unit(score: FloatArray, offsets: IntArray) -> FloatArray:
    """(x + 1) / 2: cosines from [-1, 1] to [0, 1]."""
    return (score + 1) / 2


@scale("smooth")
def smooth(score: FloatArray, offsets: IntArray) -> FloatArray:
    """(x + 1) / Σ(x + 1) over the candidates of the mention: the paper's additive smoothing."""
    return share(score + 1, offsets)


@scale("share")
def share(score: FloatArray, offsets: IntArray) -> FloatArray:
    """x / Σx over the candidates of the mention; 0 where the sum is not positive."""
    total = _per_mention(np.add, score, offsets)
    return np.divide(score, total, out=np.zeros(len(score)), where=total > 0)


@scale("top")
def top(score: FloatArray, offsets: IntArray) -> FloatArray:
    """x / max(x) over the candidates of the mention; 0 where the maximum is not positive."""
    best = _per_mention(np.maximum, score, offsets)
    return np.divide(score, best, out=np.zeros(len(score)), where=best > 0)


@scale("log1p")
def log1p(score: FloatArray, offsets: IntArray) -> FloatArray:
    """log(1 + x), the tenth match says less than the first; x below 0 (unknown) counts as 0."""
    return np.log1p(np.maximum(score, 0))


@scale("sqrt")
def sqrt(score: FloatArray, offsets: IntArray) -> FloatArray:
    """√x, milder than log1p; x below 0 (unknown) counts as 0."""
    return np.sqrt(np.maximum(score, 0))


def _per_mention(ufunc: np.ufunc, score: FloatArray, offsets: IntArray) -> FloatArray:
    """Reduce over the candidates of each mention and hand every candidate its mention's result."""
    size = np.diff(offsets)
    reduced = ufunc.reduceat(score, offsets[:-1][size > 0]) if len(score) else score
    return np.repeat(np.asarray(reduced, np.float64), size[size > 0])
