"""The words near a name: runs of words, computed once for all names that share them."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import HALF, LOW_HALF
from namesake.kernels.search import first_at_least, sort_range
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, PAIRS, RAGGED, U64, record

LONG_PAIRS = types.Array(types.int64, 2, "C", readonly=True)


class Runs(NamedTuple):
    """Contexts as positions of words: context i is the runs [begin, end) `runs[indptr[i]:indptr[i + 1]]`."""

    indptr: Annotated[Any, I64]
    runs: Annotated[Any, LONG_PAIRS]


RUNS = record(Runs)


@inlined(types.int64[::1](I64, I32, I64, I32))
def sentence_words(indptr, starts, sentence_indptr, sentences):
    """The first word of each sentence: the number of words before it."""
    words, word = np.empty(len(sentences), np.int64), 0
    for a in range(len(indptr) - 1):
        word = indptr[a]
        for s in range(sentence_indptr[a], sentence_indptr[a + 1]):
            while word < indptr[a + 1] and starts[word] < sentences[s]:
                word += 1
            words[s] = word
    return words


@inner(types.void(types.int64[:, ::1], types.int64, types.int64))
def sort_runs(runs, first, end):
    """Sort runs[first:end] by where they begin, then by where they end; both have at most 32 bits."""
    keys = np.empty(end - first, np.uint64)
    for k in range(first, end):
        keys[k - first] = np.uint64(runs[k, 0]) << HALF | np.uint64(runs[k, 1])
    sort_range(keys, 0, len(keys))
    for k in range(first, end):
        runs[k, 0], runs[k, 1] = np.int64(keys[k - first] >> HALF), np.int64(keys[k - first] & LOW_HALF)


@inlined(types.int64(types.int64[:, ::1], types.int64, types.int64))
def merge(runs, first, end):
    """Make runs[first:end] ascending and disjoint, and return where they end now."""
    for k in range(first + 1, end):
        if runs[k, 0] < runs[k - 1, 0]:
            sort_runs(runs, first, end)
            break
    last = first
    for k in range(first + 1, end):
        if runs[k, 0] <= runs[last, 1]:
            runs[last, 1] = max(runs[last, 1], runs[k, 1])
        else:
            last += 1
            runs[last, 0], runs[last, 1] = runs[k, 0], runs[k, 1]
    return min(last + 1, end)


@kernel(
    types.Tuple((types.int64[::1], types.int64[::1], types.int64[:, ::1]))(I64, I32, I64, I32, I64, I64, PAIRS),
)
def narrow_contexts(indptr, starts, sentence_indptr, sentences, article, span_indptr, spans):
    """The sentences that contain a span of a mention: the context of each mention, and all contexts as `Runs`.

    Text a has words `indptr[a]` to `indptr[a + 1]` at ascending bytes `starts` and sentences that begin at bytes
    `sentences[sentence_indptr[a]:sentence_indptr[a + 1]]`; mention m is in text `article[m]` at the byte spans
    `spans[span_indptr[m]:span_indptr[m + 1]]`. Mentions one after the other with the same sentences share a context.
    """
    context = np.empty(len(article), np.int64)
    run_indptr, runs = np.zeros(len(article) + 1, np.int64), np.empty((len(spans), 2), np.int64)
    words, sentence_at, count = sentence_words(indptr, starts, sentence_indptr, sentences), pointer(sentences), 0
    for m in range(len(article)):
        a = article[m]
        first, last = sentence_indptr[a], sentence_indptr[a + 1]
        begin = end = run_indptr[count]
        for k in range(span_indptr[m], span_indptr[m + 1]):
            s = max(first_at_least(sentence_at, first, last, spans[k, 0] + 1) - 1, first)
            after = s
            while after < last and sentence_at[after] < spans[k, 1]:
                after += 1
            if after > s:
                runs[end, 0], runs[end, 1] = words[s], words[after] if after < last else indptr[a + 1]
                end += 1
        end = merge(runs, begin, end)
        before = run_indptr[count - 1] if count > 0 else 0
        shared = count > 0 and article[m - 1] == a and begin - before == end - begin
        for k in range(end - begin if shared else 0):
            shared = shared and runs[before + k, 0] == runs[begin + k, 0] and runs[before + k, 1] == runs[begin + k, 1]
        if not shared:
            count += 1
            run_indptr[count] = end
        context[m] = count - 1
    return context, run_indptr[: count + 1].copy(), runs[: run_indptr[count]].copy()


@inner(types.uint64[::1](RAGGED, types.int64))
def occurrences(texts, text):
    """The words of a text, each with its position in the low bits, ascending, for binary search."""
    begin, end = texts.indptr[text], texts.indptr[text + 1]
    keys = np.empty(end - begin, np.uint64)
    for place in range(begin, end):
        keys[place - begin] = np.uint64(texts.values[place]) << np.uint64(32) | np.uint64(place - begin)
    sort_range(keys, 0, len(keys))
    return keys


@inlined(types.boolean(U64, types.int64, RUNS, types.int64, types.int64))
def occurs(keys, begin, contexts, context, word):
    """Whether a context contains a word; `keys` are the occurrences in the text, whose words begin at `begin`."""
    high = np.uint64(word) << np.uint64(32)
    for k in range(contexts.indptr[context], contexts.indptr[context + 1]):
        at = first_at_least(keys, 0, len(keys), high | np.uint64(contexts.runs[k, 0] - begin))
        if at < len(keys) and keys[at] < high | np.uint64(contexts.runs[k, 1] - begin):
            return True
    return False
