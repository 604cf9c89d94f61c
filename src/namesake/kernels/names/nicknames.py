"""Quoted nicknames: James D. "Jim" Farley is a Jim Farley, a James Farley or a James D. Farley."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.constants import NICKNAMED
from namesake.kernels.names.full import FROM, HASHES, HOW, MATCHES, TO, WHO
from namesake.kernels.names.page import (
    BY_PERSON,
    KNOWN,
    NOBODY,
    OPEN,
    PAGE,
    B,
    I,
    capital,
    follows,
    listed,
    name_key,
    name_of,
    take,
)
from namesake.kernels.names.tokens import FUNCTION, TITLE
from namesake.kernels.simd import byte

MOST_BEFORE = 4  # words before a nickname that may be part of the name
SPACE = 0x20


@inner(I(PAGE, I))
def lone_mark(page, i):
    """The code point of the one mark that stands before token i, among blanks; 0 where none or several do."""
    begin, end = page.ends[i - 1], page.starts[i]
    while begin < end and byte(page.text, begin) <= SPACE:
        begin += 1
    while end > begin and byte(page.text, end - 1) <= SPACE:
        end -= 1
    if end - begin == 1:
        return byte(page.text, begin)
    if end - begin == 3 and byte(page.text, begin) == 0xE2 and byte(page.text, begin + 1) == 0x80:
        return 0x2000 + (byte(page.text, begin + 2) & 0x3F)
    return np.int64(0)


@inlined(B(PAGE, I))
def quoted(page, i):
    """Whether token i stands alone in quotation marks or round brackets."""
    if i <= 0 or i >= page.count - 1 or byte(page.text, page.starts[i] - 1) == SPACE:
        return False
    opening = lone_mark(page, i)
    if opening not in (0x22, 0x27, 0x28, 0x2018, 0x201C):
        return False
    closing = lone_mark(page, i + 1)
    return closing == opening if opening in (0x22, 0x27) else closing == opening + 1


@inner(B(PAGE, I))
def in_nickname(page, i):
    """Whether token i is a quoted nickname, or stands behind one: "Hank" Cosby."""
    if quoted(page, i) and capital(page, i - 1) and capital(page, i + 1):
        return True
    return i > 1 and quoted(page, i - 1) and capital(page, i - 2)


@inner(types.void(PAGE, MATCHES, I, I, I))
def give_way(page, matches, low, high, first):
    """Drop the matches low to high, whose ends ascend, that end behind token `first`; their tokens are open again."""
    m = high - 1
    while m >= low and matches[m, TO] > first:
        if matches[m, HOW] != NOBODY:
            take(page, matches[m, FROM], matches[m, TO], OPEN)
            matches[m, HOW] = NOBODY
        m -= 1


@inner(I(MATCHES, HASHES, I, I))
def merge(matches, keys, found, end):
    """Bring the matches up to `found` and those up to `end` into one order, without those dropped; how many remain."""
    all_matches, all_keys = matches[:end].copy(), keys[:end].copy()
    one, other, count = np.int64(0), np.int64(found), 0
    while one < found or other < end:
        if other == end or (one < found and all_matches[one, FROM] < all_matches[other, FROM]):
            m, one = one, one + 1
        else:
            m, other = other, other + 1
        if all_matches[m, HOW] != NOBODY:
            for i in range(matches.shape[1]):
                matches[count, i] = all_matches[m, i]
            keys[count] = all_keys[m]
            count += 1
    return count


@inner(I(PAGE, KNOWN, MATCHES, HASHES, I))
def match_nicknames(page, known, matches, keys, found):
    """Add the full names around quoted nicknames to the matches, in place of those they overlap; how many there are."""
    near, size = np.int64(0), np.int64(found)  # matches that begin before the end of the name; those with nicknames
    for k in range(page.ables):
        i = page.able[k]
        if (
            page.starts[i] - page.ends[max(i - 1, 0)] < 2
            or not quoted(page, i)
            or not capital(page, i)
            or not capital(page, i - 1)
            or not capital(page, i + 1)
        ):
            continue
        if listed(page, i + 1, FUNCTION):
            continue
        first, end = i - 1, i + 2
        while first > 0 and follows(page, first) and capital(page, first - 1) and i - first < MOST_BEFORE:
            if listed(page, first - 1, TITLE):
                break
            first -= 1
        last = page.hashes[i + 1]
        key = extend(extend(ZERO, page.hashes[first]), last)
        name = name_of(known, key)
        name = name if name >= 0 else name_of(known, extend(name_key(page, first, i), last))
        name = name if name >= 0 else name_of(known, extend(extend(ZERO, page.hashes[i]), last))
        if name < 0:
            continue
        while near < found and matches[near, FROM] < end:
            near += 1
        give_way(page, matches, np.int64(0), near, first)
        give_way(page, matches, np.int64(found), size, first)
        matches[size, WHO], matches[size, FROM], matches[size, TO], matches[size, HOW] = name, first, end, NICKNAMED
        keys[size] = key
        size += 1
        take(page, first, end, BY_PERSON)
    return merge(matches, keys, found, size) if size > found else np.int64(found)
