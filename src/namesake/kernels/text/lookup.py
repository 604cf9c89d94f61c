"""Word look-up in open-addressing hash tables, and the word sets of many short strings."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.simd import pointer
from namesake.kernels.text.boundaries import skip_space, style
from namesake.kernels.text.characters import LOWER
from namesake.kernels.text.tokenizer import scan
from namesake.kernels.text.treebank import BUFFER
from namesake.kernels.types import I32, I64, U8

HASHES, POSITIONS = types.uint64[::1], types.int64[::1]
READ_HASHES = types.Array(types.uint64, 1, "C", readonly=True)
WORDS = types.int32[::1]
ABSENT = -2  # neither a word nor known not to be one (-1)
EMPTY = np.uint64(0)


@kernel(types.int32(types.uint64, READ_HASHES, I32))
def look_up(hashed, table_hash, table_word):
    """The word of a hash in a table whose size is a power of two; ABSENT if it is not there."""
    mask = len(table_hash) - 1
    slot = np.int64(hashed & np.uint64(mask))
    while table_hash[slot] != EMPTY:
        if table_hash[slot] == hashed:
            return table_word[slot]
        slot = (slot + 1) & mask
    return np.int32(ABSENT)


@kernel(types.int64(READ_HASHES, I32, HASHES, WORDS))
def insert(hashes, words, table_hash, table_word):
    """Put words into a table that has room for them; returns how many slots were newly taken."""
    mask = len(table_hash) - 1
    taken = 0
    for k in range(len(hashes)):
        slot = np.int64(hashes[k] & np.uint64(mask))
        while table_hash[slot] != EMPTY and table_hash[slot] != hashes[k]:
            slot = (slot + 1) & mask
        taken += table_hash[slot] == EMPTY
        table_hash[slot] = hashes[k]
        table_word[slot] = words[k]
    return taken


@kernel(WORDS(READ_HASHES, READ_HASHES, I32))
def look_up_all(hashes, table_hash, table_word):
    """`look_up` for each hash."""
    words = np.empty(len(hashes), np.int32)
    for k in range(len(hashes)):
        words[k] = look_up(hashes[k], table_hash, table_word)
    return words


@kernel(
    types.UniTuple(types.int64, 2)(READ_HASHES, types.int64, HASHES, WORDS, types.int64, WORDS, POSITIONS),
)
def intern(hashes, begin, table_hash, table_id, known, ids, first):
    """Number the hashes in the order in which they first occur, from `begin` on, until the table is half full.

    ids[k] becomes the number of hashes[k], first[n] the place where number n occurs first (for the new ones).
    Returns where to go on and how many numbers are given.
    """
    mask = len(table_hash) - 1
    for k in range(begin, len(hashes)):
        slot = np.int64(hashes[k] & np.uint64(mask))
        while table_hash[slot] != EMPTY and table_hash[slot] != hashes[k]:
            slot = (slot + 1) & mask
        if table_hash[slot] == EMPTY:
            if 2 * known >= len(table_hash):
                return k, known
            table_hash[slot] = hashes[k]
            table_id[slot] = known
            first[known] = k
            known += 1
        ids[k] = table_id[slot]
    return len(hashes), known


@kernel(types.uint8[::1](U8, I64, I64))
def spell(data, starts, ends):
    """The tokens as they were hashed, A–Z lowered and ‘ ’ as ', each followed by a newline."""
    out = np.empty(np.sum(ends - starts) + len(starts), np.uint8)
    size = 0
    for token in range(len(starts)):
        k, end = starts[token], ends[token]
        while k < end:
            if data[k] == 0xE2 and k + 2 < end and data[k + 1] == 0x80 and data[k + 2] | 1 == 0x99:
                out[size] = 0x27
                k += 3
            else:
                out[size] = np.uint8(LOWER[data[k]])
                k += 1
            size += 1
        out[size] = 10
        size += 1
    return out[:size]


