"""Walk over JSON text in place: match a key, find the end of a string, step over a value, decode a string.

A position is an index into the text. A function that meets something unexpected returns FAIL, and one that is given
FAIL for a position returns it, so that a walk need not look after every step; its caller leaves such a line to a full
JSON decoder. Two facts keep the walk inside its buffer: nothing here steps over a
newline or a zero byte, and 64 zero bytes follow the text.
What is stepped over is held to balanced brackets and closed strings, no more: `valid` has looked at the line before.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.simd import BYTES, LANES, below, byte, equal, equal_folded, lowest, ones, word

FAIL = -1
NEWLINE, SPACE, QUOTE, COMMA, COLON, BACKSLASH, ZERO, NINE = (ord(c) for c in '\n ",:\\09')
OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP = (ord(c) for c in "[]{}")
NO_BITS, ONE_BIT, ALL_BITS, TOP_BIT = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1), np.uint64(1 << 63)
ESCAPES = np.array([list(b'"\\/bfnrt'), list(b'"\\/\b\f\n\r\t')])
Literal = types.UniTuple(types.uint64, 7)


def literal(text: str) -> tuple[np.uint64, ...]:
    """Up to 24 characters as three overlapping words, what to compare of each, where the later two begin; length."""
    raw = text.encode()
    middle, tail = max(0, min(8, len(raw) - 8)), max(0, len(raw) - 8)
    mask = (1 << 8 * min(8, len(raw))) - 1
    words = [int.from_bytes(raw[start : start + 8], "little") for start in (0, middle, tail)]
    return tuple(np.uint64(n) for n in (*words, mask, middle, tail, len(raw)))


@inlined(types.boolean(BYTES, types.int64, Literal))
def at(data, p, text):
    """Whether a literal stands at p."""
    head, middle, tail, mask, to_middle, to_tail, _ = text
    different = (word(data, p) ^ head) & mask
    different |= (word(data, p + np.int64(to_middle)) ^ middle) & mask
    different |= (word(data, p + np.int64(to_tail)) ^ tail) & mask
    return different == NO_BITS


@inlined(types.int64(BYTES, types.int64))
def space(data, p):
    """The first position from p on that is no blank, tab or carriage return."""
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


@inlined(types.int64(BYTES, types.int64))
def text_end(data, p):
    """The quote that closes the string whose first character is at p."""
    p = text_stop(data, p)
    while byte(data, p) == BACKSLASH and byte(data, p + 1) >= SPACE:
        p = text_stop(data, p + 2)
    return p if byte(data, p) == QUOTE else FAIL


@inlined(types.int64(BYTES, types.int64))
def colon(data, p):
    """From behind a key to its value."""
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
    """From behind a value to the next member, or to the closing bracket."""
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
    """From `[` to behind `]` where nothing is between them: PHP writes an empty map so."""
    p = enter(data, p, OPEN_LIST)
    return p + 1 if p >= 0 and byte(data, p) == CLOSE_LIST else FAIL


@inner(types.uint64(types.uint64, types.uint64))
def escaped_bits(slashes, carry):
    """The characters that a backslash before them takes out of play; carry: the one before the block does."""
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
    """The bracket of this block that brings depth back to nought; FAIL where none does."""
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
    """From an opening bracket to behind the one that closes it, 64 bytes at a time."""
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
        breaks = below(data, p, SPACE)
        if breaks != NO_BITS:  # a newline, or a control character in a string, ends the walk
            breaks = (breaks & strings) | equal(data, p, NEWLINE) | equal(data, p, 0)
            if breaks != NO_BITS:
                closes &= (breaks - ONE_BIT) & ~breaks
        if ones(closes) >= depth:
            bit = balance_bit(opens, closes, depth)
            if bit >= 0:
                return p + bit + 1
        if breaks != NO_BITS:
            return FAIL
        depth += ones(opens) - ones(closes)
        inside = ALL_BITS if strings & TOP_BIT != NO_BITS else NO_BITS
        p += LANES


@inner(types.int64(BYTES, types.int64))
def skip(data, p):
    """From a value to behind it."""
    if p < 0:
        return FAIL
    c = byte(data, p)
    if c == QUOTE:
        p = text_end(data, p + 1)
        return FAIL if p < 0 else p + 1
    if c | 32 == OPEN_MAP:
        return skip_nested(data, p)
    start = p
    while c > SPACE and c != COMMA and c != CLOSE_MAP and c != CLOSE_LIST:
        p += 1
        c = byte(data, p)
    first = byte(data, start)
    plausible = ZERO <= first <= NINE or first == 45 or first == 116 or first == 102 or first == 110  # - t f n
    return p if plausible else FAIL


@inner(types.int64(BYTES, types.int64, types.int64))
def whole_number(data, p, end):
    """The number written in data[p:end]: 1 to 2,147,483,647 without a leading nought, as Wikibase numbers things."""
    if end - p < 1 or end - p > 10 or byte(data, p) == ZERO:
        return FAIL
    number = 0
    while p < end:
        digit = byte(data, p) - ZERO
        if digit < 0 or digit > 9:
            return FAIL
        number = number * 10 + digit
        p += 1
    return number if number <= 2147483647 else FAIL


@inlined(types.int64(BYTES, types.int64))
def plain_text(data, p):
    """From a string without escapes to behind it."""
    if p < 0 or byte(data, p) != QUOTE:
        return FAIL
    p = text_stop(data, p + 1)
    return p + 1 if byte(data, p) == QUOTE else FAIL


@inlined(types.int64(BYTES, types.int64))
def skip_member(data, p):
    """From a key to behind its value."""
    return skip(data, colon(data, plain_text(data, p)))


@inlined(types.int64(BYTES, types.int64, Literal))
def value_of(data, p, key):
    """From a key that is known to stand at p to its value."""
    return colon(data, p + np.int64(key[6]))


@inner(types.int64(BYTES, types.int64))
def hex_digits(data, p):
    """The number that four hexadecimal digits write."""
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
    """Write a code point as UTF-8 to out[to:]; returns where it ends."""
    if code < 0x80:
        out[to] = code
        return to + 1
    if code < 0x800:
        out[to] = 0xC0 | (code >> 6)
        out[to + 1] = 0x80 | (code & 63)
        return to + 2
    if code < 0x10000:
        out[to] = 0xE0 | (code >> 12)
        out[to + 1] = 0x80 | ((code >> 6) & 63)
        out[to + 2] = 0x80 | (code & 63)
        return to + 3
    out[to] = 0xF0 | (code >> 18)
    out[to + 1] = 0x80 | ((code >> 12) & 63)
    out[to + 2] = 0x80 | ((code >> 6) & 63)
    out[to + 3] = 0x80 | (code & 63)
    return to + 4


@inner(types.int64(BYTES, types.int64))
def utf8_length(data, p):
    """How many bytes the well-formed UTF-8 character at p has; FAIL where it is none."""
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
    """Write what the escape at p stands for; returns behind it in both texts. A lone surrogate fails."""
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
    """Decode the string whose first character is at p into out[to:]; returns where it ends there."""
    while True:
        c = byte(data, p)
        if c == QUOTE:
            return to
        if c == BACKSLASH:
            p, to = put_escape(data, p, out, to)
            if p < 0:
                return FAIL
            continue
        length = utf8_length(data, p) if c >= 0x80 else 1
        if c < SPACE or length < 0:
            return FAIL
        for i in range(length):
            out[to + i] = byte(data, p + i)
        p += length
        to += length
