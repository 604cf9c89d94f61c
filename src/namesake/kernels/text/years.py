"""Years in texts: numbers of four digits that are years by the characters and words right before and after them.

Units, amounts of money, clock times, counts and numbers that identify something are no years: 1500m, $1800, 1400 GMT,
1500 people, Flight 1549. The words come from the language: see `Language.measures` and the fields after it.

Also years of birth and death, and ages, right after a name: "(born 12 May 1964)", "(1910 – 1989)", "was born in 1940".
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import find
from namesake.kernels.search import sort_range
from namesake.kernels.simd import BYTES, LANES, NUMBERS, below, byte, lowest, pointer, prefetch
from namesake.kernels.text.characters import code_point, hash_token, letters_end
from namesake.kernels.types import I64, PAIRS, U8, U64, own_record, record

FIRST_YEAR, LAST_YEAR = 1000, 2049
ROUND, EARLY = 100, 1700  # a multiple of the first, or less than the second, often counts what follows
SHORTEST_PLURAL = 4  # letters
MEASURE, COUNTED, NUMBERED, OPENS, OWNS, JOINED, FUNCTION = 1, 2, 4, 8, 16, 32, 64
"""Bits of words: a unit; something counted; a word before an identifier; a word before a year; a word that makes
"the 2000 floods" a year; a word that a hyphen joins to a year; no noun."""

NOTHING = 0  # no character: the text begins or ends
ZERO, NINE, BLANK, NO_BREAK, CASE = 0x30, 0x39, 0x20, 0xA0, 0x20
HASH, DOLLAR, PERCENT, PLUS, COMMA, HYPHEN, DOT, COLON, EQUALS, AT = (ord(sign) for sign in "#$%+,-.:=@")
DEGREE, NUMERO, SMALL_S = 0xB0, 0x2116, ord("s")
CONTINUES, NOT_FIRST = 0x80, 0xC0  # a byte inside a character is 10xxxxxx
I, B = types.int64, types.boolean


class YearWords(NamedTuple):
    """The words that distinguish years, in lower case: a table of their hashes, and the bits of each slot."""

    keys: Annotated[Any, U64]
    bits: Annotated[Any, U8]


YEAR_WORDS = record(YearWords)


# characters
@inlined(B(I))
def is_digit(point):
    """Whether a character is a digit."""
    return point >= ZERO and point <= NINE


@inlined(B(I))
def is_capital(point):
    """Whether a character is one of A to Z."""
    return point >= 0x41 and point <= 0x5A


@inlined(B(I))
def is_letter(point):
    """Whether a character is one of A to Z or a to z."""
    return is_capital(point & ~CASE)


@inlined(B(I))
def is_glued(point):
    """Whether a character next to a number is part of the same word: a letter of scripts with spaces, a digit, _."""
    return is_letter(point) or is_digit(point) or point == 0x5F or (point >= 0xC0 and point <= 0x7FF)


@inlined(B(I))
def is_currency(point):
    """Whether a character is the sign of a currency."""
    return point == DOLLAR or (point >= 0xA2 and point <= 0xA5) or (point >= 0x20A0 and point <= 0x20CF)


@inner(I(BYTES, I, I))
def point_at(text, at, high):
    """The character from byte `at` on; NOTHING at the end of the text."""
    return code_point(text, at, high)[0] if at < high else np.int64(NOTHING)


@inner(I(BYTES, I, I))
def point_before(text, at, low):
    """The character that ends before byte `at`; NOTHING at the start of the text."""
    if at <= low:
        return np.int64(NOTHING)
    first = at - 1
    while first > low and byte(text, first) & NOT_FIRST == CONTINUES:
        first -= 1
    return point_at(text, first, at)


@inner(I(BYTES, I, I))
def digits_before(text, at, low):
    """How many digits end before byte `at`."""
    first = at
    while first > low and is_digit(byte(text, first - 1)):
        first -= 1
    return at - first


@inner(I(BYTES, I, I))
def digits_from(text, at, high):
    """How many digits begin at byte `at`."""
    end = at
    while end < high and is_digit(byte(text, end)):
        end += 1
    return end - at


@inner(types.UniTuple(types.int64, 2)(BYTES, I, I))
def next_number(data, at, end):
    """The end of the next number, and its value, -1 if it has more than four digits; `end` and -1 if there is none."""
    while at < end and not is_digit(data[at]):
        at += 1
    begin, number = at, np.int64(0)
    while at < end and is_digit(data[at]):
        number = 10 * number + np.int64(data[at]) - ZERO if at - begin < 4 else number
        at += 1
    return at, number if 0 < at - begin <= 4 else np.int64(-1)


@inner(I(BYTES, I, I, YEAR_WORDS))
def word_bits(text, start, end, words):
    """The bits of a word of letters from A to Z, whatever its case; 0 for an unknown one."""
    slot = find(pointer(words.keys), len(words.keys) - 1, hash_token(text, start, end))
    return np.int64(words.bits[slot]) if end > start else np.int64(0)


# the characters that touch the number
@inner(B(BYTES, I, I))
def fits_before(text, start, low):
    """Whether the characters before the number allow a year."""
    point = point_before(text, start, low)
    if is_glued(point) or is_currency(point) or point in (HASH, PLUS, EQUALS, AT, NUMERO):
        return False
    count = digits_before(text, start - 1, low)
    if point == DOT and count > 0:  # 12.05.1996, but not 3.1415
        before = start - 1 - count
        if count > 2 or point_before(text, before, low) != DOT:
            return False
        return digits_before(text, before - 1, low) in (1, 2)
    if point == HYPHEN:  # 1939-1945, 12-05-1996 and mid-1990, but not 555-1234 and F-1500
        return count in (1, 2, 4) or (count == 0 and not is_capital(point_before(text, start - 1, low)))
    return True


@inner(B(BYTES, I, I, YEAR_WORDS))
def fits_behind(text, at, high, words):
    """Whether the characters after the number, from byte `at` on, allow a year."""
    point = point_at(text, at, high)
    if is_glued(point) or is_currency(point) or point in (PERCENT, DEGREE):
        return point | CASE == SMALL_S and not is_glued(point_at(text, at + 1, high))  # the 1990s
    count = digits_from(text, at + 1, high)
    if point == HYPHEN and count == 4:
        year = next_number(text, at + 1, high)[1]
        return year >= FIRST_YEAR and year <= LAST_YEAR
    if point == HYPHEN and count == 0:  # 1990-present, 1990-Olympics, not 1500-metre
        end = letters_end(text, at + 1, high)
        bits = word_bits(text, at + 1, end, words)
        is_name = bits & (MEASURE | COUNTED) == 0 and is_capital(point_at(text, at + 1, high))
        return bits & JOINED != 0 or end == at + 1 or is_name
    if point == HYPHEN:  # 1939-45
        return count <= 2
    if count == 0:
        return True
    if point == DOT:  # 1996.05.12, but not 1500.5
        behind = at + 1 + count
        return count <= 2 and point_at(text, behind, high) == DOT and digits_from(text, behind + 1, high) in (1, 2)
    if point == COMMA:  # 1996,1997, but not 1500,5
        return count == 4
    return point != COLON


# the words next to it
@inner(B(BYTES, I, I, I, I, I, YEAR_WORDS))
def fits_words(text, start, at, low, high, year, words):
    """Whether the words before and after the number, with blanks between, allow a year."""
    before = start
    while before > low and (byte(text, before - 1) <= BLANK or point_before(text, before, low) == NO_BREAK):
        before -= 1 if byte(text, before - 1) <= BLANK else 2
    sign = point_before(text, before, low)
    if before < start and (is_currency(sign) or sign in (HASH, NUMERO)):
        return False
    last = before - 1 if sign == DOT else before  # No. 1500, No.1500
    first = last
    while first > low and is_letter(byte(text, first - 1)):
        first -= 1
    left = word_bits(text, first, last, words) if last < start else np.int64(0)
    if left & NUMBERED != 0:
        return False
    opens, owns = sign != DOT and left & OPENS != 0, sign != DOT and left & OWNS != 0
    begin = at
    while begin < high and (byte(text, begin) <= BLANK or point_at(text, begin, high) == NO_BREAK):
        begin += 1 if byte(text, begin) <= BLANK else 2
    if begin == at:
        return True
    sign = point_at(text, begin, high)
    if is_currency(sign) or sign in (PERCENT, DEGREE):  # 1500 €, but not 1996 €5
        size = 1 if sign < CONTINUES else 2 if sign < 0x800 else 3
        return is_digit(point_at(text, begin + size, high))
    end = letters_end(text, begin, high)
    if end == begin or is_glued(point_at(text, end, high)):
        return True
    right = word_bits(text, begin, end, words)
    titled = is_capital(byte(text, begin)) and (end == begin + 1 or not is_capital(byte(text, begin + 1)))
    if right & MEASURE != 0:  # 1500 Metres, but not In 1996 Miles Davis
        return titled and opens
    if titled or opens:
        return True
    if right & COUNTED != 0:
        return False
    plural = end - begin >= SHORTEST_PLURAL and byte(text, end - 1) == SMALL_S and byte(text, end - 2) != SMALL_S
    counts = year % ROUND == 0 or year < EARLY
    return owns or not plural or not counts or right & FUNCTION != 0


@inner(B(BYTES, I, I, I, I, I, YEAR_WORDS))
def is_year(text, start, at, low, high, year, words):
    """Whether the number `year`, text[start:at], is a year; no byte before `low` or from `high` on is read."""
    if year < FIRST_YEAR or year > LAST_YEAR or not fits_before(text, start, low):
        return False
    if not fits_behind(text, at, high, words):
        return False
    return is_letter(point_at(text, at, high)) or fits_words(text, start, at, low, high, year, words)


# whole texts
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@inlined(I(BYTES, I, I, I))
def next_digits(text, at, end, last):
    """The next byte at which four digits, or beyond `last` a digit, may begin; 64 bytes can be read up to `last`."""
    while at < end and at <= last:
        digits = below(text, at, np.uint8(NINE + 1)) & ~below(text, at, np.uint8(ZERO))
        pairs = digits & (digits >> ONE)
        fours = pairs & (pairs >> TWO)
        if fours != NONE:
            return min(at + lowest(fours), end)
        at += LANES - 3
    while at < end and not is_digit(byte(text, at)):
        at += 1
    return at


@kernel(types.Tuple((types.int64[::1], types.float64[::1]))(U8, I64, YEAR_WORDS))
def years_of(data, offsets, words):
    """The years from 1000 to 2049 in each text, as ragged rows, ascending."""
    indptr, years = np.zeros(len(offsets), np.int64), np.empty(256, np.float64)
    size, first, last = 0, pointer(data), len(data) - LANES
    for text in range(len(offsets) - 1):
        begin, end = offsets[text], offsets[text + 1]
        at = next_digits(first, begin, end, last)
        while at < end:
            at, year = next_number(first, at, end)
            if is_year(first, at - 4, at, begin, end, year, words):
                if size == len(years):
                    grown = np.empty(2 * size, np.float64)  # not np.append, with which Numba loads SciPy
                    for i in range(size):
                        grown[i] = years[i]
                    years = grown
                years[size] = year
                size += 1
            at = next_digits(first, at, end, last)
        sort_range(years, indptr[text], size)
        indptr[text + 1] = size
    return indptr, years[:size].copy()


# years and ages after names
REACH = 160  # the number of bytes after a name that are read
SHORTEST_LIFE, YOUNGEST, OLDEST = 15, 10, 110
"""The years between two years in brackets that are those of a life; the ages that may follow a name."""
AHEAD = 4  # mentions
BIRTH, DEATH, AGE = range(3)


class Phrases(NamedTuple):
    """Phrases one after the other: phrase k is `texts[indptr[k]:indptr[k + 1]]`."""

    texts: Annotated[Any, BYTES]
    indptr: Annotated[Any, NUMBERS]
    count: Annotated[Any, types.int64]


PHRASES = own_record(Phrases)
SEMICOLON, OPEN, CLOSE = 0x3B, 0x28, 0x29
LONG_DASH = 0xE2  # the first byte of – and —, and of other signs between years


@inlined(types.int64(BYTES, I, I))
def past_blanks(data, at, end):
    """The first byte from `at` on that is not a blank."""
    while at < end and data[at] <= BLANK:
        at += 1
    return at


@inner(types.int64(BYTES, I, I, PHRASES))
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


@inner(types.UniTuple(types.int64, 2)(BYTES, I, I, YEAR_WORDS))
def next_year(data, at, end, words):
    """The end of the next year, and the year; `end` and -1 if there is none. No byte before `at` is read."""
    low, found, number = at, False, np.int64(-1)
    while at < end and not found:
        at, number = next_number(data, at, end)
        found = is_year(data, at - 4, at, low, end, number, words)
    return at, number if found else np.int64(-1)


@inner(types.int64(BYTES, I, I, PHRASES, YEAR_WORDS))
def year_behind(data, at, end, phrases, words):
    """The first year after the first of the phrases in data[at:end], -1 if there is none."""
    while at < end:
        behind = past_phrase(data, at, end, phrases)
        if behind > at:
            return next_year(data, behind, end, words)[1]
        at += 1
    return np.int64(-1)


@inner(types.UniTuple(types.int64, 2)(BYTES, I, I, PHRASES, PHRASES, YEAR_WORDS))
def in_brackets(data, at, end, born, died, words):
    """The years in brackets, or -1: the one after "born", the one after "died"; else two years with a dash between."""
    birth = year_behind(data, at, end, born, words)
    death = year_behind(data, at, end, died, words)
    if birth < 0 and death < 0:
        place, first = next_year(data, at, end, words)
        behind, second = next_year(data, place, end, words)
        if second >= 0 and second - first >= SHORTEST_LIFE and second - first <= OLDEST:
            for k in range(place, behind):
                if data[k] == HYPHEN or data[k] == LONG_DASH:
                    birth, death = first, second
    return birth, death


@inlined(types.UniTuple(types.int64, 3)(BYTES, I, I, PHRASES, PHRASES, YEAR_WORDS))
def behind_name(data, at, end, born, died, words):
    """The year of birth, the year of death and the age in data[at:end], which follows a name; -1 for each missing."""
    birth, death, age = np.int64(-1), np.int64(-1), np.int64(-1)
    at = past_blanks(data, at, end)
    if at < end and data[at] == OPEN:
        stop = at + 1
        while stop < end and data[stop] != OPEN and data[stop] != CLOSE:
            stop += 1
        birth, death = in_brackets(data, at + 1, stop, born, died, words)
        return birth, death, age
    comma = at < end and data[at] == COMMA
    at = past_blanks(data, at + 1, end) if comma else at
    phrase = past_phrase(data, at, end, born)
    if phrase > at:
        stop = phrase
        while stop < end and data[stop] != DOT and data[stop] != SEMICOLON and data[stop] != OPEN:
            stop += 1
        birth = next_year(data, phrase, stop, words)[1]
    elif comma and at < end and is_digit(data[at]):
        behind, number = next_number(data, at, end)
        ends = behind == end or data[behind] == COMMA or data[behind] == DOT or data[behind] == SEMICOLON
        if number >= YOUNGEST and number <= OLDEST and ends:
            age = number
    return birth, death, age


@kernel(types.Tuple((types.int64[::1], types.float64[:, ::1]))(U8, I64, I64, I64, PAIRS, U8, I64, U8, I64, YEAR_WORDS))
def vitals(data, offsets, article, span_indptr, spans, born, born_indptr, died, died_indptr, words):
    """The mentions that one of these numbers follows; and for each mention the year of birth, of death, and the age.

    They follow the first span that has any; NaN if there are none. Mention m is in text `article[m]`, whose bytes are
    `data[offsets[a]:offsets[a + 1]]`, at the byte spans `spans[span_indptr[m]:span_indptr[m + 1]]`; `born` and `died`
    are phrases one after the other; `words` distinguish years from other numbers.
    """
    told, tells, count = np.full((len(article), 3), np.nan), np.empty(len(article), np.int64), 0
    text, may_begin = pointer(data), np.zeros(256, np.bool_)
    may_begin[OPEN], may_begin[COMMA] = True, True  # few bytes after a name are of these
    for blank in range(BLANK + 1):
        may_begin[blank] = True
    for phrase in range(len(born_indptr) - 1):
        first = np.int64(born[born_indptr[phrase]]) | CASE
        may_begin[first], may_begin[first - CASE] = True, True
    births = Phrases(pointer(born), pointer(born_indptr), len(born_indptr) - 1)
    deaths = Phrases(pointer(died), pointer(died_indptr), len(died_indptr) - 1)
    for m in range(len(article)):
        a, soon = article[m], min(m + AHEAD, len(article) - 1)
        for k in range(span_indptr[soon], span_indptr[soon + 1]):
            prefetch(text, offsets[article[soon]] + spans[k, 1])
        for k in range(span_indptr[m], span_indptr[m + 1]):
            at = offsets[a] + spans[k, 1]
            end = min(at + REACH, offsets[a + 1])
            if at + 1 >= end or not may_begin[text[at + (text[at] <= BLANK)]]:
                continue
            found = behind_name(text, at, end, births, deaths, words)
            if max(found[0], found[1], found[2]) >= 0:
                for kind in range(3):
                    told[m, kind] = found[kind] if found[kind] >= 0 else np.nan
                tells[count] = m
                count += 1
                break
    return tells[:count].copy(), told
