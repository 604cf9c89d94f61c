"""Short forms of the people whom a text names in full: surnames, first names, an initial and a surname."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import FREE, ONE, ZERO, extend, find
from namesake.kernels.names.context import firm_follows, is_month, is_place, names_a_thing, place_follows
from namesake.kernels.names.full import FROM, HOW, MATCHES, WHO
from namesake.kernels.names.letters import LETTER_E, hash_without, plain_word, read_letters
from namesake.kernels.names.memory import begins, finishes, word_fame
from namesake.kernels.names.page import (
    END,
    FACTS,
    FIRST,
    HIGH,
    KNOWN,
    LOW,
    MOST_PARTICLES,
    NEXT,
    NOBODY,
    OPEN,
    PAGE,
    SEEN,
    WORD,
    B,
    I,
    capital,
    follows,
    hyphen,
    initials,
    is_open,
    listed,
    particle_follows,
    soft,
)
from namesake.kernels.names.people import (
    KNOWN_THING,
    add_span,
    owner_of,
)
from namesake.kernels.names.shared import (
    SEVERAL,
    UNTOLD,
    family_key,
    gender_key,
    gender_of,
    gender_told,
    in_company,
    of_gender,
    several_have,
    shared_surname,
    titled_otherwise,
)
from namesake.kernels.names.tokens import (
    ARTICLE,
    CASED,
    FAMILY,
    FUNCTION,
    HONORIFIC,
    IS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    NAME_TITLE,
    NUMERAL,
    OF,
    ORDINARY,
    PARTICLE,
    SUFFIX,
)
from namesake.kernels.simd import byte

STRANGER = -3
FEW_FIRST = 20  # labels that a word begins which is hardly a first name
GIVEN = 20  # how much more often a first name begins labels than it ends them
SMALL_THING = 5.0
LETTER, LETTER_S = 0x20, 0x73
SIEVE = 16  # numbers of 64 bits that sieve words
SIX, LAST_SIEVE, LAST_BIT = np.uint64(6), np.uint64(SIEVE - 1), np.uint64(63)


@inlined(I(PAGE, types.uint64))
def file_key(page, key):
    """The slot of a hash that stands for somebody, made ready where it is new."""
    at = find(page.words, page.mask, key)
    if page.words[at] == FREE:
        page.words[at], page.surname[at], page.first_name[at] = key, NOBODY, NOBODY
    return at


@inlined(I(PAGE, I))
def file_word(page, token):
    """The slot of a word that stands for somebody."""
    return file_key(page, page.hashes[token])


@inlined(types.uint64(PAGE, I, I))
def initial_key(page, first, last):
    """The hash of a surname, token `last`, behind the first letter of token `first`: A. Murray, Andy Murray."""
    return extend(page.hashes[last], np.uint64(byte(page.text, page.starts[first]) | LETTER))


@inlined(B(PAGE, I, I))
def hyphenated_given(page, low, high):
    """Whether the last two of three tokens are a given name with a hyphen: Kim Jong-un, but not Bashar al-Assad."""
    return (
        high - low >= 3
        and hyphen(page, high - 1)
        and not hyphen(page, low + 1)
        and not listed(page, high - 2, PARTICLE)
    )


@inner(I(PAGE, I))
def short_token(page, mention):
    """The token that stands for a full name; NOBODY without one. Writes where the name begins and ends, less affixes.

    It is the surname, or the given name of "Louis XV of France" and the first of "Kim Jong-un".
    """
    facts = mention * FACTS
    low, high = page.facts[facts + FIRST], page.facts[facts + END]
    while high - low > 2 and listed(page, high - 1, SUFFIX):
        high -= 1
    while high - low > 2 and listed(page, low, HONORIFIC):
        low += 1
    headed = False
    for i in range(low + 1, high):
        if listed(page, i, OF | ARTICLE):
            high, headed = i, True
            break
    page.facts[facts + LOW], page.facts[facts + HIGH] = low, high
    regnal = high - low >= 2 and listed(page, high - 1, NUMERAL)
    token = low if high - low == 1 or regnal or hyphenated_given(page, low, high) else high - 1
    return np.int64(NOBODY) if headed and listed(page, token, NAME_TITLE | FUNCTION) else token


@inner(types.void(PAGE, MATCHES, I))
def file_people(page, matches, found):
    """File the surnames and first names of a text's people: a first name that several have is nobody's."""
    seen = np.int64(0)
    for m in range(found):
        mention = matches[m, WHO]
        if matches[m, HOW] == NOBODY or mention < seen:
            continue
        seen = mention + 1
        token = short_token(page, mention)
        page.facts[mention * FACTS + WORD] = token
        if token >= 0:
            for key in (page.hashes[token], initial_key(page, page.facts[mention * FACTS + LOW], token)):
                at = file_key(page, key)
                page.surname[at] = mention if page.surname[at] == NOBODY else page.surname[at]
            at = file_key(page, family_key(page.hashes[token]))
            alone = page.surname[at] == NOBODY and not in_company(page, page.facts[mention * FACTS + FIRST])
            page.surname[at] = mention if alone else SEVERAL
        at = file_word(page, page.facts[mention * FACTS + LOW])
        page.first_name[at] = mention if page.first_name[at] == NOBODY else SEVERAL


@inner(B(PAGE, KNOWN, I))
def another_begins(page, known, at):
    """Behind a surname: a hyphen and a capital, "family", or another name that begins with it (Leung Che-cheung).

    Particles and a capital make one, too: Homer van Meter is not Winslow Homer.
    """
    behind = at + 1
    if soft(page, behind) and (listed(page, behind, FAMILY) or (hyphen(page, behind) and capital(page, behind))):
        return True
    if particle_follows(page, behind):
        return True
    if not follows(page, behind) or page.used[behind] != OPEN or listed(page, behind, SUFFIX):
        return False
    if begins(page, known, at) > GIVEN * (1 + finishes(page, known, at)):
        return True
    return hyphenated_given(page, at, min(at + 3, page.count))


@inlined(I(PAGE, I))
def of_initial(page, at):
    """Whom a surname, token `at`, means with the initial before it: the last one before, else the first behind."""
    place = find(page.words, page.mask, initial_key(page, at - 1, at))
    return page.surname[place] if page.words[place] != FREE else np.int64(NOBODY)


@inner(types.Tuple((I, I))(PAGE, KNOWN, I, I))
def short_surname(page, known, at, mention):
    """Whom the surname at token `at` means, and where the span begins; NOBODY if something else seems to be meant."""
    nobody = np.int64(NOBODY), np.int64(at)
    low, high = page.facts[mention * FACTS + LOW], page.facts[mention * FACTS + HIGH]
    start, word = np.int64(at), np.int64(high - 1)
    while page.hashes[at] == page.hashes[high - 1] and word - 1 > low and soft(page, start):
        if page.used[start - 1] != OPEN or page.hashes[start - 1] != page.hashes[word - 1]:
            break
        start, word = start - 1, word - 1
    if page.style == CASED:
        far = start
        while soft(page, far) and listed(page, far - 1, PARTICLE) and page.used[far - 1] == OPEN:
            if start - far == MOST_PARTICLES:
                break
            far -= 1
        if far < start and soft(page, far) and is_open(page, far - 1):
            if not listed(page, far - 1, NAME_TITLE | FUNCTION):
                return nobody  # Karl Wilhelm von Feuerbach is not Ludwig
        if soft(page, start) and page.used[start - 1] == OPEN and page.bits[start - 1] & IS_CAPITAL != 0:
            dotted = page.bits[start - 1] & (IS_INITIALS | IS_DOTTED) == IS_INITIALS | IS_DOTTED
            if dotted or not listed(page, start - 1, HONORIFIC | FUNCTION):
                own = of_initial(page, at) if start == at and initials(page, at - 1) else NOBODY
                if own >= 0:
                    mention, start = np.int64(own), start - 1  # A. Murray is Andy's
                elif word_fame(page, known, start - 1) < KNOWN_THING or begins(page, known, start - 1) >= FEW_FIRST:
                    return nobody
        if another_begins(page, known, at) or is_month(page, at) or is_place(page, known, at):
            return nobody
        if names_a_thing(page, at) or titled_otherwise(page, known, at, mention):
            return nobody
    if firm_follows(page, at + 1) or (place_follows(page, known, at + 1) and word_fame(page, known, at) > SMALL_THING):
        return nobody
    return np.int64(mention), start


@inner(I(PAGE, I, I))
def short_first_name(page, at, mention):
    """Where the beginning of a full name that stands at token `at` ends; NOBODY where another name seems to begin."""
    low, high = page.facts[mention * FACTS + LOW], page.facts[mention * FACTS + HIGH]
    end, word = np.int64(at + 1), low + 1
    while word < high - 1 and soft(page, end) and page.used[end] == OPEN and page.hashes[end] == page.hashes[word]:
        end, word = end + 1, word + 1
    if page.style == CASED:
        another = (follows(page, end) and page.used[end] == OPEN) or particle_follows(page, end)
    else:
        another = end == at + 1 and listed(page, at, ORDINARY | FUNCTION | HONORIFIC)
    return np.int64(NOBODY) if another or firm_follows(page, end) else end


@inner(I(PAGE, KNOWN, I))
def of_family(page, known, at):
    """Whom "the Obamas", token `at`, mean: the only one of the surname whom the text names in full, else NOBODY."""
    if not soft(page, at) or not plain_word(page, at) or not capital(page, at):
        return np.int64(NOBODY)
    size = page.ends[at] - page.starts[at]
    if byte(page.text, page.ends[at] - 1) | LETTER != LETTER_S or word_fame(page, known, at) > SMALL_THING:
        return np.int64(NOBODY)
    if follows(page, at + 1) or firm_follows(page, at + 1):
        return np.int64(NOBODY)
    read_letters(page, at)
    for less in range(1, 3 if page.letters[size - 2] == LETTER_E else 2):  # the Obamas, the Bushes
        place = find(page.words, page.mask, family_key(hash_without(page.letters, size - less, np.int64(NOBODY))))
        if page.words[place] != FREE:
            return max(page.surname[place], np.int64(NOBODY))
    return np.int64(NOBODY)


@inner(types.void(PAGE, KNOWN, I, I, I))
def file_named(page, known, mention, word, at):
    """File somebody whom the text names at token `at`: from here on the surname, token `word`, is this one's."""
    surname = page.hashes[word]
    page.surname[file_key(page, surname)] = mention
    page.surname[file_key(page, initial_key(page, page.facts[mention * FACTS + LOW], word))] = mention
    if several_have(page, surname):
        page.surname[file_key(page, gender_key(surname, gender_of(page, known, mention)))] = mention
        if page.facts[mention * FACTS + SEEN] == NOBODY:
            family = file_key(page, family_key(surname))
            page.facts[mention * FACTS + NEXT], page.first_name[family] = page.first_name[family], mention
        page.facts[mention * FACTS + SEEN] = at


