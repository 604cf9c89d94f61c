"""Runs of capitals that are nobody's full name as they stand: words too many or too few, strangers, surname first."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.constants import BEGIN, COMPANY, DROPPED, HEAD, LAST_TWO, PAIR, REVERSED, WIDE
from namesake.kernels.names.context import firm_follows
from namesake.kernels.names.full import first_and_last
from namesake.kernels.names.lone import (
    BEFORE_FAME,
    BEFORE_FIRST,
    another_before,
    is_ordinary,
    is_strangers,
    may_be_lone,
    place_initial,
    place_lone,
    surname_first,
)
from namesake.kernels.names.memory import begins, finishes, in_lower, word_fame
from namesake.kernels.names.page import (
    EVIDENCE,
    FACTOR,
    KNOWN,
    NOBODY,
    OPEN,
    PAGE,
    THING,
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
from namesake.kernels.names.people import (
    add_candidate,
    add_span,
    add_wider,
    mention_of,
    new_mention,
    owner_of,
    raise_evidence,
)
from namesake.kernels.names.shorts import STRANGER, file_run, file_word, place_run_shorts
from namesake.kernels.names.spelled import find_spelled
from namesake.kernels.names.tokens import (
    AFTER_HYPHEN,
    AND,
    COMMA,
    FUNCTION,
    HAS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    NAME_TITLE,
    NEVER,
    NUMERAL,
    PARTICLE,
    SOFT,
    TITLE,
)
from namesake.kernels.simd import NUMBERS, prefetch

MOST_WORDS = 7
HARDLY_NAMES = 20  # uses in lower case of a word that is hardly a name at both ends of a run
DROPPED_QUALITY, INNER_QUALITY, PART_QUALITY, LONGER_QUALITY = 0.8, 0.7, 0.8, 0.6
PLACE_FAME = 60.0
FURTHER = np.uint64(4)  # slots to the next line of the cache
LISTED = 64  # tokens among which runs are listed before they are read
RUN_END = 32  # bits of a listed run that say where it ends


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


@inlined(types.void(KNOWN, types.uint64))
def ask_for_run(known, key):
    """Ask for what is known of a run, and for whether the name of something may go on so.

    Runs are hardly ever known, and to see that a look-up goes on to a free slot, often into the next line of the cache.
    """
    ask_for(known, key)
    ask_for(known, key + FURTHER)
    prefetch(known.prefixes, np.int64(key & known.prefix_mask) >> 3)


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


@inner(B(PAGE, KNOWN, types.uint64, I, I, I, types.float64, types.float64, types.float64, types.float64))
def find_wide(page, known, key, short, first, end, least, quality, longer_quality, thing):
    """Add a span of those of whose name the run, a short form, is a part, with a fame of `least`; whether any are.

    `longer_quality` is that of names which go on behind the run; 0 leaves these and heads out.
    """
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


@inner(B(PAGE, KNOWN, I, types.uint64, I, I, I, types.float64, types.float64))
def add_named(page, known, name, key, rule, first, end, factor, thing):
    """Add a span of a name of the KB that the text writes in another way."""
    mention = mention_of(page, key)
    if mention == NOBODY:
        mention = new_mention(page, key, name, rule, first, end)
        page.evidence[mention * EVIDENCE + FACTOR] = factor
        add_wider(page, known, mention, short_of(known, key), factor)
    raise_evidence(page, mention, THING, thing)
    add_span(page, mention, first, end)
    return True


@inlined(B(PAGE, KNOWN, I))
def place_inner(page, known, at):
    """Find whom token `at`, behind the name of a thing, means by itself; whether it means anybody."""
    if page.shorts[at] < 0 or is_ordinary(page, known, at) or not may_be_lone(page, known, at, True):
        return False
    return place_lone(page, known, at, True)


@inlined(B(PAGE, KNOWN, I, I))
def ordinary_words(page, known, first, last):
    """Whether both edges of a run are rather words than names: Police Chief."""
    return in_lower(page, known, first) >= HARDLY_NAMES and in_lower(page, known, last) >= HARDLY_NAMES


@inner(B(PAGE, KNOWN, I, I))
def find_run(page, known, first, end):
    """Whom a run of capitals means that is no full name of the KB; whether it means anybody."""
    if end - first == 2 and surname_first(page, known, first) and run_fame(page, known, first, end) == 0.0:
        return place_initial(page, known, first + 1, first)  # SMITH J
    if end - first == 2 and ordinary_words(page, known, first, end - 1):
        return False
    key = name_key(page, first, end)
    short = short_of(known, key)
    while short < 0 and begins(page, known, first) == 0 and not initials(page, first):  # a word before the name
        if end - first <= 2 or (listed(page, first + 1, PARTICLE) and another_before(page, known, first + 1)):
            return False
        first += 1
        key = name_key(page, first, end)
        short = short_of(known, key)
    last = end - 1
    if ordinary_words(page, known, first, last) or (listed(page, first, PARTICLE) and is_strangers(page, last)):
        return False
    thing = run_fame(page, known, first, end)
    if short >= 0 and find_wide(page, known, key, short, first, end, 1.0, PART_QUALITY, LONGER_QUALITY, thing):
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
            if begins(page, known, low) > 5 and not listed(page, low, PARTICLE):  # Virgil van Dijk is a whole
                inner = name_key(page, low, end)
                short = short_of(known, inner)
                if short >= 0 and find_wide(page, known, inner, short, low, end, 2.0, INNER_QUALITY, 0.0, thing):
                    return True
    if thing == 0.0 and end - first == 2 and not initials(page, first):
        mention = find_spelled(page, known, first, key)
        if mention != NOBODY:
            add_span(page, mention, first, end)
            return True
    if end - first == 2 and thing == 0.0 and lone_letter(page, first):
        return place_initial(page, known, first, first + 1)  # R. Federer
    before = word_fame(page, known, first) if last - first == 1 else run_fame(page, known, first, last)
    if before >= BEFORE_FAME and begins(page, known, last - 1) < BEFORE_FIRST:
        return capital(page, last) and place_inner(page, known, last)  # Republican McCain
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
    if owner_of(page, at + 2) < 0 or page.stop[at + 2] - (at + 2) < 2:
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


@inlined(B(PAGE, I))
def may_be_company(page, at):
    """Whether `find_company` and `find_reversed` are worth a try: "and" or a comma and a capital follow token `at`."""
    company = (page.gaps[at + 1] == SOFT) & (np.int64(page.classes[at + 1]) & AND != 0)
    return company | ((page.gaps[at + 1] == COMMA) & (page.marks[at + 1] & HAS_CAPITAL != 0))


@inlined(B(PAGE, I))
def may_go_further(page, at):
    """Whether a run that begins with token `at` may have another word: a capital, a particle, one behind a hyphen."""
    word = (page.marks[at + 1] & (HAS_CAPITAL | AFTER_HYPHEN) != 0) | (np.int64(page.classes[at + 1]) & PARTICLE != 0)
    return word & (page.gaps[at + 1] == SOFT) & (page.used[at + 1] == OPEN)


@inlined(types.UniTuple(I, 2)(PAGE, I, I, I, NUMBERS))
def list_runs(page, low, high, free, runs):
    """List the runs of open capitals that are worth a look: first token << 32 | end.

    They begin with one of the able tokens `low` to `high`, and not before token `free`. A run of one word is worth it
    where others may share its surname, a longer one where it is no firm's. Returns how many, and where the last ends.
    """
    some = size = 0
    for k in range(low, high):  # without branches: who is open, and what follows, is hard to foresee
        at = runs[some] = page.able[k]
        is_free = (page.marks[at] & HAS_CAPITAL != 0) & (page.used[at] == OPEN)
        some += is_free & (may_go_further(page, at) | may_be_company(page, at))
    for k in range(some):
        at = runs[k]
        if at < free:
            continue
        free = run_end(page, at)
        first = at
        while first < free - 1 and stands_before(page, first):
            first += 1
        runs[size] = first << RUN_END | free
        if free - at == 1:
            size += may_be_company(page, at)
        elif free - first > 1 and page.hashes[first] != page.hashes[first + 1]:
            size += not firm_follows(page, free)
    return size, free


@inlined(types.UniTuple(I, 2)(I))
def run_edges(run):
    """The first token of a run and its end."""
    return run >> RUN_END, run & ((1 << RUN_END) - 1)


@inlined(types.void(PAGE, KNOWN, I, NUMBERS))
def ask_for_runs(page, known, size, runs):
    """Ask for what will be read of the runs: short forms, and whether a name of something may go on so."""
    for r in range(size):
        first, end = run_edges(runs[r])
        if end - first > 2 or (end - first == 2 and not ordinary_words(page, known, first, end - 1)):
            ask_for_run(known, name_key(page, first, end))
        if end - first > 2:  # perhaps without its first word, or by its first and last
            ask_for_run(known, name_key(page, first + 1, end))
            key = extend(extend(ZERO, page.hashes[first]), page.hashes[end - 1])
            prefetch(known.prefixes, np.int64(key & known.prefix_mask) >> 3)


@inner(types.void(PAGE, KNOWN))
def place_runs(page, known):
    """Find the runs of capitals that no full name has taken, whom they mean, and where their surnames stand alone."""
    runs, since, free, low = page.unread, page.size[0], np.int64(0), np.int64(0)
    while low < page.ables:
        begin, low = low, min(low + LISTED, page.ables)
        size, free = list_runs(page, begin, low, free, runs)
        ask_for_runs(page, known, size, runs)
        for r in range(size):
            first, end = run_edges(runs[r])
            if end - first > 1:
                if find_run(page, known, first, end):
                    file_run(page, first, end)
                else:
                    note_stranger(page, known, first, end)
            elif not find_company(page, known, first) and find_reversed(page, known, first):
                free, low = page.stop[first], begin  # it has taken what may begin another run
                while low < page.ables and page.able[low] < free:
                    low += 1
                break
    if page.size[0] > since:
        place_run_shorts(page, known, since)
