"""Names in raw text: full names and the short forms that stand for them, with their spans.

The rules are those of `oracle_mentions.Finder` in the tests.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import FREE, find
from namesake.kernels.names.firms import is_firm
from namesake.kernels.names.matching import (
    BEGIN,
    BITS,
    END,
    FIRST,
    INDEX,
    MATCH_COLUMNS,
    MATCHES,
    MENTION,
    NAME,
    NOBODY,
    PLACES,
    match_names,
)
from namesake.kernels.names.people import (
    COLUMNS,
    FIRMS,
    FULL,
    HIGH,
    LOW,
    ORDER,
    PEOPLE,
    TITLED,
    WITHOUT,
    gather_people,
    order_people,
)
from namesake.kernels.names.tokens import (
    CASED,
    FUNCTION,
    HONORIFIC,
    IS_CAPITAL,
    IS_INITIALS,
    ORDINARY,
    SOFT,
    TABLES,
    TOKENS,
    cut,
    style_of,
)
from namesake.kernels.simd import pointer
from namesake.kernels.text.spans import BLOCK, count_characters
from namesake.kernels.types import I64, U8

SEVERAL = -2
SPANS = types.int64[:, ::1]  # person, first token, end
MARKS = 1024
LAST_MARK = np.uint64(MARKS - 1)  # a word has a mark by the lowest bits of its hash

SHORT_FORMS = types.Tuple((types.uint64[::1], PLACES, PLACES, BITS))
"""The surnames and first names of a text's people as a hash table: key, whose surname, whose first name; and marks, one
or more for each."""

MENTIONS = types.int64[:, ::1]
"""Mentions: name, whether an initial is left out, first and last byte of the first full span, how many spans."""
WHO, SKIPPED, FROM, TO, SIZE, MENTION_COLUMNS = 0, 1, 2, 3, 4, 5
ENDS = types.int32[:, ::1]  # spans: start and end in bytes, start and end in characters


@kernel(types.int64(types.uint64[::1], PLACES, PLACES, types.uint64))
def take_seat(keys, surname, first_name, key):
    """The slot of a token, made ready where it is new."""
    at = find(pointer(keys), len(keys) - 1, key)
    if keys[at] == FREE:
        keys[at], surname[at], first_name[at] = key, NOBODY, NOBODY
    return at


@kernel(types.int64(TOKENS, types.int64, types.int64, BITS, PEOPLE, types.int64))
def surname_start(tokens, at, style, covered, people, person):
    """Where the end of a person's name that token `at` ends begins; NOBODY where another name seems to end there."""
    hashes, _, bits, classes, gaps = tokens
    start, word = at, people[person, HIGH] - 1
    while word - 1 > people[person, LOW] and start > 0 and gaps[start] == SOFT and covered[start - 1] == 0:
        if hashes[start - 1] != hashes[word - 1]:
            break
        start -= 1
        word -= 1
    if style == CASED and start > 0 and gaps[start] == SOFT and covered[start - 1] == 0:
        if bits[start - 1] & IS_CAPITAL != 0 and classes[start - 1] & (HONORIFIC | FUNCTION) == 0:
            return np.int64(NOBODY)
    return start


@kernel(
    types.int64(TOKENS, types.int64, types.int64, types.int64, types.uint8[::1], PEOPLE, types.int64),
)
def first_name_end(tokens, count, at, style, covered, people, person):
    """Where the beginning of a person's name that token `at` begins ends; NOBODY where another name seems to begin."""
    hashes, _, bits, classes, gaps = tokens
    end, word = at + 1, people[person, LOW] + 1
    while word < people[person, HIGH] - 1 and end < count and gaps[end] == SOFT and covered[end] == 0:
        if hashes[end] != hashes[word]:
            break
        end += 1
        word += 1
    if style == CASED:
        if end < count and gaps[end] == SOFT and covered[end] == 0 and bits[end] & IS_CAPITAL != 0:
            return np.int64(NOBODY)
    elif end == at + 1 and classes[at] & (ORDINARY | FUNCTION | HONORIFIC) != 0:
        return np.int64(NOBODY)
    return end


