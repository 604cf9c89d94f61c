"""Kernels over the candidates of mentions: the two best, the sum of their pages, and their QIDs."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.types import I32, I64, U8

KEYS = types.Array(types.float64, 2, "C", readonly=True)


@inner(types.boolean(KEYS, types.int64, types.int64))
def beats(keys, one, other):
    """Whether candidate `one` is better than `other`, which has a lower position: at the first key that differs."""
    for k in range(len(keys)):
        if keys[k, one] != keys[k, other]:
            return keys[k, one] > keys[k, other]
    return False


@kernel(types.UniTuple(types.int64[::1], 3)(I64, KEYS))
def top_two(offsets, keys):
    """Best and second candidate of each mention (-1: none), and the key that set them apart.

    The deciding key is `len(keys)` if all tie and the position decides, -1 if there is no second.
    """
    first = np.full(len(offsets) - 1, -1, np.int64)
    second = np.full(len(offsets) - 1, -1, np.int64)
    decided = np.full(len(offsets) - 1, -1, np.int64)
    for m in range(len(first)):
        for k in range(offsets[m], offsets[m + 1]):
            if first[m] < 0 or beats(keys, k, first[m]):
                second[m] = first[m]
                first[m] = k
            elif second[m] < 0 or beats(keys, k, second[m]):
                second[m] = k
        if second[m] >= 0:
            decided[m] = len(keys)
            for key in range(len(keys)):
                if keys[key, first[m]] != keys[key, second[m]]:
                    decided[m] = key
                    break
    return first, second, decided


@kernel(types.float64[::1](I64, I64, I64, I32))
def pages_of_names(offsets, rows, taken, pages):
    """The sum of the pages of each mention's candidates, without the row that is `taken`."""
    total = np.zeros(len(taken))
    for m in range(len(taken)):
        for k in range(offsets[m], offsets[m + 1]):
            if rows[k] >= 0 and rows[k] != taken[m]:
                total[m] += pages[rows[k]]
    return total


@kernel(types.int64[::1](U8, I64))
def parse_qids(data, offsets):
    """The number of each text `Q` + digits in Arrow's layout; -1 if the text is not a QID."""
    out = np.full(len(offsets) - 1, -1, np.int64)
    for i in range(len(out)):
        begin, end = offsets[i], offsets[i + 1]
        if not 2 <= end - begin <= 18 or data[begin] != 81 or data[begin + 1] == 48:
            continue
        number = np.int64(0)
        for at in range(begin + 1, end):
            digit = np.int64(data[at]) - 48
            if not 0 <= digit <= 9:
                number = np.int64(-1)
                break
            number = number * 10 + digit
        out[i] = number
    return out
