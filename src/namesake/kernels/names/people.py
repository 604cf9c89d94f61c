"""The people of a text: its mentions, their candidates beside the bearers of a name, the evidence of full names."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import FREE, ZERO, extend, find
from namesake.kernels.names.constants import ALIAS, BEGIN, CALLED, DROPPED, HEAD, LAST_TWO, NICKNAMED, PAIR, SURNAME
from namesake.kernels.names.context import credited, firm_follows, in_byline
from namesake.kernels.names.full import FROM, HASHES, HOW, MATCHES, TO, WHO
from namesake.kernels.names.memory import REMEMBERED, begins, finishes, word_fame
from namesake.kernels.names.page import (
    BY_PERSON,
    BYLINE,
    COMES,
    END,
    EVIDENCE,
    EXTRAS,
    FACTOR,
    FACTS,
    FIRMS,
    FIRST,
    FORM_QUALITY,
    FULL,
    GOES_ON,
    HIGH,
    IS_OTHER,
    KNOWN,
    LOW,
    MOST_EXTRAS,
    NAME,
    NEXT,
    NOBODY,
    OPEN,
    ORDER,
    PAGE,
    PLACE,
    RULE,
    SEEN,
    SUFFIXES,
    THING,
    WORD,
    B,
    I,
    ask_for,
    behind_comma,
    capital,
    follows,
    is_open,
    listed,
    lone_letter,
    name_key,
    name_of,
    short_of,
    soft,
    take,
    thing_fame,
)
from namesake.kernels.names.tokens import (
    ARTICLE,
    FUNCTION,
    GENERATION,
    HARD,
    HONORIFIC,
    NAME_TITLE,
    NEVER,
    NOBLE,
    NUMERAL,
    OF,
    OTHER,
    ROLE,
    SUFFIX,
)
from namesake.kernels.simd import NUMBERS, byte, prefetch

LEFT_OUT = 0.9  # quality of a name where the text has a word more
WITH_NICKNAME = 0.95
HEAD_QUALITY, WIDER_QUALITY, LONGER_QUALITY = 0.9, 0.8, 0.6
WIDER_FAME, LONGER_FAME = 2.0, 5.0
MOST_WIDER, MOST_LONGER = 5, 3
KNOWN_THING = 20.0
INITIAL_WEIGHT = 10.0  # of a surname's bearers who are meant by an initial
SMALL_LETTER = 0x20
FEWER_NAMES = 2  # the table of mentions has 2**2 times fewer slots than that of words: see detect.TABLES_ROOM


@inlined(I(PAGE, types.uint64))
def name_slot(page, key):
    """The slot of a name in the table of mentions, which is smaller than that of words."""
    return find(page.names, page.mask >> FEWER_NAMES, key)


@inlined(I(PAGE, types.uint64))
def mention_of(page, key):
    """The mention of a name, or NOBODY."""
    at = name_slot(page, key)
    return page.holder[at] if page.names[at] != FREE else np.int64(NOBODY)


@inner(I(PAGE, types.uint64, I, I, I, I))
def new_mention(page, key, name, rule, first, end):
    """Open a mention of a name that the text has not had, from its first span; its number."""
    mention = page.size[0]
    page.size[0] = mention + 1
    at = name_slot(page, key)
    page.names[at], page.holder[at] = key, mention
    for k in range(FACTS):
        page.facts[mention * FACTS + k] = 0
    for k in range(EVIDENCE):
        page.evidence[mention * EVIDENCE + k] = 0.0
    facts = mention * FACTS
    page.facts[facts + NAME], page.facts[facts + RULE] = name, rule
    page.facts[facts + FIRST], page.facts[facts + END] = first, end
    page.facts[facts + LOW], page.facts[facts + HIGH] = first, end
    page.facts[facts + PLACE] = page.facts[facts + WORD] = page.facts[facts + ORDER] = NOBODY
    page.facts[facts + NEXT] = page.facts[facts + SEEN] = NOBODY
    page.evidence[mention * EVIDENCE + FACTOR] = 1.0
    page.evidence[mention * EVIDENCE + BYLINE] = credited(page, first, end) and in_byline(page, first, end)
    return mention


@inlined(types.void(PAGE, I, I))
def leave(page, first, end):
    """Let tokens first to end be a person's, without a span so far."""
    for i in range(first, end):
        page.used[i], page.owner[i] = np.uint8(BY_PERSON), NOBODY


@inlined(I(PAGE, I))
def owner_of(page, i):
    """The mention that has a span from token i on, or NOBODY; who owns a token is noted where a person has it."""
    return page.owner[i] if page.used[i] == BY_PERSON else np.int64(NOBODY)


@inlined(types.void(PAGE, I, I, I))
def add_span(page, mention, first, end):
    """Give a mention the span of tokens first to end, and these to a person."""
    leave(page, first, end)
    page.owner[first], page.stop[first] = mention, end


