"""Fingerprints of the words around names, by which decisions of people are found again."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import ZERO, add_byte, finish
from namesake.kernels.types import I64, PAIRS, U8

NEAR = 8
"""How many words before a name, and how many after it, belong to its fingerprint."""
STATE = types.Tuple((types.uint64, types.uint64, types.int64))
SPACE, BAR = np.uint64(32), np.uint64(124)


@inner(types.boolean(U8, types.int64))
def in_word(data, at):
    """Whether the character that the byte at `at` belongs to is part of a word.

    These are ASCII letters and digits, and other characters except U+0080 to U+00BF and U+2000 to U+206F: signs.
    """
    one = data[at]
    if one < 128:
        return 48 <= one <= 57 or 65 <= one <= 90 or 97 <= one <= 122
    while at > 0 and data[at] & 0xC0 == 0x80:
        at -= 1
    return data[at] != 0xC2 and not (data[at] == 0xE2 and at + 1 < len(data) and 0x80 <= data[at + 1] <= 0x81)


@inner(STATE(STATE, U8, types.int64, types.int64))
def add_word(state, data, begin, end):
    """The state of the hash with a word in lower case (ASCII only) and a space."""
    hashed, rest, length = state
    for at in range(begin, end):
        one = data[at]
        hashed, rest, length = add_byte(hashed, rest, length, np.uint64(one + 32 if 65 <= one <= 90 else one))
    return add_byte(hashed, rest, length, SPACE)


@kernel(types.uint64[::1](U8, I64, I64, PAIRS))
def fingerprints(data, offsets, texts, spans):
    """The fingerprint of each span, in bytes of its text: a hash of the words around it.

    The hashed bytes are the last `NEAR` words before the span, the nearest first, each in lower case and with a space
    behind it; a bar; and the first `NEAR` words after the span in their order, in the same form.
    """
    found = np.empty(len(spans), np.uint64)
    for k in range(len(spans)):
        low, high = offsets[texts[k]], offsets[texts[k] + 1]
        state = (ZERO, ZERO, np.int64(0))
        at, words = low + spans[k, 0], 0
        while words < NEAR and at > low:
            if not in_word(data, at - 1):
                at -= 1
                continue
            end = at
            while at > low and in_word(data, at - 1):
                at -= 1
            state = add_word(state, data, at, end)
            words += 1
        state = add_byte(state[0], state[1], state[2], BAR)
        at, words = low + spans[k, 1], 0
        while words < NEAR and at < high:
            if not in_word(data, at):
                at += 1
                continue
            begin = at
            while at < high and in_word(data, at):
                at += 1
            state = add_word(state, data, begin, at)
            words += 1
        found[k] = finish(state[0], state[1], state[2])
    return found
