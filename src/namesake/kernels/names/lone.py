"""Names of one word: behind a title (President Bush), and alone (Bolsonaro, Rihanna, bin Salman)."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import FREE, ZERO, extend, find
from namesake.kernels.names.constants import (
    ALIAS_SURNAME,
    BEGIN,
    CALLED,
    FIRST_NAME,
    HEAD,
    LAST_TWO,
    MONONYM,
    NICK,
    ONE,
    ORDINARY_WORD,
    PAIR,
    SURNAME,
    TITLED,
)
from namesake.kernels.names.context import (
    IN_CAPITALS,
    firm_follows,
    locative,
    names_a_thing,
    owned_follows,
    place_follows,
)
from namesake.kernels.names.memory import begins, in_lower, word_fame
from namesake.kernels.names.nicknames import in_nickname
from namesake.kernels.names.page import (
    BEARERS,
    BEST,
    BY_PERSON,
    EVIDENCE,
    FACTS,
    FORM,
    FORM_QUALITY,
    HAS_ROLE,
    HAS_TITLE,
    IN_LOWER,
    KNOWN,
    LOCATIVE,
    MOST_PARTICLES,
    NOBODY,
    OPEN,
    PAGE,
    PLACE,
    THING,
    B,
    I,
    capital,
    follows,
    hyphen,
    initials,
    listed,
    lone_letter,
    may_end,
    name_key,
    name_of,
    particle_follows,
    run_fame,
    short_of,
    soft,
)
from namesake.kernels.names.people import (
    SMALL_LETTER,
    add_candidate,
    add_span,
    bears,
    label_begins,
    mention_of,
    new_mention,
    place_behind,
    raise_evidence,
)
from namesake.kernels.names.shorts import STRANGER, file_word
from namesake.kernels.names.tokens import (
    AT_START,
    DATE,
    FAMILY,
    FUNCTION,
    HAS_CAPITAL,
    LOWER_TITLE,
    NAME_TITLE,
    NEVER,
    NO_NAME,
    PARTICLE,
    ROLE,
    ROYAL,
    SAINT,
    SOFT,
    SUFFIX,
)
from namesake.kernels.simd import NUMBERS, byte, prefetch

RARE = 10  # bearers of a token up to which those of unknown fame are proposed as well
LEAST_WEIGHT = 10.0  # of the best bearer of a lone word
SMALL_THING = 3.0
THING_RATIO = 6.0  # a thing that many times as famous as the best bearer shuts the word out
NICK_THING = 5.0
VERY_ORDINARY = 100  # uses in lower case of a word that is no name at all; ORDINARY_WORD: at the start of a sentence
BEFORE_FAME, BEFORE_FIRST = 15.0, 20  # of a thing before a surname: Republican McCain
SAINT_FAME = 10.0
TITLE_ALIAS = 1.0  # the text has the very alias: President Clinton
MOST_BEHIND_TITLE = 4
LEAST_INITIALS, INITIALS_QUALITY = 3, 0.95
BETWEEN_WORDS = (0x20, 0x2D)  # a space, a hyphen
TOGETHER = 16  # tokens looked at for titles


@inlined(B(PAGE, I))
def is_strangers(page, token):
    """Whether a token is part of the name of somebody of the text whom the KB does not know."""
    at = find(page.words, page.mask, page.hashes[token])
    return page.words[at] != FREE and page.first_name[at] == STRANGER


@inlined(B(I, B, B))
def fits_title(form, royal, famous):
    """Whether a title makes a name of a form: royal ones of a given name, others of a surname.

    The first word of a famous name may be the surname: President Xi.
    """
    if royal:
        return form in (HEAD, MONONYM, CALLED, FIRST_NAME)
    return form != BEGIN and (form != FIRST_NAME or famous)


@inner(I(PAGE, KNOWN, I, I, I))
def enter_titled(page, known, title, first, stop):
    """The mention of tokens first to stop behind a title, with its candidates; NOBODY if these mean nobody."""
    royal = listed(page, title, ROYAL)
    key = name_key(page, first, stop)
    alias = name_of(known, name_key(page, title, stop))
    single = stop - first == 1 and page.shorts[first] >= 0
    short = np.int64(page.shorts[first]) if single else short_of(known, key)
    mention = mention_of(page, key)
    fresh = mention == NOBODY
    if alias >= 0 and fresh:
        mention = new_mention(page, key, np.int64(NOBODY), np.int64(TITLED), first, stop)
        for k in range(known.indptr[alias], known.indptr[alias + 1]):
            if bears(known, alias, np.int64(known.rows[k])):
                add_candidate(page, mention, np.int64(known.rows[k]), TITLE_ALIAS)
    if short >= 0 and fresh:
        few = known.short_count[short] <= RARE
        for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
            form, row = np.int64(known.short_forms[k]), np.int64(known.short_rows[k])
            fits = fits_title(form, royal, known.short_weights[k] >= LEAST_WEIGHT)
            if not fits or not (known.fame[row] >= 1.0 or form in (LAST_TWO, PAIR) or few):
                continue
            if mention == NOBODY:
                mention = new_mention(page, key, np.int64(NOBODY), np.int64(TITLED), first, stop)
            add_candidate(page, mention, row, FORM_QUALITY[form])
            raise_evidence(page, mention, BEST, np.float64(known.short_weights[k]))
    if mention != NOBODY and fresh:
        page.facts[mention * FACTS + PLACE] = place_behind(page, stop)
        if short >= 0:
            raise_evidence(page, mention, BEARERS, np.float64(known.short_count[short]))
    return mention


@inner(types.void(PAGE, KNOWN, I))
def place_titled(page, known, title):
    """Find whom a title and the words behind it mean, as many of these as mean somebody."""
    first = end = title + 1
    while end < page.count and end - first < MOST_BEHIND_TITLE and soft(page, end) and page.used[end] == OPEN:
        if not may_end(page, end) and not listed(page, end, PARTICLE):
            break
        end += 1
    while end > first and not may_end(page, end - 1):
        end -= 1
    if end == first or listed(page, first, NAME_TITLE | DATE | FUNCTION) or firm_follows(page, end):
        return
    if listed(page, title, SAINT) and run_fame(page, known, title, title + 2) > SAINT_FAME:
        return
    for stop in range(end, first, -1):
        if stop < end and stop - first == 1 and not hyphen(page, stop):
            return  # Judge Learned Hand is no Learned, Captain Virgil van Dijk no Virgil
        if stop - first == 1 and is_strangers(page, first):
            return
        mention = enter_titled(page, known, title, first, stop)
        if mention >= 0:
            raise_evidence(page, mention, HAS_TITLE, 1.0)
            raise_evidence(page, mention, THING, run_fame(page, known, first, stop))
            add_span(page, mention, first, stop)
            return


@inlined(B(PAGE, I))
def name_follows(page, i):
    """Whether a capital, no suffix, stands at token i and goes on from the one before."""
    return follows(page, i) and not listed(page, i, SUFFIX)


@inlined(B(PAGE, KNOWN, I, B))
def may_be_lone(page, known, at, inside):
    """Whether the text lets token `at` be a name of its own; `inside`: the name of a thing stands before it."""
    if initials(page, at) or listed(page, at, NO_NAME) or is_strangers(page, at):
        return False
    if (name_follows(page, at + 1) and not inside) or particle_follows(page, at + 1):
        return False
    if soft(page, at + 1) and listed(page, at + 1, FAMILY):
        return False
    if firm_follows(page, at + 1) or place_follows(page, known, at + 1) or names_a_thing(page, at):
        return False
    return not in_nickname(page, at)


@inlined(B(PAGE, KNOWN, I))
def another_before(page, known, start):
    """Whether the capital before token `start` makes it somebody else's surname; a title or a nation does not."""
    if not soft(page, start) or not capital(page, start - 1) or page.used[start - 1] == BY_PERSON:
        return False
    if listed(page, start - 1, NEVER | ROLE | NAME_TITLE | FUNCTION):
        return False
    return word_fame(page, known, start - 1) < BEFORE_FAME or begins(page, known, start - 1) >= BEFORE_FIRST


