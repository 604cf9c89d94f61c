"""Slips of one letter: the keys under which a name is found although a letter is missing, added or wrong."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import ZERO, add_byte, extend, finish, hash_bytes
from namesake.kernels.names.index import MOST_TOKENS, tokens
from namesake.kernels.types import I32, I64, U8

FEWEST, MOST = 2, 3  # tokens of a name that has slips
SHORTEST = 5  # letters of a token that has slips
BITS_TO_A_SLIP = 4  # of which a name has about ten, and sets two bits


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
