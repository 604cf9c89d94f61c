"""Binary search, and sorting of short arrays."""

from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.types import I32, U64


@inner(
    [
        types.int64(I32, types.int64, types.int64, types.int32),
        types.int64(U64, types.int64, types.int64, types.uint64),
        types.int64(types.CPointer(types.float64), types.int64, types.int64, types.float64),
    ]
)
def first_at_least(ascending, low, high, wanted):
    """Index of the first of ascending[low:high] that is not below `wanted`; `high` if there is none."""
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
    """Whether ascending[low:high] contains `wanted`."""
    at = first_at_least(ascending, low, high, wanted)
    return at < high and ascending[at] == wanted


@inner(types.boolean(U64, types.uint64))
def among(ascending, wanted):
    """Whether ascending hashes contain `wanted`."""
    return holds(ascending, 0, len(ascending), wanted)


@inlined(
    [types.void(types.float64[::1], types.int64, types.int64), types.void(types.int32[::1], types.int64, types.int64)]
)
def sort_few(numbers, begin, end):
    """Sort numbers[begin:end] in place; it is fast for up to 32 numbers."""
    if end - begin > 32:
        numbers[begin:end].sort()
        return
    for k in range(begin + 1, end):
        number, place = numbers[k], k
        while place > begin and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number
