"""The hash of bytes, and hash tables.

A hash has 64 bits and is never 0. It takes eight bytes at a time, the first of them lowest, and the length with the
last few; two texts have the same hash with a probability of 2**-64. No product overflows, so plain Python computes the
same.

A table is an array of keys whose size is a power of two, at most three quarters full; values are in arrays of the same
size. Key 0 marks a free slot. A key is in the first slot that was free from its own slot on, which is given by the
lowest bits of a hash, or by `home` for a number.

A table that is often emptied has entries `stamp << 32 | key`. Stamps only grow, and a slot with a lower stamp than
the current one counts as free.

A cache of words is a table in lines of the processor's cache, so that a lookup of a frequent word reads one. A line has
four hashes and then their words, plus 1. A hash is in the line given by its lowest bits, in the first place that was
free; if all four are used, in the next line with a free place.
"""

import numpy as np
import numpy.typing as npt
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.simd import BYTES, FOUR, byte, four_equal, lowest, pointer, word
from namesake.kernels.types import I32, I64, U8, U64

KEYS = types.CPointer(types.uint64)
PLACE, HASH = types.int64, types.uint64

FREE, ZERO, ONE = np.uint64(0), np.uint64(0), np.uint64(1)
HALF, TOP_BYTE = np.uint64(32), np.uint64(56)
THREE, SEVEN, EIGHT = np.uint64(3), np.uint64(7), np.uint64(8)
LEFT, RIGHT = np.uint64(25), np.uint64(39)
LOW_HALF = np.uint64(0xFFFFFFFF)
FACTOR_LOW, FACTOR_HIGH = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)
AS_IT_IS, LOWERED = np.uint64(0), np.uint64(0x2020202020202020)
"""Bits that `hash_ahead` sets in bytes: none, or the one that makes ASCII capitals small (others are unchanged)."""


# the hash
@inlined(HASH(HASH))
def mix(x):
    """Scramble 64 bits."""
    low = (x & LOW_HALF) * FACTOR_LOW
    high = (x >> HALF) * FACTOR_HIGH
    x = low ^ (high << HALF) ^ (high >> HALF)
    return x ^ (x >> HALF)


@inlined(HASH(HASH, HASH))
def absorb(hashed, eight):
    """The hash so far, 0 at first, with eight more bytes."""
    return mix(hashed ^ eight)


@inlined(HASH(HASH, HASH, types.int64))
def finish(hashed, rest, length):
    """The hash of `length` bytes, of which `rest` holds the last: fewer than eight, the others absorbed."""
    return max(mix(hashed ^ rest ^ (np.uint64(length) << TOP_BYTE)), ONE)


@inlined(types.Tuple((HASH, HASH, types.int64))(HASH, HASH, types.int64, HASH))
def add_byte(hashed, rest, length, one):
    """What `finish` takes, 0, 0 and 0 at first, with one more byte."""
    rest |= one << np.uint64(8 * (length & 7))
    length += 1
    if length & 7 == 0:
        hashed, rest = absorb(hashed, rest), ZERO
    return hashed, rest, length


@inlined(HASH(HASH, HASH))
def extend(sequence, one):
    """The hash of a sequence with one more hash or number; that of the empty sequence is 0."""
    return max(mix((sequence << LEFT | sequence >> RIGHT) ^ one), ONE)


@inlined(HASH(BYTES, PLACE, PLACE, HASH))
def hash_ahead(text, start, end, bits):
    """The hash of text[start:end], `bits` set in every eight bytes of it; it looks at eight bytes behind the end."""
    hashed, at = ZERO, start
    while at + 8 <= end:
        hashed = absorb(hashed, word(text, at) | bits)
        at += 8
    rest = (word(text, at) | bits) & ((ONE << np.uint64(8 * (end - at))) - ONE)
    return finish(hashed, rest, end - start)


@inlined(HASH(HASH, HASH, types.int64))
def hash_short(head, tail, length):
    """`hash_word` of fewer than 16 letters by the first and the next eight bytes; without a branch, for loops."""
    size = np.uint64(length)
    head, tail, rest = head | LOWERED, tail | LOWERED, (ONE << ((size & SEVEN) << THREE)) - ONE
    hashed, last = (absorb(ZERO, head), tail) if size & EIGHT != ZERO else (ZERO, head)
    return finish(hashed, last & rest, length)


@inlined(HASH(BYTES, PLACE, PLACE))
def hash_word(text, start, end):
    """`hash_ahead` of a word in lower case, without a branch if it is short, because branch prediction fails here."""
    length = end - start
    if length >= 16:
        return hash_ahead(text, start, end, LOWERED)
    return hash_short(word(text, start), word(text, start + (length & 8)), length)


