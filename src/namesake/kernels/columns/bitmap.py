"""Sets of QIDs as bitmaps: the row of a QID is the number of smaller members, found in constant time.

140 million QIDs take 17 MB, and 9 MB for the counts, so that a set stays in or near the processor's cache.
"""

import numpy as np
import numpy.typing as npt

from namesake.kernels.compiled import kernel
from namesake.kernels.simd import ones


@kernel("void(uint64[::1], int64[::1])")
def add_all(bits, qids):
    """Add the numbers that are not negative to a bitmap."""
    for i in range(len(qids)):
        if qids[i] >= 0:
            bits[qids[i] >> 6] |= np.uint64(1) << np.uint64(qids[i] & 63)


@kernel("int32[::1](uint64[::1])")
def count_before(bits):
    """Number of members before each word of a bitmap; the last entry counts all."""
    before = np.zeros(len(bits) + 1, np.int32)
    for i in range(len(bits)):
        before[i + 1] = before[i] + ones(bits[i])
    return before


def members(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The members of a bitmap, ascending."""
    words = np.flatnonzero(bits)
    places = np.flatnonzero(np.unpackbits(bits[words].view(np.uint8), bitorder="little"))
    return 64 * words[places >> 6] + (places & 63)


@kernel("int32[::1](uint64[::1], int32[::1], int64[::1])")
def find(bits, before, qids):
    """The rank of each number among the members of a bitmap, -1 if it is not a member."""
    places = np.empty(len(qids), np.int32)
    for i in range(len(qids)):
        word = qids[i] >> 6
        bit = np.uint64(1) << np.uint64(qids[i] & 63)
        if qids[i] < 0 or word >= len(bits) or not bits[word] & bit:
            places[i] = -1
        else:
            places[i] = before[word] + ones(bits[word] & (bit - np.uint64(1)))
    return places
