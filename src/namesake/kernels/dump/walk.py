"""Walk over one Wikidata entity and store in `found` the positions of the parts that a KB keeps.

`found` has numbers for the current line: positions of texts (0 if there is none), counts, and the content of the last
snak. Every function takes a position and returns the position after the part that it read, or FAIL.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump import jsontext as js
from namesake.kernels.hash import KEYS
from namesake.kernels.simd import BYTES, NUMBERS, byte

LABELS, DESCRIPTIONS, ALIASES, TITLE = 0, 4, 8, 12  # the first three have a slot for each language
# of the last snak
HAS_VALUE, DATATYPE, TYPE, TEXT, ITEM, TIME, PRECISION, AMOUNT, LANGUAGE = range(13, 22)
# of the line
RANK, QUALIFIERS, SITELINKS, VALUED, IS_PERSON, KIND, NUMBER, SEEN, INHABITANTS = range(22, 31)
BORN, DIED = 31, 34  # each: day, precision, rank
LIFE_RANK = 3  # is added to the ranks (1 and 2) of dates of birth and death
DECIDING = 37  # a bit for each stated property that decides a kind
REVISION = 38
FOUND = 39
LANGUAGES = 4
ENTITY_ID, PLAIN_STRING, TIME_VALUE, QUANTITY, MONOLINGUAL, OTHER = range(6)  # types of values
NO_ITEM = -1  # the ITEM of a property, a lexeme …


def keyword(name: str) -> tuple[np.uint64, ...]:
    """A word with its quotes as a literal."""
    return js.literal(f'"{name}"')


def language_keys(labels: Sequence[str], wikipedia: str) -> npt.NDArray[np.uint64]:
    """The literals of the kept languages and of the Wikipedia, in the layout of `held`."""
    unused = [js.literal("\n")] * (LANGUAGES - len(labels))  # occurs nowhere in a line
    return np.array([*map(keyword, labels), *unused, keyword(wikipedia)], np.uint64).ravel()


K_ID, K_TITLE = keyword("id"), keyword("title")
K_MAINSNAK, K_RANK, K_QUALIFIERS = (keyword(k) for k in ("mainsnak", "rank", "qualifiers"))
K_SNAKTYPE, K_DATATYPE, K_DATAVALUE = (keyword(k) for k in ("snaktype", "datatype", "datavalue"))
K_VALUE, K_TYPE, K_TIME, K_PRECISION = (keyword(k) for k in ("value", "type", "time", "precision"))
K_AMOUNT, K_STRING, K_TEXT, K_LANGUAGE = (keyword(k) for k in ("amount", "string", "text", "language"))
K_TYPES = tuple(keyword(k) for k in ("wikibase-entityid", "string", "time", "quantity", "monolingualtext"))
K_DEPRECATED, K_PREFERRED = keyword("deprecated"), keyword("preferred")


@inlined(js.Literal(KEYS, types.int64))
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
    """The number of the kept language at p, in order of preference; FAIL for any other."""
    for number in range(LANGUAGES):
        if js.at(data, p, held(keys, number)):
            return number
    return js.FAIL


@inner(types.int64(BYTES, types.int64, js.Literal, NUMBERS, types.int64))
def text_member(data, p, key, found, slot):
    """From a map to the position after it; found[slot] becomes the position of the text of its member `key`."""
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, key):
            p = js.value_of(data, p, key)
            if p < 0 or byte(data, p) != js.QUOTE:
                return js.FAIL
            found[slot] = p + 1
            p = js.text_end(data, p + 1)
            p = p + 1 if p >= 0 else js.FAIL
        else:
            p = js.skip_member(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, KEYS, NUMBERS, types.int64))
def by_language(data, p, keys, found, slot):
    """From labels, descriptions or aliases to the position after them; found[slot + language] becomes that of the text.

    For aliases, it is the position of the list.
    """
    if p >= 0 and byte(data, p) == js.OPEN_LIST:
        return js.empty_list(data, p)
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        code = language(data, p, keys)
        p = js.colon(data, js.plain_text(data, p))
        if code >= 0 and slot != ALIASES:
            p = text_member(data, p, K_VALUE, found, slot + code)
        elif code >= 0 and p >= 0:
            found[slot + code] = p
            p = js.skip_nested(data, p) if byte(data, p) == js.OPEN_LIST else js.FAIL
        else:
            p = js.skip(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, KEYS, NUMBERS))
def sitelinks(data, p, keys, found):
    """From the sitelinks to the position after them: counts them, finds the title in the language's Wikipedia."""
    wikipedia = held(keys, LANGUAGES)
    if p >= 0 and byte(data, p) == js.OPEN_LIST:
        return js.empty_list(data, p)
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, wikipedia):
            p = text_member(data, js.value_of(data, p, wikipedia), K_TITLE, found, TITLE)
        else:
            p = js.skip_member(data, p)
        found[SITELINKS] += 1
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def entity_member(data, p, found):
    """From a key of a datavalue's map to the position after its value; stores an item, a time, an amount or a text."""
    if js.at(data, p, K_ID):
        p = js.value_of(data, p, K_ID)
        if p < 0 or byte(data, p) != js.QUOTE:
            return js.FAIL
        if byte(data, p + 1) != 81:  # Q
            found[ITEM] = NO_ITEM
            return js.plain_text(data, p)
        found[ITEM], p = js.digits(data, p + 2)
        return p + 1 if found[ITEM] > 0 and byte(data, p) == js.QUOTE else js.FAIL
    if js.at(data, p, K_TIME):
        p = js.value_of(data, p, K_TIME)
        found[TIME] = p + 1
        return js.plain_text(data, p)
    if js.at(data, p, K_PRECISION):
        p = js.value_of(data, p, K_PRECISION)
        found[PRECISION] = p
        return js.skip(data, p)
    if js.at(data, p, K_AMOUNT):
        p = js.value_of(data, p, K_AMOUNT)
        found[AMOUNT] = p + 1
        return js.plain_text(data, p)
    if js.at(data, p, K_LANGUAGE):
        p = js.value_of(data, p, K_LANGUAGE)
        found[LANGUAGE] = p
        return js.plain_text(data, p) if p >= 0 and byte(data, p) == js.QUOTE else js.skip(data, p)
    if js.at(data, p, K_TEXT):
        p = js.value_of(data, p, K_TEXT)
        found[TEXT] = p + 1 if p >= 0 and byte(data, p) == js.QUOTE else 0
        return js.skip(data, p)
    return js.skip_member(data, p)


