"""Types of the arrays that kernels only read: memory-mapped columns are read-only, and anything may pass as such."""

from numba import types

U8 = types.Array(types.uint8, 1, "C", readonly=True)
I32 = types.Array(types.int32, 1, "C", readonly=True)
I64 = types.Array(types.int64, 1, "C", readonly=True)
F64 = types.Array(types.float64, 1, "C", readonly=True)
PAIRS = types.Array(types.int32, 2, "C", readonly=True)
U64 = types.Array(types.uint64, 1, "C", readonly=True)
