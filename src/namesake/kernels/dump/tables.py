"""The tables that lines of a dump are written into, without repeated texts and statements.

Tables are flat, row after row. Text columns share `offsets` and `text`: string i of a column begins at
text[column * capacity + offsets[i * TEXT_COLUMNS + column]], where capacity is counts[CAPACITY]; counts[column] is the
number of strings. Three stamped hash tables find repetitions in a line: the stamp is row + 1, so that entries of
earlier lines, below first + 1 for the first row of the current line, count as free.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels import hash as hashing
from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.jsontext import FAIL, put_text
from namesake.kernels.dump.walk import LANGUAGES
from namesake.kernels.simd import BYTES, NUMBERS

# Text columns, each with its place in `counts`.
LABEL, DESCRIPTION, TITLE, ALIAS, STRING, PROPERTY_LABEL = range(6)
TEXT_COLUMNS = 6
# The rest of `counts`.
ITEMS, STATEMENTS, PROPERTIES, DATES_DROPPED, LINES = range(6, 11)
RESTORED = 11  # the counts before this one are restored after a line that fails
CAPACITY, LARGEST_MASK = 11, 12
COUNTS = 13
# Columns of `statements`; until a line is complete, SINCE is the position of the qualifiers and UNTIL that of the text.
PROPERTY, VALUE, SINCE, UNTIL = range(4)
STATEMENT_COLUMNS = 4


class Tables(NamedTuple):
    """Arrays for the caller, pointers for the kernels; int64, but entries and languages are uint64, and text uint8."""

    found: Any  # what has been found in the current line, see walk.py
    counts: Any
    items: Any
    statements: Any
    properties: Any
    offsets: Any
    alias_entries: Any
    string_entries: Any
    statement_entries: Any
    languages: Any  # the keys of the languages that are kept: `walk.language_keys`
    text: Any


POINTERS = types.NamedTuple([*[NUMBERS] * 6, *[hashing.KEYS] * 4, BYTES], Tables)
ARRAYS = types.NamedTuple([*[types.int64[::1]] * 6, *[types.uint64[::1]] * 4, types.uint8[::1]], Tables)


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_text(data, p, column, to):
    """Append the decoded text at p (0: an empty one) to its column; returns its length."""
    cell = to.counts[column] * TEXT_COLUMNS + column
    base = column * to.counts[CAPACITY]
    start = base + to.offsets[cell]
    end = put_text(data, p, to.text, start) if p > 0 else start
    if end < 0:
        return FAIL
    to.offsets[cell + TEXT_COLUMNS] = end - base
    to.counts[column] += 1
    return end - start


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_preferred(data, slot, column, to):
    """Append the text in the first language that has one; returns the language, or LANGUAGES if there is none."""
    for code in range(LANGUAGES):
        if to.found[slot + code] > 0:
            length = append_text(data, to.found[slot + code], column, to)
            if length != 0:
                return code if length > 0 else FAIL
            to.counts[column] -= 1
    append_text(data, 0, column, to)
    return LANGUAGES


@inlined(types.boolean(BYTES, types.int64, types.int64, types.int64, types.int64))
def same_span(text, start, end, other, other_end):
    """Whether text[start:end] and text[other:other_end] are equal."""
    return end - start == other_end - other and hashing.same_bytes(text, start, text, other, end - start)


@inner(types.int64(hashing.KEYS, types.int64, types.int64, types.int64, POINTERS))
def same_text(entries, mask, column, first, to):
    """The first row from `first` on with the same text as the newest row of a column."""
    base, row = column * to.counts[CAPACITY], to.counts[column] - 1
    start = base + to.offsets[row * TEXT_COLUMNS + column]
    end = base + to.offsets[(row + 1) * TEXT_COLUMNS + column]
    key, since = hashing.hash_ahead(to.text, start, end, hashing.AS_IT_IS) & hashing.LOW_HALF, np.uint64(first + 1)
    slot = hashing.find_stamped(entries, mask, key, since)
    while entries[slot] >> hashing.HALF >= since:
        other = np.int64(entries[slot] >> hashing.HALF) - 1
        cell = other * TEXT_COLUMNS + column
        if same_span(to.text, start, end, base + to.offsets[cell], base + to.offsets[cell + TEXT_COLUMNS]):
            return other
        slot = hashing.probe_stamped(entries, mask, key, (slot + 1) & mask, since)
    entries[slot] = np.uint64(row + 1) << hashing.HALF | key
    return row


@inner(types.void(POINTERS))
def forget(to):
    """Empty the hash tables: rows of a line that failed are used again."""
    for slot in range(to.counts[LARGEST_MASK] + 1):
        to.alias_entries[slot] = to.string_entries[slot] = to.statement_entries[slot] = hashing.FREE


@inlined(types.uint64(types.int64, types.int64))
def two_numbers(one, other):
    """The lower halves of two numbers as one."""
    return np.uint64(one & 0xFFFFFFFF) << hashing.HALF | np.uint64(other & 0xFFFFFFFF)


@inner(types.boolean(types.int64, types.int64, types.int64, POINTERS))
def new_statement(mask, first, row, to):
    """Whether no row from `first` on has the same statement and days as `row`."""
    cell = row * STATEMENT_COLUMNS
    of, value = to.statements[cell + PROPERTY], to.statements[cell + VALUE]
    since, until = to.statements[cell + SINCE], to.statements[cell + UNTIL]
    key = hashing.extend(two_numbers(of, value), two_numbers(since, until)) & hashing.LOW_HALF
    entries, stamp = to.statement_entries, np.uint64(first + 1)
    slot = hashing.find_stamped(entries, mask, key, stamp)
    while entries[slot] >> hashing.HALF >= stamp:
        other = (np.int64(entries[slot] >> hashing.HALF) - 1) * STATEMENT_COLUMNS
        same = to.statements[other + PROPERTY] == of and to.statements[other + VALUE] == value
        if same and to.statements[other + SINCE] == since and to.statements[other + UNTIL] == until:
            return False
        slot = hashing.probe_stamped(entries, mask, key, (slot + 1) & mask, stamp)
    entries[slot] = np.uint64(row + 1) << hashing.HALF | key
    return True


@inner(types.int64(BYTES, types.int64, types.int64, types.int64, POINTERS))
def append_alias(data, p, first, mask, to):
    """Append one decoded alias, unless it is empty, the label, or equal to one from `first` on."""
    length = append_text(data, p, ALIAS, to)
    if length < 0:
        return FAIL
    row, label = to.counts[ALIAS] - 1, (to.counts[LABEL] - 1) * TEXT_COLUMNS + LABEL
    end = ALIAS * to.counts[CAPACITY] + to.offsets[(row + 1) * TEXT_COLUMNS + ALIAS]
    base = LABEL * to.counts[CAPACITY]
    is_label = same_span(to.text, end - length, end, base + to.offsets[label], base + to.offsets[label + TEXT_COLUMNS])
    if length == 0 or is_label or same_text(to.alias_entries, mask, ALIAS, first, to) != row:
        to.counts[ALIAS] = row
    return 0
