"""Variants of a name: nicknames, initials, missing middle names, transliterations, misspellings, another order.

Names are filed under the sound of their last token and the first letter of their first; a query is compared with the
names of its drawer, and of its nicknames' drawers. For misspellings, names are filed under keys of their first and last
token, one of them without a letter. A misspelled name shares a key.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import ZERO, add_byte, extend, finish, hash_bytes, same_bytes, slot_of
from namesake.kernels.names.index import AFFIXES, MOST_TOKENS, NOBODY, SPACE, bare, letters_in, tokens
from namesake.kernels.names.sounds import LETTER_BITS, MOST_LETTERS, ROMANS, drawer, sound
from namesake.kernels.search import first_at_least
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import I32, I64, U8, U64, own_record, record

AHEAD = 16  # names whose texts are fetched from memory while others are compared
SAME = 1.0
NICKNAME, SOUND, INITIAL, UMLAUT, SURNAME_SOUND, MISSING = 0.85, 0.8, 0.7, 0.95, 0.7, 0.9  # what differences cost
LETTER_E, AOU = 0x65, (0x61, 0x6F, 0x75)
FEWEST, MOST = 2, 3  # tokens of a name with misspellings
SHORTEST, LONGEST = 5, 48  # letters of the correct token, bytes of the misspelled one
BITS_TO_A_SLIP = 4  # of which a name has about ten, and sets two bits
SLIP, REVERSED, MIDDLE = 0.6, 0.9, 0.6
"""The quality of a misspelling, of a reversed name, and of a name without the query's first token."""
RARE = 3  # labels of people that may begin, or end, with a misspelled token
RARE_MIDDLE = 10  # labels that may begin with a middle name by which a person is called
OFTEN = 4  # how many times as often a surname ends labels as it begins them


class Nicknames(NamedTuple):
    """For each first name, by its hash ascending, the hashes and sounding first letters of those it may stand for."""

    keys: Annotated[Any, U64]
    indptr: Annotated[Any, I64]
    hashes: Annotated[Any, U64]
    letters: Annotated[Any, U8]


class Known(NamedTuple):
    """Names by drawer and by the keys of misspellings, ascending, with the filter of these; all names and their table;
    the table of tokens."""

    drawers: Annotated[Any, U64]
    filed: Annotated[Any, I32]
    keys: Annotated[Any, U64]
    names: Annotated[Any, I32]
    openings: Annotated[Any, U8]
    offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]
    name_hashes: Annotated[Any, U64]
    name_slots: Annotated[Any, I32]
    token_hashes: Annotated[Any, U64]
    begins: Annotated[Any, I32]
    ends: Annotated[Any, I32]


class Name(NamedTuple):
    """A normalised name: where its tokens start (see `index.tokens`), and their hashes.

    Tokens `low` to `high` are those without titles and suffixes.
    """

    text: Annotated[Any, U8]
    starts: Annotated[Any, types.int64[::1]]
    hashes: Annotated[Any, types.uint64[::1]]
    low: Annotated[Any, types.int64]
    high: Annotated[Any, types.int64]


class Matches(NamedTuple):
    """Room for the names that are found, and how well each fits. Names without room are counted only."""

    names: Annotated[Any, types.int32[::1]]
    quality: Annotated[Any, types.float64[::1]]


class Scratch(NamedTuple):
    """Memory for the comparison of names, because Numba counts references to arrays where it makes them."""

    letters: Annotated[Any, types.uint8[::1]]
    heard: Annotated[Any, types.uint8[::1]]
    starts: Annotated[Any, types.int64[::1]]
    hashes: Annotated[Any, types.uint64[::1]]
    keys: Annotated[Any, types.uint64[::1]]


KNOWN, NICKNAMES, NAME = record(Known), record(Nicknames), own_record(Name)
MATCHES, SCRATCH = own_record(Matches), own_record(Scratch)


