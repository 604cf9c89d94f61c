"""Characters of UTF-8 text: their classes for the tokenizer, words of ASCII letters, and the hashes of tokens."""

import string
from inspect import unwrap

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import KEYS, LOWERED, ONE, ZERO, absorb, add_byte, finish, mix
from namesake.kernels.simd import BYTES, LANES, NUMBERS, lowest, ones, pointer, without_lowest, word
from namesake.kernels.types import I64
from namesake.kernels.types import U8 as BYTE_ARRAY

INTEGER = types.int64

# Classes, in an order that makes the hot tests single comparisons: up to SPLIT a byte always ends a token,
# from UNDERSCORE on it is a word character (\w).
SPACE, HARD, STOP, BLANK, COMMA, DOT, APOSTROPHE, DASH, TICK, HIGH, ORDINARY, UNDERSCORE, DIGIT, LETTER = range(14)
SPLIT = BLANK


CLASS = np.full(256, ORDINARY, np.uint8)
for _class, _signs in (
    *((SPACE, b" "), (HARD, b';@#$%&[](){}<>"'), (STOP, b"?!"), (COMMA, b",:"), (DOT, b"."), (APOSTROPHE, b"'")),
    *((DASH, b"-"), (TICK, b"`"), (UNDERSCORE, b"_"), (DIGIT, b"0123456789"), (HIGH, bytes(range(128, 256)))),
    (LETTER, string.ascii_letters.encode()),
    (BLANK, b"\t\n\v\f\r\x1c\x1d\x1e\x1f"),  # whitespace that the Treebank rules do not take for a space
):
    CLASS[list(_signs)] = _class
LOWER = np.frombuffer(bytes(range(256)).lower(), np.uint8).astype(np.uint64)


@inner([types.Tuple((INTEGER, INTEGER))(text, INTEGER, INTEGER) for text in (BYTE_ARRAY, BYTES)])
def code_point(data, at, end):
    """The character at byte `at` and its number of bytes; (-1, 1) if the bytes are not UTF-8."""
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


@inner("int64(int64)")
def sign_class(point):
    """The class of a character beyond ASCII: typographic signs have that of the like ASCII sign.

    ‘ and ’ are apostrophes; “ ” „ « » and dashes stand alone like brackets; … is a stop; all else is part of a word.
    """
    if point in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= point <= 0x200B:
        return SPACE
    if point in (0x2018, 0x2019):
        return APOSTROPHE
    if point in (0xAB, 0xBB, 0x2039, 0x203A) or 0x2013 <= point <= 0x2015 or 0x201C <= point <= 0x201F:
        return HARD
    return STOP if point == 0x2026 else HIGH


@inner(types.Tuple((INTEGER, INTEGER))(BYTES, INTEGER, INTEGER))
def character(data, k, end):
    """Class and width of the character at byte `k`."""
    kind = np.int64(CLASS[data[k]])
    if kind != HIGH:
        return kind, 1
    point, width = code_point(data, k, end)
    return sign_class(point), width


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def letters_end(data, k, end):
    """The end of the ASCII letters from `k` on."""
    while k < end and CLASS[data[k]] == LETTER:
        k += 1
    return k


@inlined(types.boolean(INTEGER, INTEGER, INTEGER))
def has_capitals(capitals, among, one_in):
    """Whether at least one in `one_in` letters, or words, is a capital, so that the text is written with capitals."""
    return capitals * one_in >= among


@inner(types.uint64(BYTES, INTEGER, INTEGER))
def hash_token(data, start, end):
    """Hash of the bytes with A–Z lowered and ‘ ’ as '."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    k = start
    while k < end:
        byte, width = LOWER[data[k]], 1
        if byte == 0xE2 and k + 2 < end and data[k + 1] == 0x80 and data[k + 2] | 1 == 0x99:
            byte, width = np.uint64(0x27), 3
        hashed, rest, length = add_byte(hashed, rest, length, byte)
        k += width
    return finish(hashed, rest, length)


EACH = np.uint64(0x0101010101010101)
LOW_SEVEN, HIGH_BIT = EACH * np.uint64(0x7F), EACH * np.uint64(0x80)
UP_TO_A, UP_TO_Z = EACH * np.uint64(0x80 - ord("a")), EACH * np.uint64(0x7F - ord("z"))


@inlined("int64(uint64)")
def leading_letters(eight):
    """How many of eight little-endian bytes are letters, from the first on."""
    folded = (eight | LOWERED) & LOW_SEVEN
    letters = (folded + UP_TO_A) & ~(folded + UP_TO_Z) & ~eight & HIGH_BIT
    return lowest(letters ^ HIGH_BIT) >> 3


@inlined(types.Tuple((INTEGER, types.uint64))(BYTES, INTEGER, INTEGER))
def plain_word(data, start, end):
    """End and hash of the letters at `start`, eight bytes at a time; stops short of the text's last eight bytes."""
    hashed, rest, k = ZERO, ZERO, start
    while k + 8 <= end:
        eight = word(data, k)
        count = leading_letters(eight)
        eight |= LOWERED
        if count < 8:
            rest = eight & ((ONE << np.uint64(8 * count)) - ONE)
            k += count
            break
        hashed = absorb(hashed, eight)
        k += 8
    return k, finish(hashed, rest, k - start)


@kernel(types.uint64[::1](BYTE_ARRAY, I64))
def hash_all(data, offsets):
    """`hash_token` of each string in Arrow's layout."""
    first = pointer(data)
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for k in range(len(hashes)):
        hashes[k] = hash_token(first, offsets[k], offsets[k + 1])
    return hashes


def hash_words(words):
    """The hashes of words of fewer than eight small letters, for constant tables, by plain Python."""
    numbers = (int.from_bytes(word.encode(), "little") | len(word) << 56 for word in words)
    return [unwrap(mix)(np.uint64(number)) for number in numbers]


AHEAD = LANES + 16  # bytes of a block and of the head and tail of the last word that begins in it
AT_ONCE = 4  # words that are written at once, even if there are fewer
LONG = 16  # letters of a word whose hash needs more than its head and tail


@inlined(types.UniTuple(INTEGER, 2)(BYTES, INTEGER, *[types.uint64] * 2, *[NUMBERS] * 2, *[KEYS] * 2, *[INTEGER] * 2))
def write_words(text, base, begin, stop, starts, ends, heads, tails, opened, closed):
    """Write starts, ends, and the first and second eight bytes of the words whose starts and ends are two masks.

    Masks begin at byte `base`. Before, `opened` words have begun and `closed` have ended; returns both counts after. Up
    to AT_ONCE places after the last word are overwritten.
    """
    begins, stops = ones(begin), ones(stop)
    for k in range(0, max(begins, stops), AT_ONCE):
        for j in range(k, k + AT_ONCE):
            start = base + lowest(begin)
            starts[opened + j], ends[closed + j] = start, base + lowest(stop)
            heads[opened + j], tails[opened + j] = word(text, start), word(text, start + 8)
            begin, stop = without_lowest(begin), without_lowest(stop)
    return opened + begins, closed + stops
