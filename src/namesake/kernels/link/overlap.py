"""Words that an entity shares with a text."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import F64, I32, I64, PAIRS

COUNTS = types.float64[::1]
RAGGED = types.Tuple((types.int64[::1], types.int32[::1]))


@kernel(COUNTS(F64, I64, I32, I64, I64, I32, I64, I64, I64, I32))
def overlap(weight, indptr, words, context, name_indptr, name_words, offsets, rows, entity_indptr, entity_words):
    """Σ weight[w] over W_context ∩ W_entity for every candidate, the words of the mention's own name left out.

    Context c holds `words[indptr[c]:indptr[c + 1]]`; mention m reads context `context[m]`, its name holds
    `name_words[name_indptr[m]:name_indptr[m + 1]]` and its candidates are `rows[offsets[m]:offsets[m + 1]]`
    (-1: unknown, scores 0). Each entity's words are unique. Mentions that share a context stand together.
    """
    score = np.zeros(len(rows))
    marked = np.zeros(len(weight), np.int64)
    stamp, marked_context = np.int64(0), np.int64(-1)
    for m in range(len(offsets) - 1):
        if offsets[m] == offsets[m + 1]:
            continue
        if context[m] != marked_context:
            marked_context = context[m]
            stamp += 1
            for j in range(indptr[marked_context], indptr[marked_context + 1]):
                marked[words[j]] = stamp
        for j in range(name_indptr[m], name_indptr[m + 1]):
            if marked[name_words[j]] == stamp:
                marked[name_words[j]] = -stamp
        for k in range(offsets[m], offsets[m + 1]):
            if rows[k] < 0:
                continue
            shared = 0.0
            for j in range(entity_indptr[rows[k]], entity_indptr[rows[k] + 1]):
                if marked[entity_words[j]] == stamp:
                    shared += weight[entity_words[j]]
            score[k] = shared
        for j in range(name_indptr[m], name_indptr[m + 1]):
            if marked[name_words[j]] == -stamp:
                marked[name_words[j]] = stamp
    return score


@kernel(types.int64(I32, types.int64, types.int64, types.int32))
def first_at_least(values, low, high, wanted):
    """Index of the first of the ascending `values[low:high]` that is not below `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(RAGGED(I64, I32, I32, I64, I32, I64, I64, PAIRS))
def narrow_contexts(indptr, words, starts, sentence_indptr, sentences, article, span_indptr, spans):
    """For every mention, the words of the sentences that hold one of its spans (ragged).

    Text a has words `words[indptr[a]:indptr[a + 1]]` at ascending bytes `starts` and sentences that begin at
    bytes `sentences[sentence_indptr[a]:sentence_indptr[a + 1]]`; mention m is in text `article[m]` at the byte
    spans `spans[span_indptr[m]:span_indptr[m + 1]]`. A sentence with two spans is taken once.
    """
    mentions = len(article)
    out_indptr = np.zeros(mentions + 1, np.int64)
    out = np.empty(len(words) + 16, np.int32)
    taken = np.zeros(len(sentences), np.int64)
    size = 0
    for m in range(mentions):
        a = article[m]
        first, last = sentence_indptr[a], sentence_indptr[a + 1]
        for k in range(span_indptr[m], span_indptr[m + 1]):
            s = max(first_at_least(sentences, first, last, spans[k, 0] + 1) - 1, first)
            while s < last and sentences[s] < spans[k, 1]:
                if taken[s] != m + 1:
                    taken[s] = m + 1
                    begin = first_at_least(starts, indptr[a], indptr[a + 1], sentences[s])
                    end = indptr[a + 1]
                    if s + 1 < last:
                        end = first_at_least(starts, begin, end, sentences[s + 1])
                    if size + end - begin > len(out):
                        grown = np.empty(2 * (size + end - begin), np.int32)
                        grown[:size] = out[:size]
                        out = grown
                    out[size : size + end - begin] = words[begin:end]
                    size += end - begin
                s += 1
        out_indptr[m + 1] = size
    return out_indptr, out[:size].copy()


@kernel(
    types.Tuple((types.int64, types.int32[::1]))(
        I32, types.int64, types.int64, types.int64[::1], types.int64, types.int32[::1], types.int64
    ),
)
def add_new(words, begin, end, taken, stamp, out, size):
    """Append the words of `words[begin:end]` that do not bear `stamp` yet to `out`, which grows as needed."""
    if size + end - begin > len(out):
        grown = np.empty(2 * (size + end - begin), np.int32)
        grown[:size] = out[:size]
        out = grown
    for j in range(begin, end):
        if taken[words[j]] != stamp:
            taken[words[j]] = stamp
            out[size] = words[j]
            size += 1
    return size, out


@kernel(
    RAGGED(
        types.int64, I64, types.boolean, types.boolean, I64, I32, I64, I32, I64, I32, I32, I64, I32, I64, I32, I64, I32
    ),
)
def gather_words(
    vocabulary, rows, with_values, with_aliases, d_indptr, d_words, p_indptr, p_words,
    statement_indptr, statements, pair_value, item_indptr, item_words, alias_indptr, alias_words,
    string_indptr, string_words,
):  # fmt: skip
    """The unique words of each entity row over a choice of features, ragged in the order of `rows`.

    D and P are taken from the columns given (pass empty ones to leave a feature out), S are the words of the
    statements' values, and aliases are those of item values.
    """
    out_indptr = np.zeros(len(rows) + 1, np.int64)
    out = np.empty(64 * len(rows) + 64, np.int32)
    taken = np.zeros(vocabulary, np.int64)
    size = 0
    for k in range(len(rows)):
        row = rows[k]
        if row >= 0:
            if row + 1 < len(d_indptr):
                size, out = add_new(d_words, d_indptr[row], d_indptr[row + 1], taken, k + 1, out, size)
            if row + 1 < len(p_indptr):
                size, out = add_new(p_words, p_indptr[row], p_indptr[row + 1], taken, k + 1, out, size)
            if with_values:
                for j in range(statement_indptr[row], statement_indptr[row + 1]):
                    value = pair_value[statements[j]]
                    if value < 0:
                        value = ~value
                        begin, end = string_indptr[value], string_indptr[value + 1]
                        size, out = add_new(string_words, begin, end, taken, k + 1, out, size)
                        continue
                    begin, end = item_indptr[value], item_indptr[value + 1]
                    size, out = add_new(item_words, begin, end, taken, k + 1, out, size)
                    if with_aliases:
                        begin, end = alias_indptr[value], alias_indptr[value + 1]
                        size, out = add_new(alias_words, begin, end, taken, k + 1, out, size)
        out_indptr[k + 1] = size
    return out_indptr, out[:size].copy()
