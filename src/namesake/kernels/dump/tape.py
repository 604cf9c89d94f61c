"""Read a line of JSON: check that it is valid, note where its values are, and find the members of maps.

One pass, 64 bytes at a time: masks mark what is inside strings. Outside, structural characters and the beginnings of
numbers and words are checked one by one; inside, escapes. The caller has checked that the text is UTF-8.

Keys and values are numbered in their order in the text: 1 is the whole entity, and 0 stands for a missing value. `at`
has the position of each, and `past` the number of the next one that is not inside it.

Repeated keys in the maps of an entity's parts (labels, claims, sitelinks …) are found, because a loop over such a map
would use both, and JSON decoders use the last.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.dump import jsontext as js
from namesake.kernels.dump.tables import KEY_SLOTS, POINTERS, STAMP
from namesake.kernels.hash import AS_IT_IS, HALF, LOW_HALF, extend, find_stamped, hash_ahead
from namesake.kernels.simd import BYTES, LANES, below, byte, equal, equal_folded, first_bits, lowest

VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON_NEXT, COMMA_OR_END = range(6)  # what may stand next
DEEPEST = 62  # open brackets; deeper nesting is left to a decoder
PARTS = 2  # the depth of the keys that may occur only once: those of labels, claims …
MOST_KEYS = KEY_SLOTS // 2  # of all parts of a line; a line with more is left to a decoder
TAB, RETURN = 9, 13
TRUE, FALSE, NULL = js.literal("true"), js.literal("false"), js.literal("null")
ENTITY = 1


@inner(types.int64(BYTES, types.int64))
def digits_end(data, p):
    """From a digit to the position after the last one in a row; FAIL if there is none at p."""
    start = p
    while js.ZERO <= byte(data, p) <= js.NINE:
        p += 1
    return p if p > start else js.FAIL


@inner(types.boolean(BYTES, types.int64))
def good_plain(data, p):
    """Whether a number, true, false or null is at p, and then a blank, a comma or a closing bracket."""
    if js.at(data, p, TRUE) or js.at(data, p, NULL):
        p += 4
    elif js.at(data, p, FALSE):
        p += 5
    else:
        p += byte(data, p) == 45  # -
        p = p + 1 if byte(data, p) == js.ZERO else digits_end(data, p)
        if p >= 0 and byte(data, p) == 46:  # .
            p = digits_end(data, p + 1)
        if p >= 0 and byte(data, p) | 32 == 101:  # e
            p += 1
            p = digits_end(data, p + (byte(data, p) == 43 or byte(data, p) == 45))  # + -
    return p >= 0 and byte(data, p) in (js.SPACE, TAB, RETURN, js.COMMA, js.CLOSE_MAP, js.CLOSE_LIST)


@inner(types.boolean(BYTES, types.int64, types.uint64))
def good_escapes(data, p, slashes):
    """Whether each backslash of the block at p begins an escape."""
    while slashes != js.NO_BITS:
        place = p + lowest(slashes)
        c = byte(data, place + 1)
        if js.ESCAPES[c] == 0 and (c != 117 or js.hex_digits(data, place + 2) < 0):  # u
            return False
        slashes &= slashes - js.ONE_BIT
    return True


@inner(types.uint64(types.uint64, types.uint64))
def escaped_bits(slashes, carry):
    """The characters that a backslash escapes; `carry`: the last character before the block is such a backslash."""
    escaped = carry
    slashes &= ~carry
    while slashes != js.NO_BITS:
        bit = np.uint64(lowest(slashes))
        escaped |= (js.ONE_BIT << bit) << js.ONE_BIT
        slashes &= ~(((js.ONE_BIT << bit) << js.ONE_BIT) | (js.ONE_BIT << bit))
    return escaped


@inner(types.boolean(BYTES, types.int64, types.int64, POINTERS))
def new_key(data, p, part, to):
    """Whether the key after the quote at p is new in the map `part` of this line, by half of its hash."""
    end, stamp = js.text_stop(data, p + 1), np.uint64(to.counts[STAMP])
    key = extend(np.uint64(part), hash_ahead(data, p + 1, end, AS_IT_IS)) & LOW_HALF
    slot = find_stamped(to.keys, KEY_SLOTS - 1, key, stamp)
    if byte(data, end) != js.QUOTE or to.keys[slot] >> HALF >= stamp:
        return False
    to.keys[slot] = stamp << HALF | key
    return True


@inner(types.int64(BYTES, types.int64, types.boolean, POINTERS))
def read(data, p, check, to):
    """From the opening bracket of an entity to the position after the closing one; FAIL if it is not valid JSON.

    Also FAIL for lines that are left to a decoder: nested deeper than DEEPEST, an escape in a key; with `check`, a
    repeated key of a part, or more than MOST_KEYS of them.
    """
    to.counts[STAMP] += 1
    to.at[0] = p  # around the entity is nothing
    most = MOST_KEYS if check else 0
    size, around, depth, part, in_map = ENTITY, 0, 0, 0, False  # `around`: the innermost open bracket
    state, escaping, inside, in_plain = VALUE, js.NO_BITS, js.NO_BITS, js.NO_BITS
    while True:
        quotes, slashes = equal(data, p, js.QUOTE), equal(data, p, js.BACKSLASH)
        if escaping | slashes != js.NO_BITS:
            escaped = escaped_bits(slashes, escaping)
            slashes &= ~escaped
            escaping = slashes >> np.uint64(63)
            quotes &= ~escaped
        strings = quotes
        for shift in (1, 2, 4, 8, 16, 32):
            strings ^= strings << np.uint64(shift)  # from each opening quote up to its closing one
        strings ^= inside
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
        ended = 0
        while events != js.NO_BITS and ended == 0:
            place = p + lowest(events)
            events &= events - js.ONE_BIT
            c = byte(data, place)
            if c == js.COLON:
                if state != COLON_NEXT:
                    return js.FAIL
                state = VALUE
            elif c == js.COMMA:
                if state != COMMA_OR_END:
                    return js.FAIL
                state = KEY if in_map else VALUE
            elif c in (js.CLOSE_MAP, js.CLOSE_LIST):
                empty = KEY_OR_END if in_map else VALUE_OR_END
                if in_map != (c == js.CLOSE_MAP) or (state != COMMA_OR_END and state != empty):
                    return js.FAIL
                opened, around = around, to.past[around]
                to.past[opened] = size
                in_map, state = byte(data, to.at[around]) == js.OPEN_MAP, COMMA_OR_END
                depth -= 1
                ended = place + 1 - p if depth == 0 else 0
            else:  # a key or a value
                is_key = c == js.QUOTE and state in (KEY, KEY_OR_END)
                if not is_key and state not in (VALUE, VALUE_OR_END):
                    return js.FAIL
                to.at[size], to.past[size], state = place, size + 1, COMMA_OR_END
                if is_key:
                    state = COLON_NEXT
                    if not js.plain_text(data, place):
                        return js.FAIL
                    if check and depth == PARTS:
                        most -= 1
                        if most < 0 or not new_key(data, place, part, to):
                            return js.FAIL
                elif c in (js.OPEN_MAP, js.OPEN_LIST):
                    in_map = c == js.OPEN_MAP
                    state = KEY_OR_END if in_map else VALUE_OR_END
                    to.past[size], around = around, size
                    depth += 1
                    part += depth == PARTS
                    if depth > DEEPEST:
                        return js.FAIL
                elif c != js.QUOTE and not good_plain(data, place):
                    return js.FAIL
                size += 1
        kept = here & first_bits(ended) if ended else here
        if not good_escapes(data, p, slashes & kept & strings):
            return js.FAIL
        if ended or breaks != js.NO_BITS:
            return p + ended if ended else js.FAIL
        in_plain = plain >> np.uint64(63)
        inside = js.ALL_BITS if strings & js.TOP_BIT != js.NO_BITS else js.NO_BITS
        p += LANES


@inner(types.int64(BYTES, types.int64, js.Literal, POINTERS))
def member(data, value, key, to):
    """The last member of a map with a key; 0 if there is none, or no map; FAIL for a value that is not a map."""
    if value <= 0:
        return value
    if byte(data, to.at[value]) != js.OPEN_MAP:
        return js.FAIL
    found, one = 0, value + 1
    while one < to.past[value]:
        if js.at(data, to.at[one], key):
            found = one + 1
        one = to.past[one + 1]
    return found


@inner(types.int64(BYTES, types.int64, js.Literal, POINTERS))
def text_of(data, value, key, to):
    """The position of the text of a map's member; 0 if there is no such member, FAIL if it is not a text."""
    found = member(data, value, key, to)
    if found <= 0:
        return found
    return to.at[found] + 1 if byte(data, to.at[found]) == js.QUOTE else js.FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def as_map(data, value, to):
    """A value that is a map; 0 for an empty list, as PHP writes an empty map; FAIL for anything else."""
    if value <= 0 or byte(data, to.at[value]) == js.OPEN_MAP:
        return value
    return 0 if byte(data, to.at[value]) == js.OPEN_LIST and to.past[value] == value + 1 else js.FAIL
