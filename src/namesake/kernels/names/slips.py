"""Names with a misspelling of one letter, in reversed order, or behind another first name.

A name is filed under keys of its first and last token, one of them without a letter. A misspelled name shares a key.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import ZERO, add_byte, extend, finish, hash_bytes, slot_of
from namesake.kernels.names.index import AFFIXES, MOST_TOKENS, NOBODY, bare, tokens
from namesake.kernels.names.similar import MISSING, initial_of
from namesake.kernels.search import first_at_least
from namesake.kernels.types import I32, I64, U8, U64, record

FEWEST, MOST = 2, 3  # tokens of a name with misspellings
SHORTEST, LONGEST = 5, 48  # letters of the correct token, bytes of the misspelled one
BITS_TO_A_SLIP = 4  # of which a name has about ten, and sets two bits
SLIP, REVERSED, MIDDLE = 0.6, 0.9, 0.6
"""The quality of a misspelling, of a reversed name, and of a name without the query's first token."""
RARE = 3  # labels of people that may begin, or end, with a misspelled token
RARE_MIDDLE = 10  # labels that may begin with a middle name by which a person is called
OFTEN = 4  # how many times as often a surname ends labels as it begins them


class Known(NamedTuple):
    """Names by the keys of misspellings, ascending; their filter; all names and their table; the table of tokens."""

    keys: Annotated[Any, U64]
    names: Annotated[Any, I32]
    openings: Annotated[Any, U8]
    offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]
    name_hashes: Annotated[Any, U64]
    name_slots: Annotated[Any, I32]
    token_hashes: Annotated[Any, U64]
    begins: Annotated[Any, I32]
    ends: Annotated[Any, I32]


KNOWN = record(Known)


@inner(types.int64(U8, types.int64, types.int64))
def letters_in(text, start, end):
    """How many characters text[start:end] has."""
    count = 0
    for i in range(start, end):
        count += text[i] & 0xC0 != 0x80
    return count


