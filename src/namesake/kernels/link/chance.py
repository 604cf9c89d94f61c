"""Words that an entity shares with a text, beside what chance alone would give an entity of its size."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.link.contexts import RUNS
from namesake.kernels.link.overlap import MARKED_AT_ONCE
from namesake.kernels.simd import NUMBERS, pointer, prefetch
from namesake.kernels.types import F64, I64, RAGGED

WHOLE = -2  # the context that is all of a text
AHEAD = 8  # candidates
LINE = 16  # words in a line of the processor's cache


@inlined(types.void(NUMBERS, types.CPointer(types.int32), types.int64, types.int64))
def fetch_words(indptr, words, soon, later):
    """Ask for the words of the candidate that comes soon, and for where those of a later one begin.

    Candidates lie anywhere in the KB: who asks for them early need not wait.
    """
    begin = indptr[max(soon, 0)]
    prefetch(words, begin)
    prefetch(words, begin + LINE)
    prefetch(indptr, later)


@kernel(types.UniTuple(types.float64[::1], 2)(F64, F64, RAGGED, I64, RUNS, I64, RAGGED, I64, I64, RAGGED))
def overlap_and_chance(weight, expected, texts, article, contexts, context, names, offsets, rows, entities):
    """For every candidate Σ weight[w] over W_context ∩ W_entity, and |W_entity| Σ expected[w] over W_context.

    `expected[w]` is what one word of a random entity weighs by being w. The words of the mention's own name are left
    out of both sets. For the arrays see `overlap`. Where long contexts of one text overlap so much that its words have
    been marked MARKED_AT_ONCE times, the rest of its mentions read all of it: more would take quadratic time.
    """
    words = texts.values
    name_indptr, name_words = names
    entity_indptr, entity_words = entities
    indptr_at, words_at = pointer(entity_indptr), pointer(entity_words)
    shared, chance = np.zeros(len(rows)), np.zeros(len(rows))
    marked = np.zeros(len(weight), np.int64)
    stamp, marked_context, text, left, total = np.int64(0), np.int64(-1), np.int64(-1), np.int64(0), 0.0
    for m in range(len(offsets) - 1):
        if offsets[m] == offsets[m + 1]:
            continue
        if article[m] != text:
            text, marked_context = article[m], np.int64(-1)
            left = MARKED_AT_ONCE * (texts.indptr[text + 1] - texts.indptr[text])
        wanted = context[m] if context[m] == marked_context or left > 0 else np.int64(WHOLE)
        if wanted != marked_context:
            stamp, marked_context, total = stamp + 1, wanted, 0.0
            runs = 1 if wanted == WHOLE else contexts.indptr[wanted + 1] - contexts.indptr[wanted]
            for run in range(runs):
                begin, end = texts.indptr[text], texts.indptr[text + 1]
                if wanted != WHOLE:
                    begin, end = contexts.runs[contexts.indptr[wanted] + run]
                left -= end - begin
                for j in range(begin, end):
                    if marked[words[j]] != stamp:
                        marked[words[j]] = stamp
                        total += expected[words[j]]
        inside, outside = -2 * stamp, -2 * stamp - 1  # a word of the name that the context has, and one it has not
        rest = total
        for j in range(name_indptr[m], name_indptr[m + 1]):
            word = name_words[j]
            if marked[word] == stamp:
                rest -= expected[word]
                marked[word] = inside
            elif marked[word] != inside:
                marked[word] = outside
        for k in range(offsets[m], offsets[m + 1]):
            if k + 2 * AHEAD < len(rows):
                fetch_words(indptr_at, words_at, rows[k + AHEAD], rows[k + 2 * AHEAD])
            if rows[k] < 0:
                continue
            size = 0
            for j in range(entity_indptr[rows[k]], entity_indptr[rows[k] + 1]):
                mark = marked[entity_words[j]]
                size += mark != inside and mark != outside
                if mark == stamp:
                    shared[k] += weight[entity_words[j]]
            chance[k] = size * max(rest, 0.0)
        for j in range(name_indptr[m], name_indptr[m + 1]):
            if marked[name_words[j]] == inside:
                marked[name_words[j]] = stamp
            elif marked[name_words[j]] == outside:
                marked[name_words[j]] = 0
    return shared, chance


@kernel(types.float64[::1](types.int64, RAGGED, I64, RAGGED))
def count_words(vocabulary, contexts, context, names):
    """How many distinct words the context of each mention has, those of its own name left out."""
    counts = np.zeros(len(context))
    marked = np.zeros(vocabulary, np.int64)
    stamp, marked_context, total = np.int64(0), np.int64(-1), 0
    for m in range(len(context)):
        if context[m] != marked_context:
            marked_context, total = context[m], 0
            stamp += 1
            for j in range(contexts.indptr[marked_context], contexts.indptr[marked_context + 1]):
                if marked[contexts.values[j]] != stamp:
                    marked[contexts.values[j]] = stamp
                    total += 1
        own = 0
        for j in range(names.indptr[m], names.indptr[m + 1]):
            if marked[names.values[j]] == stamp:
                marked[names.values[j]] = -stamp
                own += 1
        for j in range(names.indptr[m], names.indptr[m + 1]):
            if marked[names.values[j]] == -stamp:
                marked[names.values[j]] = stamp
        counts[m] = total - own
    return counts
