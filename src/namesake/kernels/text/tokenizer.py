"""One pass over the bytes of many texts: Penn Treebank word tokens with their hashes, and sentence starts.

The tokens are those of the Treebank rules, sentence by sentence, that start with a letter. What is `plain` is read 64
bytes at a time; whatever touches an apostrophe, a period or a byte beyond ASCII goes through the exact rules, and so do
the last bytes of a text.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import KEYS, ONE, ZERO, hash_word
from namesake.kernels.simd import BYTES, lowest, ones, pointer, prefetch
from namesake.kernels.text.boundaries import LISTED, WHOLE, WORDS, listed_words, skip_space, style
from namesake.kernels.text.cache import line_of
from namesake.kernels.text.characters import (
    BLANK,
    CLASS,
    COMMA,
    DIGIT,
    INTEGER,
    LETTER,
    SPACE,
    SPLIT,
    UNDERSCORE,
    hash_token,
    plain_word,
)
from namesake.kernels.text.plain import AHEAD, REACH, plain
from namesake.kernels.text.treebank import (
    CONTRACTION_MASK,
    CONTRACTIONS,
    FULL,
    LATE,
    TO,
    emit_piece,
    lead,
    new_buffers,
    piece_end,
    pointers,
    spacing,
)
from namesake.kernels.types import I64, U8


@inlined(types.UniTuple(INTEGER, 2)(BYTES, INTEGER, INTEGER, types.boolean))
def begin(data, start, end, whole):
    """Where the first sentence of a text begins, and how the text is written; with `whole` it is one sentence."""
    if whole:
        return start, WHOLE
    return skip_space(data, start, end)[0], style(data, start, end)


@inner(types.UniTuple(INTEGER, 4)(BYTES, *[INTEGER] * 5, WORDS, TO, KEYS, INTEGER))
def scan(data, i, end, size, sentence, flags, words, to, cache, mask):
    """Fill the buffers with the tokens and sentence starts from byte `i` on, until the text ends or a buffer is full.

    `size` is how many bytes there are in all, with those of other texts: blocks of them are looked at.
    Tokens will be looked up in `cache`, whose lines are asked for here, long before.
    Returns where to go on, the start of the current sentence, and how many tokens and sentence starts there are.
    """
    count, found = 0, 0
    while i < end and count < FULL and found < FULL:
        if i + AHEAD <= size and i + REACH <= end:
            known, starts, ends, breaks, stopped = plain(data, i, end - i)
            while starts != 0:
                start, stop = i + lowest(starts), i + lowest(ends)
                starts &= starts - ONE
                ends &= ends - ONE
                hashed = hash_word(data, start, stop)
                prefetch(cache, line_of(hashed, mask))
                if CONTRACTIONS[hashed & CONTRACTION_MASK] == hashed:
                    count = emit_piece(data, start, stop, True, LATE, count, to)
                else:
                    to.starts[count], to.ends[count], to.hashes[count] = start, stop, hashed
                    count += 1
            breaks = ZERO if flags & WHOLE else breaks
            while ones(breaks) > 1:
                to.breaks[found] = i + lowest(breaks)
                breaks &= breaks - ONE
                found += 1
            to.breaks[found] = i + lowest(breaks)  # without a branch: whether there is one is anybody's guess
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
            known, hashed = plain_word(data, i, end)
        if kind >= DIGIT and (known >= end or CLASS[data[known]] >= UNDERSCORE):
            while known < end and CLASS[data[known]] >= UNDERSCORE:
                known += 1
            hashed = hash_token(data, i, known)
        if kind >= DIGIT:
            stop = np.int64(CLASS[data[known]]) if known < end else SPACE
            if stop <= SPLIT or (stop == COMMA and (known + 1 >= end or CLASS[data[known + 1]] != DIGIT)):
                if kind == LETTER:
                    if CONTRACTIONS[hashed & CONTRACTION_MASK] == hashed:
                        count = emit_piece(data, i, known, True, LATE, count, to)
                    else:
                        to.starts[count], to.ends[count], to.hashes[count] = i, known, hashed
                        count += 1
                i = known
                continue
        following = np.int64(-1)
        if known == i:
            i, known, following = lead(data, i, end, sentence, flags, words)
        if known > i:
            stop, following = piece_end(data, i, known, end, sentence, flags, words)
            padded = i == sentence or CLASS[data[i - 1]] != BLANK
            spaced = spacing(data, stop, end, flags)
            count = emit_piece(data, i, stop, padded, spaced, count, to)
            i = stop
        if following >= 0:
            i = following
            if i < end:
                to.breaks[found] = sentence = i
                found += 1
    return i, sentence, count, found


LONGS, INTS = types.int64[::1], types.int32[::1]
TOKENS = types.Tuple((LONGS, INTS, INTS, types.uint64[::1], LONGS, INTS))


@kernel(TOKENS(U8, I64, LISTED, types.boolean))
def tokenize(data, offsets, listed, whole):
    """Word tokens of many texts: indptr, byte start and end within the text, hash; sentence starts.

    `listed` are the language's words about periods; with `whole` each text is one sentence. Text t is
    data[offsets[t]:offsets[t + 1]]; its first sentence starts at 0.
    """
    texts, first, words = len(offsets) - 1, pointer(data), listed_words(listed.keys, listed.bits)
    room = (offsets[texts] - offsets[0]) // 2 + texts
    indptr, sentence_indptr = np.zeros(texts + 1, np.int64), np.zeros(texts + 1, np.int64)
    starts, ends = np.empty(room, np.int32), np.empty(room, np.int32)
    hashes = np.empty(room, np.uint64)
    sentences = np.empty(room, np.int32)
    buffers = new_buffers()
    to = pointers(buffers)
    total, total_sentences = 0, 0
    token_starts, token_ends, token_hashes, breaks_at = buffers  # reading from them keeps them while `scan` writes
    for t in range(texts):
        low, end = offsets[t], offsets[t + 1]
        i, flags = begin(first, low, end, whole)
        sentence = i
        if low < end:
            sentences[total_sentences] = 0
            total_sentences += 1
        while i < end:
            i, sentence, count, found = scan(first, i, end, len(data), sentence, flags, words, to, to.hashes, 0)
            for k in range(count):
                starts[total + k], ends[total + k] = token_starts[k] - low, token_ends[k] - low
                hashes[total + k] = token_hashes[k]
            for k in range(found):
                sentences[total_sentences + k] = breaks_at[k] - low
            total += count
            total_sentences += found
        indptr[t + 1], sentence_indptr[t + 1] = total, total_sentences
    return (
        indptr,
        starts[:total].copy(),
        ends[:total].copy(),
        hashes[:total].copy(),
        sentence_indptr,
        sentences[:total_sentences].copy(),
    )
