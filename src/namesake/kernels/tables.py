"""Hash tables made of hashes that are known beforehand."""

import numpy as np
import numpy.typing as npt
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, find
from namesake.kernels.simd import pointer
from namesake.kernels.types import F64, I32, U64


@kernel(types.int64[::1](U64, types.uint64[::1]))
def fill(hashes, keys):
    """Enter hashes into the empty table `keys`; returns the slot of each."""
    place = np.empty(len(hashes), np.int64)
    for i in range(len(hashes)):
        place[i] = find(pointer(keys), len(keys) - 1, hashes[i])
        keys[place[i]] = hashes[i]
    return place


@kernel(types.int32[::1](U64, U64))
def count_each(hashes, keys):
    """How often each key of a table is among `hashes`, by slot; 0 is none, and all others are in the table."""
    counts = np.zeros(len(keys), np.int32)
    for i in range(len(hashes)):
        if hashes[i] != FREE:
            counts[find(pointer(keys), len(keys) - 1, hashes[i])] += 1
    return counts


@kernel(types.int64[::1](I32, F64, types.int64))
def keep_largest(groups, values, size):
    """The row of the largest value of each of `size` groups, of equal ones the first; -1 where there is none."""
    best = np.full(size, -1, np.int64)
    for row in range(len(groups)):
        other = best[groups[row]]
        if other < 0 or values[row] > values[other]:
            best[groups[row]] = row
    return best


def table_size(count: int) -> int:
    """The size of a table of so many keys, at most three quarters full."""
    return max(8, 1 << (4 * count // 3).bit_length())


def table_of(hashes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """A table of distinct hashes, and the slot of each hash."""
    keys = np.zeros(table_size(len(hashes)), np.uint64)
    return keys, fill(hashes, keys)
