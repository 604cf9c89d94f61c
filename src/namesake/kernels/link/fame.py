"""How famous all who bear a name are together."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import I32, I64


@kernel(types.float64[::1](I64, I64, I64, I32))
def pages_of_names(offsets, rows, taken, pages):
    """The pages of the candidates of each mention, less those of the row that is `taken`."""
    total = np.zeros(len(taken))
    for m in range(len(taken)):
        for k in range(offsets[m], offsets[m + 1]):
            if rows[k] >= 0 and rows[k] != taken[m]:
                total[m] += pages[rows[k]]
    return total