@inner(types.int64(MATCHES, types.int64, types.int64, types.float64))
def add(matches, count, name, likeness):
    """Add a name to the `count` matches, unless it does not fit at all; returns how many there are."""
    if likeness == 0.0:
        return count
    if count < len(matches.names):
        matches.names[count], matches.quality[count] = name, likeness
    return count + 1


@inner(types.boolean(NAME, types.int64, NAME, types.int64))
def initial_of(one, i, other, j):
    """Whether one of the two tokens is a single letter and the other begins with it."""
    if one.text[one.starts[i]] != other.text[other.starts[j]]:
        return False
    return one.starts[i + 1] - one.starts[i] == 2 or other.starts[j + 1] - other.starts[j] == 2


@inner(types.float64(NAME, U8, NAME, U64, ROMANS, types.uint8[::1]))
def first_likeness(query, heard, name, nicknames, romans, letters):
    """How well the first token of a query, which sounds like `heard`, fits the first token of a name.

    It is 0 if they contradict each other. Tokens of one or two letters never sound alike.
    """
    start, end = name.starts[0], name.starts[1] - 1
    hashed = hash_bytes(name.text, start, end)
    if hashed == query.hashes[query.low]:
        return SAME
    for nickname in nicknames:
        if nickname == hashed:
            return NICKNAME
    if initial_of(query, query.low, name, 0):
        return INITIAL
    if min(end - start, query.starts[query.low + 1] - 1 - query.starts[query.low]) > 2:
        size = sound(name.text, start, end, romans, letters, heard)
        same = size == len(heard)
        for k in range(size if same else 0):
            same = same and letters[k] == heard[k]
        if same:
            return SOUND
    return 0.0


@inner(types.boolean(U8, types.int64, types.int64, U8, types.int64, types.int64))
def differ_in_umlauts(one, start, end, other, begin, stop):
    """Whether two tokens differ only in umlauts: ae, oe or ue in one is a, o or u in the other."""
    before = np.uint8(0)
    while start < end and begin < stop:
        if one[start] == other[begin]:
            before = one[start]
            start, begin = start + 1, begin + 1
        elif before in AOU and one[start] == LETTER_E:
            before, start = one[start], start + 1
        elif before in AOU and other[begin] == LETTER_E:
            before, begin = other[begin], begin + 1
        else:
            return False
    return start == end and begin == stop


@inner(types.float64(NAME, NAME))
def rest_likeness(query, name):
    """How well the tokens after the first of a query fit those of a name whose last token sounds the same.

    Middle names of one side only cost little. If both names have some, they must agree in turn.
    """
    quality, own, last = SAME, query.high - 1, name.high - 1
    if query.hashes[own] != name.hashes[last]:
        ends = query.starts[own + 1], name.starts[last + 1]
        if min(ends[0] - query.starts[own], ends[1] - name.starts[last]) < 4:
            return 0.0
        umlauts = differ_in_umlauts(
            query.text, query.starts[own], ends[0] - 1, name.text, name.starts[last], ends[1] - 1
        )
        quality *= UMLAUT if umlauts else SURNAME_SOUND
    size = query.high - query.low
    if size != name.high:
        quality *= MISSING
    for i in range(1, min(size, name.high) - 1):
        if query.hashes[query.low + i] != name.hashes[i] and not initial_of(query, query.low + i, name, i):
            return 0.0
    return quality


