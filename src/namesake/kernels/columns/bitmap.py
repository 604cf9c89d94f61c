"""Sets of QIDs as bitmaps: a QID's row is how many members stand before it, found in constant time.

All 140 million QIDs take 17 MB, and 9 MB more for the counts, so a set stays in or near the cache where a
sorted array or a hash table would not.
"""

import numpy as np

from namesake.kernels.compiled import kernel
from namesake.kernels.simd import lowest, ones

ABSENT = -1


@kernel("boolean[::1](uint64[::1], int64[::1])")
def add_first(bits, qids):
    """Add numbers to a bitmap; tells for each whether it was new, so False marks a repetition."""
    new = np.empty(len(qids), np.bool_)
    for i in range(len(qids)):
        word, bit = qids[i] >> 6, np.uint64(1) << np.uint64(qids[i] & 63)
        new[i] = (bits[word] & bit) == 0
        bits[word] |= bit
    return new


@kernel("void(uint64[::1], int64[::1])")
def add_all(bits, qids):
    """Add the numbers that are not negative to a bitmap."""
    for i in range(len(qids)):
        if qids[i] >= 0:
            bits[qids[i] >> 6] |= np.uint64(1) << np.uint64(qids[i] & 63)


@kernel("int32[::1](uint64[::1])")
def count_before(bits):
    """How many members of a bitmap stand before each of its words; the last entry counts them all."""
    before = np.zeros(len(bits) + 1, np.int32)
    for i in range(len(bits)):
        before[i + 1] = before[i] + ones(bits[i])
    return before


@kernel("int64[::1](uint64[::1], int64)")
def members(bits, size):
    """The members of a bitmap in ascending order."""
    found = np.empty(size, np.int64)
    at = 0
    for i in range(len(bits)):
        word = bits[i]
        while word:
            found[at] = (i << 6) + lowest(word)
            word &= word - np.uint64(1)
            at += 1
    return found


@kernel("int32[::1](uint64[::1], int32[::1], int64[::1])")
def find(bits, before, qids):
    """The place of each number among the members of a bitmap, -1 where it is none."""
    places = np.empty(len(qids), np.int32)
    for i in range(len(qids)):
        word = qids[i] >> 6
        bit = np.uint64(1) << np.uint64(qids[i] & 63)
        if qids[i] < 0 or word >= len(bits) or not bits[word] & bit:
            places[i] = ABSENT
        else:
            places[i] = before[word] + ones(bits[word] & (bit - np.uint64(1)))
    return places
