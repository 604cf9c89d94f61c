"""Full names in a text: the KB's names among its tokens, the longest from each token on, from left to right.

The longer name of a thing has its tokens: the Andy Warhol Foundation is nobody.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.constants import DROPPED, EXACT, HEAD, LAST_TWO
from namesake.kernels.names.context import firm_follows
from namesake.kernels.names.memory import begins, finishes, in_lower, word_fame
from namesake.kernels.names.page import (
    BY_PERSON,
    BY_THING,
    FAME,
    KNOWN,
    NOBODY,
    PAGE,
    UNREAD,
    B,
    I,
    ask_for,
    capital,
    follows,
    initials,
    listed,
    may_end,
    may_go_on,
    name_key,
    name_of,
    phrase,
    soft,
    take,
    thing_fame,
)
from namesake.kernels.names.phrases import fame_in, name_in, short_in
from namesake.kernels.names.tokens import (
    AFTER_DOT,
    AND,
    AT_START,
    CASED,
    COMMA,
    FUNCTION,
    HARD,
    HONORIFIC,
    IS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    IS_JOINED,
    NUMERAL,
    SUFFIX,
    TITLE,
)
from namesake.kernels.simd import prefetch

SURE, LIKELY, FAIR = 80, 60, 30  # how much of a person's a name must be, in percent, by what the capitals say
WELL_KNOWN = 20.0  # fame that lets a name end in lower case, or be a thing's
THING_RATIO = 6.0  # a thing that many times as famous as the best bearer is meant
HEAD_FAME, HEAD_WEIGHT = 2.0, 5.0
PART_WEIGHT, PART_RATIO = 10.0, 2.0
LONGEST_RUN = 5  # tokens of a name with words left out

MATCHES = types.int64[:, ::1]
"""Full names: name or NOBODY, first token, end, rule. The hashes of the names stand in an array beside it."""
WHO, FROM, TO, HOW, MATCH_COLUMNS = 0, 1, 2, 3, 4
HASHES = types.uint64[::1]
WALK = types.Tuple((types.int64, types.int64, types.uint64))


@inlined(B(KNOWN, I, B))
def is_head(known, short, regnal):
    """Whether a short form is what stands before "of", "the" or a comma in a label, or a king's name."""
    famous = heavy = False
    if short >= 0:
        for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
            if known.short_forms[k] == HEAD:
                famous |= known.fame[known.short_rows[k]] >= HEAD_FAME
                heavy |= known.short_weights[k] >= HEAD_WEIGHT
    return famous and (regnal or heavy)


@inner(B(PAGE, KNOWN, I, I, I, I))
def ends_in_lower_case(page, known, first, end, skip, name):
    """Whether a name of two words may do without its last capital: Justin bieber."""
    last = end - 1
    if name < 0 or known.percent[name] < SURE or end - first - skip != 2 or page.ends[last] - page.starts[last] < 4:
        return False
    if in_lower(page, known, last) > 0:
        return False
    for k in range(known.indptr[name], known.indptr[name + 1]):
        if known.kinds[k] == 0 and known.fame[known.rows[k]] >= WELL_KNOWN:
            return True
    return False


@inlined(B(PAGE, KNOWN, I, I, I, I))
def valid(page, known, first, end, skip, name):
    """Whether the text lets tokens first to end be a person's name."""
    titles = skip
    for i in range(first, end):
        if i == first or i > first + skip:
            titles += listed(page, i, TITLE | FUNCTION)
    if titles == end - first:
        return False
    percent = np.int64(known.percent[name]) if name >= 0 else np.int64(100)
    head = page.bits[first]
    letter = head & IS_INITIALS != 0 and head & (IS_DOTTED | IS_JOINED) == 0
    function = listed(page, first, FUNCTION)
    if page.style != CASED:
        return percent >= LIKELY and not function and not listed(page, end - 1, FUNCTION) and not letter
    if not capital(page, first):  # will.i.am
        dots = 0
        for i in range(first + 1, end):
            dots += page.marks[i] & AFTER_DOT != 0
        return name >= 0 and end - first >= 3 and dots == end - first - 1
    if not may_end(page, end - 1):
        return ends_in_lower_case(page, known, first, end, skip, name)
    if function:
        return page.gaps[first] != HARD and percent >= SURE and not letter
    if head & IS_INITIALS != 0 and head & IS_JOINED == 0 and soft(page, first):  # as "E. Smith" in "Al E. Smith"
        if page.bits[first - 1] & IS_CAPITAL != 0 and not listed(page, first - 1, FUNCTION | HONORIFIC):
            return False
    return percent >= FAIR


