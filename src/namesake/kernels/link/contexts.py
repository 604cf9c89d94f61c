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


@inlined(types.int64(types.uint64[::1], types.int64, types.int64))
def merge(runs, first, end):
    """Make runs[first:end], each with its beginning in the high bits, ascending and disjoint; return the new end."""
    sort_range(runs, first, end)
    last = first
    for k in range(first + 1, end):
        if runs[k] >> HALF <= runs[last] & LOW_HALF:
            runs[last] = runs[last] >> HALF << HALF | max(runs[last] & LOW_HALF, runs[k] & LOW_HALF)
        else:
            last += 1
            runs[last] = runs[k]
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
    run_indptr, runs = np.zeros(len(article) + 1, np.int64), np.empty(len(spans), np.uint64)
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
                stop = words[after] if after < last else indptr[a + 1]
                runs[end] = np.uint64(words[s]) << HALF | np.uint64(stop)
                end += 1
        end = merge(runs, begin, end)
        before = run_indptr[count - 1] if count > 0 else 0
        shared = count > 0 and article[m - 1] == a and begin - before == end - begin
        for k in range(end - begin if shared else 0):
            shared = shared and runs[before + k] == runs[begin + k]
        if not shared:
            count += 1
            run_indptr[count] = end
        context[m] = count - 1
    ends = np.empty((run_indptr[count], 2), np.int64)
    for k in range(len(ends)):
        ends[k, 0], ends[k, 1] = runs[k] >> HALF, runs[k] & LOW_HALF
    return context, run_indptr[: count + 1].copy(), ends


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
