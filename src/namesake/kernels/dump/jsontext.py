"""Pieces of JSON text: literals, numbers, and strings, which are decoded.

The text must be valid JSON, which `tape` checks before, and 64 zero bytes must follow it. A position is an index into
the text. A function that finds something unexpected returns FAIL; its callers leave such a line to a full JSON decoder.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.wikidata import LARGEST_ID
from namesake.kernels.simd import BYTES, below, byte, equal, lowest, word

FAIL = -1
NEWLINE, SPACE, QUOTE, COMMA, COLON, BACKSLASH, ZERO, NINE = (ord(c) for c in '\n ",:\\09')
OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP = (ord(c) for c in "[]{}")
NO_BITS, ONE_BIT, ALL_BITS, TOP_BIT = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1), np.uint64(1 << 63)
ESCAPES, HEX_DIGITS = np.zeros(256, np.uint8), np.full(256, FAIL, np.int64)
"""By byte: the character of an escape, 0 if there is none; the value of a hexadecimal digit."""
ESCAPES[list(b'"\\/bfnrt')] = list(b'"\\/\b\f\n\r\t')
HEX_DIGITS[list(b"0123456789abcdefABCDEF")] = [*range(16), *range(10, 16)]
Literal = types.UniTuple(types.uint64, 6)


def literal(text: str) -> tuple[np.uint64, ...]:
    """Up to 24 characters as three overlapping words, their mask, and the offsets of the later two."""
    raw = text.encode()
    middle, tail = max(0, min(8, len(raw) - 8)), max(0, len(raw) - 8)
    mask = (1 << 8 * min(8, len(raw))) - 1
    words = [int.from_bytes(raw[start : start + 8], "little") for start in (0, middle, tail)]
    return tuple(np.uint64(n) for n in (*words, mask, middle, tail))


def keyword(name: str) -> tuple[np.uint64, ...]:
    """A word with its quotes as a literal."""
    return literal(f'"{name}"')


@inlined(types.boolean(BYTES, types.int64, Literal))
def at(data, p, text):
    """Whether a literal is at p."""
    head, middle, tail, mask, to_middle, to_tail = text
    different = (word(data, p) ^ head) & mask
    different |= (word(data, p + np.int64(to_middle)) ^ middle) & mask
    different |= (word(data, p + np.int64(to_tail)) ^ tail) & mask
    return different == NO_BITS


@inlined(types.int64(BYTES, types.int64))
def text_stop(data, p):
    """The first quote, backslash or control character from p on."""
    stops = NO_BITS
    while stops == NO_BITS:
        stops = equal(data, p, QUOTE) | equal(data, p, BACKSLASH) | below(data, p, SPACE)
        p += lowest(stops)
    return p


@inner(types.boolean(BYTES, types.int64))
def plain_text(data, p):
    """Whether the value at p is a string without escapes."""
    return byte(data, p) == QUOTE and byte(data, text_stop(data, p + 1)) == QUOTE


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64))
def digits(data, p):
    """The number at p and the position after it; FAIL unless it is 1 to 2,147,483,647 without leading zeros."""
    start, number = p, 0
    while ZERO <= byte(data, p) <= NINE:
        number = min(number * 10 + byte(data, p) - ZERO, LARGEST_ID + 1)
        p += 1
    return number if byte(data, start) != ZERO and 0 < number <= LARGEST_ID else FAIL, p


@inner(types.int64(BYTES, types.int64))
def hex_digits(data, p):
    """The value of four hexadecimal digits."""
    number = 0
    for i in range(p, p + 4):
        digit = HEX_DIGITS[byte(data, i)]
        if digit < 0:
            return FAIL
        number = number * 16 + digit
    return number


@inner(types.int64(types.int64, BYTES, types.int64))
def put_code_point(code, out, to):
    """Write a code point as UTF-8 to out[to:]; returns its end."""
    if code < 0x80:
        out[to] = code
        return to + 1
    size = 2 + (code >= 0x800) + (code >= 0x10000)
    for i in range(size - 1, 0, -1):
        out[to + i] = 0x80 | (code & 63)
        code >>= 6
    out[to] = (0xF00 >> size) & 0xFF | code
    return to + size


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64, BYTES, types.int64))
def put_escape(data, p, out, to):
    """Write the character of the escape at p; returns the positions after it in both texts. A lone surrogate fails."""
    c = byte(data, p + 1)
    if c != 117:  # u
        out[to] = ESCAPES[c]
        return p + 2, to + 1
    code = hex_digits(data, p + 2)
    p += 6
    if 0xD800 <= code < 0xDC00 and byte(data, p) == BACKSLASH and byte(data, p + 1) == 117:
        low = hex_digits(data, p + 2)
        if 0xDC00 <= low < 0xE000:
            return p + 6, put_code_point(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, out, to)
    if 0xD800 <= code < 0xE000:
        return FAIL, to
    return p, put_code_point(code, out, to)


@inner(types.int64(BYTES, types.int64, BYTES, types.int64))
def put_text(data, p, out, to):
    """Decode the string whose first character is at p into out[to:]; returns its end there."""
    while byte(data, p) != QUOTE:
        if byte(data, p) == BACKSLASH:
            p, to = put_escape(data, p, out, to)
            if p < 0:
                return FAIL
        else:
            out[to] = byte(data, p)
            p += 1
            to += 1
    return to
