"""Turn the lines of a Wikidata dump into flat tables.

`scan` is the entry. It does the lines it fully understands and stops at the first other one, which its caller decodes
with a JSON library and writes into the same tables. The caller sizes the tables so that no line can overflow them:
text never grows when it is decoded, and a statement or an alias takes more bytes than the rows it may fill.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.dump import tables, walk, wikidata
from namesake.kernels.dump.jsontext import (
    CLOSE_LIST,
    CLOSE_MAP,
    COMMA,
    FAIL,
    NEWLINE,
    OPEN_LIST,
    OPEN_MAP,
    QUOTE,
    SPACE,
    at,
    colon,
    empty_list,
    enter,
    skip_member,
    space,
    step,
    value_of,
)
from namesake.kernels.dump.tables import ARRAYS, POINTERS, Tables
from namesake.kernels.dump.times import read_time
from namesake.kernels.dump.valid import KEY_SLOTS, valid_end
from namesake.kernels.dump.walk import K_ID, K_VALUE, digits, keyword
from namesake.kernels.dump.wikidata import MISSING
from namesake.kernels.hash import KEYS
from namesake.kernels.simd import BYTES, LANES, NUMBERS, byte, equal, ones, pointer
from namesake.kernels.types import U8

LETTER_L, LETTER_P, LETTER_Q = (ord(c) for c in "LPQ")
PLUS = ord("+")
K_LABELS, K_DESCRIPTIONS, K_ALIASES = (keyword(k) for k in ("labels", "descriptions", "aliases"))
K_CLAIMS, K_SITELINKS = keyword("claims"), keyword("sitelinks")
K_START_TIME, K_END_TIME = keyword(f"P{wikidata.START_TIME}"), keyword(f"P{wikidata.END_TIME}")
ITEM_COLUMNS = (
    *("qid", "line", "alias_indptr", "statement_indptr"),
    *("kept", "person", "sitelinks", "properties", "population"),
    *("birth", "birth_precision", "death", "death_precision"),
)
"""The columns of the table of items, in the order in which `keep_item` writes them."""


@inner(types.UniTuple(types.int64, 3)(BYTES, NUMBERS))
def stated_time(data, found):
    """First day, precision and last day of what the last snak states; a FAIL precision where it must be decoded."""
    if found[walk.TIME] == 0 or found[walk.PRECISION] == 0:
        return MISSING, FAIL, MISSING
    precision, p = digits(data, found[walk.PRECISION])
    following = byte(data, p)
    if precision < 0 or (following != COMMA and following != CLOSE_MAP and following != SPACE):
        return MISSING, FAIL, MISSING
    return read_time(data, found[walk.TIME], precision)


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_date(data, slot, to):
    """Keep a date of birth or death if it is the first of the best rank so far."""
    day, precision, _ = stated_time(data, to.found)
    if precision == FAIL:
        return FAIL
    if precision == 0:
        to.counts[tables.DATES_DROPPED] += 1
    elif to.found[walk.RANK] > to.found[slot + 2]:
        to.found[slot] = day
        to.found[slot + 1] = precision
        to.found[slot + 2] = to.found[walk.RANK]
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_population(data, p, to):
    """Keep the number of inhabitants at p, such as +12345, if it is the largest so far."""
    if p == 0:
        return FAIL
    if byte(data, p) == PLUS:
        number, p = digits(data, p + 1)
        if byte(data, p) == QUOTE:
            to.found[walk.INHABITANTS] = max(to.found[walk.INHABITANTS], number)
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_statement(data, of, to):
    """Note what the statement just walked over says of property `of`; FAIL where it must be decoded."""
    found = to.found
    item = -1
    if found[walk.TYPE] == walk.ENTITY_ID:
        item = found[walk.ITEM] if found[walk.ITEM] > 0 else found[walk.NUMERIC]
        if found[walk.OTHER_ENTITY] > 0 or item == 0:
            return 0 if found[walk.OTHER_ENTITY] > 0 else FAIL
        if of == wikidata.INSTANCE_OF and item == wikidata.HUMAN:
            found[walk.IS_PERSON] = 1
    elif found[walk.TYPE] != walk.PLAIN_STRING or found[walk.DATATYPE] == walk.OTHER:
        if found[walk.TYPE] == walk.TIME_VALUE and of in (wikidata.BIRTH_DATE, wikidata.DEATH_DATE):
            return keep_date(data, walk.BORN if of == wikidata.BIRTH_DATE else walk.DIED, to)
        if found[walk.TYPE] == walk.QUANTITY and of == wikidata.POPULATION:
            return keep_population(data, found[walk.AMOUNT], to)
        return 0
    elif found[walk.TEXT] == 0:
        return FAIL
    row = to.counts[tables.STATEMENTS] * tables.STATEMENT_COLUMNS
    to.statements[row + tables.PROPERTY] = of
    to.statements[row + tables.VALUE] = item
    to.statements[row + tables.SINCE] = found[walk.QUALIFIERS]
    to.statements[row + tables.UNTIL] = found[walk.TEXT]
    to.counts[tables.STATEMENTS] += 1
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def claims(data, p, to):
    """From the claims to behind them: keeps statements, counts properties that have a value."""
    if p >= 0 and byte(data, p) == OPEN_LIST:
        return empty_list(data, p)
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if byte(data, p) != QUOTE or byte(data, p + 1) != LETTER_P:
            return FAIL
        of, p = digits(data, p + 2)
        if of < 0 or byte(data, p) != QUOTE:
            return FAIL
        p = enter(data, colon(data, p + 1), OPEN_LIST)
        valued = 0
        while p >= 0 and byte(data, p) != CLOSE_LIST:
            p = walk.statement(data, p, to.found)
            if p >= 0 and to.found[walk.HAS_VALUE] > 0 and to.found[walk.RANK] > 0:
                valued = 1
                if keep_statement(data, of, to) < 0:
                    return FAIL
            p = step(data, p, CLOSE_LIST)
        to.found[walk.VALUED] += valued
        p = step(data, p + 1 if p >= 0 else FAIL, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def entity_id(data, p, found):
    """From an id to behind it: its letter and number."""
    if p < 0 or byte(data, p) != QUOTE:
        return FAIL
    found[walk.KIND] = byte(data, p + 1)
    found[walk.NUMBER], p = digits(data, p + 2)
    return p + 1 if found[walk.NUMBER] > 0 and byte(data, p) == QUOTE else FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def entity(data, p, to):
    """From an entity to behind it. The same part twice fails."""
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        part = 0
        if at(data, p, K_ID):
            part = 1
            p = entity_id(data, value_of(data, p, K_ID), to.found)
        elif at(data, p, K_LABELS):
            part = 2
            p = walk.by_language(data, value_of(data, p, K_LABELS), to.languages, to.found, walk.LABELS)
        elif at(data, p, K_DESCRIPTIONS):
            part = 4
            p = walk.by_language(data, value_of(data, p, K_DESCRIPTIONS), to.languages, to.found, walk.DESCRIPTIONS)
        elif at(data, p, K_ALIASES):
            part = 8
            p = walk.by_language(data, value_of(data, p, K_ALIASES), to.languages, to.found, walk.ALIASES)
        elif at(data, p, K_CLAIMS):
            part = 16
            p = claims(data, value_of(data, p, K_CLAIMS), to)
        elif at(data, p, K_SITELINKS):
            part = 32
            p = walk.sitelinks(data, value_of(data, p, K_SITELINKS), to.languages, to.found)
        else:
            p = skip_member(data, p)
        if to.found[walk.SEEN] & part:
            return FAIL
        to.found[walk.SEEN] |= part
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_aliases(data, chosen, mask, to):
    """Decode the aliases of all kept languages, then the labels that were not chosen."""
    first = to.counts[tables.ALIAS]
    for code in range(walk.LANGUAGES):
        p = to.found[walk.ALIASES + code]
        if p == 0:
            continue
        p = enter(data, p, OPEN_LIST)
        while p >= 0 and byte(data, p) != CLOSE_LIST:
            to.found[walk.TEXT] = 0
            p = step(data, walk.text_member(data, p, K_VALUE, to.found, walk.TEXT), CLOSE_LIST)
            if p < 0 or tables.append_alias(data, to.found[walk.TEXT], first, mask, to) < 0:
                return FAIL
    for code in range(walk.LANGUAGES):
        p = to.found[walk.LABELS + code]
        if code != chosen and p > 0 and tables.append_alias(data, p, first, mask, to) < 0:
            return FAIL
    return 0


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, POINTERS))
def first_time(data, p, to):
    """First and last day of the first possible time in a qualifier's list at p, and the position behind the list."""
    first, last = MISSING, MISSING
    p = enter(data, p, OPEN_LIST)
    while p >= 0 and byte(data, p) != CLOSE_LIST:
        p = walk.snak(data, p, to.found)
        if p >= 0 and to.found[walk.HAS_VALUE] > 0 and to.found[walk.TYPE] == walk.TIME_VALUE and first == MISSING:
            first, precision, last = stated_time(data, to.found)
            if precision == FAIL:
                return MISSING, MISSING, FAIL
            if precision == 0:
                to.counts[tables.DATES_DROPPED] += 1
        p = step(data, p, CLOSE_LIST)
    return first, last, p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def qualify(data, row, to):
    """Replace the noted position of a statement's qualifiers by the first and the last day it holds."""
    cell = row * tables.STATEMENT_COLUMNS
    p = to.statements[cell + tables.SINCE]
    to.statements[cell + tables.SINCE] = MISSING
    to.statements[cell + tables.UNTIL] = MISSING
    if p == 0:
        return 0
    p = enter(data, p, OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        if at(data, p, K_START_TIME):
            to.statements[cell + tables.SINCE], _, p = first_time(data, value_of(data, p, K_START_TIME), to)
        elif at(data, p, K_END_TIME):
            _, to.statements[cell + tables.UNTIL], p = first_time(data, value_of(data, p, K_END_TIME), to)
        else:
            p = skip_member(data, p)
        p = step(data, p, CLOSE_MAP)
    return 0 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.boolean, types.int64, types.int64, POINTERS))
