"""Walk over one Wikidata entity and note in `found` where the things are that a knowledge base keeps.

`found` holds numbers for the line at hand: positions of texts (0 where there is none), counts, and what the last
snak said. Every function takes a position and returns the one behind what it walked over, or FAIL.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.jsontext import (
    CLOSE_MAP,
    FAIL,
    NINE,
    OPEN_LIST,
    OPEN_MAP,
    QUOTE,
    ZERO,
    Literal,
    at,
    colon,
    empty_list,
    enter,
    literal,
    plain_text,
    skip,
    skip_member,
    skip_nested,
    step,
    text_end,
    value_of,
    whole_number,
)
from namesake.kernels.hash import KEYS
from namesake.kernels.simd import BYTES, NUMBERS, byte

LABELS, DESCRIPTIONS, ALIASES, TITLE = 0, 4, 8, 12  # the first three have a slot for each language
# of the last snak
HAS_VALUE, DATATYPE, TYPE, TEXT, ITEM, NUMERIC, OTHER_ENTITY, TIME, PRECISION, AMOUNT = range(13, 23)
# of the line
RANK, QUALIFIERS, SITELINKS, VALUED, IS_PERSON, KIND, NUMBER, SEEN, INHABITANTS = range(23, 32)
BORN, DIED = 32, 35  # each: day, precision, rank
FOUND = 38
LANGUAGES = 4
ENTITY_ID, PLAIN_STRING, TIME_VALUE, QUANTITY, OTHER = 1, 2, 3, 4, 5
BY_TYPE, BY_ID = 1, 2  # what tells that a value is another entity than an item: bits of OTHER_ENTITY


def keyword(name: str) -> tuple[np.uint64, ...]:
    """A word with its quotes as a literal."""
    return literal(f'"{name}"')


def language_keys(labels: Sequence[str], wikipedia: str) -> npt.NDArray[np.uint64]:
    """The literals of the languages that are kept and of the Wikipedia, as `held` reads them."""
    unused = [literal("\n")] * (LANGUAGES - len(labels))  # stands nowhere in a line
    return np.array([*map(keyword, labels), *unused, keyword(wikipedia)], np.uint64).ravel()


K_ID, K_TITLE = keyword("id"), keyword("title")
K_MAINSNAK, K_RANK, K_QUALIFIERS = (keyword(k) for k in ("mainsnak", "rank", "qualifiers"))
K_SNAKTYPE, K_DATATYPE, K_DATAVALUE = (keyword(k) for k in ("snaktype", "datatype", "datavalue"))
K_VALUE, K_TYPE, K_TIME, K_PRECISION = (keyword(k) for k in ("value", "type", "time", "precision"))
K_QUANTITY, K_AMOUNT = keyword("quantity"), keyword("amount")
K_ENTITY_TYPE, K_NUMERIC_ID, K_ITEM = (keyword(k) for k in ("entity-type", "numeric-id", "item"))
K_ENTITY_ID, K_STRING = keyword("wikibase-entityid"), keyword("string")
K_DEPRECATED, K_PREFERRED, K_NORMAL = (keyword(k) for k in ("deprecated", "preferred", "normal"))


@inlined(Literal(KEYS, types.int64))
def held(keys, number):
    """A literal of `language_keys`."""
    first = 7 * number
    return (
        keys[first],
        keys[first + 1],
        keys[first + 2],
        keys[first + 3],
        keys[first + 4],
        keys[first + 5],
        keys[first + 6],
    )


@inner(types.int64(BYTES, types.int64, KEYS))
def language(data, p, keys):
    """Which of the languages that are kept stands at p, in order of preference; FAIL for any other."""
    for number in range(LANGUAGES):
        if at(data, p, held(keys, number)):
            return number
    return FAIL


@inner(types.int64(BYTES, types.int64, Literal, NUMBERS, types.int64))
def text_member(data, p, key, found, slot):
    """From a map to behind it; found[slot] becomes where the text of its member `key` begins."""
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, key):
            p = value_of(data, p, key)
            if p < 0 or byte(data, p) != QUOTE:
                return FAIL
            found[slot] = p + 1
            p = text_end(data, p + 1)
            p = p + 1 if p >= 0 else FAIL
        else:
            p = skip_member(data, p)
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, KEYS, NUMBERS, types.int64))
def by_language(data, p, keys, found, slot):
    """From labels, descriptions or aliases to behind them; found[slot + language] becomes where each kept one is.

    Aliases are lists, and are noted by where the list begins.
    """
    if p >= 0 and byte(data, p) == OPEN_LIST:
        return empty_list(data, p)
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        code = language(data, p, keys)
        p = colon(data, plain_text(data, p))
        if code >= 0 and slot != ALIASES:
            p = text_member(data, p, K_VALUE, found, slot + code)
        elif code >= 0 and p >= 0:
            found[slot + code] = p
            p = skip_nested(data, p) if byte(data, p) == OPEN_LIST else FAIL
        else:
            p = skip(data, p)
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, KEYS, NUMBERS))
def sitelinks(data, p, keys, found):
    """From the sitelinks to behind them: counts them, notes the title of the language's Wikipedia."""
    wikipedia = held(keys, LANGUAGES)
    if p >= 0 and byte(data, p) == OPEN_LIST:
        return empty_list(data, p)
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, wikipedia):
            p = text_member(data, value_of(data, p, wikipedia), K_TITLE, found, TITLE)
        else:
            p = skip_member(data, p)
        found[SITELINKS] += 1
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64))
def digits(data, p):
    """The whole number at p and the position behind it."""
    start = p
    while ZERO <= byte(data, p) <= NINE:
        p += 1
    return whole_number(data, start, p), p