@kernel(types.Tuple((types.int64[::1], WORDS))(I64, I32, I32))
def word_sets(indptr, ids, word_of):
    """Sorted unique words of each row, without the negative ones: CSR of word_of[ids]."""
    out_indptr = np.zeros(len(indptr), np.int64)
    out = np.empty(len(ids), np.int32)
    size = 0
    for row in range(len(indptr) - 1):
        begin = end = size
        for k in range(indptr[row], indptr[row + 1]):
            word = word_of[ids[k]]
            out[end] = word
            end += word >= 0
        if end - begin > 32:
            out[begin:end].sort()
        else:
            for k in range(begin + 1, end):
                word, place = out[k], k
                while place > begin and out[place - 1] > word:
                    out[place] = out[place - 1]
                    place -= 1
                out[place] = word
        for k in range(begin, end):
            if size == begin or out[size - 1] != out[k]:
                out[size] = out[k]
                size += 1
        out_indptr[row + 1] = size
    return out_indptr, out[:size].copy()


ANALYSE = types.UniTuple(types.int64, 4)(
    *[U8, I64, READ_HASHES, I32, HASHES, WORDS, types.int64],
    *[types.int64[::1], WORDS, WORDS, types.int64[::1], WORDS],
    *[POSITIONS, POSITIONS, POSITIONS, HASHES],
)


@kernel(ANALYSE)
def analyse(
    data,
    offsets,
    surface_hash,
    surface_word,
    cache_hash,
    cache_word,
    cached,
    indptr,
    words,
    starts,
    sentence_indptr,
    sentences,
    miss_place,
    miss_start,
    miss_end,
    miss_hash,
):
    """Look every token of many texts up, in the cache, then in the KB's table; what is found goes into the cache.

    Writes words and byte starts of the known words, sentence starts, and the misses (place among the words, bytes,
    hash), which stand among the words as ABSENT. Returns how many words, sentences, misses and cached hashes there are.
    """
    token_start, token_end, breaks = np.empty(BUFFER, np.int64), np.empty(BUFFER, np.int64), np.empty(BUFFER, np.int64)
    token_hash = np.empty(BUFFER, np.uint64)
    first = pointer(data)
    buffers = (pointer(token_start), pointer(token_end), pointer(token_hash), pointer(breaks))
    mask, limit = len(cache_hash) - 1, len(cache_hash) * 7 // 10
    total, total_sentences, misses = 0, 0, 0
    for t in range(len(offsets) - 1):
        low, end = offsets[t], offsets[t + 1]
        flags = style(first, low, end)
        i, _ = skip_space(first, low, end)
        sentence = i
        if low < end:
            sentences[total_sentences] = 0
            total_sentences += 1
        while i < end:
            i, sentence, count, found = scan(first, i, end, sentence, flags, *buffers)
            for k in range(found):
                sentences[total_sentences + k] = breaks[k] - low
            total_sentences += found
            for k in range(count):
                hashed = token_hash[k]
                slot = np.int64(hashed & np.uint64(mask))
                while cache_hash[slot] != EMPTY and cache_hash[slot] != hashed:
                    slot = (slot + 1) & mask
                if cache_hash[slot] == hashed:
                    word = cache_word[slot]
                else:
                    word = look_up(hashed, surface_hash, surface_word)
                    if word == ABSENT:
                        miss_place[misses], miss_hash[misses] = total, hashed
                        miss_start[misses], miss_end[misses] = token_start[k], token_end[k]
                        misses += 1
                        words[total], starts[total] = word, token_start[k] - low
                        total += 1
                    elif cached < limit:
                        cache_hash[slot], cache_word[slot] = hashed, word
                        cached += 1
                words[total], starts[total] = word, token_start[k] - low
                total += word >= 0
        indptr[t + 1], sentence_indptr[t + 1] = total, total_sentences
    return total, total_sentences, misses, cached


@kernel(types.int64(types.int64[::1], WORDS, WORDS))
def drop_unknown(indptr, words, starts):
    """Close the gaps that negative words leave, in place; returns how many words remain."""
    size, k = 0, indptr[0]
    for t in range(len(indptr) - 1):
        while k < indptr[t + 1]:
            words[size], starts[size] = words[k], starts[k]
            size += words[k] >= 0
            k += 1
        indptr[t + 1] = size
    return size
