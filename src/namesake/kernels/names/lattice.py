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
from namesake.kernels.names.cut import cut
from namesake.kernels.names.phrases import PHRASE, fame_in, name_in, packed_of, short_in
from namesake.kernels.simd import BYTES, byte, pointer, prefetch
from namesake.kernels.types import I64, U8, U64, own_record, record

MOST_TOKENS = 8
"""Tokens of the longest name that is searched for."""
FEWEST_UNKNOWN, MOST_UNKNOWN = 2, 5
"""Tokens of a name that is not in the KB."""
FEW = 64
"""Hypotheses that a text has room for at first."""


class Texts(NamedTuple):
    """The tokens of several texts, one after the other: those of text i are `indptr[i]` to `indptr[i + 1]`.

    `hashes` are those of normalised tokens, `starts` and `ends` bytes of their text; `tokens.py` lists the bits.
    """

    indptr: Annotated[Any, types.int64[::1]]
    styles: Annotated[Any, types.uint8[::1]]
    hashes: Annotated[Any, types.uint64[::1]]
    starts: Annotated[Any, types.int32[::1]]
    ends: Annotated[Any, types.int32[::1]]
    bits: Annotated[Any, types.uint8[::1]]
    classes: Annotated[Any, types.uint32[::1]]
    gaps: Annotated[Any, types.uint8[::1]]
    marks: Annotated[Any, types.uint8[::1]]


class Hypotheses(NamedTuple):
    """Runs of tokens, in the order of their first token, with the hash of each run and what the KB knows of it.

    Text i has the hypotheses `indptr[i]` to `indptr[i + 1]`. `known` is the packed number of `phrases.py`.
    """

    indptr: Annotated[Any, types.int64[::1]]
    first: Annotated[Any, types.int64[::1]]
    end: Annotated[Any, types.int64[::1]]
    key: Annotated[Any, types.uint64[::1]]
    known: Annotated[Any, types.uint64[::1]]


class Runs(NamedTuple):
    """The runs of tokens of a text that are looked up, by their first token."""

    begins: Annotated[Any, types.int64[::1]]
    keys: Annotated[Any, types.uint64[::1]]
    """The hash of the longest run from each first token on."""
    sizes: Annotated[Any, types.int64[::1]]
    """The number of its tokens."""
    known: Annotated[Any, types.uint64[::1]]
    """What the KB knows of each run: MOST_TOKENS numbers for each first token, one for each size."""
    active: Annotated[Any, types.int64[::1]]
    """The runs that continue."""


TEXTS, HYPOTHESES, RUNS = own_record(Texts), own_record(Hypotheses), own_record(Runs)


