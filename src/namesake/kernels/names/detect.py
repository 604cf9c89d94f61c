"""Names in raw text: full names and the short forms that stand for them, with their spans.

The rules are those of `oracle_mentions.Finder` in the tests.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
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
    room_for_tokens,
    style_of,
)
from namesake.kernels.simd import pointer
from namesake.kernels.text.spans import BLOCK, count_characters
from namesake.kernels.types import I64, U8, own_record

SEVERAL = -2
SPANS = types.int64[:, ::1]  # person, first token, end
MARKS = 1024
LAST_MARK = np.uint64(MARKS - 1)  # a word has a mark by the lowest bits of its hash


class ShortForms(NamedTuple):
    """The surnames and first names of a text's people as a hash table, whose each is, and marks of all of them."""

    keys: Annotated[Any, types.uint64[::1]]
    surname: Annotated[Any, types.int64[::1]]
    first_name: Annotated[Any, types.int64[::1]]
    marks: Annotated[Any, types.uint8[::1]]


SHORT_FORMS = own_record(ShortForms)

MENTIONS = types.int64[:, ::1]
"""Mentions: name, whether an initial is left out, first and last byte of the first full span, how many spans."""
WHO, SKIPPED, FROM, TO, SIZE, MENTION_COLUMNS = 0, 1, 2, 3, 4, 5
ENDS = types.int32[:, ::1]  # spans: start and end in bytes, start and end in characters


@inlined(types.int64(SHORT_FORMS, types.uint64))
def file_word(forms, key):
    """The slot of a word that may be a short form, made ready where it is new."""
    at = find(pointer(forms.keys), len(forms.keys) - 1, key)
    if forms.keys[at] == FREE:
        forms.keys[at], forms.surname[at], forms.first_name[at] = key, NOBODY, NOBODY
    forms.marks[np.int64(key & LAST_MARK)] = 1
    return at


@inlined(types.int64(TOKENS, types.int64, types.int64, BITS, PEOPLE, types.int64))
def surname_start(tokens, at, style, covered, people, person):
    """Where the end of a person's name that token `at` ends begins; NOBODY where another name seems to end there."""
    hashes, bits, classes, gaps = tokens.hashes, tokens.bits, tokens.classes, tokens.gaps
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


@inlined(
    types.int64(TOKENS, types.int64, types.int64, types.int64, types.uint8[::1], PEOPLE, types.int64),
)
def first_name_end(tokens, count, at, style, covered, people, person):
    """Where the beginning of a person's name that token `at` begins ends; NOBODY where another name seems to begin."""
    hashes, bits, classes, gaps = tokens.hashes, tokens.bits, tokens.classes, tokens.gaps
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


@inlined(SHORT_FORMS(TOKENS, types.int64, types.int64, MATCHES, types.int64, PEOPLE, types.int64, BITS))
def enter_people(tokens, count, style, matches, found, people, known, covered):
    """Count the full spans of a text's people, say which tokens these cover, and file their surnames and first names.

    A surname is its first bearer's at first; a first name that several people have is nobody's.
    """
    hashes = tokens.hashes
    room = 8
    while room < 4 * known:
        room *= 2
    surname, first_name = np.empty(room, np.int64), np.empty(room, np.int64)
    forms = ShortForms(np.zeros(room, np.uint64), surname, first_name, np.zeros(MARKS, np.uint8))
    covered[:count] = 0
    for m in range(found):
        person = matches[m, MENTION]
        covered[matches[m, FIRST] : matches[m, END]] = 1
        people[person, FULL] += 1
        people[person, FIRMS] += is_firm(tokens, count, matches[m, END], style == CASED)
        at = file_word(forms, hashes[people[person, HIGH] - 1])
        surname[at] = person if surname[at] == NOBODY else surname[at]
        if people[person, TITLED] == 0:
            at = file_word(forms, hashes[people[person, LOW]])
            first_name[at] = person if first_name[at] in (NOBODY, person) else SEVERAL
    return forms


