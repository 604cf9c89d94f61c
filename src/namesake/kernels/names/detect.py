"""Names in raw text: the KB's names among a text's tokens, longest match first, and their short forms.

The rules are those of `oracle_mentions.Finder` in the tests.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import extend
from namesake.kernels.names.fold import LETTERS, WIDTHS
from namesake.kernels.names.tokens import (
    BEFORE_FIRM,
    CASED,
    COMMA,
    FIRM,
    FUNCTION,
    HARD,
    HONORIFIC,
    IS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    IS_JOINED,
    ORDINARY,
    SOFT,
    SUFFIX,
    TITLE,
    TOKENS,
    U64,
    cut,
    style_of,
)
from namesake.kernels.types import I32, I64, U8

BITS = types.uint8[::1]
SPANS = types.int64[:, ::1]
NOBODY, SEVERAL = -1, -2
SURE, LIKELY, FAIR = 80, 60, 30  # how much of a person's a name must be, in percent, by what the capitals say
WITHOUT_INITIAL, NO_PERSON = 1, 2  # bits of a mention
FIRM_WORDS = 3  # how far behind a name the word may stand that makes it a firm's

INDEX = types.Tuple((U64, I32, U8, U8, I64, I32))
"""The name index: hash table, its names, prefix bits; how much each is a person's; its bearers."""

MATCHES = types.int64[:, ::1]  # name, first token, end, whether an initial was left out, mention
NAME, FIRST, END, SKIPPED, MENTION = 0, 1, 2, 3, 4

PEOPLE = types.int64[:, ::1]
"""The people of a text: name, first token and end of the first full span, its first and end without titles and
suffixes, whether an initial is always left out, whether it is a title with a surname, how many full spans there are and
how many of them firms, and the place among the mentions."""
LOW, HIGH, WITHOUT, TITLED, FULL, FIRMS, ORDER, COLUMNS = 3, 4, 5, 6, 7, 8, 9, 10


@kernel(types.int64(INDEX, types.uint64))
def name_of(index, key):
    """The name with a hash, or NOBODY."""
    keys, slots, _, _, _, _ = index
    mask = np.uint64(len(keys) - 1)
    at = np.int64(key & mask)
    while slots[at] >= 0:
        if keys[at] == key:
            return np.int64(slots[at])
        at = np.int64(np.uint64(at + 1) & mask)
    return np.int64(NOBODY)


@kernel(
    types.boolean(BITS, BITS, BITS, types.int64, types.int64, types.int64, types.int64, types.int64),
)
def valid(bits, classes, gaps, first, end, skip, style, percent):
    """Whether the text lets tokens first to end be a person's name, of which it is `percent`."""
    titles = skip
    for i in range(first, end):
        if i == first or i > first + skip:
            titles += classes[i] & TITLE != 0
    if titles == end - first:
        return False
    head = bits[first]
    letter = head & IS_INITIALS != 0 and head & (IS_DOTTED | IS_JOINED) == 0
    function = classes[first] & FUNCTION != 0
    if style != CASED:
        return percent >= LIKELY and not function and not classes[end - 1] & FUNCTION and not letter
    if bits[end - 1] & IS_CAPITAL == 0:
        return False
    if function:
        return gaps[first] != HARD and percent >= SURE and not letter
    inside = head & IS_INITIALS != 0 and head & IS_JOINED == 0 and gaps[first] == SOFT  # as "E. Smith" in "Al E. Smith"
    if inside and first > 0 and bits[first - 1] & IS_CAPITAL != 0 and classes[first - 1] & (FUNCTION | HONORIFIC) == 0:
        return False
    return percent >= FAIR


