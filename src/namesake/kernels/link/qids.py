"""QIDs between text and number."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import I64, U8


@kernel(types.int64[::1](U8, I64))
def parse_qids(data, offsets):
    """The number of each text `Q` + digits in Arrow's layout; -1 where the text is no QID."""
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


@kernel(types.Tuple((types.int32[::1], types.uint8[::1]))(I64))
def format_qids(numbers):
    """Texts `Q` + digits in Arrow's layout; empty for negative numbers."""
    offsets = np.zeros(len(numbers) + 1, np.int32)
    data = np.empty(20 * len(numbers) + 1, np.uint8)
    digits = np.empty(20, np.uint8)
    size = 0
    for i in range(len(numbers)):
        number = numbers[i]
        if number >= 0:
            count = 0
            while number > 0 or count == 0:
                digits[count] = 48 + number % 10
                number //= 10
                count += 1
            data[size] = 81
            for k in range(count):
                data[size + 1 + k] = digits[count - 1 - k]
            size += count + 1
        offsets[i + 1] = size
    return offsets, data[:size].copy()
