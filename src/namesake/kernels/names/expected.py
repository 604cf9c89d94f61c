"""How often the tokens of a name begin, end, and stand inside people's labels, and how a text uses its words."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import find
from namesake.kernels.names.gather import number_mentions
from namesake.kernels.names.index import token_hashes
from namesake.kernels.names.tokens import AT_START, HAS_CAPITAL
from namesake.kernels.simd import pointer
from namesake.kernels.types import U64

UNASKED = -1.0


@kernel(types.int64[::1](U64, U64))
def slots_of(keys, hashes):
    """The slot of each hash in a table, or the free one where it belongs, in which all counts are 0."""
    slots = np.empty(len(hashes), np.int64)
    for i in range(len(hashes)):
        slots[i] = find(pointer(keys), len(keys) - 1, hashes[i])
    return slots


def count_labels(texts, offsets, keys, begins, inside, ends) -> Any:
    """For each normalised name the labels that begin with its first token, have its rarest middle token, end with its
    last, by the KB's table of tokens and its counts.

    UNASKED for names of one token, and for the middle of names of two.
    """
    indptr = np.zeros(len(offsets), np.int64)
    slots = slots_of(keys, token_hashes(texts, offsets, indptr))
    counts = np.full((3, len(offsets) - 1), UNASKED)
    sizes = np.diff(indptr)
    two, three = sizes > 1, sizes > 2
    counts[0, two], counts[2, two] = begins[slots[indptr[:-1][two]]], ends[slots[indptr[1:][two] - 1]]
    if three.any():
        edges = np.column_stack([indptr[:-1][three] + 1, indptr[1:][three] - 1]).ravel()
        counts[1, three] = np.minimum.reduceat(np.append(inside[slots], 0), edges)[::2]
    return tuple(counts)


class WordCounts(NamedTuple):
    """How the words of each name are used: see `count_words`."""

    first_names: Any
    least_lower: Any
    last_lower: Any
    lower_in_text: Any
    capital_in_text: Any


def count_words(texts, first, end, keys, begins, lower) -> WordCounts:
    """The uses of the words of names, which are the tokens first to end.

    Labels of people that begin with the first word; how often the KB's descriptions have the words in lower
    case, at least and the last one; how often the text has a name of one word in lower case, and how often it has the
    first word with a capital inside a sentence.
    """
    if not len(first):
        return WordCounts(*(np.zeros(0),) * 3, *(np.zeros(0, np.int64),) * 2)
    group, _ = number_mentions(texts.indptr, texts.hashes)
    is_lower = texts.marks & HAS_CAPITAL == 0
    small = np.bincount(group, is_lower)[group[first]]
    inside = np.bincount(group, ~is_lower & (texts.marks & AT_START == 0))[group[first]]
    slots, last = slots_of(keys, texts.hashes[first]), lower[slots_of(keys, texts.hashes[end - 1])]
    sizes = end - first
    token = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    least = np.minimum.reduceat(lower[slots_of(keys, texts.hashes[token])], np.cumsum(sizes) - sizes)
    of_kb = (column.astype(np.float64) for column in (begins[slots], least, last))
    return WordCounts(*of_kb, *(np.int32(count) for count in (np.where(sizes == 1, small, 0), inside)))
