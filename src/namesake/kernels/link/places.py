"""Places among ascending numbers, found by counting sixteen at once: which way a search goes is anybody's guess."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined
from namesake.kernels.simd import SIXTEEN, first_bits, ones, sixteen_below

SMALL = types.CPointer(types.int32)
FEW = 96
"""How many numbers are counted rather than searched."""
NEAR = 32
"""How far it is mostly from the beginning of a sentence to its end, in words."""


@inlined(types.int64(SMALL, types.int64, types.int64, types.int64, types.int32))
def first_of_few(ascending, size, low, high, wanted):
    """The first of ascending[low:high] that is not below `wanted`; `high` where there is none.

    `size` is how many numbers there are in all. The search is narrowed down to FEW, and those are counted.
    """
    while high - low > FEW:
        middle = (low + high) >> 1
        if ascending[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    found, at = low, low
    while at + SIXTEEN <= high:
        found += ones(sixteen_below(ascending, at, wanted))
        at += SIXTEEN
    if at + SIXTEEN <= size:
        return found + ones(sixteen_below(ascending, at, wanted) & first_bits(high - at))
    for behind in range(at, high):
        found += np.int64(ascending[behind] < wanted)
    return found


@inlined(types.int64(SMALL, types.int64, types.int64, types.int64, types.int32))
def first_near(ascending, size, low, high, wanted):
    """`first_of_few`, for what is likely to stand near `low`."""
    near = low + NEAR
    if near >= high:
        return first_of_few(ascending, size, low, high, wanted)
    if ascending[near] < wanted:
        return first_of_few(ascending, size, near + 1, high, wanted)
    return first_of_few(ascending, size, low, near, wanted)
