"""Titles and first lines: where Every Word Has a Capital, a capital is no sign of a name."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.constants import ORDINARY_WORD
from namesake.kernels.names.memory import begins, finishes, in_lower
from namesake.kernels.names.page import KNOWN, OPEN, PAGE, B, I, is_open, short_of, soft
from namesake.kernels.names.tokens import (
    BASED,
    BEFORE_FIRM,
    FAMILY,
    FIRM,
    FIRM_WORD,
    FUNCTION,
    HAS_CAPITAL,
    HONORIFIC,
    IS_CAPITAL,
    IS_NUMBER,
    NAME_TITLE,
    NUMERAL,
    PARTICLE,
    SUFFIX,
)
from namesake.kernels.types import U8

IN_TITLE, IN_LINE = 6, 1000  # words for each without a capital where capitals say nothing: in a title, in a first line
RARE_NAME = 3  # people's labels that a name has
LONGEST_HEADLINE = 200  # bytes of a first line that may be a headline
SHORTEST, SHORTEST_ALONE = 4, 8  # words of it, before a text and without one
USUAL, GIVEN = 20, 5  # labels that a first name begins, and how much more often than it ends them
LEAST_WEIGHT = 10.0  # of a famous bearer of a word
LINE_END = 0x0A
TELLING = HONORIFIC | NAME_TITLE | SUFFIX | NUMERAL | PARTICLE | FIRM | FIRM_WORD | BEFORE_FIRM | BASED | FAMILY


@inner(I(types.int64[::1], I, I))
def tokens_before(starts, count, place):
    """How many of the tokens begin before a byte."""
    size = 0
    while size < count and starts[size] < place:
        size += 1
    return size


@inner(I(types.int64[::1], I, U8, I, I, I))
def first_line(starts, count, data, begin, end, least):
    """How many tokens the first line of a text has, from byte `begin` to `end`, if that may be a headline; else 0.

    A line without a text behind it has at least `least` words.
    """
    stop = begin
    while stop < min(end, begin + LONGEST_HEADLINE) and data[stop] != LINE_END:
        stop += 1
    if stop < end and data[stop] != LINE_END:
        return np.int64(0)
    size = tokens_before(starts, count, stop)
    return size if size >= (SHORTEST if stop < end else least) else np.int64(0)


@inner(B(PAGE, I, I))
def all_capitals(page, end, most):
    """Whether every word before token `end` has a capital, function words aside, but for one in `most`."""
    words = small = 0
    for i in range(end):
        if page.bits[i] & IS_NUMBER == 0 and page.classes[i] & FUNCTION == 0:
            words += 1
            small += page.bits[i] & IS_CAPITAL == 0
    return small * most <= words


@inlined(B(PAGE, KNOWN, I))
def well_known(page, known, i):
    """Whether token i is what somebody famous is called: Djokovic, Zyuganov."""
    short = short_of(known, extend(ZERO, page.hashes[i]))
    if short < 0 or known.short_indptr[short] == known.short_indptr[short + 1]:
        return False
    return known.short_weights[known.short_indptr[short]] >= LEAST_WEIGHT


@inlined(B(PAGE, KNOWN, I))
def behind_first_name(page, known, i):
    """Whether a usual first name that nobody has taken stands before token i: this is a stranger's surname."""
    if not soft(page, i) or not is_open(page, i - 1):
        return False
    begun = begins(page, known, i - 1)
    return begun >= USUAL and begun > GIVEN * finishes(page, known, i - 1)


@inner(types.void(PAGE, KNOWN, I))
def lower_ordinary_words(page, known, end):
    """Take the capitals from the words before token `end` that are part of no name so far and rather words than names.

    So "Judge Blocks Trump Order" reads as "Judge blocks Trump order".
    """
    for i in range(end):
        if page.used[i] != OPEN or page.classes[i] & TELLING != 0:
            continue
        rare = begins(page, known, i) + finishes(page, known, i) < RARE_NAME
        rare = rare and not well_known(page, known, i) and not behind_first_name(page, known, i)
        if in_lower(page, known, i) >= ORDINARY_WORD or rare:
            page.bits[i] &= 0xFF ^ IS_CAPITAL
            page.marks[i] &= 0xFF ^ HAS_CAPITAL
