"""Names in raw text: five passes over a text's tokens, each of which takes what those before have left.

Full names, of people and of things; short forms of the people; runs of capitals that nobody bears as they stand; a
title and a word; a lone word. The rules are those of `oracle_mentions.Finder` in the tests.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import ZERO
from namesake.kernels.names.bearers import LABELS, MOST_TOKENS, write_candidates
from namesake.kernels.names.cut import cut
from namesake.kernels.names.full import MATCH_COLUMNS, match_names
from namesake.kernels.names.gaps import mark_gaps
from namesake.kernels.names.headlines import (
    IN_LINE,
    IN_TITLE,
    SHORTEST,
    SHORTEST_ALONE,
    all_capitals,
    first_line,
    lower_ordinary_words,
    tokens_before,
)
from namesake.kernels.names.lone import place_all_lone, place_all_titled
from namesake.kernels.names.memory import (
    MOST_WORDS,
    REMEMBERED,
    ask_for_word,
    begins,
    finishes,
    look_up,
    read_ahead,
    recall,
)
from namesake.kernels.names.nicknames import match_nicknames
from namesake.kernels.names.page import (
    END,
    EVIDENCE,
    EXTRAS,
    FACTS,
    FIRST,
    FIRST_COUNT,
    HIGH,
    INDEX,
    KNOWN,
    LAST_COUNT,
    LOW,
    MOST_EXTRAS,
    MOST_LETTERS,
    NAME,
    NOBODY,
    OPEN,
    ORDER,
    PAGE,
    UNREAD,
    I,
    Page,
    known_from,
)
from namesake.kernels.names.people import gather_people
from namesake.kernels.names.runs import place_runs
from namesake.kernels.names.shorts import file_people, place_shorts
from namesake.kernels.names.tokens import (
    AFTER_DOT,
    ALL_CAPITALS,
    CASED,
    FUNCTION,
    HARD,
    HAS_CAPITAL,
    TABLES,
    TOKENS,
    first_bits,
    room_for_tokens,
    style_of,
)
from namesake.kernels.simd import LANES, equal, having, lowest, ones, pointer, without_lowest
from namesake.kernels.text.spans import BLOCK, count_characters
from namesake.kernels.types import I64, U8, own_record

DROPPED_OUT = -2  # the order of a mention without candidates
BYTES_TO_A_WORD = 8  # of text for each word that may be remembered
TABLES_ROOM = 6  # slots for each word that a name may begin with: mentions, and five words for each full name


class Output(NamedTuple):
    """What is found in texts: by mention, whole numbers and evidence, spans, candidates; and how many of each."""

    facts: Annotated[Any, types.int64[:, ::1]]
    evidence: Annotated[Any, types.float64[:, ::1]]
    span_count: Annotated[Any, types.int64[::1]]
    candidate_count: Annotated[Any, types.int64[::1]]
    ends: Annotated[Any, types.int32[:, ::1]]
    """Spans: start and end in bytes, start and end in characters."""
    rows: Annotated[Any, types.int32[::1]]
    quality: Annotated[Any, types.float64[::1]]
    sizes: Annotated[Any, types.int64[::1]]
    """How many mentions, spans and candidates there are."""


OUTPUT = own_record(Output)


@inlined(types.int64(U8, I, I, types.int32[::1], types.boolean))
def character_of(data, begin, at, counts, ascii_only):
    """How many characters of a text stand before its byte `at`; `counts` are those of `count_characters`."""
    if ascii_only:
        return at
    block = at // BLOCK
    total = np.int64(counts[block])
    for i in range(begin + block * BLOCK, begin + at):
        total += data[i] & 0xC0 != 0x80
    return total


@inlined(I(types.int64[::1], I, I, types.uint64))
def write_places(places, size, at, mask):
    """Write the places of the bits of a mask, counted from `at` on, behind the first `size`; how many there are."""
    while mask != ZERO:
        places[size] = at + lowest(mask)
        mask = without_lowest(mask)
        size += 1
    return size


@kernel(types.UniTuple(I, 3)(TOKENS, I, I, types.int64[::1], types.int64[::1]))
def list_able(tokens, count, style, able, starts):
    """Write the tokens that may be names of one word, and those with which a longer name may start.

    Returns how many there are of each, and how many of either kind.
    """
    marks, classes, gaps = pointer(tokens.marks), pointer(tokens.classes), pointer(tokens.gaps)
    marks[count], gaps[count] = np.uint8(0), np.uint8(HARD)  # behind the last one
    size = starting = others = 0
    for at in range(0, count, LANES):
        here, goes_on = first_bits(count - at), ~equal(gaps, at + 1, np.uint8(HARD))
        if style == CASED:
            fits = here & having(marks, at, np.uint8(HAS_CAPITAL))
            dot = here & having(marks, at + 1, np.uint8(AFTER_DOT))  # will.i.am
        else:
            fits, dot = ZERO, ZERO
            for i in range(at, min(at + LANES, count)):
                fits |= np.uint64(classes[i] & FUNCTION == 0) << np.uint64(i - at)
        size = write_places(able, size, at, fits)
        starting = write_places(starts, starting, at, (fits | dot) & goes_on)
        others += ones(dot & ~fits)
    return size, starting, size + others


@kernel(types.void(PAGE, I))
def clear(page, room):
    """Make a page ready for its mentions; its tables have so many slots."""
    for i in range(page.count):
        page.used[i], page.owner[i] = OPEN, NOBODY
        page.firsts[i] = page.shorts[i] = page.pair_names[i] = UNREAD
    for i in range(room):
        page.names[i] = page.words[i] = 0
    page.size[0] = 0


@kernel(I(PAGE, KNOWN))
def most_candidates(page, known):
    """How many candidates the mentions of a page may have."""
    total = 0
    for mention in range(page.size[0]):
        name = page.facts[mention * FACTS + NAME]
        total += page.facts[mention * FACTS + EXTRAS]
        total += known.indptr[name + 1] - known.indptr[name] if name >= 0 else 0
    return total


@inlined(OUTPUT(OUTPUT, I, I, I))
def with_room(output, mentions, spans, candidates):
    """The output with room for so many more mentions, spans and candidates."""
    facts, evidence, span_count, candidate_count, ends, rows, quality, sizes = output
    while sizes[0] + mentions > len(facts):
        facts, evidence = np.concatenate((facts, facts)), np.concatenate((evidence, evidence))
        span_count = np.concatenate((span_count, span_count))
        candidate_count = np.concatenate((candidate_count, candidate_count))
    while sizes[1] + spans > len(ends):
        ends = np.concatenate((ends, ends))
    while sizes[2] + candidates > len(rows):
        rows, quality = np.concatenate((rows, rows)), np.concatenate((quality, quality))
    return Output(facts, evidence, span_count, candidate_count, ends, rows, quality, sizes)


@kernel(types.void(PAGE, KNOWN))
def read_edges(page, known):
    """Read the first and the last word of all mentions, each by itself: see `read_ahead`."""
    unread = 0
    for mention in range(page.size[0]):
        for i in (page.facts[mention * FACTS + LOW], page.facts[mention * FACTS + HIGH] - 1):
            if page.firsts[i] == UNREAD and not recall(page, i):
                ask_for_word(page, known, i)
                page.unread[unread] = i
                unread += 1
    for k in range(unread):
        look_up(page, known, page.unread[k])


@kernel(I(PAGE, KNOWN, LABELS, TABLES, TOKENS, types.int64[::1], OUTPUT))
def write_mentions(page, known, labels, tables, tokens, where, output):
    """Write the mentions of a page that have candidates, in the order of their first spans; how many spans there are.

    `where` gets the tokens where spans begin, `tokens` is room for those of a label.
    """
    facts, evidence, span_count, candidate_count, _, rows, quality, sizes = output  # a field is counted at each use
    read_edges(page, known)
    spans = 0
    for at in range(page.count):
        mention = page.owner[at]
        if mention == NOBODY:
            continue
        order = page.facts[mention * FACTS + ORDER]
        if order == NOBODY:
            order, begin = sizes[0], sizes[2]
            low, high = page.facts[mention * FACTS + LOW], page.facts[mention * FACTS + HIGH]
            page.evidence[mention * EVIDENCE + FIRST_COUNT] = begins(page, known, low)
            page.evidence[mention * EVIDENCE + LAST_COUNT] = finishes(page, known, high - 1)
            end = write_candidates(page, known, mention, labels, tables, tokens, rows, quality, begin)
            if end > begin:
                for k in range(FACTS):
                    facts[order, k] = page.facts[mention * FACTS + k]
                for k in range(EVIDENCE):
                    evidence[order, k] = page.evidence[mention * EVIDENCE + k]
                facts[order, FIRST] = page.starts[page.facts[mention * FACTS + FIRST]]
                facts[order, END] = page.ends[page.facts[mention * FACTS + END] - 1]
                candidate_count[order], span_count[order] = end - begin, 0
                sizes[0], sizes[2] = order + 1, end
            else:
                order = np.int64(DROPPED_OUT)
            page.facts[mention * FACTS + ORDER] = order
        if order >= 0:
            span_count[order] += 1
            where[spans] = at
            spans += 1
    return spans


@kernel(types.void(U8, I, I, PAGE, types.int64[::1], I, I, OUTPUT))
def write_spans(data, begin, end, page, where, spans, first_mention, output):
    """Write the spans that begin at the tokens `where`, by mention, in bytes and in characters."""
    _, _, span_count, _, ends, _, _, sizes = output
    counts = np.empty((end - begin) // BLOCK + 1, np.int32)
    ascii_only = count_characters(data, begin, end, counts) == end - begin
    write = np.empty(sizes[0] - first_mention, np.int64)
    before = sizes[1]
    for m in range(len(write)):
        write[m] = before
        before += span_count[first_mention + m]
    for s in range(spans):
        first = where[s]
        m = page.facts[page.owner[first] * FACTS + ORDER] - first_mention
        start, stop = page.starts[first] - begin, page.ends[page.stop[first] - 1] - begin
        at = write[m]
        ends[at, 0], ends[at, 1] = start, stop
        ends[at, 2] = character_of(data, begin, start, counts, ascii_only)
        ends[at, 3] = character_of(data, begin, stop, counts, ascii_only)
        write[m] = at + 1
    sizes[1] = before


@kernel(types.Tuple((types.int64[::1], OUTPUT))(U8, I64, I64, TABLES, INDEX, LABELS))
def find_mentions(data, offsets, heads, tables, index, labels):
    """The people whom texts name: how many each text has (offsets), and the mentions.

    The first `heads[t]` bytes of a text are its title. How a text uses capitals is not for its title to say.
    """
    texts, most = len(offsets) - 1, 2
    for text in range(texts):
        most = max(most, (offsets[text + 1] - offsets[text]) // 2 + 2)
    room = 8
    while room < TABLES_ROOM * most:
        room *= 2
    known = known_from(index)
    tokens, label = room_for_tokens(most), room_for_tokens(MOST_TOKENS)
    matches, keys = np.empty((most, MATCH_COLUMNS), np.int64), np.empty(most, np.uint64)
    used, things, unread = np.empty(most, np.uint8), np.empty(most, np.uint8), np.empty(2 * most, np.int64)
    firsts, lasts, lowers = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    able, shorts = np.empty(most + 1, np.int64), np.empty(most, np.int32)
    remembered = 64
    while remembered < MOST_WORDS and remembered * BYTES_TO_A_WORD < offsets[texts] - offsets[0]:
        remembered *= 2
    memory = np.zeros(REMEMBERED * remembered, np.uint64)
    pair_names, pair_shorts = np.empty(most, np.int32), np.empty(most, np.int32)
    pair_things = np.empty(most, np.uint8)
    starts, owner, stop = np.empty(most + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    names, holder, words = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.uint64)
    surname, first_name, size = np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(1, np.int64)
    facts, evidence = np.empty(most * FACTS, np.int64), np.empty(most * EVIDENCE, np.float64)
    rows, quality = np.empty(most * MOST_EXTRAS, np.int32), np.empty(most * MOST_EXTRAS, np.float64)
    letters, wanted = np.empty(MOST_LETTERS + 16, np.uint8), np.empty(MOST_LETTERS, np.uint64)
    near = np.empty(MOST_LETTERS, np.int64)
    output = Output(
        *(np.empty((256, FACTS), np.int64), np.empty((256, EVIDENCE), np.float64), np.empty(256, np.int64)),
        *(np.empty(256, np.int64), np.empty((1024, 4), np.int32), np.empty(1024, np.int32), np.empty(1024, np.float64)),
        np.zeros(3, np.int64),
    )
    indptr, sizes = np.zeros(texts + 1, np.int64), output.sizes
    for text in range(texts):
        begin, end = offsets[text], offsets[text + 1]
        count = cut(data, begin, end, tables, tokens, most)
        head = tokens_before(tokens.starts, count, begin + heads[text])
        style = style_of(tokens.bits, head if head < count else 0, count)
        least = SHORTEST if style == ALL_CAPITALS else SHORTEST_ALONE
        if style == ALL_CAPITALS and head == 0:  # perhaps a headline alone
            style = CASED if first_line(tokens.starts, count, data, begin, end, least) == count else style
        mark_gaps(data, tokens, count)
        ables, starting, beginnings = list_able(tokens, count, style, able, starts)
        slots_used = 8
        while slots_used < TABLES_ROOM * beginnings:
            slots_used *= 2
        page = Page(
            *(pointer(data), count, style, pointer(tokens.hashes), pointer(tokens.starts), pointer(tokens.ends)),
            *(pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps), pointer(tokens.marks)),
            *(pointer(used), pointer(firsts), pointer(lasts), pointer(lowers), pointer(things), pointer(shorts)),
            *(pointer(memory), remembered - 1, pointer(unread), pointer(pair_names), pointer(pair_shorts)),
            *(pointer(pair_things), pointer(able), ables, pointer(owner), pointer(stop)),
            *(pointer(names), pointer(holder), pointer(words), pointer(surname), pointer(first_name)),
            *(slots_used - 1, pointer(facts), pointer(evidence), pointer(rows), pointer(quality), pointer(size)),
            *(pointer(letters), pointer(wanted), pointer(near)),
        )
        clear(page, slots_used)
        found = match_names(page, known, matches, keys, starts, starting)
        if style == CASED:
            found = match_nicknames(page, known, matches, keys, found)
        gather_people(page, known, matches, keys, found)
        if style == CASED:
            to_a_small = IN_TITLE if head > 0 else IN_LINE
            head = head if head > 0 else first_line(tokens.starts, count, data, begin, end, least)
            if head > 0 and all_capitals(page, head, to_a_small):
                lower_ordinary_words(page, known, head)
        if style == CASED:
            read_ahead(page, known)
        if page.size[0] > 0:
            file_people(page, matches, found)
            place_shorts(page, known, matches, found)
        if style == CASED:
            place_runs(page, known)
            place_all_titled(page, known)
            place_all_lone(page, known)
        if page.size[0] > 0:
            output = with_room(output, page.size[0], count, most_candidates(page, known))
            first_mention = sizes[0]
            spans = write_mentions(page, known, labels, tables, label, starts, output)
            write_spans(data, begin, end, page, starts, spans, first_mention, output)
        indptr[text + 1] = sizes[0]
    return indptr, output
