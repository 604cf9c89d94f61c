"""Variants of a name: nicknames, initials, missing middle names, other transliterations.

Names are filed under the sound of their last token and the first letter of their first; a query is compared with the
names of its drawer, and of its nicknames' drawers.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import hash_bytes
from namesake.kernels.names.index import AFFIXES, MOST_TOKENS, bare, tokens
from namesake.kernels.search import first_at_least
from namesake.kernels.types import I32, I64, U8, U64, record

ROMANS = types.Array(types.uint8, 2, "C", readonly=True)

MOST_LETTERS = 48
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
NICKNAME, SOUND, INITIAL, SURNAME_SOUND, MISSING = 0.85, 0.8, 0.7, 0.7, 0.9  # what each difference costs


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


@inner(types.boolean(U8, I64, types.int64, U8, I64, types.int64, ROMANS))
def sounds_alike(left, left_starts, i, right, right_starts, j, romans):
    """Whether token i of one name sounds as token j of another; tokens of one or two letters never do."""
    if left_starts[i + 1] - left_starts[i] < 4 or right_starts[j + 1] - right_starts[j] < 4:
        return False
    one, two = np.empty(MOST_LETTERS, np.uint8), np.empty(MOST_LETTERS, np.uint8)
    size = sound(left, left_starts[i], left_starts[i + 1] - 1, romans, one)
    if size != sound(right, right_starts[j], right_starts[j + 1] - 1, romans, two):
        return False
    return np.array_equal(one[:size], two[:size])


@inner(types.boolean(U8, I64, types.int64, U8, I64, types.int64))
def initial_of(left, left_starts, i, right, right_starts, j):
    """Whether one of the two tokens is a single letter and the other begins with it."""
    if left[left_starts[i]] != right[right_starts[j]]:
        return False
    return left_starts[i + 1] - left_starts[i] == 2 or right_starts[j + 1] - right_starts[j] == 2


@inner(
    types.float64(U8, I64, U64, types.int64, types.int64, U8, I64, U64, types.int64, U64, ROMANS),
)
def likeness(query, starts, hashes, low, high, name, name_starts, name_hashes, count, nicknames, romans):
    """How well tokens low to high of a query fit a name: 1 if equal, 0 if they contradict each other.

    The product of what first, middle and last tokens differ in. Middle names of one side only cost little; where both
    have some they must agree in turn.
    """
    quality = SAME
    last = count - 1
    if hashes[high - 1] != name_hashes[last]:
        if not sounds_alike(query, starts, high - 1, name, name_starts, last, romans):
            return 0.0
        quality *= SURNAME_SOUND
    if hashes[low] != name_hashes[0]:
        known = False
        for nickname in nicknames:
            known = known or nickname == name_hashes[0]
        if known:
            quality *= NICKNAME
        elif initial_of(query, starts, low, name, name_starts, 0):
            quality *= INITIAL
        elif sounds_alike(query, starts, low, name, name_starts, 0, romans):
            quality *= SOUND
        else:
            return 0.0
    inner = min(high - low, count) - 2
    for i in range(1, inner + 1):
        if hashes[low + i] != name_hashes[i] and not initial_of(query, starts, low + i, name, name_starts, i):
            return 0.0
    if high - low != count:
        quality *= MISSING
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
    letters = np.empty(MOST_LETTERS, np.uint8)
    indptr = np.zeros(len(offsets), np.int64)
    names, quality = np.empty(64, np.int32), np.empty(64, np.float64)
    drawers = filed.drawers
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
        nick = first_at_least(nicknames.keys, 0, len(nicknames.keys), hashes[low])
        begin = end = np.int64(0)
        if nick < len(nicknames.keys) and nicknames.keys[nick] == hashes[low]:
            begin, end = nicknames.indptr[nick], nicknames.indptr[nick + 1]
        others, letters_of_others = nicknames.hashes[begin:end], nicknames.letters[begin:end]
        for letter in range(256):
            wanted = np.uint64(letter) == key & LETTER_BITS
            for i in range(len(others)):
                wanted = wanted or np.int64(letters_of_others[i]) == letter
            if not wanted:
                continue
            here = key & ~LETTER_BITS | np.uint64(letter)
            at = first_at_least(drawers, 0, len(drawers), here)
            while at < len(drawers) and drawers[at] == here:
                name = filed.names[at]
                at += 1
                size = tokens(filed.texts, filed.offsets[name], filed.offsets[name + 1], name_starts, name_hashes)
                like = likeness(
                    data, starts, hashes, low, high, filed.texts, name_starts, name_hashes, size, others, romans
                )
                if like == 0.0:
                    continue
                if found == len(names):
                    names, quality = np.append(names, names), np.append(quality, quality)
                names[found] = name
                quality[found] = like
                found += 1
        indptr[query + 1] = found
    return indptr, names[:found].copy(), quality[:found].copy()
