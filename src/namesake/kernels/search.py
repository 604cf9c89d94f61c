"""Binary search, and sorting."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.types import I32, U64

FEW = 24  # numbers that insertion sorts fastest


@inner(
    [
        types.int64(I32, types.int64, types.int64, types.int32),
        types.int64(U64, types.int64, types.int64, types.uint64),
        types.int64(types.CPointer(types.float64), types.int64, types.int64, types.float64),
        types.int64(types.CPointer(types.int32), types.int64, types.int64, types.int32),
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


SORTED = [types.void(kind[::1], types.int64, types.int64) for kind in (types.float64, types.int32, types.uint64)]


@inner(SORTED)
def sort_roughly(numbers, begin, end):
    """Quicksort numbers[begin:end] in place down to parts of FEW numbers, which remain unsorted."""
    waiting, size, low, high = np.empty(128, np.int64), 0, begin, end
    while high - low > FEW or size > 0:
        if high - low <= FEW:
            size -= 2
            low, high = waiting[size], waiting[size + 1]
        one, other, third = numbers[low], numbers[(low + high) >> 1], numbers[high - 1]
        pivot = max(min(one, other), min(max(one, other), third))
        left, right = low, high - 1
        while left <= right:
            while numbers[left] < pivot:
                left += 1
            while pivot < numbers[right]:
                right -= 1
            if left <= right:
                numbers[left], numbers[right] = numbers[right], numbers[left]
                left, right = left + 1, right - 1
        if right - low < high - left:  # the smaller part is next, so that few parts wait
            waiting[size], waiting[size + 1], high = left, high, right + 1
        else:
            waiting[size], waiting[size + 1], low = low, right + 1, left
        size += 2 if waiting[size + 1] - waiting[size] > FEW else 0


@inner(SORTED)
def sort_range(numbers, begin, end):
    """Sort numbers[begin:end] in place. Numba's own sort takes long to compile."""
    if end - begin > FEW:  # short ranges take no memory
        sort_roughly(numbers, begin, end)
    for k in range(begin + 1, end):
        number, place = numbers[k], k
        while place > begin and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number