@kernel(types.int64(TOKENS, types.int64, types.int64, INDEX, MATCHES, types.int64[::1]))
def match_names(tokens, count, style, index, matches, singles):
    """Find the full names, from left to right, the longest from each token on, and return how many.

    Most words are turned away by the prefix bit of the word and its follower. The search is written out here: calls
    that pass arrays count references, which costs more than the probes. A second search leaves out an initial.
    `singles` gets the tokens that might be short forms of a name, and `count` behind them.
    """
    hashes, _, bits, classes, gaps = tokens
    keys, slots, prefixes, percent, _, _ = index
    bit_mask, slot_mask = np.uint64(len(prefixes) * 8 - 1), np.uint64(len(keys) - 1)
    found = alone = 0
    at = 0
    while at < count:
        name, end, skip, searches = np.int64(NOBODY), at + 1, 0, 0
        if bits[at] & IS_CAPITAL != 0 if style == CASED else classes[at] & FUNCTION == 0:
            searches = 2 if at + 2 < count and bits[at + 1] & IS_INITIALS != 0 else 1
            singles[alone] = at
            alone += 1
        for skip in range(searches):
            key = extend(np.uint64(0), hashes[at])
            for i in range(at + 1, count):
                if gaps[i] == HARD or (gaps[i] == COMMA and classes[i] & (SUFFIX | HONORIFIC) == 0):
                    break
                if i <= at + skip:
                    continue
                key = extend(key, hashes[i])
                bit = np.int64(key & bit_mask)
                if prefixes[bit >> 3] >> (bit & 7) & 1 == 0:
                    break
                slot = np.int64(key & slot_mask)
                while slots[slot] >= 0 and keys[slot] != key:
                    slot = np.int64(np.uint64(slot + 1) & slot_mask)
                longer = slots[slot]
                if longer >= 0 and valid(bits, classes, gaps, at, i + 1, skip, style, np.int64(percent[longer])):
                    name, end = np.int64(longer), i + 1
            if name >= 0:
                break
        if name < 0:
            at += 1
            continue
        first = at
        while skip == 0 and end - first > 2 and classes[first] & HONORIFIC != 0:
            key = np.uint64(0)
            for i in range(first + 1, end):
                key = extend(key, hashes[i])
            plain = name_of(index, key)
            if plain < 0:
                break
            name, first = plain, first + 1
        matches[found, NAME], matches[found, FIRST] = name, first
        matches[found, END], matches[found, SKIPPED] = end, skip
        found += 1
        alone -= 1
        at = end
    singles[alone] = count
    return found


@kernel(types.boolean(INDEX, types.int64, types.int64))
def share_a_bearer(index, one, two):
    """Whether somebody bears both names."""
    indptr, rows = index[4], index[5]
    i, j = indptr[one], indptr[two]
    while i < indptr[one + 1] and j < indptr[two + 1]:
        if rows[i] == rows[j]:
            return True
        if rows[i] < rows[j]:
            i += 1
        else:
            j += 1
    return False


@kernel(types.boolean(BITS, BITS, BITS, types.int64, types.int64, types.int64))
def is_firm(bits, classes, gaps, count, at, style):
    """Whether the tokens from `at` on, behind a name, make it a firm's or a place's: "Inc.", "High School"."""
    for i in range(at, min(at + FIRM_WORDS, count)):
        if gaps[i] == HARD or (i > at and gaps[i] != SOFT) or (style == CASED and bits[i] & IS_CAPITAL == 0):
            return False
        if classes[i] & FIRM != 0:
            return True
        if classes[i] & BEFORE_FIRM == 0:
            return False
    return False


@kernel(types.int64(U64, types.int64[::1], types.uint64))
def seat(keys, taken, key):
    """Slot of a key in an open-addressing table, or the empty one where it would go."""
    mask = np.uint64(len(keys) - 1)
    at = np.int64(key & mask)
    while taken[at] != 0 and keys[at] != key:
        at = np.int64(np.uint64(at + 1) & mask)
    return at


