"""A cache of words by their hashes: what texts say again and again is found by looking at one line of memory.

A line holds four hashes and behind them the words of these, plus 1. A hash lies in the line that its lowest bits tell,
in the first place that was free; where all are taken, in the next line with room.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, KEYS
from namesake.kernels.simd import FOUR, four_equal, lowest, pointer
from namesake.kernels.types import I32, U64

WAYS = FOUR
LINE = 2 * WAYS  # numbers of 64 bits, which make a line of the processor's cache


@inlined(types.int64(types.uint64, types.int64))
def line_of(key, mask):
    """Where the line of a hash begins; `mask` is the number of lines less one."""
    return LINE * np.int64(key & np.uint64(mask))


@inlined(types.Tuple((types.int64, types.boolean))(KEYS, types.int64, types.uint64))
def find_cached(cache, mask, key):
    """The place of a hash and True, or the free place where it belongs and False; its word stands WAYS behind it."""
    line = line_of(key, mask)
    found = four_equal(cache, line, key)
    while found == 0:
        free = four_equal(cache, line, FREE)
        if free != 0:
            return line + lowest(free), False
        line = (line + LINE) & (LINE * mask)
        found = four_equal(cache, line, key)
    return line + lowest(found), True


@kernel(types.int64(U64, I32, types.uint64[::1]))
def remember(hashes, words, cache):
    """Put words into a cache that has room for them; returns how many places were newly taken."""
    keys, mask = pointer(cache), len(cache) // LINE - 1
    taken = 0
    for k in range(len(hashes)):
        place, known = find_cached(keys, mask, hashes[k])
        taken += not known
        cache[place], cache[place + WAYS] = hashes[k], np.uint64(words[k] + 1)
    return taken
