"""The order of candidates, and the scales that make score parts comparable before they are added.

Links, P@1, MRR and explanations all rank candidates with `order`. The candidates of mention i are `offsets[i]` to
`offsets[i + 1]` of flat arrays. The first key is the score, the others break ties from left to right, and candidates
that still tie keep their position. Higher is better in every key, so the lowest QID wins by the key `-qid`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from namesake.arrays import Float64, Int64
from namesake.errors import NamesakeError

NOBODY = -1
"""The winner of a mention without candidates."""


def order(offsets: Int64, *keys: Float64, names: Sequence[str] = ()) -> Int64:
    """The candidates of each mention, best first. `names` are the keys' names in error messages."""
    check(offsets, keys, names)
    mention = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort([*(-key for key in reversed(keys)), mention]).astype(np.int64, copy=False)


def ranks(offsets: Int64, *keys: Float64, names: Sequence[str] = ()) -> Int64:
    """The rank of each candidate among those of its mention, 1 for the best: the inverse of `order`."""
    best_first = order(offsets, *keys, names=names)
    place = np.empty(len(best_first), np.int64)
    place[best_first] = np.arange(len(best_first)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    return place


def winner(offsets: Int64, *keys: Float64, names: Sequence[str] = ()) -> Int64:
    """The best candidate of each mention, as an index into the flat keys; NOBODY for one without candidates."""
    best_first = np.append(order(offsets, *keys, names=names), NOBODY)
    return np.where(np.diff(offsets) > 0, best_first[offsets[:-1]], NOBODY)


def check(offsets: Int64, keys: Sequence[Float64], names: Sequence[str] = ()) -> None:
    """Raise an error for keys that cannot be ordered: of another length than the candidates, or with NaN."""
    for index, key in enumerate(keys):
        name = names[index] if index < len(names) else f"key {index}"
        check_length(offsets, key, name)
        missing = np.isnan(key)
        if missing.any():
            at = int(np.argmax(missing))
            mention = int(np.searchsorted(offsets, at, side="right")) - 1
            place = at - int(offsets[mention])
            raise NamesakeError(f"{name} is not a number (NaN) for candidate {place} of mention {mention}")


def check_length(offsets: Int64, key: Float64, name: str) -> None:
    """Raise an error for a key of another length than the candidates."""
    if len(key) != offsets[-1]:
        raise NamesakeError(f"{name} has {len(key)} values for {offsets[-1]} candidates: one for each is needed")


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
    total = np.repeat(reduce_mentions(np.add, score, offsets, 0.0), np.diff(offsets))
    return np.divide(score, total, out=np.zeros(len(score)), where=total > 0)


def top(score: Float64, offsets: Int64) -> Float64:
    """x / max(x) over the candidates of the mention; 0 if the maximum is not positive."""
    best = np.repeat(reduce_mentions(np.maximum, score, offsets, 0.0), np.diff(offsets))
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


def reduce_mentions(ufunc: np.ufunc, values: Float64, offsets: Int64, without: float) -> Float64:
    """The values of each mention's candidates reduced to one; `without` for a mention without candidates."""
    filled = offsets[:-1] < offsets[1:]
    each = np.full(len(filled), without)
    each[filled] = ufunc.reduceat(values, offsets[:-1][filled]) if len(values) else values
    return each