@kernel(SHORT_FORMS(TOKENS, types.int64, types.int64, MATCHES, types.int64, PEOPLE, types.int64, BITS))
def enter_people(tokens, count, style, matches, found, people, known, covered):
    """Count the full spans of a text's people, say which tokens these cover, and file their surnames and first names.

    A surname is its first bearer's at first; a first name that several people have is nobody's.
    """
    hashes, _, bits, classes, gaps = tokens
    room = 8
    while room < 4 * known:
        room *= 2
    keys, surname, first_name = np.zeros(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64)
    marks = np.zeros(MARKS, np.uint8)
    covered[:count] = 0
    for m in range(found):
        person = matches[m, MENTION]
        covered[matches[m, FIRST] : matches[m, END]] = 1
        people[person, FULL] += 1
        people[person, FIRMS] += is_firm(bits, classes, gaps, count, matches[m, END], style == CASED)
        last, first = hashes[people[person, HIGH] - 1], hashes[people[person, LOW]]
        at = take_seat(keys, surname, first_name, last)
        surname[at] = person if surname[at] == NOBODY else surname[at]
        marks[np.int64(last & LAST_MARK)] = 1
        if people[person, TITLED] == 0:
            at = take_seat(keys, surname, first_name, first)
            first_name[at] = person if first_name[at] in (NOBODY, person) else SEVERAL
            marks[np.int64(first & LAST_MARK)] = 1
    return keys, surname, first_name, marks


@kernel(types.int64(TOKENS, types.int64, types.int64, MATCHES, types.int64, BITS, PLACES))
def likely_short_forms(tokens, count, style, matches, found, marks, singles):
    """Write the tokens outside of full names that `marks` lets be short forms, and `count` behind them; how many.

    Almost every word is looked at and almost none is one: the loop has no branch to foresee.
    """
    hashes, _, bits, classes, _ = tokens
    size = begin = 0
    for m in range(found + 1):
        for i in range(begin, matches[m, BEGIN] if m < found else count):
            singles[size] = i
            able = bits[i] & IS_CAPITAL != 0 if style == CASED else classes[i] & FUNCTION == 0
            size += able & (marks[np.int64(hashes[i] & LAST_MARK)] != 0)
        begin = matches[m, END] if m < found else count
    singles[size] = count
    return size


@kernel(
    types.int64(TOKENS, types.int64, types.int64, MATCHES, types.int64, PLACES, PEOPLE, types.int64, BITS, SPANS),
)
def place_spans(tokens, count, style, matches, found, singles, people, known, covered, spans):
    """Write the spans of a text's people, full and short, as (person, first token, end); how many."""
    hashes, _, bits, classes, gaps = tokens
    forms = enter_people(tokens, count, style, matches, found, people, known, covered)
    keys, surname, first_name, marks = forms
    short, mask = pointer(keys), len(keys) - 1
    likely_short_forms(tokens, count, style, matches, found, marks, singles)
    written = m = s = 0
    at = np.int64(0)
    while True:
        while singles[s] < at:
            s += 1
        at = min(singles[s], matches[m, FIRST]) if m < found else singles[s]
        if at == count:
            return written
        start, end, person = at, at + 1, np.int64(NOBODY)
        if m < found and matches[m, FIRST] == at:
            person, end = matches[m, MENTION], matches[m, END]
            surname[find(short, mask, hashes[people[person, HIGH] - 1])] = person
            person = np.int64(NOBODY) if is_firm(bits, classes, gaps, count, end, style == CASED) else person
            m += 1
        else:
            place = find(short, mask, hashes[at])
            if short[place] != FREE and surname[place] >= 0:
                person = surname[place]
                start = surname_start(tokens, at, style, covered, people, person)
            elif short[place] != FREE and first_name[place] >= 0 and bits[at] & IS_INITIALS == 0:
                person = first_name[place]
                end = first_name_end(tokens, count, at, style, covered, people, person)
            if start < 0 or end < 0 or (person >= 0 and is_firm(bits, classes, gaps, count, end, style == CASED)):
                start, end, person = at, at + 1, np.int64(NOBODY)
        if person >= 0:
            spans[written, 0], spans[written, 1], spans[written, 2] = person, start, end
            written += 1
        at = end


