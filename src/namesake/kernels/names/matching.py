"""Full names in a text: the KB's names among its tokens, the longest from each token on, from left to right.

The rules are those of `oracle_mentions.Finder` in the tests.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import ZERO, extend, find
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
)
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, U8, U64, record

BITS = types.uint8[::1]
PLACES = types.int64[::1]
NOBODY = -1
SURE, LIKELY, FAIR = 80, 60, 30  # how much of a person's a name must be, in percent, by what the capitals say


class Index(NamedTuple):
    """The name index: hash table, its names, prefix bits; how much each name is a person's; its bearers."""

    keys: Annotated[Any, U64]
    slots: Annotated[Any, I32]
    prefixes: Annotated[Any, U8]
    percent: Annotated[Any, U8]
    indptr: Annotated[Any, I64]
    rows: Annotated[Any, I32]


INDEX = record(Index)

MATCHES = types.int64[:, ::1]
"""Full names: name, first token and end without titles in front, whether an initial was left out, whose it is, and the
first token with the titles."""
NAME, FIRST, END, SKIPPED, MENTION, BEGIN, MATCH_COLUMNS = 0, 1, 2, 3, 4, 5, 6


@inlined(types.boolean(TOKENS, types.int64, types.int64, types.int64, types.int64, types.int64))
def valid(tokens, first, end, skip, style, percent):
    """Whether the text lets tokens first to end be a person's name, of which it is `percent`."""
    bits, classes, gaps = pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps)
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
    hashes, prefixes = pointer(tokens.hashes), pointer(index.prefixes)
    bits, classes, gaps = pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps)
    mask = np.uint64(len(index.prefixes) * 8 - 1)
    fit = 0
    for i in range(count - 1):
        starts[fit] = i
        able = bits[i] & IS_CAPITAL != 0 if style == CASED else classes[i] & FUNCTION == 0
        fit += able & (gaps[i + 1] != HARD)
    kept = 0
    for k in range(fit):
        i = starts[k]
        bit = np.int64(extend(extend(ZERO, hashes[i]), hashes[i + 1]) & mask)
        starts[kept] = i
        kept += (prefixes[bit >> 3] >> (bit & 7) & 1 != 0) | (bits[i + 1] & IS_INITIALS != 0)
    return kept


@kernel(types.int64(TOKENS, types.int64, types.int64, INDEX, MATCHES, PLACES))
def match_names(tokens, count, style, index, matches, starts):
    """Find the full names, from left to right, the longest from each token on, and return how many.

    A second search from the same token leaves out an initial. `starts` is room for `name_starts`.
    """
    hashes, bits, classes, gaps = tokens.hashes, tokens.bits, tokens.classes, tokens.gaps
    keys, slots, prefixes = pointer(index.keys), pointer(index.slots), pointer(index.prefixes)
    bit_mask, slot_mask = np.uint64(len(index.prefixes) * 8 - 1), len(index.keys) - 1
    found = free = 0
    for k in range(name_starts(tokens, count, style, index, starts)):
        at = starts[k]
        if at < free:
            continue  # inside the name before
        name, end, skip = np.int64(NOBODY), at + 1, 0
        for skip in range(2 if at + 2 < count and bits[at + 1] & IS_INITIALS != 0 else 1):
            key = extend(ZERO, hashes[at])
            for i in range(at + 1, count):
                if gaps[i] == HARD or (gaps[i] == COMMA and classes[i] & (SUFFIX | HONORIFIC) == 0):
                    break
                if i <= at + skip:
                    continue
                key = extend(key, hashes[i])
                bit = np.int64(key & bit_mask)
                if prefixes[bit >> 3] >> (bit & 7) & 1 == 0:
                    break
                longer = np.int64(slots[find(keys, slot_mask, key)])
                if longer >= 0 and valid(tokens, at, i + 1, skip, style, np.int64(index.percent[longer])):
                    name, end = longer, i + 1
            if name >= 0:
                break
        if name < 0:
            continue
        first = at
        while skip == 0 and end - first > 2 and classes[first] & HONORIFIC != 0:
            key = ZERO
            for i in range(first + 1, end):
                key = extend(key, hashes[i])
            plain = np.int64(slots[find(keys, slot_mask, key)])
            if plain < 0:
                break
            name, first = plain, first + 1
        matches[found, NAME], matches[found, FIRST], matches[found, END] = name, first, end
        matches[found, SKIPPED], matches[found, BEGIN] = skip, at
        found += 1
        free = end
    return found
