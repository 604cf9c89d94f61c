"""The tokens that names are made of: hashes, places, capitals, what parts them; `cut` makes them of raw text."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.names.fold import LETTERS, WIDTHS
from namesake.kernels.simd import LANES, first_bits, having, ones, pointer
from namesake.kernels.text.characters import has_capitals
from namesake.kernels.types import U8, U32, U64, own_record, record

# what a character is, by bits
UPPER_LETTER, CAPITAL, BLANK, APOSTROPHE, HYPHEN, POSSESSIVE = 1, 2, 4, 8, 16, 32
# what a token is, by bits
IS_CAPITAL, IS_INITIALS, IS_UPPER, IS_DOTTED, IS_NUMBER, IS_JOINED, IS_LONG = 1, 2, 4, 8, 16, 32, 64
# what a word is, by bits
HONORIFIC, SUFFIX, FUNCTION, FIRM, BEFORE_FIRM, FIRM_WORD, PARTICLE, NUMERAL = (1 << bit for bit in range(8))
TITLE, NAME_TITLE, LOWER_TITLE, ROLE, IN_PLACE, TO_PLACE, DATE, NEVER = (1 << bit for bit in range(8, 16))
ARTICLE, BY, CREDIT, OTHER, AND, AFTER_COMPANY = (1 << bit for bit in range(16, 22))  # 10 bits are free
NO_NAME = NEVER | DATE | NAME_TITLE | NUMERAL | FUNCTION | SUFFIX | FIRM  # by itself no name of one word
# what stands before a token, by bits, and whether it has a capital, also behind an apostrophe (d'Estaing)
HAS_CAPITAL, AT_START, AFTER_HYPHEN, AFTER_DOT, LOOK_CLOSER = 1, 2, 4, 8, 16
SOFT, COMMA, HARD = 0, 1, 2  # what stands before a token
LOWER, CASED, ALL_CAPITALS = 0, 1, 2  # how a text is written

GAPS = 256  # different gaps that are remembered
SPARE = 300  # tokens that are written beyond what there is room for, and never read
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


class Draft(NamedTuple):
    """What `cut` notes of a text before its tokens are whole.

    Of each word of ASCII letters its first eight bytes and the next eight; the words behind which more than a space
    stands; and the tokens with a hash (0: the same) and bits that such a word would not have. Last, what is remembered
    of short gaps: see `gaps.read_short_gap`.
    """

    heads: Annotated[Any, types.uint64[::1]]
    tails: Annotated[Any, types.uint64[::1]]
    odd: Annotated[Any, types.int64[::1]]
    changed: Annotated[Any, types.int64[::1]]
    new_hashes: Annotated[Any, types.uint64[::1]]
    new_bits: Annotated[Any, types.uint8[::1]]
    gap_keys: Annotated[Any, types.uint64[::1]]
    gap_facts: Annotated[Any, types.uint8[::1]]


DRAFT = own_record(Draft)


class Tokens(NamedTuple):
    """The tokens of a text: hash, start and end byte, bits, bits of the word, the gap before, and marks.

    `cut` marks the tokens to look closer at, and `mark_gaps` makes of it what stands before each.
    """

    hashes: Annotated[Any, types.uint64[::1]]
    starts: Annotated[Any, types.int64[::1]]
    ends: Annotated[Any, types.int64[::1]]
    bits: Annotated[Any, types.uint8[::1]]
    classes: Annotated[Any, types.uint32[::1]]
    gaps: Annotated[Any, types.uint8[::1]]
    marks: Annotated[Any, types.uint8[::1]]
    draft: Annotated[Any, DRAFT]


TABLES, TOKENS = record(Tables), own_record(Tokens)


@inner(TOKENS(types.int64))
def room_for_tokens(most):
    """Room for so many tokens."""
    room = most + SPARE
    heads, tails, odd = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64)
    changed, new_hashes, new_bits = np.empty(room, np.int64), np.empty(room, np.uint64), np.empty(room, np.uint8)
    remembered = np.zeros(GAPS, np.uint64), np.empty(GAPS, np.uint8)
    draft = Draft(heads, tails, odd, changed, new_hashes, new_bits, *remembered)
    bits, classes, gaps = np.empty(room, np.uint8), np.empty(room, np.uint32), np.empty(room, np.uint8)
    starts, ends, marks = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint8)
    return Tokens(np.empty(room, np.uint64), starts, ends, bits, classes, gaps, marks, draft)


@inner(types.int64(types.uint8[::1], types.int64, types.int64))
def style_of(bits, first, count):
    """Whether capitals tell names in tokens first to count: not where there are (almost) none, nor little else."""
    every = pointer(bits)
    words = capitals = uppers = 0
    for at in range(first, count, LANES):
        here = first_bits(count - at) & ~having(every, at, np.uint8(IS_NUMBER))
        capital = here & having(every, at, np.uint8(IS_CAPITAL))
        words += ones(here)
        capitals += ones(capital)
        uppers += ones(capital & having(every, at, np.uint8(IS_UPPER)))
    if not has_capitals(capitals, words, WORDS_TO_A_CAPITAL):
        return LOWER
    return ALL_CAPITALS if 2 * uppers > words else CASED