@inlined(B(PAGE, KNOWN, I))
def is_ordinary(page, known, at):
    """Whether token `at` is rather a word than a name: it often stands in lower case, or now and then at a start."""
    lower = in_lower(page, known, at)
    return lower >= VERY_ORDINARY or (lower >= ORDINARY_WORD and page.marks[at] & AT_START != 0)


@inner(B(PAGE, KNOWN, I, I))
def are_initials(page, known, at, row):
    """Whether token `at`, of three letters or more, is the initials of an entity's label: JFK, John F. Kennedy."""
    item, letter, last = known.item[row], page.starts[at], page.ends[at]
    if page.bits[at] & IN_CAPITALS != IN_CAPITALS or last - letter < LEAST_INITIALS:
        return False
    begins_word = True
    for k in range(known.label_offsets[item], known.label_offsets[item + 1]):
        small = known.labels[k] | SMALL_LETTER
        if begins_word:
            if letter == last or byte(page.text, letter) | SMALL_LETTER != small:
                return letter == last  # a suffix may follow: Martin Luther King, Jr.
            letter += 1
        begins_word = known.labels[k] in BETWEEN_WORDS
    return letter == last


@inlined(B(PAGE, KNOWN, I, I, types.float64, I, B))
def passes_gates(page, known, at, form, weight, count, acronym):
    """Whether a lone word, no ordinary one, is worth a look: famous enough, and no far more famous thing."""
    thing, lower = word_fame(page, known, at), in_lower(page, known, at)
    if acronym and lower == 0 and weight >= LEAST_WEIGHT:
        return thing < weight
    if (weight < LEAST_WEIGHT and (count > RARE or thing > SMALL_THING)) or thing > THING_RATIO * weight:
        return False
    if form in (NICK, ALIAS_SURNAME) and (lower > 0 or thing >= NICK_THING):
        return False  # Daddy, Chaos, Magic
    return page.ends[at] - page.starts[at] >= 3 or form in (SURNAME, CALLED, MONONYM)


