"""What the KB knows of single words: looked up, noted on the page, and remembered for the texts that follow."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import FREE, HALF, LOW_HALF, ZERO, extend
from namesake.kernels.names.letters import short_with_other_ending
from namesake.kernels.names.page import FAME, KNOWN, NOBODY, OPEN, PAGE, UNREAD, I, listed, phrase
from namesake.kernels.names.phrases import WORD, fame_in, find_entry, short_in
from namesake.kernels.names.tokens import NO_NAME
from namesake.kernels.simd import prefetch

REMEMBERED, MOST_WORDS = 4, 1 << 14  # numbers for each word of a memory, and words of the largest


@inlined(types.void(PAGE, I, types.uint64, types.uint64))
def note_word(page, i, counts, rest):
    """Note on the page what is known of token i: counts of first and last; of lower case, and the thing's fame."""
    page.firsts[i], page.lasts[i] = np.int32(counts & LOW_HALF), np.int32(counts >> HALF)
    page.lowers[i], page.things[i] = np.int32(rest & LOW_HALF), np.uint8(rest >> HALF)


@inlined(types.boolean(PAGE, I))
def recall(page, i):
    """Note what is known of token i if it is remembered from earlier in the text or in another; whether it is.

    Words come again and again, and what the KB knows of one lies far away. The memory forgets a word
    when another takes its place.
    """
    at = np.int64(page.hashes[i] & np.uint64(page.memory_mask)) * REMEMBERED
    if page.memory[at] != page.hashes[i]:
        return False
    note_word(page, i, page.memory[at + 1], page.memory[at + 2])
    return True


@inlined(I(PAGE, I))
def short_recalled(page, i):
    """The short form that token i is, which has just been recalled or looked up."""
    at = np.int64(page.hashes[i] & np.uint64(page.memory_mask)) * REMEMBERED
    return np.int64(page.memory[at + 3]) + NOBODY


@inlined(types.void(PAGE, KNOWN, I))
def ask_for_word(page, known, i):
    """Ask for what `look_up` will read of token i, if it is part of people's names."""
    prefetch(known.words, WORD * (np.int64(page.hashes[i]) & known.word_mask))


@inner(types.void(PAGE, KNOWN, I))
def look_up(page, known, i):
    """Note what the KB knows of token i, and remember it."""
    hashed = page.hashes[i]
    entry = find_entry(known.words, known.word_mask, hashed, WORD)
    counts, rest, packed = known.words[entry + 1], known.words[entry + 2], known.words[entry + 3]
    if known.words[entry] == FREE:
        counts, rest, packed = ZERO, ZERO, phrase(known, extend(ZERO, hashed))
    rest |= np.uint64(fame_in(packed)) << HALF
    short = short_in(packed)
    if short < 0 and counts == ZERO and rest == ZERO:
        short = short_with_other_ending(page, known, i)
    at = np.int64(hashed & np.uint64(page.memory_mask)) * REMEMBERED
    page.memory[at], page.memory[at + 1] = hashed, counts
    page.memory[at + 2], page.memory[at + 3] = rest, np.uint64(short - NOBODY)
    note_word(page, i, counts, rest)


@inlined(types.void(PAGE, KNOWN, I))
def read_word(page, known, i):
    """Have what is known of token i noted on the page."""
    if page.firsts[i] == UNREAD and not recall(page, i):
        look_up(page, known, i)


@inlined(I(PAGE, KNOWN, I))
def begins(page, known, i):
    """How many people's labels token i begins."""
    read_word(page, known, i)
    return np.int64(page.firsts[i])


@inlined(I(PAGE, KNOWN, I))
def finishes(page, known, i):
    """How many people's labels token i ends."""
    read_word(page, known, i)
    return np.int64(page.lasts[i])


@inlined(I(PAGE, KNOWN, I))
def in_lower(page, known, i):
    """How often token i stands in lower case where people and things are described."""
    read_word(page, known, i)
    return np.int64(page.lowers[i])


@inlined(types.float64(PAGE, KNOWN, I))
def word_fame(page, known, i):
    """How famous the thing is whose name is token i."""
    read_word(page, known, i)
    return FAME[np.int64(page.things[i])]


@inner(types.void(PAGE, KNOWN))
def read_ahead(page, known):
    """Read the open tokens that may be names, each by itself: look-ups that do not wait for each other are cheap."""
    unread = 0
    for k in range(page.ables):
        i = page.able[k]
        if page.used[i] == OPEN and not listed(page, i, NO_NAME):
            if recall(page, i):
                page.shorts[i] = np.int32(short_recalled(page, i))
            else:
                ask_for_word(page, known, i)
                page.unread[unread] = i
                unread += 1
    for k in range(unread):
        i = page.unread[k]
        look_up(page, known, i)
        page.shorts[i] = np.int32(short_recalled(page, i))