@kernel(types.int64(TOKENS, INDEX, MATCHES, types.int64, PEOPLE))
def gather_people(tokens, index, matches, found, people):
    """Number the distinct names in the order of their first full span, tell each match which it is; how many.

    A title and a surname are the full name elsewhere in the text that the same person bears. A table tells who has a
    name already: a text may hold a hundred thousand.
    """
    hashes, _, _, classes, _ = tokens
    room = 8
    while room < 2 * found:
        room *= 2
    keys, taken, holder = np.empty(room, np.uint64), np.zeros(room, np.int64), np.empty(room, np.int64)
    count = 0
    for turn in range(2):  # full names first, titles with a surname second
        for m in range(found):
            first, end, skip = matches[m, FIRST], matches[m, END], matches[m, SKIPPED]
            titled = end - first - skip == 2 and classes[first] & HONORIFIC != 0  # "President Obama"
            if titled != (turn == 1):
                continue
            place = seat(keys, taken, np.uint64(matches[m, NAME]))
            person = holder[place] if taken[place] else np.int64(NOBODY)
            if titled and person == NOBODY:
                for p in range(count):
                    if people[p, TITLED] == 0 and hashes[people[p, HIGH] - 1] == hashes[end - 1]:
                        if share_a_bearer(index, people[p, NAME], matches[m, NAME]):
                            person = p
                            break
            if person == NOBODY:
                person = count
                count += 1
                low, high = first, end
                while high - low > 2 and classes[high - 1] & SUFFIX != 0:
                    high -= 1
                while high - low > 2 and classes[low] & HONORIFIC != 0:
                    low += 1
                people[person, NAME], people[person, FIRST], people[person, END] = matches[m, NAME], first, end
                people[person, LOW], people[person, HIGH], people[person, WITHOUT] = low, high, skip
                people[person, TITLED], people[person, FULL], people[person, FIRMS] = titled, 0, 0
            keys[place], taken[place], holder[place] = np.uint64(matches[m, NAME]), 1, person
            if people[person, NAME] == matches[m, NAME] and skip == 0:
                people[person, WITHOUT] = 0
            matches[m, MENTION] = person
    return count


@kernel(
    types.int64(types.uint64[::1], types.int64[::1], types.int64[::1], types.int64[::1], types.uint64),
)
def take_seat(keys, taken, surname, first_name, key):
    """The slot of a token, made ready where it is new."""
    at = seat(keys, taken, key)
    if taken[at] == 0:
        keys[at], taken[at], surname[at], first_name[at] = key, 1, NOBODY, NOBODY
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


@kernel(
    types.int64(
        TOKENS, types.int64, types.int64, MATCHES, types.int64, types.int64[::1], PEOPLE, types.int64, BITS, SPANS
    ),
)
def place_spans(tokens, count, style, matches, found, singles, people, known, covered, spans):
    """Write the spans of a text's people, full and short, as (person, first token, end); how many."""
    hashes, _, bits, classes, gaps = tokens
    room = 8
    while room < 4 * known:
        room *= 2
    mask = np.uint64(room - 1)
    keys, taken = np.empty(room, np.uint64), np.zeros(room, np.int64)
    surname, first_name = np.empty(room, np.int64), np.empty(room, np.int64)
    covered[:count] = 0
    for m in range(found):
        person = matches[m, MENTION]
        covered[matches[m, FIRST] : matches[m, END]] = 1
        people[person, FULL] += 1
        people[person, FIRMS] += is_firm(bits, classes, gaps, count, matches[m, END], style)
        at = take_seat(keys, taken, surname, first_name, hashes[people[person, HIGH] - 1])
        surname[at] = person if surname[at] == NOBODY else surname[at]
        if people[person, TITLED] == 0:
            at = take_seat(keys, taken, surname, first_name, hashes[people[person, LOW]])
            first_name[at] = person if first_name[at] in (NOBODY, person) else SEVERAL
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
            surname[seat(keys, taken, hashes[people[person, HIGH] - 1])] = person
            person = NOBODY if is_firm(bits, classes, gaps, count, end, style) else person
            m += 1
        else:
            place = np.int64(hashes[at] & mask)  # `seat`, but here for every word
            while (taken[place] != 0) & (keys[place] != hashes[at]):
                place = np.int64(np.uint64(place + 1) & mask)
            if taken[place] != 0 and surname[place] >= 0:
                person = surname[place]
                start = surname_start(tokens, at, style, covered, people, person)
            elif taken[place] != 0 and first_name[place] >= 0 and bits[at] & IS_INITIALS == 0:
                person = first_name[place]
                end = first_name_end(tokens, count, at, style, covered, people, person)
            if start < 0 or end < 0 or (person >= 0 and is_firm(bits, classes, gaps, count, end, style)):
                start, end, person = at, at + 1, np.int64(NOBODY)
        if person >= 0:
            spans[written, 0], spans[written, 1], spans[written, 2] = person, start, end
            written += 1
        at = end


RESULT = types.Tuple(
    (
        types.int64[::1],  # mentions of each text: offsets
        types.int32[::1],  # name of each mention
        types.int64[:, ::1],  # start and end byte of its first full span
        types.uint8[::1],  # its bits
        types.int64[::1],  # its spans: offsets
        types.int32[:, ::1],  # start and end character of each span
    )
)


