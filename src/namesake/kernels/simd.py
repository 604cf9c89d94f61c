"""Look at 64 bytes of text at once: vector instructions that Numba alone does not reach.

A mask has bit i set where byte `position + i` fits. Callers own 64 spare bytes behind the last position they ask
for. Kernels that call each other millions of times a second hand on bare pointers: an array would be counted, with an
atomic instruction, at every call. With the JIT switched off, arrays and the plain twins at the end of the file do.
"""

import numpy as np
from numba import config, types
from numba.core.cgutils import get_or_insert_function, ir
from numba.extending import intrinsic

from namesake.kernels.compiled import inlined

LANES = 64
FOUR, SIXTEEN = 4, 16  # numbers of 64 and of 32 bits that are compared at once
BYTES = types.CPointer(types.uint8)
NUMBERS = types.CPointer(types.int64)


def _load(builder, arguments, kind):
    """Load a value of LLVM type `kind` at data[position], however it is aligned."""
    pointer = builder.gep(arguments[0], [arguments[1]])
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=1)


def _block(builder, arguments, fold):
    """The bytes from data[position] on, the bits of `fold` set in each."""
    lanes = ir.VectorType(ir.IntType(8), LANES)
    block = _load(builder, arguments, lanes)
    return builder.or_(block, ir.Constant(lanes, [fold] * LANES)) if fold else block


def _mask(builder, compare, block, value):
    """Bits where a byte of the block compares true with a value."""
    return builder.bitcast(builder.icmp_unsigned(compare, block, _everywhere(builder, value)), ir.IntType(64))


def _everywhere(builder, value, lanes=LANES):
    """A block of one number, repeated."""
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))


def _compare(compare, kind, lanes):
    """An intrinsic (numbers, position, wanted) -> mask of so many numbers of a type that compare true with one."""

    def generate(context, builder, signature, arguments):
        block = _load(builder, arguments, ir.VectorType(arguments[2].type, lanes))
        fits = builder.icmp_signed(compare, block, _everywhere(builder, arguments[2], lanes))
        return builder.zext(builder.bitcast(fits, ir.IntType(lanes)), ir.IntType(64))

    @intrinsic
    def search(typing, numbers, position, wanted):
        return types.uint64(types.CPointer(kind), types.int64, kind), generate

    return search


def _search(compare, fold=0):
    """An intrinsic (data, position, byte) -> mask."""

    def generate(context, builder, signature, arguments):
        return _mask(builder, compare, _block(builder, arguments, fold), arguments[2])

    @intrinsic
    def search(typing, data, position, byte):
        return types.uint64(BYTES, types.int64, types.uint8), generate

    return search


def _search_range(fold=0):
    """An intrinsic (data, position, first, count) -> mask."""

    def generate(context, builder, signature, arguments):
        above = builder.sub(_block(builder, arguments, fold), _everywhere(builder, arguments[2]))
        return _mask(builder, "<", above, arguments[3])

    @intrinsic
    def search(typing, data, position, first, count):
        return types.uint64(BYTES, types.int64, types.uint8, types.uint8), generate

    return search


@intrinsic
def _having(typing, data, position, bits):
    """Mask of the bytes that have some of these bits."""

    def generate(context, builder, signature, arguments):
        block = builder.and_(_block(builder, arguments, 0), _everywhere(builder, arguments[2]))
        return _mask(builder, "!=", block, ir.Constant(ir.IntType(8), 0))

    return types.uint64(BYTES, types.int64, types.uint8), generate


@intrinsic
def _pointer(typing, array):
    """Where an array begins. Its caller keeps the array alive: Numba frees it behind the last line that names it."""

    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _byte(typing, data, position):
    """data[position] as int64."""

    def generate(context, builder, signature, arguments):
        return builder.zext(_load(builder, arguments, ir.IntType(8)), ir.IntType(64))

    return types.int64(BYTES, types.int64), generate


@intrinsic
def _word(typing, data, position):
    """The eight bytes at position as one little-endian number."""

    def generate(context, builder, signature, arguments):
        return _load(builder, arguments, ir.IntType(64))

    return types.uint64(BYTES, types.int64), generate