@inner(types.int64(BYTES, types.int64, NUMBERS))
def datavalue(data, p, found):
    """From a datavalue to the position after it. It replaces the content of an earlier one."""
    found[TYPE] = OTHER
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, K_VALUE):
            for slot in range(TEXT, LANGUAGE + 1):
                found[slot] = 0
            p = js.value_of(data, p, K_VALUE)
            if p >= 0 and byte(data, p) == js.OPEN_MAP:
                p = js.enter(data, p, js.OPEN_MAP)
                while p >= 0 and byte(data, p) != js.CLOSE_MAP:
                    p = js.step(data, entity_member(data, p, found), js.CLOSE_MAP)
                p = p + 1 if p >= 0 else js.FAIL
            else:
                if p >= 0 and byte(data, p) == js.QUOTE:
                    found[TEXT] = p + 1
                p = js.skip(data, p)
        elif js.at(data, p, K_TYPE):
            p = js.value_of(data, p, K_TYPE)
            found[TYPE] = 0
            while p >= 0 and found[TYPE] < OTHER and not js.at(data, p, K_TYPES[found[TYPE]]):
                found[TYPE] += 1
            p = js.plain_text(data, p)
        else:
            p = js.skip_member(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def snak(data, p, found):
    """From a snak to the position after it."""
    for slot in range(HAS_VALUE, LANGUAGE + 1):
        found[slot] = 0
    found[TYPE] = OTHER
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, K_SNAKTYPE):
            p = js.value_of(data, p, K_SNAKTYPE)
            found[HAS_VALUE] = p >= 0 and js.at(data, p, K_VALUE)
            p = p + 7 if found[HAS_VALUE] else js.plain_text(data, p)
        elif js.at(data, p, K_DATAVALUE):
            p = datavalue(data, js.value_of(data, p, K_DATAVALUE), found)
        elif js.at(data, p, K_DATATYPE):
            p = js.value_of(data, p, K_DATATYPE)
            found[DATATYPE] = PLAIN_STRING if p >= 0 and js.at(data, p, K_STRING) else OTHER
            p = js.plain_text(data, p)
        else:
            p = js.skip_member(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def statement(data, p, found):
    """From a statement to the position after it: main snak, rank (0 deprecated, 1 normal, 2 preferred), qualifiers."""
    found[HAS_VALUE] = 0
    found[RANK] = 1
    found[QUALIFIERS] = 0
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, K_MAINSNAK):
            p = snak(data, js.value_of(data, p, K_MAINSNAK), found)
        elif js.at(data, p, K_RANK):
            p = js.value_of(data, p, K_RANK)
            found[RANK] = 1
            if p >= 0 and js.at(data, p, K_DEPRECATED):
                found[RANK] = 0
            elif p >= 0 and js.at(data, p, K_PREFERRED):
                found[RANK] = 2
            p = js.plain_text(data, p)
        elif js.at(data, p, K_QUALIFIERS):
            p = js.value_of(data, p, K_QUALIFIERS)
            found[QUALIFIERS] = 0
            if p >= 0 and byte(data, p) == js.OPEN_LIST:
                p = js.empty_list(data, p)
            else:
                found[QUALIFIERS] = p
                p = js.skip(data, p)
        else:
            p = js.skip_member(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL
