"""Instructions that Numba does not offer: vector comparisons of 64 bytes, counts of bits, prefetching, bare pointers.

A mask has bit i set if byte `position + i` fits. Callers own 64 spare bytes after the last position that they ask for.
Kernels that call each other millions of times a second pass bare pointers, because Numba would count the references to
an array, with an atomic instruction, at every call.
"""

from functools import wraps
from operator import eq, gt, lt

import numpy as np
from numba import config, types
from numba.core.cgutils import get_or_insert_function, ir
from numba.extending import intrinsic

from namesake.kernels.compiled import inlined

LANES = 64
FOUR, MANY = 4, 24  # numbers of 64 bits that are compared at once
BYTES = types.CPointer(types.uint8)
NUMBERS = types.CPointer(types.int64)
BYTE, NUMBER, MASK = types.uint8, types.int64, types.uint64
OCTET, SHORT, LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def _instruction(signature, plain):
    """Declare an instruction: the function writes its LLVM code, and `plain` computes the same if the JIT is off."""

    def declare(write):
        if config.DISABLE_JIT:
            return plain

        @intrinsic
        @wraps(write)  # Numba reads the names of the arguments
        def typed(typing, *given):
            return signature, lambda context, builder, signature, arguments: write(builder, *arguments)

        return typed

    return declare


def _load(builder, data, position, kind):
    """Load a value of LLVM type `kind` at data[position], whatever its alignment."""
    return builder.load(builder.bitcast(builder.gep(data, [position]), kind.as_pointer()), align=1)


def _block(builder, data, position, folded=0):
    """The 64 bytes from data[position] on, with the bits of `folded` set in each."""
    lanes = ir.VectorType(OCTET, LANES)
    return builder.or_(_load(builder, data, position, lanes), ir.Constant(lanes, [folded] * LANES))


def _repeated(builder, value, lanes=LANES):
    """A vector of one number."""
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(SHORT, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(SHORT, lanes), [0] * lanes))


def _mask(builder, compare, block, value):
    """The bits for which a byte of the block compares true with a value."""
    return builder.bitcast(builder.icmp_unsigned(compare, block, _repeated(builder, value)), LONG)


def _compared(builder, compare, numbers, position, wanted, lanes):
    """The bits for which one of the numbers from `position` on compares true with the wanted one."""
    block = _load(builder, numbers, position, ir.VectorType(wanted.type, lanes))
    fits = builder.icmp_signed(compare, block, _repeated(builder, wanted, lanes))
    return builder.zext(builder.bitcast(fits, ir.IntType(lanes)), LONG)


def _plain_mask(fits):
    return np.uint64(int.from_bytes(np.packbits(fits, bitorder="little").tobytes(), "little"))


def _plain_block(data, position, size=LANES):
    block = data[position : position + size]
    if position < 0 or len(block) < size:
        raise IndexError(f"{size} places at {position} of {len(data)}")
    return block


# 64 bytes at once
def _comparison(compare, plain, folded=0):
    """An instruction: the mask of the bytes that compare true with a value, once the bits of `folded` are set."""

    @_instruction(
        MASK(BYTES, NUMBER, BYTE), lambda data, at, value: _plain_mask(plain(_plain_block(data, at) | folded, value))
    )
    def compared(builder, data, position, value):
        return _mask(builder, compare, _block(builder, data, position, folded), value)

    return compared


def _range(folded=0):
    """An instruction: the mask of the bytes that are one of `count` from `first` on, `folded` as above."""

    @_instruction(
        MASK(BYTES, NUMBER, BYTE, BYTE),
        lambda data, at, first, count: _plain_mask((_plain_block(data, at) | folded) - np.uint8(first) < count),
    )
    def within(builder, data, position, first, count):
        block = builder.sub(_block(builder, data, position, folded), _repeated(builder, first))
        return _mask(builder, "<", block, count)

    return within