@inlined(types.void(PAGE, I, I))
def file_run(page, first, end):
    """File the surname of somebody whom tokens first to end, a run of capitals, name; the first of a surname has it."""
    for i in range(first, end):
        mention = owner_of(page, i)
        if mention >= 0 and page.stop[i] - i >= 2:
            word = short_token(page, mention)
            if word >= 0:
                at = file_word(page, word)
                page.surname[at] = mention if page.surname[at] == NOBODY else page.surname[at]
            return


@inner(types.void(PAGE, KNOWN, I))
def place_run_shorts(page, known, since):
    """Give the people whom runs of capitals name, the mentions from `since` on, the spans of their surnames."""
    for k in range(page.ables):
        at = page.able[k]
        if not is_open(page, at):
            continue
        place = find(page.words, page.mask, page.hashes[at])
        if page.words[place] != FREE and page.surname[place] >= since:
            mention, start = short_surname(page, known, at, page.surname[place])
            if mention >= 0:
                add_span(page, mention, start, at + 1)


@inlined(types.void(PAGE))
def sieve_words(page):
    """Set the bits of the words that `file_people` has filed, in `page.wanted`: hardly another word has one."""
    for k in range(SIEVE):
        page.wanted[k] = ZERO
    for mention in range(page.size[0]):
        for token in (page.facts[mention * FACTS + WORD], page.facts[mention * FACTS + LOW]):
            if token >= 0:
                page.wanted[page.hashes[token] >> SIX & LAST_SIEVE] |= ONE << (page.hashes[token] & LAST_BIT)


