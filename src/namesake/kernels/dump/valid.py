"""Checks that a line is valid JSON, including the parts that the scanner skips.

One pass, 64 bytes at a time: masks mark what is inside strings. Outside, structural characters and the beginnings of
numbers and words are checked one by one; inside, escapes and non-ASCII characters.

It also finds repeated keys in the maps of an entity's parts (labels, claims, sitelinks …). The scanner would use both;
JSON decoders use the last.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.dump import jsontext as js
from namesake.kernels.hash import AS_IT_IS, HALF, KEYS, LOW_HALF, extend, find_stamped, hash_ahead
from namesake.kernels.simd import BYTES, LANES, below, byte, equal, equal_folded, lowest

VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON_NEXT, COMMA_OR_END = range(6)  # what may stand next
DEEPEST = 62  # open brackets; deeper nesting is left to a decoder
PARTS = 2  # the depth of the keys that may occur only once: those of labels, claims …
MOST_KEYS = 2048  # of all parts of a line; a line with more is left to a decoder
KEY_SLOTS = 2 * MOST_KEYS
TAB, RETURN = 9, 13
TRUE, FALSE, NULL = js.literal("true"), js.literal("false"), js.literal("null")


@inner(types.int64(BYTES, types.int64))
def digits_end(data, p):
    """From a digit to the position after the last one in a row; FAIL if there is none at p."""
    start = p
    while js.ZERO <= byte(data, p) <= js.NINE:
        p += 1
    return p if p > start else js.FAIL


@inner(types.int64(BYTES, types.int64))
def plain_end(data, p):
    """From a number, true, false or null to the position after it."""
    if js.at(data, p, TRUE) or js.at(data, p, NULL):
        return p + 4
    if js.at(data, p, FALSE):
        return p + 5
    p += byte(data, p) == 45  # -
    first = byte(data, p)
    p = p + 1 if first == js.ZERO else digits_end(data, p)
    if p >= 0 and byte(data, p) == 46:  # .
        p = digits_end(data, p + 1)
    if p >= 0 and byte(data, p) | 32 == 101:  # e
        p += 1
        p = digits_end(data, p + (byte(data, p) == 43 or byte(data, p) == 45))  # + -
    return p


@inner(types.boolean(BYTES, types.int64, types.uint64))
def good_escapes(data, p, slashes):
    """Whether each backslash of the block at p begins an escape."""
    while slashes != js.NO_BITS:
        place = p + lowest(slashes)
        c = byte(data, place + 1)
        known = c == 117 and js.hex_digits(data, place + 2) >= 0  # u
        for i in range(8):
            known |= c == js.ESCAPES[0, i]
        if not known:
            return False
        slashes &= slashes - js.ONE_BIT
    return True


@inner(types.int64(BYTES, types.int64, types.uint64))
def good_letters(data, p, beyond):
    """Number of bytes of the next block that belong to a character of this one; FAIL if one is not valid UTF-8.

    `beyond` are the non-ASCII bytes of the block at p, without those of a character that began before.
    """
    while beyond != js.NO_BITS:
        bit = lowest(beyond)
        length = js.utf8_length(data, p + bit)
        if length < 2:
            return js.FAIL
        if bit + length >= LANES:
            return bit + length - LANES
        beyond &= js.ALL_BITS << np.uint64(bit + length)
    return 0


@inner(types.boolean(BYTES, types.int64, types.int64, KEYS, types.uint64))
def new_key(data, p, part, keys, stamp):
    """Whether the key after the quote at p is new in the map `part` of the line `stamp`, by half of its hash."""
    end = js.text_stop(data, p + 1)
    key = extend(np.uint64(part), hash_ahead(data, p + 1, end, AS_IT_IS)) & LOW_HALF
    slot = find_stamped(keys, KEY_SLOTS - 1, key, stamp)
    if byte(data, end) != js.QUOTE or keys[slot] >> HALF >= stamp:
        return False
    keys[slot] = stamp << HALF | key
    return True


@inner(types.int64(BYTES, types.int64, KEYS, types.uint64))
def valid_end(data, p, keys, stamp):
    """From the opening bracket of an entity to the position after the closing one; FAIL if it is not valid JSON.

    Also FAIL for lines that are left to a decoder: nested deeper than DEEPEST, a repeated key of a part, more than
    MOST_KEYS keys. `keys` is a stamped table of KEY_SLOTS slots; `stamp` grows with each line.
    """
    most = MOST_KEYS
    maps, depth, part = js.NO_BITS, 0, 0  # which of the open brackets are maps, how many there are; the part's number
    state = VALUE
    escaping, inside, in_plain, in_letter = js.NO_BITS, js.NO_BITS, js.NO_BITS, 0
    while True:
        quotes, slashes = equal(data, p, js.QUOTE), equal(data, p, js.BACKSLASH)
        begins = slashes
        if escaping | slashes != js.NO_BITS:
            escaped = js.escaped_bits(slashes, escaping)
            begins = slashes & ~escaped
            escaping = begins >> np.uint64(63)
            quotes &= ~escaped
        strings = js.inside_strings(quotes) ^ inside
        breaks = below(data, p, js.SPACE)
        if breaks != js.NO_BITS:  # a newline, or a control character in a string, ends the walk
            breaks = (breaks & strings) | equal(data, p, js.NEWLINE) | equal(data, p, 0)
        here = js.ALL_BITS if breaks == js.NO_BITS else (breaks - js.ONE_BIT) & ~breaks
        blanks = equal(data, p, js.SPACE) | equal(data, p, TAB) | equal(data, p, RETURN)
        structure = equal_folded(data, p, js.OPEN_MAP) | equal_folded(data, p, js.CLOSE_MAP)
        structure |= equal(data, p, js.COLON) | equal(data, p, js.COMMA)
        outside = ~strings & ~quotes
        plain = outside & ~blanks & ~structure
        events = ((structure & outside) | (quotes & strings) | (plain & ~((plain << js.ONE_BIT) | in_plain))) & here
        ended = js.FAIL
        while events != js.NO_BITS:
            bit = lowest(events)
            events &= events - js.ONE_BIT
            c = byte(data, p + bit)
            may_be_value = state in (VALUE, VALUE_OR_END)
            in_map = maps & js.ONE_BIT != js.NO_BITS
            if c == js.QUOTE:
                if may_be_value:
                    state = COMMA_OR_END
                elif state in (KEY, KEY_OR_END):
                    if depth == PARTS:
                        most -= 1
                        if most < 0 or not new_key(data, p + bit, part, keys, stamp):
                            return js.FAIL
                    state = COLON_NEXT
                else:
                    return js.FAIL
            elif c == js.COLON:
                if state != COLON_NEXT:
                    return js.FAIL
                state = VALUE
            elif c == js.COMMA:
                if state != COMMA_OR_END:
                    return js.FAIL
                state = KEY if in_map else VALUE
            elif c in (js.OPEN_MAP, js.OPEN_LIST):
                if not may_be_value or depth == DEEPEST:
                    return js.FAIL
                state = KEY_OR_END if c == js.OPEN_MAP else VALUE_OR_END
                maps = (maps << js.ONE_BIT) | np.uint64(c == js.OPEN_MAP)
                depth += 1
                part += depth == PARTS
            elif c in (js.CLOSE_MAP, js.CLOSE_LIST):
                empty = KEY_OR_END if in_map else VALUE_OR_END
                if in_map != (c == js.CLOSE_MAP) or (state != COMMA_OR_END and state != empty):
                    return js.FAIL
                maps >>= js.ONE_BIT
                depth -= 1
                state = COMMA_OR_END
                if depth == 0:
                    ended = bit + 1
                    break
            else:
                end = plain_end(data, p + bit) if may_be_value else js.FAIL
                if end < 0 or byte(data, end) not in (js.SPACE, TAB, RETURN, js.COMMA, js.CLOSE_MAP, js.CLOSE_LIST):
                    return js.FAIL
                state = COMMA_OR_END
        kept = here
        if 0 <= ended < LANES:
            kept &= ~(js.ALL_BITS << np.uint64(ended))
        if not good_escapes(data, p, begins & kept & strings):
            return js.FAIL
        beyond = ~below(data, p, 128) & (js.ALL_BITS << np.uint64(in_letter)) & kept
        in_letter = good_letters(data, p, beyond) if beyond != js.NO_BITS else 0
        if in_letter < 0:
            return js.FAIL
        if ended >= 0:
            return p + ended
        if breaks != js.NO_BITS:
            return js.FAIL
        in_plain = plain >> np.uint64(63)
        inside = js.ALL_BITS if strings & js.TOP_BIT != js.NO_BITS else js.NO_BITS
        p += LANES
