"""The best set of spans without overlaps, and means over the spans of mentions."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import F64, I64


@kernel(types.boolean[::1](I64, I64, I64, F64))
def choose(texts, first, end, score):
    """Whether each span belongs to the set with the largest sum of scores in which no two spans overlap.

    The spans of text i are `texts[i]` to `texts[i + 1]`, in the order of their ends. Only spans with positive scores
    are chosen; of two sets with the same sum, the one without the last span.
    """
    chosen = np.zeros(len(first), np.bool_)
    best = np.zeros(len(first) + 1)  # of the spans before this one in its text
    before = np.zeros(len(first), np.int64)
    for text in range(len(texts) - 1):
        low, high = texts[text], texts[text + 1]
        best[low] = 0.0
        for k in range(low, high):
            left, right = low, k  # how many spans end where this one begins, or before
            while left < right:
                middle = (left + right) // 2
                if end[middle] <= first[k]:
                    left = middle + 1
                else:
                    right = middle
            before[k] = left
            best[k + 1] = max(best[k], best[left] + score[k])
        k = high
        while k > low:
            if best[k] > best[k - 1]:
                chosen[k - 1] = True
                k = before[k - 1]
            else:
                k -= 1
    return chosen


@kernel([types.float64[::1](I64, F64), types.float64[::1](I64, types.Array(types.boolean, 1, "C", readonly=True))])
def mean_of_spans(indptr, numbers):
    """The mean of the numbers of each mention's spans, which are `indptr[m]` to `indptr[m + 1]`."""
    means = np.zeros(len(indptr) - 1)
    for m in range(len(means)):
        total = 0.0
        for k in range(indptr[m], indptr[m + 1]):
            total += numbers[k]
        means[m] = total / (indptr[m + 1] - indptr[m])
    return means