@inlined(B(KNOWN, I, I))
def worth_a_look(known, k, count):
    """Whether bearer k of a short form that `count` have may be meant by it alone: with some fame, or one of few."""
    return (count <= RARE and known.short_forms[k] != FIRST_NAME) or known.fame[known.short_rows[k]] >= 1.0


@inner(B(PAGE, KNOWN, I, B))
def place_lone(page, known, at, inside):
    """Find whom a short form that `may_be_lone` means, with the particles before it; whether it means anybody."""
    short = np.int64(page.shorts[at])
    start, key = np.int64(at), extend(ZERO, page.hashes[at])
    while soft(page, start) and page.used[start - 1] == OPEN and listed(page, start - 1, PARTICLE):  # al-Assad
        if at - start == MOST_PARTICLES:
            break
        start -= 1
    if start < at:
        longer = short_of(known, name_key(page, start, at + 1))
        if longer >= 0:
            key, short = name_key(page, start, at + 1), longer
        elif not inside and another_before(page, known, start):
            return False  # Adele van Virgil
        elif not hyphen(page, at):
            start = np.int64(at)
    if not inside and another_before(page, known, start):
        return False
    count, best = np.int64(known.short_count[short]), np.int64(NOBODY)
    for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
        if worth_a_look(known, k, count):
            best = np.int64(k)
            break
    if best < 0:
        return False
    form, weight = np.int64(known.short_forms[best]), np.float64(known.short_weights[best])
    acronym = are_initials(page, known, at, np.int64(known.short_rows[best]))
    if not passes_gates(page, known, at, form, weight, count, acronym):
        return False
    mention = mention_of(page, key)
    if mention == NOBODY:
        mention = new_mention(page, key, np.int64(NOBODY), np.int64(ONE), start, at + 1)
        for k in range(best, known.short_indptr[short + 1]):
            if worth_a_look(known, k, count):
                row = np.int64(known.short_rows[k])
                stands = are_initials(page, known, at, row)
                add_candidate(page, mention, row, INITIALS_QUALITY if stands else FORM_QUALITY[known.short_forms[k]])
    page.evidence[mention * EVIDENCE + FORM] = form
    raise_evidence(page, mention, BEST, weight)
    raise_evidence(page, mention, BEARERS, np.float64(count))
    raise_evidence(page, mention, THING, word_fame(page, known, at))
    raise_evidence(page, mention, IN_LOWER, np.float64(in_lower(page, known, at)))
    raise_evidence(page, mention, LOCATIVE, locative(page, start, at))
    raise_evidence(page, mention, HAS_ROLE, np.float64(soft(page, start) and listed(page, start - 1, ROLE)))
    add_span(page, mention, start, np.int64(at + 1))
    return True


@inlined(B(PAGE, KNOWN, I))
def surname_first(page, known, first):
    """Whether tokens `first` and `first` + 1 are a surname in capitals, no ordinary word, and an initial: SMITH J."""
    if page.bits[first] & IN_CAPITALS != IN_CAPITALS or page.ends[first] - page.starts[first] < 3:
        return False
    return lone_letter(page, first + 1) and in_lower(page, known, first) < ORDINARY_WORD and not initials(page, first)


