"""Words that an entity shares with a text: weighted sums, and what chance gives an entity with as many words."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.link.contexts import RUNS, occurrences, occurs
from namesake.kernels.simd import NUMBERS, pointer, prefetch
from namesake.kernels.types import F64, I64, RAGGED

COUNTS = types.float64[::1]


MARKED_AT_ONCE = 8
"""How often the words of a text are marked, mention by mention, before they are looked up instead."""


@kernel(COUNTS(F64, RAGGED, I64, RUNS, I64, RAGGED, I64, I64, RAGGED))
def overlap(weight, texts, article, contexts, context, names, offsets, rows, entities):
    """Σ weight[w] over W_context ∩ W_entity for every candidate, the words of the mention's own name left out.

    Mention m is in text `article[m]` and reads row `context[m]` of the contexts, which are runs of the texts' words;
    its name has row m of the names' words, and its candidates are the rows `rows[offsets[m]:offsets[m + 1]]` of the
    entities' words (-1: unknown, scores 0), which are unique within a row. Mentions that share a context stand
    together. The words of a context are marked; where contexts overlap, all of that would be quadratic, so after some
    of it the candidates' words are looked up in the text.
    """
    words = texts.values
    name_indptr, name_words = names
    entity_indptr, entity_words = entities
    score = np.zeros(len(rows))
    marked = np.zeros(len(weight), np.int32)
    keys = np.zeros(0, np.uint64)
    stamp, marked_context, text, indexed, left = np.int32(0), np.int64(-1), np.int64(-1), np.int64(-1), np.int64(0)
    for m in range(len(offsets) - 1):
        first, last, c = offsets[m], offsets[m + 1], context[m]
        if first == last:
            continue
        if article[m] != text:
            text, marked_context = article[m], np.int64(-1)
            left = MARKED_AT_ONCE * (texts.indptr[text + 1] - texts.indptr[text])
        looked_up = c != marked_context and left <= 0
        if looked_up:
            stamp, marked_context = np.int32(stamp + 1), np.int64(-1)
            if indexed != text:
                keys, indexed = occurrences(texts, text), text
        elif c != marked_context:
            stamp, marked_context = np.int32(stamp + 1), c
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


LINE = 16  # numbers of 32 bits in a line of the processor's cache
AHEAD = 8  # candidates
AT_ONCE = 64  # words of a candidate
WORDS, WEIGHTS = types.CPointer(types.int32), types.CPointer(types.float64)
MARKS, NEW = types.int32[::1], types.float64[::1]
INSIDE, OUTSIDE, NEXT = 1, 2, 3
"""Added to a text's mark: for words of a name in the text, for those not in the text, and for the next text."""


@inlined(types.void(NUMBERS, types.CPointer(types.int32), types.int64, types.int64))
def fetch_row(indptr, values, soon, later):
    """Prefetch the values of the row `soon`, and the offset of the row `later`."""
    begin = indptr[max(soon, 0)]
    prefetch(values, begin)
    prefetch(values, begin + LINE)
    prefetch(indptr, later)


class Beyond(NamedTuple):
    """What candidates share with their texts and with the sentences of the name, and what chance gives.

    Then how many words of their labels are in the text, and how many are missing, beyond as many as the name has.
    """

    shared: Any
    chance: Any
    near_shared: Any
    near_chance: Any
    label: Any
    label_missing: Any


@inlined(types.float64(*(MARKS, types.int32, WORDS, types.int64, types.int64, WEIGHTS, types.float64)))
def mark(marked, stamp, words, begin, end, expected, total):
    """Mark words[begin:end]; return `total` plus the expected weights of those that were unmarked.

    It has no branch, because branch prediction fails here.
    """
    for j in range(begin, end):
        word = np.uint32(words[j])
        weighs, new = expected[word], marked[word] != stamp
        marked[word] = stamp
        total += weighs if new else 0.0
    return total


@kernel(NEW(RAGGED, types.int64))
def distinct_words(texts, vocabulary):
    """The number of distinct words of each text; `vocabulary` is the number of all words."""
    counts, marked = np.zeros(len(texts.indptr) - 1), np.full(vocabulary, -1, np.int32)
    for text in range(len(counts)):
        for j in range(texts.indptr[text], texts.indptr[text + 1]):
            counts[text] += marked[texts.values[j]] != text
            marked[texts.values[j]] = text
    return counts


