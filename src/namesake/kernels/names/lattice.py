"""Hypotheses: every run of tokens in a text that is a name or a short form in the KB, or looks like a person's name.

Hypotheses of a text may overlap, and none is refused here because of its context: evidence functions describe the
context, the recipe scores the candidates and NIL, and the best set without overlaps remains. Two rules limit their
number. A hypothesis begins with a capital or a digit if the text uses capitals. One that is part of a longer known name
written with capitals is left out: "York" in "New York", but not "France" in "France and the United Nations".
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import FREE, ZERO, extend, find
from namesake.kernels.names import tokens as t
from namesake.kernels.names.cut import cut, mark_gaps
from namesake.kernels.names.phrases import PHRASE, fame_in, name_in, packed_of, short_in
from namesake.kernels.simd import BYTES, byte, pointer, prefetch
from namesake.kernels.types import I32, I64, U8, U64, own_record, record

MOST_TOKENS = 8
"""Tokens of the longest name that is searched for."""
FEWEST_UNKNOWN, MOST_UNKNOWN = 2, 5
"""Tokens of a name that is not in the KB."""
NEW_LINE, SPACE, AMPERSAND, QUOTE, LETTER_S, SMALL = 0x0A, 0x20, 0x26, 0x27, 0x73, 0x20
FEW_USES = 3
"""A word that is used in lower case more often is no name by itself in a text without capitals."""
AHEAD = 24
"""The distance in tokens of the phrases that are prefetched."""
FEW = 64
"""Hypotheses that a text has room for at first."""


class Texts(NamedTuple):
    """The tokens of several texts, one after the other: those of text i are `indptr[i]` to `indptr[i + 1]`.

    `hashes` are those of normalised tokens, `starts` and `ends` bytes of all texts; `tokens.py` lists the bits. `lines`
    are the numbers of lines, through all texts.
    """

    indptr: Annotated[Any, types.int64[::1]]
    styles: Annotated[Any, types.uint8[::1]]
    hashes: Annotated[Any, types.uint64[::1]]
    starts: Annotated[Any, types.int64[::1]]
    ends: Annotated[Any, types.int64[::1]]
    bits: Annotated[Any, types.uint8[::1]]
    classes: Annotated[Any, types.uint32[::1]]
    gaps: Annotated[Any, types.uint8[::1]]
    marks: Annotated[Any, types.uint8[::1]]
    lines: Annotated[Any, types.int64[::1]]


class Hypotheses(NamedTuple):
    """Runs of tokens, in the order of their first token, with the hash of each run and what the KB knows of it.

    Text i has the hypotheses `indptr[i]` to `indptr[i + 1]`. `known` is the packed number of `phrases.py`.
    """

    indptr: Annotated[Any, types.int64[::1]]
    first: Annotated[Any, types.int64[::1]]
    end: Annotated[Any, types.int64[::1]]
    key: Annotated[Any, types.uint64[::1]]
    known: Annotated[Any, types.uint64[::1]]


TEXTS, HYPOTHESES = own_record(Texts), own_record(Hypotheses)


@kernel(TEXTS(U8, I64, I64, t.TABLES))
def cut_texts(data, offsets, heads, tables):
    """Cut texts into tokens. The first `heads[i]` bytes of text i are its title, which does not decide its style."""
    texts, most = len(offsets) - 1, 2
    for text in range(texts):
        most = max(most, (offsets[text + 1] - offsets[text]) // 2 + 2)
    room = (offsets[texts] - offsets[0]) // 2 + 2 * texts + most  # memory that is not touched costs nothing
    hashes, classes = np.empty(room, np.uint64), np.empty(room, np.uint32)
    starts, ends, bits = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint8)
    gaps, marks = np.empty(room, np.uint8), np.empty(room, np.uint8)
    indptr, styles, base = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8), 0
    lines, line = np.empty(room, np.int64), 0
    for text in range(texts):
        begin = offsets[text]
        tokens = t.Tokens(
            *(hashes[base:], starts[base:], ends[base:], bits[base:], classes[base:], gaps[base:], marks[base:])
        )
        count = cut(data, begin, offsets[text + 1], tables, tokens, most)
        mark_gaps(data, tokens, count)
        head = 0
        while heads[text] > 0 and head < count and starts[base + head] < begin + heads[text]:
            head += 1
        at, line = begin, line + 1
        for i in range(base, base + count):
            for gap in range(at, starts[i]):
                line += data[gap] == NEW_LINE
            lines[i], at = line, starts[i] if bits[i] & t.IS_INITIALS != 0 else ends[i]
        styles[text] = t.style_of(tokens.bits, head if head < count else 0, count)
        base += count
        indptr[text + 1] = base
    return Texts(
        *(indptr, styles, hashes[:base], starts[:base], ends[:base]),
        *(bits[:base], classes[:base], gaps[:base], marks[:base], lines[:base]),
    )


@inner(types.boolean(record(Texts), types.int64, types.int64))
def begins_small(texts, i, stop):
    """Whether token i is a number before a token with a capital, or small words are: 20th Century Fox, al Qaeda."""
    while texts.classes[i] & t.PARTICLE != 0 or texts.bits[i] & t.IS_NUMBER != 0:
        if i + 1 >= stop or texts.gaps[i + 1] != t.SOFT:
            return False
        i += 1
        if texts.marks[i] & t.HAS_CAPITAL != 0:
            return True
    return False


@inlined(types.boolean(types.uint8, types.uint32))
def is_word(bits, classes):
    """Whether a token by itself is no name: a function word, unless it is written like US or U.S., or a number."""
    if classes & t.FUNCTION != 0:
        return bits & (t.IS_UPPER | t.IS_INITIALS) == 0
    return bits & t.IS_NUMBER != 0 and bits & t.IS_UPPER == 0


@inlined(types.boolean(types.uint8, types.uint8, types.uint32))
def fits_in(marks, bits, classes):
    """Whether a token inside a name is written as names are: a capital, a digit, or a small function word."""
    return marks & t.HAS_CAPITAL != 0 or bits & t.IS_NUMBER != 0 or classes & (t.FUNCTION | t.PARTICLE) != 0


@inlined(types.boolean(types.uint8, types.uint32, types.boolean))
def ends_small(marks, classes, several):
    """Whether a run of several tokens ends with a small function word: use of, time in."""
    return several and marks & t.HAS_CAPITAL == 0 and classes & t.FUNCTION != 0


@inner(types.boolean(U8, types.int64, types.int64))
def is_joined(data, begin, end):
    """Whether a name may reach over the bytes between two tokens: a possessive s (People's Republic) or & (AT&T)."""
    size = end - begin
    if size == 1 or (size == 3 and data[begin] == SPACE):
        return data[begin + size // 2] == AMPERSAND
    is_long = size == 5 and data[begin] == 0xE2 and data[begin + 1] == 0x80 and data[begin + 2] == 0x99
    return (is_long or (size == 3 and data[begin] == QUOTE)) and data[begin + size - 2] | SMALL == LETTER_S


@inlined(types.boolean(BYTES, types.int64, types.uint64))
def may_continue(prefixes, mask, key):
    """Whether a name in the KB may be, or begin with, two or more tokens with this hash."""
    bit = np.int64(key & np.uint64(mask))
    return byte(prefixes, bit >> 3) >> (bit & 7) & 1 != 0


@inner([types.int64[::1](types.int64[::1]), types.uint64[::1](types.uint64[::1])])
def longer(array):
    """The array with twice the room."""
    larger = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):  # Numba takes half a second to compile the assignment to a slice
        larger[i] = array[i]
    return larger


@kernel(HYPOTHESES(record(Texts), U8, U64, U8, U64, I32))
def list_hypotheses(texts, data, phrases, prefixes, keys, lower):
    """Every known run of tokens that is not part of a longer known name.

    In a text without capitals, a common word by itself is no name. `keys` is the KB's table of tokens, and `lower`
    counts their uses in lower case.
    """
    count, room = 0, FEW * len(texts.styles) + FEW
    first, end = np.empty(room, np.int64), np.empty(room, np.int64)
    key, known = np.empty(room, np.uint64), np.empty(room, np.uint64)
    indptr = np.zeros(len(texts.styles) + 1, np.int64)
    entries, mask, bits_at, last_bit = (
        pointer(phrases),
        len(phrases) // PHRASE - 1,
        pointer(prefixes),
        8 * len(prefixes) - 1,
    )
    hashes, marks, bits, classes, gaps = texts.hashes, texts.marks, texts.bits, texts.classes, texts.gaps
    for text in range(len(texts.styles)):
        style, stop, covered = texts.styles[text], texts.indptr[text + 1], 0
        while count + MOST_TOKENS * (stop - texts.indptr[text]) > room:  # not token by token: Numba counts references
            room *= 2
            first, end, key, known = longer(first), longer(end), longer(key), longer(known)
        for i in range(texts.indptr[text], stop):
            if i + AHEAD + 1 < stop and (style == t.LOWER or marks[i + AHEAD] & t.HAS_CAPITAL != 0):
                one = extend(ZERO, hashes[i + AHEAD])
                prefetch(entries, np.int64(one & np.uint64(mask)) * PHRASE)
                if style == t.LOWER:
                    prefetch(pointer(keys), np.int64(hashes[i + AHEAD] & np.uint64(len(keys) - 1)))
                prefetch(bits_at, np.int64(extend(one, hashes[i + AHEAD + 1]) & np.uint64(last_bit)) >> 3)
            if marks[i] & t.HAS_CAPITAL == 0 and bits[i] & t.IS_UPPER == 0:
                if style == t.LOWER:
                    if classes[i] & t.FUNCTION != 0:
                        continue
                elif (classes[i] & t.PARTICLE == 0 and bits[i] & t.IS_NUMBER == 0) or not begins_small(texts, i, stop):
                    continue
            run, low, longest, capitals = ZERO, count, i, True
            for j in range(i, min(i + MOST_TOKENS, stop)):
                if j > i and gaps[j] != t.SOFT:
                    if gaps[j] != t.HARD or not is_joined(data, texts.ends[j - 1], texts.starts[j]):
                        break
                run = extend(run, hashes[j])
                if j > i and not may_continue(bits_at, last_bit, run):
                    break
                capitals &= fits_in(marks[j], bits[j], classes[j]) and classes[j] & t.AND == 0
                packed = packed_of(entries, mask, run)
                if packed == ZERO or (j == i and is_word(bits[i], classes[i])):
                    continue
                if j == i and style == t.LOWER:
                    slot = find(pointer(keys), len(keys) - 1, hashes[i])
                    if keys[slot] != FREE and lower[slot] > FEW_USES:
                        continue
                is_name = name_in(packed) >= 0 or fame_in(packed) > 0
                if capitals and marks[j] & t.HAS_CAPITAL != 0 and is_name:
                    longest = j
                if (name_in(packed) >= 0 or short_in(packed) >= 0) and not ends_small(marks[j], classes[j], j > i):
                    first[count], end[count], key[count], known[count] = i, j + 1, run, packed
                    count += 1
            count = without_parts(end, low, count, max(longest, covered), first, key, known)
            opens_sentence = marks[i] & t.AT_START != 0 and classes[i] & t.FUNCTION != 0
            if longest > i and not opens_sentence:
                covered = max(covered, longest + 1)
        indptr[text + 1] = count
    return Hypotheses(indptr, first[:count], end[:count], key[:count], known[:count])


@inner(types.int64(types.int64[::1], *(types.int64,) * 3, types.int64[::1], types.uint64[::1], types.uint64[::1]))
def without_parts(end, low, count, covered, first, key, known):
    """Leave out the hypotheses from `low` on that end with token `covered` or before; returns how many remain."""
    kept = low
    for h in range(low, count):
        if end[h] > covered:
            first[kept], end[kept], key[kept], known[kept] = first[h], end[h], key[h], known[h]
            kept += 1
    return kept


@inlined(types.boolean(types.uint8, types.uint32))
def in_person(marks, classes):
    """Whether a token is written like a word of a person's name: a capital, and no word that is not part of names."""
    return marks & t.HAS_CAPITAL != 0 and classes & (t.NO_NAME | t.TITLE | t.FIRM_WORD) == 0


@kernel(HYPOTHESES(record(Texts), record(Hypotheses)))
def add_unknown(texts, found):
    """The same with runs of two to five capitalised words without a known name of several words, maybe misspelled.

    A run that is a short form is left out. What the KB knows of the runs is 0.
    """
    hashes, marks, classes, gaps = texts.hashes, texts.marks, texts.classes, texts.gaps
    firsts, ends, keys, packed = found.first, found.end, found.key, found.known
    count, at, room = 0, 0, len(firsts) + len(hashes) // FEWEST_UNKNOWN  # memory that is not touched costs nothing
    first, end = np.empty(room, np.int64), np.empty(room, np.int64)
    key, known = np.empty(room, np.uint64), np.empty(room, np.uint64)
    indptr, covered = np.zeros(len(texts.styles) + 1, np.int64), np.zeros(len(hashes), np.bool_)
    for h in range(len(firsts)):
        if ends[h] - firsts[h] > 1 and name_in(packed[h]) >= 0:
            for i in range(firsts[h], ends[h]):
                covered[i] = True
    for text in range(len(texts.styles)):
        i, stop, last = texts.indptr[text], texts.indptr[text + 1], found.indptr[text + 1]
        cased = texts.styles[text] == t.CASED
        while i < stop or at < last:
            j, run, is_known = i, ZERO, not cased
            while j < stop and (j == i or gaps[j] == t.SOFT):
                if not in_person(marks[j], classes[j]):
                    particle = j > i and j + 1 < stop and classes[j] & t.PARTICLE != 0
                    if not particle or not in_person(marks[j + 1], classes[j + 1]):
                        break
                run, is_known = extend(run, hashes[j]), is_known or covered[j]
                j += 1
            while at < last and (i >= stop or firsts[at] < i or (firsts[at] == i and ends[at] < j)):
                first[count], end[count], key[count], known[count] = firsts[at], ends[at], keys[at], packed[at]
                at, count = at + 1, count + 1
            is_known |= at < last and firsts[at] == i and ends[at] == j
            if FEWEST_UNKNOWN <= j - i <= MOST_UNKNOWN and not is_known:
                first[count], end[count], key[count], known[count] = i, j, run, ZERO
                count += 1
            i = max(j, i + 1)
        indptr[text + 1] = count
    return Hypotheses(indptr, first[:count], end[:count], key[:count], known[:count])
