"""The ends of sentences in pre-tokenised, raw and lowercased news text. Only the text around a period decides."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.hash import KEYS, ONE, find
from namesake.kernels.simd import BYTES, LANES, among_folded, below, equal, ones
from namesake.kernels.text import characters
from namesake.kernels.text.characters import CLASS, COMMA, DOT, HARD, INTEGER, LETTER, SPACE, character, hash_token
from namesake.kernels.types import own_record

# How a text is written (`style`).
CASED, SPACED = 1, 2
LAST_BIT = np.uint64(LANES - 1)
LETTERS_TO_A_CAPITAL = 200  # a text with capitals has at least one capital in this many letters

# Bits of words: about the period after the word, or about the one before it (STARTER: the word opens sentences;
# CAPITAL: it has a capital anywhere).
TITLE, FINAL, NUMBERED, STARTER, CAPITAL = 1, 2, 4, 8, 16


class PeriodWords(NamedTuple):
    """The words of a language that decide about periods: a hash table, their bits, and the table's size less one."""

    keys: Annotated[Any, KEYS]
    bits: Annotated[Any, BYTES]
    mask: Annotated[Any, INTEGER]


WORDS = own_record(PeriodWords)


@inner(INTEGER(BYTES, INTEGER, INTEGER, WORDS))
def word_bits(data, start, end, words):
    """The bits of the word in [start, end), whatever its case."""
    return np.int64(words.bits[find(words.keys, words.mask, hash_token(data, start, end))])


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def style(data, start, end):
    """CASED if the text has capitals, SPACED if spaces surround its commas and periods; by the first half kilobyte."""
    letters, capitals, spaced, glued = 0, 0, 0, 0
    at, stop, after_space = start, min(end, start + 512), ONE
    while at + LANES <= stop:
        space, letter = equal(data, at, 32), among_folded(data, at, 97, 26)
        comma, period = equal(data, at, 44) | equal(data, at, 58), equal(data, at, 46)
        letters += ones(letter)
        capitals += ones(letter & below(data, at, 97))
        at += LANES
        behind = space << ONE | after_space
        ahead = space >> ONE | np.uint64(at == end or data[at] == 32) << LAST_BIT
        spaced += ones((comma | period) & behind & ahead)
        glued += ones(comma & ~behind & ahead)
        after_space = space >> LAST_BIT
    before = np.int64(SPACE if after_space != 0 else LETTER)
    for k in range(at, stop):
        byte = data[k]
        kind = np.int64(CLASS[byte])
        if kind == LETTER:
            letters += 1
            capitals += byte < 97
        elif (kind in (COMMA, DOT)) and (k + 1 == end or CLASS[data[k + 1]] == SPACE):
            if before == SPACE:
                spaced += 1
            elif kind == COMMA:
                glued += 1
        before = kind
    cased = capitals > 0 and characters.has_capitals(capitals, letters, LETTERS_TO_A_CAPITAL)
    return (CASED if cased else 0) | (SPACED if spaced > glued else 0)


@inner(types.Tuple((INTEGER, INTEGER))(BYTES, INTEGER, INTEGER))
def skip_space(data, k, end):
    """The next byte that is not whitespace, and the number of newlines before it."""
    newlines = 0
    while k < end:
        kind, width = character(data, k, end)
        if kind != SPACE and kind != characters.BLANK:
            break
        newlines += data[k] == 10
        k += width
    return k, newlines


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def skip_closers(data, k, end):
    """The byte after the brackets and quotes that may close a sentence right after its period."""
    while k < end:
        kind, width = character(data, k, end)
        closes = kind == characters.APOSTROPHE or (kind == HARD and data[k] in (93, 41, 125, 62, 34))
        if kind == HARD and data[k] >= 0xC2:  # ” and »
            closes = data[k + 2] == 0x9D if data[k] == 0xE2 else data[k + 1] == 0xBB
        if not closes:
            break
        k += width
    return k


@inner(INTEGER(BYTES, INTEGER, INTEGER, INTEGER, WORDS))
def period_bits(data, start, period, sentence, words):
    """The bits of the word in [start, period) before its period; TITLE also for initials and numbers of lists."""
    dots, digits = 0, 0
    for k in range(start, period):
        kind = CLASS[data[k]]
        dots += kind == DOT
        digits += kind == characters.DIGIT
        if data[k] == 45:  # R-Okla.
            start = k + 1
    length = period - start
    if length == 1 and CLASS[data[start]] == LETTER:
        return TITLE
    if length <= 2 and digits == length and start == sentence:
        return TITLE
    return FINAL if dots else word_bits(data, start, period, words)


