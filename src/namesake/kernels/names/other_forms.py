"""Short forms of the names of entities that are not people: "Justice Department", "Bulls", "World Cup"."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import ZERO, add_byte, extend, find, finish
from namesake.kernels.names import constants as form_numbers
from namesake.kernels.names.forms import BOOLS, FOUND, HASHES, ONE_NAME, Words, add, room_for_forms
from namesake.kernels.names.index import MOST_TOKENS, tokens
from namesake.kernels.simd import pointer
from namesake.kernels.types import F64, I64, U8, record

LEGAL, SMALL, OF, TEAM, NATIONAL, ARTICLE, SPORT, NOUN = 1, 2, 4, 8, 16, 32, 64, 128
"""What a token is in the name of an entity that is not a person, by bits."""
MOST_FORMS = 17  # of one name
LONGEST = 10  # tokens of a name that has short forms
MOST_TAILS = 3
LEAST_FAME = 20.0  # of an entity that is called by one word, the first or last, of a longer label


class Pairs(NamedTuple):
    """Names, normalised, and their entities: name `names[i]` is one of entity `rows[i]`. Labels precede aliases."""

    texts: Annotated[Any, U8]
    offsets: Annotated[Any, I64]
    names: Annotated[Any, I64]
    rows: Annotated[Any, I64]


@inner(types.int64(HASHES, types.int64, types.int64, types.int64, types.int64, ONE_NAME))
def part(hashes, low, high, form, count, to):
    """`add` a part of a name that is not empty."""
    return add(hashes, low, high, form, count, to) if low < high else count


@inner(types.uint64(U8, I64, U8, types.int64, types.boolean))
def acronym(text, at, bits, size, with_small):
    """The hash of the first letters of a name's tokens, with or without small words; 0 for fewer than two letters."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    for i in range(size):
        if with_small or bits[i] & (SMALL | OF) == 0:
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(text[at[i]]))
    return extend(ZERO, finish(hashed, rest, length)) if length > 1 else ZERO


@inner(types.boolean(U8, I64, types.int64))
def is_number(text, at, token):
    """Whether a token has digits only."""
    for i in range(at[token], at[token + 1] - 1):
        if not 48 <= text[i] <= 57:
            return False
    return True


@inner(types.int64(HASHES, U8, types.int64, types.int64, types.boolean, types.int64, ONE_NAME))
def team_forms(hashes, bits, low, high, is_team, count, to):
    """Add the beginnings and the ends of a team's name; of a national team only its country."""
    for i in range(low + 1, high):
        if is_team and bits[i] & NATIONAL:
            while i > low + 1 and bits[i - 1] & SPORT:
                i -= 1
            return part(hashes, low, i, form_numbers.NATIONAL_TEAM, count, to)
    end = high if is_team else low
    while end > low + 2 and bits[end - 1] & SPORT:
        end -= 1
    if end < high:
        count = part(hashes, low, end, form_numbers.TEAM_NICKNAME, count, to)
    for i in range(low + 1, min(end, low + 3)):
        count = part(hashes, low, i, form_numbers.TEAM_PLACE, count, to)
        count = part(hashes, i, end, form_numbers.TEAM_NICKNAME, count, to)
    return count


@inner(types.int64(U8, I64, HASHES, U8, types.int64, types.boolean, ONE_NAME))
def core_forms(text, at, hashes, bits, size, is_team, to):
    """Write the forms of a name of two tokens or more without its article, legal form or year, and those of teams."""
    count, low, end = 0, 0, size
    if bits[0] & ARTICLE:
        low = 1
        count = part(hashes, low, size, form_numbers.NO_SUFFIX, count, to)
    for i in range(1, size):
        is_team |= bits[i] & TEAM != 0 or (size > 2 and bits[i] & SPORT != 0)
    is_team |= bits[0] & TEAM != 0 and bits[0] & LEGAL != 0  # FK Rad
    while end > low + 1 and bits[end - 1] & LEGAL:
        end -= 1
    low += bits[low] & LEGAL != 0 and end > low + 1
    if end - low < size:
        count = part(hashes, low, end, form_numbers.NO_SUFFIX, count, to)
    first, last = low, end
    while first < end and is_number(text, at, first):
        first += 1
    while last > first and is_number(text, at, last - 1):
        last -= 1
    if last - first < end - low:
        count = part(hashes, first, last, form_numbers.NO_YEAR, count, to)
    return team_forms(hashes, bits, low, end, is_team, count, to)