@inner(types.int64(NAME, ROMANS, NICKNAMES, KNOWN, SCRATCH, MATCHES, types.int64))
def find_by_sound(query, romans, nicknames, known, scratch, matches, count):
    """Add the names of the query's drawers that it may be a variant of; equal names included."""
    text, starts, low, last = query.text, query.starts, query.low, query.high - 1
    letters, heard, name_starts, name_hashes, _ = scratch
    key = drawer(text, starts[low], starts[low + 1] - 1, starts[last], starts[last + 1] - 1, romans, letters)
    sounds = heard[: sound(text, starts[low], starts[low + 1] - 1, romans, heard, heard[:0])]
    nick = first_at_least(nicknames.keys, 0, len(nicknames.keys), query.hashes[low])
    begin = end = np.int64(0)
    if nick < len(nicknames.keys) and nicknames.keys[nick] == query.hashes[low]:
        begin, end = nicknames.indptr[nick], nicknames.indptr[nick + 1]
    others, first_letters = nicknames.hashes[begin:end], nicknames.letters[begin:end]
    for i in range(-1, len(others)):
        letter = key & LETTER_BITS if i < 0 else np.uint64(first_letters[i])
        seen = i >= 0 and letter == key & LETTER_BITS
        for j in range(i):
            seen = seen or np.uint64(first_letters[j]) == letter
        here = key & ~LETTER_BITS | letter
        at = len(known.drawers) if seen else first_at_least(known.drawers, 0, len(known.drawers), here)
        stop = at
        while stop < len(known.drawers) and known.drawers[stop] == here:
            prefetch(pointer(known.offsets), known.filed[stop])
            stop += 1
        for place in range(at, min(at + AHEAD, stop)):
            prefetch(pointer(known.texts), known.offsets[known.filed[place]])
        for place in range(at, stop):
            prefetch(pointer(known.texts), known.offsets[known.filed[min(place + AHEAD, stop - 1)]])
            number = known.filed[place]
            name_starts[0] = name_end = known.offsets[number]
            while known.texts[name_end] != SPACE:  # there are two tokens at least
                name_end += 1
            name_starts[1] = name_end + 1
            name = Name(known.texts, name_starts, name_hashes, 0, 0)
            like = first_likeness(query, sounds, name, others, romans, letters)
            if like > 0.0:
                size = tokens(known.texts, known.offsets[number], known.offsets[number + 1], name_starts, name_hashes)
                like *= rest_likeness(query, Name(known.texts, name_starts, name_hashes, 0, size))
                count = add(matches, count, number, like)
    return count


