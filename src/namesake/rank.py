"""The order of candidates: links, P@1, MRR and explanations all rank candidates with `order`.

The candidates of mention i are `offsets[i]` to `offsets[i + 1]` of flat arrays. The first key is the score, the others
break ties from left to right, and candidates that still tie keep their position. Higher is better in every key, so the
lowest QID wins by the key `-qid`.
"""

from collections.abc import Sequence

import numpy as np

from namesake.arrays import Float64, Int64
from namesake.errors import NamesakeError

FloatArray = Float64
IntArray = Int64

NOBODY = -1
"""The winner of a mention without candidates."""


def order(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """The candidates of each mention, best first. `names` are the keys' names in error messages."""
    check(offsets, keys, names)
    mention = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort([*(-key for key in reversed(keys)), mention]).astype(np.int64, copy=False)


def ranks(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """The rank of each candidate among those of its mention, 1 for the best: the inverse of `order`."""
    best_first = order(offsets, *keys, names=names)
    place = np.empty(len(best_first), np.int64)
    place[best_first] = np.arange(len(best_first)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    return place


def winner(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """The best candidate of each mention, as an index into the flat keys; NOBODY for one without candidates."""
    best_first = np.append(order(offsets, *keys, names=names), NOBODY)
    return np.where(np.diff(offsets) > 0, best_first[offsets[:-1]], NOBODY)


def check(offsets: IntArray, keys: Sequence[FloatArray], names: Sequence[str] = ()) -> None:
    """Raise an error for keys that cannot be ordered: of another length than the candidates, or with NaN."""
    for index, key in enumerate(keys):
        name = names[index] if index < len(names) else f"key {index}"
        if len(key) != offsets[-1]:
            raise NamesakeError(f"{name} has {len(key)} values for {offsets[-1]} candidates: one for each is needed")
        missing = np.isnan(key)
        if missing.any():
            at = int(np.argmax(missing))
            mention = int(np.searchsorted(offsets, at, side="right")) - 1
            raise NamesakeError(
                f"{name} is not a number (NaN) for candidate {at - int(offsets[mention])} of mention {mention}: "
                "scores must be numbers, drop the candidate or give it a score"
            )
