"""Turn the lines of a Wikidata dump into flat tables.

`scan` is the entry point. It parses lines until it finds one that it does not fully understand; the caller repairs this
line with a JSON library and scans it alone. The caller makes the tables large enough for any line: text never grows
when it is decoded, and a statement or an alias has more bytes than it needs rows.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.dump import jsontext as js
from namesake.kernels.dump import tables, walk, wikidata
from namesake.kernels.dump.tables import ARRAYS, POINTERS, Tables
from namesake.kernels.dump.times import read_time
from namesake.kernels.dump.valid import KEY_SLOTS, valid_end
from namesake.kernels.dump.walk import K_VALUE, keyword
from namesake.kernels.dump.wikidata import MISSING
from namesake.kernels.hash import KEYS
from namesake.kernels.simd import BYTES, NUMBERS, byte, pointer
from namesake.kernels.types import U8

LETTER_L, LETTER_P, LETTER_Q = (ord(c) for c in "LPQ")
PLUS = ord("+")
K_PARTS = tuple(keyword(k) for k in ("labels", "descriptions", "aliases", "claims", "sitelinks", "id"))
CLAIMS, SITELINKS, ID = 3, 4, 5  # parts of an entity
K_START_TIME, K_END_TIME = keyword(f"P{wikidata.START_TIME}"), keyword(f"P{wikidata.END_TIME}")
ITEM_COLUMNS = (
    *("qid", "line", "alias_indptr", "statement_indptr"),
    *("kept", "person", "sitelinks", "properties", "population"),
    *("birth", "birth_precision", "death", "death_precision"),
    "deciding",
)
"""The columns of the table of items, in the order in which `keep_item` writes them."""


@inner(types.UniTuple(types.int64, 3)(BYTES, NUMBERS))
def stated_time(data, found):
    """First day, precision and last day of the last snak's time; precision FAIL if a decoder must read it."""
    if found[walk.TIME] == 0 or found[walk.PRECISION] == 0:
        return MISSING, js.FAIL, MISSING
    precision, p = js.digits(data, found[walk.PRECISION])
    following = byte(data, p)
    if precision < 0 or (following != js.COMMA and following != js.CLOSE_MAP and following != js.SPACE):
        return MISSING, js.FAIL, MISSING
    return read_time(data, found[walk.TIME], precision)


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_date(data, entry, to):
    """Store a date if it is the first of the best rank so far; `entry` is that of its property in `to.dates`.

    Dates of birth and death rank above those of other kinds of items.
    """
    day, precision, _ = stated_time(data, to.found)
    if precision == js.FAIL:
        return js.FAIL
    of_life = entry >= tables.OF_LIFE
    slot = walk.DIED if entry & 1 else walk.BORN
    rank = to.found[walk.RANK] + (walk.LIFE_RANK if of_life else 0)
    if precision == 0:
        to.counts[tables.DATES_DROPPED] += of_life
    elif rank > to.found[slot + 2]:
        to.found[slot] = day
        to.found[slot + 1] = precision
        to.found[slot + 2] = rank
    return 0


@inner(types.void(types.int64, POINTERS))
def mark_property(of, to):
    """Set the bit of a property that decides a kind, if the last value is of its type."""
    if of < wikidata.DECIDING_END and to.deciding[of] > 0:
        entry = np.int64(to.deciding[of]) - 1
        if entry >> wikidata.TYPE_AT == to.found[walk.TYPE]:
            to.found[walk.DECIDING] |= 1 << (entry & wikidata.BIT_MASK)


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_population(data, p, to):
    """Store the number of inhabitants at p, such as +12345, if it is the largest so far."""
    if p == 0:
        return js.FAIL
    if byte(data, p) == PLUS:
        number, p = js.digits(data, p + 1)
        if byte(data, p) == js.QUOTE:
            to.found[walk.INHABITANTS] = max(to.found[walk.INHABITANTS], number)
            if number > 0:
                mark_property(wikidata.POPULATION, to)
    return 0