equal, below, equal_folded = _comparison("==", eq), _comparison("<", lt), _comparison("==", eq, 0x20)
"""`equal_folded` takes `[` for `{` and `]` for `}`."""
among, among_folded = _range(), _range(0x20)
"""`among_folded(…, ord("a"), 26)` finds letters."""


# several numbers at once
@_instruction(
    MASK(types.CPointer(MASK), NUMBER, MASK), lambda data, at, value: _plain_mask(_plain_block(data, at, FOUR) == value)
)
def four_equal(builder, numbers, position, wanted):
    """Mask of the FOUR numbers of 64 bits that are `wanted`."""
    return _compared(builder, "==", numbers, position, wanted, FOUR)


def _comparison_of_many(compare, plain):
    """An instruction: the mask of the MANY numbers of 64 bits that compare true with the wanted one."""

    @_instruction(
        MASK(NUMBERS, NUMBER, NUMBER), lambda data, at, value: _plain_mask(plain(_plain_block(data, at, MANY), value))
    )
    def compared(builder, numbers, position, wanted):
        return _compared(builder, compare, numbers, position, wanted, MANY)

    return compared


many_equal, many_above = _comparison_of_many("==", eq), _comparison_of_many(">", gt)


# bits
@_instruction(NUMBER(MASK), lambda mask: ((int(mask) & -int(mask)).bit_length() - 1) % 65)
def lowest(builder, mask):
    """Position of the lowest set bit; 64 if there is none."""
    return builder.cttz(mask, ir.Constant(ir.IntType(1), 0))


@_instruction(NUMBER(MASK), lambda mask: int(mask).bit_length())
def width(builder, mask):
    """The number of bits up to the highest that is set; 0 if there is none."""
    return builder.sub(ir.Constant(LONG, 64), builder.ctlz(mask, ir.Constant(ir.IntType(1), 0)))


@_instruction(NUMBER(MASK), lambda mask: int(mask).bit_count())
def ones(builder, mask):
    """The number of bits that are set."""
    return builder.ctpop(mask)


@_instruction(MASK(MASK), lambda mask: np.uint64(int(mask) & (int(mask) - 1)))
def without_lowest(builder, mask):
    """The mask without its lowest set bit."""
    return builder.and_(mask, builder.sub(mask, ir.Constant(LONG, 1)))


@inlined(MASK(NUMBER))
def first_bits(count):
    """A mask of the lowest `count` bits; all of them if there are not so many."""
    return ~np.uint64(0) if count >= LANES else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


# memory
@_instruction(NUMBER(BYTES, NUMBER), lambda data, at: int(_plain_block(data, at, 1)[0]))
def byte(builder, data, position):
    """data[position] as int64."""
    return builder.zext(_load(builder, data, position, OCTET), LONG)


@_instruction(
    MASK(BYTES, NUMBER), lambda data, at: np.uint64(int.from_bytes(_plain_block(data, at, 8).tobytes(), "little"))
)
def word(builder, data, position):
    """The eight bytes at position as one little-endian number."""
    return _load(builder, data, position, LONG)


@intrinsic
def _pointer(typing, array):
    """The address of an array. Its caller keeps the array alive: Numba frees it after the last line that names it."""

    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _prefetch(typing, array, position):
    """Load the cache line of array[position] without waiting for it."""

    def generate(context, builder, signature, arguments):
        address = OCTET.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address, SHORT, SHORT, SHORT])
        ask = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, keep, as_data = (ir.Constant(SHORT, value) for value in (0, 3, 1))
        builder.call(ask, [builder.bitcast(builder.gep(arguments[0], [arguments[1]]), address), to_read, keep, as_data])
        return context.get_dummy_value()

    return types.void(array, NUMBER), generate


pointer = (lambda array: array) if config.DISABLE_JIT else _pointer
prefetch = (lambda array, position: None) if config.DISABLE_JIT else _prefetch
