"""How often the tokens of a name begin, end, and stand inside people's labels, and how a text uses its words."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, find
from namesake.kernels.names.lattice import Texts
from namesake.kernels.names.tokens import AT_START, HAS_CAPITAL
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, U64, record

UNASKED = -1.0
COUNTS = types.float64[::1]


@kernel(types.UniTuple(COUNTS, 3)(U64, I64, U64, I32, I32, I32))
def count_labels(hashes, indptr, keys, begins, inside, ends):
    """For each name the labels that begin with its first token, have its rarest middle token, end with its last.

    The tokens of name i have the hashes `indptr[i]` to `indptr[i + 1]`; `keys` is the KB's table of tokens, with
    counts. UNASKED for names of one token, and for the middle of names of two.
    """
    first, middle = np.full(len(indptr) - 1, UNASKED), np.full(len(indptr) - 1, UNASKED)
    last, table, mask = np.full(len(indptr) - 1, UNASKED), pointer(keys), len(keys) - 1
    for name in range(len(first)):
        low, high = indptr[name], indptr[name + 1] - 1
        if low < high:
            first[name] = begins[find(table, mask, hashes[low])]
            last[name] = ends[find(table, mask, hashes[high])]
        for i in range(low + 1, high):
            count = inside[find(table, mask, hashes[i])]
            middle[name] = count if i == low + 1 else min(middle[name], count)
    return first, middle, last


class WordCounts(NamedTuple):
    """How the words of each name are used: see `count_words`."""

    first_names: Any
    least_lower: Any
    last_lower: Any
    lower_in_text: Any
    capital_in_text: Any


@kernel(types.NamedUniTuple(COUNTS, 5, WordCounts)(record(Texts), I64, I64, U64, I32, I32))
def count_words(texts, first, end, keys, begins, lower):
    """The uses of the words of names, which are the tokens first to end, in the order of their texts.

    Labels of people that begin with the first word; how often the KB's descriptions have the words in lower
    case, at least and the last one; how often the text has a name of one word in lower case, and how often it has the
    first word with a capital inside a sentence.
    """
    names, least, last = np.zeros(len(first)), np.zeros(len(first)), np.zeros(len(first))
    small, inside, place = np.zeros(len(first)), np.zeros(len(first)), np.empty(len(first), np.int64)
    hashes, marks, room, low = texts.hashes, texts.marks, 8, 0
    for text in range(len(texts.indptr) - 1):
        high = low
        while high < len(first) and first[high] < texts.indptr[text + 1]:
            high += 1
        while room < 4 * (high - low):
            room *= 2
        low = high
    low = 0
    table, owner, of_kb, mask = np.zeros(room, np.uint64), np.empty(room, np.int64), pointer(keys), len(keys) - 1
    for text in range(len(texts.indptr) - 1):
        high = low
        while high < len(first) and first[high] < texts.indptr[text + 1]:
            slot = find(pointer(table), room - 1, hashes[first[high]])
            if table[slot] == FREE:
                table[slot], owner[slot] = hashes[first[high]], high
            place[high] = slot
            high += 1
        for i in range(texts.indptr[text], texts.indptr[text + 1] if high > low else 0):
            slot = find(pointer(table), room - 1, hashes[i])
            if table[slot] != FREE:
                small[owner[slot]] += marks[i] & HAS_CAPITAL == 0
                inside[owner[slot]] += marks[i] & (HAS_CAPITAL | AT_START) == HAS_CAPITAL
        for m in range(high - 1, low - 1, -1):
            known = find(of_kb, mask, hashes[first[m]])
            names[m], least[m], last[m] = begins[known], lower[known], lower[known]
            for i in range(first[m] + 1, end[m]):
                last[m] = lower[find(of_kb, mask, hashes[i])]
                least[m] = min(least[m], last[m])
            inside[m], small[m] = inside[owner[place[m]]], small[owner[place[m]]]
            table[place[m]] = FREE
        for m in range(low, high):
            small[m] = small[m] if end[m] - first[m] == 1 else 0.0
        low = high
    return WordCounts(names, least, last, small, inside)
