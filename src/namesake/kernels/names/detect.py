"""Names in raw text: five passes over a text's tokens, each of which takes what those before have left.

Full names, of people and of things; short forms of the people; runs of capitals that nobody bears as they stand; a
title and a word; a lone word. The rules are those of `oracle_mentions.Finder` in the tests.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import ONE, ZERO
from namesake.kernels.names.bearers import LABELS, MOST_TOKENS, ask_for_labels, settle, write_candidates
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
    BY_PERSON,
    DOUBLES,
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
    SMALL,
    UNREAD,
    I,
    Page,
    known_from,
)
from namesake.kernels.names.people import FEWER_NAMES, gather_people
from namesake.kernels.names.runs import place_runs
from namesake.kernels.names.shorts import file_people, place_shorts
from namesake.kernels.names.tokens import (
    AFTER_DOT,
    AFTER_HYPHEN,
    ALL_CAPITALS,
    CASED,
    FUNCTION,
    HARD,
    HAS_CAPITAL,
    TABLES,
    TOKENS,
    room_for_tokens,
    style_of,
)
from namesake.kernels.simd import LANES, NUMBERS, byte, equal, first_bits, having, lowest, ones, pointer, without_lowest
from namesake.kernels.text.spans import BLOCK, count_characters
from namesake.kernels.types import I64, U8, hold, own_record

SPAN = 4  # numbers for each span
DROPPED_OUT = -2  # the order of a mention without candidates
BYTES_TO_A_WORD = 8  # of text for each word that may be remembered
BYTES_TO_A_MENTION = 512  # of text for each mention that there is room for at first
EACH = 4  # spans and candidates for each mention that there is room for at first
TABLES_ROOM = 6  # slots for each word that a name may begin with: five words for each full name, and a free one


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


class Written(NamedTuple):
    """The output as pointers, which nobody counts, and how many mentions, spans and candidates it has room for."""

    facts: Annotated[Any, NUMBERS]
    evidence: Annotated[Any, DOUBLES]
    span_count: Annotated[Any, NUMBERS]
    candidate_count: Annotated[Any, NUMBERS]
    ends: Annotated[Any, SMALL]
    rows: Annotated[Any, SMALL]
    quality: Annotated[Any, DOUBLES]
    sizes: Annotated[Any, NUMBERS]
    mentions: Annotated[Any, I]
    spans: Annotated[Any, I]
    candidates: Annotated[Any, I]


OUTPUT, WRITTEN = own_record(Output), own_record(Written)


@inlined(WRITTEN(OUTPUT))
def written_to(output):
    """The pointers to the output."""
    return Written(
        *(pointer(output.facts.reshape(-1)), pointer(output.evidence.reshape(-1)), pointer(output.span_count)),
        *(pointer(output.candidate_count), pointer(output.ends.reshape(-1)), pointer(output.rows)),
        *(pointer(output.quality), pointer(output.sizes), len(output.facts), len(output.ends), len(output.rows)),
    )


@inlined(I(PAGE, I, I, types.int32[::1], types.boolean))
def character_of(page, begin, at, counts, ascii_only):
    """How many characters of a text stand before its byte `at`; `counts` are those of `count_characters`."""
    if ascii_only:
        return at
    block = at // BLOCK
    total = np.int64(counts[block])
    for i in range(begin + block * BLOCK, begin + at):
        total += byte(page.text, i) & 0xC0 != 0x80
    return total


@inlined(I(NUMBERS, I, I, types.uint64))
def write_places(places, size, at, mask):
    """Write the places of the bits of a mask, counted from `at` on, behind the first `size`; how many there are."""
    while mask != ZERO:
        places[size] = at + lowest(mask)
        mask = without_lowest(mask)
        size += 1
    return size


@inner(types.UniTuple(I, 3)(TOKENS, I, I, NUMBERS, NUMBERS))
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


@inlined(I(TOKENS, I))
def count_joined(tokens, count):
    """How many tokens without a capital a hyphen joins to the word before: behind a title they may be names, too."""
    marks, joined = pointer(tokens.marks), 0
    for i in range(count):
        joined += marks[i] & (AFTER_HYPHEN | HAS_CAPITAL) == AFTER_HYPHEN
    return joined


@inner(types.void(PAGE, I))
def clear(page, room):
    """Make a page ready for its mentions; its table of words has so many slots. Tokens behind the last one are open."""
    for i in range(page.count + LANES):
        page.used[i] = OPEN
    for column in (page.firsts, page.shorts, page.pair_names):
        for i in range(page.count):
            column[i] = UNREAD
    for i in range(room):
        page.words[i] = 0
    for i in range(room >> FEWER_NAMES):
        page.names[i] = 0
    page.size[0] = 0


@inner(I(PAGE, KNOWN))
def most_candidates(page, known):
    """How many candidates the mentions of a page may have."""
    total = 0
    for mention in range(page.size[0]):
        name = page.facts[mention * FACTS + NAME]
        total += page.facts[mention * FACTS + EXTRAS]
        total += known.indptr[name + 1] - known.indptr[name] if name >= 0 else 0
    return total


@inlined(types.boolean(WRITTEN, I, I, I))
def has_room(written, mentions, spans, candidates):
    """Whether the output has room for so many more mentions, spans and candidates."""
    fits = written.sizes[0] + mentions <= written.mentions and written.sizes[1] + spans <= written.spans
    return fits and written.sizes[2] + candidates <= written.candidates


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


@inner(types.void(PAGE, KNOWN))
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


@inlined(types.void(PAGE, KNOWN, I, I, WRITTEN))
def write_mention(page, known, mention, end, written):
    """Write a mention behind those before; its candidates are there already, and stop at `end`."""
    order, begin = written.sizes[0], written.sizes[2]
    from_facts, from_evidence = mention * FACTS, mention * EVIDENCE
    low, high = page.facts[from_facts + LOW], page.facts[from_facts + HIGH]
    page.evidence[from_evidence + FIRST_COUNT] = begins(page, known, low)
    page.evidence[from_evidence + LAST_COUNT] = finishes(page, known, high - 1)
    for k in range(FACTS):
        written.facts[order * FACTS + k] = page.facts[from_facts + k]
    for k in range(EVIDENCE):
        written.evidence[order * EVIDENCE + k] = page.evidence[from_evidence + k]
    written.facts[order * FACTS + FIRST] = page.starts[page.facts[from_facts + FIRST]]
    written.facts[order * FACTS + END] = page.ends[page.facts[from_facts + END] - 1]
    written.candidate_count[order], written.span_count[order] = end - begin, 0
    written.sizes[0], written.sizes[2], page.facts[from_facts + ORDER] = order + 1, end, order


@inner(I(PAGE, KNOWN, LABELS, TABLES, TOKENS, NUMBERS, WRITTEN))
def write_mentions(page, known, labels, tables, tokens, where, written):
    """Write the mentions of a page that have candidates, in the order of their first spans; how many spans there are.

    `where` gets the tokens where spans begin, `tokens` is room for those of a label.
    """
    ask_for_labels(page, known)
    read_edges(page, known)
    rows, quality, spans = written.rows, written.quality, 0
    for block in range(0, page.count, LANES):
        taken = equal(page.used, block, np.uint8(BY_PERSON))
        while taken != ZERO:
            at = block + lowest(taken)
            taken &= taken - ONE
            mention = page.owner[at]
            if mention == NOBODY:
                continue
            if page.facts[mention * FACTS + ORDER] == NOBODY:
                begin = written.sizes[2]
                end, open_question = write_candidates(page, known, mention, rows, quality, begin)
                if open_question:
                    end = settle(page, mention, labels, tables, tokens, rows, quality, begin, end)
                if end > begin:
                    write_mention(page, known, mention, end, written)
                else:
                    page.facts[mention * FACTS + ORDER] = DROPPED_OUT
            order = page.facts[mention * FACTS + ORDER]
            if order >= 0:
                written.span_count[order] += 1
                where[spans] = at
                spans += 1
    return spans


@inner(types.void(U8, I, I, PAGE, types.int32[::1], NUMBERS, I, I, WRITTEN))
def write_spans(data, begin, end, page, counts, where, spans, first_mention, written):
    """Write the spans that begin at the tokens `where`, by mention, in bytes and in characters. `counts` is room."""
    ascii_only = count_characters(data, begin, end, counts) == end - begin
    places, ends, before = page.unread, written.ends, written.sizes[1]
    for m in range(written.sizes[0] - first_mention):
        places[m] = before
        before += written.span_count[first_mention + m]
    for s in range(spans):
        first = where[s]
        m = page.facts[page.owner[first] * FACTS + ORDER] - first_mention
        start, stop = page.starts[first] - begin, page.ends[page.stop[first] - 1] - begin
        at = SPAN * places[m]
        ends[at], ends[at + 1] = np.int32(start), np.int32(stop)
        ends[at + 2] = np.int32(character_of(page, begin, start, counts, ascii_only))
        ends[at + 3] = np.int32(character_of(page, begin, stop, counts, ascii_only))
        places[m] += 1
    written.sizes[1] = before


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
    known = hold(known_from(index))
    tokens, label = room_for_tokens(most), room_for_tokens(MOST_TOKENS)
    matches, keys = np.empty((most, MATCH_COLUMNS), np.int64), np.empty(most, np.uint64)
    used, things, unread = np.empty(most + LANES, np.uint8), np.empty(most, np.uint8), np.empty(2 * most, np.int64)
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
    few = (offsets[texts] - offsets[0]) // BYTES_TO_A_MENTION + LANES
    output = Output(
        *(np.empty((few, FACTS), np.int64), np.empty((few, EVIDENCE), np.float64), np.empty(few, np.int64)),
        *(np.empty(few, np.int64), np.empty((EACH * few, SPAN), np.int32), np.empty(EACH * few, np.int32)),
        *(np.empty(EACH * few, np.float64), np.zeros(3, np.int64)),
    )
    indptr, counts, written = np.zeros(texts + 1, np.int64), np.empty(most, np.int32), written_to(output)
    for text in range(texts):
        begin, end = offsets[text], offsets[text + 1]
        count = cut(data, begin, end, tables, tokens, most)
        head = tokens_before(tokens.starts, count, begin + heads[text])
        style = style_of(tokens.bits, head if head < count else 0, count)
        least = SHORTEST if style == ALL_CAPITALS else SHORTEST_ALONE
        if style == ALL_CAPITALS and head == 0:  # perhaps a headline alone
            style = CASED if first_line(tokens.starts, count, data, begin, end, least) == count else style
        mark_gaps(data, tokens, count)
        ables, starting, beginnings = list_able(tokens, count, style, pointer(able), pointer(starts))
        slots_used, beginnings = 8, min(beginnings + count_joined(tokens, count), count)
        while slots_used < TABLES_ROOM * beginnings:
            slots_used *= 2
        page = hold(
            Page(
                *(pointer(data), count, style, pointer(tokens.hashes), pointer(tokens.starts), pointer(tokens.ends)),
                *(pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps), pointer(tokens.marks)),
                *(pointer(used), pointer(firsts), pointer(lasts), pointer(lowers), pointer(things), pointer(shorts)),
                *(pointer(memory), remembered - 1, pointer(unread), pointer(pair_names), pointer(pair_shorts)),
                *(pointer(pair_things), pointer(able), ables, pointer(owner), pointer(stop)),
                *(pointer(names), pointer(holder), pointer(words), pointer(surname), pointer(first_name)),
                *(slots_used - 1, pointer(facts), pointer(evidence), pointer(rows), pointer(quality), pointer(size)),
                *(pointer(letters), pointer(wanted), pointer(near)),
            )
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
            candidates, first_mention = most_candidates(page, known), written.sizes[0]
            if not has_room(written, page.size[0], count, candidates):
                output = with_room(output, page.size[0], count, candidates)
                written = written_to(output)
            spans = write_mentions(page, known, labels, tables, label, pointer(starts), written)
            write_spans(data, begin, end, page, counts, pointer(starts), spans, first_mention, written)
        indptr[text + 1] = written.sizes[0]
    return indptr, output
