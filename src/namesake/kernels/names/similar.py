"""Variants of a name: nicknames, initials, missing middle names, other transliterations.

Names are filed under the sound of their last token and the first letter of their first; a query is compared with the
names of its drawer, and of its nicknames' drawers.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import hash_bytes
from namesake.kernels.names.index import AFFIXES, MOST_TOKENS, SPACE, bare, tokens
from namesake.kernels.search import first_at_least
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import I32, I64, U8, U64, record

ROMANS = types.Array(types.uint8, 2, "C", readonly=True)

MOST_LETTERS = 48
AHEAD = 16  # names whose texts are fetched from memory while others are compared
LETTER_BITS = np.uint64(0xFF)


class Nicknames(NamedTuple):
    """For each first name, by its hash ascending, the hashes and sounding first letters of those it may stand for."""

    keys: Annotated[Any, U64]
    indptr: Annotated[Any, I64]
    hashes: Annotated[Any, U64]
    letters: Annotated[Any, U8]


class Filed(NamedTuple):
    """The names of an index by drawer, ascending; and the texts of the names."""

    drawers: Annotated[Any, U64]
    names: Annotated[Any, I32]
    offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]


SAME = 1.0
NICKNAME, SOUND, INITIAL, UMLAUT, SURNAME_SOUND, MISSING = 0.85, 0.8, 0.7, 0.95, 0.7, 0.9  # what differences cost
LETTER_E, AOU = 0x65, (0x61, 0x6F, 0x75)


@inner(types.int64(U8, types.int64, types.int64, ROMANS, types.uint8[::1]))
def sound(data, start, end, romans, out):
    """Write a token as it sounds, roughly, and return the length: what transliterations differ in is folded.

    Cyrillic becomes Latin; y and j i, w v, c and q k, z s, e a, o u; h after a letter, e after a, o or u, and
    doubled letters go.
    """
    size = 0
    at = start
    while at < end and size < MOST_LETTERS - 4:
        first = data[at]
        count = 1
        row = np.int64(first)
        if first in (0xD0, 0xD1) and at + 1 < end:
            row = 256 + ((np.int64(first) & 1) << 6 | np.int64(data[at + 1]) & 0x3F)
            count = 2
        umlaut = first == 0x65 and at > start and data[at - 1] in (0x61, 0x6F, 0x75)
        for i in range(0 if umlaut else romans.shape[1]):
            letter = romans[row, i]
            if letter == 0 or (letter == 0x68 and size > 0) or (size > 0 and out[size - 1] == letter):
                continue
            out[size] = letter
            size += 1
        if row >= 0x80 and count == 1:  # a letter of another script stands for itself
            out[size] = first
            size += 1
        at += count
    return size


@inner(
    types.uint64(U8, types.int64, types.int64, types.int64, types.int64, ROMANS, types.uint8[::1]),
)
def drawer(data, first, first_end, last, last_end, romans, letters):
    """Where a name is filed: the sound of its last token, and in the lowest byte the first letter of its first."""
    size = sound(data, first, first_end, romans, letters)
    letter = np.uint64(letters[0]) if size else np.uint64(0)
    size = sound(data, last, last_end, romans, letters)
    return hash_bytes(letters, 0, size) & ~LETTER_BITS | letter


@kernel(types.void(U8, I64, ROMANS, types.uint64[::1]))
def file_names(texts, offsets, romans, drawers):
    """The drawer of each name of two tokens or more; 0 for the others."""
    starts = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    letters = np.empty(MOST_LETTERS, np.uint8)
    for name in range(len(offsets) - 1):
        count = tokens(texts, offsets[name], offsets[name + 1], starts, hashes)
        drawers[name] = 0
        if count > 1 and starts[count] == offsets[name + 1] + 1:
            drawers[name] = drawer(
                texts, starts[0], starts[1] - 1, starts[count - 1], starts[count] - 1, romans, letters
            )


@inner(types.boolean(U8, I64, types.int64, U8, I64, types.int64))
def initial_of(left, left_starts, i, right, right_starts, j):
    """Whether one of the two tokens is a single letter and the other begins with it."""
    if left[left_starts[i]] != right[right_starts[j]]:
        return False
    return left_starts[i + 1] - left_starts[i] == 2 or right_starts[j + 1] - right_starts[j] == 2


@inner(types.float64(U8, I64, U64, types.int64, U8, I64, types.int64, U64, U8, ROMANS, types.uint8[::1]))
def first_likeness(query, starts, hashes, low, name, name_starts, end, nicknames, heard, romans, letters):
    """How well token `low` of a query, which sounds like `heard`, fits the first token of a name, which ends at `end`.

    It is 0 if they contradict each other. Tokens of one or two letters never sound alike.
    """
    start, hashed = name_starts[0], hash_bytes(name, name_starts[0], end)
    if hashed == hashes[low]:
        return SAME
    for nickname in nicknames:
        if nickname == hashed:
            return NICKNAME
    if initial_of(query, starts, low, name, name_starts, 0):
        return INITIAL
    if min(end - start, starts[low + 1] - 1 - starts[low]) > 2:
        size = sound(name, start, end, romans, letters)
        if size == len(heard) and np.array_equal(letters[:size], heard):
            return SOUND
    return 0.0


@inner(types.boolean(U8, types.int64, types.int64, U8, types.int64, types.int64))
def differ_in_umlauts(one, start, end, other, begin, stop):
    """Whether two tokens differ only in umlauts: ae, oe or ue in one is a, o or u in the other."""
    before = np.uint8(0)
    while start < end and begin < stop:
        if one[start] == other[begin]:
            before = one[start]
            start, begin = start + 1, begin + 1
        elif before in AOU and one[start] == LETTER_E:
            before, start = one[start], start + 1
        elif before in AOU and other[begin] == LETTER_E:
            before, begin = other[begin], begin + 1
        else:
            return False
    return start == end and begin == stop


@inner(types.float64(U8, I64, U64, types.int64, types.int64, U8, I64, U64, types.int64))
def rest_likeness(query, starts, hashes, low, high, name, name_starts, name_hashes, count):
    """How well the tokens after the first of query[low:high] fit those of a name whose last token sounds the same.

    Middle names of one side only cost little. If both names have some, they must agree in turn.
    """
    quality, last = SAME, count - 1
    if hashes[high - 1] != name_hashes[last]:
        if min(starts[high] - starts[high - 1], name_starts[count] - name_starts[last]) < 4:
            return 0.0
        umlauts = differ_in_umlauts(
            query, starts[high - 1], starts[high] - 1, name, name_starts[last], name_starts[count] - 1
        )
        quality *= UMLAUT if umlauts else SURNAME_SOUND
    if high - low != count:
        quality *= MISSING
    for i in range(1, min(high - low, count) - 1):
        if hashes[low + i] != name_hashes[i] and not initial_of(query, starts, low + i, name, name_starts, i):
            return 0.0
    return quality


@kernel(
    types.Tuple((types.int64[::1], types.int32[::1], types.float64[::1]))(
        U8, I64, AFFIXES, ROMANS, record(Nicknames), record(Filed)
    )
)
def find_variants(data, offsets, affixes, romans, nicknames, filed):
    """Names that may be meant by each normalised query, as CSR: offsets, name ids, likeness; equal names included."""
    starts, name_starts = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS + 1, np.int64)
    hashes, name_hashes = np.empty(MOST_TOKENS, np.uint64), np.empty(MOST_TOKENS, np.uint64)
    letters, heard = np.empty(MOST_LETTERS, np.uint8), np.empty(MOST_LETTERS, np.uint8)
    indptr = np.zeros(len(offsets), np.int64)
    names, quality = np.empty(64, np.int32), np.empty(64, np.float64)
    drawers, texts = filed.drawers, filed.texts
    found = 0
    for query in range(len(offsets) - 1):
        indptr[query + 1] = found
        if offsets[query] == offsets[query + 1]:
            continue
        count = tokens(data, offsets[query], offsets[query + 1], starts, hashes)
        low, high = bare(hashes, count, affixes, 2)
        if high - low < 2 or starts[count] != offsets[query + 1] + 1:
            continue
        key = drawer(data, starts[low], starts[low + 1] - 1, starts[high - 1], starts[high] - 1, romans, letters)
        sounds = heard[: sound(data, starts[low], starts[low + 1] - 1, romans, heard)]
        nick = first_at_least(nicknames.keys, 0, len(nicknames.keys), hashes[low])
        begin = end = np.int64(0)
        if nick < len(nicknames.keys) and nicknames.keys[nick] == hashes[low]:
            begin, end = nicknames.indptr[nick], nicknames.indptr[nick + 1]
        others, first_letters = nicknames.hashes[begin:end], nicknames.letters[begin:end]
        for i in range(-1, len(others)):
            letter = key & LETTER_BITS if i < 0 else np.uint64(first_letters[i])
            seen = i >= 0 and letter == key & LETTER_BITS
            for j in range(i):
                seen = seen or np.uint64(first_letters[j]) == letter
            here = key & ~LETTER_BITS | letter
            at = len(drawers) if seen else first_at_least(drawers, 0, len(drawers), here)
            ahead = at
            while at < len(drawers) and drawers[at] == here:
                while ahead < min(at + AHEAD, len(drawers)) and drawers[ahead] == here:
                    prefetch(pointer(texts), filed.offsets[filed.names[ahead]])
                    ahead += 1
                name = filed.names[at]
                at += 1
                name_starts[0] = name_end = filed.offsets[name]
                while texts[name_end] != SPACE:  # there are two tokens at least
                    name_end += 1
                name_starts[1] = name_end + 1
                like = first_likeness(
                    data, starts, hashes, low, texts, name_starts, name_end, others, sounds, romans, letters
                )
                if like == 0.0:
                    continue
                size = tokens(texts, filed.offsets[name], filed.offsets[name + 1], name_starts, name_hashes)
                like *= rest_likeness(data, starts, hashes, low, high, texts, name_starts, name_hashes, size)
                if like == 0.0:
                    continue
                if found == len(names):
                    names, quality = np.append(names, names), np.append(quality, quality)
                names[found] = name
                quality[found] = like
                found += 1
        indptr[query + 1] = found
    return indptr, names[:found].copy(), quality[:found].copy()
