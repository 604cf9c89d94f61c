"""A cache of words by their hashes: a lookup of a frequent word reads one line of the processor's cache.

A line has four hashes and then their words, plus 1. A hash is in the line given by its lowest bits, in the first place
that was free; if all four are used, in the next line with a free place.
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
    """The first place of a hash's line; `mask` is the number of lines less one."""
    return LINE * np.int64(key & np.uint64(mask))


@inlined(types.Tuple((types.int64, types.boolean))(KEYS, types.int64, types.uint64))
def find_cached(cache, mask, key):
    """The place of a hash and True, or the free place for it and False; its word is WAYS places later."""
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
    """Put words into a cache that has room for them; returns the number of new entries."""
    keys, mask = pointer(cache), len(cache) // LINE - 1
    taken = 0
    for k in range(len(hashes)):
        place, known = find_cached(keys, mask, hashes[k])
        taken += not known
        cache[place], cache[place + WAYS] = hashes[k], np.uint64(words[k] + 1)
    return taken
