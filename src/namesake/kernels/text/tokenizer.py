"""One pass over the bytes of many texts: Penn Treebank word tokens with their hashes, and sentence starts.

The tokens are those of the Treebank rules, sentence by sentence, that start with a letter. `plain` text is read 64
bytes at a time. The exact rules read everything next to an apostrophe, a period or a non-ASCII byte, and the last bytes
of a text.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import KEYS, LOWERED, ONE, ZERO, hash_ahead, hash_short, hash_word, line_of
from namesake.kernels.simd import BYTES, LANES, equal, first_bits, lowest, ones, prefetch, width
from namesake.kernels.text import characters, treebank
from namesake.kernels.text.boundaries import WORDS
from namesake.kernels.text.characters import CLASS, COMMA, DIGIT, INTEGER, LETTER, SPACE, SPLIT, UNDERSCORE, write_words
from namesake.kernels.text.plain import REACH, plain
from namesake.kernels.text.treebank import FULL, TO


@inner(INTEGER(INTEGER, INTEGER, TO))
def part(k, count, to):
    """Split token k, a contraction, after its third letter; returns the new number of tokens."""
    for j in range(count, k, -1):
        to.starts[j], to.ends[j], to.hashes[j], to.heads[j] = (
            to.starts[j - 1], to.ends[j - 1], to.hashes[j - 1], to.heads[j - 1]
        )  # fmt: skip
    to.ends[k] = to.starts[k + 1] = to.starts[k] + 3
    return count + 1


@inlined(INTEGER(BYTES, INTEGER, TO))
def hash_plain(data, count, to):
    """Compute the hashes of plain words, and split contractions; returns the number of tokens."""
    for k in range(count):
        hashed = hash_short(to.heads[k], to.tails[k], to.ends[k] - to.starts[k])
        to.hashes[k] = hashed if to.heads[k] != ZERO else to.hashes[k]
    for k in range(count):
        head, length = np.int64(to.heads[k]), to.ends[k] - to.starts[k]
        twice = ((head >> 16 ^ head >> 24) & 0xDF == 0) & ((length == 5) | (length == 6))
        to.marks[k] = np.uint8((head != 0) & (twice | (length >= characters.LONG)))
    total = count
    for at in range((count - 1) // LANES * LANES, -1, -LANES):  # from the end: a split moves the tokens after it
        marked = equal(to.marks, at, np.uint8(1)) & first_bits(count - at)
        while marked != ZERO:
            k = at + width(marked) - 1
            marked &= first_bits(k - at)
            start, end = to.starts[k], to.ends[k]
            if end - start >= characters.LONG:
                to.hashes[k] = hash_ahead(data, start, end, LOWERED)
            elif treebank.CONTRACTIONS[to.hashes[k] & treebank.CONTRACTION_MASK] == to.hashes[k]:
                total = part(k, total, to)
                to.hashes[k], to.hashes[k + 1] = hash_word(data, start, start + 3), hash_word(data, start + 3, end)
    return total


@inner(types.UniTuple(INTEGER, 4)(BYTES, *[INTEGER] * 5, WORDS, TO, KEYS, INTEGER))
def scan(data, i, end, size, sentence, flags, words, to, cache, mask):
    """Fill the buffers with the tokens and sentence starts from byte `i` on, until the text ends or a buffer is full.

    `size` is the number of bytes of all texts, because blocks of 64 may reach into the next one. Tokens will be looked
    up in `cache`, whose lines are prefetched. Returns the next byte, the start of the current sentence, and the numbers
    of tokens and sentence starts.
    """
    count, found = 0, 0
    while i < end and count < FULL and found < FULL:
        if i + characters.AHEAD <= size and i + REACH <= end:
            known, starts, ends, breaks, stopped = plain(data, i, end - i)
            _, count = write_words(data, i, starts, ends, to.starts, to.ends, to.heads, to.tails, count, count)
            while ones(breaks) > 1:
                to.breaks[found] = i + lowest(breaks)
                breaks &= breaks - ONE
                found += 1
            to.breaks[found] = i + lowest(breaks)  # without a branch, because branch prediction fails here
            sentence = i + lowest(breaks) if breaks != 0 else sentence
            found += breaks != 0
            i += known
            if known > 0 and not stopped:
                continue
        kind = CLASS[data[i]]
        if kind == SPACE:
            i += 1
            continue
        known = i
        if kind == LETTER:
            known, hashed = characters.plain_word(data, i, end)
        if kind >= DIGIT and (known >= end or CLASS[data[known]] >= UNDERSCORE):
            while known < end and CLASS[data[known]] >= UNDERSCORE:
                known += 1
            hashed = characters.hash_token(data, i, known)
        if kind >= DIGIT:
            stop = np.int64(CLASS[data[known]]) if known < end else SPACE
            if stop <= SPLIT or (stop == COMMA and (known + 1 >= end or CLASS[data[known + 1]] != DIGIT)):
                if kind == LETTER:
                    if treebank.CONTRACTIONS[hashed & treebank.CONTRACTION_MASK] == hashed:
                        count = treebank.emit_piece(data, i, known, True, treebank.LATE, count, to)
                    else:
                        count = treebank.add_token(i, known, hashed, count, to)
                i = known
                continue
        following = np.int64(-1)
        if known == i:
            i, known, following = treebank.lead(data, i, end, sentence, flags, words)
        if known > i:
            stop, following = treebank.piece_end(data, i, known, end, sentence, flags, words)
            padded = i == sentence or CLASS[data[i - 1]] != characters.BLANK
            spaced = treebank.spacing(data, stop, end)
            count = treebank.emit_piece(data, i, stop, padded, spaced, count, to)
            i = stop
        if following >= 0:
            i = following
            if i < end:
                to.breaks[found] = sentence = i
                found += 1
    count = hash_plain(data, count, to)
    for k in range(count):
        prefetch(cache, line_of(to.hashes[k], mask))
    return i, sentence, count, found