@inner(types.boolean(BYTES, INTEGER, INTEGER))
def is_small(data, k, end):
    """Whether there is a lowercase letter at `k` (ASCII and Latin-1; False for letters of other scripts)."""
    if data[k] == 0xC3:
        return k + 1 < end and data[k + 1] >= 0x9F
    return 97 <= data[k] <= 122


@inner(types.boolean(BYTES, INTEGER, INTEGER, WORDS))
def is_capital_word(data, k, end, words):
    """Whether a word with a capital that opens a sentence starts at `k`: only then does an ellipsis end one."""
    if data[k] == 0xC3:
        return k + 1 < end and data[k + 1] < 0x9F
    return 65 <= data[k] <= 90 and word_bits(data, k, characters.letters_end(data, k, end), words) & CAPITAL == 0


@inner(types.boolean(BYTES, INTEGER, INTEGER, INTEGER, INTEGER, WORDS))
def opens_sentence(data, k, end, bits, flags, words):
    """Whether a sentence can begin at `k` after a word with these period bits."""
    if bits & TITLE:
        return False
    quoted = False
    kind, width = character(data, k, end)
    if kind in (COMMA, DOT, characters.STOP) or data[k] in (59, 37, 38):
        return False
    while k + width < end and (kind in (HARD, characters.APOSTROPHE, characters.TICK)):
        quoted |= data[k] != 40 and data[k] != 91  # a bracket after Pa. or Inc. opens no sentence
        k += width
        kind, width = character(data, k, end)
    if kind == characters.DIGIT:
        return not bits & (FINAL | NUMBERED)
    if not flags & CASED:
        return not bits & FINAL
    if is_small(data, k, end):
        return False
    if not bits & FINAL or quoted:
        return True
    return (word_bits(data, k, characters.letters_end(data, k, end), words) & STARTER) != 0


@inner(INTEGER(BYTES, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, WORDS))
def period_break(data, start, period, end, sentence, flags, words):
    """Start of the next sentence if the period right after the word in [start, period) ends one, else -1."""
    after = skip_closers(data, period + 1, end)
    following, newlines = skip_space(data, after, end)
    if following == end:
        return end
    if following == after:
        return -1
    if newlines > 1:
        return following
    if flags & SPACED:
        return -1
    bits = period_bits(data, start, period, sentence, words)
    return following if opens_sentence(data, following, end, bits, flags, words) else -1


@inner(types.boolean(BYTES, INTEGER, INTEGER))
def opened(data, start, end):
    """Whether the last kilobyte of [start, end) has an odd number of straight double quotes: the next one closes."""
    quotes = 0
    for k in range(max(start, end - 1024), end):
        quotes += data[k] == 34
    return quotes % 2 == 1


@inner(INTEGER(BYTES, INTEGER, INTEGER, INTEGER, INTEGER))
def skip_spaced_closers(data, k, end, sentence, stop):
    """The byte after closing quotes and brackets between spaces after a spaced period: `. ''`, `. )`."""
    while k < end:
        after = skip_closers(data, k, end)
        following, _ = skip_space(data, after, end)
        if after == k or (following == after and after < end) or data[k] == 62:  # > is a bullet here
            break
        if data[k] == 34 and not opened(data, sentence, stop):
            break
        k = following
    return k


@inner(INTEGER(BYTES, INTEGER, INTEGER, INTEGER, INTEGER, WORDS))
def stop_break(data, stop, end, sentence, flags, words):
    """Start of the next sentence if the . ? ! … at `stop`, which is part of no word, ends one, else -1."""
    after, dots = stop, 0
    while after < end and after - stop < 64:
        kind, width = character(data, after, end)
        if kind != DOT and kind != characters.STOP:
            break
        dots += kind == DOT or width == 3
        after += width
    ellipsis = (dots > 2 or data[stop] == 0xE2) and after - stop in (dots, 3 * dots)
    ends_question = data[stop] != 46 and not ellipsis
    spaced = stop == sentence or CLASS[data[stop - 1]] == SPACE or CLASS[data[stop - 1]] == characters.BLANK
    after = skip_closers(data, after, end)
    following, newlines = skip_space(data, after, end)
    if following == end or newlines > 1:
        return following
    if following == after:
        return -1
    if spaced:
        following = skip_spaced_closers(data, following, end, sentence, stop)
        if following == end:
            return end
    kind, _ = character(data, following, end)
    if kind in (DOT, characters.STOP) or (kind == COMMA and not spaced):
        return -1
    if ellipsis:
        return following if flags & CASED and is_capital_word(data, following, end, words) else -1
    if flags & CASED and is_small(data, following, end) and (ends_question or not spaced):
        return -1
    return following