@inlined(types.void(PAGE, I, I, types.float64))
def raise_evidence(page, mention, which, value):
    """Let a number of a mention's evidence be at least `value`."""
    at = mention * EVIDENCE + which
    page.evidence[at] = max(page.evidence[at], value)


@inlined(B(PAGE, I, I, types.float64))
def add_candidate(page, mention, row, quality):
    """Give a mention a candidate beside the bearers of its name; False where it has one row or enough of them."""
    size = page.facts[mention * FACTS + EXTRAS]
    if size == MOST_EXTRAS:
        return False
    for k in range(mention * MOST_EXTRAS, mention * MOST_EXTRAS + size):
        if page.rows[k] == row:
            return False
    page.rows[mention * MOST_EXTRAS + size] = np.int32(row)
    page.quality[mention * MOST_EXTRAS + size] = quality
    page.facts[mention * FACTS + EXTRAS] = size + 1
    return True


@inlined(B(KNOWN, I))
def borne_outright(known, name):
    """Whether a name is somebody's label or alias, and not only a bare form of one."""
    for k in range(known.indptr[name], known.indptr[name + 1]):
        if known.kinds[k] <= ALIAS:
            return True
    return False


@inlined(B(KNOWN, I, I))
def bears(known, name, row):
    """Whether an entity is among the bearers of a name; bare forms count where nobody bears it outright."""
    if name < 0:
        return False
    for k in range(known.indptr[name], known.indptr[name + 1]):
        if known.rows[k] == row:
            return known.kinds[k] <= ALIAS or not borne_outright(known, name)
    return False


@inlined(B(PAGE, KNOWN, I, I))
def label_begins(page, known, row, initial):
    """Whether an entity's label begins with the letter that token `initial` begins with."""
    letter, begin = byte(page.text, page.starts[initial]) | SMALL_LETTER, known.label_offsets[known.item[row]]
    return begin < known.label_offsets[known.item[row] + 1] and known.labels[begin] | SMALL_LETTER == letter


@inner(types.void(PAGE, KNOWN, I, I, types.float64))
def add_wider(page, known, mention, short, factor):
    """Candidates of a full name beside its bearers, by its short form: a label's head; a middle name; who go on."""
    if short < 0:
        return
    name = page.facts[mention * FACTS + NAME]
    wider = longer = 0
    for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
        row, form = np.int64(known.short_rows[k]), known.short_forms[k]
        if bears(known, name, row):
            continue
        if form == HEAD:
            add_candidate(page, mention, row, factor * HEAD_QUALITY)
        elif form in (PAIR, LAST_TWO) and known.fame[row] >= WIDER_FAME and wider < MOST_WIDER:
            wider += add_candidate(page, mention, row, factor * WIDER_QUALITY)
        elif form == BEGIN and known.fame[row] >= LONGER_FAME and longer < MOST_LONGER:
            longer += add_candidate(page, mention, row, factor * LONGER_QUALITY)


@inner(types.void(PAGE, KNOWN, I, I))
def add_initialled(page, known, mention, first):
    """Candidates of K. Anderson beside those with that very name: who bear the surname and begin with the letter."""
    short = short_of(known, extend(ZERO, page.hashes[first + 1]))
    if short < 0:
        return
    name = page.facts[mention * FACTS + NAME]
    for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
        row = np.int64(known.short_rows[k])
        if known.short_forms[k] not in (SURNAME, CALLED) or known.short_weights[k] < INITIAL_WEIGHT:
            continue
        if label_begins(page, known, row, first) and not bears(known, name, row):
            add_candidate(page, mention, row, FORM_QUALITY[SURNAME])


@inner(I(PAGE, I))
def place_behind(page, end):
    """The token of the place that says which king is meant: Louis VIII, Landgrave of Hesse; NOBODY without one."""
    at = end
    if behind_comma(page, at) and listed(page, at, NAME_TITLE | NOBLE):
        at += 1
        while at < min(page.count, end + 4) and not listed(page, at, OF):
            at += 1
    elif not soft(page, at):
        return np.int64(NOBODY)
    if not listed(page, at, OF) or not soft(page, at + 1):
        return np.int64(NOBODY)
    place = at + 2 if listed(page, at + 1, ARTICLE) and at + 2 < page.count else at + 1
    return place if capital(page, place) else np.int64(NOBODY)


@inlined(B(PAGE, KNOWN, I))
def first_name_before(page, known, i):
    """Whether token i, before a full name, is a first name that the name has not."""
    if not is_open(page, i) or listed(page, i, NAME_TITLE | FUNCTION | NEVER | ROLE):
        return False
    return word_fame(page, known, i) < KNOWN_THING and begins(page, known, i) > 0


