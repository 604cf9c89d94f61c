"""How often the tokens of a name begin, end, and stand inside people's labels."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, find, hash_bytes
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, U8, U64, record

SPACE = 0x20
UNASKED = -1.0


class Counts(NamedTuple):
    """The KB's table of tokens, and its counts."""

    keys: Annotated[Any, U64]
    first: Annotated[Any, I32]
    middle: Annotated[Any, I32]
    last: Annotated[Any, I32]


COUNTS = record(Counts)


@kernel(types.float64(U8, types.int64, types.int64, U64, I32))
def count_of(texts, start, end, keys, counts):
    """The count of one token, 0 where the table does not have it."""
    at = find(pointer(keys), len(keys) - 1, hash_bytes(texts, start, end))
    return np.float64(counts[at]) if keys[at] != FREE else 0.0


@kernel(types.UniTuple(types.float64[::1], 3)(U8, I64, COUNTS))
def count_labels(texts, offsets, counts):
    """For each normalised name the counts of its first token, its rarest middle token and its last.

    UNASKED for names of one token, and for the middle of names of two.
    """
    size = len(offsets) - 1
    first, middle, last = np.full(size, UNASKED), np.full(size, UNASKED), np.full(size, UNASKED)
    for name in range(size):
        token = offsets[name]
        for i in range(offsets[name], offsets[name + 1]):
            if texts[i] != SPACE:
                continue
            if first[name] == UNASKED:
                first[name] = count_of(texts, token, i, counts.keys, counts.first)
            else:
                inside = count_of(texts, token, i, counts.keys, counts.middle)
                middle[name] = inside if middle[name] == UNASKED else min(middle[name], inside)
            token = i + 1
        if first[name] != UNASKED:
            last[name] = count_of(texts, token, offsets[name + 1], counts.keys, counts.last)
    return first, middle, last