@kernel(TEXTS(U8, I64, I64, t.TABLES))
def cut_texts(data, offsets, heads, tables):
    """Cut texts into tokens. The first `heads[i]` bytes of text i are its title, which does not decide its style."""
    texts, most = len(offsets) - 1, 2
    for text in range(texts):
        most = max(most, (offsets[text + 1] - offsets[text]) // 2 + 2)
    room = (offsets[texts] - offsets[0]) // 2 + 2 * texts + most  # memory that is not touched costs nothing
    indptr, styles, tokens, base = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8), t.room_for_tokens(room), 0
    hashes, starts, ends, bits, classes, gaps, marks = tokens
    for text in range(texts):
        stop, head = cut(data, offsets[text], offsets[text + 1], tables, tokens, base, base + most), base
        while heads[text] > 0 and head < stop and starts[head] < heads[text]:
            head += 1
        for i in range(base, stop):  # what a lone dot parts is no more parted
            gaps[i] = t.SOFT if marks[i] & t.AFTER_DOT != 0 else gaps[i]
        styles[text] = t.style_of(bits, head if head < stop else base, stop)
        base = indptr[text + 1] = stop
    return Texts(
        *(indptr, styles, hashes[:base], starts[:base], ends[:base]),
        *(bits[:base], classes[:base], gaps[:base], marks[:base]),
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


@inlined(types.boolean(record(Texts), types.int64, types.int64, types.uint8))
def may_begin(texts, i, stop, style):
    """Whether a name may begin with token i of a text with this style."""
    if texts.marks[i] & t.HAS_CAPITAL != 0 or texts.bits[i] & t.IS_UPPER != 0:
        return True
    if style == t.LOWER:
        return texts.classes[i] & t.FUNCTION == 0
    return (texts.classes[i] & t.PARTICLE != 0 or texts.bits[i] & t.IS_NUMBER != 0) and begins_small(texts, i, stop)


@inlined(types.int64(record(Texts), types.int64, RUNS, U64, U8, U64))
def look_up(texts, text, runs, phrases, prefixes, common):
    """Look up all runs of tokens of a text that may be names, first those of one token; returns how many begin.

    Each step is a loop over all runs of one size, so that the processor waits for many places of memory at a time.
    """
    hashes, begins, keys_of, active, count = texts.hashes, runs.begins, runs.keys, runs.active, 0
    entries, mask = pointer(phrases), len(phrases) // PHRASE - 1
    bits_at, last_bit = pointer(prefixes), 8 * len(prefixes) - 1
    stop, style = texts.indptr[text + 1], texts.styles[text]
    for i in range(texts.indptr[text], stop):
        begins[count] = i
        count += may_begin(texts, i, stop, style)
    left = 0
    for k in range(count):
        i = begins[k]
        runs.sizes[k], runs.known[MOST_TOKENS * k], keys_of[k], active[left] = 1, ZERO, extend(ZERO, hashes[i]), k
        is_common = False
        if style == t.LOWER:
            is_common = common[find(pointer(common), len(common) - 1, hashes[i])] != FREE
        left += not (is_common or is_word(texts.bits[i], texts.classes[i]))
    for size in range(1, MOST_TOKENS + 1):
        for a in range(left):
            prefetch(entries, np.int64(keys_of[active[a]] & np.uint64(mask)) * PHRASE)
        for a in range(left):
            runs.known[MOST_TOKENS * active[a] + size - 1] = packed_of(entries, mask, keys_of[active[a]])
            runs.sizes[active[a]] = size
        waiting, left = left if size > 1 else count, 0
        for a in range(waiting):
            k = active[a] if size > 1 else a
            j = begins[k] + size
            if j < stop and (texts.gaps[j] == t.SOFT or texts.marks[j] & t.IS_JOINED != 0):
                keys_of[k], active[left] = extend(keys_of[k], hashes[j]), k
                prefetch(bits_at, np.int64(keys_of[k] & np.uint64(last_bit)) >> 3)
                left += 1
        waiting, left = left, 0
        for a in range(waiting):
            active[left] = active[a]
            left += may_continue(bits_at, last_bit, keys_of[active[a]])
        if left == 0:
            break
    return count


@kernel(HYPOTHESES(record(Texts), U64, U8, U64))
def list_hypotheses(texts, phrases, prefixes, common):
    """Every known run of tokens that is not part of a longer known name.

    In a text without capitals, a word of the table `common` by itself is no name.
    """
    count, room, most = 0, FEW * len(texts.styles) + FEW, 0
    for text in range(len(texts.styles)):
        most = max(most, texts.indptr[text + 1] - texts.indptr[text])
    runs = Runs(
        *(np.empty(most, np.int64), np.empty(most, np.uint64), np.empty(most, np.int64)),
        *(np.empty(MOST_TOKENS * most, np.uint64), np.empty(most, np.int64)),
    )
    first, end = np.empty(room, np.int64), np.empty(room, np.int64)
    key, known = np.empty(room, np.uint64), np.empty(room, np.uint64)
    indptr, marks, classes = np.zeros(len(texts.styles) + 1, np.int64), texts.marks, texts.classes
    for text in range(len(texts.styles)):
        begins, covered = look_up(texts, text, runs, phrases, prefixes, common), 0
        while count + MOST_TOKENS * begins > room:  # not token by token: Numba counts references
            room *= 2
            first, end, key, known = longer(first), longer(end), longer(key), longer(known)
        for k in range(begins):
            i, size, longest, capitals = runs.begins[k], runs.sizes[k], runs.begins[k], True
            for j in range(i, i + size if size > 1 else i):
                capitals &= fits_in(marks[j], texts.bits[j], classes[j]) and classes[j] & t.AND == 0
                packed = runs.known[MOST_TOKENS * k + j - i]
                if capitals and marks[j] & t.HAS_CAPITAL != 0 and (name_in(packed) >= 0 or fame_in(packed) > 0):
                    longest = j
            run = ZERO
            for j in range(i, i + size):
                packed, run = runs.known[MOST_TOKENS * k + j - i], extend(run, texts.hashes[j])
                is_known = name_in(packed) >= 0 or short_in(packed) >= 0
                if j >= max(longest, covered) and is_known and not ends_small(marks[j], classes[j], j > i):
                    first[count], end[count], key[count], known[count] = i, j + 1, run, packed
                    count += 1
            if longest > i and (marks[i] & t.AT_START == 0 or classes[i] & t.FUNCTION == 0):
                covered = max(covered, longest + 1)
        indptr[text + 1] = count
    return Hypotheses(indptr, first[:count], end[:count], key[:count], known[:count])


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
    indptr = np.zeros(len(texts.styles) + 1, np.int64)
    for text in range(len(texts.styles)):
        stop, last, covered = texts.indptr[text + 1], found.indptr[text + 1], 0
        i = texts.indptr[text] if texts.styles[text] == t.CASED else stop
        while i < stop or at < last:
            while i < stop and not in_person(marks[i], classes[i]):
                i += 1
            while at < last and (i == stop or firsts[at] < i):
                first[count], end[count], key[count], known[count] = firsts[at], ends[at], keys[at], packed[at]
                if ends[at] - firsts[at] > 1 and name_in(packed[at]) >= 0:
                    covered = max(covered, ends[at])
                at, count = at + 1, count + 1
            j, run = i, ZERO
            while j < stop and (j == i or gaps[j] == t.SOFT):
                if not in_person(marks[j], classes[j]):
                    particle = classes[j] & t.PARTICLE != 0 and j + 1 < stop
                    if not particle or not in_person(marks[j + 1], classes[j + 1]):
                        break
                run = extend(run, hashes[j])
                j += 1
            is_known, of_run = covered > i, at
            while of_run < last and firsts[of_run] < j and not is_known:
                is_known = ends[of_run] - firsts[of_run] > 1 and name_in(packed[of_run]) >= 0
                of_run += 1
            if not (is_known or j - i < FEWEST_UNKNOWN or j - i > MOST_UNKNOWN):
                while at < last and firsts[at] == i and ends[at] < j:
                    first[count], end[count], key[count], known[count] = firsts[at], ends[at], keys[at], packed[at]
                    at, count = at + 1, count + 1
                if at == last or firsts[at] > i or ends[at] > j:
                    first[count], end[count], key[count], known[count] = i, j, run, ZERO
                    count += 1
            i = j
        indptr[text + 1] = count
    return Hypotheses(indptr, first[:count], end[:count], key[:count], known[:count])