@inner(types.uint64(U8, types.int64, types.int64, types.int64, types.int64))
def hash_without(text, start, end, low, high):
    """The hash of text[start:end] without text[low:high]."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    for i in range(start, end):
        if i < low or i >= high:
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(text[i]))
    return finish(hashed, rest, length)


@inner(types.int64(types.uint64, U8, types.int64, types.int64, types.uint64[::1], types.int64))
def add_slips(other, text, start, end, keys, count):
    """Write the keys of a token beside the hash `other`: as it is, and without each letter but the first.

    Without either of two equal letters it is the same, so the second one stays.
    """
    keys[count] = extend(extend(ZERO, other), hash_bytes(text, start, end))
    count += 1
    before, at = start, start + 1
    while at < end and text[at] & 0xC0 == 0x80:
        at += 1
    while at < end:
        following = at + 1
        while following < end and text[following] & 0xC0 == 0x80:
            following += 1
        same = before > start and following - at == at - before
        for i in range(following - at if same else 0):
            same = same and text[before + i] == text[at + i]
        if not same:
            keys[count] = extend(extend(ZERO, other), hash_without(text, start, end, at, following))
            count += 1
        before, at = at, following
    return count


@kernel(types.int64(U8, I64, I32, types.uint64[::1], types.int32[::1]))
def list_slips(text, offsets, names, keys, meant):
    """Write the keys of these names of two or three tokens, with the name that each means; returns how many."""
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    count = 0
    for name in names:
        size = tokens(text, offsets[name], offsets[name + 1], at, hashes)
        if size < FEWEST or size > MOST or letters_in(text, at[size - 1], offsets[name + 1]) < SHORTEST:
            continue
        first = count
        count = add_slips(hashes[0], text, at[size - 1], offsets[name + 1], keys, count)
        if letters_in(text, at[0], at[1] - 1) >= SHORTEST:
            count = add_slips(hashes[size - 1], text, at[0], at[1] - 1, keys, count)
        meant[first:count] = name
    return count


@inlined(types.int64(types.uint64, types.int64, types.int64))
def opening(word, letter, mask):
    """The bit of a word, by its hash, and the letter with which the other one begins; `mask`: the bits less one."""
    return np.int64(extend(word, np.uint64(letter)) & np.uint64(mask))


@kernel(types.uint8[::1](U8, I64, I32))
def slip_openings(text, offsets, names):
    """Bits that turn most words away before slips are looked for: set for each edge of these names as the right word.

    A slip leaves the first letter of the other word as it is.
    """
    bits = 8
    while bits < BITS_TO_A_SLIP * len(names):
        bits *= 2
    openings, seen = np.zeros(bits // 8, np.uint8), np.zeros(len(offsets) - 1, np.bool_)
    at, hashes = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS, np.uint64)
    for name in names:
        if seen[name]:
            continue
        seen[name] = True
        size = tokens(text, offsets[name], offsets[name + 1], at, hashes)
        for right, wrong in ((0, size - 1), (size - 1, 0)):
            if at[wrong] < offsets[name + 1]:
                bit = opening(hashes[right], np.int64(text[at[wrong]]), bits - 1)
                openings[bit >> 3] |= np.uint8(1 << (bit & 7))
    return openings


@inner(types.boolean(U8, types.int64, types.int64, U8, types.int64))
def same_text(one, start, end, other, begin):
    """Whether one[start:end] stands in `other` from `begin` on."""
    for i in range(end - start):
        if one[start + i] != other[begin + i]:
            return False
    return True


@inner(types.boolean(U8, types.int64, types.int64, U8, types.int64, types.int64))
def one_letter(wrong, start, end, right, begin, stop):
    """Whether wrong[start:end] has one letter less than right[begin:stop], more, another, or two exchanged."""
    same, tail, shorter = 0, 0, min(end - start, stop - begin)
    while same < shorter and wrong[start + same] == right[begin + same]:
        same += 1
    while same < shorter and wrong[start + same] & 0xC0 == 0x80:  # inside a letter of several bytes
        same -= 1
    while tail < shorter - same and wrong[end - 1 - tail] == right[stop - 1 - tail]:
        tail += 1
    while tail > 0 and wrong[end - tail] & 0xC0 == 0x80:
        tail -= 1
    start, end, begin, stop = start + same, end - tail, begin + same, stop - tail
    more, less = letters_in(wrong, start, end), letters_in(right, begin, stop)
    if more != 2 or less != 2 or end - start != stop - begin:
        return max(more, less) == 1
    size = 1
    while wrong[start + size] & 0xC0 == 0x80:
        size += 1
    return same_text(wrong, start, start + size, right, stop - size) and same_text(
        wrong, start + size, end, right, begin
    )


@inner(types.Tuple((types.int64, types.float64))(U64, I64, types.int64, types.int64, KNOWN))
def other_order(hashes, starts, low, high, known):
    """The name that two tokens make in reversed order, or the last two of more, and its quality; NOBODY if none.

    A reversed name begins with what is usually a surname. Of two first names the second counts if it, or the surname,
    is rare.
    """
    one, two = (high - 1, low) if high - low == 2 else (high - 2, high - 1)
    name = np.int64(known.name_slots[slot_of(known.name_hashes, extend(extend(ZERO, hashes[one]), hashes[two]))])
    if name == NOBODY:
        return name, 0.0
    given, surname = slot_of(known.token_hashes, hashes[one]), slot_of(known.token_hashes, hashes[two])
    if high - low == 2:
        usual = known.begins[given] >= OFTEN * known.ends[given]
        return name, REVERSED if usual and known.ends[surname] >= OFTEN * known.begins[surname] else 0.0
    rare = known.begins[given] <= RARE_MIDDLE or known.ends[surname] <= RARE
    return name, MIDDLE if rare and starts[high - 1] - starts[high - 2] > 3 else 0.0


@inner(types.boolean(U8, I64, U64, types.int64, types.int64, U8, I64, U64, types.int64))
def same_middle(query, starts, hashes, low, high, name, name_starts, name_hashes, count):
    """Whether the middle names of query[low:high] and of a name agree, if both have one."""
    if high - low < MOST or count < MOST or hashes[low + 1] == name_hashes[1]:
        return True
    return initial_of(query, starts, low + 1, name, name_starts, 1)


@kernel(types.Tuple((types.int64[::1], types.int32[::1], types.float64[::1]))(U8, I64, AFFIXES, KNOWN))
def find_slips(data, offsets, affixes, known):
    """Names of which each normalised query is a misspelling or another order, as CSR: offsets, name ids, quality.

    The first or the last token has one letter less, more, wrong or exchanged with its neighbour; its first letter is
    correct. A token with which several labels begin, or end, is no misspelling.
    """
    starts, name_starts = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS + 1, np.int64)
    hashes, name_hashes = np.empty(MOST_TOKENS, np.uint64), np.empty(MOST_TOKENS, np.uint64)
    keys, mask = np.empty(LONGEST + 1, np.uint64), 8 * len(known.openings) - 1
    indptr = np.zeros(len(offsets), np.int64)
    names, quality = np.empty(64, np.int32), np.empty(64, np.float64)
    found = 0
    for query in range(len(offsets) - 1):
        indptr[query + 1] = first = found
        count = tokens(data, offsets[query], offsets[query + 1], starts, hashes)
        low, high = bare(hashes, count, affixes, FEWEST)
        if high - low < FEWEST or starts[count] != offsets[query + 1] + 1:
            continue
        if found == len(names):
            names, quality = np.append(names, names), np.append(quality, quality)
        names[found], quality[found] = other_order(hashes, starts, low, high, known)
        found += quality[found] > 0.0
        for wrong, right in ((high - 1, low), (low, high - 1)):
            start, end = starts[wrong], starts[wrong + 1] - 1
            bit = opening(hashes[right], np.int64(data[start]), mask)
            if known.openings[bit >> 3] >> (bit & 7) & 1 == 0 or high - low > MOST or end - start > LONGEST:
                continue
            labels = known.ends if wrong > right else known.begins
            if labels[slot_of(known.token_hashes, hashes[wrong])] > RARE:
                continue
            for k in range(add_slips(hashes[right], data, start, end, keys, 0)):
                at = first_at_least(known.keys, 0, len(known.keys), keys[k])
                while at < len(known.keys) and known.keys[at] == keys[k]:
                    name = known.names[at]
                    at += 1
                    size = tokens(known.texts, known.offsets[name], known.offsets[name + 1], name_starts, name_hashes)
                    i, j = (size - 1, 0) if wrong > right else (0, size - 1)
                    fits = name_hashes[j] == hashes[right] and one_letter(
                        data, start, end, known.texts, name_starts[i], name_starts[i + 1] - 1
                    )
                    for other in range(first, found):
                        fits = fits and names[other] != name
                    if not fits or not same_middle(
                        data, starts, hashes, low, high, known.texts, name_starts, name_hashes, size
                    ):
                        continue
                    if found == len(names):
                        names, quality = np.append(names, names), np.append(quality, quality)
                    names[found] = name
                    quality[found] = SLIP if high - low == size else SLIP * MISSING
                    found += 1
        indptr[query + 1] = found
    return indptr, names[:found].copy(), quality[:found].copy()
