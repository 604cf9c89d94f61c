"""How names sound, roughly, and the drawers in which names with the same sound are filed; see `variants.py`."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import hash_bytes
from namesake.kernels.names.index import MOST_TOKENS, tokens
from namesake.kernels.types import I64, U8

ROMANS = types.Array(types.uint8, 2, "C", readonly=True)
MOST_LETTERS = 48
LETTER_BITS = np.uint64(0xFF)


@inner(types.int64(U8, types.int64, types.int64, ROMANS, types.uint8[::1], U8))
def sound(data, start, end, romans, out, like):
    """Write a token as it sounds, roughly, and return the length: what transliterations differ in is folded.

    Returns 0 as soon as it differs from `like`, unless that is empty.

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
        if len(like) > 0 and size > 0 and (size > len(like) or out[size - 1] != like[size - 1]):
            return 0
        at += count
    return size


@inner(
    types.uint64(U8, types.int64, types.int64, types.int64, types.int64, ROMANS, types.uint8[::1]),
)
def drawer(data, first, first_end, last, last_end, romans, letters):
    """Where a name is filed: the sound of its last token, and in the lowest byte the first letter of its first."""
    size = sound(data, first, first_end, romans, letters, letters[:0])
    letter = np.uint64(letters[0]) if size else np.uint64(0)
    size = sound(data, last, last_end, romans, letters, letters[:0])
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
