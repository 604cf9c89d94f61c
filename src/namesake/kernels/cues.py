"""Words behind a name that make it a firm's or a place's."""

import numpy as np
from numba import njit, types

from namesake.kernels.types import I64, PAIRS, U8

HASHES = types.Array(types.uint64, 1, "C", readonly=True)


@njit(types.uint64(U8, types.int64, types.int64), cache=True, nogil=True)
def word_hash(data, start, end):
    """FNV-1a of bytes, ASCII letters in lower case."""
    value = np.uint64(0xCBF29CE484222325)
    for at in range(start, end):
        byte = data[at] | np.uint8(0x20) if 65 <= data[at] <= 90 else data[at]
        value = (value ^ np.uint64(byte)) * np.uint64(0x100000001B3)
    return value


@njit(types.boolean[::1](U8, I64, I64, I64, PAIRS, HASHES), cache=True, nogil=True)
def all_followed(data, offsets, article, indptr, spans, cues):
    """Whether a mention stands in its text as a full name, and a cue follows it wherever it does.

    Mention m is in text `article[m]` at the byte spans `spans[indptr[m]:indptr[m + 1]]`; a span with a space in it
    is a full name. `cues` are ascending hashes of lower-case words; behind a capitalised name a cue has a capital.
    """
    out = np.zeros(len(article), np.bool_)
    for m in range(len(article)):
        begin, end = offsets[article[m]], offsets[article[m] + 1]
        full, followed = 0, 0
        for k in range(indptr[m], indptr[m + 1]):
            start, stop = begin + spans[k, 0], begin + spans[k, 1]
            spaces = 0
            for at in range(start, stop):
                spaces += data[at] == 0x20
            if spaces == 0:
                continue
            full += 1
            if stop + 1 >= end or data[stop] != 0x20:
                continue
            word = stop + 1
            last = word
            while last < end and (65 <= data[last] <= 90 or 97 <= data[last] <= 122):
                last += 1
            if 65 <= data[start] <= 90 and not 65 <= data[word] <= 90:
                continue
            place = np.searchsorted(cues, word_hash(data, word, last))
            followed += last > word and place < len(cues) and cues[place] == word_hash(data, word, last)
        out[m] = full > 0 and followed == full
    return out
