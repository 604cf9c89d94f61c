"""Whether a line is JSON, to the letter: what the scanner steps over is held to the same rules as what it reads.

One pass, 64 bytes at a time: masks tell what is inside strings, and only what is outside, structure and the beginnings
of numbers and words, is looked at one by one. An escape or a letter beyond ASCII is looked at where it stands.

It also notices where a map of an entity's parts (labels, claims, sitelinks …) has one key twice. The scanner would take
both; JSON's readers take the last.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.jsontext import (
    ALL_BITS,
    BACKSLASH,
    CLOSE_LIST,
    CLOSE_MAP,
    COLON,
    COMMA,
    ESCAPES,
    FAIL,
    NEWLINE,
    NINE,
    NO_BITS,
    ONE_BIT,
    OPEN_LIST,
    OPEN_MAP,
    QUOTE,
    SPACE,
    TOP_BIT,
    ZERO,
    at,
    escaped_bits,
    hex_digits,
    inside_strings,
    literal,
    text_stop,
    utf8_length,
)
from namesake.kernels.hash import AS_IT_IS, HALF, KEYS, LOW_HALF, extend, find_stamped, hash_ahead
from namesake.kernels.simd import BYTES, LANES, below, byte, equal, equal_folded, lowest

VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON_NEXT, COMMA_OR_END = range(6)  # what may stand next
DEEPEST = 62  # open brackets; what is nested deeper is left to others
PARTS = 2  # how deep the keys stand that may occur only once: those of labels, claims …
MOST_KEYS = 2048  # of all parts of a line; one with more is left to others
KEY_SLOTS = 2 * MOST_KEYS
TAB, RETURN = 9, 13
TRUE, FALSE, NULL = literal("true"), literal("false"), literal("null")


@inner(types.int64(BYTES, types.int64))
def digits_end(data, p):
    """From a digit to behind the last in a row; FAIL where none stands at p."""
    start = p
    while ZERO <= byte(data, p) <= NINE:
        p += 1
    return p if p > start else FAIL


@inner(types.int64(BYTES, types.int64))
def plain_end(data, p):
    """From a number, true, false or null to behind it."""
    if at(data, p, TRUE) or at(data, p, NULL):
        return p + 4
    if at(data, p, FALSE):
        return p + 5
    p += byte(data, p) == 45  # -
    first = byte(data, p)
    p = p + 1 if first == ZERO else digits_end(data, p)
    if p >= 0 and byte(data, p) == 46:  # .
        p = digits_end(data, p + 1)
    if p >= 0 and byte(data, p) | 32 == 101:  # e
        p += 1
        p = digits_end(data, p + (byte(data, p) == 43 or byte(data, p) == 45))  # + -
    return p


@inlined(types.boolean(types.int64))
def ends_plain(c):
    """Whether a number or a word may end before this byte: a blank, a comma, a closing bracket."""
    return c in (SPACE, TAB, RETURN, COMMA, CLOSE_MAP, CLOSE_LIST)


@inner(types.boolean(BYTES, types.int64, types.uint64))
def good_escapes(data, p, slashes):
    """Whether each backslash of the block at p begins an escape."""
    while slashes != NO_BITS:
        place = p + lowest(slashes)
        c = byte(data, place + 1)
        known = c == 117 and hex_digits(data, place + 2) >= 0  # u
        for i in range(8):
            known |= c == ESCAPES[0, i]
        if not known:
            return False
        slashes &= slashes - ONE_BIT
    return True


@inner(types.int64(BYTES, types.int64, types.uint64))
def good_letters(data, p, beyond):
    """How many bytes of the next block belong to a letter of this one; FAIL where a letter is no UTF-8.

    `beyond` are the bytes of the block at p that are not ASCII, less those of a letter that began before.
    """
    while beyond != NO_BITS:
        bit = lowest(beyond)
        length = utf8_length(data, p + bit)
        if length < 2:
            return FAIL
        if bit + length >= LANES:
            return bit + length - LANES
        beyond &= ALL_BITS << np.uint64(bit + length)
    return 0


@inner(types.boolean(BYTES, types.int64, types.int64, KEYS, types.uint64))
def new_key(data, p, part, keys, stamp):
    """Whether the key that begins behind the quote at p is new in the map `part` of the line `stamp`.

    Keys are told apart by half a hash: that two differ in no more is so rare that a decoder may see to it.
    """
    end = text_stop(data, p + 1)
    key = extend(np.uint64(part), hash_ahead(data, p + 1, end, AS_IT_IS)) & LOW_HALF
    slot = find_stamped(keys, KEY_SLOTS - 1, key, stamp)
    if byte(data, end) != QUOTE or keys[slot] >> HALF >= stamp:
        return False
    keys[slot] = stamp << HALF | key
    return True


@inlined(types.int64(types.int64, types.boolean))
def after_open(c, may):
    """What may follow an opening bracket; FAIL where it may not stand."""
    if not may:
        return FAIL
    return KEY_OR_END if c == OPEN_MAP else VALUE_OR_END


@inner(types.int64(BYTES, types.int64, KEYS, types.uint64))
def valid_end(data, p, keys, stamp):
    """From the bracket that opens an entity to behind the one that closes it; FAIL where it is not JSON.

    FAIL also where a decoder shall say: nested deeper than DEEPEST, a key of a part twice, or more than MOST_KEYS.
    `keys` is a stamped table of KEY_SLOTS slots, `stamp` larger for each line.
    """
    most = MOST_KEYS
    maps, depth, part = NO_BITS, 0, 0  # which of the open brackets are maps, how many there are; the part's number
    state = VALUE
    escaping, inside, in_plain, in_letter = NO_BITS, NO_BITS, NO_BITS, 0
    while True:
        quotes, slashes = equal(data, p, QUOTE), equal(data, p, BACKSLASH)
        begins = slashes
        if escaping | slashes != NO_BITS:
            escaped = escaped_bits(slashes, escaping)
            begins = slashes & ~escaped
            escaping = begins >> np.uint64(63)
            quotes &= ~escaped
        strings = inside_strings(quotes) ^ inside
        breaks = below(data, p, SPACE)
        if breaks != NO_BITS:  # a newline, or a control character in a string, ends the walk
            breaks = (breaks & strings) | equal(data, p, NEWLINE) | equal(data, p, 0)
        here = ALL_BITS if breaks == NO_BITS else (breaks - ONE_BIT) & ~breaks
        blanks = equal(data, p, SPACE) | equal(data, p, TAB) | equal(data, p, RETURN)
        structure = equal_folded(data, p, OPEN_MAP) | equal_folded(data, p, CLOSE_MAP)
        structure |= equal(data, p, COLON) | equal(data, p, COMMA)
        outside = ~strings & ~quotes
        plain = outside & ~blanks & ~structure
        events = ((structure & outside) | (quotes & strings) | (plain & ~((plain << ONE_BIT) | in_plain))) & here
        ended = FAIL
        while events != NO_BITS:
            bit = lowest(events)
            events &= events - ONE_BIT
            c = byte(data, p + bit)
            may_be_value = state in (VALUE, VALUE_OR_END)
            in_map = maps & ONE_BIT != NO_BITS
            if c == QUOTE:
                if may_be_value:
                    state = COMMA_OR_END
                elif state in (KEY, KEY_OR_END):
                    if depth == PARTS:
                        most -= 1
                        if most < 0 or not new_key(data, p + bit, part, keys, stamp):
                            return FAIL
                    state = COLON_NEXT
                else:
                    return FAIL
            elif c == COLON:
                if state != COLON_NEXT:
                    return FAIL
                state = VALUE
            elif c == COMMA:
                if state != COMMA_OR_END:
                    return FAIL
                state = KEY if in_map else VALUE
            elif c in (OPEN_MAP, OPEN_LIST):
                state = after_open(c, may_be_value and depth < DEEPEST)
                if state == FAIL:
                    return FAIL
                maps = (maps << ONE_BIT) | np.uint64(c == OPEN_MAP)
                depth += 1
                part += depth == PARTS
            elif c in (CLOSE_MAP, CLOSE_LIST):
                empty = KEY_OR_END if in_map else VALUE_OR_END
                if in_map != (c == CLOSE_MAP) or (state != COMMA_OR_END and state != empty):
                    return FAIL
                maps >>= ONE_BIT
                depth -= 1
                state = COMMA_OR_END
                if depth == 0:
                    ended = bit + 1
                    break
            else:
                end = plain_end(data, p + bit) if may_be_value else FAIL
                if end < 0:
                    return FAIL
                if not ends_plain(byte(data, end)):
                    return FAIL
                state = COMMA_OR_END
        kept = here
        if 0 <= ended < LANES:
            kept &= ~(ALL_BITS << np.uint64(ended))
        if not good_escapes(data, p, begins & kept & strings):
            return FAIL
        beyond = ~below(data, p, 128) & (ALL_BITS << np.uint64(in_letter)) & kept
        in_letter = good_letters(data, p, beyond) if beyond != NO_BITS else 0
        if in_letter < 0:
            return FAIL
        if ended >= 0:
            return p + ended
        if breaks != NO_BITS:
            return FAIL
        in_plain = plain >> np.uint64(63)
        inside = ALL_BITS if strings & TOP_BIT != NO_BITS else NO_BITS
        p += LANES
