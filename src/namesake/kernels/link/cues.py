"""Words behind a name that make it a firm's or a place's."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import I64, PAIRS, U8

CUE_WORDS = 3  # how far behind a name a cue may stand
HASHES = types.Array(types.uint64, 1, "C", readonly=True)


@kernel(types.uint64(U8, types.int64, types.int64))
def word_hash(data, start, end):
    """FNV-1a of bytes, ASCII letters in lower case."""
    value = np.uint64(0xCBF29CE484222325)
    for at in range(start, end):
        byte = data[at] | np.uint8(0x20) if 65 <= data[at] <= 90 else data[at]
        value = (value ^ np.uint64(byte)) * np.uint64(0x100000001B3)
    return value


@kernel(types.boolean(HASHES, types.uint64))
def among(hashes, value):
    """Whether the ascending hashes hold a value."""
    place = np.searchsorted(hashes, value)
    return place < len(hashes) and hashes[place] == value


@kernel(types.boolean(U8, types.int64, types.int64, types.boolean, HASHES, HASHES))
def cue_at(data, at, end, capital, cues, before):
    """Whether a cue follows byte `at`, behind a space, with up to two words of `before` in front of it."""
    for _ in range(CUE_WORDS):
        if at + 1 >= end or data[at] != 0x20 or (capital and not 65 <= data[at + 1] <= 90):
            return False
        word = at + 1
        at = word
        while at < end and (65 <= data[at] <= 90 or 97 <= data[at] <= 122):
            at += 1
        value = word_hash(data, word, at)
        if at > word and among(cues, value):
            return True
        if not among(before, value):
            return False
    return False


@kernel(types.boolean[::1](U8, I64, I64, I64, PAIRS, HASHES, HASHES))
def all_followed(data, offsets, article, indptr, spans, cues, before):
    """Whether a mention stands in its text as a full name, and a cue follows it wherever it does.

    Mention m is in text `article[m]` at the byte spans `spans[indptr[m]:indptr[m + 1]]`; a span with a space in it
    is a full name. `cues` and `before` are ascending hashes of lower-case words, `before` those that may stand before
    a cue; behind a capitalised name they have capitals.
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
            followed += cue_at(data, stop, end, 65 <= data[start] <= 90, cues, before)
        out[m] = full > 0 and followed == full
    return out
