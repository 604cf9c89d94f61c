"""Lookup of words, and the word sets of many short strings."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, KEYS, LINE, WAYS, find, find_cached
from namesake.kernels.search import sort_range
from namesake.kernels.simd import pointer
from namesake.kernels.text.boundaries import PeriodWords, skip_space, style
from namesake.kernels.text.tokenizer import scan
from namesake.kernels.text.treebank import new_buffers, pointers
from namesake.kernels.types import I32, I64, U8, U64, plain_record

LONGS, HASHES, WORDS = types.int64[::1], types.uint64[::1], types.int32[::1]
WORD_POINTER = types.CPointer(types.int32)
ABSENT = -2  # neither a word nor known not to be one (-1)


@inlined(types.int32(types.uint64, KEYS, WORD_POINTER, types.int64))
def look_up(hashed, table_hash, table_word, mask):
    """The word of a hash; ABSENT if it is not there."""
    slot = find(table_hash, mask, hashed)
    return table_word[slot] if table_hash[slot] != FREE else np.int32(ABSENT)


@kernel(WORDS(U64, U64, I32))
def look_up_all(hashes, table_hash, table_word):
    """`look_up` for each hash."""
    words = np.empty(len(hashes), np.int32)
    for k in range(len(hashes)):
        words[k] = look_up(hashes[k], pointer(table_hash), pointer(table_word), len(table_hash) - 1)
    return words


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
        sort_range(out, begin, end)
        for k in range(begin, end):
            if size == begin or out[size - 1] != out[k]:
                out[size] = out[k]
                size += 1
        out_indptr[row + 1] = size
    return out_indptr, out[:size].copy()


class Tables(NamedTuple):
    """The language's words about periods; words by hash, -1 for a token that is not a word: of a KB, and cached."""

    period_keys: Annotated[Any, U64]
    period_bits: Annotated[Any, U8]
    surface_hash: Annotated[Any, U64]
    surface_word: Annotated[Any, I32]
    cache: Annotated[Any, HASHES]


class Analysis(NamedTuple):
    """The result of an analysis: the words of each text, their first bytes, and the first bytes of its sentences.

    Then the tokens that are in no table: their places among the words, their bytes, their hashes.
    """

    indptr: Annotated[Any, LONGS]
    words: Annotated[Any, WORDS]
    starts: Annotated[Any, WORDS]
    sentence_indptr: Annotated[Any, LONGS]
    sentences: Annotated[Any, WORDS]
    miss_place: Annotated[Any, LONGS]
    miss_start: Annotated[Any, LONGS]
    miss_end: Annotated[Any, LONGS]
    miss_hash: Annotated[Any, HASHES]


@kernel(types.UniTuple(types.int64, 4)(U8, I64, plain_record(Tables), types.int64, plain_record(Analysis)))
def analyse(data, offsets, tables, cached, to):
    """Look up every token of many texts in the cache, then in the KB's table, whose words are cached.

    Misses are among the words as ABSENT. Returns the numbers of words, sentences, misses and cached hashes.
    """
    first, buffers = pointer(data), new_buffers()
    found = pointers(buffers)
    period_keys, period_bits, surface, surface_words, remembered = tables
    periods = PeriodWords(pointer(period_keys), pointer(period_bits), len(period_keys) - 1)
    surface_hash, surface_word, surface_mask = pointer(surface), pointer(surface_words), len(surface) - 1
    cache, cache_mask = pointer(remembered), len(remembered) // LINE - 1
    indptr, words, starts, sentence_indptr, sentences, miss_place, miss_start, miss_end, miss_hash = to
    word_at, start_at = pointer(words), pointer(starts)
    limit = len(remembered) * 7 // 20
    total, total_sentences, missed = 0, 0, 0
    token_starts, token_ends, token_hashes, breaks_at = buffers  # reading from them keeps them while `scan` writes
    for t in range(len(offsets) - 1):
        low, end = offsets[t], offsets[t + 1]
        flags = style(first, low, end)
        i = sentence = skip_space(first, low, end)[0]
        if low < end:
            sentences[total_sentences] = 0
            total_sentences += 1
        while i < end:
            i, sentence, count, breaks = scan(
                first, i, end, len(data), sentence, flags, periods, found, cache, cache_mask
            )
            for k in range(breaks):
                sentences[total_sentences + k] = breaks_at[k] - low
            total_sentences += breaks
            for k in range(count):
                hashed = token_hashes[k]
                place, known = find_cached(cache, cache_mask, hashed)
                if known:
                    word = np.int32(np.int64(cache[place + WAYS]) - 1)
                else:
                    word = look_up(hashed, surface_hash, surface_word, surface_mask)
                    if word == ABSENT:
                        miss_place[missed], miss_hash[missed] = total, hashed
                        miss_start[missed], miss_end[missed] = token_starts[k], token_ends[k]
                        missed += 1
                        word_at[total], start_at[total] = word, np.int32(token_starts[k] - low)
                        total += 1
                    elif cached < limit:
                        cache[place], cache[place + WAYS] = hashed, np.uint64(word + 1)
                        cached += 1
                word_at[total], start_at[total] = word, np.int32(token_starts[k] - low)
                total += int(word >= 0)
        indptr[t + 1], sentence_indptr[t + 1] = total, total_sentences
    return total, total_sentences, missed, cached