@kernel(types.int64(U8, types.int64, types.int64, types.int32[::1], types.boolean))
def character_of(data, begin, at, counts, ascii_only):
    """How many characters of a text stand before its byte `at`; `counts` are those of `count_characters`."""
    if ascii_only:
        return at
    block = at // BLOCK
    total = np.int64(counts[block])
    for i in range(begin + block * BLOCK, begin + at):
        total += data[i] & 0xC0 != 0x80
    return total


@kernel(types.int64(U8, types.int64, types.int64, TOKENS, PEOPLE, types.int64, SPANS, types.int64, MENTIONS, ENDS))
def write_mentions(data, begin, end, tokens, people, known, spans, written, mentions, ends):
    """Write the mentions of a text and their spans, in bytes and in characters; how many spans are people's."""
    places = tokens[1]
    mentions[:, SIZE] = 0
    for p in range(known):
        m = people[p, ORDER]
        if m != NOBODY:
            mentions[m, WHO], mentions[m, SKIPPED] = people[p, NAME], people[p, WITHOUT]
            mentions[m, FROM], mentions[m, TO] = places[people[p, FIRST], 0], places[people[p, END] - 1, 1]
    for s in range(written):
        m = people[spans[s, 0], ORDER]
        if m != NOBODY:
            mentions[m, SIZE] += 1
    write = np.cumsum(mentions[:, SIZE]) - mentions[:, SIZE]
    counts = np.empty((end - begin) // BLOCK + 1, np.int32)
    ascii_only = count_characters(data, begin, end, counts) == end - begin
    total = 0
    for s in range(written):
        m = people[spans[s, 0], ORDER]
        if m != NOBODY:
            start, stop = places[spans[s, 1], 0] - begin, places[spans[s, 2] - 1, 1] - begin
            ends[write[m], 0], ends[write[m], 1] = start, stop
            ends[write[m], 2] = character_of(data, begin, start, counts, ascii_only)
            ends[write[m], 3] = character_of(data, begin, stop, counts, ascii_only)
            write[m] += 1
            total += 1
    return total


@kernel(types.Tuple((PLACES, MENTIONS, ENDS))(U8, I64, TABLES, INDEX))
def find_mentions(data, offsets, tables, index):
    """The people whom texts name: how many each text has (offsets), the mentions, and their spans one after another."""
    texts = len(offsets) - 1
    most = 2
    for text in range(texts):
        most = max(most, (offsets[text + 1] - offsets[text]) // 2 + 2)
    places, bits, classes = np.empty((most, 2), np.int64), np.empty(most, np.uint8), np.empty(most, np.uint8)
    tokens = (np.empty(most, np.uint64), places, bits, classes, np.empty(most, np.uint8))
    matches, people = np.empty((most, MATCH_COLUMNS), np.int64), np.empty((most, COLUMNS), np.int64)
    covered, spans, singles = np.empty(most, np.uint8), np.empty((most, 3), np.int64), np.empty(most + 1, np.int64)

    indptr = np.zeros(texts + 1, np.int64)
    mentions, ends = np.empty((256, MENTION_COLUMNS), np.int64), np.empty((1024, 4), np.int32)
    total = span_total = 0
    for text in range(texts):
        begin, end = offsets[text], offsets[text + 1]
        count = cut(data, begin, end, tables, tokens, most)
        style = style_of(bits, count)
        found = match_names(tokens, count, style, index, matches, singles)
        if found > 0:
            known = gather_people(tokens, index, matches, found, people)
            written = place_spans(tokens, count, style, matches, found, singles, people, known, covered, spans)
            persons = order_people(matches, found, people)
            while total + persons > len(mentions):
                mentions = np.concatenate((mentions, mentions))
            while span_total + written > len(ends):
                ends = np.concatenate((ends, ends))
            span_total += write_mentions(
                *(data, begin, end, tokens, people, known, spans, written),
                *(mentions[total : total + persons], ends[span_total:]),
            )
            total += persons
        indptr[text + 1] = total
    return indptr, mentions[:total].copy(), ends[:span_total].copy()