@inner(types.int64(HASHES, U8, types.int64, types.uint64, types.int64, ONE_NAME))
def turned_form(hashes, bits, size, of_word, count, to):
    """Add "Justice Department" for the Department of Justice, and "University of Yale" for Yale University."""
    turned = np.empty(MOST_TOKENS + 1, np.uint64)
    for i in range(1, size - 1):
        if bits[i] & OF and bits[i - 1] & NOUN:
            rest = size - i - 1
            for k in range(rest):
                turned[k] = hashes[i + 1 + k]
            turned[rest] = hashes[i - 1]
            return part(turned, 0, rest + 1, form_numbers.TAIL, count, to)
    if of_word != ZERO and bits[size - 1] & NOUN:
        turned[0], turned[1] = hashes[size - 1], of_word
        for k in range(size - 1):
            turned[2 + k] = hashes[k]
        return part(turned, 0, size + 1, form_numbers.TAIL, count, to)
    return count


@inner(types.int64(U8, I64, HASHES, U8, types.int64, types.boolean, types.int64, ONE_NAME))
def other_forms(text, at, hashes, bits, size, is_famous, count, to):
    """Add the other short forms of a label of two tokens or more; returns how many there are."""
    has_year = is_number(text, at, 0)
    low = 1 if bits[0] & ARTICLE or has_year else 0
    for i in range(low + 1, min(low + 3, size)):
        if i == size - 1 or i == low + 2 or is_famous:
            count = part(hashes, low, i, form_numbers.OPENING, count, to)
    for small in range(2):
        key = acronym(text, at, bits, size, small == 1)
        if key != ZERO and (small == 0 or key != to.keys[count - 1]):
            to.keys[count], to.forms[count], to.sizes[count] = key, form_numbers.ACRONYM, 1
            count += 1
    for i in range(1, size - 1):
        if bits[i] & OF:
            count = part(hashes, low, i, form_numbers.HEAD, count, to)
            after = i + 2 if i + 2 < size and bits[i + 1] & SMALL else i + 1
            return part(hashes, after, size, form_numbers.TAIL, count, to)
    for i in range(max(1, size - 1 - MOST_TAILS), size - 1):
        if bits[i] & SMALL == 0:
            count = part(hashes, i, size, form_numbers.NO_YEAR if has_year else form_numbers.TAIL, count, to)
    if is_famous and not bits[size - 1] & LEGAL:
        count = part(hashes, size - 1, size, form_numbers.LAST_WORD, count, to)
    return count


@kernel(
    types.int64(*(record(Pairs), record(Words), types.uint64, BOOLS, F64, F64, types.float64, types.uint8[::1], FOUND))
)
def list_other_forms(pairs, words, of_word, teams, fame, form_weights, alias_weight, prefixes, to):
    """Write the entries of the names of entities that are not people, and mark the beginnings of the forms.

    Returns how many entries there are. An alias has fewer forms than a label. `of_word` is the hash of "of", or 0.
    """
    at, hashes = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS, np.uint64)
    bits, written = np.empty(MOST_TOKENS, np.uint8), 0
    one = room_for_forms(MOST_FORMS, prefixes)
    texts, offsets, names, rows = pairs
    word_keys, word_bits, mask = pointer(words.keys), words.bits, len(words.keys) - 1
    for k in range(len(names)):
        row, is_label = rows[k], names[k] < len(fame)
        start, stop = offsets[names[k]], offsets[names[k] + 1]
        size = tokens(texts, start, stop, at, hashes) if start < stop else 0
        if size < 2 or size > LONGEST:
            continue
        for i in range(size):
            bits[i] = word_bits[find(word_keys, mask, hashes[i])]
        count = core_forms(texts, at, hashes, bits, size, teams[row], one)
        if is_label and not (count > 0 and one.forms[count - 1] == form_numbers.NATIONAL_TEAM):
            is_famous = fame[row] >= LEAST_FAME
            count = other_forms(texts, at, hashes, bits, size, is_famous, count, one)
            count = turned_form(hashes, bits, size, of_word, count, one)
        for i in range(count):
            form = one.forms[i]
            if (
                form == form_numbers.TEAM_PLACE and not is_label
            ):  # where a team was before: Milwaukee, of the Baltimore Orioles
                continue
            to.keys[written], to.rows[written], to.forms[written] = one.keys[i], row, form
            to.weights[written] = fame[row] * form_weights[form] * (1.0 if is_label else alias_weight)
            written += 1
    return written