def keep_statements(data, kept, first, mask, to):
    """Settle the statements noted from `first` on: texts decoded, qualifiers read, repetitions out.

    What is stated again of other days stays. An item that is not kept keeps its edges to other items alone.
    """
    first_string, last = to.counts[tables.STRING], to.counts[tables.STATEMENTS]
    to.counts[tables.STATEMENTS] = first
    for row in range(first, last):
        source = row * tables.STATEMENT_COLUMNS
        value = to.statements[source + tables.VALUE]
        if value < 0:
            if not kept:
                continue
            if tables.append_text(data, to.statements[source + tables.UNTIL], tables.STRING, to) < 0:
                return FAIL
            string = tables.same_text(to.string_entries, mask, tables.STRING, first_string, to)
            to.counts[tables.STRING] = max(to.counts[tables.STRING] - 1, string + 1)
            value = ~string
        target = to.counts[tables.STATEMENTS]
        cell = target * tables.STATEMENT_COLUMNS
        to.statements[cell + tables.PROPERTY] = to.statements[source + tables.PROPERTY]
        to.statements[cell + tables.VALUE] = value
        to.statements[cell + tables.SINCE] = to.statements[source + tables.SINCE] if kept else 0
        if qualify(data, target, to) < 0:
            return FAIL
        if tables.new_statement(mask, first, target, to):
            to.counts[tables.STATEMENTS] = target + 1
    return 0