@inlined(B(PAGE, types.uint64))
def may_stand_for_one(page, word):
    """Whether a word may be the surname or first name of somebody whom the text names in full."""
    return page.wanted[word >> SIX & LAST_SIEVE] >> (word & LAST_BIT) & ONE != ZERO


@inner(types.void(PAGE, KNOWN, MATCHES, I))
def place_shorts(page, known, matches, found):
    """Give the people of a text the spans of their short forms."""
    sieve_words(page)
    m, free = 0, np.int64(0)
    upcoming = matches[0, FROM] if found > 0 else page.count  # where the next full name begins
    for k in range(page.ables):
        at = page.able[k]
        if at < free:
            continue
        while upcoming <= at:
            word = page.facts[matches[m, WHO] * FACTS + WORD] if matches[m, HOW] != NOBODY else np.int64(NOBODY)
            if word >= 0:
                file_named(page, known, matches[m, WHO], word, matches[m, FROM])
            m += 1
            upcoming = matches[m, FROM] if m < found else page.count
        if page.used[at] != OPEN:
            continue
        stands = may_stand_for_one(page, page.hashes[at])
        place = find(page.words, page.mask, page.hashes[at]) if stands else np.int64(0)
        stands = stands and page.words[place] != FREE
        if stands and page.surname[place] >= 0:
            several = several_have(page, page.hashes[at])
            gender = gender_told(page, known, at) if several else np.int64(UNTOLD)
            mention, start = short_surname(page, known, at, of_gender(page, at, gender, page.surname[place]))
            if mention >= 0:
                whose = shared_surname(page, known, mention, start, at, gender) if several else mention
                add_span(page, whose, start, at + 1)
                if several and whose == mention:
                    file_named(page, known, mention, at, at)
        elif stands and page.first_name[place] >= 0 and not initials(page, at):
            if page.style == CASED and not capital(page, at):
                continue  # a word of a title that has lost its capital
            stop = short_first_name(page, at, page.first_name[place])
            if stop >= 0:
                add_span(page, page.first_name[place], at, stop)
                free = stop
        elif page.style == CASED and listed(page, at - 1, ARTICLE):
            mention = of_family(page, known, at)
            if mention >= 0:
                add_span(page, mention, at, at + 1)
