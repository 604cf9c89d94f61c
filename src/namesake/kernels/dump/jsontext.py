"""Walk over JSON text in place: match a key, find the end of a string, skip a value, decode a string.

The text must be valid JSON, which `valid` checks before, and 64 zero bytes must follow it. A position is an index into
the text. A function that finds something unexpected returns FAIL, and a function that gets FAIL as its position returns
it, so that callers need not check after every step; they leave such a line to a full JSON decoder.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.wikidata import LARGEST_ID
from namesake.kernels.simd import BYTES, LANES, below, byte, equal, equal_folded, lowest, ones, word

FAIL = -1
NEWLINE, SPACE, QUOTE, COMMA, COLON, BACKSLASH, ZERO, NINE = (ord(c) for c in '\n ",:\\09')
OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP = (ord(c) for c in "[]{}")
NO_BITS, ONE_BIT, ALL_BITS, TOP_BIT = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1), np.uint64(1 << 63)
ESCAPES = np.array([list(b'"\\/bfnrt'), list(b'"\\/\b\f\n\r\t')])
Literal = types.UniTuple(types.uint64, 7)


def literal(text: str) -> tuple[np.uint64, ...]:
    """Up to 24 characters as three overlapping words, their mask, the offsets of the later two, and the length."""
    raw = text.encode()
    middle, tail = max(0, min(8, len(raw) - 8)), max(0, len(raw) - 8)
    mask = (1 << 8 * min(8, len(raw))) - 1
    words = [int.from_bytes(raw[start : start + 8], "little") for start in (0, middle, tail)]
    return tuple(np.uint64(n) for n in (*words, mask, middle, tail, len(raw)))


@inlined(types.boolean(BYTES, types.int64, Literal))
def at(data, p, text):
    """Whether a literal is at p."""
    head, middle, tail, mask, to_middle, to_tail, _ = text
    different = (word(data, p) ^ head) & mask
    different |= (word(data, p + np.int64(to_middle)) ^ middle) & mask
    different |= (word(data, p + np.int64(to_tail)) ^ tail) & mask
    return different == NO_BITS


@inlined(types.int64(BYTES, types.int64))
def space(data, p):
    """The first position from p on that is not a space, tab or carriage return."""
    while byte(data, p) == 32 or byte(data, p) == 9 or byte(data, p) == 13:
        p += 1
    return p


@inlined(types.int64(BYTES, types.int64))
def text_stop(data, p):
    """The first quote, backslash or control character from p on."""
    stops = NO_BITS
    while stops == NO_BITS:
        stops = equal(data, p, QUOTE) | equal(data, p, BACKSLASH) | below(data, p, SPACE)
        p += lowest(stops)
    return p


@inner(types.int64(BYTES, types.int64))
def text_end(data, p):
    """The quote that closes the string whose first character is at p."""
    p = text_stop(data, p)
    while byte(data, p) == BACKSLASH and byte(data, p + 1) >= SPACE:
        p = text_stop(data, p + 2)
    return p if byte(data, p) == QUOTE else FAIL


@inlined(types.int64(BYTES, types.int64))
def colon(data, p):
    """From the position after a key to its value."""
    if p < 0:
        return FAIL
    if byte(data, p) != COLON:
        p = space(data, p)
        if byte(data, p) != COLON:
            return FAIL
    p += 1
    return p if byte(data, p) > SPACE else space(data, p)


@inlined(types.int64(BYTES, types.int64, types.int64))
def step(data, p, close):
    """From the position after a value to the next member, or to the closing bracket."""
    if p < 0:
        return FAIL
    if byte(data, p) <= SPACE:
        p = space(data, p)
    if byte(data, p) == close:
        return p
    if byte(data, p) != COMMA:
        return FAIL
    p += 1
    if byte(data, p) <= SPACE:
        p = space(data, p)
    return FAIL if byte(data, p) == close else p


@inlined(types.int64(BYTES, types.int64, types.int64))
def enter(data, p, bracket):
    """From an opening bracket to the first member, or to the closing bracket."""
    if p < 0 or byte(data, p) != bracket:
        return FAIL
    p += 1
    return p if byte(data, p) > SPACE else space(data, p)


@inner(types.int64(BYTES, types.int64))
def empty_list(data, p):
    """From `[` to the position after `]`, with nothing in between: PHP writes an empty map like this."""
    p = enter(data, p, OPEN_LIST)
    return p + 1 if p >= 0 and byte(data, p) == CLOSE_LIST else FAIL


@inner(types.uint64(types.uint64, types.uint64))
def escaped_bits(slashes, carry):
    """The characters that a backslash escapes; `carry`: the last character before the block is such a backslash."""
    escaped = carry
    slashes &= ~carry
    while slashes != NO_BITS:
        bit = np.uint64(lowest(slashes))
        escaped |= (ONE_BIT << bit) << ONE_BIT
        slashes &= ~(((ONE_BIT << bit) << ONE_BIT) | (ONE_BIT << bit))
    return escaped


@inlined(types.uint64(types.uint64))
def inside_strings(quotes):
    """From the bits of all quotes, the bits from each opening quote up to its closing one."""
    for shift in (1, 2, 4, 8, 16, 32):
        quotes ^= quotes << np.uint64(shift)
    return quotes


@inner(types.int64(types.uint64, types.uint64, types.int64))
def balance_bit(opens, closes, depth):
    """The bracket of this block that brings the depth back to zero; FAIL if there is none."""
    closed = 0
    while closes != NO_BITS:
        bit = lowest(closes)
        closed += 1
        if depth + ones(opens & ((ONE_BIT << np.uint64(bit)) - ONE_BIT)) == closed:
            return bit
        closes &= closes - ONE_BIT
    return FAIL


@inner(types.int64(BYTES, types.int64))
def skip_nested(data, p):
    """From an opening bracket to the position after its closing one, 64 bytes at a time."""
    depth = 0
    carry, inside = NO_BITS, NO_BITS
    while True:
        quotes, slashes = equal(data, p, QUOTE), equal(data, p, BACKSLASH)
        if carry | (slashes & (((quotes | slashes) >> ONE_BIT) | TOP_BIT)) != NO_BITS:
            escaped = escaped_bits(slashes, carry)
            carry = (slashes & ~escaped) >> np.uint64(63)
            quotes &= ~escaped
        strings = inside_strings(quotes) ^ inside
        opens = equal_folded(data, p, OPEN_MAP) & ~strings
        closes = equal_folded(data, p, CLOSE_MAP) & ~strings
        if ones(closes) >= depth:
            bit = balance_bit(opens, closes, depth)
            if bit >= 0:
                return p + bit + 1
        depth += ones(opens) - ones(closes)
        inside = ALL_BITS if strings & TOP_BIT != NO_BITS else NO_BITS
        p += LANES


@inner(types.int64(BYTES, types.int64))
def skip(data, p):
    """From a value to the position after it."""
    if p < 0:
        return FAIL
    c = byte(data, p)
    if c == QUOTE:
        p = text_end(data, p + 1)
        return FAIL if p < 0 else p + 1
    if c | 32 == OPEN_MAP:
        return skip_nested(data, p)
    while c > SPACE and c != COMMA and c != CLOSE_MAP and c != CLOSE_LIST:
        p += 1
        c = byte(data, p)
    return p


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64))
def digits(data, p):
    """The number at p and the position after it; FAIL unless it is 1 to 2,147,483,647 without leading zeros."""
    start, number = p, 0
    while ZERO <= byte(data, p) <= NINE:
        number = min(number * 10 + byte(data, p) - ZERO, LARGEST_ID + 1)
        p += 1
    return number if byte(data, start) != ZERO and 0 < number <= LARGEST_ID else FAIL, p


@inner(types.int64(BYTES, types.int64))
def plain_text(data, p):
    """From a string without escapes to the position after it."""
    if p < 0 or byte(data, p) != QUOTE:
        return FAIL
    p = text_stop(data, p + 1)
    return p + 1 if byte(data, p) == QUOTE else FAIL


@inner(types.int64(BYTES, types.int64))
def skip_member(data, p):
    """From a key to the position after its value."""
    return skip(data, colon(data, plain_text(data, p)))


@inlined(types.int64(BYTES, types.int64, Literal))
def value_of(data, p, key):
    """From the key at p to its value."""
    return colon(data, p + np.int64(key[6]))


@inner(types.int64(BYTES, types.int64))
def hex_digits(data, p):
    """The value of four hexadecimal digits."""
    number = 0
    for i in range(p, p + 4):
        c = byte(data, i)
        if ZERO <= c <= NINE:
            number = number * 16 + c - ZERO
        elif 97 <= (c | 32) <= 102:
            number = number * 16 + (c | 32) - 87
        else:
            return FAIL
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


@inner(types.int64(BYTES, types.int64))
def utf8_length(data, p):
    """Number of bytes of the UTF-8 character at p; FAIL if it is not well-formed."""
    c, second = byte(data, p), byte(data, p + 1)
    if c < 0x80:
        return 1
    if second & 0xC0 != 0x80 or c < 0xC2 or c > 0xF4:
        return FAIL
    if c < 0xE0:
        return 2
    if byte(data, p + 2) & 0xC0 != 0x80:
        return FAIL
    if c < 0xF0:
        bad = (c == 0xE0 and second < 0xA0) or (c == 0xED and second > 0x9F)
        return FAIL if bad else 3
    bad = (c == 0xF0 and second < 0x90) or (c == 0xF4 and second > 0x8F) or byte(data, p + 3) & 0xC0 != 0x80
    return FAIL if bad else 4


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64, BYTES, types.int64))
def put_escape(data, p, out, to):
    """Write the character of the escape at p; returns the positions after it in both texts. A lone surrogate fails."""
    c = byte(data, p + 1)
    if c != 117:  # u
        for i in range(8):
            if c == ESCAPES[0, i]:
                out[to] = ESCAPES[1, i]
                return p + 2, to + 1
        return FAIL, to
    code = hex_digits(data, p + 2)
    p += 6
    if 0xD800 <= code < 0xDC00 and byte(data, p) == BACKSLASH and byte(data, p + 1) == 117:
        low = hex_digits(data, p + 2)
        if 0xDC00 <= low < 0xE000:
            return p + 6, put_code_point(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, out, to)
    if code < 0 or 0xD800 <= code < 0xE000:
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
