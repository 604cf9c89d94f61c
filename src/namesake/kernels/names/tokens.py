"""The tokens that names are made of: hashes, places, capitals, what parts them; `cut` makes them of raw text."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.names.fold import LETTERS, WIDTHS
from namesake.kernels.text.characters import has_capitals
from namesake.kernels.types import U8, U32, U64, own_record, record

# what a character is, by bits
UPPER_LETTER, CAPITAL, BLANK, APOSTROPHE, HYPHEN, POSSESSIVE = 1, 2, 4, 8, 16, 32
# what a token is, by bits
IS_CAPITAL, IS_INITIALS, IS_UPPER, IS_DOTTED, IS_NUMBER = 1, 2, 4, 8, 16
# what a word is, by bits
HONORIFIC, SUFFIX, FUNCTION, FIRM, BEFORE_FIRM, FIRM_WORD, PARTICLE, NUMERAL = (1 << bit for bit in range(8))
TITLE, NAME_TITLE, LOWER_TITLE, ROLE, IN_PLACE, TO_PLACE, DATE, NEVER = (1 << bit for bit in range(8, 16))
ARTICLE, BY, CREDIT, OTHER, AND, AFTER_COMPANY, DETERMINER, SPORT = (1 << bit for bit in range(16, 24))  # 8 are free
NO_NAME = NEVER | DATE | NAME_TITLE | NUMERAL | FUNCTION | SUFFIX | FIRM  # by itself no name of one word
# what stands before a token, by bits, and whether it has a capital, also behind an apostrophe (d'Estaing)
HAS_CAPITAL, AT_START, AFTER_HYPHEN, AFTER_DOT, IS_JOINED, STARTS_LINE = 1, 2, 4, 8, 16, 32
EXISTS = 64  # a mark of `around`: there is a token
SOFT, COMMA, HARD = 0, 1, 2  # what stands before a token
LOWER, CASED, ALL_CAPITALS = 0, 1, 2  # how a text is written

WORDS_TO_A_CAPITAL = 33  # in a text with capitals there is one in so many words


class Tables(NamedTuple):
    """What each character folds to (width, letters) and is (bits); the listed words, and which lists have them (bits).

    The words are a hash table (see `kernels.hash`).
    """

    widths: Annotated[Any, WIDTHS]
    letters: Annotated[Any, LETTERS]
    kinds: Annotated[Any, U8]
    word_keys: Annotated[Any, U64]
    word_bits: Annotated[Any, U32]


class Tokens(NamedTuple):
    """The tokens of a text: hash, start and end byte in it, bits, bits of the word, the gap before, and marks."""

    hashes: Annotated[Any, types.uint64[::1]]
    starts: Annotated[Any, types.int32[::1]]
    ends: Annotated[Any, types.int32[::1]]
    bits: Annotated[Any, types.uint8[::1]]
    classes: Annotated[Any, types.uint32[::1]]
    gaps: Annotated[Any, types.uint8[::1]]
    marks: Annotated[Any, types.uint8[::1]]


TABLES, TOKENS = record(Tables), own_record(Tokens)


@inner(TOKENS(types.int64))
def room_for_tokens(most):
    """Room for so many tokens."""
    starts, ends, marks = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.uint8)
    bits, classes, gaps = np.empty(most, np.uint8), np.empty(most, np.uint32), np.empty(most, np.uint8)
    return Tokens(np.empty(most, np.uint64), starts, ends, bits, classes, gaps, marks)


@inner(types.int64(types.uint8[::1], types.int64, types.int64))
def style_of(bits, first, count):
    """Whether capitals tell names in tokens first to count: not where there are (almost) none, nor little else."""
    words = capitals = uppers = 0
    for i in range(first, count):
        words += bits[i] & IS_NUMBER == 0
        capitals += bits[i] & (IS_NUMBER | IS_CAPITAL) == IS_CAPITAL
        uppers += bits[i] & (IS_NUMBER | IS_CAPITAL | IS_UPPER) == IS_CAPITAL | IS_UPPER
    if not has_capitals(capitals, words, WORDS_TO_A_CAPITAL):
        return LOWER
    return ALL_CAPITALS if 2 * uppers > words else CASED
