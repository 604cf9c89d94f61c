"""Names that are a firm's or a place's: the words behind them tell, "Inc." or "High School"."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.names import tokens as t
from namesake.kernels.names.constants import FIRM_WORDS
from namesake.kernels.names.cut import cut
from namesake.kernels.types import I64, PAIRS, U8

SPACE, COMMA, SMALL_A, SMALL_Z = 0x20, 0x2C, 0x61, 0x7A
MOST = 16  # tokens to read from the last word of a name on


@inner(types.boolean(U8, types.int64, types.int64, types.boolean))
def may_be_firm(data, stop, end, capitals):
    """Whether what follows a name, from byte `stop` on, needs more than a glance: not if a small letter is next."""
    while stop < end and data[stop] in (SPACE, COMMA):
        stop += 1
    return stop < end and not (capitals and SMALL_A <= data[stop] <= SMALL_Z)


@inner(types.boolean(U8, types.int64, types.int64, types.int64, types.boolean, t.TABLES, t.TOKENS))
def is_firm(data, word, stop, end, capitals, tables, tokens):
    """Whether the tokens behind a name make it a firm's or a place's; with `capitals` they have such.

    The name ends at byte `stop`, and its last word begins at byte `word`.
    """
    count, at = cut(data, word, end, tables, tokens, 0, MOST), 0
    while at < count and tokens.starts[at] < stop - word:
        if tokens.ends[at] > stop - word:
            return False  # a longer word
        at += 1
    for i in range(at, min(at + FIRM_WORDS, count)):
        gap, word_bits = tokens.gaps[i], tokens.classes[i]
        if gap == t.HARD or (i > at and gap != t.SOFT) or (capitals and tokens.bits[i] & t.IS_CAPITAL == 0):
            return False
        if word_bits & (t.FIRM | t.BEFORE_FIRM) != t.BEFORE_FIRM:
            return word_bits & t.FIRM != 0
    return False


@kernel(types.boolean[::1](U8, I64, I64, I64, PAIRS, t.TABLES))
def all_firms(data, offsets, article, indptr, spans, tables):
    """Whether a mention stands in its text as a full name, and is a firm's or a place's wherever it does.

    Mention m is in text `article[m]` at the byte spans `spans[indptr[m]:indptr[m + 1]]`; a span with a space in it
    is a full name. Behind a name with a capital, the words that make it a firm's have capitals too.
    """
    tokens = t.room_for_tokens(MOST)
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
            out[m] = may_be_firm(data, stop, end, capitals)
            out[m] = out[m] and is_firm(data, word, stop, end, capitals, tables, tokens)
            if not out[m]:
                break
    return out
