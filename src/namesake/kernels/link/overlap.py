"""Words that an entity shares with a text."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.link.contexts import RUNS, occurrences, occurs
from namesake.kernels.types import F64, I32, I64, RAGGED, record

COUNTS = types.float64[::1]
NEW_RAGGED = types.Tuple((types.int64[::1], types.int32[::1]))


MARKED_AT_ONCE = 8
"""How often the words of a text are marked over, for one mention after another, before they are looked up instead."""
LOOKED_UP = 16
"""How many words are marked in the time it takes to look one up in one run of a context."""


@inlined(types.boolean(RUNS, types.int64, I64, I64, types.int64, types.int64))
def is_wide(contexts, context, entity_indptr, rows, first, last):
    """Whether to mark the words of a context takes longer than to look up those of the candidates in it."""
    size = candidate_words = 0
    begin, end = contexts.indptr[context], contexts.indptr[context + 1]
    for k in range(begin, end):
        size += contexts.runs[k, 1] - contexts.runs[k, 0]
    for k in range(first, last):
        if rows[k] >= 0:
            candidate_words += entity_indptr[rows[k] + 1] - entity_indptr[rows[k]]
    return size > LOOKED_UP * (end - begin) * candidate_words


@kernel(COUNTS(F64, RAGGED, I64, RUNS, I64, RAGGED, I64, I64, RAGGED))
def overlap(weight, texts, article, contexts, context, names, offsets, rows, entities):
    """Σ weight[w] over W_context ∩ W_entity for every candidate, the words of the mention's own name left out.

    Mention m is in text `article[m]` and reads row `context[m]` of the contexts, which are runs of the texts' words;
    its name has row m of the names' words, and its candidates are the rows `rows[offsets[m]:offsets[m + 1]]` of the
    entities' words (-1: unknown, scores 0), which are unique within a row. Mentions that share a context stand
    together. The words of a context are marked; where long contexts overlap, all of that would be quadratic, so after
    some of it the candidates' words are looked up in the text.
    """
    words = texts.values
    name_indptr, name_words = names
    entity_indptr, entity_words = entities
    score = np.zeros(len(rows))
    marked = np.zeros(len(weight), np.int64)
    keys = np.zeros(0, np.uint64)
    stamp, marked_context, text, indexed, left = np.int64(0), np.int64(-1), np.int64(-1), np.int64(-1), np.int64(0)
    for m in range(len(offsets) - 1):
        first, last, c = offsets[m], offsets[m + 1], context[m]
        if first == last:
            continue
        if article[m] != text:
            text, marked_context = article[m], np.int64(-1)
            left = MARKED_AT_ONCE * (texts.indptr[text + 1] - texts.indptr[text])
        looked_up = c != marked_context and left <= 0 and is_wide(contexts, c, entity_indptr, rows, first, last)
        if looked_up:
            stamp, marked_context = stamp + 1, np.int64(-1)
            if indexed != text:
                keys, indexed = occurrences(texts, text), text
        elif c != marked_context:
            stamp, marked_context = stamp + 1, c
            for k in range(contexts.indptr[c], contexts.indptr[c + 1]):
                left -= contexts.runs[k, 1] - contexts.runs[k, 0]
                for j in range(contexts.runs[k, 0], contexts.runs[k, 1]):
                    marked[words[j]] = stamp
        for j in range(name_indptr[m], name_indptr[m + 1]):
            if looked_up or marked[name_words[j]] == stamp:
                marked[name_words[j]] = -stamp
        for k in range(first, last):
            if rows[k] < 0:
                continue
            shared = 0.0
            for j in range(entity_indptr[rows[k]], entity_indptr[rows[k] + 1]):
                word = entity_words[j]
                if looked_up:
                    if marked[word] != -stamp and occurs(keys, texts.indptr[text], contexts, c, word):
                        shared += weight[word]
                elif marked[word] == stamp:
                    shared += weight[word]
            score[k] = shared
        for j in range(name_indptr[m], name_indptr[m + 1]):
            if marked[name_words[j]] == -stamp:
                marked[name_words[j]] = stamp
    return score


@inner(
    types.Tuple((types.int64, types.int32[::1]))(
        RAGGED, types.int64, types.int64[::1], types.int64, types.int32[::1], types.int64
    ),
)
def add_row(rows, row, taken, stamp, out, size):
    """Append the words of a row that do not bear `stamp` yet to `out`, which grows as needed."""
    begin, end, words = rows.indptr[row], rows.indptr[row + 1], rows.values
    if size + end - begin > len(out):
        grown = np.empty(2 * (size + end - begin), np.int32)
        for i in range(size):
            grown[i] = out[i]
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
