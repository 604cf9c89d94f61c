"""How often the tokens of a name begin, end, and stand inside people's labels, and how descriptions use them."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import find
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, U64

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
    """How the KB uses the words of each name: see `count_words`."""

    first_names: Any
    least_lower: Any


@kernel(types.NamedUniTuple(COUNTS, 2, WordCounts)(types.uint64[::1], I64, I64, U64, I32, I32))
def count_words(hashes, first, end, keys, begins, lower):
    """The uses of the words of names, which are the tokens first to end, in the KB.

    Labels of people that begin with the first word; how often descriptions have the rarest word in lower case.
    """
    names, least = np.zeros(len(first)), np.zeros(len(first))
    table, mask = pointer(keys), len(keys) - 1
    for m in range(len(first)):
        known = find(table, mask, hashes[first[m]])
        names[m], least[m] = begins[known], lower[known]
        for i in range(first[m] + 1, end[m]):
            least[m] = min(least[m], lower[find(table, mask, hashes[i])])
    return WordCounts(names, least)
