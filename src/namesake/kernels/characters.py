"""What each byte of UTF-8 text means to the tokenizer, and how a token's bytes become a 64-bit hash."""

import numpy as np
from numba import njit, types

BYTES = types.Array(types.uint8, 1, "C", readonly=True)

# Classes, in an order that makes the hot tests single comparisons: up to SPLIT a byte always ends a token,
# from UNDERSCORE on it is a word character (\w).
SPACE, HARD, STOP, BLANK, COMMA, DOT, APOSTROPHE, DASH, TICK, HIGH, ORDINARY, UNDERSCORE, DIGIT, LETTER = range(14)
SPLIT = BLANK


def _classes():
    classes = np.full(256, ORDINARY, np.uint8)
    members = {
        SPACE: b" ",
        HARD: b';@#$%&[](){}<>"',
        STOP: b"?!",
        BLANK: b"\t\n\v\f\r\x1c\x1d\x1e\x1f",  # whitespace that the Treebank rules do not take for a space
        COMMA: b",:",
        DOT: b".",
        APOSTROPHE: b"'",
        DASH: b"-",
        TICK: b"`",
        HIGH: bytes(range(128, 256)),
        UNDERSCORE: b"_",
        DIGIT: b"0123456789",
        LETTER: bytes(range(65, 91)) + bytes(range(97, 123)),
    }
    for value, characters in members.items():
        classes[np.frombuffer(characters, np.uint8)] = value
    return classes


CLASS = _classes()
LOWER = np.frombuffer(bytes(range(256)).lower(), np.uint8).astype(np.uint64)

U8, U32, U56 = np.uint64(8), np.uint64(32), np.uint64(56)
LOW_HALF = np.uint64(0xFFFFFFFF)
FACTOR_LOW, FACTOR_HIGH = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)


@njit("uint64(uint64)", cache=True, nogil=True, inline="always")
def mix(x):
    """Scramble 64 bits. Both products fit in 64 bits, so that plain Python computes the same without overflow."""
    low = (x & LOW_HALF) * FACTOR_LOW
    high = (x >> U32) * FACTOR_HIGH
    x = low ^ (high << U32) ^ (high >> U32)
    return x ^ (x >> U32)


@njit("uint64(uint64, uint64, int64)", cache=True, nogil=True, inline="always")
def finish(hashed, group, length):
    """Close a hash: `group` holds the last (fewer than eight) bytes; never 0, which marks an empty slot."""
    hashed = mix(hashed ^ group ^ (np.uint64(length) << U56))
    return hashed if hashed != np.uint64(0) else np.uint64(1)


@njit("int64(int64)", cache=True, nogil=True)
def general_punctuation(third):
    """Class of U+2000..U+203F, by the third byte of its UTF-8 form."""
    if third <= 0x8B or third == 0xA8 or third == 0xA9 or third == 0xAF:
        return SPACE
    if third == 0x99:
        return APOSTROPHE
    if third == 0x98 or 0x93 <= third <= 0x95 or 0x9C <= third <= 0x9F or third == 0xB9 or third == 0xBA:
        return HARD
    if third == 0xA6:
        return STOP
    return HIGH


@njit(types.Tuple((types.int64, types.int64))(BYTES, types.int64, types.int64), cache=True, nogil=True)
def decode(data, k, end):
    """Class and width of the character at byte `k` (at least 0x80): typographic signs as their ASCII kin.

    ’ is an apostrophe; “ ” „ ‘ « » and dashes stand alone like brackets; … is a stop; all else is part of a word.
    """
    lead = data[k]
    if lead < 0xC2 or lead > 0xF4:
        return HIGH, 1
    width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if k + width > end:
        return HIGH, end - k
    second = data[k + 1]
    if width == 2:
        if lead == 0xC2:
            if second == 0xA0 or second == 0x85:
                return SPACE, 2
            if second == 0xAB or second == 0xBB:
                return HARD, 2
        return HIGH, 2
    if width == 4:
        return HIGH, 4
    third = data[k + 2]
    if lead == 0xE2 and second == 0x80:
        return general_punctuation(third), 3
    if (lead == 0xE2 and second == 0x81 and third == 0x9F) or (lead == 0xE3 and second == 0x80 and third == 0x80):
        return SPACE, 3
    if lead == 0xE1 and second == 0x9A and third == 0x80:
        return SPACE, 3
    return HIGH, 3


@njit(types.Tuple((types.int64, types.int64))(BYTES, types.int64, types.int64), cache=True, nogil=True)
def character(data, k, end):
    """Class and width of the character at byte `k`."""
    kind = np.int64(CLASS[data[k]])
    if kind != HIGH:
        return kind, 1
    return decode(data, k, end)


@njit(types.uint64(BYTES, types.int64, types.int64), cache=True, nogil=True)
def hash_token(data, start, end):
    """Hash of the bytes with A–Z lowered and ’ as '. Two words share one with probability 2**-64."""
    hashed, group, length = np.uint64(0), np.uint64(0), np.int64(0)
    k = start
    while k < end:
        byte, width = LOWER[data[k]], 1
        if byte == 0xE2 and k + 2 < end and data[k + 1] == 0x80 and data[k + 2] == 0x99:
            byte, width = np.uint64(0x27), 3
        group = (group << U8) | byte
        length += 1
        if length & 7 == 0:
            hashed, group = mix(hashed ^ group), np.uint64(0)
        k += width
    return finish(hashed, group, length)
