"""Titles before their texts: where Every Word Has a Capital, a capital is no sign of a name."""

from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.names.page import KNOWN, OPEN, PAGE, B, I, begins, finishes, in_lower
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

TO_A_SMALL_WORD = 6  # words with a capital for each without one, function words aside, where capitals say nothing
ORDINARY_WORD, RARE_NAME = 3, 3  # uses in lower case of a word that is no name; people's labels that a name has
TELLING = HONORIFIC | NAME_TITLE | SUFFIX | NUMERAL | PARTICLE | FIRM | FIRM_WORD | BEFORE_FIRM | BASED | FAMILY


@kernel(I(types.int64[::1], I, I))
def tokens_before(starts, count, place):
    """How many of the tokens begin before a byte."""
    size = 0
    while size < count and starts[size] < place:
        size += 1
    return size


@kernel(B(PAGE, I))
def all_capitals(page, end):
    """Whether (almost) every word before token `end` has a capital, function words aside."""
    words = small = 0
    for i in range(end):
        if page.bits[i] & IS_NUMBER == 0 and page.classes[i] & FUNCTION == 0:
            words += 1
            small += page.bits[i] & IS_CAPITAL == 0
    return small * TO_A_SMALL_WORD <= words


@kernel(types.void(PAGE, KNOWN, I))
def lower_ordinary_words(page, known, end):
    """Take the capitals from the words before token `end` that are part of no name so far and rather words than names.

    So "Judge Blocks Trump Order" reads as "Judge blocks Trump order".
    """
    for i in range(end):
        if page.used[i] != OPEN or page.classes[i] & TELLING != 0:
            continue
        if in_lower(page, known, i) >= ORDINARY_WORD or begins(page, known, i) + finishes(page, known, i) < RARE_NAME:
            page.bits[i] &= 0xFF ^ IS_CAPITAL
            page.marks[i] &= 0xFF ^ HAS_CAPITAL
