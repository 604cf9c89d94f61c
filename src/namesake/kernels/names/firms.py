"""Names that are a firm's or a place's: the words behind them tell, "Inc." or "High School"."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.names.constants import FIRM_WORDS
from namesake.kernels.names.cut import cut
from namesake.kernels.names.tokens import (
    BEFORE_FIRM,
    FIRM,
    HARD,
    IS_CAPITAL,
    IS_INITIALS,
    SOFT,
    TABLES,
    TOKENS,
    room_for_tokens,
)
from namesake.kernels.simd import BYTES, byte, pointer
from namesake.kernels.types import I64, PAIRS, U8

SPACE, COMMA, SMALL_A, SMALL_Z = 0x20, 0x2C, 0x61, 0x7A
FEW, MANY = 2, 16  # tokens to read behind a name: at first, and where these may be a firm's


@inlined(types.boolean(TOKENS, types.int64, types.int64, types.boolean))
def is_firm(tokens, count, at, capitals):
    """Whether the tokens from `at` on, behind a name, make it a firm's or a place's; with `capitals` they have such."""
    bits, classes, gaps = pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps)
    for i in range(at, min(at + FIRM_WORDS, count)):
        if gaps[i] == HARD or (i > at and gaps[i] != SOFT) or (capitals and bits[i] & IS_CAPITAL == 0):
            return False
        if classes[i] & FIRM != 0:
            return True
        if classes[i] & BEFORE_FIRM == 0:
            return False
    return False


@inlined(types.boolean(BYTES, types.int64, types.int64, types.boolean))
def may_be_firm(text, stop, end, capitals):
    """Whether what follows a name, from byte `stop` on, needs more than a glance: not if a small letter is next."""
    while stop < end and byte(text, stop) in (SPACE, COMMA):
        stop += 1
    return stop < end and not (capitals and SMALL_A <= byte(text, stop) <= SMALL_Z)


@inner(types.boolean(U8, types.int64, types.int64, types.int64, types.boolean, TABLES, TOKENS))
def firm_behind(data, word, stop, end, capitals, tables, tokens):
    """`is_firm` behind a name that ends at byte `stop`, its last word beginning at byte `word`."""
    bits, classes = tokens.bits, tokens.classes
    for most in (FEW, MANY):
        count = cut(data, word, end, tables, tokens, most)
        at = 0
        while at < count and tokens.starts[at] < stop:
            if tokens.ends[at] > stop:
                return False  # a longer word
            at += 1
        if at < count and classes[at] & (FIRM | BEFORE_FIRM) == 0 and bits[at] & IS_INITIALS == 0:
            return False
    return is_firm(tokens, count, at, capitals)


@kernel(types.boolean[::1](U8, I64, I64, I64, PAIRS, TABLES))
def all_firms(data, offsets, article, indptr, spans, tables):
    """Whether a mention stands in its text as a full name, and is a firm's or a place's wherever it does.

    Mention m is in text `article[m]` at the byte spans `spans[indptr[m]:indptr[m + 1]]`; a span with a space in it
    is a full name. Behind a name with a capital, the words that make it a firm's have capitals too.
    """
    tokens = room_for_tokens(MANY)
    text = pointer(data)
    out = np.zeros(len(article), np.bool_)
    for m in range(len(article)):
        begin, end = offsets[article[m]], offsets[article[m] + 1]
        for k in range(indptr[m], indptr[m + 1]):
            start, stop = begin + spans[k, 0], begin + spans[k, 1]
            word = stop
            while word > start and data[word - 1] != SPACE:
                word -= 1
            if word == start:
                continue
            capitals = 65 <= data[start] <= 90
            out[m] = may_be_firm(text, stop, end, capitals) and firm_behind(
                data, word, stop, end, capitals, tables, tokens
            )
            if not out[m]:
                break
    return out
