"""Fingerprints of the words around names, by which decisions of people are found again."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import ZERO, add_byte, finish
from namesake.kernels.simd import byte, pointer
from namesake.kernels.types import I64, PAIRS, U8

NEAR = 5  # how many words before a name, and how many after it, belong to its fingerprint
SPACE, BAR = np.uint64(32), np.uint64(124)
FOLDED = np.array([k if chr(k).isalnum() or k > 127 else 0 for k in range(256)], np.uint8)
FOLDED[65:91] += 32
"""Bytes of words: ASCII letters in lower case, digits, and all bytes of other characters; 0 for the rest."""


@kernel(types.uint64[::1](U8, I64, I64, PAIRS))
def fingerprints(data, offsets, texts, spans):
    """The fingerprint of each span, in bytes of its text: a hash of the words around it.

    The hashed bytes are the last `NEAR` words before the span, read backwards; a bar; and the first `NEAR` words after
    it. Each word is in lower case (ASCII only) and has a space behind it.
    """
    found, text = np.empty(len(spans), np.uint64), pointer(data)
    for k in range(len(spans)):
        hashed, rest, length = ZERO, ZERO, np.int64(0)
        for side in range(2):
            step = 1 if side else -1
            at = offsets[texts[k]] + (spans[k, 1] if side else spans[k, 0] - 1)
            end = offsets[texts[k] + 1] if side else offsets[texts[k]] - 1
            words, in_word = 0, False
            while at != end and words < NEAR:
                one = FOLDED[byte(text, at)]
                if one or in_word:
                    hashed, rest, length = add_byte(hashed, rest, length, np.uint64(one) if one else SPACE)
                    in_word = one != 0
                    words += not in_word
                at += step
            if in_word:
                hashed, rest, length = add_byte(hashed, rest, length, SPACE)
            if not side:
                hashed, rest, length = add_byte(hashed, rest, length, BAR)
        found[k] = finish(hashed, rest, length)
    return found
