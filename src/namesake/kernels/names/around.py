"""The words in and around spans of tokens, as evidence reads them."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.names import tokens as t
from namesake.kernels.names.lattice import Texts
from namesake.kernels.types import I64, U8, U32, U64, record

BITS_AT, MARKS_AT = 32, 40
"""The flags of a token are one number: its classes, and from these bits on its bits and its marks."""
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
BITS = "IS_CAPITAL", "IS_INITIALS", "IS_UPPER", "IS_DOTTED", "IS_NUMBER"
MARKS = "HAS_CAPITAL", "AT_START", "AFTER_HYPHEN", "AFTER_DOT", "IS_JOINED", "STARTS_LINE", "EXISTS"


@inlined(types.uint64(record(Texts), types.int64))
def flags_of(texts, i):
    """The flags of token i."""
    marks = np.uint64(texts.marks[i] | t.EXISTS) << np.uint64(MARKS_AT)
    return np.uint64(texts.classes[i]) | np.uint64(texts.bits[i]) << np.uint64(BITS_AT) | marks


@kernel(types.uint64[:, ::1](record(Texts), I64, I64))
def words_around(texts, first, end):
    """The flags of four words: the word before each span, its first and its last word, and the word after it.

    The flags are 0 if something other than a space or a hyphen is between.
    """
    flags = np.zeros((4, len(first)), np.uint64)
    for span in range(len(first)):
        begin, stop = first[span], end[span]
        if texts.gaps[begin] == t.SOFT:
            flags[0, span] = flags_of(texts, begin - 1)
        flags[1, span], flags[2, span] = flags_of(texts, begin), flags_of(texts, stop - 1)
        if stop < len(texts.gaps) and texts.gaps[stop] == t.SOFT:
            flags[3, span] = flags_of(texts, stop)
    return flags


@kernel(types.float64[::1](I64, U64, types.uint64))
def share_with(indptr, flags, wanted):
    """The share of the spans `indptr[m]` to `indptr[m + 1]` of each mention whose word has one of the wanted flags."""
    shares = np.zeros(len(indptr) - 1)
    for m in range(len(shares)):
        count = 0
        for span in range(indptr[m], indptr[m + 1]):
            count += flags[span] & wanted != 0
        shares[m] = count / (indptr[m + 1] - indptr[m])
    return shares


@kernel(types.boolean[::1](U8, I64, I64, types.uint8))
def all_have(bits, first, end, wanted):
    """Whether all tokens of each span have one of these bits."""
    found = np.empty(len(first), np.bool_)
    for span in range(len(first)):
        i = first[span]
        while i < end[span] and bits[i] & wanted != 0:
            i += 1
        found[span] = i == end[span]
    return found


@kernel(types.float64[::1](U8, FLAGS, I64))
def share_of_line(marks, flags, first):
    """The share of the tokens of each span's line that have a flag; spans of a text may be in any order."""
    line, shares = np.empty(len(marks), np.int32), np.empty(len(first))
    counts, sizes, last = np.zeros(len(marks) + 1, np.int32), np.zeros(len(marks) + 1, np.int32), 0
    for i in range(len(marks)):
        last += marks[i] & t.STARTS_LINE != 0
        line[i] = last
        sizes[last] += 1
        counts[last] += flags[i]
    for span in range(len(first)):
        shares[span] = counts[line[first[span]]] / sizes[line[first[span]]]
    return shares


@kernel(types.int64[::1](I64, U32, types.uint32))
def count_words(indptr, classes, wanted):
    """The number of tokens of each text, `indptr[i]` to `indptr[i + 1]`, that are in one of these lists."""
    counts = np.zeros(len(indptr) - 1, np.int64)
    for text in range(len(counts)):
        for i in range(indptr[text], indptr[text + 1]):
            counts[text] += classes[i] & wanted != 0
    return counts
