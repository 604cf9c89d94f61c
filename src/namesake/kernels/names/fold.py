"""The spelling of names and words: case, accents and punctuation folded, straight on UTF-8."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, ZERO, add_byte, find, finish
from namesake.kernels.simd import BYTES, pointer
from namesake.kernels.text.characters import code_point
from namesake.kernels.types import I64, U8, U64

WIDTHS = types.Array(types.int8, 1, "C", readonly=True)
LETTERS = types.Array(types.uint8, 2, "C", readonly=True)
SIZES = types.CPointer(types.int8)
BOOLS = types.Array(types.boolean, 1, "C", readonly=True)

WIDEST = 4  # bytes that a character may become

SPACE = 0x20
SEPARATOR, HARD = -1, -2  # widths of characters that end a token, and of those only Python can fold


@inlined(types.boolean(BYTES, types.int64, types.int64))
def is_initial(data, start, end):
    """Whether a folded token is one letter of an alphabet with capitals."""
    if end - start == 1:
        return data[start] >= 0x61 and data[start] <= 0x7A
    return end - start == 2 and data[start] >= 0xC3


@inlined(types.int64(U8, types.int64, types.int64, SIZES, BYTES, types.int64, BYTES, types.int64))
def fold_one(data, at, end, widths, letters, known, out, begin):
    """Write the normalised form of one name from `begin` on and return its end, or HARD.

    Tokens are parted by one space; initials that follow each other become one token ("j k rowling": "jk rowling"). So
    many characters as `known` says are in the tables.
    """
    text, write = pointer(data), begin
    token = begin  # where the current token starts
    after_initial = False
    while at <= end:
        point, size = np.int64(text[at]) if at < end else np.int64(SPACE), np.int64(1)
        if point >= 0x80:
            point, size = code_point(data, at, end)
        width = np.int64(widths[point]) if point >= 0 and point < known else np.int64(HARD)
        at += size
        if width == HARD:
            return np.int64(HARD)
        if width != SEPARATOR:
            for i in range(width):
                out[write] = letters[WIDEST * point + i]
                write += 1
            continue
        if write == token:
            continue
        initial = is_initial(out, token, write)
        if initial and after_initial:
            for i in range(token, write):
                out[i - 1] = out[i]
            write -= 1
        after_initial = initial
        if at <= end:
            out[write] = SPACE
            write += 1
        token = write
    return write - 1 if write > begin and out[write - 1] == SPACE else write


@kernel(
    types.void(U8, I64, WIDTHS, LETTERS, types.uint8[::1], types.int64[::1], types.boolean[::1]),
)
def fold_many(data, offsets, widths, letters, out, ends, hard):
    """Normalise a column of names: `ends[i]` is where name i ends in `out`; `hard` marks those left empty."""
    write = 0
    width_at, letter_at, out_at = pointer(widths), pointer(letters.reshape(letters.size)), pointer(out)
    for row in range(len(offsets) - 1):
        end = fold_one(data, offsets[row], offsets[row + 1], width_at, letter_at, len(widths), out_at, write)
        hard[row] = end == HARD
        if end != HARD:
            write = end
        ends[row] = write


@kernel(types.boolean[::1](U8, I64, BOOLS))
def begins_with(data, offsets, letters):
    """Whether each text's first character is one of `letters`, which says so by code point."""
    found = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(found)):
        if offsets[text] < offsets[text + 1]:
            point, _ = code_point(data, offsets[text], offsets[text + 1])
            found[text] = point >= 0 and point < len(letters) and letters[point]
    return found


@kernel(types.void(U8, I64, BOOLS, WIDTHS, LETTERS, BOOLS, U64, types.int32[::1]))
def count_lower(data, offsets, counted, widths, letters, lower, keys, counts):
    """Count the words of the texts that are `counted` which begin in lower case and which the table `keys` has.

    A word with a character that only Python can fold is none.
    """
    table, mask = pointer(keys), len(keys) - 1
    for text in range(len(offsets) - 1):
        at, end = offsets[text], offsets[text + 1]
        hashed, rest, length = ZERO, ZERO, np.int64(0)
        inside = small = 0
        while counted[text] and at <= end:
            point, size = code_point(data, at, end) if at < end else (np.int64(SPACE), np.int64(1))
            known = point >= 0 and point < len(widths)
            width = np.int64(widths[point]) if known else np.int64(-2)
            at += size
            if width == SEPARATOR:
                if small == 1 and length > 0:
                    slot = find(table, mask, finish(hashed, rest, length))
                    counts[slot] += keys[slot] != FREE
                hashed, rest, length = ZERO, ZERO, np.int64(0)
                inside = small = 0
                continue
            if inside == 0:
                small = 1 if known and lower[point] else 0
            inside, small = 1, small if width >= 0 else 0
            for i in range(width):
                hashed, rest, length = add_byte(hashed, rest, length, np.uint64(letters[point, i]))