@intrinsic
def _lowest(typing, mask):
    """Position of the lowest set bit; 64 where there is none."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _width(typing, mask):
    """How many bits there are up to the highest that is set; 0 where there is none."""

    def generate(context, builder, signature, arguments):
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return types.int64(types.uint64), generate


@intrinsic
def _ones(typing, mask):
    """How many bits are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _without_lowest(typing, mask):
    """The mask without its lowest set bit."""

    def generate(context, builder, signature, arguments):
        return builder.and_(arguments[0], builder.sub(arguments[0], ir.Constant(ir.IntType(64), 1)))

    return types.uint64(types.uint64), generate


@intrinsic
def _prefetch(typing, array, position):
    """Ask for the cache line of array[position] and go on: who looks it up later need not wait."""

    def generate(context, builder, signature, arguments):
        place, number = builder.gep(arguments[0], [arguments[1]]), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), number, number, number])
        ask = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, keep, as_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(ask, [builder.bitcast(place, ir.IntType(8).as_pointer()), to_read, keep, as_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _plain_mask(fits):
    return np.uint64(int.from_bytes(np.packbits(fits, bitorder="little").tobytes(), "little"))


def _plain_block(data, position, size=LANES):
    block = data[position : position + size]
    if position < 0 or len(block) < size:
        raise IndexError(f"{size} places at {position} of {len(data)}")
    return block


if config.DISABLE_JIT:

    def pointer(array):
        """See _pointer."""
        return array

    def byte(data, position):
        """See _byte."""
        if position < 0:
            raise IndexError(position)
        return int(data[position])

    def word(data, position):
        """See _word."""
        return np.uint64(int.from_bytes(_plain_block(data, position, 8).tobytes(), "little"))

    def prefetch(array, position):
        """See _prefetch."""

    def equal(data, position, value):
        """Mask of the bytes that are `value`."""
        return _plain_mask(_plain_block(data, position) == value)

    def equal_folded(data, position, value):
        """Mask of the bytes that are `value` once bit 0x20 is set: `[` counts as `{`, `]` as `}`."""
        return _plain_mask((_plain_block(data, position) | 0x20) == value)

    def having(data, position, bits):
        """See _having."""
        return _plain_mask(_plain_block(data, position) & np.uint8(bits) != 0)

    def below(data, position, value):
        """Mask of the bytes under `value`."""
        return _plain_mask(_plain_block(data, position) < value)

    def among(data, position, first, count):
        """Mask of the bytes that are one of `count` from `first` on."""
        return _plain_mask(_plain_block(data, position) - np.uint8(first) < count)

    def among_folded(data, position, first, count):
        """The same once bit 0x20 is set: `among_folded(…, ord("a"), 26)` finds letters."""
        return _plain_mask((_plain_block(data, position) | 0x20) - np.uint8(first) < count)

    def four_equal(numbers, position, wanted):
        """Mask of the FOUR numbers of 64 bits that are `wanted`."""
        return _plain_mask(_plain_block(numbers, position, FOUR) == wanted)

    def sixteen_below(numbers, position, wanted):
        """Mask of the SIXTEEN numbers of 32 bits that are below `wanted`."""
        return _plain_mask(_plain_block(numbers, position, SIXTEEN) < wanted)

    def lowest(mask):
        """See _lowest."""
        return ((int(mask) & -int(mask)).bit_length() - 1) % 65

    def width(mask):
        """See _width."""
        return int(mask).bit_length()

    def ones(mask):
        """See _ones."""
        return int(mask).bit_count()

    def without_lowest(mask):
        """See _without_lowest."""
        return np.uint64(int(mask) & (int(mask) - 1))

else:
    pointer, byte, word, prefetch = _pointer, _byte, _word, _prefetch
    lowest, width, ones, without_lowest = _lowest, _width, _ones, _without_lowest
    equal, equal_folded, below, having = _search("=="), _search("==", 0x20), _search("<"), _having
    among, among_folded = _search_range(), _search_range(0x20)
    four_equal, sixteen_below = _compare("==", types.uint64, FOUR), _compare("<", types.int32, SIXTEEN)


@inlined(types.uint64(types.int64))
def first_bits(count):
    """A mask of so many bits from the lowest on; all of them where there are more."""
    return ~np.uint64(0) if count >= LANES else (np.uint64(1) << np.uint64(count)) - np.uint64(1)
