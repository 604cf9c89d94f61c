"""First and second candidate of each mention in one pass: `rank.order` for those who need no more."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.types import I64

KEYS = types.Array(types.float64, 2, "C", readonly=True)


@inner(types.boolean(KEYS, types.int64, types.int64))
def beats(keys, one, other):
    """Whether candidate `one` comes before `other`, which stands before it: at the first key that differs."""
    for k in range(len(keys)):
        if keys[k, one] != keys[k, other]:
            return keys[k, one] > keys[k, other]
    return False


@kernel(types.UniTuple(types.int64[::1], 3)(I64, KEYS))
def top_two(offsets, keys):
    """Best and second candidate of each mention (-1: none), and the key that set them apart.

    The deciding key is `len(keys)` where all tie and the position decided, -1 where there is no second.
    """
    first = np.full(len(offsets) - 1, -1, np.int64)
    second = np.full(len(offsets) - 1, -1, np.int64)
    decided = np.full(len(offsets) - 1, -1, np.int64)
    for m in range(len(first)):
        for k in range(offsets[m], offsets[m + 1]):
            if first[m] < 0 or beats(keys, k, first[m]):
                second[m] = first[m]
                first[m] = k
            elif second[m] < 0 or beats(keys, k, second[m]):
                second[m] = k
        if second[m] >= 0:
            decided[m] = len(keys)
            for key in range(len(keys)):
                if keys[key, first[m]] != keys[key, second[m]]:
                    decided[m] = key
                    break
    return first, second, decided
