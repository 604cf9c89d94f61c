"""A surname that several people of a text share: resolved by gender, else a mention with the candidates of all."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import FREE, ZERO, extend, find
from namesake.kernels.names.constants import EXACT, KIND_QUALITY, SHARED
from namesake.kernels.names.memory import begins
from namesake.kernels.names.page import (
    BY_PERSON,
    COMES,
    EVIDENCE,
    EXTRAS,
    FACTS,
    FIRMS,
    FIRST,
    FULL,
    GOES_ON,
    HIGH,
    KNOWN,
    LOW,
    MOST_EXTRAS,
    MOST_PARTICLES,
    NAME,
    NEXT,
    NOBODY,
    PAGE,
    RULE,
    SEEN,
    SUFFIXES,
    THING,
    B,
    I,
    is_open,
    listed,
    name_key,
    name_of,
    soft,
)
from namesake.kernels.names.people import add_candidate, bears, mention_of, new_mention
from namesake.kernels.names.tokens import AND, AT_START, FAMILY, NAME_TITLE, NUMERAL, PARTICLE

SEVERAL = -2
UNTOLD = 0  # a gender that nothing tells
TOLD_WITHIN = 20  # tokens behind a surname
FAR_APART = 60  # tokens between names that are not searched for the beginning of a sentence
NAMED_EARLIER = 0.9  # quality of people named in an earlier sentence than the last one with the surname
MOST_SHARERS = 8  # people with a surname among whom others are looked for


@inlined(types.uint64(types.uint64))
def family_key(surname):
    """The hash that stands for everybody of a surname, by its hash."""
    return extend(surname, np.uint64(FAMILY))


@inlined(types.uint64(types.uint64, I))
def gender_key(surname, gender):
    """The hash that stands for the men, the women or the others of a surname."""
    return extend(family_key(surname), np.uint64(gender))


@inlined(B(PAGE, types.uint64))
def several_have(page, surname):
    """Whether several of the people whom a text names in full have a surname."""
    at = find(page.words, page.mask, family_key(surname))
    return page.words[at] != FREE and page.surname[at] == SEVERAL


@inlined(I(KNOWN, types.uint64))
def told_by(known, word):
    """The gender that a word tells."""
    for k in range(known.tolds):
        if known.told_keys[k] == word:
            return np.int64(known.told_genders[k])
    return np.int64(UNTOLD)


@inner(I(PAGE, KNOWN, I))
def gender_told(page, known, at):
    """The gender of whom the surname at token `at` means: by the title before, or "she" in the rest of the sentence."""
    first = at
    while soft(page, first) and listed(page, first - 1, PARTICLE) and at - first < MOST_PARTICLES:
        first -= 1  # Mr. Le Pen
    gender = told_by(known, page.hashes[first - 1]) if soft(page, first) else np.int64(UNTOLD)
    for i in range(at + 1, min(page.count, at + 1 + TOLD_WITHIN)):
        if gender != UNTOLD or page.marks[i] & AT_START or page.used[i] == BY_PERSON:
            break
        gender = told_by(known, page.hashes[i])
    return gender


@inner(I(KNOWN, I))
def best_known(known, name):
    """The most famous bearer of a name, as a place in `known.rows`; NOBODY without a name."""
    best, fame = np.int64(NOBODY), -1.0
    if name >= 0:
        for k in range(known.indptr[name], known.indptr[name + 1]):
            if known.fame[known.rows[k]] > fame:
                best, fame = np.int64(k), np.float64(known.fame[known.rows[k]])
    return best


@inner(I(PAGE, KNOWN, I))
def gender_of(page, known, mention):
    """The gender of the best known bearer of a mention's name."""
    best = best_known(known, page.facts[mention * FACTS + NAME])
    return np.int64(known.gender[known.rows[best]]) if best >= 0 else np.int64(UNTOLD)


@inlined(B(PAGE, I))
def in_company(page, first):
    """Whether a full name from token `first` on seems to share its surname: Mary-Kate and Ashley Olsen."""
    return soft(page, first) and listed(page, first - 1, AND) and soft(page, first - 1) and is_open(page, first - 2)


@inner(B(PAGE, KNOWN, I, I))
def titled_otherwise(page, known, at, mention):
    """Whether a title makes the surname at token `at` an alias of others: President Clinton is not Hillary Clinton."""
    if not soft(page, at) or not listed(page, at - 1, NAME_TITLE):
        return False
    alias, name = name_of(known, name_key(page, at - 1, at + 1)), page.facts[mention * FACTS + NAME]
    if alias < 0 or name < 0:
        return False
    for k in range(known.indptr[alias], known.indptr[alias + 1]):
        row = np.int64(known.rows[k])
        if bears(known, alias, row) and bears(known, name, row):
            return False
    return True


@inlined(I(PAGE, I, I, I))
def of_gender(page, at, gender, last):
    """Of several with a surname, token `at`, the last one named before of the gender that the sentence tells.

    Where none is known to be of that gender, it is the last one of whom the KB states none.
    """
    if gender == UNTOLD:
        return last
    place = find(page.words, page.mask, gender_key(page.hashes[at], gender))
    if page.words[place] == FREE:
        place = find(page.words, page.mask, gender_key(page.hashes[at], UNTOLD))
    return page.surname[place] if page.words[place] != FREE else last


