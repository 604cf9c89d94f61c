"""Words in lower case, and how names begin: counted straight on raw UTF-8, folded as names are."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, ZERO, add_byte, find, finish
from namesake.kernels.names.fold import LETTERS, SEPARATOR, SPACE, WIDTHS
from namesake.kernels.simd import pointer
from namesake.kernels.text.characters import code_point
from namesake.kernels.types import I64, U8, U64

BOOLS = types.Array(types.boolean, 1, "C", readonly=True)


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
