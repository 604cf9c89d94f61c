"""Names cut out of their texts."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import U8

PLACES = types.Array(types.int64, 2, "C", readonly=True)
AHEAD = 16  # names
BLANK = 0x20


@kernel(types.Tuple((types.int32[::1], types.uint8[::1], types.boolean))(U8, PLACES))
def cut_out(data, where):
    """The texts that stand between bytes, in Arrow's layout, and whether there is a line break or the like in one.

    Names stand anywhere in the texts: who asks for them early need not wait.
    """
    size = np.int64(0)
    for name in range(len(where)):
        size += where[name, 1] - where[name, 0]
    offsets, out, text = np.zeros(len(where) + 1, np.int32), np.empty(size, np.uint8), pointer(data)
    write, broken = np.int64(0), False
    for name in range(len(where)):
        prefetch(text, where[min(name + AHEAD, len(where) - 1), 0])
        for at in range(where[name, 0], where[name, 1]):
            out[write] = text[at]
            broken |= text[at] < BLANK
            write += 1
        offsets[name + 1] = write
    return offsets, out, broken
