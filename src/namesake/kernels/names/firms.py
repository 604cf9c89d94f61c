"""Names that are a firm's or a place's: the words behind them tell, "Inc." or "High School"."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.names.tokens import BEFORE_FIRM, FIRM, HARD, IS_CAPITAL, IS_INITIALS, SOFT, TABLES, TOKENS, cut
from namesake.kernels.types import I64, PAIRS, U8

BITS = types.uint8[::1]
FIRM_WORDS = 3  # how far behind a name the word may stand that makes it a firm's
SPACE, COMMA, SMALL_A, SMALL_Z = 0x20, 0x2C, 0x61, 0x7A
FEW, MANY = 2, 16  # tokens to read behind a name: at first, and where these may be a firm's


@kernel(types.boolean(BITS, BITS, BITS, types.int64, types.int64, types.boolean))
def is_firm(bits, classes, gaps, count, at, capitals):
    """Whether the tokens from `at` on, behind a name, make it a firm's or a place's; with `capitals` they have such."""
    for i in range(at, min(at + FIRM_WORDS, count)):
        if gaps[i] == HARD or (i > at and gaps[i] != SOFT) or (capitals and bits[i] & IS_CAPITAL == 0):
            return False
        if classes[i] & FIRM != 0:
            return True
        if classes[i] & BEFORE_FIRM == 0:
            return False
    return False


@kernel(types.boolean(U8, types.int64, types.int64, types.int64, types.boolean, TABLES, TOKENS))
def firm_behind(data, word, stop, end, capitals, tables, tokens):
    """`is_firm` behind a name that ends at byte `stop`, its last word beginning at byte `word`."""
    _, places, bits, classes, gaps = tokens
    near = stop
    while near < end and data[near] in (SPACE, COMMA):
        near += 1
    if near == end or (capitals and SMALL_A <= data[near] <= SMALL_Z):
        return False  # as for almost all names; the rest is asked of the tokens
    for most in (FEW, MANY):
        count = cut(data, word, end, tables, tokens, most)
        at = 0
        while at < count and places[at, 0] < stop:
            if places[at, 1] > stop:
                return False  # a longer word
            at += 1
        if at < count and classes[at] & (FIRM | BEFORE_FIRM) == 0 and bits[at] & IS_INITIALS == 0:
            return False
    return is_firm(bits, classes, gaps, count, at, capitals)


@kernel(types.boolean[::1](U8, I64, I64, I64, PAIRS, TABLES))
def all_firms(data, offsets, article, indptr, spans, tables):
    """Whether a mention stands in its text as a full name, and is a firm's or a place's wherever it does.

    Mention m is in text `article[m]` at the byte spans `spans[indptr[m]:indptr[m + 1]]`; a span with a space in it
    is a full name. Behind a name with a capital, the words that make it a firm's have capitals too.
    """
    scratch = np.empty((MANY, 2), np.int64)
    bits, classes, gaps = np.empty(MANY, np.uint8), np.empty(MANY, np.uint8), np.empty(MANY, np.uint8)
    tokens = (np.empty(MANY, np.uint64), scratch, bits, classes, gaps)
    out = np.zeros(len(article), np.bool_)
    for m in range(len(article)):
        begin, end = offsets[article[m]], offsets[article[m] + 1]
        full, firms = 0, 0
        for k in range(indptr[m], indptr[m + 1]):
            start, stop = begin + spans[k, 0], begin + spans[k, 1]
            word = stop
            while word > start and data[word - 1] != SPACE:
                word -= 1
            if word == start:
                continue
            full += 1
            if firms == full - 1:
                capitals = 65 <= data[start] <= 90
                firms += firm_behind(data, word, stop, end, capitals, tables, tokens)
        out[m] = full > 0 and firms == full
    return out