@inner(types.void(PAGE, KNOWN, I, I, I))
def add_nicknamed(page, known, mention, first, end):
    """Candidates of James D. "Jim" Farley beside the name's bearers: who are called Jim or James D. Farley."""
    last = page.hashes[end - 1]
    for turn in range(2):
        before = extend(ZERO, page.hashes[end - 2]) if turn == 0 else name_key(page, first, end - 2)
        name = name_of(known, extend(before, last))
        if name < 0:
            continue
        outright = borne_outright(known, name)
        for k in range(known.indptr[name], known.indptr[name + 1]):
            row = np.int64(known.rows[k])
            if (known.kinds[k] <= ALIAS or not outright) and not bears(known, page.facts[mention * FACTS + NAME], row):
                add_candidate(page, mention, row, WITH_NICKNAME)


@inlined(types.void(PAGE, I))
def ask_for_memory(page, i):
    """Ask for what may be remembered of token i."""
    prefetch(page.memory, np.int64(page.hashes[i] & np.uint64(page.memory_mask)) * REMEMBERED)


@inlined(types.void(PAGE, KNOWN, MATCHES, HASHES, I, NUMBERS))
def ask_for_people(page, known, matches, keys, found, shorts):
    """Read the short forms of the full names into `shorts`, and ask for what will be read of them and of the bearers.

    Each loop asks for what the next one reads.
    """
    for m in range(found):
        ask_for(known, keys[m])
        prefetch(known.indptr, max(matches[m, WHO], np.int64(0)))
        ask_for_memory(page, matches[m, FROM])
        ask_for_memory(page, matches[m, TO] - 1)
    for m in range(found):
        shorts[m] = short_of(known, keys[m])
        prefetch(known.short_indptr, max(shorts[m], np.int64(0)))
        begin = known.indptr[max(matches[m, WHO], np.int64(0))]
        prefetch(known.rows, begin)
        prefetch(known.kinds, begin)
    for m in range(found):
        begin = known.short_indptr[max(shorts[m], np.int64(0))]
        prefetch(known.short_rows, begin)
        prefetch(known.short_forms, begin)
    for m in range(found):
        if shorts[m] >= 0 and known.short_indptr[shorts[m]] < known.short_indptr[shorts[m] + 1]:
            prefetch(known.fame, np.int64(known.short_rows[known.short_indptr[shorts[m]]]))


@inner(types.void(PAGE, KNOWN, MATCHES, HASHES, I))
def gather_people(page, known, matches, keys, found):
    """Make mentions of the full names, one for each name, with their spans and what stands around them.

    A title and one word ("President Obama") are left for the rules that follow.
    """
    shorts = page.unread
    ask_for_people(page, known, matches, keys, found, shorts)
    for m in range(found):
        first, end = matches[m, FROM], matches[m, TO]
        if matches[m, HOW] != NOBODY and end - first == 2 and listed(page, first, HONORIFIC):
            take(page, first, end, OPEN)
            matches[m, HOW] = NOBODY
    for m in range(found):
        if matches[m, HOW] == NOBODY:
            continue
        name, first, end, rule = matches[m, WHO], matches[m, FROM], matches[m, TO], matches[m, HOW]
        other = soft(page, first) and listed(page, first - 1, OTHER) and listed(page, first - 2, ARTICLE)
        key = extend(keys[m], np.uint64(OTHER)) if other else keys[m]  # the other Chris Evans is a second person
        mention = mention_of(page, key)
        if mention == NOBODY:
            mention = new_mention(page, key, name, rule, first, end)
            page.evidence[mention * EVIDENCE + IS_OTHER] = other
            add_wider(page, known, mention, shorts[m], 1.0)
            if name < 0 or listed(page, end - 1, NUMERAL):
                page.facts[mention * FACTS + PLACE] = place_behind(page, end)
            page.evidence[mention * EVIDENCE + THING] = thing_fame(known, keys[m])
            if rule == DROPPED:
                page.evidence[mention * EVIDENCE + FACTOR] = LEFT_OUT
            elif rule == NICKNAMED:
                page.evidence[mention * EVIDENCE + FACTOR] = WITH_NICKNAME
                add_nicknamed(page, known, mention, first, end)
            elif end - first == 2 and lone_letter(page, first):
                add_initialled(page, known, mention, first)
        elif rule < page.facts[mention * FACTS + RULE]:  # the very name stands elsewhere
            page.facts[mention * FACTS + RULE] = rule
            page.evidence[mention * EVIDENCE + FACTOR] = 1.0
        matches[m, WHO] = mention
        facts = mention * FACTS
        firm = firm_follows(page, end)
        page.facts[facts + FULL] += 1
        page.facts[facts + FIRMS] += firm
        if follows(page, end) and page.used[end] == OPEN and not listed(page, end, SUFFIX | FUNCTION):
            page.facts[facts + GOES_ON] += finishes(page, known, end) > 0
        page.facts[facts + SUFFIXES] += listed(page, end, GENERATION) and page.gaps[end] != HARD
        page.facts[facts + COMES] += soft(page, first) and first_name_before(page, known, first - 1)
        if firm:
            leave(page, first, end)
        else:
            add_span(page, mention, first, end)
