"""Years of birth and death, and ages, right after a name: "(born 12 May 1964)", "(1910 – 1989)", "was born in 1940"."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.simd import BYTES, NUMBERS, pointer, prefetch
from namesake.kernels.text.years import YEAR_WORDS, ZERO, is_digit, is_year
from namesake.kernels.types import I64, PAIRS, U8, own_record

REACH = 160
"""The number of bytes after a name that are read."""
SHORTEST_LIFE, YOUNGEST, OLDEST = 15, 10, 110
"""The years between two years in brackets that are those of a life; the ages that may follow a name."""
AHEAD = 4  # mentions
BIRTH, DEATH, AGE, KINDS = 0, 1, 2, 3
DOUBLES = types.CPointer(types.float64)


class Phrases(NamedTuple):
    """Phrases one after the other: phrase k is `texts[indptr[k]:indptr[k + 1]]`."""

    texts: Annotated[Any, BYTES]
    indptr: Annotated[Any, NUMBERS]
    count: Annotated[Any, types.int64]


PHRASES = own_record(Phrases)
BLANK, COMMA, DOT, SEMICOLON, OPEN, CLOSE, DASH = 0x20, 0x2C, 0x2E, 0x3B, 0x28, 0x29, 0x2D
LONG_DASH = 0xE2  # the first byte of – and —, and of other signs between years
CASE = 0x20  # the bit that distinguishes small letters from capitals


@inlined(types.int64(BYTES, types.int64, types.int64))
def past_blanks(data, at, end):
    """The first byte from `at` on that is not a blank."""
    while at < end and data[at] <= BLANK:
        at += 1
    return at


@inner(types.int64(BYTES, types.int64, types.int64, PHRASES))
def past_phrase(data, at, end, phrases):
    """The end of the longest phrase that begins at `at`, whatever its case; `at` if none does."""
    longest = at
    for phrase in range(phrases.count):
        start, size = phrases.indptr[phrase], phrases.indptr[phrase + 1] - phrases.indptr[phrase]
        same = 0
        while same < size and at + same < end and data[at + same] | CASE == phrases.texts[start + same] | CASE:
            same += 1
        if same == size:
            longest = max(longest, at + size)
    return longest


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64, types.int64))
def next_number(data, at, end):
    """The end of the next number, and its value, -1 if it has more than four digits; `end` and -1 if there is none."""
    while at < end and not is_digit(data[at]):
        at += 1
    begin, number = at, np.int64(0)
    while at < end and is_digit(data[at]):
        number = 10 * number + np.int64(data[at]) - ZERO if at - begin < 4 else number
        at += 1
    return at, number if 0 < at - begin <= 4 else np.int64(-1)


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64, types.int64, YEAR_WORDS))
def next_year(data, at, end, words):
    """The end of the next year, and the year; `end` and -1 if there is none. No byte before `at` is read."""
    low, found, number = at, False, np.int64(-1)
    while at < end and not found:
        at, number = next_number(data, at, end)
        found = is_year(data, at - 4, at, low, end, number, words)
    return at, number if found else np.int64(-1)


@inner(types.int64(BYTES, types.int64, types.int64, PHRASES, YEAR_WORDS))
def year_behind(data, at, end, phrases, words):
    """The first year after the first of the phrases in data[at:end], -1 if there is none."""
    while at < end:
        behind = past_phrase(data, at, end, phrases)
        if behind > at:
            return next_year(data, behind, end, words)[1]
        at += 1
    return np.int64(-1)


@inner(types.void(BYTES, types.int64, types.int64, PHRASES, PHRASES, YEAR_WORDS, DOUBLES, types.int64))
def in_brackets(data, at, end, born, died, words, told, row):
    """Write the years in brackets: the one after "born", the one after "died"; else two years with a dash between."""
    birth = year_behind(data, at, end, born, words)
    death = year_behind(data, at, end, died, words)
    if birth < 0 and death < 0:
        place, first = next_year(data, at, end, words)
        behind, second = next_year(data, place, end, words)
        if second >= 0 and second - first >= SHORTEST_LIFE and second - first <= OLDEST:
            for k in range(place, behind):
                if data[k] == DASH or data[k] == LONG_DASH:
                    birth, death = first, second
    if birth >= 0:
        told[row + BIRTH] = birth
    if death >= 0:
        told[row + DEATH] = death


@inlined(types.void(BYTES, types.int64, types.int64, PHRASES, PHRASES, YEAR_WORDS, DOUBLES, types.int64))
def behind_name(data, at, end, born, died, words, told, row):
    """Write the year of birth, the year of death and the age in data[at:end], which follows a name, to told[row:]."""
    at = past_blanks(data, at, end)
    if at < end and data[at] == OPEN:
        stop = at + 1
        while stop < end and data[stop] != OPEN and data[stop] != CLOSE:
            stop += 1
        in_brackets(data, at + 1, stop, born, died, words, told, row)
        return
    comma = at < end and data[at] == COMMA
    at = past_blanks(data, at + 1, end) if comma else at
    phrase = past_phrase(data, at, end, born)
    if phrase > at:
        stop = phrase
        while stop < end and data[stop] != DOT and data[stop] != SEMICOLON and data[stop] != OPEN:
            stop += 1
        year = next_year(data, phrase, stop, words)[1]
        if year >= 0:
            told[row + BIRTH] = year
    elif comma and at < end and is_digit(data[at]):
        behind, number = next_number(data, at, end)
        ends = behind == end or data[behind] == COMMA or data[behind] == DOT or data[behind] == SEMICOLON
        if number >= YOUNGEST and number <= OLDEST and ends:
            told[row + AGE] = number


@kernel(types.Tuple((types.int64[::1], types.float64[:, ::1]))(U8, I64, I64, I64, PAIRS, U8, I64, U8, I64, YEAR_WORDS))
def vitals(data, offsets, article, span_indptr, spans, born, born_indptr, died, died_indptr, words):
    """The mentions that one of these numbers follows; and for each mention the year of birth, of death, and the age.

    They follow the first span that has any; NaN if there are none. Mention m is in text `article[m]`, whose bytes are
    `data[offsets[a]:offsets[a + 1]]`, at the byte spans `spans[span_indptr[m]:span_indptr[m + 1]]`; `born` and `died`
    are phrases one after the other; `words` distinguish years from other numbers.
    """
    told, tells, count = np.full(KINDS * len(article), np.nan), np.empty(len(article), np.int64), 0
    text, numbers, may_begin = pointer(data), pointer(told), np.zeros(256, np.bool_)
    may_begin[OPEN], may_begin[COMMA] = True, True  # few bytes after a name are of these
    for blank in range(BLANK + 1):
        may_begin[blank] = True
    for phrase in range(len(born_indptr) - 1):
        first = np.int64(born[born_indptr[phrase]]) | CASE
        may_begin[first], may_begin[first - CASE] = True, True
    births = Phrases(pointer(born), pointer(born_indptr), len(born_indptr) - 1)
    deaths = Phrases(pointer(died), pointer(died_indptr), len(died_indptr) - 1)
    for m in range(len(article)):
        a, row, soon = article[m], KINDS * m, min(m + AHEAD, len(article) - 1)
        for k in range(span_indptr[soon], span_indptr[soon + 1]):
            prefetch(text, offsets[article[soon]] + spans[k, 1])
        for k in range(span_indptr[m], span_indptr[m + 1]):
            at = offsets[a] + spans[k, 1]
            end = min(at + REACH, offsets[a + 1])
            if at + 1 >= end or not may_begin[text[at + (text[at] <= BLANK)]]:
                continue
            behind_name(text, at, end, births, deaths, words, numbers, row)
            if not (np.isnan(numbers[row + BIRTH]) and np.isnan(numbers[row + DEATH]) and np.isnan(numbers[row + AGE])):
                tells[count] = m
                count += 1
                break
    return tells[:count].copy(), told.reshape(len(article), KINDS)
