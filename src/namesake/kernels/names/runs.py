"""Runs of capitals that are nobody's full name as they stand: words too many or too few, strangers, surname first."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.context import firm_follows
from namesake.kernels.names.full import first_and_last
from namesake.kernels.names.lone import place_initial, place_lone, surname_first
from namesake.kernels.names.memory import begins, finishes, in_lower, word_fame
from namesake.kernels.names.page import (
    BEGIN,
    COMPANY,
    DROPPED,
    EVIDENCE,
    FACTOR,
    HEAD,
    KNOWN,
    LAST_TWO,
    NOBODY,
    OPEN,
    PAGE,
    PAIR,
    REVERSED,
    THING,
    WIDE,
    B,
    I,
    ask_for,
    behind_comma,
    capital,
    follows,
    initials,
    is_open,
    listed,
    lone_letter,
    may_end,
    name_key,
    name_of,
    run_fame,
    short_of,
    soft,
)
from namesake.kernels.names.people import add_candidate, add_span, add_wider, mention_of, new_mention, raise_evidence
from namesake.kernels.names.shorts import STRANGER, file_run, file_word, place_run_shorts
from namesake.kernels.names.spelled import find_spelled
from namesake.kernels.names.tokens import (
    AND,
    FUNCTION,
    IS_DOTTED,
    IS_INITIALS,
    NAME_TITLE,
    NEVER,
    NUMERAL,
    PARTICLE,
    TITLE,
)
from namesake.kernels.simd import prefetch

MOST_WORDS = 7
ORDINARY_WORD = 20  # uses in lower case of a word that is hardly a name at both ends of a run
DROPPED_QUALITY, INNER_QUALITY, PART_QUALITY, LONGER_QUALITY = 0.8, 0.7, 0.8, 0.6
BEFORE_FAME, BEFORE_FIRST = 15.0, 20  # of a thing before a surname: Republican McCain
PLACE_FAME = 60.0


@inlined(B(PAGE, I))
def abbreviates(page, i):
    """Whether token i is an initial with a period: "A." is no article."""
    return page.bits[i] & (IS_INITIALS | IS_DOTTED) == IS_INITIALS | IS_DOTTED


@inlined(B(PAGE, I))
def stands_before(page, i):
    """Whether token i stands before a name and is no part of it: titles, and a nation or a house before a title."""
    if listed(page, i, NAME_TITLE | TITLE) or (listed(page, i, FUNCTION) and not abbreviates(page, i)):
        return True
    return listed(page, i, NEVER) and listed(page, i + 1, NEVER | NAME_TITLE | TITLE)


@inlined(I(PAGE, I))
def run_end(page, at):
    """Where a run of capitals ends: initials and particles belong to it, a numeral ends it, function words do not."""
    end = at + 1
    while end - at < MOST_WORDS and soft(page, end) and page.used[end] == OPEN:
        if end - at > 1 and listed(page, end - 1, NUMERAL):
            break
        particle = listed(page, end, PARTICLE)
        if listed(page, end, FUNCTION) and not particle and not abbreviates(page, end):
            break
        particle &= soft(page, end + 1) and (capital(page, end + 1) or listed(page, end + 1, PARTICLE))
        if not may_end(page, end) and not particle:
            break
        end += 1
    while end > at + 1 and not may_end(page, end - 1):
        end -= 1
    return end


@kernel(B(PAGE, KNOWN, types.uint64, I, I, types.float64, types.float64, types.float64, types.float64))
def find_wide(page, known, key, first, end, least, quality, longer_quality, thing):
    """Add a span of those of whom the run is a part of the name, who have a fame of `least`; whether there are any.

    `longer_quality` is that of names which go on behind the run; 0 leaves these and heads out.
    """
    short = short_of(known, key)
    if short < 0:
        return False
    mention = mention_of(page, key)
    fresh = mention == NOBODY
    some = not fresh
    for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
        form, row = known.short_forms[k], np.int64(known.short_rows[k])
        part = form in (PAIR, LAST_TWO) or (longer_quality > 0.0 and form in (HEAD, BEGIN))
        if not part or known.fame[row] < least or not fresh:
            continue
        if mention == NOBODY:
            mention = new_mention(page, key, np.int64(NOBODY), np.int64(WIDE), first, end)
        add_candidate(page, mention, row, longer_quality if form == BEGIN else quality)
        some = True
    if some:
        raise_evidence(page, mention, THING, thing)
        add_span(page, mention, first, end)
    return some


@kernel(B(PAGE, KNOWN, I, types.uint64, I, I, I, types.float64, types.float64))
def add_named(page, known, name, key, rule, first, end, factor, thing):
    """Add a span of a name of the KB that the text writes in another way."""
    mention = mention_of(page, key)
    if mention == NOBODY:
        mention = new_mention(page, key, name, rule, first, end)
        page.evidence[mention * EVIDENCE + FACTOR] = factor
        add_wider(page, known, mention, key, factor)
    raise_evidence(page, mention, THING, thing)
    add_span(page, mention, first, end)
    return True


@kernel(B(PAGE, KNOWN, I, I))
def find_run(page, known, first, end):
    """Whom a run of capitals means that is no full name of the KB; whether it means anybody."""
    if end - first == 2 and surname_first(page, known, first) and run_fame(page, known, first, end) == 0.0:
        return place_initial(page, known, first + 1, first)  # SMITH J
    while begins(page, known, first) == 0 and not initials(page, first):  # a word before the name
        if short_of(known, name_key(page, first, end)) >= 0:
            break
        if end - first <= 2:
            return False
        first += 1
    last = end - 1
    if in_lower(page, known, first) >= ORDINARY_WORD and in_lower(page, known, last) >= ORDINARY_WORD:
        return False  # Police Chief
    key = name_key(page, first, end)
    thing = run_fame(page, known, first, end)
    if find_wide(page, known, key, first, end, 1.0, PART_QUALITY, LONGER_QUALITY, thing):
        return True
    if end - first >= 3:
        name = first_and_last(page, known, first, end)
        if name >= 0:
            short = extend(extend(ZERO, page.hashes[first]), page.hashes[last])
            return add_named(page, known, name, short, np.int64(DROPPED), first, end, DROPPED_QUALITY, thing)
        rest = name_key(page, first + 1, end)
        name = name_of(known, rest)
        if name >= 0 and initials(page, first):  # M. Scott Carpenter
            return add_named(page, known, name, rest, np.int64(DROPPED), first + 1, end, DROPPED_QUALITY, thing)
        for low in range(first + 1, last):
            if begins(page, known, low) > 5:
                if find_wide(page, known, name_key(page, low, end), low, end, 2.0, INNER_QUALITY, 0.0, thing):
                    return True
    if thing == 0.0 and end - first == 2 and not initials(page, first):
        mention = find_spelled(page, known, first, key)
        if mention != NOBODY:
            add_span(page, mention, first, end)
            return True
    if end - first == 2 and thing == 0.0 and lone_letter(page, first):
        return place_initial(page, known, first, first + 1)  # R. Federer
    if run_fame(page, known, first, last) >= BEFORE_FAME and begins(page, known, last - 1) < BEFORE_FIRST:
        return capital(page, last) and place_lone(page, known, last, True)  # Republican McCain
    return False


@inlined(types.void(PAGE, KNOWN, I, I))
def note_stranger(page, known, first, end):
    """A first name and a surname that nobody of the KB bears together: alone, both are the stranger's in this text."""
    named = begins(page, known, first)
    last = end - 1
    if (named == 0 and not initials(page, first)) or initials(page, last):
        return
    if run_fame(page, known, first, end) > 0.0:
        return
    page.first_name[file_word(page, last)] = STRANGER
    if named >= 3:
        page.first_name[file_word(page, first)] = STRANGER


