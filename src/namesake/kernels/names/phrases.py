"""What a phrase or a word is in a KB: tables in which all that is asked about a hash stands beside it.

An article has hundreds of phrases to look up, each somewhere in many megabytes. So a phrase takes one place of memory:
its hash, and packed into one number the name that it is, the short form, and the fame of the most famous other item.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, HASH, KEYS, PLACE, ZERO
from namesake.kernels.simd import pointer
from namesake.kernels.types import U64

PHRASE = 2  # numbers of an entry
NAME_BITS, SHORT_BITS = 28, 28
SHORT_AT, FAME_AT = np.uint64(28), np.uint64(56)  # where they begin; the name is lowest
MOST_NAMES, MOST_SHORTS = (1 << NAME_BITS) - 2, (1 << SHORT_BITS) - 2
NAME_MASK, SHORT_MASK = (np.uint64((1 << bits) - 1) for bits in (NAME_BITS, SHORT_BITS))


@inlined(types.int64(HASH))
def name_in(packed):
    """The name that a phrase is, or -1."""
    return np.int64(packed & NAME_MASK) - 1


@inlined(types.int64(HASH))
def short_in(packed):
    """The short form that a phrase is, or -1."""
    return np.int64(packed >> SHORT_AT & SHORT_MASK) - 1


@inlined(types.int64(HASH))
def fame_in(packed):
    """The fame of the most famous other item with this name, in steps; 0 if there is none."""
    return np.int64(packed >> FAME_AT)


@inlined(PLACE(KEYS, types.int64, HASH, types.int64))
def find_entry(entries, mask, key, numbers):
    """Where the entry of a hash begins, or the free one where it belongs; `mask` is the number of entries less one."""
    at, last = np.int64(key & np.uint64(mask)) * numbers, mask * numbers
    while (entries[at] != FREE) & (entries[at] != key):
        at = (at + numbers) & (last | (numbers - 1))
    return at


@inlined(HASH(KEYS, types.int64, HASH))
def packed_of(phrases, mask, key):
    """The packed number of a phrase by its hash; 0 where the KB does not know it."""
    return phrases[find_entry(phrases, mask, key, PHRASE) + 1]


@kernel(types.boolean(U64, U64, types.uint64, types.int64, types.uint64[::1]))
def enter(hashes, packed, field, most, phrases):
    """Enter phrases into their table, each with the bits of a packed number, unless it has some of that field.

    Returns False where one would lie more than `most` slots behind its own: whoever made such hashes means no good.
    """
    entries, mask = pointer(phrases), len(phrases) // PHRASE - 1
    for i in range(len(hashes)):
        slot, tried = np.int64(hashes[i] & np.uint64(mask)), 0
        while (entries[slot * PHRASE] != FREE) & (entries[slot * PHRASE] != hashes[i]):
            slot, tried = (slot + 1) & mask, tried + 1
            if tried > most:
                return False
        at = slot * PHRASE
        entries[at] = hashes[i]
        if entries[at + 1] & field == ZERO:
            entries[at + 1] |= packed[i]
    return True
