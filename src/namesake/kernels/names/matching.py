"""Full names in a text: the KB's names among its tokens, the longest from each token on, from left to right.

The rules are those of `oracle_mentions.Finder` in the tests.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.names.index import extend
from namesake.kernels.names.tokens import (
    CASED,
    COMMA,
    FUNCTION,
    HARD,
    HONORIFIC,
    IS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    IS_JOINED,
    SOFT,
    SUFFIX,
    TITLE,
    TOKENS,
    U64,
)
from namesake.kernels.types import I32, I64, U8

BITS = types.uint8[::1]
PLACES = types.int64[::1]
NOBODY = -1
SURE, LIKELY, FAIR = 80, 60, 30  # how much of a person's a name must be, in percent, by what the capitals say

INDEX = types.Tuple((U64, I32, U8, U8, I64, I32))
"""The name index: hash table, its names, prefix bits; how much each is a person's; its bearers."""

MATCHES = types.int64[:, ::1]
"""Full names: name, first token and end without titles in front, whether an initial was left out, whose it is, and the
first token with the titles."""
NAME, FIRST, END, SKIPPED, MENTION, BEGIN, MATCH_COLUMNS = 0, 1, 2, 3, 4, 5, 6


@inlined(types.int64(INDEX, types.uint64))
def name_of(index, key):
    """The name with a hash, or NOBODY."""
    keys, slots, _, _, _, _ = index
    mask = np.uint64(len(keys) - 1)
    at = np.int64(key & mask)
    while slots[at] >= 0:
        if keys[at] == key:
            return np.int64(slots[at])
        at = np.int64(np.uint64(at + 1) & mask)
    return np.int64(NOBODY)


@inlined(
    types.boolean(BITS, BITS, BITS, types.int64, types.int64, types.int64, types.int64, types.int64),
)
def valid(bits, classes, gaps, first, end, skip, style, percent):
    """Whether the text lets tokens first to end be a person's name, of which it is `percent`."""
    titles = skip
    for i in range(first, end):
        if i == first or i > first + skip:
            titles += classes[i] & TITLE != 0
    if titles == end - first:
        return False
    head = bits[first]
    letter = head & IS_INITIALS != 0 and head & (IS_DOTTED | IS_JOINED) == 0
    function = classes[first] & FUNCTION != 0
    if style != CASED:
        return percent >= LIKELY and not function and not classes[end - 1] & FUNCTION and not letter
    if bits[end - 1] & IS_CAPITAL == 0:
        return False
    if function:
        return gaps[first] != HARD and percent >= SURE and not letter
    inside = head & IS_INITIALS != 0 and head & IS_JOINED == 0 and gaps[first] == SOFT  # as "E. Smith" in "Al E. Smith"
    if inside and first > 0 and bits[first - 1] & IS_CAPITAL != 0 and classes[first - 1] & (FUNCTION | HONORIFIC) == 0:
        return False
    return percent >= FAIR


@inlined(types.int64(TOKENS, types.int64, types.int64, INDEX, PLACES))
def name_starts(tokens, count, style, index, starts):
    """Write the tokens from which a name may start, and return how many.

    Most words are turned away by the prefix bit of the word and its follower, which lies anywhere in megabytes. The
    loops have no branches to foresee, so that the processor fetches many bits at a time.
    """
    hashes, _, bits, classes, gaps = tokens
    prefixes = index[2]
    mask = np.uint64(len(prefixes) * 8 - 1)
    fit = 0
    for i in range(count - 1):
        starts[fit] = i
        able = bits[i] & IS_CAPITAL != 0 if style == CASED else classes[i] & FUNCTION == 0
        fit += able & (gaps[i + 1] != HARD)
    kept = 0
    for k in range(fit):
        i = starts[k]
        bit = np.int64(extend(extend(np.uint64(0), hashes[i]), hashes[i + 1]) & mask)
        starts[kept] = i
        kept += (prefixes[bit >> 3] >> (bit & 7) & 1 != 0) | (bits[i + 1] & IS_INITIALS != 0)
    return kept


@kernel(types.int64(TOKENS, types.int64, types.int64, INDEX, MATCHES, PLACES))
def match_names(tokens, count, style, index, matches, starts):
    """Find the full names, from left to right, the longest from each token on, and return how many.

    The search is written out here: calls that pass arrays count references, which costs more than the probes. A second
    search leaves out an initial. `starts` is room for `name_starts`.
    """
    hashes, _, bits, classes, gaps = tokens
    keys, slots, prefixes, percent, _, _ = index
    bit_mask, slot_mask = np.uint64(len(prefixes) * 8 - 1), np.uint64(len(keys) - 1)
    found = free = 0
    for k in range(name_starts(tokens, count, style, index, starts)):
        at = starts[k]
        if at < free:
            continue  # inside the name before
        name, end, skip = np.int64(NOBODY), at + 1, 0
        for skip in range(2 if at + 2 < count and bits[at + 1] & IS_INITIALS != 0 else 1):
            key = extend(np.uint64(0), hashes[at])
            for i in range(at + 1, count):
                if gaps[i] == HARD or (gaps[i] == COMMA and classes[i] & (SUFFIX | HONORIFIC) == 0):
                    break
                if i <= at + skip:
                    continue
                key = extend(key, hashes[i])
                bit = np.int64(key & bit_mask)
                if prefixes[bit >> 3] >> (bit & 7) & 1 == 0:
                    break
                slot = np.int64(key & slot_mask)
                while slots[slot] >= 0 and keys[slot] != key:
                    slot = np.int64(np.uint64(slot + 1) & slot_mask)
                longer = slots[slot]
                if longer >= 0 and valid(bits, classes, gaps, at, i + 1, skip, style, np.int64(percent[longer])):
                    name, end = np.int64(longer), i + 1
            if name >= 0:
                break
        if name < 0:
            continue
        first = at
        while skip == 0 and end - first > 2 and classes[first] & HONORIFIC != 0:
            key = np.uint64(0)
            for i in range(first + 1, end):
                key = extend(key, hashes[i])
            plain = name_of(index, key)
            if plain < 0:
                break
            name, first = plain, first + 1
        matches[found, NAME], matches[found, FIRST], matches[found, END] = name, first, end
        matches[found, SKIPPED], matches[found, BEGIN] = skip, at
        found += 1
        free = end
    return found