@inner(types.int64(BYTES, types.boolean, types.int64, types.int64, POINTERS))
def keep_item(data, keep_all, size, first_statement, to):
    """Write the item that was just walked over, on a line of `size` bytes, into the tables."""
    mask = 63
    while mask < size >> 3:
        mask = mask * 2 + 1
    to.counts[tables.LARGEST_MASK] = max(mask, to.counts[tables.LARGEST_MASK])
    found = to.found
    chosen = tables.append_preferred(data, walk.LABELS, tables.LABEL, to)
    if chosen < 0 or append_aliases(data, chosen, mask, to) < 0:
        return FAIL
    kept = keep_all or found[walk.IS_PERSON] > 0
    described = tables.append_preferred(data, walk.DESCRIPTIONS, tables.DESCRIPTION, to)
    titled = tables.append_text(data, found[walk.TITLE] if kept else 0, tables.TITLE, to)
    if described < 0 or titled < 0 or keep_statements(data, kept, first_statement, mask, to) < 0:
        return FAIL
    numbers = (
        found[walk.NUMBER],
        to.counts[tables.LINES],
        to.counts[tables.ALIAS],
        to.counts[tables.STATEMENTS],
        np.int64(kept),
        found[walk.IS_PERSON],
        found[walk.SITELINKS],
        found[walk.VALUED],
        found[walk.INHABITANTS],
        found[walk.BORN],
        found[walk.BORN + 1],
        found[walk.DIED],
        found[walk.DIED + 1],
    )
    row = to.counts[tables.ITEMS] * len(numbers)
    for i in range(len(numbers)):
        to.items[row + i] = numbers[i]
    to.counts[tables.ITEMS] += 1
    return 0