@kernel(types.NamedUniTuple(NEW, 6, Beyond)(F64, F64, RAGGED, I64, RUNS, I64, RAGGED, I64, I64, RAGGED, I64, RAGGED))
def overlap_and_chance(
    weight, expected, texts, article, contexts, context, names, offsets, rows, entities, items, labels
):
    """For every candidate Σ weight[w] over W_text ∩ W_entity, and |W_entity| Σ expected[w] over W_text.

    The same for the mention's context, which is part of the text. `expected[w]` is the expected weight of one word of a
    random entity by being w. The words of the mention's own name do not count. For the arrays see `overlap`.
    Candidate k has the row `items[k]` of the labels' words (-1: no label). Once the words of a text have been marked
    MARKED_AT_ONCE times, the context of its other mentions is the whole text, because more marking would take quadratic
    time.
    """
    words, weight_at, expected_at = pointer(texts.values), pointer(weight), pointer(expected)
    indptr_at, words_at = pointer(entities.indptr), pointer(entities.values)
    label_indptr, label_words = pointer(labels.indptr), pointer(labels.values)
    shared, chance = np.zeros(len(rows)), np.zeros(len(rows))
    near_shared, near_chance = np.zeros(len(rows)), np.zeros(len(rows))
    label, missing = np.zeros(len(rows)), np.zeros(len(rows))
    marked, near = np.zeros(len(weight), np.int32), np.zeros(len(weight), np.int32)
    hits = np.empty(AT_ONCE, np.uint32)
    stamp, near_stamp, text, near_context = np.int32(0), np.int32(0), np.int64(-1), np.int64(-1)
    left, total, near_total = np.int64(0), 0.0, 0.0
    for m in range(len(article)):
        if article[m] != text:
            text, near_context, stamp = article[m], np.int64(-1), np.int32(stamp + NEXT)
            begin, end = texts.indptr[text], texts.indptr[text + 1]
            total = mark(marked, stamp, words, begin, end, expected_at, 0.0)
            left = MARKED_AT_ONCE * (end - begin)
        first, last, c = offsets[m], offsets[m + 1], context[m]
        whole = c != near_context and left <= 0
        if whole:
            near_context = np.int64(-1)
        elif first < last and c != near_context:
            near_context, near_stamp, near_total = c, np.int32(near_stamp + 1), 0.0
            for run in range(contexts.indptr[c], contexts.indptr[c + 1]):
                begin, end = contexts.runs[run, 0], contexts.runs[run, 1]
                near_total = mark(near, near_stamp, words, begin, end, expected_at, near_total)
                left -= end - begin
        rest, near_rest = total, near_total
        for j in range(names.indptr[m], names.indptr[m + 1]):
            word = np.uint32(names.values[j])
            if marked[word] == stamp:
                rest -= expected_at[word]
                near_rest -= expected_at[word] if near[word] == near_stamp else 0.0
                marked[word] = stamp + INSIDE
            elif marked[word] != stamp + INSIDE:
                marked[word] = stamp + OUTSIDE
        name_size, near_rest = names.indptr[m + 1] - names.indptr[m], max(rest if whole else near_rest, 0.0)
        rest = max(rest, 0.0)
        for k in range(first, last):
            if k + 2 * AHEAD < len(rows):
                fetch_row(indptr_at, words_at, rows[k + AHEAD], rows[k + 2 * AHEAD])
                fetch_row(label_indptr, label_words, items[k + AHEAD], items[k + 2 * AHEAD])
            if items[k] >= 0:
                begin, end = label_indptr[items[k]], label_indptr[items[k] + 1]
                for j in range(begin, end):
                    label[k] += marked[np.uint32(label_words[j])] == stamp
                missing[k] = max(max(end - begin - name_size, 0) - label[k], 0.0)
            if rows[k] < 0:
                continue
            begin, end = indptr_at[rows[k]], indptr_at[rows[k] + 1]
            size, weighs, near_weighs = end - begin, 0.0, 0.0
            while begin < end:
                count = 0
                for j in range(begin, min(begin + AT_ONCE, end)):
                    hits[np.uint64(count)] = words_at[j]
                    count += marked[np.uint32(words_at[j])] >= stamp
                for hit in range(count):
                    word = hits[np.uint64(hit)]
                    if marked[word] == stamp:
                        weighs += weight_at[word]
                        near_weighs += weight_at[word] if near[word] == near_stamp else 0.0
                    else:
                        size -= 1
                begin += AT_ONCE
            shared[k], chance[k] = weighs, size * rest
            near_shared[k], near_chance[k] = weighs if whole else near_weighs, size * near_rest
        for j in range(names.indptr[m], names.indptr[m + 1]):
            word = np.uint32(names.values[j])
            if marked[word] == stamp + INSIDE:
                marked[word] = stamp
            elif marked[word] == stamp + OUTSIDE:
                marked[word] = 0
    return Beyond(shared, chance, near_shared, near_chance, label, missing)
