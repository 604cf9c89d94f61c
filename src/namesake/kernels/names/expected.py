"""How often the tokens of a name begin, end, and stand inside people's labels."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, KEYS, find
from namesake.kernels.names.index import token_hashes
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import I32, I64, U8, U64, record

SMALL = types.CPointer(types.int32)
AHEAD = 16  # tokens
UNASKED = -1.0


class Counts(NamedTuple):
    """The KB's table of tokens, and its counts."""

    keys: Annotated[Any, U64]
    first: Annotated[Any, I32]
    middle: Annotated[Any, I32]
    last: Annotated[Any, I32]


COUNTS = record(Counts)


@inlined(types.float64(KEYS, types.int64, types.uint64, SMALL))
def count_of(keys, mask, key, counts):
    """The count of one token, 0 where the table does not have it."""
    at = find(keys, mask, key)
    return np.float64(counts[at]) if keys[at] != FREE else 0.0


@kernel(types.UniTuple(types.float64[::1], 3)(U8, I64, COUNTS))
def count_labels(texts, offsets, counts):
    """For each normalised name the counts of its first token, its rarest middle token and its last.

    UNASKED for names of one token, and for the middle of names of two.
    """
    size, mask = len(offsets) - 1, len(counts.keys) - 1
    first, middle, last = np.full(size, UNASKED), np.full(size, UNASKED), np.full(size, UNASKED)
    keys, begins, inside, ends = (
        pointer(counts.keys),
        pointer(counts.first),
        pointer(counts.middle),
        pointer(counts.last),
    )
    indptr = np.zeros(size + 1, np.int64)
    hashes = token_hashes(texts, offsets, indptr)
    for name in range(size):
        for soon in range(min(indptr[name] + AHEAD, len(hashes)), min(indptr[name + 1] + AHEAD, len(hashes))):
            slot = np.int64(hashes[soon] & np.uint64(mask))
            prefetch(keys, slot)
            prefetch(begins, slot)
            prefetch(ends, slot)
        begin, end = indptr[name], indptr[name + 1] - 1
        if begin >= end:
            continue
        first[name], last[name] = count_of(keys, mask, hashes[begin], begins), count_of(keys, mask, hashes[end], ends)
        for token in range(begin + 1, end):
            count = count_of(keys, mask, hashes[token], inside)
            middle[name] = count if middle[name] == UNASKED else min(middle[name], count)
    return first, middle, last