@inner(types.boolean(BYTES, types.int64, POINTERS))
def is_demonym(data, of, to):
    """Whether the statement that was just read, of property `of`, is a demonym in a language that is kept."""
    place = to.found[walk.LANGUAGE]
    is_text = of == wikidata.DEMONYM and to.found[walk.TYPE] == walk.MONOLINGUAL
    return is_text and place > 0 and walk.language(data, place, to.languages) >= 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_statement(data, of, to):
    """Store the statement that was just read, of property `of`; FAIL if a decoder must read it."""
    found = to.found
    item = -1
    if found[walk.TYPE] == walk.ENTITY_ID:
        item = found[walk.ITEM]
        if item <= 0:
            return 0 if item == walk.NO_ITEM else js.FAIL
        mark_property(of, to)
        if of == wikidata.INSTANCE_OF and item == wikidata.HUMAN:
            found[walk.IS_PERSON] = 1
    elif is_demonym(data, of, to):
        if found[walk.TEXT] == 0:
            return js.FAIL
    elif found[walk.TYPE] != walk.PLAIN_STRING or found[walk.DATATYPE] == walk.OTHER:
        if found[walk.TYPE] != walk.QUANTITY:
            mark_property(of, to)
        if found[walk.TYPE] == walk.TIME_VALUE and of < wikidata.DECIDING_END and to.dates[of] > 0:
            return keep_date(data, np.int64(to.dates[of]), to)
        if found[walk.TYPE] == walk.QUANTITY and of == wikidata.POPULATION:
            return keep_population(data, found[walk.AMOUNT], to)
        return 0
    elif found[walk.TEXT] == 0:
        return js.FAIL
    row = to.counts[tables.STATEMENTS] * tables.STATEMENT_COLUMNS
    to.statements[row + tables.PROPERTY] = of
    to.statements[row + tables.VALUE] = item
    to.statements[row + tables.SINCE] = found[walk.QUALIFIERS]
    to.statements[row + tables.UNTIL] = found[walk.TEXT]
    to.counts[tables.STATEMENTS] += 1
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def claims(data, p, to):
    """From the claims to the position after them: stores statements, counts properties that have a value."""
    if p >= 0 and byte(data, p) == js.OPEN_LIST:
        return js.empty_list(data, p)
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if byte(data, p) != js.QUOTE or byte(data, p + 1) != LETTER_P:
            return js.FAIL
        of, p = js.digits(data, p + 2)
        if of < 0 or byte(data, p) != js.QUOTE:
            return js.FAIL
        p = js.enter(data, js.colon(data, p + 1), js.OPEN_LIST)
        valued = 0
        while p >= 0 and byte(data, p) != js.CLOSE_LIST:
            p = walk.statement(data, p, to.found)
            if p >= 0 and to.found[walk.HAS_VALUE] > 0 and to.found[walk.RANK] > 0:
                valued = 1
                if keep_statement(data, of, to) < 0:
                    return js.FAIL
            p = js.step(data, p, js.CLOSE_LIST)
        to.found[walk.VALUED] += valued
        p = js.step(data, p + 1 if p >= 0 else js.FAIL, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, NUMBERS))
def entity_id(data, p, found):
    """From an id to the position after it: stores its letter and number."""
    if p < 0 or byte(data, p) != js.QUOTE:
        return js.FAIL
    found[walk.KIND] = byte(data, p + 1)
    found[walk.NUMBER], p = js.digits(data, p + 2)
    return p + 1 if found[walk.NUMBER] > 0 and byte(data, p) == js.QUOTE else js.FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def entity(data, p, to):
    """From an entity to the position after it. A repeated part fails."""
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        part = 0
        while part < len(K_PARTS) and not js.at(data, p, K_PARTS[part]):
            part += 1
        if part == len(K_PARTS):
            p = js.step(data, js.skip_member(data, p), js.CLOSE_MAP)
            continue
        if to.found[walk.SEEN] >> part & 1:
            return js.FAIL
        to.found[walk.SEEN] |= 1 << part
        p = js.value_of(data, p, K_PARTS[part])
        if part == CLAIMS:
            p = claims(data, p, to)
        elif part == SITELINKS:
            p = walk.sitelinks(data, p, to.languages, to.found)
        elif part == ID:
            p = entity_id(data, p, to.found)
        else:
            p = walk.by_language(data, p, to.languages, to.found, part * walk.LANGUAGES)
        p = js.step(data, p, js.CLOSE_MAP)
    return p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, types.boolean, POINTERS))
