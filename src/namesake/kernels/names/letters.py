"""The letters of a word: its hash without one of them, or with another ending."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ONE, ZERO, absorb, extend, finish
from namesake.kernels.names.page import KNOWN, MOST_LETTERS, NOBODY, PAGE, B, I, short_of
from namesake.kernels.simd import BYTES, byte, word

LEAST_LETTERS = 5  # of a word in which a misspelling is looked for
SMALL = 0x20
LETTER_E, LETTER_I, LETTER_J, LETTER_Y = 0x65, 0x69, 0x6A, 0x79
IN_ENDINGS, IN_VOWELS = (LETTER_I, LETTER_J, LETTER_Y), (0x61, LETTER_E, 0x6F, 0x75)
ENDINGS = np.array([[LETTER_Y, 0], [LETTER_I, 0], *([a, b] for a in (LETTER_I, LETTER_Y) for b in IN_ENDINGS)])
"""How the last syllable of Zelensky is written in Latin letters: y, i, ii, ij, iy, yi, yj, yy."""
LEAST_STEM = 5  # letters before such an ending


@inner(B(PAGE, I))
def plain_word(page, i):
    """Whether token i is of five to 24 letters of ASCII."""
    size = page.ends[i] - page.starts[i]
    if size < LEAST_LETTERS or size > MOST_LETTERS:
        return False
    for at in range(page.starts[i], page.ends[i]):
        letter = byte(page.text, at) | SMALL
        if letter < 0x61 or letter > 0x7A:
            return False
    return True


@inner(types.void(PAGE, I))
def read_letters(page, i):
    """Write the letters of token i, small, and eight bytes of nothing behind them."""
    letters, size = page.letters, page.ends[i] - page.starts[i]
    for at in range(size):
        letters[at] = np.uint8(byte(page.text, page.starts[i] + at) | SMALL)
    for at in range(size, size + 8):
        letters[at] = 0


@inlined(types.uint64(BYTES, I, I))
def hash_without(letters, size, left_out):
    """The hash of so many letters without one, by its place, as it is where that is NOBODY; eight at a time."""
    gap = left_out if left_out >= 0 else size
    length, hashed, eight, at = size - (left_out >= 0), ZERO, ZERO, np.int64(0)
    while at <= length:
        eight = word(letters, at)
        if gap <= at:
            eight = word(letters, at + 1)
        elif gap < at + 8:
            before = (ONE << np.uint64(8 * (gap - at))) - ONE
            eight = (eight & before) | (word(letters, at + 1) & ~before)
        if at + 8 <= length:
            hashed = absorb(hashed, eight)
        at += 8
    return finish(hashed, eight & ((ONE << np.uint64(8 * (length & 7))) - ONE), length)


@inner(I(PAGE, KNOWN, I))
def short_with_other_ending(page, known, i):
    """The short form of which token i is another transliteration (Zelensky, Zelenskyi), the heaviest; else NOBODY."""
    size, best, weight = page.ends[i] - page.starts[i], np.int64(NOBODY), 0.0
    last = byte(page.text, page.ends[i] - 1) | SMALL
    if last not in IN_ENDINGS or not plain_word(page, i):
        return best
    read_letters(page, i)
    stem = size - (2 if page.letters[size - 2] in IN_ENDINGS else 1)
    if stem < LEAST_STEM or stem + 2 > MOST_LETTERS or page.letters[stem - 1] in IN_ENDINGS:
        return best
    if page.letters[stem - 1] in IN_VOWELS:
        return best
    for k in range(len(ENDINGS)):
        for at in range(10):
            page.letters[stem + at] = np.uint8(ENDINGS[k, at]) if at < 2 else 0
        key = hash_without(page.letters, stem + (1 if ENDINGS[k, 1] == 0 else 2), np.int64(NOBODY))
        short = short_of(known, extend(ZERO, key))
        if short >= 0 and known.short_weights[known.short_indptr[short]] > weight:
            best, weight = short, np.float64(known.short_weights[known.short_indptr[short]])
    return best
