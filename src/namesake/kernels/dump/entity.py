"""Turn the lines of a Wikidata dump into flat tables.

`scan` is the entry point. It parses lines until it finds one that it does not fully understand; the caller repairs this
line with a JSON library and scans it alone. The caller makes the tables large enough for any line: text never grows
when it is decoded, and a statement or an alias has more bytes than it needs rows.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.dump import jsontext as js
from namesake.kernels.dump import statements as st
from namesake.kernels.dump import tables, wikidata
from namesake.kernels.dump.jsontext import FAIL, keyword
from namesake.kernels.dump.tables import ARRAYS, LANGUAGES, POINTERS, held, pointers
from namesake.kernels.dump.tape import ENTITY, as_map, member, read, text_of
from namesake.kernels.dump.wikidata import MISSING
from namesake.kernels.simd import BYTES, byte, pointer
from namesake.kernels.types import U8

LETTER_L, LETTER_P, LETTER_Q = (ord(c) for c in "LPQ")
K_LABELS, K_DESCRIPTIONS, K_ALIASES = (keyword(k) for k in ("labels", "descriptions", "aliases"))
K_CLAIMS, K_SITELINKS, K_ID, K_TITLE = (keyword(k) for k in ("claims", "sitelinks", "id", "title"))
K_LAST_REVISION, K_MISSING, K_REDIRECTS = (keyword(k) for k in ("lastrevid", "missing", "redirects"))
ITEM_COLUMNS = (
    *("qid", "alias_indptr", "statement_indptr"),
    *("kept", "person", "sitelinks", "properties", "population"),
    *("birth", "birth_precision", "death", "death_precision"),
    *("deciding", "revision"),
)
"""The columns of the table of items, in the order in which `keep_item` writes them."""


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_preferred(data, texts, column, to):
    """Append the text in the first language that has one; returns the language, or LANGUAGES if there is none."""
    chosen = LANGUAGES
    for code in range(LANGUAGES):
        p = text_of(data, member(data, texts, held(to.languages, code), to), st.K_VALUE, to)
        length = tables.append_text(data, p, column, to) if p > 0 and chosen == LANGUAGES else min(p, 0)
        if length < 0:
            return FAIL
        if length > 0:
            chosen = code
        elif p > 0 and chosen == LANGUAGES:
            to.counts[column] -= 1
    if chosen == LANGUAGES:
        tables.append_text(data, 0, column, to)
    return chosen


@inner(types.int64(BYTES, types.int64, types.int64, types.int64, types.boolean, POINTERS))
def append_aliases(data, aliases, labels, chosen, check, to):
    """Decode the aliases in all kept languages, then the labels that were not chosen."""
    first = to.counts[tables.ALIAS]
    for code in range(LANGUAGES):
        listed = member(data, aliases, held(to.languages, code), to)
        if listed < 0 or (listed > 0 and byte(data, to.at[listed]) != js.OPEN_LIST):
            return FAIL
        one = listed + 1
        while listed > 0 and one < to.past[listed]:
            p = text_of(data, one, st.K_VALUE, to)
            if p < 0 or tables.append_alias(data, p, first, check, to) < 0:
                return FAIL
            one = to.past[one]
    for code in range(LANGUAGES):
        p = text_of(data, member(data, labels, held(to.languages, code), to), st.K_VALUE, to)
        if code != chosen and p > 0 and tables.append_alias(data, p, first, check, to) < 0:
            return FAIL
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def revision(data, given, to):
    """The number of a revision; 0 if it is missing."""
    start = p = to.at[given]
    number = np.int64(0)
    while given > 0 and p - start < wikidata.REVISION_DIGITS and js.ZERO <= byte(data, p) <= js.NINE:
        number = number * 10 + byte(data, p) - js.ZERO
        p += 1
    ends = p > start and byte(data, p) in (js.COMMA, js.CLOSE_MAP, js.SPACE)
    return number if ends or given == 0 else FAIL


@inner(types.int64(BYTES, *[types.int64] * 2, types.UniTuple(types.int64, 4), *[types.boolean] * 2, POINTERS))
def keep_item(data, qid, first_statement, parts, keep_all, check, to):
    """Write an item with its labels, descriptions, aliases, sitelinks and statements into the tables."""
    labels, descriptions, aliases, sitelinks = parts
    found = to.found
    chosen, changed = append_preferred(data, labels, tables.LABEL, to), member(data, ENTITY, K_LAST_REVISION, to)
    number = revision(data, changed, to)
    if number < 0 or chosen < 0 or append_aliases(data, aliases, labels, chosen, check, to) < 0:
        return FAIL
    person = found[st.IS_PERSON]
    kept = keep_all or person > 0
    for slot in (st.BORN, st.DIED):
        if person > 0 and found[slot + 2] < st.LIFE_RANK:
            found[slot], found[slot + 1] = MISSING, 0
    described = append_preferred(data, descriptions, tables.DESCRIPTION, to)
    title = text_of(data, member(data, sitelinks, held(to.languages, LANGUAGES), to), K_TITLE, to)
    titled = tables.append_text(data, title if kept else 0, tables.TITLE, to)
    if min(described, title, titled) < 0 or st.keep_statements(data, kept, first_statement, to) < 0:
        return FAIL
    links, one = np.int64(0), sitelinks + 1
    while sitelinks > 0 and one < to.past[sitelinks]:
        links, one = links + 1, to.past[one + 1]
    numbers = (
        *(qid, to.counts[tables.ALIAS], to.counts[tables.STATEMENTS]),
        *(np.int64(kept), person, links, found[st.VALUED], found[st.INHABITANTS]),
        *(found[st.BORN], found[st.BORN + 1], found[st.DIED], found[st.DIED + 1]),
        *(found[st.DECIDING], number),
    )
    tables.append_row(numbers, tables.ITEMS, to.items, to)
    return 0


@inner(types.int64(BYTES, types.boolean, types.boolean, POINTERS))
def keep_entity(data, keep_all, check, to):
    """Write the entity that was just read into the tables. A deleted or redirected one fails."""
    named = text_of(data, ENTITY, K_ID, to)
    if named <= 0 or member(data, ENTITY, K_MISSING, to) > 0 or member(data, ENTITY, K_REDIRECTS, to) > 0:
        return FAIL
    number, p = js.digits(data, named + 1)
    labels = as_map(data, member(data, ENTITY, K_LABELS, to), to)
    descriptions = as_map(data, member(data, ENTITY, K_DESCRIPTIONS, to), to)
    aliases = as_map(data, member(data, ENTITY, K_ALIASES, to), to)
    claims = as_map(data, member(data, ENTITY, K_CLAIMS, to), to)
    sitelinks = as_map(data, member(data, ENTITY, K_SITELINKS, to), to)
    if byte(data, p) != js.QUOTE or min(number, labels, descriptions, aliases, claims, sitelinks) < 0:
        return FAIL
    for slot in range(st.FOUND):
        to.found[slot] = MISSING if slot in (st.BORN, st.DIED) else 0
    kind, first_statement, dropped = byte(data, named), to.counts[tables.STATEMENTS], to.counts[tables.DATES_DROPPED]
    if st.read_claims(data, claims, to) < 0:
        return FAIL
    if kind == LETTER_Q:
        parts = (labels, descriptions, aliases, sitelinks)
        return keep_item(data, number, first_statement, parts, keep_all, check, to)
    to.counts[tables.STATEMENTS], to.counts[tables.DATES_DROPPED] = first_statement, dropped
    if kind == LETTER_P:
        to.properties[to.counts[tables.PROPERTIES]] = number
        to.counts[tables.PROPERTIES] += 1
        return append_preferred(data, labels, tables.PROPERTY_LABEL, to)
    return 0 if kind == LETTER_L else FAIL


@inner(types.int64(BYTES, types.int64))
def between(data, p):
    """From a position between two entities to the next one, or to the end of the line."""
    while byte(data, p) in (js.SPACE, 9, 13, js.COMMA, js.OPEN_LIST, js.CLOSE_LIST):
        p += 1
    return p


@inner(types.int64(BYTES, types.int64, types.int64, types.boolean, types.boolean, POINTERS))
def scan_line(data, start, size, keep_all, check, to):
    """Parse the line at `start`; returns its end."""
    p = between(data, start)
    if p >= size or byte(data, p) == js.NEWLINE:
        return p
    p = read(data, p, check, to) if byte(data, p) == js.OPEN_MAP else FAIL
    end = between(data, p) if p > 0 else FAIL
    if end < 0 or (end < size and byte(data, end) != js.NEWLINE):
        return FAIL
    return end if keep_entity(data, keep_all, check, to) >= 0 else FAIL


@kernel(types.int64(U8, types.int64, types.int64, types.boolean, types.boolean, ARRAYS))
def scan(data, start, size, keep_all, check, arrays):
    """Parse the lines in data[start:size]; returns the start of the first line that it could not parse, or size.

    64 zero bytes follow data[:size]. Without `check`, the keys of the parts of an entity and its aliases are distinct.
    """
    to, counts, saved = pointers(arrays), arrays.counts, np.empty(tables.RESTORED, np.int64)
    while start < size:
        for i in range(tables.RESTORED):
            saved[i] = counts[i]
        p = scan_line(pointer(data), start, size, keep_all, check, to)
        if p < 0:
            for i in range(tables.RESTORED):
                counts[i] = saved[i]
            return start
        counts[tables.LINES] += 1
        start = p + 1
    return size
