"""Binary search."""

from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.types import I32, U64


@inner(
    [
        types.int64(I32, types.int64, types.int64, types.int32),
        types.int64(U64, types.int64, types.int64, types.uint64),
        types.int64(types.CPointer(types.float64), types.int64, types.int64, types.float64),
    ]
)
def first_at_least(ascending, low, high, wanted):
    """Index of the first of ascending[low:high] that is not below `wanted`; `high` where there is none."""
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner(
    [
        types.boolean(I32, types.int64, types.int64, types.int32),
        types.boolean(U64, types.int64, types.int64, types.uint64),
    ]
)
def holds(ascending, low, high, wanted):
    """Whether ascending[low:high] holds `wanted`."""
    at = first_at_least(ascending, low, high, wanted)
    return at < high and ascending[at] == wanted


@inner(types.boolean(U64, types.uint64))
def among(ascending, wanted):
    """Whether ascending hashes hold `wanted`."""
    return holds(ascending, 0, len(ascending), wanted)