@kernel(HASH(U8, PLACE, PLACE))
def hash_bytes(data, start, end):
    """The hash of data[start:end]."""
    text = pointer(data)
    if end + 8 <= len(data):
        return hash_ahead(text, start, end, AS_IT_IS)
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    for at in range(start, end):
        hashed, rest, length = add_byte(hashed, rest, length, np.uint64(byte(text, at)))
    return finish(hashed, rest, length)


@kernel(types.uint64[::1](U8, I64))
def hash_each(data, offsets):
    """`hash_bytes` of each string in Arrow's layout."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for k in range(len(hashes)):
        hashes[k] = hash_bytes(data, offsets[k], offsets[k + 1])
    return hashes


@inlined(types.boolean(BYTES, PLACE, BYTES, PLACE, types.int64))
def same_bytes(one, at, other, place, size):
    """Whether one[at : at + size] and other[place : place + size] are equal."""
    k = 0
    while k + 8 <= size:
        if word(one, at + k) != word(other, place + k):
            return False
        k += 8
    while k < size:
        if byte(one, at + k) != byte(other, place + k):
            return False
        k += 1
    return True


# the table
@inlined(PLACE(KEYS, types.int64, HASH, PLACE))
def probe(keys, mask, key, slot):
    """The first slot from `slot` on that has a key or is free; `mask` is the table's size less one."""
    while (keys[slot] != FREE) & (keys[slot] != key):  # one branch, hardly ever taken
        slot = (slot + 1) & mask
    return slot


@inlined(PLACE(KEYS, types.int64, HASH))
def find(keys, mask, key):
    """The slot of a hash, or the free one where it belongs."""
    return probe(keys, mask, key, np.int64(key & np.uint64(mask)))


@inlined(PLACE(KEYS, types.int64, HASH, PLACE))
def find_next(keys, mask, key, slot):
    """The next slot of a hash after `slot`, for tables in which equal hashes have several slots; or a free one."""
    return probe(keys, mask, key, (slot + 1) & mask)


@inlined(PLACE(HASH, types.int64))
def home(number, mask):
    """The first slot for a number."""
    return np.int64(mix(number) & np.uint64(mask))


@inlined(PLACE(KEYS, types.int64, HASH, HASH))
def find_stamped(entries, mask, key, stamp):
    """The slot of a key of 32 bits, a number or half a hash, or the free one where it belongs."""
    slot = home(key, mask)
    while (entries[slot] >> HALF >= stamp) & (entries[slot] & LOW_HALF != key):
        slot = (slot + 1) & mask
    return slot


@kernel(PLACE(U64, HASH))
def slot_of(keys, key):
    """`find` in an array."""
    return find(pointer(keys), len(keys) - 1, key)


def room_for(count: int) -> int:
    """The size of a table for this many keys, at most half full."""
    return max(8, 1 << (2 * count - 1).bit_length())


@kernel(types.int64[::1](U64, types.uint64[::1]))
def fill(hashes, keys):
    """Enter hashes into the table `keys`; returns the slot of each."""
    place = np.empty(len(hashes), np.int64)
    for i in range(len(hashes)):
        place[i] = find(pointer(keys), len(keys) - 1, hashes[i])
        keys[place[i]] = hashes[i]
    return place


def table_size(count: int) -> int:
    """The size of a table for this many keys, at most three quarters full."""
    return max(8, 1 << (4 * count // 3).bit_length())


def table_of(hashes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """A table of distinct hashes, and the slot of each hash."""
    keys = np.zeros(table_size(len(hashes)), np.uint64)
    return keys, fill(hashes, keys)


# the cache
WAYS = FOUR
LINE = 2 * WAYS  # numbers of 64 bits, which make a line of the processor's cache


@inlined(types.int64(types.uint64, types.int64))
def line_of(key, mask):
    """The first place of a hash's line; `mask` is the number of lines less one."""
    return LINE * np.int64(key & np.uint64(mask))


@inlined(types.Tuple((types.int64, types.boolean))(KEYS, types.int64, types.uint64))
def find_cached(cache, mask, key):
    """The place of a hash and True, or the free place for it and False; its word is WAYS places later."""
    line = line_of(key, mask)
    found = four_equal(cache, line, key)
    while found == 0:
        free = four_equal(cache, line, FREE)
        if free != 0:
            return line + lowest(free), False
        line = (line + LINE) & (LINE * mask)
        found = four_equal(cache, line, key)
    return line + lowest(found), True


@kernel(types.int64(U64, I32, types.uint64[::1]))
def remember(hashes, words, cache):
    """Put words into a cache that has room for them; returns the number of new entries."""
    keys, mask = pointer(cache), len(cache) // LINE - 1
    taken = 0
    for k in range(len(hashes)):
        place, known = find_cached(keys, mask, hashes[k])
        taken += not known
        cache[place], cache[place + WAYS] = hashes[k], np.uint64(words[k] + 1)
    return taken