@inner(B(PAGE, KNOWN, I, I))
def place_initial(page, known, initial, at):
    """Find whom a surname, token `at`, and an initial before or behind it mean; whether they mean anybody."""
    first, behind = min(initial, at), initial > at
    key = extend(extend(ZERO, page.hashes[initial]), page.hashes[at])
    mention, short = mention_of(page, key), np.int64(page.shorts[at])
    if another_before(page, known, first):
        return False
    if mention == NOBODY and short >= 0 and may_be_lone(page, known, at, True):
        count = np.int64(known.short_count[short])
        listed_bearers = known.short_indptr[short + 1] - known.short_indptr[short]
        each = count / listed_bearers  # only the best bearers are listed
        for k in range(known.short_indptr[short], known.short_indptr[short + 1]):
            row = np.int64(known.short_rows[k])
            if known.short_forms[k] not in (SURNAME, CALLED) or known.fame[row] < 1.0:
                continue
            if not label_begins(page, known, row, initial):
                continue
            if mention == NOBODY:
                weight = np.float64(known.short_weights[k])
                if weight < LEAST_WEIGHT or (behind and is_ordinary(page, known, at)):
                    return False
                if behind and not passes_gates(page, known, at, SURNAME, weight, count, False):
                    return False
                mention = new_mention(page, key, np.int64(NOBODY), np.int64(ONE), first, first + 2)
                page.evidence[mention * EVIDENCE + FORM] = SURNAME
                page.evidence[mention * EVIDENCE + BEST] = known.short_weights[k]
            page.evidence[mention * EVIDENCE + BEARERS] += each
            add_candidate(page, mention, row, FORM_QUALITY[SURNAME])
    if mention == NOBODY:
        return False
    raise_evidence(page, mention, HAS_ROLE, np.float64(soft(page, first) and listed(page, first - 1, ROLE)))
    add_span(page, mention, first, first + 2)
    return True


@inner(types.void(PAGE, KNOWN))
def place_all_titled(page, known):
    """Find the names behind titles that nobody has taken; titles of some kinds need a capital.

    Titles are rare, so that several words are looked at together.
    """
    for begin in range(0, page.count - 1, TOGETHER):
        end, lists = min(begin + TOGETHER, page.count - 1), np.uint32(0)
        if end - begin == TOGETHER:
            for i in range(TOGETHER):
                lists |= page.classes[begin + i]
            if np.int64(lists) & NAME_TITLE == 0:
                continue
        for at in range(begin, end):
            if listed(page, at, NAME_TITLE) and soft(page, at + 1) and page.used[at] == OPEN:
                if capital(page, at) or listed(page, at, LOWER_TITLE):
                    place_titled(page, known, np.int64(at))


@inlined(B(PAGE, I))
def may_stand_alone(page, at):
    """Whether token `at`, a short form, has a capital, is free, and no first name before a surname."""
    goes_on = (page.gaps[at + 1] == SOFT) & (page.marks[at + 1] & HAS_CAPITAL != 0)
    goes_on &= np.int64(page.classes[at + 1]) & SUFFIX == 0
    return (page.marks[at] & HAS_CAPITAL != 0) & (page.used[at] == OPEN) & (not goes_on)


@inlined(I(PAGE, KNOWN, NUMBERS))
def list_lone(page, known, words):
    """List the tokens that may be names of one word; how many. A word that is a firm's in one place is so in all."""
    some = free = size = 0
    for k in range(page.ables):  # without branches where they are hard to foresee
        words[some] = page.able[k]
        some += page.shorts[page.able[k]] >= 0
    for k in range(some):
        at = words[k]
        words[free] = at
        free += may_stand_alone(page, at)
        if owned_follows(page, at + 1):
            page.first_name[file_word(page, at)] = STRANGER
    for k in range(free):
        at = words[k]
        if not is_ordinary(page, known, at) and may_be_lone(page, known, at, False):
            words[size] = at
            size += 1
    return size


@inner(types.void(PAGE, KNOWN))
def place_all_lone(page, known):
    """Find the names of one word that nobody has taken. What is read of them lies far apart, and is asked for first."""
    words = page.unread
    size = list_lone(page, known, words)
    for k in range(size):
        prefetch(known.short_indptr, np.int64(page.shorts[words[k]]))
        prefetch(known.short_count, np.int64(page.shorts[words[k]]))
    for k in range(size):
        first = known.short_indptr[page.shorts[words[k]]]
        prefetch(known.short_rows, first)
        prefetch(known.short_forms, first)
        prefetch(known.short_weights, first)
    for k in range(size):
        short = page.shorts[words[k]]
        first = known.short_indptr[short]
        if first < known.short_indptr[short + 1]:
            prefetch(known.fame, np.int64(known.short_rows[first]))
    for k in range(size):
        if page.used[words[k]] == OPEN:
            place_lone(page, known, words[k], False)
