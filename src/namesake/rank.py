"""The one place that decides order: links, P@1, MRR and explanations all rank candidates here.

Ragged arrays come as CSR: the candidates of mention i are `offsets[i]` to `offsets[i + 1]`. The first key is the
score, the others break its ties from left to right, and what still ties keeps its position. Higher is better in
every key, so the lowest QID wins by the key `-qid`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NOBODY = -1  # the winner of a mention without candidates; the tie-break of a mention without a second candidate


def order(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """Candidates of each mention, best first; keys break ties left to right, then position.

    `names` are the keys' names: they serve the message about a key that cannot be ordered.
    """
    check(offsets, keys, names)
    mention = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort([*(-key for key in reversed(keys)), mention]).astype(np.int64, copy=False)


def ranks(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """Place of each candidate among those of its mention, 1 for the best: the inverse of `order`."""
    best_first = order(offsets, *keys, names=names)
    place = np.empty(len(best_first), np.int64)
    place[best_first] = np.arange(len(best_first)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    return place


def winner(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """The best candidate of each mention, as an index into the flat keys; NOBODY where there is no candidate."""
    first, _ = _top_two(offsets, order(offsets, *keys, names=names))
    return first


def margin(offsets: IntArray, score: FloatArray) -> FloatArray:
    """Best minus second-best score of each mention; NaN where there are fewer than two candidates."""
    first, second = _top_two(offsets, order(offsets, score, names=("score",)))
    gap = np.full(len(offsets) - 1, np.nan)
    contest = second != NOBODY
    gap[contest] = score[first[contest]] - score[second[contest]]
    return gap


def tie_break(offsets: IntArray, *keys: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """Which key set the winner apart from the second: 0 the score itself, k the k-th tie-breaker.

    `len(keys)` means that all keys tie and the position decided; NOBODY, that there is no second candidate.
    """
    first, second = _top_two(offsets, order(offsets, *keys, names=names))
    contest = np.flatnonzero(second != NOBODY)
    decided = np.full(len(offsets) - 1, NOBODY, np.int64)
    decided[contest] = len(keys)
    for index, key in reversed(list(enumerate(keys))):
        differs = key[first[contest]] != key[second[contest]]
        decided[contest[differs]] = index
    return decided


def check(offsets: IntArray, keys: Sequence[FloatArray], names: Sequence[str] = ()) -> None:
    """Refuse keys that no order can be made of: of another length than the candidates, or with NaN in them."""
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


def _top_two(offsets: IntArray, best_first: IntArray) -> tuple[IntArray, IntArray]:
    """First and second candidate of each mention, NOBODY where there is none."""
    size = np.diff(offsets)
    top = [np.full(len(size), NOBODY, np.int64) for _ in range(2)]
    for place, chosen in enumerate(top):
        enough = size > place
        chosen[enough] = best_first[offsets[:-1][enough] + place]
    return top[0], top[1]