@inlined(B(PAGE, I, I, I))
def ends_so(page, mention, start, at):
    """Whether a full name ends in tokens `start` to `at`, of which the last is its surname: Le Pen."""
    high = page.facts[mention * FACTS + HIGH]
    if high - (at - start) <= page.facts[mention * FACTS + LOW]:
        return False
    for back in range(1, at - start + 1):
        if page.hashes[high - 1 - back] != page.hashes[at - back]:
            return False
    return True


@inlined(B(PAGE, I, I))
def in_one_sentence(page, one, other):
    """Whether no sentence begins between two tokens, which are not far apart."""
    low, high = min(one, other), max(one, other)
    if high - low > FAR_APART:
        return False
    for i in range(low + 1, high + 1):
        if page.marks[i] & AT_START:
            return False
    return True


@inlined(B(PAGE, I))
def may_share(page, mention):
    """Whether others may share the short form of a full name: the KB has that very name, and it is no king's."""
    facts = mention * FACTS
    return page.facts[facts + RULE] == EXACT and not listed(page, page.facts[facts + HIGH] - 1, NUMERAL)


@inlined(B(PAGE, KNOWN, I, I))
def is_candidate(page, known, mention, row):
    """Whether an entity is among the candidates of a mention."""
    if bears(known, page.facts[mention * FACTS + NAME], row):
        return True
    extras = mention * MOST_EXTRAS
    for k in range(extras, extras + page.facts[mention * FACTS + EXTRAS]):
        if page.rows[k] == row:
            return True
    return False


@inner(I(PAGE, KNOWN, I, I, I, I, I, types.float64))
def share_with(page, known, mention, start, at, gender, name, factor):
    """Let the surname of a mention, tokens `start` to `at`, mean the best known bearer of another name as well.

    Returns the mention of the shared surname; NOBODY where the bearer is a candidate of `mention` itself, or where the
    sentence tells another gender, which `mention` does not have, either.
    """
    best, facts = best_known(known, name), mention * FACTS
    if best < 0 or is_candidate(page, known, mention, np.int64(known.rows[best])):
        return np.int64(NOBODY)
    if gender != UNTOLD and np.int64(known.gender[known.rows[best]]) not in (gender, gender_of(page, known, mention)):
        return np.int64(NOBODY)
    key = extend(family_key(page.hashes[at]), np.uint64(mention + 1))
    shared = mention_of(page, key)
    if shared == NOBODY:
        shared = new_mention(page, key, page.facts[facts + NAME], np.int64(SHARED), start, at + 1)
        for k in (LOW, HIGH, FULL, FIRMS, GOES_ON, COMES, SUFFIXES):
            page.facts[shared * FACTS + k] = page.facts[facts + k]
        page.evidence[shared * EVIDENCE + THING] = page.evidence[mention * EVIDENCE + THING]
    add_candidate(page, shared, np.int64(known.rows[best]), factor * KIND_QUALITY[known.kinds[best]])
    return shared


@inlined(types.void(PAGE, KNOWN, I, I))
def take_commoner(page, known, shared, other):
    """Let the full name with the commoner first name stand for a shared surname, where strangers are counted."""
    facts, of_other = shared * FACTS, other * FACTS
    if begins(page, known, page.facts[of_other + LOW]) > begins(page, known, page.facts[facts + LOW]):
        page.facts[facts + LOW], page.facts[facts + HIGH] = page.facts[of_other + LOW], page.facts[of_other + HIGH]


@inner(I(PAGE, KNOWN, I, I, I, I))
def shared_surname(page, known, mention, start, at, gender):
    """The mention of a surname, tokens `start` to `at`, that others named before may have as well as `mention`.

    `mention` is the last one named. Its candidates fit somewhat better than the best known bearers of the other names,
    unless one sentence names both. Returns `mention` itself where nobody else may be meant.
    """
    shared, seen = np.int64(NOBODY), page.facts[mention * FACTS + SEEN]
    other = page.first_name[find(page.words, page.mask, family_key(page.hashes[at]))]
    for _ in range(MOST_SHARERS):
        if other < 0 or not may_share(page, mention):
            break
        facts = other * FACTS
        factor = 1.0 if in_one_sentence(page, seen, page.facts[facts + SEEN]) else NAMED_EARLIER
        if may_share(page, other) and (start == at or ends_so(page, other, start, at)):
            if other != mention and not titled_otherwise(page, known, at, other):
                found = share_with(page, known, mention, start, at, gender, page.facts[facts + NAME], factor)
                if found >= 0:
                    shared = found
                    take_commoner(page, known, shared, other)
            first = page.facts[facts + FIRST]
            if start == at and in_company(page, first):  # Bill and Hillary Clinton
                name = name_of(known, extend(extend(ZERO, page.hashes[first - 2]), page.hashes[at]))
                shared = max(shared, share_with(page, known, mention, start, at, gender, name, factor))
        other = page.facts[facts + NEXT]
    if shared == NOBODY:
        return np.int64(mention)
    for k in range(mention * MOST_EXTRAS, mention * MOST_EXTRAS + page.facts[mention * FACTS + EXTRAS]):
        add_candidate(page, shared, np.int64(page.rows[k]), page.quality[k])
    return shared
