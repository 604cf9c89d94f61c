"""How much a name looks like a person's: how often its words begin or end names, against how often they are words."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, ZERO, extend, find, hash_bytes
from namesake.kernels.search import among
from namesake.kernels.simd import byte, pointer
from namesake.kernels.types import I32, I64, U8, U64

SPACE = 0x20
OFTEN = 10


@kernel(types.boolean(U8, I64, types.uint64[::1], types.int32[::1]))
def count_in_names(texts, offsets, keys, in_names):
    """Count the first and the last token of every normalised name of two or more; False when the table is too small."""
    room = len(keys) * 3 // 4
    for name in range(len(offsets) - 1):
        start, end = offsets[name], offsets[name + 1]
        head = start
        while head < end and texts[head] != SPACE:
            head += 1
        if head == end:
            continue
        tail = end
        while texts[tail - 1] != SPACE:
            tail -= 1
        for side in range(2):
            key = hash_bytes(texts, start, head) if side == 0 else hash_bytes(texts, tail, end)
            at = find(pointer(keys), len(keys) - 1, key)
            if keys[at] == FREE:
                room -= 1
                if room < 0:
                    return False
            keys[at] = key
            in_names[at] += 1
    return True


@kernel(types.void(U8, I64, U64, types.int32[::1]))
def count_in_prose(texts, offsets, keys, in_prose):
    """Count the tokens of normalised prose that begin or end names."""
    data = pointer(texts)
    for text in range(len(offsets) - 1):
        token, end = offsets[text], offsets[text + 1]
        for i in range(token, end + 1):
            if i == end or byte(data, i) == SPACE:
                at = find(pointer(keys), len(keys) - 1, hash_bytes(texts, token, i))
                if keys[at] != FREE:
                    in_prose[at] += 1
                token = i + 1


@kernel(types.void(U8, I64, U64, I32, I32, U64, types.uint8[::1]))
def weigh(texts, offsets, keys, in_names, in_prose, honorifics, percent):
    """How much of a name is of names, in percent: `names / (names + prose)` over all its tokens' uses together.

    Or that of its best token, if at least OFTEN names have it. Single letters and titles say nothing.
    """
    data = pointer(texts)
    for name in range(len(offsets) - 1):
        token, end = offsets[name], offsets[name + 1]
        best = edges = words = np.int64(0)
        for i in range(token, end + 1):
            if i == end or byte(data, i) == SPACE:
                key = hash_bytes(texts, token, i)
                at = find(pointer(keys), len(keys) - 1, key)
                telling = keys[at] != FREE and i - token > 1
                if telling and not (in_prose[at] > 0 and among(honorifics, extend(ZERO, key))):
                    edges += in_names[at]
                    words += in_prose[at]
                    if in_names[at] >= OFTEN:
                        share = 100 * np.int64(in_names[at]) // (np.int64(in_names[at]) + np.int64(in_prose[at]))
                        best = max(best, share)
                token = i + 1
        percent[name] = max(best, 100 * edges // max(edges + words, np.int64(1)))