@inlined(WALK(PAGE, KNOWN, I, I))
def longest_name(page, known, first, skip):
    """The longest name from token `first` on, `skip` tokens behind it left out: name, end (0: there is none), hash."""
    best, best_end, best_key = np.int64(NOBODY), np.int64(0), ZERO
    key = extend(ZERO, page.hashes[first])
    for i in range(first + 1, page.count):
        suffix = listed(page, i, SUFFIX)
        if page.gaps[i] == HARD or (page.gaps[i] == COMMA and not suffix and not listed(page, i, HONORIFIC)):
            break
        if i <= first + skip:
            continue
        key = extend(key, page.hashes[i])
        if not may_go_on(known, key):
            break
        if page.gaps[i] == COMMA and not suffix:
            continue  # a comma and a title go on (John, King of England), they do not end a name
        pair = i == first + 1 and page.pair_names[first] != UNREAD
        packed = ZERO if pair else phrase(known, key)
        name = np.int64(page.pair_names[first]) if pair else name_in(packed)
        short = np.int64(page.pair_shorts[first]) if pair else short_in(packed)
        if name >= 0 or is_head(known, short, listed(page, i, NUMERAL)):
            if valid(page, known, first, i + 1, skip, name):
                best, best_end, best_key = name, np.int64(i + 1), key
    return best, best_end, best_key


@inlined(B(KNOWN, I, types.float64))
def rather_part(known, short, fame):
    """Whether a short form is rather the end of a famous person's name than a little-known thing's: Santa Anna."""
    if short >= 0:
        for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
            if known.short_forms[k] == LAST_TWO:
                return known.short_weights[k] >= max(PART_WEIGHT, PART_RATIO * fame)
    return False


@inlined(I(PAGE, KNOWN, I))
def thing_end(page, known, first):
    """Where the longest name of a thing, of two tokens or more, from token `first` on ends; 0 without one."""
    if listed(page, first, FUNCTION) and page.marks[first] & AT_START:
        return np.int64(0)
    end, couple = np.int64(0), False
    key = extend(ZERO, page.hashes[first])
    for i in range(first + 1, page.count):
        if not soft(page, i):
            break
        key = extend(key, page.hashes[i])
        if not may_go_on(known, key):
            break
        couple |= listed(page, i, AND)  # "Bill and Hillary Clinton" is an item, but two people
        pair = i == first + 1 and page.pair_names[first] != UNREAD
        packed = ZERO if pair else phrase(known, key)
        fame = FAME[np.int64(page.pair_things[first]) if pair else fame_in(packed)]
        short = np.int64(page.pair_shorts[first]) if pair else short_in(packed)
        if fame == 0.0 or not may_end(page, i) or rather_part(known, short, fame):
            continue
        if not couple or name_of(known, name_key(page, i - 1, i + 1)) < 0:
            end = np.int64(i + 1)
    return end


@inner(I(PAGE, KNOWN, I, I))
def first_and_last(page, known, first, end):
    """Frank (Anthony) Wilczek: the name of first and last word of three to five capitals, or NOBODY."""
    if end - first < 3 or end - first > LONGEST_RUN or word_fame(page, known, end - 1) > 100.0:
        return np.int64(NOBODY)
    name = name_of(known, extend(extend(ZERO, page.hashes[first]), page.hashes[end - 1]))
    if name < 0 or known.percent[name] < LIKELY:
        return np.int64(NOBODY)
    usual = begins(page, known, first) >= 3 and finishes(page, known, end - 1) >= 1
    return name if usual else np.int64(NOBODY)


@inner(B(KNOWN, I, types.float64))
def far_more_famous(known, name, thing):
    """Whether a thing is well known and those who bear its name are not: Beverly Hills."""
    if thing < WELL_KNOWN or name < 0:
        return False
    for k in range(known.indptr[name], known.indptr[name + 1]):
        if THING_RATIO * known.fame[known.rows[k]] >= thing:
            return False
    return True