@inner(types.int64(BYTES, types.int64, NUMBERS))
def entity_member(data, p, found):
    """From a key of a datavalue's map to behind its value; notes what tells an item, a time or an amount."""
    if at(data, p, K_ENTITY_TYPE):
        p = value_of(data, p, K_ENTITY_TYPE)
        found[OTHER_ENTITY] &= ~BY_TYPE
        if p >= 0 and at(data, p, K_ITEM):
            return p + 6
        found[OTHER_ENTITY] |= BY_TYPE
        return plain_text(data, p)
    if at(data, p, K_NUMERIC_ID):
        p = value_of(data, p, K_NUMERIC_ID)
        if p < 0:
            return FAIL
        found[NUMERIC], p = digits(data, p)
        return p if found[NUMERIC] > 0 else FAIL
    if at(data, p, K_ID):
        p = value_of(data, p, K_ID)
        if p < 0 or byte(data, p) != QUOTE:
            return FAIL
        found[OTHER_ENTITY] &= ~BY_ID
        if byte(data, p + 1) != 81:  # Q
            found[OTHER_ENTITY] |= BY_ID
            return plain_text(data, p)
        found[ITEM], p = digits(data, p + 2)
        return p + 1 if found[ITEM] > 0 and byte(data, p) == QUOTE else FAIL
    if at(data, p, K_TIME):
        p = value_of(data, p, K_TIME)
        found[TIME] = p + 1
        return plain_text(data, p)
    if at(data, p, K_PRECISION):
        p = value_of(data, p, K_PRECISION)
        found[PRECISION] = p
        return skip(data, p)
    if at(data, p, K_AMOUNT):
        p = value_of(data, p, K_AMOUNT)
        found[AMOUNT] = p + 1
        return plain_text(data, p)
    return skip_member(data, p)


@inner(types.int64(BYTES, types.int64, NUMBERS))
def datavalue(data, p, found):
    """From a datavalue to behind it. What it says stands for what one before it said, as its last value does."""
    found[TYPE] = 0
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, K_VALUE):
            for slot in range(TEXT, PRECISION + 1):
                found[slot] = 0
            p = value_of(data, p, K_VALUE)
            if p >= 0 and byte(data, p) == OPEN_MAP:
                p = enter(data, p, OPEN_MAP)
                while p >= 0 and byte(data, p) != CLOSE_MAP:
                    p = step(data, entity_member(data, p, found), CLOSE_MAP)
                p = p + 1 if p >= 0 else FAIL
            else:
                if p >= 0 and byte(data, p) == QUOTE:
                    found[TEXT] = p + 1
                p = skip(data, p)
        elif at(data, p, K_TYPE):
            p = value_of(data, p, K_TYPE)
            if p >= 0 and at(data, p, K_ENTITY_ID):
                found[TYPE] = ENTITY_ID
                p += 19
            else:
                found[TYPE] = OTHER
                if p >= 0 and at(data, p, K_STRING):
                    found[TYPE] = PLAIN_STRING
                elif p >= 0 and at(data, p, K_TIME):
                    found[TYPE] = TIME_VALUE
                elif p >= 0 and at(data, p, K_QUANTITY):
                    found[TYPE] = QUANTITY
                p = plain_text(data, p)
        else:
            p = skip_member(data, p)
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def snak(data, p, found):
    """From a snak to behind it."""
    for slot in range(HAS_VALUE, AMOUNT + 1):
        found[slot] = 0
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, K_SNAKTYPE):
            p = value_of(data, p, K_SNAKTYPE)
            found[HAS_VALUE] = p >= 0 and at(data, p, K_VALUE)
            p = p + 7 if found[HAS_VALUE] else plain_text(data, p)
        elif at(data, p, K_DATAVALUE):
            p = datavalue(data, value_of(data, p, K_DATAVALUE), found)
        elif at(data, p, K_DATATYPE):
            p = value_of(data, p, K_DATATYPE)
            found[DATATYPE] = PLAIN_STRING if p >= 0 and at(data, p, K_STRING) else OTHER
            p = plain_text(data, p)
        else:
            p = skip_member(data, p)
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def statement(data, p, found):
    """From a statement to behind it: its main snak, its rank (0 deprecated, 1 normal, 2 preferred), qualifiers."""
    found[HAS_VALUE] = 0
    found[RANK] = 1
    found[QUALIFIERS] = 0
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, K_MAINSNAK):
            p = snak(data, value_of(data, p, K_MAINSNAK), found)
        elif at(data, p, K_RANK):
            p = value_of(data, p, K_RANK)
            found[RANK] = 1
            if p >= 0 and at(data, p, K_NORMAL):
                p += 8
            else:
                if p >= 0 and at(data, p, K_DEPRECATED):
                    found[RANK] = 0
                elif p >= 0 and at(data, p, K_PREFERRED):
                    found[RANK] = 2
                p = plain_text(data, p)
        elif at(data, p, K_QUALIFIERS):
            p = value_of(data, p, K_QUALIFIERS)
            found[QUALIFIERS] = 0
            if p >= 0 and byte(data, p) == OPEN_LIST:
                p = empty_list(data, p)
            else:
                found[QUALIFIERS] = p
                p = skip(data, p)
        else:
            p = skip_member(data, p)
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL
