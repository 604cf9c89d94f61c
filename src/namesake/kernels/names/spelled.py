"""Names in another spelling: a nickname for the first name (Bernie Kerik), a slip of one letter (Sergey Lavrow)."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names.constants import ALIAS, SPELLED
from namesake.kernels.names.letters import LETTER_E, SMALL, hash_without, plain_word, read_letters
from namesake.kernels.names.memory import begins, finishes
from namesake.kernels.names.page import (
    KNOWN,
    NOBODY,
    PAGE,
    B,
    I,
    initials,
    name_of,
)
from namesake.kernels.names.people import (
    add_candidate,
    borne_outright,
    mention_of,
    new_mention,
)
from namesake.kernels.names.slips import opening
from namesake.kernels.simd import byte, prefetch

LEAST_FAME = 2.0
NICKNAME, SLIP, UMLAUT = 0.85, 0.6, 0.95
RARE_LAST, FAIRLY_RARE_LAST = 3, 100  # labels that a last word may end in which, or beside which, a slip is looked for
FEW_RELATIVES = 5  # labels that end in a surname with which a nickname is somebody's, well known or not
SPACE = 0x20
VOWELS = (0x61, 0x6F, 0x75)  # a, o, u: ae, oe, ue are umlauts
WHOLE = 2.0**64


@inlined(I(PAGE, KNOWN, I, I))
def opening_beside(page, known, wrong, right):
    """The bit of token `right` and the first letter of token `wrong`."""
    return opening(page.hashes[right], byte(page.text, page.starts[wrong]) | SMALL, known.opening_mask)


@inlined(B(KNOWN, I))
def may_have_slipped(known, bit):
    """Whether a name with slips has one word beside the first letter of another, by the bit of both: hardly ever."""
    return known.slip_openings[bit >> 3] >> (bit & 7) & 1 != 0


@inlined(I(KNOWN, types.uint64))
def near_slip(known, key):
    """Near which slip, of those that ascend, a hash would stand: they are spread evenly, so that one can guess.

    A guess is off by the root of how many there are, and the second, from what is found there, by the root of that.
    """
    last, each = known.slips - 1, known.slips / WHOLE
    at = min(np.int64(np.float64(key) * each), last)
    at += np.int64((np.float64(key) - np.float64(known.slip_keys[at])) * each)
    return max(min(at, last), np.int64(0))


@inlined(I(KNOWN, types.uint64, I))
def first_slip(known, key, at):
    """The first of the slips that is not below a hash, walking from slip `at`."""
    while at > 0 and known.slip_keys[at - 1] >= key:
        at -= 1
    while at < known.slips and known.slip_keys[at] < key:
        at += 1
    return at


@inner(types.float64(PAGE, KNOWN, I, I, B))
def slip_quality(page, known, i, name, last):
    """How well token i fits the last (else the first) word of a name: 0 where they differ by more than one slip."""
    begin, end = known.text_offsets[name], known.text_offsets[name + 1]
    edge = end if last else begin
    if last:
        while edge > begin and known.texts[edge - 1] != SPACE:
            edge -= 1
        begin = edge
    else:
        while edge < end and known.texts[edge] != SPACE:
            edge += 1
        end = edge
    start, size, other = page.starts[i], page.ends[i] - page.starts[i], end - begin
    same = 0
    while same < min(size, other) and byte(page.text, start + same) | SMALL == known.texts[begin + same]:
        same += 1
    tail = 0
    while tail < min(size, other) - same:
        if byte(page.text, start + size - 1 - tail) | SMALL != known.texts[end - 1 - tail]:
            break
        tail += 1
    left, right = size - same - tail, other - same - tail
    swapped = (
        left == 2
        and right == 2
        and byte(page.text, start + same) | SMALL == known.texts[begin + same + 1]
        and byte(page.text, start + same + 1) | SMALL == known.texts[begin + same]
    )
    if not swapped and (left > 1 or right > 1):
        return 0.0
    if left + right == 1 and same > 0:
        extra = byte(page.text, start + same) | SMALL if left == 1 else np.int64(known.texts[begin + same])
        if extra == LETTER_E and np.int64(known.texts[begin + same - 1]) in VOWELS:
            return UMLAUT
    return SLIP


@inner(I(PAGE, KNOWN, I, types.uint64, I, I, types.float64, types.float64))
def add_bearers(page, known, mention, key, first, name, quality, least):
    """Add the bearers of a name, of a fame of `least`, to a mention of two tokens, opened where there is none yet."""
    outright = borne_outright(known, name)
    for k in range(known.indptr[name], known.indptr[name + 1]):
        row = np.int64(known.rows[k])
        if known.fame[row] < least or (outright and known.kinds[k] > ALIAS):
            continue
        if mention == NOBODY:
            mention = new_mention(page, key, np.int64(NOBODY), np.int64(SPELLED), first, first + 2)
        add_candidate(page, mention, row, quality)
    return mention


@inner(I(PAGE, KNOWN, I, types.uint64, I, B))
def add_slips(page, known, mention, key, first, last):
    """Add the bearers of names that differ from tokens first and first + 1 by a slip in the last (else the first)."""
    wrong, right = (first + 1, first) if last else (first, first + 1)
    head, size = extend(ZERO, page.hashes[right]), page.ends[wrong] - page.starts[wrong]
    wanted, near = page.wanted, page.near
    read_letters(page, wrong)
    for k in range(size):  # 0 leaves none out: a name begins as it begins
        left_out = np.int64(k if k > 0 else NOBODY)
        wanted[k] = extend(head, hash_without(page.letters, size, left_out))
        near[k] = near_slip(known, wanted[k])  # look-ups that do not wait for each other
    for k in range(size):
        at = first_slip(known, wanted[k], near[k])
        while at < known.slips and known.slip_keys[at] == wanted[k]:
            name = np.int64(known.slip_names[at])
            quality = slip_quality(page, known, wrong, name, last)
            if quality > 0.0:
                mention = add_bearers(page, known, mention, key, first, name, quality, LEAST_FAME)
            at += 1
    return mention


@inner(I(PAGE, KNOWN, types.uint64, I))
def add_umlauts(page, known, key, first):
    """The mention of tokens first and first + 1, of which the last writes ae, oe or ue for an umlaut; or NOBODY."""
    last, mention = first + 1, np.int64(NOBODY)
    size, text, start = page.ends[last] - page.starts[last], page.text, page.starts[last]
    read_letters(page, last)
    for at in range(1, size):
        if byte(text, start + at) | SMALL == LETTER_E and byte(text, start + at - 1) | SMALL in VOWELS:
            other = hash_without(page.letters, size, np.int64(at))
            name = name_of(known, extend(extend(ZERO, page.hashes[first]), other))
            if name >= 0:
                mention = add_bearers(page, known, mention, key, first, name, UMLAUT, LEAST_FAME)
    return mention


@inlined(I(KNOWN, types.uint64))
def nickname_of(known, hashed):
    """The first of the nicknames, which ascend, that is not below a hash; without branches: nobody can foresee it."""
    low, size = np.int64(0), known.nicknames
    while size > 0:
        half = (size + 1) >> 1
        low += half * (known.nickname_keys[low + half - 1] < hashed)
        size -= half
    return low


@inner(I(PAGE, KNOWN, I, types.uint64))
def find_spelled(page, known, first, key):
    """The mention of two tokens that spell the name of somebody well known in another way; NOBODY without one."""
    mention = mention_of(page, key)
    if mention != NOBODY:
        return mention
    last = first + 1
    in_last, in_first = opening_beside(page, known, last, first), opening_beside(page, known, first, last)
    prefetch(known.slip_openings, in_last >> 3)
    prefetch(known.slip_openings, in_first >> 3)
    low = nickname_of(known, page.hashes[first])
    if low < known.nicknames and known.nickname_keys[low] == page.hashes[first]:
        few = finishes(page, known, last) <= FEW_RELATIVES and not initials(page, last)
        least = 0.0 if few else LEAST_FAME  # there is hardly another Kerik
        for k in range(known.nickname_indptr[low], known.nickname_indptr[low + 1]):
            name = name_of(known, extend(extend(ZERO, known.nickname_hashes[k]), page.hashes[last]))
            if name >= 0:
                mention = add_bearers(page, known, mention, key, first, name, NICKNAME, least)
    if mention != NOBODY or known.slips == 0 or not plain_word(page, last):
        return mention
    mention = add_umlauts(page, known, key, first)
    if mention != NOBODY:
        return mention
    common = finishes(page, known, last)
    if common <= RARE_LAST and begins(page, known, first) > 0 and may_have_slipped(known, in_last):
        mention = add_slips(page, known, mention, key, first, True)
    if 0 < common <= FAIRLY_RARE_LAST and plain_word(page, first) and may_have_slipped(known, in_first):
        mention = add_slips(page, known, mention, key, first, False)
    return mention
