"""Words of ASCII letters, as both tokenisers note them: where they stand, and their first sixteen bytes."""

from numba import types

from namesake.kernels.compiled import inlined
from namesake.kernels.hash import KEYS
from namesake.kernels.simd import BYTES, LANES, NUMBERS, lowest, ones, without_lowest, word

AHEAD = LANES + 16  # bytes that a block and the last word that begins in it may take
AT_ONCE = 4  # words that are written at once, whether there are so many or not
LONG = 16  # letters of a word whose hash needs more than these bytes

I, MASK = types.int64, types.uint64


@inlined(types.UniTuple(I, 2)(BYTES, I, MASK, MASK, NUMBERS, NUMBERS, KEYS, KEYS, I, I))
def write_words(text, base, begin, stop, starts, ends, heads, tails, opened, closed):
    """Write the words whose first bytes and ends are the bits of two masks, counted from byte `base` on.

    So many have begun and ended before; returns how many have then. Behind them up to AT_ONCE places are written over.
    """
    begins, stops = ones(begin), ones(stop)
    for k in range(0, max(begins, stops), AT_ONCE):
        for j in range(k, k + AT_ONCE):
            start = base + lowest(begin)
            starts[opened + j], ends[closed + j] = start, base + lowest(stop)
            heads[opened + j], tails[opened + j] = word(text, start), word(text, start + 8)
            begin, stop = without_lowest(begin), without_lowest(stop)
    return opened + begins, closed + stops