@kernel(types.int64(types.int64[:, ::1], types.int64, PEOPLE, types.int64))
def order_people(matches, found, people, known):
    """Give the people of a text their places: in the order of their first full spans."""
    place = 0
    for m in range(found):
        person = matches[m, MENTION]
        if people[person, FIRST] == matches[m, FIRST] and people[person, NAME] == matches[m, NAME]:
            people[person, ORDER] = place
            place += 1
    return place


@kernel(types.Tuple((types.int64, types.int64))(U8, types.int64, types.int64, types.int64))
def count_characters(data, at, characters, to):
    """Go from byte `at`, before which there are so many characters, on or back to byte `to`."""
    for i in range(at, to):
        characters += data[i] & 0xC0 != 0x80
    for i in range(to, at):
        characters -= data[i] & 0xC0 != 0x80
    return to, characters


@kernel(RESULT(U8, I64, WIDTHS, LETTERS, U8, U64, U8, INDEX))
def find_mentions(data, offsets, widths, letters, kinds, word_keys, words, index):
    """The people whom texts name, by text, each with the spans of the name and its short forms."""
    texts = len(offsets) - 1
    most = 2
    for text in range(texts):
        most = max(most, (offsets[text + 1] - offsets[text]) // 2 + 2)
    places, bits, classes = np.empty((most, 2), np.int64), np.empty(most, np.uint8), np.empty(most, np.uint8)
    tokens = (np.empty(most, np.uint64), places, bits, classes, np.empty(most, np.uint8))
    matches, people = np.empty((most, 5), np.int64), np.empty((most, COLUMNS), np.int64)
    covered, spans, singles = np.empty(most, np.uint8), np.empty((most, 3), np.int64), np.empty(most + 1, np.int64)

    indptr = np.zeros(texts + 1, np.int64)
    names, found_at = np.empty(256, np.int32), np.empty((256, 2), np.int64)
    flags, sizes = np.empty(256, np.uint8), np.zeros(256, np.int64)
    ends = np.empty((1024, 2), np.int32)
    total = span_total = 0
    for text in range(texts):
        count = cut(data, offsets[text], offsets[text + 1], widths, letters, kinds, word_keys, words, tokens)
        style = style_of(bits, count)
        found = match_names(tokens, count, style, index, matches, singles)
        known = gather_people(tokens, index, matches, found, people)
        indptr[text + 1] = total + known
        if known == 0:
            continue
        written = place_spans(tokens, count, style, matches, found, singles, people, known, covered, spans)
        order_people(matches, found, people, known)
        while total + known > len(names):
            names, found_at = np.append(names, names), np.concatenate((found_at, found_at))
            flags, sizes = np.append(flags, flags), np.append(sizes, np.zeros_like(sizes))
        while span_total + written > len(ends):
            ends = np.concatenate((ends, ends))
        for p in range(known):
            m = total + people[p, ORDER]
            names[m] = people[p, NAME]
            found_at[m, 0], found_at[m, 1] = places[people[p, FIRST], 0], places[people[p, END] - 1, 1]
            firm = people[p, FIRMS] == people[p, FULL]
            flags[m] = (WITHOUT_INITIAL if people[p, WITHOUT] else 0) | (NO_PERSON if firm else 0)
            sizes[m] = 0
        for s in range(written):
            sizes[total + people[spans[s, 0], ORDER]] += 1
        write = np.empty(known, np.int64)
        place = span_total
        for p in range(known):
            write[p] = place
            place += sizes[total + p]
        at, characters = offsets[text], np.int64(0)
        for s in range(written):
            p = people[spans[s, 0], ORDER]
            at, characters = count_characters(data, at, characters, places[spans[s, 1], 0])
            ends[write[p], 0] = characters
            at, characters = count_characters(data, at, characters, places[spans[s, 2] - 1, 1])
            ends[write[p], 1] = characters
            write[p] += 1
        total += known
        span_total += written
    span_indptr = np.zeros(total + 1, np.int64)
    span_indptr[1:] = np.cumsum(sizes[:total])
    return (
        indptr,
        names[:total].copy(),
        found_at[:total].copy(),
        flags[:total].copy(),
        span_indptr,
        ends[:span_total].copy(),
    )