def append_aliases(data, chosen, check, to):
    """Decode the aliases in all kept languages, then the labels that were not chosen."""
    first = to.counts[tables.ALIAS]
    for code in range(walk.LANGUAGES):
        p = to.found[walk.ALIASES + code]
        if p == 0:
            continue
        p = js.enter(data, p, js.OPEN_LIST)
        while p >= 0 and byte(data, p) != js.CLOSE_LIST:
            to.found[walk.TEXT] = 0
            p = js.step(data, walk.text_member(data, p, K_VALUE, to.found, walk.TEXT), js.CLOSE_LIST)
            if p < 0 or tables.append_alias(data, to.found[walk.TEXT], first, check, to) < 0:
                return js.FAIL
    for code in range(walk.LANGUAGES):
        p = to.found[walk.LABELS + code]
        if code != chosen and p > 0 and tables.append_alias(data, p, first, check, to) < 0:
            return js.FAIL
    return 0


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, POINTERS))
def first_time(data, p, to):
    """First and last day of the first possible time in a qualifier's list at p, and the position after the list."""
    first, last = MISSING, MISSING
    p = js.enter(data, p, js.OPEN_LIST)
    while p >= 0 and byte(data, p) != js.CLOSE_LIST:
        p = walk.snak(data, p, to.found)
        if p >= 0 and to.found[walk.HAS_VALUE] > 0 and to.found[walk.TYPE] == walk.TIME_VALUE and first == MISSING:
            first, precision, last = stated_time(data, to.found)
            if precision == js.FAIL:
                return MISSING, MISSING, js.FAIL
            if precision == 0:
                to.counts[tables.DATES_DROPPED] += 1
        p = js.step(data, p, js.CLOSE_LIST)
    return first, last, p + 1 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def qualify(data, row, to):
    """Replace the stored position of a statement's qualifiers by its first and last day."""
    cell = row * tables.STATEMENT_COLUMNS
    p = to.statements[cell + tables.SINCE]
    to.statements[cell + tables.SINCE] = MISSING
    to.statements[cell + tables.UNTIL] = MISSING
    if p == 0:
        return 0
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != js.CLOSE_MAP:
        if js.at(data, p, K_START_TIME):
            to.statements[cell + tables.SINCE], _, p = first_time(data, js.value_of(data, p, K_START_TIME), to)
        elif js.at(data, p, K_END_TIME):
            _, to.statements[cell + tables.UNTIL], p = first_time(data, js.value_of(data, p, K_END_TIME), to)
        else:
            p = js.skip_member(data, p)
        p = js.step(data, p, js.CLOSE_MAP)
    return 0 if p >= 0 else js.FAIL


@inner(types.int64(BYTES, types.boolean, types.int64, POINTERS))
def keep_statements(data, kept, first, to):
    """Complete the statements stored from `first` on: decode texts, read qualifiers.

    Of an item that is not kept only the links to other items remain.
    """
    last = to.counts[tables.STATEMENTS]
    to.counts[tables.STATEMENTS] = first
    for row in range(first, last):
        source = row * tables.STATEMENT_COLUMNS
        value = to.statements[source + tables.VALUE]
        if value < 0:
            if not kept:
                continue
            value = ~to.counts[tables.STRING]
            if tables.append_text(data, to.statements[source + tables.UNTIL], tables.STRING, to) < 0:
                return js.FAIL
        target = to.counts[tables.STATEMENTS]
        cell = target * tables.STATEMENT_COLUMNS
        to.statements[cell + tables.PROPERTY] = to.statements[source + tables.PROPERTY]
        to.statements[cell + tables.VALUE] = value
        to.statements[cell + tables.SINCE] = to.statements[source + tables.SINCE] if kept else 0
        if qualify(data, target, to) < 0:
            return js.FAIL
        to.counts[tables.STATEMENTS] = target + 1
    return 0


