"""The plain parts of a text, 64 bytes at once: words between spaces, and signs with simple rules.

`plain` reads a block that begins where a piece may start. It leaves to the exact rules everything after the last space
or sign before a byte that is not plain.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined
from namesake.kernels.hash import ONE, ZERO
from namesake.kernels.simd import BYTES, LANES, among, among_folded, below, equal, equal_folded, width
from namesake.kernels.text.characters import INTEGER

MASK = types.uint64
TWO, THREE, FOUR, FIVE = (np.uint64(k) for k in range(2, 6))
ALL, LAST = ~ZERO, ONE << np.uint64(63)
REACH = 5  # bytes after one that decide whether it is plain
SURE = (ONE << np.uint64(58)) - ONE  # bytes whose neighbours on both sides are in the block


@inlined(MASK(MASK, MASK))
def paired(sign, space):
    """Mask of signs that are doubled and between spaces."""
    second = sign & sign << ONE & space << TWO & space >> ONE
    return second | second >> ONE


@inlined(types.boolean(BYTES, INTEGER, MASK))
def may_part(data, i, letter):
    """Whether letters may spell a contraction: all contractions have nn, mm or tt after their first two letters."""
    n, m, t = equal_folded(data, i, 110), equal_folded(data, i, 109), equal_folded(data, i, 116)
    third = (letter & ~(letter << ONE)) << TWO
    return third & (n & n >> ONE | m & m >> ONE | t & t >> ONE) != 0


@inlined(types.Tuple((INTEGER, MASK, MASK, MASK, types.boolean))(BYTES, INTEGER, INTEGER))
def plain(data, i, left):
    """How many of the 64 bytes from `i` on are plain; the starts and ends of their words, and starts of sentences.

    Last, whether a byte that is not plain ended it, rather than the end of the block. The text has `left` more bytes,
    at least REACH; the last of them are not plain, because the bytes after them belong to another text.

    Plain are:
    - words of letters, with single hyphens between them unless a contraction may be one of the parts;
    - a digit, then digits and letters, or . , : - between digits: no words;
    - spaces, and signs that are always tokens: brackets, straight quotes, $ and similar ones, a comma or colon that
      neither a digit nor another one follows;
    - `` '' -- between spaces, and any other sign of ASCII but . ? ! there;
    - 's and 'll between spaces, or any one or two letters: no words;
    - a period between spaces, if a letter, a digit or ` follows, even behind '': it ends a sentence;
    - ? and ! between spaces, if a capital, a digit or ` follows.
    """
    space, letter, digit = equal(data, i, 32), among_folded(data, i, 97, 26), among(data, i, 48, 10)
    comma, period, dash = equal(data, i, 44) | equal(data, i, 58), equal(data, i, 46), equal(data, i, 45)
    apostrophe, tick, question = equal(data, i, 39), equal(data, i, 96), equal(data, i, 63)
    between = space << ONE & space >> ONE

    alone = space | (among(data, i, 34, 8) & ~apostrophe)  # "#$%&()
    alone |= comma & ~(comma << ONE) & ~((comma | digit) >> ONE)
    quotes = paired(apostrophe, space)
    signs = among(data, i, 34, 93) & ~(letter | period | question) & between
    signs |= quotes | paired(tick, space) | paired(dash, space)

    clitic = apostrophe & space << ONE & letter >> ONE & (space >> TWO | (letter >> TWO & space >> THREE))
    clitic |= clitic << ONE | (clitic << TWO & letter)
    run = (letter | digit) & ~LAST
    numeral = run & ~(run + (digit & ~(run << ONE)))  # the sum carries a digit through the run that it begins
    letter &= ~(clitic | numeral)
    numeral |= (comma | period | dash) & digit << ONE & digit >> ONE
    hyphen = dash & letter << ONE & letter >> ONE
    if hyphen != 0 and may_part(data, i, letter):
        hyphen = ZERO
    letter |= hyphen

    opens = letter | digit | tick
    asks = (question | equal(data, i, 33)) & (below(data, i, 97) >> TWO)
    ends, ends_quote = (period | asks) & between & opens >> TWO, period & between & quotes >> TWO & opens >> FIVE

    cut = ALL << np.uint64(min(left - REACH, LANES - 1))
    ends_quote &= ~(cut >> FOUR)  # the next sentence begins five bytes on, and must be in sight
    unknown = ~(alone | signs | clitic | numeral | letter | ends | ends_quote) | cut
    size = width(alone & ~unknown & (unknown - ONE))
    inside = (ONE << np.uint64(size)) - ONE
    letter &= inside
    sentences = (ends << TWO | ends_quote << FIVE) & (inside << ONE | ONE)
    return size, letter & ~(letter << ONE), letter << ONE & ~letter, sentences, unknown & SURE != 0