@inlined(types.int64(TOKENS, types.int64, types.int64, MATCHES, types.int64, BITS, PLACES))
def likely_short_forms(tokens, count, style, matches, found, marks, singles):
    """Write the tokens outside of full names that `marks` lets be short forms, and `count` behind them; how many.

    Almost every word is looked at and almost none is one: the loop has no branch to foresee.
    """
    hashes, bits, classes, mark = (
        pointer(tokens.hashes), pointer(tokens.bits), pointer(tokens.classes), pointer(marks)
    )  # fmt: skip
    size = begin = 0
    for m in range(found + 1):
        for i in range(begin, matches[m, BEGIN] if m < found else count):
            singles[size] = i
            able = bits[i] & IS_CAPITAL != 0 if style == CASED else classes[i] & FUNCTION == 0
            size += able & (mark[np.int64(hashes[i] & LAST_MARK)] != 0)
        begin = matches[m, END] if m < found else count
    singles[size] = count
    return size


@kernel(
    types.int64(TOKENS, types.int64, types.int64, MATCHES, types.int64, PLACES, PEOPLE, types.int64, BITS, SPANS),
)
def place_spans(tokens, count, style, matches, found, singles, people, known, covered, spans):
    """Write the spans of a text's people, full and short, as (person, first token, end); how many."""
    hashes, bits = tokens.hashes, tokens.bits
    forms = enter_people(tokens, count, style, matches, found, people, known, covered)
    keys, mask, surname, first_name = forms.keys, len(forms.keys) - 1, forms.surname, forms.first_name
    likely_short_forms(tokens, count, style, matches, found, forms.marks, singles)
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
            surname[find(pointer(keys), mask, hashes[people[person, HIGH] - 1])] = person
            person = np.int64(NOBODY) if is_firm(tokens, count, end, style == CASED) else person
            m += 1
        else:
            place = find(pointer(keys), mask, hashes[at])
            if keys[place] != FREE and surname[place] >= 0:
                person = surname[place]
                start = surname_start(tokens, at, style, covered, people, person)
            elif keys[place] != FREE and first_name[place] >= 0 and bits[at] & IS_INITIALS == 0:
                person = first_name[place]
                end = first_name_end(tokens, count, at, style, covered, people, person)
            if start < 0 or end < 0 or (person >= 0 and is_firm(tokens, count, end, style == CASED)):
                start, end, person = at, at + 1, np.int64(NOBODY)
        if person >= 0:
            spans[written, 0], spans[written, 1], spans[written, 2] = person, start, end
            written += 1
        at = end


@inlined(types.int64(U8, types.int64, types.int64, types.int32[::1], types.boolean))
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
    mentions[:, SIZE] = 0
    for p in range(known):
        m = people[p, ORDER]
        if m != NOBODY:
            mentions[m, WHO], mentions[m, SKIPPED] = people[p, NAME], people[p, WITHOUT]
            mentions[m, FROM], mentions[m, TO] = tokens.starts[people[p, FIRST]], tokens.ends[people[p, END] - 1]
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
            start, stop = tokens.starts[spans[s, 1]] - begin, tokens.ends[spans[s, 2] - 1] - begin
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
    tokens = room_for_tokens(most)
    matches, people = np.empty((most, MATCH_COLUMNS), np.int64), np.empty((most, COLUMNS), np.int64)
    covered, spans, singles = np.empty(most, np.uint8), np.empty((most, 3), np.int64), np.empty(most + 1, np.int64)

    indptr = np.zeros(texts + 1, np.int64)
    mentions, ends = np.empty((256, MENTION_COLUMNS), np.int64), np.empty((1024, 4), np.int32)
    total = span_total = 0
    for text in range(texts):
        begin, end = offsets[text], offsets[text + 1]
        count = cut(data, begin, end, tables, tokens, most)
        style = style_of(tokens.bits, count)
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
