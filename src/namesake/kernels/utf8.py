"""UTF-8."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.types import U8


@inner(types.Tuple((types.int64, types.int64))(U8, types.int64, types.int64))
def code_point(data, at, end):
    """The character at byte `at` and its bytes; (-1, 1) where the bytes are no UTF-8."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, np.int64(1)
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or at + size > end:
        return np.int64(-1), np.int64(1)
    point = first & (0x7F >> size)
    for i in range(at + 1, at + size):
        byte = np.int64(data[i])
        if byte & 0xC0 != 0x80:
            return np.int64(-1), np.int64(1)
        point = point << 6 | byte & 0x3F
    return point, np.int64(size)
