"""Candidates whose descriptions have one of some words."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.simd import BYTES, pointer
from namesake.kernels.types import I64, U8

NO, YES, UNSURE = 0, 1, 2
COMMA, CAPITAL_A, CAPITAL_Z, CASE, BEYOND_ASCII = 0x2C, 0x41, 0x5A, 0x20, 0x80


@inlined(types.boolean(types.int64))
def parts(byte):
    """Whether a byte of ASCII parts words: a comma, or what Python takes for white space."""
    return (byte == 0x20) | (byte == COMMA) | ((byte >= 0x09) & (byte <= 0x0D)) | ((byte >= 0x1C) & (byte <= 0x1F))


@inlined(types.boolean(BYTES, types.int64, types.int64, U8, I64))
def listed(text, begin, end, words, indptr):
    """Whether text[begin:end], written small, is one of the words."""
    for word in range(len(indptr) - 1):
        start, size = indptr[word], indptr[word + 1] - indptr[word]
        same = 0
        while same < size and size == end - begin:
            byte = text[begin + same]
            byte |= CASE if CAPITAL_A <= byte <= CAPITAL_Z else 0
            if byte != words[start + same]:
                break
            same += 1
        if same == size:
            return True
    return False


@kernel(types.uint8[::1](I64, I64, I64, U8, I64, U8, I64))
def described(asked, offsets, rows, texts, text_indptr, words, indptr):
    """Whether some candidate of each mention that is asked for has one of the words in its description, in any case.

    UNSURE where none is seen and a description has signs beyond ASCII, which may part words as well.
    """
    found, text = np.full(len(asked), NO, np.uint8), pointer(texts)
    for i in range(len(asked)):
        for k in range(offsets[asked[i]], offsets[asked[i] + 1]):
            if rows[k] < 0 or found[i] == YES:
                continue
            begin, end = text_indptr[rows[k]], text_indptr[rows[k] + 1]
            for at in range(begin, end + 1):
                if at == end or parts(np.int64(text[at])):
                    if at > begin and listed(text, begin, at, words, indptr):
                        found[i] = YES
                        break
                    begin = at + 1
                elif text[at] >= BEYOND_ASCII:
                    found[i] = UNSURE
    return found
