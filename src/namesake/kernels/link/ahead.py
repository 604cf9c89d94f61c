"""Asking early for what the KB holds of candidates: they lie anywhere in it, and who asks early need not wait."""

from numba import types

from namesake.kernels.compiled import inlined
from namesake.kernels.simd import NUMBERS, prefetch

LINE = 16  # numbers of 32 bits in a line of the processor's cache
AHEAD = 8  # candidates


@inlined(types.void(NUMBERS, types.CPointer(types.int32), types.int64, types.int64))
def fetch_row(indptr, values, soon, later):
    """Ask for the values of the row that comes soon, and for where those of a later one begin."""
    begin = indptr[max(soon, 0)]
    prefetch(values, begin)
    prefetch(values, begin + LINE)
    prefetch(indptr, later)