@inner(types.uint64(U8, types.int64, types.int64, types.int64, types.int64))
def hash_without(text, start, end, low, high):
    """The hash of text[start:end] without text[low:high]."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    for i in range(start, end):
        if i < low or i >= high:
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(text[i]))
    return finish(hashed, rest, length)


@inner(types.int64(types.uint64, U8, types.int64, types.int64, types.uint64[::1], types.int64))
def add_slips(other, text, start, end, keys, count):
    """Write the keys of a token beside the hash `other`: as it is, and without each letter but the first.

    Without either of two equal letters it is the same, so the second one stays.
    """
    keys[count] = extend(extend(ZERO, other), hash_bytes(text, start, end))
    count += 1
    before, at = start, start + 1
    while at < end and text[at] & 0xC0 == 0x80:
        at += 1
    while at < end:
        following = at + 1
        while following < end and text[following] & 0xC0 == 0x80:
            following += 1
        same = before > start and following - at == at - before
        for i in range(following - at if same else 0):
            same = same and text[before + i] == text[at + i]
        if not same:
            keys[count] = extend(extend(ZERO, other), hash_without(text, start, end, at, following))
            count += 1
        before, at = at, following
    return count


@kernel(types.int64(U8, I64, I32, types.uint64[::1], types.int32[::1]))
def list_slips(text, offsets, names, keys, meant):
    """Write the keys of these names of two or three tokens, with the name that each means; returns how many."""
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    count = 0
    for name in names:
        size = tokens(text, offsets[name], offsets[name + 1], at, hashes)
        if size < FEWEST or size > MOST or letters_in(text, at[size - 1], offsets[name + 1]) < SHORTEST:
            continue
        first = count
        count = add_slips(hashes[0], text, at[size - 1], offsets[name + 1], keys, count)
        if letters_in(text, at[0], at[1] - 1) >= SHORTEST:
            count = add_slips(hashes[size - 1], text, at[0], at[1] - 1, keys, count)
        for k in range(first, count):
            meant[k] = name
    return count


@inlined(types.int64(types.uint64, types.int64, types.int64))
def opening(word, letter, mask):
    """The bit of a word, by its hash, and the letter with which the other one begins; `mask`: the bits less one."""
    return np.int64(extend(word, np.uint64(letter)) & np.uint64(mask))


@kernel(types.uint8[::1](U8, I64, I32))
def slip_openings(text, offsets, names):
    """Bits that turn most words away before slips are looked for: set for each edge of these names as the right word.

    A slip leaves the first letter of the other word as it is.
    """
    bits = 8
    while bits < BITS_TO_A_SLIP * len(names):
        bits *= 2
    openings, seen = np.zeros(bits // 8, np.uint8), np.zeros(len(offsets) - 1, np.bool_)
    at, hashes = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS, np.uint64)
    for name in names:
        if seen[name]:
            continue
        seen[name] = True
        size = tokens(text, offsets[name], offsets[name + 1], at, hashes)
        for right, wrong in ((0, size - 1), (size - 1, 0)):
            if at[wrong] < offsets[name + 1]:
                bit = opening(hashes[right], np.int64(text[at[wrong]]), bits - 1)
                openings[bit >> 3] |= np.uint8(1 << (bit & 7))
    return openings


@inner(types.boolean(U8, types.int64, types.int64, U8, types.int64, types.int64))
def one_letter(wrong, start, end, right, begin, stop):
    """Whether wrong[start:end] has one letter less than right[begin:stop], more, another, or two exchanged."""
    same, tail, shorter = 0, 0, min(end - start, stop - begin)
    while same < shorter and wrong[start + same] == right[begin + same]:
        same += 1
    while same < shorter and wrong[start + same] & 0xC0 == 0x80:  # inside a letter of several bytes
        same -= 1
    while tail < shorter - same and wrong[end - 1 - tail] == right[stop - 1 - tail]:
        tail += 1
    while tail > 0 and wrong[end - tail] & 0xC0 == 0x80:
        tail -= 1
    start, end, begin, stop = start + same, end - tail, begin + same, stop - tail
    more, less = letters_in(wrong, start, end), letters_in(right, begin, stop)
    if more != 2 or less != 2 or end - start != stop - begin:
        return max(more, less) == 1
    size = 1
    while wrong[start + size] & 0xC0 == 0x80:
        size += 1
    here, there = pointer(wrong), pointer(right)
    swapped = same_bytes(here, start, there, stop - size, size)
    return swapped and same_bytes(here, start + size, there, begin, end - start - size)


@inner(types.int64(NAME, KNOWN, MATCHES, types.int64))
def find_other_order(query, known, matches, count):
    """Add the name that two tokens make in reversed order, or the last two of more.

    A reversed name begins with what is usually a surname. Of two first names the second counts if it, or the surname,
    is rare.
    """
    is_pair = query.high - query.low == 2
    one, two = (query.high - 1, query.low) if is_pair else (query.high - 2, query.high - 1)
    key = extend(extend(ZERO, query.hashes[one]), query.hashes[two])
    name = np.int64(known.name_slots[slot_of(known.name_hashes, key)])
    if name == NOBODY:
        return count
    given, surname = slot_of(known.token_hashes, query.hashes[one]), slot_of(known.token_hashes, query.hashes[two])
    if is_pair:
        usual = known.begins[given] >= OFTEN * known.ends[given]
        usual = usual and known.ends[surname] >= OFTEN * known.begins[surname]
        return add(matches, count, name, REVERSED if usual else 0.0)
    rare = known.begins[given] <= RARE_MIDDLE or known.ends[surname] <= RARE
    return add(matches, count, name, MIDDLE if rare and query.starts[one + 1] - query.starts[one] > 3 else 0.0)


@inner(types.boolean(NAME, NAME))
def same_middle(query, name):
    """Whether the middle names of a query and of a name agree, if both have one."""
    if query.high - query.low < MOST or name.high < MOST or query.hashes[query.low + 1] == name.hashes[1]:
        return True
    return initial_of(query, query.low + 1, name, 1)


@inner(types.int64(NAME, KNOWN, SCRATCH, MATCHES, types.int64))
def find_misspelled(query, known, scratch, matches, first):
    """Add the names of which a query is a misspelling, or another order.

    The first or the last token has one letter less, more, wrong or exchanged with its neighbour; its first letter is
    correct. A token with which several labels begin, or end, is no misspelling.
    """
    size, mask, count = (
        query.high - query.low,
        8 * len(known.openings) - 1,
        find_other_order(query, known, matches, first),
    )
    _, _, name_starts, name_hashes, keys = scratch
    for wrong, right in ((query.high - 1, query.low), (query.low, query.high - 1)):
        start, end = query.starts[wrong], query.starts[wrong + 1] - 1
        bit = opening(query.hashes[right], np.int64(query.text[start]), mask)
        if known.openings[bit >> 3] >> (bit & 7) & 1 == 0 or size > MOST or end - start > LONGEST:
            continue
        labels = known.ends if wrong > right else known.begins
        if labels[slot_of(known.token_hashes, query.hashes[wrong])] > RARE:
            continue
        for k in range(add_slips(query.hashes[right], query.text, start, end, keys, 0)):
            at = first_at_least(known.keys, 0, len(known.keys), keys[k])
            while at < len(known.keys) and known.keys[at] == keys[k]:
                number = known.names[at]
                at += 1
                end_of = tokens(known.texts, known.offsets[number], known.offsets[number + 1], name_starts, name_hashes)
                i, j = (end_of - 1, 0) if wrong > right else (0, end_of - 1)
                fits = name_hashes[j] == query.hashes[right] and one_letter(
                    query.text, start, end, known.texts, name_starts[i], name_starts[i + 1] - 1
                )
                for other in range(first, min(count, len(matches.names))):
                    fits = fits and matches.names[other] != number
                if fits and same_middle(query, Name(known.texts, name_starts, name_hashes, 0, end_of)):
                    count = add(matches, count, number, SLIP if size == end_of else SLIP * MISSING)
    return count


@inner(types.int64(NAME, ROMANS, NICKNAMES, KNOWN, SCRATCH, MATCHES, types.int64))
def find_similar(query, romans, nicknames, known, scratch, matches, count):
    """Add the names that may be meant by a query to the `count` matches; returns how many there are."""
    count = find_by_sound(query, romans, nicknames, known, scratch, matches, count)
    return find_misspelled(query, known, scratch, matches, count)


@kernel(
    types.Tuple((types.int64[::1], types.int32[::1], types.float64[::1]))(U8, I64, AFFIXES, ROMANS, NICKNAMES, KNOWN)
)
def find_variants(data, offsets, affixes, romans, nicknames, known):
    """Names that may be meant by each normalised query, as CSR: offsets, name ids, likeness.

    A name may be found twice: by its sound, and as a misspelling.
    """
    starts, hashes = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS, np.uint64)
    scratch = Scratch(
        *(np.empty(MOST_LETTERS, np.uint8), np.empty(MOST_LETTERS, np.uint8), np.empty(MOST_TOKENS + 1, np.int64)),
        *(np.empty(MOST_TOKENS, np.uint64), np.empty(LONGEST + 1, np.uint64)),
    )
    indptr, matches = np.zeros(len(offsets), np.int64), Matches(np.empty(64, np.int32), np.empty(64, np.float64))
    for number in range(len(offsets) - 1):
        count = tokens(data, offsets[number], offsets[number + 1], starts, hashes)
        low, high = bare(hashes, count, affixes, FEWEST)
        end = indptr[number]
        if high - low >= FEWEST and starts[count] == offsets[number + 1] + 1:
            query = Name(data, starts, hashes, low, high)
            end = find_similar(query, romans, nicknames, known, scratch, matches, indptr[number])
            if end > len(matches.names):
                names, quality = np.empty(2 * end, np.int32), np.empty(2 * end, np.float64)
                for k in range(indptr[number]):
                    names[k], quality[k] = matches.names[k], matches.quality[k]
                matches = Matches(names, quality)
                end = find_similar(query, romans, nicknames, known, scratch, matches, indptr[number])
        indptr[number + 1] = end
    return indptr, matches.names[: indptr[-1]].copy(), matches.quality[: indptr[-1]].copy()
