"""Years that texts name, and how far a life lies from them."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.types import F64, I64, U8

ZERO, NINE = 0x30, 0x39
FIRST_YEAR, LAST_YEAR = 1000, 2049
ROOM = 256


@inlined(types.boolean(types.uint8))
def is_digit(byte):
    """Whether a byte is a digit."""
    return byte >= ZERO and byte <= NINE


@kernel(types.Tuple((types.int64[::1], types.float64[::1]))(U8, I64))
def years_of(data, offsets):
    """The numbers of four digits from 1000 to 2049 in each text, as ragged rows, ascending."""
    indptr, years = np.zeros(len(offsets), np.int64), np.empty(ROOM, np.float64)
    size = 0
    for text in range(len(offsets) - 1):
        at, end = offsets[text] + 3, offsets[text + 1]
        while at < end:  # of four digits in a row every fourth byte meets one
            if not is_digit(data[at]):
                at += 4
                continue
            start = at
            while start > offsets[text] and is_digit(data[start - 1]):
                start -= 1
            while at < end and is_digit(data[at]):
                at += 1
            if at - start == 4:
                year = np.int64(0)
                for k in range(start, at):
                    year = 10 * year + np.int64(data[k]) - ZERO
                if year >= FIRST_YEAR and year <= LAST_YEAR:
                    if size == len(years):
                        grown = np.empty(2 * size, np.float64)
                        grown[:size] = years
                        years = grown
                    years[size] = year
                    size += 1
            at += 4
        years[indptr[text] : size].sort()
        indptr[text + 1] = size
    return indptr, years[:size].copy()


@kernel(types.float64[::1](I64, I64, I64, F64, F64, F64, F64, types.float64))
def years_apart(article, offsets, indptr, years, dated, low, high, now):
    """Years between the life of each candidate, `low` to `high`, and the nearest year of its article.

    An article has the years that its text names and that of its date (NaN without one), or `now` if it has neither.
    """
    gap = np.zeros(len(low))
    for m in range(len(offsets) - 1):
        a = article[m]
        for k in range(offsets[m], offsets[m + 1]):
            nearest = np.inf
            if not np.isnan(dated[a]):
                nearest = max(0.0, dated[a] - high[k], low[k] - dated[a])
            after = indptr[a] + np.searchsorted(years[indptr[a] : indptr[a + 1]], low[k])
            if after < indptr[a + 1]:
                nearest = min(nearest, max(0.0, years[after] - high[k]))
            if after > indptr[a]:
                nearest = min(nearest, low[k] - years[after - 1])
            gap[k] = nearest if nearest < np.inf else max(0.0, now - high[k], low[k] - now)
    return gap