@inner(types.int64(BYTES, types.int64))
def between(data, p):
    """From between two entities to the next one, or to the end of the line."""
    if p < 0:
        return FAIL
    p = space(data, p)
    while byte(data, p) == COMMA or byte(data, p) == OPEN_LIST or byte(data, p) == CLOSE_LIST:
        p = space(data, p + 1)
    return p


@inner(types.int64(BYTES, types.int64, types.int64, types.boolean, KEYS, types.uint64, POINTERS))
def scan_line(data, start, size, keep_all, keys, stamp, to):
    """Do the line at `start`; returns where it ends. `keys` and `stamp` are those of `valid_end`."""
    p = between(data, start)
    if p >= size or byte(data, p) == NEWLINE:
        return p
    if byte(data, p) != OPEN_MAP or valid_end(data, p, keys, stamp) < 0:
        return FAIL
    for slot in range(walk.FOUND):
        to.found[slot] = 0
    to.found[walk.BORN] = MISSING
    to.found[walk.DIED] = MISSING
    first_statement, dropped = to.counts[tables.STATEMENTS], to.counts[tables.DATES_DROPPED]
    p = between(data, entity(data, p, to))
    if p < 0 or (p < size and byte(data, p) != NEWLINE):
        return FAIL
    kind = to.found[walk.KIND]
    if kind == LETTER_Q:
        return p if keep_item(data, keep_all, p - start, first_statement, to) >= 0 else FAIL
    to.counts[tables.STATEMENTS] = first_statement
    to.counts[tables.DATES_DROPPED] = dropped
    if kind == LETTER_L:
        return p
    to.properties[to.counts[tables.PROPERTIES]] = to.found[walk.NUMBER]
    to.counts[tables.PROPERTIES] += 1
    labelled = tables.append_preferred(data, walk.LABELS, tables.PROPERTY_LABEL, to)
    return p if kind == LETTER_P and labelled >= 0 else FAIL


@kernel(types.int64(U8, types.int64, types.int64, types.boolean, ARRAYS))
def scan(data, start, size, keep_all, arrays):
    """Do the lines in data[start:size]; returns where the first begins that it could not do, or size.

    64 zero bytes follow data[:size].
    """
    to = Tables(
        pointer(arrays.found),
        pointer(arrays.counts),
        pointer(arrays.items),
        pointer(arrays.statements),
        pointer(arrays.properties),
        pointer(arrays.offsets),
        pointer(arrays.alias_entries),
        pointer(arrays.string_entries),
        pointer(arrays.statement_entries),
        pointer(arrays.languages),
        pointer(arrays.text),
    )
    saved = np.empty(tables.RESTORED, np.int64)
    keys, stamp = np.zeros(KEY_SLOTS, np.uint64), np.uint64(0)
    while start < size:
        for i in range(tables.RESTORED):
            saved[i] = to.counts[i]
        stamp += np.uint64(1)
        p = scan_line(pointer(data), start, size, keep_all, pointer(keys), stamp, to)
        if p < 0:
            for i in range(tables.RESTORED):
                to.counts[i] = saved[i]
            tables.forget(to)
            return start
        to.counts[tables.LINES] += 1
        start = p + 1
    return size


@kernel(types.int64(U8, types.int64))
def count_newlines(data, size):
    """How many lines end in data[:size]; 64 bytes of any other kind follow."""
    text, count = pointer(data), 0
    for p in range(0, size, LANES):
        count += ones(equal(text, p, NEWLINE))
    return count


@kernel(types.int64(U8, types.int64, types.int64))
def last_byte(data, value, size):
    """The last place in data[:size] that holds a value; FAIL where none does."""
    for p in range(size - 1, -1, -1):
        if data[p] == value:
            return p
    return FAIL
