"""Years that texts name."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.simd import BYTES, LANES, below, byte, lowest, pointer
from namesake.kernels.text.year_signs import NINE, YEAR_WORDS, ZERO, is_digit, is_year
from namesake.kernels.types import I64, U8

ROOM = 256
FEW = 32
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@inlined(types.int64(BYTES, types.int64, types.int64, types.int64))
def next_digits(text, at, end, last):
    """Where the next four digits in a row, or near the end of the data the next digit, may begin; `end` without one.

    `last` is the last byte from which 64 can be looked at.
    """
    while at < end and at <= last:
        digits = below(text, at, np.uint8(NINE + 1)) & ~below(text, at, np.uint8(ZERO))
        pairs = digits & (digits >> ONE)
        fours = pairs & (pairs >> TWO)
        if fours != NONE:
            return min(at + lowest(fours), end)
        at += LANES - 3
    while at < end and not is_digit(byte(text, at)):
        at += 1
    return at


@inlined(types.void(types.float64[::1], types.int64, types.int64))
def sort_few(numbers, begin, end):
    """Sort numbers[begin:end] in place; most texts name a few years only."""
    if end - begin > FEW:
        numbers[begin:end].sort()
        return
    for k in range(begin + 1, end):
        number, place = numbers[k], k
        while place > begin and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number


@kernel(types.Tuple((types.int64[::1], types.float64[::1]))(U8, I64, YEAR_WORDS))
def years_of(data, offsets, words):
    """The years from 1000 to 2049 that each text names, as ragged rows, ascending."""
    indptr, years = np.zeros(len(offsets), np.int64), np.empty(ROOM, np.float64)
    size, first, last = 0, pointer(data), len(data) - LANES
    for text in range(len(offsets) - 1):
        begin, end = offsets[text], offsets[text + 1]
        at = next_digits(first, begin, end, last)
        while at < end:
            start, year = at, np.int64(0)
            while at < end and is_digit(byte(first, at)):
                year = 10 * year + byte(first, at) - ZERO if at - start < 4 else np.int64(0)
                at += 1
            if at - start == 4 and is_year(first, start, at, begin, end, year, words):
                if size == len(years):
                    grown = np.empty(2 * size, np.float64)
                    for i in range(size):
                        grown[i] = years[i]
                    years = grown
                years[size] = year
                size += 1
            at = next_digits(first, at, end, last)
        sort_few(years, indptr[text], size)
        indptr[text + 1] = size
    return indptr, years[:size].copy()