@inlined(types.int64(PAGE, KNOWN, types.int64[::1], I, HASHES))
def name_starts(page, known, starts, fit, keys):
    """Keep those of the `fit` tokens in `starts` with which a name of the KB may start; how many. `keys` is room.

    Most words are turned away by the prefix bit of the word and its follower, which lies anywhere in megabytes. So each
    loop asks for what the next one reads, and has no branches to foresee: these bits, and what is known of the pairs
    that are left.
    """
    for k in range(fit):
        i = starts[k]
        keys[k] = extend(extend(ZERO, page.hashes[i]), page.hashes[i + 1])
        prefetch(known.prefixes, np.int64(keys[k] & known.prefix_mask) >> 3)
    kept = 0
    for k in range(fit):
        i = starts[k]
        starts[kept], keys[kept] = i, keys[k]
        goes_on = may_go_on(known, keys[k])
        if page.bits[i + 1] & IS_INITIALS != 0 and i + 2 < page.count:  # the name may be without them
            goes_on |= may_go_on(known, extend(extend(ZERO, page.hashes[i]), page.hashes[i + 2]))
        kept += goes_on
    for k in range(kept):
        ask_for(known, keys[k])
        longer = extend(keys[k], page.hashes[min(starts[k] + 2, page.count - 1)])
        prefetch(known.prefixes, np.int64(longer & known.prefix_mask) >> 3)
    for k in range(kept):
        i, key = starts[k], keys[k]
        packed = phrase(known, key)
        page.pair_names[i], page.pair_shorts[i] = np.int32(name_in(packed)), np.int32(short_in(packed))
        page.pair_things[i] = np.uint8(fame_in(packed))
        prefetch(known.percent, np.int64(page.pair_names[i]))
        prefetch(known.indptr, np.int64(page.pair_names[i]))
    return kept


@inner(types.void(PAGE, KNOWN, MATCHES, HASHES, I, I, I, I, types.uint64, I))
def write_match(page, known, matches, keys, at, first, end, name, key, rule):
    """Write a match without the titles in front.

    A longer run whose first and last words are a name wins: David Nelson Farr.
    """
    while rule == EXACT and end - first > 2 and listed(page, first, HONORIFIC):
        shorter = name_key(page, first + 1, end)
        plain = name_of(known, shorter)
        if plain < 0:
            break
        name, first, key = plain, first + 1, shorter
    if page.style == CASED and rule == EXACT and end - first == 2 and not listed(page, end - 1, NUMERAL):
        if follows(page, end) and not firm_follows(page, end):
            stop = end
            while stop - first < LONGEST_RUN and follows(page, stop):
                if listed(page, stop, SUFFIX | NUMERAL | FUNCTION):
                    break
                stop += 1
            longer = first_and_last(page, known, first, stop)
            if longer >= 0:
                key = extend(extend(ZERO, page.hashes[first]), page.hashes[stop - 1])
                name, end, rule = longer, stop, np.int64(DROPPED)
    matches[at, WHO], matches[at, FROM], matches[at, TO], matches[at, HOW] = name, first, end, rule
    keys[at] = key


@inner(I(PAGE, KNOWN, MATCHES, HASHES, types.int64[::1], I))
def match_names(page, known, matches, keys, starts, starting):
    """Find the full names, take their tokens and those of things, and return how many.

    `starts` has the tokens with which one may start, `starting` of them.
    """
    found, free = 0, np.int64(0)
    for k in range(name_starts(page, known, starts, starting, keys)):
        at = starts[k]
        if at < free:
            continue  # inside the name before
        rule = np.int64(EXACT)
        name, end, key = longest_name(page, known, at, np.int64(0))
        if end == 0 and at + 2 < page.count and initials(page, at + 1):
            name, end, key = longest_name(page, known, at, np.int64(1))
            rule = np.int64(DROPPED)
        if listed(page, at, TITLE) and soft(page, at + 1):  # King | Charles II reaches further than King Charles
            later, later_end, later_key = longest_name(page, known, at + 1, np.int64(0))
            if later_end > end:
                at, name, end, key, rule = at + 1, later, later_end, later_key, np.int64(EXACT)
        thing = thing_end(page, known, at) if page.style == CASED else np.int64(0)
        tied = thing == end and end > 0 and not listed(page, at, HONORIFIC)
        if thing > end or (tied and far_more_famous(known, name, thing_fame(known, key))):
            take(page, at, thing, BY_THING)
            free = thing
        elif end > 0:
            write_match(page, known, matches, keys, found, at, end, name, key, rule)
            free = matches[found, TO]
            found += 1
    for m in range(found):
        take(page, matches[m, FROM], matches[m, TO], BY_PERSON)
    return found