@inner(types.int64(BYTES, types.boolean, types.boolean, types.int64, POINTERS))
def keep_item(data, keep_all, check, first_statement, to):
    """Write the item that was just read into the tables."""
    found = to.found
    chosen = tables.append_preferred(data, walk.LABELS, tables.LABEL, to)
    if chosen < 0 or append_aliases(data, chosen, check, to) < 0:
        return js.FAIL
    kept = keep_all or found[walk.IS_PERSON] > 0
    for slot in (walk.BORN, walk.DIED):
        if found[walk.IS_PERSON] > 0 and found[slot + 2] < walk.LIFE_RANK:
            found[slot] = MISSING
            found[slot + 1] = 0
    described = tables.append_preferred(data, walk.DESCRIPTIONS, tables.DESCRIPTION, to)
    titled = tables.append_text(data, found[walk.TITLE] if kept else 0, tables.TITLE, to)
    if described < 0 or titled < 0 or keep_statements(data, kept, first_statement, to) < 0:
        return js.FAIL
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
        found[walk.DECIDING],
    )
    row = to.counts[tables.ITEMS] * len(numbers)
    for i in range(len(numbers)):
        to.items[row + i] = numbers[i]
    to.counts[tables.ITEMS] += 1
    return 0


@inner(types.int64(BYTES, types.int64))
def between(data, p):
    """From a position between two entities to the next one, or to the end of the line."""
    if p < 0:
        return js.FAIL
    p = js.space(data, p)
    while byte(data, p) == js.COMMA or byte(data, p) == js.OPEN_LIST or byte(data, p) == js.CLOSE_LIST:
        p = js.space(data, p + 1)
    return p


@inner(types.int64(BYTES, types.int64, types.int64, types.boolean, types.boolean, KEYS, types.uint64, POINTERS))
def scan_line(data, start, size, keep_all, check, keys, stamp, to):
    """Parse the line at `start`; returns its end. `keys` and `stamp` are those of `valid_end`."""
    p = between(data, start)
    if p >= size or byte(data, p) == js.NEWLINE:
        return p
    if byte(data, p) != js.OPEN_MAP or (check and valid_end(data, p, keys, stamp) < 0):
        return js.FAIL
    for slot in range(walk.FOUND):
        to.found[slot] = 0
    to.found[walk.BORN] = MISSING
    to.found[walk.DIED] = MISSING
    first_statement, dropped = to.counts[tables.STATEMENTS], to.counts[tables.DATES_DROPPED]
    p = between(data, entity(data, p, to))
    if p < 0 or (p < size and byte(data, p) != js.NEWLINE):
        return js.FAIL
    kind = to.found[walk.KIND]
    if kind == LETTER_Q:
        return p if keep_item(data, keep_all, check, first_statement, to) >= 0 else js.FAIL
    to.counts[tables.STATEMENTS] = first_statement
    to.counts[tables.DATES_DROPPED] = dropped
    if kind == LETTER_L:
        return p
    to.properties[to.counts[tables.PROPERTIES]] = to.found[walk.NUMBER]
    to.counts[tables.PROPERTIES] += 1
    labelled = tables.append_preferred(data, walk.LABELS, tables.PROPERTY_LABEL, to)
    return p if kind == LETTER_P and labelled >= 0 else js.FAIL


@kernel(types.int64(U8, types.int64, types.int64, types.boolean, types.boolean, ARRAYS))
def scan(data, start, size, keep_all, check, arrays):
    """Parse the lines in data[start:size]; returns the start of the first line that it could not parse, or size.

    64 zero bytes follow data[:size]. Without `check`, the lines must be valid JSON, with distinct aliases.
    """
    to = Tables(
        pointer(arrays.found),
        pointer(arrays.counts),
        pointer(arrays.items),
        pointer(arrays.statements),
        pointer(arrays.properties),
        pointer(arrays.offsets),
        pointer(arrays.languages),
        pointer(arrays.text),
        pointer(arrays.deciding),
        pointer(arrays.dates),
    )
    saved = np.empty(tables.RESTORED, np.int64)
    keys, stamp = np.zeros(KEY_SLOTS, np.uint64), np.uint64(0)
    while start < size:
        for i in range(tables.RESTORED):
            saved[i] = to.counts[i]
        stamp += np.uint64(1)
        p = scan_line(pointer(data), start, size, keep_all, check, pointer(keys), stamp, to)
        if p < 0:
            for i in range(tables.RESTORED):
                to.counts[i] = saved[i]
            return start
        to.counts[tables.LINES] += 1
        start = p + 1
    return size
