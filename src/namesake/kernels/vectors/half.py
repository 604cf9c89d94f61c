"""Half precision, which Numba does not know: 16 bits as they lie on the disk, made 32 wide a row at a time."""

from typing import Any

import numpy as np
from numba import types

from namesake.kernels.compiled import inner

U16 = types.Array(types.uint16, 2, "C", readonly=True)
ROW = types.Array(types.float32, 1, "C")
FAST: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Sums in whatever order is fastest; infinities and NaN never get here."""

SIGN, REST = np.uint32(0x8000), np.uint32(0x7FFF)
REBIAS = np.float32(2.0**112)
"""Between the exponents of the two formats, 15 and 127."""


@inner(types.void(U16, types.int64, ROW))
def widen(vectors, row, wide):
    """Write a row of halves to `wide`, exactly: finite numbers only."""
    bits = wide.view(np.uint32)
    for j in range(len(wide)):
        half = np.uint32(vectors[row, j])
        bits[j] = ((half & SIGN) << np.uint32(16)) | ((half & REST) << np.uint32(13))
    for j in range(len(wide)):
        wide[j] *= REBIAS


@inner(types.float32(ROW, ROW), **FAST)
def dot(one, other):
    """Σ one · other."""
    total = np.float32(0)
    for j in range(len(one)):
        total += one[j] * other[j]
    return total