@inlined(B(PAGE, KNOWN, I))
def find_company(page, known, at):
    """Bill and Hillary Clinton: a first name, "and", a full name whose surname makes a name with it."""
    if not soft(page, at + 1) or not listed(page, at + 1, AND) or not soft(page, at + 2):
        return False
    if page.owner[at + 2] < 0 or page.stop[at + 2] - (at + 2) < 2:
        return False
    key = extend(extend(ZERO, page.hashes[at]), page.hashes[page.stop[at + 2] - 1])
    name = name_of(known, key)
    return name >= 0 and add_named(page, known, name, key, np.int64(COMPANY), at, at + 1, 1.0, 0.0)


@inlined(B(PAGE, KNOWN, I))
def find_reversed(page, known, at):
    """Murray, Andy: surname, comma, first name, perhaps a middle one."""
    given = at + 1
    if not behind_comma(page, given) or not is_open(page, given):
        return False
    usual = begins(page, known, given) >= max(5, 2 * finishes(page, known, given)) and finishes(page, known, at) >= 1
    if not usual or word_fame(page, known, given) > PLACE_FAME:
        return False
    end = at + 3 if follows(page, at + 2) else at + 2
    if page.used[end - 1] != OPEN:
        return False
    key = extend(name_key(page, given, end), page.hashes[at])
    name = name_of(known, key)
    if name >= 0:
        return add_named(page, known, name, key, np.int64(REVERSED), at, end, 1.0, 0.0)
    return False


@inlined(types.void(PAGE, KNOWN))
def ask_for_runs(page, known):
    """Ask for what will be read of the runs of capitals: short forms, and whether a name of something may go on so."""
    free = np.int64(0)
    for k in range(page.ables):
        at = page.able[k]
        if at < free or not is_open(page, at) or not follows(page, at + 1):
            continue
        free = run_end(page, at)
        key = name_key(page, at, free)
        ask_for(known, key)
        prefetch(known.prefixes, np.int64(key & known.prefix_mask) >> 3)


@kernel(types.void(PAGE, KNOWN))
def place_runs(page, known):
    """Find the runs of capitals that no full name has taken, whom they mean, and where their surnames stand alone."""
    ask_for_runs(page, known)
    free, since = np.int64(0), page.size[0]
    for k in range(page.ables):
        at = page.able[k]
        if at < free or not is_open(page, at):
            continue
        first, end = at, run_end(page, at)
        while first < end - 1 and stands_before(page, first):
            first += 1
        if end - at == 1:
            if not find_company(page, known, at):
                find_reversed(page, known, at)
        elif end - first > 1 and page.hashes[first] != page.hashes[first + 1] and not firm_follows(page, end):
            if find_run(page, known, first, end):
                file_run(page, first, end)
            else:
                note_stranger(page, known, first, end)
        free = end
    if page.size[0] > since:
        place_run_shorts(page, known, since)
