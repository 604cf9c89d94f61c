"""Words that an entity shares with a text."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.search import first_at_least
from namesake.kernels.types import F64, I32, I64, PAIRS, RAGGED, record

COUNTS = types.float64[::1]
NEW_RAGGED = types.Tuple((types.int64[::1], types.int32[::1]))


@kernel(COUNTS(F64, RAGGED, I64, RAGGED, I64, I64, RAGGED))
def overlap(weight, contexts, context, names, offsets, rows, entities):
    """Σ weight[w] over W_context ∩ W_entity for every candidate, the words of the mention's own name left out.

    Mention m reads row `context[m]` of the contexts' words, its name has row m of the names' words, and its candidates
    are the rows `rows[offsets[m]:offsets[m + 1]]` of the entities' words (-1: unknown, scores 0), which are unique
    within a row. Mentions that share a context stand together.
    """
    indptr, words = contexts
    name_indptr, name_words = names
    entity_indptr, entity_words = entities
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


@kernel(NEW_RAGGED(I64, I32, I32, I64, I32, I64, I64, PAIRS))
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
        RAGGED, types.int64, types.int64[::1], types.int64, types.int32[::1], types.int64
    ),
)
def add_row(rows, row, taken, stamp, out, size):
    """Append the words of a row that do not bear `stamp` yet to `out`, which grows as needed."""
    begin, end, words = rows.indptr[row], rows.indptr[row + 1], rows.values
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


class Features(NamedTuple):
    """Where the words of entities come from: their descriptions, their paragraphs, their statements' values.

    A value is an item row or `~row` of a string, by statement; items have words in their labels and their aliases.
    """

    descriptions: Annotated[Any, RAGGED]
    paragraphs: Annotated[Any, RAGGED]
    statements: Annotated[Any, RAGGED]
    pair_value: Annotated[Any, I32]
    items: Annotated[Any, RAGGED]
    aliases: Annotated[Any, RAGGED]
    strings: Annotated[Any, RAGGED]


@kernel(NEW_RAGGED(types.int64, I64, types.boolean, types.boolean, record(Features)))
def gather_words(vocabulary, rows, with_values, with_aliases, features):
    """The unique words of each entity row over a choice of features, ragged in the order of `rows`.

    Descriptions and paragraphs without rows are left out.
    """
    out_indptr = np.zeros(len(rows) + 1, np.int64)
    out = np.empty(64 * len(rows) + 64, np.int32)
    taken = np.zeros(vocabulary, np.int64)
    d, p, statements, pair_value, items, aliases, strings = features
    size = 0
    for k in range(len(rows)):
        row = rows[k]
        if row >= 0:
            if row + 1 < len(d.indptr):
                size, out = add_row(d, row, taken, k + 1, out, size)
            if row + 1 < len(p.indptr):
                size, out = add_row(p, row, taken, k + 1, out, size)
            if with_values:
                for j in range(statements.indptr[row], statements.indptr[row + 1]):
                    value = pair_value[statements.values[j]]
                    if value < 0:
                        size, out = add_row(strings, ~value, taken, k + 1, out, size)
                        continue
                    size, out = add_row(items, value, taken, k + 1, out, size)
                    if with_aliases:
                        size, out = add_row(aliases, value, taken, k + 1, out, size)
        out_indptr[k + 1] = size
    return out_indptr, out[:size].copy()
