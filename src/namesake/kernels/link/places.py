"""Places among ascending numbers, found by counting sixteen at once: which way a search goes is anybody's guess."""

import numpy as np
from numba import config, types
from numba.core.cgutils import ir
from numba.extending import intrinsic

from namesake.kernels.compiled import inlined
from namesake.kernels.hash import ONE
from namesake.kernels.simd import ones

NUMBERS = types.CPointer(types.int32)
AT_ONCE = 16
FEW = 96
"""How many numbers are counted rather than searched."""
NEAR = 32
"""How far it is mostly from the beginning of a sentence to its end, in words."""


@intrinsic
def _below(typing, numbers, position, wanted):
    """A mask of the AT_ONCE numbers from numbers[position] on, set where one is below `wanted`."""

    def generate(context, builder, signature, arguments):
        numbers, position, wanted = arguments
        block = ir.VectorType(ir.IntType(32), AT_ONCE)
        place = builder.bitcast(builder.gep(numbers, [position]), block.as_pointer())
        first = builder.insert_element(ir.Constant(block, ir.Undefined), wanted, ir.Constant(ir.IntType(32), 0))
        everywhere = builder.shuffle_vector(first, first, ir.Constant(block, [0] * AT_ONCE))
        lower = builder.icmp_signed("<", builder.load(place, align=4), everywhere)
        return builder.zext(builder.bitcast(lower, ir.IntType(AT_ONCE)), ir.IntType(64))

    return types.uint64(NUMBERS, types.int64, types.int32), generate


if config.DISABLE_JIT:

    def below(numbers, position, wanted):
        """See _below."""
        block = numbers[position : position + AT_ONCE]
        if position < 0 or len(block) < AT_ONCE:
            raise IndexError(f"{AT_ONCE} numbers at {position} of {len(numbers)}")
        return np.uint64(sum(1 << k for k in range(AT_ONCE) if block[k] < wanted))

else:
    below = _below


@inlined(types.int64(NUMBERS, types.int64, types.int64, types.int64, types.int32))
def first_of_few(ascending, size, low, high, wanted):
    """The first of ascending[low:high] that is not below `wanted`; `high` where there is none.

    `size` is how many numbers there are in all. The search is narrowed down to FEW, and those are counted.
    """
    while high - low > FEW:
        middle = (low + high) >> 1
        if ascending[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    found, at = low, low
    while at + AT_ONCE <= high:
        found += ones(below(ascending, at, wanted))
        at += AT_ONCE
    if at + AT_ONCE <= size:
        return found + ones(below(ascending, at, wanted) & ((ONE << np.uint64(high - at)) - ONE))
    for behind in range(at, high):
        found += np.int64(ascending[behind] < wanted)
    return found


@inlined(types.int64(NUMBERS, types.int64, types.int64, types.int64, types.int32))
def first_from(ascending, size, low, high, wanted):
    """`first_of_few`, for what is likely to stand near `low`."""
    near = low + NEAR
    if near >= high:
        return first_of_few(ascending, size, low, high, wanted)
    if ascending[near] < wanted:
        return first_of_few(ascending, size, near + 1, high, wanted)
    return first_of_few(ascending, size, low, near, wanted)
